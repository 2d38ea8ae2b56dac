//! HTML parsing in linear time, for any text.
//!
//! html5ever takes quadratic time in three cases: many attributes of one tag (each is compared with
//! all before it), deep nesting (each block searches the open elements), and formatting elements
//! (each paragraph rebuilds the open ones). A quarter of a megabyte of `<div>` takes seven seconds.
//! The text is therefore fed in pieces. After each piece the open elements, the nodes and the
//! tokens are counted, and a [`Scanner`] sees every tag before the parser does. If a limit is
//! exceeded, the parser is stopped, the tree so far is kept, and the rest of the text is left to a
//! simpler reader.
//!
//! Invariant: the scanner is in the same tokenizer state as the parser. [`Watch`] sees the tree
//! builder's response to each tag (the only external change of state), and the tags that both saw
//! are compared after every piece.

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

use crate::html::fast_path;
use crate::html::limits::{ParserStop, ReadLimits};
use crate::html::scanner::{self, Scanner, Tag};
use crate::html::work_budget::{self, WorkBudget};

/// Bytes fed before the limits are checked.
const PIECE_BYTES: usize = 4 * 1024;

/// The same if many elements are open: a paragraph may then rebuild all of them.
const CAREFUL_PIECE_BYTES: usize = 256;

/// Number of open elements that counts as many. Ordinary pages have ten to forty.
const CAREFUL_OPEN: usize = 128;

/// Steps of the tree builder per byte of text; a step is one tag that examines one open element. Of
/// 631 real pages, the median needs 0.2 and the maximum 0.8.
const STEPS_PER_BYTE: usize = 16;

/// Minimum step limit, even of a short page.
const MIN_STEPS: usize = 1_000_000;

/// Maximum step limit, even of a long page.
const MAX_STEPS: usize = 8_000_000;

/// Bytes of text that the tokenizer reads in the time of one token.
const STRIDE: usize = 32;

/// The same for names, comments and document types, which it reads character by character.
const NAME_STRIDE: usize = 8;

/// Maximum length of the start of an end tag that ends raw text: a piece must not end inside it.
const RAW_END_BYTES: usize = 16;

/// The tree of a page, and the rest of its text.
pub(crate) struct Parsed {
    pub html: Html,
    pub rest: Option<UnparsedRest>,
}

/// Text that the parser did not receive.
#[derive(Debug)]
pub(crate) struct UnparsedRest {
    pub why: ParserStop,
    /// Start in the text, never inside a tag or a comment.
    pub at: usize,
    /// Element whose raw text continues there.
    pub inside: Option<String>,
}

/// Parses a text within the limits, and takes its steps from the budget.
pub(crate) fn parse(text: &str, limits: &ReadLimits, budget: &mut WorkBudget) -> Parsed {
    match fast_path::read(text, limits, budget) {
        Some(html) => Parsed { html, rest: None },
        None => parse_with_html5ever(text, limits, budget),
    }
}

/// Parses a text with html5ever, which accepts any text and keeps every attribute.
pub(super) fn parse_with_html5ever(
    text: &str,
    limits: &ReadLimits,
    budget: &mut WorkBudget,
) -> Parsed {
    let mut run = Run::new(text, limits, *budget);
    let stopped = run.feed_all().err();
    *budget = run.left;
    let watch = &run.tokenizer.sink;
    let inside = if watch.plaintext.get() {
        Some("plaintext".to_owned())
    } else {
        watch.raw.borrow().as_ref().map(|name| name.to_string())
    };
    let rest = stopped.map(|why| UnparsedRest {
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
    text: &'t str,
    /// End of the text that the parser has received.
    fed: usize,
    /// Start of the last token if it is text: the parser may be stopped inside text.
    text_at: Option<usize>,
    /// Number of tags that the scanner saw.
    tags: usize,
    /// Number of paid tokens.
    tokens: usize,
    left: WorkBudget,
    /// Cost of the gathered tags per open element.
    cost: usize,
    builder_steps: usize,
    /// Number of attributes of `<html>` and `<body>`, which the tree builder merges on one element
    /// each.
    merged: usize,
}

impl<'t> Run<'t> {
    fn new(text: &'t str, limits: &'t ReadLimits, left: WorkBudget) -> Self {
        let sink = HtmlTreeSink::new(Html::new_document());
        let watch = Watch {
            tree: TreeBuilder::new(sink, TreeBuilderOpts::default()),
            tags: Cell::new(0),
            tokens: Cell::new(0),
            raw: RefCell::new(None),
            plaintext: Cell::new(false),
        };
        Self {
            limits,
            scanner: Scanner::new(text, 0),
            tokenizer: Tokenizer::new(watch, TokenizerOpts::default()),
            queue: BufferQueue::default(),
            text,
            fed: 0,
            text_at: None,
            tags: 0,
            tokens: 0,
            left,
            cost: 0,
            builder_steps: 0,
            merged: 0,
        }
    }

    fn feed_all(&mut self) -> Result<(), ParserStop> {
        let mut piece = PIECE_BYTES;
        loop {
            if self.scanner.is_at_cdata() {
                self.feed_and_check()?;
                self.scanner.foreign = self.tokenizer.sink.in_foreign_content();
            }
            let before = self.scanner.at();
            let Some(token) = self.scanner.next() else {
                break;
            };
            if let Err(cut) = self.count(&token, before) {
                // The token that exceeds the limit belongs to the rest.
                self.feed(before);
                return Err(cut);
            }
            self.text_at = matches!(token, scanner::Token::Text(_)).then_some(before);
            let changes_state = matches!(token, scanner::Token::Start(tag) if tag.is(RAW_TEXT));
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

    /// Reads until the parser leaves raw text. A script may contain end tags that do not end it.
    fn through_raw_text(&mut self) -> Result<(), ParserStop> {
        loop {
            if self.tokenizer.sink.plaintext.get() {
                self.scanner = Scanner::new("", 0);
                return self.feed_text(self.text.len());
            }
            let Some(name) = self.tokenizer.sink.raw.borrow().clone() else {
                return Ok(());
            };
            self.scanner.raw(&name);
            let before = self.scanner.at();
            self.feed_text(before)?;
            let Some(token @ scanner::Token::End(_)) = self.scanner.next() else {
                return Ok(());
            };
            self.count(&token, before)?;
            self.feed(self.scanner.at());
            // An end tag that does not end the script is not a tag.
            self.tags = self.tokenizer.sink.tags.get();
        }
    }

    /// Counts the cost of a token before the parser sees it. The cost of text is known only after
    /// feeding.
    fn count(&mut self, token: &scanner::Token<'_>, before: usize) -> Result<(), ParserStop> {
        let tag = match token {
            scanner::Token::Text(_) => return Ok(()),
            scanner::Token::Start(tag) | scanner::Token::End(tag) => Some(tag),
            scanner::Token::Markup(_) => None,
        };
        let text = &self.text[before..self.scanner.at()];
        let names = tag.map_or(text.len(), |tag| tag.names);
        if !self
            .left
            .take(work_budget::of_markup(text) + names / NAME_STRIDE)
        {
            return Err(ParserStop::Effort);
        }
        tag.map_or(Ok(()), |tag| self.count_tag(tag))
    }

    fn count_tag(&mut self, tag: &Tag<'_>) -> Result<(), ParserStop> {
        // Compare the length first: every tag is tested for `html` and `body`.
        if tag.name.len() == 4 && tag.is(&["html", "body"]) {
            self.merged += tag.attributes;
        }
        if tag.attributes.max(self.merged) > self.limits.attributes {
            return Err(ParserStop::Attributes);
        }
        self.tags += 1;
        // The sorted attributes of a formatting element are compared with every open formatting
        // element.
        self.cost += 1 + tag.attributes * tag.attributes / 32;
        Ok(())
    }

    fn feed(&mut self, end: usize) {
        // Text nodes share a piece or copy a few bytes; the page as a whole is never copied.
        self.queue
            .push_back(StrTendril::from_slice(&self.text[self.fed..end]));
        self.fed = end;
        // Ignores scripts and encodings, which only browsers handle.
        while !matches!(self.tokenizer.feed(&self.queue), TokenizerResult::Done) {}
    }

    /// Feeds text piece by piece, within the budget.
    fn feed_text(&mut self, end: usize) -> Result<(), ParserStop> {
        while self.fed < end {
            let piece = self.fed..end.min(self.fed + PIECE_BYTES);
            let mut to = self.text.floor_char_boundary(piece.end);
            if to < end {
                let tail = to.saturating_sub(RAW_END_BYTES).max(piece.start + 1);
                let opens = self.text.as_bytes()[tail..to]
                    .iter()
                    .position(|&byte| byte == b'<');
                to = opens.map_or(to, |opens| tail + opens);
            }
            self.pay(to)?;
            self.feed(to);
        }
        self.pay(self.fed)
    }

    /// Pays for the tokens made so far and for the bytes fed next.
    fn pay(&mut self, to: usize) -> Result<(), ParserStop> {
        let tokens = self.tokenizer.sink.tokens.get();
        let text = &self.text[self.fed..to];
        let steps = tokens - std::mem::replace(&mut self.tokens, tokens)
            + text.len() / STRIDE
            + work_budget::of_references(text);
        if self.left.take(steps) {
            Ok(())
        } else {
            Err(ParserStop::Effort)
        }
    }

    /// Feeds the scanned text. Returns the number of open elements afterwards.
    fn feed_and_check(&mut self) -> Result<usize, ParserStop> {
        let end = self.scanner.at().max(self.fed);
        match self.text_at.take() {
            Some(text_at) if end - text_at > PIECE_BYTES => {
                self.feed(text_at.max(self.fed));
                self.feed_text(end)?;
            }
            _ => {
                self.pay(end)?;
                self.feed(end);
            }
        }
        self.pay(self.fed)?;
        let watch = &self.tokenizer.sink;
        let open = watch.open_elements();
        self.builder_steps += open * std::mem::take(&mut self.cost);
        if open > self.limits.depth {
            return Err(ParserStop::Depth);
        }
        if watch.nodes() > self.limits.nodes {
            return Err(ParserStop::Nodes);
        }
        if self.builder_steps > (STEPS_PER_BYTE * self.text.len()).clamp(MIN_STEPS, MAX_STEPS) {
            return Err(ParserStop::Effort);
        }
        // At the end of the text an unfinished tag is not a tag.
        if watch.tags.get() != self.tags && self.fed < self.text.len() {
            return Err(ParserStop::Disagreement);
        }
        Ok(open)
    }
}

/// Elements whose start tag may begin raw text.
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

/// A token sink between tokenizer and tree builder that records the tree builder's responses.
struct Watch {
    tree: TreeBuilder<NodeId, HtmlTreeSink>,
    tags: Cell<usize>,
    /// Number of tokens, including parse errors.
    tokens: Cell<usize>,
    /// Element whose raw text the tokenizer is reading.
    raw: RefCell<Option<LocalName>>,
    plaintext: Cell<bool>,
}

impl Watch {
    /// Returns the number of open elements and open formatting elements.
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
        self.tokens.set(self.tokens.get() + 1);
        let Token::TagToken(tag) = &token else {
            return self.tree.process_token(token, line);
        };
        self.tags.set(self.tags.get() + 1);
        let (kind, name) = (tag.kind, tag.name.clone());
        let response = self.tree.process_token(token, line);
        match (&response, kind) {
            (TokenSinkResult::RawData(_), _) => *self.raw.borrow_mut() = Some(name),
            (TokenSinkResult::Plaintext, _) => self.plaintext.set(true),
            (_, TagKind::EndTag) => *self.raw.borrow_mut() = None,
            _ => {}
        }
        response
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
