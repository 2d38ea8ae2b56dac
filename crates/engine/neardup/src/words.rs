//! Hashes of a text's words, made without storing the words.
//!
//! Text is processed in chunks of a few kilobytes, up to a certain end of a word. ASCII, the
//! largest part of most texts, is classified 64 bytes at a time ([`spans`]); other text is folded
//! character by character ([`folding`]). The words are then listed ([`spans`]) and hashed
//! ([`hash`]) by the best instructions of the processor. A word that does not fit into a chunk goes
//! through [`NormalText`], with the text around it. Invariant: the hashes equal the hashes of the
//! words of [`NormalText::of`], in the same sequence (property test).

pub(crate) mod folding;
pub(crate) mod hash;
pub(crate) mod hashed;
pub(crate) mod spans;

use crate::key::HashKey;
use crate::simd;
use crate::simd::instructions::Instructions;
use crate::text::{MAX_TEXT, NormalText, after_last_white, ascii_at_start};
use folding::ASCII_AGAIN;
use hash::WordHash;

pub use hashed::HashedText;
use spans::{CHUNK, Spans};

/// Calls `visit` with the hashes of the words of `text`, one chunk at a time.
pub(crate) fn each_batch(
    text: &str,
    key: HashKey,
    instructions: Instructions,
    mut visit: impl FnMut(&[u64]),
) {
    let mut spans = Spans::new();
    let mut hashes = Vec::with_capacity(CHUNK / 2);
    let word_hash = WordHash::new(key);
    let mut rest = &text[..text.floor_char_boundary(MAX_TEXT)];
    while !rest.is_empty() {
        let ascii = ascii_to_take(rest.as_bytes());
        let read = if ascii > 0 {
            simd::find_words(instructions, &rest.as_bytes()[..ascii], &mut spans);
            ascii
        } else {
            let read = spans.fold(rest);
            simd::find_folded(instructions, &mut spans);
            read
        };
        if read > 0 {
            hashes.clear();
            simd::hash_words(instructions, &spans, word_hash, &mut hashes);
            visit(&hashes);
            rest = &rest[read..];
        } else {
            let (giant, after) = rest.split_at(end_of_giant(rest.as_bytes()));
            visit(&NormalText::of(giant).hashes(key));
            rest = after;
        }
    }
}

/// Returns the number of leading ASCII bytes to process together, up to a chunk: 0 if a word may
/// extend beyond them, or if they are too few for a chunk.
fn ascii_to_take(bytes: &[u8]) -> usize {
    let window = &bytes[..bytes.len().min(CHUNK)];
    let ascii = ascii_at_start(window);
    if ascii == bytes.len() {
        ascii
    } else if ascii < ASCII_AGAIN {
        0
    } else {
        after_last_white(&window[..ascii])
    }
}

/// Returns the certain end of a word that does not fit into a chunk.
fn end_of_giant(bytes: &[u8]) -> usize {
    let white = bytes.iter().skip(CHUNK).position(u8::is_ascii_whitespace);
    white.map_or(bytes.len(), |at| CHUNK + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the hashes of all words, by each set of instructions.
    fn hashes(text: &str, key: HashKey) -> Vec<(Instructions, Vec<u64>)> {
        let each = |instructions| {
            let mut all = Vec::new();
            each_batch(text, key, instructions, |hashes| {
                all.extend_from_slice(hashes);
            });
            (instructions, all)
        };
        Instructions::available().into_iter().map(each).collect()
    }

    fn check(text: &str) {
        let key = HashKey::new(3);
        let expected = NormalText::of(text).hashes(key);
        for (instructions, hashes) in hashes(text, key) {
            assert_eq!(hashes, expected, "{} of {text:?}", instructions.name());
        }
    }

    #[test]
    fn words_that_lie_across_blocks_and_chunks_are_found_whole() {
        for length in (0..200)
            .chain(CHUNK - 70..CHUNK + 70)
            .chain(2 * CHUNK - 20..2 * CHUNK + 20)
        {
            let mut text = "It's 3.14, ".repeat(length / 11 + 1);
            text.truncate(length);
            check(&text);
            check(&"x".repeat(length));
            check(&format!("{} é", "x.Y ".repeat(length / 4)));
            check(&format!(
                "{}_{}",
                " ".repeat(length),
                "_".repeat(length % 130)
            ));
        }
    }

    #[test]
    fn a_text_full_of_edges_fits() {
        check(&"a ".repeat(CHUNK));
        check(&" a".repeat(CHUNK));
        check(&"a-b.c:d_e'1,2;3 ".repeat(CHUNK / 8));
        check(&"東 ".repeat(CHUNK));
        check(&"東京".repeat(CHUNK));
        check(&"é word ".repeat(30_000));
    }

    proptest! {
        #[test]
        fn any_text_has_the_words_that_it_has_when_normalised(text in "\\PC{0,200}") {
            check(&text);
        }

        #[test]
        fn ascii_text_has_the_words_of_its_normal_text(
            bytes in prop::collection::vec(0_u8..128, 0..400),
        ) {
            check(&bytes.into_iter().map(char::from).collect::<String>());
        }

        #[test]
        fn joining_marks_are_those_of_normalised_text(text in "[aZ5_.,:;' -]{0,300}") {
            check(&text);
        }

        #[test]
        fn scripts_may_change_anywhere(text in "([a-z .']{0,90}[éΣ東ア’\u{300}\u{a0}]{0,3}){0,8}") {
            check(&text);
        }
    }
}
