//! The knowledge of a simulated crawl: the relevance of pages, and the words of their links.

/// The knowledge of a simulated crawl about a topic.
pub(crate) struct Judgement<'a> {
    /// The relevance of each page of the manuals.
    pub(crate) relevance: &'a [f64],
    /// The least relevance of an on-topic page.
    pub(crate) threshold: f64,
    /// The share of the topic in the words of each link, in the order of pages and links.
    pub(crate) link_words: &'a [Vec<f64>],
    /// The truth, which only the oracle knows: links from each page to a relevant page.
    pub(crate) distances: &'a [u32],
}
