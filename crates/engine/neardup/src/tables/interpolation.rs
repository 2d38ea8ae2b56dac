//! Interpolation search: the position of a value in a sorted list, guessed from its distance to the
//! ends.
//!
//! Fingerprints are hashes, so a value three tenths of the way between two others is about three
//! tenths of the way between them in the list: O(log log n) steps on average (Perl, Itai and Avni,
//! "Interpolation search", CACM 1978; Manku et al., WWW 2007, section 3.1). Clusters defeat the
//! guess, so every other step halves, and every list takes at most twice the steps of a binary
//! search.

/// With fewer values than this, a linear scan is faster than a guess.
const MAX_LINEAR_SCAN: usize = 16;

/// Returns the first position whose value is at least `wanted`, or the length of the list.
///
/// `value_at` returns the value at a position below `len`; values ascend. The list need not be a
/// slice: it may be compressed, or on a disk.
///
/// ```
/// use neardup::tables::first_not_below;
///
/// let sorted = [3, 5, 5, 8];
/// assert_eq!(first_not_below(sorted.len(), 5, |place| sorted[place]), 1);
/// assert_eq!(first_not_below(sorted.len(), 9, |place| sorted[place]), 4);
/// ```
#[doc(alias = "interpolation_search")]
pub fn first_not_below(len: usize, wanted: u64, value_at: impl Fn(usize) -> u64) -> usize {
    let (mut low, mut high) = (0, len);
    // Invariant: values before `low` are below `wanted`, values from `high` on are not.
    let mut is_guess = true;
    while high - low > MAX_LINEAR_SCAN {
        let (first, last) = (value_at(low), value_at(high - 1));
        if first >= wanted {
            return low;
        }
        if last < wanted {
            return high;
        }
        let middle = if is_guess {
            // A guess need not be exact, and dividing 128 bits takes longer than reading a value.
            let share = (wanted - first) as f64 / (last - first) as f64;
            (low + (share * (high - 1 - low) as f64) as usize).min(high - 1)
        } else {
            usize::midpoint(low, high)
        };
        is_guess = !is_guess;
        if value_at(middle) < wanted {
            low = middle + 1;
            // The guess is seldom off by more than the square root: narrow from the other side as
            // well.
            let beyond = low + (high - low).isqrt();
            if beyond < high && value_at(beyond) >= wanted {
                high = beyond;
            }
        } else {
            high = middle;
            let before = high - (high - low).isqrt();
            if before > low && value_at(before - 1) < wanted {
                low = before;
            }
        }
    }
    (low..high)
        .find(|&place| value_at(place) >= wanted)
        .unwrap_or(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn steps(values: &[u64], wanted: u64) -> usize {
        let steps = Cell::new(0);
        let place = first_not_below(values.len(), wanted, |place| {
            steps.set(steps.get() + 1);
            values[place]
        });
        assert_eq!(place, values.partition_point(|&value| value < wanted));
        steps.get()
    }

    #[test]
    fn a_million_hashes_take_a_few_guesses_and_a_cluster_twice_a_binary_search() {
        let mut even: Vec<u64> = (0..1_000_000).map(mix).collect();
        even.sort_unstable();
        let total: usize = (0..1_000).map(|n| steps(&even, mix(n * n + 7))).sum();
        assert!(
            total < 40_000,
            "{total} values were read for 1,000 searches"
        );

        let mut skewed: Vec<u64> = (0..1_000_000_u64)
            .map(|n| mix(n) >> (mix(!n) % 64))
            .collect();
        skewed.sort_unstable();
        let most = (0..1_000).map(|n| steps(&skewed, skewed[n * 997])).max();
        assert!(most < Some(200), "{most:?}");
    }

    proptest! {
        #[test]
        fn a_value_is_found_as_by_binary_search(
            mut values in prop::collection::vec((any::<u64>(), 0..64_u32), 0..400),
            wanted: u64,
            shift in 0..64_u32,
        ) {
            values.sort_by_key(|(value, shift)| value >> shift);
            let values: Vec<u64> = values.iter().map(|(value, shift)| value >> shift).collect();
            steps(&values, wanted >> shift);
            for &value in &values {
                steps(&values, value);
            }
        }
    }
}
