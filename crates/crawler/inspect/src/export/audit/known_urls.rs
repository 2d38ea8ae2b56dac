//! The visited URLs of a crawl, with what records about other URLs need to know of them.

use std::collections::HashMap;
use std::path::Path;

use export::Visits;
use journal::{Fate, ReasonKind, StoreFault, VisitRecord};
use web::{PageUrl, UrlKey};

/// The reason why search engines do not show a URL, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexability {
    /// Nothing forbids it.
    Indexable,
    /// It names another page as its canonical page.
    Canonicalised,
    /// It asks not to be shown.
    NoIndex,
    /// It redirects.
    Redirect,
    /// robots.txt forbids to request it.
    Robots,
    /// The request failed.
    Failed,
    /// Another rule of the crawl excluded it.
    Excluded,
}

impl Indexability {
    fn of_visit(visit: &VisitRecord) -> Self {
        let is_redirect = || {
            let target = visit
                .reason
                .as_ref()
                .and_then(|reason| reason.redirects_to());
            target.is_some()
                || visit
                    .status
                    .is_some_and(|status| (300..400).contains(&status))
        };
        match visit.fate {
            Fate::Failed => Self::Failed,
            Fate::Excluded if is_redirect() => Self::Redirect,
            Fate::Excluded if ReasonKind::of_exclusion(visit) == ReasonKind::Robots => Self::Robots,
            Fate::Excluded => Self::Excluded,
            _ if visit.canonical.is_some() => Self::Canonicalised,
            _ => Self::Indexable,
        }
    }

    /// Returns the words for it in records; `None` for an indexable page.
    pub(super) const fn obstacle(self) -> Option<&'static str> {
        match self {
            Self::Indexable => None,
            Self::Canonicalised => Some("canonical"),
            Self::NoIndex => Some("noindex"),
            Self::Redirect => Some("redirect"),
            Self::Robots => Some("robots.txt"),
            Self::Failed => Some("failed"),
            Self::Excluded => Some("excluded"),
        }
    }

    /// Returns true if the URL has a page.
    pub(super) const fn is_page(self) -> bool {
        matches!(self, Self::Indexable | Self::Canonicalised | Self::NoIndex)
    }
}

/// A visited URL, or the target of its redirects.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownUrl {
    /// Its indexability.
    pub(super) indexability: Indexability,
    /// The status of its last response; 0 if there was none.
    status: u16,
    /// Number of pages that link to it.
    pub(super) inlinks: u32,
    /// True for a seed, and if pages link to a URL that redirects to it.
    pub(super) is_reached: bool,
    /// True if its page was read for this audit.
    pub(super) is_read: bool,
    /// True if a sitemap lists it.
    pub(super) is_listed: bool,
}

impl KnownUrl {
    /// Returns the status of its last response.
    pub(super) fn status(&self) -> Option<u16> {
        (self.status > 0).then_some(self.status)
    }
}

/// The visited URLs. Memory: about 40 bytes per URL.
#[derive(Default)]
pub(super) struct KnownUrls(HashMap<UrlKey, KnownUrl>);

impl KnownUrls {
    /// Reads the journal of the store in `state`. Passes visits of sitemaps to `sitemap`.
    pub(super) fn of_journal(
        state: &Path,
        mut sitemap: impl FnMut(VisitRecord),
    ) -> Result<Self, StoreFault> {
        let mut urls = Self::default();
        for visit in Visits::open(state, false)? {
            let visit = visit?.record;
            urls.add_visit(&visit);
            if visit.details.is_sitemap {
                sitemap(visit);
            }
        }
        Ok(urls)
    }

    fn add_visit(&mut self, visit: &VisitRecord) {
        let known = KnownUrl {
            indexability: Indexability::of_visit(visit),
            status: visit.status.unwrap_or_default(),
            inlinks: 0,
            is_reached: visit.depth == 0,
            is_read: false,
            is_listed: false,
        };
        let page = visit.final_url.as_ref().unwrap_or(&visit.url);
        self.0.insert(page.key(), known);
        self.0.entry(visit.url.key()).or_insert(KnownUrl {
            indexability: Indexability::Redirect,
            status: 0,
            ..known
        });
    }

    /// Records the status of a URL that redirects.
    pub(super) fn add_redirect(&mut self, url: &PageUrl, status: u16) {
        let known = self.0.entry(url.key()).or_insert(KnownUrl {
            indexability: Indexability::Redirect,
            status,
            inlinks: 0,
            is_reached: false,
            is_read: false,
            is_listed: false,
        });
        if !known.indexability.is_page() {
            known.status = status;
        }
    }

    /// Returns a URL if it is known.
    pub(super) fn get(&self, url: &PageUrl) -> Option<&KnownUrl> {
        self.0.get(&url.key())
    }

    /// Returns a URL for changes if it is known.
    pub(super) fn get_mut(&mut self, url: &PageUrl) -> Option<&mut KnownUrl> {
        self.0.get_mut(&url.key())
    }
}
