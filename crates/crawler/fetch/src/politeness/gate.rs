//! The last gate before a request: `governor`, per host or group and for all hosts together.
//!
//! The pacer has already decided when a host may be asked. The gate does not schedule; a mechanism
//! of its own ensures that no mistake further up becomes a burst.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{NotUntil, Quota, RateLimiter};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};
use web::{Group, Host};

/// The number of requests between sweeps of forgotten hosts: a state for each of millions adds up.
const SWEEP_EVERY: u64 = 4096;
/// The bursts per second. The timer's resolution is a millisecond, so high rates let a few requests
/// through together.
const BURSTS_A_SECOND: u32 = 100;

/// The key that requests are counted by: a host with its own pace, or a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Host(Host),
    Group(Group),
}

type PerHost = RateLimiter<Key, DashMapStateStore<Key>, Monotonic, NoOpMiddleware<Nanos>>;
type Total = RateLimiter<NotKeyed, InMemoryState, Monotonic, NoOpMiddleware<Nanos>>;

pub(crate) struct Gate {
    /// By the delay of their hosts, which is not zero.
    per_host: HashMap<Duration, PerHost>,
    /// A waiter holds the lock, so that other waiters queue up behind instead of racing at every
    /// tick.
    total: Option<Mutex<Total>>,
    passed: AtomicU64,
    clock: Monotonic,
}

impl Gate {
    /// Returns a gate for all hosts together, if there is a rate, and gates for hosts with these
    /// delays.
    pub(crate) fn new(
        rate: Option<NonZeroU32>,
        delays: impl IntoIterator<Item = Duration>,
    ) -> Self {
        let clock = Monotonic(Instant::now());
        // `with_period` refuses zero: without a delay there is no gate for hosts.
        let per_host = delays.into_iter().filter_map(|delay| {
            let quota = Quota::with_period(delay)?;
            let store = DashMapStateStore::default();
            Some((delay, RateLimiter::new(quota, store, clock)))
        });
        let per_host = per_host.collect();
        let total = rate.and_then(|rate| {
            let quota = Quota::with_period(Duration::from_secs(1) / rate.get())?;
            let burst = NonZeroU32::new(rate.get() / BURSTS_A_SECOND).unwrap_or(NonZeroU32::MIN);
            Some(Mutex::new(RateLimiter::direct_with_clock(
                quota.allow_burst(burst),
                clock,
            )))
        });
        Self {
            per_host,
            total,
            passed: AtomicU64::new(0),
            clock,
        }
    }

    /// Waits until both limits let a request to `host` pass, which shares its pace with `group`.
    /// `delay` is the group's delay, or the host's without a group.
    pub(crate) async fn pass(&self, host: &Host, group: Option<&Group>, delay: Duration) {
        if let Some(hosts) = self.per_host.get(&delay) {
            let key = match group {
                Some(group) => Key::Group(group.clone()),
                None => Key::Host(host.clone()),
            };
            while let Err(not_until) = hosts.check_key(&key) {
                self.wait(&not_until).await;
            }
            if self.passed.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
                hosts.retain_recent();
                hosts.shrink_to_fit();
            }
        }
        if let Some(total) = &self.total {
            let total = total.lock().await;
            while let Err(not_until) = total.check() {
                self.wait(&not_until).await;
            }
        }
    }

    async fn wait(&self, not_until: &NotUntil<Nanos>) {
        sleep(not_until.wait_time_from(self.clock.now())).await;
    }
}

/// The runtime's clock for `governor`: nanoseconds since it was made. A test can pause it.
#[derive(Clone, Copy, Debug)]
struct Monotonic(Instant);

impl Clock for Monotonic {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}
