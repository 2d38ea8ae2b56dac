//! Errors of a sink: never a page's fault, always ours or the machine's.

use std::io;
use std::path::{Path, PathBuf};

use disk::DiskErrorKind;

use crate::warc::read::ReadFault;

/// An error of a sink, with one variant per reaction.
#[derive(Debug, thiserror::Error)]
pub enum SinkFault {
    /// The disk is full, or a quota or file-size limit is reached: free space, then resume.
    #[error("no space to write {}", path.display())]
    Full {
        /// The file that should have grown.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Any other I/O error.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation, as a verb: "create", "write".
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file that the archive should continue is missing.
    #[error("the archive should continue in {}, which is missing", path.display())]
    Missing {
        /// The file that should be there.
        path: PathBuf,
    },
    /// The file that the archive should continue has lost settled bytes.
    #[error("{} has only {length} of {end} settled bytes", path.display())]
    TooShort {
        /// The file.
        path: PathBuf,
        /// Its minimum length in bytes.
        end: u64,
        /// Its length in bytes.
        length: u64,
    },
    /// The file that the archive should continue exists under both of its names: one file is a
    /// copy. Remove the shorter one.
    #[error(
        "both {} and {} exist, but only one can belong to the archive",
        open.display(),
        closed.display()
    )]
    Twice {
        /// The name of a file that is being written.
        open: PathBuf,
        /// The name of one that was closed.
        closed: PathBuf,
    },
    /// Visits after the end where the archive should continue are settled: the journal once
    /// recorded them.
    #[error(
        "the journal ends before the archive: {} in {} contains visits that are not in the journal",
        files.join(", "),
        directory.display()
    )]
    JournalEnds {
        /// The archive's directory.
        directory: PathBuf,
        /// The names of the files that have such visits.
        files: Vec<String>,
    },
    /// The name of the file that the archive should continue is not the name of an archive file.
    #[error("the archive should continue in {name:?}, which is not the name of an archive file")]
    Foreign {
        /// The name.
        name: String,
    },
    /// The file that the archive should continue does not begin with a readable `warcinfo` record.
    #[error("the archive cannot continue in {}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error of reading it.
        source: ReadFault,
    },
    /// A part of the index is damaged, and rebuilding it did not help.
    #[error("{} has changed since it was written", path.display())]
    IndexDamaged {
        /// The part.
        path: PathBuf,
    },
    /// An earlier fault left the end of the archive uncertain; writing fails until the archive is
    /// opened again.
    #[error("{} is not written to after an earlier fault", path.display())]
    Poisoned {
        /// The file that was being written.
        path: PathBuf,
    },
    /// The sink has been closed.
    #[error("{} has been closed", path.display())]
    Closed {
        /// The file that was written last.
        path: PathBuf,
    },
    /// An index of the archive failed: the archive is intact, and the index is rebuilt from it.
    #[error("cannot index the archive")]
    Index {
        /// The error of the index.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The runtime is shutting down and did not run the work.
    #[error("the archive was stopped before it could write")]
    Stopped,
}

impl SinkFault {
    /// Returns a conversion, for `map_err`, of the I/O errors of an operation on `path`: a full
    /// disk, or any other error.
    pub fn io(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| {
            let path = path.to_owned();
            match DiskErrorKind::of(&source) {
                DiskErrorKind::Full => Self::Full { path, source },
                DiskErrorKind::ReadOnly | DiskErrorKind::TooManyFiles | DiskErrorKind::Broken => {
                    Self::Io {
                        doing,
                        path,
                        source,
                    }
                }
            }
        }
    }
}
