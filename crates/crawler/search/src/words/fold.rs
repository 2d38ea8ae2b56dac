//! Case folding: one spelling for all forms that readers consider the same word.
//!
//! A word becomes NFKC(fold(NFKD(word))), a compatibility caseless match (The Unicode Standard,
//! section 3.13, D146): É is é in any composition, ß is ss, ＡＢＣ is abc, ﬁ is fi, and a final sigma
//! is a sigma. Accents are kept, as they distinguish words.

use super::letters::{Letters, caseless};

/// Maximum length of a folded word in bytes; longer words are cut.
pub(crate) const MAX_WORD: usize = 128;

/// Appends the folded `word` to `folded`.
pub(crate) fn fold_into(folded: &mut String, word: &str, letters: &Letters) {
    let start = folded.len();
    if word.is_ascii() {
        folded.push_str(word);
        folded[start..].make_ascii_lowercase();
    } else if !letters.fold_into(folded, word) {
        folded.truncate(start);
        let seen = word.chars().filter(|&c| !is_invisible(c));
        folded.extend(caseless(seen));
    }
    let end = folded.floor_char_boundary(start + MAX_WORD);
    folded.truncate(end);
}

/// Returns true for soft hyphens, direction marks, zero-width joiners and variation selectors,
/// which do not change a word.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}
