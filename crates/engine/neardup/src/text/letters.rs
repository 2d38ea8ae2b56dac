//! Unicode properties of characters, looked up once and cached.
//!
//! Each character has a class at word boundaries (UAX 29) and a form after case folding and
//! normalisation. Nothing is copied from Unicode's tables. A block of 256 characters is made on its
//! first use by calling the libraries with small examples of each character, so that the fast path
//! cannot disagree with them. Everything that one character does not settle (composition,
//! reordering of marks, emoji sequences, most of the supplementary planes) is [`Class::Unsettled`]
//! and left to the libraries.

use std::sync::OnceLock;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::fold::{folded, is_invisible};

/// Class of a character at word boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Left to the libraries.
    Unsettled,
    /// Ends words; no rule looks past it.
    White,
    /// Does not belong to a word.
    Break,
    /// A word of its own: ideographs, kana, Thai letters, ².
    Alone,
    /// `ALetter`.
    Letter,
    /// `Hebrew_Letter`.
    Hebrew,
    /// `Numeric`.
    Number,
    /// `ExtendNumLet`: joins words like a letter, but is not a word alone.
    Underscore,
    /// Belongs to the character before it; not subject to canonical reordering.
    Mark,
    /// A mark that has a canonical order (its combining class is not 0).
    OrderedMark,
    /// Belongs to the character before it, and is invisible.
    Invisible,
    /// `MidLetter`: joins letters.
    MidLetter,
    /// `MidNum`: joins digits.
    MidNumber,
    /// `MidNumLet`: joins both.
    MidBoth,
    /// `Single_Quote`: joins both, and belongs to a Hebrew letter before it.
    SingleQuote,
    /// `Double_Quote`: joins Hebrew letters.
    DoubleQuote,
    /// `ALetter`, but not a word alone.
    SilentLetter,
}

/// Number of classes.
const CLASSES: usize = 17;

/// Classes by number, for all numbers of five bits.
pub(crate) const BY_NUMBER: [Class; 32] = {
    let mut classes = [Class::Unsettled; 32];
    let mut number = 0;
    while number < CLASSES {
        classes[number] = NUMBERED[number];
        number += 1;
    }
    classes
};
const NUMBERED: [Class; CLASSES] = [
    Class::Unsettled,
    Class::White,
    Class::Break,
    Class::Alone,
    Class::Letter,
    Class::Hebrew,
    Class::Number,
    Class::Underscore,
    Class::Mark,
    Class::OrderedMark,
    Class::Invisible,
    Class::MidLetter,
    Class::MidNumber,
    Class::MidBoth,
    Class::SingleQuote,
    Class::DoubleQuote,
    Class::SilentLetter,
];

/// A character's class and its folded form: at most three bytes of UTF-8, the first in the lowest
/// byte, then their number, and the class at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Letter(u32);

impl Letter {
    pub(crate) const UNSETTLED: Letter = Letter(0);

    fn new(class: Class, folded: &[u8]) -> Self {
        let mut bytes = [0; 4];
        bytes[..folded.len()].copy_from_slice(folded);
        Self(u32::from_le_bytes(bytes) | (folded.len() as u32) << 24 | (class as u32) << 26)
    }

    #[inline]
    pub(crate) fn class(self) -> Class {
        BY_NUMBER[self.class_number()]
    }

    /// Returns the number of the class.
    #[inline(always)]
    pub(crate) fn class_number(self) -> usize {
        (self.0 >> 26 & 31) as usize
    }

    #[inline]
    pub(crate) fn is_of(self, class: Class) -> bool {
        self.0 >> 26 == class as u32
    }

    /// Returns the folded character in the first [`Letter::folded_len`] bytes.
    #[inline]
    pub(crate) fn folded(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    #[inline]
    pub(crate) fn folded_len(self) -> usize {
        (self.0 >> 24 & 3) as usize
    }
}

/// Number of characters that are looked up at once.
const BLOCK: usize = 256;
type Block = [Letter; BLOCK];

/// The blocks of the first two planes; ideographs and hangul do not need them.
static BLOCKS: [OnceLock<Box<Block>>; 0x20000 / BLOCK] =
    [const { OnceLock::new() }; 0x20000 / BLOCK];

/// Returns the letters of the code points from `number` × 256.
#[inline]
fn block(number: usize) -> &'static Block {
    BLOCKS[number].get_or_init(|| make_block(number))
}

#[cold]
fn make_block(number: usize) -> Box<Block> {
    let mut block = Box::new([Letter::UNSETTLED; BLOCK]);
    for (point, letter) in (number * BLOCK..).zip(block.iter_mut()) {
        if let Some(c) = char::from_u32(point as u32) {
            *letter = asked(c);
        }
    }
    block
}

/// A cache of the block of ASCII and Latin-1, and of the last used blocks for two bytes and for
/// more: most texts do not need a fourth.
pub(crate) struct Letters {
    latin: &'static Block,
    recent_two: &'static Block,
    recent_two_number: usize,
    recent: &'static Block,
    recent_number: usize,
}

impl Letters {
    pub(crate) fn new() -> Self {
        let latin = block(0);
        Self {
            latin,
            recent_two: latin,
            recent_two_number: 0,
            recent: latin,
            recent_number: 0,
        }
    }

    /// Returns the character at the start of `bytes`, which are UTF-8, and its length; `None` at
    /// the end.
    #[inline]
    pub(crate) fn first_of(&mut self, bytes: &[u8]) -> Option<(Letter, usize)> {
        let four = match (bytes, bytes.first_chunk()) {
            (_, Some(&four)) => four,
            (&[], _) => return None,
            (&[a], _) => [a, 0, 0, 0],
            (&[a, b], _) => [a, b, 0, 0],
            (&[a, b, c, ..], _) => [a, b, c, 0],
        };
        Some(self.first_of_four(four))
    }

    /// Returns the character at the start of four bytes of UTF-8, and its length.
    #[inline(always)]
    pub(crate) fn first_of_four(&mut self, [a, b, c, d]: [u8; 4]) -> (Letter, usize) {
        let low = |byte: u8| usize::from(byte & 0x3f);
        match a {
            0..0x80 => (self.latin[usize::from(a)], 1),
            0x80..0xe0 => (self.of_two(usize::from(a & 0x1f) << 6 | low(b)), 2),
            0xe0..0xf0 => {
                let point = usize::from(a & 0x0f) << 12 | low(b) << 6 | low(c);
                let letter = match point {
                    0x3400..0x4dc0 | 0x4e00..0xa000 => Letter::new(Class::Alone, &[a, b, c]),
                    0xac00..0xd7a4 => Letter::new(Class::Letter, &[a, b, c]),
                    _ => self.settled(point),
                };
                (letter, 3)
            }
            _ => {
                let point = usize::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d);
                let letter = if point < 0x20000 {
                    self.settled(point)
                } else {
                    Letter::UNSETTLED
                };
                (letter, 4)
            }
        }
    }

    /// Returns the character of this byte.
    #[inline(always)]
    pub(crate) fn of_ascii(&self, byte: u8) -> Letter {
        self.latin[usize::from(byte & 0x7f)]
    }

    /// Returns the letter of a character, and its length.
    pub(crate) fn of(&mut self, c: char) -> (Letter, usize) {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes);
        self.first_of_four(bytes)
    }

    #[inline]
    fn of_two(&mut self, point: usize) -> Letter {
        let number = point / BLOCK;
        if number != self.recent_two_number {
            (self.recent_two_number, self.recent_two) = (number, block(number));
        }
        self.recent_two[point % BLOCK]
    }

    #[inline]
    fn settled(&mut self, point: usize) -> Letter {
        let number = point / BLOCK;
        if number != self.recent_number {
            (self.recent_number, self.recent) = (number, block(number));
        }
        self.recent[point % BLOCK]
    }
}

/// Returns the properties of a character, computed by the libraries.
fn asked(c: char) -> Letter {
    let class = class(c);
    if matches!(class, Class::Unsettled) {
        return Letter::UNSETTLED;
    }
    match class {
        Class::White | Class::Break => return Letter::new(class, b" "),
        Class::Invisible => return Letter::new(class, &[]),
        _ => {}
    }
    let says_nothing =
        matches!(class, Class::Letter | Class::Hebrew | Class::Number) && !c.is_alphanumeric();
    let class = match class {
        Class::Letter if says_nothing => Class::SilentLetter,
        _ if says_nothing => return Letter::UNSETTLED,
        class => class,
    };
    let folded = folded(c.encode_utf8(&mut [0; 4]));
    let settled = |c: char| is_nfc_quick([c].into_iter()) == IsNormalized::Yes;
    let order = |c: char| canonical_combining_class(c);
    // The Greek iota subscript is a mark until it is folded, and some letters have no folded class.
    let changes = folded.chars().count() == 1 && folded.chars().map(order).sum::<u8>() != order(c);
    if folded.len() > 3 || !folded.chars().all(settled) || changes {
        return Letter::UNSETTLED;
    }
    let mut chars = folded.chars();
    match (chars.next(), chars.next()) {
        (Some(only), None) if order(only) > 0 => match class {
            Class::Mark => Letter::new(Class::OrderedMark, folded.as_bytes()),
            _ => Letter::UNSETTLED,
        },
        (Some(_), _) if folded.chars().all(|c| order(c) == 0) => {
            Letter::new(class, folded.as_bytes())
        }
        _ => Letter::UNSETTLED,
    }
}

/// Returns the class, from examples: from the number of pieces that two or three characters make.
fn class(c: char) -> Class {
    let pieces = |text: String| text.split_word_bounds().count();
    let whole = |text: String| pieces(text) == 1;
    if c.is_whitespace() {
        return Class::White;
    }
    if is_word_by_itself(c) {
        // Some of these code points are unassigned.
        return if c.is_alphanumeric() {
            Class::Alone
        } else {
            Class::Unsettled
        };
    }
    if c == JOINER {
        return Class::Unsettled;
    }
    if belongs_to_what_is_before(c) {
        return if is_invisible(c) {
            Class::Invisible
        } else {
            Class::Mark
        };
    }
    if whole(format!("a{c}")) {
        return match () {
            () if whole(format!("カ{c}")) => Class::Underscore,
            () if whole(format!("1,{c}")) => Class::Number,
            () if whole(format!("א\"{c}")) => Class::Hebrew,
            () => Class::Letter,
        };
    }
    match (whole(format!("a{c}a")), whole(format!("1{c}1"))) {
        (true, false) => Class::MidLetter,
        (false, true) => Class::MidNumber,
        (true, true) if whole(format!("א{c}")) => Class::SingleQuote,
        (true, true) => Class::MidBoth,
        (false, false) if whole(format!("א{c}א")) => Class::DoubleQuote,
        // Regional indicators come in pairs; katakana that is not a word alone comes in runs.
        (false, false) if whole(format!("🇦{c}")) || whole(format!("カ{c}")) => Class::Unsettled,
        (false, false) if c.is_alphanumeric() => Class::Alone,
        (false, false) => Class::Break,
    }
}

/// The zero-width joiner, which joins pictographs: the character after it may belong to the
/// character before it, even if the class says otherwise.
pub(crate) const JOINER: char = '\u{200d}';

/// Returns true for `Extend`, `Format` and `ZWJ` of UAX 29.
pub(crate) fn belongs_to_what_is_before(c: char) -> bool {
    let mut text = [b'!', 0, 0, 0, 0];
    let length = 1 + c.encode_utf8(&mut text[1..]).len();
    let text = str::from_utf8(&text[..length]).expect("a mark of exclamation and a character");
    !matches!(c, '\r' | '\n') && text.split_word_bounds().count() == 1
}

/// Returns true for Han ideographs, hiragana and katakana, in full and half width.
pub(crate) fn is_word_by_itself(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(c: char) -> Letter {
        let (letter, length) = Letters::new()
            .first_of(c.encode_utf8(&mut [0; 4]).as_bytes())
            .unwrap();
        assert_eq!(length, c.len_utf8());
        letter
    }

    #[test]
    fn each_class_stands_at_its_own_number() {
        for (number, class) in NUMBERED.into_iter().enumerate() {
            assert_eq!(class as usize, number);
        }
    }

    #[test]
    fn letters_settled_without_a_table_agree_with_the_libraries() {
        for c in ('\u{3400}'..='\u{4dbf}')
            .chain('\u{4e00}'..='\u{9fff}')
            .chain('가'..='힣')
        {
            assert_eq!(letter(c), asked(c), "{c:?}");
        }
    }

    #[test]
    fn characters_have_the_classes_of_uax_29() {
        for (chars, class) in [
            (" \u{a0}\u{202f}\u{3000}\n", Class::White),
            ("!«—。😀", Class::Break),
            ("東かカก²", Class::Alone),
            ("aßЖαعह한", Class::Letter),
            ("א", Class::Hebrew),
            ("5٣", Class::Number),
            ("_‿", Class::Underscore),
            ("\u{200c}\u{93e}\u{fe0f}", Class::Mark),
            ("\u{94d}\u{5b0}\u{64e}", Class::OrderedMark),
            ("\u{ad}\u{200e}\u{feff}", Class::Invisible),
            (":·", Class::MidLetter),
            (",;", Class::MidNumber),
            (".’", Class::MidBoth),
            ("'", Class::SingleQuote),
            ("\"", Class::DoubleQuote),
            ("\u{301}\u{200d}İ🇦\u{20000}", Class::Unsettled),
        ] {
            for c in chars.chars() {
                assert_eq!(letter(c).class(), class, "{c:?}");
            }
        }
    }
}
