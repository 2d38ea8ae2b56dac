//! How a host wants to be asked: what must outlast the process, so that a restart is as polite as before it.
//!
//! Invariant: the order of the fields and of the reasons is on disk for ever (the journal codes them by position).

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

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
    /// How long it is left alone from the end of its last answer on: the longest of all the reasons.
    pub wait: Duration,
    /// The reason that was the longest.
    pub why: Why,
    /// When its last answer ended; 1970 where none is known of.
    pub answered: Timestamp,
    /// Where it was asked, where that is known beforehand: who shares the address may share the pace.
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
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Pace {
    /// What is remembered when `newer` is told: the latest word counts, but what the host was promised stays.
    #[must_use]
    pub fn then(self, newer: Pace) -> Pace {
        Pace {
            ready: self.ready.max(newer.ready),
            ..newer
        }
    }

    /// What is to be remembered when the host may have been asked at `at`, by a session that did not live to tell: it is
    /// left alone for `least_wait` from then on, or longer if its robots.txt asks for it. How much of that is obeyed, the wait in use
    /// tells, which is never shorter.
    #[must_use]
    pub fn after_death(self, at: Timestamp, least_wait: Duration) -> Pace {
        let obeyed = self.crawl_delay.unwrap_or_default().min(self.wait);
        let wait = obeyed.max(least_wait);
        Pace {
            ready: self.ready.max(at + wait),
            ..self
        }
    }

    /// Until when those that share their pace with this host are to leave it alone, and it them, for what it last answered. That it did
    /// not answer is its own affair, and counts like any other request: with the delay of the settings, `least`.
    #[must_use]
    pub fn shared_rest(&self, least: Duration) -> Timestamp {
        let wait = match self.why {
            Why::Failures => least,
            Why::Delay | Why::Slowness | Why::CrawlDelay | Why::SlowDown | Why::RetryAfter => self.wait,
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
        // Crawl-delay, wait in use → when it may be asked, after a death at 5 s with a least wait of 1 s
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
        ];
        for (number, why) in reasons.into_iter().enumerate() {
            assert_eq!(why as usize, number);
        }
    }
}
