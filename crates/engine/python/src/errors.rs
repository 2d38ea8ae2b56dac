//! Errors of the engine as Python exceptions.
//!
//! A value that is not possible becomes a `ValueError`, an object of the wrong type a `TypeError`,
//! an error of the system an `OSError`, each with the message of the engine and its cause.

use std::error::Error;

use batch::BatchError;
use messages::{CommandError, Kind};
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyValueError};

/// Returns a `ValueError` with the message of `error`.
pub(crate) fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns an `OSError` with the messages of `error` and of its causes.
pub(crate) fn system(error: &dyn Error) -> PyErr {
    PyOSError::new_err(with_causes(error))
}

/// Returns the exception for a batch that was not finished.
pub(crate) fn of_batch(error: &BatchError) -> PyErr {
    match error {
        BatchError::Cancelled => PyKeyboardInterrupt::new_err(()),
        BatchError::Scratch { .. } => PyOSError::new_err(format!(
            "{}; choose another temp_dir or a larger memory",
            with_causes(error)
        )),
        BatchError::RepeatedId { .. } => invalid(format!(
            "{error}: findings cannot distinguish them; number documents with id=False, or use \
             keep(), which needs no ids"
        )),
        BatchError::Read { .. } | BatchError::Write { .. } => system(error),
        BatchError::TooMany => PyMemoryError::new_err(error.to_string()),
        _ => invalid(with_causes(error)),
    }
}

/// Returns the exception for an error of a question about a crawl, with its remedy.
pub(crate) fn of_command(error: &CommandError) -> PyErr {
    match error.kind() {
        Kind::Usage => invalid(error.in_one_line()),
        Kind::Fault => PyOSError::new_err(error.in_one_line()),
    }
}

/// Returns the message of `error` followed by the messages of its causes.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    message
}
