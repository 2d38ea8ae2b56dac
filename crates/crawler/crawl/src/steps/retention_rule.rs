//! Retention rules: when a page is kept although another site's page with its text was there first.
//!
//! A site that copies a page and answers faster is admitted first; keyed hashes do not help against
//! a copy. So the order of arrival decides only within a site. Across registrable domains, a page
//! is kept in addition to the earlier one if a rule applies:
//!
//! 1. it is a seed: the user named it;
//! 2. a seed is of its domain, and none is of the earlier page's domain;
//! 3. it names itself as its canonical page (RFC 6596), which a verbatim copy does not: the copy
//!    names the original.
//!
//! Both are archived then. If a seed decides, the later page counts as unique. If
//! only its own canonical link does, it is marked as a duplicate, so that a mirror that
//! claims to be the original is closed like any other. Its links are probed in any case. The number
//! of links to a page does not count: it is known too late.

use store::{Lease, Original};
use web::{Exchange, PageUrl};

use crate::context::CrawlContext;
use crate::steps::reading::Reading;

/// A reason to keep a page although it repeats the page of another site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetentionRule {
    /// The page is a seed.
    Seed,
    /// Its domain has a seed; the domain of the other page does not.
    SeedsDomain,
    /// It calls itself canonical.
    Canonical,
}

impl RetentionRule {
    /// Returns true if it counts for more than the order of arrival.
    pub(crate) const fn outweighs_arrival(self) -> bool {
        matches!(self, Self::Seed | Self::SeedsDomain)
    }

    /// Returns the words for reports and the archive.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Seed => "the page is a seed, and the other one is of another domain",
            Self::SeedsDomain => "a seed is of its domain, and none of the other page's domain",
            Self::Canonical => {
                "the page calls itself canonical, and the other one is of another domain"
            }
        }
    }
}

/// Returns the retention rule of a page that repeats `original`, if that is of another registrable
/// domain.
pub(crate) fn of(
    context: &CrawlContext,
    lease: &Lease,
    exchange: &Exchange,
    reading: &Reading,
    original: &Original,
) -> Option<RetentionRule> {
    let (page, other) = (&exchange.url, &original.page.final_url);
    // The same bytes become a revisit record, and a requisite is kept in any case.
    let loses_nothing =
        original.earlier || original.bytes.is_some() || lease.discovered().requisite > 0;
    if loses_nothing || page.registrable_domain() == other.registrable_domain() {
        return None;
    }
    if lease.is_seed() {
        return Some(RetentionRule::Seed);
    }
    if has_the_only_seed(context, page, other) {
        return Some(RetentionRule::SeedsDomain);
    }
    let canonical = reading.document.as_ref()?.canonical.as_ref();
    (canonical == Some(page)).then_some(RetentionRule::Canonical)
}

fn has_the_only_seed(context: &CrawlContext, page: &PageUrl, other: &PageUrl) -> bool {
    let scope = context.scope();
    scope.has_seed_on_domain_of(page) && !scope.has_seed_on_domain_of(other)
}
