//! The links of archived pages.
//!
//! The journal does not contain the words and relations of links. They are read from the page as
//! during the visit, but longer words and all relations are kept.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use export::{BrokenLink, ExportFault, Value, Visits};
use journal::{Fate, LinkChecks, LinkVerdict, StoreFault, VisitRecord};
use settings::crawl_directory;
use web::{Link, UrlKey};

/// The URLs that could not be fetched, each with the status of the last response and the reason.
pub struct FailedUrls(HashMap<UrlKey, (Option<u16>, Option<Arc<str>>)>);

impl FailedUrls {
    /// Reads the checked links and the journal of the crawl in `directory`. Equal reasons share
    /// memory. A page that was visited does not fail, even if the
    /// check of its link did before.
    pub fn of_crawl(directory: &Path) -> Result<Self, StoreFault> {
        let (mut failed, mut reasons) = (HashMap::new(), SharedReasons::default());
        for check in LinkChecks::open(directory)? {
            let check = check?;
            if check.verdict == LinkVerdict::Broken {
                let reason = check.reason.map(|reason| reasons.share(reason));
                failed.insert(check.url.key(), (check.status, reason));
            }
        }
        for visit in Visits::open(&crawl_directory::state(directory), false)? {
            let record = visit?.record;
            if record.fate == Fate::Failed {
                let reason = record.reason_text().map(|reason| reasons.share(reason));
                failed.insert(record.url.key(), (record.status, reason));
            } else if record.fate.is_page() {
                failed.remove(&record.url.key());
            }
        }
        Ok(Self(failed))
    }
}

/// Reasons, each in memory once.
#[derive(Default)]
struct SharedReasons(HashSet<Arc<str>>);

impl SharedReasons {
    fn share(&mut self, reason: String) -> Arc<str> {
        if let Some(known) = self.0.get(&*reason) {
            return Arc::clone(known);
        }
        let reason: Arc<str> = reason.into();
        self.0.insert(Arc::clone(&reason));
        reason
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
