//! The pacing formula, to the millisecond.

use std::time::Duration;

use http::HeaderMap;
use proptest::prelude::*;
use requests::{
    Cooldown, FailureKind, HostPace, PacedResponse, PacingRules, ResponseKind, retry_after,
};
use web::{CanonicalForm, Exchange, PageUrl, Protocol, Timestamp, WaitReason};

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

/// No jitter.
const EVEN: f64 = 0.0;

fn rest(millis: u64, why: WaitReason) -> Cooldown {
    Cooldown {
        wait: ms(millis),
        why,
    }
}

fn fine(elapsed: u64) -> PacedResponse {
    PacedResponse {
        elapsed: ms(elapsed),
        kind: ResponseKind::Fine,
    }
}

const fn slow_down(retry_after: Option<Duration>) -> PacedResponse {
    PacedResponse {
        elapsed: Duration::ZERO,
        kind: ResponseKind::SlowDown { retry_after },
    }
}

const FAILED: PacedResponse = PacedResponse {
    elapsed: Duration::ZERO,
    kind: ResponseKind::Failed,
};

#[test]
fn after_a_good_response_the_longest_of_three_counts_up_to_the_cap() {
    use WaitReason::{CrawlDelay, Delay, Slowness};
    // delay, factor, response time, Crawl-delay → wait, reason
    let cases = [
        (0, 0.0, 700, None, 0, Delay),
        (500, 0.0, 700, None, 500, Delay),
        (1000, 5.0, 100, None, 1000, Delay),
        (1000, 5.0, 200, None, 1000, Delay),
        (1000, 5.0, 201, None, 1005, Slowness),
        (1000, 5.0, 2000, None, 10_000, Slowness),
        (1000, 5.0, 6000, None, 30_000, Slowness),
        (1000, 5.0, 6001, None, 30_000, Slowness),
        (0, 1.5, 100, None, 150, Slowness),
        (1000, 0.0, 0, Some(999), 1000, Delay),
        (1000, 0.0, 0, Some(1000), 1000, Delay),
        (1000, 0.0, 0, Some(7000), 7000, CrawlDelay),
        (1000, 5.0, 2000, Some(7000), 10_000, Slowness),
        (1000, 5.0, 1400, Some(7000), 7000, Slowness),
        (1000, 0.0, 0, Some(86_400_000), 30_000, CrawlDelay),
        (0, 0.0, 0, Some(7000), 7000, CrawlDelay),
        // The cap on servers does not shorten the user's delay.
        (60_000, 5.0, 20_000, Some(90_000), 60_000, Delay),
        // Factors that are not valid numbers.
        (1000, -1.0, 5000, None, 1000, Delay),
        (1000, f64::NAN, 5000, None, 1000, Delay),
        (1000, f64::INFINITY, 5000, None, 30_000, Slowness),
    ];
    for (delay, factor, elapsed, crawl_delay, expected, why) in cases {
        let pace = HostPace {
            failures: 3,
            crawl_delay: crawl_delay.map(ms),
            retry_after: Some(ms(1)),
        };
        let (after, found) = pace.after(&fine(elapsed), &rules(delay, factor), EVEN);
        assert_eq!(
            found,
            rest(expected, why),
            "{delay} {factor} {elapsed} {crawl_delay:?}"
        );
        let forgiven = HostPace {
            failures: 0,
            retry_after: None,
            ..pace
        };
        assert_eq!(after, forgiven);
    }
}

#[test]
fn failures_in_a_row_double_the_wait_up_to_a_cap() {
    let cases = [
        (
            0,
            [
                1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 600_000,
                600_000,
            ],
        ),
        (
            400,
            [
                1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 600_000,
                600_000,
            ],
        ),
        (
            1000,
            [
                2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 600_000,
                600_000, 600_000,
            ],
        ),
    ];
    for (delay, waits) in cases {
        for (response, why) in [
            (FAILED, WaitReason::Failures),
            (slow_down(None), WaitReason::SlowDown),
        ] {
            let mut pace = HostPace::default();
            for expected in waits {
                let found;
                (pace, found) = pace.after(&response, &rules(delay, 5.0), EVEN);
                assert_eq!(
                    found,
                    rest(expected, why),
                    "delay {delay}, {} in a row",
                    pace.failures
                );
            }
            let (forgiven, found) = pace.after(&fine(0), &rules(delay, 5.0), EVEN);
            assert_eq!(
                (forgiven.failures, found),
                (0, rest(delay, WaitReason::Delay))
            );
        }
    }
}

#[test]
fn any_number_of_failures_in_a_row_is_counted() {
    let pace = HostPace {
        failures: u32::MAX,
        ..HostPace::default()
    };
    let (after, found) = pace.after(&FAILED, &rules(1000, 5.0), EVEN);
    assert_eq!(
        (after.failures, found),
        (u32::MAX, rest(600_000, WaitReason::Failures))
    );
}

#[test]
fn chance_adds_up_to_a_quarter_to_a_wait_after_failures_and_to_no_other() {
    // failures before, chance → wait
    let cases = [
        (0, 0.0, 2000),
        (0, 0.5, 2250),
        (0, 1.0, 2500),
        (1, 1.0, 5000),
        (20, 0.0, 600_000),
        (20, 1.0, 750_000),
        // Invalid shares.
        (0, -1.0, 2000),
        (0, 7.0, 2500),
        (0, f64::NAN, 2000),
        (0, f64::INFINITY, 2500),
    ];
    for (failures, chance, expected) in cases {
        let pace = HostPace {
            failures,
            ..HostPace::default()
        };
        for (response, why) in [
            (FAILED, WaitReason::Failures),
            (slow_down(None), WaitReason::SlowDown),
        ] {
            let (_, found) = pace.after(&response, &rules(1000, 5.0), chance);
            assert_eq!(found, rest(expected, why), "{failures} {chance}");
        }
        let (_, found) = pace.after(&fine(0), &rules(1000, 5.0), chance);
        assert_eq!(found, rest(1000, WaitReason::Delay));
        let (_, found) = pace.after(&slow_down(Some(ms(3_000_000))), &rules(1000, 5.0), chance);
        assert_eq!(
            found,
            rest(3_000_000, WaitReason::RetryAfter),
            "the wait of the server"
        );
    }
    for (jitter, expected) in [
        (0.0, 2000),
        (-1.0, 2000),
        (f64::NAN, 2000),
        (1.0, 4000),
        (9.0, 4000),
    ] {
        let rules = PacingRules {
            jitter,
            ..rules(1000, 5.0)
        };
        let (_, found) = HostPace::default().after(&FAILED, &rules, 1.0);
        assert_eq!(found, rest(expected, WaitReason::Failures), "{jitter}");
    }
}

#[test]
fn time_forgives_half_of_the_failures_for_each_longest_back_off_that_a_host_was_not_asked() {
    // failures, idle → failures
    let cases = [
        (5, 0, 5),
        (5, 599_999, 5),
        (5, 600_000, 2),
        (5, 1_199_999, 2),
        (5, 1_200_000, 1),
        (5, 1_800_000, 0),
        (u32::MAX, 31 * 600_000, 1),
        (u32::MAX, 32 * 600_000, 0),
        (u32::MAX, u64::MAX, 0),
    ];
    for (failures, idle, expected) in cases {
        let pace = HostPace {
            failures,
            crawl_delay: Some(ms(7)),
            retry_after: None,
        };
        let found = pace.after_idling(ms(idle), &rules(1000, 5.0));
        let expected = HostPace {
            failures: expected,
            ..pace
        };
        assert_eq!(found, expected, "{failures} {idle}");
    }
    let at_once = PacingRules {
        max_back_off: Duration::ZERO,
        ..rules(1000, 5.0)
    };
    let pace = HostPace {
        failures: 9,
        ..HostPace::default()
    };
    assert_eq!(pace.after_idling(Duration::MAX, &at_once).failures, 0);
}

#[test]
fn retry_after_counts_where_it_is_longer_and_up_to_its_cap() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    use WaitReason::{RetryAfter, SlowDown};
    // Retry-After, failures before → wait, reason
    let cases = [
        (None, 0, 2000, SlowDown),
        (seconds(0), 0, 2000, SlowDown),
        (seconds(2), 0, 2000, SlowDown),
        (seconds(3), 0, 3000, RetryAfter),
        (seconds(3), 1, 4000, SlowDown),
        (seconds(700), 20, 700_000, RetryAfter),
        (seconds(3600), 0, 3_600_000, RetryAfter),
        (seconds(3601), 0, 3_600_000, RetryAfter),
        (seconds(u64::MAX), 0, 3_600_000, RetryAfter),
    ];
    for (retry_after, failures, expected, why) in cases {
        let pace = HostPace {
            failures,
            ..HostPace::default()
        };
        let (after, found) = pace.after(&slow_down(retry_after), &rules(1000, 5.0), EVEN);
        assert_eq!(
            found,
            rest(expected, why),
            "{retry_after:?} after {failures}"
        );
        assert_eq!(after.retry_after, retry_after, "as written");
    }
}

#[test]
fn retry_after_is_read_as_seconds_and_as_a_date() {
    // Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110 section 5.6.7, less one minute and 250
    // ms.
    let now = Timestamp::from_millis(784_111_777_000 - 60_250);
    let cases = [
        ("0", Some(ms(0))),
        ("120", Some(ms(120_000))),
        (" 120 ", Some(ms(120_000))),
        ("0120", Some(ms(120_000))),
        (
            "99999999999999999999999999",
            Some(Duration::from_secs(u64::MAX)),
        ),
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
fn outcomes_are_classified_for_pacing() {
    let now = Timestamp::from_millis(0);
    let answered = |status, field: Option<&str>| {
        let mut headers = HeaderMap::new();
        if let Some(field) = field {
            headers.insert("retry-after", field.parse().unwrap());
        }
        let exchange = Exchange {
            url: PageUrl::parse("http://a.test/", &CanonicalForm::default()).unwrap(),
            request_head: Vec::new(),
            status,
            headers,
            body: web::Body::default(),
            truncated: None,
            warnings: Vec::new(),
            address: None,
            protocol: Protocol::Http11,
            started: now,
            elapsed: ms(70),
        };
        PacedResponse::of(Ok(&exchange), now).kind
    };
    for status in [200, 204, 301, 304, 400, 403, 404, 501] {
        assert_eq!(answered(status, Some("9")), ResponseKind::Fine, "{status}");
    }
    for status in [408, 421, 425, 500, 502, 504, 520, 599] {
        let retry_after = Some(ms(9000));
        let expected = ResponseKind::Broken { retry_after };
        assert_eq!(answered(status, Some("9")), expected, "{status}");
    }
    for status in [429, 503] {
        assert_eq!(
            answered(status, None),
            ResponseKind::SlowDown { retry_after: None }
        );
        assert_eq!(
            answered(status, Some("9")),
            ResponseKind::SlowDown {
                retry_after: Some(ms(9000))
            }
        );
        assert_eq!(
            answered(status, Some("rubbish")),
            ResponseKind::SlowDown { retry_after: None }
        );
    }
    let failed = |kind| PacedResponse::of(Err(kind), now);
    assert_eq!(failed(FailureKind::Timeout), FAILED);
    assert_eq!(failed(FailureKind::Unaskable), fine(0));
}

/// A server that answered 502 to everything for a minute was asked on at full pace, and 51 of 60
/// pages were given up. A site with some broken pages must not be slowed down either.
#[test]
fn a_host_rests_from_the_third_server_error_in_a_row() {
    let rules = rules(1000, 0.0);
    let broken = PacedResponse {
        elapsed: ms(10),
        kind: ResponseKind::Broken { retry_after: None },
    };
    let mut pace = HostPace::default();
    for wait in [1000, 1000, 2000, 4000, 8000] {
        let (next, rest) = pace.after(&broken, &rules, EVEN);
        assert_eq!(rest.wait, ms(wait), "{}", next.failures);
        pace = next;
    }
    let (well, rest) = pace.after(&fine(10), &rules, EVEN);
    assert_eq!((well.failures, rest.wait), (0, ms(1000)));
}

proptest! {
    #[test]
    fn no_response_shortens_the_delay_or_causes_an_endless_wait(
        delay in 0_u64..100_000,
        factor in any::<f64>(),
        elapsed in any::<u64>(),
        failures in any::<u32>(),
        chance in any::<f64>(),
        idle in any::<u64>(),
        crawl_delay in prop::option::of(any::<u64>()),
        asked in prop_oneof![
            Just(ResponseKind::Fine),
            Just(ResponseKind::Failed),
            Just(ResponseKind::Blocked),
            prop::option::of(any::<u64>()).prop_map(|wait| ResponseKind::SlowDown {
                retry_after: wait.map(ms),
            }),
            prop::option::of(any::<u64>()).prop_map(|wait| ResponseKind::Broken {
                retry_after: wait.map(ms),
            }),
        ],
    ) {
        let rules = rules(delay, factor);
        let pace = HostPace { failures, crawl_delay: crawl_delay.map(ms), retry_after: None };
        let response = PacedResponse { elapsed: ms(elapsed), kind: asked };
        let (_, Cooldown { wait, why }) = pace.after(&response, &rules, chance);
        prop_assert!(wait >= rules.delay);
        prop_assert!(wait <= rules.longest_wait());
        let (_, calm) = pace.after(&fine(elapsed), &rules, chance);
        prop_assert!(wait >= calm.wait, "a failure is never rewarded");
        let least = match asked {
            ResponseKind::SlowDown { retry_after } | ResponseKind::Broken { retry_after } => {
                retry_after.unwrap_or_default()
            }
            ResponseKind::Fine | ResponseKind::Failed | ResponseKind::Blocked => ms(0),
        };
        prop_assert!(wait >= least.min(rules.retry_after_cap), "chance only adds");
        let idle = pace.after_idling(ms(idle), &rules);
        prop_assert!(idle.failures <= failures);
        let (_, even) = pace.after(&response, &rules, 0.0);
        prop_assert!(wait >= even.wait && wait <= even.wait + even.wait / 4 + ms(1));
        if asked == ResponseKind::Fine {
            let usual = [WaitReason::Delay, WaitReason::Slowness, WaitReason::CrawlDelay];
            prop_assert!(usual.contains(&why));
        }
    }
}
