//! Findings from comparisons: one function for each kind.

use neardup::{Clusters, Groups, Likeness, Match, Representatives};

use super::{Document, Options};
use crate::control::{Control, Gauge, Step};
use crate::dedup::distinct_texts::DistinctTexts;
use crate::dedup::encoding::{DocumentNames, take};
use crate::dedup::finding::{Cluster, Duplicate, Finding, SimilarPair};
use crate::dedup::originals::{DecisionVisitor, decide};
use crate::dedup::similar_pairs::PairSearch;
use crate::error::BatchError;
use crate::scratch::Scratch;
use crate::sorter::{Sorted, Sorter};

/// Hands over each duplicate as soon as it is known.
pub(super) fn duplicates<E: From<BatchError>>(
    documents: impl Iterator<Item = Result<Document, E>>,
    options: &Options,
    scratch: &Scratch,
    control: Control<'_>,
    found: impl FnMut(Finding<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let mut ledger = StreamingReport {
        numbers: Vec::new(),
        names: DocumentNames::new(scratch, options.memory_for_reports()),
        found,
    };
    decide(documents, options, scratch, control, &mut ledger)
}

struct StreamingReport<'s, F> {
    /// The numbers of the originals, ascending, and their names in the same order.
    numbers: Vec<u32>,
    names: DocumentNames<'s>,
    found: F,
}

impl<E: From<BatchError>, F: FnMut(Finding<'_>) -> Result<(), E>> DecisionVisitor<E>
    for StreamingReport<'_, F>
{
    fn on_document(&mut self, _: u32, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn on_original(&mut self, number: u32, id: &str) -> Result<(), E> {
        self.numbers.push(number);
        Ok(self.names.push(id)?)
    }

    fn on_duplicate(&mut self, _: u32, id: &str, like: Match) -> Result<(), E> {
        let place = self
            .numbers
            .partition_point(|&number| u64::from(number) < like.of);
        let on_original = self.names.get(place as u32)?;
        (self.found)(Finding::Duplicate(Duplicate {
            document: id,
            duplicate_of: &on_original,
            likeness: like.likeness,
        }))
    }
}

/// Hands over originals with their duplicates.
pub(super) fn clusters<E: From<BatchError>>(
    documents: impl Iterator<Item = Result<Document, E>>,
    options: &Options,
    scratch: &Scratch,
    control: Control<'_>,
    found: impl FnMut(Finding<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let mut ledger = DeferredReport {
        originals: Vec::new(),
        names: DocumentNames::new(scratch, options.memory_for_reports()),
    };
    let count = decide(documents, options, scratch, control, &mut ledger)?;
    let DeferredReport { originals, names } = ledger;
    hand_over(&grouped(originals.into_iter()), &names, control, found)?;
    Ok(count)
}

struct DeferredReport<'s> {
    /// The original of each document, which may be the document itself.
    originals: Vec<u32>,
    names: DocumentNames<'s>,
}

impl<E: From<BatchError>> DecisionVisitor<E> for DeferredReport<'_> {
    fn on_document(&mut self, number: u32, id: &str) -> Result<(), E> {
        self.originals.push(number);
        Ok(self.names.push(id)?)
    }

    fn on_original(&mut self, _: u32, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn on_duplicate(&mut self, number: u32, _: &str, like: Match) -> Result<(), E> {
        self.originals[number as usize] = like.of as u32;
        Ok(())
    }
}

/// Hands over the clusters that chains of similar pairs connect.
pub(super) fn chains<E: From<BatchError>>(
    documents: impl Iterator<Item = Result<Document, E>>,
    options: &Options,
    scratch: &Scratch,
    control: Control<'_>,
    found: impl FnMut(Finding<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let texts = DistinctTexts::read(documents, options, scratch, control)?;
    let mut clusters = Clusters::new(texts.len());
    let search = PairSearch {
        texts: &texts,
        options,
        scratch,
        control,
    };
    search.run(Some(&mut clusters), |_| Ok::<(), BatchError>(()))?;
    let mut firsts = vec![0; texts.documents() as usize];
    // Texts are in the order of their first documents, so the first text of a cluster has the
    // cluster's first document.
    let mut first_of_root = vec![u32::MAX; texts.len() as usize];
    for (text, documents) in (0..).zip(texts.groups.iter()) {
        let first = &mut first_of_root[clusters.root(text) as usize];
        *first = (*first).min(documents[0]);
        for &document in documents {
            firsts[document as usize] = *first;
        }
    }
    drop((clusters, first_of_root));
    hand_over(&grouped(firsts.into_iter()), &texts.names, control, found)?;
    Ok(texts.documents())
}

/// Groups documents with the same first one.
fn grouped(firsts: impl Iterator<Item = u32>) -> Groups {
    let mut representatives = Representatives::new();
    for (document, first) in (0..).zip(firsts) {
        if first == document {
            representatives.add_original();
        } else {
            representatives
                .add_like(first)
                .expect("the first of a cluster is like none before it");
        }
    }
    representatives.into_groups()
}

fn hand_over<E: From<BatchError>>(
    groups: &Groups,
    names: &DocumentNames<'_>,
    control: Control<'_>,
    mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut gauge = Gauge::new(control, Some(groups.len() as u64));
    for members in groups.iter() {
        gauge.advance(Step::Reporting, 1)?;
        if members.len() > 1 {
            found(Finding::Cluster(Cluster { members, names }))?;
        }
    }
    Ok(())
}

/// Hands over every pair of similar documents.
pub(super) fn pairs<E: From<BatchError>>(
    documents: impl Iterator<Item = Result<Document, E>>,
    options: &Options,
    scratch: &Scratch,
    control: Control<'_>,
    mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let texts = DistinctTexts::read(documents, options, scratch, control)?;
    let mut sorter = Sorter::new(scratch, options.memory_for_reports());
    let search = PairSearch {
        texts: &texts,
        options,
        scratch,
        control,
    };
    search.run(None, |alike| sorter.push(to_record(alike)))?;
    let mut cursor = PairCursor {
        sorted: sorter.finish(),
        head: None,
    };
    cursor.advance()?;
    let mut gauge = Gauge::new(control, Some(texts.len().into()));
    let names = &texts.names;
    for (text, documents) in (0..).zip(texts.groups.iter()) {
        gauge.advance(Step::Reporting, 1)?;
        for (at, &one) in documents[..documents.len() - 1].iter().enumerate() {
            let a = names.get(one)?;
            for &other in &documents[at + 1..] {
                let likeness = if texts.same_payload(one, other) {
                    Likeness::SamePayload
                } else {
                    Likeness::SameText
                };
                let b = names.get(other)?;
                found(Finding::Pair(SimilarPair {
                    a: &a,
                    b: &b,
                    likeness,
                }))?;
            }
            control.advanced(Step::Reporting, text.into(), Some(texts.len().into()))?;
        }
        while let Some(alike) = cursor.head.filter(|alike| alike.a == text) {
            for &one in documents {
                let one_name = names.get(one)?;
                for &other in texts.groups.get(alike.b) {
                    let other_name = names.get(other)?;
                    let (a, b) = if one < other {
                        (&one_name, &other_name)
                    } else {
                        (&other_name, &one_name)
                    };
                    let likeness = alike.likeness;
                    found(Finding::Pair(SimilarPair { a, b, likeness }))?;
                }
            }
            cursor.advance()?;
        }
    }
    Ok(texts.documents())
}

/// A cursor over sorted pairs of similar texts.
struct PairCursor {
    sorted: Sorted<RECORD>,
    head: Option<SimilarPair<u32>>,
}

impl PairCursor {
    fn advance(&mut self) -> Result<(), BatchError> {
        self.head = self.sorted.next()?.map(from_record);
        Ok(())
    }
}

/// The size of a stored pair: two texts, distance, resemblance.
const RECORD: usize = 4 + 4 + 4 + 8;

fn to_record(alike: SimilarPair<u32>) -> [u8; RECORD] {
    let (distance, resemblance) = match alike.likeness {
        Likeness::Near {
            distance,
            resemblance,
        } => (distance, resemblance),
        // Different texts can only be near.
        Likeness::SamePayload | Likeness::SameText => (0, 1.0),
    };
    let mut record = [0; RECORD];
    record[..4].copy_from_slice(&alike.a.to_be_bytes());
    record[4..8].copy_from_slice(&alike.b.to_be_bytes());
    record[8..12].copy_from_slice(&distance.to_be_bytes());
    record[12..].copy_from_slice(&resemblance.to_be_bytes());
    record
}

fn from_record(record: [u8; RECORD]) -> SimilarPair<u32> {
    let mut rest = &record[..];
    let (a, b) = (
        u32::from_be_bytes(take(&mut rest)),
        u32::from_be_bytes(take(&mut rest)),
    );
    let likeness = Likeness::Near {
        distance: u32::from_be_bytes(take(&mut rest)),
        resemblance: f64::from_be_bytes(take(&mut rest)),
    };
    SimilarPair { a, b, likeness }
}
