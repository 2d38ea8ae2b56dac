//! Leftover files in the directory of a crawl: one table, for `status` and `clean`.
//!
//! | path | left by |
//! |---|---|
//! | `state.old-*` | `rebuild`: the state that it replaced |
//! | `state.new` | an interrupted `rebuild` |
//! | `state/sled.unusable*` | opening or `rebuild`: unusable tables |
//! | `state/sled.new`, `state/sled.old` | opening, interrupted while it copied tables |
//! | `search.unusable-*` | opening: an unusable search index |
//! | `search.new` | an interrupted `reindex` |
//! | `archive/index/NNNNNN.cdxj` | an interrupted `index`: runs that no index names |
//! | `report.html.part` | an interrupted `report` |
//! | `FILE.new` next to a file that is replaced atomically, `state/probe` | a process that died |
//! | `archive/*.cut-N`, `state/journal/*.cut-N` | opening: bytes that a reader may still want |
//!
//! Invariant: a crawl can be continued without any of these files. List them only while no process
//! has the crawl open: temporary files of a running process match, too. Files of the table's last
//! line are removed only on request.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use serde::Serialize;
use sinks::cdxj;

/// A leftover file or directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leftover {
    /// Path below the crawl's directory.
    pub path: PathBuf,
    /// Total length of its files.
    pub bytes: u64,
    /// Origin of the file.
    pub why: &'static str,
    /// True if it was cut off from an archive or a journal.
    pub is_cut: bool,
}

/// Paths below the crawl's directory, and their origins. `*` matches any characters, and `N` in
/// `*.cut-N` matches digits.
const KINDS: [(&str, &str); 12] = [
    ("state.old-*", "the state before a rebuild"),
    ("state.new", "an interrupted rebuild"),
    ("search.new", "an interrupted reindex"),
    ("search.unusable-*", "a search index that could not be used"),
    ("crawler.toml.new", "an interrupted write"),
    ("report.html.part", "an interrupted report"),
    ("state/sled.unusable*", "tables that could not be used"),
    ("state/*.new", "an interrupted write"),
    ("state/probe", "an interrupted write"),
    (
        "state/journal/*.cut-N",
        "cut off the journal; --cut removes it",
    ),
    ("archive/index/*.new", "an interrupted write"),
    ("archive/*.cut-N", "cut off the archive; --cut removes it"),
];

/// Returns true if a name matches the last part of a path in [`KINDS`].
fn is_match(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((_, ".cut-N")) => is_cut_off(name),
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
    }
}

/// Returns true if a name ends like `.cut-7`.
fn is_cut_off(name: &str) -> bool {
    let digits = name.rsplit_once(".cut-").map_or("", |(_, digits)| digits);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Finds the leftover files in the directory of a crawl, in the order of the table.
///
/// # Errors
/// The disk cannot be read.
pub fn find(directory: &Path) -> io::Result<Vec<Leftover>> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf, why, is_cut| -> io::Result<()> {
        found.push(Leftover {
            bytes: bytes_of(&path)?,
            path: path.strip_prefix(directory).unwrap_or(&path).to_owned(),
            why,
            is_cut,
        });
        Ok(())
    };
    for (path, why) in KINDS {
        let (below, pattern) = path.rsplit_once('/').unwrap_or(("", path));
        let below = directory.join(below);
        for name in names(&below)? {
            // A copy of the tables may be the only copy left: see below.
            if is_match(&name, pattern) && name != "sled.new" {
                add(below.join(&name), why, path.ends_with(".cut-N"))?;
            }
        }
    }
    let state = directory.join("state");
    // Without tables, one of the copies becomes the tables.
    if state.join("sled").exists() {
        for name in ["sled.new", "sled.old"] {
            let path = state.join(name);
            if path.exists() {
                add(path, "tables that were being rewritten", false)?;
            }
        }
    }
    for path in cdxj::strays(&directory.join("archive"))? {
        add(path, "an interrupted index", false)?;
    }
    Ok(found)
}

/// Returns the names in a directory, sorted; no names if it does not exist.
fn names(directory: &Path) -> io::Result<Vec<String>> {
    let listed = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut names = Vec::new();
    for item in listed {
        names.extend(item?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// Returns the length of a file, or of all files below a directory. Links are not followed.
fn bytes_of(path: &Path) -> io::Result<u64> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Ok(found.len());
    }
    let mut bytes = 0;
    for item in fs::read_dir(path)? {
        bytes += bytes_of(&item?.path())?;
    }
    Ok(bytes)
}

impl Leftover {
    /// Removes the leftover from the crawl's directory.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(&self, directory: &Path) -> io::Result<()> {
        let path = directory.join(&self.path);
        // A link is removed, not its target.
        match fs::symlink_metadata(&path)?.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        }
    }

    /// Returns the size, path and origin, in columns.
    pub fn line(&self) -> String {
        let size = ByteSize(self.bytes).display().iec().to_string();
        format!("{size:>10}  {}  ({})", self.path.display(), self.why)
    }
}

/// Describes the number and total size of leftovers.
pub fn total(left: &[Leftover]) -> String {
    let bytes = left.iter().map(|item| item.bytes).sum();
    let noun = if left.len() == 1 { "item" } else { "items" };
    format!("{} {noun}, {}", left.len(), ByteSize(bytes).display().iec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_found_and_nothing_else() {
        let crawl = tempfile::tempdir().unwrap();
        let left = [
            "state.old-20261122112800/journal/00000000000000000000.log",
            "state.new/journal/0.log",
            "search.new/meta.json",
            "search.unusable-20261122112800-2/x",
            "crawler.toml.new",
            "state/sled.unusable/db",
            "state/sled.unusable-20261122112800/db",
            "state/control.json.new",
            "state/probe",
            "state/journal/00000000000000000000.log.cut-1",
            "archive/a-00000.warc.gz.cut-12",
            "state/sled.new/db",
            "state/sled.old/db",
            "archive/index/000007.cdxj",
            "archive/index/runs.new",
        ];
        let needed = [
            "crawler.toml",
            "control.toml",
            "crawl.log",
            "state/control.json",
            "state/reserve",
            "state/lock",
            "state/sled/db",
            "state/journal/00000000000000000000.log",
            "archive/a-00000.warc.gz",
            "archive/a-00001.warc.gz.open",
            "archive/index.cdxj",
            "archive/index/runs",
            "search/meta.json",
            // Not made by the crawler.
            "archive/notes.cut-",
            "state.older",
            "visits.csv.part",
        ];
        for name in left.iter().chain(&needed) {
            let path = crawl.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "12345").unwrap();
        }
        let found = find(crawl.path()).unwrap();
        assert_eq!(found.len(), left.len(), "{found:?}");
        for item in &found {
            assert!(
                left.iter()
                    .any(|left| Path::new(left).starts_with(&item.path)),
                "{item:?}"
            );
            assert_eq!(item.bytes, 5);
            assert_eq!(item.is_cut, item.path.to_str().unwrap().contains(".cut-"));
            item.remove(crawl.path()).unwrap();
        }
        assert_eq!(find(crawl.path()).unwrap(), []);
        for name in needed {
            assert!(crawl.path().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn a_copy_of_the_tables_is_no_leftover_without_the_tables() {
        let crawl = tempfile::tempdir().unwrap();
        fs::create_dir_all(crawl.path().join("state/sled.old")).unwrap();
        assert_eq!(find(crawl.path()).unwrap(), []);
        fs::create_dir_all(crawl.path().join("state/sled")).unwrap();
        assert_eq!(find(crawl.path()).unwrap().len(), 1);
    }
}
