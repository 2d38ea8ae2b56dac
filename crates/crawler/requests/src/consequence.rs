//! The consequences of a failed request: whose fault it is, and what follows.
//!
//! | the failure | whose fault | the host | its page is tried | source |
//! |---|---|---|--:|---|
//! | 408, 421, 425 | the host's | rests | 3 times | RFC 9110 15.5.9, 15.5.20; RFC 8470 5.2 |
//! | 429, 503 | the host's | rests at once, `Retry-After` | 5 times | RFC 6585 4; RFC 9110 15.6.4 |
//! | 501, 505 | the page's | – | once | RFC 9110 15.6.2, 15.6.6 |
//! | 511 | the network's | rests | 3 times | RFC 6585 6 |
//! | other 5xx | the host's | rests | 3 times | RFC 9110 15.6: as 500 |
//! | block page with another status | the host's | rests at once | 5 times | RFC 6585 4: as 429 |
//! | other statuses | the page's | – | once | RFC 9110 15.5 |
//! | reset, closed early | the host's | rests at once | 3 times | RFC 9112 9.3.1, 9.5 |
//! | not valid HTTP | the host's | rests at once | twice | RFC 9112 8; RFC 9113 8.1.1 |
//! | refused, silent, too slow | the host's | rests at once | 3 times | RFC 9110 15.6.5: as 504 |
//! | no address | the host's | rests at once | twice | RFC 1035 4.1.1: server failure |
//! | TLS fails | the host's | rests at once | 3 times; once at robots.txt | RFC 8446 6.2 |
//! | proxy fails | the network's | rests at once | 3 times | RFC 9110 15.6.3 |
//! | refused by us, too large | the page's | – | once | |
//! | our disk is full | ours | – | without end | |
//!
//! - **The connection's** is not in the table: the client repeats a request at once on
//!   a new connection if a reused one ended before a response (RFC 9112 9.3.1), answered 408 or
//!   421, or did not process it (REFUSED_STREAM, GOAWAY, HTTP_1_1_REQUIRED: RFC 9113 8.7, 6.8, 7).
//!   What still fails then is the host's fault.
//! - **The host's**, **the network's**: the host rests, for longer with each failure in a row
//!   (`pacing.rs`). The failure counts against the page only if the host is well
//!   otherwise: its response before was good. So a host that is down loses its turn, not its pages,
//!   and a page that always fails is given up.
//! - **The page's**: it is final, or counted.
//!
//! A connection that is reset, refused or closed early may be an accident of a busy server. If the
//! host is otherwise well, the page, or its robots.txt, is requested again as soon as the host has
//! rested; the waits after that are longer than after other failures. Otherwise one lost connection
//! of a quick crawl would decide when it ends.
//!
//! The pacer acts on [`Rest`], the crawl on the other consequences. Never ask about a status that
//! does not mean a failure.

use std::time::Duration;

use crate::failure_kind::FailureKind;

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The page's.
    Page,
    /// The host's: it is down, overloaded or out of reach.
    Host,
    /// The network's, between us and every host.
    Network,
    /// Ours.
    Us,
}

/// The rest of a host after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// None beyond the usual delay.
    Usual,
    /// The back-off, from the third failure in a row: pages may fail while their host is well.
    AfterSome,
    /// The back-off, at once: there was no response.
    AtOnce,
    /// The back-off, at once: the host asks for it, for all hosts that share its pace.
    SlowDown,
}

/// The consequences of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consequence {
    /// Whose fault it is.
    pub blame: Blame,
    /// The rest of the host.
    pub rest: Rest,
    /// Maximum number of visits to the page that count. 1: the failure is final.
    pub tries: u32,
    /// The wait of the page before the second visit while its host is well.
    first: Duration,
    /// The wait while the host is unwell. While it is well, this wait doubles with each visit.
    later: Duration,
}

/// The first back-off of a host by default: a shorter wait of its page would have no effect.
const AT_ONCE: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(10);
const LATER: Duration = Duration::from_secs(30);
/// The waits after a first wait of [`AT_ONCE`]. They make up for it: a host that is down gets as
/// much time to recover as with [`SOON`] and [`LATER`].
const SOON_AFTER: Duration = Duration::from_secs(15);
const LATER_AFTER: Duration = Duration::from_secs(40);

impl Consequence {
    /// Returns the consequences of a response with this status, which is neither a page nor a
    /// redirect.
    #[must_use]
    pub const fn of_status(status: u16) -> Self {
        match status {
            408 | 421 | 425 => Self::new(Blame::Host, Rest::AfterSome, 3, SOON),
            429 | 503 => Self::new(Blame::Host, Rest::SlowDown, 5, SOON),
            501 | 505 => Self::FINAL,
            511 => Self::new(Blame::Network, Rest::AfterSome, 3, SOON),
            500..=599 => Self::new(Blame::Host, Rest::AfterSome, 3, SOON),
            _ => Self::FINAL,
        }
    }

    /// Returns the consequences of a block page or challenge in place of a page.
    #[must_use]
    pub const fn of_block() -> Self {
        Self::of_status(429)
    }

    /// Returns the consequences of a request without a response.
    #[must_use]
    pub const fn of_failure(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Disconnected | FailureKind::Connect => {
                Self::new(Blame::Host, Rest::AtOnce, 3, SOON_AFTER).at_once_first()
            }
            FailureKind::Tls | FailureKind::Timeout | FailureKind::TooSlow => {
                Self::new(Blame::Host, Rest::AtOnce, 3, SOON)
            }
            FailureKind::Protocol => Self::new(Blame::Host, Rest::AtOnce, 2, SOON),
            FailureKind::Dns => Self::new(Blame::Host, Rest::AtOnce, 2, LATER),
            FailureKind::Proxy => Self::new(Blame::Network, Rest::AtOnce, 3, SOON),
            // The host was not asked, or it answered in a way that we reject.
            FailureKind::PrivateAddress | FailureKind::Unaskable | FailureKind::HeadersTooLarge => {
                Self::FINAL
            }
            // The page waits with everything else for the disk, or for a file.
            FailureKind::Spool | FailureKind::OpenFiles => {
                Self::new(Blame::Us, Rest::Usual, u32::MAX, LATER)
            }
        }
    }

    /// Returns the consequences for a page of a robots.txt that is unavailable (RFC 9309 section
    /// 2.3.1.4), because of this failure if there was no response. The page was not requested.
    #[must_use]
    pub const fn of_robots(failure: Option<FailureKind>) -> Self {
        let own = match failure {
            // No page of this host was ever asked for over such a connection.
            Some(FailureKind::Tls) => Self::new(Blame::Host, Rest::AtOnce, 1, SOON),
            Some(kind) => Self::of_failure(kind),
            None => Self::new(Blame::Host, Rest::Usual, 3, LATER),
        };
        match own.blame {
            Blame::Host | Blame::Network if own.tries > 1 => match failure {
                Some(FailureKind::Disconnected | FailureKind::Connect) => {
                    Self::new(own.blame, own.rest, 3, LATER_AFTER).at_once_first()
                }
                _ => Self::new(own.blame, own.rest, 3, LATER),
            },
            _ => own,
        }
    }

    /// Returns the wait of a page before its next visit. `attempts` counts the visits before this
    /// one that count; `host_is_well` is true if the host's response before this failure was good.
    #[must_use]
    pub fn wait(self, attempts: u32, host_is_well: bool) -> Duration {
        match attempts {
            _ if !host_is_well => self.later,
            0 => self.first,
            _ => self.later * 2_u32.saturating_pow(attempts),
        }
    }

    /// Returns true if another visit may bring the page.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        self.tries > 1
    }

    const FINAL: Self = Self::new(Blame::Page, Rest::Usual, 1, SOON);

    const fn new(blame: Blame, rest: Rest, tries: u32, wait: Duration) -> Self {
        Self {
            blame,
            rest,
            tries,
            first: wait,
            later: wait,
        }
    }

    const fn at_once_first(self) -> Self {
        Self {
            first: AT_ONCE,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_blamed_on_the_page_the_host_or_the_network() {
        for (statuses, blame, rest, tries) in [
            (&[429, 503][..], Blame::Host, Rest::SlowDown, 5),
            (
                &[
                    408, 421, 425, 500, 502, 504, 507, 509, 520, 521, 522, 523, 524, 525, 526, 530,
                    599,
                ],
                Blame::Host,
                Rest::AfterSome,
                3,
            ),
            (&[511], Blame::Network, Rest::AfterSome, 3),
            (
                &[300, 400, 401, 403, 404, 410, 418, 451, 501, 505, 600, 999],
                Blame::Page,
                Rest::Usual,
                1,
            ),
        ] {
            for status in statuses {
                let found = Consequence::of_status(*status);
                let expected = (blame, rest, tries);
                assert_eq!((found.blame, found.rest, found.tries), expected, "{status}");
            }
        }
    }

    #[test]
    fn a_missing_response_is_the_hosts_fault_unless_it_was_not_asked() {
        for (kind, blame, rest, tries) in [
            (FailureKind::Dns, Blame::Host, Rest::AtOnce, 2),
            (FailureKind::Connect, Blame::Host, Rest::AtOnce, 3),
            (FailureKind::Timeout, Blame::Host, Rest::AtOnce, 3),
            (FailureKind::TooSlow, Blame::Host, Rest::AtOnce, 3),
            (FailureKind::Disconnected, Blame::Host, Rest::AtOnce, 3),
            (FailureKind::Protocol, Blame::Host, Rest::AtOnce, 2),
            (FailureKind::Tls, Blame::Host, Rest::AtOnce, 3),
            (FailureKind::Proxy, Blame::Network, Rest::AtOnce, 3),
            (FailureKind::PrivateAddress, Blame::Page, Rest::Usual, 1),
            (FailureKind::Unaskable, Blame::Page, Rest::Usual, 1),
            (FailureKind::HeadersTooLarge, Blame::Page, Rest::Usual, 1),
            (FailureKind::Spool, Blame::Us, Rest::Usual, u32::MAX),
            (FailureKind::OpenFiles, Blame::Us, Rest::Usual, u32::MAX),
        ] {
            let found = Consequence::of_failure(kind);
            let expected = (blame, rest, tries);
            assert_eq!((found.blame, found.rest, found.tries), expected, "{kind}");
        }
    }

    /// A host that is down is asked at the end of its back-off and of the wait of its only page.
    /// After six failures in a row, 63 s of back-off, a host without pages had its last chance.
    #[test]
    fn a_lost_connection_is_repeated_soon_and_a_host_that_is_down_gets_no_less_time() {
        let time_of_six = |consequence: Consequence| {
            let mut time = Duration::ZERO;
            for failures in 0..5 {
                let back_off = Duration::from_secs(1 << failures);
                let wait = consequence.wait(failures.min(1), failures == 0);
                time += wait.max(back_off);
            }
            time.as_secs()
        };
        for lost in [FailureKind::Disconnected, FailureKind::Connect] {
            for (of_lost, of_other) in [
                (
                    Consequence::of_failure(lost),
                    Consequence::of_failure(FailureKind::Timeout),
                ),
                (
                    Consequence::of_robots(Some(lost)),
                    Consequence::of_robots(Some(FailureKind::Timeout)),
                ),
            ] {
                assert_eq!(of_lost.wait(0, true), Duration::from_secs(1));
                assert!(time_of_six(of_lost) >= time_of_six(of_other));
            }
        }
    }

    #[test]
    fn a_page_behind_an_unavailable_robots_txt_waits_unless_the_failure_is_final() {
        for (failure, tries) in [
            (None, 3),
            (Some(FailureKind::Dns), 3),
            (Some(FailureKind::Connect), 3),
            (Some(FailureKind::Proxy), 3),
            (Some(FailureKind::Tls), 1),
            (Some(FailureKind::PrivateAddress), 1),
        ] {
            let found = Consequence::of_robots(failure);
            assert_eq!(
                (found.tries, found.may_pass()),
                (tries, tries > 1),
                "{failure:?}"
            );
        }
    }
}
