//! A topic, which judges pages and links.

use neardup::{HashKey, HashedText, PageText};
use serde::{Deserialize, Serialize};
use web::PageUrl;

use crate::frequencies::DocumentFrequencies;
use crate::judged::Judged;
use crate::link::{LinkText, LinkWords};
use crate::page_words::{FoundWord, MAX_PAGE_BYTES, PageWords, start_of};
use crate::relevance::Relevance;
use crate::stored::{BadTopic, Millionths, StoredTopic};
use crate::weighed::{Weighed, coverage};
use crate::weights::{by_keyword_density, covered, idf, keyword_density, of_variety};
use crate::word_table::WordTable;

/// A topic's words by their hashes, with weights.
///
/// Topics are equal if they were made from the same words, examples and frequencies with the same
/// threshold, and were reweighed by the same pages. Store a topic as it was made, together with the
/// [`DocumentFrequencies`], and [`reweigh`](Topic::reweigh) it when the crawl continues. Then a
/// topic differs from the stored one only if the user changed it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "StoredTopic", into = "StoredTopic")]
pub struct Topic {
    stored: StoredTopic,
    weighed: Weighed,
    table: WordTable,
}

impl PartialEq for Topic {
    fn eq(&self, other: &Self) -> bool {
        self.stored == other.stored
    }
}

impl Eq for Topic {}

impl From<Topic> for StoredTopic {
    fn from(topic: Topic) -> Self {
        topic.stored
    }
}

impl TryFrom<StoredTopic> for Topic {
    type Error = BadTopic;

    fn try_from(stored: StoredTopic) -> Result<Self, BadTopic> {
        Ok(Self::of_stored(stored.checked()?, HashKey::ZERO))
    }
}

impl Topic {
    /// Returns the topic of a checked stored form, with its words hashed under `key`.
    pub(crate) fn of_stored(stored: StoredTopic, key: HashKey) -> Self {
        Self {
            weighed: Weighed::of(&stored),
            table: WordTable::of(stored.words.iter().map(|word| &*word.word), key),
            stored,
        }
    }

    /// Judges a page by its text, its title and the words of its URL's path, if it has a URL. Words
    /// beyond [`MAX_PAGE_WORDS`](crate::MAX_PAGE_WORDS) are not read.
    #[must_use]
    pub fn judge(&self, page: &PageText<'_>, url: Option<&PageUrl>) -> Judged {
        self.judged(&self.words_of(page, url))
    }

    /// Judges a page like [`judge`](Self::judge), but uses the word hashes that were made for its
    /// signature. They are recomputed if their key differs from the topic's
    /// ([`hashed_under`](Self::hashed_under)), or if the text is longer than [`judge`](Self::judge)
    /// reads.
    #[must_use]
    pub fn judge_hashed(
        &self,
        page: &PageText<'_>,
        text: &HashedText,
        url: Option<&PageUrl>,
    ) -> Judged {
        if text.key() != self.table.key() || page.text.len() > MAX_PAGE_BYTES {
            return self.judge(page, url);
        }
        self.judged(&self.words_of_hashed(page, text, url))
    }

    fn judged(&self, words: &PageWords) -> Judged {
        let counts = words.words.iter().map(|word| (word.number, word.times()));
        let covered = coverage(&self.weighed.weights, counts, words.length);
        let share = (covered / self.weighed.full).min(1.0) * self.of_a_text(words);
        let found = words.words.iter().map(|word| usize::from(word.number));
        Judged::of(Relevance::from_share(share), found)
    }

    /// Returns the topic's words that contribute most to a page's relevance, at most `most`, each
    /// with its contribution. The contributions of all words add up to the relevance, unless that
    /// is 1.
    #[must_use]
    pub fn words_that_spoke(
        &self,
        page: &PageText<'_>,
        url: Option<&PageUrl>,
        most: usize,
    ) -> Vec<(String, f64)> {
        let words = self.words_of(page, url);
        let factor = self.of_a_text(&words) / self.weighed.full;
        let of = |word: &FoundWord| {
            let covered = covered(word.times(), words.length);
            (word.number, self.weight(word.number) * covered * factor)
        };
        let parts = words.words.iter().map(of).filter(|(_, part)| *part > 0.0);
        self.named(parts.collect(), most)
    }

    /// Returns the fraction of a page's words that are the topic's. A page of fewer than 100 words
    /// counts as one of 100.
    #[must_use]
    pub fn keyword_density(&self, page: &PageText<'_>) -> f64 {
        self.density_of(&self.words_of(page, None))
    }

    /// Returns up to `most` of the topic's words on a judged page, the weightiest first.
    #[must_use]
    pub fn words_found(&self, judged: &Judged, most: usize) -> Vec<String> {
        let weight = |number: usize| self.weighed.weights.get(number).copied();
        let weighed = judged
            .found()
            .filter_map(|number| Some((number as u16, weight(number)?)))
            .filter(|(_, weight)| *weight > 0.0);
        let named = self.named(weighed.collect(), most).into_iter();
        named.map(|(word, _)| word).collect()
    }

    /// Returns the score of a link from 0 to 1, by the topic's words in its anchor, in its URL and
    /// around it. A link with the three weightiest words in its anchor scores 1.
    #[must_use]
    pub fn link_score(&self, link: &LinkText<'_>) -> f64 {
        let parts = self.parts_of_link(link);
        parts.iter().map(|(_, part)| part).sum::<f64>().min(1.0)
    }

    /// Returns the topic's words that contribute most to a link's score, at most `most`, each with
    /// its contribution.
    #[must_use]
    pub fn link_words_that_spoke(&self, link: &LinkText<'_>, most: usize) -> Vec<(String, f64)> {
        self.named(self.parts_of_link(link), most)
    }

    /// Returns the minimum relevance of a page on topic. The default for a topic of words is
    /// [`THRESHOLD_BY_WORDS`](crate::THRESHOLD_BY_WORDS), or more if a single word could reach it.
    /// For a topic of examples, [`THRESHOLD_BY_EXAMPLES`](crate::THRESHOLD_BY_EXAMPLES), or more if
    /// that separates them better from other documents.
    #[must_use]
    pub fn threshold(&self) -> Relevance {
        self.stored.threshold.unwrap_or(self.weighed.threshold)
    }

    /// Returns the topic with another threshold; `None` sets the default.
    #[must_use]
    pub fn with_threshold(mut self, threshold: Option<Relevance>) -> Self {
        self.stored.threshold = threshold;
        self
    }

    /// Returns the same topic with its words hashed under `key`. Use the key of the texts that it
    /// judges. The key does not affect judgements and need not be secret: a page may contain the
    /// topic's words anyway.
    #[must_use]
    pub fn hashed_under(self, key: HashKey) -> Self {
        Self::of_stored(self.stored, key)
    }

    /// Returns true if inverse document frequency is learned while crawling; false with given
    /// frequencies.
    #[must_use]
    pub fn learns(&self) -> bool {
        self.stored.learns
    }

    /// Returns the topic with the inverse document frequency of its words in the judged pages.
    /// Relevances before and after differ in their last digits. A topic with given frequencies
    /// keeps its weights.
    #[must_use]
    pub fn reweigh(&self, frequencies: &DocumentFrequencies) -> Self {
        let mut stored = self.stored.clone();
        if stored.learns {
            for (number, word) in stored.words.iter_mut().enumerate() {
                let idf = idf(frequencies.of(number), frequencies.documents());
                word.idf = Millionths::of(idf);
            }
        }
        Self {
            weighed: Weighed::of(&stored),
            table: self.table.clone(),
            stored,
        }
    }

    /// Returns the topic's words and their weights, which add up to 1, the weightiest first. Words
    /// of examples beyond [`WORDS_OF_EXAMPLES`](crate::WORDS_OF_EXAMPLES) have no weight and are
    /// omitted.
    #[must_use]
    pub fn words(&self) -> Vec<(&str, f64)> {
        let words = self.stored.words.iter().map(|word| &*word.word);
        let weighed = words.zip(self.weighed.weights.iter().copied());
        let mut words: Vec<_> = weighed.filter(|(_, weight)| *weight > 0.0).collect();
        words.sort_by(|one, two| two.1.total_cmp(&one.1));
        words
    }

    fn weight(&self, number: u16) -> f64 {
        self.weighed.weights[usize::from(number)]
    }

    /// Returns a factor for the quality of a page's text: pages with few different words, and pages
    /// stuffed with the topic's words, are less relevant.
    fn of_a_text(&self, page: &PageWords) -> f64 {
        let by_keyword_density = by_keyword_density(self.density_of(page), self.weighed.densest);
        of_variety(page.different) * by_keyword_density
    }

    fn density_of(&self, page: &PageWords) -> f64 {
        let words = page.words.iter();
        let weighed = words.filter(|word| self.weight(word.number) > 0.0);
        let topic_words: u64 = weighed.map(|word| u64::from(word.in_text)).sum();
        keyword_density(topic_words, page.length)
    }

    fn words_of(&self, page: &PageText<'_>, url: Option<&PageUrl>) -> PageWords {
        let text = self.table.hashed(start_of(page.text));
        self.words_of_hashed(page, &text, url)
    }

    fn words_of_hashed(
        &self,
        page: &PageText<'_>,
        text: &HashedText,
        url: Option<&PageUrl>,
    ) -> PageWords {
        let words = self.stored.words.len();
        PageWords::of(page, text, url, &self.table, words)
    }

    /// Returns the contribution of each of the topic's words to a link's score.
    fn parts_of_link(&self, link: &LinkText<'_>) -> Vec<(u16, f64)> {
        let found = LinkWords::of(link, &self.table);
        let full = self.weighed.full_of_link;
        let part = |&(number, place): &(u16, f64)| (number, self.weight(number) * place / full);
        found.0.iter().map(part).collect()
    }

    /// Returns the words with the greatest contributions, in descending order.
    fn named(&self, mut parts: Vec<(u16, f64)>, most: usize) -> Vec<(String, f64)> {
        parts.sort_by(|one, two| two.1.total_cmp(&one.1));
        parts.truncate(most);
        let name = |(number, part)| {
            let word: &str = &self.stored.words[usize::from(number)].word;
            (word.to_owned(), part)
        };
        parts.into_iter().map(name).collect()
    }
}
