//! Pseudo-random numbers that are the same on every machine, because they determine figures of the
//! report.
//!
//! SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

/// A sequence of numbers, determined by its seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below `limit`, which is not 0.
    pub(crate) const fn below(&mut self, limit: usize) -> usize {
        ((self.next() as u128 * limit as u128) >> 64) as usize
    }

    /// Returns a number from `least` to `most`.
    pub(crate) const fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Returns a number from 0 up to, but not including, 1.
    pub(crate) const fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns one of `items`, which is not empty. The first ones are the most frequent, as in a
    /// language: the *n*th is about 1/n as frequent as the first (Zipf).
    pub(crate) fn pick_by_rank<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        // The inverse of the continuous distribution with density 1/x on [1, n + 1).
        let rank = ((items.len() + 1) as f64).powf(self.fraction()) as usize;
        &items[rank.clamp(1, items.len()) - 1]
    }

    /// Returns one of `items`, which is not empty.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// The finaliser of SplitMix64: a bijection in which every bit depends on every other.
pub(crate) const fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        // The first values of SplitMix64 for seed 1234567, as in its reference implementation.
        let mut random = Random::new(1_234_567);
        let first = [random.next(), random.next(), random.next()];
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
    fn the_first_word_is_about_twice_as_frequent_as_the_second() {
        let mut random = Random::new(3);
        let items: Vec<usize> = (1..=1_000).collect();
        let mut counts = [0_u32; 3];
        for _ in 0..100_000 {
            let rank = *random.pick_by_rank(&items);
            if rank <= 2 {
                counts[rank] += 1;
            }
        }
        let ratio = f64::from(counts[1]) / f64::from(counts[2]);
        assert!((1.5..2.0).contains(&ratio), "{ratio}");
    }
}
