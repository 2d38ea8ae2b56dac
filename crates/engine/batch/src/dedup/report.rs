//! Findings from comparisons: one function for each kind.

use neardup::MatchKind;
use neardup::clusters::{Clusters, Groups};

use super::Run;
use crate::control::{Gauge, Step};
use crate::dedup::decisions::Decisions;
use crate::dedup::distinct_texts::DistinctTexts;
use crate::dedup::finding::{Cluster, Duplicate, Finding, Original, SimilarPair};
use crate::dedup::similar_pairs::PairSearch;
use crate::error::BatchError;
use crate::fields::take;
use crate::sorter::{Sorted, Sorter};

/// A function for each kind of findings.
impl Run<'_> {
    /// Hands over each duplicate, in the order of the documents.
    pub(super) fn duplicates<E: From<BatchError>>(
        self,
        texts: &DistinctTexts<'_>,
        mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let decisions = Decisions::of(texts, self)?;
        let mut gauge = Gauge::new(self.control, Some(texts.documents()));
        for document in 0..texts.documents() as u32 {
            gauge.advance(Step::Reporting, 1)?;
            let Some((original, match_kind)) = decisions.original_of(document) else {
                if self.options.originals {
                    let text = texts.candidate(decisions.text_of(document))?;
                    let signature = &text.with_shingles()?;
                    let document = &texts.names.get(document)?;
                    found(Finding::Original(Original {
                        document,
                        signature,
                    }))?;
                }
                continue;
            };
            if let Some(number) = document.checked_sub(texts.reference()) {
                found(Finding::Duplicate(Duplicate {
                    number: number.into(),
                    document: &texts.names.get(document)?,
                    duplicate_of: &texts.names.get(original)?,
                    match_kind,
                }))?;
            }
        }
        Ok(())
    }

    /// Hands over originals with their duplicates.
    pub(super) fn clusters<E: From<BatchError>>(
        self,
        texts: &DistinctTexts<'_>,
        found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let decisions = Decisions::of(texts, self)?;
        let original_of = |document| match decisions.original_of(document) {
            Some((original, _)) => original,
            None => document,
        };
        let originals = (0..texts.documents() as u32).map(original_of).collect();
        self.hand_over(originals, texts, Some(&decisions), found)?;
        Ok(())
    }

    /// Hands over the clusters that chains of similar pairs connect.
    pub(super) fn chains<E: From<BatchError>>(
        self,
        texts: &DistinctTexts<'_>,
        found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut clusters = Clusters::new(texts.len());
        let search = PairSearch { texts, run: self };
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
        self.hand_over(firsts, texts, None, found)?;
        Ok(())
    }

    /// Hands over the clusters of documents, given the first document of the cluster of each.
    fn hand_over<E: From<BatchError>>(
        self,
        firsts: Vec<u32>,
        texts: &DistinctTexts<'_>,
        decisions: Option<&Decisions<'_>>,
        mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let groups =
            Groups::around(&firsts).expect("the first of a cluster is like none before it");
        drop(firsts);
        let mut gauge = Gauge::new(self.control, Some(groups.len() as u64));
        for members in groups.iter() {
            gauge.advance(Step::Reporting, 1)?;
            // Members ascend, so if the last one is of the reference, all are.
            let last = members.last().copied().unwrap_or(0);
            if members.len() > 1 && last >= texts.reference() {
                let names = &texts.names;
                found(Finding::Cluster(Cluster {
                    members,
                    names,
                    decisions,
                }))?;
            }
        }
        Ok(())
    }

    /// Hands over every pair of similar documents.
    pub(super) fn pairs<E: From<BatchError>>(
        self,
        texts: &DistinctTexts<'_>,
        mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sorter = Sorter::new(self.scratch, self.memory() / 8);
        let search = PairSearch { texts, run: self };
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
                // Two documents of the reference are not a pair. Documents ascend.
                let compared = documents.partition_point(|&other| other < texts.reference());
                for &other in &documents[compared.max(at + 1)..] {
                    let match_kind = texts.match_kind_of_equals(one, other);
                    let b = &names.get(other)?;
                    found(Finding::Pair(SimilarPair { a, b, match_kind }))?;
                }
                let of = Some(texts.len().into());
                self.control.advanced(Step::Reporting, text.into(), of)?;
            }
            while let Some(alike) = cursor.head.filter(|alike| alike.a == text) {
                for &one in documents {
                    let one_name = names.get(one)?;
                    for &other in texts.groups.get(alike.b) {
                        if one.max(other) < texts.reference() {
                            continue;
                        }
                        let other_name = names.get(other)?;
                        let (a, b) = if one < other {
                            (&one_name, &other_name)
                        } else {
                            (&other_name, &one_name)
                        };
                        let match_kind = alike.match_kind;
                        found(Finding::Pair(SimilarPair { a, b, match_kind }))?;
                    }
                }
                cursor.advance()?;
            }
        }
        Ok(())
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
    record[8..12].copy_from_slice(&alike.match_kind.distance().to_be_bytes());
    record[12..].copy_from_slice(&alike.match_kind.resemblance().to_be_bytes());
    record
}

fn from_record(record: [u8; RECORD]) -> SimilarPair<u32> {
    let mut rest = &record[..];
    let (a, b) = (
        u32::from_be_bytes(take(&mut rest)),
        u32::from_be_bytes(take(&mut rest)),
    );
    let match_kind = MatchKind::Near {
        distance: u32::from_be_bytes(take(&mut rest)),
        resemblance: f64::from_be_bytes(take(&mut rest)),
    };
    SimilarPair { a, b, match_kind }
}
