//! A body as it was read.

use crate::html::directives::Directives;
use crate::html::limits::ParserStop;
use crate::html::link::Link;
use crate::http::media_type::Media;
use crate::url::page_url::PageUrl;

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
    /// The first `<h1>` outside of the site's frame, else the first heading there, white space
    /// folded; capped like a title.
    pub heading: Option<String>,
    /// The main content where there is enough of it or the page marks it, else all of it. A block a
    /// line.
    pub text: String,
    /// Whether [`Document::text`] is the page's own.
    pub own: MainContent,
    /// Where it leads, each page once, in the order of the page; not to itself.
    pub links: Vec<Link>,
    /// What it asks crawlers to do.
    pub directives: Directives,
    /// The address that it says it should have.
    pub canonical: Option<PageUrl>,
    /// What was capped or repaired.
    pub warnings: Vec<ParseWarning>,
    /// The whole page where [`Document::text`] is a part of it.
    pub(super) full: Option<String>,
    pub(super) judged: JudgedText,
    pub(super) judged_own: MainContent,
}

/// The part of a text that is the page's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MainContent {
    /// It is the main content, or most of it is.
    Main,
    /// The main content has less than [`MIN_MAIN_WORDS`] words and is less than half of the page:
    /// the text is all of the page and mostly its frame. Two such pages are alike only if their own
    /// texts are equal.
    PageFallback {
        /// The main content.
        own_text: String,
    },
}

/// Something that had to be capped or repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParseWarning {
    /// Some bytes mean nothing in the page's encoding.
    Undecodable,
    /// The tree ends early; what follows was read without one.
    Parsing(ParserStop),
    /// There was so much of it that its end was not read: links may be missing, and what comes last
    /// of its text.
    Unread,
    /// There is more text than [`ReadLimits::text`]: the page is judged by its beginning.
    TooMuchText,
    /// There are more links than [`ReadLimits::links`]: the first ones were kept.
    TooManyLinks,
}

impl Document {
    /// All visible text of the page, a block a line.
    #[must_use]
    pub fn full_text(&self) -> &str {
        self.full.as_deref().unwrap_or(&self.text)
    }

    /// The same, where nothing else of the document is needed any more.
    #[must_use]
    pub fn into_full_text(self) -> String {
        self.full.unwrap_or(self.text)
    }

    /// The page's own text: what [`MainContent::PageFallback`] has beside, or the text itself.
    #[must_use]
    pub fn own_text(&self) -> &str {
        match &self.own {
            MainContent::Main => &self.text,
            MainContent::PageFallback { own_text } => own_text,
        }
    }

    /// The text that verdicts on duplicates are made from: everything outside of the site's frame,
    /// lines of links, comments and posts included; the whole page where that has next to nothing
    /// else. Of a page with a `<main>`, that without the frames in it.
    #[must_use]
    pub fn judged_text(&self) -> &str {
        match &self.judged {
            JudgedText::Main => &self.text,
            JudgedText::Full => self.full_text(),
            JudgedText::Other(text) => text,
        }
    }

    /// Tells how much of [`Document::judged_text`] is the page's own.
    #[must_use]
    pub const fn judged_own(&self) -> &MainContent {
        &self.judged_own
    }

    pub(super) fn unread(media: Media) -> Self {
        Self {
            media,
            charset: "",
            language: None,
            title: None,
            heading: None,
            text: String::new(),
            own: MainContent::Main,
            links: Vec::new(),
            directives: Directives::default(),
            canonical: None,
            warnings: Vec::new(),
            full: None,
            judged: JudgedText::Full,
            judged_own: MainContent::Main,
        }
    }
}

/// The text that verdicts are made from; where it is one of the others, it is not kept twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JudgedText {
    /// The main content.
    Main,
    /// The whole page.
    Full,
    /// Neither.
    Other(String),
}
