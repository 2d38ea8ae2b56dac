//! Permission to request a page, by its host's robots.txt (RFC 9309).
//!
//! The frontier remembers the rules, so each robots.txt is fetched once a day, over all sessions.

use fetch::{RobotsAnswer, RobotsError, RobotsText};
use store::{Lease, ROBOTS_REASON, Robots, StoreFault};
use web::{PageUrl, Timestamp};

use crate::context::CrawlContext;
use crate::runtime::politeness;
use crate::steps::listings;

/// The answer of robots.txt about a page.
pub(crate) enum Permission {
    /// The page may be requested.
    Granted,
    /// robots.txt was fetched just now, or hosts of the same pacing group come first: the host is
    /// not ready for the page itself.
    NotYet,
    /// This rule forbids the page.
    Forbidden(String),
    /// robots.txt is unavailable because of this error, which forbids everything until then
    /// (section 2.3.1.4).
    Unknown {
        until: Timestamp,
        error: RobotsError,
    },
}

/// Checks a page whose host is leased.
pub(crate) async fn check(context: &CrawlContext, lease: &Lease) -> Result<Permission, StoreFault> {
    if !context.policy.ignore_robots {
        let Some(answer) = cached_rules(context, lease.url()).await? else {
            return check_by_fetching(context, lease).await;
        };
        match evaluate(&answer, lease.url()) {
            Permission::Granted => {}
            other => return Ok(other),
        }
    }
    Ok(if politeness::is_ready(context, lease).await {
        Permission::Granted
    } else {
        Permission::NotYet
    })
}

/// Checks a page whose robots.txt must be fetched first, which takes a permit like a page.
async fn check_by_fetching(
    context: &CrawlContext,
    lease: &Lease,
) -> Result<Permission, StoreFault> {
    if !politeness::is_ready(context, lease).await {
        return Ok(Permission::NotYet);
    }
    let answer = fetch_rules(context, lease, lease.url()).await?;
    let asked_just_now = !answer.asked.is_empty();
    Ok(match evaluate(&answer, lease.url()) {
        Permission::Granted if asked_just_now => Permission::NotYet,
        permission => permission,
    })
}

/// Checks the target of a redirect, for which the wait for its host comes later anyway.
pub(crate) async fn check_hop(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
) -> Result<Permission, StoreFault> {
    if context.policy.ignore_robots {
        return Ok(Permission::Granted);
    }
    Ok(evaluate(&rules(context, lease, url).await?, url))
}

/// Returns the rules for `url`: cached, remembered by the frontier, or fetched, in this order.
async fn rules(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
) -> Result<RobotsAnswer, StoreFault> {
    match cached_rules(context, url).await? {
        Some(answer) => Ok(answer),
        None => fetch_rules(context, lease, url).await,
    }
}

/// Returns the rules for `url` without a request.
async fn cached_rules(
    context: &CrawlContext,
    url: &PageUrl,
) -> Result<Option<RobotsAnswer>, StoreFault> {
    if let Some(answer) = context.robots.cached(url) {
        return Ok(Some(answer));
    }
    let Some(Robots { text, until }) = context.frontier.hosts().robots(&url.origin()).await? else {
        return Ok(None);
    };
    let lines = text.map(Into::into);
    context
        .robots
        .recall(url, RobotsText { lines, until })
        .await;
    Ok(context.robots.cached(url))
}

async fn fetch_rules(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
) -> Result<RobotsAnswer, StoreFault> {
    let origin = url.origin();
    politeness::recall(context, lease, &url.host()).await?;
    politeness::record_unanswered(context, &url.host()).await?;
    let answer = context.robots.rules(url).await;
    context
        .robots_files
        .keep(lease.url().key(), &answer.exchanges);
    if let Some(RobotsText { lines, until }) = &answer.read {
        let robots = Robots {
            text: lines.as_ref().map(|lines| lines.to_vec()),
            until: *until,
        };
        context
            .frontier
            .hosts()
            .record_robots(&origin, robots)
            .await?;
    }
    for host in &answer.asked {
        politeness::record_pace(context, lease, host).await?;
    }
    listings::queue_sitemaps(context, lease, url, &answer).await?;
    Ok(answer)
}

fn evaluate(answer: &RobotsAnswer, url: &PageUrl) -> Permission {
    if let Some(error) = answer.error.clone() {
        let until = answer.until;
        return Permission::Unknown { until, error };
    }
    let verdict = answer.rules.verdict(url);
    if verdict.allowed {
        Permission::Granted
    } else {
        Permission::Forbidden(format!("{ROBOTS_REASON}{}", verdict.grounds))
    }
}
