//! Hosts whose firewall blocks the crawl.

use std::sync::Arc;

use ::reading::{decoded, document_here};
use journal::StoreFault;
use store::Lease;
use web::{Exchange, Interstitial, InterstitialKind};

use crate::context::CrawlContext;
use crate::runtime::politeness;

/// The status of a refusal that may be about the client and not about the page.
const FORBIDDEN: u16 = 403;

/// Returns the block page in a refusal; `None` if the page itself is forbidden. Other refusals of
/// firewalls, 429 and 503, slow the host down without it.
pub(crate) async fn in_refusal(
    context: &Arc<CrawlContext>,
    refusal: &Exchange,
) -> Option<Interstitial> {
    if refusal.status != FORBIDDEN {
        return None;
    }
    let (context_too, refusal) = (Arc::clone(context), refusal.clone());
    let read = move || {
        let rules = &context_too.policy.reading;
        let document = document_here(rules, &refusal)?;
        let body = decoded(rules, &refusal).bytes;
        Interstitial::of(&refusal.url, &refusal.headers, &document, &body)
    };
    let found = context.compute(read).await??;
    (found.kind == InterstitialKind::Blocked).then_some(found)
}

/// Slows the host of a block page down, and stores its pace.
pub(crate) async fn report(
    context: &CrawlContext,
    lease: &Lease,
    page: &Exchange,
    found: &Interstitial,
) -> Result<(), StoreFault> {
    let host = page.url.host();
    context.pacer.report_block(&host);
    let wait = context.pacer.pace(&host).wait;
    tracing::warn!(%host, by = found.by, ?wait, "the host blocks the crawl");
    politeness::record_pace(context, Some(&lease.url().host()), &host).await
}
