//! How a host wants to be asked: what must outlast the process, so that a restart is as polite as
//! before it.
//!
//! Invariant: the order of the fields and of the reasons is on disk for ever (the journal codes
//! them by position).

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What is remembered of a host between two requests, and between two sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// Not to be asked before then.
    pub ready: Timestamp,
    /// Failures and pleas to slow down, in a row.
    pub failures: u32,
    /// What its robots.txt asks for, as written up to [`MAX_CRAWL_DELAY`](crate::MAX_CRAWL_DELAY).
    pub crawl_delay: Option<Duration>,
    /// The `Retry-After` that came with its last answer, as written.
    pub retry_after: Option<Duration>,
    /// How long it is left alone from the end of its last answer on: the longest of all the
    /// reasons.
    pub wait: Duration,
    /// The reason that was the longest.
    pub why: Why,
    /// When its last answer ended; 1970 where none is known of.
    pub answered: Timestamp,
    /// Where it was asked, where that is known beforehand: who shares the address may share the
    /// pace.
    pub address: Option<IpAddr>,
}

/// Why a host is left alone as long as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The delay of the settings: nobody asked for more.
    #[default]
    Delay,
    /// It answered slowly: a multiple of its response time.
    Slowness,
    /// `Crawl-delay` in its robots.txt.
    CrawlDelay,
    /// It did not answer, perhaps several times in a row.
    Failures,
    /// It answered 429 or 503, perhaps several times in a row.
    SlowDown,
    /// `Retry-After`, which came with such an answer.
    RetryAfter,
    /// It was asked for the first time, and has not answered yet: how slow it is, nobody knows.
    Unanswered,
}

impl Why {
    /// The reason in a word.
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
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rule by which hosts are left alone after a session that died while any of them may have been
/// under way. See [`Pace::after_restart`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartRule {
    /// No host is asked sooner: the delay of the settings.
    pub least_wait: Duration,
    /// No host is left alone for longer for what it said before: the ceiling of delays.
    pub most_wait: Duration,
    /// Thousandths of a response time that a host is left alone for: a factor of 5 is 5000.
    pub factor: u32,
}

impl Pace {
    /// What is remembered when `newer` is told: the latest word counts, but what the host was
    /// promised stays.
    #[must_use]
    pub fn then(self, newer: Pace) -> Pace {
        Pace {
            ready: self.ready.max(newer.ready),
            ..newer
        }
    }

    /// What is to be remembered when the host may have been asked at `at`, by a session that did
    /// not live to tell: it is left alone for `least_wait` from then on, or longer if its
    /// robots.txt asks for it. How much of that is obeyed, the wait in use tells, which is never
    /// shorter.
    #[must_use]
    pub fn after_death(self, at: Timestamp, least_wait: Duration) -> Pace {
        let obeyed = self.crawl_delay.unwrap_or_default().min(self.wait);
        let wait = obeyed.max(least_wait);
        Pace {
            ready: self.ready.max(at + wait),
            ..self
        }
    }

    /// Returns what is to be remembered of a host when a session begins at `at`, and the one before
    /// died and may have asked the host last without living to tell:
    ///
    /// | the host | is left alone from `at` on for |
    /// |---|---|
    /// | answered before | the last wait that is known, whatever its reason, at most `most_wait` |
    /// | was asked, and never answered | factor × the time since then, at most `most_wait` |
    /// | was never asked | `least_wait` |
    ///
    /// and for `least_wait` in any case. What the page in flight would have asked for is not known;
    /// how slow the host was before is the best guess at it.
    #[must_use]
    pub fn after_restart(self, at: Timestamp, rule: RestartRule) -> Pace {
        let known = match self.why {
            Why::Unanswered => {
                let unanswered = at.since(self.ready.before(self.wait));
                unanswered.saturating_mul(rule.factor) / 1000
            }
            _ => self.wait,
        };
        let wait = known.min(rule.most_wait).max(rule.least_wait);
        Pace {
            ready: self.ready.max(at + wait),
            ..self
        }
    }

    /// The pace of a host that is asked for the first time at `at`: to be remembered until it
    /// answers.
    #[must_use]
    pub fn unanswered(at: Timestamp, least_wait: Duration) -> Pace {
        Pace {
            ready: at + least_wait,
            wait: least_wait,
            why: Why::Unanswered,
            ..Pace::default()
        }
    }

    /// Returns whether a clock that says `now` is behind the one by which this was written.
    #[must_use]
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.answered > now
    }

    /// Returns what is to be remembered when the clock was set back, and it is `now`: the host
    /// waits for no longer than it was to wait from its last answer on, as if that had ended now.
    /// The second value is by how much its times are earlier than they were: so are those of its
    /// pages.
    #[must_use]
    pub fn set_back(self, now: Timestamp, least_wait: Duration) -> (Pace, Duration) {
        let by = self.answered.since(now);
        if by.is_zero() {
            let longest = match self.answered == Timestamp::default() {
                true => now + self.wait.max(least_wait),
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

    /// Until when those that share their pace with this host are to leave it alone, and it them,
    /// for what it last answered. That it did not answer is its own affair, and counts like any
    /// other request: with the delay of the settings, `least`.
    #[must_use]
    pub fn shared_rest(&self, least: Duration) -> Timestamp {
        let wait = match self.why {
            Why::Failures => least,
            Why::Delay
            | Why::Slowness
            | Why::CrawlDelay
            | Why::SlowDown
            | Why::RetryAfter
            | Why::Unanswered => self.wait,
        };
        self.answered + wait
    }
}

impl From<Timestamp> for Pace {
    /// A host of which nothing is known but when it may be asked.
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
    fn the_latest_word_counts_but_no_wait_is_cut_short() {
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

    #[test]
    fn after_a_death_what_is_obeyed_of_a_crawl_delay_counts_from_then_on() {
        let second = Duration::from_secs(1);
        // Crawl-delay, wait in use → when it may be asked, after a death at 5 s with a least wait
        // of 1 s
        for (asked, wait, expected) in [
            (None, 0, 6_000),
            (None, 30, 6_000),
            (Some(10), 10, 15_000),
            (Some(300), 30, 35_000),
            (Some(10), 600, 15_000),
        ] {
            let pace = Pace {
                crawl_delay: asked.map(Duration::from_secs),
                wait: wait * second,
                ..at(100).into()
            };
            assert_eq!(
                pace.after_death(at(5_000), second).ready,
                at(expected),
                "{asked:?} {wait}"
            );
        }
        let promised = Pace::from(at(9_000)).after_death(at(5_000), second);
        assert_eq!(promised.ready, at(9_000));
    }

    /// A host that answers in 400 ms and is to be left alone for 2 s was asked 1 s after the
    /// restart that followed a kill, because only its Crawl-delay outlasted the process.
    #[test]
    fn after_a_death_a_host_waits_as_long_as_it_was_last_said_to() {
        let second = Duration::from_secs(1);
        let rule = RestartRule {
            least_wait: second,
            most_wait: 30 * second,
            factor: 5000,
        };
        // Why it waits, how long → when it may be asked, after a death at 9 s
        for (why, wait, expected) in [
            (Why::Delay, 1_000, 10_000),
            (Why::Slowness, 2_000, 11_000),
            (Why::CrawlDelay, 10_000, 19_000),
            (Why::Failures, 8_000, 17_000),
            // Of a plea, no more than the ceiling: it was kept before the host was asked again.
            (Why::RetryAfter, 600_000, 39_000),
            // Never less than the delay.
            (Why::Delay, 100, 10_000),
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
        // Nothing is known of it, and it was never asked.
        assert_eq!(
            Pace::default().after_restart(at(9_000), rule).ready,
            at(10_000)
        );
        let promised = Pace::from(at(50_000)).after_restart(at(9_000), rule);
        assert_eq!(promised.ready, at(50_000));
    }

    #[test]
    fn a_host_that_never_answered_counts_as_slow_as_it_has_been_silent() {
        let rule = RestartRule {
            least_wait: Duration::from_secs(1),
            most_wait: Duration::from_secs(30),
            factor: 5000,
        };
        // When it was asked → when it may be asked again, after a death at 20 s
        for (asked, expected) in [
            (20_000, 21_000),
            (19_900, 21_000),
            (19_600, 22_000),
            (17_000, 35_000),
            (1_000, 50_000),
        ] {
            let pace = Pace::unanswered(at(asked), rule.least_wait);
            assert_eq!(
                pace.after_restart(at(20_000), rule).ready,
                at(expected),
                "{asked}"
            );
        }
    }

    #[test]
    fn under_a_clock_that_was_set_back_no_wait_is_longer_than_it_was_and_none_is_cut_short() {
        const DAY: u64 = 24 * 3600 * 1000;
        let least = Duration::from_secs(1);
        // Answered, ready → ready, and by how much times are earlier; it is 5 s by the clock now
        for (answered, ready, expected, by) in [
            (DAY, DAY + 2_000, 7_000, DAY - 5_000),
            (DAY, DAY - 9_000, 0, DAY - 5_000),
            (5_001, 8_000, 7_999, 1),
            // Its answer is not in the future: it waits for what it was told to.
            (5_000, 8_000, 8_000, 0),
            (4_000, DAY, DAY, 0),
            // It never answered.
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
                "once"
            );
        }
    }

    #[test]
    fn what_others_share_of_a_rest_is_all_of_it_unless_the_host_did_not_answer() {
        let rest = |why| Pace {
            wait: Duration::from_secs(60),
            why,
            answered: at(1_000),
            ..Pace::default()
        };
        let least = Duration::from_secs(1);
        for why in [
            Why::Delay,
            Why::Slowness,
            Why::CrawlDelay,
            Why::SlowDown,
            Why::RetryAfter,
        ] {
            assert_eq!(rest(why).shared_rest(least), at(61_000), "{why}");
        }
        assert_eq!(rest(Why::Failures).shared_rest(least), at(2_000));
    }

    /// Bytes on disk are promises.
    #[test]
    fn the_order_of_the_reasons_is_on_disk_for_ever() {
        let reasons = [
            Why::Delay,
            Why::Slowness,
            Why::CrawlDelay,
            Why::Failures,
            Why::SlowDown,
            Why::RetryAfter,
            Why::Unanswered,
        ];
        for (number, why) in reasons.into_iter().enumerate() {
            assert_eq!(why as usize, number);
        }
    }
}
