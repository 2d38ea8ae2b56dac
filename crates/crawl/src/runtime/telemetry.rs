//! Counts of this session, beside those that the frontier stores.

use std::sync::atomic::{AtomicU64, Ordering};

use store::SkippedBy;
use web::UrlKey;

use super::unvisited_urls::{DistinctUrls, UnvisitedUrls};

/// The counts of this session.
#[derive(Debug, Default)]
pub struct Telemetry {
    links_found: AtomicU64,
    links_out_of_scope: AtomicU64,
    links_too_deep: AtomicU64,
    links_nofollow: AtomicU64,
    links_of_other_dates: AtomicU64,
    links_too_many: AtomicU64,
    links_to_traps: AtomicU64,
    retries: AtomicU64,
    private_addresses: AtomicU64,
    not_modified: AtomicU64,
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
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            links_found: read(&self.links_found),
            links_out_of_scope: read(&self.links_out_of_scope),
            links_too_deep: read(&self.links_too_deep),
            links_nofollow: read(&self.links_nofollow),
            links_of_other_dates: read(&self.links_of_other_dates),
            links_too_many: read(&self.links_too_many),
            links_to_traps: read(&self.links_to_traps),
            retries: read(&self.retries),
            private_addresses: read(&self.private_addresses),
            not_modified: read(&self.not_modified),
        }
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
        let add = |count: &AtomicU64, more: u64| count.fetch_add(more, Ordering::Relaxed);
        add(&self.links_found, more.links_found);
        add(&self.links_out_of_scope, more.links_out_of_scope);
        add(&self.links_too_deep, more.links_too_deep);
        add(&self.links_nofollow, more.links_nofollow);
        add(&self.links_of_other_dates, more.links_of_other_dates);
        add(&self.links_too_many, more.links_too_many);
        add(&self.links_to_traps, more.links_to_traps);
        add(&self.retries, more.retries);
        add(&self.private_addresses, more.private_addresses);
        add(&self.not_modified, more.not_modified);
    }
}
