//! Permits, on the runtime's paused clock: it moves only when every task waits, and then exactly as
//! far as needed.

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::time::Duration;

use fetch::{Pacer, Permit, Stalls};
use requests::{PacedResponse, PacingRules, ResponseKind};
use tokio::time::{Instant, advance, timeout};
use web::{Clock, Host, Pace, Timestamp, WaitReason};

use crate::server::page;

const EPOCH: Timestamp = Timestamp::from_millis(1_000_000);
const FINE: PacedResponse = PacedResponse {
    elapsed: Duration::ZERO,
    kind: ResponseKind::Fine,
};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn pacer(rules: PacingRules) -> Pacer {
    let began = Instant::now();
    Pacer::new(rules, Clock::new(move || EPOCH + began.elapsed()))
}

fn every(delay: u64) -> PacingRules {
    PacingRules {
        delay: ms(delay),
        factor: 0.0,
        jitter: 0.0,
        ..PacingRules::default()
    }
}

fn host(name: &str) -> Host {
    page(&format!("http://{name}/")).host()
}

/// Returns the permit, if it comes within that time.
async fn within(wait: Duration, pacer: &Pacer, host: &Host) -> Option<Permit> {
    timeout(wait, pacer.permit(host)).await.ok()
}

#[tokio::test(start_paused = true)]
async fn the_next_permit_comes_499_ms_after_the_last_is_too_early_and_500_is_fine() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    let first = pacer.permit(&a).await;
    advance(ms(3000)).await;
    assert_eq!(
        first.finish(FINE),
        EPOCH + ms(3500),
        "counted from the end of the response"
    );
    assert_eq!(pacer.pace(&a).ready, EPOCH + ms(3500));

    assert!(within(ms(499), &pacer, &a).await.is_none());
    let before = Instant::now();
    let second = within(ms(2), &pacer, &a).await;
    assert!(second.is_some());
    assert_eq!(before.elapsed(), ms(1));
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_comes_a_fraction_of_a_millisecond_early_waits() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    let permit = pacer.permit(&a).await;
    advance(Duration::from_micros(300)).await;
    let ended = Instant::now();
    assert_eq!(
        permit.finish(FINE),
        EPOCH + ms(500),
        "a timestamp has whole milliseconds"
    );

    advance(Duration::from_micros(499_700)).await;
    drop(pacer.permit(&a).await);
    assert!(ended.elapsed() >= ms(500), "{:?}", ended.elapsed());
}

#[tokio::test(start_paused = true)]
async fn hosts_do_not_wait_for_each_other() {
    let pacer = pacer(every(1000));
    let began = Instant::now();
    for name in ["a.test", "b.test", "c.test"] {
        pacer.permit(&host(name)).await.finish(FINE);
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn permits_of_a_host_are_given_in_the_order_in_which_they_were_asked_for() {
    let (pacer, a) = (pacer(every(1000)), host("a.test"));
    let began = Instant::now();
    let one = async |name| {
        let permit = pacer.permit(&a).await;
        let at = began.elapsed();
        permit.finish(FINE);
        (name, at)
    };
    let permits = tokio::join!(one("first"), one("second"), one("third"));
    assert_eq!(
        permits,
        (("first", ms(0)), ("second", ms(1000)), ("third", ms(2000)))
    );
}

#[tokio::test(start_paused = true)]
async fn only_so_many_permits_of_a_host_are_held() {
    for connections in [1, 3] {
        let rules = PacingRules {
            connections_per_host: connections,
            ..every(0)
        };
        let (pacer, a) = (pacer(rules), host("a.test"));
        let mut permits = Vec::new();
        for _ in 0..connections {
            permits.push(pacer.permit(&a).await);
        }
        assert!(
            within(ms(10_000), &pacer, &a).await.is_none(),
            "{connections} is all there are"
        );
        permits.pop().unwrap().finish(FINE);
        assert!(within(ms(1), &pacer, &a).await.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn several_connections_keep_their_distance_all_the_same() {
    let rules = PacingRules {
        connections_per_host: 4,
        ..every(500)
    };
    let (pacer, a) = (pacer(rules), host("a.test"));
    let began = Instant::now();
    let mut permits = Vec::new();
    for expected in [0, 500, 1000, 1500] {
        permits.push(pacer.permit(&a).await);
        assert_eq!(began.elapsed(), ms(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_crawl_delay_applies_until_it_is_withdrawn() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    pacer.set_crawl_delay(&a, Some(ms(2500)));
    assert_eq!(pacer.permit(&a).await.finish(FINE), EPOCH + ms(2500));
    pacer.set_crawl_delay(&a, None);
    assert_eq!(pacer.permit(&a).await.finish(FINE), EPOCH + ms(3000));
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_is_dropped_is_a_failure() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    drop(pacer.permit(&a).await);
    assert_eq!(pacer.pace(&a).ready, EPOCH + ms(1000));
    drop(pacer.permit(&a).await);
    assert_eq!(
        pacer.pace(&a).ready,
        EPOCH + ms(1000) + ms(2000),
        "the second failure in a row counts double"
    );
    pacer.permit(&a).await.finish(FINE);
    assert_eq!(
        pacer.pace(&a).ready,
        EPOCH + ms(3000) + ms(500),
        "a success resets the failures"
    );
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_wait_for_a_permit_has_no_effect() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    pacer.permit(&a).await.finish(FINE);
    assert!(within(ms(100), &pacer, &a).await.is_none());
    assert_eq!(pacer.pace(&a).ready, EPOCH + ms(500));
}

#[tokio::test(start_paused = true)]
async fn the_total_rate_holds_over_all_hosts() {
    // rate → when the eleventh request may start
    for (rate, expected) in [(1, 10_000), (2, 5000), (20, 500)] {
        let rules = PacingRules {
            rate: NonZeroU32::new(rate),
            ..every(0)
        };
        let pacer = pacer(rules);
        let began = Instant::now();
        for number in 0..11 {
            pacer
                .permit(&host(&format!("h{number}.test")))
                .await
                .finish(FINE);
        }
        // The runtime's timer is as fine as a millisecond, and governor counts nanoseconds.
        assert!(
            began.elapsed() >= ms(expected),
            "{rate}: {:?}",
            began.elapsed()
        );
        assert!(
            began.elapsed() <= ms(expected + 11),
            "{rate}: {:?}",
            began.elapsed()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_high_rate_is_reached_although_the_timer_is_coarse() {
    let rules = PacingRules {
        rate: NonZeroU32::new(5000),
        ..every(0)
    };
    let pacer = pacer(rules);
    let began = Instant::now();
    for number in 0..10_000 {
        pacer
            .permit(&host(&format!("h{}.test", number % 100)))
            .await
            .finish(FINE);
    }
    assert!(began.elapsed() >= ms(1980), "{:?}", began.elapsed());
    assert!(began.elapsed() <= ms(2200), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn hosts_without_relevant_state_are_forgotten() {
    let pacer = pacer(every(1000));
    let (busy, resting) = (host("busy.test"), host("resting.test"));
    let permit = pacer.permit(&busy).await;
    let hour = Some(Duration::from_secs(3600));
    let asked = ResponseKind::SlowDown { retry_after: hour };
    pacer.permit(&resting).await.finish(PacedResponse {
        elapsed: Duration::ZERO,
        kind: asked,
    });
    let free = pacer.pace(&resting).ready;

    for number in 0..20_000 {
        pacer
            .permit(&host(&format!("h{number}.test")))
            .await
            .finish(FINE);
        advance(ms(50)).await;
    }

    assert!(
        pacer.hosts() < 4000,
        "{} of 20,000 hosts in 1,000 s are remembered",
        pacer.hosts()
    );
    assert_eq!(
        pacer.pace(&resting).ready,
        free,
        "a waiting host is not forgotten"
    );
    assert!(
        within(ms(10_000), &pacer, &busy).await.is_none(),
        "a host with a permit is not forgotten"
    );
    permit.finish(FINE);
}

fn remembered(ready: Timestamp, failures: u32, crawl_delay: Option<u64>) -> Pace {
    Pace {
        ready,
        failures,
        crawl_delay: crawl_delay.map(ms),
        ..Pace::default()
    }
}

/// Returns the stored pace of a host without its last response: the time it is ready, its failures,
/// its Crawl-delay.
fn gist(pace: Pace) -> (Timestamp, u32, Option<Duration>) {
    (pace.ready, pace.failures, pace.crawl_delay)
}

/// Twice the rounding of a stored time.
const ROUNDING: Duration = ms(2);

#[tokio::test(start_paused = true)]
async fn a_host_waits_as_long_as_it_asked_an_earlier_session_to() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    pacer.recall(&a, remembered(EPOCH + ms(60_000), 1, None));
    let began = Instant::now();
    let permit = pacer.permit(&a).await;
    assert_eq!(began.elapsed(), ms(60_000) + ROUNDING);
    let waits = permit.finish(PacedResponse {
        elapsed: Duration::ZERO,
        kind: ResponseKind::Failed,
    });
    let second_in_a_row = began.elapsed() + ms(2000);
    assert_eq!(waits, EPOCH + second_in_a_row, "earlier failures count on");
}

#[tokio::test(start_paused = true)]
async fn the_pace_of_a_host_is_the_recalled_one() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    assert_eq!(gist(pacer.pace(&a)), (EPOCH, 0, None), "nothing is known");
    let known = Pace {
        retry_after: Some(ms(700)),
        wait: ms(9000),
        why: WaitReason::SlowDown,
        answered: EPOCH,
        address: Some(Ipv4Addr::LOCALHOST.into()),
        ..remembered(EPOCH, 3, Some(2500))
    };
    pacer.recall(&a, known);
    assert_eq!(pacer.pace(&a), known);
    pacer.permit(&a).await.finish(FINE);
    let answered = Pace {
        ready: EPOCH + ms(2500),
        failures: 0,
        retry_after: None,
        wait: ms(2500),
        why: WaitReason::CrawlDelay,
        ..known
    };
    assert_eq!(pacer.pace(&a), answered);
}

#[tokio::test(start_paused = true)]
async fn a_response_of_this_session_overrides_the_recalled_pace() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    pacer.permit(&a).await.finish(FINE);
    pacer.recall(&a, remembered(EPOCH + ms(100), 3, Some(2500)));
    assert_eq!(
        gist(pacer.pace(&a)),
        (EPOCH + ms(500), 0, None),
        "a success reset the failures"
    );
    pacer.recall(&a, remembered(EPOCH + ms(700), 0, None));
    assert_eq!(
        pacer.pace(&a).ready,
        EPOCH + ms(700),
        "a longer recalled wait counts"
    );
}

#[tokio::test(start_paused = true)]
async fn the_pace_reports_the_longest_reason_and_the_requested_wait() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    let slow_down = |seconds: Option<u64>| PacedResponse {
        elapsed: Duration::ZERO,
        kind: ResponseKind::SlowDown {
            retry_after: seconds.map(Duration::from_secs),
        },
    };
    let seen = |pace: Pace| (pace.why, pace.wait, pace.retry_after);
    pacer.permit(&a).await.finish(FINE);
    assert_eq!(seen(pacer.pace(&a)), (WaitReason::Delay, ms(500), None));
    pacer.set_crawl_delay(&a, Some(ms(900)));
    assert_eq!(
        seen(pacer.pace(&a)),
        (WaitReason::CrawlDelay, ms(900), None)
    );
    pacer.permit(&a).await.finish(slow_down(None));
    assert_eq!(seen(pacer.pace(&a)), (WaitReason::SlowDown, ms(1000), None));
    pacer.permit(&a).await.finish(slow_down(Some(7200)));
    let hour = Duration::from_secs(3600);
    assert_eq!(
        seen(pacer.pace(&a)),
        (WaitReason::RetryAfter, hour, Some(2 * hour))
    );
    drop(pacer.permit(&a).await);
    assert_eq!(seen(pacer.pace(&a)), (WaitReason::Failures, ms(4000), None));
    pacer.set_crawl_delay(&a, None);
    pacer.permit(&a).await.finish(FINE);
    assert_eq!(seen(pacer.pace(&a)), (WaitReason::Delay, ms(500), None));
}

/// A block page has the status of a page, so its response counted as fine: a firewall was asked
/// further at the usual pace.
#[tokio::test(start_paused = true)]
async fn a_host_that_blocks_three_times_in_a_row_rests_for_an_hour() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    let hour = Duration::from_secs(3600);
    pacer.remember_page(&page("http://a.test/"));
    for (failures, wait) in [(1, ms(1000)), (2, ms(2000)), (3, hour), (4, hour)] {
        pacer.permit(&a).await.finish(FINE);
        pacer.report_block(&a);
        let pace = pacer.pace(&a);
        assert_eq!((pace.failures, pace.wait), (failures, wait));
        assert_eq!(pace.why, WaitReason::Blocked);
        assert_eq!(pacer.blocking_hosts(), 1);
        assert_eq!(
            pacer.take_page(&a),
            None,
            "the block page is not a page to check with"
        );
    }
    assert!(within(hour - ms(1), &pacer, &a).await.is_none());
    within(ms(2), &pacer, &a).await.unwrap().finish(FINE);
    let pace = pacer.pace(&a);
    assert_eq!((pace.failures, pace.why), (0, WaitReason::Delay));
    assert_eq!(pacer.blocking_hosts(), 0);
}

#[tokio::test(start_paused = true)]
async fn failures_are_forgiven_by_time_in_this_session_and_over_a_restart() {
    let (pacer, a, b) = (pacer(every(500)), host("a.test"), host("b.test"));
    for _ in 0..4 {
        drop(pacer.permit(&a).await);
    }
    let failed = pacer.pace(&a);
    assert_eq!((failed.failures, failed.wait), (4, ms(8000)));
    // The host is ready in 8 s and then idle for twice the longest back-off.
    advance(ms(8000 + 1_200_000)).await;
    pacer.recall(&a, failed);
    pacer.recall(&b, failed);
    for host in [&a, &b] {
        drop(pacer.permit(host).await);
        let again = pacer.pace(host);
        assert_eq!((again.failures, again.wait), (2, ms(2000)), "{host}");
    }
}

#[tokio::test(start_paused = true)]
async fn hosts_that_failed_together_do_not_come_back_together() {
    let rules = PacingRules {
        jitter: 0.25,
        ..every(500)
    };
    let began = Instant::now();
    let clock = Clock::new(move || EPOCH + began.elapsed());
    let mut waits = HashSet::new();
    for seed in 0..10 {
        let pacer = Pacer::seeded(rules.clone(), clock.clone(), seed, Stalls::default());
        for number in 0..10 {
            let host = host(&format!("h{number}.test"));
            drop(pacer.permit(&host).await);
            let wait = pacer.pace(&host).wait;
            assert!((ms(1000)..=ms(1250)).contains(&wait), "{wait:?}");
            waits.insert(wait);
        }
    }
    assert!(waits.len() > 90, "{} of 100 differ", waits.len());
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_does_not_close_a_host_for_years() {
    let (pacer, a) = (pacer(every(500)), host("a.test"));
    pacer.recall(&a, remembered(Timestamp::NEVER, u32::MAX, Some(u64::MAX)));
    let began = Instant::now();
    drop(pacer.permit(&a).await);
    assert_eq!(
        began.elapsed(),
        PacingRules::default().retry_after_cap + ROUNDING
    );
}

#[tokio::test(start_paused = true)]
async fn after_a_session_that_died_no_host_is_asked_before_its_delay_has_passed_since_the_opening()
{
    let pacer = pacer(every(500));
    let (known, patient, asks) = (host("known.test"), host("patient.test"), host("asks.test"));
    pacer.assume_just_requested();
    advance(ms(200)).await;
    let began = Instant::now();
    assert_eq!(pacer.pace(&known).ready, EPOCH + ms(500));
    pacer.recall(&patient, remembered(EPOCH, 0, Some(2500)));
    pacer.set_crawl_delay(&asks, Some(ms(1500)));
    let waited = async |host| {
        let permit = pacer.permit(host).await;
        let waited = began.elapsed();
        permit.finish(FINE);
        waited
    };
    let waits = tokio::join!(waited(&known), waited(&patient), waited(&asks));
    assert_eq!(waits, (ms(300), ms(2300), ms(1300)));
    let later = Instant::now();
    pacer.permit(&host("later.test")).await.finish(FINE);
    assert_eq!(
        later.elapsed(),
        Duration::ZERO,
        "the delay has passed for later callers"
    );
}
