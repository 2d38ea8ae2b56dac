//! Errors of an export: reading the crawl is our part, the destination is the user's choice.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use journal::StoreFault;
use parquet::errors::ParquetError;

use crate::whole_file::Differs;

/// An error that ends an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportFault {
    /// The crawl's state cannot be read.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// The output cannot be written.
    #[error(transparent)]
    Write(io::Error),
    /// The existing file is not a beginning of this export.
    #[error(transparent)]
    Differs(#[from] Differs),
    /// The Parquet encoder failed.
    #[error("cannot write the Parquet file")]
    Encode(#[source] ParquetError),
    /// An existing part does not belong to this export.
    #[error("{} is not a part of this export: {why}", path.display())]
    ForeignPart {
        /// The file.
        path: PathBuf,
        /// The difference.
        why: String,
    },
    /// The directory of a new export has parts already.
    #[error("{} already contains parts of an export", .0.display())]
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
