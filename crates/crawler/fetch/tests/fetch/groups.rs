//! Hosts that share a pace, on the runtime's paused clock: a small crawl whose frontier only knows
//! hosts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use fetch::{Pacer, PolitenessKey};
use proptest::prelude::*;
use requests::{PacedResponse, PacingRules, ResponseKind};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use web::{Clock, GroupBy, Host, Pace, Timestamp, WaitReason};

const EPOCH: Timestamp = Timestamp::from_millis(1_000_000);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn rules(group_by: GroupBy, delay: u64) -> PacingRules {
    PacingRules {
        delay: ms(delay),
        factor: 0.0,
        jitter: 0.0,
        group_by,
        ..PacingRules::default()
    }
}

fn pacer(rules: PacingRules) -> Pacer {
    let began = Instant::now();
    Pacer::new(rules, Clock::new(move || EPOCH + began.elapsed()))
}

fn at(name: &str, address: u8) -> PolitenessKey {
    PolitenessKey {
        host: Host::new(name),
        address: Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, address))),
    }
}

const FINE: PacedResponse = PacedResponse {
    elapsed: Duration::ZERO,
    kind: ResponseKind::Fine,
};

/// A visit: its response time, its result, and the target of its redirect.
#[derive(Clone, Copy, Debug)]
struct Step {
    elapsed: u64,
    kind: ResponseKind,
    leads_to: Option<usize>,
}

/// A crawl of hosts, each with its group and its visits.
#[derive(Clone, Debug)]
struct Plan {
    group_by: GroupBy,
    delay: u64,
    slots: usize,
    hosts: Vec<(u8, Vec<Step>)>,
}

/// A request as the server saw it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    host: usize,
    began: Instant,
    ended: Instant,
}

/// The result of a crawl.
struct CrawlLog {
    seen: Vec<Seen>,
    /// Visits that were begun although their group was not ready.
    returned: usize,
}

impl Plan {
    fn to(&self, host: usize) -> PolitenessKey {
        let group = self.hosts[host].0;
        at(&format!("h{host}.g{group}.test"), group)
    }

    /// Crawls like `crawl::run`: slots first, hosts in the order in which they are ready, never two
    /// visits of one at a time.
    async fn play(self: Arc<Self>) -> CrawlLog {
        let pacer = Arc::new(pacer(rules(self.group_by, self.delay)));
        let began = Instant::now();
        let mut waiting = BinaryHeap::new();
        let mut next = vec![0; self.hosts.len()];
        for host in 0..self.hosts.len() {
            waiting.push(Reverse((EPOCH, host)));
        }
        let mut in_flight: JoinSet<(usize, Timestamp, Vec<Seen>)> = JoinSet::new();
        let mut log = CrawlLog {
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
                let Some(step) = self.hosts[host].1.get(next[host]).copied() else {
                    continue;
                };
                let (plan, pacer) = (Arc::clone(&self), Arc::clone(&pacer));
                in_flight.spawn(async move { plan.visit(&pacer, host, step).await });
            }
            if in_flight.is_empty() && waiting.is_empty() {
                return log;
            }
            let soon = waiting.peek().filter(|_| in_flight.len() < self.slots);
            let wake = soon.map_or(Duration::MAX, |Reverse((ready, _))| ready.since(now));
            let wake = wake.min(Duration::from_secs(1 << 30));
            tokio::select! {
                Some(ended) = in_flight.join_next() => {
                    let (host, ready, seen) = ended.expect("no task panics");
                    if seen.is_empty() {
                        log.returned += 1;
                    } else {
                        next[host] += 1;
                    }
                    log.seen.extend(seen);
                    waiting.push(Reverse((ready, host)));
                }
                () = sleep(wake) => {}
            }
        }
    }

    async fn visit(&self, pacer: &Pacer, host: usize, step: Step) -> (usize, Timestamp, Vec<Seen>) {
        let to = self.to(host);
        let mut seen = Vec::new();
        if pacer.enqueue_unless_ready(&to) {
            for hop in [Some(host), step.leads_to].into_iter().flatten() {
                let permit = pacer.permit(self.to(hop)).await;
                let began = Instant::now();
                sleep(ms(step.elapsed)).await;
                seen.push(Seen {
                    host: hop,
                    began,
                    ended: Instant::now(),
                });
                permit.finish(PacedResponse {
                    elapsed: ms(step.elapsed),
                    kind: step.kind,
                });
            }
        }
        (host, pacer.pace(&to.host).ready, seen)
    }

    fn requests(&self) -> usize {
        let steps = self.hosts.iter().flat_map(|(_, steps)| steps);
        steps
            .map(|step| 1 + usize::from(step.leads_to.is_some()))
            .sum()
    }
}

fn play(plan: Plan) -> CrawlLog {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime needs nothing but memory");
    runtime.block_on(Arc::new(plan).play())
}

fn plans() -> impl Strategy<Value = Plan> {
    let asked = prop_oneof![
        8 => Just(ResponseKind::Fine),
        1 => Just(ResponseKind::Failed),
        1 => prop::option::of(0_u64..5).prop_map(|seconds| ResponseKind::SlowDown {
            retry_after: seconds.map(Duration::from_secs),
        }),
    ];
    let step = (0_u64..2000, asked, prop::option::weighted(0.2, 0_usize..12));
    let steps = step.prop_map(|(elapsed, asked, leads_to)| Step {
        elapsed,
        kind: asked,
        leads_to,
    });
    let hosts = prop::collection::vec((0_u8..3, prop::collection::vec(steps, 0..6)), 12);
    let group_by = prop_oneof![Just(GroupBy::Address), Just(GroupBy::Domain)];
    (group_by, 0_u64..1000, 1_usize..8, hosts).prop_map(|(group_by, delay, slots, hosts)| Plan {
        group_by,
        delay,
        slots,
        hosts,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn permits_of_a_group_keep_the_delay_and_each_host_gets_all(plan in plans()) {
        let log = play(plan.clone());
        prop_assert_eq!(log.seen.len(), plan.requests(), "every host had all its permits");
        let mut groups: HashMap<u8, Vec<Seen>> = HashMap::new();
        for seen in &log.seen {
            groups.entry(plan.hosts[seen.host].0).or_default().push(*seen);
        }
        for requests in groups.values_mut() {
            requests.sort_by_key(|seen| seen.began);
            for two in requests.windows(2) {
                prop_assert!(two[1].began >= two[0].ended + ms(plan.delay), "{two:?}");
            }
        }
    }
}

fn calm(elapsed: u64) -> Step {
    Step {
        elapsed,
        kind: ResponseKind::Fine,
        leads_to: None,
    }
}

#[test]
fn two_thousand_hosts_of_one_domain_cost_few_returns_and_leave_another_host_its_pace() {
    // The first host is alone in its group; the others come one after the other, each twice, with
    // slower and faster answers.
    let mut hosts = vec![(0, vec![calm(50); 500])];
    for number in 1..=2000 {
        hosts.push((
            1,
            vec![calm(50 + number % 7 * 30), calm(50 + number % 11 * 20)],
        ));
    }
    let plan = Plan {
        group_by: GroupBy::Domain,
        delay: 1000,
        slots: 8,
        hosts,
    };
    let requests = plan.requests();
    let log = play(plan);
    assert_eq!(log.seen.len(), requests);
    let began = log.seen.iter().map(|seen| seen.began).min().unwrap();
    let alone = log.seen.iter().filter(|seen| seen.host == 0);
    let ended = alone.map(|seen| seen.ended - began).max().unwrap();
    assert_eq!(
        ended,
        499 * ms(1050) + ms(50),
        "as if there were no other host"
    );

    let many = log.seen.iter().filter(|seen| seen.host != 0);
    let took = many.clone().map(|seen| seen.ended).max().unwrap() - began;
    let busy: Duration = many.map(|seen| seen.ended - seen.began + ms(1000)).sum();
    // Measured: 4,664 s for 4,580, and 4.4 returns a request. The clock is a model, so the figures
    // are always the same.
    assert!(took < busy + busy / 20, "{took:?} for {busy:?}");
    assert!(log.returned < 6 * requests, "{} returns", log.returned);
}

#[tokio::test(start_paused = true)]
async fn hosts_of_one_domain_take_turns_and_others_do_not_wait_for_them() {
    let pacer = pacer(rules(GroupBy::Domain, 1000));
    let began = Instant::now();
    for (name, expected) in [
        ("a.site.test", 0),
        ("b.site.test", 1000),
        ("other.test", 1000),
        ("site.test", 2000),
        ("a.site.test", 3000),
    ] {
        let permit = pacer.permit(&Host::new(name)).await;
        assert_eq!(began.elapsed(), ms(expected), "{name}");
        permit.finish(FINE);
    }
}

#[tokio::test(start_paused = true)]
async fn hosts_of_one_address_take_turns_and_a_host_of_no_address_is_alone() {
    let pacer = pacer(rules(GroupBy::Address, 1000));
    let began = Instant::now();
    let nowhere = PolitenessKey::from(&Host::new("nowhere.test"));
    for (to, expected) in [
        (at("a.test", 1), 0),
        (at("b.test", 2), 0),
        (nowhere, 0),
        (at("c.test", 1), 1000),
        // This host has another address and keeps its own wait.
        (at("c.test", 3), 2000),
    ] {
        let permit = pacer.permit(to.clone()).await;
        assert_eq!(began.elapsed(), ms(expected), "{to:?}");
        permit.finish(FINE);
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_whose_group_is_not_ready_gets_its_own_time() {
    let pacer = pacer(rules(GroupBy::Domain, 1000));
    let to = |number: u32| PolitenessKey::from(&Host::new(&format!("h{number}.site.test")));
    let ready = |number: u32| pacer.pace(&to(number).host).ready;
    assert!(pacer.enqueue_unless_ready(&to(0)));
    let permit = pacer.permit(to(0)).await;
    for number in 1..=5 {
        assert!(!pacer.enqueue_unless_ready(&to(number)));
        assert_eq!(ready(number), EPOCH + ms(1000) * number);
    }
    permit.finish(FINE);
    // Waiting hosts ask again in time, in the order of their arrival; a newcomer comes last.
    for number in 1..=5 {
        sleep_until(Instant::now() + ms(1000)).await;
        assert!(
            !pacer.enqueue_unless_ready(&to(99)),
            "the others came first"
        );
        assert!(pacer.enqueue_unless_ready(&to(number)), "{number}");
        assert!(
            !pacer.enqueue_unless_ready(&to(98)),
            "the turn is granted to another host"
        );
        pacer.permit(to(number)).await.finish(FINE);
    }
}

#[tokio::test(start_paused = true)]
async fn a_429_slows_the_group_down_and_a_dead_host_does_not() {
    let pacer = pacer(rules(GroupBy::Domain, 1000));
    let host = |name: &str| Host::new(&format!("{name}.site.test"));
    drop(pacer.permit(&host("dead")).await);
    let began = Instant::now();
    let permit = pacer.permit(&host("busy")).await;
    assert_eq!(began.elapsed(), ms(1000), "as after any other request");
    let retry_after = Some(ms(7000));
    permit.finish(PacedResponse {
        elapsed: Duration::ZERO,
        kind: ResponseKind::SlowDown { retry_after },
    });
    let began = Instant::now();
    let permit = pacer.permit(&host("other")).await;
    assert_eq!(began.elapsed(), ms(7000));
    permit.finish(PacedResponse {
        elapsed: Duration::ZERO,
        kind: ResponseKind::SlowDown { retry_after: None },
    });
    let pace = pacer.pace(&host("other"));
    assert_eq!(
        (pace.failures, pace.wait, pace.why),
        (1, ms(4000), WaitReason::SlowDown),
        "the second 429 of the group in a row"
    );
    let began = Instant::now();
    pacer.permit(&host("third")).await.finish(FINE);
    assert_eq!(began.elapsed(), ms(4000));
    pacer.permit(&host("fourth")).await.finish(FINE);
    assert_eq!(began.elapsed(), ms(5000), "a good response forgives");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_rests_for_an_hour_does_not_keep_its_group_waiting() {
    let pacer = pacer(rules(GroupBy::Domain, 1000));
    let hour = Pace {
        ready: EPOCH + Duration::from_secs(3600),
        ..Pace::default()
    };
    let resting = Host::new("resting.site.test");
    pacer.recall(&resting, hour);
    let began = Instant::now();
    let long = pacer.permit(&resting);
    tokio::pin!(long);
    let others = async {
        for number in 0..10 {
            let host = Host::new(&format!("h{number}.site.test"));
            pacer.permit(&host).await.finish(FINE);
        }
        began.elapsed()
    };
    let took = tokio::select! {
        _permit = &mut long => panic!("it rests"),
        took = others => took,
    };
    assert_eq!(took, ms(9000));
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_a_group_waits_as_long_as_its_last_response_asked_for() {
    let now = EPOCH + ms(400);
    let asked = |wait: u64, why| Pace {
        ready: Timestamp::NEVER,
        wait: ms(wait),
        why,
        answered: now,
        address: at("x", 1).address,
        ..Pace::default()
    };
    // stored pace of a host of the group → wait of another host, after the 400 ms that passed
    for (group_by, pace, expected) in [
        (GroupBy::Domain, asked(1000, WaitReason::Delay), 1002),
        (GroupBy::Address, asked(1000, WaitReason::Delay), 1002),
        (GroupBy::Address, asked(9000, WaitReason::RetryAfter), 9002),
        (GroupBy::Domain, asked(600_000, WaitReason::Failures), 1002),
        (GroupBy::Host, asked(9000, WaitReason::RetryAfter), 0),
        // No wait is longer than the rules allow, whatever the clock.
        (
            GroupBy::Domain,
            Pace {
                answered: Timestamp::NEVER,
                ..asked(1, WaitReason::Delay)
            },
            3_600_002,
        ),
    ] {
        let clock_began = Instant::now();
        let clock = Clock::new(move || now + clock_began.elapsed());
        let pacer = Pacer::new(rules(group_by, 1000), clock);
        pacer.recall(&Host::new("a.site.test"), pace);
        pacer.permit(at("b.site.test", 1)).await.finish(FINE);
        assert_eq!(clock_began.elapsed(), ms(expected), "{group_by} {pace:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_session_that_died_no_group_is_asked_before_its_delay_has_passed() {
    let pacer = pacer(rules(GroupBy::Domain, 1000));
    pacer.assume_just_requested();
    let began = Instant::now();
    let to = PolitenessKey::from(&Host::new("a.site.test"));
    assert!(!pacer.enqueue_unless_ready(&to));
    assert_eq!(pacer.pace(&to.host).ready, EPOCH + ms(1000));
    pacer.permit(to).await.finish(FINE);
    assert_eq!(began.elapsed(), ms(1000));
    pacer.permit(&Host::new("b.site.test")).await.finish(FINE);
    assert_eq!(began.elapsed(), ms(2000));
}
