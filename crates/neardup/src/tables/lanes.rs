#![expect(unsafe_code, reason = "vector instructions and prefetching have no safe form")]
//! Sixty-four siblings at a time: which of them differ from a probe in few bits.
//!
//! x & (x − 1) takes away the lowest bit of x, so x has at most b bits if nothing is left after b times. That is two
//! instructions a bit on 32 (AVX-512) or 16 (AVX2) siblings. Which instructions there are is asked at run time; every
//! path gives the same answer, bit for bit.

/// As many siblings as are looked at in one call: the answer has a bit for each.
pub(super) const LANES: usize = 64;

/// The instructions to look with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Lanes {
    /// The best that this machine has.
    pub(super) fn detect() -> Self {
        *Self::all().last().unwrap_or(&Self::Portable)
    }

    /// All that this machine has, the best last.
    pub(super) fn all() -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            all.push(Self::Avx2);
        }
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512bw") {
            all.push(Self::Avx512);
        }
        all
    }

    /// A bit for each of the first [`LANES`] of `siblings`: whether it differs from `probe` in at most `budget` bits.
    #[inline]
    pub(super) fn near(self, siblings: &[u16], probe: u16, budget: u32) -> u64 {
        match self {
            Self::Portable => near_portable(siblings, probe, budget),
            // SAFETY: the variant is made only by `all`, which has seen that the machine has AVX2.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { near_avx2(siblings, probe, budget) },
            // SAFETY: the variant is made only by `all`, which has seen that the machine has AVX-512 F and BW.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { near_avx512(siblings, probe, budget) },
        }
    }
}

/// Asks for the cache line of `slice[at]`, if there is one, so that it is there when it is read.
#[inline]
pub(super) fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = slice.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and a prefetch reads nothing as far as the program can tell.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at);
}

fn near_portable(siblings: &[u16], probe: u16, budget: u32) -> u64 {
    let lanes = siblings.iter().take(LANES).enumerate();
    lanes.fold(0, |near, (lane, sibling)| {
        near | u64::from((sibling ^ probe).count_ones() <= budget) << lane
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn near_avx2(siblings: &[u16], probe: u16, budget: u32) -> u64 {
    use std::arch::x86_64::*;
    const WIDTH: usize = 16;
    let wanted = _mm256_set1_epi16(probe.cast_signed());
    let minus_one = _mm256_set1_epi16(-1);
    let siblings = &siblings[..siblings.len().min(LANES)];
    let mut near = 0;
    let (whole, rest) = siblings.as_chunks::<WIDTH>();
    for (number, chunk) in whole.iter().enumerate() {
        // SAFETY: the chunk has the 32 bytes that are read, and the load asks for no alignment.
        let loaded = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
        let mut apart = _mm256_xor_si256(loaded, wanted);
        for _ in 0..budget {
            apart = _mm256_and_si256(apart, _mm256_add_epi16(apart, minus_one));
        }
        let none_left = _mm256_cmpeq_epi16(apart, _mm256_setzero_si256());
        // Sixteen lanes of two bytes become sixteen bytes, the halves put back in order.
        let bytes = _mm256_packs_epi16(none_left, _mm256_setzero_si256());
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
        let mask = _mm256_movemask_epi8(bytes).cast_unsigned();
        near |= u64::from(mask & 0xffff) << (number * WIDTH);
    }
    near | near_portable(rest, probe, budget)
        .checked_shl((whole.len() * WIDTH) as u32)
        .unwrap_or(0)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn near_avx512(siblings: &[u16], probe: u16, budget: u32) -> u64 {
    use std::arch::x86_64::*;
    const WIDTH: usize = 32;
    let wanted = _mm512_set1_epi16(probe.cast_signed());
    let minus_one = _mm512_set1_epi16(-1);
    let siblings = &siblings[..siblings.len().min(LANES)];
    let mut near = 0;
    for (number, chunk) in siblings.chunks(WIDTH).enumerate() {
        let there = u32::MAX >> (WIDTH - chunk.len());
        // SAFETY: only the lanes of `there` are read, and the chunk has those.
        let loaded = unsafe { _mm512_maskz_loadu_epi16(there, chunk.as_ptr().cast()) };
        let mut apart = _mm512_xor_si512(loaded, wanted);
        for _ in 0..budget {
            apart = _mm512_and_si512(apart, _mm512_add_epi16(apart, minus_one));
        }
        let mask = _mm512_mask_testn_epi16_mask(there, apart, apart);
        near |= u64::from(mask) << (number * WIDTH);
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(siblings: &[u16], probe: u16, budget: u32) {
        let expected = siblings.iter().take(LANES).enumerate();
        let expected = expected.fold(0_u64, |bits, (lane, sibling)| {
            bits | u64::from((sibling ^ probe).count_ones() <= budget) << lane
        });
        for lanes in Lanes::all() {
            assert_eq!(lanes.near(siblings, probe, budget), expected, "{lanes:?}");
        }
    }

    #[test]
    fn every_sibling_is_judged_as_counting_its_bits_judges_it() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        for probe in [0, 1, 0x8000, 0xffff, 0x1234] {
            for budget in 0..=3 {
                all.chunks(LANES)
                    .for_each(|siblings| check(siblings, probe, budget));
            }
        }
    }

    proptest! {
        #[test]
        fn all_instructions_give_the_same_bits_at_every_length_and_alignment(
            flips in prop::collection::vec((0..16_u32, 0..16_u32, 0..16_u32, 0..16_u32), 0..140),
            probe: u16, start in 0..40_usize, budget in 0..=3_u32,
        ) {
            let siblings: Vec<u16> =
                flips.iter().map(|(a, b, c, d)| probe ^ (1 << a) ^ (1 << b) ^ (1 << c) ^ (1 << d)).collect();
            check(&siblings[start.min(siblings.len())..], probe, budget);
        }

        #[test]
        fn prefetching_beyond_the_end_is_harmless(values: Vec<u32>, at: usize) {
            prefetch(&values, at);
        }
    }
}
