//! Statistics of a difference: words, shingles, and the resemblance computed from them.

use neardup::{HashKey, NormalText, Shingles, Width};
use serde::Serialize;

use crate::alignment::Change;

/// The numbers of a difference. Shingles are runs of five words, each counted once (Broder 1997),
/// as in the near-duplicate verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DifferenceStatistics {
    /// Words of the first text.
    pub words_a: usize,
    /// Words of the second text.
    pub words_b: usize,
    /// Words in runs that only the first text has.
    pub words_only_a: usize,
    /// Words in runs that only the second text has.
    pub words_only_b: usize,
    /// Shingles that both texts have.
    pub shared_shingles: usize,
    /// Shingles that only the first text has.
    pub shingles_only_a: usize,
    /// Shingles that only the second text has.
    pub shingles_only_b: usize,
    /// The share of common shingles among all (Jaccard index), 0 to 1.
    pub resemblance: f64,
    /// The share of the first text's shingles that the second has, 0 to 1.
    pub containment_a_in_b: f64,
    /// The share of the second text's shingles that the first has, 0 to 1.
    pub containment_b_in_a: f64,
}

impl DifferenceStatistics {
    pub(crate) fn of(a: &NormalText, b: &NormalText, changes: &[Change]) -> Self {
        let shingles = |text| Shingles::of(text, Width::VERIFICATION, HashKey::ZERO);
        let (shingles_a, shingles_b) = (shingles(a), shingles(b));
        let shared = shingles_a.shared_with(&shingles_b);
        Self {
            words_a: a.len(),
            words_b: b.len(),
            words_only_a: changes.iter().map(|change| change.a.len()).sum(),
            words_only_b: changes.iter().map(|change| change.b.len()).sum(),
            shared_shingles: shared,
            shingles_only_a: shingles_a.len() - shared,
            shingles_only_b: shingles_b.len() - shared,
            resemblance: shingles_a.resemblance(&shingles_b),
            containment_a_in_b: shingles_a.containment_in(&shingles_b),
            containment_b_in_a: shingles_b.containment_in(&shingles_a),
        }
    }
}
