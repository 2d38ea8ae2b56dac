//! Vectorised scans for siblings that differ from a probe in few bits.
//!
//! x & (x − 1) clears the lowest set bit of x, so x has at most b set bits if it is 0 after b
//! repetitions. That takes two instructions per bit for 32 (AVX-512) or 16 (AVX2) siblings. The
//! instructions are detected at run time; every variant gives the same result, bit for bit. One
//! call scans a whole list of runs, so that the cost of the call, which cannot be inlined, is
//! negligible.
#![cfg_attr(
    all(target_arch = "x86_64", feature = "simd"),
    expect(
        unsafe_code,
        reason = "vector instructions and prefetching have no safe form"
    )
)]

use std::ops::Range;

/// Maximum budget of a run in the tests; any budget is scanned correctly.
#[cfg(test)]
const MAX_BUDGET: u32 = 3;

/// A contiguous run of siblings, and the probe that they are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct SiblingRun<'a> {
    pub(super) siblings: &'a [u16],
    /// Start of the run, and the caller's number for it; hits report both.
    pub(super) start: u32,
    pub(super) owner: u32,
    pub(super) probe: u16,
    /// Maximum number of bits by which a sibling may differ.
    pub(super) budget: u8,
}

/// A sibling within the budget: the owner of its run, and its position, counted from the run's
/// start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SiblingMatch {
    pub(super) owner: u32,
    pub(super) at: u32,
}

/// The instruction set of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    Portable,
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    Avx512,
}

impl Lanes {
    /// Returns the best variant that this machine supports.
    pub(super) fn detect() -> Self {
        *Self::all().last().unwrap_or(&Self::Portable)
    }

    /// Returns all variants that this machine supports, the best last.
    pub(super) fn all() -> Vec<Self> {
        #[cfg_attr(
            not(all(target_arch = "x86_64", feature = "simd")),
            expect(unused_mut, reason = "there are no others")
        )]
        let mut all = vec![Self::Portable];
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        if std::is_x86_feature_detected!("avx2") {
            all.push(Self::Avx2);
        }
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512bw") {
            all.push(Self::Avx512);
        }
        all
    }

    /// Appends to `hits`, in this order, all siblings that differ from the probe of their run in at
    /// most its budget of bits.
    #[inline]
    pub(super) fn scan(self, runs: &[SiblingRun<'_>], hits: &mut Vec<SiblingMatch>) {
        match self {
            Self::Portable => scan_portable(runs, hits),
            // SAFETY: the variant is made only by `all`, which has detected AVX2.
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            Self::Avx2 => unsafe { scan_avx2(runs, hits) },
            // SAFETY: the variant is made only by `all`, which has detected AVX-512 F and BW.
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            Self::Avx512 => unsafe { scan_avx512(runs, hits) },
        }
    }

    /// Appends to `hits` each pair of siblings in one of `buckets` that differ in at most `budget`
    /// bits; the earlier sibling owns the match.
    pub(super) fn pairs(
        self,
        siblings: &[u16],
        buckets: &[Range<usize>],
        budget: u8,
        hits: &mut Vec<SiblingMatch>,
    ) {
        match self {
            Self::Portable => pairs_portable(siblings, buckets, budget, hits),
            // SAFETY: the variant is made only by `all`, which has detected AVX2.
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            Self::Avx2 => unsafe { pairs_avx2(siblings, buckets, budget, hits) },
            // SAFETY: the variant is made only by `all`, which has detected AVX-512 F and BW.
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            Self::Avx512 => unsafe { pairs_avx512(siblings, buckets, budget, hits) },
        }
    }
}

/// Prefetches the cache line of `slice[at]`. Harmless if the element does not exist.
#[inline]
pub(crate) fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and a prefetch has no effect that the program can observe,
        // so any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", feature = "simd")))]
    let _ = (slice, at);
}

/// Appends a match for each bit set in `near`; the lowest is at the position `first`.
#[inline]
fn push(hits: &mut Vec<SiblingMatch>, owner: u32, first: u32, mut near: u32) {
    while near != 0 {
        let at = first + near.trailing_zeros();
        hits.push(SiblingMatch { owner, at });
        near &= near - 1;
    }
}

/// Calls `visit` with the start of each group of siblings and one bit per sibling, set if it is
/// near.
#[inline]
fn near_portable(siblings: &[u16], probe: u16, budget: u8, mut visit: impl FnMut(usize, u32)) {
    for (at, sibling) in siblings.iter().enumerate() {
        visit(
            at,
            u32::from((sibling ^ probe).count_ones() <= u32::from(budget)),
        );
    }
}

/// Defines the scan and the search for pairs for one variant of `near`. Generic functions would be
/// compiled without its instructions.
macro_rules! scans_by {
    ($near:ident: $scan:ident, $pairs:ident $(, $features:tt)?) => {
        $(
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            #[target_feature(enable = $features)]
        )?
        fn $scan(runs: &[SiblingRun<'_>], hits: &mut Vec<SiblingMatch>) {
            for run in runs {
                $near(run.siblings, run.probe, run.budget, |first, near| {
                    push(hits, run.owner, run.start + first as u32, near);
                });
            }
        }

        $(
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            #[target_feature(enable = $features)]
        )?
        fn $pairs(
            siblings: &[u16],
            buckets: &[Range<usize>],
            budget: u8,
            hits: &mut Vec<SiblingMatch>,
        ) {
            for bucket in buckets {
                for at in bucket.clone() {
                    let behind = &siblings[at + 1..bucket.end];
                    $near(behind, siblings[at], budget, |first, near| {
                        push(hits, at as u32, (at + 1 + first) as u32, near);
                    });
                }
            }
        }
    };
}

scans_by!(near_portable: scan_portable, pairs_portable);
scans_by!(near_avx2: scan_avx2, pairs_avx2, "avx2");
scans_by!(near_avx512: scan_avx512, pairs_avx512, "avx512f,avx512bw");

/// Does what [`near_portable`] does.
#[cfg(all(target_arch = "x86_64", feature = "simd"))]
#[target_feature(enable = "avx2")]
#[inline]
fn near_avx2(siblings: &[u16], probe: u16, budget: u8, mut visit: impl FnMut(usize, u32)) {
    use std::arch::x86_64::*;
    const WIDTH: usize = 16;
    let minus_one = _mm256_set1_epi16(-1);
    let wanted = _mm256_set1_epi16(probe.cast_signed());
    let (whole, rest) = siblings.as_chunks::<WIDTH>();
    let mut last = [0; WIDTH];
    last[..rest.len()].copy_from_slice(rest);
    for (chunk, first) in whole.iter().chain([&last]).zip((0..).step_by(WIDTH)) {
        // SAFETY: the chunk has the 32 bytes that are read, and the load needs no alignment.
        let loaded = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
        let mut apart = _mm256_xor_si256(loaded, wanted);
        for _ in 0..budget {
            apart = _mm256_and_si256(apart, _mm256_add_epi16(apart, minus_one));
        }
        let none_left = _mm256_cmpeq_epi16(apart, _mm256_setzero_si256());
        // Sixteen lanes of two bytes become sixteen bytes, with the halves put back in sequence.
        let bytes = _mm256_packs_epi16(none_left, _mm256_setzero_si256());
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
        let mut near = _mm256_movemask_epi8(bytes).cast_unsigned() & 0xffff;
        if first == whole.len() * WIDTH {
            near &= (1 << rest.len()) - 1;
        }
        visit(first, near);
    }
}

/// Does what [`near_portable`] does.
#[cfg(all(target_arch = "x86_64", feature = "simd"))]
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn near_avx512(siblings: &[u16], probe: u16, budget: u8, mut visit: impl FnMut(usize, u32)) {
    use std::arch::x86_64::*;
    const WIDTH: usize = 32;
    let minus_one = _mm512_set1_epi16(-1);
    let wanted = _mm512_set1_epi16(probe.cast_signed());
    let mut first = 0;
    while first < siblings.len() {
        let chunk = &siblings[first..];
        let there = u32::MAX >> WIDTH.saturating_sub(chunk.len());
        // SAFETY: only the lanes of `there` are read, and the chunk has these lanes.
        let loaded = unsafe { _mm512_maskz_loadu_epi16(there, chunk.as_ptr().cast()) };
        let mut apart = _mm512_xor_si512(loaded, wanted);
        for _ in 0..budget {
            apart = _mm512_and_si512(apart, _mm512_add_epi16(apart, minus_one));
        }
        visit(first, _mm512_mask_testn_epi16_mask(there, apart, apart));
        first += WIDTH;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(runs: &[SiblingRun<'_>]) {
        let mut expected = Vec::new();
        for (number, run) in (0..).zip(runs) {
            for (at, sibling) in (0..).zip(run.siblings) {
                if (sibling ^ run.probe).count_ones() <= u32::from(run.budget) {
                    expected.push(SiblingMatch {
                        owner: number,
                        at: run.start + at,
                    });
                }
            }
        }
        for lanes in Lanes::all() {
            let mut hits = Vec::new();
            lanes.scan(runs, &mut hits);
            assert_eq!(hits, expected, "{lanes:?}");
        }
    }

    #[test]
    fn siblings_are_judged_as_by_counting_their_bits() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        for probe in [0, 1, 0x8000, 0xffff, 0x1234] {
            let run = |budget: u8| SiblingRun {
                siblings: &all,
                start: 7 * u32::from(budget),
                owner: budget.into(),
                probe,
                budget,
            };
            check(&(0..=MAX_BUDGET as u8).map(run).collect::<Vec<_>>());
        }
    }

    proptest! {
        #[test]
        fn all_instructions_give_the_same_hits_at_every_length_and_alignment(
            flips in prop::collection::vec((0..16_u32, 0..16_u32, 0..16_u32, 0..16_u32), 0..140),
            probe: u16,
            cuts in prop::collection::vec(0..140_usize, 0..6),
            budget in 0..=MAX_BUDGET as u8,
        ) {
            let siblings: Vec<u16> =
                flips
                    .iter()
                    .map(|(a, b, c, d)| probe ^ (1 << a) ^ (1 << b) ^ (1 << c) ^ (1 << d))
                    .collect();
            let from = |(owner, cut): (u32, &usize)| {
                let siblings = &siblings[*cut.min(&siblings.len())..];
                SiblingRun { siblings, start: *cut as u32, owner, probe, budget }
            };
            check(&(0..).zip(&cuts).map(from).collect::<Vec<_>>());
        }

        #[test]
        fn all_instructions_pair_the_same_siblings(
            siblings in prop::collection::vec(0..64_u16, 0..150),
            cut in 0..150_usize,
            budget in 0..=MAX_BUDGET as u8,
        ) {
            let cut = cut.min(siblings.len());
            let buckets = [0..cut, cut..cut, cut..siblings.len()];
            let mut expected = Vec::new();
            for bucket in buckets.clone() {
                for one in bucket.clone() {
                    let others = one + 1..bucket.end;
                    let near = others.filter(|&other| {
                        (siblings[one] ^ siblings[other]).count_ones() <= u32::from(budget)
                    });
                    expected.extend(near.map(|other| SiblingMatch {
                        owner: one as u32,
                        at: other as u32,
                    }));
                }
            }
            for lanes in Lanes::all() {
                let mut hits = Vec::new();
                lanes.pairs(&siblings, &buckets, budget, &mut hits);
                prop_assert_eq!(&hits, &expected, "{:?}", lanes);
            }
        }

        #[test]
        fn prefetching_beyond_the_end_is_harmless(values: Vec<u32>, at: usize) {
            prefetch(&values, at);
        }
    }
}
