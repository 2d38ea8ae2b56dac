//! All similar pairs of different texts.
//!
//! Candidates have fingerprints within the distance or a sketch band in common, as in the crawl.
//! Texts that share a key are neighbours when (key, text) is sorted, and are compared at once;
//! texts with near fingerprints come from the self-join of the different fingerprints. So
//! candidates are never stored, and the size of the files is proportional to the texts and the
//! confirmed pairs.
//!
//! Invariant: each pair is compared by the first key that it shares, so each is found once.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use neardup::clusters::Clusters;

use super::Run;
use crate::control::{Gauge, Step};
use crate::dedup::candidates::{CandidateKeys, FingerprintRuns};
use crate::dedup::comparison::{Compared, Comparison};
use crate::dedup::distinct_texts::DistinctTexts;
use crate::dedup::finding::SimilarPair;
use crate::dedup::stored_signatures::Candidate;
use crate::error::BatchError;
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
        let mut keys = CandidateKeys::of(self.texts, self.run)?;
        // Bands first: texts that they unite need not be compared by fingerprints.
        let mut gauge = Gauge::new(self.run.control, None);
        while let Some((band, run)) = keys.bands.next_run()? {
            gauge.advance(Step::Verifying, run.len() as u64)?;
            if run.len() > 1 {
                let key = Key::Band((band >> 32) as usize);
                self.compare_all(key, run, &mut clusters, &mut found)?;
            }
        }
        self.by_fingerprints(keys, &mut clusters, &mut found)
    }

    fn by_fingerprints<E: From<BatchError>>(
        &self,
        keys: CandidateKeys,
        clusters: &mut Option<&mut Clusters>,
        found: &mut impl FnMut(SimilarPair<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (runs, join) = FingerprintRuns::read(keys, self.run)?;
        for number in 0..runs.len() {
            if runs.texts(number).len() > 1 {
                self.compare_all(Key::Fingerprint, runs.texts(number), clusters, found)?;
            }
        }
        let mut candidates = Vec::with_capacity(AT_ONCE);
        let mut compared = Gauge::new(self.run.control, None);
        join.finish::<E>(self.run.control, |near| {
            let (ones, others) = (runs.texts(near.first), runs.texts(near.second));
            if let Some(clusters) = clusters
                && all_united(clusters, ones.iter().chain(others))
            {
                return Ok(());
            }
            for &one in ones {
                for &other in others {
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
                .map(|&text| self.texts.candidate(text))
                .collect::<Result<Vec<Candidate<'_>>, BatchError>>()
        };
        let loaded = (load(ones)?, if same { Vec::new() } else { load(others)? });
        let theirs = if same { &loaded.0 } else { &loaded.1 };
        for (at, (&a, one)) in ones.iter().zip(&loaded.0).enumerate() {
            let rest = if same { at + 1 } else { 0 };
            for (&b, other) in others[rest..].iter().zip(&theirs[rest..]) {
                if !self.met_before(key, one, other) {
                    alike.extend(self.compared(a, one, b, other)?);
                }
            }
        }
        Ok(())
    }

    /// Returns true if a pair that shares `key` shares an earlier key: fingerprints come after
    /// bands.
    fn met_before(&self, key: Key, one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
        let (one, other) = (&one.banded, &other.banded);
        let bands = match key {
            Key::Band(number) => number,
            Key::Fingerprint if self.run.options.criterion.needs_bands() => one.bands.len(),
            Key::Fingerprint => 0,
        };
        one.bands
            .iter()
            .zip(&other.bands)
            .take(bands)
            .any(|(one, other)| one == other)
    }

    fn compared(
        &self,
        a: u32,
        one: &Candidate<'_>,
        b: u32,
        other: &Candidate<'_>,
    ) -> Result<Option<SimilarPair<u32>>, BatchError> {
        let compared = |text, candidate| Compared { text, candidate };
        let comparison = Comparison::of(self.texts, self.run);
        let match_kind = comparison.match_kind(compared(a, one), compared(b, other))?;
        Ok(match_kind.map(|match_kind| SimilarPair { a, b, match_kind }))
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
            let candidate = self.texts.candidate(text)?;
            let mut others = Vec::with_capacity(parts.len());
            for mut part in parts {
                let mut united = clusters.united(part[0], text);
                for &member in &part {
                    if united {
                        break;
                    }
                    let other = self.texts.candidate(member)?;
                    if let Some(alike) = self.compared(member, &other, text, &candidate)? {
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
            let one = self.texts.candidate(a)?;
            for &(_, b) in same {
                let other = self.texts.candidate(b)?;
                if !self.met_before(Key::Fingerprint, &one, &other) {
                    alike.extend(self.compared(a, &one, b, &other)?);
                }
            }
        }
        Ok(alike)
    }
}

/// Returns true if all these texts are in one cluster.
fn all_united<'t>(clusters: &mut Clusters, mut texts: impl Iterator<Item = &'t u32>) -> bool {
    let Some(&first) = texts.next() else {
        return true;
    };
    texts.all(|&text| clusters.united(first, text))
}
