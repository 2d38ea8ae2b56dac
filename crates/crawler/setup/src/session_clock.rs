//! The clock of a crawl: it runs evenly, even if the machine's clock is set.
//!
//! A crawl stores when the waits of hosts and pages end. With the machine's clock, it would stop
//! for a day if the clock is set back by a day, and would not wait at all if the clock is set
//! ahead. So a [`Clock`] has two readings:
//!
//! | reading | is | used for |
//! |---|---|---|
//! | `now` | the machine's clock at the start, and the monotonic time since | waits, the journal |
//! | `date` | the same, moved when the clock was set | WARC-Date, `fetched_at`, `crawl.log` |
//!
//! Once per second, the date is compared with the machine's clock. If they differ by `MIN_JUMP`
//! or more, the clock was set, or the machine slept: the jump is journalled (`crawler verify`
//! compares dates with waits), the date follows, and one warning reports it. Small corrections,
//! such as by NTP, also affect the monotonic time, and the remaining difference is below that
//! bound.
//!
//! The nodes of a shared crawl write times that other nodes read: the waits of a host move with its
//! bucket. So nodes use the clock of the store instead of the machine's clock ([`moved`]).
//!
//! Invariant: `now` never goes back while the process lives. The store handles the clock of the
//! next session ([`EmbeddedStore::clock_behind`]).

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use messages::lasting;
use store::EmbeddedStore;
use tokio::time::{Instant, MissedTickBehavior};
use web::{Clock, Timestamp};

/// Target of log records: files of the crawl's log name the program.
const LOG_TARGET: &str = "crawler::session_clock";

/// Minimum difference that counts as a jump.
const MIN_JUMP: Duration = Duration::from_secs(5);
/// Interval between reads of the machine's clock.
const READ_EVERY: Duration = Duration::from_secs(1);

/// The clock of one process.
#[derive(Clone)]
pub struct SessionClock {
    machine: Clock,
    started: Instant,
    state: Arc<ClockState>,
}

/// Start of the session, and offset of its dates.
struct ClockState {
    begun: Timestamp,
    /// Offset of dates from waits, in milliseconds; positive if dates are ahead.
    ahead: AtomicI64,
}

/// A difference between the machine's clock and the dates of a crawl, larger than an error of
/// measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Jump {
    /// Offset of the machine's clock from the dates, in milliseconds; positive if the clock is
    /// ahead.
    by: i64,
    /// Offset of the machine's clock from the waits, in milliseconds; positive if the clock is
    /// ahead.
    ahead: i64,
}

impl ClockState {
    fn new(begun: Timestamp) -> Self {
        let ahead = AtomicI64::new(0);
        Self { begun, ahead }
    }

    fn now(&self, elapsed: Duration) -> Timestamp {
        self.begun + elapsed
    }

    fn date(&self, elapsed: Duration) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        let by = Duration::from_millis(ahead.unsigned_abs());
        match ahead < 0 {
            true => self.now(elapsed).before(by),
            false => self.now(elapsed) + by,
        }
    }

    /// Returns the jump of the machine's clock since the last followed jump, if any.
    fn jump(&self, elapsed: Duration, machine: Timestamp) -> Option<Jump> {
        let by = millis_between(self.date(elapsed), machine);
        let ahead = millis_between(self.now(elapsed), machine);
        let least = i64::try_from(MIN_JUMP.as_millis()).unwrap_or(i64::MAX);
        (by.abs() >= least).then_some(Jump { by, ahead })
    }

    fn follow(&self, jump: Jump) {
        self.ahead.store(jump.ahead, Ordering::Relaxed);
    }
}

impl SessionClock {
    /// Starts a clock at the time of `machine`, the machine's clock or the clock of a shared store.
    pub fn start(machine: Clock) -> Self {
        let state = Arc::new(ClockState::new(machine.now()));
        Self {
            machine,
            started: Instant::now(),
            state,
        }
    }

    /// Returns the clock with both readings.
    pub fn clock(&self) -> Clock {
        let (waits, dates) = (self.clone(), self.clone());
        Clock::new(move || waits.state.now(waits.started.elapsed()))
            .with_dates(move || dates.state.date(dates.started.elapsed()))
    }

    /// Watches the machine's clock while the store is open.
    pub async fn watch(self, store: Weak<EmbeddedStore>) {
        let mut ticks = tokio::time::interval(READ_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let elapsed = self.started.elapsed();
            let Some(jump) = self.state.jump(elapsed, self.machine.now()) else {
                continue;
            };
            let Some(store) = store.upgrade() else {
                return;
            };
            let span = |millis: i64| Duration::from_millis(u64::try_from(millis).unwrap_or(0));
            let (ahead, behind) = (span(jump.ahead), span(-jump.ahead));
            // Journalled first: without the jump, `crawler verify` would report the dates as
            // impolite.
            match store.note_clock_set(self.state.now(elapsed), ahead, behind) {
                Ok(()) => {
                    self.state.follow(jump);
                    warn_of(jump);
                }
                // The disk is most likely full, which is reported elsewhere. The next tick retries.
                Err(error) => {
                    tracing::debug!(
                        target: LOG_TARGET,
                        %error,
                        "the clock was set, which cannot be journalled yet"
                    );
                }
            }
        }
    }
}

fn warn_of(jump: Jump) {
    let by = lasting(Duration::from_millis(jump.by.unsigned_abs()));
    if jump.by < 0 {
        tracing::warn!(
            target: LOG_TARGET,
            "the system clock was set back by {by}: waits are not affected, dates follow the clock"
        );
    } else {
        tracing::warn!(
            target: LOG_TARGET,
            "the system clock went ahead by {by}, or the machine slept: waits are not affected, \
             dates follow the clock"
        );
    }
}

/// Returns a clock that is shifted from `clock` by the difference between `there` and `here`.
pub fn moved(clock: Clock, here: Timestamp, there: Timestamp) -> Clock {
    Clock::new(move || (clock.now() + there.since(here)).before(here.since(there)))
}

/// Returns a warning if the shared clock of the nodes differs from the machine's clock.
pub fn difference(here: Timestamp, there: Timestamp) -> Option<String> {
    let by = here.since(there).max(there.since(here));
    let side = if here < there { "behind" } else { "ahead of" };
    (by >= MIN_JUMP).then(|| {
        let by = lasting(by);
        format!("this machine's clock is {by} {side} the store's clock, which all nodes use")
    })
}

/// Warns if the clock is behind the clock of an earlier session.
pub(crate) fn warn_if_behind(by: Duration) {
    if by >= MIN_JUMP {
        let by = lasting(by);
        tracing::warn!(
            target: LOG_TARGET,
            "the clock is {by} behind the last run: waits are counted from now"
        );
    }
}

/// Returns the milliseconds from one moment to another, negative if the other is earlier.
fn millis_between(from: Timestamp, to: Timestamp) -> i64 {
    let ahead = i64::try_from(to.since(from).as_millis()).unwrap_or(i64::MAX);
    let behind = i64::try_from(from.since(to).as_millis()).unwrap_or(i64::MAX);
    ahead - behind
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 3600;

    const fn second(seconds: u64) -> Timestamp {
        Timestamp::from_millis(1000 * seconds)
    }

    const fn after(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A clock that was set back by a day stopped the crawl for that day, without a message.
    #[test]
    fn a_jump_of_the_machine_s_clock_moves_dates_but_no_waits_and_is_reported_once() {
        let state = ClockState::new(second(10 * DAY));
        assert_eq!(state.jump(after(60), second(10 * DAY + 60)), None);
        // Within the bound: a correction.
        assert_eq!(state.jump(after(60), second(10 * DAY + 64)), None);
        assert_eq!(state.jump(after(60), second(10 * DAY + 56)), None);
        for (elapsed, machine, by) in [
            (100, 9 * DAY + 100, -86_400_000),
            (200, 10 * DAY + 200, 86_400_000),
            (300, 11 * DAY + 300, 86_400_000),
            (400, 11 * DAY + 395, -5_000),
        ] {
            let jump = state.jump(after(elapsed), second(machine)).unwrap();
            assert_eq!(jump.by, by);
            state.follow(jump);
            assert_eq!(state.jump(after(elapsed), second(machine)), None, "once");
            assert_eq!(state.date(after(elapsed)), second(machine));
            assert_eq!(
                state.now(after(elapsed)),
                second(10 * DAY + elapsed),
                "waits are not affected"
            );
        }
    }

    #[test]
    fn a_moved_clock_keeps_its_distance() {
        let at = Arc::new(AtomicI64::new(1_000));
        let machine = {
            let at = Arc::clone(&at);
            Clock::new(move || second(at.load(Ordering::Relaxed).unsigned_abs()))
        };
        let ahead = moved(machine.clone(), second(1_000), second(1_030));
        let behind = moved(machine, second(1_000), second(400));
        assert_eq!((ahead.now(), behind.now()), (second(1_030), second(400)));
        at.store(2_000, Ordering::Relaxed);
        assert_eq!((ahead.now(), behind.now()), (second(2_030), second(1_400)));
    }
}
