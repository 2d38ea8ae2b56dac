//! What stands in the title or in the text, asked for page by page.
//!
//! The engine's own union gathers 4,096 pages ahead with all their scores, which is right for a
//! union that is the whole query. Within a conjunction most of that is for nothing, and where a
//! half is a phrase it costs reading the places of its words in each of these pages. Here a page is
//! looked at when it is asked for.
//!
//! Invariant: each half is asked for rising pages only, as `seek_danger` demands, and what it said
//! is remembered.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED, Term};

/// Pages that one of two queries finds, or both; the score is the sum.
#[derive(Debug)]
pub(crate) struct Either {
    pub(crate) halves: [Box<dyn Query>; 2],
}

impl Clone for Either {
    fn clone(&self) -> Self {
        Self {
            halves: self.halves.each_ref().map(|half| half.box_clone()),
        }
    }
}

impl Query for Either {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let [one, other] = &self.halves;
        Ok(Box::new(EitherWeight {
            halves: [one.weight(scoring)?, other.weight(scoring)?],
        }))
    }

    fn query_terms<'a>(&'a self, visit: &mut dyn FnMut(&'a Term, bool)) {
        for half in &self.halves {
            half.query_terms(visit);
        }
    }
}

struct EitherWeight {
    halves: [Box<dyn Weight>; 2],
}

impl Weight for EitherWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let (found, mut scorer) = self.scorer_danger(segment, 0, boost)?;
        if let SeekDangerResult::SeekLowerBound(page) = found {
            scorer.seek(page);
        }
        Ok(scorer)
    }

    fn scorer_danger(
        &self,
        segment: &SegmentReader,
        target: DocId,
        boost: Score,
    ) -> tantivy::Result<(SeekDangerResult, Box<dyn Scorer>)> {
        let half = |weight: &dyn Weight| -> tantivy::Result<Half> {
            let (found, scorer) = weight.scorer_danger(segment, target, boost)?;
            let mut half = Half {
                scorer,
                page: target,
                has_it: false,
            };
            half.hear(target, found);
            Ok(half)
        };
        let [one, other] = &self.halves;
        let mut scorer = EitherScorer {
            halves: [half(&**one)?, half(&**other)?],
            page: 0,
        };
        Ok((scorer.seek_danger(target), Box::new(scorer)))
    }

    fn explain(&self, segment: &SegmentReader, page: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(segment, 1.0)?;
        let score = match scorer.seek(page) == page {
            true => scorer.score(),
            false => 0.0,
        };
        Ok(Explanation::new("in the title or in the text", score))
    }
}

struct Half {
    scorer: Box<dyn Scorer>,
    /// The first page that it may have of those that it was not asked for.
    page: DocId,
    /// Whether it has that one; otherwise it was not asked yet.
    has_it: bool,
}

impl Half {
    /// Whether it has `page`, which lies behind all that it was asked for, or is the last of these.
    fn has(&mut self, page: DocId) -> bool {
        if self.page < page || (self.page == page && !self.has_it) {
            let found = self.scorer.seek_danger(page);
            self.hear(page, found);
        }
        self.page == page && self.has_it
    }

    fn hear(&mut self, asked: DocId, found: SeekDangerResult) {
        (self.page, self.has_it) = match found {
            SeekDangerResult::Found => (asked, true),
            SeekDangerResult::SeekLowerBound(next) => (next, false),
        };
    }
}

struct EitherScorer {
    halves: [Half; 2],
    page: DocId,
}

impl DocSet for EitherScorer {
    fn advance(&mut self) -> DocId {
        self.seek(self.page + 1)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let mut target = target;
        while target < TERMINATED && target > self.page {
            match self.seek_danger(target) {
                SeekDangerResult::Found => return self.page,
                SeekDangerResult::SeekLowerBound(next) => target = next,
            }
        }
        self.page = self.page.max(target.min(TERMINATED));
        self.page
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if target >= TERMINATED {
            self.page = TERMINATED;
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        let [one, other] = &mut self.halves;
        let (in_one, in_other) = (one.has(target), other.has(target));
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
        let [one, other] = &self.halves;
        one.scorer
            .size_hint()
            .saturating_add(other.scorer.size_hint())
    }

    fn cost(&self) -> u64 {
        let [one, other] = &self.halves;
        one.scorer.cost().saturating_add(other.scorer.cost())
    }
}

impl Scorer for EitherScorer {
    fn score(&mut self) -> Score {
        let page = self.page;
        let halves = self.halves.iter_mut();
        let there = halves.filter(|half| half.page == page && half.has_it);
        there.map(|half| half.scorer.score()).sum()
    }
}
