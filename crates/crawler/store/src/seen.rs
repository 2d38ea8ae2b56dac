//! The rule for new URLs, and the probes out on lease.
//!
//! A URL that was found only on unarchived pages ([`DiscoveredUrl::is_probed`]) is remembered under
//! a key of its own. When it is also found elsewhere, it is new once more. After a visit it is
//! known for good. A discovery on a kept page while its probe is out on lease is neither new nor
//! lost: [`LeasedProbes`] returns it when the lease ends.
//!
//! Pure: a store passes its set of keys as a function, and keeps the set where it likes. The
//! embedded store asks this module, as do its audit, the nodes of a shared crawl (for their working
//! copies and for the links that they send) and the store of `contract`.
//!
//! Invariant: a URL is under its own key from the moment when it is waiting as an ordinary page,
//! was visited, or was reached. Keys are on disk, so they never change.

use std::collections::HashMap;

use journal::{DiscoveredUrl, VisitRecord};
use web::UrlKey;

/// The bits that distinguish the key of a URL found only on unarchived pages.
const PROBED_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the key of a discovered URL in the set of seen URLs.
#[must_use]
pub fn seen_as(discovered: &DiscoveredUrl) -> UrlKey {
    let key = discovered.url.key();
    if discovered.is_probed() {
        seen_as_probe(key)
    } else {
        key
    }
}

/// Returns the key, in the set of seen URLs, of the probe of the URL with this key.
pub(crate) fn seen_as_probe(key: UrlKey) -> UrlKey {
    UrlKey::from_u64(key.as_u64() ^ PROBED_KEY)
}

/// Returns the key of a visited probe, which does not need another place.
#[must_use]
pub fn settled_probe(visit: &VisitRecord, priority: u8) -> Option<UrlKey> {
    let was_visited = visit.excluding_pattern().is_none();
    (priority >= DiscoveredUrl::PROBED && visit.requisite == 0 && was_visited)
        .then(|| visit.url.key())
}

/// Returns the discovery that queues an excluded URL again after its pattern or folder reopened:
/// with the score of its last entry, and as a probe unless it was found on a kept page too.
#[must_use]
pub fn requeued(
    excluded: &VisitRecord,
    priority: u8,
    is_seen: impl Fn(UrlKey) -> bool,
) -> DiscoveredUrl {
    let found = excluded.discovered();
    match is_seen(excluded.url.key()) {
        true => found.with_priority_of(priority),
        false => found.probed_as(priority),
    }
}

/// Probes out on lease, each with its first discovery on a kept page in the meantime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeasedProbes(HashMap<UrlKey, Option<DiscoveredUrl>>);

impl LeasedProbes {
    /// Adds a leased URL if it is a probe.
    pub fn lease(&mut self, leased: &DiscoveredUrl) {
        if leased.is_probed() {
            self.0.insert(leased.url.key(), None);
        }
    }

    /// Returns true if the URL with this key is known as an ordinary page, or its visit as a probe
    /// may make it one. `is_seen` searches the set of seen URLs.
    #[must_use]
    pub fn is_known(&self, key: UrlKey, is_seen: impl Fn(UrlKey) -> bool) -> bool {
        is_seen(key) || self.0.contains_key(&key)
    }

    /// Returns true for a known URL; an ordinary URL is new if it is known only as a probe.
    #[must_use]
    pub fn is_seen(&self, discovered: &DiscoveredUrl, is_seen: impl Fn(UrlKey) -> bool) -> bool {
        self.is_known(discovered.url.key(), &is_seen)
            || discovered.is_probed() && is_seen(seen_as(discovered))
    }

    /// Notes the discovered URLs that are out on lease as probes. If these visits do not take
    /// place, the URLs are queued as they were discovered now.
    pub fn note_wanted(&mut self, discovered: &[DiscoveredUrl]) {
        if self.0.is_empty() {
            return;
        }
        for found in discovered.iter().filter(|found| !found.is_probed()) {
            if let Some(wanted) = self.0.get_mut(&found.url.key()) {
                wanted.get_or_insert_with(|| found.clone());
            }
        }
    }

    /// Ends the lease of a URL. Returns its discovery on a kept page if it was out as a probe.
    pub fn end(&mut self, leased: &DiscoveredUrl) -> Option<DiscoveredUrl> {
        let wanted = self.0.remove(&leased.url.key());
        wanted.filter(|_| leased.is_probed())?
    }

    /// Ends all leases, with the session.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::link;

    /// A URL of four, as a probe or as a link of a kept page.
    fn found((number, is_probed): (u8, bool)) -> DiscoveredUrl {
        let found = link(&format!("http://a.test/{number}"), 1);
        match is_probed {
            true => found.probed(),
            false => found,
        }
    }

    proptest! {
        /// A crawl discovers URLs and leases them; visits take place, or do not.
        #[test]
        fn a_url_waits_once_as_a_probe_and_once_as_a_page_and_no_discovery_of_a_page_is_lost(
            steps in proptest::collection::vec((0..3_u8, (0..4_u8, any::<bool>())), 1..80),
        ) {
            let (mut seen, mut probes) = (HashSet::new(), LeasedProbes::default());
            let mut queue: Vec<DiscoveredUrl> = Vec::new();
            let mut out: Vec<DiscoveredUrl> = Vec::new();
            let mut kept_links: HashSet<UrlKey> = HashSet::new();
            for (step, url) in steps {
                let mut discovered = Vec::new();
                match step {
                    0 => discovered.push(found(url)),
                    1 => if let Some(next) = queue.pop() {
                        probes.lease(&next);
                        out.push(next);
                    },
                    _ => if let Some(ended) = out.pop() {
                        let was_visited = url.1;
                        let wanted = probes.end(&ended);
                        if ended.is_probed() && was_visited {
                            seen.insert(ended.url.key());
                        }
                        discovered.extend(wanted);
                    },
                }
                probes.note_wanted(&discovered);
                for found in discovered {
                    if !found.is_probed() {
                        kept_links.insert(found.url.key());
                    }
                    if !probes.is_seen(&found, |key| seen.contains(&key)) {
                        prop_assert!(seen.insert(seen_as(&found)), "{found:?} waits twice");
                        queue.push(found);
                    }
                }
                let is_out = |key: &UrlKey| out.iter().any(|leased| leased.url.key() == *key);
                for key in kept_links.iter().filter(|key| !is_out(key)) {
                    prop_assert!(seen.contains(key), "a link of a kept page was lost");
                }
            }
        }

        #[test]
        fn an_excluded_url_comes_back_as_it_is_known(priority in any::<u8>(), is_page: bool) {
            let visit = VisitRecord::new(
                found((0, true)),
                journal::Fate::Excluded,
                web::Timestamp::default(),
            );
            let again = requeued(&visit, priority, |key| is_page && key == visit.url.key());
            prop_assert_eq!(again.is_probed(), !is_page);
            let score = DiscoveredUrl::link_score_of(priority);
            prop_assert_eq!(again.link_score(), score.filter(|_| is_page));
        }
    }
}
