//! A union of two queries, title or text, that is evaluated page by page.
//!
//! tantivy's union collects 4,096 pages ahead with their scores, which suits a top-level union.
//! Within a conjunction most of that work is wasted, and a phrase operand would read the positions
//! of its words in each of these pages. This union evaluates a page only on request. Reasons and
//! measurements: `docs/adr/0014-own-scorers-beside-tantivys.md`.
//!
//! Invariant: each operand gets requests for increasing pages only, as `seek_danger` requires, and
//! keeps its last result.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED, Term};

use crate::stepping;

/// Matches the pages of either of two queries; the score is the sum.
#[derive(Debug)]
pub(crate) struct LazyUnion {
    pub(crate) operands: [Box<dyn Query>; 2],
}

impl Clone for LazyUnion {
    fn clone(&self) -> Self {
        Self {
            operands: self.operands.each_ref().map(|operand| operand.box_clone()),
        }
    }
}

impl Query for LazyUnion {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let [one, other] = &self.operands;
        Ok(Box::new(LazyUnionWeight {
            operands: [one.weight(scoring)?, other.weight(scoring)?],
        }))
    }

    fn query_terms<'a>(&'a self, visit: &mut dyn FnMut(&'a Term, bool)) {
        for operand in &self.operands {
            operand.query_terms(visit);
        }
    }
}

struct LazyUnionWeight {
    operands: [Box<dyn Weight>; 2],
}

impl Weight for LazyUnionWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        stepping::scorer(self, segment, boost)
    }

    fn scorer_danger(
        &self,
        segment: &SegmentReader,
        target: DocId,
        boost: Score,
    ) -> tantivy::Result<(SeekDangerResult, Box<dyn Scorer>)> {
        let operand = |weight: &dyn Weight| -> tantivy::Result<Operand> {
            let (found, scorer) = weight.scorer_danger(segment, target, boost)?;
            let mut operand = Operand {
                scorer,
                page: target,
                matches: false,
            };
            operand.update(target, found);
            Ok(operand)
        };
        let [one, other] = &self.operands;
        let mut scorer = LazyUnionScorer {
            operands: [operand(&**one)?, operand(&**other)?],
            page: 0,
        };
        Ok((scorer.seek_danger(target), Box::new(scorer)))
    }

    fn explain(&self, segment: &SegmentReader, page: DocId) -> tantivy::Result<Explanation> {
        stepping::explain(self, segment, page, "in the title or in the text")
    }
}

struct Operand {
    scorer: Box<dyn Scorer>,
    /// First page not yet evaluated that the operand may match.
    page: DocId,
    /// True if the operand matches that page; false if that is not evaluated yet.
    matches: bool,
}

impl Operand {
    /// Returns true if the operand matches `page`. Pages must not decrease between calls.
    fn matches_at(&mut self, page: DocId) -> bool {
        if self.page < page || (self.page == page && !self.matches) {
            let found = self.scorer.seek_danger(page);
            self.update(page, found);
        }
        self.page == page && self.matches
    }

    fn update(&mut self, asked: DocId, found: SeekDangerResult) {
        (self.page, self.matches) = match found {
            SeekDangerResult::Found => (asked, true),
            SeekDangerResult::SeekLowerBound(next) => (next, false),
        };
    }
}

struct LazyUnionScorer {
    operands: [Operand; 2],
    page: DocId,
}

impl DocSet for LazyUnionScorer {
    fn advance(&mut self) -> DocId {
        self.seek(self.page + 1)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        stepping::seek(self, target)
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if target >= TERMINATED {
            self.page = TERMINATED;
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        let [one, other] = &mut self.operands;
        let (in_one, in_other) = (one.matches_at(target), other.matches_at(target));
        if in_one || in_other {
            self.page = target;
            return SeekDangerResult::Found;
        }
        SeekDangerResult::SeekLowerBound(one.page.min(other.page))
    }

    fn doc(&self) -> DocId {
        self.page
    }

    fn size_hint(&self) -> u32 {
        let [one, other] = &self.operands;
        let (one, other) = (one.scorer.size_hint(), other.scorer.size_hint());
        one.saturating_add(other)
    }

    fn cost(&self) -> u64 {
        let [one, other] = &self.operands;
        one.scorer.cost().saturating_add(other.scorer.cost())
    }
}

impl Scorer for LazyUnionScorer {
    fn score(&mut self) -> Score {
        let page = self.page;
        let operands = self.operands.iter_mut();
        let there = operands.filter(|operand| operand.page == page && operand.matches);
        there.map(|operand| operand.scorer.score()).sum()
    }
}
