//! Reads sitemaps and feeds, whole or in parts.

use std::io::Read;
use std::ops::ControlFlow;

use crate::sitemap::decoded_text::DecodedText;
use crate::sitemap::gathered::Gathered;
use crate::sitemap::listing::{Listing, ListingKind, ListingLimits, ListingWarning};
use crate::sitemap::{json_feed, text_sitemap, xml};
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// Reads a listing after content decoding. Addresses are relative to `url`. The body is read in
/// pieces and only while entries are kept; an error of `body` means that it is incomplete.
///
/// ```
/// use web::{CanonicalForm, ListingKind, ListingLimits, PageUrl, read_listing};
///
/// let form = CanonicalForm::default();
/// let url = PageUrl::parse("https://example.org/sitemap.xml", &form)?;
/// let body = b"<urlset><url><loc>https://example.org/a</loc></url></urlset>";
/// let kind = ListingKind::of(None, body).expect("a sitemap");
/// let listing = read_listing(kind, &body[..], None, &url, &form, &ListingLimits::default());
/// assert_eq!(listing.pages[0].url.as_str(), "https://example.org/a");
/// # Ok::<(), web::UrlError>(())
/// ```
#[must_use]
pub fn read_listing(
    kind: ListingKind,
    body: impl Read,
    content_type: Option<&str>,
    url: &PageUrl,
    form: &CanonicalForm,
    limits: &ListingLimits,
) -> Listing {
    let mut whole = Listing::empty(kind);
    whole.warnings = read_listing_in_parts(kind, body, content_type, url, form, limits, |part| {
        whole.pages.extend(part.pages);
        whole.further.extend(part.further);
        whole.requisites.extend(part.requisites);
        ControlFlow::Continue(())
    });
    whole
}

/// Reads a listing like [`read_listing`], and passes its entries to `use_part` in parts of bounded
/// size, in document order and without warnings, until `use_part` breaks off. Returns the warnings.
pub fn read_listing_in_parts(
    kind: ListingKind,
    mut body: impl Read,
    content_type: Option<&str>,
    url: &PageUrl,
    form: &CanonicalForm,
    limits: &ListingLimits,
    mut use_part: impl FnMut(Listing) -> ControlFlow<()>,
) -> Vec<ListingWarning> {
    let mut gathered = Gathered {
        part: Listing::empty(kind),
        warnings: Vec::new(),
        use_part: &mut use_part,
        page: url,
        form,
        room: limits.entries,
        requisite_room: limits.requisites,
        is_full: false,
    };
    if kind == ListingKind::JsonFeed {
        json_feed::read(body, &mut gathered);
    } else {
        let mut text = DecodedText::of(&mut body, content_type);
        match kind {
            ListingKind::TextSitemap => text_sitemap::read(&mut text, &mut gathered),
            _ => xml::read(&mut text, &mut gathered),
        }
        gathered.note_if(text.repaired, ListingWarning::Undecodable);
    }
    gathered.hand_on();
    gathered.warnings
}
