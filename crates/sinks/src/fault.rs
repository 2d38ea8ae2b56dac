//! What can go wrong with a sink: never a page's fault, always ours or the machine's.

use std::io;
use std::path::{Path, PathBuf};

use disk::DiskErrorKind;

use crate::warc::read::ReadFault;

/// Why a sink cannot do its work; a variant for each different reaction.
#[derive(Debug, thiserror::Error)]
pub enum SinkFault {
    /// There is no room: the disk is full, or a quota or file-size limit is reached. Make room,
    /// then resume.
    #[error("no room to write {}", path.display())]
    Full {
        /// The file that should have grown.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system refused something else.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was being done, as a verb: "create", "write".
        doing: &'static str,
        /// The file or directory that it was done to.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file in which the archive should continue is gone.
    #[error("the archive should continue in {}, which is missing", path.display())]
    Missing {
        /// The file that should be there.
        path: PathBuf,
    },
    /// The file in which the archive should continue has lost bytes that were settled.
    #[error("{} has {length} bytes of the {end} that are settled", path.display())]
    TooShort {
        /// The file.
        path: PathBuf,
        /// How long it must be at least, in bytes.
        end: u64,
        /// How long it is, in bytes.
        length: u64,
    },
    /// The file in which the archive should continue is there under both of its names: one of them
    /// is a copy that somebody made. Take away the one that is shorter.
    #[error("both {} and {} are there, and only one of them can be the archive's", open.display(), closed.display())]
    Twice {
        /// The name of a file that is being written.
        open: PathBuf,
        /// The name of one that was closed.
        closed: PathBuf,
    },
    /// Visits are behind the end from which the archive should continue that the journal told of
    /// once.
    #[error(
        "the journal ends before the archive: {} in {} has visits that it does not tell of",
        files.join(", "),
        directory.display()
    )]
    JournalEnds {
        /// The archive's directory.
        directory: PathBuf,
        /// The names of the files that have such visits.
        files: Vec<String>,
    },
    /// The name in which the archive should continue is not one that an archive gives its files.
    #[error("the archive should continue in {name:?}, which is not the name of an archive file")]
    Foreign {
        /// The name.
        name: String,
    },
    /// The file in which the archive should continue does not begin with a readable `warcinfo`
    /// record.
    #[error("the archive cannot continue in {}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ReadFault,
    },
    /// A part of the index is not what was written, and making it again did not help.
    #[error("{} is not what was written to it", path.display())]
    IndexDamaged {
        /// The part.
        path: PathBuf,
    },
    /// An earlier fault left the end of the archive in doubt; nothing is written until it is opened
    /// anew.
    #[error("nothing more is written to {} after an earlier fault", path.display())]
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
    /// An index over the archive cannot go on: the archive is whole, and the index is made again
    /// from it.
    #[error("what was archived cannot be indexed")]
    Index {
        /// What is wrong with the index.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The runtime is ending and did not let the work begin.
    #[error("the archive was stopped before it could write")]
    Stopped,
}

impl SinkFault {
    /// Sorts the system's error: no room, or anything else.
    #[must_use]
    pub fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match DiskErrorKind::of(&source) {
            DiskErrorKind::Full => Self::Full { path, source },
            DiskErrorKind::ReadOnly | DiskErrorKind::Broken => Self::Io {
                doing,
                path,
                source,
            },
        }
    }
}
