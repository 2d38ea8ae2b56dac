//! What of a text counts: its words, lower-cased.
//!
//! Two texts that differ in white space, punctuation or capitals say the same. A text is cut at ASCII white space and
//! around each Han ideograph and kana, which are words of their own because nothing marks where words end in their
//! scripts; what lies between is cut into words by Unicode's rules (UAX 29). Upper case becomes lower case character by
//! character, and the final sigma an ordinary one, so that a letter does not depend on its neighbours.
//!
//! ASCII, which is most of most texts, goes a faster way: a bit for each byte says whether it belongs to a word, and
//! words are read off where the bits change.
//! Invariant: `plain` in the tests is the definition; the fast way equals it (property tests).

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::HashKey;

/// How much of a text is looked at, in bytes: 1 GiB. What follows is ignored.
pub const MAX_TEXT: usize = 1 << 30;

/// The normalised words of a text, joined by single spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NormalText {
    joined: String,
    /// Where each word ends in `joined`; the next one starts a byte later. `MAX_TEXT` keeps it within 32 bits.
    ends: Vec<u32>,
}

impl NormalText {
    /// The words of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::of_first(text, MAX_TEXT)
    }

    fn of_first(text: &str, bytes: usize) -> Self {
        let text = &text[..text.floor_char_boundary(bytes)];
        let mut words = Words::with_room_for(text.len());
        let mut rest = text;
        while let Some(foreign) = rest.bytes().position(|byte| !byte.is_ascii()) {
            let white = |c: char| c.is_ascii_whitespace();
            let start = rest[..foreign].rfind(white).map_or(0, |before| before + 1);
            let end = rest[foreign..]
                .find(white)
                .map_or(rest.len(), |length| foreign + length);
            words.add_ascii(&rest.as_bytes()[..start]);
            words.add_unicode(&rest[start..end]);
            rest = &rest[end..];
        }
        words.add_ascii(rest.as_bytes());
        words.into_text()
    }

    /// The words, joined by single spaces.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.joined
    }

    /// How many words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no word at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The words in order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.spans().map(|(start, end)| &self.joined[start..end])
    }

    /// Stands for the whole: texts with the same words in the same order, and only they, have the same digest.
    #[must_use]
    pub fn digest(&self, key: HashKey) -> u128 {
        key.digest(self.joined.as_bytes())
    }

    /// The hash of each word in order.
    pub(crate) fn hashes(&self, key: HashKey) -> Vec<u64> {
        let bytes = self.joined.as_bytes();
        self.spans()
            .map(|(start, end)| key.token(&bytes[start..end]))
            .collect()
    }

    fn spans(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let span = (start, end as usize);
            start = end as usize + 1;
            span
        })
    }
}

/// Words as they are collected: a space stands behind each.
struct Words {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Words {
    fn with_room_for(text: usize) -> Self {
        // A word and what separates it from the next take six bytes in English prose; see `add_ascii_word` for the 16.
        Self {
            bytes: Vec::with_capacity(text + 1 + 16),
            ends: Vec::with_capacity(text / 6 + 1),
        }
    }

    fn end_word(&mut self) {
        self.ends.push(self.bytes.len() as u32);
        self.bytes.push(b' ');
    }

    /// UAX 29 restricted to ASCII: letters, digits and `_` stick together, and `.` `'` `:` (between letters) and
    /// `.` `'` `,` `;` (between digits) join what they stand between.
    fn add_ascii(&mut self, text: &[u8]) {
        let first = self.bytes.len();
        // The word that is being read, as far as it is known.
        let mut word = 0..0;
        each_run(text, |run| {
            if run.start == word.end + 1 && !word.is_empty() && joins(text, word.end) {
                word.end = run.end;
            } else {
                self.add_ascii_word(text, std::mem::replace(&mut word, run));
            }
        });
        self.add_ascii_word(text, word);
        self.bytes[first..].make_ascii_lowercase();
    }

    fn add_ascii_word(&mut self, text: &[u8], word: Range<usize>) {
        let says_nothing = || text[word.clone()].iter().all(|&byte| byte == b'_');
        if word.is_empty() || text[word.start] == b'_' && says_nothing() {
            return;
        }
        let length = word.len();
        match text[word.start..].first_chunk::<16>() {
            // Copying a fixed sixteen bytes and taking some back is faster than copying the few that count.
            Some(chunk) if length <= 16 => {
                let end = self.bytes.len() + length;
                self.bytes.extend_from_slice(chunk);
                self.bytes.truncate(end);
            }
            _ => self.bytes.extend_from_slice(&text[word]),
        }
        self.end_word();
    }

    fn add_unicode(&mut self, piece: &str) {
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let end = if is_word_by_itself(first) {
                let tail = rest[first.len_utf8()..].trim_start_matches(is_mark);
                let end = rest.len() - tail.len();
                self.bytes.extend_from_slice(&rest.as_bytes()[..end]);
                self.end_word();
                end
            } else {
                let end = rest.find(is_word_by_itself).unwrap_or(rest.len());
                for word in rest[..end].unicode_words() {
                    self.add_folded(word);
                    self.end_word();
                }
                end
            };
            rest = &rest[end..];
        }
    }

    fn add_folded(&mut self, word: &str) {
        let mut utf8 = [0; 4];
        for lower in word.chars().flat_map(char::to_lowercase) {
            let folded = if lower == 'ς' { 'σ' } else { lower };
            self.bytes
                .extend_from_slice(folded.encode_utf8(&mut utf8).as_bytes());
        }
    }

    fn into_text(mut self) -> NormalText {
        self.bytes.pop();
        let joined = String::from_utf8(self.bytes).expect("only whole characters were appended");
        NormalText {
            joined,
            ends: self.ends,
        }
    }
}

/// Visits the maximal runs of letters, digits and `_` in ASCII text.
fn each_run(text: &[u8], mut visit: impl FnMut(Range<usize>)) {
    let (blocks, last) = text.as_chunks::<64>();
    let mut padded = [b' '; 64];
    padded[..last.len()].copy_from_slice(last);
    // The empty block behind the text ends a run that reaches the end.
    let masks = blocks.iter().map(word_bytes).chain([word_bytes(&padded), 0]);

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

/// A bit for each byte of ASCII text, the first in the lowest: is it a letter, a digit or `_`?
fn word_bytes(block: &[u8; 64]) -> u64 {
    let eights = block.as_chunks::<8>().0;
    eights.iter().rev().fold(0, |mask, eight| {
        mask << 8 | word_bytes_of_eight(u64::from_le_bytes(*eight))
    })
}

/// The same for eight bytes in one number, by sums that reach the top bit of a byte where it is large enough.
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

/// Whether the byte at `at`, which has neighbours, joins them into one word: UAX 29, WB6, WB7, WB11 and WB12.
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

/// Han ideographs, hiragana and katakana, in full and half width.
fn is_word_by_itself(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

/// What changes the character before it: the voiced sounds of kana, and variants of a glyph.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, words: &[&str]) {
        let normal = NormalText::of(text);
        assert_eq!(normal.words().collect::<Vec<_>>(), words, "{text:?}");
        assert_eq!(normal.as_str(), words.join(" "));
        assert_eq!(normal.len(), words.len());
        assert_eq!(normal.is_empty(), words.is_empty());
    }

    #[test]
    fn words_are_unicode_words_in_lower_case() {
        check("", &[]);
        check(" \t\r\n .,;!? --- ___ ", &[]);
        check("One", &["one"]);
        check(
            "Don't PANIC: 3.14, 1,000 and e.g. foo_bar!",
            &["don't", "panic", "3.14", "1,000", "and", "e.g", "foo_bar"],
        );
        check(
            "127.0.0.1:9090 a:b 1:2 a,b",
            &["127.0.0.1", "9090", "a:b", "1", "2", "a", "b"],
        );
        check("Straße, ÉTÉ; Don’t", &["straße", "été", "don’t"]);
        check("a\u{0}b\u{7f}c", &["a", "b", "c"]);
    }

    #[test]
    fn a_text_is_looked_at_up_to_its_cap_and_no_byte_further() {
        for (bytes, words) in [
            (0, ""),
            (7, "one two"),
            (8, "one two"),
            (9, "one two"),
            (10, "one two é"),
        ] {
            assert_eq!(
                NormalText::of_first("one two éé", bytes).as_str(),
                words,
                "{bytes}"
            );
        }
        assert_eq!(NormalText::of_first("one", usize::MAX).as_str(), "one");
    }

    #[test]
    fn a_sigma_is_a_sigma_wherever_it_stands() {
        check("ΟΔΟΣ οδος", &["οδοσ", "οδοσ"]);
    }

    #[test]
    fn each_han_ideograph_and_each_kana_is_a_word() {
        check("東京タワー", &["東", "京", "タ", "ワ", "ー"]);
        check(
            "ひらがなAPIを使う",
            &["ひ", "ら", "が", "な", "api", "を", "使", "う"],
        );
        check("カ\u{3099}_x 〆切", &["カ\u{3099}", "_x", "〆", "切"]);
        check("葛\u{e0100}飾", &["葛\u{e0100}", "飾"]);
        check("한국어 문장", &["한국어", "문장"]);
    }

    #[test]
    fn binary_garbage_has_some_words_and_no_accident() {
        let garbage: Vec<u8> = (0..100_000_u32)
            .map(|n| crate::mix::mix(u64::from(n)) as u8)
            .collect();
        let normal = NormalText::of(&String::from_utf8_lossy(&garbage));
        assert!(normal.words().all(|word| !word.is_empty() && !word.contains(' ')));
    }

    #[test]
    fn texts_that_differ_in_capitals_and_punctuation_have_one_digest_and_others_do_not() {
        let digest = |text| NormalText::of(text).digest(HashKey::ZERO);
        assert_eq!(digest("To be, or NOT to be"), digest("to be or not -- to be?"));
        assert_ne!(digest("to be or not to be"), digest("to be or not tobe"));
        assert_ne!(digest("ab c"), digest("a bc"));
    }

    /// The definition, as plainly as it can be written.
    fn plain(text: &str) -> Vec<String> {
        let pieces = text.split(|c: char| c.is_ascii_whitespace());
        let words = pieces.flat_map(|piece| piece.unicode_words());
        words
            .map(|word| {
                word.chars()
                    .flat_map(char::to_lowercase)
                    .map(|c| if c == 'ς' { 'σ' } else { c })
                    .collect()
            })
            .collect()
    }

    fn words_of(text: &str) -> Vec<String> {
        NormalText::of(text).words().map(str::to_owned).collect()
    }

    proptest! {
        #[test]
        fn the_fast_way_through_ascii_finds_the_words_of_uax_29(text in "[ -~\t\n\r]{0,80}") {
            prop_assert_eq!(words_of(&text), plain(&text));
        }

        #[test]
        fn joining_marks_in_ascii_are_those_of_uax_29(text in "[aZ5_.,:;' -]{0,40}") {
            prop_assert_eq!(words_of(&text), plain(&text));
        }

        #[test]
        fn any_ascii_bytes_give_the_words_of_uax_29(bytes in prop::collection::vec(0_u8..128, 0..60)) {
            let text: String = bytes.into_iter().map(char::from).collect();
            prop_assert_eq!(words_of(&text), plain(&text));
        }

        #[test]
        fn alphabetic_scripts_give_the_words_of_uax_29(text in "[a-z .’'àßΣσЖé\u{300}א\"ا5_-]{0,40}") {
            prop_assert_eq!(words_of(&text), plain(&text));
        }

        #[test]
        fn no_text_is_refused_and_words_hold_no_space(text in "\\PC{0,60}") {
            for word in NormalText::of(&text).words() {
                prop_assert!(!word.is_empty());
                prop_assert!(!word.contains(' '));
            }
        }
    }
}
