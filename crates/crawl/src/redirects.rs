//! From a leased URL to the page: redirects are followed by us, one hop at a time.
//!
//! Invariant: no hop is asked for that a page would not be. Each is canonical, in scope, allowed by
//! robots.txt, guarded (by the fetcher) and paced by its own host's turn; each is kept for the
//! archive. Only the leased URL itself is asked for conditionally, and never twice.

use std::io;
use std::sync::Arc;

use fetch::{Answer, FetchFailure, RobotsTrouble};
use store::{Lease, Page, StoreFault};
use web::{Exchange, PageUrl, Timestamp, Validators};

use crate::earlier::{self, Known, Unmodified};
use crate::permission::{self, Permission};
use crate::retry::Setback;
use crate::{CrawlContext, Fault};
use crate::{listings, politeness};

/// The way to a page.
#[derive(Default)]
pub(crate) struct RedirectChain {
    /// The exchanges in order.
    pub(crate) exchanges: Vec<Exchange>,
    /// The targets of the redirects that were followed.
    pub(crate) reached: Vec<PageUrl>,
    /// How it ended.
    pub(crate) end: JourneyEnd,
}

/// How a journey ended.
#[derive(Default)]
pub(crate) enum JourneyEnd {
    /// The last exchange is no redirect.
    #[default]
    Arrived,
    /// The page is what an earlier crawl archived, says the last exchange.
    NotModified(Box<Unmodified>),
    /// The next hop was not answered.
    Lost(FetchFailure),
    /// A rule forbids the next hop.
    Barred(String),
    /// The next hop's robots.txt could not be had, and what was in the way.
    Unknown {
        until: Timestamp,
        trouble: RobotsTrouble,
    },
}

/// What a journey led to.
pub(crate) enum ChainEnd<'a> {
    /// A page to read.
    Page(&'a Exchange),
    /// A rule in the way.
    Barred(String),
    /// A failure, after which the page is not to be tried before then.
    Setback(Setback, Timestamp),
}

impl RedirectChain {
    /// A journey that was not begun, because the robots.txt could not be had.
    pub(crate) fn unknown(until: Timestamp, trouble: RobotsTrouble) -> Self {
        Self {
            end: JourneyEnd::Unknown { until, trouble },
            ..Self::default()
        }
    }

    /// What the journey led to: a page is what comes with a status of 200 to 299 (RFC 9110 section
    /// 15.3).
    pub(crate) fn landing(&self) -> ChainEnd<'_> {
        let soon = Timestamp::default();
        match &self.end {
            JourneyEnd::Barred(reason) => ChainEnd::Barred(reason.clone()),
            JourneyEnd::Unknown { until, trouble } => {
                ChainEnd::Setback(Setback::of_robots(trouble), *until)
            }
            JourneyEnd::Lost(failure) => ChainEnd::Setback(Setback::Fetch(failure.kind()), soon),
            JourneyEnd::NotModified(unmodified) => ChainEnd::Page(&unmodified.exchange),
            JourneyEnd::Arrived => match self.exchanges.last() {
                Some(page) if (200..300).contains(&page.status) => ChainEnd::Page(page),
                Some(other) => ChainEnd::Setback(Setback::Status(other.status), soon),
                None => ChainEnd::Barred("nothing was asked for".to_owned()),
            },
        }
    }

    /// The page of an earlier crawl that was not modified since.
    pub(crate) fn unmodified(&self) -> Option<&Page> {
        match &self.end {
            JourneyEnd::NotModified(unmodified) => Some(&unmodified.original),
            _ => None,
        }
    }

    /// What went wrong, in a clause.
    pub(crate) fn trouble(&self, setback: Setback) -> String {
        match (&self.end, setback) {
            (JourneyEnd::Lost(failure), _) => failure.to_string(),
            (_, Setback::Status(status)) => format!("HTTP status {status}"),
            (JourneyEnd::Unknown { trouble, .. }, _) => {
                format!("robots.txt could not be had ({trouble}), which forbids everything")
            }
            (_, Setback::Robots(_)) => {
                "robots.txt could not be had, which forbids everything".to_owned()
            }
            (_, Setback::Fetch(kind)) => kind.to_string(),
        }
    }
}

/// Asks for the leased URL, and follows where it leads.
///
/// # Errors
/// A broken store, and a disk that takes no large body for another reason than that it is full: the
/// page is not to blame.
pub(crate) async fn follow(
    context: &Arc<CrawlContext>,
    lease: &Lease,
) -> Result<RedirectChain, Fault> {
    let mut journey = RedirectChain {
        exchanges: Vec::new(),
        reached: Vec::new(),
        end: JourneyEnd::Arrived,
    };
    let mut url = lease.url().clone();
    let mut known = earlier::known(context, &url).await;
    loop {
        let asked_by = known.take();
        let host = url.host();
        politeness::recall(context, lease, &host).await?;
        let to = context.pacer.addressee(&*context.fetch, &url).await;
        let turn = context.pacer.turn(to).await;
        politeness::note_silence(context, &host).await?;
        let outcome = context
            .fetch
            .ask(&url, &validators(asked_by.as_ref()))
            .await;
        turn.finish(Answer::of(&outcome, context.clock.date()));
        politeness::note(context, lease, &host).await?;
        let exchange = match outcome {
            Ok(exchange) => exchange,
            Err(FetchFailure::Spool(kind)) if !is_want_of_room(kind) => {
                return Err(Fault::Spool(kind.into()));
            }
            Err(failure) => {
                journey.end = JourneyEnd::Lost(failure);
                return Ok(journey);
            }
        };
        if let Some(asked_by) = asked_by.filter(|_| is_about_conditions(&exchange)) {
            if exchange.status == NOT_MODIFIED
                && let Some(unmodified) = earlier::unmodified(context, asked_by, &exchange).await
            {
                journey.exchanges.push(exchange);
                journey.end = JourneyEnd::NotModified(Box::new(unmodified));
                return Ok(journey);
            }
            // Once more, and whatever it is now.
            continue;
        }
        let target = exchange
            .location()
            .map(|location| url.join(&location, &context.policy.canonical));
        journey.exchanges.push(exchange);
        let next = match target {
            None => return Ok(journey),
            Some(Err(error)) => {
                journey.end =
                    JourneyEnd::Barred(format!("redirects to something that is no page: {error}"));
                return Ok(journey);
            }
            Some(Ok(next)) => next,
        };
        if let Some(end) = bar(context, lease, &journey, &next).await? {
            journey.end = end;
            return Ok(journey);
        }
        journey.reached.push(next.clone());
        url = next;
    }
}

/// Returns whether there may be room later.
fn is_want_of_room(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

pub(crate) const NOT_MODIFIED: u16 = 304;
/// The answer of servers that take If-None-Match for a demand (RFC 9110 section 13.1.2 has it so
/// for other methods than ours).
const PRECONDITION_FAILED: u16 = 412;

fn validators(known: Option<&Known>) -> Validators {
    known
        .map(|known| known.validators.clone())
        .unwrap_or_default()
}

fn is_about_conditions(answer: &Exchange) -> bool {
    matches!(answer.status, NOT_MODIFIED | PRECONDITION_FAILED)
}

/// Why the next hop is not to be taken.
async fn bar(
    context: &CrawlContext,
    lease: &Lease,
    journey: &RedirectChain,
    next: &PageUrl,
) -> Result<Option<JourneyEnd>, StoreFault> {
    let barred = |reason: String| Ok(Some(JourneyEnd::Barred(reason)));
    if journey.exchanges.len() > context.policy.redirects {
        return barred(format!(
            "more than {} redirects in a row",
            context.policy.redirects
        ));
    }
    if journey
        .exchanges
        .iter()
        .any(|exchange| exchange.url == *next)
    {
        return barred("redirects in a circle".to_owned());
    }
    let judged = context
        .scope
        .read()
        .expect("no panic can happen while the scope is locked")
        .judge(next);
    if let Err(out_of_scope) = judged
        && !(lease.discovered().requisite > 0 && is_requisite(context, next))
    {
        let is_seed = lease.is_seed();
        if out_of_scope.is_exclusion() || !(is_seed || listings::may_move(context, lease, next)) {
            return barred(format!("redirects to {next}: {out_of_scope}"));
        }
        if is_seed {
            // Where a seed has moved to is what the user meant.
            context.frontier.adopt_seed(next).await?;
            context
                .scope
                .write()
                .expect("no panic can happen while the scope is locked")
                .add_seed(next);
        }
    }
    match permission::ask_on_the_way(context, lease, next).await? {
        Permission::Granted | Permission::NotYet => {}
        Permission::Forbidden(reason) => return barred(format!("redirects to {next}: {reason}")),
        Permission::Unknown { until, trouble } => {
            return Ok(Some(JourneyEnd::Unknown { until, trouble }));
        }
    }
    if !context.frontier.claim(lease, next).await? {
        return barred(format!(
            "redirects to {next}, which this crawl visits for itself"
        ));
    }
    Ok(None)
}

/// Whether what a page needs may be there.
fn is_requisite(context: &CrawlContext, url: &PageUrl) -> bool {
    let scope = context
        .scope
        .read()
        .expect("no panic can happen while the scope is locked");
    context.policy.page_requisites.let_in(&scope, url)
}
