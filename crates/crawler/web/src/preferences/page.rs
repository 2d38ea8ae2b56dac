//! The preferences for a page: those of its site, its header and its markup.

use http::HeaderMap;

use crate::html::directives::Directives;
use crate::http::exchange::Exchange;
use crate::http::media_type::essence;
use crate::preferences::preference::{PreferenceSource, Preferences, Usage};
use crate::preferences::statement::{content_signal, content_usage, tdm_reservation};
use crate::robots::RobotsRules;

/// Returns what the owner of a page states about its use. `site` are the rules of its site, if they
/// are known; `directives` come from the page and its header.
///
/// Of TDMRep, the page's own statement counts, or else its header, or else the file of the site
/// (section 5.6). Statements of different kinds add up.
#[must_use]
pub fn page_preferences(
    site: Option<&RobotsRules>,
    page: &Exchange,
    directives: Directives,
) -> Preferences {
    let mut all = Preferences::default();
    let headers = &page.headers;
    let usage = field(headers, "content-usage");
    all.add(content_usage(&usage, PreferenceSource::HeaderUsage));
    let signal = field(headers, "content-signal");
    all.add(content_signal(&signal, PreferenceSource::HeaderSignal));

    let header = page.header("tdm-reservation").unwrap_or_default();
    let header = tdm_reservation(header, PreferenceSource::TdmHeader);
    let meta = directives.tdm_reservation;
    let meta =
        meta.map(|reserved| Preferences::of(Usage::Train, !reserved, PreferenceSource::TdmMeta));
    let own = meta.or(header.stated());
    all.add(own.unwrap_or_default());
    for stated in site.iter().flat_map(|site| site.preferences(&page.url)) {
        let source = stated.get(Usage::Train).map(|stated| stated.source);
        if own.is_none() || source != Some(PreferenceSource::TdmFile) {
            all.add(stated);
        }
    }

    let media = page.content_type().map(|field| essence(&field));
    let is_image = media.is_some_and(|media| media.starts_with("image/"));
    if directives.noai || directives.noimageai && is_image {
        all.add(Preferences::of(Usage::Train, false, PreferenceSource::NoAi));
    }
    all
}

/// Returns the value of a field that may be repeated (RFC 9110 section 5.3).
fn field(headers: &HeaderMap, name: &str) -> Vec<u8> {
    let values = headers.get_all(name).into_iter();
    let values: Vec<&[u8]> = values.map(http::HeaderValue::as_bytes).collect();
    values.join(b", ".as_slice())
}
