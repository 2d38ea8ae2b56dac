//! Cuts a text into words.
//!
//! Words are the UAX 29 words that contain a letter or a digit. Scripts that write no spaces
//! between words (Han, kana, Thai, Lao, Khmer, Burmese and others) would need a dictionary; in
//! these, each character with its marks is a piece.
//!
//! Most words are read directly: runs of ASCII and of other [`Letters`]. Near any other character,
//! the rules are applied to the text up to the next white space, before which every word ends (WB4
//! lets marks after a space belong to it). Invariant: except for the unspaced scripts, the words
//! equal `unicode_words` of the whole text (property test).

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::{UWordBoundIndices, UnicodeSegmentation};

use super::letters::Letters;

/// A piece of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Byte range.
    pub(crate) place: Range<usize>,
    /// True for a single character of a script without spaces.
    pub(crate) unspaced: bool,
}

/// Iterator over the pieces of a text.
pub(crate) struct Pieces<'t> {
    text: &'t str,
    at: usize,
    letters: Letters,
    /// Word boundaries of a stretch, and its start.
    ruled: Option<(usize, UWordBoundIndices<'t>)>,
    /// Rest of a word of several pieces.
    rest: Range<usize>,
}

impl<'t> Pieces<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            letters: Letters::get(),
            ruled: None,
            rest: 0..0,
        }
    }

    /// Returns the table of letters.
    pub(crate) fn letters(&self) -> &Letters {
        &self.letters
    }

    /// Returns the next piece of the stretch to which the rules apply.
    fn next_ruled(&mut self) -> Option<Piece> {
        loop {
            if !self.rest.is_empty() {
                let (piece, rest) = first_of(self.text, self.rest.clone());
                self.rest = rest;
                if piece.unspaced || says_something(&self.text[piece.place.clone()]) {
                    return Some(piece);
                }
                continue;
            }
            let (start, bounds) = self.ruled.as_mut()?;
            let Some((at, word)) = bounds.next() else {
                self.ruled = None;
                return None;
            };
            self.rest = *start + at..*start + at + word.len();
        }
    }

    /// Returns the end of a word of plain letters that begins at `start`; `None` if the rules must
    /// be applied.
    fn plain_word(&self, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let (mut end, mut is_ascii) = (start, true);
        loop {
            while bytes.get(end).is_some_and(|&byte| is_word_byte(byte)) {
                end += 1;
            }
            let Some(&next) = bytes.get(end) else {
                return Some(end);
            };
            if !next.is_ascii() {
                let c = self.text[end..].chars().next()?;
                if !self.letters.has(c) {
                    return None;
                }
                is_ascii = false;
                end += c.len_utf8();
                continue;
            }
            if !matches!(next, b'.' | b'\'' | b':' | b',' | b';' | b'"') {
                return Some(end);
            }
            if next == b'\'' && !is_ascii {
                // After a Hebrew letter it is always part of the word (WB7a).
                return None;
            }
            match bytes.get(end + 1) {
                None => return Some(end),
                Some(after) if !is_word_byte(*after) && after.is_ascii() => return Some(end),
                Some(after) if !after.is_ascii() || !is_ascii => return None,
                Some(&after) if joins(bytes[end - 1], next, after) => end += 1,
                Some(_) => return Some(end),
            }
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            if let Some(piece) = self.next_ruled() {
                return Some(piece);
            }
            let bytes = self.text.as_bytes();
            let is_between = |&byte: &u8| byte.is_ascii() && !is_word_byte(byte);
            while bytes.get(self.at).is_some_and(is_between) {
                self.at += 1;
            }
            let start = self.at;
            if start == bytes.len() {
                return None;
            }
            if let Some(end) = self.plain_word(start) {
                self.at = end;
                let word = &bytes[start..end];
                if word[0] == b'_' && !says_something(&self.text[start..end]) {
                    continue;
                }
                return Some(Piece {
                    place: start..end,
                    unspaced: false,
                });
            }
            let rest = &bytes[start..];
            let end = rest.iter().position(u8::is_ascii_whitespace);
            self.at = end.map_or(bytes.len(), |end| start + end);
            let stretch = &self.text[start..self.at];
            self.ruled = Some((start, stretch.split_word_bound_indices()));
        }
    }
}

/// Splits the first piece off a word: one unspaced character with its marks, or everything before
/// the next unspaced character.
fn first_of(text: &str, word: Range<usize>) -> (Piece, Range<usize>) {
    let mut chars = text[word.clone()].char_indices();
    let unspaced = chars.next().is_some_and(|(_, first)| is_unspaced(first));
    let ends = |c: char| match unspaced {
        true => !is_mark(c),
        false => is_unspaced(c),
    };
    let next = chars.find(|&(_, c)| ends(c));
    let end = next.map_or(word.end, |(at, _)| word.start + at);
    let piece = Piece {
        place: word.start..end,
        unspaced,
    };
    (piece, end..word.end)
}

/// Returns true if a word contains a letter or a digit. The rules join a mark to a preceding space
/// or dash; such a mark does not count.
pub(super) fn says_something(word: &str) -> bool {
    word.chars().any(|c| c.is_alphanumeric() && !is_mark(c))
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if a byte joins its neighbours into one word (WB6, WB7, WB11 and WB12).
fn joins(before: u8, byte: u8, after: u8) -> bool {
    let letters = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = before.is_ascii_digit() && after.is_ascii_digit();
    match byte {
        b'.' | b'\'' => letters || digits,
        b':' => letters,
        b',' | b';' => digits,
        _ => false,
    }
}

pub(super) fn is_mark(c: char) -> bool {
    is_combining_mark(c) || matches!(c, '\u{ff9e}' | '\u{ff9f}' | '\u{200c}' | '\u{200d}')
}

/// Returns true for a character of a script without spaces between words, except its marks and
/// digits.
pub(crate) fn is_unspaced(c: char) -> bool {
    let script = matches!(c,
        // Thai and Lao; Burmese; Khmer; New Tai Lue; Tai Tham; Burmese and Tai Viet again
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1950}'..='\u{19df}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}'
        // Marks of ideographs, kana, bopomofo; ideographs; Yi; their compatibility forms and half
        // width
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303c}'
        | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}'
        | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{a000}'..='\u{a48c}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}'
        | '\u{16fe0}'..='\u{18dff}' | '\u{1aff0}'..='\u{1b2ff}' | '\u{20000}'..='\u{3ffff}');
    script && c.is_alphanumeric() && !is_digit(c) && !is_combining_mark(c)
}

/// Returns true for digits of unspaced scripts, which form numbers like other digits.
fn is_digit(c: char) -> bool {
    matches!(c, '\u{e50}'..='\u{e59}' | '\u{ed0}'..='\u{ed9}' | '\u{1040}'..='\u{1049}'
        | '\u{1090}'..='\u{1099}'
        | '\u{17e0}'..='\u{17e9}' | '\u{19d0}'..='\u{19da}' | '\u{1a80}'..='\u{1a99}'
        | '\u{a9f0}'..='\u{a9f9}')
}
