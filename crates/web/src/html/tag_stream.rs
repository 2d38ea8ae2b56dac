//! What stands in a text, tag by tag, where there is no tree: what is inert is passed over, what is
//! raw text is not taken for tags, what is a drawing is told from a page.
//!
//! It knows as much of the tree builder (HTML standard, section 13.2.6) as tells where a link is
//! one: templates, selections, SVG and MathML with what breaks out of them. A property test holds
//! it to the tree builder.

use crate::html::link_attributes::Namespace;
use crate::html::scanner::{Scanner, Tag, Token};
use crate::html::work_budget::{self, WorkBudget};

/// A part of the text that is not inert.
#[derive(Debug)]
pub(crate) enum StreamPiece<'t> {
    /// Text; whether a reader sees it.
    Text(&'t str, bool),
    /// A start tag; whether a reader sees what is around it.
    Start(Tag<'t>, TagName, Namespace, bool),
    /// An element whose content is no markup, and this content.
    Raw(Tag<'t>, TagName, &'t str),
    /// An end tag, likewise.
    End(TagName, bool),
}

/// A tag's name in lower case; nothing for names longer than all that mean something.
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

/// Elements of SVG and MathML that are open and that matter, at most; deeper ones are not told
/// apart.
const MOST_FOREIGN: usize = 64;

/// Reads a text piece by piece, as far as the effort goes.
#[derive(Debug)]
pub(crate) struct TagStream<'t> {
    scanner: Scanner<'t>,
    /// What is left of the effort.
    budget: WorkBudget,
    /// Open templates, the outermost of which is inert, and so is all in it.
    templates: usize,
    /// Open templates that are shadow roots: they are shown.
    shadows: usize,
    in_select: bool,
    /// The open roots of drawings and formulas, and what is HTML again inside of them.
    foreign: Vec<(TagName, Namespace)>,
}

impl<'t> TagStream<'t> {
    /// From `at` on; `inside` is the element whose raw text is there.
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
            shadows: 0,
            in_select: false,
            foreign: Vec::new(),
        }
    }

    /// The next piece, as far as this effort goes, from which others may take too.
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
        !self.in_select && self.shadows == 0 && !in_drawing
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
                if self.templates > 0 || !is_shadow_root(&tag) {
                    self.templates += 1;
                } else {
                    self.shadows += 1;
                }
                return None;
            }
            _ => {
                let is_visible = self.is_visible();
                self.in_select |= name.as_str() == "select" && space == Namespace::Html;
                self.enter_foreign(name, &tag);
                StreamPiece::Start(tag, name, space, is_visible)
            }
        };
        (self.templates == 0).then_some(piece)
    }

    /// Whether a start tag is one in a selection; some end it.
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
        if !tag.closes_itself && self.foreign.len() < MOST_FOREIGN {
            self.foreign.push((name, inside));
        }
    }

    fn end(&mut self, tag: &Tag<'t>) -> Option<StreamPiece<'t>> {
        let name = TagName::of(tag);
        match name.as_str() {
            "template" if self.templates > 0 => self.templates -= 1,
            "template" => self.shadows = self.shadows.saturating_sub(1),
            "select" => self.in_select = false,
            found => {
                if let Some(at) = self
                    .foreign
                    .iter()
                    .rposition(|(open, _)| open.as_str() == found)
                {
                    self.foreign.truncate(at);
                } else if matches!(found, "p" | "br") && self.space() != Namespace::Html {
                    // These two break out like start tags.
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
                // At the end of the text an unfinished tag is none.
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

/// A template that is attached as a shadow root is shown (HTML standard, "declarative shadow
/// roots").
fn is_shadow_root(tag: &Tag<'_>) -> bool {
    tag.value("shadowrootmode")
        .is_some_and(|mode| is_shadow_mode(&mode))
}

/// Whether a `shadowrootmode` makes a shadow root.
pub(crate) fn is_shadow_mode(mode: &str) -> bool {
    mode.eq_ignore_ascii_case("open") || mode.eq_ignore_ascii_case("closed")
}

fn is_page(coding: &str) -> bool {
    coding.eq_ignore_ascii_case("text/html") || coding.eq_ignore_ascii_case("application/xhtml+xml")
}

/// Tags that end all open drawings and formulas (HTML standard, section 13.2.6.5).
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
