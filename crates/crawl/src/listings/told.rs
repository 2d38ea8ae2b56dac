//! How much hosts have listed so far in this session, and which sitemaps lie within which.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::Find;
use web::{Host, PageUrl, UrlKey};

use super::{ListingRules, ROBOTS};

/// Hosts, and sitemaps, that are remembered at most. Beyond, all are forgotten and counting begins anew: it is a brake.
const MOST: usize = 100_000;

/// What hosts have listed.
#[derive(Debug, Default)]
pub struct Listings(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    hosts: HashMap<Host, Tally>,
    /// Indexes above a sitemap that was queued in this session.
    levels: HashMap<UrlKey, u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sitemaps: u32,
    elsewhere: u32,
    pages: u64,
}

impl Listings {
    /// Whether the robots.txt of `origin` may name one more sitemap; counts it if so.
    pub(super) fn may_name(
        &self,
        rules: &ListingRules,
        origin: &PageUrl,
        sitemap: &PageUrl,
        is_elsewhere: bool,
    ) -> bool {
        let mut told = self.told();
        let tally = told.tally(origin);
        let full = tally.sitemaps >= rules.sitemaps_per_host
            || is_elsewhere && tally.elsewhere >= rules.elsewhere_per_host;
        if full {
            return false;
        }
        tally.sitemaps += 1;
        tally.elsewhere += u32::from(is_elsewhere);
        told.place(sitemap.key(), 0);
        true
    }

    /// Whether the index `find`, had from `at`, may list one more sitemap; counts it if so.
    pub(super) fn may_nest(
        &self,
        rules: &ListingRules,
        find: &Find,
        at: &PageUrl,
        sitemap: &PageUrl,
    ) -> bool {
        let mut told = self.told();
        let level = told.level(find) + 1;
        let tally = told.tally(at);
        if level > rules.nesting || tally.sitemaps >= rules.sitemaps_per_host {
            return false;
        }
        tally.sitemaps += 1;
        told.place(sitemap.key(), level);
        true
    }

    /// Whether the host of `at` may list one more page; counts it if so.
    pub(super) fn may_list(&self, rules: &ListingRules, at: &PageUrl) -> bool {
        let mut told = self.told();
        let tally = told.tally(at);
        tally.pages += 1;
        tally.pages <= rules.pages_per_host
    }

    /// Whether this URL was queued as a sitemap in this session.
    pub(super) fn knows(&self, sitemap: UrlKey) -> bool {
        self.told().levels.contains_key(&sitemap)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn tally(&mut self, url: &PageUrl) -> &mut Tally {
        if self.hosts.len() >= MOST {
            self.hosts.clear();
        }
        self.hosts.entry(url.host()).or_default()
    }

    fn place(&mut self, sitemap: UrlKey, level: u8) {
        if self.levels.len() >= MOST {
            self.levels.clear();
        }
        // Where it stands twice, the nearer place counts.
        let known = self.levels.entry(sitemap).or_insert(level);
        *known = level.min(*known);
    }

    /// An index that robots.txt, a page or a seed names is above all; of one from an earlier session it is only known that
    /// something listed it.
    fn level(&self, find: &Find) -> u8 {
        let known = self.levels.get(&find.url.key()).copied();
        let is_named = find.via.as_ref().is_none_or(|via| via.as_url().path() == ROBOTS);
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

    fn find(text: &str, via: Option<&str>) -> Find {
        Find::new(url(text), 0, via.map(url))
    }

    fn rules() -> ListingRules {
        ListingRules {
            sitemaps_per_host: 3,
            elsewhere_per_host: 1,
            pages_per_host: 2,
            nesting: 2,
            ..ListingRules::default()
        }
    }

    #[test]
    fn each_host_names_so_many_sitemaps_and_fewer_elsewhere() {
        let (listings, rules) = (Listings::default(), rules());
        let name = |origin: &str, path: &str, is_elsewhere: bool| {
            listings.may_name(
                &rules,
                &url(origin),
                &url(&format!("http://c.test{path}")),
                is_elsewhere,
            )
        };
        assert!(name("http://a.test/", "/1", true));
        assert!(!name("http://a.test/", "/2", true), "one elsewhere");
        assert!(name("http://b.test/", "/2", true));
        assert!(name("http://a.test/", "/3", false));
        assert!(
            name("http://a.test:8080/", "/4", false),
            "another port is no other host"
        );
        assert!(!name("http://a.test/", "/5", false));
        assert!(listings.knows(url("http://c.test/4").key()));
        assert!(!listings.knows(url("http://c.test/5").key()));
    }

    #[test]
    fn each_host_lists_so_many_pages() {
        let (listings, rules) = (Listings::default(), rules());
        let at = |text: &str| listings.may_list(&rules, &url(text));
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
    fn an_index_lists_sitemaps_down_to_the_last_level() {
        let (listings, rules) = (Listings::default(), rules());
        let named = find("http://a.test/0", Some("http://a.test/robots.txt"));
        let nest = |index: &Find, sitemap: &str| listings.may_nest(&rules, index, &index.url, &url(sitemap));
        assert!(nest(&named, "http://a.test/1"));
        let first = find("http://a.test/1", Some("http://a.test/0"));
        assert!(nest(&first, "http://a.test/2"));
        let second = find("http://a.test/2", Some("http://a.test/1"));
        assert!(!nest(&second, "http://a.test/3"));
        // What an earlier session queued lies below something, whatever that was.
        let earlier = find("http://b.test/x", Some("http://b.test/y"));
        assert!(nest(&earlier, "http://b.test/2"));
        let deepest = find("http://b.test/2", Some("http://b.test/x"));
        assert!(!nest(&deepest, "http://b.test/3"));
        // A seed lies below nothing.
        assert!(nest(&find("http://c.test/", None), "http://c.test/1"));
    }
}
