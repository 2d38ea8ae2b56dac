//! Common parts of our scorers.
//!
//! Such a scorer evaluates one page at a time: it implements [`DocSet::seek_danger`], and its
//! weight [`Weight::scorer_danger`]. All other operations of tantivy step from result to result.

use tantivy::query::{Explanation, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED};

/// Implements [`DocSet::seek`]: moves `scorer` to the first match at or after `target`.
pub(crate) fn seek(scorer: &mut impl DocSet, target: DocId) -> DocId {
    let mut target = target.min(TERMINATED);
    while target > scorer.doc() {
        match scorer.seek_danger(target) {
            SeekDangerResult::Found => break,
            SeekDangerResult::SeekLowerBound(next) => target = next,
        }
    }
    scorer.doc()
}

/// Implements [`Weight::scorer`]: returns a scorer at its first match.
pub(crate) fn scorer(
    weight: &impl Weight,
    segment: &SegmentReader,
    boost: Score,
) -> tantivy::Result<Box<dyn Scorer>> {
    let (found, mut scorer) = weight.scorer_danger(segment, 0, boost)?;
    if let SeekDangerResult::SeekLowerBound(page) = found {
        scorer.seek(page);
    }
    Ok(scorer)
}

/// Implements [`Weight::explain`]: explains the score of a page by the description of the query.
pub(crate) fn explain(
    weight: &impl Weight,
    segment: &SegmentReader,
    page: DocId,
    query: &'static str,
) -> tantivy::Result<Explanation> {
    let mut scorer = weight.scorer(segment, 1.0)?;
    let score = match scorer.seek(page) == page {
        true => scorer.score(),
        false => 0.0,
    };
    Ok(Explanation::new(query, score))
}
