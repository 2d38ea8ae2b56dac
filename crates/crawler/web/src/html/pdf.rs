//! PDF documents: the content of a PDF becomes a [`Document`].
//!
//! This crate has no PDF reader: bytes as hostile as these are read in a process of their own. The
//! directives and the canonical URL of a PDF are in its header fields.

use encoding_rs::UTF_8;

use crate::html::document::{Document, ParseWarning};
use crate::html::language;
use crate::html::limits::ReadLimits;
use crate::html::lines::joined;
use crate::html::link::LinkKind;
use crate::html::links::References;
use crate::html::pdf_content::{PdfContent, PdfFailure};
use crate::html::response_metadata::{ReadContext, ResponseMetadata};
use crate::http::media_type::Media;
use crate::url::canonical::CanonicalForm;

/// Creates the document of a PDF. If its text is unknown, the document is [`Media::Other`] and
/// [`ParseWarning::Pdf`] has the reason; a PDF of pictures keeps its title and links.
#[must_use]
pub fn read_pdf(
    found: Result<PdfContent, PdfFailure>,
    metadata: &ResponseMetadata<'_>,
    form: &CanonicalForm,
    limits: &ReadLimits,
) -> Document {
    let context = ReadContext {
        metadata,
        form,
        limits,
        encoding: UTF_8,
    };
    let (mut document, headed) = Document::with_header(Media::Pdf, &context);
    document.charset = UTF_8.name();
    let failure = match &found {
        Ok(content) => content.text.is_empty().then_some(PdfFailure::Pictures),
        Err(failure) => Some(*failure),
    };
    if let Some(failure) = failure {
        (document.media, document.charset) = (Media::Other, "");
        document.warnings.push(ParseWarning::Pdf(failure));
    }
    let content = found.unwrap_or_default();
    let mut references = References::new(limits);
    for link in &content.links {
        references.add(link.into(), LinkKind::Page, "");
    }
    references.resolve(headed, &context, &mut document);
    let title = content.title.unwrap_or_default();
    let title = joined(title.split_whitespace(), limits.title_chars);
    document.title = Some(title).filter(|title| !title.is_empty());
    document.language = content.language.as_deref().and_then(language::of_tag);
    document.read_text(&content.text, limits);
    document.detect_language();
    document
}
