//! What a document says, as the judge of a crawl would have it.

use neardup::{Fingerprint, HashKey, NormalText, PageText, Painter, Portrait};
use web::{CanonicalForm, Hints, Media, PageUrl, ReadLimits};

use super::Content;
use crate::complaint::{Complaint, usage};

/// Reads documents, all in the same way.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    base: PageUrl,
    form: CanonicalForm,
    limits: ReadLimits,
    main_content: bool,
}

/// A document, read.
pub(crate) enum Page {
    /// Text as such.
    Text(String),
    /// A page, or a text in some charset.
    Document(Box<web::Document>),
    /// Neither: there is nothing to say of it but its bytes.
    Other,
}

impl Reader {
    /// Reads the main content of pages, or all that stands on them.
    pub(crate) fn new(main_content: bool) -> Result<Self, Complaint> {
        let form = CanonicalForm::default();
        Ok(Self {
            base: PageUrl::parse("http://localhost/", &form).map_err(usage)?,
            form,
            limits: ReadLimits::default(),
            main_content,
        })
    }

    /// Reads a document.
    pub(crate) fn read(&self, content: &Content) -> Page {
        match content {
            Content::Text(text) => Page::Text(text.clone()),
            Content::Body { bytes, content_type } => {
                let hints = Hints {
                    agent: "crawler",
                    content_type: Some(content_type),
                    ..Hints::of(&self.base)
                };
                let document = web::read(bytes, &hints, &self.form, &self.limits);
                match document.media {
                    Media::Other => Page::Other,
                    Media::Html | Media::Text => Page::Document(Box::new(document)),
                }
            }
        }
    }

    /// What a document is judged by; none where that is its bytes alone.
    pub(crate) fn text<'a>(&self, page: &'a Page) -> Option<PageText<'a>> {
        match page {
            Page::Text(text) => Some(PageText::of(text)),
            Page::Document(document) => Some(crawl::page_text(document, self.main_content)),
            Page::Other => None,
        }
    }

    /// The words that a document is judged by; none where that is its bytes alone.
    pub(crate) fn normal_text(&self, content: &Content) -> NormalText {
        let page = self.read(content);
        let text = self.text(&page).map(|page| page.text);
        NormalText::of(text.unwrap_or_default())
    }

    /// The fingerprint of a document; 0, that of no words, where it has no text.
    pub(crate) fn fingerprint(&self, painter: &Painter, content: &Content) -> Fingerprint {
        let page = self.read(content);
        painter.fingerprint(self.text(&page).map_or("", |page| page.text))
    }

    /// The portrait of a document, under the zero key: what it is called elsewhere, it is called here.
    pub(crate) fn portrait(&self, painter: &Painter, content: &Content) -> Portrait {
        let page = self.read(content);
        painter.portrait(HashKey::ZERO.digest(content.bytes()), self.text(&page))
    }
}
