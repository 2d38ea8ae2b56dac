//! The overrides of settings in force while a crawl runs.
//!
//! [`RuntimeOverrides`] take effect only through [`CrawlContext::apply`]: the pacer uses them from
//! its next decision on, the scope from the next page on (also for queued pages), and the leasing
//! loop is woken.
//!
//! [`CrawlContext::apply`]: crate::CrawlContext::apply
//!
//! Invariant: a wait that was promised to a host stays. Longer delays count from its last response,
//! shorter ones from its next.

use std::sync::Arc;

use policy::RuntimeOverrides;
use tokio::sync::watch;
use web::{OutOfScope, PageUrl};

/// The overrides in force; each change is broadcast.
#[derive(Debug, Default)]
pub struct ActiveOverrides(watch::Sender<Arc<RuntimeOverrides>>);

impl ActiveOverrides {
    /// Returns the overrides in force.
    #[must_use]
    pub fn current(&self) -> Arc<RuntimeOverrides> {
        Arc::clone(&self.0.borrow())
    }

    /// Returns a receiver of every change from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<Arc<RuntimeOverrides>> {
        self.0.subscribe()
    }

    /// Puts these overrides in force.
    pub(crate) fn replace(&self, overrides: RuntimeOverrides) {
        self.0.send_replace(Arc::new(overrides));
    }

    /// Returns the reason why a page that was in scope when it was found is not visited now, if
    /// there is one.
    pub(crate) fn exclusion(&self, url: &PageUrl) -> Option<OutOfScope> {
        self.0.borrow().exclude.judge(url).err()
    }
}
