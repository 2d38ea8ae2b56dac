//! What can go wrong with a WACZ.

use std::io;
use std::path::PathBuf;

use zip::result::ZipError;

/// Why a WACZ cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum WaczFault {
    /// What is to be packed cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("the WACZ cannot be written")]
    Write(#[source] io::Error),
    /// The index of what is to be packed has a line that is none, or is out of its order. Make it
    /// again.
    #[error("line {line} of {} is not in order: {reason}", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// The number of the first such line, from 1 on.
        line: u64,
        /// What is wrong with it.
        reason: crate::cdxj::entry::LineError,
    },
    /// What is to be read is no ZIP file, or its list of files cannot be read.
    #[error("it is no ZIP file that can be read: {reason}")]
    NotZip {
        /// What is wrong.
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

    pub(super) fn opening(error: &ZipError) -> Self {
        Self::NotZip {
            reason: error.to_string(),
        }
    }
}
