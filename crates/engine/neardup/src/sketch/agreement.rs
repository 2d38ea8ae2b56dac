//! Counts the four-bit minima, of 256, that differ between two sketches.
//!
//! Once a candidate is in memory, its cost is the comparison. The portable variant counts within
//! machine words, sixteen minima at a time, because an unknown processor may lack an instruction
//! that counts bits. Invariant: both variants give the same result (property test against counting
//! one by one).

#![cfg_attr(
    all(target_arch = "x86_64", feature = "simd"),
    expect(unsafe_code, reason = "vector instructions, chosen at run time")
)]

use super::MINIMA;

/// Four bits of each minimum: minimum 2i in the low half of byte i, minimum 2i + 1 in the high
/// half.
pub(super) type Minima = [u8; MINIMA / 2];

/// Returns the number of minima that differ.
pub(super) fn differing(mine: &Minima, theirs: &Minima) -> u32 {
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the feature has just been detected.
        return unsafe { differing_in_lanes(mine, theirs) };
    }
    differing_portably(mine, theirs)
}

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
#[target_feature(enable = "avx2")]
fn differing_in_lanes(mine: &Minima, theirs: &Minima) -> u32 {
    use std::arch::x86_64::*;
    let (low, high) = (
        _mm256_set1_epi8(0x0f),
        _mm256_set1_epi8(0xf0_u8.cast_signed()),
    );
    let zero = _mm256_setzero_si256();
    let mut agreeing = zero;
    for (mine, theirs) in mine
        .as_chunks::<32>()
        .0
        .iter()
        .zip(theirs.as_chunks::<32>().0)
    {
        // SAFETY: 32 bytes are the 256 bits that are read; no alignment is needed.
        let (mine, theirs) = unsafe {
            (
                _mm256_loadu_si256(mine.as_ptr().cast::<__m256i>()),
                _mm256_loadu_si256(theirs.as_ptr().cast::<__m256i>()),
            )
        };
        let bits = _mm256_xor_si256(mine, theirs);
        // A byte of ones, which is -1, wherever half a byte is zero.
        let lower = _mm256_cmpeq_epi8(_mm256_and_si256(bits, low), zero);
        let upper = _mm256_cmpeq_epi8(_mm256_and_si256(bits, high), zero);
        agreeing = _mm256_sub_epi8(agreeing, _mm256_add_epi8(lower, upper));
    }
    let sums = _mm256_sad_epu8(agreeing, zero);
    let sums = _mm_add_epi64(
        _mm256_castsi256_si128(sums),
        _mm256_extracti128_si256::<1>(sums),
    );
    let sum = _mm_cvtsi128_si32(_mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums)));
    MINIMA as u32 - sum.cast_unsigned()
}

fn differing_portably(mine: &Minima, theirs: &Minima) -> u32 {
    const LOWEST_OF_4: u64 = 0x1111_1111_1111_1111;
    const LOWER_4_OF_8: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    const LOWER_8_OF_16: u64 = 0x00ff_00ff_00ff_00ff;
    const EVERY_16: u64 = 0x0001_0001_0001_0001;
    let (mine, theirs) = (mine.as_chunks::<8>().0, theirs.as_chunks::<8>().0);
    let mut in_bytes = 0;
    // Eight words at a time, so that four bits hold their sum.
    for (mine, theirs) in mine.chunks(8).zip(theirs.chunks(8)) {
        let mut in_fours = 0;
        for (mine, theirs) in mine.iter().zip(theirs) {
            let bits = u64::from_le_bytes(*mine) ^ u64::from_le_bytes(*theirs);
            let halves = bits | (bits >> 2);
            in_fours += (halves | (halves >> 1)) & LOWEST_OF_4;
        }
        in_bytes += (in_fours & LOWER_4_OF_8) + ((in_fours >> 4) & LOWER_4_OF_8);
    }
    let in_pairs = (in_bytes & LOWER_8_OF_16) + ((in_bytes >> 8) & LOWER_8_OF_16);
    (in_pairs.wrapping_mul(EVERY_16) >> 48) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(mine: &Minima, theirs: &Minima, expected: usize) -> Result<(), TestCaseError> {
        prop_assert_eq!(differing_portably(mine, theirs) as usize, expected);
        prop_assert_eq!(differing(mine, theirs) as usize, expected);
        Ok(())
    }

    #[test]
    fn all_minima_may_differ_and_none() {
        let (one, two) = ([0x5a; MINIMA / 2], [0xa5; MINIMA / 2]);
        check(&one, &two, MINIMA).unwrap();
        check(&one, &one, 0).unwrap();
        check(&one, &[0x5b; MINIMA / 2], MINIMA / 2).unwrap();
    }

    proptest! {
        #[test]
        fn differing_minima_are_counted_one_by_one(
            mine: [u64; 16],
            changes: [u64; 16],
            kept: [u64; 16],
        ) {
            let bytes = |words: [u64; 16]| -> Minima {
                std::array::from_fn(|at| words[at / 8].to_le_bytes()[at % 8])
            };
            let theirs = std::array::from_fn(|at| mine[at] ^ (changes[at] & kept[at]));
            let (mine, theirs) = (bytes(mine), bytes(theirs));
            let halves = |minima: &Minima| {
                let halves = minima.iter().flat_map(|byte| [byte & 15, byte >> 4]);
                halves.collect::<Vec<_>>()
            };
            let pairs = halves(&mine).into_iter().zip(halves(&theirs));
            check(&mine, &theirs, pairs.filter(|(mine, theirs)| mine != theirs).count())?;
        }
    }
}
