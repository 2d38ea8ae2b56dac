//! The formula: what a host's answer means for the next request, to the millisecond.

use std::time::Duration;

use fetch::{Answer, Asked, FetchFailure, HostPace, PacingRules, retry_after};
use http::HeaderMap;
use proptest::prelude::*;
use web::{Exchange, Protocol, Timestamp};

use crate::server::page;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn rules(delay: u64, factor: f64) -> PacingRules {
    PacingRules {
        delay: ms(delay),
        factor,
        ..PacingRules::default()
    }
}

fn fine(elapsed: u64) -> Answer {
    Answer {
        elapsed: ms(elapsed),
        asked: Asked::Fine,
    }
}

const fn slow_down(retry_after: Option<Duration>) -> Answer {
    Answer {
        elapsed: Duration::ZERO,
        asked: Asked::SlowDown { retry_after },
    }
}

const FAILED: Answer = Answer {
    elapsed: Duration::ZERO,
    asked: Asked::Failed,
};

#[test]
fn after_a_good_answer_the_longest_of_three_counts_up_to_the_cap() {
    // delay, factor, response time, Crawl-delay → wait
    let cases = [
        (0, 0.0, 700, None, 0),
        (500, 0.0, 700, None, 500),
        (1000, 5.0, 100, None, 1000),
        (1000, 5.0, 200, None, 1000),
        (1000, 5.0, 201, None, 1005),
        (1000, 5.0, 2000, None, 10_000),
        (1000, 5.0, 6000, None, 30_000),
        (1000, 5.0, 6001, None, 30_000),
        (0, 1.5, 100, None, 150),
        (1000, 0.0, 0, Some(999), 1000),
        (1000, 0.0, 0, Some(7000), 7000),
        (1000, 5.0, 2000, Some(7000), 10_000),
        (1000, 0.0, 0, Some(86_400_000), 30_000),
        (0, 0.0, 0, Some(7000), 7000),
        // A delay that the user asked for is not shortened by the cap on what servers ask for.
        (60_000, 5.0, 20_000, Some(90_000), 60_000),
        // Not numbers to multiply with.
        (1000, -1.0, 5000, None, 1000),
        (1000, f64::NAN, 5000, None, 1000),
        (1000, f64::INFINITY, 5000, None, 30_000),
    ];
    for (delay, factor, elapsed, crawl_delay, expected) in cases {
        let pace = HostPace {
            failures: 3,
            crawl_delay: crawl_delay.map(ms),
        };
        let (after, wait) = pace.after(&fine(elapsed), &rules(delay, factor));
        assert_eq!(wait, ms(expected), "{delay} {factor} {elapsed} {crawl_delay:?}");
        assert_eq!(after, HostPace { failures: 0, ..pace }, "forgiven");
    }
}

#[test]
fn failures_in_a_row_double_the_wait_up_to_a_cap() {
    let cases = [
        (
            0,
            [
                1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 600_000, 600_000,
            ],
        ),
        (
            400,
            [
                1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 600_000, 600_000,
            ],
        ),
        (
            1000,
            [
                2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 600_000, 600_000,
                600_000,
            ],
        ),
    ];
    for (delay, waits) in cases {
        for answer in [FAILED, slow_down(None)] {
            let mut pace = HostPace::default();
            for expected in waits {
                let wait;
                (pace, wait) = pace.after(&answer, &rules(delay, 5.0));
                assert_eq!(wait, ms(expected), "delay {delay}, {} in a row", pace.failures);
            }
            let (forgiven, wait) = pace.after(&fine(0), &rules(delay, 5.0));
            assert_eq!((forgiven.failures, wait), (0, ms(delay)));
        }
    }
}

#[test]
fn the_row_of_failures_may_be_of_any_length() {
    let pace = HostPace {
        failures: u32::MAX,
        crawl_delay: None,
    };
    let (after, wait) = pace.after(&FAILED, &rules(1000, 5.0));
    assert_eq!((after.failures, wait), (u32::MAX, ms(600_000)));
}

#[test]
fn retry_after_counts_where_it_is_longer_and_up_to_its_cap() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    // Retry-After, failures before → wait
    let cases = [
        (None, 0, 2000),
        (seconds(0), 0, 2000),
        (seconds(2), 0, 2000),
        (seconds(3), 0, 3000),
        (seconds(3), 1, 4000),
        (seconds(700), 20, 700_000),
        (seconds(3600), 0, 3_600_000),
        (seconds(3601), 0, 3_600_000),
        (seconds(u64::MAX), 0, 3_600_000),
    ];
    for (retry_after, failures, expected) in cases {
        let pace = HostPace {
            failures,
            crawl_delay: None,
        };
        let (_, wait) = pace.after(&slow_down(retry_after), &rules(1000, 5.0));
        assert_eq!(wait, ms(expected), "{retry_after:?} after {failures}");
    }
}

#[test]
fn retry_after_is_read_as_seconds_and_as_a_date() {
    // Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110 section 5.6.7, less one minute and 250 ms.
    let now = Timestamp::from_millis(784_111_777_000 - 60_250);
    let cases = [
        ("0", Some(ms(0))),
        ("120", Some(ms(120_000))),
        (" 120 ", Some(ms(120_000))),
        ("0120", Some(ms(120_000))),
        ("99999999999999999999999999", Some(Duration::from_secs(u64::MAX))),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(ms(60_250))),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some(ms(60_250))),
        ("Sun Nov  6 08:49:37 1994", Some(ms(60_250))),
        ("Sun, 06 Nov 1994 08:48:36 GMT", Some(ms(0))),
        ("Thu, 01 Jan 1970 00:00:00 GMT", Some(ms(0))),
        ("", None),
        ("-1", None),
        ("+5", None),
        ("1.5", None),
        ("1e999", None),
        ("soon", None),
        ("１２", None),
        ("Sun, 32 Nov 1994 08:49:37 GMT", None),
    ];
    for (field, expected) in cases {
        assert_eq!(retry_after(field, now), expected, "{field:?}");
    }
}

#[test]
fn outcomes_are_read_as_answers() {
    let now = Timestamp::from_millis(0);
    let answered = |status, field: Option<&str>| {
        let mut headers = HeaderMap::new();
        if let Some(field) = field {
            headers.insert("retry-after", field.parse().unwrap());
        }
        let exchange = Exchange {
            url: page("http://a.test/"),
            request_head: Vec::new(),
            status,
            headers,
            body: bytes::Bytes::new(),
            truncated: None,
            address: None,
            protocol: Protocol::Http11,
            started: now,
            elapsed: ms(70),
        };
        Answer::of(&Ok(exchange), now).asked
    };
    for status in [200, 204, 301, 304, 400, 403, 404, 500, 502] {
        assert_eq!(answered(status, Some("9")), Asked::Fine, "{status}");
    }
    for status in [429, 503] {
        assert_eq!(answered(status, None), Asked::SlowDown { retry_after: None });
        assert_eq!(
            answered(status, Some("9")),
            Asked::SlowDown {
                retry_after: Some(ms(9000))
            }
        );
        assert_eq!(
            answered(status, Some("rubbish")),
            Asked::SlowDown { retry_after: None }
        );
    }
    assert_eq!(Answer::of(&Err(FetchFailure::Timeout), now), FAILED);
    assert_eq!(Answer::of(&Err(FetchFailure::Unaskable), now), fine(0));
}

proptest! {
    #[test]
    fn no_answer_makes_us_ruder_than_the_delay_or_wait_for_ever(
        delay in 0_u64..100_000,
        factor in any::<f64>(),
        elapsed in any::<u64>(),
        failures in any::<u32>(),
        crawl_delay in prop::option::of(any::<u64>()),
        asked in prop_oneof![
            Just(Asked::Fine),
            Just(Asked::Failed),
            prop::option::of(any::<u64>()).prop_map(|wait| Asked::SlowDown { retry_after: wait.map(ms) }),
        ],
    ) {
        let rules = rules(delay, factor);
        let pace = HostPace { failures, crawl_delay: crawl_delay.map(ms) };
        let (_, wait) = pace.after(&Answer { elapsed: ms(elapsed), asked }, &rules);
        prop_assert!(wait >= rules.delay);
        prop_assert!(wait <= rules.retry_after_cap.max(rules.delay));
        let (_, calm) = pace.after(&fine(elapsed), &rules);
        prop_assert!(wait >= calm, "a failure is never rewarded");
    }
}
