//! The life of a page.
//!
//! [`visit`] tells it from top to bottom. Every step before the last may run twice: a crash in
//! between costs a second fetch and nothing else, because the page is `Own` to the index and what
//! it left in the archive is cut off.

use std::sync::Arc;

use sinks::{IndexText, Keeping, Note, PayloadDigest, Visit};
use store::{ArchiveSpan, Fate, FinishedVisit, Lease, Settlement, VisitRecord};
use web::{Exchange, PageUrl, Timestamp};

use crate::links::{self, Outlinks};
use crate::permission::Permission;
use crate::redirects::{ChainEnd, RedirectChain};
use crate::retry::{self, Decision, Setback};
use crate::{
    CrawlContext, Fault, admission, indexing, outlinks, permission, politeness, reading, redirects,
    runtime_overrides, visit_record,
};

/// What a visit came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page's life is over.
    Ended(Fate),
    /// It will be tried again.
    Postponed,
    /// It was not begun: its host was not ready after all.
    Returned,
}

/// Lives the life of a page.
pub async fn visit(context: &Arc<CrawlContext>, lease: Lease) -> Result<Outcome, Fault> {
    context.pacer.recall(&lease.url().host(), lease.pace);
    if let Some(reason) = politeness::deadly(&lease) {
        return give_up(context, lease, RedirectChain::default(), reason).await;
    }
    if let Some(reason) =
        runtime_overrides::exclusion(context, lease.url()).or_else(|| lease.barred.clone())
    {
        return leave_out(context, lease, RedirectChain::default(), reason).await;
    }

    // robots
    match permission::ask(context, &lease).await? {
        Permission::Granted => {}
        Permission::NotYet => return put_back(context, lease).await,
        Permission::Forbidden(rule) => {
            return leave_out(context, lease, RedirectChain::default(), rule).await;
        }
        Permission::Unknown { until, trouble } => {
            let setback = Setback::of_robots(&trouble);
            return set_back(
                context,
                lease,
                RedirectChain::unknown(until, trouble),
                setback,
                until,
            )
            .await;
        }
    }

    // pacing → resolve + connect (guarded) → fetch (capped), hop by hop
    let mut journey = redirects::follow(context, &lease).await?;
    let page = match journey.landing() {
        ChainEnd::Page(page) => page,
        ChainEnd::Barred(reason) => return leave_out(context, lease, journey, reason).await,
        ChainEnd::Setback(setback, until) => {
            return set_back(context, lease, journey, setback, until).await;
        }
    };

    // decode → extract → fingerprint; a page that was not modified is read as an earlier crawl
    // archived it
    let reading = reading::read(
        context,
        page,
        reading::Kind::of(lease.discovered().requisite),
    )
    .await?;

    // admit
    let judgement = admission::admit(context, &lease, page, journey.unmodified(), &reading).await?;

    // discover links
    let ways = links::discover(context, &lease, page, &reading, &judgement).await?;

    // archive → index → settle
    let row = visit_record::of_page(&lease, page, &journey.exchanges, &reading, &judgement);
    let exchanges = std::mem::take(&mut journey.exchanges);
    let kept = Kept {
        exchanges,
        matched: judgement.match_notes(),
        keeping: judgement.keeping,
        payload: Some(reading.payload),
        outlinks: outlinks::outlinks(context.policy.outlinks, reading.document.as_ref()),
        text: indexing::text(&context.policy, &row, reading.document),
    };
    end(context, lease, row, kept, ways, journey.reached).await
}

/// What the archive gets of a visit.
struct Kept {
    exchanges: Vec<Exchange>,
    matched: Vec<Note>,
    keeping: Keeping,
    payload: Option<PayloadDigest>,
    outlinks: Vec<Note>,
    text: Option<Box<IndexText>>,
}

/// The host was not ready: the page keeps its place.
async fn put_back(context: &CrawlContext, lease: Lease) -> Result<Outcome, Fault> {
    let pace = politeness::pace(context, &lease);
    context
        .frontier
        .settle(lease, Settlement::Returned, pace)
        .await?;
    Ok(Outcome::Returned)
}

/// A rule forbids the page, or where it leads.
async fn leave_out(
    context: &CrawlContext,
    lease: Lease,
    journey: RedirectChain,
    reason: String,
) -> Result<Outcome, Fault> {
    end_without_page(context, lease, journey, Fate::Excluded, reason).await
}

/// The page cannot be had.
async fn give_up(
    context: &CrawlContext,
    lease: Lease,
    journey: RedirectChain,
    reason: String,
) -> Result<Outcome, Fault> {
    end_without_page(context, lease, journey, Fate::Failed, reason).await
}

/// Something went wrong: again, not before `until`, or never.
async fn set_back(
    context: &CrawlContext,
    lease: Lease,
    journey: RedirectChain,
    setback: Setback,
    until: Timestamp,
) -> Result<Outcome, Fault> {
    let reason = journey.trouble(setback);
    let decision = retry::decide(setback, lease.entry.attempts, context.policy.tries);
    context.telemetry.add(&retry::counts(setback, decision));
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
    give_up(context, lease, journey, reason).await
}

/// What was admitted by an earlier visit that did not end is forgotten, and what was left out for
/// its sake waits again.
async fn end_without_page(
    context: &CrawlContext,
    lease: Lease,
    journey: RedirectChain,
    fate: Fate,
    reason: String,
) -> Result<Outcome, Fault> {
    context.index.forget(lease.url().key()).await?;
    let row = visit_record::of_no_page(
        lease.discovered().clone(),
        &journey.exchanges,
        context.clock.date(),
        fate,
        reason,
    );
    let kept = Kept {
        exchanges: journey.exchanges,
        matched: Vec::new(),
        keeping: Keeping::Whole,
        payload: None,
        outlinks: Vec::new(),
        text: None,
    };
    end(
        context,
        lease,
        row,
        kept,
        Outlinks::default(),
        journey.reached,
    )
    .await
}

/// Archives, then settles: the lease is given back last.
async fn end(
    context: &CrawlContext,
    lease: Lease,
    mut row: VisitRecord,
    kept: Kept,
    ways: Outlinks,
    reached: Vec<PageUrl>,
) -> Result<Outcome, Fault> {
    let Kept {
        exchanges,
        matched,
        keeping,
        payload,
        outlinks,
        text,
    } = kept;
    let notes = visit_record::notes(&row, exchanges.last(), matched, outlinks);
    let visit = Visit {
        url: lease.url().clone(),
        at: row.fetched_at,
        robots: context.robots_files.take(lease.url().key()),
        exchanges,
        keeping,
        payload,
        notes,
        text,
    };
    let archived = context.sink.write(visit).await?;
    row.warc_file = Some(archived.file.clone());
    row.warc_offset = Some(archived.page_offset);
    let fate = row.fate;
    tracing::info!(url = %row.url, fate = fate.as_str(), status = row.status, reason = row.reason, "visited");
    let span = ArchiveSpan {
        ticket: archived.ticket,
        file: archived.file,
        end: archived.end,
    };
    let pace = politeness::pace(context, &lease);
    let settlement = Settlement::Done(FinishedVisit {
        archived: Some(span),
        finds: ways.finds,
        reached,
        left_out: ways.left_out,
        ..FinishedVisit::new(row)
    });
    context.frontier.settle(lease, settlement, pace).await?;
    Ok(Outcome::Ended(fate))
}
