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
//! A focused crawl first visits the pages that are likely to be about a topic (Chakrabarti, van den
//! Berg and Dom, *Focused crawling*, 1999). A [`Topic`] consists of at most [`MAX_TOPIC_WORDS`]
//! weighted words, from the user's words, from examples, or from both. The relevance of a page is
//! the fraction of the topic's weight that the page covers, relative to a page that is entirely
//! about the topic:
//!
//! ```text
//! relevance = min(1, Σ wᵢ sᵢ / full) · min(1, d / 32)
//! sᵢ = min(1, tf / (tf + K) / 0.7)   on the page, K = 6 · (0.25 + 0.75 · max(n, 100) / 500)
//! wᵢ = (1 + ln tf) · idf^1.5      of the user's words; the sum of all weights is 1
//! wᵢ = (tf / n) · part · idf^1.5  of the words of examples
//! idf = ln((N + 1) / (df + ½)) / ln((N + 1) / ½)
//! ```
//!
//! - `sᵢ` saturates with the occurrences of the word and falls with the length *n* of the page, as
//!   in BM25 (Robertson et al., TREC-3, 1994). No word adds more than its weight. A word of the
//!   URL's path counts as 6 occurrences (BM25F, Robertson, Zaragoza and Taylor 2004).
//! - `wᵢ` of the user's words is the classic weight by inverse document frequency (Salton and
//!   Buckley 1988). For words of examples, `wᵢ` is the mean share of the word in the examples,
//!   times the fraction of examples that contain it; only the 32 weightiest words have a weight. If
//!   there are both, the user's words get a third of the weight.
//! - `df` of `N` documents contain the word, by a file of frequencies or as learned while crawling
//!   ([`DocumentFrequencies`]).
//! - Inflected forms of an English word are one word: *tide*, *tides* (`inflections.rs`).
//! - `full` is the coverage of a page with relevance 1. It is 1 for words; for examples, it is the
//!   best coverage that an example gets from the topic of the other examples.
//! - `d` is the number of different words on the page, at most 32: a page that consists of nothing
//!   but the topic's words has no content.
//!
//! So a page that repeats the topic's words a million times is at most as relevant as a good page.
//! [`Topic::link_score`] weighs the words around a link.
//!
//! The crate is pure: no clock, no disk, no threads. It reads a bounded amount: [`MAX_PAGE_WORDS`]
//! words of a page, [`MAX_LINK_BYTES`] of each part of a link.

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
pub use weights::{MIN_DIFFERENT_WORDS, THRESHOLD_BY_EXAMPLES, THRESHOLD_BY_WORDS};
pub use word_table::MAX_TOPIC_WORDS;
