//! Hosts that are down: a crawl does not wait for them, and the next run requests their URLs.

use std::collections::HashMap;
use std::path::Path;

use journal::StoreFault;
use statistics::CrawlStatistics;
use web::{Host, PageUrl};

/// The hosts of a crawl that are down, with their last failures.
pub(crate) struct DownHosts(HashMap<Host, Option<Box<str>>>);

impl DownHosts {
    /// Reads the hosts from the journal of the store in `state`.
    pub(crate) fn read(state: &Path) -> Result<Self, StoreFault> {
        let (statistics, _) = CrawlStatistics::read(state)?;
        let mut down = HashMap::new();
        for (host, figures) in statistics.hosts() {
            let has_pages = figures.sums.pages > 0;
            if figures.waiting > 0 && figures.pace.is_past_last_chance(has_pages) {
                down.insert(host.clone(), figures.last_failure.clone());
            }
        }
        Ok(Self(down))
    }

    /// Explains why a queued URL waits, if its host is down.
    pub(crate) fn explain(&self, url: &PageUrl) -> Option<String> {
        let failure = self.0.get(&url.host())?;
        let cause = match failure {
            Some(failure) => format!(" ({failure})"),
            None => String::new(),
        };
        Some(format!(
            "still queued, and its host is down{cause}; the next run requests it"
        ))
    }
}
