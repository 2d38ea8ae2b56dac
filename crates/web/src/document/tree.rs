//! Text to tree, in linear time whatever the text.
//!
//! html5ever is quadratic in three ways: in the attributes of one tag (each is compared with all before it),
//! in nesting (each block looks through the open elements), and in formatting elements (each paragraph builds
//! the open ones again). A quarter of a megabyte of `<div>` takes seven seconds. So the text is fed in
//! pieces; after each the open elements and the nodes are counted, and a [`Scanner`] runs ahead and sees
//! every tag before the parser does. When a limit is passed the parser is stopped: the tree so far is kept,
//! the rest of the text is left for a plainer reader.
//!
//! Invariant: the scanner is never in another tokenizer state than the parser. [`Watch`] sees what the tree
//! builder answers to each tag (the only thing that changes the state from outside), and the tags that
//! both have seen are compared after every piece.

use std::cell::{Cell, RefCell};

use ego_tree::NodeId;
use html5ever::interface::{Tracer, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult};
use scraper::{Html, HtmlTreeSink};

use super::ReadLimits;
use super::scan::{self, Scanner, Tag};

/// How much is fed before the limits are looked at.
const PIECE_BYTES: usize = 4 * 1024;

/// The same while many elements are open: a paragraph then may build all of them again.
const CAREFUL_PIECE_BYTES: usize = 256;

/// How many open elements are many. Ordinary pages have ten to forty.
const CAREFUL_OPEN: usize = 128;

/// How many steps the tree builder may take for a byte of text, a step being one tag looking at one open
/// element. Of 631 real pages the median needs 0.2 and the greediest 0.8.
const EFFORT_PER_BYTE: usize = 16;

/// Steps that every page may take, however short.
const EFFORT_AT_LEAST: usize = 1_000_000;

/// A page as a tree, and what is left of its text.
pub(crate) struct Parsed {
    pub html: Html,
    pub rest: Option<Rest>,
}

/// What the parser was not given.
#[derive(Debug)]
pub(crate) struct Rest {
    pub why: Cut,
    /// Where it begins in the text: never inside a tag.
    pub at: usize,
    /// The element whose raw text it begins in.
    pub inside: Option<String>,
}

/// Why the parser was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cut {
    /// Elements were nested deeper than [`ReadLimits::depth`], formatting elements counted twice.
    Depth,
    /// A tag had more than [`ReadLimits::attributes`] attributes.
    Attributes,
    /// There were more than [`ReadLimits::nodes`] nodes.
    Nodes,
    /// Each limit was kept, but all together would have taken too long.
    Effort,
    /// The parser saw other tags than we did.
    Disagreement,
}

/// Parses a text within the limits.
pub(crate) fn parse(text: &str, limits: &ReadLimits) -> Parsed {
    let mut run = Run::new(text, limits);
    let stopped = run.feed_all().err();
    let inside = run
        .tokenizer
        .sink
        .raw
        .borrow()
        .as_ref()
        .map(|name| name.to_string());
    let rest = stopped.map(|why| Rest {
        why,
        at: run.fed,
        inside,
    });
    run.tokenizer.end();
    Parsed {
        html: run.tokenizer.sink.tree.sink.finish(),
        rest,
    }
}

struct Run<'t> {
    limits: &'t ReadLimits,
    scanner: Scanner<'t>,
    tokenizer: Tokenizer<Watch>,
    queue: BufferQueue,
    text: StrTendril,
    /// Up to where the parser was given the text.
    fed: usize,
    /// Tags that the scanner saw.
    tags: usize,
    /// What the tags of the piece being gathered cost, per open element.
    cost: usize,
    effort: usize,
    /// Attributes on `<html>` and `<body>`, which the tree builder gathers on one element each.
    merged: usize,
}

impl<'t> Run<'t> {
    fn new(text: &'t str, limits: &'t ReadLimits) -> Self {
        let sink = HtmlTreeSink::new(Html::new_document());
        let watch = Watch {
            tree: TreeBuilder::new(sink, TreeBuilderOpts::default()),
            tags: Cell::new(0),
            raw: RefCell::new(None),
            plaintext: Cell::new(false),
        };
        Self {
            limits,
            scanner: Scanner::new(text, 0),
            tokenizer: Tokenizer::new(watch, TokenizerOpts::default()),
            queue: BufferQueue::default(),
            text: StrTendril::from_slice(text),
            fed: 0,
            tags: 0,
            cost: 0,
            effort: 0,
            merged: 0,
        }
    }

    fn feed_all(&mut self) -> Result<(), Cut> {
        let mut piece = PIECE_BYTES;
        loop {
            if self.scanner.is_at_cdata() {
                self.feed_and_check()?;
                self.scanner.foreign = self.tokenizer.sink.in_foreign_content();
            }
            let before = self.scanner.at();
            let Some(token) = self.scanner.next() else { break };
            let mut changes_state = false;
            if let scan::Token::Start(tag) | scan::Token::End(tag) = token {
                if let Err(cut) = self.count(&tag) {
                    // The tag that is too much stays with the rest.
                    self.feed(before);
                    return Err(cut);
                }
                changes_state = matches!(token, scan::Token::Start(_)) && tag.is(RAW_TEXT);
            }
            if changes_state || self.scanner.at() - self.fed >= piece {
                let open = self.feed_and_check()?;
                piece = if open > CAREFUL_OPEN {
                    CAREFUL_PIECE_BYTES
                } else {
                    PIECE_BYTES
                };
                self.through_raw_text()?;
            }
        }
        self.feed_and_check()?;
        Ok(())
    }

    /// Reads on until the parser is out of raw text. A script may hold end tags that do not end it.
    fn through_raw_text(&mut self) -> Result<(), Cut> {
        loop {
            if self.tokenizer.sink.plaintext.get() {
                self.scanner = Scanner::new("", 0);
                self.feed(self.text.len());
                return Ok(());
            }
            let Some(name) = self.tokenizer.sink.raw.borrow().clone() else {
                return Ok(());
            };
            self.scanner.raw(&name);
            let before = self.scanner.at();
            let Some(scan::Token::End(tag)) = self.scanner.next() else {
                self.feed(before);
                return Ok(());
            };
            if let Err(cut) = self.count(&tag) {
                self.feed(before);
                return Err(cut);
            }
            self.feed(self.scanner.at());
            // An end tag that did not end the script was no tag.
            self.tags = self.tokenizer.sink.tags.get();
        }
    }

    fn count(&mut self, tag: &Tag<'_>) -> Result<(), Cut> {
        // Short names first: `html` and `body` are looked for in every tag.
        if tag.name.len() == 4 && tag.is(&["html", "body"]) {
            self.merged += tag.attributes;
        }
        if tag.attributes.max(self.merged) > self.limits.attributes {
            return Err(Cut::Attributes);
        }
        self.tags += 1;
        // A formatting element's attributes are compared, sorted, with those of every open one.
        self.cost += 1 + tag.attributes * tag.attributes / 32;
        Ok(())
    }

    fn feed(&mut self, end: usize) {
        // Tendrils measure in 32 bits, and so does whoever caps a body.
        let start = u32::try_from(self.fed).unwrap_or(u32::MAX);
        let length = u32::try_from(end - self.fed).unwrap_or(u32::MAX);
        self.queue.push_back(self.text.subtendril(start, length));
        self.fed = end;
        // Scripts and encodings would interest a browser.
        while !matches!(self.tokenizer.feed(&self.queue), TokenizerResult::Done) {}
    }

    /// Feeds what was scanned; how many elements are open then.
    fn feed_and_check(&mut self) -> Result<usize, Cut> {
        self.feed(self.scanner.at().max(self.fed));
        let watch = &self.tokenizer.sink;
        let open = watch.open_elements();
        self.effort += open * std::mem::take(&mut self.cost);
        if open > self.limits.depth {
            return Err(Cut::Depth);
        }
        if watch.nodes() > self.limits.nodes {
            return Err(Cut::Nodes);
        }
        if self.effort > EFFORT_AT_LEAST.max(EFFORT_PER_BYTE * self.text.len()) {
            return Err(Cut::Effort);
        }
        // At the end of the text an unfinished tag is none.
        if watch.tags.get() != self.tags && self.fed < self.text.len() {
            return Err(Cut::Disagreement);
        }
        Ok(open)
    }
}

/// Elements whose start tag may turn what follows into raw text.
const RAW_TEXT: &[&str] = &[
    "script",
    "style",
    "title",
    "textarea",
    "noscript",
    "iframe",
    "xmp",
    "noembed",
    "noframes",
    "plaintext",
];

/// Stands between tokenizer and tree builder and notes what the latter answers.
struct Watch {
    tree: TreeBuilder<NodeId, HtmlTreeSink>,
    tags: Cell<usize>,
    /// The element whose raw text the tokenizer is in.
    raw: RefCell<Option<LocalName>>,
    plaintext: Cell<bool>,
}

impl Watch {
    /// Open elements and open formatting elements.
    fn open_elements(&self) -> usize {
        let count = Count(Cell::new(0));
        self.tree.trace_handles(&count);
        count.0.get()
    }

    fn nodes(&self) -> usize {
        self.tree.sink.0.borrow().tree.values().len()
    }

    fn in_foreign_content(&self) -> bool {
        self.tree
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl TokenSink for Watch {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        let Token::TagToken(tag) = &token else {
            return self.tree.process_token(token, line);
        };
        self.tags.set(self.tags.get() + 1);
        let (kind, name) = (tag.kind, tag.name.clone());
        let answer = self.tree.process_token(token, line);
        match (&answer, kind) {
            (TokenSinkResult::RawData(_), _) => *self.raw.borrow_mut() = Some(name),
            (TokenSinkResult::Plaintext, _) => self.plaintext.set(true),
            (_, TagKind::EndTag) => *self.raw.borrow_mut() = None,
            _ => {}
        }
        answer
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.in_foreign_content()
    }
}

struct Count(Cell<usize>);

impl Tracer for Count {
    type Handle = NodeId;

    fn trace_handle(&self, _: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}
