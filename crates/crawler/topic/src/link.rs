//! Links: the topic's words in the anchor, in the URL and around the link.
//!
//! Anchors name their target, the words around them describe it (Chakrabarti et al. 1998, *ARC*;
//! Hersovici et al. 1998, *shark-search*), and URLs contain the names of files. A word counts once,
//! with the value of its best place.

use web::PageUrl;

use crate::path_words::words_of_path;
use crate::word_table::WordTable;

/// Maximum bytes to read of the anchor and of the text around it, each.
pub const MAX_LINK_BYTES: usize = 1_024;

/// Value of a word by its place.
const IN_ANCHOR: f64 = 1.0;
const IN_URL: f64 = 0.75;
const AROUND: f64 = 0.5;

/// The words of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkText<'a> {
    /// Text of the link, or the alternative text of its image.
    pub anchor: &'a str,
    /// Words around the link; empty if unknown.
    pub around: &'a str,
    /// Target of the link. The words of its path count.
    pub url: &'a PageUrl,
}

/// The topic's words in a link, each once, with the value of its best place.
pub(crate) struct LinkWords(pub(crate) Vec<(u16, f64)>);

impl LinkWords {
    pub(crate) fn of(link: &LinkText<'_>, table: &WordTable) -> Self {
        let mut found = Self(Vec::new());
        found.add(start_of(link.anchor), IN_ANCHOR, table);
        found.add(&words_of_path(link.url), IN_URL, table);
        found.add(start_of(link.around), AROUND, table);
        found
    }

    /// Adds the words of a place. Call this for better places first.
    fn add(&mut self, text: &str, value: f64, table: &WordTable) {
        if text.is_empty() {
            return;
        }
        table.each_word(text, |hash| {
            if let Some(number) = table.number_of(hash).map(|number| number as u16)
                && !self.0.iter().any(|(held, _)| *held == number)
            {
                self.0.push((number, value));
            }
        });
    }
}

fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LINK_BYTES)]
}

#[cfg(test)]
mod tests {
    use neardup::HashKey;
    use web::CanonicalForm;

    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::default()).unwrap()
    }

    #[test]
    fn a_word_counts_once_at_its_best_place() {
        let table = WordTable::of(["tidal", "power", "bay"].into_iter(), HashKey::ZERO);
        let url = url("https://example.org/power/tidal");
        let link = LinkText {
            anchor: "Tidal, TIDAL",
            around: "tidal power in the bay",
            url: &url,
        };
        let found = LinkWords::of(&link, &table);
        assert_eq!(found.0, [(0, IN_ANCHOR), (1, IN_URL), (2, AROUND)]);
    }

    #[test]
    fn words_beyond_the_most_bytes_are_not_read() {
        let table = WordTable::of(["tidal"].into_iter(), HashKey::ZERO);
        let url = url("https://example.org/");
        for (padding, found) in [(MAX_LINK_BYTES - 6, 1), (MAX_LINK_BYTES, 0)] {
            let text = format!("{} tidal", "x".repeat(padding));
            for (anchor, around) in [(&*text, ""), ("", &*text)] {
                let link = LinkText {
                    anchor,
                    around,
                    url: &url,
                };
                assert_eq!(LinkWords::of(&link, &table).0.len(), found);
            }
        }
    }
}
