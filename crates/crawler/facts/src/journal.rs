//! Reads the journal for commands, by record or by visit.

use std::path::Path;

use journal::{FinishedVisit, History, Record, Revocation, StoreFault, revocations};
use messages::{CommandError, SlowProgress, fault};
use settings::crawl_directory;

/// Returns the records of the store in `state`. Progress output calls them `what`.
pub fn records(
    state: &Path,
    what: &'static str,
) -> Result<impl Iterator<Item = Result<Record, StoreFault>>, StoreFault> {
    let mut progress = SlowProgress::new(what);
    Ok(History::open(state)?.inspect(move |_| progress.step()))
}

/// A visit, and its revocation if it was revoked later.
type EndedVisit = (FinishedVisit, Option<Revocation>);

/// Returns the visits in the order of their ends.
pub fn visits(
    state: &Path,
) -> Result<impl Iterator<Item = Result<EndedVisit, StoreFault>>, StoreFault> {
    let mut revoked = revocations(state)?;
    Ok(
        History::open(state)?.filter_map(move |record| match record {
            Ok(Record::Settled(settled)) => {
                let revocation = revoked.take(&settled.visit.record);
                Some(Ok((settled.visit, revocation)))
            }
            Ok(_) => None,
            Err(fault) => Some(Err(fault)),
        }),
    )
}

/// Converts errors of reading a whole store: a damaged journal can be rebuilt.
pub fn damaged(directory: &Path) -> impl Fn(StoreFault) -> CommandError + Copy {
    move |error| match error {
        StoreFault::Damaged { .. } => {
            fault(&error).with_remedy(crawl_directory::rebuild(directory))
        }
        other => other.into(),
    }
}
