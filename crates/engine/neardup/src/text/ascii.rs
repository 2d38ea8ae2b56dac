//! The fast path for ASCII: one bit per byte tells whether it belongs to a word, and words end
//! where the bits change.

use std::ops::Range;

use super::words::Words;

impl Words {
    /// Adds the words of ASCII text by UAX 29: letters, digits and `_` stick together, and `.` `'`
    /// `:` (between letters) and `.` `'` `,` `;` (between digits) join their neighbours.
    pub(super) fn add_ascii(&mut self, text: &[u8]) {
        let first = self.filled();
        // The known part of the current word.
        let mut word = 0..0;
        each_run(text, |run| {
            if run.start == word.end + 1 && !word.is_empty() && joins(text, word.end) {
                word.end = run.end;
            } else {
                self.add_ascii_word(text, std::mem::replace(&mut word, run));
            }
        });
        self.add_ascii_word(text, word);
        self.written_from(first).make_ascii_lowercase();
    }

    fn add_ascii_word(&mut self, text: &[u8], word: Range<usize>) {
        let says_nothing = || text[word.clone()].iter().all(|&byte| byte == b'_');
        if word.is_empty() || text[word.start] == b'_' && says_nothing() {
            return;
        }
        let length = word.len();
        match text[word.start..].first_chunk::<16>() {
            Some(&chunk) if length <= 16 => self.append_first(chunk, length),
            _ => self.append(&text[word]),
        }
        self.end_word();
    }
}

/// Visits the maximal runs of letters, digits and `_` in ASCII text.
fn each_run(text: &[u8], mut visit: impl FnMut(Range<usize>)) {
    let (blocks, last) = text.as_chunks::<64>();
    let mut padded = [b' '; 64];
    padded[..last.len()].copy_from_slice(last);
    // The empty block after the text ends a run that reaches the end.
    let masks = blocks
        .iter()
        .map(word_bytes)
        .chain([word_bytes(&padded), 0]);

    let mut inside = 0;
    let mut start = None;
    for (block, mask) in masks.enumerate() {
        let mut edges = mask ^ (mask << 1 | inside);
        inside = mask >> 63;
        while edges != 0 {
            let at = block * 64 + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            match start.take() {
                Some(start) => visit(start..at),
                None => start = Some(at),
            }
        }
    }
}

/// Returns one bit per byte of ASCII text, the first in the lowest: set for a letter, a digit or
/// `_`.
fn word_bytes(block: &[u8; 64]) -> u64 {
    let eights = block.as_chunks::<8>().0;
    eights.iter().rev().fold(0, |mask, eight| {
        mask << 8 | word_bytes_of_eight(u64::from_le_bytes(*eight))
    })
}

/// Returns these bits for eight bytes in one number, from sums that reach the top bit of a byte if
/// it is large enough.
fn word_bytes_of_eight(eight: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let at_least = |bytes: u64, least: u8| bytes + EACH * u64::from(0x80 - least);
    let folded = eight | (EACH * 0x20);
    let letters = at_least(folded, b'a') & !at_least(folded, b'z' + 1);
    let digits = at_least(eight, b'0') & !at_least(eight, b'9' + 1);
    let underscores = !at_least(eight ^ (EACH * u64::from(b'_')), 1);
    let found = (letters | digits | underscores) >> 7 & EACH;
    // Gathers the lowest bits of all bytes in the top byte.
    found.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns true if the byte at `at`, which has neighbours, joins them into one word: UAX 29, WB6,
/// WB7, WB11 and WB12.
fn joins(text: &[u8], at: usize) -> bool {
    let (before, after) = (text[at - 1], text[at + 1]);
    let between_letters = || before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let between_digits = || before.is_ascii_digit() && after.is_ascii_digit();
    match text[at] {
        b'.' | b'\'' => between_letters() || between_digits(),
        b':' => between_letters(),
        b',' | b';' => between_digits(),
        _ => false,
    }
}
