//! The content of a PDF, read in the child.

use hayro_interpret::hayro_syntax::object::dict::keys::{A, ANNOTS, LANG, SUBTYPE, URI};
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, String as PdfString};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};
use web::{PdfContent, PdfFailure};

use crate::page_text::PageText;
use crate::strings;

/// Maximum bytes of text; the pages after it are not read.
const MAX_TEXT: usize = 4 << 20;
/// Maximum number of links.
const MAX_LINKS: usize = 100_000;
/// Maximum bytes of all links.
const MAX_LINK_BYTES: usize = 16 << 20;
/// Minimum number of words per page; scanned pages have a stamp at most.
const MIN_WORDS_PER_PAGE: usize = 10;

/// Reads a PDF.
pub(crate) fn read(bytes: Vec<u8>) -> Result<PdfContent, PdfFailure> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(_) => PdfFailure::Encrypted,
        LoadPdfError::Invalid => PdfFailure::Damaged,
    })?;
    let title = pdf.metadata().title.as_deref().map(strings::text);
    let root: Option<Dict<'_>> = pdf.xref().get(pdf.xref().root_id());
    let language: Option<PdfString<'_>> = root.and_then(|root| root.get(LANG));
    Ok(PdfContent {
        title,
        language: language.map(|language| strings::text(language.as_bytes())),
        text: text(&pdf),
        links: links(&pdf),
    })
}

/// Returns the text of all pages; nothing if they are pictures.
fn text(pdf: &Pdf) -> String {
    let cache = InterpreterCache::new();
    let mut found = PageText::default();
    let mut pages = 0;
    for page in pdf.pages().iter() {
        if found.as_str().len() > MAX_TEXT {
            break;
        }
        pages += 1;
        // Nothing is drawn, so the canvas has any size.
        let canvas = Rect::new(0.0, 0.0, 1.0, 1.0);
        let settings = InterpreterSettings::default();
        let mut context = Context::new(Affine::IDENTITY, canvas, &cache, pdf.xref(), settings);
        interpret_page(page, &mut context, &mut found);
        found.end_page();
    }
    let text = found.into_text();
    match text.split_whitespace().count() < pages * MIN_WORDS_PER_PAGE {
        true => String::new(),
        false => text,
    }
}

fn links(pdf: &Pdf) -> Vec<String> {
    let mut bytes = 0;
    let links = pdf.pages().iter().flat_map(links_of);
    let links = links.take(MAX_LINKS).take_while(|link| {
        bytes += link.len();
        bytes <= MAX_LINK_BYTES
    });
    links.collect()
}

/// Returns the targets of the link annotations of a page.
fn links_of(page: &Page<'_>) -> Vec<String> {
    let annotations: Option<Array<'_>> = page.raw().get(ANNOTS);
    let annotations = annotations
        .iter()
        .flat_map(|array| array.iter::<Dict<'_>>());
    let targets = annotations.filter_map(|annotation| {
        let kind: Name<'_> = annotation.get(SUBTYPE)?;
        let action: Dict<'_> = annotation.get(A)?;
        let target: PdfString<'_> = action.get(URI)?;
        (&*kind == b"Link").then(|| strings::text(target.as_bytes()))
    });
    targets.take(MAX_LINKS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::Pdf;

    use super::*;

    const TEXT: &str = "The quiet harbour has boats of many colours, and each of them is moored \
                        at a pier of its own until the tide comes in again.";

    fn check(pdf: &Pdf, text: &str, links: &[&str]) {
        let found = read(pdf.bytes().into()).unwrap();
        assert_eq!(
            (found.text.as_str(), found.links),
            (text, links.iter().map(ToString::to_string).collect())
        );
        assert_eq!(found.language.as_deref(), Some("en-GB"));
    }

    #[test]
    fn a_page_is_a_block_of_its_lines() {
        check(&Pdf::of(&[TEXT, TEXT]), &format!("{TEXT}\n{TEXT}\n"), &[]);
    }

    #[test]
    fn links_and_the_title_are_read() {
        let pdf = Pdf::of(&[TEXT])
            .link("http://a.test/")
            .link("b#c")
            .title("Boats");
        check(&pdf, &format!("{TEXT}\n"), &["http://a.test/", "b#c"]);
        let found = read(pdf.bytes().into()).unwrap();
        assert_eq!(found.title.as_deref(), Some("Boats"));
    }

    #[test]
    fn pages_with_a_stamp_are_pictures_and_keep_their_links() {
        let stamp = "Scanned by a machine";
        check(&Pdf::of(&[stamp; 9]).link("/next"), "", &["/next"]);
    }

    proptest! {
        #[test]
        fn a_part_of_a_pdf_or_one_with_a_wrong_byte_is_read_or_refused(
            share in 0.0..1.0_f64, place in any::<prop::sample::Index>(), byte in any::<u8>()
        ) {
            let whole: Vec<u8> = Pdf::of(&[TEXT]).link("/next").title("Boats").bytes().into();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
            let part = whole[..(whole.len() as f64 * share) as usize].to_vec();
            let mut wrong = whole;
            *place.get_mut(&mut wrong) = byte;
            let part = read(part).unwrap_or_default();
            prop_assert!(TEXT.starts_with(part.text.trim_end()), "{part:?}");
            let wrong = read(wrong).unwrap_or_default();
            prop_assert!(wrong.text.len() <= 2 * TEXT.len(), "{wrong:?}");
        }
    }
}
