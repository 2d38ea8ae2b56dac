//! Figures of a ranking or an order of visits, and their intervals over topics.

use std::collections::BTreeSet;

use crate::random::Random;

/// Returns the average precision of a ranking: the mean, over all relevant items, of the precision
/// at the rank of each (0 for one that is not ranked).
pub(crate) fn average_precision(ranking: &[u32], relevant: &BTreeSet<u32>) -> f64 {
    let (mut found, mut sum) = (0.0, 0.0);
    for (item, rank) in ranking.iter().zip(1_u32..) {
        if relevant.contains(item) {
            found += 1.0;
            sum += found / f64::from(rank);
        }
    }
    sum / relevant.len().max(1) as f64
}

/// Returns the mean of some numbers; 0 if there are none.
pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// The number of samples of a bootstrap.
const SAMPLES: usize = 2_000;

/// Returns the bootstrap interval of the mean that holds 95 % of the samples (Efron 1979); the
/// topics are drawn with replacement, by a fixed seed.
pub(crate) fn interval(numbers: &[f64]) -> (f64, f64) {
    if numbers.is_empty() {
        return (0.0, 0.0);
    }
    let mut random = Random::new(17);
    let mut sample = || {
        let drawn: Vec<f64> = numbers.iter().map(|_| *random.pick(numbers)).collect();
        mean(&drawn)
    };
    let mut means: Vec<f64> = (0..SAMPLES).map(|_| sample()).collect();
    means.sort_by(f64::total_cmp);
    (means[SAMPLES / 40], means[SAMPLES - 1 - SAMPLES / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn average_precision_is_that_of_the_text_books() {
        // Manning, Raghavan and Schütze, Introduction to Information Retrieval, section 8.4.
        let relevant = BTreeSet::from([1, 3, 9]);
        for (ranking, expected) in [
            (vec![1, 3, 9], 1.0),
            (vec![1, 2, 3], (1.0 + 2.0 / 3.0) / 3.0),
            (vec![2, 4], 0.0),
            (vec![], 0.0),
        ] {
            let found = average_precision(&ranking, &relevant);
            assert!((found - expected).abs() < 1e-12, "{ranking:?}: {found}");
        }
    }

    #[test]
    fn an_interval_holds_the_mean_and_is_the_same_each_time() {
        let numbers = [0.1, 0.4, 0.35, 0.8, 0.5];
        let (low, high) = interval(&numbers);
        assert!(low < mean(&numbers) && mean(&numbers) < high);
        assert_eq!(interval(&numbers), (low, high));
        assert_eq!(interval(&[0.5; 3]), (0.5, 0.5));
    }
}
