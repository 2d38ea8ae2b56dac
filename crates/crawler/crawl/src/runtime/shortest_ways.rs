//! The shortest way to each page, in a crawl with a maximum depth.
//!
//! A long way to a page may be found first: a seed close to the page may answer late. The page's
//! place in the queue keeps the depth of the first way. So the least depth of each URL is
//! remembered, with the links of visited pages: when a shorter way to a visited page is found, its
//! links are found again through that way, and so on for visited pages behind them.
//!
//! Invariant: a page whose shortest known way is within the limit is queued, provided that its URL
//! and the links before it are remembered. They are remembered until the session ends, and at most
//! [`MAX_URLS`] URLs and [`MAX_LINKS`] links; entries of sitemaps and feeds keep the depth of the
//! first way.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use journal::DiscoveredUrl;
use web::{PageUrl, UrlKey};

/// The maximum number of URLs whose depth is remembered, at 12 bytes each.
const MAX_URLS: usize = 1 << 20;
/// The maximum number of links that are remembered, at about 150 bytes each.
const MAX_LINKS: usize = 1 << 17;

/// The minimum depth of each URL, and the links of visited pages.
#[derive(Debug, Default)]
pub struct ShortestWays(Mutex<Ways>);

#[derive(Debug, Default)]
struct Ways {
    depths: HashMap<UrlKey, u32>,
    visited: HashMap<UrlKey, VisitedPage>,
    /// The number of links of all visited pages.
    links: usize,
}

/// A visited page and its links, those beyond the limit included.
#[derive(Debug)]
struct VisitedPage {
    /// The page's depth when its links were judged.
    depth: u32,
    at: PageUrl,
    links: Vec<FoundLink>,
}

/// A link, and its number of links off the scope.
pub(crate) type FoundLink = (PageUrl, u8);

impl ShortestWays {
    /// Returns the minimum depth of a page.
    pub(crate) fn depth_of(&self, page: &DiscoveredUrl) -> u32 {
        let depths = &self.ways().depths;
        let known = depths.get(&page.url.key()).copied();
        known.map_or(page.depth, |known| known.min(page.depth))
    }

    /// Notes the links of the page `found`, which was visited at `at` and judged by `depth`.
    /// Returns the links of visited pages that now have a shorter way than before, within `max`.
    pub(crate) fn visited(
        &self,
        found: &DiscoveredUrl,
        at: &PageUrl,
        depth: u32,
        links: Vec<FoundLink>,
        max: u32,
    ) -> Vec<DiscoveredUrl> {
        let mut ways = self.ways();
        let mut shorter = Vec::new();
        for (link, _) in &links {
            ways.find(link.key(), depth + 1, max, &mut shorter);
        }
        if ways.links + links.len() <= MAX_LINKS {
            ways.links += links.len();
            let at = at.clone();
            let page = VisitedPage { depth, at, links };
            ways.visited.insert(found.url.key(), page);
        }
        // A shorter way may have been found while it was read.
        let least = ways.depths.get(&found.url.key()).copied();
        if let Some(least) = least.filter(|least| *least < depth) {
            ways.shorten(found.url.key(), least, max, &mut shorter);
        }
        shorter
    }

    fn ways(&self) -> MutexGuard<'_, Ways> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ways {
    /// Notes a way to a URL.
    fn find(&mut self, url: UrlKey, depth: u32, max: u32, shorter: &mut Vec<DiscoveredUrl>) {
        let is_full = self.depths.len() >= MAX_URLS;
        match self.depths.get_mut(&url) {
            Some(known) if depth < *known => *known = depth,
            None if !is_full => drop(self.depths.insert(url, depth)),
            _ => return,
        }
        self.shorten(url, depth, max, shorter);
    }

    /// Finds the links of a visited page again through a shorter way to it, and the links of the
    /// pages behind it.
    fn shorten(&mut self, url: UrlKey, depth: u32, max: u32, shorter: &mut Vec<DiscoveredUrl>) {
        let mut work = vec![(url, depth)];
        while let Some((url, depth)) = work.pop() {
            let Some(page) = self.visited.get_mut(&url) else {
                continue;
            };
            if depth >= page.depth || depth >= max {
                continue;
            }
            page.depth = depth;
            for (link, off_scope) in &page.links {
                let known = self.depths.get_mut(&link.key());
                if let Some(known) = known.filter(|known| depth + 1 < **known) {
                    *known = depth + 1;
                    work.push((link.key(), depth + 1));
                }
                let found = DiscoveredUrl::new(link.clone(), depth + 1, Some(page.at.clone()));
                shorter.push(found.off_scope(*off_scope));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.test/{path}"), &CanonicalForm::default()).unwrap()
    }

    fn visit(ways: &ShortestWays, page: &str, depth: u32, links: &[&str]) -> Vec<(String, u32)> {
        let found = DiscoveredUrl::new(url(page), depth, None);
        let depth = ways.depth_of(&found);
        let links = links.iter().map(|link| (url(link), 0)).collect();
        let shorter = ways.visited(&found, &found.url, depth, links, 3);
        let path = |found: DiscoveredUrl| (found.url.as_url().path()[1..].to_owned(), found.depth);
        shorter.into_iter().map(path).collect()
    }

    #[test]
    fn links_of_visited_pages_are_found_again_by_a_shorter_way() {
        let ways = ShortestWays::default();
        assert_eq!(visit(&ways, "1", 1, &["2"]), []);
        assert_eq!(visit(&ways, "2", 2, &["3", "4"]), []);
        assert_eq!(visit(&ways, "3", 3, &["beyond"]), []);
        // The late seed leads to the second page at once.
        let mut shorter = visit(&ways, "late", 0, &["2"]);
        shorter.sort();
        let expected = [("3", 2), ("4", 2), ("beyond", 3)];
        assert_eq!(
            shorter,
            expected.map(|(page, depth)| (page.to_owned(), depth))
        );
        assert_eq!(visit(&ways, "later", 0, &["2"]), [], "it is no shorter");
    }

    #[test]
    fn a_page_that_waits_is_judged_by_the_shortest_way_to_it() {
        let ways = ShortestWays::default();
        visit(&ways, "long", 2, &["waits"]);
        visit(&ways, "short", 0, &["waits"]);
        let found = DiscoveredUrl::new(url("waits"), 3, None);
        assert_eq!(ways.depth_of(&found), 1);
    }
}
