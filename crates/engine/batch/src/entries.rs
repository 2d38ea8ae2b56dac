//! Fingerprints with their numbers, and all their pairs within a distance.
//!
//! For each table of the [`Pigeonholes`] the entries are split by the bits that the table compares,
//! first into pieces that fit a core's cache and then into buckets of about one entry; within a
//! bucket all are compared. Workers take slices in the first step and pieces in the second.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use neardup::tables::Pair;

use crate::control::{Gauge, Step};
use crate::error::BatchError;
use crate::fields::take;
use crate::pigeonhole::{Costs, Pigeonholes, Table};
use crate::workers::{self, Disconnected, ResultSender};

/// A fingerprint and its number, packed into twelve bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    low: u32,
    high: u32,
    pub(crate) id: u32,
}

/// The size of a stored [`Entry`].
pub(crate) const ENTRY_BYTES: usize = 12;

impl Entry {
    pub(crate) fn new(bits: u64, id: u32) -> Self {
        Self {
            low: bits as u32,
            high: (bits >> 32) as u32,
            id,
        }
    }

    #[inline]
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }

    pub(crate) fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.bits().to_le_bytes());
        bytes[8..].copy_from_slice(&self.id.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> Self {
        let mut rest = &bytes[..];
        let bits = u64::from_le_bytes(take(&mut rest));
        Self::new(bits, u32::from_le_bytes(take(&mut rest)))
    }
}

/// The costs on the machine of the benchmark, in nanoseconds.
pub(crate) const COSTS: Costs = Costs {
    table: 10.0,
    comparison: 2.0,
};

/// The number of entries of a piece as a power of two: 12 bytes each in cache, and a bucket count
/// of four each.
const PIECE_BITS: u32 = 13;
/// The number of pairs that are passed on together.
const AT_ONCE: usize = 4_096;
/// Minimum size of buckets that are searched for equal fingerprints before any are compared.
const LARGE: usize = 64;

/// A join of entries with themselves, or across a border.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Join<'a> {
    pub(crate) entries: &'a [Entry],
    /// If given, only pairs across it are reported: one entry before it, the other at or after it.
    pub(crate) border: Option<usize>,
    pub(crate) holes: &'a Pigeonholes,
    pub(crate) workers: NonZeroUsize,
}

/// The pairs that a worker found in a few pieces.
#[derive(Default)]
struct JoinBatch {
    /// The number of entries joined for these pairs.
    joined: u64,
    pairs: Vec<Pair>,
}

impl Join<'_> {
    /// Passes every pair within the distance to `visit` if one of the given tables is the first to
    /// report the pair.
    pub(crate) fn run<E: From<BatchError>>(
        &self,
        tables: Range<usize>,
        gauge: &mut Gauge<'_>,
        mut visit: impl FnMut(Pair) -> Result<(), E>,
    ) -> Result<(), E> {
        for table in tables {
            self.run_table(table, gauge, &mut visit)?;
        }
        Ok(())
    }

    fn run_table<E: From<BatchError>>(
        &self,
        table: usize,
        gauge: &mut Gauge<'_>,
        visit: &mut impl FnMut(Pair) -> Result<(), E>,
    ) -> Result<(), E> {
        let bits = (self.entries.len().max(2).ilog2() + 1).min(28);
        let fine = bits.min(PIECE_BITS);
        let slices = self.split(self.holes.tables()[table], bits, fine)?;
        let (next, pieces) = (AtomicUsize::new(0), 1_usize << (bits - fine));
        let join_pieces = |sender: &ResultSender<JoinBatch>| {
            let mut bucketed = Bucketed::default();
            let mut found = JoinBatch::default();
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= pieces {
                    return sender.send(found);
                }
                bucketed.fill(
                    slices.iter().map(|slice| slice.piece(piece)),
                    self.holes.tables()[table],
                    bits,
                    fine,
                );
                found.joined += bucketed.bits.len() as u64;
                self.join_buckets(&bucketed, table, &mut found.pairs, sender)?;
                if found.joined >= 1 << 20 {
                    sender.send(std::mem::take(&mut found))?;
                }
            }
        };
        workers::work(self.workers, join_pieces, |found: JoinBatch| {
            gauge.advance(Step::Joining, found.joined)?;
            found.pairs.into_iter().try_for_each(&mut *visit)
        })
    }

    /// Returns each worker's share of the entries, in pieces by the leading bits of their buckets.
    fn split(&self, table: Table, bits: u32, fine: u32) -> Result<Vec<Slice>, BatchError> {
        let share = self.entries.len().div_ceil(self.workers.get()).max(1);
        let next = AtomicUsize::new(0);
        let mut slices = Vec::with_capacity(self.workers.get());
        let cut = |sender: &ResultSender<Slice>| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let start = number * share;
            match self
                .entries
                .get(start..(start + share).min(self.entries.len()))
            {
                Some(entries) => sender.send(Slice::of(entries, start, table, bits, fine)),
                None => Ok(()), // More workers than entries.
            }
        };
        workers::work(self.workers, cut, |slice| {
            slices.push(slice);
            Ok::<(), BatchError>(())
        })?;
        Ok(slices)
    }

    fn join_buckets(
        &self,
        bucketed: &Bucketed,
        table: usize,
        pairs: &mut Vec<Pair>,
        sender: &ResultSender<JoinBatch>,
    ) -> Result<(), Disconnected> {
        for ends in bucketed.ends.windows(2) {
            let bucket = ends[0] as usize..ends[1] as usize;
            if bucket.len() >= LARGE {
                self.join_large(bucketed, bucket, table, pairs, sender)?;
                continue;
            }
            for one in bucket.clone() {
                let bits = bucketed.bits[one];
                for other in one + 1..bucket.end {
                    let difference = bits ^ bucketed.bits[other];
                    if self.holes.is_first(table, difference)
                        && difference.count_ones() <= self.holes.distance()
                    {
                        self.report(
                            bucketed.places[one],
                            bucketed.places[other],
                            difference,
                            pairs,
                        );
                    }
                }
            }
            self.hand_over(pairs, sender)?;
        }
        Ok(())
    }

    /// Joins a bucket that may hold many equal fingerprints: each different one is compared once.
    fn join_large(
        &self,
        bucketed: &Bucketed,
        bucket: Range<usize>,
        table: usize,
        pairs: &mut Vec<Pair>,
        sender: &ResultSender<JoinBatch>,
    ) -> Result<(), Disconnected> {
        let mut equal: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for at in bucket {
            equal
                .entry(bucketed.bits[at])
                .or_default()
                .push(bucketed.places[at]);
        }
        let distinct: Vec<(u64, Vec<u32>)> = equal.into_iter().collect();
        for (number, (bits, ones)) in distinct.iter().enumerate() {
            if self.holes.is_first(table, 0) {
                for (at, &one) in ones.iter().enumerate() {
                    for &other in &ones[at + 1..] {
                        self.report(one, other, 0, pairs);
                    }
                    self.hand_over(pairs, sender)?;
                }
            }
            for (other_bits, others) in &distinct[number + 1..] {
                let difference = bits ^ other_bits;
                if !self.holes.is_first(table, difference)
                    || difference.count_ones() > self.holes.distance()
                {
                    continue;
                }
                for &one in ones {
                    for &other in others {
                        self.report(one, other, difference, pairs);
                    }
                    self.hand_over(pairs, sender)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn report(&self, one: u32, other: u32, difference: u64, pairs: &mut Vec<Pair>) {
        let (one, other) = (one as usize, other as usize);
        if self
            .border
            .is_some_and(|border| (one < border) == (other < border))
        {
            return;
        }
        let (one, other) = (self.entries[one].id, self.entries[other].id);
        pairs.push(Pair {
            first: one.min(other),
            second: one.max(other),
            distance: difference.count_ones(),
        });
    }

    fn hand_over(
        &self,
        pairs: &mut Vec<Pair>,
        sender: &ResultSender<JoinBatch>,
    ) -> Result<(), Disconnected> {
        if pairs.len() < AT_ONCE {
            return Ok(());
        }
        sender.send(JoinBatch {
            joined: 0,
            pairs: std::mem::take(pairs),
        })
    }
}

/// A slice of the entries, in pieces; the place among all entries replaces the number of each.
#[derive(Debug)]
struct Slice {
    entries: Vec<Entry>,
    /// The start of each piece, and the end of the last.
    starts: Vec<u32>,
}

impl Slice {
    fn of(entries: &[Entry], place: usize, table: Table, bits: u32, fine: u32) -> Self {
        let piece_of = |entry: &Entry| table.bucket(entry.bits(), bits) >> fine;
        let mut starts = vec![0_u32; (1 << (bits - fine)) + 1];
        for entry in entries {
            starts[piece_of(entry) + 1] += 1;
        }
        add_up(&mut starts);
        let mut next = starts.clone();
        let mut pieces = vec![Entry::default(); entries.len()];
        for (at, entry) in (place..).zip(entries) {
            let next = &mut next[piece_of(entry)];
            pieces[*next as usize] = Entry {
                id: at as u32,
                ..*entry
            };
            *next += 1;
        }
        Self {
            entries: pieces,
            starts,
        }
    }

    fn piece(&self, piece: usize) -> &[Entry] {
        &self.entries[self.starts[piece] as usize..self.starts[piece + 1] as usize]
    }
}

/// A piece in buckets.
#[derive(Debug, Default)]
struct Bucketed {
    bits: Vec<u64>,
    places: Vec<u32>,
    /// 0, then the end of each bucket.
    ends: Vec<u32>,
}

impl Bucketed {
    fn fill<'e>(
        &mut self,
        parts: impl Iterator<Item = &'e [Entry]> + Clone,
        table: Table,
        bits: u32,
        fine: u32,
    ) {
        let within = (1_usize << fine) - 1;
        // Counted two positions further on, so that after summation `ends[bucket + 1]` is the start
        // of a bucket, and after filling its end.
        self.ends.clear();
        self.ends.resize((1 << fine) + 2, 0);
        let mut count = 0;
        for entry in parts.clone().flatten() {
            self.ends[(table.bucket(entry.bits(), bits) & within) + 2] += 1;
            count += 1;
        }
        add_up(&mut self.ends);
        self.bits.resize(count, 0);
        self.places.resize(count, 0);
        for entry in parts.flatten() {
            let next = &mut self.ends[(table.bucket(entry.bits(), bits) & within) + 1];
            self.bits[*next as usize] = entry.bits();
            self.places[*next as usize] = entry.id;
            *next += 1;
        }
        self.ends.pop();
    }
}

/// Replaces each count by the sum of all counts up to it.
pub(crate) fn add_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}
