//! The journal as commands read it: record by record, or visit by visit.

use std::path::Path;

use store::embedded::record::Record;
use store::embedded::{History, Revocation, revocations};
use store::{FinishedVisit, StoreFault};

use crate::cli_error::{CliError, fault};
use crate::crawl_directory;
use crate::progress::SlowProgress;

/// Returns the records of the store in `state`; progress counts them as `what`.
pub(super) fn records(
    state: &Path,
    what: &'static str,
) -> Result<impl Iterator<Item = Result<Record, StoreFault>>, StoreFault> {
    let mut progress = SlowProgress::new(what);
    Ok(History::open(state)?.inspect(move |_| progress.step()))
}

/// A visit, with its revocation if it was revoked later.
type EndedVisit = (FinishedVisit, Option<Revocation>);

/// Returns the visits in the order in which they ended.
pub(super) fn visits(
    state: &Path,
) -> Result<impl Iterator<Item = Result<EndedVisit, StoreFault>>, StoreFault> {
    let mut revoked = revocations(state)?;
    Ok(
        History::open(state)?.filter_map(move |record| match record {
            Ok(Record::Settled(settled)) => {
                let revocation = revoked.take(&settled.visit.row);
                Some(Ok((settled.visit, revocation)))
            }
            Ok(_) => None,
            Err(fault) => Some(Err(fault)),
        }),
    )
}

/// A store in use is wrong usage; everything else is a fault.
impl From<StoreFault> for CliError {
    fn from(error: StoreFault) -> Self {
        crawl_directory::cli_error(&error)
    }
}

/// Converts the error of a store that is read whole: a damaged journal can be made again.
pub(super) fn damaged(directory: &Path) -> impl Fn(StoreFault) -> CliError + Copy {
    move |error| match error {
        StoreFault::Damaged { .. } => {
            fault(&error).with_remedy(crawl_directory::rebuild(directory))
        }
        other => other.into(),
    }
}
