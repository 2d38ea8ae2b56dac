//! Whether robots.txt lets us ask for a page.

use fetch::{RobotsAnswer, RobotsStanding};
use web::{PageUrl, Timestamp};

use crate::Crew;

/// What robots.txt says about a page (RFC 9309).
pub(crate) enum Permission {
    /// It may be asked for.
    Granted,
    /// robots.txt was asked for just now, so the host is not ready for the page itself.
    NotYet,
    /// This rule forbids it.
    Forbidden(String),
    /// robots.txt could not be had, which forbids everything until then (section 2.3.1.4).
    Unknown { until: Timestamp },
}

/// Asks robots.txt about a page whose host is ours on lease.
pub(crate) async fn ask(crew: &Crew, url: &PageUrl) -> Permission {
    if crew.policy.ignore_robots {
        return Permission::Granted;
    }
    let answer = crew.robots.rules(url).await;
    let asked_just_now = !answer.exchanges.is_empty();
    match judge(&answer, url) {
        Permission::Granted if asked_just_now => Permission::NotYet,
        permission => permission,
    }
}

/// The same for the target of a redirect, where the wait for the host's turn comes later anyway.
pub(crate) async fn ask_on_the_way(crew: &Crew, url: &PageUrl) -> Permission {
    if crew.policy.ignore_robots {
        return Permission::Granted;
    }
    judge(&crew.robots.rules(url).await, url)
}

fn judge(answer: &RobotsAnswer, url: &PageUrl) -> Permission {
    if answer.standing == RobotsStanding::Unreachable {
        return Permission::Unknown { until: answer.until };
    }
    let verdict = answer.rules.verdict(url);
    match verdict.rule {
        _ if verdict.allowed => Permission::Granted,
        Some(rule) => Permission::Forbidden(format!("robots.txt: {rule}")),
        None => Permission::Forbidden("robots.txt".to_owned()),
    }
}
