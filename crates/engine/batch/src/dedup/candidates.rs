//! Sorted keys that make texts candidates.
//!
//! Candidates share a band or have fingerprints within the distance, as in a crawl. Texts that
//! share a key are neighbours when (key, text) is sorted; near fingerprints come from the
//! [`SelfJoin`] of the different fingerprints.

use super::Run;
use crate::control::{Gauge, Step};
use crate::dedup::distinct_texts::DistinctTexts;
use crate::error::BatchError;
use crate::fields::take;
use crate::self_join::SelfJoin;
use crate::sorter::{Sorted, Sorter};

/// The keys of all texts that may have near duplicates.
pub(super) struct CandidateKeys {
    /// Texts that share a band. The number of the band is above its 32 bits.
    pub(super) bands: Runs,
    fingerprints: Runs,
}

impl CandidateKeys {
    /// Sorts the keys of `texts`.
    pub(super) fn of(texts: &DistinctTexts<'_>, run: Run<'_>) -> Result<Self, BatchError> {
        let mut fingerprints = Sorter::new(run.scratch, run.memory() / 8);
        let mut bands = Sorter::new(run.scratch, run.memory() / 4);
        let needs_bands = run.options.criterion.needs_bands();
        let mut gauge = Gauge::new(run.control, Some(texts.len().into()));
        for text in 0..texts.len() {
            gauge.advance(Step::Sorting, 1)?;
            let banded = texts.signature(text)?;
            // A text without bands has no near duplicates.
            let Some(comparable) = banded.signature.text.filter(|_| !banded.bands.is_empty())
            else {
                continue;
            };
            fingerprints.push(keyed(comparable.fingerprint.as_u64(), text))?;
            let keys = banded.bands.iter().filter(|_| needs_bands);
            for (number, &key) in (0_u64..).zip(keys) {
                bands.push(keyed(number << 32 | u64::from(key), text))?;
            }
        }
        Ok(Self {
            bands: Runs::new(bands.finish()),
            fingerprints: Runs::new(fingerprints.finish()),
        })
    }
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
pub(super) struct Runs {
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

    /// Returns the next key and its texts, ascending.
    pub(super) fn next_run(&mut self) -> Result<Option<(u64, &[u32])>, BatchError> {
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

/// All texts in the order of their fingerprints: one run per fingerprint.
pub(super) struct FingerprintRuns {
    texts: Vec<u32>,
    ends: Vec<u32>,
}

impl FingerprintRuns {
    /// Reads the runs, and prepares the join of the different fingerprints, which are numbered like
    /// the runs.
    pub(super) fn read<'s>(
        mut keys: CandidateKeys,
        run: Run<'s>,
    ) -> Result<(Self, SelfJoin<'s>), BatchError> {
        let (distance, workers) = (run.options.criterion.distance(), run.options.workers);
        let mut join = SelfJoin::new(run.scratch, distance, run.memory() / 4, workers);
        let mut runs = Self {
            texts: Vec::new(),
            ends: Vec::new(),
        };
        while let Some((fingerprint, run)) = keys.fingerprints.next_run()? {
            join.push(fingerprint, runs.len())?;
            runs.texts.extend_from_slice(run);
            runs.ends.push(runs.texts.len() as u32);
        }
        Ok((runs, join))
    }

    /// Returns the number of runs.
    pub(super) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Returns the texts of a run, ascending.
    pub(super) fn texts(&self, run: u32) -> &[u32] {
        let start = match run.checked_sub(1) {
            Some(before) => self.ends[before as usize] as usize,
            None => 0,
        };
        &self.texts[start..self.ends[run as usize] as usize]
    }
}
