//! The pacing state of hosts, from one session to the next.
//!
//! The pacer keeps the state while the crawl runs, and the frontier stores it beyond that. The
//! state of a lease's host comes with the lease and is settled with it. For hosts reached on the
//! way (redirects, robots.txt), the frontier is read before the request and written afterwards. So
//! the state is always known before the next request to a host. One case is left: a robots.txt that
//! redirects to another host, which is paced only by what this session knows of that host.
//!
//! A process may die at any moment, and a settlement is recorded long after its response: the page
//! is read before, and may wait for its turn in the archive. So two changes that slow a host down
//! are stored at once: the first request to a host, before it is sent; and a longer wait than
//! before, when the response ends.
//!
//! Invariant: whenever the process dies, the journal has the longest wait computed from each host's
//! last response.

use fetch::{FetchFailure, RequestContent, WantsBody};
use http::HeaderMap;
use journal::{Reason, StoreFault};
use requests::{PacedResponse, ResponseKind};
use store::{Lease, Settlement};
use web::{Exchange, Host, Pace, PageUrl, Timestamp, Validators, WaitReason};

use crate::context::CrawlContext;
use crate::runtime::retry::{self, Decision, VisitFailure};

/// Maximum number of sessions that may die while they visit a page. From the second death on, the
/// frontier hands the page out alone, so that it costs no other page. A killed process looks like a
/// process that a page ended, so the number is high: with three, ten kills of a crawl of sixty
/// pages lost two pages.
const MAX_CRASHES: u32 = 8;

/// Returns the reason to give up a page that has crashed the crawler too often.
pub(crate) fn too_many_crashes(lease: &Lease) -> Option<Reason> {
    let crashes = lease.entry.crashes;
    let text = || format!("the crawler died {crashes} times while it visited this page");
    (crashes >= MAX_CRASHES).then(|| Reason::said(text()))
}

/// Returns true if the hosts that share their pace with the lease's host allow a request now. If
/// not, the host's pace says when to come again.
pub(crate) async fn is_ready(context: &CrawlContext, lease: &Lease) -> bool {
    let key = context
        .pacer
        .politeness_key(&*context.fetch, lease.url())
        .await;
    context.pacer.enqueue_unless_ready(&key)
}

/// Number of failures in a row before a host is asked for a page that it answered before, instead
/// of new pages.
const MAX_FAILURES_BEFORE_CHECK: u32 = 3;

/// Requests a page that the host answered before, if it is in doubt whether the host answers at
/// all: the host failed several times in a row, or it failed last and this page failed before. So a
/// host that is down costs its pages no tries, and is distinguished from a page that always fails.
/// Returns true if the request was made; then the host is not ready for the leased page itself.
///
/// The page is in the archive, so this response is not. If it fails too, it is forgotten.
pub(crate) async fn checks_host(context: &CrawlContext, lease: &Lease) -> Result<bool, StoreFault> {
    let host = lease.url().host();
    let failures = context.pacer.pace(&host).failures;
    let is_in_doubt =
        failures >= MAX_FAILURES_BEFORE_CHECK || failures > 0 && lease.entry.attempts > 0;
    if !is_in_doubt {
        return Ok(false);
    }
    let answered = context.pacer.take_page(&host);
    let Some(url) = answered.filter(|url| url != lease.url()) else {
        return Ok(false);
    };
    let key = context.pacer.politeness_key(&*context.fetch, &url).await;
    let permit = context.pacer.permit(key).await;
    // Whole: bodies may break off while every head is right.
    let with_body = |_status, _headers: &HeaderMap| true;
    let unconditional = Validators::default();
    let outcome = context
        .fetch
        .request_for(&url, &unconditional, &RequestContent::default(), &with_body)
        .await;
    let response = response_of(context, &host, &outcome);
    if response.kind == ResponseKind::Fine {
        context.pacer.remember_page(&url);
    }
    tracing::info!(%host, %url, failures, response = ?response.kind, "a host in doubt was checked");
    permit.finish(response);
    record_pace(context, Some(&host), &host).await?;
    Ok(true)
}

/// Requests `url`, with this content, when its host is ready. Stores the pace of the host. `leased`
/// is the host of the lease behind the request, if there is one. A response that asks for a login
/// of the user is followed by a request with it, which waits for the host again.
pub(crate) async fn request(
    context: &CrawlContext,
    leased: Option<&Host>,
    url: &PageUrl,
    known: &Validators,
    content: &RequestContent,
    wants_body: &WantsBody<'_>,
) -> Result<Result<Exchange, FetchFailure>, StoreFault> {
    let once = || request_once(context, leased, url, known, content, wants_body);
    match once().await? {
        Ok(refusal) if context.fetch.can_log_in(&refusal) => once().await,
        outcome => Ok(outcome),
    }
}

async fn request_once(
    context: &CrawlContext,
    leased: Option<&Host>,
    url: &PageUrl,
    known: &Validators,
    content: &RequestContent,
    wants_body: &WantsBody<'_>,
) -> Result<Result<Exchange, FetchFailure>, StoreFault> {
    let host = url.host();
    recall(context, leased, &host).await?;
    let key = context.pacer.politeness_key(&*context.fetch, url).await;
    let permit = context.pacer.permit(key).await;
    record_unanswered(context, &host).await?;
    let outcome = context
        .fetch
        .request_for(url, known, content, wants_body)
        .await;
    permit.finish(response_of(context, &host, &outcome));
    record_pace(context, leased, &host).await?;
    Ok(outcome)
}

/// Returns the response of a host for its pace. A body that breaks off is a missing answer, unless
/// the host has never sent a whole page: then its pages may all state a wrong length.
pub(crate) fn response_of(
    context: &CrawlContext,
    host: &Host,
    outcome: &Result<Exchange, FetchFailure>,
) -> PacedResponse {
    let answered = outcome.as_ref().map_err(FetchFailure::kind);
    let response = PacedResponse::of(answered, context.clock.date());
    let is_cut = outcome
        .as_ref()
        .is_ok_and(|exchange| FetchFailure::of_incomplete(exchange).is_some());
    match is_cut && context.pacer.has_answered_page(host) {
        true => PacedResponse {
            kind: ResponseKind::Failed,
            ..response
        },
        false => response,
    }
}

/// The health of the host that a failure came from.
pub(crate) struct Health {
    /// True if the host's response before the failure was good.
    pub(crate) is_well: bool,
    /// True if the host differs from the lease's host and is past its last chance: no page waits
    /// for it any more.
    pub(crate) is_hopeless: bool,
    /// True if the host of the lease is past its last chance.
    pub(crate) is_down: bool,
    /// The time when a host other than the lease's is ready again.
    pub(crate) ready: Timestamp,
}

impl Health {
    /// Decides about a page that failed because of the host.
    pub(crate) fn decide(
        &self,
        context: &CrawlContext,
        lease: &Lease,
        failure: VisitFailure,
    ) -> Decision {
        let tries = match self.is_hopeless {
            true => 1,
            false => context.policy.tries,
        };
        retry::decide(failure, lease.entry.attempts, tries, self.is_well)
    }
}

/// Returns the health of `host`, which was asked for a lease just now and failed.
pub(crate) fn health_of(context: &CrawlContext, lease: &Lease, host: &Host) -> Health {
    let pace = context.pacer.pace(host);
    let is_elsewhere = lease.url().host() != *host;
    // The frontier ends the wait for the host of a lease, and knows no other host.
    let is_hopeless =
        is_elsewhere && pace.is_past_last_chance(context.pacer.has_answered_page(host));
    Health {
        is_well: pace.failures <= 1,
        is_hopeless,
        is_down: !is_elsewhere && pace.is_past_last_chance(false),
        ready: match is_elsewhere {
            true => pace.ready,
            false => Timestamp::default(),
        },
    }
}

/// Settles a lease with the pace of its host, if it is known.
pub(crate) async fn settle(
    context: &CrawlContext,
    lease: Lease,
    settlement: Settlement,
) -> Result<(), StoreFault> {
    let pace = context.pacer.pace(&lease.url().host());
    context.frontier.settle(lease, settlement, pace).await
}

/// Gives the pacer the stored state of a host reached on the way, before it is asked.
pub(crate) async fn recall(
    context: &CrawlContext,
    leased: Option<&Host>,
    host: &Host,
) -> Result<(), StoreFault> {
    if leased == Some(host) {
        return Ok(());
    }
    if let Some(pace) = context.frontier.hosts().pace(host).await? {
        context.pacer.recall(host, pace);
    }
    Ok(())
}

/// Stores that a host without any response so far is asked: if the process dies first, the next
/// process knows how long the host has been silent.
pub(crate) async fn record_unanswered(
    context: &CrawlContext,
    host: &Host,
) -> Result<(), StoreFault> {
    let known = context.frontier.hosts().pace(host).await?;
    if known.is_some_and(|known| known.why == WaitReason::Unanswered || has_answered(&known)) {
        return Ok(());
    }
    let pace = Pace {
        address: known.and_then(|known| known.address),
        ..Pace::unanswered(context.clock.now(), context.pacer.pace(host).wait)
    };
    context.frontier.hosts().record_pace(host, pace).await
}

/// Stores the pace of a host that was just asked: always for a host other than the lease's, which
/// no settlement stores, and for the lease's own host if its wait is longer than the stored one.
pub(crate) async fn record_pace(
    context: &CrawlContext,
    leased: Option<&Host>,
    host: &Host,
) -> Result<(), StoreFault> {
    let pace = context.pacer.pace(host);
    if leased == Some(host) {
        let known = context.frontier.hosts().pace(host).await?;
        if known.is_some_and(|known| has_answered(&known) && pace.wait <= known.wait) {
            return Ok(());
        }
    }
    context.frontier.hosts().record_pace(host, pace).await
}

fn has_answered(pace: &Pace) -> bool {
    pace.answered != Timestamp::default()
}
