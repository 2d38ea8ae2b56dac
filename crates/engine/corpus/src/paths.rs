//! The files below given paths, in a fixed order.
//!
//! In a directory, links to files are read like files. Names that begin with `_` or `.` are left
//! out, as by Spark, pyarrow and DuckDB. So are files next to data that are not data: indexes of
//! archives, the descriptions of a data set, and the output of the command itself. An explicitly
//! named path is always read.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use disk::is_own_draft;

use crate::document::Skipped;
use crate::error::CorpusError;
use crate::names::{is_named, is_read_once};
use crate::warnings::{Warning, Warnings};

/// Extensions of files of many documents.
const DATA: [&str; 13] = [
    "jsonl",
    "ndjson",
    "jsonlines",
    "ldjson",
    "jl",
    "json",
    "parquet",
    "arrow",
    "arrows",
    "feather",
    "warc",
    "wet",
    "wat",
];

/// Names of files that describe a data set of the Hugging Face libraries.
const DATA_SET: [&str; 4] = [
    "dataset_info.json",
    "dataset_infos.json",
    "dataset_dict.json",
    "state.json",
];

/// Beginnings of the names of files that describe adjacent data.
const ABOUT: [&str; 5] = ["readme", "license", "licence", "notice", "changelog"];

/// An iterator over the files below some paths: in the order of the paths, and in a directory in
/// the order of the names. A directory is listed when its turn comes.
#[derive(Debug)]
pub(crate) struct Files {
    paths: VecDeque<Result<PathBuf, Skipped>>,
    warnings: Warnings,
}

impl Files {
    /// Returns the files below these paths. `-` is standard input. A path that does not exist and
    /// has `*`, `?` or `[` is a pattern, whose matches are sorted by name.
    ///
    /// # Errors
    /// [`CorpusError::Unreadable`] if a path cannot be read, and the errors of patterns.
    pub(crate) fn below(paths: &[PathBuf]) -> Result<Self, CorpusError> {
        let mut files = VecDeque::new();
        for path in paths {
            match readable(path) {
                Err(_absent) if is_pattern(path) => {
                    files.extend(matches(path)?.into_iter().map(Ok));
                }
                Err(source) => {
                    let path = path.clone();
                    return Err(CorpusError::Unreadable { path, source });
                }
                Ok(()) => files.push_back(Ok(path.clone())),
            }
        }
        Ok(Self {
            paths: files,
            warnings: Warnings::default(),
        })
    }

    /// Returns the paths, with the matches of patterns, that are still to come.
    pub(crate) fn roots(self) -> Vec<PathBuf> {
        self.paths.into_iter().flatten().collect()
    }

    /// Returns the names that were left out, complete once all files are listed.
    pub(crate) fn warnings(&self) -> Warnings {
        self.warnings.clone()
    }

    /// Puts the entries of a directory in front of the other paths.
    fn enter(&mut self, directory: &Path) -> io::Result<()> {
        let entries = std::fs::read_dir(directory)?;
        let paths = entries.map(|entry| Ok(entry?.path()));
        let mut below = paths.collect::<io::Result<Vec<_>>>()?;
        let has_data = below.iter().any(|entry| is_named(entry, &DATA));
        below.retain(|entry| {
            let is_passed_over = is_description(entry, has_data);
            if is_passed_over {
                let file = entry.display().to_string();
                self.warnings.add(Warning::PassedOver, file);
            }
            !is_passed_over && !is_hidden(entry) && !is_index(entry) && !is_own_draft(entry)
        });
        below.sort_unstable();
        for entry in below.into_iter().rev() {
            self.paths.push_front(of_directory(entry));
        }
        Ok(())
    }
}

impl Iterator for Files {
    type Item = Result<PathBuf, Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let path = match self.paths.pop_front()? {
                Ok(path) if is_read_once(&path) || !path.is_dir() => return Some(Ok(path)),
                Ok(directory) => directory,
                Err(skipped) => return Some(Err(skipped)),
            };
            if let Err(error) = self.enter(&path) {
                return Some(Err(Skipped::at(&path, error)));
            }
        }
    }
}

/// Returns an entry of a directory, or the reason why it is not read: a link may point back into
/// the directory, and a pipe may never have a writer.
fn of_directory(entry: PathBuf) -> Result<PathBuf, Skipped> {
    if entry.is_symlink() && entry.is_dir() {
        return Err(Skipped::at(
            &entry,
            "a link to a directory, which is read only if given explicitly",
        ));
    }
    if is_read_once(&entry) {
        return Err(Skipped::at(
            &entry,
            "a pipe or a device, which is read only if given explicitly",
        ));
    }
    Ok(entry)
}

/// Returns true for the names that belong to systems and not to users.
fn is_hidden(entry: &Path) -> bool {
    name_of(entry).starts_with('.')
}

/// Returns true for an index of archives.
fn is_index(entry: &Path) -> bool {
    is_named(entry, &["cdxj", "cdx"])
        || sinks::cdxj::is_manifest(entry)
        || sinks::warc::is_beside(entry)
}

/// Returns true for files that a program writes next to its data, and for texts about adjacent
/// data.
fn is_description(entry: &Path, has_data: bool) -> bool {
    let name = name_of(entry);
    let is_about = |name: &str| ABOUT.iter().any(|about| name.starts_with(about));
    name.starts_with('_')
        || DATA_SET.contains(&&*name)
        || has_data && !is_named(entry, &DATA) && is_about(&name)
}

/// Returns the name of an entry in lower case.
fn name_of(entry: &Path) -> String {
    let name = entry.file_name().unwrap_or_default();
    name.to_string_lossy().to_lowercase()
}

fn readable(path: &Path) -> io::Result<()> {
    if is_read_once(path) {
        Ok(())
    } else if path.is_dir() {
        std::fs::read_dir(path).map(drop)
    } else {
        File::open(path).map(drop)
    }
}

fn is_pattern(path: &Path) -> bool {
    !path.exists() && path.to_string_lossy().contains(['*', '?', '['])
}

/// Returns the paths that match a pattern.
fn matches(pattern: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let bad = |reason: String| CorpusError::BadPattern {
        pattern: pattern.to_owned(),
        reason,
    };
    let text = pattern.to_str();
    let text = text.ok_or_else(|| bad("it is not UTF-8".to_owned()))?;
    let found = glob::glob(text).map_err(|error| bad(error.to_string()))?;
    let found: Result<Vec<PathBuf>, _> = found.collect();
    let mut found = found.map_err(|error| CorpusError::Unreadable {
        path: error.path().to_owned(),
        source: error.into(),
    })?;
    if found.is_empty() {
        let pattern = pattern.to_owned();
        return Err(CorpusError::NoMatch { pattern });
    }
    found.sort_unstable();
    Ok(found)
}
