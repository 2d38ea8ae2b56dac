//! The life of a page.
//!
//! [`visit`] tells it from top to bottom. Every step before the last may run twice: a crash in
//! between costs a second fetch and nothing else, because the index recognizes the page as its own
//! and the archive cuts off an unsettled visit.

use std::sync::Arc;

use sinks::{IndexText, Keeping, MetadataField, PayloadDigest, Visit};
use store::{ArchiveSpan, Fate, FinishedVisit, Lease, Settlement, VisitRecord};
use web::{Exchange, PageUrl, Timestamp};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::politeness;
use crate::runtime::retry::{self, Decision, VisitFailure};
use crate::steps::links::{self, Outlinks};
use crate::steps::permission::{self, Permission};
use crate::steps::redirects::{self, ChainEnd, RedirectChain};
use crate::steps::{admission, indexing, outlinks, reading, visit_record};

/// The result of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page has its final fate.
    Ended(Fate),
    /// The page will be tried again.
    Postponed,
    /// The page was not begun, because its host was not ready.
    Returned,
}

/// Visits a leased page, from robots.txt to settlement.
///
/// # Errors
/// [`Fault`] if our own machinery fails. A failure of the page is an [`Outcome`].
pub async fn visit(context: &Arc<CrawlContext>, lease: Lease) -> Result<Outcome, Fault> {
    context.pacer.recall(&lease.url().host(), lease.pace);
    let untouched = RedirectChain::default();
    if let Some(reason) = politeness::too_many_crashes(&lease) {
        return fail(context, lease, untouched, reason).await;
    }
    let ruled_out = context.overrides.exclusion(lease.url());
    if let Some(reason) = ruled_out.or_else(|| lease.barred.clone()) {
        return exclude(context, lease, untouched, reason).await;
    }

    // robots
    match permission::check(context, &lease).await? {
        Permission::Granted => {}
        Permission::NotYet => return put_back(context, lease).await,
        Permission::Forbidden(rule) => return exclude(context, lease, untouched, rule).await,
        Permission::Unknown { until, error } => {
            let failure = VisitFailure::of_robots(&error);
            let chain = RedirectChain::robots_unavailable(until, error);
            return retry_or_fail(context, lease, chain, failure, until).await;
        }
    }

    // pacing → resolve + connect (guarded) → fetch (capped), hop by hop
    let mut chain = redirects::follow(context, &lease).await?;
    let page = match chain.end() {
        ChainEnd::Page(page) => page,
        ChainEnd::Barred(reason) => return exclude(context, lease, chain, reason).await,
        ChainEnd::Failure(failure, until) => {
            return retry_or_fail(context, lease, chain, failure, until).await;
        }
    };

    // decode → extract → fingerprint; an unmodified page is read from an earlier crawl's archive
    let reading = reading::read(
        context,
        page,
        reading::Kind::of(lease.discovered().requisite),
    )
    .await?;

    // admit
    let admission = admission::admit(context, &lease, page, chain.unmodified(), &reading).await?;

    // discover links
    let links = links::discover(context, &lease, page, &reading, &admission).await?;

    // archive → index → settle
    let row = visit_record::with_page(&lease, page, &chain.exchanges, &reading, &admission);
    let contents = VisitContents {
        exchanges: std::mem::take(&mut chain.exchanges),
        matched: visit_record::match_fields(admission.original.as_deref(), admission.retained),
        keeping: admission.keeping,
        payload: Some(reading.payload),
        outlinks: outlinks::notes(context.policy.outlinks, reading.document.as_ref()),
        text: indexing::text(&context.policy, &row, reading.document),
    };
    archive_and_settle(context, lease, row, contents, links, chain.reached).await
}

/// The parts of a visit that the archive and the search index get.
struct VisitContents {
    exchanges: Vec<Exchange>,
    matched: Vec<MetadataField>,
    keeping: Keeping,
    payload: Option<PayloadDigest>,
    outlinks: Vec<MetadataField>,
    text: Option<Box<IndexText>>,
}

/// Returns the lease because the host was not ready; the page keeps its place in the queue.
async fn put_back(context: &CrawlContext, lease: Lease) -> Result<Outcome, Fault> {
    let pace = politeness::pace(context, &lease);
    context
        .frontier
        .settle(lease, Settlement::Returned, pace)
        .await?;
    Ok(Outcome::Returned)
}

/// Settles a page that a rule forbids, or whose redirects lead to one.
async fn exclude(
    context: &CrawlContext,
    lease: Lease,
    chain: RedirectChain,
    reason: String,
) -> Result<Outcome, Fault> {
    settle_without_page(context, lease, chain, Fate::Excluded, reason).await
}

/// Settles a page that cannot be fetched.
async fn fail(
    context: &CrawlContext,
    lease: Lease,
    chain: RedirectChain,
    reason: String,
) -> Result<Outcome, Fault> {
    settle_without_page(context, lease, chain, Fate::Failed, reason).await
}

/// Queues a page again after a failure, not before `until`, or gives it up.
async fn retry_or_fail(
    context: &CrawlContext,
    lease: Lease,
    chain: RedirectChain,
    failure: VisitFailure,
    until: Timestamp,
) -> Result<Outcome, Fault> {
    let reason = chain.reason(failure);
    let decision = retry::decide(failure, lease.entry.attempts, context.policy.tries);
    context.telemetry.add(&retry::counts(failure, decision));
    if let Decision::Again(wait) = decision {
        tracing::info!(url = %lease.url(), reason, ?wait, "will be tried again");
        let at = until.max(context.clock.now() + wait);
        let pace = politeness::pace(context, &lease);
        context
            .frontier
            .settle(lease, Settlement::Again { at }, pace)
            .await?;
        return Ok(Outcome::Postponed);
    }
    fail(context, lease, chain, reason).await
}

/// Settles a visit that brought no page to judge. If an earlier, unfinished visit admitted the
/// page, the index forgets it, and pages that were left out as its duplicates are queued again.
async fn settle_without_page(
    context: &CrawlContext,
    lease: Lease,
    chain: RedirectChain,
    fate: Fate,
    reason: String,
) -> Result<Outcome, Fault> {
    context.index.forget(lease.url().key()).await?;
    let now = context.clock.date();
    let row = visit_record::without_page(
        lease.discovered().clone(),
        &chain.exchanges,
        now,
        fate,
        reason,
    );
    let contents = VisitContents {
        exchanges: chain.exchanges,
        matched: Vec::new(),
        keeping: Keeping::Whole,
        payload: None,
        outlinks: Vec::new(),
        text: None,
    };
    let no_links = Outlinks::default();
    archive_and_settle(context, lease, row, contents, no_links, chain.reached).await
}

/// Archives the visit, then settles the lease.
async fn archive_and_settle(
    context: &CrawlContext,
    lease: Lease,
    mut row: VisitRecord,
    contents: VisitContents,
    links: Outlinks,
    reached: Vec<PageUrl>,
) -> Result<Outcome, Fault> {
    let last = contents.exchanges.last();
    let metadata = visit_record::metadata(&row, last, contents.matched, contents.outlinks);
    let visit = Visit {
        url: lease.url().clone(),
        at: row.fetched_at,
        robots: context.robots_files.take(lease.url().key()),
        exchanges: contents.exchanges,
        keeping: contents.keeping,
        payload: contents.payload,
        metadata,
        text: contents.text,
    };
    let archived = context.sink.write(visit).await?;
    row.warc_file = Some(archived.file.clone());
    row.warc_offset = Some(archived.page_offset);
    let fate = row.fate;
    tracing::info!(
        url = %row.url, fate = fate.as_str(), status = row.status, reason = row.reason, "visited"
    );
    let span = ArchiveSpan {
        ticket: archived.ticket,
        file: archived.file,
        end: archived.end,
    };
    let pace = politeness::pace(context, &lease);
    let settlement = Settlement::Done(FinishedVisit {
        archived: Some(span),
        finds: links.discovered,
        reached,
        left_out: links.left_out,
        ..FinishedVisit::new(row)
    });
    context.frontier.settle(lease, settlement, pace).await?;
    Ok(Outcome::Ended(fate))
}
