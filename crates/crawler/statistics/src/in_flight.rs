//! Visits in flight: leased queue entries whose visits have not ended.
//!
//! The journal names a lease by the sequence number of its queue entry, without a URL and without a
//! time. So the newest time before each lease in the journal is remembered. Its URL is in the
//! record that queued it: sequence numbers grow with the journal, and [`QueueMarks`] has the
//! position of such a record every 64 KiB.

use std::collections::BTreeMap;
use std::ops::Range;

use journal::{Position, Record, SettledVisit};
use web::Timestamp;

use crate::limits::{MAX_QUEUE_MARKS, MAX_UNDER_WAY};

/// Minimum distance of two marks at first, in bytes of the journal.
const FIRST_STEP: Position = 64 << 10;

/// A visit in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VisitInFlight {
    /// The sequence number of its queue entry.
    pub sequence: u64,
    /// The newest time that the journal had when the visit began: it began then or later.
    pub not_before: Timestamp,
}

/// The visits in flight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct InFlight {
    begun: BTreeMap<u64, Timestamp>,
    /// The newest time in the records so far.
    time: Timestamp,
    marks: QueueMarks,
}

impl InFlight {
    /// Applies a record that begins at `position`.
    pub(crate) fn apply(&mut self, position: Position, record: &Record) {
        match record {
            Record::Begun { at, .. }
            | Record::Restarted { at, .. }
            | Record::ClockSetBack { to: at, .. } => self.time = *at,
            Record::Discovered { first, finds } => {
                self.marks.add(*first, finds.len(), position);
            }
            Record::Leased { sequences } => {
                let free = MAX_UNDER_WAY.saturating_sub(self.begun.len());
                let begun = sequences.iter().take(free);
                self.begun.extend(begun.map(|one| (*one, self.time)));
            }
            Record::Settled(settled) => self.settle(position, settled),
            Record::Postponed { entry, .. } | Record::Superseded { entry } => {
                self.begun.remove(&entry.sequence);
            }
            Record::Returned { sequence, .. } => {
                self.begun.remove(sequence);
            }
            Record::Revoked { entry, .. } => self.marks.add(entry.sequence, 1, position),
            Record::Died { sequences } => {
                for sequence in sequences {
                    self.begun.remove(sequence);
                }
            }
            Record::Stopped => self.begun.clear(),
            // Nothing else begins or ends a visit, or queues a URL.
            _ => {}
        }
    }

    fn settle(&mut self, position: Position, settled: &SettledVisit) {
        self.begun.remove(&settled.sequence);
        let visit = &settled.visit;
        let answered = visit.record.details.duration.unwrap_or_default();
        self.time = self.time.max(visit.record.fetched_at + answered);
        self.marks.add(settled.first, visit.finds.len(), position);
    }

    /// Returns the visits, in the order of their sequence numbers.
    pub(crate) fn visits(&self) -> impl ExactSizeIterator<Item = VisitInFlight> {
        let begun = self.begun.iter();
        begun.map(|(sequence, not_before)| VisitInFlight {
            sequence: *sequence,
            not_before: *not_before,
        })
    }

    /// Returns the part of the journal with the record that queued an entry.
    pub(crate) fn queued_within(&self, sequence: u64) -> Option<Range<Position>> {
        self.marks.around(sequence)
    }
}

/// Some of the records that queue URLs: the first sequence number of each, and its position.
///
/// Invariant: both ascend. If there are more than [`MAX_QUEUE_MARKS`], every second mark is dropped
/// and the step doubles.
#[derive(Clone, Debug, PartialEq)]
struct QueueMarks {
    marks: Vec<(u64, Position)>,
    step: Position,
}

impl Default for QueueMarks {
    fn default() -> Self {
        Self {
            marks: Vec::new(),
            step: FIRST_STEP,
        }
    }
}

impl QueueMarks {
    /// Adds the record at `position`, which queues `length` URLs from `first` on, if the last mark
    /// is far behind.
    fn add(&mut self, first: u64, length: usize, position: Position) {
        let is_needed = |(last, at): &(u64, Position)| first > *last && position >= at + self.step;
        if length == 0 || !self.marks.last().is_none_or(is_needed) {
            return;
        }
        if self.marks.len() == MAX_QUEUE_MARKS {
            let mut place = 0;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.step *= 2;
        }
        self.marks.push((first, position));
    }

    /// Returns the positions from the last mark at or before a sequence number up to the next one.
    fn around(&self, sequence: u64) -> Option<Range<Position>> {
        let next = self.marks.partition_point(|(first, _)| *first <= sequence);
        let (_, begin) = self.marks.get(next.checked_sub(1)?)?;
        let end = self.marks.get(next).map_or(Position::MAX, |(_, at)| *at);
        Some(*begin..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_number_lies_between_two_marks_however_many_there_are() {
        let mut marks = QueueMarks::default();
        let each = FIRST_STEP / 2;
        let records = 8 * MAX_QUEUE_MARKS as u64;
        for record in 0..records {
            marks.add(record * 3, 3, record * each);
            // A record that queues nothing has the number of the next one.
            marks.add(record * 3 + 3, 0, record * each + 1);
        }
        assert!(marks.marks.len() <= MAX_QUEUE_MARKS);
        assert!(marks.marks.len() > MAX_QUEUE_MARKS / 4);
        for record in (0..records).step_by(101) {
            let within = marks.around(record * 3 + 2).unwrap();
            assert!(within.contains(&(record * each)), "{record}: {within:?}");
            let is_last = within.end == Position::MAX;
            assert!(is_last || within.end - within.start <= marks.step + each);
        }
        assert_eq!(QueueMarks::default().around(0), None);
    }
}
