//! Errors of a store, with their remedies.

use journal::StoreFault;

use crate::command_error::{CommandError, fault};
use crate::shell::pasted;

/// A store in use is a usage error; all other errors are faults.
impl From<StoreFault> for CommandError {
    fn from(error: StoreFault) -> Self {
        Self::of_store(&error)
    }
}

impl CommandError {
    /// Converts a store's error: a usage error if the store is in use, otherwise a fault.
    pub fn of_store(error: &StoreFault) -> Self {
        match error {
            StoreFault::InUse { .. } => in_use(error),
            // Segments are in DIR/state/journal.
            StoreFault::Format { path, .. } => {
                let directory = path.ancestors().nth(3).unwrap_or(path);
                fault(error).with_remedy(format!(
                    "`crawler rebuild {} --from-archive` rebuilds the journal in the current \
                     format from the archive",
                    pasted(directory)
                ))
            }
            other => fault(other),
        }
    }
}

/// Returns the error for a crawl that another process has open.
pub fn in_use(error: &StoreFault) -> CommandError {
    let interrupt = match error {
        StoreFault::InUse {
            holder: Some(holder),
            ..
        } => format!("`kill -INT {}` interrupts it", holder.process),
        _ => "interrupt it".to_owned(),
    };
    CommandError::of_usage(error).with_remedy(format!(
        "wait until it ends, or {interrupt}; status, export and why also work while it runs"
    ))
}
