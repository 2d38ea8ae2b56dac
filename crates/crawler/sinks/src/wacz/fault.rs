//! Errors of a WACZ.

use std::io;
use std::path::PathBuf;

use zip::result::ZipError;

/// An error of writing or reading a WACZ.
#[derive(Debug, thiserror::Error)]
pub enum WaczFault {
    /// A file to be packed cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The WACZ cannot be written.
    #[error("the WACZ cannot be written")]
    Write(#[source] io::Error),
    /// The index of the archive has an invalid line, or one out of order: rebuild it.
    #[error("line {line} of {} is not in order: {reason}", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// The number of the first such line, from 1.
        line: u64,
        /// The error of the line.
        reason: crate::cdxj::entry::LineError,
    },
    /// The lines of several indexes cannot be sorted in temporary files.
    #[error(transparent)]
    Sorting(#[from] crate::fault::SinkFault),
    /// The file is not a ZIP file, or its directory cannot be read.
    #[error("it is not a readable ZIP file: {reason}")]
    NotZip {
        /// The reason.
        reason: String,
    },
    /// The file contains no archive that can be read in place.
    #[error("{reason}")]
    NoArchive {
        /// The reason, and the remedy.
        reason: String,
    },
}

impl WaczFault {
    pub(super) fn writing(error: ZipError) -> Self {
        Self::Write(match error {
            ZipError::Io(source) => source,
            other => io::Error::other(other),
        })
    }

    pub(super) fn no_archive(reason: impl Into<String>) -> Self {
        Self::NoArchive {
            reason: reason.into(),
        }
    }

    pub(super) fn not_zip(reason: &impl ToString) -> Self {
        Self::NotZip {
            reason: reason.to_string(),
        }
    }
}
