//! A URL that a crawl has found, before its visit.

use serde::{Deserialize, Serialize};
use web::PageUrl;

/// A discovered URL: a seed, or a link on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredUrl {
    /// The URL.
    pub url: PageUrl,
    /// Number of links from a seed; nearer pages go first.
    pub depth: u32,
    /// The page that it was found on; `None` for a seed.
    pub via: Option<PageUrl>,
    /// The priority; lower goes first. It is compared before the depth, and
    /// [`DiscoveredUrl::ORDERED`] goes first of all. A frontier puts the URL behind
    /// ([`DiscoveredUrl::put_behind`]) if its pattern has brought little so far.
    ///
    /// ```text
    /// 0          without a score              1          ordered
    /// 32 –  63   by score                     128        behind
    /// 160 – 191  behind, by score             192 – 223  probes
    ///                                           224 – 255  probes of mirrors
    /// ```
    pub priority: u8,
    /// Number of steps from the page that needs it for display: 1 for a requisite that the page
    /// names, 2 for a requisite that such a requisite names, and so on; 0 for a page. Requisites go
    /// before every page of their host, the nearest first, regardless of their priority. They
    /// belong to no pattern and do not count towards any limit on pages.
    pub requisite: u8,
    /// Number of links since the last page in scope, at most [`DiscoveredUrl::MAX_OFF_SCOPE`]; 0
    /// for a URL in scope. At equal depth and priority, nearer URLs go first.
    pub off_scope: u8,
}

impl DiscoveredUrl {
    /// Maximum number of links off the scope.
    pub const MAX_OFF_SCOPE: u8 = 7;

    /// Priority of URLs that go after all others of their host.
    pub const BEHIND: u8 = 128;

    /// Priority of URLs that a user wants to have visited again. They go before all other pages of
    /// their host, and are visited even if their pattern is closed.
    pub const ORDERED: u8 = 1;

    /// Lowest priority value of a probe: a URL known only from pages that were excluded as
    /// duplicates. A probe waits until no other page of its registrable domain is waiting or out on
    /// lease. The order of probes is derived from a hash of their URLs, so that the first ones are
    /// a sample.
    pub const PROBED: u8 = 192;

    /// Lowest priority value of a probe that was found only on duplicates of another domain's
    /// pages. It waits until no other page of the crawl is waiting or out on lease, so that a
    /// mirror is visited after its original.
    pub const MIRRORED: u8 = 224;

    /// Number of levels of a score.
    pub const LEVELS: u8 = 8;

    /// Number of scores: eight levels, each with four lengths of the run of off-topic pages
    /// before the URL.
    pub const LINK_SCORES: u8 = 32;

    /// Priority of the best score.
    const SCORED: u8 = 32;

    /// Returns a URL found on page `via`, `depth` links from a seed, with the highest priority.
    #[must_use]
    pub const fn new(url: PageUrl, depth: u32, via: Option<PageUrl>) -> Self {
        Self {
            url,
            depth,
            via,
            priority: 0,
            requisite: 0,
            off_scope: 0,
        }
    }

    /// Returns the URL as a probe, found on a page that was not archived as a duplicate: see
    /// [`DiscoveredUrl::PROBED`].
    #[must_use]
    pub fn probed(self) -> Self {
        self.probed_from(Self::PROBED)
    }

    /// Returns the URL as a probe, found on a page that was not archived as a duplicate of another
    /// domain's page: see [`DiscoveredUrl::MIRRORED`].
    #[must_use]
    pub fn mirrored(self) -> Self {
        self.probed_from(Self::MIRRORED)
    }

    /// Returns the URL as a probe of the kind with this priority.
    #[must_use]
    pub fn probed_as(self, priority: u8) -> Self {
        match priority >= Self::MIRRORED {
            true => self.mirrored(),
            false => self.probed(),
        }
    }

    fn probed_from(self, lowest: u8) -> Self {
        let strata = u64::from(Self::MIRRORED - Self::PROBED);
        let stratum = u8::try_from(self.url.key().as_u64() % strata).unwrap_or(0);
        Self {
            priority: lowest + stratum,
            ..self
        }
    }

    /// Returns the URL with this score of reaching pages about the topic of a focused crawl: from
    /// 0, the best, to 31. URLs without a score go before URLs with one.
    #[must_use]
    pub fn with_link_score(self, score: u8) -> Self {
        Self {
            priority: Self::SCORED + score.min(Self::LINK_SCORES - 1),
            ..self
        }
    }

    /// Returns the level of a score, from 0, and the length of its run of off-topic pages.
    #[must_use]
    pub const fn level_and_run(score: u8) -> (u8, u8) {
        let runs = Self::LINK_SCORES / Self::LEVELS;
        (score / runs, score % runs)
    }

    /// Returns the URL with the score in this priority of an entry, if there is one.
    #[must_use]
    pub fn with_priority_of(self, priority: u8) -> Self {
        match Self::link_score_of(priority) {
            Some(score) => self.with_link_score(score),
            None => self,
        }
    }

    /// Returns the score of the URL, even if it was put behind.
    #[must_use]
    pub const fn link_score(&self) -> Option<u8> {
        Self::link_score_of(self.priority)
    }

    /// Returns the score that this priority encodes, if any.
    #[must_use]
    pub const fn link_score_of(priority: u8) -> Option<u8> {
        let place = match priority >= Self::BEHIND {
            true => priority - Self::BEHIND,
            false => priority,
        };
        match place.checked_sub(Self::SCORED) {
            Some(score) if score < Self::LINK_SCORES => Some(score),
            _ => None,
        }
    }

    /// Returns the rank of a URL with this priority among the URLs of other hosts: lower goes
    /// first. A score is lowered by `levels`, but still goes before URLs of later kinds.
    #[must_use]
    pub const fn among_hosts(priority: u8, levels: u8) -> u16 {
        let runs = (Self::LINK_SCORES / Self::LEVELS) as u16;
        match Self::link_score_of(priority) {
            Some(score) => {
                let worse = score as u16 + runs * levels as u16;
                ((priority - score) as u16) << 8 | if worse > 0xff { 0xff } else { worse }
            }
            None => (priority as u16) << 8,
        }
    }

    /// Returns the URL behind all other URLs of its host: see [`DiscoveredUrl::BEHIND`]. It keeps
    /// its score among URLs that were put behind. Probes go after all of these.
    #[must_use]
    pub fn put_behind(self) -> Self {
        let priority = Self::behind(self.priority);
        Self { priority, ..self }
    }

    /// Returns the priority of a URL with this priority once it is put behind.
    #[must_use]
    pub const fn behind(priority: u8) -> u8 {
        match Self::link_score_of(priority) {
            _ if priority >= Self::BEHIND => priority,
            Some(score) => Self::BEHIND + Self::SCORED + score,
            None => Self::BEHIND,
        }
    }

    /// Returns true for a probe: a URL known only from pages that were not archived as duplicates.
    #[must_use]
    pub const fn is_probed(&self) -> bool {
        self.priority >= Self::PROBED && self.requisite == 0
    }

    /// Returns true for a probe that waits for the whole crawl.
    #[must_use]
    pub const fn is_mirrored(&self) -> bool {
        self.priority >= Self::MIRRORED && self.requisite == 0
    }

    /// Returns the URL as one that a user wants to have visited: see [`DiscoveredUrl::ORDERED`].
    #[must_use]
    pub fn ordered(self) -> Self {
        Self {
            priority: Self::ORDERED,
            ..self
        }
    }

    /// Returns true for a URL that a user wants to have visited.
    #[must_use]
    pub const fn is_ordered(&self) -> bool {
        self.priority == Self::ORDERED
    }

    /// Returns the URL as a requisite, this number of steps from the page that needs it.
    #[must_use]
    pub fn needed(self, requisite: u8) -> Self {
        Self { requisite, ..self }
    }

    /// Returns the URL as one that is this number of links off the scope.
    #[must_use]
    pub fn off_scope(self, links: u8) -> Self {
        Self {
            off_scope: links.min(Self::MAX_OFF_SCOPE),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    #[test]
    fn among_hosts_a_score_may_be_worse_by_levels_but_no_later_kind_of_url_goes_before_it() {
        let place = DiscoveredUrl::among_hosts;
        for priority in 0..u8::MAX {
            for levels in [0, 1, 30, u8::MAX] {
                let next = priority + 1;
                let is_scored = DiscoveredUrl::link_score_of(next) > Some(0);
                let is_before = place(priority, levels) < place(next, 0);
                assert!(is_before || is_scored, "{priority} and {levels} levels");
            }
        }
        let scored = |score| DiscoveredUrl::SCORED + score;
        assert!(place(scored(3), 1) < place(scored(8), 0));
        assert_eq!(place(scored(3), 1), place(scored(7), 0));
        assert_eq!(place(scored(3), 9), place(scored(7), 8));
        assert!(place(scored(31), 2) < place(scored(31), 3));
    }

    #[test]
    fn a_url_that_is_put_behind_keeps_its_score_and_goes_before_probes() {
        let url = PageUrl::parse("http://a.test/1", &CanonicalForm::default()).unwrap();
        let found = DiscoveredUrl::new(url, 1, None);
        let scored = |score| found.clone().with_link_score(score);
        assert_eq!(found.link_score(), None);
        assert_eq!(found.clone().put_behind().priority, DiscoveredUrl::BEHIND);
        assert_eq!(found.clone().put_behind().link_score(), None);
        let mut last = found.clone();
        let in_order = (0..DiscoveredUrl::LINK_SCORES).map(scored);
        let behind = (0..DiscoveredUrl::LINK_SCORES).map(|score| scored(score).put_behind());
        let ends = [found.clone().put_behind(), found.clone().probed()];
        let [first_behind, probe] = ends;
        for next in in_order.chain([first_behind]).chain(behind).chain([probe]) {
            assert!(last.priority < next.priority, "{last:?} before {next:?}");
            last = next;
        }
        for score in 0..DiscoveredUrl::LINK_SCORES {
            let behind = scored(score).put_behind();
            assert_eq!(scored(score).link_score(), Some(score));
            assert_eq!(behind.link_score(), Some(score));
            assert_eq!(behind.clone().put_behind(), behind);
            assert!(!behind.is_probed() && !behind.is_ordered());
        }
        assert_eq!(scored(200).link_score(), Some(31), "the worst is the last");
        assert_eq!(found.clone().ordered().link_score(), None);
        let probes = [found.clone().probed(), found.mirrored()];
        assert!(probes[0].priority < probes[1].priority, "mirrors go last");
        for probe in probes {
            assert!(probe.is_probed());
            assert_eq!(
                (probe.link_score(), probe.clone().put_behind()),
                (None, probe)
            );
        }
    }
}
