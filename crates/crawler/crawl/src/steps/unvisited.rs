//! The number of links that are not followed.
//!
//! The journal does not record excluded links one by one, because their number is unlimited. While
//! a crawl runs their URLs are counted, each once up to a bound; afterwards the archived pages are
//! read again and judged by the same rules ([`policy::why_unvisited`]).

use journal::{Cut, Limit, ReasonKind};
use web::{PageUrl, UrlKey};

use crate::runtime::telemetry::Counts;

/// The counts of a page's links by decision.
#[derive(Debug, Default)]
pub(crate) struct LinkTally {
    pub(crate) counts: Counts,
    /// The excluded URLs, by kind of rule.
    pub(crate) unvisited: Vec<(ReasonKind, UrlKey)>,
    /// The limits that cost links, each once.
    pub(crate) cuts: Vec<Cut>,
    /// The links that are too far from a seed by the way that is known now.
    pub(crate) too_deep: Vec<PageUrl>,
}

impl LinkTally {
    /// Counts a link to a URL that is out of the scope.
    pub(crate) fn out_of_scope(&mut self, url: &PageUrl) {
        self.counts.links_out_of_scope += 1;
        self.unvisited.push((ReasonKind::Scope, url.key()));
    }

    /// Counts a link that is too far from a seed.
    pub(crate) fn too_deep(&mut self, url: &PageUrl) {
        self.counts.links_too_deep += 1;
        self.too_deep.push(url.clone());
        self.unvisited.push((ReasonKind::Limit, url.key()));
    }

    /// Counts a link that is lost to a limit of the crawler.
    pub(crate) fn cut(&mut self, limit: Limit) {
        let of_host = [
            Limit::SitemapNesting,
            Limit::SitemapsPerHost,
            Limit::ListedPages,
        ];
        self.counts.links_too_many += u64::from(of_host.contains(&limit));
        Cut { limit, lost: 1 }.add_to(&mut self.cuts);
    }

    /// Counts a link that looks like a trap.
    pub(crate) fn trap(&mut self, url: &PageUrl) {
        self.counts.links_to_traps += 1;
        self.unvisited.push((ReasonKind::Trap, url.key()));
    }
}
