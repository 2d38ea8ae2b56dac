//! The errors of writing chosen documents.

use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use messages::{CommandError, fault};

use crate::draft::DraftError;
use crate::error::CorpusError;

/// An error of writing chosen documents. No partial output remains.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The inputs cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// Inputs of several formats.
    #[error(
        "all inputs of one output must have the same format: {} is {format}, and {} is \
         {other_format}",
        first.display(),
        other.display()
    )]
    Mixed {
        /// The first file.
        first: PathBuf,
        /// The format of the first file.
        format: &'static str,
        /// The file of another format.
        other: PathBuf,
        /// The other format.
        other_format: &'static str,
    },
    /// Tables with different columns.
    #[error(
        "all inputs of one output must have the same columns: {} and {} differ, {difference}",
        first.display(),
        other.display()
    )]
    Columns {
        /// The first table.
        first: PathBuf,
        /// The table with other columns.
        other: PathBuf,
        /// The first column that differs.
        difference: String,
    },
    /// A file that is named like another format.
    #[error("{} has the name of {name}, but the inputs are {format}", output.display())]
    OtherName {
        /// The output.
        output: PathBuf,
        /// The format of its name.
        name: &'static str,
        /// The format of the inputs.
        format: &'static str,
    },
    /// A file that cannot be copied in parts, or an output that cannot be written.
    #[error("{} is {reason}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The reason, and the remedy.
        reason: String,
    },
    /// An output below a directory that is read.
    #[error(
        "{} is inside the input {}: choose a file elsewhere",
        output.display(),
        directory.display()
    )]
    WithinInput {
        /// The output.
        output: PathBuf,
        /// The directory of the inputs.
        directory: PathBuf,
    },
    /// The inputs changed between the two readings.
    #[error(
        "the inputs changed while they were read ({first} documents at first, then {second}): run \
         the command again when nothing writes to them"
    )]
    Changed {
        /// The number of documents of the first reading.
        first: u64,
        /// The number of documents of the second reading; some may be different documents.
        second: u64,
    },
    /// The fate of a document is unknown.
    #[error("cannot determine the documents to keep")]
    Choice {
        /// The error of the caller's function.
        source: io::Error,
    },
    /// A file that was read before cannot be read any more.
    #[error("cannot read {} again", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A table whose other columns cannot be read.
    #[error("cannot read the rows of {} with all columns", path.display())]
    Unreadable {
        /// The table.
        path: PathBuf,
        /// The error of the library.
        source: ArrowError,
    },
    /// Rows that cannot be written as they were.
    #[error("cannot write the rows of {}", path.display())]
    Rows {
        /// The table that they are from.
        path: PathBuf,
        /// The error of the library.
        source: ArrowError,
    },
    /// The output cannot be written: a full disk, for example.
    #[error(
        "cannot write {} after {written} bytes; the partial output was removed",
        path.display()
    )]
    Write {
        /// The output.
        path: PathBuf,
        /// The number of bytes that were written before.
        written: u64,
        /// The error of the system.
        source: io::Error,
    },
}

impl KeepError {
    pub(super) fn unsupported(path: &Path, reason: &str) -> Self {
        Self::Unsupported {
            path: path.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

impl From<DraftError> for KeepError {
    fn from(error: DraftError) -> Self {
        Self::Write {
            path: error.path,
            written: error.written,
            source: error.source,
        }
    }
}

/// Faults are errors of writing; the others are errors of the inputs and names that were given.
impl From<KeepError> for CommandError {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Changed { .. }
            | KeepError::Choice { .. }
            | KeepError::Read { .. }
            | KeepError::Rows { .. }
            | KeepError::Unreadable { .. }
            | KeepError::Write { .. } => fault(&error),
            _ => Self::of_usage(&error),
        }
    }
}
