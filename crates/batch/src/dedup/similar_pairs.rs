//! All similar pairs of different texts.
//!
//! Candidates have fingerprints within the distance or a sketch band in common, as in the crawl.
//! Texts that share a key are neighbours when (key, text) is sorted, and are compared at once;
//! texts with near fingerprints come from the [`SelfJoin`] of the different fingerprints. So
//! candidates are never stored, and the size of the files is proportional to the texts and the
//! confirmed pairs.
//!
//! Invariant: each pair is compared by the first key that it shares, so each is found once.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use neardup::{Clusters, PageSignature};

use super::Run;
use crate::control::{Gauge, Step};
use crate::dedup::distinct_texts::{DistinctTexts, comparable};
use crate::dedup::finding::SimilarPair;
use crate::error::BatchError;
use crate::fields::take;
use crate::self_join::SelfJoin;
use crate::sorter::{Sorted, Sorter};
use crate::workers::{self, ResultSender};

/// A search for similar pairs.
pub(super) struct PairSearch<'a> {
    pub(super) texts: &'a DistinctTexts<'a>,
    pub(super) run: Run<'a>,
}

/// The key that candidates share: the band with this number, or near fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Band(usize),
    Fingerprint,
}

/// The number of candidates that are compared at once.
const AT_ONCE: usize = 1 << 16;
/// The number of signatures that are compared with as many others at once.
const TILE: usize = 256;

impl PairSearch<'_> {
    /// Gives each pair to `found`, once, in no particular order. If `clusters` are given, similar
    /// texts are united in them, and texts that are united already are not compared: then not every
    /// pair is found.
    pub(super) fn find<E: From<BatchError>>(
        &self,
        mut clusters: Option<&mut Clusters>,
        mut found: impl FnMut(SimilarPair<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (scratch, memory) = (self.run.scratch, self.run.memory());
        let mut fingerprints = Sorter::new(scratch, memory / 8);
        let mut bands = Sorter::new(scratch, memory / 4);
        let mut gauge = Gauge::new(self.run.control, Some(self.texts.len().into()));
        for text in 0..self.texts.len() {
            gauge.advance(Step::Sorting, 1)?;
            let signature = self.texts.signature(text)?;
            let Some(comparable) = comparable(&signature) else {
                continue;
            };
            fingerprints.push(keyed(comparable.fingerprint.as_u64(), text))?;
            let sketch = comparable.sketch.as_ref();
            for band in sketch.map(|sketch| sketch.bands()).into_iter().flatten() {
                bands.push(keyed(band, text))?;
            }
        }

        // Bands first: texts that they unite need not be compared by fingerprints.
        let mut gauge = Gauge::new(self.run.control, None);
        let mut runs = Runs::new(bands.finish());
        while let Some((band, run)) = runs.next_run()? {
            gauge.advance(Step::Verifying, run.len() as u64)?;
            if run.len() > 1 {
                // The number of a band stands above its 32 bits.
                let key = Key::Band((band >> 32) as usize);
                self.compare_all(key, run, &mut clusters, &mut found)?;
            }
        }
        drop(runs);
        self.by_fingerprints(Runs::new(fingerprints.finish()), &mut clusters, &mut found)
    }

    fn by_fingerprints<E: From<BatchError>>(
        &self,
        mut runs: Runs,
        clusters: &mut Option<&mut Clusters>,
        found: &mut impl FnMut(SimilarPair<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let options = self.run.options;
        let mut join = SelfJoin::new(
            self.run.scratch,
            options.thresholds.distance(),
            self.run.memory() / 4,
            options.workers,
        );
        // All texts in the order of their fingerprints. Different fingerprints are joined by the
        // position at which their texts begin.
        let mut ordered: Vec<u32> = Vec::new();
        let mut ends: Vec<u32> = Vec::new();
        while let Some((bits, run)) = runs.next_run()? {
            if run.len() > 1 {
                self.compare_all(Key::Fingerprint, run, clusters, found)?;
            }
            join.push(bits, ends.len() as u32)?;
            ordered.extend_from_slice(run);
            ends.push(ordered.len() as u32);
        }
        drop(runs);

        let run = |number: u32| {
            let start = number
                .checked_sub(1)
                .map_or(0, |before| ends[before as usize]);
            start as usize..ends[number as usize] as usize
        };
        let mut candidates = Vec::with_capacity(AT_ONCE);
        let mut compared = Gauge::new(self.run.control, None);
        join.finish::<E>(self.run.control, |near| {
            if let Some(clusters) = clusters
                && all_united(clusters, &ordered, &[run(near.first), run(near.second)])
            {
                return Ok(());
            }
            for &one in &ordered[run(near.first)] {
                for &other in &ordered[run(near.second)] {
                    if let Some(clusters) = clusters
                        && clusters.united(one, other)
                    {
                        continue;
                    }
                    candidates.push((one.min(other), one.max(other)));
                    if candidates.len() == AT_ONCE {
                        compared.advance(Step::Verifying, AT_ONCE as u64)?;
                        self.compare_candidates(&mut candidates, clusters, found)?;
                    }
                }
            }
            Ok(())
        })?;
        self.compare_candidates(&mut candidates, clusters, found)
    }

    /// Compares all texts of `run` with each other.
    fn compare_all<E: From<BatchError>>(
        &self,
        key: Key,
        run: &[u32],
        clusters: &mut Option<&mut Clusters>,
        found: &mut impl FnMut(SimilarPair<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(clusters) = clusters {
            return self.unite_all(run, clusters, found);
        }
        let tiles = run.len().div_ceil(TILE);
        if tiles == 1 {
            let mut alike = Vec::new();
            self.compare_tiles(key, run, run, true, &mut alike)?;
            return alike.into_iter().try_for_each(found);
        }
        let tile = |number: usize| &run[number * TILE..run.len().min((number + 1) * TILE)];
        let next = AtomicUsize::new(0);
        let work = |sender: &ResultSender<Result<Vec<SimilarPair<u32>>, BatchError>>| loop {
            let row = next.fetch_add(1, Ordering::Relaxed);
            if row >= tiles {
                return Ok(());
            }
            for column in row..tiles {
                let mut alike = Vec::new();
                let compared =
                    self.compare_tiles(key, tile(row), tile(column), row == column, &mut alike);
                sender.send(compared.map(|()| alike))?;
            }
        };
        workers::work(self.run.options.workers, work, |alike| {
            self.run.control.advanced(Step::Verifying, 0, None)?;
            alike?.into_iter().try_for_each(&mut *found)
        })
    }

    fn compare_tiles(
        &self,
        key: Key,
        ones: &[u32],
        others: &[u32],
        same: bool,
        alike: &mut Vec<SimilarPair<u32>>,
    ) -> Result<(), BatchError> {
        let load = |texts: &[u32]| {
            texts
                .iter()
                .map(|&text| self.texts.signature(text))
                .collect::<Result<Vec<PageSignature>, BatchError>>()
        };
        let signatures = (load(ones)?, if same { Vec::new() } else { load(others)? });
        let theirs = if same { &signatures.0 } else { &signatures.1 };
        for (at, (&a, one)) in ones.iter().zip(&signatures.0).enumerate() {
            let rest = if same { at + 1 } else { 0 };
            for (&b, other) in others[rest..].iter().zip(&theirs[rest..]) {
                if !self.met_before(key, one, other) {
                    alike.extend(self.compared(a, one, b, other));
                }
            }
        }
        Ok(())
    }

    /// Returns true if a pair that shares `key` shares an earlier key: fingerprints come after
    /// bands.
    fn met_before(&self, key: Key, one: &PageSignature, other: &PageSignature) -> bool {
        let (Some(one), Some(other)) = (comparable(one), comparable(other)) else {
            return false;
        };
        let (Some(ones), Some(others)) = (&one.sketch, &other.sketch) else {
            return false;
        };
        let (ones, others) = (ones.bands(), others.bands());
        let bands = match key {
            Key::Band(number) => number,
            Key::Fingerprint => ones.len(),
        };
        ones.iter()
            .zip(&others)
            .take(bands)
            .any(|(one, other)| one == other)
    }

    fn compared(
        &self,
        a: u32,
        one: &PageSignature,
        b: u32,
        other: &PageSignature,
    ) -> Option<SimilarPair<u32>> {
        let likeness = self.run.options.thresholds.likeness(one, other)?;
        Some(SimilarPair { a, b, likeness })
    }

    /// Unites similar texts of `run`. A text is compared with the members of each cluster until one
    /// is similar, so a million similar texts cost a million comparisons.
    fn unite_all<E: From<BatchError>>(
        &self,
        run: &[u32],
        clusters: &mut Clusters,
        found: &mut impl FnMut(SimilarPair<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for &text in run {
            let mut own = vec![text];
            let signature = self.texts.signature(text)?;
            let mut others = Vec::with_capacity(parts.len());
            for mut part in parts {
                let mut united = clusters.united(part[0], text);
                for &member in &part {
                    if united {
                        break;
                    }
                    if let Some(alike) =
                        self.compared(member, &self.texts.signature(member)?, text, &signature)
                    {
                        united = clusters.unite(member, text);
                        found(alike)?;
                    }
                }
                if united {
                    // The larger list takes in the smaller.
                    if part.len() > own.len() {
                        std::mem::swap(&mut part, &mut own);
                    }
                    own.append(&mut part);
                } else {
                    others.push(part);
                }
            }
            others.push(own);
            parts = others;
        }
        Ok(())
    }

    /// Compares candidates by near fingerprints, on all threads.
    fn compare_candidates<E: From<BatchError>>(
        &self,
        candidates: &mut Vec<(u32, u32)>,
        clusters: &mut Option<&mut Clusters>,
        found: &mut impl FnMut(SimilarPair<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Sorted, so that a text is read once for all its candidates, and the others in the order
        // of their places.
        candidates.sort_unstable();
        let workers = if candidates.len() < TILE {
            NonZeroUsize::MIN
        } else {
            self.run.options.workers
        };
        let share = candidates.len().div_ceil(workers.get()).max(1);
        let next = AtomicUsize::new(0);
        let work = |sender: &ResultSender<Result<Vec<SimilarPair<u32>>, BatchError>>| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let mine = candidates.chunks(share).nth(number).unwrap_or_default();
            sender.send(self.compare_pairs(mine))
        };
        workers::work(workers, work, |alike| {
            for alike in alike? {
                if let Some(clusters) = clusters {
                    clusters.unite(alike.a, alike.b);
                }
                found(alike)?;
            }
            Ok::<(), E>(())
        })?;
        candidates.clear();
        Ok(())
    }

    fn compare_pairs(&self, pairs: &[(u32, u32)]) -> Result<Vec<SimilarPair<u32>>, BatchError> {
        let mut alike = Vec::new();
        for same in pairs.chunk_by(|(one, _), (other, _)| one == other) {
            let a = same[0].0;
            let one = self.texts.signature(a)?;
            for &(_, b) in same {
                let other = self.texts.signature(b)?;
                if !self.met_before(Key::Fingerprint, &one, &other) {
                    alike.extend(self.compared(a, &one, b, &other));
                }
            }
        }
        Ok(alike)
    }
}

/// Returns true if all these texts are in one cluster.
fn all_united(clusters: &mut Clusters, texts: &[u32], runs: &[Range<usize>]) -> bool {
    let first = texts[runs[0].start];
    runs.iter()
        .flat_map(|run| &texts[run.clone()])
        .all(|&text| clusters.united(first, text))
}

/// Returns the record of a text under a key: records are in the order of their keys.
fn keyed(key: u64, text: u32) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..8].copy_from_slice(&key.to_be_bytes());
    record[8..].copy_from_slice(&text.to_be_bytes());
    record
}

/// The size of a record: a key and a text.
const RECORD: usize = 8 + 4;

/// Texts with equal keys, one run after another.
struct Runs {
    sorted: Sorted<RECORD>,
    head: Option<(u64, u32)>,
    run: Vec<u32>,
}

impl Runs {
    fn new(sorted: Sorted<RECORD>) -> Self {
        Self {
            sorted,
            head: None,
            run: Vec::new(),
        }
    }

    fn next(&mut self) -> Result<Option<(u64, u32)>, BatchError> {
        Ok(self.sorted.next()?.map(|record| {
            let mut rest = &record[..];
            let key = u64::from_be_bytes(take(&mut rest));
            (key, u32::from_be_bytes(take(&mut rest)))
        }))
    }

    fn next_run(&mut self) -> Result<Option<(u64, &[u32])>, BatchError> {
        let head = match self.head.take() {
            Some(head) => Some(head),
            None => self.next()?,
        };
        let Some((key, first)) = head else {
            return Ok(None);
        };
        self.run.clear();
        self.run.push(first);
        while let Some((other, text)) = self.next()? {
            if other != key {
                self.head = Some((other, text));
                break;
            }
            self.run.push(text);
        }
        Ok(Some((key, &self.run)))
    }
}
