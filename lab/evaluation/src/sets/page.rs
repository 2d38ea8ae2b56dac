//! A page as the verdict gets it.

use comparison::{ComparedPage, PageParts};
use neardup::{HashKey, PageText};
use web::{CanonicalForm, MainContent, Media, PageUrl, ParseWarning, ReadLimits, ResponseMetadata};

/// A page or a plain text.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) name: String,
    /// A digest of the bytes.
    pub(crate) payload: u128,
    /// The text outside the site's frame, or the whole text if that is too short.
    text: String,
    /// The text outside the frame if it is so short that it must be equal as well.
    own: Option<String>,
    /// Its title, if it is a page and has one.
    title: Option<String>,
    /// Its first heading, in the same way.
    heading: Option<String>,
    /// All of the text if `text` is only a part.
    full: Option<String>,
    /// The main content if it is another text than `text`.
    main: Option<String>,
    is_plain: bool,
    /// True if it was not read whole.
    is_partial: bool,
}

impl Page {
    /// Creates a page of plain text.
    pub(crate) fn of_text(name: String, text: String) -> Self {
        Self {
            name,
            payload: HashKey::ZERO.digest(text.as_bytes()),
            text,
            own: None,
            title: None,
            heading: None,
            full: None,
            main: None,
            is_plain: true,
            is_partial: false,
        }
    }

    /// Reads a page as the crawler does; returns none if it is not HTML.
    pub(crate) fn of_html(name: String, body: &[u8]) -> Option<Self> {
        let form = CanonicalForm::default();
        let url = PageUrl::parse("http://evaluation.test/page", &form).expect("this is a URL");
        let hints = ResponseMetadata {
            agent: "evaluation",
            content_type: Some("text/html"),
            ..ResponseMetadata::of(&url)
        };
        let document = web::read(body, &hints, &form, &ReadLimits::default());
        if document.media != Media::Html {
            return None;
        }
        let (full, judged) = (document.full_text(), document.compared_text());
        let main = document.main_text();
        Some(Self {
            name,
            payload: HashKey::ZERO.digest(body),
            full: (full != judged).then(|| full.to_owned()),
            main: (main != judged).then(|| main.to_owned()),
            is_plain: false,
            is_partial: document.warnings.iter().any(|warning| {
                use ParseWarning::{Parsing, TooMuchText, Unread};
                matches!(warning, Parsing(_) | TooMuchText | Unread)
            }),
            own: match document.compared_own() {
                MainContent::Main => None,
                MainContent::PageFallback { main_text } => Some(main_text.clone()),
            },
            text: judged.to_owned(),
            title: document.title,
            heading: document.heading,
        })
    }

    /// Returns the compared text, by the rule of `reading::page_text`: all outside the frame, or
    /// all of the text.
    pub(crate) fn judged(&self, main_content: bool) -> PageText<'_> {
        if main_content {
            PageText {
                text: &self.text,
                main_content: self.own.as_deref(),
                title: self.title.as_deref(),
                heading: self.heading.as_deref(),
            }
        } else {
            PageText {
                title: self.title.as_deref(),
                heading: self.heading.as_deref(),
                ..PageText::of(self.full())
            }
        }
    }

    /// Returns the page as it is compared block by block, by the rule of `reading::compared_page`.
    pub(crate) fn compared(&self) -> ComparedPage {
        ComparedPage::of(&PageParts {
            url: "",
            title: self.title.as_deref(),
            heading: self.heading.as_deref(),
            main: self.main.as_deref().unwrap_or(&self.text),
            judged: &self.text,
            is_partial: self.is_partial,
            is_plain: self.is_plain,
        })
    }

    /// Returns all of the text.
    pub(crate) fn full(&self) -> &str {
        self.full.as_deref().unwrap_or(&self.text)
    }
}
