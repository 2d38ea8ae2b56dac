//! The pages that hosts send for URLs that do not exist, with the status of a page.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use neardup::Shingles;
use tokio::sync::OnceCell;
use web::Host;

/// Maximum number of hosts that are remembered. A forgotten host gets another request.
const MAX_HOSTS: NonZeroUsize = NonZeroUsize::new(10_000).expect("it is not zero");

/// Words of such a page; `None` if the host responds with an error status. The first visit that
/// needs them sends the request, and later visits wait for its response.
pub(crate) type NotFoundPage = Arc<OnceCell<Option<Shingles>>>;

/// The pages for URLs that do not exist, by host.
#[derive(Debug)]
pub struct NotFoundPages(Mutex<LruCache<Host, NotFoundPage>>);

impl Default for NotFoundPages {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_HOSTS)))
    }
}

impl NotFoundPages {
    /// Returns the page of a host.
    pub(crate) fn of_host(&self, host: &Host) -> NotFoundPage {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.get_or_insert(host.clone(), NotFoundPage::default))
    }
}
