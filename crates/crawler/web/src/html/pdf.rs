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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::page_url::PageUrl;

    fn document(found: Result<PdfContent, PdfFailure>) -> Document {
        let form = CanonicalForm::default();
        let url = PageUrl::parse("http://a.test/dir/paper.pdf", &form).unwrap();
        let metadata = ResponseMetadata {
            x_robots_tag: &["noarchive"],
            link: &["</paper>; rel=canonical"],
            ..ResponseMetadata::of(&url)
        };
        read_pdf(found, &metadata, &form, &ReadLimits::default())
    }

    fn content(text: &str) -> PdfContent {
        let links = ["b.html", "mailto:a@a.test", "http://b.test/#part", "b.html"];
        PdfContent {
            title: Some(" Of\nboats ".to_owned()),
            language: Some("en-GB".to_owned()),
            text: text.to_owned(),
            links: links.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_pdf_with_text_is_a_page_with_the_directives_of_its_header() {
        let document = document(Ok(content("Boats.\nMore boats.\n")));
        assert_eq!(document.media, Media::Pdf);
        assert_eq!(document.compared_text(), "Boats.\nMore boats.\n");
        assert_eq!(document.title.as_deref(), Some("Of boats"));
        assert_eq!(document.language.as_deref(), Some("en"));
        assert!(document.directives.noarchive);
        let canonical = document.canonical.as_ref().map(PageUrl::as_str);
        assert_eq!(canonical, Some("http://a.test/paper"));
        let links: Vec<_> = document
            .links
            .iter()
            .map(|link| link.url.as_str())
            .collect();
        assert_eq!(
            links,
            [
                "http://a.test/paper",
                "http://a.test/dir/b.html",
                "http://b.test/"
            ]
        );
    }

    #[test]
    fn pictures_keep_their_title_and_links_and_a_failure_has_a_reason() {
        let pictures = document(Ok(content("")));
        assert_eq!((pictures.media, pictures.links.len()), (Media::Other, 3));
        assert_eq!(pictures.title.as_deref(), Some("Of boats"));
        for (document, failure) in [
            (pictures, PdfFailure::Pictures),
            (document(Err(PdfFailure::Encrypted)), PdfFailure::Encrypted),
        ] {
            assert_eq!(document.warnings, [ParseWarning::Pdf(failure)]);
            assert_eq!(document.charset, "");
        }
    }
}
