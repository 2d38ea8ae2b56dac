//! Interstitial pages: block pages are visited again later, and the others are excluded.
//!
//! Firewalls ([`Interstitial`]) are known by their markers. A page that says that it was not found,
//! with the status of a page, is compared with the response to a URL that cannot exist (soft 404;
//! Bar-Yossef et al., WWW 2004, section 3). One such request per host and session is enough, and
//! hosts without such pages get none.
//!
//! Invariant: pages are never compared with an interstitial page, and its links are not followed.

use std::sync::Arc;

use ::reading::page_text;
use fetch::RequestContent;
use http::HeaderMap;
use journal::{Reason, StoreFault};
use neardup::{HashKey, NormalText, Shingles, Width};
use store::Lease;
use web::{
    CanonicalForm, Document, Exchange, Interstitial, InterstitialKind, Media, Timestamp, Validators,
};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::retry::{Decision, VisitFailure};
use crate::runtime::{blocks, politeness};
use crate::steps::permission::{self, Permission};
use crate::steps::reading::{self, Kind, Reading};
use crate::steps::redirects::FailedAttempt;

/// Minimum share of words that two pages of a server for missing URLs have in common. They may name
/// the URL.
const SAME_WORDS: f64 = 0.8;

/// The path of a page that does not exist, readable for an owner who finds it in a log.
const NOWHERE: &str = "/no-such-page-7f3a9c51d0e84b26";

/// Returns the reading with the interstitial page that it is, if any; or a failed attempt if that
/// is a block page and another visit may bring the page. Requisites are parts of a page: a frame
/// may well be a CAPTCHA.
///
/// # Errors
/// Faults of reading and of the store.
pub(crate) async fn judge(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    mut reading: Reading,
) -> Result<Result<Reading, FailedAttempt>, Fault> {
    let is_page = lease.discovered().requisite == 0;
    let replaces = |found: &Interstitial| is_page && found.replaces(lease.url(), &page.url);
    reading.interstitial = reading.interstitial.filter(replaces);
    match &reading.interstitial {
        None if is_soft_not_found(context, lease, page, &reading).await? => {
            reading.interstitial = Some(Interstitial::soft_not_found());
        }
        Some(found) if found.kind == InterstitialKind::Blocked => {
            if let Some(failed) = blocked(context, lease, page, found).await? {
                return Ok(Err(failed));
            }
        }
        _ => {}
    }
    Ok(Ok(reading))
}

/// Slows the host down. Returns the failed attempt; `None` if the page has had all its visits.
async fn blocked(
    context: &CrawlContext,
    lease: &Lease,
    page: &Exchange,
    found: &Interstitial,
) -> Result<Option<FailedAttempt>, StoreFault> {
    blocks::report(context, lease, page, found).await?;
    let host = page.url.host();
    let failure = VisitFailure::Blocked;
    let health = politeness::health_of(context, lease, &host);
    if health.decide(context, lease, failure) == Decision::GiveUp {
        return Ok(None);
    }
    let reason = Reason::Interstitial(found.clone());
    Ok(Some(FailedAttempt {
        failure,
        host,
        cause: reason.clone(),
        reason,
        until: Timestamp::default(),
    }))
}

/// Returns true if the server sends this page for URLs that do not exist.
async fn is_soft_not_found(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    reading: &Reading,
) -> Result<bool, Fault> {
    let is_page = lease.discovered().requisite == 0 && reading.listing.is_none();
    let document = reading.document.as_ref();
    let Some(document) = document.filter(|document| is_page && web::says_not_found(document))
    else {
        return Ok(false);
    };
    let not_found = context.not_found_pages.of_host(&page.url.host());
    let request = || request_not_found(context, lease, page);
    let not_found = not_found.get_or_try_init(request).await?;
    let words = words_of(document);
    Ok(match (not_found, words) {
        (Some(missing), Some(words)) => missing.resemblance(&words) >= SAME_WORDS,
        _ => false,
    })
}

/// Requests a URL of the host that cannot exist. Returns the words of the response; `None` if it
/// has an error status, or if robots.txt forbids the request.
async fn request_not_found(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
) -> Result<Option<Shingles>, Fault> {
    let Ok(url) = page.url.join(NOWHERE, &CanonicalForm::keep_all()) else {
        return Ok(None);
    };
    let permission = permission::check_hop(context, lease, &url).await?;
    if !matches!(permission, Permission::Granted(_)) {
        return Ok(None);
    }
    let wants_body = |_status, _headers: &HeaderMap| true;
    let (unconditional, content) = (Validators::default(), RequestContent::default());
    let host = lease.url().host();
    let request = politeness::request(
        context,
        Some(&host),
        &url,
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
    let document = reading
        .document
        .filter(|document| document.media == Media::Html);
    Ok(document.as_ref().and_then(words_of))
}

/// Returns the words of a page.
fn words_of(document: &Document) -> Option<Shingles> {
    let text = NormalText::of(page_text(document, false).text);
    Some(Shingles::of(&text, Width::new(1).ok()?, HashKey::ZERO))
}
