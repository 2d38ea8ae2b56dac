//! A frontier that is known only from its documentation: a random user records the promises for
//! each URL and each host, and checks that every promise is kept.
//!
//! Unlike the comparison with the store in memory, this does not assume an order between hosts, so
//! it also holds for a store with several nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use journal::DiscoveredUrl;
use proptest::prelude::*;
use store::{Frontier, FrontierRules, Lease, LeaseFilter, Settlement, Supply};
use tokio::runtime::Runtime;
use web::{Host, PageUrl, Timestamp};

use crate::backend::Backend;
use crate::fixtures::{again, at, begin, discover, done_with};
use crate::property::holds;
use crate::sentence::{Sentence, properties};
use crate::user::{host_name, page_or_requisite};

pub(crate) const PROPERTIES: &[Sentence] = &properties!(
    &[],
    no_lease_comes_too_early_too_often_or_before_a_nearer_page_of_its_host,
);

/// A step of the user.
#[derive(Clone, Debug)]
enum Step {
    Discover(Vec<(u8, u8, u32)>),
    /// Requests leases of these kinds.
    Lease(usize, LeaseFilter),
    Settle {
        which: usize,
        kind: u8,
        /// The wait of the host.
        wait: u64,
        links: Vec<(u8, u8, u32)>,
    },
    /// Another page was redirected to a host, which must rest for this long.
    Redirected(u8, u64),
    Wait(u64),
}

fn links() -> impl Strategy<Value = Vec<(u8, u8, u32)>> {
    proptest::collection::vec((0..4_u8, 0..12_u8, 0..3_u32), 0..6)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let filter = prop_oneof![3 => Just(LeaseFilter::All), 1 => Just(LeaseFilter::Requisites)];
    let step = prop_oneof![
        2 => links().prop_map(Step::Discover),
        4 => (1..6_usize, filter).prop_map(|(want, filter)| Step::Lease(want, filter)),
        4 => (0..8_usize, 0..4_u8, 0..50_u64, links()).prop_map(|(which, kind, wait, links)| {
            Step::Settle { which, kind, wait, links }
        }),
        1 => (0..4_u8, 0..50_u64).prop_map(|(host, wait)| Step::Redirected(host, wait)),
        2 => (0..40_u64).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 1..80)
}

fn discovered(links: &[(u8, u8, u32)]) -> Vec<DiscoveredUrl> {
    let found = links.iter();
    let found = found.map(|(host, page, depth)| page_or_requisite(*host, *page, *depth));
    found.collect()
}

/// The state of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Queued { due: Timestamp },
    Out,
    Visited,
}

#[derive(Debug)]
struct Known {
    found: DiscoveredUrl,
    state: State,
    attempts: u32,
}

impl Known {
    fn is_page(&self) -> bool {
        self.found.requisite == 0
    }

    /// Returns the rank among the URLs of its host: the lowest goes first.
    fn rank(&self) -> (bool, u8, u8, u8, u32) {
        let found = &self.found;
        let DiscoveredUrl {
            requisite,
            priority,
            depth,
            off_scope,
            ..
        } = *found;
        (self.is_page(), requisite, priority, off_scope, depth)
    }
}

/// The promises made so far.
struct Ledger {
    rules: FrontierRules,
    urls: BTreeMap<PageUrl, Known>,
    ready: BTreeMap<Host, Timestamp>,
    out: Vec<Lease>,
    now: Timestamp,
}

impl Ledger {
    fn new(rules: FrontierRules) -> Self {
        Self {
            rules,
            urls: BTreeMap::new(),
            ready: BTreeMap::new(),
            out: Vec::new(),
            now: at(0),
        }
    }

    /// Records discovered URLs and returns the number of new URLs.
    fn discover(&mut self, links: &[DiscoveredUrl]) -> usize {
        let before = self.urls.len();
        for found in links {
            let state = State::Queued { due: at(0) };
            let known = Known {
                found: found.clone(),
                state,
                attempts: 0,
            };
            self.urls.entry(found.url.clone()).or_insert(known);
        }
        self.urls.len() - before
    }

    fn ready(&self, host: &Host) -> Timestamp {
        self.ready.get(host).copied().unwrap_or(at(0))
    }

    /// Records the pace of a host: no wait becomes shorter.
    fn rest(&mut self, host: Host, until: Timestamp) {
        let ready = self.ready.entry(host).or_insert(until);
        *ready = (*ready).max(until);
    }

    fn of_host<'a>(&'a self, host: &'a Host) -> impl Iterator<Item = &'a Known> {
        self.urls
            .values()
            .filter(move |known| known.found.url.host() == *host)
    }

    /// Returns true if the host may have one more page, or one more requisite, out on lease.
    fn has_room(&self, host: &Host, is_page: bool) -> bool {
        let out = self.of_host(host).filter(|known| known.state == State::Out);
        let had = self.of_host(host).filter(|known| {
            known.is_page() && known.state == State::Visited || known.state == State::Out
        });
        let max = self.rules.max_pages_of(host).filter(|_| is_page);
        out.count() < self.rules.leases_of(host) && max.is_none_or(|max| (had.count() as u64) < max)
    }

    /// Returns the earliest time at which a URL may be leased; `None` if waiting is not enough.
    fn may_go(&self, known: &Known, filter: LeaseFilter) -> Option<Timestamp> {
        let State::Queued { due } = known.state else {
            return None;
        };
        let host = known.found.url.host();
        let is_wanted = filter == LeaseFilter::All || !known.is_page();
        let may_go = is_wanted && self.has_room(&host, known.is_page());
        may_go.then(|| due.max(self.ready(&host)))
    }

    fn check_lease(&mut self, lease: &Lease, filter: LeaseFilter) {
        let known = &self.urls[lease.url()];
        let from = self.may_go(known, filter);
        assert!(
            from.is_some_and(|from| from <= self.now),
            "{lease:?} by {known:?}"
        );
        let host = lease.url().host();
        for other in self.of_host(&host) {
            let other_from = self.may_go(other, filter);
            let could_go = other_from.is_some_and(|from| from <= self.now);
            assert!(
                !could_go || known.rank() <= other.rank(),
                "{known:?} before {other:?}"
            );
        }
        assert_eq!(
            (lease.entry.attempts, &lease.excluded),
            (known.attempts, &None)
        );
        let known = self.urls.get_mut(lease.url()).unwrap();
        known.state = State::Out;
    }

    fn check_supply(&mut self, want: usize, filter: LeaseFilter, supply: Supply) {
        let times = self
            .urls
            .values()
            .filter_map(|known| self.may_go(known, filter));
        let first = times.min();
        match supply {
            Supply::Leases(leases) => {
                assert!(
                    (1..=want).contains(&leases.len()),
                    "{want} wanted: {leases:?}"
                );
                for lease in leases {
                    self.check_lease(&lease, filter);
                    self.out.push(lease);
                }
            }
            Supply::NothingBefore(time) => {
                assert!(time > self.now, "{time:?} is not later than {:?}", self.now);
                assert!(
                    first.is_none_or(|first| time <= first),
                    "{time:?} after {first:?}"
                );
                assert!(
                    !self.out.is_empty() || first.is_some(),
                    "the crawl is complete"
                );
            }
            Supply::Exhausted => assert!(first.is_none() && self.out.is_empty(), "{first:?}"),
        }
    }

    async fn settle(
        &mut self,
        frontier: &dyn Frontier,
        which: usize,
        kind: u8,
        wait: u64,
        links: &[DiscoveredUrl],
    ) {
        if self.out.is_empty() {
            return;
        }
        let lease = self.out.remove(which % self.out.len());
        let ready = self.now + Duration::from_millis(wait);
        self.rest(lease.url().host(), ready);
        let known = self.urls.get_mut(lease.url()).unwrap();
        let due = self.now + Duration::from_millis(wait * 3);
        let (state, settlement) = match kind {
            0 => {
                known.attempts += 1;
                (State::Queued { due }, again(due))
            }
            1 => (State::Queued { due: at(0) }, Settlement::Returned),
            _ => (State::Visited, done_with(&lease, None, links.to_vec())),
        };
        known.state = state;
        if state == State::Visited {
            self.discover(links);
        }
        frontier
            .settle(lease, settlement, ready.into())
            .await
            .unwrap();
    }

    async fn take(&mut self, frontier: &dyn Frontier, step: &Step) {
        match step {
            Step::Discover(links) => {
                let links = discovered(links);
                let new = discover(frontier, links.clone()).await;
                assert_eq!(new, self.discover(&links));
            }
            Step::Lease(want, filter) => {
                let supply = frontier.lease(self.now, *want, *filter).await.unwrap();
                self.check_supply(*want, *filter, supply);
            }
            Step::Settle {
                which,
                kind,
                wait,
                links,
            } => {
                let links = discovered(links);
                self.settle(frontier, *which, *kind, *wait, &links).await;
            }
            Step::Redirected(host, wait) => {
                let host = Host::new(&host_name(*host));
                let until = self.now + Duration::from_millis(*wait);
                let recorded = frontier.hosts().record_pace(&host, until.into()).await;
                recorded.unwrap();
                self.rest(host, until);
            }
            Step::Wait(millis) => self.now = self.now + Duration::from_millis(*millis),
        }
        self.check_stats(frontier);
    }

    fn check_stats(&self, frontier: &dyn Frontier) {
        let stats = frontier.stats();
        let visited = |known: &&Known| known.state == State::Visited;
        let visits = self.urls.values().filter(visited);
        let pages = visits.clone().filter(|known| known.is_page()).count();
        let counted = (stats.queued, stats.leased, stats.totals.pages);
        let visited = visits.count();
        let expected = (self.urls.len() - visited, self.out.len(), pages);
        let expected = (expected.0 as u64, expected.1 as u64, expected.2 as u64);
        assert_eq!(counted, expected, "queued, leased, visited pages");
    }
}

fn no_lease_comes_too_early_too_often_or_before_a_nearer_page_of_its_host(
    backend: &dyn Backend,
    runtime: &Runtime,
) {
    let limit = proptest::option::of(1..4_u64);
    let values = (steps(), 1..4_usize, limit, any::<bool>());
    holds(
        backend,
        64,
        file!(),
        &values,
        |(steps, per_host, limit, best_first)| {
            let rules = FrontierRules {
                per_host,
                max_pages_per_host: limit,
                best_first,
                closes_patterns: false,
                ..FrontierRules::default()
            };
            runtime.block_on(async {
                let session = begin(backend, rules.clone()).await;
                let mut ledger = Ledger::new(rules);
                for step in &steps {
                    ledger.take(session.frontier().as_ref(), step).await;
                }
            });
            Ok(())
        },
    );
}
