//! The pages that hosts send for URLs that do not exist, with the status of a page.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use tokio::sync::OnceCell;
use web::Host;

use crate::runtime::repeated_texts::ShortText;

/// Maximum number of hosts that are remembered. A forgotten host gets another request.
const MAX_HOSTS: NonZeroUsize = NonZeroUsize::new(10_000).expect("it is not zero");

/// The text of such a page; `None` if the host responds with an error status or a long page. The
/// first visit that needs it sends the request, and later visits wait for its response.
pub(crate) type NotFoundPage = Arc<OnceCell<Option<ShortText>>>;

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
