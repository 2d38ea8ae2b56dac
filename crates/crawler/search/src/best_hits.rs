//! Collects the best hits of a query.
//!
//! tantivy orders pages of equal score by segment and by number within it. Both depend on the
//! merges and on the threads that filled the segments. Here, the page that was fetched first goes
//! first, then the location decides. So equal scores have the same order in each index of the same
//! pages.
//!
//! tantivy skips pages that cannot exceed a threshold. Pages that equal the worst hit must not be
//! skipped, so the threshold is slightly lower: sums of scores differ in their last bits.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::query::Weight;
use tantivy::{DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

use crate::columns::Columns;

/// Ratio of the threshold to the worst score. A score is exact to 10⁻⁷.
const BELOW_WORST: Score = 1.0 - 1e-6;

/// The `limit` best hits, best first.
pub(crate) struct BestHits<'a> {
    pub(crate) limit: usize,
    /// Columns of each segment.
    pub(crate) columns: &'a [Columns],
}

impl Collector for BestHits<'_> {
    type Fruit = Vec<(Score, DocAddress)>;
    type Child = SegmentHits;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        _reader: &SegmentReader,
    ) -> tantivy::Result<SegmentHits> {
        Ok(SegmentHits {
            limit: self.limit,
            segment,
            columns: self.columns[segment as usize].clone(),
            best: BinaryHeap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn collect_segment(
        &self,
        weight: &dyn Weight,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<Self::Fruit> {
        let mut hits = self.for_segment(segment, reader)?;
        weight.for_each_pruning(Score::MIN, reader, &mut |page, score| {
            if !reader.is_deleted(page) {
                hits.collect(page, score);
            }
            hits.threshold()
        })?;
        Ok(hits.harvest())
    }

    fn merge_fruits(&self, segments: Vec<Self::Fruit>) -> tantivy::Result<Self::Fruit> {
        let mut hits = segments.concat();
        let order = |one: &_, other: &_| self.order(one, other);
        if self.limit < hits.len() {
            hits.select_nth_unstable_by(self.limit, order);
            hits.truncate(self.limit);
        }
        hits.sort_unstable_by(order);
        Ok(hits)
    }
}

impl BestHits<'_> {
    /// Compares hits of any segments; the better one is less.
    fn order(&self, one: &(Score, DocAddress), other: &(Score, DocAddress)) -> Ordering {
        let of = |(_, address): &(Score, DocAddress)| {
            let columns = &self.columns[address.segment_ord as usize];
            (columns, address.doc_id)
        };
        let ((columns, page), (other_columns, other_page)) = (of(one), of(other));
        other.0.total_cmp(&one.0).then_with(|| {
            let date = columns.milliseconds(page);
            date.cmp(&other_columns.milliseconds(other_page))
                // A page without a location is damage, which is reported when the hit is read.
                .then_with(|| {
                    let location = columns.location(page).ok();
                    location.cmp(&other_columns.location(other_page).ok())
                })
        })
    }
}

/// The best hits in a segment.
pub(crate) struct SegmentHits {
    limit: usize,
    segment: SegmentOrdinal,
    columns: Columns,
    /// The worst hit is first.
    best: BinaryHeap<SegmentHit>,
}

/// The bits of its score, its date and place, its number. The better hit is less. (No score is
/// negative, so the bits have the order of the scores.)
type SegmentHit = (Reverse<u32>, Option<u64>, (Option<u64>, Option<u64>), DocId);

impl SegmentHits {
    /// Returns a score that a further hit must exceed.
    fn threshold(&self) -> Score {
        match self.best.peek() {
            Some((Reverse(worst), ..)) if self.best.len() == self.limit => {
                (Score::from_bits(*worst) * BELOW_WORST).next_down()
            }
            _ => Score::MIN,
        }
    }
}

impl SegmentCollector for SegmentHits {
    type Fruit = Vec<(Score, DocAddress)>;

    fn collect(&mut self, page: DocId, score: Score) {
        let bits = Reverse(score.max(0.0).to_bits());
        let is_full = self.best.len() == self.limit;
        // Columns are read only if they decide.
        let worst = self.best.peek().filter(|_| is_full);
        if worst.is_some_and(|worst| worst.0 < bits) {
            return;
        }
        let date = self.columns.milliseconds(page);
        if worst.is_some_and(|worst| (worst.0, worst.1) < (bits, date)) {
            return;
        }
        let place = self.columns.place(page);
        self.best.push((bits, date, place, page));
        if is_full {
            self.best.pop();
        }
    }

    fn harvest(self) -> Self::Fruit {
        let best = self.best.into_iter();
        best.map(|(Reverse(bits), .., page)| {
            let address = DocAddress::new(self.segment, page);
            (Score::from_bits(bits), address)
        })
        .collect()
    }
}
