//! A round of fast similarity sketching, eight members at a time.
//!
//! Hashing eight members takes as long as hashing one member with other instructions (`vpmullq`).
//! In the first round nearly every member falls into a bin that it may change, so bins are visited
//! one by one. In later rounds few bins are still empty, and the members that fall into them are
//! found eight at a time. Up to 512 bins have one bit each in one register; for more bins, the
//! samples themselves are gathered (`vpgatherqq`). The same holds late in the first round of a set
//! much larger than the number of bins, where few members are less than the sample in their bin.

#![expect(unsafe_code, reason = "vector instructions, chosen at run time")]

use std::arch::x86_64::*;

use super::{FACTOR, HASH, NOTHING, RoundPair, are_full, fill_portably_even, fill_portably_odd};

/// Number of members hashed at once.
const LANES: usize = 8;
/// Number of groups of [`LANES`] members that are hashed before they fall one by one.
const BLOCK: usize = 16;
/// Maximum number of members whose hashes are kept for the odd round: 8 KiB, on the stack.
const MAX_KEPT_MEMBERS: usize = 1_024;
/// Number of bins that have a bit in one register.
const BITS: usize = 64 * LANES;
/// Average number of members per bin after which a further member is rarely the least.
const MEMBERS_A_BIN: usize = 32;

/// Returns true if this machine has the instructions.
pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
}

/// Does what [`super::fill_portably`] does; requires [`is_here`].
pub(super) fn fill_bins(members: &[u64], turn: RoundPair, bins: &mut [u64]) -> bool {
    debug_assert!(is_here());
    // SAFETY: `super::turn` returns this function only after `is_here` has detected both features.
    unsafe {
        if turn.even == 0 && members.len() <= MAX_KEPT_MEMBERS.min(bins.len() * MEMBERS_A_BIN) {
            fill_hashed_once(members, turn, bins)
        } else {
            fill_hashed_twice(members, turn, bins)
        }
    }
}

/// Fills bins from few members, whose hashes can be kept, when most bins are empty.
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_hashed_once(members: &[u64], turn: RoundPair, bins: &mut [u64]) -> bool {
    let lanes = Lanes::new(turn, bins.len());
    let (members, last) = members.as_chunks::<LANES>();
    let mut kept = [[0; LANES]; MAX_KEPT_MEMBERS / LANES];
    let kept = &mut kept[..members.len()];
    for (members, samples) in members.chunks(BLOCK).zip(kept.chunks_mut(BLOCK)) {
        fill_one_by_one(&lanes, members, samples, bins);
    }
    fill_portably_even(last, turn, bins);
    if are_full(bins) {
        return true;
    }
    let open = Open::of(bins);
    for samples in &*kept {
        // An even sample contains all bits of the hash that an odd sample needs.
        let (places, samples) = lanes.odd(loaded(samples));
        open.lower(bins, places, samples);
    }
    fill_portably_odd(last, turn, bins);
    are_full(bins)
}

/// Fills bins from many members, or when few bins are empty.
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_hashed_twice(members: &[u64], turn: RoundPair, bins: &mut [u64]) -> bool {
    let lanes = Lanes::new(turn, bins.len());
    let (together, last) = members.as_chunks::<LANES>();
    let early = if turn.even == 0 {
        bins.len() * MEMBERS_A_BIN / LANES
    } else {
        0
    };
    let (early, late) = together.split_at(early.min(together.len()));
    for members in early.chunks(BLOCK) {
        fill_one_by_one(&lanes, members, &mut [[0; LANES]; BLOCK], bins);
    }
    let open = if turn.even == 0 {
        Open::Unknown
    } else {
        Open::of(bins)
    };
    for members in late {
        let (places, samples) = lanes.even(lanes.hashes(members));
        open.lower(bins, places, samples);
    }
    fill_portably_even(last, turn, bins);
    if are_full(bins) {
        return true;
    }
    let open = Open::of(bins);
    for members in together {
        let (places, samples) = lanes.odd(lanes.hashes(members));
        open.lower(bins, places, samples);
    }
    fill_portably_odd(last, turn, bins);
    are_full(bins)
}

/// Lets at most [`BLOCK`] times [`LANES`] members fall in an even round, and writes their samples.
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_one_by_one(
    lanes: &Lanes,
    members: &[[u64; LANES]],
    samples: &mut [[u64; LANES]],
    bins: &mut [u64],
) {
    // Through memory: extracting the lanes from the registers one by one is slower.
    let mut places = [[0; LANES]; BLOCK];
    for ((members, samples), places) in members.iter().zip(&mut *samples).zip(&mut places) {
        let (place, sample) = lanes.even(lanes.hashes(members));
        store(place, places);
        store(sample, samples);
    }
    for (places, samples) in places.iter().zip(samples).take(members.len()) {
        for (place, sample) in places.iter().zip(samples) {
            // SAFETY: the upper half of x · bins for an x below 2³² is below the number of bins.
            let bin = unsafe { bins.get_unchecked_mut((*place >> 32) as usize) };
            *bin = (*bin).min(*sample);
        }
    }
}

/// Bins that a sample can change.
enum Open {
    /// Empty bins among up to 512, one bit each.
    Empty(__m512i),
    /// Any bin that holds more than the sample.
    Unknown,
}

impl Open {
    /// Returns the open bins in rounds that start with some empty bins.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn of(bins: &[u64]) -> Self {
        if bins.len() > BITS {
            return Self::Unknown;
        }
        let nothing = _mm512_set1_epi64(NOTHING.cast_signed());
        let mut empty = [0; LANES];
        for (bits, bins) in empty.iter_mut().zip(bins.chunks(64)) {
            let (together, last) = bins.as_chunks::<LANES>();
            for (number, bins) in together.iter().enumerate() {
                *bits |=
                    u64::from(_mm512_cmpeq_epi64_mask(loaded(bins), nothing)) << (number * LANES);
            }
            for (number, bin) in last.iter().enumerate() {
                *bits |= u64::from(*bin == NOTHING) << (together.len() * LANES + number);
            }
        }
        Self::Empty(loaded(&empty))
    }

    /// Lowers the open bins at `places` to the samples.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn lower(&self, bins: &mut [u64], places: __m512i, samples: __m512i) {
        let chosen = match self {
            Self::Empty(empty) => {
                // Only the low three bits of a word's number count.
                let words = _mm512_permutexvar_epi64(_mm512_srli_epi64::<38>(places), *empty);
                let bits = _mm512_and_si512(_mm512_srli_epi64::<32>(places), _mm512_set1_epi64(63));
                _mm512_test_epi64_mask(_mm512_srlv_epi64(words, bits), _mm512_set1_epi64(1))
            }
            Self::Unknown => {
                let bin = _mm512_srli_epi64::<32>(places);
                // SAFETY: the upper half of x · bins for an x below 2³² is below the number of
                // bins.
                let held = unsafe { _mm512_i64gather_epi64::<8>(bin, bins.as_ptr().cast()) };
                _mm512_cmplt_epu64_mask(samples, held)
            }
        };
        if chosen != 0 {
            lower(bins, places, samples, chosen);
        }
    }
}

/// Lowers the bins at `places` to the samples, in the `chosen` lanes.
#[target_feature(enable = "avx512f,avx512dq")]
fn lower(bins: &mut [u64], places: __m512i, samples: __m512i, mut chosen: __mmask8) {
    let (mut place, mut sample) = ([0; LANES], [0; LANES]);
    store(places, &mut place);
    store(samples, &mut sample);
    while chosen != 0 {
        let lane = chosen.trailing_zeros() as usize;
        let bin = &mut bins[(place[lane] >> 32) as usize];
        *bin = (*bin).min(sample[lane]);
        chosen &= chosen - 1;
    }
}

/// The constants of a turn, in every lane.
struct Lanes {
    salt: __m512i,
    even: __m512i,
    odd: __m512i,
    bins: __m512i,
    hash: __m512i,
    factor: __m512i,
}

/// A place is the bin in the upper half of a lane.
impl Lanes {
    #[target_feature(enable = "avx512f,avx512dq")]
    fn new(turn: RoundPair, bins: usize) -> Self {
        Self {
            salt: _mm512_set1_epi64(turn.salt.cast_signed()),
            even: _mm512_set1_epi64(turn.even.cast_signed()),
            odd: _mm512_set1_epi64(turn.odd.cast_signed()),
            bins: _mm512_set1_epi64(bins as i64),
            hash: _mm512_set1_epi64(HASH.cast_signed()),
            factor: _mm512_set1_epi64(FACTOR.cast_signed()),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn hashes(&self, members: &[u64; LANES]) -> __m512i {
        let values = _mm512_xor_si512(loaded(members), self.salt);
        let values = _mm512_mullo_epi64(folded(values), self.factor);
        folded(_mm512_mullo_epi64(folded(values), self.factor))
    }

    /// Returns places and samples of an even round.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn even(&self, hashes: __m512i) -> (__m512i, __m512i) {
        let places = _mm512_mul_epu32(_mm512_srli_epi64::<32>(hashes), self.bins);
        let samples = _mm512_and_si512(hashes, self.hash);
        (places, _mm512_or_si512(samples, self.even))
    }

    /// Returns places and samples of an odd round, which needs only the low 48 bits of the hashes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn odd(&self, hashes: __m512i) -> (__m512i, __m512i) {
        // Multiplies the lower half of each lane.
        let places = _mm512_mul_epu32(hashes, self.bins);
        let samples = _mm512_andnot_si512(hashes, self.hash);
        (places, _mm512_or_si512(samples, self.odd))
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn folded(values: __m512i) -> __m512i {
    _mm512_xor_si512(values, _mm512_srli_epi64::<32>(values))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn loaded(numbers: &[u64; LANES]) -> __m512i {
    // SAFETY: eight numbers of 64 bits are the 512 that are read; no alignment is needed.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn store(lanes: __m512i, numbers: &mut [u64; LANES]) {
    // SAFETY: eight numbers of 64 bits are the 512 that are written; no alignment is needed.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), lanes) };
}
