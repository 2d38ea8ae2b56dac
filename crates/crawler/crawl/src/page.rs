//! The life of a page.
//!
//! [`visit`] is that life from top to bottom. Every step before the last may run twice: a crash in
//! between only costs a second fetch, because the index recognizes the page as its own and the
//! archive cuts off an unsettled visit.

use std::sync::Arc;

use journal::{ArchiveSpan, Fate, FinishedVisit, Reason, Rendered, VisitRecord};
use sinks::{Archived, Keeping, MetadataField, Visit};
use store::{Lease, Settlement};
use web::{Exchange, PageUrl, UrlKey};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::politeness;
use crate::runtime::retry::{self, Decision};
use crate::steps::admission::Admission;
use crate::steps::links::{self, Outlinks};
use crate::steps::permission::{self, Permission};
use crate::steps::reading::Reading;
use crate::steps::redirects::{self, ChainEnd, FailedAttempt, RedirectChain};
use crate::steps::{admission, indexing, outlinks, rendering, seed_moves, visit_record};

/// The result of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page has its final fate.
    Ended(Fate),
    /// The page will be tried again.
    Postponed,
    /// The page was not requested, because its host was not ready.
    Returned,
}

/// Visits a leased page, from robots.txt to settlement.
///
/// # Errors
/// [`Fault`] if our own machinery fails. A failure of the page is an [`Outcome`].
pub async fn visit(context: &Arc<CrawlContext>, lease: Lease) -> Result<Outcome, Fault> {
    context.pacer.recall(&lease.url().host(), lease.pace);
    let unasked = RedirectChain::default();
    if let Some(reason) = politeness::too_many_crashes(&lease) {
        return settle_without_page(context, lease, unasked, Fate::Failed, reason).await;
    }
    let excluded = permission::exclusion(context, &lease);
    if let Some(reason) = excluded.or_else(|| lease.excluded.clone()) {
        return settle_without_page(context, lease, unasked, Fate::Excluded, reason).await;
    }

    // robots → pacing → resolve + connect (guarded) → fetch (capped), hop by hop
    let chain = match permission::check(context, &lease).await? {
        Permission::Granted(url) => redirects::follow(context, &lease, url).await?,
        Permission::NotYet => {
            politeness::settle(context, lease, Settlement::Returned).await?;
            return Ok(Outcome::Returned);
        }
        Permission::Forbidden(rule) => RedirectChain::excluded(rule),
        Permission::Unknown(outage) => RedirectChain::without_robots(outage),
    };
    let page = match chain.end(lease.url()) {
        ChainEnd::Page(page) => page,
        ChainEnd::Excluded(reason) => {
            return settle_without_page(context, lease, chain, Fate::Excluded, reason).await;
        }
        ChainEnd::Failed(failed) => return retry_or_fail(context, lease, chain, failed).await,
    };

    // decode → extract (from the DOM, if the page needs its scripts) → fingerprint → judge by
    // the topic; an unmodified page is read from an earlier crawl's archive
    let mut reading = match rendering::read(context, &lease, page).await? {
        Ok(reading) => reading,
        Err(failed) => return retry_or_fail(context, lease, chain, failed).await,
    };

    // admit → discover links
    let admission = admission::admit(context, &lease, page, chain.unmodified(), &reading).await?;
    let links = links::discover(context, &lease, page, &mut reading, &admission).await?;

    // archive → index → settle
    let record = visit_record::with_page(&lease, page, &chain.exchanges, &reading, &admission);
    let mut notes = notes(context, &chain.exchanges, &reading, &admission);
    notes.extend(links.queued(&record, &admission.keeping));
    let visit = Visit {
        subrequests: reading.rendered.exchanges(&admission.keeping),
        dom: reading.rendered.dom,
        picture: reading.rendered.picture,
        keeping: admission.keeping,
        payload: Some(reading.payload),
        text: indexing::text(&context.policy, &record, reading.document),
        ..whole_visit(context, &record, chain.exchanges, notes)
    };
    let (record, archived) = archive(context, record, visit).await?;
    let fate = settle(context, lease, record, &archived, links, chain.reached).await?;
    if let Some(page) = admission.compared {
        page.remember(context, &archived, &admission.contains);
    }
    Ok(Outcome::Ended(fate))
}

/// Returns fields for the archive about the match of a page, its topic and its warnings.
fn notes(
    context: &CrawlContext,
    exchanges: &[Exchange],
    reading: &Reading,
    admission: &Admission,
) -> Vec<MetadataField> {
    let document = reading.document.as_ref();
    let mut notes = visit_record::match_fields(admission, document);
    notes.extend(visit_record::topic_fields(reading));
    notes.extend(reading.rendered.notes(&admission.keeping));
    let odd = visit_record::warnings_of(exchanges);
    let odd = odd.chain(reading.warnings.iter().copied());
    notes.extend(visit_record::warnings(odd));
    notes.extend(outlinks::notes(context.policy.outlinks, document));
    notes
}

/// Queues a page again after a failure, or gives it up.
async fn retry_or_fail(
    context: &CrawlContext,
    lease: Lease,
    chain: RedirectChain,
    failed: FailedAttempt,
) -> Result<Outcome, Fault> {
    let FailedAttempt {
        failure,
        host,
        reason,
        cause,
        until,
    } = failed;
    seed_moves::report_failure(context, &lease, failure, &cause.to_string());
    let health = politeness::health_of(context, &lease, &host);
    if health.is_down {
        context
            .telemetry
            .note_down(&lease.url().host(), &reason.to_string());
    }
    let decision = health.decide(context, &lease, failure);
    context.telemetry.add(&retry::counts(failure, decision));
    let Decision::Again { wait, counts } = decision else {
        return settle_without_page(context, lease, chain, Fate::Failed, reason).await;
    };
    tracing::info!(url = %lease.url(), %reason, ?wait, counts, "will be tried again");
    let at = until.max(context.clock.now() + wait).max(health.ready);
    let again = Settlement::Again { at, reason, counts };
    politeness::settle(context, lease, again).await?;
    Ok(Outcome::Postponed)
}

/// Settles a visit that brought no page to judge. If an earlier, unfinished visit admitted the
/// page, the index forgets it, and pages that were not archived as its duplicates are queued again.
async fn settle_without_page(
    context: &CrawlContext,
    lease: Lease,
    chain: RedirectChain,
    fate: Fate,
    reason: Reason,
) -> Result<Outcome, Fault> {
    context.index.forget(lease.url().key()).await?;
    let (found, now) = (lease.discovered().clone(), context.clock.date());
    let record = visit_record::without_page(found, &chain.exchanges, now, fate, reason);
    let odd = visit_record::warnings_of(&chain.exchanges);
    let notes = visit_record::warnings(odd).into_iter().collect();
    let visit = whole_visit(context, &record, chain.exchanges, notes);
    let no_links = Outlinks::default();
    let (record, archived) = archive(context, record, visit).await?;
    let fate = settle(context, lease, record, &archived, no_links, chain.reached).await?;
    Ok(Outcome::Ended(fate))
}

/// Returns a visit for the archive, with all its exchanges and no text to search.
fn whole_visit(
    context: &CrawlContext,
    record: &VisitRecord,
    exchanges: Vec<Exchange>,
    notes: Vec<MetadataField>,
) -> Visit {
    Visit {
        url: record.url.clone(),
        at: record.fetched_at,
        robots: context.robots_files.take(record.url.key()),
        metadata: visit_record::metadata(record, &exchanges, notes),
        exchanges,
        keeping: Keeping::Whole,
        subrequests: Vec::new(),
        dom: None,
        picture: None,
        payload: None,
        text: None,
    }
}

/// Archives the visit, and notes its place in the record.
async fn archive(
    context: &CrawlContext,
    mut record: VisitRecord,
    visit: Visit,
) -> Result<(VisitRecord, Archived), Fault> {
    let parts: Vec<UrlKey> = visit
        .subrequests
        .iter()
        .map(|part| part.url.key())
        .collect();
    let archived = context.sink.write(visit).await?;
    record.warc_file = Some(archived.file.clone());
    record.warc_offset = Some(archived.page_offset);
    if let Some(Rendered::Dom { offset, .. }) = &mut record.details.rendered {
        *offset = archived.dom_offset;
    }
    if let Some(renderer) = &context.renderer {
        renderer.archived(&parts, &archived).await;
    }
    visit_record::announce(context, &record);
    Ok((record, archived))
}

/// Settles the lease of an archived visit.
async fn settle(
    context: &CrawlContext,
    lease: Lease,
    record: VisitRecord,
    archived: &Archived,
    links: Outlinks,
    reached: Vec<PageUrl>,
) -> Result<Fate, Fault> {
    let fate = record.fate;
    let span = ArchiveSpan {
        archive_sequence: archived.archive_sequence,
        file: archived.file.clone(),
        end: archived.end,
    };
    let settlement = Settlement::Done(FinishedVisit {
        archived: Some(span),
        finds: links.discovered,
        reached,
        excluded: links.excluded,
        ..FinishedVisit::new(record)
    });
    politeness::settle(context, lease, settlement).await?;
    Ok(fate)
}
