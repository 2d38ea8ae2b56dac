//! The index of an archive, and the index of its files.

use std::path::PathBuf;

use crate::support::Crawl;

pub(crate) fn index_of(crawl: &Crawl) -> String {
    std::fs::read_to_string(crawl.out().join("archive/index.cdxj")).unwrap()
}

/// Returns the index of the archive's files, as `crawler index FILE…` writes it.
pub(crate) fn of_files(crawl: &Crawl) -> String {
    let items = std::fs::read_dir(crawl.out().join("archive")).unwrap();
    let files: Vec<PathBuf> = items
        .map(|item| item.unwrap().path())
        .filter(|path| sinks::warc::name_of(path).is_some())
        .collect();
    let mut arguments = vec!["index".to_owned()];
    arguments.extend(files.iter().map(|path| path.to_string_lossy().into_owned()));
    let run = crawl.run_command(&arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
    run.output
}
