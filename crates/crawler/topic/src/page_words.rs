//! The topic's words on a page, counted in one pass over the hashes of its words.

use neardup::{HashedText, PageText};
use web::PageUrl;

use crate::path_words::words_of_path;
use crate::weights::{IN_PATH, MIN_DIFFERENT_WORDS};
use crate::word_table::WordTable;

/// Maximum number of words that are read of a page.
pub const MAX_PAGE_WORDS: usize = 100_000;
/// Maximum bytes that are read of a page: a gigabyte without white space is one word.
pub const MAX_PAGE_BYTES: usize = 1 << 20;

/// The topic's words on a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageWords {
    /// Words that occur, in ascending order of their numbers.
    pub(crate) words: Vec<FoundWord>,
    /// Number of words read.
    pub(crate) length: usize,
    /// Number of different words, at most [`MIN_DIFFERENT_WORDS`].
    pub(crate) different: usize,
}

/// A word of the topic on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundWord {
    /// Number of the word in the topic.
    pub(crate) number: u16,
    /// Occurrences in the text and in the title.
    pub(crate) in_text: u32,
    /// True if the URL's path contains the word.
    pub(crate) in_path: bool,
}

impl FoundWord {
    /// Returns the word's occurrences. The path counts as [`IN_PATH`] occurrences, even if it
    /// repeats the word.
    pub(crate) fn times(self) -> u32 {
        self.in_text + if self.in_path { IN_PATH } else { 0 }
    }
}

impl PageWords {
    /// Counts the topic's words in a page's text, its title and its URL's path, if it has a URL.
    /// The text must be hashed under the key of the table.
    pub(crate) fn of(
        page: &PageText<'_>,
        text: &HashedText,
        url: Option<&PageUrl>,
        table: &WordTable,
        topic_words: usize,
    ) -> Self {
        let mut title = Vec::new();
        let start_of_title = start_of(page.title.unwrap_or_default());
        table.each_word(start_of_title, |hash| title.push(hash));
        let mut times = vec![0_u32; topic_words];
        let mut different = Vec::with_capacity(MIN_DIFFERENT_WORDS);
        let mut length = 0;
        for &hash in title.iter().chain(text.hashes()).take(MAX_PAGE_WORDS) {
            length += 1;
            if different.len() < MIN_DIFFERENT_WORDS && !different.contains(&hash) {
                different.push(hash);
            }
            if let Some(number) = table.number_of(hash) {
                times[number] += 1;
            }
        }
        let path = url.map_or_else(Vec::new, |url| numbers_in_path(url, table));
        let word = |(&in_text, number): (&u32, u16)| FoundWord {
            number,
            in_text,
            in_path: path.contains(&usize::from(number)),
        };
        let words = times.iter().zip(0..).map(word);
        Self {
            words: words.filter(|word| word.times() > 0).collect(),
            length,
            different: different.len(),
        }
    }
}

/// Returns the numbers of the topic's words in a URL's path.
fn numbers_in_path(url: &PageUrl, table: &WordTable) -> Vec<usize> {
    let mut numbers = Vec::new();
    table.each_word(&words_of_path(url), |hash| {
        numbers.extend(table.number_of(hash));
    });
    numbers
}

/// Returns the beginning of a text, at most [`MAX_PAGE_BYTES`].
pub(crate) fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_PAGE_BYTES)]
}

#[cfg(test)]
mod tests {
    use neardup::HashKey;

    use super::*;

    fn counted(page: PageText<'_>) -> PageWords {
        let words = ["tidal", "power"];
        let table = WordTable::of(words.into_iter(), HashKey::ZERO);
        words_of(page, None, &table)
    }

    fn words_of(page: PageText<'_>, url: Option<&PageUrl>, table: &WordTable) -> PageWords {
        let text = table.hashed(start_of(page.text));
        PageWords::of(&page, &text, url, table, 2)
    }

    fn occurrences(counted: &PageWords) -> Vec<(u16, u32)> {
        let words = counted.words.iter();
        words.map(|word| (word.number, word.times())).collect()
    }

    #[test]
    fn a_word_of_the_path_counts_as_several_of_the_text_but_only_once() {
        let table = WordTable::of(["tidal", "power"].into_iter(), HashKey::ZERO);
        let url = "https://tidal.example/tidal/TidalStations.html";
        let url = PageUrl::parse(url, &web::CanonicalForm::default()).unwrap();
        let counted = words_of(PageText::of("tidal power"), Some(&url), &table);
        assert_eq!(occurrences(&counted), [(0, 1 + IN_PATH), (1, 1)]);
        assert_eq!(counted.length, 2);
    }

    #[test]
    fn words_of_text_and_title_are_counted_whatever_their_case() {
        let page = PageText {
            title: Some("POWER stations"),
            ..PageText::of("Power, and more power")
        };
        let counted = counted(page);
        assert_eq!(occurrences(&counted), [(1, 3)]);
        assert_eq!((counted.length, counted.different), (6, 4));
    }

    #[test]
    fn words_beyond_the_most_are_not_read() {
        let mut text = "a ".repeat(MAX_PAGE_WORDS - 1);
        text.push_str("tidal power");
        let counted = counted(PageText::of(&text));
        assert_eq!(occurrences(&counted), [(0, 1)]);
        assert_eq!(counted.length, MAX_PAGE_WORDS);
    }

    #[test]
    fn bytes_beyond_the_most_are_not_read() {
        let mut text = "é".repeat(MAX_PAGE_BYTES / 2);
        text.push_str(" tidal");
        assert_eq!(counted(PageText::of(&text)).length, 1);
        assert_eq!(start_of(&format!("x{text}")).len(), MAX_PAGE_BYTES - 1);
    }
}
