//! Findings from comparisons: one function for each kind.

use neardup::{Clusters, Groups, Likeness};

use super::{Document, Run};
use crate::control::{Gauge, Step};
use crate::dedup::distinct_texts::DistinctTexts;
use crate::dedup::encoding::DocumentNames;
use crate::dedup::finding::{Cluster, Duplicate, Finding, SimilarPair};
use crate::dedup::originals::{Decision, decide};
use crate::dedup::similar_pairs::PairSearch;
use crate::error::BatchError;
use crate::fields::take;
use crate::sorter::{Sorted, Sorter};

/// A function for each kind of findings; each returns the number of documents.
impl Run<'_> {
    /// Hands over each duplicate as soon as it is known.
    pub(super) fn duplicates<E: From<BatchError>>(
        self,
        documents: impl Iterator<Item = Result<Document, E>>,
        mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        // The numbers of the originals, ascending, and their names in the same order.
        let mut numbers: Vec<u32> = Vec::new();
        let mut names = DocumentNames::new(self.scratch, self.memory() / 8);
        decide(documents, self, |number, id, decision| {
            match decision {
                Decision::Pending => {}
                Decision::Original => {
                    numbers.push(number);
                    names.push(id)?;
                }
                Decision::Duplicate(like) => {
                    let place = numbers.partition_point(|&number| u64::from(number) < like.of);
                    found(Finding::Duplicate(Duplicate {
                        document: id,
                        duplicate_of: &names.get(place as u32)?,
                        likeness: like.likeness,
                    }))?;
                }
            }
            Ok(())
        })
    }

    /// Hands over originals with their duplicates.
    pub(super) fn clusters<E: From<BatchError>>(
        self,
        documents: impl Iterator<Item = Result<Document, E>>,
        found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        // The original of each document, which may be the document itself.
        let mut originals: Vec<u32> = Vec::new();
        let mut names = DocumentNames::new(self.scratch, self.memory() / 8);
        let count = decide(documents, self, |number, id, decision| {
            match decision {
                Decision::Pending => {
                    originals.push(number);
                    names.push(id)?;
                }
                Decision::Original => {}
                Decision::Duplicate(like) => originals[number as usize] = like.of as u32,
            }
            Ok(())
        })?;
        self.hand_over(originals, &names, found)?;
        Ok(count)
    }

    /// Hands over the clusters that chains of similar pairs connect.
    pub(super) fn chains<E: From<BatchError>>(
        self,
        documents: impl Iterator<Item = Result<Document, E>>,
        found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let texts = DistinctTexts::read(documents, self)?;
        let mut clusters = Clusters::new(texts.len());
        let search = PairSearch {
            texts: &texts,
            run: self,
        };
        search.find(Some(&mut clusters), |_| Ok::<(), BatchError>(()))?;
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
        self.hand_over(firsts, &texts.names, found)?;
        Ok(texts.documents())
    }

    /// Hands over the clusters of documents, given the first document of the cluster of each.
    fn hand_over<E: From<BatchError>>(
        self,
        firsts: Vec<u32>,
        names: &DocumentNames<'_>,
        mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let groups =
            Groups::around(&firsts).expect("the first of a cluster is like none before it");
        drop(firsts);
        let mut gauge = Gauge::new(self.control, Some(groups.len() as u64));
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
        self,
        documents: impl Iterator<Item = Result<Document, E>>,
        mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let texts = DistinctTexts::read(documents, self)?;
        let mut sorter = Sorter::new(self.scratch, self.memory() / 8);
        let search = PairSearch {
            texts: &texts,
            run: self,
        };
        search.find(None, |alike| sorter.push(to_record(alike)))?;
        let mut cursor = PairCursor {
            sorted: sorter.finish(),
            head: None,
        };
        cursor.advance()?;
        let mut gauge = Gauge::new(self.control, Some(texts.len().into()));
        let names = &texts.names;
        for (text, documents) in (0..).zip(texts.groups.iter()) {
            gauge.advance(Step::Reporting, 1)?;
            for (at, &one) in documents[..documents.len() - 1].iter().enumerate() {
                let a = &names.get(one)?;
                for &other in &documents[at + 1..] {
                    let likeness = if texts.same_payload(one, other) {
                        Likeness::SamePayload
                    } else {
                        Likeness::SameText
                    };
                    let b = &names.get(other)?;
                    found(Finding::Pair(SimilarPair { a, b, likeness }))?;
                }
                let of = Some(texts.len().into());
                self.control.advanced(Step::Reporting, text.into(), of)?;
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

/// The size of a stored pair: two texts, distance, resemblance. Different texts can only be near.
const RECORD: usize = 4 + 4 + 4 + 8;

fn to_record(alike: SimilarPair<u32>) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..4].copy_from_slice(&alike.a.to_be_bytes());
    record[4..8].copy_from_slice(&alike.b.to_be_bytes());
    record[8..12].copy_from_slice(&alike.likeness.distance().to_be_bytes());
    record[12..].copy_from_slice(&alike.likeness.resemblance().to_be_bytes());
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
