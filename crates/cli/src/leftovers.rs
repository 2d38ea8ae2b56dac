//! Leftover files in the directory of a crawl: one table, for `status` and `clean`.
//!
//! | path | left by |
//! |---|---|
//! | `state.old-*` | `rebuild`: the state in whose place it put another |
//! | `state.new` | a `rebuild` that was cut short |
//! | `state/sled.unusable*` | an opening or a `rebuild`: tables that could not be used |
//! | `state/sled.new`, `state/sled.old` | an opening that was cut short while it copied tables |
//! | `search.unusable-*` | an opening: a search index that could not be used |
//! | `search.new` | a `reindex` that was cut short |
//! | `archive/index/NNNNNN.cdxj` | an `index` that was cut short: runs that no index names |
//! | `FILE.new` beside a file that is replaced in one step, `state/probe` | a process that died |
//! | `archive/*.cut-*`, `state/journal/*.cut-*` | an opening: bytes that a reader may still want |
//!
//! Invariant: nothing in the table is needed to go on with the crawl; it is listed while nobody has
//! the crawl open, or what is in use for a moment is listed too. The last line of the table is
//! removed only where somebody asks for it by name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use serde::Serialize;
use sinks::cdxj;

use crate::crawl_directory;
use crate::settings::SETTINGS_FILE;

/// A leftover file or directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Leftover {
    /// Below the directory of the crawl.
    pub(crate) path: PathBuf,
    /// The length of all its files.
    pub(crate) bytes: u64,
    /// Its origin.
    pub(crate) why: &'static str,
    /// True if it was cut off an archive or a journal.
    pub(crate) is_cut: bool,
}

/// A kind of left-over: a directory below the crawl's, and which of its items are of this kind.
struct Kind {
    below: &'static str,
    is_one: fn(&str) -> bool,
    why: &'static str,
    is_cut: bool,
}

const KINDS: [Kind; 10] = [
    Kind {
        below: "",
        is_one: |name| name.starts_with("state.old-"),
        why: "the state before a rebuild",
        is_cut: false,
    },
    Kind {
        below: "",
        is_one: |name| name == "state.new",
        why: "an interrupted rebuild",
        is_cut: false,
    },
    Kind {
        below: "",
        is_one: |name| name == "search.new",
        why: "an interrupted reindex",
        is_cut: false,
    },
    Kind {
        below: "",
        is_one: |name| name.starts_with("search.unusable-"),
        why: "a search index that could not be used",
        is_cut: false,
    },
    Kind {
        below: "",
        is_one: |name| name.strip_suffix(".new") == Some(SETTINGS_FILE),
        why: "an interrupted write",
        is_cut: false,
    },
    Kind {
        below: "state",
        is_one: |name| name.starts_with("sled.unusable"),
        why: "tables that could not be used",
        is_cut: false,
    },
    Kind {
        below: "state",
        is_one: is_draft_of_state,
        why: "an interrupted write",
        is_cut: false,
    },
    Kind {
        below: "state/journal",
        is_one: is_cut_off,
        why: "cut off the journal; --cut removes it",
        is_cut: true,
    },
    Kind {
        below: "archive/index",
        is_one: |name| name.ends_with(".new"),
        why: "an interrupted write",
        is_cut: false,
    },
    Kind {
        below: "archive",
        is_one: is_cut_off,
        why: "cut off the archive; --cut removes it",
        is_cut: true,
    },
];

/// `NAME.cut-7`, with whatever the name is.
fn is_cut_off(name: &str) -> bool {
    let digits = name.rsplit_once(".cut-").map(|(_, digits)| digits);
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_draft_of_state(name: &str) -> bool {
    name == "probe" || name.ends_with(".new") && name != "sled.new"
}

/// Finds the leftover files in the directory of a crawl, in the order of the table.
///
/// # Errors
/// What the disk says.
pub(crate) fn find(directory: &Path) -> io::Result<Vec<Leftover>> {
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
    for kind in &KINDS {
        let below = directory.join(kind.below);
        for name in names(&below)? {
            if (kind.is_one)(&name) {
                add(below.join(&name), kind.why, kind.is_cut)?;
            }
        }
    }
    let state = crawl_directory::state(directory);
    // Where there are no tables, one of the two is to become them.
    if state.join("sled").exists() {
        for name in ["sled.new", "sled.old"] {
            let path = state.join(name);
            if path.exists() {
                add(path, "tables that were being rewritten", false)?;
            }
        }
    }
    for path in cdxj::strays(&crawl_directory::archive(directory))? {
        add(path, "an interrupted index", false)?;
    }
    Ok(found)
}

/// Returns the names in a directory, sorted; none if it does not exist.
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
    /// Removes it from the crawl's directory.
    ///
    /// # Errors
    /// What the disk says.
    pub(crate) fn remove(&self, directory: &Path) -> io::Result<()> {
        let path = directory.join(&self.path);
        // A link is removed, and not what it leads to.
        match fs::symlink_metadata(&path)?.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        }
    }

    /// Returns its size, its path and its origin, in columns.
    pub(crate) fn line(&self) -> String {
        let size = ByteSize(self.bytes).display().iec().to_string();
        format!("{size:>10}  {}  ({})", self.path.display(), self.why)
    }
}

/// Describes their number and total size.
pub(crate) fn total(left: &[Leftover]) -> String {
    let bytes = left.iter().map(|item| item.bytes).sum();
    let noun = if left.len() == 1 { "item" } else { "items" };
    format!("{} {noun}, {}", left.len(), ByteSize(bytes).display().iec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_found_and_nothing_else_is() {
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
            // Somebody else's.
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
    fn a_copy_of_the_tables_is_no_left_over_where_the_tables_are_gone() {
        let crawl = tempfile::tempdir().unwrap();
        fs::create_dir_all(crawl.path().join("state/sled.old")).unwrap();
        assert_eq!(find(crawl.path()).unwrap(), []);
        fs::create_dir_all(crawl.path().join("state/sled")).unwrap();
        assert_eq!(find(crawl.path()).unwrap().len(), 1);
    }
}
