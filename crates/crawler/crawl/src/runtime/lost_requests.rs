//! Requests of scripts that no visit makes succeed.
//!
//! A page whose data failed in passing is visited again. Where the data of a site fails for good,
//! that would visit each of its pages `tries` times. So it ends with the third page in a row that
//! had all its visits because of requests with one URL pattern, until such a request succeeds.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use web::{Generality, Host, PageUrl, UrlPattern};

/// Number of pages in a row after which a pattern is lost.
const PAGES: u32 = 3;

/// Maximum number of patterns that are counted.
const MAX_PATTERNS: usize = 10_000;

/// The URL patterns of requests that failed on the last visits of pages.
#[derive(Debug, Default)]
pub(crate) struct LostRequests(Mutex<HashMap<Pattern, u32>>);

type Pattern = (Host, UrlPattern);

impl LostRequests {
    /// Counts a page that has had all its visits because this request failed.
    pub(crate) fn count(&self, url: &PageUrl) {
        let mut patterns = self.patterns();
        let pattern = pattern_of(url);
        if patterns.len() < MAX_PATTERNS || patterns.contains_key(&pattern) {
            *patterns.entry(pattern).or_default() += 1;
        }
    }

    /// Forgets the pattern of a request that succeeded.
    pub(crate) fn succeeded(&self, url: &PageUrl) {
        let mut patterns = self.patterns();
        if !patterns.is_empty() {
            patterns.remove(&pattern_of(url));
        }
    }

    /// Returns true if another visit is not expected to make this request succeed.
    pub(crate) fn has(&self, url: &PageUrl) -> bool {
        let pages = self.patterns().get(&pattern_of(url)).copied();
        pages.is_some_and(|pages| pages >= PAGES)
    }

    fn patterns(&self) -> MutexGuard<'_, HashMap<Pattern, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pattern_of(url: &PageUrl) -> Pattern {
    (url.host(), UrlPattern::of(url, Generality::Exact))
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.test{path}"), &CanonicalForm::default()).unwrap()
    }

    #[test]
    fn a_pattern_is_lost_with_its_third_page_until_a_request_succeeds() {
        let lost = LostRequests::default();
        for page in 1..=PAGES {
            assert!(!lost.has(&url("/api/items/7")), "{page}");
            lost.count(&url(&format!("/api/items/{page}")));
        }
        assert!(lost.has(&url("/api/items/7")));
        assert!(!lost.has(&url("/api/users/7")), "another pattern");
        lost.succeeded(&url("/api/users/7"));
        assert!(lost.has(&url("/api/items/8")));
        lost.succeeded(&url("/api/items/8"));
        assert!(!lost.has(&url("/api/items/7")));
    }
}
