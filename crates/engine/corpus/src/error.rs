//! The error for paths that cannot be read at all.

use std::io;
use std::path::{Path, PathBuf};

use crate::document::Skipped;
use crate::names::is_standard_input;

/// A path without the documents that are wanted.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A path does not exist or cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A pattern that no file matches.
    #[error("no file matches {}", pattern.display())]
    NoMatch {
        /// The pattern.
        pattern: PathBuf,
    },
    /// A pattern that cannot be understood.
    #[error("{} is neither a file nor a pattern of file names: {reason}", pattern.display())]
    BadPattern {
        /// The pattern.
        pattern: PathBuf,
        /// The defect.
        reason: String,
    },
    /// Standard input, a pipe or a device cannot be copied to a temporary file.
    #[error(
        "cannot copy {} to a temporary file in {}",
        shown(path),
        directory.display()
    )]
    Spool {
        /// The input.
        path: PathBuf,
        /// The directory of the temporary file.
        directory: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A path without a document, where one is wanted.
    #[error("{} does not contain a document; exactly one is required", path.display())]
    NoDocument {
        /// The path.
        path: PathBuf,
    },
    /// A path with several documents, where one is wanted.
    #[error("{} contains more than one document; exactly one is required", path.display())]
    SeveralDocuments {
        /// The path.
        path: PathBuf,
    },
    /// The only document cannot be read.
    #[error("{0}")]
    Skipped(Skipped),
}

fn shown(path: &Path) -> String {
    match is_standard_input(path) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}
