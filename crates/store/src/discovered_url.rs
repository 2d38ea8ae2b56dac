//! A URL that a crawl has found, before its visit.

use serde::{Deserialize, Serialize};
use web::PageUrl;

/// A discovered URL: a seed, or a link on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredUrl {
    /// The URL.
    pub url: PageUrl,
    /// Links from a seed; nearer pages go first.
    pub depth: u32,
    /// The page that it was found on; none for a seed.
    pub via: Option<PageUrl>,
    /// The priority; lower goes first, before the depth. A frontier raises it to
    /// [`DiscoveredUrl::BEHIND`] where the pattern of the URL has brought little so far.
    pub priority: u8,
    /// Steps from the page that needs it for display: 1 for a requisite that the page names, 2 for
    /// one that such a requisite names, and so on; 0 is a page. Requisites go before every page of
    /// their host, the nearest first, whatever their priority. They belong to no pattern and count
    /// against no limit of pages.
    pub requisite: u8,
}

impl DiscoveredUrl {
    /// The priority of URLs that go after all others of their host.
    pub const BEHIND: u8 = 128;

    /// The priority of URLs that a user wants to have visited again. They are visited even where
    /// their pattern is closed.
    pub const ORDERED: u8 = 1;

    /// The lowest priority value of a probe: a URL known only from pages that were left out as
    /// duplicates. A probe waits until no other page of the crawl waits or is out on lease. The
    /// order of probes is drawn from their URLs, so that the first ones are a sample.
    pub const PROBED: u8 = 192;

    /// Returns a URL found on page `via`, `depth` links from a seed, with the highest priority.
    #[must_use]
    pub const fn new(url: PageUrl, depth: u32, via: Option<PageUrl>) -> Self {
        Self {
            url,
            depth,
            via,
            priority: 0,
            requisite: 0,
        }
    }

    /// Returns the same as a probe, found on a page that was left out as a duplicate: see
    /// [`DiscoveredUrl::PROBED`].
    #[must_use]
    pub fn probed(self) -> Self {
        let strata = u64::from(u8::MAX - Self::PROBED) + 1;
        let stratum = u8::try_from(self.url.key().as_u64() % strata).unwrap_or(0);
        Self {
            priority: Self::PROBED + stratum,
            ..self
        }
    }

    /// Returns true for a probe: a URL known only from pages that were left out as duplicates.
    #[must_use]
    pub const fn is_probed(&self) -> bool {
        self.priority >= Self::PROBED && self.requisite == 0
    }

    /// Returns the same as a URL that a user wants to have visited: see [`DiscoveredUrl::ORDERED`].
    #[must_use]
    pub fn ordered(self) -> Self {
        Self {
            priority: Self::ORDERED,
            ..self
        }
    }

    /// Returns true for a URL that a user wants to have visited.
    pub(crate) const fn is_ordered(&self) -> bool {
        self.priority == Self::ORDERED
    }

    /// Returns the same URL as a requisite, this number of steps from the page that needs it.
    #[must_use]
    pub fn needed(self, requisite: u8) -> Self {
        Self { requisite, ..self }
    }
}
