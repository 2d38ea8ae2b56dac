//! The decision about each text: original, or near duplicate of an original before it.
//!
//! Texts that share a band or have near fingerprints are found by sorting, and form lists. Then
//! texts are decided in their order: a text is compared with the originals in its lists, and joins
//! the lists if it is like none of the originals. So a text is compared with originals only, and
//! the work grows with the texts and their candidates, regardless of the memory budget.
//!
//! Invariant: where sketches decide, the outcome equals the outcome of one query of a
//! [`SignatureIndex`](neardup::SignatureIndex) per text, one after another, for any memory and any
//! number of threads.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use neardup::MatchKind;
use neardup::keys::MAX_PER_KEY;

use super::Run;
use crate::control::{Gauge, Step};
use crate::dedup::candidates::{CandidateKeys, FingerprintRuns};
use crate::dedup::comparison::{Compared, Comparison};
use crate::dedup::distinct_texts::{DigestHasher, DistinctTexts};
use crate::error::BatchError;
use crate::fields::take;
use crate::sorter::{Sorted, Sorter};

/// The original of a near duplicate.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearOriginal {
    /// The text of the original.
    pub(super) text: u32,
    /// Always [`MatchKind::Near`]: equal texts count as one.
    pub(super) match_kind: MatchKind,
}

/// Decides about all texts; returns the original of each near duplicate, and `None` for originals.
pub(super) fn decide(
    texts: &DistinctTexts<'_>,
    run: Run<'_>,
) -> Result<Vec<Option<NearOriginal>>, BatchError> {
    let mut memberships = memberships(texts, run)?;
    let mut originals = Originals::default();
    let mut head = memberships.next()?;
    let mut gauge = Gauge::new(run.control, Some(texts.len().into()));
    let mut decided = Vec::with_capacity(texts.len() as usize);
    let mut lists = Vec::new();
    for text in 0..texts.len() {
        lists.clear();
        while let Some(membership) = head.map(Membership::from_record)
            && membership.text == text
        {
            lists.push(membership);
            head = memberships.next()?;
        }
        lists.dedup();
        let original = originals.best_match(texts, run, text, &lists)?;
        if original.is_none() {
            originals.add(text, &lists)?;
        }
        decided.push(original);
        gauge.advance(Step::Verifying, 1)?;
    }
    Ok(decided)
}

/// The membership of a text in a list of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Membership {
    text: u32,
    list: u64,
    /// False if the text is compared with the list, but not found by it.
    joins: bool,
}

/// The size of a stored membership.
const RECORD: usize = 4 + 8 + 1;

impl Membership {
    fn to_record(self) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        record[..4].copy_from_slice(&self.text.to_be_bytes());
        record[4..12].copy_from_slice(&self.list.to_be_bytes());
        record[12] = self.joins.into();
        record
    }

    fn from_record(record: [u8; RECORD]) -> Self {
        let mut rest = &record[..];
        Self {
            text: u32::from_be_bytes(take(&mut rest)),
            list: u64::from_be_bytes(take(&mut rest)),
            joins: take(&mut rest) == [1],
        }
    }
}

/// Returns the memberships of all texts, by text. Texts that share no key with another text do not
/// have any.
fn memberships(texts: &DistinctTexts<'_>, run: Run<'_>) -> Result<Sorted<RECORD>, BatchError> {
    let mut sorter = Sorter::new(run.scratch, run.memory() / 8);
    let mut push = |text, list, joins| sorter.push(Membership { text, list, joins }.to_record());
    let mut keys = CandidateKeys::of(texts, run)?;
    while let Some((_, sharing)) = keys.bands.next_run()? {
        if sharing.len() > 1 {
            let list = list_of_members(sharing);
            sharing
                .iter()
                .try_for_each(|&text| push(text, list, true))?;
        }
    }
    let (runs, join) = FingerprintRuns::read(keys, run)?;
    for number in 0..runs.len() {
        let equal = runs.texts(number);
        if equal.len() > 1 {
            equal
                .iter()
                .try_for_each(|&text| push(text, list_of_run(number), true))?;
        }
    }
    join.finish::<BatchError>(run.control, |near| {
        for (number, other) in [(near.first, near.second), (near.second, near.first)] {
            for &text in runs.texts(number) {
                push(text, list_of_run(number), true)?;
                push(text, list_of_run(other), false)?;
            }
        }
        Ok(())
    })?;
    Ok(sorter.finish())
}

/// Returns the list of the texts that share a band. Bands that the same texts share have one list,
/// so a pair that shares all its bands is met once.
fn list_of_members(run: &[u32]) -> u64 {
    run.iter()
        .fold(0, |list, &text| mix(list ^ u64::from(text)))
}

/// Returns the list of the texts that have the fingerprint of this run.
fn list_of_run(number: u32) -> u64 {
    mix(1 << 32 | u64::from(number))
}

/// Returns the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Lists whose numbers
/// coincide only bring more candidates.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// The originals so far, in lists that later texts search.
#[derive(Default)]
struct Originals {
    /// The last entry of each list.
    lists: HashMap<u64, u32, BuildHasherDefault<DigestHasher>>,
    entries: Vec<ListEntry>,
    candidates: Vec<u32>,
}

#[derive(Clone, Copy)]
struct ListEntry {
    text: u32,
    /// The previous entry in its list; [`NO_ENTRY`] for the first.
    previous: u32,
    /// The number of entries of the list up to this one.
    len: u32,
}

const NO_ENTRY: u32 = u32::MAX;

impl Originals {
    /// Returns the original in these lists that is most similar to `text`, the earliest of equals.
    fn best_match(
        &mut self,
        texts: &DistinctTexts<'_>,
        run: Run<'_>,
        text: u32,
        lists: &[Membership],
    ) -> Result<Option<NearOriginal>, BatchError> {
        self.candidates.clear();
        for membership in lists {
            let mut next = self.lists.get(&membership.list).copied();
            while let Some(entry) = next.and_then(|at| self.entries.get(at as usize)) {
                self.candidates.push(entry.text);
                next = Some(entry.previous);
            }
        }
        if self.candidates.is_empty() {
            return Ok(None);
        }
        self.candidates.sort_unstable();
        self.candidates.dedup();
        let comparison = Comparison::of(texts, run);
        let compared = texts.candidate(text)?;
        let compared = Compared {
            text,
            candidate: &compared,
        };
        let mut best: Option<(f64, NearOriginal)> = None;
        for &candidate in &self.candidates {
            let other = texts.candidate(candidate)?;
            let other = Compared {
                text: candidate,
                candidate: &other,
            };
            let match_kind = comparison.match_kind(compared, other)?;
            let Some(match_kind @ MatchKind::Near { resemblance, .. }) = match_kind else {
                continue;
            };
            if best.is_none_or(|(highest, _)| resemblance > highest) {
                let original = NearOriginal {
                    text: candidate,
                    match_kind,
                };
                best = Some((resemblance, original));
            }
        }
        Ok(best.map(|(_, original)| original))
    }

    /// Adds an original to the lists that it joins. A list holds [`MAX_PER_KEY`] texts at most, as
    /// a key of the signature index does.
    fn add(&mut self, text: u32, lists: &[Membership]) -> Result<(), BatchError> {
        for membership in lists.iter().filter(|membership| membership.joins) {
            let last = self.lists.entry(membership.list).or_insert(NO_ENTRY);
            let len = self.entries.get(*last as usize).map_or(0, |last| last.len);
            if len as usize >= MAX_PER_KEY {
                continue;
            }
            let entry = ListEntry {
                text,
                previous: *last,
                len: len + 1,
            };
            *last = u32::try_from(self.entries.len())
                .ok()
                .filter(|at| *at != NO_ENTRY)
                .ok_or(BatchError::TooMany)?;
            self.entries.push(entry);
        }
        Ok(())
    }
}
