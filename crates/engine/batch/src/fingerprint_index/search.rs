//! Many probes of an index at once.
//!
//! The queries are sorted by each table in turn, so that neighbouring queries look at the same
//! blocks, which are then read once.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use neardup::Fingerprint;
use rayon::slice::ParallelSliceMut;

use super::file::FingerprintIndex;
use super::layout::TABLES;
use super::steps::Step;
use crate::control::{Control, Gauge, Step as Stage};
use crate::error::BatchError;
use crate::query::QueryMatch;
use crate::workers::{self, Disconnected, ResultSender};

/// The number of queries that a worker takes at once.
const QUERIES: usize = 1 << 12;
/// The number of matches that are handed over together.
const AT_ONCE: usize = 1 << 16;

/// A worker's matches for some queries in one table.
struct Part {
    probed: u64,
    found: Vec<QueryMatch>,
}

impl FingerprintIndex {
    /// Passes every fingerprint at `positions` within `distance` bits of a query to `visit`, each
    /// pair once, in no particular order; `workers` threads search. Progress counts the queries
    /// once for each table.
    pub(crate) fn search<E: From<BatchError>>(
        &self,
        queries: &[Fingerprint],
        distance: u32,
        positions: &Range<u64>,
        workers: NonZeroUsize,
        control: Control<'_>,
        mut visit: impl FnMut(QueryMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        if queries.len() >= u32::MAX as usize {
            return Err(BatchError::TooMany.into());
        }
        let steps = self.steps(distance)?;
        let tables = (0..TABLES).filter(|table| steps.iter().any(|step| step.table == *table));
        let probes = tables.clone().count() * queries.len();
        let mut gauge = Gauge::new(control, Some(probes as u64));
        let layout = self.layout();
        // A query in the order of the bits of a table, and its number.
        let mut order: Vec<(u64, u32)> = Vec::with_capacity(queries.len());
        for table in tables {
            let steps: Vec<Step> = steps
                .iter()
                .copied()
                .filter(|step| step.table == table)
                .collect();
            let permuted = |query: &Fingerprint| layout.permuted(table, query.as_u64());
            order.clear();
            order.extend(queries.iter().map(permuted).zip(0..));
            order.par_sort_unstable();
            let next = AtomicUsize::new(0);
            workers::work(
                workers,
                |sender| {
                    let mut taken = Taken {
                        index: self,
                        queries,
                        distance,
                        positions,
                        steps: &steps,
                        sender,
                        found: Vec::new(),
                    };
                    let mut chunks = || {
                        order
                            .chunks(QUERIES)
                            .nth(next.fetch_add(1, Ordering::Relaxed))
                    };
                    taken.run(&mut chunks)
                },
                |part: Result<Part, BatchError>| {
                    let part = part?;
                    gauge.advance(Stage::Joining, part.probed)?;
                    part.found.into_iter().try_for_each(&mut visit)
                },
            )?;
        }
        Ok(())
    }
}

/// The work of one thread in one table.
struct Taken<'a> {
    index: &'a FingerprintIndex,
    queries: &'a [Fingerprint],
    distance: u32,
    positions: &'a Range<u64>,
    steps: &'a [Step],
    sender: &'a ResultSender<Result<Part, BatchError>>,
    found: Vec<QueryMatch>,
}

/// The end of the work of a thread.
enum End {
    Failed(BatchError),
    Disconnected,
}

impl From<BatchError> for End {
    fn from(error: BatchError) -> Self {
        Self::Failed(error)
    }
}

impl From<Disconnected> for End {
    fn from(_: Disconnected) -> Self {
        Self::Disconnected
    }
}

impl<'a> Taken<'a> {
    fn run(
        &mut self,
        chunks: &mut impl FnMut() -> Option<&'a [(u64, u32)]>,
    ) -> Result<(), Disconnected> {
        match self.probe_all(chunks) {
            Ok(()) => Ok(()),
            Err(End::Failed(error)) => self.sender.send(Err(error)),
            Err(End::Disconnected) => Err(Disconnected),
        }
    }

    fn probe_all(
        &mut self,
        chunks: &mut impl FnMut() -> Option<&'a [(u64, u32)]>,
    ) -> Result<(), End> {
        let mut reader = self.index.read();
        while let Some(chunk) = chunks() {
            for &step in self.steps {
                for &(permuted, query) in chunk {
                    let fingerprint = self.queries[query as usize];
                    let probe = self.index.probe(permuted, fingerprint, self.distance);
                    reader.look(probe, step, |near| {
                        if self.positions.contains(&near.position) {
                            self.found.push(QueryMatch {
                                query,
                                position: near.position,
                                distance: near.distance,
                            });
                        }
                        // Half of the index may equal one query.
                        match self.found.len() < AT_ONCE {
                            true => Ok(()),
                            false => self.hand_over(0),
                        }
                    })?;
                }
            }
            self.hand_over(chunk.len() as u64)?;
        }
        Ok(())
    }

    fn hand_over(&mut self, probed: u64) -> Result<(), End> {
        let found = std::mem::take(&mut self.found);
        Ok(self.sender.send(Ok(Part { probed, found }))?)
    }
}
