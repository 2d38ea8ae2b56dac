//! Who waits for a group's turn, in the order in which they came.
//!
//! Nobody stands and waits: whoever comes too early is told when to come again, one gap behind
//! those before. So ten thousand hosts of a group cost ten thousand times, and no slot of the
//! crawl. Times are guesses, because nobody knows how long answers take: who comes and is still too
//! early keeps its number, and is told anew. Those far behind are told to come sooner than their
//! turn can be, so that a group that got faster is not asked as if it were still slow.
//!
//! Invariant: numbers are given out in order and never change hands; of those who wait, no two have
//! the same. So nobody can be passed by more hosts than were before it and came on time.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tokio::time::Instant;
use web::Host;

/// Nobody is told to come again later than so long after the group is ready, or twice that.
const HORIZON: Duration = Duration::from_secs(600);
/// Who is so late has lost its number: its page may have turned out not to be asked for at all.
const LATE: Duration = Duration::from_secs(30);
/// Those who wait have numbers up to so many; beyond, they are told a time and no more.
const MOST: usize = 1 << 17;

/// Those who wait for a group's turn.
#[derive(Default)]
pub(super) struct WaitQueue {
    next: u64,
    numbers: HashMap<Host, u64>,
    places: BTreeMap<u64, Waiting>,
}

struct Waiting {
    host: Host,
    /// When it was told to come.
    due: Instant,
}

impl WaitQueue {
    /// When this host was told to come.
    pub(super) fn due(&self, host: &Host) -> Option<Instant> {
        let place = self.places.get(self.numbers.get(host)?)?;
        Some(place.due)
    }

    /// When the first in line was told to come; who did not, for long, is first no more.
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

    /// Tells a host when to come, where the first in line may come at `base` and the others `gap`
    /// apart. It keeps the place that it has.
    pub(super) fn schedule(&mut self, host: &Host, base: Instant, gap: Duration) -> Instant {
        let number = match self.numbers.get(host) {
            Some(number) => *number,
            None if self.numbers.len() >= MOST => return base + offset(MOST, gap),
            None => self.join(host),
        };
        let before = self.places.range(..number).count();
        let due = base + offset(before, gap);
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

    /// It has its turn.
    pub(super) fn leave(&mut self, host: &Host) {
        if let Some(number) = self.numbers.remove(host) {
            self.places.remove(&number);
        }
    }
}

/// How long after the first the one with so many before it may come: `gap` apart up to the horizon,
/// and spread behind it.
fn offset(before: usize, gap: Duration) -> Duration {
    let wait = gap.saturating_mul(u32::try_from(before).unwrap_or(u32::MAX));
    if wait <= HORIZON {
        return wait;
    }
    let beyond = wait.as_nanos() % HORIZON.as_nanos();
    HORIZON + Duration::from_nanos(u64::try_from(beyond).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn host(number: u32) -> Host {
        Host::new(&format!("h{number}.test"))
    }

    #[test]
    fn each_is_told_a_time_of_its_own_a_gap_behind_those_before_it() {
        let (mut queue, base) = (WaitQueue::default(), Instant::now());
        for number in 0..600 {
            assert_eq!(
                queue.schedule(&host(number), base, SECOND),
                base + number * SECOND
            );
        }
        // Told anew, it keeps its place; and it moves up when those before it have had their turn.
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
    fn nobody_is_told_a_time_far_beyond_the_horizon_and_few_are_told_the_same() {
        let (mut queue, base) = (WaitQueue::default(), Instant::now());
        let gap = Duration::from_millis(1300);
        let told: Vec<_> = (0..10_000)
            .map(|number| queue.schedule(&host(number), base, gap))
            .collect();
        assert!(told.iter().all(|time| *time < base + 2 * HORIZON));
        let mut times = told;
        times.sort_unstable();
        let crowds = times.windows(40).filter(|many| many[39] - many[0] < gap);
        assert_eq!(crowds.count(), 0, "forty within a gap");
    }

    #[test]
    fn who_does_not_come_is_first_no_more() {
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
