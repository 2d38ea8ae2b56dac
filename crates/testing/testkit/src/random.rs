//! Numbers that look random and are the same on every machine and for ever: what is generated here
//! is compared with truth tables, so a seed must always mean the same web.
//!
//! SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

/// A sequence of numbers, determined by its seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence that belongs to a seed and a number, such as that of a page.
    #[must_use]
    pub fn of(seed: u64, number: u64) -> Self {
        let mut random = Self(seed);
        let start = random.next() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self(start)
    }

    /// The next number.
    #[expect(
        clippy::should_implement_trait,
        reason = "a sequence without an end is no iterator to loop over"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        // The high half of the product is as even as tests need it (Lemire 2019).
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// One of `items`, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// `count` of `items`, or all of them where there are fewer, each at most once.
    pub fn sample<T: Copy>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut left = items.to_vec();
        let count = count.min(left.len());
        for place in 0..count {
            let other = place + self.below(left.len() - place);
            left.swap(place, other);
        }
        left.truncate(count);
        left
    }
}

/// FNV-1a: the same hash wherever it is computed.
pub(crate) fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_the_numbers() {
        // The first values of SplitMix64 for seed 1234567, as in its reference implementation.
        let mut random = Random(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn numbers_cover_exactly_the_range_below_their_limit() {
        let mut random = Random::of(1, 2);
        let mut seen = [0; 7];
        for _ in 0..7_000 {
            seen[random.below(7)] += 1;
        }
        assert!(
            seen.iter().all(|&count| (800..1_200).contains(&count)),
            "{seen:?}"
        );
    }

    #[test]
    fn a_sample_has_no_repetitions() {
        let mut sample = Random::of(1, 3).sample(&[1, 2, 3, 4, 5], 4);
        sample.sort_unstable();
        sample.dedup();
        assert_eq!(sample.len(), 4);
        assert_eq!(Random::of(1, 3).sample(&[1, 2], 9).len(), 2);
    }
}
