//! The looks at the tables that find everything within a distance, each fingerprint once.
//!
//! As in `neardup`'s tables in memory (`tables/probes.rs`), for quarters of any width. Of k errors,
//! either at most ⌊k/2⌋ are in the upper half, or at most ⌈k/2⌉ − 1 in the lower. Of h ≤ 3 errors
//! in a half of two quarters, one quarter has at most one. So it is enough to visit, in the half
//! with h errors,
//!
//! - with the first quarter equal, siblings with up to h errors;
//! - with one error in the first quarter, siblings with 1 to h − 1;
//! - with the second quarter equal, siblings with 1 to h errors;
//! - with one error in the second, siblings with 2 to h − 1.
//!
//! No two of these visits find the same fingerprint. A fingerprint found in the lower half was
//! found before if and only if its upper half has at most ⌊k/2⌋ errors.

use super::layout::TABLES;

/// A look at a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The table, by its leading quarter.
    pub(super) table: usize,
    /// The error in the leading quarter: no bit or one.
    pub(super) flip: u64,
    /// The least and the greatest number of errors in the sibling.
    pub(super) least: u32,
    pub(super) most: u32,
}

/// Returns the largest number of errors in the upper half that the first two tables find.
pub(super) fn upper_errors(distance: u32) -> u32 {
    distance / 2
}

/// Returns the steps within a distance of 0 to 7, for quarters of these widths.
pub(super) fn steps(distance: u32, quarters: [u32; TABLES]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut half = |first: usize, errors: u32| {
        for (table, least) in [(first, 0), (first + 1, 1)] {
            let flips = (0..quarters[table]).map(|bit| (1 << bit, least + 1));
            for (flip, least) in std::iter::once((0, least)).chain(flips) {
                let most = if flip == 0 {
                    errors
                } else {
                    errors.saturating_sub(1)
                };
                if least <= most {
                    steps.push(Step {
                        table,
                        flip,
                        least,
                        most,
                    });
                }
            }
        }
    };
    half(0, upper_errors(distance));
    if distance > 0 {
        half(2, distance.div_ceil(2) - 1);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_looks_find_three_bits_and_68_find_seven() {
        let counts: Vec<usize> = (0..=7)
            .map(|distance| steps(distance, [16; TABLES]).len())
            .collect();
        assert_eq!(counts, [1, 2, 3, 4, 20, 36, 52, 68]);
    }
}
