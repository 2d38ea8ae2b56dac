//! The links of archived pages.
//!
//! The journal does not contain the words and relations of links. They are read from the page as
//! during the visit, but longer words and all relations are kept.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use export::{BrokenLink, ExportFault, Value, Visits};
use journal::{Fate, StoreFault, VisitRecord};
use web::{Link, UrlKey};

/// The URLs that could not be fetched, each with the status of the last response and the reason.
pub struct FailedUrls(HashMap<UrlKey, (Option<u16>, Option<Arc<str>>)>);

impl FailedUrls {
    /// Reads the journal of the store in `state`. Equal reasons share memory.
    pub fn of_journal(state: &Path) -> Result<Self, StoreFault> {
        let (mut failed, mut reasons) = (HashMap::new(), HashSet::<Arc<str>>::new());
        for visit in Visits::open(state, false)? {
            let record = visit?.record;
            if record.fate != Fate::Failed {
                continue;
            }
            let reason = record.reason_text().map(|reason| {
                let known = reasons.get(&*reason).cloned();
                known.unwrap_or_else(|| {
                    let reason: Arc<str> = reason.into();
                    reasons.insert(Arc::clone(&reason));
                    reason
                })
            });
            failed.insert(record.url.key(), (record.status, reason));
        }
        Ok(Self(failed))
    }
}

/// Passes the records of the links of a visit's page to `write`. If `failed` is given, only links
/// to these URLs.
pub(super) fn write(
    visit: &VisitRecord,
    links: &[Link],
    failed: Option<&FailedUrls>,
    mut write: impl FnMut(&[Option<Value<'_>>]) -> Result<(), ExportFault>,
) -> Result<(), ExportFault> {
    for link in links {
        let key = link.url.key();
        let link = export::Link::of_page(visit, link);
        let Some(FailedUrls(failed)) = failed else {
            write(&link.fields())?;
            continue;
        };
        if let Some((status, reason)) = failed.get(&key) {
            let broken = BrokenLink {
                link,
                status: *status,
                reason: reason.as_deref(),
            };
            write(&broken.fields())?;
        }
    }
    Ok(())
}
