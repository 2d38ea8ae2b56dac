//! Letters that need no segmentation rules. They are the letters of Latin, Greek, Cyrillic,
//! Armenian, Hebrew and Arabic that fold to one letter and do not combine with others, and the
//! syllables of Hangul. They make up nearly all words that are not ASCII.

use std::sync::LazyLock;

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// Size of the table: it covers the characters below this.
const TABLE: usize = 0x700;

/// Folded form of each letter; 0 for characters without an entry.
pub(crate) struct Letters(&'static [u16; TABLE]);

static FOLDED: LazyLock<Box<[u16; TABLE]>> = LazyLock::new(|| {
    let mut table = Box::new([0; TABLE]);
    for (point, entry) in (0..).zip(table.iter_mut()) {
        *entry = char::from_u32(point).and_then(folded).unwrap_or_default();
    }
    table
});

impl Letters {
    pub(crate) fn get() -> Self {
        Self(&FOLDED)
    }

    /// Returns true if a word may contain this character without the segmentation rules.
    pub(crate) fn has(&self, c: char) -> bool {
        match self.0.get(c as usize) {
            Some(&folded) => folded != 0,
            None => is_hangul(c),
        }
    }

    /// Appends the folded word. Returns false if it contains other characters; a part may have been
    /// appended by then.
    pub(crate) fn fold_into(&self, folded: &mut String, word: &str) -> bool {
        for c in word.chars() {
            let letter = match self.0.get(c as usize) {
                Some(&folded) => char::from_u32(u32::from(folded)).unwrap_or_default(),
                None if is_hangul(c) => c,
                None => return false,
            };
            if letter == '\0' {
                return false;
            }
            folded.push(letter);
        }
        true
    }
}

fn is_hangul(c: char) -> bool {
    matches!(c, '가'..='힣')
}

/// Returns the folded form of `c` if `c` joins any adjacent letter or digit into one word and folds
/// to one such letter.
fn folded(c: char) -> Option<u16> {
    if c == '_' {
        return Some('_' as u16);
    }
    let whole = |text: String| text.split_word_bounds().count() == 1;
    let is_letter = c.is_alphanumeric() && !is_combining_mark(c);
    let beside = [
        format!("a{c}"),
        format!("{c}a"),
        format!("1{c}"),
        format!("{c}1"),
    ];
    if !is_letter || !beside.into_iter().all(whole) {
        return None;
    }
    let mut letters = caseless([c].into_iter());
    let (letter, None) = (letters.next()?, letters.next()) else {
        return None;
    };
    let inert = canonical_combining_class(letter) == 0
        && is_nfkc_quick([letter].into_iter()) == IsNormalized::Yes;
    let again = case_folded(letter).eq([letter]);
    u16::try_from(letter as u32).ok().filter(|_| inert && again)
}

/// Returns NFKC(fold(NFKD(word))).
pub(super) fn caseless(word: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    word.nfkd().flat_map(case_folded).nfkc()
}

/// Lower-cases, upper-cases and lower-cases `c` again: CaseFolding.txt, statuses C and F, except
/// that the Turkish ı becomes i.
fn case_folded(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
}
