//! The wait of a host after a response: a table and a formula, nothing that waits.
//!
//! | the response | how long until the host may be asked again |
//! |---|---|
//! | fine | max(delay, factor × response time, Crawl-delay), at most `max_delay` |
//! | 429, 503 or none | the same, and at least the back-off |
//! | another fault of the server | the same; after two in a row at least the back-off |
//! | a block page | the same, and at least the back-off; an hour after three in a row |
//! | a fault with `Retry-After` | the same, and at least that long, at most `retry_after_cap` |
//!
//! Which failures these are is in the table of [`Consequence`]. The back-off is max(2 × delay,
//! `back_off`), doubled with every further failure in a row, at most `max_back_off`; all that is
//! longer by chance, by up to `jitter`.
//!
//! The wait is counted from the end of a response, so the pause that a server sees is never shorter
//! than the delay. The longest of the reasons counts, and is part of the result ([`WaitReason`]; of
//! equals the first in the table). `max_delay` bounds the effect of servers in the first row; a
//! longer `delay` of the user still holds.
//!
//! A success forgives all failures before it. So does time: for each `max_back_off` that a host
//! could have been asked and was not, its failures in a row count half. Chance is an argument; it
//! only adds, so no server waits less than it asked for.

use std::num::NonZeroU32;
use std::time::Duration;

use web::{Exchange, GroupBy, Host, HostTable, Timestamp, WaitReason};

use crate::consequence::{Consequence, Rest};
use crate::failure_kind::FailureKind;
use crate::retry_after::retry_after;

/// The pacing rules of a crawl.
#[derive(Clone, Debug, PartialEq)]
pub struct PacingRules {
    /// The time between the end of a response and the next request to the same host.
    pub delay: Duration,
    /// The multiple of the last response time: a slow host is asked slowly.
    pub factor: f64,
    /// The longest wait after a good response.
    pub max_delay: Duration,
    /// Connections to one host at a time; at least one.
    pub connections_per_host: usize,
    /// The rules of single hosts, in place of `delay` and `connections_per_host`.
    pub of_hosts: HostTable<HostPacing>,
    /// The hosts that share their pace, and the connections of one host.
    pub group_by: GroupBy,
    /// The bound of one address over all its hosts.
    pub address: AddressBound,
    /// Requests per second to all hosts together.
    pub rate: Option<NonZeroU32>,
    /// The first wait after a failure, unless twice the delay is longer.
    pub back_off: Duration,
    /// The longest wait after repeated failures, without the jitter.
    pub max_back_off: Duration,
    /// Maximum jitter after failures, as a share of the wait: 0 to 1.
    pub jitter: f64,
    /// The longest wait by `Retry-After`; it may exceed the other waits.
    pub retry_after_cap: Duration,
}

/// The pacing rules of single hosts; the common rules replace missing ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPacing {
    /// In place of [`PacingRules::delay`].
    pub delay: Option<Duration>,
    /// In place of [`PacingRules::connections_per_host`].
    pub connections: Option<usize>,
}

/// The bound of one address over all its hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressBound {
    /// As much as ten hosts with the common delay; no bound without a delay.
    #[default]
    FollowsDelay,
    /// This number of requests per second.
    Rate(NonZeroU32),
    /// No bound.
    Unbounded,
}

impl Default for PacingRules {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            factor: 5.0,
            max_delay: Duration::from_secs(30),
            connections_per_host: 1,
            of_hosts: HostTable::default(),
            group_by: GroupBy::Host,
            address: AddressBound::FollowsDelay,
            rate: None,
            back_off: Duration::from_secs(1),
            max_back_off: Duration::from_secs(600),
            jitter: 0.25,
            retry_after_cap: Duration::from_secs(3600),
        }
    }
}

/// The part of a host's response that matters for pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacedResponse {
    /// The response time; zero without a response.
    pub elapsed: Duration,
    /// Its meaning for the next request.
    pub kind: ResponseKind,
}

/// The meaning of a response for the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseKind {
    /// No reason to slow down, for any kind of page.
    Fine,
    /// 429 Too Many Requests or 503 Service Unavailable.
    SlowDown {
        /// The wait that came with it, as the server named it.
        retry_after: Option<Duration>,
    },
    /// Another answer that is the host's fault: 500 Internal Server Error, 502 Bad Gateway, …
    Broken {
        /// The wait that came with it, as the server named it.
        retry_after: Option<Duration>,
    },
    /// There was no response.
    Failed,
    /// A block page or challenge in place of a page.
    Blocked,
}

impl PacedResponse {
    /// Returns the response in the outcome of a request; a date in `Retry-After` is relative to
    /// `now`.
    #[must_use]
    pub fn of(outcome: Result<&Exchange, FailureKind>, now: Timestamp) -> Self {
        match outcome {
            Ok(exchange) => Self {
                elapsed: exchange.elapsed,
                kind: ResponseKind::of_exchange(exchange, now),
            },
            Err(kind) => Self {
                elapsed: Duration::ZERO,
                kind: ResponseKind::of_failure(kind),
            },
        }
    }
}

impl ResponseKind {
    fn of_exchange(exchange: &Exchange, now: Timestamp) -> Self {
        let named = || {
            let field = exchange.header("retry-after")?;
            retry_after(field, now)
        };
        match Consequence::of_status(exchange.status).rest {
            Rest::Usual => Self::Fine,
            Rest::SlowDown => Self::SlowDown {
                retry_after: named(),
            },
            Rest::AfterSome | Rest::AtOnce => Self::Broken {
                retry_after: named(),
            },
        }
    }

    const fn of_failure(kind: FailureKind) -> Self {
        match Consequence::of_failure(kind).rest {
            Rest::Usual => Self::Fine,
            Rest::AfterSome | Rest::AtOnce | Rest::SlowDown => Self::Failed,
        }
    }
}

/// The state of a host between two requests, without the time: with that it is a [`web::Pace`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPace {
    /// Failures and requests to slow down, in a row.
    pub failures: u32,
    /// The `Crawl-delay` of its robots.txt.
    pub crawl_delay: Option<Duration>,
    /// The `Retry-After` of its last response.
    pub retry_after: Option<Duration>,
}

/// Maximum number of [`ResponseKind::Broken`] in a row without a rest. A host with some broken
/// pages among good ones is not slowed down.
const BROKEN_BEFORE_REST: u32 = 2;

/// Number of [`ResponseKind::Blocked`] in a row after which the host rests for [`BLOCK_REST`].
const BLOCKS_BEFORE_REST: u32 = 3;
/// The rest of a host that blocks us: firewalls count requests by the minute or by the hour.
const BLOCK_REST: Duration = Duration::from_secs(3600);

/// A wait and its reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cooldown {
    /// The wait from the end of the response.
    pub wait: Duration,
    /// The longest of the reasons.
    pub why: WaitReason,
}

impl Cooldown {
    /// Returns the longer of two waits; this one if they are equal.
    #[must_use]
    pub fn or_longer(self, wait: Duration, why: WaitReason) -> Self {
        if wait > self.wait {
            Self { wait, why }
        } else {
            self
        }
    }
}

impl HostPace {
    /// Returns the host's pace after a response, and the wait from the response's end. `chance`,
    /// from 0 to 1, is the share of the jitter that is added after failures.
    #[must_use]
    pub fn after(
        self,
        response: &PacedResponse,
        rules: &PacingRules,
        chance: f64,
    ) -> (Self, Cooldown) {
        let calm = rules.calm(response.elapsed, self.crawl_delay);
        let failures = self.failures.saturating_add(1);
        let (retry_after, why, steps) = match response.kind {
            ResponseKind::Fine => {
                let pace = Self {
                    failures: 0,
                    retry_after: None,
                    ..self
                };
                return (pace, calm);
            }
            ResponseKind::SlowDown { retry_after } => (retry_after, WaitReason::SlowDown, failures),
            ResponseKind::Broken { retry_after } => {
                let steps = failures.saturating_sub(BROKEN_BEFORE_REST);
                (retry_after, WaitReason::Failures, steps)
            }
            ResponseKind::Failed => (None, WaitReason::Failures, failures),
            ResponseKind::Blocked => (None, WaitReason::Blocked, failures),
        };
        let back_off = match steps {
            0 => Duration::ZERO,
            _ => rules.after_failures(steps, chance),
        };
        let is_shut_out = why == WaitReason::Blocked && failures >= BLOCKS_BEFORE_REST;
        let back_off = match is_shut_out {
            true => back_off.max(BLOCK_REST),
            false => back_off,
        };
        let rest = calm.or_longer(back_off, why).or_longer(
            retry_after.unwrap_or_default().min(rules.retry_after_cap),
            WaitReason::RetryAfter,
        );
        let pace = Self {
            failures,
            retry_after,
            ..self
        };
        (pace, rest)
    }

    /// Returns the host's pace after an idle time when it could have been asked: time forgives
    /// failures.
    #[must_use]
    pub fn after_idling(self, idle: Duration, rules: &PacingRules) -> Self {
        let period = rules.max_back_off.as_nanos().max(1);
        let halvings = u32::try_from(idle.as_nanos() / period).unwrap_or(u32::MAX);
        Self {
            failures: self.failures.checked_shr(halvings).unwrap_or(0),
            ..self
        }
    }

    /// Returns the minimum distance of two requests to the host, regardless of its responses.
    #[must_use]
    pub fn least(self, rules: &PacingRules) -> Cooldown {
        rules.calm(Duration::ZERO, self.crawl_delay)
    }
}

impl PacingRules {
    /// Returns the longest wait after any response.
    #[must_use]
    pub fn longest_wait(&self) -> Duration {
        self.longest_delay()
            .max(self.max_delay)
            .max(self.after_failures(u32::MAX, 1.0))
            .max(self.retry_after_cap)
            .max(BLOCK_REST)
    }

    /// Returns the longest delay of any host.
    #[must_use]
    pub fn longest_delay(&self) -> Duration {
        let of_hosts = self.of_hosts.values().filter_map(|own| own.delay);
        of_hosts.fold(self.delay, Duration::max)
    }

    /// Returns the rules of a host.
    #[must_use]
    pub fn of_host(&self, host: &Host) -> Self {
        self.with(self.of_hosts.get(host).copied().unwrap_or_default())
    }

    /// Returns the rules of hosts that have some of their own.
    #[must_use]
    pub fn with(&self, own: HostPacing) -> Self {
        let delay = own.delay.unwrap_or(self.delay);
        Self {
            delay,
            max_delay: self.max_delay.max(delay),
            connections_per_host: own.connections.unwrap_or(self.connections_per_host),
            of_hosts: HostTable::default(),
            ..self.clone()
        }
    }

    /// Returns the obeyed part of a `Crawl-delay`.
    #[must_use]
    pub fn obeyed(&self, crawl_delay: Duration) -> Duration {
        crawl_delay.min(self.max_delay.max(self.delay))
    }

    fn calm(&self, elapsed: Duration, crawl_delay: Option<Duration>) -> Cooldown {
        let ceiling = self.max_delay.max(self.delay);
        // Negative (no factor at all) or longer than any duration.
        let slow = Duration::try_from_secs_f64(elapsed.as_secs_f64() * self.factor.max(0.0))
            .unwrap_or(ceiling);
        let delay = Cooldown {
            wait: self.delay,
            why: WaitReason::Delay,
        };
        delay
            .or_longer(slow.min(ceiling), WaitReason::Slowness)
            .or_longer(
                self.obeyed(crawl_delay.unwrap_or_default()),
                WaitReason::CrawlDelay,
            )
    }

    fn after_failures(&self, failures: u32, chance: f64) -> Duration {
        let first = self.back_off.max(self.delay.saturating_mul(2));
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let wait = first
            .saturating_mul(doubled)
            .min(self.max_back_off.max(self.delay));
        let share = self.jitter.clamp(0.0, 1.0) * chance.clamp(0.0, 1.0);
        // A share that is not a number adds nothing.
        let more = Duration::try_from_secs_f64(wait.as_secs_f64() * share).unwrap_or_default();
        wait.saturating_add(more)
    }
}
