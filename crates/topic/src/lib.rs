//! Topics of focused crawls: the relevance of pages and links.
//!
//! ```
//! use neardup::PageText;
//! use topic::Topic;
//!
//! let topic = Topic::of_words("the power of tides", None)?;
//! let page = "Tides turn turbines at the mouth of the river twice a day. The power that they \
//!     give grows with the range between low and high tides, so the best places are bays and \
//!     straits where power stations can be built on rock.";
//! assert!(topic.judge(&PageText::of(page), None).relevance >= topic.threshold());
//! let other = "Bread is baked from flour and water. Knead the dough well, let it rest overnight \
//!     in a cool room, and bake it in a hot oven until the crust is brown and sounds hollow.";
//! assert!(topic.judge(&PageText::of(other), None).relevance < topic.threshold());
//! # Ok::<(), topic::TopicError>(())
//! ```
//!
//! A focused crawl visits pages that promise to be about a topic first (Chakrabarti, van den Berg
//! and Dom, *Focused crawling*, 1999). A [`Topic`] is at most [`MAX_TOPIC_WORDS`] words with
//! weights, from words that the user gives, from examples, or from both. The relevance of a page is
//! the part of the topic's weight that the page covers, in relation to a page that is all about it:
//!
//! ```text
//! relevance = min(1, Σ wᵢ sᵢ / full) · min(1, d / 32)
//! sᵢ = min(1, tf / (tf + K) / 0.7)   on the page, K = 6 · (0.25 + 0.75 · max(n, 100) / 500)
//! wᵢ = (1 + ln tf) · rarity^1.5      of the user's words; the sum of all weights is 1
//! wᵢ = (tf / n) · part · rarity^1.5  of the words of examples
//! rarity = ln((N + 1) / (df + ½)) / ln((N + 1) / ½)
//! ```
//!
//! - `sᵢ` saturates in the occurrences of the word and falls with the length *n* of the page, as in
//!   BM25 (Robertson et al., TREC-3, 1994). No word brings more than its weight. A word of the
//!   URL's path counts as 6 occurrences (BM25F, Robertson, Zaragoza and Taylor 2004).
//! - `wᵢ` of the user's words is the classic weight by rarity (Salton and Buckley 1988). That of
//!   the words of examples is their mean share of the examples' words by the part of the examples
//!   that have them; only the 32 weightiest have one. If there are both, the user's words have a
//!   third of the weight.
//! - `df` of `N` documents have the word: by a file of frequencies, or as learned while crawling
//!   ([`DocumentFrequencies`]).
//! - Forms of an English word are one word: *tide*, *tides* (`inflections.rs`).
//! - `full` is the coverage of a page with relevance 1: 1 for words; for examples, the best that
//!   one gets from the others.
//! - `d` is the number of different words of the page, as far as 32: a page of the topic's words
//!   alone is about nothing.
//!
//! So a page that repeats the topic's words a million times is at most as relevant as a good one.
//! [`Topic::link_score`] weighs the words around a link.
//!
//! Pure: no clock, no disk, no threads. Reading is bounded: [`MAX_PAGE_WORDS`] words of a page,
//! [`MAX_LINK_BYTES`] of each part of a link.

mod builder;
mod examples;
mod frequencies;
mod growing;
mod inflections;
mod judged;
mod link;
mod page_words;
mod path_words;
mod relevance;
mod stop_words;
mod stored;
mod topic;
mod weighed;
mod weights;
mod word_table;

pub use builder::{ExampleText, TopicBuilder, TopicError, Warning};
pub use examples::{MAX_EXAMPLE_WORDS, MAX_EXAMPLES, WORDS_OF_EXAMPLES};
pub use frequencies::{DocumentFrequencies, FIRST_REWEIGHING};
pub use growing::{GROWING_TOPIC_VERSION, GrowingTopic};
pub use judged::Judged;
pub use link::{LinkText, MAX_LINK_BYTES};
pub use page_words::{MAX_PAGE_BYTES, MAX_PAGE_WORDS};
pub use relevance::Relevance;
pub use stored::TOPIC_VERSION;
pub use topic::Topic;
pub use weights::{LEAST_DIFFERENT_WORDS, THRESHOLD_BY_EXAMPLES, THRESHOLD_BY_WORDS};
pub use word_table::MAX_TOPIC_WORDS;
