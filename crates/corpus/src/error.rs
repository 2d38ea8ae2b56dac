//! The error for paths that cannot be read at all.

use std::io;
use std::path::PathBuf;

use crate::sources::Skipped;

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
    /// A path without a document, where one is wanted.
    #[error("{} holds no document: one is wanted here", path.display())]
    NoDocument {
        /// The path.
        path: PathBuf,
    },
    /// A path with several documents, where one is wanted.
    #[error("{} holds more than one document: one is wanted here", path.display())]
    SeveralDocuments {
        /// The path.
        path: PathBuf,
    },
    /// The only document cannot be read.
    #[error("{0}")]
    Skipped(Skipped),
}
