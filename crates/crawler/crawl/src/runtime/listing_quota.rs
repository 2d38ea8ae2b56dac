//! The quota of listings per host in this session, and the nesting of sitemaps.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use journal::{DiscoveredUrl, Limit};
use reading::ListingRules;
use web::{Host, PageUrl, UrlKey};

/// The path where a site says what crawlers may request.
pub(crate) const ROBOTS: &str = "/robots.txt";

/// Maximum number of hosts, and of sitemaps, that are remembered. Beyond, all are forgotten and
/// counting starts again: the quota is a brake.
const MAX_REMEMBERED: usize = 100_000;

/// The quota of what hosts may list.
#[derive(Debug, Default)]
pub struct ListingQuota(Mutex<SessionCounts>);

#[derive(Debug, Default)]
struct SessionCounts {
    hosts: HashMap<Host, HostTally>,
    /// The number of indexes above each sitemap that was queued in this session.
    levels: HashMap<UrlKey, u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct HostTally {
    sitemaps: u32,
    elsewhere: u32,
    pages: u64,
    /// True once the excess was reported.
    has_warned: bool,
}

/// The place of a sitemap in the queue of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueuePlace {
    /// Before the pages of its host, like any page that was found early.
    First,
    /// After all other pages of its host.
    Last,
}

impl QueuePlace {
    /// Gives a discovered URL this place in the queue.
    pub(crate) fn of(self, find: DiscoveredUrl) -> DiscoveredUrl {
        let priority = match self {
            Self::First => find.priority,
            Self::Last => DiscoveredUrl::BEHIND,
        };
        DiscoveredUrl { priority, ..find }
    }
}

impl HostTally {
    /// Counts one more sitemap and returns its place in the queue.
    fn add_sitemap(&mut self, rules: &ListingRules) -> QueuePlace {
        self.sitemaps += 1;
        match self.sitemaps <= rules.sitemaps_first {
            true => QueuePlace::First,
            false => QueuePlace::Last,
        }
    }

    fn warn_once(&mut self, at: &PageUrl) {
        if !std::mem::replace(&mut self.has_warned, true) {
            tracing::warn!(
                host = %at.host(),
                "the sitemaps of this host exceed the limit per host and run: the rest is skipped"
            );
        }
    }
}

impl ListingQuota {
    /// Counts one more sitemap that the robots.txt of `origin` names, and returns its place in the
    /// queue; `None` if the quota is used up.
    pub(crate) fn admit_named(
        &self,
        rules: &ListingRules,
        origin: &PageUrl,
        sitemap: &PageUrl,
        is_elsewhere: bool,
    ) -> Option<QueuePlace> {
        let mut counts = self.counts();
        let tally = counts.tally(origin);
        let full = tally.sitemaps >= rules.sitemaps_per_host
            || is_elsewhere && tally.elsewhere >= rules.elsewhere_per_host;
        if full {
            tally.warn_once(origin);
            return None;
        }
        let place = tally.add_sitemap(rules);
        tally.elsewhere += u32::from(is_elsewhere);
        counts.record(sitemap.key(), 0);
        Some(place)
    }

    /// Counts one more sitemap in the index `find`, fetched from `at`, and returns its place in the
    /// queue, or the limit that is reached.
    pub(crate) fn admit_nested(
        &self,
        rules: &ListingRules,
        find: &DiscoveredUrl,
        at: &PageUrl,
        sitemap: &PageUrl,
    ) -> Result<QueuePlace, Limit> {
        let mut counts = self.counts();
        let level = counts.level(find) + 1;
        let tally = counts.tally(at);
        if level > rules.nesting {
            return Err(Limit::SitemapNesting);
        }
        if tally.sitemaps >= rules.sitemaps_per_host {
            tally.warn_once(at);
            return Err(Limit::SitemapsPerHost);
        }
        let place = tally.add_sitemap(rules);
        counts.record(sitemap.key(), level);
        Ok(place)
    }

    /// Counts one more page that the host of `at` lists; returns false if the quota is used up.
    pub(crate) fn admit_page(&self, rules: &ListingRules, at: &PageUrl) -> bool {
        let mut counts = self.counts();
        let tally = counts.tally(at);
        tally.pages += 1;
        let may = tally.pages <= rules.pages_per_host;
        if !may {
            tally.warn_once(at);
        }
        may
    }

    /// Returns true if this URL was queued as a sitemap in this session.
    pub(crate) fn knows(&self, sitemap: UrlKey) -> bool {
        self.counts().levels.contains_key(&sitemap)
    }

    fn counts(&self) -> MutexGuard<'_, SessionCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionCounts {
    fn tally(&mut self, url: &PageUrl) -> &mut HostTally {
        if self.hosts.len() >= MAX_REMEMBERED {
            self.hosts.clear();
        }
        self.hosts.entry(url.host()).or_default()
    }

    fn record(&mut self, sitemap: UrlKey, level: u8) {
        if self.levels.len() >= MAX_REMEMBERED {
            self.levels.clear();
        }
        // The nearer of two places counts.
        let known = self.levels.entry(sitemap).or_insert(level);
        *known = level.min(*known);
    }

    /// Returns the level of an index: 0 if robots.txt, a page or a seed names it. The parent of an
    /// index from an earlier session is unknown, so its level is 1.
    fn level(&self, find: &DiscoveredUrl) -> u8 {
        let known = self.levels.get(&find.url.key()).copied();
        let is_named = find
            .via
            .as_ref()
            .is_none_or(|via| via.as_url().path() == ROBOTS);
        known.unwrap_or(u8::from(!is_named))
    }
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::keep_all()).unwrap()
    }

    fn find(text: &str, via: Option<&str>) -> DiscoveredUrl {
        DiscoveredUrl::new(url(text), 0, via.map(url))
    }

    fn rules() -> ListingRules {
        ListingRules {
            sitemaps_per_host: 3,
            sitemaps_first: 2,
            elsewhere_per_host: 1,
            pages_per_host: 2,
            nesting: 2,
            ..ListingRules::default()
        }
    }

    #[test]
    fn a_host_has_a_quota_of_sitemaps_and_a_smaller_one_of_sitemaps_elsewhere() {
        let (quota, rules) = (ListingQuota::default(), rules());
        let name = |origin: &str, path: &str, is_elsewhere: bool| {
            quota.admit_named(
                &rules,
                &url(origin),
                &url(&format!("http://c.test{path}")),
                is_elsewhere,
            )
        };
        let (first, behind) = (Some(QueuePlace::First), Some(QueuePlace::Last));
        assert_eq!(name("http://a.test/", "/1", true), first);
        assert_eq!(name("http://a.test/", "/2", true), None, "one elsewhere");
        assert_eq!(name("http://b.test/", "/2", true), first);
        assert_eq!(name("http://a.test/", "/3", false), first);
        let other_port = name("http://a.test:8080/", "/4", false);
        assert_eq!(other_port, behind, "another port is the same host");
        assert_eq!(name("http://a.test/", "/5", false), None);
        assert!(quota.knows(url("http://c.test/4").key()));
        assert!(!quota.knows(url("http://c.test/5").key()));
    }

    #[test]
    fn a_host_has_a_quota_of_listed_pages() {
        let (quota, rules) = (ListingQuota::default(), rules());
        let at = |text: &str| quota.admit_page(&rules, &url(text));
        assert_eq!(
            [
                at("http://a.test/1"),
                at("http://a.test/2"),
                at("http://a.test/3")
            ],
            [true, true, false]
        );
        assert!(at("http://b.test/"));
    }

    #[test]
    fn nested_sitemaps_are_admitted_down_to_the_last_level() {
        let (quota, rules) = (ListingQuota::default(), rules());
        let named = find("http://a.test/0", Some("http://a.test/robots.txt"));
        let nest = |index: &DiscoveredUrl, sitemap: &str| {
            quota
                .admit_nested(&rules, index, &index.url, &url(sitemap))
                .is_ok()
        };
        assert!(nest(&named, "http://a.test/1"));
        let first = find("http://a.test/1", Some("http://a.test/0"));
        assert!(nest(&first, "http://a.test/2"));
        let second = find("http://a.test/2", Some("http://a.test/1"));
        assert!(!nest(&second, "http://a.test/3"));
        // A sitemap of an earlier session lies below an unknown index.
        let earlier = find("http://b.test/x", Some("http://b.test/y"));
        assert!(nest(&earlier, "http://b.test/2"));
        let deepest = find("http://b.test/2", Some("http://b.test/x"));
        assert!(!nest(&deepest, "http://b.test/3"));
        // A seed lies below nothing.
        assert!(nest(&find("http://c.test/", None), "http://c.test/1"));
    }
}
