//! Why an export ends early: reading the crawl is ours, where it is written to is the user's
//! choice.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use parquet::errors::ParquetError;
use store::StoreFault;

use crate::whole_file::Differs;

/// Why an export ends early.
#[derive(Debug, thiserror::Error)]
pub enum ExportFault {
    /// What the crawl remembers cannot be read.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// What is to be written cannot be.
    #[error(transparent)]
    Write(io::Error),
    /// What is there already is not how this export begins.
    #[error(transparent)]
    Differs(Differs),
    /// The encoder of Parquet refused.
    #[error("the Parquet file cannot be made")]
    Encode(#[source] ParquetError),
    /// A part that is there is not one of this export.
    #[error("{} is not a part of this export: {why}", path.display())]
    ForeignPart {
        /// The file.
        path: PathBuf,
        /// In what it differs.
        why: String,
    },
    /// There are parts where an export is to begin.
    #[error("{} has parts of an export already", .0.display())]
    Occupied(PathBuf),
}

impl From<io::Error> for ExportFault {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Differs>() {
            Ok(differs) => Self::Differs(differs),
            Err(error) => Self::Write(error),
        }
    }
}

impl From<csv::Error> for ExportFault {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => error.into(),
            other => Self::Write(io::Error::other(format!("{other:?}"))),
        }
    }
}

impl From<ParquetError> for ExportFault {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) => match cause.downcast::<io::Error>() {
                Ok(error) => (*error).into(),
                Err(cause) => Self::Encode(ParquetError::External(
                    cause as Box<dyn Error + Send + Sync>,
                )),
            },
            other => Self::Encode(other),
        }
    }
}
