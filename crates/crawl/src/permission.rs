//! Whether robots.txt lets us ask for a page.
//!
//! What it said is remembered by the frontier, so that in a day each robots.txt is asked for once,
//! in whatever session.

use fetch::{RobotsAnswer, RobotsText, RobotsTrouble};
use store::{Lease, ROBOTS_REASON, Robots, StoreFault};
use web::{PageUrl, Timestamp};

use crate::CrawlContext;
use crate::{listings, politeness};

/// What robots.txt says about a page (RFC 9309).
pub(crate) enum Permission {
    /// It may be asked for.
    Granted,
    /// robots.txt was asked for just now, or it is the turn of others that share their pace with
    /// the host: it is not ready for the page itself.
    NotYet,
    /// This rule forbids it.
    Forbidden(String),
    /// robots.txt could not be had, because of this, which forbids everything until then (section
    /// 2.3.1.4).
    Unknown {
        until: Timestamp,
        trouble: RobotsTrouble,
    },
}

/// Asks robots.txt about a page whose host is ours on lease.
pub(crate) async fn ask(context: &CrawlContext, lease: &Lease) -> Result<Permission, StoreFault> {
    if !context.policy.ignore_robots {
        let Some(answer) = known(context, lease.url()).await? else {
            return ask_in_turn(context, lease).await;
        };
        match judge(&answer, lease.url()) {
            Permission::Granted => {}
            other => return Ok(other),
        }
    }
    Ok(if politeness::is_its_turn(context, lease).await {
        Permission::Granted
    } else {
        Permission::NotYet
    })
}

/// robots.txt is to be asked for, which takes a turn like a page.
async fn ask_in_turn(context: &CrawlContext, lease: &Lease) -> Result<Permission, StoreFault> {
    if !politeness::is_its_turn(context, lease).await {
        return Ok(Permission::NotYet);
    }
    let answer = ask_for(context, lease, lease.url()).await?;
    let asked_just_now = !answer.asked.is_empty();
    Ok(match judge(&answer, lease.url()) {
        Permission::Granted if asked_just_now => Permission::NotYet,
        permission => permission,
    })
}

/// The same for the target of a redirect, where the wait for the host's turn comes later anyway.
pub(crate) async fn ask_on_the_way(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
) -> Result<Permission, StoreFault> {
    if context.policy.ignore_robots {
        return Ok(Permission::Granted);
    }
    Ok(judge(&rules(context, lease, url).await?, url))
}

/// The rules for `url`: known, remembered, or asked for, in this order.
async fn rules(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
) -> Result<RobotsAnswer, StoreFault> {
    match known(context, url).await? {
        Some(answer) => Ok(answer),
        None => ask_for(context, lease, url).await,
    }
}

/// The rules for `url`, without asking anybody.
async fn known(context: &CrawlContext, url: &PageUrl) -> Result<Option<RobotsAnswer>, StoreFault> {
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

async fn ask_for(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
) -> Result<RobotsAnswer, StoreFault> {
    let origin = url.origin();
    politeness::recall(context, lease, &url.host()).await?;
    politeness::note_silence(context, &url.host()).await?;
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
        politeness::note(context, lease, host).await?;
    }
    listings::announce(context, lease, url, &answer).await?;
    Ok(answer)
}

fn judge(answer: &RobotsAnswer, url: &PageUrl) -> Permission {
    if let Some(trouble) = answer.trouble.clone() {
        let until = answer.until;
        return Permission::Unknown { until, trouble };
    }
    let verdict = answer.rules.verdict(url);
    if verdict.allowed {
        Permission::Granted
    } else {
        Permission::Forbidden(format!("{ROBOTS_REASON}{}", verdict.grounds))
    }
}
