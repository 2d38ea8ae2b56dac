//! The pages that hosts send for URLs that do not exist, with the status of a page.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use neardup::Shingles;
use web::Host;

/// Maximum number of hosts that are remembered; a forgotten host is asked again.
const MAX_HOSTS: NonZeroUsize = NonZeroUsize::new(10_000).expect("it is not zero");

/// The words of such a page; `None` if the host answers properly that there is no page.
pub(crate) type NotFoundPage = Arc<Option<Shingles>>;

/// The pages for URLs that do not exist, by host.
#[derive(Debug)]
pub struct NotFoundPages(Mutex<LruCache<Host, NotFoundPage>>);

impl Default for NotFoundPages {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_HOSTS)))
    }
}

impl NotFoundPages {
    /// Returns the page of a host, if the host was asked.
    pub(crate) fn of_host(&self, host: &Host) -> Option<NotFoundPage> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(host).cloned()
    }

    /// Remembers the page of a host.
    pub(crate) fn remember(&self, host: &Host, page: NotFoundPage) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.put(host.clone(), page);
    }
}
