//! Rules that change while permits are given out, on the runtime's paused clock.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use fetch::Pacer;
use requests::{PacedResponse, PacingRules, ResponseKind};
use tokio::time::{Instant, advance, timeout};
use web::{Clock, GroupBy, Host, Timestamp};

const FINE: PacedResponse = PacedResponse {
    elapsed: Duration::ZERO,
    kind: ResponseKind::Fine,
};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn every(delay: u64) -> PacingRules {
    PacingRules {
        delay: ms(delay),
        factor: 0.0,
        ..PacingRules::default()
    }
}

fn pacer(delay: u64) -> Pacer {
    let began = Instant::now();
    Pacer::new(
        every(delay),
        Clock::new(move || Timestamp::from_millis(0) + began.elapsed()),
    )
}

fn none() -> BTreeMap<Host, Duration> {
    BTreeMap::new()
}

/// Makes one request and returns the time that it waited.
async fn ask(pacer: &Pacer, host: &Host) -> Duration {
    let before = Instant::now();
    pacer.permit(host).await.finish(FINE);
    before.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_longer_delay_counts_from_the_last_response_on() {
    let (pacer, host) = (pacer(100), Host::new("a.test"));
    ask(&pacer, &host).await;
    advance(ms(50)).await;
    pacer.change(every(5_000), &none());
    assert_eq!(ask(&pacer, &host).await, ms(4_950));
    assert_eq!(ask(&pacer, &host).await, ms(5_000));
}

#[tokio::test(start_paused = true)]
async fn waiting_callers_wait_for_the_longer_delay() {
    let (pacer, host) = (pacer(1_000), Host::new("a.test"));
    ask(&pacer, &host).await;
    let before = Instant::now();
    assert!(timeout(ms(500), pacer.permit(&host)).await.is_err());
    let (asked, ()) = tokio::join!(ask(&pacer, &host), async {
        tokio::time::sleep(ms(100)).await;
        pacer.change(every(3_000), &none());
    });
    assert_eq!((asked, before.elapsed()), (ms(2_500), ms(3_000)));
}

#[tokio::test(start_paused = true)]
async fn a_shorter_delay_counts_from_the_next_response_on() {
    let (pacer, host) = (pacer(5_000), Host::new("a.test"));
    ask(&pacer, &host).await;
    pacer.change(every(100), &none());
    assert_eq!(ask(&pacer, &host).await, ms(5_000));
    assert_eq!(ask(&pacer, &host).await, ms(100));
}

#[tokio::test(start_paused = true)]
async fn the_delay_of_a_single_host_is_one_more_reason_to_wait() {
    let (pacer, host, other) = (pacer(100), Host::new("a.test"), Host::new("b.test"));
    pacer.change(
        every(100),
        &BTreeMap::from([(host.clone(), ms(700)), (other.clone(), ms(10))]),
    );
    for name in [&host, &other] {
        assert_eq!(ask(&pacer, name).await, Duration::ZERO);
    }
    assert_eq!(
        ask(&pacer, &other).await,
        ms(100),
        "it is no less than everybody's"
    );
    assert_eq!(ask(&pacer, &host).await, ms(600));
    pacer.set_crawl_delay(&host, Some(ms(900)));
    assert_eq!(ask(&pacer, &host).await, ms(900), "the longest counts");
    // Longer than the cap on servers: the user wants it.
    pacer.change(every(100), &BTreeMap::from([(host.clone(), ms(60_000))]));
    assert_eq!(ask(&pacer, &host).await, ms(60_000));
    pacer.change(every(100), &none());
    ask(&pacer, &host).await;
    assert_eq!(ask(&pacer, &host).await, ms(900));
}

#[tokio::test(start_paused = true)]
async fn the_overall_rate_changes_too() {
    let pacer = pacer(0);
    let rate = PacingRules {
        rate: NonZeroU32::new(2),
        ..every(0)
    };
    pacer.change(rate, &none());
    let before = Instant::now();
    for number in 0..5 {
        ask(&pacer, &Host::new(&format!("{number}.test"))).await;
    }
    assert!(before.elapsed() >= ms(2_000));
    pacer.change(every(0), &none());
    let before = Instant::now();
    for number in 0..5 {
        ask(&pacer, &Host::new(&format!("{number}.test"))).await;
    }
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn hosts_that_share_their_pace_share_the_longer_delay_too() {
    let grouped = |delay| PacingRules {
        group_by: GroupBy::Domain,
        ..every(delay)
    };
    let pacer = Pacer::new(grouped(100), Clock::fixed(Timestamp::from_millis(0)));
    let (one, other) = (Host::new("a.example.org"), Host::new("b.example.org"));
    ask(&pacer, &one).await;
    advance(ms(50)).await;
    pacer.change(grouped(5_000), &none());
    assert_eq!(ask(&pacer, &other).await, ms(4_950));
    pacer.change(
        grouped(5_000),
        &BTreeMap::from([(other.clone(), ms(9_000))]),
    );
    assert_eq!(ask(&pacer, &other).await, ms(9_000));
    // The group of a host waits for the host's own delay.
    assert_eq!(ask(&pacer, &one).await, ms(9_000));
}
