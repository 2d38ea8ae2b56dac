//! Errors of an index. Pages and archives never cause them.

use std::any::Any;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::DiskErrorKind;
use sinks::SinkFault;
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

/// An error of an index, with one variant per required reaction.
#[derive(Debug, thiserror::Error)]
pub enum IndexFault {
    /// The index does not exist.
    #[error("{} does not contain a search index", directory.display())]
    Missing {
        /// Directory of the index.
        directory: PathBuf,
    },
    /// Another process is writing to the index.
    #[error("another process is writing the search index in {}", directory.display())]
    InUse {
        /// Directory of the index.
        directory: PathBuf,
    },
    /// The system reported an error.
    #[error("cannot use the search index in {}", directory.display())]
    Io {
        /// Directory of the index.
        directory: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// Another version of this program wrote the index: it is intact, but this version cannot use
    /// it.
    #[error(
        "the search index in {} has another format than this version writes",
        directory.display()
    )]
    OtherFormat {
        /// Directory of the index.
        directory: PathBuf,
    },
    /// The index is damaged: rebuild it from the archive.
    #[error("the search index in {} is damaged: {reason}", directory.display())]
    Damaged {
        /// Directory of the index.
        directory: PathBuf,
        /// Description of the damage.
        reason: String,
    },
}

impl IndexFault {
    pub(crate) fn of(directory: &Path, error: &TantivyError) -> Self {
        let directory = directory.to_owned();
        let source = match error {
            TantivyError::IoError(source)
            | TantivyError::LockFailure(LockError::IoError(source), _)
            | TantivyError::OpenReadError(OpenReadError::IoError {
                io_error: source, ..
            })
            | TantivyError::OpenWriteError(OpenWriteError::IoError {
                io_error: source, ..
            })
            | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError {
                io_error: source,
                ..
            }) => source,
            TantivyError::LockFailure(..) => return Self::InUse { directory },
            other => {
                let reason = other.to_string();
                return Self::Damaged { directory, reason };
            }
        };
        match source.kind() {
            // Missing or invalid bytes.
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput => {
                let reason = source.to_string();
                Self::Damaged { directory, reason }
            }
            _ => Self::Io {
                directory,
                source: own(source),
            },
        }
    }

    /// Returns the fault for a panic: tantivy panics on unexpected bytes.
    pub(crate) fn of_panic(directory: &Path, panic: &(dyn Any + Send)) -> Self {
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::Damaged {
            directory: directory.to_owned(),
            reason: message.unwrap_or_else(|| "its engine panicked".to_owned()),
        }
    }

    /// Replaces damage by the error of a full disk if the disk is full: tantivy then panics, and
    /// loses threads, without reporting that error.
    pub(crate) fn unless_full(self) -> Self {
        let Self::Damaged { directory, .. } = &self else {
            return self;
        };
        match no_room_in(directory) {
            Some(source) => Self::Io {
                directory: directory.clone(),
                source,
            },
            None => self,
        }
    }

    /// Returns the fault for the sink: each waiting caller gets a copy.
    pub(crate) fn of_sink(self: &Arc<Self>) -> SinkFault {
        match &**self {
            Self::Io { directory, source } => SinkFault::io("write", directory)(own(source)),
            _ => SinkFault::Index {
                source: Box::new(Arc::clone(self)),
            },
        }
    }
}

/// Maximum bytes that tantivy needs at once: with less disk space, its errors do not count as
/// damage.
const ROOM_BYTES: usize = 16 << 20;

/// Writes a probe file to a directory and removes it. Returns the error if the disk is full.
fn no_room_in(directory: &Path) -> Option<io::Error> {
    let probe = directory.join("room.probe");
    let written = File::create(&probe).and_then(|mut file| {
        let piece = vec![0_u8; ROOM_BYTES / 16];
        for _ in 0..16 {
            file.write_all(&piece)?;
        }
        file.sync_data()
    });
    let removed = std::fs::remove_file(&probe);
    let refused = written.and(removed).err()?;
    (DiskErrorKind::of(&refused) == DiskErrorKind::Full).then_some(refused)
}

/// Copies an error with its number, which identifies a full disk.
fn own(source: &io::Error) -> io::Error {
    match source.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(source.kind(), source.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This was reported as "another process is writing".
    #[test]
    fn a_lock_on_a_full_disk_is_not_reported_as_another_process() {
        let full = Arc::new(io::Error::from(io::ErrorKind::StorageFull));
        let error = TantivyError::LockFailure(LockError::IoError(full), None);
        let fault = IndexFault::of(Path::new("search"), &error);
        assert!(matches!(fault, IndexFault::Io { .. }), "{fault:?}");
        let busy = TantivyError::LockFailure(LockError::LockBusy, None);
        assert!(matches!(
            IndexFault::of(Path::new("search"), &busy),
            IndexFault::InUse { .. }
        ));
    }

    #[test]
    fn damage_stays_damage_on_a_disk_with_room() {
        let directory = tempfile::tempdir().expect("a directory");
        let damage = IndexFault::of_panic(directory.path(), &"torn");
        assert!(matches!(damage.unless_full(), IndexFault::Damaged { .. }));
        let left = std::fs::read_dir(directory.path()).expect("the directory");
        assert_eq!(left.count(), 0, "the probe is removed");
    }
}
