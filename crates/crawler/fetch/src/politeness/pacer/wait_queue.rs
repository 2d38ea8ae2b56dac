//! The hosts that wait for their group, first come, first served.
//!
//! No task waits: a host that comes too early is given a time to come again, one gap behind the
//! hosts before. So ten thousand hosts of a group cost ten thousand times, and no slot of the
//! crawl. Times are guesses, because the length of responses is unknown: a host that comes and is
//! still too early keeps its number and gets a new time. Hosts far behind get a time sooner than
//! their turn can be, so that a group that got faster is not asked as if it were still slow.
//!
//! Invariant: numbers are given out consecutively and never change hands, and no two waiting hosts
//! have the same. So a host is passed at most by as many hosts as were before it and came on time.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tokio::time::Instant;
use web::Host;

/// The horizon: times lie at most twice this after the group is ready.
const HORIZON: Duration = Duration::from_secs(600);
/// The delay that costs a host its number: its page may not be asked for at all.
const LATE: Duration = Duration::from_secs(30);
/// Maximum number of numbered hosts. Beyond, hosts are given a time only.
const MOST: usize = 1 << 17;

/// The queue of a group.
#[derive(Default)]
pub(super) struct WaitQueue {
    next: u64,
    /// Counter of hosts without a number, which spreads their times.
    unnumbered: usize,
    numbers: HashMap<Host, u64>,
    places: BTreeMap<u64, Waiting>,
}

struct Waiting {
    host: Host,
    /// The time that it was given.
    due: Instant,
}

impl WaitQueue {
    /// Returns the time that this host was given.
    pub(super) fn due(&self, host: &Host) -> Option<Instant> {
        let place = self.places.get(self.numbers.get(host)?)?;
        Some(place.due)
    }

    /// Returns the time of the first host; hosts that are too late are removed.
    pub(super) fn first_due(&mut self, now: Instant) -> Option<Instant> {
        while let Some(first) = self.places.first_entry() {
            let due = first.get().due;
            if due + LATE > now {
                return Some(due);
            }
            let late = first.remove();
            self.numbers.remove(&late.host);
        }
        None
    }

    /// Gives a host a time to come, if the first host may come at `base` and each further host
    /// `gap` later. The host keeps its place.
    pub(super) fn schedule(&mut self, host: &Host, base: Instant, gap: Duration) -> Instant {
        self.schedule_by(host, base, |before| offset(before, gap))
    }

    /// Gives a host a time to come like [`schedule`](Self::schedule), but no two hosts a time less
    /// than `least` apart, however many wait: beyond the horizon they come at that distance.
    pub(super) fn schedule_spaced(
        &mut self,
        host: &Host,
        base: Instant,
        gap: Duration,
        least: Duration,
    ) -> Instant {
        self.schedule_by(host, base, |before| spaced_offset(before, gap, least))
    }

    fn schedule_by(
        &mut self,
        host: &Host,
        base: Instant,
        offset: impl Fn(usize) -> Duration,
    ) -> Instant {
        let number = match self.numbers.get(host) {
            Some(number) => *number,
            None if self.numbers.len() >= MOST => {
                self.unnumbered = (self.unnumbered + 1) % MOST;
                return base + offset(MOST + self.unnumbered);
            }
            None => self.join(host),
        };
        let before = match number + 1 == self.next {
            // The last one: counting the others would cost a crowd the square of its size.
            true => self.numbers.len() - 1,
            false => self.places.range(..number).count(),
        };
        let due = base + offset(before);
        let host = host.clone();
        self.places.insert(number, Waiting { host, due });
        due
    }

    fn join(&mut self, host: &Host) -> u64 {
        let number = self.next;
        self.next += 1;
        self.numbers.insert(host.clone(), number);
        number
    }

    /// Removes a host that has its permit.
    pub(super) fn leave(&mut self, host: &Host) {
        if let Some(number) = self.numbers.remove(host) {
            self.places.remove(&number);
        }
    }
}

/// Returns the distance from the first host to one with `before` hosts before it: `gap` apart up to
/// the horizon, and spread behind it.
fn offset(before: usize, gap: Duration) -> Duration {
    let wait = gap.saturating_mul(u32::try_from(before).unwrap_or(u32::MAX));
    if wait <= HORIZON {
        return wait;
    }
    let beyond = wait.as_nanos() % HORIZON.as_nanos();
    HORIZON + Duration::from_nanos(u64::try_from(beyond).unwrap_or_default())
}

/// Returns the distance from the first host to one with `before` hosts before it: `gap` apart up to
/// the horizon, and `least` apart behind it, in case the group gets faster until then.
fn spaced_offset(before: usize, gap: Duration, least: Duration) -> Duration {
    let near = HORIZON.as_nanos() / gap.as_nanos().max(1);
    let near = u32::try_from(near).unwrap_or(u32::MAX);
    let before = u32::try_from(before).unwrap_or(u32::MAX);
    let beyond = least.min(gap).saturating_mul(before.saturating_sub(near));
    gap.saturating_mul(before.min(near)).saturating_add(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn host(number: u32) -> Host {
        Host::new(&format!("h{number}.test"))
    }

    #[test]
    fn each_host_gets_its_own_time_one_gap_behind_the_host_before() {
        let (mut queue, base) = (WaitQueue::default(), Instant::now());
        for number in 0..600 {
            assert_eq!(
                queue.schedule(&host(number), base, SECOND),
                base + number * SECOND
            );
        }
        // A host that is scheduled again keeps its place, and moves up when earlier hosts leave.
        assert_eq!(
            queue.schedule(&host(5), base + SECOND, SECOND),
            base + 6 * SECOND
        );
        queue.leave(&host(0));
        queue.leave(&host(3));
        assert_eq!(queue.schedule(&host(5), base, SECOND), base + 3 * SECOND);
        assert_eq!(queue.due(&host(5)), Some(base + 3 * SECOND));
        assert_eq!(queue.due(&host(3)), None);
        assert_eq!(
            queue.schedule(&host(3), base, SECOND),
            base + 598 * SECOND,
            "at the end"
        );
    }

    #[test]
    fn no_time_is_far_beyond_the_horizon_and_few_hosts_get_the_same() {
        let (mut queue, base) = (WaitQueue::default(), Instant::now());
        let gap = Duration::from_millis(1300);
        let mut times: Vec<_> = (0..10_000)
            .map(|number| queue.schedule(&host(number), base, gap))
            .collect();
        assert!(times.iter().all(|time| *time < base + 2 * HORIZON));
        times.sort_unstable();
        let crowds = times.windows(40).filter(|many| many[39] - many[0] < gap);
        assert_eq!(crowds.count(), 0, "forty within a gap");
    }

    #[test]
    fn a_host_that_does_not_come_loses_its_place() {
        let (mut queue, base) = (WaitQueue::default(), Instant::now());
        assert_eq!(queue.first_due(base), None);
        queue.schedule(&host(0), base, SECOND);
        queue.schedule(&host(1), base, SECOND);
        assert_eq!(queue.first_due(base + LATE - SECOND), Some(base));
        assert_eq!(queue.first_due(base + LATE), Some(base + SECOND));
        assert_eq!(queue.first_due(base + LATE + SECOND), None);
        assert!(queue.places.is_empty());
        assert_eq!(queue.due(&host(0)), None);
    }
}
