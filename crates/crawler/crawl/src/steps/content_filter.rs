//! Pages that the user does not want, by media type or language, or not at all (`--spider`).
//!
//! Such a page is counted as excluded and not archived; its links are still followed, or `--types
//! application/pdf` would not reach any page. So pages with links are received whole, and the body
//! of other pages is not read. The filter does not apply to robots.txt, sitemaps, feeds and page
//! requisites.
//!
//! A page whose language is unknown is wanted: for short and mixed texts, no language is detected.

use http::HeaderMap;
use journal::{Reason, VisitRecord};
use policy::{Policy, Requisites};
use store::Lease;
use web::Exchange;

use crate::context::CrawlContext;
use crate::steps::listings;
use crate::steps::reading::Reading;

/// The reason of a page that `--spider` has checked.
const ONLY_CHECKED: &str = "--spider only checks it";

/// Returns true if the body of a response is needed: the page is wanted, or may have links.
pub(crate) fn wants_body(
    context: &CrawlContext,
    lease: &Lease,
    status: u16,
    headers: &HeaderMap,
) -> bool {
    let checks_only = context.policy.spider;
    let is_needed = match checks_only {
        true => listings::is_known_sitemap(context, lease),
        false => is_beyond(context, lease),
    };
    if !(200..300).contains(&status) || is_needed {
        return true;
    }
    let Some(field) = web::content_type(headers) else {
        return true;
    };
    let essence = web::essence(&field);
    let is_wanted = !checks_only && context.policy.types.admits(&essence);
    is_wanted || may_have_links(&essence)
}

/// Returns the rule that excludes a page after reading, if there is one.
pub(crate) fn excluded(
    context: &CrawlContext,
    lease: &Lease,
    exchange: &Exchange,
    reading: &Reading,
) -> Option<Reason> {
    if is_only_checked(context, lease, exchange) {
        return Some(Reason::said(ONLY_CHECKED));
    }
    if is_beyond(context, lease) || reading.listing.is_some() {
        return None;
    }
    let (types, languages) = (&context.policy.types, &context.policy.languages);
    let document = reading.document.as_ref();
    let essence = match (exchange.content_type(), document) {
        (Some(field), _) => web::essence(&field),
        (None, Some(_)) => "text/html".to_owned(),
        (None, None) => "application/octet-stream".to_owned(),
    };
    if !types.admits(&essence) {
        let types = types.to_string();
        return Some(Reason::Type { essence, types });
    }
    let language = document.and_then(|document| document.language.as_deref())?;
    (!languages.admits(language)).then(|| Reason::Language {
        language: language.to_owned(),
        languages: languages.to_string(),
    })
}

/// Returns true if this filter excluded the page of a visit record, and would by `policy`.
pub(crate) fn excluded_by(policy: &Policy, visit: &VisitRecord) -> bool {
    let (essence, language) = (visit.content_type.as_deref(), visit.language.as_deref());
    if visit.reason == Some(Reason::said(ONLY_CHECKED)) {
        let has_links = essence.is_none_or(may_have_links);
        return policy.spider && !(has_links && reads_on(policy, visit.depth));
    }
    let is_ours = matches!(
        visit.reason,
        Some(Reason::Type { .. } | Reason::Language { .. })
    );
    let admits_type = essence.is_none_or(|essence| policy.types.admits(essence));
    let admits_language = language.is_none_or(|language| policy.languages.admits(language));
    is_ours && !(admits_type && admits_language)
}

/// Returns true if the links or the requisites of a page at this depth are followed.
pub(crate) fn reads_on(policy: &Policy, depth: u32) -> bool {
    !policy.depth.end_at(depth) || policy.page_requisites != Requisites::Off
}

/// Returns true if the body of a page was not requested, or not received, because pages are only
/// checked.
fn is_only_checked(context: &CrawlContext, lease: &Lease, exchange: &Exchange) -> bool {
    let is_head = exchange.request_head.starts_with(b"HEAD ");
    let has_body = || wants_body(context, lease, exchange.status, &exchange.headers);
    context.policy.spider && (is_head || !has_body())
}

/// Returns true if no filter applies to this visit.
fn is_beyond(context: &CrawlContext, lease: &Lease) -> bool {
    lease.discovered().requisite > 0 || listings::is_known_sitemap(context, lease)
}

fn may_have_links(essence: &str) -> bool {
    essence == "text/html" || essence.ends_with("xml") || essence == "application/feed+json"
}
