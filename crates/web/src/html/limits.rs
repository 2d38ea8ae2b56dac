//! Limits of reading a page, and the reasons to stop its parser.

use crate::html::link::LinkKinds;

/// How much of a page is read. How large a body is, is its reader's limit, not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Which links are looked for.
    pub kinds: LinkKinds,
    /// Links to different pages, and as many of [`LinkKind::Form`], [`LinkKind::Script`] and
    /// [`LinkKind::Requisite`] together.
    pub links: usize,
    /// Open elements at one time, open formatting elements counted twice.
    pub depth: usize,
    /// Attributes of one tag.
    pub attributes: usize,
    /// Nodes of the tree.
    pub nodes: usize,
    /// Steps that building the tree may take: tokens of its tokenizer above all. What follows is
    /// read without a tree.
    pub tree_effort: usize,
    /// Steps that are taken where there is no tree, and a quarter as many for forms: tags and
    /// stretches of text above all. What follows is not read.
    pub stream_effort: usize,
    /// Bytes of text, those beyond ASCII counted twice; and a line for every eight of them. What
    /// follows is read for its links.
    pub text: usize,
    /// Characters of a title.
    pub title_chars: usize,
    /// Characters of the words of a link.
    pub anchor_chars: usize,
    /// Bytes of what a page says of a link (`rel`), beyond [`Relations`].
    pub rel_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            kinds: LinkKinds::PAGES,
            links: 10_000,
            depth: 512,
            attributes: 1_000,
            nodes: 100_000,
            tree_effort: 400_000,
            stream_effort: 600_000,
            text: 1 << 20,
            title_chars: 1_000,
            anchor_chars: 200,
            rel_bytes: 0,
        }
    }
}

/// Why the parser was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParserStop {
    /// Elements were nested deeper than [`ReadLimits::depth`], formatting elements counted twice.
    Depth,
    /// A tag had more than [`ReadLimits::attributes`] attributes.
    Attributes,
    /// There were more than [`ReadLimits::nodes`] nodes.
    Nodes,
    /// Each limit was kept, but all together would have taken too long; see
    /// [`ReadLimits::tree_effort`].
    WorkBudget,
    /// The parser saw other tags than we did.
    Disagreement,
}
