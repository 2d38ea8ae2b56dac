//! The names of archive files: `crawl-20261120190455-00001.warc.gz`, and `….warc.gz.open` while it
//! is being written.
//!
//! A name consists of a prefix that the operator chose, a time and a counter; nothing from the web
//! is part of a path. The counter orders the files of an archive. Other names belong to other
//! crawlers.
//!
//! Journal, visit records and indexes have names without [`OPEN`]; [`locate`] finds the file. A
//! file loses the suffix once it is complete and synced, so a file without it can be copied away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use web::Timestamp;

use super::packing::Packing;

/// The suffix of a file that is still being written.
pub const OPEN: &str = ".open";

/// Longest prefix, in bytes: the rest of a name needs 50 of the 255 that file systems allow.
const MAX_PREFIX: usize = 200;

/// Returns the current path of the archive file `name` in `directory`, or its closed path if the
/// file does not exist. Another process may be closing the file: call again if it cannot be opened.
#[must_use]
pub fn locate(directory: &Path, name: &str) -> PathBuf {
    let closed = directory.join(name);
    let open = open_path(directory, name);
    if !closed.exists() && open.exists() {
        return open;
    }
    closed
}

/// Returns the name of the archive file at `path`, as in the journal; `None` if this is not an
/// archive file.
#[must_use]
pub fn name_of(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(OPEN).unwrap_or(name);
    Packing::split(name).map(|_| name)
}

/// Returns true if `prefix` may begin the names of an archive's files: letters, digits, `-`, `_`
/// and `.`, beginning with a letter or a digit.
#[must_use]
pub fn is_prefix(prefix: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    prefix.starts_with(|first: char| first.is_ascii_alphanumeric())
        && prefix.len() <= MAX_PREFIX
        && prefix.bytes().all(fits)
}

/// Returns the path of the file `name` while it is being written.
pub(super) fn open_path(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}{OPEN}"))
}

/// The name of a file of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileName {
    text: String,
    /// The length of the prefix in bytes.
    prefix: usize,
    counter: u64,
    packing: Packing,
}

impl FileName {
    /// Returns the name of file number `counter`, begun at `at`.
    pub(super) fn new(prefix: &str, at: Timestamp, counter: u64, packing: Packing) -> Self {
        Self {
            text: format!("{prefix}-{}-{counter:05}{}", at.digits(), packing.suffix()),
            prefix: prefix.len(),
            counter,
            packing,
        }
    }

    /// Parses a name; `None` unless it is exactly one that [`FileName::new`] writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (stem, packing) = Packing::split(text)?;
        let (rest, number) = stem.rsplit_once('-')?;
        let (prefix, time) = rest.rsplit_once('-')?;
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let counter: u64 = number.parse().ok()?;
        let is_time = time.len() == 14 && is_number(time);
        if !is_time || format!("{counter:05}") != number || !is_prefix(prefix) {
            return None;
        }
        Some(Self {
            text: text.to_owned(),
            prefix: prefix.len(),
            counter,
            packing,
        })
    }

    pub(super) fn packing(&self) -> Packing {
        self.packing
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn prefix(&self) -> &str {
        &self.text[..self.prefix]
    }

    pub(super) fn counter(&self) -> u64 {
        self.counter
    }
}

/// Returns the number of an archive file of ours, which orders the files; `None` for other names.
pub(crate) fn file_number(name: &str) -> Option<u64> {
    FileName::parse(name).map(|name| name.counter)
}

/// An archive file on the disk.
pub(super) struct FoundFile {
    pub(super) name: FileName,
    /// True if it still has the suffix `.open`.
    pub(super) is_open: bool,
    pub(super) path: PathBuf,
}

/// Lists the archive files in `dir`, the highest counter first: if they are removed in this order,
/// the rest is always a beginning of the archive.
pub(super) fn last_first(dir: &Path) -> io::Result<Vec<FoundFile>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let text = entry.file_name();
        let Some(text) = text.to_str() else { continue };
        let closed = text.strip_suffix(OPEN);
        if let Some(name) = FileName::parse(closed.unwrap_or(text))
            && entry.file_type()?.is_file()
        {
            all.push(FoundFile {
                name,
                is_open: closed.is_some(),
                path: entry.path(),
            });
        }
    }
    all.sort_by_key(|found| std::cmp::Reverse(found.name.counter));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_time_and_the_number_of_its_file() {
        let at = Timestamp::from_millis(1_795_199_095_120);
        for (prefix, packing, expected) in [
            ("crawl", Packing::Gzip, "crawl-20261120182455-00001.warc.gz"),
            (
                "crawl",
                Packing::Zstd,
                "crawl-20261120182455-00001.warc.zst",
            ),
            (
                "a-b_c.d",
                Packing::Plain,
                "a-b_c.d-20261120182455-00001.warc",
            ),
        ] {
            let name = FileName::new(prefix, at, 1, packing);
            assert_eq!(name.as_str(), expected);
            for counter in [1, 99_999, 100_000] {
                let name = FileName::new(prefix, at, counter, packing);
                let read = FileName::parse(name.as_str());
                assert_eq!(read.as_ref().map(FileName::prefix), Some(prefix));
                assert_eq!(read, Some(name));
            }
        }
    }

    #[test]
    fn other_names_are_not_ours() {
        for text in [
            "",
            "crawl-.warc.gz",
            "-20261120182455-00001.warc.gz",
            "crawl-20261120182455-00001.warc.bz2",
            "crawl-20261120182455-00001.warc.gz.open",
            "crawl-20261120182455-0001.warc.gz",
            "crawl-20261120182455-000001.warc.gz",
            "crawl-20261120182455-+0001.warc.gz",
            "crawl-2026112018245-00001.warc.gz",
            "crawl-2026112018245x-00001.warc.gz",
            "crawl-20261120182455-00001.warc.gz~",
            "../crawl-20261120182455-00001.warc.gz",
            ".crawl-20261120182455-00001.warc.gz",
            "a/b-20261120182455-00001.warc.gz",
            "crawl-20261120182455-00001-2.warc.gz",
            "crawl-20261120182455-99999999999999999999.warc.gz",
        ] {
            assert_eq!(FileName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_prefix_never_leads_anywhere_else() {
        for prefix in ["crawl", "at-2026", "a.b", "9"] {
            assert!(is_prefix(prefix), "{prefix}");
        }
        let long = "a".repeat(MAX_PREFIX + 1);
        for prefix in [
            "", ".", "..", "-x", "a/b", "a\\b", "a b", "a\0", "\n", "ä", "../a", &long,
        ] {
            assert!(!is_prefix(prefix), "{prefix:?}");
        }
    }

    #[test]
    fn a_file_is_found_whether_it_is_open_or_closed() {
        let dir = tempfile::tempdir().unwrap();
        let name = "crawl-20261120182455-00001.warc.gz";
        let closed = dir.path().join(name);
        assert_eq!(locate(dir.path(), name), closed, "where it should be");
        let open = dir.path().join("crawl-20261120182455-00001.warc.gz.open");
        fs::write(&open, "").unwrap();
        assert_eq!(locate(dir.path(), name), open);
        assert_eq!(name_of(&open), Some(name));
        fs::rename(&open, &closed).unwrap();
        assert_eq!(locate(dir.path(), name), closed);
        assert_eq!(name_of(&closed), Some(name));
        assert_eq!(name_of(Path::new("archive/index.cdxj")), None);
    }
}
