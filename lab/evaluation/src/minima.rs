//! Sketches of sizes that `neardup` does not ship, to measure the gain of a larger one.
//!
//! Fast similarity sketching (Dahlgaard, Knudsen and Thorup, FOCS 2017) with any power of two of
//! minima, of which four bits are kept each (Li and König, WWW 2010): what [`neardup::Sketch`] does
//! with 256.

use crate::random::mix;

/// The low four bits of the minima of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Minima(Vec<u8>);

impl Minima {
    /// Returns `count` minima, a power of two, of a set of hashes that is not empty.
    pub(crate) fn of(hashes: &[u64], count: usize) -> Self {
        let shift = 64 - count.trailing_zeros();
        let mut least = vec![u64::MAX; count];
        let mut open = vec![true; count];
        for round in 0..count as u64 {
            if !open.contains(&true) {
                break;
            }
            let mut filled = open.clone();
            for &hash in hashes {
                let hash = mix(hash ^ mix(round));
                let bin = (hash >> shift) as usize;
                if open[bin] {
                    least[bin] = least[bin].min(hash);
                    filled[bin] = false;
                }
            }
            open = filled;
        }
        for bin in (0..count).filter(|&bin| open[bin]) {
            let salt = mix((count + bin) as u64);
            least[bin] = hashes
                .iter()
                .map(|hash| mix(hash ^ salt))
                .min()
                .unwrap_or(u64::MAX);
        }
        Self(least.iter().map(|least| (least & 15) as u8).collect())
    }

    /// Estimates the resemblance of the two sets, from sketches of one size.
    pub(crate) fn resemblance(&self, other: &Self) -> f64 {
        let agreeing = self
            .0
            .iter()
            .zip(&other.0)
            .filter(|(one, two)| one == two)
            .count() as f64;
        let count = self.0.len() as f64;
        let by_accident = count / 16.0;
        ((agreeing - by_accident) / (count - by_accident)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_of_512_minima_are_unbiased_and_spread_as_theory_says() {
        for (shared, apart) in [(800_u64, 100_u64), (30, 10)] {
            let r = shared as f64 / (shared + 2 * apart) as f64;
            let errors: Vec<f64> = (0..400_u64)
                .map(|seed| {
                    let member = |n: u64| mix(mix(seed + 1).wrapping_add(n));
                    let one: Vec<u64> = (0..shared + apart).map(member).collect();
                    let others = shared + apart..shared + 2 * apart;
                    let two: Vec<u64> = (0..shared).chain(others).map(member).collect();
                    Minima::of(&one, 512).resemblance(&Minima::of(&two, 512)) - r
                })
                .collect();
            let mean = errors.iter().sum::<f64>() / 400.0;
            let spread = (errors.iter().map(|error| error * error).sum::<f64>() / 400.0).sqrt();
            let p = r + (1.0 - r) / 16.0;
            let theory = (p * (1.0 - p) / 512.0).sqrt() / (1.0 - 1.0 / 16.0);
            assert!(mean.abs() < 4.0 * theory / 20.0, "r = {r}: bias {mean}");
            assert!(
                spread < 1.15 * theory,
                "r = {r}: spread {spread}, theory {theory}"
            );
        }
    }
}
