//! The life of a page.
//!
//! [`visit`] tells it from top to bottom. Every step before the last may run twice: a crash in between costs a
//! second fetch and nothing else, because the page is `Own` to the index and what it left in the archive is cut off.

use std::sync::Arc;

use sinks::{Keeping, PayloadDigest, Visit};
use store::{ArchiveSpan, Fate, Find, Lease, Row, Settlement};
use web::{Exchange, PageUrl, Timestamp};

use crate::permission::Permission;
use crate::retry::{self, Decision, Setback};
use crate::travel::{Journey, Landing};
use crate::{Counts, Crew, Fault, account, judgement, links, permission, reading, travel};

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
pub async fn visit(crew: &Arc<Crew>, lease: Lease) -> Result<Outcome, Fault> {
    // robots
    match permission::ask(crew, &lease.url).await {
        Permission::Granted => {}
        Permission::NotYet => return put_back(crew, lease).await,
        Permission::Forbidden(rule) => return leave_out(crew, lease, Journey::default(), rule).await,
        Permission::Unknown { until } => {
            return set_back(crew, lease, Journey::default(), Setback::Robots, until).await;
        }
    }

    // pacing → resolve + connect (guarded) → fetch (capped), hop by hop
    let mut journey = travel::travel(crew, &lease).await?;
    let page = match journey.landing() {
        Landing::Page(page) => page,
        Landing::Barred(reason) => return leave_out(crew, lease, journey, reason).await,
        Landing::Setback(setback, until) => return set_back(crew, lease, journey, setback, until).await,
    };

    // decode → extract → fingerprint
    let reading = reading::read(crew, page).await;

    // admit
    let judgement = judgement::admit(crew, &lease, page, &reading).await?;

    // discover links
    let finds = links::discover(crew, &lease, &page.url, &reading, &judgement);

    // archive → index → settle
    let row = account::of_page(&lease, &journey.exchanges, &reading, &judgement);
    let exchanges = std::mem::take(&mut journey.exchanges);
    let kept = Kept {
        exchanges,
        keeping: judgement.keeping,
        payload: Some(reading.payload),
    };
    end(crew, lease, row, kept, finds, journey.reached).await
}

/// What the archive gets of a visit.
struct Kept {
    exchanges: Vec<Exchange>,
    keeping: Keeping,
    payload: Option<PayloadDigest>,
}

/// The host was not ready: the page keeps its place.
async fn put_back(crew: &Crew, lease: Lease) -> Result<Outcome, Fault> {
    let ready = crew.pacer.ready_at(&lease.url.host());
    crew.frontier.settle(lease, Settlement::Returned, ready).await?;
    Ok(Outcome::Returned)
}

/// A rule forbids the page, or where it leads.
async fn leave_out(crew: &Crew, lease: Lease, journey: Journey, reason: String) -> Result<Outcome, Fault> {
    let row = account::of_no_page(
        &lease,
        &journey.exchanges,
        crew.clock.now(),
        Fate::Excluded,
        reason,
    );
    let kept = Kept {
        exchanges: journey.exchanges,
        keeping: Keeping::Whole,
        payload: None,
    };
    end(crew, lease, row, kept, Vec::new(), journey.reached).await
}

/// Something went wrong: again, not before `until`, or never.
async fn set_back(
    crew: &Crew,
    lease: Lease,
    journey: Journey,
    setback: Setback,
    until: Timestamp,
) -> Result<Outcome, Fault> {
    let reason = journey.trouble(setback);
    if let Decision::Again(wait) = retry::decide(setback, lease.attempts, crew.policy.tries) {
        tracing::info!(url = %lease.url, reason, ?wait, "will be tried again");
        crew.telemetry.add(&Counts {
            retries: 1,
            ..Counts::default()
        });
        let at = until.max(crew.clock.now() + wait);
        let ready = crew.pacer.ready_at(&lease.url.host());
        crew.frontier
            .settle(lease, Settlement::Again { at }, ready)
            .await?;
        return Ok(Outcome::Postponed);
    }
    // It may have been admitted by an earlier visit that did not end.
    crew.index.forget(lease.url.key()).await?;
    let row = account::of_no_page(&lease, &journey.exchanges, crew.clock.now(), Fate::Failed, reason);
    let kept = Kept {
        exchanges: journey.exchanges,
        keeping: Keeping::Whole,
        payload: None,
    };
    end(crew, lease, row, kept, Vec::new(), journey.reached).await
}

/// Archives, then settles: the lease is given back last.
async fn end(
    crew: &Crew,
    lease: Lease,
    mut row: Row,
    kept: Kept,
    finds: Vec<Find>,
    reached: Vec<PageUrl>,
) -> Result<Outcome, Fault> {
    let Kept {
        exchanges,
        keeping,
        payload,
    } = kept;
    let notes = account::notes(&row);
    let visit = Visit {
        url: lease.url.clone(),
        at: row.fetched_at,
        exchanges,
        keeping,
        payload,
        notes,
    };
    let archived = crew.sink.write(visit).await?;
    row.warc_file = Some(archived.file.clone());
    row.warc_offset = Some(archived.page_offset);
    let fate = row.fate;
    tracing::info!(url = %row.url, fate = fate.as_str(), status = row.status, reason = row.reason, "visited");
    let span = ArchiveSpan {
        ticket: archived.ticket,
        file: archived.file,
        end: archived.end,
    };
    let ready = crew.pacer.ready_at(&lease.url.host());
    let settlement = Settlement::Done {
        row: Box::new(row),
        archived: Some(span),
        finds,
        reached,
    };
    crew.frontier.settle(lease, settlement, ready).await?;
    Ok(Outcome::Ended(fate))
}
