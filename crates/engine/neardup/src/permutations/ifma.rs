//! Permutation of eight members at once by four permutations: two instructions for eight results
//! (`vpmadd52luq`, `vpminuq`).

#![expect(unsafe_code, reason = "vector instructions, chosen at run time")]

use std::arch::x86_64::*;

use super::lower_portably;

/// Number of members permuted at once.
const LANES: usize = 8;
/// Number of permutations applied to members after one read.
const OVER: usize = 4;

/// Returns true if this machine has the instructions.
pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
}

/// Does what [`lower_portably`] does; requires [`is_here`].
pub(super) fn lower(mixed: &[u64], permutations: &[u64], minima: &mut [u64]) {
    debug_assert!(is_here());
    // SAFETY: `super::lower` returns this function only after `is_here` has detected both features.
    unsafe { lower_in_lanes(mixed, permutations, minima) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn lower_in_lanes(mixed: &[u64], permutations: &[u64], minima: &mut [u64]) {
    let (together, last) = mixed.as_chunks::<LANES>();
    lower_portably(last, permutations, minima);
    let (permutations, few) = permutations.as_chunks::<OVER>();
    let (minima, minima_of_few) = minima.as_chunks_mut::<OVER>();
    for (minima, permutations) in minima.iter_mut().zip(permutations) {
        let factors = permutations.map(|factor| _mm512_set1_epi64(factor.cast_signed()));
        let mut least = minima.map(|minimum| _mm512_set1_epi64(minimum.cast_signed()));
        for members in together {
            let members = loaded(members);
            for (least, factor) in least.iter_mut().zip(factors) {
                let permuted = _mm512_madd52lo_epu64(_mm512_setzero_si512(), members, factor);
                *least = _mm512_min_epu64(*least, permuted);
            }
        }
        *minima = least.map(|least| _mm512_reduce_min_epu64(least));
    }
    lower_portably(together.as_flattened(), few, minima_of_few);
}

#[target_feature(enable = "avx512f")]
fn loaded(numbers: &[u64; LANES]) -> __m512i {
    // SAFETY: eight numbers of 64 bits are the 512 that are read; no alignment is needed.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}
