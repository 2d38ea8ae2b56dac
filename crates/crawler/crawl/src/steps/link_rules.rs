//! The rules for queuing links.

use journal::DiscoveredUrl;
use policy::{Policy, links_off_scope};
use web::{PageUrl, Scope};

use crate::context::CrawlContext;
use crate::runtime::listing_quota::ListingQuota;

/// The rules for queuing links, of a crawl or of a rebuilt one.
#[derive(Clone, Copy)]
pub(crate) struct LinkRules<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) scope: &'a Scope,
    pub(crate) quota: &'a ListingQuota,
}

impl<'a> LinkRules<'a> {
    /// Returns the rules of a crawl whose scope is locked.
    pub(crate) fn new(context: &'a CrawlContext, scope: &'a Scope) -> Self {
        Self {
            policy: &context.policy,
            scope,
            quota: &context.listings,
        }
    }

    /// Returns the number of links off the scope of a page at `url`, which was queued as `found`.
    pub(crate) fn off_scope(self, found: &DiscoveredUrl, url: &PageUrl) -> u8 {
        links_off_scope(self.scope, found.off_scope, url)
    }
}
