//! Why a batch could not be finished.

use std::io;
use std::path::PathBuf;

/// Why a batch could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The caller asked for it.
    #[error("cancelled")]
    Cancelled,
    /// The directory for what exceeds the memory is full, missing or not ours to write to.
    #[error("cannot use {directory} for temporary files", directory = .directory.display())]
    Scratch {
        /// The directory as the caller gave it.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There are more than 2³² - 2 of them.
    #[error("too many documents: at most {} can be compared at once", u32::MAX - 1)]
    TooMany,
}
