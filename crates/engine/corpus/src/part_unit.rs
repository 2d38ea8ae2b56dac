//! Parts of documents: paragraphs and lines.
//!
//! A repeated part is cut out of its document, so `return a - b` must not count as a copy of
//! `return a + b`. Case, spaces, quotes, and the full stops and commas of prose are ignored. So are
//! lines without a word: they are horizontal rules.

use neardup::{HashKey, HashedText};

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartUnit {
    /// Lines up to a blank line.
    Paragraph,
    /// A line.
    Line,
}

impl PartUnit {
    /// Returns the noun for a part.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Paragraph => "paragraph",
            Self::Line => "line",
        }
    }

    /// Returns the parts of a text, with the line ends and blank lines after them: joined, they are
    /// the text.
    pub(crate) fn parts_of(self, text: &str) -> impl Iterator<Item = &str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let mut end = 0;
            let mut is_behind_blank = false;
            for line in rest.split_inclusive('\n') {
                let is_blank = line.trim().is_empty();
                let is_next = match self {
                    Self::Line => end > 0,
                    Self::Paragraph => is_behind_blank && !is_blank,
                };
                if is_next {
                    break;
                }
                is_behind_blank = is_blank && end > 0;
                end += line.len();
            }
            let (part, after) = rest.split_at(end);
            rest = after;
            (!part.is_empty()).then_some(part)
        })
    }

    /// Returns the digest of the words and signs of each part of a text; `None` for parts with
    /// fewer than `least` words.
    #[must_use]
    pub fn digests(self, text: &str, least: usize) -> Vec<Option<u128>> {
        let digest = |part: &str| {
            let words = HashedText::of(part, HashKey::ZERO);
            (words.len() >= least).then(|| words.digest() ^ HashKey::ZERO.digest(&signs(part)))
        };
        self.parts_of(text).map(digest).collect()
    }
}

/// Returns the significant signs of a part, in text order.
fn signs(part: &str) -> Vec<u8> {
    let lines = part
        .lines()
        .filter(|line| line.contains(char::is_alphanumeric));
    let signs = lines.flat_map(str::chars).filter(|sign| is_sign(*sign));
    signs
        .flat_map(|sign| u32::from(sign).to_le_bytes())
        .collect()
}

/// Returns true for symbols, and for ASCII punctuation that prose does not use.
fn is_sign(character: char) -> bool {
    match character {
        '.' | ',' | ';' | ':' | '\'' | '"' | '`' => false,
        '\0'..='\x7f' => character.is_ascii_punctuation(),
        '«' | '»' | '\u{ad}' | 'ª' | 'º' | 'µ' => false,
        // Latin-1, currencies, letterlike signs, arrows, operators, dingbats, emoji.
        '¡'..='¿' | '×' | '÷' | '‰'..='⁞' | '₠'..='⃀' | '℀'..='⯿' => true,
        '\u{1f000}'..='\u{1faff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paragraphs_end_with_blank_lines_and_lines_with_their_ends() {
        let text = "\none\ntwo\n \n\nthree\r\n\nfour";
        let parts = |unit: PartUnit| unit.parts_of(text).collect::<Vec<_>>();
        assert_eq!(
            parts(PartUnit::Paragraph),
            ["\none\ntwo\n \n\n", "three\r\n\n", "four"]
        );
        assert_eq!(
            parts(PartUnit::Line),
            [
                "\n",
                "one\n",
                "two\n",
                " \n",
                "\n",
                "three\r\n",
                "\n",
                "four"
            ]
        );
    }

    proptest! {
        #[test]
        fn the_parts_of_a_text_are_the_text(text in "[a \n\r]{0,40}") {
            for unit in [PartUnit::Paragraph, PartUnit::Line] {
                let parts: Vec<&str> = unit.parts_of(&text).collect();
                prop_assert_eq!(parts.concat(), text.clone());
                prop_assert!(parts.iter().all(|part| !part.is_empty()));
            }
        }
    }
}
