//! Words beyond ASCII: UAX 29 in one pass, character by character, by cached classes.
//!
//! One character of look-ahead is enough: `.` between letters (WB6, WB7), `,` between digits (WB11,
//! WB12), `"` between Hebrew letters (WB7b, WB7c). If a character is unsettled, the text from the
//! last certain end of a word to the next is left to the libraries.

use unicode_normalization::char::canonical_combining_class;
use unicode_segmentation::UnicodeSegmentation;

use super::fold::folded;
use super::letters::{
    Class, JOINER, Letter, Letters, belongs_to_what_is_before, is_word_by_itself,
};
use super::words::{Checkpoint, Words};

/// Minimum number of ASCII bytes after white space that makes the switch to the ASCII path pay.
pub(super) const WORTH_A_CHANGE: usize = 48;

/// A position in the text where a word certainly ends, and the words collected before it.
#[derive(Clone, Copy)]
struct CertainEnd {
    at: usize,
    checkpoint: Checkpoint,
}

/// The current word.
#[derive(Clone, Copy)]
struct Open {
    start: usize,
    /// Class of the last character, ignoring marks; `Break` while there is no word.
    last: Class,
    /// True if the word is more than `_`.
    says_something: bool,
    /// True if the last character was an ordered mark.
    after_ordered: bool,
}

impl Open {
    const NOTHING: Open = Open {
        start: 0,
        last: Class::Break,
        says_something: false,
        after_ordered: false,
    };

    fn is_a_word(self) -> bool {
        self.last != Class::Break
    }

    /// Returns true if a letter, digit or `_` continues the word.
    fn goes_on(self) -> bool {
        matches!(
            self.last,
            Class::Letter | Class::Hebrew | Class::Number | Class::Underscore
        )
    }
}

impl Words {
    /// Reads `text`, which begins at a certain end of a word, up to white space that is followed by
    /// much ASCII; returns the number of bytes read.
    pub(super) fn add_unicode(&mut self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let mut letters = Letters::new();
        let mut open = Open::NOTHING;
        let mut at = 0;
        let mut end = self.certain_end(at);
        let mut next = letters.first_of(bytes);
        while let Some((letter, length)) = next {
            let class = letter.class();
            let settled = match class {
                Class::Letter => {
                    if !open.goes_on() {
                        self.close(open);
                        open = self.open();
                    }
                    (open.last, open.says_something, open.after_ordered) = (class, true, false);
                    self.append_letter(letter);
                    at += length;
                    // Most letters follow another letter.
                    next = loop {
                        match letters.first_of(&bytes[at..]) {
                            Some((letter, length)) if letter.is_of(Class::Letter) => {
                                self.append_letter(letter);
                                at += length;
                            }
                            other => break other,
                        }
                    };
                    continue;
                }
                Class::Number | Class::Hebrew | Class::Underscore => {
                    if !open.goes_on() {
                        self.close(open);
                        open = self.open();
                    }
                    (open.last, open.after_ordered) = (class, false);
                    open.says_something |= class != Class::Underscore;
                    self.append_letter(letter);
                    true
                }
                Class::Mark | Class::OrderedMark => {
                    // A mark that is a letter makes a word of any base.
                    let ordered = class == Class::OrderedMark;
                    let in_order = !(ordered && open.after_ordered) || is_in_order(text, at);
                    let settled = open.says_something && in_order;
                    open.after_ordered = ordered;
                    self.append_letter(letter);
                    settled
                }
                Class::White => {
                    self.close(open);
                    open = Open::NOTHING;
                    end = self.certain_end(at + length);
                    if is_ascii_for_long(&bytes[at + length..]) {
                        return at + length;
                    }
                    true
                }
                Class::Break => {
                    self.close(open);
                    open = Open::NOTHING;
                    end = self.certain_end(at);
                    true
                }
                Class::Alone => {
                    self.close(open);
                    end = self.certain_end(at);
                    open = self.open();
                    (open.last, open.says_something) = (class, true);
                    self.append_letter(letter);
                    true
                }
                // The parts on both sides are compared as if the character were absent.
                Class::Invisible => !open.after_ordered,
                Class::MidLetter
                | Class::MidNumber
                | Class::MidBoth
                | Class::SingleQuote
                | Class::DoubleQuote => {
                    let after = letters.first_of(&bytes[at + length..]);
                    let after = after.map_or(Class::White, |(letter, _)| letter.class());
                    let mark_role = mark_role(open.last, class, after);
                    if mark_role == MarkRole::Breaks {
                        self.close(open);
                        end = self.certain_end(at);
                    } else {
                        self.append_letter(letter);
                    }
                    if mark_role == MarkRole::EndsWord {
                        self.close(open);
                    }
                    if mark_role == MarkRole::Joins {
                        open.after_ordered = false;
                    } else {
                        open = Open::NOTHING;
                    }
                    mark_role != MarkRole::Unsettled
                }
                Class::Unsettled | Class::SilentLetter => false,
            };
            if settled {
                at += length;
            } else {
                at = next_certain_end(&mut letters, text, at);
                self.back_to(end.checkpoint);
                self.add_by_the_libraries(&text[end.at..at]);
                open = Open::NOTHING;
                end = self.certain_end(at);
            }
            next = letters.first_of(&bytes[at..]);
        }
        self.close(open);
        text.len()
    }

    fn open(&self) -> Open {
        Open {
            start: self.filled(),
            ..Open::NOTHING
        }
    }

    #[inline]
    fn append_letter(&mut self, letter: Letter) {
        self.append_first(letter.folded(), letter.folded_len());
    }

    #[inline]
    fn close(&mut self, open: Open) {
        if open.says_something {
            self.end_word();
        } else if open.is_a_word() {
            self.forget_from(open.start);
        }
    }

    #[inline]
    fn certain_end(&self, at: usize) -> CertainEnd {
        CertainEnd {
            at,
            checkpoint: self.checkpoint(),
        }
    }

    #[cold]
    fn add_by_the_libraries(&mut self, piece: &str) {
        each_word_by_the_libraries(piece, |word| {
            self.append(word);
            self.end_word();
        });
    }
}

/// Visits the words of a piece of text by the definition; the piece contains white space only at
/// its beginning.
#[cold]
pub(crate) fn each_word_by_the_libraries(piece: &str, mut visit: impl FnMut(&[u8])) {
    let mut rest = piece;
    while !rest.is_empty() {
        let (part, others) = rest.split_at(first_part(rest));
        for word in part.unicode_words() {
            visit(folded(word).as_bytes());
        }
        rest = others;
    }
}

/// Returns the length of the first part of `text` that is cut into words separately: an ideograph
/// or kana with its marks, or the text before the next ideograph or kana; 0 for an empty text.
pub(super) fn first_part(text: &str) -> usize {
    match text.chars().next() {
        Some(first) if is_word_by_itself(first) => {
            let tail = text[first.len_utf8()..].trim_start_matches(belongs_to_what_is_before);
            text.len() - tail.len()
        }
        _ => text.find(is_word_by_itself).unwrap_or(text.len()),
    }
}

/// Role of a mark between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkRole {
    /// The characters and the mark are one word.
    Joins,
    /// The mark ends the word.
    EndsWord,
    /// The word ended before the mark.
    Breaks,
    /// Undecided: marks or invisible characters are in between.
    Unsettled,
}

/// Returns the role of `mark` between characters of these classes.
pub(crate) fn mark_role(before: Class, mark: Class, after: Class) -> MarkRole {
    use Class::{
        DoubleQuote, Hebrew, Invisible, Letter, Mark, MidBoth, MidLetter, MidNumber, Number,
        OrderedMark, SilentLetter, SingleQuote, Unsettled,
    };
    match (before, mark, after) {
        (_, _, Unsettled | SilentLetter | Mark | OrderedMark | Invisible) => MarkRole::Unsettled,
        (Letter | Hebrew, MidLetter | MidBoth | SingleQuote, Letter | Hebrew)
        | (Number, MidNumber | MidBoth | SingleQuote, Number)
        | (Hebrew, DoubleQuote, Hebrew) => MarkRole::Joins,
        (Hebrew, SingleQuote, _) => MarkRole::EndsWord,
        _ => MarkRole::Breaks,
    }
}

/// Returns true if the mark at `at` follows the previous mark in canonical order: their combining
/// classes do not decrease.
pub(crate) fn is_in_order(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let order = |c: Option<char>| c.map(canonical_combining_class);
    order(before.chars().next_back()) <= order(after.chars().next())
}

/// Returns the start of the next character, at `from` or later, that certainly does not continue a
/// word; the character at `from` is unsettled.
pub(crate) fn next_certain_end(letters: &mut Letters, text: &str, from: usize) -> usize {
    let mut joined = false;
    for (at, c) in text[from..].char_indices() {
        let letter = letters.first_of(&text.as_bytes()[from + at..]);
        match letter.map_or(Class::White, |(letter, _)| letter.class()) {
            Class::White => return from + at,
            Class::Break | Class::Alone if at > 0 && !joined => return from + at,
            Class::Break | Class::Alone => joined = false,
            _ => joined |= c == JOINER,
        }
    }
    text.len()
}

fn is_ascii_for_long(bytes: &[u8]) -> bool {
    bytes
        .first_chunk::<WORTH_A_CHANGE>()
        .is_some_and(|next| next.is_ascii())
}
