//! Why a batch could not be finished.

use std::io;
use std::path::PathBuf;

use neardup::{ALGORITHM, MAX_DISTANCE};

/// Why a batch could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The caller asked for it.
    #[error("cancelled")]
    Cancelled,
    /// The directory for what exceeds the memory is full, missing or not ours to use.
    #[error("cannot use {} for temporary files", .directory.display())]
    Scratch {
        /// The directory as the caller gave it.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There are more than 2³² - 2 of them.
    #[error("too many to compare at once: {} is the most", u32::MAX - 1)]
    TooMany,
    /// More bits than candidates can be found within.
    #[error("a distance of {0} bits is too much: 0 to {MAX_DISTANCE} are possible")]
    Distance(u32),
    /// A file of fingerprints could not be opened or read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of fingerprints could not be written.
    #[error("cannot write {}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no file of fingerprints, or no longer what was written.
    #[error("{} is damaged, or no file of fingerprints: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file of a format that this program does not know.
    #[error("{} is written in version {version} of its format, which this program does not know", .path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// The format's version there.
        version: u16,
    },
    /// Fingerprints of another algorithm are not comparable with ours.
    #[error("the fingerprints in {} were made by algorithm {algorithm}; this program makes those of {ALGORITHM}", .path.display())]
    OtherAlgorithm {
        /// The file.
        path: PathBuf,
        /// The algorithm there.
        algorithm: u16,
    },
    /// Fingerprints of other features or under another key cannot be compared.
    #[error("the fingerprints in {} and {} are of different features or keys", .one.display(), .other.display())]
    OtherRecipe {
        /// One of the files.
        one: PathBuf,
        /// The other.
        other: PathBuf,
    },
}
