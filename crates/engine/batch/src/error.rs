//! Errors that end a batch.

use std::io;
use std::path::{Path, PathBuf};

use neardup::ALGORITHM;
use neardup::tables::MAX_DISTANCE;

use crate::signature_bytes::MAX_ID;

/// Errors that end a batch.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
    /// The directory for temporary files is full, missing or not writable.
    #[error("cannot use {} for temporary files", .directory.display())]
    Scratch {
        /// The directory as the caller gave it.
        directory: PathBuf,
        /// The number of bytes written there before.
        written: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// More than 2³² - 2 documents or fingerprints.
    #[error("too many to compare at once: the maximum is {}", u32::MAX - 1)]
    TooMany,
    /// Two documents with the same id, where ids must identify the findings.
    #[error("documents {first} and {second} have the same id")]
    RepeatedId {
        /// The number of the first document, from 0.
        first: u64,
        /// The number of the second document.
        second: u64,
    },
    /// A distance that is too large for the search for candidates.
    #[error("distance must be between 0 and {MAX_DISTANCE} bits, got {0}")]
    Distance(u32),
    /// A document whose number of bands differs from the options.
    #[error("a document must have {expected} bands as the options say, got {got}")]
    OtherBands {
        /// The number of bands in the options.
        expected: usize,
        /// The number of bands of the document.
        got: usize,
    },
    /// A file of fingerprints could not be opened or read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file of fingerprints could not be written.
    #[error("cannot write {}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file that is not a file of fingerprints or signatures, or that has changed.
    #[error("{} is damaged, or not a file of fingerprints or signatures: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The defect.
        what: &'static str,
    },
    /// A file of a format that this program does not know.
    #[error(
        "{} has format version {version}, which this program does not support",
        .path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        version: u16,
    },
    /// Fingerprints of another algorithm, which are not comparable.
    #[error(
        "the fingerprints in {} were made by algorithm {algorithm}; this program uses algorithm \
         {ALGORITHM}",
        .path.display()
    )]
    OtherAlgorithm {
        /// The file.
        path: PathBuf,
        /// The algorithm of the file.
        algorithm: u16,
    },
    /// A signature file that an interrupted run left.
    #[error("{} is incomplete: run the command that writes it again", .path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// Signatures that are not comparable with the run's signatures.
    #[error("the signatures in {} were made with different {what}", .path.display())]
    OtherSignatures {
        /// The file.
        path: PathBuf,
        /// The difference.
        what: String,
    },
    /// Files that are not the shards of one corpus.
    #[error("all shards of one corpus are required, each once: {0}")]
    Shards(String),
    /// An id that is too long for a signature file.
    #[error("an id must have at most {MAX_ID} bytes in a signature file, got {bytes}")]
    LongId {
        /// The length of the id.
        bytes: usize,
    },
    /// Fingerprints of other parameters digests, which are not comparable.
    #[error(
        "the fingerprints in {} and {} were made with different features, stop words, \
         frequencies, bits or keys",
        .one.display(),
        .other.display()
    )]
    OtherParameters {
        /// One of the files.
        one: PathBuf,
        /// The other.
        other: PathBuf,
    },
}

impl BatchError {
    /// Returns the error of a file that is not as it was written.
    pub(crate) fn damaged(path: &Path, what: &'static str) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            what,
        }
    }
}
