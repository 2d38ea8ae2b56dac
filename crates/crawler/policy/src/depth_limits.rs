//! Limits on the number of links from a seed.

use web::{PageUrl, PrefixTable};

/// Maximum numbers of links from a seed. The limit of a page is that of the longest prefix of its
/// URL, which may be higher than the limit of all other pages.
#[derive(Clone, Debug, Default)]
pub struct DepthLimits {
    /// Limit of all other pages; `None` for no limit.
    pub others: Option<u32>,
    /// Limits of the pages below a URL.
    pub of_prefixes: PrefixTable<u32>,
}

impl DepthLimits {
    /// Returns the limit of a page.
    #[must_use]
    pub fn of(&self, page: &PageUrl) -> Option<u32> {
        self.of_prefixes.get(page).copied().or(self.others)
    }

    /// Returns true if a page, `depth` links from a seed, is beyond its limit.
    #[must_use]
    pub fn exclude(&self, page: &PageUrl, depth: u32) -> bool {
        self.of(page).is_some_and(|max| depth > max)
    }

    /// Returns the highest limit of a page, which is the highest number if some pages have no
    /// limit; `None` if no page has one.
    #[must_use]
    pub fn highest(&self) -> Option<u32> {
        let of_prefixes = self.of_prefixes.values().copied().max();
        match (self.others, of_prefixes) {
            (None, None) => None,
            (None, Some(_)) => Some(u32::MAX),
            (Some(others), of_prefixes) => Some(others.max(of_prefixes.unwrap_or(0))),
        }
    }

    /// Returns true if every link of a page at this depth is beyond its limit.
    #[must_use]
    pub fn end_at(&self, depth: u32) -> bool {
        self.highest().is_some_and(|max| depth >= max)
    }
}

#[cfg(test)]
mod tests {
    use web::{CanonicalForm, UrlPrefix};

    use super::*;

    fn limits(others: Option<u32>, of_prefixes: &[(&str, u32)]) -> DepthLimits {
        let entries = of_prefixes.iter();
        let entries = entries.map(|(text, max)| (text.parse::<UrlPrefix>().unwrap(), *max));
        DepthLimits {
            others,
            of_prefixes: entries.collect(),
        }
    }

    #[test]
    fn the_limit_of_the_longest_prefix_counts_and_may_be_higher_than_the_common_one() {
        let limits = limits(
            Some(2),
            &[("http://a.test/", 5), ("http://a.test/calendar/", 0)],
        );
        for (page, max) in [
            ("http://a.test/x", 5),
            ("http://a.test/calendar/2026", 0),
            ("http://b.test/", 2),
        ] {
            let page = PageUrl::parse(page, &CanonicalForm::default()).unwrap();
            assert_eq!(limits.of(&page), Some(max));
            assert!(limits.exclude(&page, max + 1) && !limits.exclude(&page, max));
        }
        assert!(limits.end_at(5) && !limits.end_at(4));
    }

    #[test]
    fn without_a_common_limit_no_depth_ends_the_crawl() {
        let deep = limits(None, &[("http://a.test/calendar/", 1)]);
        assert_eq!(deep.highest(), Some(u32::MAX));
        assert!(!deep.end_at(1_000));
        assert_eq!(limits(None, &[]).highest(), None);
        assert_eq!(limits(Some(3), &[]).highest(), Some(3));
    }
}
