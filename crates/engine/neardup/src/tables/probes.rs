//! The steps of a probe: the quarters to visit, and the number of errors allowed in their siblings.
//!
//! A refined pigeonhole argument. Of k errors, either at most ⌊k/2⌋ are in the upper half, or at
//! most ⌈k/2⌉ − 1 in the lower. Of h ≤ 3 errors in a half of two quarters, one quarter has at most
//! one error. So in the half with h errors it is enough to visit
//!
//! - with the first quarter equal, siblings with up to h errors;
//! - with one error in the first quarter (16 neighbours), siblings with 1 to h − 1;
//! - with the second quarter equal, siblings with 1 to h errors;
//! - with one error in the second, siblings with 2 to h − 1.
//!
//! These steps do not overlap, so two steps of one half never find the same fingerprint. A
//! fingerprint found by the steps of the lower half was found before if and only if its upper half
//! has at most ⌊k/2⌋ errors.

use std::sync::LazyLock;

use super::MAX_DISTANCE;

/// One visit to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The table, by its leading quarter; the sibling is the other quarter of the same half.
    pub(super) table: usize,
    /// The error in the leading quarter: no bit or one bit.
    pub(super) flip: u16,
    /// Minimum and maximum number of errors in the sibling.
    pub(super) least: u32,
    pub(super) most: u32,
}

impl Step {
    /// Creates the step that finds a fingerprint itself.
    pub(super) const fn exact(table: usize) -> Self {
        Self {
            table,
            flip: 0,
            least: 0,
            most: 0,
        }
    }
}

/// Returns the largest number of errors in the upper half that the first steps find.
pub(super) fn upper_errors(distance: u32) -> u32 {
    distance / 2
}

/// Returns the steps that find everything within `distance` bits, table after table. A distance
/// above [`MAX_DISTANCE`] is treated as this maximum.
pub(super) fn steps(distance: u32) -> &'static [Step] {
    static STEPS: LazyLock<Vec<Vec<Step>>> =
        LazyLock::new(|| (0..=MAX_DISTANCE).map(list).collect());
    &STEPS[distance.min(MAX_DISTANCE) as usize]
}

/// Returns the same steps, grouped by table.
pub(super) fn by_table(distance: u32) -> impl Iterator<Item = &'static [Step]> {
    steps(distance).chunk_by(|one, two| one.table == two.table)
}

fn list(distance: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    half(0, upper_errors(distance), &mut steps);
    if distance > 0 {
        half(2, distance.div_ceil(2) - 1, &mut steps);
    }
    steps
}

/// Appends the steps in the half that consists of `table` and the next table.
fn half(table: usize, errors: u32, steps: &mut Vec<Step>) {
    let mut look = |table: usize, flip: u16, least: u32, most: u32| {
        if least <= most {
            steps.push(Step {
                table,
                flip,
                least,
                most,
            });
        }
    };
    for (table, least) in [(table, 0), (table + 1, 1)] {
        look(table, 0, least, errors);
        (0..16).for_each(|bit| look(table, 1 << bit, least + 1, errors.saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quarters(bits: u64) -> [u16; 4] {
        [48, 32, 16, 0].map(|shift| (bits >> shift) as u16)
    }

    /// Returns the number of steps that report this difference.
    fn reports(errors: u64, distance: u32) -> usize {
        let quarters = quarters(errors);
        let is_reported = |step: &&Step| {
            let sibling = quarters[step.table ^ 1].count_ones();
            let upper = (errors >> 32).count_ones();
            quarters[step.table] == step.flip
                && (step.least..=step.most).contains(&sibling)
                && (step.table < 2 || upper > upper_errors(distance))
        };
        steps(distance).iter().filter(is_reported).count()
    }

    #[test]
    fn a_distance_of_three_takes_one_look_at_each_quarter() {
        let counts: Vec<usize> = (0..=7).map(|distance| steps(distance).len()).collect();
        assert_eq!(counts, [1, 2, 3, 4, 20, 36, 52, 68]);
        assert!(steps(3).iter().all(|step| step.flip == 0 && step.most == 1));
    }

    #[test]
    fn up_to_four_errors_are_found_exactly_once_wherever_they_are() {
        for distance in 0..=4 {
            each_error(distance, 0, 0, &mut |errors| {
                assert_eq!(
                    reports(errors, distance),
                    1,
                    "{errors:016x} within {distance}"
                );
            });
        }
    }

    fn each_error(more: u32, from: u32, errors: u64, visit: &mut impl FnMut(u64)) {
        visit(errors);
        if more > 0 {
            (from..64).for_each(|bit| each_error(more - 1, bit + 1, errors | 1 << bit, visit));
        }
    }

    proptest! {
        #[test]
        fn up_to_seven_errors_are_found_exactly_once(
            distance in 5..=7_u32, positions in prop::collection::btree_set(0..64_u32, 0..=7),
        ) {
            let flipped = positions.iter().take(distance as usize);
            let errors = flipped.fold(0, |errors, bit| errors | 1_u64 << bit);
            prop_assert_eq!(reports(errors, distance), 1);
        }
    }
}
