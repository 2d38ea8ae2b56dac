//! The directory of a crawl before the crawl begins: refused if it contains anything else.

use std::fs::{DirEntry, read_dir};
use std::io;
use std::path::Path;

use messages::{CommandError, usage};
use policy::control_file::CONTROL;
use settings::{SETTINGS_FILE, Settings, crawl_directory};
use store::EmbeddedStore;

/// Refuses a directory with other contents and, for a crawl that must be new, one that exists.
/// Archives that were imported for the crawl before it began do not count.
pub(crate) fn refuse_occupied(settings: &Settings) -> Result<(), CommandError> {
    let directory = &settings.out;
    let shown = directory.display();
    if settings.fresh && directory.exists() && !has_only_imports(directory) {
        let remedy = "omit --fresh to continue the crawl, or choose another --out";
        return Err(usage(format!("{shown} exists, and --fresh was given")).with_remedy(remedy));
    }
    if !EmbeddedStore::exists(&crawl_directory::state(directory))
        && read_dir(directory).is_ok_and(|mut items| items.any(|item| !is_ours(item)))
    {
        let remedy = "choose an empty or new directory with --out";
        return Err(usage(format!(
            "{shown} is not empty, and does not contain a crawl"
        ))
        .with_remedy(remedy));
    }
    Ok(())
}

/// Returns true for an item that a crawl leaves behind if it ends before its state exists.
fn is_ours(item: io::Result<DirEntry>) -> bool {
    let ours = [
        "crawl.log",
        SETTINGS_FILE,
        CONTROL,
        "state",
        "archive",
        crawl_directory::SEARCH_INDEX,
        crawl_directory::IMPORTED,
    ];
    item.is_ok_and(|item| ours.iter().any(|name| item.file_name() == *name))
}

/// Returns true for a directory that contains nothing but imported archives.
fn has_only_imports(directory: &Path) -> bool {
    let is_import = |item: io::Result<DirEntry>| {
        item.is_ok_and(|item| item.file_name() == crawl_directory::IMPORTED)
    };
    directory.join(crawl_directory::IMPORTED).is_dir()
        && read_dir(directory).is_ok_and(|mut items| items.all(is_import))
}
