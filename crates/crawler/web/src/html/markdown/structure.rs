//! The structure of a page: events at positions of its text.

use html5ever::{local_name, ns};
use scraper::node::Element;

use crate::html::elements::attribute;
use crate::html::names::names;

/// The structure of a page.
///
/// Invariants: events are sorted by position, and nested like their elements. A block begins and
/// ends between two lines.
#[derive(Debug)]
pub(crate) struct Structure<'p> {
    events: Vec<Event>,
    /// Targets of links, as written in the page.
    targets: Vec<&'p str>,
    /// All preformatted text with its white space, and the ends of its blocks.
    raw: String,
    raw_ends: Vec<usize>,
    /// The programming languages of these blocks, as their classes name them.
    languages: Vec<Option<&'p str>>,
    /// The language that the last block without text names.
    language: Option<&'p str>,
    /// Open preformatted blocks; the outermost counts.
    preformatted: usize,
    max_raw: usize,
}

/// Start or end of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// Position in the text, in bytes.
    pub at: usize,
    pub form: Form,
    /// False for the end.
    pub begins: bool,
}

/// Form of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A block without a form of its own.
    Block,
    /// A line break within a paragraph.
    Break,
    Heading(u8),
    Quote,
    /// A list with bullets.
    Bullets,
    /// A numbered list that starts with this number.
    Numbers(u32),
    Item,
    /// A preformatted block, by number.
    Preformatted(usize),
    Table,
    Row,
    Cell,
    Inline(Inline),
}

/// Form of a part of a line. Between parts with the same ends, the outer one is the smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Inline {
    /// A link with this number.
    Link(usize),
    Strong,
    Emphasis,
    Code,
}

impl Inline {
    /// Returns true for two parts of the same form, even with different targets.
    pub(crate) fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl<'p> Structure<'p> {
    /// Creates a structure without events that keeps at most `max_raw` bytes of preformatted text.
    pub(crate) fn new(max_raw: usize) -> Self {
        Self {
            events: Vec::new(),
            targets: Vec::new(),
            raw: String::new(),
            raw_ends: Vec::new(),
            languages: Vec::new(),
            language: None,
            preformatted: 0,
            max_raw,
        }
    }

    /// Begins an element before the byte `at` of the text.
    pub(crate) fn begin(&mut self, element: &'p Element, at: usize) {
        let language = attribute(element, "class").and_then(language_of);
        self.language = language.or(self.language);
        let Some(mut form) = form_of(element) else {
            return;
        };
        match &mut form {
            Form::Inline(Inline::Link(number)) => {
                *number = self.targets.len();
                self.targets
                    .push(attribute(element, "href").unwrap_or_default());
            }
            Form::Preformatted(number) => {
                *number = self.raw_ends.len();
                self.preformatted += 1;
                if self.preformatted == 1 {
                    self.raw_ends.push(self.raw.len());
                    self.languages.push(self.language.take());
                } else {
                    form = Form::Block;
                }
            }
            Form::Break if self.preformatted > 0 => self.add_text("\n"),
            Form::Inline(Inline::Code) if self.preformatted > 0 => {
                if let Some(unnamed) = self.languages.last_mut().filter(|last| last.is_none()) {
                    *unnamed = self.language.take();
                }
            }
            _ => {}
        }
        self.push(at, form, true);
    }

    /// Ends an element before the byte `at` of the text.
    pub(crate) fn end(&mut self, element: &Element, at: usize) {
        self.language = None;
        let Some(mut form) = form_of(element) else {
            return;
        };
        if form == Form::Break {
            return;
        }
        if let Form::Preformatted(number) = &mut form {
            self.preformatted -= 1;
            if self.preformatted == 0 {
                *number = self.raw_ends.len() - 1;
                self.raw_ends[*number] = self.raw.len();
            } else {
                form = Form::Block;
            }
        }
        self.push(at, form, false);
    }

    /// Adds text, and preserves its white space if it is preformatted.
    pub(crate) fn add_text(&mut self, text: &str) {
        if self.preformatted > 0 {
            let room = self.max_raw.saturating_sub(self.raw.len());
            self.raw
                .push_str(&text[..text.floor_char_boundary(room.min(text.len()))]);
        }
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the target of a link.
    pub(crate) fn target(&self, number: usize) -> &'p str {
        self.targets.get(number).copied().unwrap_or_default()
    }

    /// Returns the text of a preformatted block with its white space.
    pub(crate) fn raw(&self, number: usize) -> &str {
        let end = |number: usize| self.raw_ends.get(number).copied();
        let start = number.checked_sub(1).and_then(end).unwrap_or_default();
        &self.raw[start..end(number).unwrap_or(self.raw.len()).max(start)]
    }

    /// Returns the programming language of a preformatted block.
    pub(crate) fn language(&self, number: usize) -> Option<&'p str> {
        self.languages.get(number).copied().flatten()
    }

    fn push(&mut self, at: usize, form: Form, begins: bool) {
        self.events.push(Event { at, form, begins });
    }
}

/// Returns the programming language in a class: `language-rust` (HTML standard, section 4.5.15),
/// `highlight-python3` of Sphinx, `highlight-source-c` of GitHub, `sourceCode haskell` of Pandoc.
fn language_of(class: &str) -> Option<&str> {
    const PREFIXES: &[&str] = &["language-", "lang-", "highlight-source-", "highlight-"];
    const NO_LANGUAGES: &[&str] = &[
        "default",
        "none",
        "text",
        "plain",
        "plaintext",
        "notranslate",
    ];
    const MAX_BYTES: usize = 24;
    let mut names = class.split_ascii_whitespace();
    let mut after_word = names
        .clone()
        .skip_while(|name| *name != "sourceCode")
        .skip(1);
    let prefixed =
        names.find_map(|name| PREFIXES.iter().find_map(|start| name.strip_prefix(start)));
    let name = prefixed.or_else(|| after_word.next())?;
    let is_name = name.len() <= MAX_BYTES
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte));
    let name = if name == "python3" { "python" } else { name };
    (is_name && !NO_LANGUAGES.contains(&name)).then_some(name)
}

/// Returns the form of an element; `None` if its text has no form of its own.
fn form_of(element: &Element) -> Option<Form> {
    if element.name.ns != ns!(html) {
        return None;
    }
    Some(match element.name.local {
        local_name!("br") => Form::Break,
        local_name!("h1") => Form::Heading(1),
        local_name!("h2") => Form::Heading(2),
        local_name!("h3") => Form::Heading(3),
        local_name!("h4") => Form::Heading(4),
        local_name!("h5") => Form::Heading(5),
        local_name!("h6") => Form::Heading(6),
        local_name!("blockquote") => Form::Quote,
        names!["ul" "menu" "dir"] => Form::Bullets,
        local_name!("ol") => {
            let first = attribute(element, "start").and_then(|start| start.trim().parse().ok());
            Form::Numbers(first.unwrap_or(1))
        }
        local_name!("li") => Form::Item,
        names!["pre" "listing" "xmp"] => Form::Preformatted(0),
        local_name!("table") => Form::Table,
        local_name!("tr") => Form::Row,
        names!["td" "th"] => Form::Cell,
        names!["b" "strong"] => Form::Inline(Inline::Strong),
        names!["i" "em" "cite" "dfn" "var"] => Form::Inline(Inline::Emphasis),
        names!["code" "kbd" "samp" "tt"] => Form::Inline(Inline::Code),
        local_name!("a") if attribute(element, "href").is_some() => Form::Inline(Inline::Link(0)),
        names![
            "address" "article" "aside" "body" "caption" "center" "dd" "details" "dialog" "div"
            "dl" "dt" "fieldset" "figcaption" "figure" "footer" "form" "header" "hgroup" "hr"
            "legend" "main" "nav" "p" "plaintext" "section" "summary" "tbody" "tfoot" "thead"
        ] => Form::Block,
        _ => return None,
    })
}
