//! Excluded pages of a query, as a bit set.
//!
//! tantivy 0.27.0 evaluates an exclusion page by page with `seek_danger`, whose contract requires
//! increasing pages and forbids asking twice for the same page. It breaks this contract for nested
//! exclusions and for phrases without a hit. As a result, searches lost pages (`-(example.org
//! -page)`), and debug builds panicked (`-"no such phrase"`). So this query first collects the
//! excluded pages, one bit per page of the segment, by plain `advance` steps.

use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{BitSet, DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

/// Matches the pages that `inner` matches, all with the same score.
#[derive(Debug)]
pub(crate) struct Exclusion {
    pub(crate) inner: Box<dyn Query>,
}

impl Clone for Exclusion {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.box_clone(),
        }
    }
}

impl Query for Exclusion {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let no_scoring = EnableScoring::disabled_from_schema(scoring.schema());
        let inner = self.inner.weight(no_scoring)?;
        Ok(Box::new(ExclusionWeight { inner }))
    }

    fn query_terms<'a>(&'a self, visit: &mut dyn FnMut(&'a Term, bool)) {
        self.inner.query_terms(visit);
    }
}

struct ExclusionWeight {
    inner: Box<dyn Weight>,
}

impl Weight for ExclusionWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut pages = self.inner.scorer(segment, boost)?;
        let mut gathered = BitSet::with_max_value(segment.max_doc());
        let mut page = pages.doc();
        while page != TERMINATED {
            gathered.insert(page);
            page = pages.advance();
        }
        let excluded = BitSetDocSet::from(gathered);
        Ok(Box::new(ConstScorer::new(excluded, boost)))
    }

    fn explain(&self, segment: &SegmentReader, page: DocId) -> tantivy::Result<Explanation> {
        self.inner.explain(segment, page)
    }
}
