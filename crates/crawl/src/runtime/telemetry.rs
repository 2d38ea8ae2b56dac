//! Counts of this session, beside those that the frontier stores.

use std::sync::{Mutex, MutexGuard, PoisonError};

use store::SkippedBy;
use web::UrlKey;

use super::unvisited_urls::{DistinctUrls, UnvisitedUrls};

/// The counts of this session.
#[derive(Debug, Default)]
pub struct Telemetry {
    counts: Mutex<Counts>,
    unvisited: UnvisitedUrls,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Links on pages that were read.
    pub links_found: u64,
    /// Links that the scope keeps out.
    pub links_out_of_scope: u64,
    /// Links that are too far from a seed.
    pub links_too_deep: u64,
    /// Links that their page asks not to follow.
    pub links_nofollow: u64,
    /// Entries of sitemaps whose dates are out of the range that is wanted.
    pub links_of_other_dates: u64,
    /// Entries of sitemaps and feeds beyond what one host may list.
    pub links_too_many: u64,
    /// Links whose shape is that of a trap.
    pub links_to_traps: u64,
    /// Visits that will be tried again.
    pub retries: u64,
    /// Pages that were given up because their address is not on the public internet.
    pub private_addresses: u64,
    /// Pages that were not sent again, because they are what an earlier crawl archived.
    pub not_modified: u64,
}

impl Telemetry {
    /// Returns the counts now.
    pub fn counts(&self) -> Counts {
        *self.locked()
    }

    /// Counts the different URLs that were left out for this kind of reason.
    pub fn unvisited(&self, kind: SkippedBy) -> DistinctUrls {
        self.unvisited.count(kind)
    }

    /// Adds the left-out links of one page.
    pub(crate) fn add_unvisited(&self, urls: &[(SkippedBy, UrlKey)]) {
        self.unvisited.add(urls);
    }

    /// Adds the counts of one page.
    pub(crate) fn add(&self, more: &Counts) {
        let mut counts = self.locked();
        counts.links_found += more.links_found;
        counts.links_out_of_scope += more.links_out_of_scope;
        counts.links_too_deep += more.links_too_deep;
        counts.links_nofollow += more.links_nofollow;
        counts.links_of_other_dates += more.links_of_other_dates;
        counts.links_too_many += more.links_too_many;
        counts.links_to_traps += more.links_to_traps;
        counts.retries += more.retries;
        counts.private_addresses += more.private_addresses;
        counts.not_modified += more.not_modified;
    }

    fn locked(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
