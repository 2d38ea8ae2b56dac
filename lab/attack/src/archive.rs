//! A tolerant reader of a crawl's archive: it takes records from every file that has any.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sinks::warc::{ReadFault, WarcStream};

use crate::failure::Failure;

/// Returns the `response` records of a crawl that can be read, also of what was set aside: URL by
/// identifier.
pub(crate) fn answers(crawl: &Path) -> Result<BTreeMap<String, String>, Failure> {
    answers_of(crawl, |name| name.contains(".warc"))
}

fn answers_of(
    crawl: &Path,
    is_read: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    for path in files(crawl)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !is_read(&name) {
            continue;
        }
        let Ok(mut stream) = WarcStream::open(&path) else {
            continue;
        };
        loop {
            match stream.next_record(0) {
                Ok(Some(record)) => {
                    let target = record.target().unwrap_or_default();
                    if record.kind() == "response" && !target.ends_with("/robots.txt") {
                        found.insert(record.id().to_owned(), target.to_owned());
                    }
                }
                Err(ReadFault::Broken { .. }) => {}
                Ok(None) | Err(_) => break,
            }
        }
    }
    Ok(found)
}

/// Counts how often the archive has each URL. The tail of a killed session, which is set aside as
/// `NAME.cut-N`, is no part of it: its pages are visited again.
pub(crate) fn counts(crawl: &Path) -> Result<BTreeMap<String, u64>, Failure> {
    let mut counts = BTreeMap::new();
    let archived = answers_of(crawl, |name| {
        name.contains(".warc") && !name.contains(".cut-")
    })?;
    for url in archived.into_values() {
        *counts.entry(url).or_default() += 1;
    }
    Ok(counts)
}

/// Counts the pages that are not archived, and those that are archived more than once.
pub(crate) fn lost_and_twice(crawl: &Path, pages: &[String]) -> Result<(u64, u64), Failure> {
    let counts = counts(crawl)?;
    let of = |url: &String| counts.get(url).copied().unwrap_or_default();
    let lost = pages.iter().filter(|url| of(url) == 0).count();
    let twice = pages.iter().filter(|url| of(url) > 1).count();
    Ok((lost as u64, twice as u64))
}

/// Returns all files below a directory.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(directory)? {
        let path = item?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Counts the bytes below a directory; 0 where there is none.
pub(crate) fn bytes(directory: &Path) -> u64 {
    let Ok(found) = files(directory) else {
        return 0;
    };
    let lengths = found.iter().filter_map(|path| std::fs::metadata(path).ok());
    lengths.map(|metadata| metadata.len()).sum()
}

/// Copies a directory with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::create_dir(to)?;
    for item in std::fs::read_dir(from)? {
        let item = item?;
        if item.path().is_dir() {
            copy(&item.path(), &to.join(item.file_name()))?;
        } else {
            std::fs::copy(item.path(), to.join(item.file_name()))?;
        }
    }
    Ok(())
}
