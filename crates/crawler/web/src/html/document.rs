//! The parsed form of a body.

use std::collections::BTreeMap;

use crate::html::audit_fields::AuditFields;
use crate::html::directives::Directives;
use crate::html::limits::ParserStop;
use crate::html::link::Link;
use crate::html::page_fields::PageFields;
use crate::html::page_kind::PageKind;
use crate::html::pdf_content::PdfFailure;
use crate::http::media_type::Media;
use crate::url::page_url::PageUrl;

/// The result of reading a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The kind of document.
    pub media: Media,
    /// Name of its encoding in the Encoding standard: UTF-8 for a PDF; empty for
    /// [`Media::Other`].
    pub charset: &'static str,
    /// Primary subtag of its language, `en`: declared, or detected from its text.
    pub language: Option<String>,
    /// Percentage of the text in this language; `None` if the text is too short to tell, or the
    /// declared language cannot be detected.
    pub language_confidence: Option<u8>,
    /// Its title with folded white space.
    pub title: Option<String>,
    /// The first `<h1>` outside the site's boilerplate, else the first heading there, with folded
    /// white space; capped like a title.
    pub heading: Option<String>,
    /// The main content if there is enough of it or the page marks it, otherwise all text; one
    /// block per line.
    pub text: String,
    /// The share of [`Document::text`] that is the page's own.
    pub own: MainContent,
    /// True if the page has a script that browsers run.
    pub has_scripts: bool,
    /// True if the page has such a script, and next to no text without it: fewer than
    /// [`MIN_MAIN_WORDS`](crate::MIN_MAIN_WORDS) words outside `noscript`, and inside it.
    pub needs_scripts: bool,
    /// Links, in document order, each target once, without links to the page itself.
    pub links: Vec<Link>,
    /// Number of links that are missing from `links`.
    pub lost_links: LostLinks,
    /// Its requests to crawlers.
    pub directives: Directives,
    /// The canonical URL that it declares.
    pub canonical: Option<PageUrl>,
    /// Its kind, if it is HTML and [`ReadLimits::fields`](crate::ReadLimits::fields) asks for it.
    pub kind: Option<PageKind>,
    /// Its statements about itself, if [`ReadLimits::fields`](crate::ReadLimits::fields) asks for
    /// them. Only the part of the page in the tree is searched.
    pub fields: PageFields,
    /// Values of the user's selectors by the names of their fields, likewise.
    pub own_fields: BTreeMap<String, String>,
    /// The parts that an audit checks, if [`ReadLimits::audit`](crate::ReadLimits::audit) asks for
    /// them. Only the part of the page in the tree is searched.
    pub audit: AuditFields,
    /// The parts that were capped or repaired.
    pub warnings: Vec<ParseWarning>,
    /// Text of the whole page, if [`Document::text`] is a part of it.
    pub(super) full: Option<String>,
    /// [`Document::text`] as Markdown, if requested.
    pub(super) markdown: Option<String>,
    pub(super) compared: ComparedText,
    pub(super) compared_own: MainContent,
}

/// The share of a text that is the page's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MainContent {
    /// The text is the main content, or mostly so.
    Main,
    /// The main content has fewer than [`MIN_MAIN_WORDS`](crate::MIN_MAIN_WORDS) words and is less
    /// than half of the page: the text is the whole page, mostly frame. Two such pages are
    /// duplicates only if their main texts are equal.
    PageFallback {
        /// The main content.
        main_text: String,
    },
}

/// Numbers of links that were found on a page but not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostLinks {
    /// Links beyond [`ReadLimits::links`](crate::ReadLimits::links), each counted once; every
    /// occurrence counts beyond four times as many references.
    pub too_many: u64,
    /// Links whose URL is longer than [`MAX_URL_BYTES`](crate::MAX_URL_BYTES).
    pub too_long: u64,
}

/// A part of a page that was capped or repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParseWarning {
    /// Some bytes are invalid in the page's encoding.
    Undecodable,
    /// The tree ends early; the rest was read without one.
    Parsing(ParserStop),
    /// Reading the whole page would take too long: links and the last text may be missing.
    Unread,
    /// There is more text than [`ReadLimits::text`](crate::ReadLimits::text): the page is judged by
    /// its beginning.
    TooMuchText,
    /// There are more links than [`ReadLimits::links`](crate::ReadLimits::links): the first ones
    /// are kept.
    TooManyLinks,
    /// The text of a PDF is unknown.
    Pdf(PdfFailure),
}

impl Document {
    /// Returns the share of the text in the page's language, 0 to 1.
    #[must_use]
    pub fn language_share(&self) -> Option<f64> {
        Some(f64::from(self.language_confidence?) / 100.0)
    }

    /// Returns all visible text of the page, one block per line.
    #[must_use]
    pub fn full_text(&self) -> &str {
        self.full.as_deref().unwrap_or(&self.text)
    }

    /// Returns [`Document::text`] as Markdown (CommonMark 0.31, with GitHub's tables); `None`
    /// without [`ReadLimits::markdown`](crate::ReadLimits::markdown), and for documents that are
    /// not HTML.
    #[must_use]
    pub fn markdown(&self) -> Option<&str> {
        self.markdown.as_deref()
    }

    /// Converts the document into [`Document::full_text`].
    #[must_use]
    pub fn into_full_text(self) -> String {
        self.full.unwrap_or(self.text)
    }

    /// Returns the page's main text: the text in [`MainContent::PageFallback`], or the text itself.
    #[must_use]
    pub fn main_text(&self) -> &str {
        match &self.own {
            MainContent::Main => &self.text,
            MainContent::PageFallback { main_text } => main_text,
        }
    }

    /// Returns the text that duplicate verdicts are made from: everything outside the site's
    /// boilerplate, including lines of links, comments and posts, or the whole page if that is next
    /// to nothing. For a page with a `<main>`, it is that element without the boilerplate in it.
    #[must_use]
    pub fn compared_text(&self) -> &str {
        match &self.compared {
            ComparedText::Main => &self.text,
            ComparedText::Full => self.full_text(),
            ComparedText::Other(text) => text,
        }
    }

    /// Returns the share of [`Document::compared_text`] that is the page's own.
    #[must_use]
    pub const fn compared_own(&self) -> &MainContent {
        &self.compared_own
    }

    pub(super) fn unread(media: Media) -> Self {
        Self {
            media,
            charset: "",
            language: None,
            language_confidence: None,
            title: None,
            heading: None,
            text: String::new(),
            own: MainContent::Main,
            has_scripts: false,
            needs_scripts: false,
            links: Vec::new(),
            lost_links: LostLinks::default(),
            directives: Directives::default(),
            canonical: None,
            kind: None,
            fields: PageFields::default(),
            own_fields: BTreeMap::new(),
            audit: AuditFields::default(),
            warnings: Vec::new(),
            full: None,
            markdown: None,
            compared: ComparedText::Full,
            compared_own: MainContent::Main,
        }
    }
}

/// The text that verdicts are made from, not stored twice if it equals another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ComparedText {
    /// The main content.
    Main,
    /// The whole page.
    Full,
    /// Any other text.
    Other(String),
}
