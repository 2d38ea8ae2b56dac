//! The pacing state of a host. It survives a restart, so that the next run is as polite as the one
//! before.
//!
//! Invariant: the order of the fields and of the reasons is on disk and never changes (the journal
//! encodes them by position).

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// The pacing state of a host between two requests and between two sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// Earliest time of the next request.
    pub ready: Timestamp,
    /// Number of consecutive failures and requests to slow down.
    pub failures: u32,
    /// `Crawl-delay` of its robots.txt, up to [`MAX_CRAWL_DELAY`](crate::MAX_CRAWL_DELAY).
    pub crawl_delay: Option<Duration>,
    /// `Retry-After` of its last response, as written.
    pub retry_after: Option<Duration>,
    /// Wait after the end of its last response: the longest of all reasons.
    pub wait: Duration,
    /// Reason for that wait.
    pub why: WaitReason,
    /// End of its last response; 1970 if unknown.
    pub answered: Timestamp,
    /// Address, if known in advance: hosts with one address may share a pace.
    pub address: Option<IpAddr>,
}

/// Reason for a host's wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitReason {
    /// The configured delay; no reason requires more.
    #[default]
    Delay,
    /// A slow response: a multiple of its response time.
    Slowness,
    /// `Crawl-delay` in its robots.txt.
    CrawlDelay,
    /// No response, or another failure of the host, possibly several times in a row.
    Failures,
    /// A response of 429 or 503, possibly several times in a row.
    SlowDown,
    /// The `Retry-After` of such a response.
    RetryAfter,
    /// The first request, without a response so far: the response time is unknown.
    Unanswered,
    /// A block page or challenge in place of a page, possibly several times in a row.
    Blocked,
}

impl WaitReason {
    /// Returns the name of the reason.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Slowness => "slowness",
            Self::CrawlDelay => "crawl-delay",
            Self::Failures => "failures",
            Self::SlowDown => "slow-down",
            Self::RetryAfter => "retry-after",
            Self::Unanswered => "unanswered",
            Self::Blocked => "blocked",
        }
    }
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Pacing rule for hosts after a session that died, possibly with requests in flight. See
/// [`Pace::after_restart`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartRule {
    /// Minimum wait of any host: the configured delay.
    pub min_wait: Duration,
    /// Maximum wait that an earlier response causes: the configured ceiling of delays.
    pub max_wait: Duration,
    /// The delay factor in thousandths of a response time: a factor of 5 is 5000.
    pub factor: u32,
}

/// Minimum number of consecutive failures of a host past its last chance.
const LAST_CHANCE: u32 = 4;
/// Minimum wait of a host past its last chance. Waits double, so their sum is about the same.
const LAST_WAIT: Duration = Duration::from_secs(120);
/// The same for a host that has not returned any page yet: its name may be misspelt.
const LAST_WAIT_WITHOUT_PAGES: Duration = Duration::from_secs(30);

impl Pace {
    /// Returns true if the host has had its last chance: it failed at least four times in a row,
    /// and its wait is at least two minutes, or 30 seconds for a host without pages. The crawl no
    /// longer waits for it.
    #[must_use]
    pub fn is_past_last_chance(&self, has_pages: bool) -> bool {
        let longest = match has_pages {
            true => LAST_WAIT,
            false => LAST_WAIT_WITHOUT_PAGES,
        };
        self.failures >= LAST_CHANCE && self.wait >= longest
    }

    /// Returns the state, in a new session, of a host that has had its last chance. Its failures
    /// and the wait after them are forgotten, except for `min_wait`. A wait that the host itself
    /// requested remains.
    #[must_use]
    pub fn with_new_chance(self, now: Timestamp, min_wait: Duration) -> Pace {
        let ready = match self.why {
            WaitReason::Failures => self.ready.min(now + min_wait),
            _ => self.ready,
        };
        Pace {
            ready,
            failures: 0,
            wait: self.wait.min(min_wait),
            ..self
        }
    }

    /// Returns the state after an update: `newer` replaces this one, but never shortens a promised
    /// wait.
    #[must_use]
    pub fn then(self, newer: Pace) -> Pace {
        Pace {
            ready: self.ready.max(newer.ready),
            ..newer
        }
    }

    /// Returns the state of a host at `at`, the start of a session after one that died. The dead
    /// session may have contacted the host without recording it:
    ///
    /// | the host | waits from `at` for |
    /// |---|---|
    /// | has responded before | the last known wait for any reason, at most `max_wait` |
    /// | got a request, and never responded | factor × the time since then, at most `max_wait` |
    /// | never got a request | `min_wait` |
    ///
    /// The wait is at least `min_wait`. The wait that the page in flight would have caused is
    /// unknown; the host's earlier response time is the best estimate.
    #[must_use]
    pub fn after_restart(self, at: Timestamp, rule: RestartRule) -> Pace {
        let known = match self.why {
            WaitReason::Unanswered => {
                let unanswered = at.since(self.ready.before(self.wait));
                unanswered.saturating_mul(rule.factor) / 1000
            }
            _ => self.wait,
        };
        let wait = known.min(rule.max_wait).max(rule.min_wait);
        Pace {
            ready: self.ready.max(at + wait),
            ..self
        }
    }

    /// Returns the state of a host from its first request at `at` until it responds.
    #[must_use]
    pub fn unanswered(at: Timestamp, min_wait: Duration) -> Pace {
        Pace {
            ready: at + min_wait,
            wait: min_wait,
            why: WaitReason::Unanswered,
            ..Pace::default()
        }
    }

    /// Returns true if a clock that reads `now` is behind the clock of this state.
    #[must_use]
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.answered > now
    }

    /// Returns the state after the clock was set back to `now`: the host waits at most as long as
    /// after its last response, as if that had ended now. The second value is the shift of its
    /// times into the past, which also applies to the times of its pages.
    #[must_use]
    pub fn set_back(self, now: Timestamp, min_wait: Duration) -> (Pace, Duration) {
        let by = self.answered.since(now);
        if by.is_zero() {
            let longest = match self.answered == Timestamp::default() {
                true => now + self.wait.max(min_wait),
                false => self.ready,
            };
            let ready = self.ready.min(longest);
            return (Pace { ready, ..self }, by);
        }
        let pace = Pace {
            ready: self.ready.before(by),
            answered: now,
            ..self
        };
        (pace, by)
    }

    /// Returns the end of the wait that the last response of this host imposes on hosts with the
    /// same pace. A failure concerns this host only and counts like any other request, with the
    /// configured delay `least`.
    #[must_use]
    pub fn shared_rest(&self, least: Duration) -> Timestamp {
        let wait = match self.why {
            WaitReason::Failures | WaitReason::Blocked => least,
            WaitReason::Delay
            | WaitReason::Slowness
            | WaitReason::CrawlDelay
            | WaitReason::SlowDown
            | WaitReason::RetryAfter
            | WaitReason::Unanswered => self.wait,
        };
        self.answered + wait
    }
}

impl From<Timestamp> for Pace {
    /// Creates the state of a host, given only the earliest time of the next request.
    fn from(ready: Timestamp) -> Self {
        Self {
            ready,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn the_newest_pace_counts_but_no_wait_is_shortened() {
        let promised = Pace {
            failures: 3,
            ..at(900).into()
        };
        let newer = Pace {
            wait: Duration::from_secs(1),
            ..at(500).into()
        };
        let both = Pace {
            ready: at(900),
            ..newer
        };
        assert_eq!(promised.then(newer), both);
        assert_eq!(newer.then(at(901).into()), at(901).into());
    }

    /// A host that answers in 400 ms and is to be left alone for 2 s was asked 1 s after the
    /// restart that followed a kill, because only its Crawl-delay outlasted the process.
    #[test]
    fn after_a_death_a_host_waits_for_its_last_known_wait() {
        let second = Duration::from_secs(1);
        let rule = RestartRule {
            min_wait: second,
            max_wait: 30 * second,
            factor: 5000,
        };
        // Reason, length of the wait → time of the next request, after a death at 9 s
        for (why, wait, expected) in [
            (WaitReason::Delay, 1_000, 10_000),
            (WaitReason::Slowness, 2_000, 11_000),
            (WaitReason::CrawlDelay, 10_000, 19_000),
            (WaitReason::Failures, 8_000, 17_000),
            // A Retry-After counts up to the ceiling: its wait was over before the next request.
            (WaitReason::RetryAfter, 600_000, 39_000),
            // Never less than the delay.
            (WaitReason::Delay, 100, 10_000),
        ] {
            let pace = Pace {
                wait: Duration::from_millis(wait),
                why,
                answered: at(100),
                ..at(500).into()
            };
            assert_eq!(
                pace.after_restart(at(9_000), rule).ready,
                at(expected),
                "{why} {wait}"
            );
        }
        // A host without any state was never asked.
        assert_eq!(
            Pace::default().after_restart(at(9_000), rule).ready,
            at(10_000)
        );
        let promised = Pace::from(at(50_000)).after_restart(at(9_000), rule);
        assert_eq!(promised.ready, at(50_000));
    }

    #[test]
    fn a_host_that_never_answered_counts_as_slow_as_its_silence_is_long() {
        let rule = RestartRule {
            min_wait: Duration::from_secs(1),
            max_wait: Duration::from_secs(30),
            factor: 5000,
        };
        // Time of the request → time of the next one, after a death at 20 s
        for (asked, expected) in [
            (20_000, 21_000),
            (19_900, 21_000),
            (19_600, 22_000),
            (17_000, 35_000),
            (1_000, 50_000),
        ] {
            let pace = Pace::unanswered(at(asked), rule.min_wait);
            assert_eq!(
                pace.after_restart(at(20_000), rule).ready,
                at(expected),
                "{asked}"
            );
        }
    }

    #[test]
    fn after_the_clock_is_set_back_waits_keep_their_length() {
        const DAY: u64 = 24 * 3600 * 1000;
        let least = Duration::from_secs(1);
        // Answered, ready → ready, shift of the times; the clock reads 5 s now
        for (answered, ready, expected, by) in [
            (DAY, DAY + 2_000, 7_000, DAY - 5_000),
            (DAY, DAY - 9_000, 0, DAY - 5_000),
            (5_001, 8_000, 7_999, 1),
            // The response is not in the future: the wait stays.
            (5_000, 8_000, 8_000, 0),
            (4_000, DAY, DAY, 0),
            // The host never answered.
            (0, DAY, 6_000, 0),
            (0, 5_500, 5_500, 0),
        ] {
            let pace = Pace {
                answered: at(answered),
                ..at(ready).into()
            };
            let (back, earlier) = pace.set_back(at(5_000), least);
            assert_eq!(
                (back.ready, earlier),
                (at(expected), Duration::from_millis(by)),
                "{answered} {ready}"
            );
            assert!(!back.is_ahead_of(at(5_000)));
            assert_eq!(
                back.set_back(at(5_000), least),
                (back, Duration::ZERO),
                "the second call changes nothing"
            );
        }
    }

    #[test]
    fn other_hosts_share_a_whole_wait_unless_the_host_did_not_answer() {
        let rest = |why| Pace {
            wait: Duration::from_secs(60),
            why,
            answered: at(1_000),
            ..Pace::default()
        };
        let least = Duration::from_secs(1);
        for why in [
            WaitReason::Delay,
            WaitReason::Slowness,
            WaitReason::CrawlDelay,
            WaitReason::SlowDown,
            WaitReason::RetryAfter,
        ] {
            assert_eq!(rest(why).shared_rest(least), at(61_000), "{why}");
        }
        assert_eq!(rest(WaitReason::Failures).shared_rest(least), at(2_000));
    }

    #[test]
    fn a_host_is_past_its_last_chance_after_two_minutes_of_failures() {
        for (failures, seconds, has_pages, expected) in [
            (3, 600, true, false),
            (4, 119, true, false),
            (4, 120, true, true),
            (9, 600, true, true),
            (3, 120, false, false),
            (4, 29, false, false),
            (4, 30, false, true),
            (0, 600, false, false),
        ] {
            let pace = Pace {
                failures,
                wait: Duration::from_secs(seconds),
                ..Pace::default()
            };
            let found = pace.is_past_last_chance(has_pages);
            assert_eq!(found, expected, "{failures} {seconds} {has_pages}");
        }
    }

    #[test]
    fn a_new_session_gives_a_host_another_chance_and_keeps_what_the_host_asked_for() {
        let second = Duration::from_secs(1);
        for (why, ready) in [
            (WaitReason::Failures, 6_000),
            (WaitReason::SlowDown, 90_000),
            (WaitReason::RetryAfter, 90_000),
        ] {
            let failed = Pace {
                failures: 9,
                wait: 120 * second,
                why,
                ..at(90_000).into()
            };
            let again = failed.with_new_chance(at(5_000), second);
            assert_eq!((again.ready, again.failures), (at(ready), 0), "{why}");
            assert!(!again.is_past_last_chance(false));
        }
    }

    /// Bytes on disk are promises.
    #[test]
    fn the_order_of_the_reasons_on_disk_never_changes() {
        let reasons = [
            WaitReason::Delay,
            WaitReason::Slowness,
            WaitReason::CrawlDelay,
            WaitReason::Failures,
            WaitReason::SlowDown,
            WaitReason::RetryAfter,
            WaitReason::Unanswered,
        ];
        for (number, why) in reasons.into_iter().enumerate() {
            assert_eq!(why as usize, number);
        }
    }
}
