//! The bound of one address, on the runtime's paused clock: a small crawl whose frontier only knows
//! hosts.
//!
//! With default options, the owner of an address with 1,000 host names got 600 requests a second,
//! 64 at a time, and 128 at a time once the server slowed down: each host had its own pace, stalled
//! exchanges freed slots for more, and nothing bounded the address.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use fetch::{Pacer, PolitenessKey, Stalls};
use proptest::prelude::*;
use requests::{AddressBound, HostPacing, PacedResponse, PacingRules, ResponseKind};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use web::{Clock, Host, HostTable, Timestamp};

const EPOCH: Timestamp = Timestamp::from_millis(1_000_000);
/// The slots of a default crawl.
const SLOTS: usize = 64;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn rules(delay: u64) -> PacingRules {
    PacingRules {
        delay: ms(delay),
        jitter: 0.0,
        ..PacingRules::default()
    }
}

/// The hosts of a crawl, each with its address, its response time and its number of pages.
#[derive(Clone, Debug)]
struct Crowd {
    rules: PacingRules,
    slots: usize,
    hosts: Vec<TestHost>,
}

#[derive(Clone, Copy, Debug)]
struct TestHost {
    address: u8,
    elapsed: u64,
    pages: usize,
    /// A host to which each page redirects.
    redirects_to: Option<usize>,
}

impl TestHost {
    fn at(address: u8, elapsed: u64, pages: usize) -> Self {
        Self {
            address,
            elapsed,
            pages,
            redirects_to: None,
        }
    }
}

/// A request as the server saw it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    address: u8,
    host: usize,
    began: Instant,
    ended: Instant,
}

/// The result of a crawl.
struct CrawlLog {
    began: Instant,
    seen: Vec<Seen>,
    /// Leases that were returned because their address was not ready.
    returned: usize,
}

impl Crowd {
    fn of(rules: PacingRules, hosts: impl IntoIterator<Item = TestHost>) -> Self {
        Self {
            rules,
            slots: SLOTS,
            hosts: hosts.into_iter().collect(),
        }
    }

    fn to(&self, host: usize) -> PolitenessKey {
        let address = Ipv4Addr::new(192, 0, 2, self.hosts[host].address);
        PolitenessKey {
            host: Host::new(&format!("h{host}.test")),
            address: Some(IpAddr::V4(address)),
        }
    }

    /// Crawls like `crawl::run`: slots first, then the hosts in the order in which they are ready.
    async fn play(self: Arc<Self>) -> CrawlLog {
        let began = Instant::now();
        let clock = Clock::new(move || EPOCH + began.elapsed());
        let pacer = Arc::new(Pacer::new(self.rules.clone(), clock));
        let mut waiting: BinaryHeap<_> = (0..self.hosts.len())
            .map(|host| Reverse((EPOCH, host)))
            .collect();
        let mut done = vec![0; self.hosts.len()];
        let mut in_flight: JoinSet<(usize, Timestamp, Vec<Seen>)> = JoinSet::new();
        let mut log = CrawlLog {
            began,
            seen: Vec::new(),
            returned: 0,
        };
        loop {
            let now = EPOCH + began.elapsed();
            while in_flight.len() < self.slots
                && let Some(Reverse((ready, host))) = waiting.peek().copied()
                && ready <= now
            {
                waiting.pop();
                if done[host] < self.hosts[host].pages {
                    let (crowd, pacer) = (Arc::clone(&self), Arc::clone(&pacer));
                    in_flight.spawn(async move { crowd.visit(&pacer, host).await });
                }
            }
            if in_flight.is_empty() && waiting.is_empty() {
                return log;
            }
            let soon = waiting.peek().filter(|_| in_flight.len() < self.slots);
            let wake = soon.map_or(Duration::MAX, |Reverse((ready, _))| ready.since(now));
            tokio::select! {
                Some(ended) = in_flight.join_next() => {
                    let (host, ready, seen) = ended.expect("no visit panics");
                    match seen.is_empty() {
                        true => log.returned += 1,
                        false => done[host] += 1,
                    }
                    log.seen.extend(seen);
                    waiting.push(Reverse((ready, host)));
                }
                () = sleep(wake.min(ms(1 << 40))) => {}
            }
        }
    }

    async fn visit(&self, pacer: &Pacer, host: usize) -> (usize, Timestamp, Vec<Seen>) {
        let to = self.to(host);
        let mut seen = Vec::new();
        if pacer.enqueue_unless_ready(&to) {
            for hop in [Some(host), self.hosts[host].redirects_to]
                .into_iter()
                .flatten()
            {
                let permit = pacer.permit(self.to(hop)).await;
                let TestHost {
                    address, elapsed, ..
                } = self.hosts[hop];
                let began = Instant::now();
                sleep(ms(elapsed)).await;
                seen.push(Seen {
                    address,
                    host: hop,
                    began,
                    ended: Instant::now(),
                });
                permit.finish(PacedResponse {
                    elapsed: ms(elapsed),
                    kind: ResponseKind::Fine,
                });
            }
        }
        (host, pacer.pace(&to.host).ready, seen)
    }
}

fn play(crowd: Crowd) -> CrawlLog {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O");
    let mut log = runtime.block_on(Arc::new(crowd).play());
    log.seen.sort_by_key(|seen| seen.began);
    log
}

impl CrawlLog {
    /// Returns the requests to an address, in the order of their beginnings.
    fn at(&self, address: u8) -> Vec<Seen> {
        let seen = self.seen.iter().copied();
        seen.filter(|seen| seen.address == address).collect()
    }

    /// Asserts that no more than `slots` requests to an address are in flight, and that they begin
    /// at least `gap` apart.
    fn keeps(&self, address: u8, slots: usize, gap: Duration) {
        let seen = self.at(address);
        for two in seen.windows(2) {
            let apart = two[1].began - two[0].began;
            // The runtime's timer rounds up to milliseconds.
            assert!(apart + ms(1) > gap, "{apart:?} between {two:?}");
        }
        for (number, one) in seen.iter().enumerate() {
            let before = seen[..number].iter();
            let in_flight = before.filter(|other| other.ended > one.began).count();
            assert!(in_flight < slots, "{} at a time", in_flight + 1);
        }
    }

    fn seconds(&self, seen: &[Seen]) -> u64 {
        let ended = seen.iter().map(|seen| seen.ended).max();
        (ended.expect("requests were seen") - self.began).as_secs()
    }
}

#[test]
fn a_thousand_hosts_of_one_address_get_four_requests_at_a_time_and_ten_a_second() {
    // PacedResponse time → time between beginnings once it is known, seconds at most
    for (elapsed, gap, most) in [(0, 100, 220), (100, 100, 220), (3_000, 1_500, 3_300)] {
        let hosts = (0..1_000).map(|_| TestHost::at(1, elapsed, 2));
        let log = play(Crowd::of(rules(1_000), hosts));
        let seen = log.at(1);
        assert_eq!(seen.len(), 2_000);
        log.keeps(1, 4, ms(100));
        // The first responses slow the pace down to that of slow servers.
        for two in seen[40..].windows(2) {
            let apart = two[1].began - two[0].began;
            assert!(apart + ms(1) >= ms(gap), "{apart:?} with {elapsed}");
        }
        let seconds = log.seconds(&seen);
        assert!(
            seconds <= most,
            "{seconds} s with answers after {elapsed} ms"
        );
        assert!(
            log.returned < 12_000,
            "{} leases were returned",
            log.returned
        );
        // All hosts had their first page before any had its second but for a few.
        let first: Vec<_> = seen[..1_000].iter().map(|seen| seen.host).collect();
        let hosts = first.iter().collect::<std::collections::BTreeSet<_>>();
        assert!(
            hosts.len() > 950,
            "{} hosts in the first round",
            hosts.len()
        );
    }
}

#[test]
fn an_address_that_is_silent_takes_four_slots_and_leaves_the_others_to_other_addresses() {
    let silent = (0..1_000).map(|_| TestHost::at(1, 60_000, 1));
    let lively = (0..60).map(|host| TestHost::at(100 + host, 50, 10));
    let log = play(Crowd::of(rules(1_000), silent.chain(lively)));
    log.keeps(1, 4, ms(100));
    let others: Vec<_> = log
        .seen
        .iter()
        .copied()
        .filter(|seen| seen.address > 1)
        .collect();
    assert_eq!(others.len(), 600);
    let seconds = log.seconds(&others);
    assert!(seconds <= 15, "ten pages of a live host took {seconds} s");
}

#[test]
fn a_bound_follows_the_delay_or_is_what_the_user_says() {
    let at_once = |rules: PacingRules| {
        let hosts = (0..40).map(|_| TestHost::at(1, 1_000, 1));
        let log = play(Crowd::of(rules, hosts));
        let first = log.seen[0].began;
        let gap = log.seen.windows(2).map(|two| two[1].began - two[0].began);
        let before_a_response = log
            .seen
            .iter()
            .filter(|seen| seen.began < first + ms(1_000));
        (before_a_response.count(), gap.min().unwrap())
    };
    let bound = |delay, address| PacingRules {
        address,
        factor: 0.0,
        ..rules(delay)
    };
    let rate = |per_second| AddressBound::Rate(NonZeroU32::new(per_second).unwrap());
    for (delay, address, expected, gap) in [
        (1_000, AddressBound::FollowsDelay, 4, 100),
        (100, AddressBound::FollowsDelay, 4, 10),
        (0, AddressBound::FollowsDelay, 40, 0),
        (1_000, AddressBound::Unbounded, 40, 0),
        (1_000, rate(20), 20, 50),
        (0, rate(2), 2, 500),
    ] {
        let (count, apart) = at_once(bound(delay, address));
        assert_eq!(count, expected, "{delay} {address:?}");
        assert!(apart >= ms(gap), "{apart:?} {delay} {address:?}");
    }
    let own = HostPacing {
        delay: Some(ms(10)),
        connections: None,
    };
    let exempt = PacingRules {
        of_hosts: HostTable::from_iter([("*.test".parse().unwrap(), own)]),
        ..rules(1_000)
    };
    assert_eq!(
        at_once(exempt).0,
        40,
        "a pace that was set explicitly stays"
    );
}

#[tokio::test(start_paused = true)]
async fn a_redirect_that_waits_for_its_address_counts_as_stalled() {
    let stalls = Stalls::default();
    let began = Instant::now();
    let clock = Clock::new(move || EPOCH + began.elapsed());
    let pacer = Arc::new(Pacer::seeded(rules(1_000), clock, 0, stalls.clone()));
    let key = |number: u32| PolitenessKey {
        host: Host::new(&format!("h{number}.test")),
        address: Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))),
    };
    let mut held = Vec::new();
    for number in 0..4 {
        held.push(pacer.permit(key(number)).await);
    }
    let waiting = tokio::spawn({
        let pacer = Arc::clone(&pacer);
        async move { pacer.permit(key(4)).await }
    });
    sleep(ms(1_900)).await;
    assert_eq!(stalls.count(), 0);
    sleep(ms(200)).await;
    assert_eq!(stalls.count(), 1);
    held.clear();
    waiting.await.unwrap().finish(PacedResponse {
        elapsed: ms(1),
        kind: ResponseKind::Fine,
    });
    assert_eq!(stalls.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_bound_holds_from_the_moment_at_which_the_delay_is_raised() {
    let began = Instant::now();
    let clock = Clock::new(move || EPOCH + began.elapsed());
    let pacer = Arc::new(Pacer::new(rules(0), clock));
    pacer.change(rules(1_000), &BTreeMap::new());
    let key = |number: u32| PolitenessKey {
        host: Host::new(&format!("h{number}.test")),
        address: Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))),
    };
    let mut held = Vec::new();
    for number in 0..4 {
        held.push(pacer.permit(key(number)).await);
    }
    assert_eq!(began.elapsed(), ms(300));
    assert!(!pacer.enqueue_unless_ready(&key(9)));
}

fn crowds() -> impl Strategy<Value = Crowd> {
    let host = (
        0_u8..3,
        0_u64..4_000,
        0_usize..5,
        prop::option::weighted(0.2, 0_usize..30),
    );
    let host = host.prop_map(|(address, elapsed, pages, redirects_to)| TestHost {
        address,
        elapsed,
        pages,
        redirects_to,
    });
    let hosts = prop::collection::vec(host, 30);
    (1_u64..2_000, 1_usize..70, hosts).prop_map(|(delay, slots, hosts)| Crowd {
        rules: rules(delay),
        slots,
        hosts,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_address_gets_more_than_its_bound_and_every_page_is_requested(crowd in crowds()) {
        let expected: usize = crowd.hosts.iter()
            .map(|host| host.pages * (1 + usize::from(host.redirects_to.is_some())))
            .sum();
        let gap = crowd.rules.delay / 10;
        let log = play(crowd);
        prop_assert_eq!(log.seen.len(), expected);
        for address in 0..3 {
            log.keeps(address, 4, gap);
        }
    }
}
