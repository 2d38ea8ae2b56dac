//! Interstitial pages: block pages are visited again later, and the others are excluded.
//!
//! Most are known by their markers ([`Interstitial`]); [`unmarked`] finds others by requests.
//!
//! Invariant: pages are never compared with an interstitial page, and its links are not followed.

mod unmarked;

use std::sync::Arc;

use journal::{Reason, StoreFault};
use store::Lease;
use web::{Exchange, Interstitial, InterstitialKind, Timestamp};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::retry::{Decision, VisitFailure};
use crate::runtime::{blocks, politeness};
use crate::steps::reading::Reading;
use crate::steps::redirects::FailedAttempt;

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
    if is_page && reading.interstitial.is_none() {
        reading.interstitial = unmarked::find(context, lease, page, &reading).await?;
    }
    if let Some(found) = &reading.interstitial
        && found.kind == InterstitialKind::Blocked
        && let Some(failed) = blocked(context, lease, page, found).await?
    {
        return Ok(Err(failed));
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
