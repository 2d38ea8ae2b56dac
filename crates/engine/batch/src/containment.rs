//! Containment among many documents: finds documents whose shingles mostly occur in another
//! document.
//!
//! The containment of A in B is |S(A) ∩ S(B)| / |S(A)| (Broder, "On the resemblance and containment
//! of documents", 1997). It is not symmetric, so findings are ordered pairs. A block of documents
//! that fits in memory becomes an inverted index, and every document is looked up in it, block
//! after block. A document with `need` of n shingles contains at least one of any n - `need` + 1 of
//! the shingles. So the rarest n - `need` + 1 shingles propose candidates, and the rest are counted
//! for candidates only (prefix filtering: Chaudhuri, Ganti and Kaushik, ICDE 2006).
//!
//! Invariant: nothing is estimated. The findings equal the result of comparing all pairs,
//! regardless of the memory budget.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use neardup::Shingles;

use crate::control::{Control, Gauge, Step};
use crate::document_id::DocumentId;
use crate::document_names::DocumentNames;
use crate::error::BatchError;
use crate::fields::take;
use crate::scratch::{Scratch, SpillBuffer};
use crate::sorter::Sorter;
use crate::workers::{self, ResultSender};

/// A document as its shingles.
#[derive(Clone, Debug)]
pub struct ShingledDocument {
    /// The name of the document in findings.
    pub id: DocumentId,
    /// The shingles. A document without any contains nothing, and is contained in nothing.
    pub shingles: Shingles,
}

/// A document whose shingles another one contains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Containment<'a> {
    /// The id of the document that is contained.
    pub document: &'a DocumentId,
    /// The id of the document that contains it.
    pub contained_in: &'a DocumentId,
    /// The share of the first document's shingles that the second contains, above 0 to 1.
    pub containment: f64,
}

/// The options of a run.
#[derive(Clone, Debug)]
pub struct ContainmentOptions {
    /// The minimum containment, above 0 to 1.
    pub least: f64,
    /// The approximate memory budget in bytes; at least [`MIN_MEMORY`](crate::MIN_MEMORY) are
    /// used, and 16 bytes for each shingle of the longest document.
    pub memory: usize,
    /// The number of threads that compare.
    pub workers: NonZeroUsize,
    /// The directory for data that exceed the memory, in files without names.
    pub scratch: PathBuf,
}

/// The summary of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContainmentSummary {
    /// The number of documents.
    pub documents: u64,
    /// The number of ordered pairs found.
    pub found: u64,
}

/// A finding, sorted by its documents: the contained one, the other, and the shared shingles.
const FINDING: usize = 3 * 4;

/// The number of documents that a thread takes at once.
const AT_ONCE: u64 = 64;

/// Passes each ordered pair of `documents` whose containment reaches the minimum of `options` to
/// `found`, in the order of the contained documents, then of the containing ones.
///
/// # Errors
/// The errors of the documents and of `found` as they are, and [`BatchError`].
pub fn containments<E: From<BatchError>>(
    documents: impl IntoIterator<Item = Result<ShingledDocument, E>>,
    options: &ContainmentOptions,
    control: Control<'_>,
    mut found: impl FnMut(Containment<'_>) -> Result<(), E>,
) -> Result<ContainmentSummary, E> {
    let scratch = Scratch::new(&options.scratch);
    let memory = options.memory.max(crate::MIN_MEMORY);
    let mut names = DocumentNames::new(&scratch, memory / 8);
    let mut sets = StoredSets::new(&scratch, memory / 8);
    let mut gauge = Gauge::new(control, None);
    for document in documents {
        let document = document?;
        names.push(&document.id)?;
        sets.push(&document.shingles)?;
        gauge.advance(Step::Reading, 1)?;
    }
    let mut findings = Sorter::<FINDING>::new(&scratch, memory / 4);
    let mut count = 0;
    let mut first = 0;
    while first < sets.count {
        let block = Block::read(&sets, first, memory / 2)?;
        first = block.documents.end;
        let mut gauge = Gauge::new(control, Some(sets.count.into()));
        let next = AtomicU64::new(0);
        let work = |sender: &ResultSender<Result<Vec<[u8; FINDING]>, BatchError>>| {
            let mut shared = vec![0; block.documents.len()];
            loop {
                let first = next.fetch_add(AT_ONCE, Ordering::Relaxed);
                let numbers = (0..sets.count).skip(first as usize).take(AT_ONCE as usize);
                if numbers.len() == 0 {
                    return Ok(());
                }
                sender.send(block.containing(&sets, numbers, options.least, &mut shared))?;
            }
        };
        workers::work(options.workers, work, |some| {
            gauge.advance(Step::Joining, AT_ONCE)?;
            for finding in some? {
                findings.push(finding)?;
                count += 1;
            }
            Ok::<(), BatchError>(())
        })?;
    }
    findings.visit_in_order(count, control, |finding| {
        let mut rest = &finding[..];
        let mut number = || u32::from_be_bytes(take(&mut rest));
        let (document, contained_in, shared) = (number(), number(), number());
        found(Containment {
            document: &names.get(document)?,
            contained_in: &names.get(contained_in)?,
            containment: f64::from(shared) / sets.place(document)?.1 as f64,
        })
    })?;
    Ok(ContainmentSummary {
        documents: sets.count.into(),
        found: count,
    })
}

/// The sets of all documents outside memory, in temporary files.
struct StoredSets<'s> {
    hashes: SpillBuffer<'s>,
    /// The end of each set, counted in hashes, eight bytes each.
    ends: SpillBuffer<'s>,
    count: u32,
}

impl<'s> StoredSets<'s> {
    fn new(scratch: &'s Scratch, memory: usize) -> Self {
        Self {
            hashes: SpillBuffer::new(scratch, memory / 2),
            ends: SpillBuffer::new(scratch, memory / 2),
            count: 0,
        }
    }

    fn push(&mut self, shingles: &Shingles) -> Result<(), BatchError> {
        for hash in shingles.hashes() {
            self.hashes.append(&hash.to_le_bytes())?;
        }
        self.ends.append(&(self.hashes.len() / 8).to_le_bytes())?;
        self.count = self.count.checked_add(1).ok_or(BatchError::TooMany)?;
        Ok(())
    }

    /// Returns the position of the first hash of a set, and the number of its hashes.
    fn place(&self, number: u32) -> Result<(u64, u64), BatchError> {
        let mut end = [0; 8];
        self.ends.read_at(u64::from(number) * 8, &mut end)?;
        let mut start = [0; 8];
        if let Some(before) = number.checked_sub(1) {
            self.ends.read_at(u64::from(before) * 8, &mut start)?;
        }
        let start = u64::from_le_bytes(start);
        Ok((start, u64::from_le_bytes(end) - start))
    }

    fn get(&self, number: u32) -> Result<Vec<u64>, BatchError> {
        let (start, count) = self.place(number)?;
        let mut bytes = vec![0; 8 * count as usize];
        self.hashes.read_at(8 * start, &mut bytes)?;
        let (hashes, _none) = bytes.as_chunks();
        Ok(hashes
            .iter()
            .map(|hash| u64::from_le_bytes(*hash))
            .collect())
    }
}

/// Documents that fit in memory, as an inverted index.
struct Block {
    documents: Range<u32>,
    /// A shingle and a document that has it, ascending.
    postings: Vec<(u64, u32)>,
}

impl Block {
    /// Reads documents from `first` on: at least one, and no more than `memory` holds.
    fn read(sets: &StoredSets<'_>, first: u32, memory: usize) -> Result<Self, BatchError> {
        let most = (memory / size_of::<(u64, u32)>()) as u64;
        let mut postings = Vec::new();
        let mut end = first;
        while end < sets.count
            && (end == first || postings.len() as u64 + sets.place(end)?.1 <= most)
        {
            postings.extend(sets.get(end)?.into_iter().map(|hash| (hash, end)));
            end += 1;
        }
        postings.sort_unstable();
        Ok(Self {
            documents: first..end,
            postings,
        })
    }

    /// Returns the documents of the block that contain a document with one of these `numbers`.
    /// `shared` is zero for each document of the block, before and after.
    fn containing(
        &self,
        sets: &StoredSets<'_>,
        numbers: impl Iterator<Item = u32>,
        least: f64,
        shared: &mut [u32],
    ) -> Result<Vec<[u8; FINDING]>, BatchError> {
        let mut findings = Vec::new();
        for number in numbers {
            for (within, count) in self.containing_one(&sets.get(number)?, least, shared) {
                if within != number {
                    let mut finding = [0; FINDING];
                    finding[..4].copy_from_slice(&number.to_be_bytes());
                    finding[4..8].copy_from_slice(&within.to_be_bytes());
                    finding[8..].copy_from_slice(&count.to_be_bytes());
                    findings.push(finding);
                }
            }
        }
        Ok(findings)
    }

    fn containing_one(&self, set: &[u64], least: f64, shared: &mut [u32]) -> Vec<(u32, u32)> {
        if set.is_empty() {
            return Vec::new();
        }
        let mut lists: Vec<&[(u64, u32)]> = set.iter().map(|&hash| self.list(hash)).collect();
        lists.sort_unstable_by_key(|list| list.len());
        let need = needed(set.len(), least);
        let (rarest, others) = lists.split_at(set.len() - need + 1);
        let place = |document: u32| (document - self.documents.start) as usize;
        let mut met = Vec::new();
        for &(_, document) in rarest.iter().copied().flatten() {
            let count = &mut shared[place(document)];
            if *count == 0 {
                met.push(document);
            }
            *count += 1;
        }
        let mut candidates = met.clone();
        for (at, list) in others.iter().enumerate() {
            let left = others.len() - at;
            candidates.retain(|&one| shared[place(one)] as usize + left >= need);
            // A list that is not much longer than the candidates is read whole.
            if list.len() <= MAX_WHOLE_LIST * candidates.len() {
                for &(_, document) in *list {
                    let count = &mut shared[place(document)];
                    *count += u32::from(*count > 0);
                }
            } else {
                for &document in &candidates {
                    let is_there = list
                        .binary_search_by_key(&document, |&(_, one)| one)
                        .is_ok();
                    shared[place(document)] += u32::from(is_there);
                }
            }
        }
        candidates.retain(|&one| shared[place(one)] as usize >= need);
        let found = candidates.iter().map(|&one| (one, shared[place(one)]));
        let found = found.collect();
        for document in met {
            shared[place(document)] = 0;
        }
        found
    }

    fn list(&self, hash: u64) -> &[(u64, u32)] {
        let start = self.postings.partition_point(|&(one, _)| one < hash);
        let rest = &self.postings[start..];
        let end = rest.partition_point(|&(one, _)| one == hash);
        &rest[..end]
    }
}

/// Maximum length of a list per candidate for reading the list as a whole.
const MAX_WHOLE_LIST: usize = 8;

/// Returns the minimum number of shingles that is at least the share `least` of `len` shingles; at
/// least 1.
fn needed(len: usize, least: f64) -> usize {
    let is_enough = |count: usize| count as f64 / len as f64 >= least;
    let about = (least * len as f64) as usize;
    (about.saturating_sub(1).max(1)..len)
        .find(|&count| is_enough(count))
        .unwrap_or(len)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_needed_number_is_the_least_that_suffices(
            len in 1_usize..2_000,
            least in prop_oneof![0.0..=1.0, Just(1.0), Just(0.7), Just(1.0 / 3.0)],
        ) {
            let naive = (1..=len).find(|&count| count as f64 / len as f64 >= least).unwrap();
            prop_assert_eq!(needed(len, least), naive);
        }
    }
}
