//! The merge policy of the index: selects the segments to merge.
//!
//! Segments are sorted into tiers; the segments of a tier have sixteen times as many pages as in
//! the tier below. Sixteen segments of a tier are merged in the background. So an index of n pages
//! has at most 15 segments in each of its log₁₆(n) tiers, regardless of the number of commits, and
//! each page is rewritten once per tier: never in a crawl that fills fewer than sixteen segments,
//! three times between 5,000 and 20 million pages. (The log-structured merge of O'Neil et al., Acta
//! Informatica 1996, with tiers in place of levels.)

use tantivy::SegmentMeta;
use tantivy::indexer::{MergeCandidate, MergePolicy};

/// Number of segments per merge.
const FAN_IN: usize = 16;

/// Maximum pages of a segment to merge: larger merges would take hours and twice their space.
const MAX_PAGES: u32 = 20_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiers;

impl MergePolicy for Tiers {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let mut tiers: Vec<Vec<&SegmentMeta>> = Vec::new();
        let merged = |segment: &&SegmentMeta| segment.num_docs() <= MAX_PAGES;
        for segment in segments.iter().filter(merged) {
            let tier = tier(segment.num_docs());
            if tiers.len() <= tier {
                tiers.resize_with(tier + 1, Vec::new);
            }
            tiers[tier].push(segment);
        }
        let full = tiers.iter().flat_map(|tier| tier.chunks_exact(FAN_IN));
        full.map(|tier| MergeCandidate(tier.iter().map(|segment| segment.id()).collect()))
            .collect()
    }
}

/// Returns the logarithm of the number of pages to base 16, rounded down.
fn tier(pages: u32) -> usize {
    pages.checked_ilog(FAN_IN as u32).unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tier_is_sixteen_times_the_one_below() {
        for (pages, number) in [
            (0, 0),
            (1, 0),
            (15, 0),
            (16, 1),
            (255, 1),
            (256, 2),
            (4_095, 2),
            (4_096, 3),
            (MAX_PAGES, 6),
        ] {
            assert_eq!(tier(pages), number, "{pages}");
        }
    }
}
