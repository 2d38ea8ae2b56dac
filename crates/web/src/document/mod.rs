//! A body, read: text, title, language, links, directives.
//!
//! [`read`] cannot fail. A page may be encoded wrongly, be built to break its reader, or be no page at all;
//! what can be read of it is read, and what had to be capped or repaired is noted as an [`Oddity`].
//!
//! Sources: the HTML standard for tokens, trees and encodings; DESIGN, "The verdict", for what a page is
//! judged by.

mod charset;
mod content;
mod directives;
mod elements;
mod language;
mod links;
mod media;
mod names;
mod place;
mod regions;
mod scan;
mod signs;
mod text;
mod tree;
mod trunk;
mod walk;

pub use content::MIN_MAIN_WORDS;
pub use directives::Directives;
pub use links::Link;
pub use media::{Media, essence};
pub use tree::Cut;

use crate::{CanonicalForm, PageUrl};
use walk::Walk;

/// What is known of a body beside its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Hints<'a> {
    /// Where it came from: links are relative to it.
    pub url: &'a PageUrl,
    /// The value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The values of `X-Robots-Tag`.
    pub x_robots_tag: &'a [&'a str],
    /// The crawler's product token, for directives that name it.
    pub agent: &'a str,
}

/// How much of a page is read. How large a body is, is its reader's limit, not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Links to different pages.
    pub links: usize,
    /// Open elements at one time, open formatting elements counted twice.
    pub depth: usize,
    /// Attributes of one tag.
    pub attributes: usize,
    /// Nodes of the tree.
    pub nodes: usize,
    /// Characters of a title.
    pub title_chars: usize,
    /// Characters of the words of a link.
    pub anchor_chars: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            links: 10_000,
            depth: 512,
            attributes: 1_000,
            nodes: 500_000,
            title_chars: 1_000,
            anchor_chars: 200,
        }
    }
}

/// A body, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What kind of document it is.
    pub media: Media,
    /// The name of its encoding in the Encoding standard; empty for [`Media::Other`].
    pub charset: &'static str,
    /// The primary subtag of its language, `en`: declared, or recognised from its text.
    pub language: Option<String>,
    /// Its title, white space folded.
    pub title: Option<String>,
    /// What it is judged by: the main content where there is enough of it, else all of it. A block a line.
    pub text: String,
    /// Whether [`Document::text`] is the page's own.
    pub own: Own,
    /// Where it leads, each page once, in the order of the page; not to itself.
    pub links: Vec<Link>,
    /// What it asks crawlers to do.
    pub directives: Directives,
    /// The address that it says it should have.
    pub canonical: Option<PageUrl>,
    /// What was capped or repaired.
    pub oddities: Vec<Oddity>,
    /// The whole page where [`Document::text`] is a part of it.
    full: Option<String>,
}

/// How much of the text that a page is judged by is its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Own {
    /// It is the main content, or most of it is.
    Main,
    /// The main content has less than [`MIN_MAIN_WORDS`] words and is less than half of the page: the text is
    /// all of the page and mostly its frame. Two such pages are alike only if their own texts are equal.
    PageFallback {
        /// The main content.
        own_text: String,
    },
}

/// Something that had to be capped or repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Oddity {
    /// Some bytes mean nothing in the page's encoding.
    Undecodable,
    /// The tree ends early; what follows was read without one.
    Parsing(Cut),
    /// There are more links than [`ReadLimits::links`]: the first ones were kept.
    TooManyLinks,
}

impl Document {
    /// All visible text of the page, a block a line.
    #[must_use]
    pub fn full_text(&self) -> &str {
        self.full.as_deref().unwrap_or(&self.text)
    }

    /// The page's own text: what [`Own::PageFallback`] has beside, or the text itself.
    #[must_use]
    pub fn own_text(&self) -> &str {
        match &self.own {
            Own::Main => &self.text,
            Own::PageFallback { own_text } => own_text,
        }
    }

    fn unread(media: Media) -> Self {
        Self {
            media,
            charset: "",
            language: None,
            title: None,
            text: String::new(),
            own: Own::Main,
            links: Vec::new(),
            directives: Directives::default(),
            canonical: None,
            oddities: Vec::new(),
            full: None,
        }
    }
}

/// Reads a body whose content coding was taken off.
#[must_use]
pub fn read(body: &[u8], hints: &Hints<'_>, form: &CanonicalForm, limits: &ReadLimits) -> Document {
    let mut document = Document::unread(Media::of(hints.content_type, body));
    for value in hints.x_robots_tag {
        document.directives.add_header(value, hints.agent);
    }
    if document.media == Media::Other {
        return document;
    }
    let decoded = charset::decode(body, hints.content_type, top_level_domain(hints.url));
    document.charset = decoded.charset;
    if decoded.repaired {
        document.oddities.push(Oddity::Undecodable);
    }
    if document.media == Media::Html {
        document.read_page(&decoded.text, hints, form, limits);
    } else {
        document.text = decoded.text.into_owned();
    }
    if document.language.is_none() {
        document.language = language::of_text(&document.text);
    }
    document
}

impl Document {
    fn read_page(&mut self, text: &str, hints: &Hints<'_>, form: &CanonicalForm, limits: &ReadLimits) {
        let (markup, unscripted);
        let parsed = tree::parse(text, limits);
        let mut walk = Walk::new(hints.agent, limits, text.len() / 4);
        walk.directives = self.directives;
        walk.tree(parsed.html.tree.root());
        if let Some(rest) = &parsed.rest {
            self.oddities.push(Oddity::Parsing(rest.why));
            walk.rest(text, rest);
        }
        if walk.lines.words() < MIN_MAIN_WORDS && !walk.unscripted.is_empty() {
            // All of the page is made by scripts, but for what it has for readers without.
            markup = std::mem::take(&mut walk.unscripted);
            unscripted = tree::parse(&markup, limits);
            walk.tree(unscripted.html.tree.root());
            if let Some(rest) = &unscripted.rest {
                walk.rest(&markup, rest);
            }
        }
        let resolved = walk.references.resolve(hints.url, form, limits);
        let texts = content::finish(walk.lines);
        self.title = walk.title;
        self.language = walk.language;
        self.directives = walk.directives;
        self.links = resolved.links;
        self.canonical = resolved.canonical;
        self.oddities.extend(resolved.oddity);
        self.text = texts.text;
        self.full = texts.full;
        self.own = texts.own;
    }
}

/// The last label of a host's name; nothing for an address.
fn top_level_domain(url: &PageUrl) -> Option<&str> {
    url.as_url().domain()?.rsplit('.').next()
}
