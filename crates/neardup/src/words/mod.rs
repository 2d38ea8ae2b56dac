//! From text to the hashes of its words, without writing the words down.
//!
//! ASCII, which is most of most texts, is taken in chunks of a few kilobytes that end at white space: their words are
//! found ([`spans`]) and hashed ([`hash`]) by the best instructions that the processor has. What holds other characters
//! is cut out, from white space to white space, and goes the way of [`NormalText`].
//! Invariant: the hashes are those of the words of [`NormalText::of`], in their order (property test).

pub(crate) mod hash;
mod hashed;
pub(crate) mod spans;

use crate::simd::{self, Instructions};
use crate::text::MAX_TEXT;
use crate::{HashKey, NormalText};
use hash::WordHash;

pub use hashed::HashedText;
use spans::{CHUNK, Spans};

/// A foreign piece is not cut where ASCII comes for fewer bytes than this: each piece costs a few hundred nanoseconds.
const ASCII_AGAIN: usize = 64;
/// How many bytes of foreign text are taken together, up to the next white space.
const FOREIGN_CHUNK: usize = 16 * CHUNK;

/// Hands the hashes of the words of `text` to `visit`, a chunk's together.
pub(crate) fn each_batch(
    text: &str,
    key: HashKey,
    instructions: Instructions,
    mut visit: impl FnMut(&[u64]),
) {
    let mut spans = Spans::new();
    let mut hashes = Vec::with_capacity(CHUNK / 2);
    let word_hash = WordHash::new(key);
    each_piece(&text[..text.floor_char_boundary(MAX_TEXT)], |piece| match piece {
        Piece::Ascii(ascii) => {
            simd::find_words(instructions, ascii, &mut spans);
            hashes.clear();
            simd::hash_words(instructions, &spans, word_hash, &mut hashes);
            visit(&hashes);
        }
        Piece::Other(text) => visit(&NormalText::of(text).hashes(key)),
    });
}

/// A part of a text that no word reaches out of.
enum Piece<'a> {
    /// ASCII, at most a chunk.
    Ascii(&'a [u8]),
    /// Anything.
    Other(&'a str),
}

fn each_piece(text: &str, mut visit: impl FnMut(Piece<'_>)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let window = &bytes[start..bytes.len().min(start + CHUNK)];
        let ascii = ascii_at_start(window);
        let end = if start + ascii == bytes.len() {
            bytes.len()
        } else {
            start + after_last_white(&window[..ascii])
        };
        if start < end {
            visit(Piece::Ascii(&bytes[start..end]));
            start = end;
        } else {
            let end = end_of_foreign(bytes, start + ascii);
            visit(Piece::Other(&text[start..end]));
            start = end;
        }
    }
}

/// How many bytes at the start are ASCII.
fn ascii_at_start(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<64>();
    let any = |block: &[u8; 64]| block.iter().fold(0, |any, byte| any | byte) >= 0x80;
    let known = 64 * blocks.iter().position(any).unwrap_or(blocks.len());
    let rest = &bytes[known..];
    known
        + rest
            .iter()
            .position(|byte| !byte.is_ascii())
            .unwrap_or(rest.len())
}

fn after_last_white(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rposition(u8::is_ascii_whitespace)
        .map_or(0, |at| at + 1)
}

/// Where the foreign piece ends whose first foreign character is at `first`: at white space, before enough ASCII or
/// where the piece is long enough, because its words are written down.
fn end_of_foreign(bytes: &[u8], first: usize) -> usize {
    let mut foreign = first;
    loop {
        let white = bytes[foreign..].iter().position(u8::is_ascii_whitespace);
        let Some(length) = white else {
            return bytes.len();
        };
        let end = foreign + length;
        let next = &bytes[end..bytes.len().min(end + ASCII_AGAIN)];
        match next.iter().rposition(|byte| !byte.is_ascii()) {
            Some(further) if end - first < FOREIGN_CHUNK => foreign = end + further,
            _ => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The hashes of all words, by each set of instructions.
    fn hashes(text: &str, key: HashKey) -> Vec<(Instructions, Vec<u64>)> {
        let each = |instructions| {
            let mut all = Vec::new();
            each_batch(text, key, instructions, |hashes| all.extend_from_slice(hashes));
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
            check(&format!("{}_{}", " ".repeat(length), "_".repeat(length % 130)));
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
        fn ascii_has_the_words_that_it_has_when_normalised(bytes in prop::collection::vec(0_u8..128, 0..400)) {
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
