//! One-pass HTML parsing for pages with well-formed tags.
//!
//! A tree builder is needed mainly for pages whose tags are missing, crossed or misplaced. Other
//! pages need only a stack. So the fast path reads a page first; at anything that only the tree
//! builder can decide, its tree is discarded and the page is parsed. `docs/measurements/cost.md`
//! lists the costs and the gain.
//!
//! Invariant: the fast path returns the same tree as html5ever, or none. Each tag is handled as the
//! HTML standard's section 13.2.6 requires under these conditions, and a violation ends the
//! attempt: the document type is `html`; `html`, `head` and `body` have their tags; an end tag ends
//! the last opened element, except for elements with implied ends; a formatting element is closed
//! before its parent, so that it is never rebuilt; a table contains only its parts. A property test
//! and every page of the other tests compare it with the parser.
//!
//! Some unused attributes are omitted. Names with the prefix `data-` would each become an entry in
//! a table shared by all threads; only the few names of lazy loaders are kept. In SVG, the
//! attributes of shapes are omitted, because the tree builder changes the spelling of many.

mod nodes;
pub(in crate::html) mod role;
mod tags;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use ego_tree::NodeId;
use html5ever::tendril::StrTendril;
use html5ever::{LocalName, local_name};
use scraper::node::Doctype;
use scraper::{Html, Node};

use self::role::Role;
use crate::html::limits::ReadLimits;
use crate::html::names::names;
use crate::html::scanner::{Scanner, Tag, Token};
use crate::html::work_budget::{self, WorkBudget};

/// Maximum length of a page; a longer one is not copied but parsed piece by piece.
const MAX_BYTES: usize = 2 << 20;

/// Maximum number of attributes of a tag; the parser compares and counts more.
const MAX_ATTRIBUTES: usize = 64;

/// Bytes of text read in the time of one token, as charged for the parser.
const STRIDE: usize = 32;

/// The same for names.
const NAME_STRIDE: usize = 8;

/// Returns the tree of a page within the limits, and takes its steps from the budget. Returns
/// `None`, and takes no steps, if only the parser can read the page.
pub(crate) fn read(text: &str, limits: &ReadLimits, budget: &mut WorkBudget) -> Option<Html> {
    if text.len() > MAX_BYTES || text.starts_with('\u{feff}') || has_special_bytes(text) {
        return None;
    }
    let mut reader = Reader {
        limits,
        budget: *budget,
        text,
        page: StrTendril::from_slice(text),
        scanner: Scanner::new(text, 0),
        html: Html::new_document(),
        nodes: 1,
        open: Vec::with_capacity(32),
        formatting: 0,
        paragraphs: 0,
        selects: 0,
        form: None,
        at_start: false,
    };
    reader.page()?;
    *budget = reader.budget;
    Some(reader.html)
}

/// Returns true if there is a byte that a tokenizer replaces: a carriage return or a NUL.
fn has_special_bytes(text: &str) -> bool {
    // Avoids a branch for each byte, so that one instruction compares many.
    let mut pieces = text.as_bytes().chunks(256);
    pieces.any(|piece| {
        let special =
            |found: u8, &byte: &u8| found | u8::from(byte == b'\r') | u8::from(byte == b'\0');
        piece.iter().fold(0, special) != 0
    })
}

struct Reader<'t> {
    limits: &'t ReadLimits,
    budget: WorkBudget,
    text: &'t str,
    /// The same text as a tendril, whose parts can be shared.
    page: StrTendril,
    scanner: Scanner<'t>,
    html: Html,
    nodes: usize,
    /// Open elements.
    open: Vec<Open>,
    /// Number of open formatting elements.
    formatting: usize,
    /// Number of open paragraphs.
    paragraphs: usize,
    /// Number of open selections.
    selects: usize,
    /// The open form.
    form: Option<NodeId>,
    /// True if a following line feed is not part of the text.
    at_start: bool,
}

struct Open {
    id: NodeId,
    name: LocalName,
    role: Role,
}

impl<'t> Reader<'t> {
    fn page(&mut self) -> Option<()> {
        let root = self.html.tree.root().id();
        self.doctype(root)?;
        self.open_frame(root, local_name!("html"), false)?;
        let html = self.current().id;
        self.open_frame(html, local_name!("head"), false)?;
        self.head()?;
        self.open_frame(html, local_name!("body"), true)?;
        self.body()?;
        self.after_body(root)
    }

    /// Reads the next token and pays for it.
    fn next(&mut self) -> Option<Option<Token<'t>>> {
        let before = self.scanner.at();
        let Some(token) = self.scanner.next() else {
            return Some(None);
        };
        let steps = match &token {
            Token::Text(text) => 1 + text.len() / STRIDE + work_budget::of_references(text),
            Token::Start(tag) | Token::End(tag) => {
                if !tag.is_whole || tag.attributes > self.limits.attributes.min(MAX_ATTRIBUTES) {
                    return None;
                }
                2 + work_budget::of_markup(self.scanner.since(before)) + tag.names / NAME_STRIDE
            }
            Token::Markup(markup) => {
                1 + work_budget::of_markup(markup) + markup.len() / NAME_STRIDE
            }
        };
        self.pay(steps)?;
        Some(Some(token))
    }

    fn pay(&mut self, steps: usize) -> Option<()> {
        self.budget.take(steps).then_some(())
    }

    fn doctype(&mut self, root: NodeId) -> Option<()> {
        loop {
            match self.next()?? {
                Token::Text(text) if is_space(text) => {}
                Token::Markup(markup) if markup.eq_ignore_ascii_case("<!doctype html>") => {
                    let doctype = Doctype {
                        name: StrTendril::from_slice("html"),
                        public_id: StrTendril::new(),
                        system_id: StrTendril::new(),
                    };
                    self.append(root, Node::Doctype(doctype))?;
                    return Some(());
                }
                Token::Markup(markup) => self.comment(root, markup)?,
                _ => return None,
            }
        }
    }

    /// Reads to after the start tag of `html`, `head` or `body`.
    fn open_frame(&mut self, parent: NodeId, name: LocalName, keeps_space: bool) -> Option<()> {
        loop {
            match self.next()?? {
                Token::Text(text) if is_space(text) => {
                    if keeps_space {
                        self.append_text(text)?;
                    }
                }
                Token::Markup(markup) => self.comment(parent, markup)?,
                Token::Start(tag) if name_of(&tag) == name => {
                    let id = self.element(parent, &name, &tag)?;
                    return self.push(id, name, Role::Unsupported);
                }
                _ => return None,
            }
        }
    }

    /// Reads to after `</head>`.
    fn head(&mut self) -> Option<()> {
        loop {
            match self.next()?? {
                Token::Text(text) if is_space(text) => self.append_text(text)?,
                Token::Markup(markup) => self.comment(self.current().id, markup)?,
                Token::Start(tag) => {
                    let name = name_of(&tag);
                    match name {
                        names!["meta" "link" "base"] => {
                            self.void(&name, &tag)?;
                        }
                        names!["title" "style" "script" "noscript"] => self.raw(&name, &tag)?,
                        _ => return None,
                    }
                }
                Token::End(tag) if tag.is(&["head"]) => break,
                _ => return None,
            }
        }
        self.pop();
        Some(())
    }

    /// Reads to after `</body>`, or to the end.
    fn body(&mut self) -> Option<()> {
        loop {
            let Some(token) = self.next()? else {
                return Some(());
            };
            match token {
                Token::Text(text) => self.content(text)?,
                Token::Markup(markup) => {
                    self.at_start = false;
                    self.comment(self.current().id, markup)?;
                }
                Token::Start(tag) => {
                    self.at_start = false;
                    self.start(&tag)?;
                }
                Token::End(tag) => {
                    self.at_start = false;
                    let name = name_of(&tag);
                    if name == local_name!("body") {
                        return (self.current().name == name).then_some(());
                    }
                    self.end(&name)?;
                }
            }
        }
    }

    fn after_body(&mut self, root: NodeId) -> Option<()> {
        // Comments follow the body; after the end of the page they follow the page.
        let mut parent = self.open.first()?.id;
        loop {
            let Some(token) = self.next()? else {
                return Some(());
            };
            match token {
                Token::Text(text) if is_space(text) => self.append_text(text)?,
                Token::Markup(markup) => self.comment(parent, markup)?,
                Token::End(tag) if parent != root && tag.is(&["html"]) => parent = root,
                _ => return None,
            }
        }
    }

    fn content(&mut self, text: &'t str) -> Option<()> {
        let mut text = text;
        if std::mem::take(&mut self.at_start) {
            if text.starts_with('&') {
                return None;
            }
            text = text.strip_prefix('\n').unwrap_or(text);
        }
        if self.current().role.is_part_of_table() && !is_space(text) {
            return None;
        }
        self.append_text(text)
    }
}

/// Returns true for white space of the tokenizer.
fn is_space(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'\t' | b'\n' | b'\x0c' | b' '))
}

fn name_of(tag: &Tag<'_>) -> LocalName {
    LocalName::from(lower(tag.name))
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}
