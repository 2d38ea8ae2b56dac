//! The loops for processors with AVX-512 with VBMI and VBMI2: Intel's since Ice Lake and AMD's
//! since Zen 4.
#![expect(
    unsafe_code,
    reason = "loads and stores of whole registers go through pointers"
)]

use std::arch::x86_64::*;

use crate::words::spans::{Block, Classes, EDGES, Spans};

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn find_words(text: &[u8], spans: &mut Spans) {
    for (lower, classes) in spans.take(text) {
        *classes = classify(lower);
    }
    spans.join();
    list_edges(spans);
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn find_folded(spans: &mut Spans) {
    spans.see_gaps();
    list_edges(spans);
}

/// Classifies 64 bytes of ASCII and makes them lower-case.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn classify(block: &mut Block) -> Classes {
    // SAFETY: an unaligned load of the 64 bytes that the reference is to.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let upper = between::<b'A', b'Z'>(bytes);
    let lower = _mm512_mask_add_epi8(bytes, upper, bytes, _mm512_set1_epi8(0x20));
    // SAFETY: an unaligned store of the 64 bytes that the reference is to.
    unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), lower) };
    let equal = |byte: u8| _mm512_cmpeq_epi8_mask(lower, _mm512_set1_epi8(byte as i8));
    let both = equal(b'.') | equal(b'\'');
    Classes {
        letters: between::<b'a', b'z'>(lower),
        digits: between::<b'0', b'9'>(lower),
        underscores: equal(b'_'),
        join_letters: both | equal(b':'),
        join_digits: both | equal(b',') | equal(b';'),
    }
}

/// Returns a bit for each byte from `FIRST` to `LAST`.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn between<const FIRST: u8, const LAST: u8>(bytes: __m512i) -> u64 {
    let shifted = _mm512_sub_epi8(bytes, _mm512_set1_epi8(FIRST as i8));
    _mm512_cmple_epu8_mask(shifted, _mm512_set1_epi8((LAST - FIRST) as i8))
}

/// Lists edges as [`Spans::list_edges`] does, without a branch for each word.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn list_edges(spans: &mut Spans) {
    let (words, starts, ends) = spans.edges();
    let (mut started, mut ended) = (0, 0);
    let mut inside = 0;
    let mut offset = _mm512_setzero_si512();
    for &mask in words {
        let moved = mask << 1 | inside;
        inside = mask >> 63;
        started += list(mask & !moved, offset, &mut starts[started..]);
        ended += list(moved & !mask, offset, &mut ends[ended..]);
        offset = _mm512_add_epi16(offset, _mm512_set1_epi16(64));
    }
    spans.found(ended);
}

/// Writes the positions of the set bits of `mask`, each plus `offset`; returns their number. Two
/// set bits are never adjacent.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn list(mask: u64, offset: __m512i, places: &mut [u16]) -> usize {
    // SAFETY: an unaligned load of the 64 bytes of the array.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    let set = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(mask, numbers));
    let found = _mm512_add_epi16(_mm512_cvtepu8_epi16(set), offset);
    let places: &mut [u16; EDGES] = places
        .first_chunk_mut()
        .expect("there is room for the edges of a block more");
    // SAFETY: an unaligned store of the 32 numbers, 64 bytes, that the reference is to.
    unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast(), found) };
    mask.count_ones() as usize
}

const NUMBERS: [u8; 64] = {
    let mut numbers = [0; 64];
    let mut number = 0;
    while number < 64 {
        numbers[number] = number as u8;
        number += 1;
    }
    numbers
};
