//! From a leased URL to the page: the crawl follows redirects itself, one hop at a time.
//!
//! Invariant: no hop is requested that a page would not be. Each is canonical, in scope, allowed by
//! robots.txt, guarded (by the fetcher) and paced by its own host; each is kept for the archive.
//! Only the leased URL itself is requested conditionally, and never twice.

use std::io;
use std::sync::Arc;

use fetch::{Answer, FetchFailure};
use http::HeaderMap;
use store::{DiscoveredUrl, Lease, Page, StoreFault, TARGET_HAS_VISIT};
use web::{Exchange, PageUrl, Timestamp, Validators};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::politeness;
use crate::runtime::retry::VisitFailure;
use crate::runtime::seed_reports::MovedScope;
use crate::steps::earlier_archives::{NOT_MODIFIED, UnmodifiedPage};
use crate::steps::permission::{self, Permission, RobotsOutage};
use crate::steps::{conditional, content_filter, listings, seed_moves};

/// The requests from a leased URL to its page.
#[derive(Default)]
pub(crate) struct RedirectChain {
    /// The exchanges in order.
    pub(crate) exchanges: Vec<Exchange>,
    /// The targets of the redirects that were followed.
    pub(crate) reached: Vec<PageUrl>,
    stopped_by: StopReason,
}

/// The reason why a chain goes no further.
#[derive(Default)]
enum StopReason {
    /// The last exchange is no redirect.
    #[default]
    Arrived,
    /// The last exchange says that the page is what an earlier crawl archived.
    NotModified(Box<UnmodifiedPage>),
    /// The next hop was not answered.
    Unanswered(FetchFailure),
    /// A rule forbids the next hop.
    Barred(String),
    /// The robots.txt of the next hop is unavailable.
    NoRobots(RobotsOutage),
}

/// The result of a chain.
pub(crate) enum ChainEnd<'a> {
    /// A page to read.
    Page(&'a Exchange),
    /// The rule that forbids a hop.
    Barred(String),
    /// A failure, after which the page may be tried again.
    Failed(FailedChain),
}

/// A chain that ended without a page.
pub(crate) struct FailedChain {
    pub(crate) failure: VisitFailure,
    /// The failure as a clause.
    pub(crate) reason: String,
    /// Its cause, without what follows from it.
    pub(crate) cause: String,
    /// The page is not tried again before this time.
    pub(crate) until: Timestamp,
}

impl RedirectChain {
    /// Returns a chain without a request, because this rule forbids it.
    pub(crate) fn barred(rule: String) -> Self {
        Self {
            stopped_by: StopReason::Barred(rule),
            ..Self::default()
        }
    }

    /// Returns a chain without a request, because robots.txt is unavailable.
    pub(crate) fn without_robots(outage: RobotsOutage) -> Self {
        Self {
            stopped_by: StopReason::NoRobots(outage),
            ..Self::default()
        }
    }

    /// Returns the result: an answer is a page if its status is 200 to 299 (RFC 9110 section 15.3).
    pub(crate) fn end(&self) -> ChainEnd<'_> {
        let failed = |failure, reason: String, until| {
            ChainEnd::Failed(FailedChain {
                failure,
                cause: reason.clone(),
                reason,
                until,
            })
        };
        let soon = Timestamp::default();
        match &self.stopped_by {
            StopReason::Barred(reason) => ChainEnd::Barred(reason.clone()),
            StopReason::NoRobots(RobotsOutage { until, error }) => {
                let reason =
                    format!("robots.txt is unavailable ({error}), which forbids everything");
                ChainEnd::Failed(FailedChain {
                    failure: VisitFailure::of_robots(error),
                    reason,
                    cause: error.to_string(),
                    until: *until,
                })
            }
            StopReason::Unanswered(failure) => failed(
                VisitFailure::Fetch(failure.kind()),
                failure.to_string(),
                soon,
            ),
            StopReason::NotModified(unmodified) => ChainEnd::Page(&unmodified.exchange),
            StopReason::Arrived => match self.exchanges.last() {
                Some(page) if (200..300).contains(&page.status) => ChainEnd::Page(page),
                Some(Exchange { status, .. }) => {
                    let reason = format!("HTTP status {status}");
                    failed(VisitFailure::Status(*status), reason, soon)
                }
                None => ChainEnd::Barred("nothing was requested".to_owned()),
            },
        }
    }

    /// Returns the page of an earlier crawl that has not been modified since.
    pub(crate) fn unmodified(&self) -> Option<&Page> {
        match &self.stopped_by {
            StopReason::NotModified(unmodified) => Some(&unmodified.original),
            _ => None,
        }
    }

    fn stop(mut self, reason: StopReason) -> Result<Self, Fault> {
        self.stopped_by = reason;
        Ok(self)
    }
}

/// Requests the leased URL and follows its redirects.
///
/// # Errors
/// A broken store, or a disk that rejects a large body although it is not full: the page is not to
/// blame.
pub(crate) async fn follow(
    context: &Arc<CrawlContext>,
    lease: &Lease,
) -> Result<RedirectChain, Fault> {
    let mut chain = RedirectChain::default();
    let mut url = lease.url().clone();
    let mut archived = conditional::archived(context, &url).await;
    loop {
        let asked_by = archived.take();
        let validators = asked_by.as_ref().map(|page| &page.validators);
        let exchange = match request(context, lease, &url, validators).await? {
            Ok(exchange) => exchange,
            Err(FetchFailure::Spool(kind)) if !is_want_of_room(kind) => {
                return Err(Fault::Spool(kind.into()));
            }
            Err(failure) => return chain.stop(StopReason::Unanswered(failure)),
        };
        if let Some(asked_by) = asked_by.filter(|_| is_about_conditions(&exchange)) {
            if exchange.status == NOT_MODIFIED
                && let Some(page) = conditional::unmodified(context, asked_by, &exchange).await
            {
                chain.exchanges.push(exchange);
                return chain.stop(StopReason::NotModified(Box::new(page)));
            }
            // Once more, unconditionally.
            continue;
        }
        let target = exchange
            .location()
            .map(|location| url.join(&location, &context.policy.canonical));
        chain.exchanges.push(exchange);
        let next = match target {
            None => return chain.stop(StopReason::Arrived),
            Some(Err(error)) => {
                let reason = format!("redirects to an invalid URL: {error}");
                return chain.stop(StopReason::Barred(reason));
            }
            Some(Ok(next)) => next,
        };
        if let Some(reason) = bar(context, lease, &chain, &next).await? {
            return chain.stop(reason);
        }
        chain.reached.push(next.clone());
        url = next;
    }
}

/// Requests one hop when its host is ready.
async fn request(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
    validators: Option<&Validators>,
) -> Result<Result<Exchange, FetchFailure>, StoreFault> {
    let host = url.host();
    politeness::recall(context, lease, &host).await?;
    let key = context.pacer.politeness_key(&*context.fetch, url).await;
    let permit = context.pacer.permit(key).await;
    politeness::record_unanswered(context, &host).await?;
    let unconditional = Validators::default();
    let wants_body =
        |status, headers: &HeaderMap| content_filter::wants_body(context, lease, status, headers);
    let outcome = context
        .fetch
        .ask_for(url, validators.unwrap_or(&unconditional), &wants_body)
        .await;
    permit.finish(Answer::of(&outcome, context.clock.date()));
    politeness::record_pace(context, lease, &host).await?;
    Ok(outcome)
}

/// Returns true if there may be room later.
fn is_want_of_room(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// The answer of servers that take If-None-Match for a demand (RFC 9110 section 13.1.2 has it so
/// for other methods than ours).
const PRECONDITION_FAILED: u16 = 412;

fn is_about_conditions(answer: &Exchange) -> bool {
    matches!(answer.status, NOT_MODIFIED | PRECONDITION_FAILED)
}

/// Returns the reason not to take the next hop, if there is one.
async fn bar(
    context: &CrawlContext,
    lease: &Lease,
    chain: &RedirectChain,
    next: &PageUrl,
) -> Result<Option<StopReason>, StoreFault> {
    let barred = |reason: String| Ok(Some(StopReason::Barred(reason)));
    let most = context.policy.redirects;
    if chain.exchanges.len() > most {
        return barred(format!("more than {most} redirects in a row"));
    }
    if chain.exchanges.iter().any(|exchange| exchange.url == *next) {
        return barred("redirects in a circle".to_owned());
    }
    let judged = context.scope().judge(next);
    if let Err(out_of_scope) = judged
        && !(lease.discovered().requisite > 0 && is_requisite(context, next))
    {
        let is_seed = lease.is_seed();
        if out_of_scope.is_exclusion() || !(is_seed || listings::may_move(context, lease, next)) {
            return barred(format!("redirects to {next}: {out_of_scope}"));
        }
        if is_seed {
            seed_moves::follow(context, lease, next).await?;
        }
    } else if lease.is_seed() {
        let seeds = context.telemetry.seeds();
        seeds.add_move(lease.url(), next, MovedScope::Within);
    }
    if context.frontier.is_apart(lease, next) {
        let found = DiscoveredUrl {
            url: next.clone(),
            ..lease.discovered().clone()
        };
        context.frontier.discover(vec![found]).await?;
        return barred(visited_for_itself(next));
    }
    match permission::check_hop(context, lease, next).await? {
        Permission::Granted | Permission::NotYet => {}
        Permission::Forbidden(reason) => return barred(format!("redirects to {next}: {reason}")),
        Permission::Unknown(outage) => return Ok(Some(StopReason::NoRobots(outage))),
    }
    if !context.frontier.claim(lease, next).await? {
        return barred(visited_for_itself(next));
    }
    Ok(None)
}

fn visited_for_itself(url: &PageUrl) -> String {
    format!("redirects to {url}{TARGET_HAS_VISIT}")
}

/// True if a requisite of a page may be at `url`.
fn is_requisite(context: &CrawlContext, url: &PageUrl) -> bool {
    context.policy.page_requisites.let_in(&context.scope(), url)
}
