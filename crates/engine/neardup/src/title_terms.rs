//! Title terms of a page: the words of its heading and title that name its topic.
//!
//! Two pages of one template differ in a word or two, and the resemblance of their texts does not
//! distinguish `Math` from `StrictMath`. Their headings do. These terms are *required*: a
//! near-duplicate has them, too:
//!
//! - a word of the heading that occurs in the compared text. If it has a digit, it must occur in
//!   the title, too: "Lamp 17" is a product, "Clang 15" in the title alone is an edition;
//! - a word of the title without a digit that occurs in the text, if no required term of the
//!   heading occurs in the title: then the heading is a general one ("Description"), or there is
//!   none;
//! - otherwise a word of the title that occurs in the text at least three times and at least once
//!   in a hundred words.
//!
//! So a site's name, which accompanies the heading in the title, seldom counts, and an article that
//! two sites publish keeps its title terms.
//!
//! Title terms differ if a required term of one page occurs neither in the heading nor in the title
//! of the other page (`docs/adr/0010`). Invariant: [`TitleTerms::to_bytes`] is stable for ever; the
//! terms are on disk.

use crate::key::HashKey;
use crate::mix::mix;
use crate::text::NormalText;

/// Maximum number of words of heading and title; further words are ignored.
pub const MAX_TITLE_TERMS: usize = 16;
/// Maximum size of stored title terms: two numbers, then two bytes per word.
pub const MAX_TITLE_TERMS_BYTES: usize = 2 + 2 * MAX_TITLE_TERMS;

/// Words of the title that mean too little to count without a heading: articles and conjunctions
/// occur in names of sites ("The Guardian") and in every text.
const FUNCTION_WORDS: &[&str] = &[
    "and", "das", "dei", "del", "der", "des", "die", "een", "för", "for", "from", "het", "las",
    "les", "los", "och", "por", "sur", "the", "und", "une", "van", "von", "with", "your",
];
/// Minimum occurrences of a title word that counts in addition to a heading, and the number of
/// words of text per required occurrence.
const MIN_TIMES: usize = 3;
const EVERY: usize = 100;
/// Minimum length, in bytes, of an ASCII word that counts by occurring only in the title: "a",
/// "of", "la" do not.
const MIN_TITLE_WORD: usize = 3;

/// The words of a page's heading and title, as sixteen bits of their hashes. Required terms come
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TitleTerms {
    words: [u16; MAX_TITLE_TERMS],
    required: u8,
    all: u8,
}

impl TitleTerms {
    /// Returns the title terms of a page with these titles, whose compared text has the word hashes
    /// `text`; `None` if neither title nor heading has a word.
    pub(crate) fn of(
        title: Option<&str>,
        heading: Option<&str>,
        text: &[u64],
        key: HashKey,
    ) -> Option<Self> {
        let (title, heading) = (words_of(title, key), words_of(heading, key));
        let occurrences = Occurrences::of(text, heading.iter().chain(&title).map(|word| word.hash));
        let in_title = |word: &Word| title.iter().any(|held| held.hash == word.hash);
        let of_heading: Vec<&Word> = heading
            .iter()
            .filter(|word| occurrences.times(word.hash) > 0 && (!word.has_digit || in_title(word)))
            .collect();
        let min_times = if of_heading.iter().any(|word| in_title(word)) {
            MIN_TIMES.max(text.len().div_ceil(EVERY))
        } else {
            1
        };
        let of_title = title
            .iter()
            .filter(|word| word.may_count_by_title && occurrences.times(word.hash) >= min_times);
        let required = of_heading.iter().copied().chain(of_title);

        let mut title_terms = Self::EMPTY;
        for word in required {
            title_terms.push(word.hash);
        }
        title_terms.required = title_terms.all;
        for word in heading.iter().chain(&title) {
            title_terms.push(word.hash);
        }
        (title_terms.all > 0).then_some(title_terms)
    }

    const EMPTY: Self = Self {
        words: [0; MAX_TITLE_TERMS],
        required: 0,
        all: 0,
    };

    /// Adds a word unless it is present or the list is full.
    fn push(&mut self, hash: u64) {
        let word = (hash >> 48) as u16;
        let all = usize::from(self.all);
        if all < MAX_TITLE_TERMS && !self.words[..all].contains(&word) {
            self.words[all] = word;
            self.all += 1;
        }
    }

    /// Returns the required terms, as sixteen bits of their hashes.
    #[must_use]
    pub fn required(&self) -> &[u16] {
        &self.words[..usize::from(self.required)]
    }

    /// Returns all kept words of heading and title; required terms come first.
    #[must_use]
    pub fn all(&self) -> &[u16] {
        &self.words[..usize::from(self.all)]
    }

    /// Returns true if a required term of one page occurs neither in the heading nor in the
    /// title of the other page.
    #[must_use]
    pub fn differs_from(&self, other: &Self) -> bool {
        let knows = |title_terms: &Self, word: &u16| title_terms.all().contains(word);
        !self.required().iter().all(|word| knows(other, word))
            || !other.required().iter().all(|word| knows(self, word))
    }

    /// Returns a digest of the required terms, in any order; 0 without required terms.
    pub(crate) fn digest(&self) -> u64 {
        let mut words = self.required().to_vec();
        words.sort_unstable();
        words
            .iter()
            .fold(0, |digest, &word| mix(digest ^ (u64::from(word) + 1)))
    }

    /// Returns the stored form: the number of required terms, the number of all words, and the
    /// words, little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.required, self.all];
        bytes.extend(self.all().iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    /// Returns the title terms stored as `bytes`; `None` if they are not title terms.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[required, all], rest) = bytes.split_first_chunk()?;
        let (written, left) = rest.as_chunks::<2>();
        let is_whole = left.is_empty() && written.len() == usize::from(all);
        if !is_whole || required > all || all == 0 || usize::from(all) > MAX_TITLE_TERMS {
            return None;
        }
        let mut title_terms = Self {
            required,
            all,
            ..Self::EMPTY
        };
        for (word, bytes) in title_terms.words.iter_mut().zip(written) {
            *word = u16::from_le_bytes(*bytes);
        }
        Some(title_terms)
    }
}

/// A word of a heading or a title.
struct Word {
    hash: u64,
    has_digit: bool,
    may_count_by_title: bool,
}

/// Returns the distinct words of a heading or a title, in text order: at most twice as many as a
/// list keeps.
fn words_of(text: Option<&str>, key: HashKey) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let Some(text) = text else {
        return words;
    };
    for word in NormalText::of(start_of(text)).words() {
        let hash = key.token(word.as_bytes());
        if words.len() == 2 * MAX_TITLE_TERMS {
            break;
        }
        if words.iter().any(|held| held.hash == hash) {
            continue;
        }
        let has_digit = word.chars().any(char::is_numeric);
        let is_short = word.is_ascii() && word.len() < MIN_TITLE_WORD;
        words.push(Word {
            hash,
            has_digit,
            may_count_by_title: !has_digit && !is_short && !FUNCTION_WORDS.contains(&word),
        });
    }
    words
}

/// Returns the beginning of a title, as much as title terms may need: a title of a megabyte costs
/// no more than a long title.
fn start_of(text: &str) -> &str {
    const LONG: usize = 1_024;
    &text[..text.floor_char_boundary(LONG)]
}

/// Number of occurrences of a few words in a text, counted in one pass.
struct Occurrences(Vec<(u64, usize)>);

impl Occurrences {
    fn of(text: &[u64], asked: impl Iterator<Item = u64>) -> Self {
        const SLOTS: usize = 4_096;
        let slot = |hash: u64| hash as usize % SLOTS;
        let mut is_asked = [false; SLOTS];
        let mut times: Vec<(u64, usize)> = Vec::new();
        for hash in asked {
            is_asked[slot(hash)] = true;
            if times.iter().all(|(held, _)| *held != hash) {
                times.push((hash, 0));
            }
        }
        for &hash in text.iter().filter(|hash| is_asked[slot(**hash)]) {
            if let Some((_, times)) = times.iter_mut().find(|(asked, _)| *asked == hash) {
                *times += 1;
            }
        }
        Self(times)
    }

    fn times(&self, hash: u64) -> usize {
        let found = self.0.iter().find(|(asked, _)| *asked == hash);
        found.map_or(0, |(_, times)| *times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::hashed::HashedText;
    use proptest::prelude::*;

    const KEY: HashKey = HashKey::new(11);

    fn title_terms(title: &str, heading: &str, text: &str) -> Option<TitleTerms> {
        let given = |text: &'static str| (!text.is_empty()).then_some(text);
        let (title, heading) = (title.to_owned().leak(), heading.to_owned().leak());
        TitleTerms::of(
            given(title),
            given(heading),
            HashedText::of(text, KEY).hashes(),
            KEY,
        )
    }

    /// Two pages, each given by its title, its heading and its text.
    fn check(one: (&str, &str, &str), two: (&str, &str, &str), differ: bool) {
        let of = |page: (&str, &str, &str)| title_terms(page.0, page.1, page.2).unwrap();
        assert_eq!(of(one).differs_from(&of(two)), differ, "{one:?} {two:?}");
        assert_eq!(of(two).differs_from(&of(one)), differ, "{two:?} {one:?}");
        if differ {
            assert_ne!(of(one).digest(), of(two).digest());
        }
    }

    #[test]
    fn classes_and_functions_of_one_template_have_different_title_terms() {
        check(
            (
                "StringBuffer (Java SE 17)",
                "Class StringBuffer",
                "class stringbuffer a mutable sequence",
            ),
            (
                "StringBuilder (Java SE 17)",
                "Class StringBuilder",
                "class stringbuilder a mutable sequence",
            ),
            true,
        );
        check(
            (
                "std::map::lower_bound - cppreference.com",
                "std::map::lower_bound",
                "std::map lower_bound key",
            ),
            (
                "std::set::lower_bound - cppreference.com",
                "std::set::lower_bound",
                "std::set lower_bound key",
            ),
            true,
        );
        check(
            (
                "Type definition ranlux3",
                "Type definition ranlux3",
                "type definition ranlux3 typedef",
            ),
            (
                "Type definition ranlux4",
                "Type definition ranlux4",
                "type definition ranlux4 typedef",
            ),
            true,
        );
        // The title of `StrictMath` has `Math` only as a part of a word.
        check(
            ("Math (Java)", "Class Math", "class math numeric operations"),
            (
                "StrictMath (Java)",
                "Class StrictMath",
                "class strictmath numeric operations",
            ),
            true,
        );
    }

    #[test]
    fn an_article_keeps_its_title_terms_under_the_names_of_two_sites() {
        let text = "tea prices rise again and the growers of a region say so";
        for heading in ["Tea prices rise", ""] {
            check(
                ("Tea prices rise - Site A", heading, text),
                ("Site B | Tea prices rise", heading, text),
                false,
            );
            check(
                ("Tea prices rise - The Daily Leaf", heading, text),
                ("The Gazette: Tea prices rise", heading, text),
                false,
            );
        }
    }

    #[test]
    fn a_general_heading_leaves_the_terms_to_the_title_and_to_frequent_words() {
        let of = |class: &str| {
            (
                format!("{class} Class Reference"),
                "Public Member Functions".to_owned(),
                format!("public member functions of {class}"),
            )
        };
        let (one, two) = (of("Slot"), of("Signal"));
        check((&one.0, &one.1, &one.2), (&two.0, &two.1, &two.2), true);
        let of = |kind: &str| {
            (
                format!("{kind}: methods"),
                "Methods".to_owned(),
                format!("methods {kind} grow, {kind} shrink, {kind} sort"),
            )
        };
        let (one, two) = (of("Vector"), of("Deque"));
        check((&one.0, &one.1, &one.2), (&two.0, &two.1, &two.2), true);
    }

    #[test]
    fn a_number_counts_where_title_and_heading_have_it_and_an_edition_does_not() {
        let lamp = |number: u32| {
            (
                format!("Lamp {number} | Shop"),
                format!("Lamp {number}"),
                format!("lamp {number} brightens rooms"),
            )
        };
        let (one, two) = (lamp(17), lamp(18));
        check((&one.0, &one.1, &one.2), (&two.0, &two.1, &two.2), true);
        check(
            (
                "Overview — Clang 14 documentation",
                "Overview",
                "overview of tools in clang 14",
            ),
            (
                "Overview — Clang 15 documentation",
                "Overview",
                "overview of tools in clang 15",
            ),
            false,
        );
    }

    #[test]
    fn a_page_without_titles_has_no_title_terms_and_titles_that_the_text_lacks_do_not_count() {
        assert_eq!(title_terms("", "", "some text"), None);
        assert_eq!(title_terms(" — ", "", "some text"), None);
        let unsaid = title_terms("Acme", "Welcome", "some text").unwrap();
        assert_eq!(
            (unsaid.required().len(), unsaid.all().len(), unsaid.digest()),
            (0, 2, 0)
        );
        let occurrences = title_terms("Acme", "Text", "some text").unwrap();
        assert!(occurrences.differs_from(&unsaid) && unsaid.differs_from(&occurrences));
    }

    #[test]
    fn a_title_of_a_megabyte_keeps_as_many_words_as_fit() {
        let words: String = (0..200_000).map(|n| format!("w{n}x ")).collect();
        let long = title_terms(&words, &words, &words).unwrap();
        assert_eq!(
            (long.all().len(), long.required().len()),
            (MAX_TITLE_TERMS, MAX_TITLE_TERMS)
        );
        assert_eq!(long.to_bytes().len(), MAX_TITLE_TERMS_BYTES);
    }

    #[test]
    fn bytes_that_are_no_title_terms_are_refused() {
        let good = title_terms("Acme", "Text here", "some text")
            .unwrap()
            .to_bytes();
        assert!(TitleTerms::from_bytes(&good).is_some());
        let mut more_than_all = good.clone();
        more_than_all[0] = good[1] + 1;
        for wrong in [
            &good[..1],
            &good[..good.len() - 1],
            &[0, 0],
            &more_than_all,
            &[1, 17],
            &[],
        ] {
            assert_eq!(TitleTerms::from_bytes(wrong), None, "{wrong:?}");
        }
        let written = postcard::to_allocvec(&more_than_all).unwrap();
        assert!(postcard::from_bytes::<TitleTerms>(&written).is_err());
    }

    proptest! {
        #[test]
        fn title_terms_are_read_as_they_were_written(
            title in "[a-d0-2 ]{0,40}",
            heading in "[a-d0-2 ]{0,40}",
            text in "[a-d0-2 ]{0,60}",
        ) {
            let text = HashedText::of(&text, KEY);
            if let Some(terms) = TitleTerms::of(Some(&title), Some(&heading), text.hashes(), KEY) {
                prop_assert_eq!(TitleTerms::from_bytes(&terms.to_bytes()), Some(terms));
                let written = postcard::to_allocvec(&terms).unwrap();
                prop_assert_eq!(postcard::from_bytes::<TitleTerms>(&written).unwrap(), terms);
                prop_assert!(!terms.differs_from(&terms));
            }
        }

        #[test]
        fn occurrences_of_words_are_counted_in_one_pass(
            text in prop::collection::vec(0_u64..40, 0..60),
            asked in prop::collection::vec(0_u64..40, 0..20),
        ) {
            let occurrences = Occurrences::of(&text, asked.iter().copied());
            for hash in 0..40 {
                let times = text.iter().filter(|occurrences| **occurrences == hash).count();
                prop_assert_eq!(
                    occurrences.times(hash),
                    if asked.contains(&hash) { times } else { 0 },
                );
            }
        }
    }
}
