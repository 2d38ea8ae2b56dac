//! The shingles of a text in four bytes each: enough to decide about a candidate exactly, and small
//! enough to keep for every document of a corpus.
//!
//! Sketches estimate a resemblance with a standard error of a few hundredths, so they confirm half
//! of the pairs at a threshold. Shingles themselves have no such error. The upper 32 bits of each
//! 64-bit hash are kept: among a thousand shingles, two coincide in one text of ten thousand. Texts
//! with more than [`MOST`] shingles keep the least ones, and their resemblance is estimated as in
//! MIN_s with s = 2²⁰ (Broder, "On the resemblance and containment of documents", 1997, section 4),
//! with a standard error of at most 0.0005.
//!
//! Invariant: [`ShortShingles::to_bytes`] is stable for ever, because signature files contain it.

use std::ops::RangeInclusive;

use crate::shingles::{Shingles, ratio};

/// Maximum number of shingles that are kept, from some 2²⁰ words.
const MOST: usize = 1 << 20;

/// The set of a text's shingles, 32 bits of each.
///
/// ```
/// use neardup::{HashKey, NormalText, Shingles, ShortShingles, Width};
///
/// let width = Width::new(3).expect("3 is from 1 to 64");
/// let of = |text: &str| {
///     ShortShingles::of(&Shingles::of(&NormalText::of(text), width, HashKey::ZERO))
/// };
/// assert_eq!(of("a rose is a rose").resemblance(&of("a rose is a flower")), 0.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[doc(alias = "jaccard")]
pub struct ShortShingles {
    /// Ascending, each once, [`MOST`] at most.
    hashes: Box<[u32]>,
}

impl ShortShingles {
    /// Maximum number of bytes of a stored set: 4 MiB.
    pub const MAX_BYTES: usize = 4 * MOST;

    /// Returns the set of `shingles`.
    #[must_use]
    pub fn of(shingles: &Shingles) -> Self {
        Self::of_hashes(shingles.hashes())
    }

    /// Returns the set of the shingles with these hashes, in any order, repeated or not.
    pub(crate) fn of_hashes(hashes: &[u64]) -> Self {
        let upper = hashes.iter().map(|hash| (hash >> 32) as u32);
        Self::of_upper_halves(upper.collect(), MOST)
    }

    fn of_upper_halves(hashes: Vec<u32>, most: usize) -> Self {
        let mut hashes = sorted(hashes);
        hashes.dedup();
        hashes.truncate(most);
        Self {
            hashes: hashes.into_boxed_slice(),
        }
    }

    /// Returns the resemblance of the two sets, 0 to 1: exact if neither set has more than 2²⁰
    /// shingles. Two empty sets have resemblance 1.
    #[must_use]
    pub fn resemblance(&self, other: &Self) -> f64 {
        resemblance(&self.hashes, &other.hashes, MOST)
    }

    /// Returns the number of different shingles, at most 2²⁰.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns true if the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the stored form: the hashes, ascending, each little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4 * self.hashes.len());
        for hash in &self.hashes {
            bytes.extend_from_slice(&hash.to_le_bytes());
        }
        bytes
    }

    /// Returns the set stored as `bytes`; `None` if they are not a stored set.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (hashes, rest) = bytes.as_chunks::<4>();
        let hashes: Box<[u32]> = hashes
            .iter()
            .map(|hash| u32::from_le_bytes(*hash))
            .collect();
        let is_ascending = hashes.is_sorted_by(|one, two| one < two);
        (rest.is_empty() && is_ascending && hashes.len() <= MOST).then_some(Self { hashes })
    }
}

/// Numbers of hashes that are sorted by their bytes. Fewer do not repay the counting; among more,
/// too many share their upper half.
const BY_BYTES: RangeInclusive<usize> = 128..=1 << 15;

/// Returns the hashes in ascending order: by the two upper bytes, as in a radix sort, and the few
/// with the same upper half by comparison. A text of 350 words takes a third of the time.
fn sorted(mut hashes: Vec<u32>) -> Vec<u32> {
    if !BY_BYTES.contains(&hashes.len()) {
        hashes.sort_unstable();
        return hashes;
    }
    let mut moved = vec![0; hashes.len()];
    for shift in [16, 24] {
        let byte = |hash: u32| (hash >> shift & 0xff) as usize;
        let mut places = [0; 256];
        for &hash in &hashes {
            places[byte(hash)] += 1;
        }
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        for &hash in &hashes {
            let place = &mut places[byte(hash)];
            moved[*place] = hash;
            *place += 1;
        }
        std::mem::swap(&mut hashes, &mut moved);
    }
    for equal in hashes.chunk_by_mut(|one, two| one >> 16 == two >> 16) {
        equal.sort_unstable();
    }
    hashes
}

/// Returns the resemblance of two ascending sets. A set of `most` members may lack its greater
/// members, so in that case the `most` least members of the union decide.
fn resemblance(mut mine: &[u32], mut theirs: &[u32], most: usize) -> f64 {
    let is_whole = mine.len() < most && theirs.len() < most;
    let least = if is_whole { usize::MAX } else { most };
    let (mut shared, mut of_union) = (0, 0);
    while let ([one, my_rest @ ..], [two, their_rest @ ..]) = (mine, theirs) {
        if of_union == least {
            return ratio(shared, of_union);
        }
        of_union += 1;
        shared += usize::from(one == two);
        let (advances, they_advance) = (one <= two, two <= one);
        mine = if advances { my_rest } else { mine };
        theirs = if they_advance { their_rest } else { theirs };
    }
    ratio(shared, (of_union + mine.len() + theirs.len()).min(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;

    fn hashes(members: impl Iterator<Item = u64>) -> Vec<u64> {
        members.map(|member| mix(member + 1)).collect()
    }

    #[test]
    fn a_pair_at_the_threshold_has_exactly_its_resemblance() {
        let set = |members| ShortShingles::of_hashes(&hashes(members));
        assert_eq!(set(0..90).resemblance(&set(10..100)), 0.8);
        assert_eq!(set(0..7).resemblance(&set(7..9)), 0.0);
        assert_eq!(set(0..0).resemblance(&set(0..0)), 1.0);
        assert_eq!(set(0..0).resemblance(&set(0..1)), 0.0);
    }

    #[test]
    fn sets_beyond_the_cap_are_estimated_by_their_least_members() {
        let most = 10_000;
        let set = |members: std::ops::Range<u64>| {
            let upper = hashes(members)
                .iter()
                .map(|hash| (hash >> 32) as u32)
                .collect();
            ShortShingles::of_upper_halves(upper, most).hashes
        };
        for (one, two, exact) in [
            (0..30_000, 3_000..30_000, 0.9),
            (0..30_000, 0..9_000, 0.3),
            (0..9_000, 0..30_000, 0.3),
            (0..10_000, 5_000..20_000, 0.25),
        ] {
            let estimate = resemblance(&set(one), &set(two), most);
            // Five standard errors.
            assert!(
                (estimate - exact).abs() < 0.025,
                "{estimate}, exactly {exact}"
            );
        }
    }

    proptest! {
        #[test]
        fn short_shingles_resemble_as_whole_ones_do(
            one in prop::collection::vec(0_u64..200, 0..150),
            two in prop::collection::vec(0_u64..200, 0..150),
        ) {
            let (one, two) = (hashes(one.into_iter()), hashes(two.into_iter()));
            let short = ShortShingles::of_hashes(&one);
            let resemblance = short.resemblance(&ShortShingles::of_hashes(&two));
            let (one, two) = (Shingles::from_hashes(one), Shingles::from_hashes(two));
            prop_assert_eq!(resemblance, one.resemblance(&two));
            prop_assert_eq!(ShortShingles::of(&one), short);
        }

        #[test]
        fn hashes_are_sorted_as_by_comparison(
            hashes in prop::collection::vec(any::<u32>(), 0..600),
            crowd in 0..32_u32,
        ) {
            // Hashes of a hostile text may agree in any of their upper bits.
            let mut hashes: Vec<u32> = hashes.iter().map(|hash| hash >> crowd).collect();
            let by_bytes = sorted(hashes.clone());
            hashes.sort_unstable();
            prop_assert_eq!(by_bytes, hashes);
        }

        #[test]
        fn a_stored_set_is_read_as_it_was_written(
            members in prop::collection::vec(any::<u64>(), 0..99),
        ) {
            let set = ShortShingles::of_hashes(&members);
            let mut bytes = set.to_bytes();
            prop_assert_eq!(bytes.len(), 4 * set.len());
            prop_assert_eq!(ShortShingles::from_bytes(&bytes), Some(set));
            bytes.push(0);
            prop_assert_eq!(ShortShingles::from_bytes(&bytes), None);
        }
    }

    #[test]
    fn bytes_out_of_order_are_no_set() {
        assert_eq!(ShortShingles::from_bytes(&[2, 0, 0, 0, 1, 0, 0, 0]), None);
        assert_eq!(ShortShingles::from_bytes(&[1, 0, 0, 0, 1, 0, 0, 0]), None);
    }
}
