//! Interstitial pages without a marker, decided by the response to another URL.
//!
//! - A page that says that it was not found, with the status of a page, is compared with the
//!   response to a URL that cannot exist (soft 404; Bar-Yossef et al., WWW 2004, section 3).
//! - A [suspicious short text](crate::runtime::repeated_texts) comes from a firewall if a page that
//!   had another text has it now, too. It is a soft 404 if the URL that cannot exist has it.
//!
//! A host gets at most one request for the URL that cannot exist, and few for its other pages; a
//! host without a suspicious page gets none. Neither is archived.

use std::sync::Arc;

use fetch::RequestContent;
use http::HeaderMap;
use store::Lease;
use web::{CanonicalForm, Document, Exchange, Interstitial, LinkKind, Media, PageUrl, Validators};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::politeness;
use crate::runtime::repeated_texts::{Finding, ShortText, Suspicion, View};
use crate::steps::permission::{self, Permission};
use crate::steps::reading::{self, Kind, Reading};

/// The path of a page that does not exist, readable for an owner who finds it in a log.
const NOWHERE: &str = "/no-such-page-7f3a9c51d0e84b26";

/// Returns the interstitial page that a page without a marker is, if any.
///
/// # Errors
/// Faults of reading and of the store.
pub(super) async fn find(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    reading: &Reading,
) -> Result<Option<Interstitial>, Fault> {
    let document = reading
        .document
        .as_ref()
        .filter(|document| is_html(document));
    let Some(document) = document.filter(|_| reading.listing.is_none()) else {
        return Ok(None);
    };
    let text = text_of(document, &page.url);
    let Some(text) = text else {
        context.repeated_texts.see(&page.url, None);
        return Ok(None);
    };
    if web::says_not_found(document) && is_not_found(context, lease, page, &text).await? {
        return Ok(Some(Interstitial::soft_not_found()));
    }
    let candidate = Some(&text).filter(|_| !leads_on(document, &page.url));
    let finding = match context.repeated_texts.see(&page.url, candidate) {
        View::Decided(finding) => finding,
        View::Suspicious(suspicion) => {
            decide(
                context,
                lease,
                page,
                &text,
                suspicion,
                reading.needs_scripts,
            )
            .await?
        }
    };
    // A server that sends its front page for all URLs has a front page.
    let is_front = lease.is_seed() || page.url.as_url().path() == "/";
    Ok(match finding {
        Finding::Block => Some(Interstitial::of_unknown_firewall()),
        Finding::NotFound if !is_front => Some(Interstitial::soft_not_found()),
        Finding::NotFound | Finding::Page => None,
    })
}

/// Decides on a suspicious text, and keeps the decision unless the host is in trouble.
async fn decide(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    text: &ShortText,
    suspicion: Suspicion,
    needs_scripts: bool,
) -> Result<Finding, Fault> {
    let mut finding = Finding::Page;
    if let Some(other) = suspicion.other {
        let Some(now) = request(context, lease, &other).await? else {
            return Ok(Finding::Page);
        };
        if is_like(&now, &other, text) {
            finding = Finding::Block;
        }
    }
    let may_be_of_all = suspicion.recurs || suspicion.is_of_many_domains;
    if finding == Finding::Page && !may_be_of_all {
        // The text is not decided: it may come again.
        return Ok(finding);
    }
    // A page of scripts is the same for all URLs.
    if finding == Finding::Page
        && !needs_scripts
        && is_not_found(context, lease, page, text).await?
    {
        finding = match suspicion.is_of_many_domains {
            true => Finding::Block,
            false => Finding::NotFound,
        };
    }
    let host = page.url.host();
    context.repeated_texts.conclude(host, text.clone(), finding);
    Ok(finding)
}

/// Returns true if the host sends this text for URLs that do not exist.
async fn is_not_found(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    text: &ShortText,
) -> Result<bool, Fault> {
    let Ok(nowhere) = page.url.join(NOWHERE, &CanonicalForm::keep_all()) else {
        return Ok(false);
    };
    let not_found = context.not_found_pages.of_host(&page.url.host());
    let request = async || {
        let missing = request(context, lease, &nowhere).await?;
        let document = missing
            .as_ref()
            .and_then(|missing| missing.document.as_ref());
        Ok::<_, Fault>(document.and_then(|document| text_of(document, &nowhere)))
    };
    let missing = not_found.get_or_try_init(request).await?.as_ref();
    Ok(missing.is_some_and(|missing| missing.is_like(text)))
}

/// Requests a URL of the host. Returns the HTML page in the response; `None` if there is none, or
/// if robots.txt forbids the request.
async fn request(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    url: &PageUrl,
) -> Result<Option<Reading>, Fault> {
    let permission = permission::check_hop(context, lease, url).await?;
    if !matches!(permission, Permission::Granted(_)) {
        return Ok(None);
    }
    let wants_body = |_status, _headers: &HeaderMap| true;
    let (unconditional, content) = (Validators::default(), RequestContent::default());
    let host = lease.url().host();
    let request = politeness::request(
        context,
        Some(&host),
        url,
        &unconditional,
        &content,
        &wants_body,
    );
    let Ok(response) = request.await? else {
        return Ok(None);
    };
    if !(200..300).contains(&response.status) {
        return Ok(None);
    }
    let reading = reading::read_as_received(context, &response, Kind::Page).await?;
    let has_html = reading.document.as_ref().is_some_and(is_html);
    Ok(has_html.then_some(reading))
}

/// Returns true if a page has this text.
fn is_like(page: &Reading, url: &PageUrl, text: &ShortText) -> bool {
    let document = page.document.as_ref();
    let words = document.and_then(|document| text_of(document, url));
    words.is_some_and(|words| words.is_like(text))
}

/// Returns true if a page has links to others of its host, besides the front page.
fn leads_on(document: &Document, url: &PageUrl) -> bool {
    let links = document.links.iter();
    let leads = [LinkKind::Page, LinkKind::Frame, LinkKind::Refresh];
    let mut pages =
        links.filter(|link| leads.contains(&link.kind) && link.url.host() == url.host());
    pages.any(|link| link.url != *url && link.url.as_url().path() != "/")
}

fn is_html(document: &Document) -> bool {
    document.media == Media::Html
}

/// Returns the words of a page; `None` for a long one.
fn text_of(document: &Document, url: &PageUrl) -> Option<ShortText> {
    ShortText::of(document.full_text(), &url.host())
}
