//! The loops for processors with AVX2, which most have had since 2013.
#![expect(
    unsafe_code,
    reason = "loads and stores of whole registers go through pointers"
)]

use std::arch::x86_64::*;

use crate::words::spans::{self, Block, Classes, Spans};

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn find_words(text: &[u8], spans: &mut Spans) {
    for (lower, classes) in spans.take(text) {
        *classes = classify(lower);
    }
    spans.join();
    spans.list_edges();
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn find_folded(spans: &mut Spans) {
    spans::find_folded(spans);
}

/// Classifies 64 bytes of ASCII and makes them lower-case.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn classify(block: &mut Block) -> Classes {
    let [first, second] = block.as_chunks_mut::<32>().0 else {
        return Classes::default();
    };
    let (one, two) = (classify_half(first), classify_half(second));
    let both = |one: i32, two: i32| u64::from(one as u32) | u64::from(two as u32) << 32;
    Classes {
        letters: both(one[0], two[0]),
        digits: both(one[1], two[1]),
        underscores: both(one[2], two[2]),
        join_letters: both(one[3], two[3]),
        join_digits: both(one[4], two[4]),
    }
}

/// Returns the masks of 32 bytes in the order of [`Classes`], and makes the bytes lower-case.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn classify_half(half: &mut [u8; 32]) -> [i32; 5] {
    // SAFETY: an unaligned load of the 32 bytes that the reference is to.
    let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
    let upper = between::<b'A', b'Z'>(bytes);
    let lower = _mm256_or_si256(bytes, _mm256_and_si256(upper, _mm256_set1_epi8(0x20)));
    // SAFETY: an unaligned store of the 32 bytes that the reference is to.
    unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), lower) };
    let equal = |byte: u8| _mm256_cmpeq_epi8(lower, _mm256_set1_epi8(byte as i8));
    let both = _mm256_or_si256(equal(b'.'), equal(b'\''));
    let join_digits = _mm256_or_si256(equal(b','), equal(b';'));
    [
        _mm256_movemask_epi8(between::<b'a', b'z'>(lower)),
        _mm256_movemask_epi8(between::<b'0', b'9'>(lower)),
        _mm256_movemask_epi8(equal(b'_')),
        _mm256_movemask_epi8(_mm256_or_si256(both, equal(b':'))),
        _mm256_movemask_epi8(_mm256_or_si256(both, join_digits)),
    ]
}

/// Sets all bits of each ASCII byte from `FIRST` to `LAST`, and clears all other bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn between<const FIRST: u8, const LAST: u8>(bytes: __m256i) -> __m256i {
    // Shifted so that the last byte becomes the greatest signed byte: AVX2 lacks unsigned
    // comparison.
    let shifted = _mm256_add_epi8(bytes, _mm256_set1_epi8((127 - LAST) as i8));
    _mm256_cmpgt_epi8(shifted, _mm256_set1_epi8((127 - LAST + FIRST) as i8 - 1))
}
