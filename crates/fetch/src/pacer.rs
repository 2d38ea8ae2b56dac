//! Makes requests to a host wait for their turn.
//!
//! Times inside are the runtime's (`Instant`: exact, never set back, pausable in tests). The [`Timestamp`]s
//! that others are told are good to a millisecond; whoever comes a fraction of one early waits for it here.
//!
//! What is kept of a host is forgotten once it says nothing any more: nobody has or awaits a turn, and the
//! time at which the host may be asked lies behind by [`KEPT`], or by the wait itself where that was longer.
//! So the map holds the hosts of the last minutes, not those of the whole crawl.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tracing::debug;
use web::{Clock, Host, Timestamp};

use crate::gate::Gate;
use crate::pacing::{Answer, Asked, HostPace, PacingRules};

/// A host is remembered at least so long after it was ready.
const KEPT: Duration = Duration::from_secs(60);
/// Below so many hosts nobody looks for some to forget.
const FEW: usize = 1024;
/// The most hosts to remember. Beyond, those that merely wait are forgotten too, the soonest ready first:
/// the frontier knows their times as well.
const MOST: usize = 1 << 18;

/// Gives out turns. Cheap to ask where no delay applies.
pub struct Pacer {
    shared: Arc<Shared>,
}

struct Shared {
    rules: PacingRules,
    clock: Clock,
    gate: Gate,
    hosts: Mutex<Hosts>,
}

#[derive(Default)]
struct Hosts {
    by_name: HashMap<Host, Entry>,
    /// Look for hosts to forget when there are so many.
    sweep_at: usize,
}

struct Entry {
    pace: HostPace,
    /// When the last answer ended.
    ended: Option<Instant>,
    /// Not before.
    ready: Instant,
    /// Worth remembering until.
    kept: Instant,
    /// A permit is a turn; whoever has or awaits one also holds this `Arc`.
    slots: Arc<Semaphore>,
}

/// Leave to make one request to a host. Finish it, or it counts as a failure.
#[must_use = "a turn that is dropped counts as a failed request"]
pub struct Turn {
    shared: Arc<Shared>,
    host: Host,
    /// `None` once finished.
    slot: Option<OwnedSemaphorePermit>,
}

impl Pacer {
    /// A pacer that has not met any host yet. `clock` only translates times for others.
    #[must_use]
    pub fn new(rules: PacingRules, clock: Clock) -> Self {
        let gate = Gate::new(&rules);
        Self {
            shared: Arc::new(Shared {
                rules,
                clock,
                gate,
                hosts: Mutex::default(),
            }),
        }
    }

    /// Waits for the host's turn: until fewer than `connections_per_host` turns are under way there, the
    /// host's next allowed time has come, and both limits of the gate let the request pass. Turns of a host
    /// are given out in the order in which they were asked for.
    ///
    /// Nobody may wait for a second turn of a host while holding the first.
    pub async fn turn(&self, host: &Host) -> Turn {
        let shared = &self.shared;
        let slots = shared.with_entry(host, |entry| Arc::clone(&entry.slots));
        let slot = slots
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        while let Some(ready) = shared.with_entry(host, |entry| entry.begin(&shared.rules)) {
            sleep_until(ready).await;
        }
        shared.gate.pass(host).await;
        Turn {
            shared: Arc::clone(shared),
            host: host.clone(),
            slot: Some(slot),
        }
    }

    /// When the host may be asked next, as far as is known now; the present where nothing stands against it.
    #[must_use]
    pub fn ready_at(&self, host: &Host) -> Timestamp {
        let now = Instant::now();
        let ready = self
            .shared
            .hosts()
            .by_name
            .get(host)
            .map_or(now, |entry| entry.ready);
        self.shared.stamp(ready, now)
    }

    /// Takes note of the `Crawl-delay` that the host's robots.txt asks for. Hosts are forgotten after a
    /// while: say it again whenever the rules are looked at.
    pub fn ask_crawl_delay(&self, host: &Host, delay: Option<Duration>) {
        let shared = &self.shared;
        shared.with_entry(host, |entry| entry.ask_crawl_delay(delay, &shared.rules));
    }

    /// How many hosts are remembered at the moment.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.shared.hosts().by_name.len()
    }
}

impl Turn {
    /// Gives the turn back; the host is left alone until the moment that is returned.
    pub fn finish(mut self, answer: Answer) -> Timestamp {
        self.end(&answer)
    }

    fn end(&mut self, answer: &Answer) -> Timestamp {
        let shared = &self.shared;
        let now = Instant::now();
        let (ready, wait) = shared.with_entry(&self.host, |entry| entry.end(answer, &shared.rules));
        if answer.asked != Asked::Fine {
            debug!(host = %self.host, ?wait, asked = ?answer.asked, "backing off");
        }
        // Only now, or the next in line would look at the old time.
        self.slot = None;
        shared.stamp(ready, now)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.slot.is_some() {
            self.end(&Answer {
                elapsed: Duration::ZERO,
                asked: Asked::Failed,
            });
        }
    }
}

impl Entry {
    fn new(rules: &PacingRules) -> Self {
        let now = Instant::now();
        let slots = Arc::new(Semaphore::new(
            rules.connections_per_host.clamp(1, Semaphore::MAX_PERMITS),
        ));
        Self {
            pace: HostPace::default(),
            ended: None,
            ready: now,
            kept: now + KEPT,
            slots,
        }
    }

    /// Begins a request now, or says when to come back. With several connections to a host, the next request
    /// keeps its distance from this one's beginning too.
    fn begin(&mut self, rules: &PacingRules) -> Option<Instant> {
        let now = Instant::now();
        if self.ready > now {
            return Some(self.ready);
        }
        self.ready = now + self.pace.least(rules);
        None
    }

    /// The delay counts from the request that brought it too, which ended before it was known: robots.txt itself.
    fn ask_crawl_delay(&mut self, delay: Option<Duration>, rules: &PacingRules) {
        self.pace.crawl_delay = delay;
        if let Some(ended) = self.ended {
            self.ready = self.ready.max(ended + self.pace.least(rules));
        }
    }

    fn end(&mut self, answer: &Answer, rules: &PacingRules) -> (Instant, Duration) {
        let now = Instant::now();
        self.ended = Some(now);
        let (pace, wait) = self.pace.after(answer, rules);
        self.pace = pace;
        self.ready = self.ready.max(now + wait);
        self.kept = self.ready + wait.max(KEPT);
        (self.ready, wait)
    }

    fn in_use(&self) -> bool {
        Arc::strong_count(&self.slots) > 1
    }
}

impl Shared {
    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        // Every change is one assignment or two: there is nothing half done to be found.
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_entry<T>(&self, host: &Host, change: impl FnOnce(&mut Entry) -> T) -> T {
        let mut hosts = self.hosts();
        if let Some(entry) = hosts.by_name.get_mut(host) {
            return change(entry);
        }
        hosts.make_room(MOST);
        let entry = hosts
            .by_name
            .entry(host.clone())
            .or_insert_with(|| Entry::new(&self.rules));
        change(entry)
    }

    /// `moment` on the clock that others read; the present where it is not ahead.
    fn stamp(&self, moment: Instant, now: Instant) -> Timestamp {
        self.clock.now() + moment.saturating_duration_since(now)
    }
}

impl Hosts {
    /// Forgets what is not worth remembering, now and then: the cost of a sweep is spread over the hosts
    /// that came since the last one.
    fn make_room(&mut self, most: usize) {
        if self.by_name.len() < self.sweep_at.max(FEW) {
            return;
        }
        let now = Instant::now();
        self.by_name.retain(|_, entry| entry.in_use() || entry.kept > now);
        if self.by_name.len() >= most {
            self.forget_soonest_ready(most / 2);
        }
        self.by_name.shrink_to(2 * self.by_name.len());
        self.sweep_at = (2 * self.by_name.len()).min(most);
    }

    fn forget_soonest_ready(&mut self, forget: usize) {
        let mut idle: Vec<Instant> = self
            .by_name
            .values()
            .filter(|entry| !entry.in_use())
            .map(|entry| entry.ready)
            .collect();
        if idle.is_empty() {
            return;
        }
        let last = forget.min(idle.len()) - 1;
        let (_, &mut bound, _) = idle.select_nth_unstable(last);
        self.by_name
            .retain(|_, entry| entry.in_use() || entry.ready > bound);
    }
}

impl fmt::Debug for Pacer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pacer")
            .field("rules", &self.shared.rules)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Turn").field(&self.host).finish()
    }
}
