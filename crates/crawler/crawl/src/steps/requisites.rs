//! Requests for the requisites of a page.

use http::header::REFERER;
use http::{HeaderMap, HeaderValue};
use journal::DiscoveredUrl;
use web::PageUrl;

/// Returns the fields of a request for `url`, which was found like this: a `Referer` for a
/// requisite.
pub(crate) fn fields(found: &DiscoveredUrl, url: &PageUrl) -> HeaderMap {
    let referer = referer(found, url);
    referer
        .map(|referer| (REFERER, referer))
        .into_iter()
        .collect()
}

/// Returns the `Referer` of a request for a requisite, as browsers send it within a site (Referrer
/// Policy section 3.7, "strict-origin-when-cross-origin"): the page that needs it, or the page's
/// origin to another origin. It is not sent to other sites, and never for pages: a page must not
/// depend on the way that was taken to reach it.
fn referer(found: &DiscoveredUrl, url: &PageUrl) -> Option<HeaderValue> {
    let page = found.via.as_ref().filter(|_| found.requisite > 0)?;
    let is_https = |url: &PageUrl| url.as_url().scheme() == "https";
    let is_same_site = page.registrable_domain() == url.registrable_domain();
    if !is_same_site || is_https(page) && !is_https(url) {
        return None;
    }
    let (own, origin) = (url.origin(), page.origin());
    let text = match own == origin {
        true => page.to_string(),
        false => format!("{origin}/"),
    };
    HeaderValue::from_str(&text).ok()
}
