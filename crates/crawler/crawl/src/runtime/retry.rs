//! The retry policy for failed visits: pure, by the table of [`Consequence`].
//!
//! The wait of the *host* belongs to the pacer (Retry-After, doubling back-off); this module is
//! about the page.

use std::time::Duration;

use fetch::RobotsError;
use requests::{Blame, Consequence, FailureKind};

use crate::runtime::telemetry::Counts;

/// The failure of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitFailure {
    /// There was no response.
    Fetch(FailureKind),
    /// The response has this status, which does not belong to a page.
    Status(u16),
    /// robots.txt is unavailable, because of this failure if there was no response, so the page may
    /// not be requested.
    Robots(Option<FailureKind>),
    /// The response is a block page or challenge, with the status of a page.
    Blocked,
}

impl VisitFailure {
    /// Returns the failure of a page whose robots.txt is unavailable.
    pub(crate) fn of_robots(error: &RobotsError) -> Self {
        Self::Robots(error.kind())
    }

    /// Returns what follows.
    #[must_use]
    pub const fn consequence(self) -> Consequence {
        match self {
            Self::Fetch(kind) => Consequence::of_failure(kind),
            Self::Status(status) => Consequence::of_status(status),
            Self::Robots(failure) => Consequence::of_robots(failure),
            Self::Blocked => Consequence::of_block(),
        }
    }
}

/// The reaction to a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Try again.
    Again {
        /// The wait before the next visit.
        wait: Duration,
        /// True if this visit counts as one of the page's tries.
        counts: bool,
    },
    /// No retry: the failure is permanent.
    GiveUp,
}

/// Decides about a failed visit. `attempts` counts the visits before this one that count, `tries`
/// is the user's limit. `host_is_well` is true if the host's response before this failure was good.
///
/// The first failure of a page always counts, since from then on the page is requested only while
/// its host is well (`runtime/politeness.rs`). A later failure of the host or the network does not
/// count while the host is unwell.
#[must_use]
pub fn decide(failure: VisitFailure, attempts: u32, tries: u32, host_is_well: bool) -> Decision {
    let consequence = failure.consequence();
    let is_elsewhere = match consequence.blame {
        Blame::Page => false,
        Blame::Host | Blame::Network => !host_is_well,
        Blame::Us => true,
    };
    let is_ours = consequence.blame == Blame::Us;
    // A user who allows one visit means one, even to a host that is down.
    if !consequence.may_pass() || tries == 1 && !is_ours {
        return Decision::GiveUp;
    }
    let wait = consequence.wait(attempts, !is_elsewhere);
    if is_elsewhere {
        let counts = attempts == 0 && !is_ours;
        return Decision::Again { wait, counts };
    }
    if attempts + 1 >= consequence.tries.min(tries) {
        return Decision::GiveUp;
    }
    Decision::Again { wait, counts: true }
}

/// Returns the counts of this failure.
pub(crate) fn counts(failure: VisitFailure, decision: Decision) -> Counts {
    use FailureKind::PrivateAddress;
    let again = decision != Decision::GiveUp;
    let is_private = matches!(
        failure,
        VisitFailure::Fetch(PrivateAddress) | VisitFailure::Robots(Some(PrivateAddress))
    );
    Counts {
        retries: u64::from(again),
        private_addresses: u64::from(is_private && !again),
        ..Counts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn again(seconds: u64) -> Decision {
        Decision::Again {
            wait: Duration::from_secs(seconds),
            counts: true,
        }
    }

    const fn uncounted(seconds: u64) -> Decision {
        Decision::Again {
            wait: Duration::from_secs(seconds),
            counts: false,
        }
    }

    #[test]
    fn while_the_host_is_well_transient_failures_are_retried_with_doubling_waits() {
        let cases = [
            (VisitFailure::Fetch(FailureKind::Dns), vec![again(30)]),
            (VisitFailure::Robots(None), vec![again(30), again(60)]),
            (
                VisitFailure::Robots(Some(FailureKind::Connect)),
                vec![again(1), again(80)],
            ),
            (
                VisitFailure::Robots(Some(FailureKind::Timeout)),
                vec![again(30), again(60)],
            ),
            (
                VisitFailure::Robots(Some(FailureKind::PrivateAddress)),
                vec![],
            ),
            (VisitFailure::Robots(Some(FailureKind::Tls)), vec![]),
            (
                VisitFailure::Fetch(FailureKind::Disconnected),
                vec![again(1), again(30)],
            ),
            (
                VisitFailure::Fetch(FailureKind::Connect),
                vec![again(1), again(30)],
            ),
            (
                VisitFailure::Fetch(FailureKind::Timeout),
                vec![again(10), again(20)],
            ),
            (
                VisitFailure::Fetch(FailureKind::Tls),
                vec![again(10), again(20)],
            ),
            (VisitFailure::Fetch(FailureKind::PrivateAddress), vec![]),
            (
                VisitFailure::Status(503),
                vec![again(10), again(20), again(40), again(80)],
            ),
            (VisitFailure::Status(500), vec![again(10), again(20)]),
            (VisitFailure::Status(520), vec![again(10), again(20)]),
            (VisitFailure::Status(408), vec![again(10), again(20)]),
            (VisitFailure::Status(404), vec![]),
            (VisitFailure::Status(410), vec![]),
            (VisitFailure::Status(999), vec![]),
        ];
        for (failure, mut expected) in cases {
            expected.push(Decision::GiveUp);
            for (attempts, decision) in (0..).zip(expected) {
                assert_eq!(
                    decide(failure, attempts, 99, true),
                    decision,
                    "{failure:?} after {attempts}"
                );
            }
        }
    }

    /// 51 of 60 pages of a server that answered 502 for a minute were given up.
    #[test]
    fn while_the_host_is_down_no_page_is_given_up() {
        for (failure, wait) in [
            (VisitFailure::Status(408), 10),
            (VisitFailure::Status(502), 10),
            (VisitFailure::Status(429), 10),
            (VisitFailure::Status(511), 10),
            (VisitFailure::Fetch(FailureKind::Timeout), 10),
            (VisitFailure::Fetch(FailureKind::Tls), 10),
            (VisitFailure::Fetch(FailureKind::Proxy), 10),
            (VisitFailure::Fetch(FailureKind::Disconnected), 15),
            (VisitFailure::Fetch(FailureKind::Connect), 15),
            (VisitFailure::Robots(Some(FailureKind::Connect)), 40),
            (VisitFailure::Fetch(FailureKind::Dns), 30),
            (VisitFailure::Robots(None), 30),
        ] {
            assert_eq!(decide(failure, 0, 3, false), again(wait), "{failure:?}");
            assert_eq!(
                decide(failure, 0, 1, false),
                Decision::GiveUp,
                "{failure:?}"
            );
            assert_eq!(decide(failure, 2, 3, false), uncounted(wait), "{failure:?}");
        }
        for failure in [
            VisitFailure::Status(404),
            VisitFailure::Robots(Some(FailureKind::Tls)),
            VisitFailure::Fetch(FailureKind::HeadersTooLarge),
        ] {
            assert_eq!(decide(failure, 0, 3, false), Decision::GiveUp);
        }
    }

    #[test]
    fn a_page_that_finds_the_disk_full_or_files_short_is_never_given_up() {
        for failure in [
            VisitFailure::Fetch(FailureKind::Spool),
            VisitFailure::Robots(Some(FailureKind::Spool)),
            VisitFailure::Fetch(FailureKind::OpenFiles),
            VisitFailure::Robots(Some(FailureKind::OpenFiles)),
        ] {
            assert_eq!(decide(failure, 1_000, 1, true), uncounted(30));
        }
    }

    #[test]
    fn the_user_may_allow_fewer_tries() {
        let failure = VisitFailure::Status(503);
        assert_eq!(decide(failure, 0, 1, true), Decision::GiveUp);
        assert_eq!(decide(failure, 0, 2, true), again(10));
        assert_eq!(decide(failure, 1, 2, true), Decision::GiveUp);
    }
}
