//! b-bit MinHash: a few bits of each minimum.
//!
//! (Li and König, "b-bit minwise hashing", WWW 2010.) Two minima of b bits also agree by accident,
//! once in 2ᵇ; the estimate is corrected for that. At a resemblance of .8, four bits of 256 minima
//! estimate better than sixteen bits of 64 minima, which take as much space. The
//! [`Sketch`](neardup::Sketch) of pages is made in this way with fixed numbers; here they are
//! parameters.

use super::{Incomparable, MinHash, Retained, Scheme};
use crate::mix::mix;

/// Number of bits of a minimum that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitsKept {
    /// One: agrees by accident half of the time.
    One = 1,
    /// Two.
    Two = 2,
    /// Four, as in [`Sketch`](neardup::Sketch).
    Four = 4,
    /// Eight.
    Eight = 8,
    /// Sixteen: hardly ever agrees by accident.
    Sixteen = 16,
}

/// A MinHash reduced to some bits of each minimum. Does not exist for the empty set.
///
/// ```
/// use classics::minhash::{BitsKept, MinHasher};
///
/// let minhash = MinHasher::default().of_members(&[1, 2, 3], 3);
/// let reduced = minhash.b_bit(BitsKept::Four).expect("the set is not empty");
/// assert_eq!(reduced.resemblance(&reduced), Ok(1.0));
/// assert_eq!(reduced.memory(), 104);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BBitMinHash {
    scheme: Scheme,
    bits: BitsKept,
    /// Minimum i at bit i · bits, from the lowest bit of the first word upwards; bits past the last
    /// minimum are 0.
    packed: Box<[u64]>,
}

impl MinHash {
    /// Returns the MinHash reduced to some bits of each minimum; `None` for the empty set.
    #[must_use]
    pub fn b_bit(&self, bits: BitsKept) -> Option<BBitMinHash> {
        if self.is_empty() {
            return None;
        }
        let width = bits as usize;
        let mut packed = vec![0; (self.minima.len() * width).div_ceil(64)];
        for (number, minimum) in self.minima.iter().enumerate() {
            // Mixed, because the low bits of a linearly permuted number depend only on the low bits
            // of the member.
            let retained = mix(*minimum) & ((1 << width) - 1);
            packed[number * width / 64] |= retained << (number * width % 64);
        }
        Some(BBitMinHash {
            scheme: self.scheme().retaining(Retained::Bits(width)),
            bits,
            packed: packed.into_boxed_slice(),
        })
    }
}

impl BBitMinHash {
    /// Estimates |A∩B| / |A∪B|, 0 to 1: with p = J + (1-J)/2ᵇ its standard error is √(p(1-p)/n) /
    /// (1 - 2⁻ᵇ).
    ///
    /// # Errors
    /// [`Incomparable`] if the two have different schemes.
    pub fn resemblance(&self, other: &BBitMinHash) -> Result<f64, Incomparable> {
        self.scheme.check(other.scheme)?;
        let minima = self.scheme.minima as f64;
        let by_accident = minima / f64::from(1 << self.bits as u32);
        let agreeing = minima - f64::from(self.differing(other));
        Ok(((agreeing - by_accident) / (minima - by_accident)).max(0.0))
    }

    /// Returns the standard error of [`resemblance`](Self::resemblance) for a true resemblance of
    /// `resemblance`, 0 to 1.
    #[must_use]
    pub fn standard_error(&self, resemblance: f64) -> f64 {
        let by_accident = 1.0 / f64::from(1 << self.bits as u32);
        let agree = resemblance + (1.0 - resemblance) * by_accident;
        (agree * (1.0 - agree) / self.scheme.minima as f64).sqrt() / (1.0 - by_accident)
    }

    /// Returns the number of bytes of the minima.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.packed.len() * size_of::<u64>()
    }

    /// Returns the number of minima that differ.
    fn differing(&self, other: &BBitMinHash) -> u32 {
        let width = self.bits as u32;
        // The lowest bit of each minimum: all bits, divided by all bits of one minimum.
        let lowest = u64::MAX / ((1 << width) - 1);
        let pairs = self.packed.iter().zip(&other.packed);
        pairs
            .map(|(mine, theirs)| {
                let mut differences = mine ^ theirs;
                let mut gathered = 1;
                while gathered < width {
                    differences |= differences >> gathered;
                    gathered *= 2;
                }
                (differences & lowest).count_ones()
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minhash::{Family, MinHasher};
    use neardup::Shingles;
    use proptest::prelude::*;

    const ALL: [BitsKept; 5] = [
        BitsKept::One,
        BitsKept::Two,
        BitsKept::Four,
        BitsKept::Eight,
        BitsKept::Sixteen,
    ];

    #[test]
    fn other_bits_other_numbers_and_other_families_are_refused() {
        let one = Shingles::from_hashes(vec![1, 2, 3]);
        let scheme = |family, minima| MinHasher::new(family, minima).unwrap().of(&one);
        let four = scheme(Family::Fast, 200).b_bit(BitsKept::Four).unwrap();
        for other in [
            scheme(Family::Fast, 200).b_bit(BitsKept::Eight),
            scheme(Family::Fast, 199).b_bit(BitsKept::Four),
            scheme(Family::Permutations, 200).b_bit(BitsKept::Four),
        ] {
            assert!(four.resemblance(&other.unwrap()).is_err());
        }
        assert_eq!(
            MinHasher::default()
                .of(&Shingles::default())
                .b_bit(BitsKept::Four),
            None
        );
        assert_eq!(four.memory(), 104, "200 minima of four bits in whole words");
    }

    /// Over 600 pairs each, at a resemblance of 1/2.
    #[test]
    fn estimates_of_few_bits_are_unbiased_and_spread_as_theory_says() {
        for family in [Family::Fast, Family::Permutations] {
            let hasher = MinHasher::new(family, 64).unwrap();
            let pairs: Vec<(MinHash, MinHash)> = (0..600_u64)
                .map(|seed| {
                    let scheme = |numbers: std::ops::Range<u64>| {
                        let members: Vec<u64> = numbers.map(|n| mix(seed << 32 | n)).collect();
                        hasher.of_members(&members, members.len() as u64)
                    };
                    (scheme(0..450), scheme(150..600))
                })
                .collect();
            for bits in ALL {
                let retained = |one: &MinHash| one.b_bit(bits).unwrap();
                let error =
                    |(one, two): &(_, _)| retained(one).resemblance(&retained(two)).unwrap() - 0.5;
                let errors: Vec<f64> = pairs.iter().map(error).collect();
                let theory = retained(&pairs[0].0).standard_error(0.5);
                let mean = errors.iter().sum::<f64>() / 600.0;
                let spread = (errors.iter().map(|error| error * error).sum::<f64>() / 600.0).sqrt();
                assert!(
                    mean.abs() < 4.0 * theory / 600_f64.sqrt(),
                    "{family:?} {bits:?}: bias {mean}"
                );
                assert!(
                    (spread / theory - 1.0).abs() < 0.15,
                    "{family:?} {bits:?}: spread {spread}, {theory}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn differing_minima_are_counted_one_by_one(
            one in prop::collection::vec(any::<u64>(), 1..200),
            two in prop::collection::vec(any::<u64>(), 1..200),
            minima in 1_usize..150,
        ) {
            let hasher = MinHasher::new(Family::Fast, minima).unwrap();
            let (one, two) = (hasher.of_members(&one, 1), hasher.of_members(&two, 1));
            for bits in ALL {
                let retained = |minimum: &u64| mix(*minimum) % (1 << bits as u32);
                let pairs = one.minima().iter().zip(two.minima());
                let expected = pairs.filter(|(one, two)| retained(one) != retained(two)).count();
                let (one, two) = (one.b_bit(bits).unwrap(), two.b_bit(bits).unwrap());
                prop_assert_eq!(one.differing(&two) as usize, expected);
            }
        }
    }
}
