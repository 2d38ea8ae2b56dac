//! What can go wrong with an index: never a page's fault, and never the archive's.

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinks::SinkFault;
use tantivy::TantivyError;
use tantivy::directory::error::{OpenDirectoryError, OpenReadError, OpenWriteError};

/// Why an index cannot do its work; a variant for each different reaction.
#[derive(Debug, thiserror::Error)]
pub enum IndexFault {
    /// There is none.
    #[error("{} holds no search index", directory.display())]
    Missing {
        /// Where it should be.
        directory: PathBuf,
    },
    /// Another process writes to it.
    #[error("another process is writing the search index in {}", directory.display())]
    InUse {
        /// Where it is.
        directory: PathBuf,
    },
    /// The system refused something.
    #[error("cannot use the search index in {}", directory.display())]
    Io {
        /// Where it is.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not what was written: make it again from the archive.
    #[error("the search index in {} is damaged: {reason}", directory.display())]
    Damaged {
        /// Where it is.
        directory: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl IndexFault {
    pub(crate) fn of(directory: &Path, error: &TantivyError) -> Self {
        let directory = directory.to_owned();
        let io = |source: &Arc<io::Error>| source.clone();
        let source = match error {
            TantivyError::LockFailure(..) => return Self::InUse { directory },
            TantivyError::IoError(source)
            | TantivyError::OpenReadError(OpenReadError::IoError { io_error: source, .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: source, .. })
            | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error: source, .. }) => {
                io(source)
            }
            other => {
                let reason = other.to_string();
                return Self::Damaged { directory, reason };
            }
        };
        match source.kind() {
            // Bytes that are not there, or mean nothing.
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                let reason = source.to_string();
                Self::Damaged { directory, reason }
            }
            _ => Self::Io {
                directory,
                source: own(&source),
            },
        }
    }

    /// The engine panics over bytes that it does not expect.
    pub(crate) fn of_panic(directory: &Path, panic: &(dyn Any + Send)) -> Self {
        let told = panic.downcast_ref::<&str>().map(ToString::to_string);
        let told = told.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::Damaged {
            directory: directory.to_owned(),
            reason: told.unwrap_or_else(|| "its engine panicked".to_owned()),
        }
    }

    /// The same, once more: who waits must be told what the one was told who asked first.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Missing { directory } => Self::Missing {
                directory: directory.clone(),
            },
            Self::InUse { directory } => Self::InUse {
                directory: directory.clone(),
            },
            Self::Io { directory, source } => Self::Io {
                directory: directory.clone(),
                source: own(source),
            },
            Self::Damaged { directory, reason } => Self::Damaged {
                directory: directory.clone(),
                reason: reason.clone(),
            },
        }
    }
}

/// The number of the error is what tells a full disk.
fn own(source: &io::Error) -> io::Error {
    match source.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(source.kind(), source.to_string()),
    }
}

impl From<IndexFault> for SinkFault {
    fn from(fault: IndexFault) -> Self {
        match fault {
            IndexFault::Io { directory, source } => Self::io("write", &directory, source),
            other => Self::Index {
                source: Box::new(other),
            },
        }
    }
}
