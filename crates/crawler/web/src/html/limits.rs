//! Limits of reading a page, and the reasons to stop its parser.

use crate::html::link::LinkKinds;

/// Limits of reading a page. The reader of the body limits its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Kinds of links to collect.
    pub kinds: LinkKinds,
    /// Maximum number of links to different pages. The same limit applies to
    /// [`LinkKind::Form`](crate::LinkKind::Form), [`LinkKind::Script`](crate::LinkKind::Script) and
    /// [`LinkKind::Requisite`](crate::LinkKind::Requisite) together.
    pub links: usize,
    /// Maximum number of open elements; open formatting elements count twice.
    pub depth: usize,
    /// Maximum number of attributes of a tag.
    pub attributes: usize,
    /// Maximum number of nodes of the tree.
    pub nodes: usize,
    /// Maximum steps of building the tree, mainly tokens of its tokenizer. The rest is read without
    /// a tree.
    pub tree_effort: usize,
    /// Maximum steps of reading without a tree, and a quarter as many for forms: mainly tags and
    /// stretches of text. The rest is not read.
    pub stream_effort: usize,
    /// Maximum bytes of text, where non-ASCII bytes count twice, with at most one line per eight
    /// bytes. The rest is read for its links only.
    pub text: usize,
    /// Maximum length of a title in characters.
    pub title_chars: usize,
    /// Maximum length of the words of a link in characters.
    pub anchor_chars: usize,
    /// True if [`Link::context`](crate::Link::context), and anchor texts without a tree, are read.
    /// Each takes a quarter of [`ReadLimits::stream_effort`] in additional steps.
    pub link_context: bool,
    /// Maximum length of [`LinkContext::around`](crate::LinkContext::around) in characters.
    pub context_chars: usize,
    /// True if the page is converted to [`Document::markdown`](crate::Document::markdown).
    pub markdown: bool,
    /// True if [`Document::fields`](crate::Document::fields) are read.
    pub fields: bool,
    /// True if [`Document::audit`](crate::Document::audit) is read.
    pub audit: bool,
    /// Bytes of `rel` that are kept in addition to [`Relations`](crate::Relations).
    pub rel_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            kinds: LinkKinds::PAGES,
            links: 50_000,
            depth: 512,
            attributes: 1_000,
            nodes: 100_000,
            tree_effort: 400_000,
            stream_effort: 600_000,
            text: 1 << 20,
            title_chars: 1_000,
            anchor_chars: 200,
            link_context: false,
            context_chars: 200,
            markdown: false,
            fields: false,
            audit: false,
            rel_bytes: 0,
        }
    }
}

/// Reason for stopping the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParserStop {
    /// Elements are nested deeper than [`ReadLimits::depth`], formatting elements counted twice.
    Depth,
    /// A tag has more than [`ReadLimits::attributes`] attributes.
    Attributes,
    /// There are more than [`ReadLimits::nodes`] nodes.
    Nodes,
    /// The page is within each limit, but would take too long altogether; see
    /// [`ReadLimits::tree_effort`].
    Effort,
    /// The parser and the scanner saw different tags.
    Disagreement,
}
