//! From a leased URL to the page: redirects are followed by us, one hop at a time.
//!
//! Invariant: no hop is asked for that a page would not be. Each is canonical, in scope, allowed by robots.txt, guarded (by the
//! fetcher) and paced by its own host's turn; each is kept for the archive.

use fetch::{Answer, FetchFailure};
use store::{Lease, StoreFault};
use web::{Exchange, OutOfScope, PageUrl, Timestamp};

use crate::Crew;
use crate::permission::{self, Permission};
use crate::retry::Setback;

/// The way to a page.
#[derive(Default)]
pub(crate) struct Journey {
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
    /// The next hop was not answered.
    Lost(FetchFailure),
    /// A rule forbids the next hop.
    Barred(String),
    /// The next hop's robots.txt could not be had.
    Unknown { until: Timestamp },
}

/// What a journey led to.
pub(crate) enum Landing<'a> {
    /// A page to read.
    Page(&'a Exchange),
    /// A rule in the way.
    Barred(String),
    /// A failure, after which the page is not to be tried before then.
    Setback(Setback, Timestamp),
}

impl Journey {
    /// What the journey led to: a page is what comes with a status of 200 to 299 (RFC 9110 section 15.3).
    pub(crate) fn landing(&self) -> Landing<'_> {
        let soon = Timestamp::default();
        match &self.end {
            JourneyEnd::Barred(reason) => Landing::Barred(reason.clone()),
            JourneyEnd::Unknown { until } => Landing::Setback(Setback::Robots, *until),
            JourneyEnd::Lost(failure) => Landing::Setback(Setback::Fetch(failure.kind()), soon),
            JourneyEnd::Arrived => match self.exchanges.last() {
                Some(page) if (200..300).contains(&page.status) => Landing::Page(page),
                Some(other) => Landing::Setback(Setback::Status(other.status), soon),
                None => Landing::Barred("nothing was asked for".to_owned()),
            },
        }
    }

    /// What went wrong, in a clause.
    pub(crate) fn trouble(&self, setback: Setback) -> String {
        match (&self.end, setback) {
            (JourneyEnd::Lost(failure), _) => failure.to_string(),
            (_, Setback::Status(status)) => format!("HTTP status {status}"),
            (_, Setback::Robots) => "robots.txt could not be had, which forbids everything".to_owned(),
            (_, Setback::Fetch(kind)) => kind.to_string(),
        }
    }
}

/// Asks for the leased URL, and follows where it leads.
pub(crate) async fn travel(crew: &Crew, lease: &Lease) -> Result<Journey, StoreFault> {
    let mut journey = Journey {
        exchanges: Vec::new(),
        reached: Vec::new(),
        end: JourneyEnd::Arrived,
    };
    let mut url = lease.url.clone();
    loop {
        let turn = crew.pacer.turn(&url.host()).await;
        let outcome = crew.fetch.fetch(&url).await;
        turn.finish(Answer::of(&outcome, crew.clock.now()));
        let exchange = match outcome {
            Ok(exchange) => exchange,
            Err(failure) => {
                journey.end = JourneyEnd::Lost(failure);
                return Ok(journey);
            }
        };
        let target = exchange
            .location()
            .map(|location| url.join(location, &crew.policy.canonical));
        journey.exchanges.push(exchange);
        let next = match target {
            None => return Ok(journey),
            Some(Err(error)) => {
                journey.end = JourneyEnd::Barred(format!("redirects to something that is no page: {error}"));
                return Ok(journey);
            }
            Some(Ok(next)) => next,
        };
        if let Some(end) = bar(crew, lease, &journey, &next).await? {
            journey.end = end;
            return Ok(journey);
        }
        journey.reached.push(next.clone());
        url = next;
    }
}

/// Why the next hop is not to be taken.
async fn bar(
    crew: &Crew,
    lease: &Lease,
    journey: &Journey,
    next: &PageUrl,
) -> Result<Option<JourneyEnd>, StoreFault> {
    let barred = |reason: String| Ok(Some(JourneyEnd::Barred(reason)));
    if journey.exchanges.len() > crew.policy.redirects {
        return barred(format!("more than {} redirects in a row", crew.policy.redirects));
    }
    if journey.exchanges.iter().any(|exchange| exchange.url == *next) {
        return barred("redirects in a circle".to_owned());
    }
    let judged = crew
        .scope
        .read()
        .expect("no panic can happen while the scope is locked")
        .judge(next);
    if let Err(out_of_scope) = judged {
        // Where a seed has moved to is what the user meant.
        let excluded = matches!(out_of_scope, OutOfScope::Excluded { .. });
        if lease.depth > 0 || excluded {
            return barred(format!("redirects to {next}: {out_of_scope}"));
        }
        crew.frontier.adopt_seed(next).await?;
        crew.scope
            .write()
            .expect("no panic can happen while the scope is locked")
            .add_seed(next);
    }
    match permission::ask_on_the_way(crew, next).await {
        Permission::Granted | Permission::NotYet => {}
        Permission::Forbidden(reason) => return barred(format!("redirects to {next}: {reason}")),
        Permission::Unknown { until } => return Ok(Some(JourneyEnd::Unknown { until })),
    }
    if !crew.frontier.claim(lease, next).await? {
        return barred(format!("redirects to {next}, which this crawl visits for itself"));
    }
    Ok(None)
}
