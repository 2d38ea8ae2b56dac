//! A round of fast similarity sketching, eight hashes at a time.
//!
//! Hashing eight members takes as long as hashing one otherwise (`vpmullq`). In the first round nearly every hash
//! meets a bin that it may change, so bins are visited one by one. In later rounds, and late in the first one of a
//! large set, nearly none does: the eight bins are read at once (`vpgatherqq`), and visited only where a hash is less.

#![expect(unsafe_code, reason = "vector instructions, chosen at run time")]

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmplt_epu64_mask, _mm512_i64gather_epi64, _mm512_loadu_si512,
    _mm512_mul_epu32, _mm512_mullo_epi64, _mm512_or_si512, _mm512_set1_epi64, _mm512_srli_epi64,
    _mm512_storeu_si512, _mm512_xor_si512,
};

use super::{HASH, NOTHING, Round, fall_portably};

/// How many members at once.
const LANES: usize = 8;
/// From how many members a bin on, on average, the next is rarely less than all of them.
const MEMBERS_A_BIN: usize = 8;

/// Whether this machine has the instructions.
pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
}

/// As [`fall_portably`]; only where [`is_here`].
pub(super) fn fall(hashes: &[u64], round: Round, bins: &mut [u64]) -> usize {
    debug_assert!(is_here());
    // SAFETY: `super::fall` gives this function out only after `is_here` found both features.
    unsafe { fall_in_lanes(hashes, round, bins) }
}

#[target_feature(enable = "avx512f,avx512dq")]
fn fall_in_lanes(hashes: &[u64], round: Round, bins: &mut [u64]) -> usize {
    let bins_now = bins.len();
    let one_by_one = if round.tag == 0 {
        bins_now * MEMBERS_A_BIN
    } else {
        0
    };
    let (first, later) = hashes.split_at(one_by_one.min(hashes.len()) / LANES * LANES);
    let (later, last) = later.as_chunks::<LANES>();
    let (mut filled, lanes) = (0, Lanes::new(round, bins_now));

    for members in first.as_chunks::<LANES>().0 {
        let (places, samples) = lanes.fall(members);
        for (place, sample) in places.into_iter().zip(samples) {
            let bin = &mut bins[place as usize];
            filled += usize::from(*bin == NOTHING);
            *bin = (*bin).min(sample);
        }
    }
    for members in later {
        let (places, samples) = lanes.fall_together(members);
        // SAFETY: each place is (x · bins) >> 32 for an x below 2³², hence below the number of bins.
        let held = unsafe { _mm512_i64gather_epi64::<8>(places, bins.as_ptr().cast()) };
        let mut less = _mm512_cmplt_epu64_mask(samples, held);
        if less == 0 {
            continue;
        }
        let (places, samples) = (stored(places), stored(samples));
        while less != 0 {
            let lane = less.trailing_zeros() as usize;
            let bin = &mut bins[places[lane] as usize];
            filled += usize::from(*bin == NOTHING);
            *bin = (*bin).min(samples[lane]);
            less &= less - 1;
        }
    }
    filled + fall_portably(last, round, bins)
}

/// The constants of a round, in every lane.
struct Lanes {
    salt: __m512i,
    tag: __m512i,
    bins: __m512i,
}

impl Lanes {
    #[target_feature(enable = "avx512f,avx512dq")]
    fn new(round: Round, bins: usize) -> Self {
        Self {
            salt: _mm512_set1_epi64(round.salt.cast_signed()),
            tag: _mm512_set1_epi64(round.tag.cast_signed()),
            bins: _mm512_set1_epi64(bins as i64),
        }
    }

    /// The bin and the sample of each.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn fall_together(&self, members: &[u64; LANES]) -> (__m512i, __m512i) {
        let hashes = mix(_mm512_xor_si512(loaded(members), self.salt));
        let places = _mm512_srli_epi64::<32>(_mm512_mul_epu32(_mm512_srli_epi64::<32>(hashes), self.bins));
        let low = _mm512_and_si512(hashes, _mm512_set1_epi64(HASH.cast_signed()));
        (places, _mm512_or_si512(low, self.tag))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn fall(&self, members: &[u64; LANES]) -> ([u64; LANES], [u64; LANES]) {
        let (places, samples) = self.fall_together(members);
        (stored(places), stored(samples))
    }
}

/// [`crate::mix::mix`] in every lane.
#[target_feature(enable = "avx512f,avx512dq")]
fn mix(values: __m512i) -> __m512i {
    let folded = |values| _mm512_xor_si512(values, _mm512_srli_epi64::<33>(values));
    let times = |values, factor: u64| _mm512_mullo_epi64(values, _mm512_set1_epi64(factor.cast_signed()));
    let values = times(folded(values), 0xff51_afd7_ed55_8ccd);
    folded(times(folded(values), 0xc4ce_b9fe_1a85_ec53))
}

#[target_feature(enable = "avx512f")]
fn loaded(numbers: &[u64; LANES]) -> __m512i {
    // SAFETY: eight numbers of 64 bits are the 512 that are read; no alignment is asked for.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn stored(lanes: __m512i) -> [u64; LANES] {
    let mut numbers = [0; LANES];
    // SAFETY: eight numbers of 64 bits are the 512 that are written; no alignment is asked for.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), lanes) };
    numbers
}
