//! Full Unicode case folding, and one spelling for canonically equivalent text.
//!
//! A word becomes NFC(fold(NFD(word))): two words are equal if and only if they are canonical
//! caseless matches (The Unicode Standard, section 3.13, D145). So é is the same word in any
//! composition, ß is ss, ﬁ is fi, and a final sigma is a sigma. Compatibility variants (², ①, full
//! width) stay as they are.

use unicode_normalization::UnicodeNormalization;

/// Returns the folded form of `word`, without invisible characters.
pub(super) fn folded(word: &str) -> String {
    let seen = word.chars().filter(|&c| !is_invisible(c));
    seen.nfd().flat_map(case_folded).nfc().collect()
}

/// Folds a character by CaseFolding.txt, statuses C and F: the lower case of the upper case, with
/// two exceptions. The standard library's data follow the newest Unicode, and our own table would
/// have 1,500 lines; `caseless` is the oracle in the tests.
fn case_folded(c: char) -> impl Iterator<Item = char> {
    // The dotless ı folds to itself although its upper case is I. Cherokee folds to upper case,
    // because its lower case was added later.
    let as_it_is = c == 'ı' || is_cherokee_upper(c);
    let (keep, fold) = if as_it_is {
        (Some(c), None)
    } else {
        (None, Some(c))
    };
    let upper = fold
        .into_iter()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase);
    let lower = upper.flat_map(|c| {
        let (keep, fold) = if is_cherokee_upper(c) {
            (Some(c), None)
        } else {
            (None, Some(c))
        };
        keep.into_iter()
            .chain(fold.into_iter().flat_map(char::to_lowercase))
    });
    keep.into_iter().chain(lower)
}

fn is_cherokee_upper(c: char) -> bool {
    matches!(c, '\u{13a0}'..='\u{13f5}')
}

/// Returns true for soft hyphens, direction marks, and zero-width characters, which are invisible
/// to readers. The joiner and the non-joiner are visible, since they choose the shapes of letters.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use caseless::Caseless;
    use proptest::prelude::*;

    #[test]
    fn every_character_folds_as_unicode_says() {
        for c in char::MIN..=char::MAX {
            let ours: String = case_folded(c).collect();
            let oracle: String = [c].into_iter().default_case_fold().collect();
            // The oracle follows Unicode 16: characters of later versions fold to themselves there.
            let is_later = oracle.chars().eq([c])
                && matches!(c, '\u{a7ce}'..='\u{a7d4}' | '\u{16ea0}'..='\u{16eb8}');
            assert!(
                ours == oracle || is_later,
                "{c:?}: {ours:?}, not {oracle:?}"
            );
        }
    }

    #[test]
    fn words_that_readers_take_for_the_same_are_equal() {
        for alike in [
            ["Straße", "STRASSE", "STRAẞE"],
            [
                "ΟΔΥΣΣΕΥΣ",
                "Οδυσσεύς".replace('ύ', "υ").as_str(),
                "οδυσσευσ",
            ],
            ["ﬁlm", "FILM", "fi\u{ad}lm"],
            ["é", "e\u{301}", "E\u{301}"],
            ["İ", "i\u{307}", "I\u{307}"],
            ["ᾳ", "αι", "ΑΙ"],
            ["Ꭰ", "ꭰ", "Ꭰ"],
            ["Å", "\u{212b}", "a\u{30a}"],
            ["ự", "u\u{31b}\u{323}", "U\u{323}\u{31b}"],
            ["한", "\u{1112}\u{1161}\u{11ab}", "하\u{11ab}"],
        ] {
            let [one, two, three] = alike.map(folded);
            assert!(
                one == two && two == three,
                "{alike:?}: {one:?} {two:?} {three:?}"
            );
        }
        assert_ne!(folded("ı"), folded("i"));
    }

    proptest! {
        #[test]
        fn equal_folds_are_canonical_caseless_matches(
            one in "[aAßσΣςéÉe\u{301}\u{323}\u{345}ᾳΑιİıi\u{307}가ᄀ\u{1161}]{1,4}",
            two in "[aAßσΣςéÉe\u{301}\u{323}\u{345}ᾳΑιİıi\u{307}가ᄀ\u{1161}]{1,4}",
        ) {
            let matches = one.chars().canonical_caseless_match(two.chars());
            prop_assert_eq!(folded(&one) == folded(&two), matches);
        }

        #[test]
        fn folding_twice_is_folding_once(word in "\\PC{0,12}") {
            prop_assert_eq!(folded(&folded(&word)), folded(&word));
        }
    }
}
