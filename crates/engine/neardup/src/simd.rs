//! Dispatch of the inner loops to the best instructions of the processor, at run time.
//!
//! The loops are written once, in safe Rust, over arrays that fill the widest registers
//! ([`counters`], [`table`], [`spans`]); here they are compiled again for AVX2 and for AVX-512.
//! Intrinsics are used only for loops that compilers do not vectorise: the classification of bytes,
//! and the search for starts and ends of words.
//!
//! Invariant: all instructions give the same bits (property tests in `simhash` and `words`).
//!
//! [`counters`]: crate::simhash::counters
//! [`table`]: crate::simhash::table
//! [`spans`]: crate::words::spans

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "simd"))]
mod avx512;
pub(crate) mod instructions;

use crate::features::Width;
use crate::simhash::table::{self, Table};
use crate::simhash::votes::{self, Votes};
use crate::simhash::{counters, repetitions};
use crate::words::hash::WordHash;
use crate::words::spans::{self, Spans};
use instructions::{Instructions, Kind};

/// Calls the variant for the instructions.
macro_rules! by_instructions {
    ($instructions:ident, $portable:path, $avx2:path, $avx512:path, $arguments:tt) => {
        match $instructions.0 {
            Kind::Portable => $portable $arguments,
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            #[expect(unsafe_code, reason = "the processor has these instructions")]
            // SAFETY: `Kind::Avx2` is made only by `available`, which has found every feature that
            // the variant names.
            Kind::Avx2 => unsafe { $avx2 $arguments },
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            #[expect(unsafe_code, reason = "the processor has these instructions")]
            // SAFETY: `Kind::Avx512` is made only by `available`, which has found every feature
            // that the variant names.
            Kind::Avx512 => unsafe { $avx512 $arguments },
        }
    };
}

/// Defines `fn name(instructions, arguments…)`, which calls the portable loop as compiled for the
/// instructions.
macro_rules! compiled_for_each {
    ($(
        $(#[$documentation:meta])*
        fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $portable:path;
    )*) => { $(
        $(#[$documentation])*
        pub(crate) fn $name(instructions: Instructions, $($argument: $kind),*) $(-> $result)? {
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2($($argument: $kind),*) $(-> $result)? {
                $portable($($argument),*)
            }

            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
            #[target_feature(enable = "avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
            fn avx512($($argument: $kind),*) $(-> $result)? {
                $portable($($argument),*)
            }

            by_instructions!(instructions, $portable, avx2, avx512, ($($argument),*))
        }
    )* };
}

compiled_for_each! {
    /// Appends the hash of each word.
    fn hash_words(spans: &Spans, hash: WordHash, hashes: &mut Vec<u64>) = spans::hash;
    /// Appends the hash of each run of `width` words; there are at least `width` words.
    fn hash_runs(words: &[u64], width: Width, hashes: &mut Vec<u64>) = crate::shingles::hash_runs;
    /// Returns, for each bit, the number of hashes that have it set.
    fn ones_in(hashes: &[u64]) -> [u64; 64] = counters::ones_in;
    /// Adds each weight to the sums of the bits that are set in its hash.
    fn vote_weighted(votes: &mut Votes, features: &[(u64, u32)]) = votes::vote_weighted;
    /// Counts one more occurrence of each hash.
    fn count(table: &mut Table, hashes: &[u64]) = table::count;
    /// Adds the votes of owners that occurred more than once, and zeroes these owners; returns the
    /// number of remaining owners.
    fn settle(table: &mut Table, votes: &mut Votes) -> u64 = table::settle;
    /// Separates repetitions from undecided hashes, which go to `left`.
    fn find_repetitions(
        hashes: &[u64],
        shift: u32,
        repetitions: &mut Vec<u64>,
        left: &mut Vec<u64>
    ) = repetitions::find_repetitions;
}

/// Fills `spans` with the words of `text`: ASCII, at most a chunk.
pub(crate) fn find_words(instructions: Instructions, text: &[u8], spans: &mut Spans) {
    by_instructions!(
        instructions,
        spans::find,
        avx2::find_words,
        avx512::find_words,
        (text, spans)
    );
}

/// Finds the words of the text that was folded into `spans`.
pub(crate) fn find_folded(instructions: Instructions, spans: &mut Spans) {
    by_instructions!(
        instructions,
        spans::find_folded,
        avx2::find_folded,
        avx512::find_folded,
        (spans)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_has_the_portable_instructions_and_the_best_are_available() {
        assert_eq!(Instructions::available()[0], Instructions::PORTABLE);
        assert_eq!(
            Instructions::available().last(),
            Some(&Instructions::best())
        );
        let names = Instructions::available()
            .iter()
            .map(|each| each.name())
            .collect::<Vec<_>>();
        for skipped in ["avx2", "avx512"]
            .iter()
            .filter(|name| !names.contains(name))
        {
            println!("this processor has no {skipped}: that path is not tested here");
        }
    }
}
