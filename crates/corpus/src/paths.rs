//! The files below given paths, in a fixed order.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::document::Skipped;
use crate::error::CorpusError;
use crate::media::is_named;

/// An iterator over the files below some paths: in the order of the paths, and in a directory in
/// the order of the names. A directory is listed when its turn comes.
#[derive(Debug)]
pub(crate) struct Files {
    paths: VecDeque<PathBuf>,
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
                Err(_absent) if is_pattern(path) => files.extend(matches(path)?),
                Err(source) => {
                    let path = path.clone();
                    return Err(CorpusError::Unreadable { path, source });
                }
                Ok(()) => files.push_back(path.clone()),
            }
        }
        Ok(Self { paths: files })
    }

    /// Puts the entries of a directory in front of the other paths.
    fn enter(&mut self, directory: &Path) -> io::Result<()> {
        let entries = std::fs::read_dir(directory)?;
        let paths = entries.map(|entry| Ok(entry?.path()));
        let mut below = paths.collect::<io::Result<Vec<_>>>()?;
        // A link may lead out of the directory or back into it, and an index of an archive has no
        // documents.
        let is_index =
            |entry: &Path| is_named(entry, &["cdxj", "cdx"]) || sinks::cdxj::is_manifest(entry);
        below.retain(|entry| {
            !entry.is_symlink() && !is_index(entry) && !sinks::warc::is_beside(entry)
        });
        below.sort_unstable();
        for entry in below.into_iter().rev() {
            self.paths.push_front(entry);
        }
        Ok(())
    }
}

impl Iterator for Files {
    type Item = Result<PathBuf, Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let path = self.paths.pop_front()?;
            if is_standard_input(&path) || !path.is_dir() {
                return Some(Ok(path));
            }
            if let Err(error) = self.enter(&path) {
                return Some(Err(Skipped::at(&path, error)));
            }
        }
    }
}

/// Returns true for `-`, which stands for standard input.
#[must_use]
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn readable(path: &Path) -> io::Result<()> {
    if is_standard_input(path) {
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
