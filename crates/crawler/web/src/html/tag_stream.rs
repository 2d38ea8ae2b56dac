//! A stream of tags and text without a tree. It skips inert content, does not mistake raw text for
//! tags, and distinguishes drawings from pages.
//!
//! It implements the parts of the tree builder (HTML standard, section 13.2.6) that affect the
//! existence of a link: templates, selections, and SVG and MathML with the tags that break out of
//! them. A property test compares it with the tree builder.

use crate::html::link_attributes::Namespace;
use crate::html::scanner::{Scanner, Tag, Token};
use crate::html::work_budget::{self, WorkBudget};

/// A part of the text that is not inert.
#[derive(Debug)]
pub(crate) enum StreamPiece<'t> {
    /// Text, and true if it is visible.
    Text(&'t str, bool),
    /// A start tag with its name and namespace, and true if its surroundings are visible.
    Start(Tag<'t>, TagName, Namespace, bool),
    /// An element whose content is raw text, and this content.
    Raw(Tag<'t>, TagName, &'t str),
    /// A start tag of HTML in a template, which only scripts show.
    Inert(Tag<'t>, TagName),
    /// An end tag, and true if its surroundings are visible.
    End(TagName, bool),
}

/// A tag's name in lower case; empty if it is longer than all known names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TagName {
    letters: [u8; Self::LONGEST],
    length: usize,
}

impl TagName {
    const LONGEST: usize = 16;

    pub(crate) fn of(tag: &Tag<'_>) -> Self {
        let mut letters = [0; Self::LONGEST];
        let mut length = 0;
        if let Some(place) = letters.get_mut(..tag.name.len()) {
            place.copy_from_slice(tag.name.as_bytes());
            place.make_ascii_lowercase();
            length = place.len();
        }
        Self { letters, length }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.letters[..self.length]).unwrap_or_default()
    }
}

/// Maximum number of relevant open elements of SVG and MathML; deeper ones are not tracked.
const MAX_FOREIGN: usize = 64;

/// A reader of a text piece by piece, within its budget.
#[derive(Debug)]
pub(crate) struct TagStream<'t> {
    scanner: Scanner<'t>,
    /// Remaining steps.
    budget: WorkBudget,
    /// Number of open templates; content of the outermost is inert.
    templates: usize,
    in_select: bool,
    /// Open roots of SVG and MathML, and the HTML integration points inside them.
    foreign: Vec<(TagName, Namespace)>,
}

impl<'t> TagStream<'t> {
    /// Creates a stream from `at` on; `inside` is the element whose raw text begins there.
    pub(crate) fn new(text: &'t str, at: usize, inside: Option<&str>, budget: WorkBudget) -> Self {
        let mut scanner = Scanner::new(text, at);
        match inside {
            Some("plaintext") => _ = scanner.plain(),
            Some(name) => _ = scanner.raw(name),
            None => {}
        }
        Self {
            scanner,
            budget,
            templates: 0,
            in_select: false,
            foreign: Vec::new(),
        }
    }

    /// Returns the next piece, within a shared budget.
    pub(crate) fn next_within(&mut self, budget: &mut WorkBudget) -> Option<StreamPiece<'t>> {
        self.budget = *budget;
        let piece = self.next();
        *budget = self.budget;
        piece
    }

    fn space(&self) -> Namespace {
        self.foreign
            .last()
            .map_or(Namespace::Html, |&(_, space)| space)
    }

    fn is_visible(&self) -> bool {
        let in_drawing = self
            .foreign
            .iter()
            .any(|&(_, space)| space == Namespace::Svg);
        !self.in_select && !in_drawing
    }

    fn start(&mut self, tag: Tag<'t>) -> Option<StreamPiece<'t>> {
        let name = TagName::of(&tag);
        if self.in_select && !self.goes_on_in_select(name.as_str()) {
            return None;
        }
        if self.space() != Namespace::Html && breaks_out(name.as_str(), &tag) {
            while self.space() != Namespace::Html {
                self.foreign.pop();
            }
        }
        let space = self.space();
        let piece = match (name.as_str(), space) {
            ("plaintext", Namespace::Html) => {
                StreamPiece::Text(self.scanner.plain(), self.is_visible())
            }
            ("script", Namespace::Html) => StreamPiece::Raw(tag, name, self.scanner.script()),
            (
                "style" | "textarea" | "title" | "iframe" | "xmp" | "noembed" | "noframes"
                | "noscript",
                Namespace::Html,
            ) => StreamPiece::Raw(tag, name, self.scanner.raw(tag.name)),
            ("template", Namespace::Html) => {
                self.templates += usize::from(self.templates > 0 || !is_shadow_root(&tag));
                return None;
            }
            _ => {
                let is_visible = self.is_visible();
                self.in_select |= name.as_str() == "select" && space == Namespace::Html;
                self.enter_foreign(name, &tag);
                StreamPiece::Start(tag, name, space, is_visible)
            }
        };
        match piece {
            piece if self.templates == 0 => Some(piece),
            StreamPiece::Start(tag, name, Namespace::Html, _) => {
                Some(StreamPiece::Inert(tag, name))
            }
            _ => None,
        }
    }

    /// Returns true if a start tag is valid in a selection; some tags also end it.
    fn goes_on_in_select(&mut self, name: &str) -> bool {
        match name {
            "option" | "optgroup" | "script" | "template" => true,
            "input" | "textarea" | "keygen" => {
                self.in_select = false;
                true
            }
            "select" => {
                self.in_select = false;
                false
            }
            _ => false,
        }
    }

    fn enter_foreign(&mut self, name: TagName, tag: &Tag<'t>) {
        let inside = match (name.as_str(), self.space()) {
            ("svg", _) => Namespace::Svg,
            ("math", _) => Namespace::MathMl,
            ("foreignobject" | "desc" | "title", Namespace::Svg)
            | ("mi" | "mo" | "mn" | "ms" | "mtext", Namespace::MathMl) => Namespace::Html,
            ("annotation-xml", Namespace::MathMl)
                if tag.value("encoding").is_some_and(|coding| is_page(&coding)) =>
            {
                Namespace::Html
            }
            _ => return,
        };
        if !tag.closes_itself && self.foreign.len() < MAX_FOREIGN {
            self.foreign.push((name, inside));
        }
    }

    fn end(&mut self, tag: &Tag<'t>) -> Option<StreamPiece<'t>> {
        let name = TagName::of(tag);
        match name.as_str() {
            "template" if self.templates > 0 => self.templates -= 1,
            // The end of a shadow root.
            "template" => {}
            "select" => self.in_select = false,
            found => {
                if let Some(at) = self
                    .foreign
                    .iter()
                    .rposition(|(open, _)| open.as_str() == found)
                {
                    self.foreign.truncate(at);
                } else if matches!(found, "p" | "br") && self.space() != Namespace::Html {
                    // These two end tags break out like start tags.
                    while self.space() != Namespace::Html {
                        self.foreign.pop();
                    }
                }
            }
        }
        (self.templates == 0).then_some(StreamPiece::End(name, self.is_visible()))
    }
}

impl<'t> Iterator for TagStream<'t> {
    type Item = StreamPiece<'t>;

    fn next(&mut self) -> Option<StreamPiece<'t>> {
        loop {
            if self.budget.is_spent() {
                return None;
            }
            self.scanner.foreign = self.space() != Namespace::Html;
            let before = self.scanner.at();
            let token = self.scanner.next()?;
            let steps = match token {
                Token::Text(text) => work_budget::of_text(text),
                Token::Start(tag) => {
                    work_budget::of_markup(self.scanner.since(before)) + tag.attributes
                }
                Token::End(_) | Token::Markup(_) => {
                    work_budget::of_markup(self.scanner.since(before))
                }
            };
            if !self.budget.take(steps) {
                return None;
            }
            let piece = match token {
                Token::Text(text) => {
                    (self.templates == 0).then(|| StreamPiece::Text(text, self.is_visible()))
                }
                // At the end of the text an unfinished tag is not a tag.
                Token::Start(tag) | Token::End(tag) if !tag.is_whole => None,
                Token::Start(tag) => self.start(tag),
                Token::End(tag) => self.end(&tag),
                Token::Markup(_) => None,
            };
            if let Some(StreamPiece::Raw(_, _, content)) = piece {
                self.budget.take(work_budget::of_raw(content));
            }
            if piece.is_some() {
                return piece;
            }
        }
    }
}

/// Returns true for a template that is attached as a shadow root, which is shown (HTML standard,
/// "declarative shadow roots").
fn is_shadow_root(tag: &Tag<'_>) -> bool {
    tag.value("shadowrootmode")
        .is_some_and(|mode| is_shadow_mode(&mode))
}

/// Returns true if a `shadowrootmode` makes a shadow root.
pub(crate) fn is_shadow_mode(mode: &str) -> bool {
    mode.eq_ignore_ascii_case("open") || mode.eq_ignore_ascii_case("closed")
}

fn is_page(coding: &str) -> bool {
    coding.eq_ignore_ascii_case("text/html") || coding.eq_ignore_ascii_case("application/xhtml+xml")
}

/// Returns true for tags that end all open SVG and MathML (HTML standard, section 13.2.6.5).
fn breaks_out(name: &str, tag: &Tag<'_>) -> bool {
    match name {
        "b" | "big" | "blockquote" | "body" | "br" | "center" | "code" | "dd" | "div" | "dl"
        | "dt" | "em" | "embed" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "head" | "hr" | "i"
        | "img" | "li" | "listing" | "menu" | "meta" | "nobr" | "ol" | "p" | "pre" | "ruby"
        | "s" | "small" | "span" | "strong" | "strike" | "sub" | "sup" | "table" | "tt" | "u"
        | "ul" | "var" => true,
        "font" => ["color", "face", "size"]
            .iter()
            .any(|name| tag.value(name).is_some()),
        _ => false,
    }
}
