//! The text of a document, as a crawl judges it.

use comparison::{ComparedPage, PageParts};
use neardup::{
    BandDesign, BandedSignature, Fingerprint, NormalText, PageSignature, PageText, SignatureBuilder,
};
use reading::ReceivedBody;
use web::{CanonicalForm, Media, PageUrl, ReadLimits, ReadPdf, ResponseMetadata};

use crate::document::Content;

/// A reader of documents with fixed settings.
#[derive(Clone, Debug)]
pub struct Reader {
    base: PageUrl,
    form: CanonicalForm,
    limits: ReadLimits,
    main_content: bool,
    pdf: Option<ReadPdf>,
}

/// A document, read.
pub enum Page<'a> {
    /// Text as such.
    Text(PageText<'a>),
    /// A page, or a text in some charset.
    Document(Box<web::Document>),
    /// Neither: only its bytes count.
    Other,
}

impl Reader {
    /// Creates a reader of the main content of pages, or of their full text.
    #[must_use]
    pub fn new(main_content: bool) -> Self {
        let form = CanonicalForm::default();
        Self {
            base: PageUrl::parse("http://localhost/", &form).expect("it is the URL of a page"),
            form,
            limits: ReadLimits::default(),
            main_content,
            pdf: None,
        }
    }

    /// Returns the same reader with a reader of PDFs.
    #[must_use]
    pub fn with_pdf(self, pdf: Option<ReadPdf>) -> Self {
        Self { pdf, ..self }
    }

    /// Reads a document.
    #[must_use]
    pub fn read<'a>(&self, content: &'a Content) -> Page<'a> {
        let (bytes, content_type, is_whole) = match content {
            Content::Text {
                text,
                title,
                heading,
            } => {
                return Page::Text(PageText {
                    title: title.as_deref(),
                    heading: heading.as_deref(),
                    ..PageText::of(text)
                });
            }
            Content::Body {
                bytes,
                content_type,
                part_of,
            } => (bytes, content_type, part_of.is_none()),
        };
        let metadata = ResponseMetadata {
            agent: "crawler",
            content_type: Some(content_type),
            ..ResponseMetadata::of(&self.base)
        };
        let body = ReceivedBody { bytes, is_whole };
        let document = reading::read_body(body, self.pdf, &metadata, &self.form, &self.limits);
        match document.media {
            Media::Other => Page::Other,
            Media::Html | Media::Pdf | Media::Text => Page::Document(Box::new(document)),
        }
    }

    /// Returns the text that a document is judged by; `None` if it is judged by its bytes alone.
    #[must_use]
    pub fn text<'a>(&self, page: &'a Page<'_>) -> Option<PageText<'a>> {
        match page {
            Page::Text(text) => Some(*text),
            Page::Document(document) => Some(reading::page_text(document, self.main_content)),
            Page::Other => None,
        }
    }

    /// Returns a document as it is compared with another, block by block; `None` if it is judged by
    /// its bytes alone.
    #[must_use]
    pub fn compared(&self, page: &Page<'_>) -> Option<ComparedPage> {
        match page {
            Page::Text(text) => Some(ComparedPage::of(&PageParts {
                url: "",
                title: text.title,
                heading: text.heading,
                main: text.text,
                judged: text.text,
                is_partial: false,
                is_plain: false,
            })),
            Page::Document(document) => {
                Some(reading::compared_page("", document, self.main_content))
            }
            Page::Other => None,
        }
    }

    /// Returns the words that a document is judged by; empty if it is judged by its bytes alone.
    #[must_use]
    pub fn normal_text(&self, content: &Content) -> NormalText {
        let page = self.read(content);
        let text = self.text(&page).map(|page| page.text);
        NormalText::of(text.unwrap_or_default())
    }

    /// Returns the fingerprint of a document; without a text it is 0, as for an empty text.
    #[must_use]
    pub fn fingerprint(
        &self,
        signature_builder: &SignatureBuilder,
        content: &Content,
    ) -> Fingerprint {
        let page = self.read(content);
        signature_builder.fingerprint(self.text(&page).map_or("", |page| page.text))
    }

    /// Returns the signature of a document under the zero key. If a document was not read whole,
    /// only its bytes count: half a text does not prove similarity.
    #[must_use]
    pub fn signature(
        &self,
        signature_builder: &SignatureBuilder,
        content: &Content,
    ) -> PageSignature {
        if content.is_partial() {
            return signature_builder.signature(content.digest(), None);
        }
        let page = self.read(content);
        signature_builder.signature(content.digest(), self.text(&page))
    }

    /// Returns the same signature with keys of `bands`.
    #[must_use]
    pub fn banded_signature(
        &self,
        signature_builder: &SignatureBuilder,
        bands: BandDesign,
        content: &Content,
    ) -> BandedSignature {
        if content.is_partial() {
            return signature_builder.banded_signature(content.digest(), None, bands);
        }
        let page = self.read(content);
        signature_builder.banded_signature(content.digest(), self.text(&page), bands)
    }
}
