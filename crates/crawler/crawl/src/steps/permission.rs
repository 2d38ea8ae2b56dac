//! Permission to request a page, by its host's robots.txt (RFC 9309).
//!
//! The frontier remembers the rules, so each robots.txt is fetched once a day, over all sessions.

use fetch::{RobotsError, RobotsResponse, RobotsText};
use journal::{Reason, Robots, StoreFault};
use store::Lease;
use web::{Exchange, Host, OutOfScope, PageUrl, Preferences, Timestamp};

use crate::context::CrawlContext;
use crate::runtime::politeness;
use crate::steps::listings;
use crate::steps::reading::Reading;

/// The response of robots.txt about a page.
pub(crate) enum Permission {
    /// The page may be requested, with this URL. If it is not the leased one, but the same over
    /// https, its rules are not checked yet.
    Granted(PageUrl),
    /// robots.txt, or a page of a host in doubt, was fetched just now, or hosts of the same pacing
    /// group come first: the host is not ready for the page itself.
    NotYet,
    /// This rule forbids the page.
    Forbidden(Reason),
    /// robots.txt is unavailable, which forbids everything (section 2.3.1.4).
    Unknown(RobotsOutage),
}

/// The error that makes a robots.txt unavailable, and the expiry of this finding.
pub(crate) struct RobotsOutage {
    pub(crate) until: Timestamp,
    pub(crate) error: RobotsError,
    /// The target of the redirect that it concerns; `None` for the leased URL.
    pub(crate) target: Option<PageUrl>,
}

/// Returns the expression that excludes a page: one that came into force after the page was found,
/// or, for a seed, one of the scope, since seeds are queued without a check.
pub(crate) fn exclusion(context: &CrawlContext, lease: &Lease) -> Option<Reason> {
    let of_seed = || {
        let judged = context.scope().judge(lease.url());
        judged.err().filter(OutOfScope::is_exclusion)
    };
    let now = context.overrides.exclusion(lease.url());
    let excluded = now.or_else(|| lease.is_seed().then(of_seed).flatten());
    excluded.map(Reason::OutOfScope)
}

/// Checks a page whose host is leased.
pub(crate) async fn check(context: &CrawlContext, lease: &Lease) -> Result<Permission, StoreFault> {
    let cached = match (
        context.fetch.over_https(lease.url()),
        context.policy.ignore_robots,
    ) {
        (Some(secure), _) => Some(Permission::Granted(secure)),
        (None, true) => Some(Permission::Granted(lease.url().clone())),
        (None, false) => cached_rules(context, lease.url())
            .await?
            .map(|response| evaluate_page(&response, lease.url())),
    };
    match cached {
        Some(denied @ (Permission::Forbidden(_) | Permission::Unknown(_))) => return Ok(denied),
        // A robots.txt that must be fetched first takes a permit like a page.
        _ if !politeness::is_ready(context, lease).await => return Ok(Permission::NotYet),
        Some(_granted) if politeness::checks_host(context, lease).await? => {
            return Ok(Permission::NotYet);
        }
        Some(granted) => return Ok(granted),
        None => {}
    }
    let response = fetch_rules(context, lease, lease.url()).await?;
    let asked_just_now = !response.requested.is_empty();
    Ok(match evaluate_page(&response, lease.url()) {
        Permission::Granted(_) if asked_just_now => Permission::NotYet,
        permission => permission,
    })
}

/// Checks the target of a redirect. The caller waits for its host later anyway.
pub(crate) async fn check_hop(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
) -> Result<Permission, StoreFault> {
    if context.policy.ignore_robots {
        return Ok(Permission::Granted(url.clone()));
    }
    let response = match cached_rules(context, url).await? {
        Some(response) => response,
        None => fetch_rules(context, lease, url).await?,
    };
    Ok(evaluate(&response, url))
}

/// Returns the owner's preferences for the use of a page: by the page, its header, and the files of
/// its site that are known. No file is requested.
pub(crate) async fn preferences(
    context: &CrawlContext,
    page: &Exchange,
    reading: &Reading,
) -> Result<Preferences, StoreFault> {
    let site = match context.policy.ignore_robots {
        true => None,
        false => cached_rules(context, &page.url).await?,
    };
    let document = reading.document.as_ref();
    let directives = document.map(|document| document.directives);
    let rules = site.as_ref().map(|site| &*site.rules);
    Ok(web::page_preferences(
        rules,
        page,
        directives.unwrap_or_default(),
    ))
}

/// Returns the rules for `url` without a request.
async fn cached_rules(
    context: &CrawlContext,
    url: &PageUrl,
) -> Result<Option<RobotsResponse>, StoreFault> {
    if let Some(response) = context.robots.cached(url) {
        return Ok(Some(response));
    }
    let Some(Robots { text, until }) = context.frontier.hosts().robots(&url.origin()).await? else {
        return Ok(None);
    };
    let lines = text.map(Into::into);
    let known = RobotsText { lines, until };
    context.robots.recall(url, known).await;
    Ok(context.robots.cached(url))
}

/// Checks a request that no lease covers and that is not archived.
pub(crate) async fn check_link(
    context: &CrawlContext,
    url: &PageUrl,
) -> Result<Permission, StoreFault> {
    if context.policy.ignore_robots {
        return Ok(Permission::Granted(url.clone()));
    }
    let response = match cached_rules(context, url).await? {
        Some(response) => response,
        None => request_rules(context, None, url).await?,
    };
    Ok(evaluate_page(&response, url))
}

/// Fetches the rules for the visit of a lease: keeps the files for its archive, and queues the
/// sitemaps that they name.
async fn fetch_rules(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
) -> Result<RobotsResponse, StoreFault> {
    let response = request_rules(context, Some(&lease.url().host()), url).await?;
    let files = &context.robots_files;
    files.keep(lease.url().key(), &response.exchanges);
    for site_file in &response.site_files {
        files.keep(lease.url().key(), std::slice::from_ref(site_file));
    }
    listings::queue_sitemaps(context, lease, url, &response).await?;
    Ok(response)
}

/// Fetches the rules, and stores them with the paces of the hosts that were asked.
async fn request_rules(
    context: &CrawlContext,
    leased: Option<&Host>,
    url: &PageUrl,
) -> Result<RobotsResponse, StoreFault> {
    politeness::recall(context, leased, &url.host()).await?;
    politeness::record_unanswered(context, &url.host()).await?;
    let response = context.robots.rules(url).await;
    if let Some(RobotsText { lines, until }) = &response.read {
        let robots = Robots {
            text: lines.as_ref().map(|lines| lines.to_vec()),
            until: *until,
        };
        let hosts = context.frontier.hosts();
        hosts.record_robots(&url.origin(), robots).await?;
    }
    for host in &response.requested {
        politeness::record_pace(context, leased, host).await?;
    }
    Ok(response)
}

/// Judges a page. A site may allow a page but forbid the spelling of a link with a session: then
/// the page is requested without the parts that its canonical URL drops.
fn evaluate_page(response: &RobotsResponse, url: &PageUrl) -> Permission {
    let permission = evaluate(response, url);
    if let Permission::Forbidden(_) = permission
        && let Some(plain) = url.without_dropped_parts()
        && let granted @ Permission::Granted(_) = evaluate(response, &plain)
    {
        return granted;
    }
    permission
}

/// Judges a request.
fn evaluate(response: &RobotsResponse, url: &PageUrl) -> Permission {
    if let Some(error) = response.error.clone() {
        let until = response.until;
        return Permission::Unknown(RobotsOutage {
            until,
            error,
            target: None,
        });
    }
    let verdict = response.rules.verdict(url);
    if verdict.allowed {
        return Permission::Granted(url.clone());
    }
    let grounds = verdict.grounds;
    let rule = match url.is_spelled_otherwise() {
        true => format!("{grounds} (requested as {})", url.request()),
        false => grounds.to_string(),
    };
    Permission::Forbidden(Reason::Robots { rule })
}
