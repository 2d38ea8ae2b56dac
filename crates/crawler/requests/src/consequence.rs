//! The consequences of a failed request: whose fault it is, and what follows.
//!
//! | the failure | whose fault | the host | its page is tried | source |
//! |---|---|---|--:|---|
//! | 408, 421, 425 | the host's | rests | 3 times | RFC 9110 15.5.9, 15.5.20; RFC 8470 5.2 |
//! | 429, 503 | the host's | rests at once, `Retry-After` | 5 times | RFC 6585 4; RFC 9110 15.6.4 |
//! | 501, 505 | the page's | – | once | RFC 9110 15.6.2, 15.6.6 |
//! | 511 | the network's | rests | 3 times | RFC 6585 6 |
//! | other 5xx | the host's | rests | 3 times | RFC 9110 15.6: as 500 |
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
    /// The wait of the page before the second visit. It doubles.
    pub wait: Duration,
}

const SOON: Duration = Duration::from_secs(10);
const LATER: Duration = Duration::from_secs(30);

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

    /// Returns the consequences of a request without a response.
    #[must_use]
    pub const fn of_failure(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Disconnected
            | FailureKind::Connect
            | FailureKind::Tls
            | FailureKind::Timeout
            | FailureKind::TooSlow => Self::new(Blame::Host, Rest::AtOnce, 3, SOON),
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
            Blame::Host | Blame::Network if own.tries > 1 => {
                Self::new(own.blame, own.rest, 3, LATER)
            }
            _ => own,
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
            wait,
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
