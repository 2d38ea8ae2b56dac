//! The documentation as a book: what it lists, links and shows is so.

mod commands; // the commands of the pages run as shown
mod console; // console blocks
mod contents; // the table of contents, links
mod reference; // the page made from `--help`
mod session; // the shell of the commands

use std::path::PathBuf;

use crate::support::root;

/// Returns the pages below `docs`, without the table of contents.
fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let mut pages = Vec::new();
    let mut directories = vec![docs.clone()];
    while let Some(directory) = directories.pop() {
        for item in std::fs::read_dir(directory).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.retain(|page| *page != docs.join("README.md") && *page != docs.join("SUMMARY.md"));
    pages.sort();
    pages
}
