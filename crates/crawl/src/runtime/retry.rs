//! The retry policy for failed visits: a pure table.
//!
//! The wait of the *host* is the pacer's (Retry-After, doubling back-off); this table is about the
//! page.

use std::time::Duration;

use fetch::{FailureKind, RobotsError};

use crate::runtime::telemetry::Counts;

/// The failure of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitFailure {
    /// There was no answer.
    Fetch(FailureKind),
    /// There was an answer with this status, which is no page.
    Status(u16),
    /// robots.txt is unavailable, because of this failure if there was no answer, so the page may
    /// not be requested.
    Robots(Option<FailureKind>),
}

impl VisitFailure {
    /// Returns the failure that an unavailable robots.txt is for a page.
    pub(crate) fn of_robots(error: &RobotsError) -> Self {
        Self::Robots(match error {
            RobotsError::Lost(failure) => Some(failure.kind()),
            RobotsError::Status(_) => None,
        })
    }
}

/// The reaction to a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Try again after that long.
    Again(Duration),
    /// No retry: the failure is permanent.
    GiveUp,
}

const SOON: Duration = Duration::from_secs(10);
const LATER: Duration = Duration::from_secs(30);
const NOT_AGAIN: (Duration, u32) = (Duration::ZERO, 1);

/// Decides about a failed visit. `attempts` counts the visits before this one, `tries` is the
/// user's limit. The wait doubles with each attempt.
#[must_use]
pub fn decide(failure: VisitFailure, attempts: u32, tries: u32) -> Decision {
    use FailureKind as Kind;
    let (wait, worth) = match failure {
        VisitFailure::Fetch(
            Kind::Tls | Kind::PrivateAddress | Kind::HeadersTooLarge | Kind::Unaskable,
        )
        | VisitFailure::Robots(Some(Kind::Tls | Kind::PrivateAddress | Kind::Unaskable)) => {
            NOT_AGAIN
        }
        // The disk is full, or files are short, and the page is not to blame: it waits with
        // everything else.
        VisitFailure::Fetch(Kind::Spool | Kind::OpenFiles)
        | VisitFailure::Robots(Some(Kind::Spool | Kind::OpenFiles)) => {
            return Decision::Again(LATER);
        }
        VisitFailure::Fetch(Kind::Dns) => (LATER, 2),
        // The host is down, or its name service: a dead seed costs a minute and a half.
        VisitFailure::Robots(_) => (LATER, 3),
        VisitFailure::Fetch(
            Kind::Connect | Kind::Proxy | Kind::Timeout | Kind::TooSlow | Kind::Disconnected,
        ) => (SOON, 3),
        VisitFailure::Fetch(Kind::Protocol) => (SOON, 2),
        VisitFailure::Status(429 | 503) => (SOON, 5),
        VisitFailure::Status(408 | 500 | 502 | 504) => (SOON, 3),
        VisitFailure::Status(_) => NOT_AGAIN,
    };
    if attempts + 1 < worth.min(tries) {
        Decision::Again(wait * 2_u32.pow(attempts))
    } else {
        Decision::GiveUp
    }
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

    #[test]
    fn transient_failures_are_retried_with_doubling_waits_and_permanent_ones_are_given_up() {
        let again = |seconds| Decision::Again(Duration::from_secs(seconds));
        let cases = [
            (
                VisitFailure::Fetch(FailureKind::Dns),
                vec![again(30), Decision::GiveUp],
            ),
            (
                VisitFailure::Robots(None),
                vec![again(30), again(60), Decision::GiveUp],
            ),
            (
                VisitFailure::Robots(Some(FailureKind::Connect)),
                vec![again(30), again(60), Decision::GiveUp],
            ),
            (
                VisitFailure::Robots(Some(FailureKind::PrivateAddress)),
                vec![Decision::GiveUp],
            ),
            (
                VisitFailure::Robots(Some(FailureKind::Tls)),
                vec![Decision::GiveUp],
            ),
            (
                VisitFailure::Fetch(FailureKind::Timeout),
                vec![again(10), again(20), Decision::GiveUp],
            ),
            (
                VisitFailure::Fetch(FailureKind::Tls),
                vec![Decision::GiveUp],
            ),
            (
                VisitFailure::Fetch(FailureKind::PrivateAddress),
                vec![Decision::GiveUp],
            ),
            (
                VisitFailure::Status(503),
                vec![again(10), again(20), again(40), again(80), Decision::GiveUp],
            ),
            (
                VisitFailure::Status(500),
                vec![again(10), again(20), Decision::GiveUp],
            ),
            (VisitFailure::Status(404), vec![Decision::GiveUp]),
            (VisitFailure::Status(410), vec![Decision::GiveUp]),
            (VisitFailure::Status(999), vec![Decision::GiveUp]),
        ];
        for (failure, expected) in cases {
            for (attempts, decision) in (0..).zip(expected) {
                assert_eq!(
                    decide(failure, attempts, 99),
                    decision,
                    "{failure:?} after {attempts}"
                );
            }
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
            assert_eq!(decide(failure, 1_000, 1), Decision::Again(LATER));
        }
    }

    #[test]
    fn the_user_may_allow_fewer_tries() {
        assert_eq!(decide(VisitFailure::Status(503), 0, 1), Decision::GiveUp);
        assert_eq!(
            decide(VisitFailure::Status(503), 0, 2),
            Decision::Again(SOON)
        );
        assert_eq!(decide(VisitFailure::Status(503), 1, 2), Decision::GiveUp);
    }
}
