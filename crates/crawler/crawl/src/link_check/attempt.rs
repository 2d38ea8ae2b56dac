//! One attempt to check a link: HEAD, or else GET without the body, along its redirects.
//!
//! HEAD never makes a link broken: servers answer it with 403, 404, 405 or 501 although GET finds
//! the page, so GET confirms these answers, and a missing one.

use fetch::{FetchFailure, RequestContent, RequestMethod, RobotsError};
use http::{HeaderMap, HeaderValue};
use journal::{CheckMethod, LinkCheck, LinkHop, LinkVerdict, Reason, StoreFault};
use requests::{Consequence, FailureKind};
use web::{Exchange, OutOfScope, PageUrl, Timestamp, Validators};

use super::LinkTarget;
use crate::context::CrawlContext;
use crate::runtime::politeness;
use crate::steps::permission::{self, Permission, RobotsOutage};
use crate::steps::redirects;

/// The result of an attempt.
pub(super) enum Attempt {
    /// The final result.
    Ended(LinkCheck),
    /// The failure may be temporary: the link is checked once more.
    Again {
        /// The time when the host that failed is ready.
        not_before: Timestamp,
    },
}

/// The requests of an attempt so far.
struct Chain<'a> {
    target: &'a LinkTarget,
    /// The URL of the next request.
    url: PageUrl,
    method: Option<CheckMethod>,
    status: Option<u16>,
    redirects: Vec<LinkHop>,
    /// Requests that were sent, with the cookies of servers: a repeated one makes a circle.
    sent: Vec<(String, Option<HeaderValue>)>,
}

/// Returns the result of a link that is not requested.
pub(super) fn unrequested(
    target: &LinkTarget,
    checked_at: Timestamp,
    verdict: LinkVerdict,
    reason: String,
) -> LinkCheck {
    LinkCheck {
        url: target.url.clone(),
        verdict,
        method: None,
        checked_at,
        status: None,
        reason: Some(reason),
        redirects: Vec::new(),
        final_url: None,
        linked_from: target.linked_from.clone(),
    }
}

/// Checks a link. A temporary failure is a result only at the last try.
///
/// # Errors
/// A broken store.
pub(super) async fn check(
    context: &CrawlContext,
    target: &LinkTarget,
    is_last_try: bool,
) -> Result<Attempt, StoreFault> {
    let mut chain = Chain {
        target,
        url: target.url.clone(),
        method: None,
        status: None,
        redirects: Vec::new(),
        sent: Vec::new(),
    };
    let ended = |chain: Chain<'_>, verdict, reason: Option<Reason>| {
        Ok(Attempt::Ended(chain.end(
            context.clock.date(),
            verdict,
            reason,
        )))
    };
    loop {
        if let Some(rule) = exclusion(context, &chain.url) {
            return ended(
                chain,
                LinkVerdict::NotChecked,
                Some(Reason::OutOfScope(rule)),
            );
        }
        match permission::check_link(context, &chain.url).await? {
            Permission::Granted(url) => chain.url = url,
            Permission::NotYet => {}
            Permission::Forbidden(rule) => {
                return ended(chain, LinkVerdict::NotChecked, Some(rule));
            }
            Permission::Unknown(outage) if !is_last_try && may_pass(&outage.error) => {
                return Ok(Attempt::Again {
                    not_before: outage.until,
                });
            }
            Permission::Unknown(outage) => {
                let (verdict, reason) = of_outage(&outage);
                return ended(chain, verdict, Some(reason));
            }
        }
        let cookies = context.fetch.session_cookies(&chain.url);
        let request = (chain.url.request().to_string(), cookies);
        if chain.sent.contains(&request) {
            let circle = Reason::said("redirects in a circle");
            return ended(chain, LinkVerdict::Unknown, Some(circle));
        }
        chain.sent.push(request);
        let (method, outcome) = request_link(context, &chain.url).await?;
        (chain.method, chain.status) = (Some(method), None);
        let consequence = match &outcome {
            Ok(exchange) => Consequence::of_status(exchange.status),
            Err(failure) => Consequence::of_failure(failure.kind()),
        };
        if is_failure(&outcome) && consequence.may_pass() && !is_last_try {
            let not_before = context.pacer.pace(&chain.url.host()).ready;
            return Ok(Attempt::Again { not_before });
        }
        let exchange = match outcome {
            Ok(exchange) => exchange,
            Err(failure) => {
                let reason = redirects::reason_of(&failure);
                return ended(chain, of_failure(&failure), Some(reason));
            }
        };
        let status = exchange.status;
        chain.status = Some(status);
        match redirects::target(&exchange, &context.policy.reading.canonical) {
            None => {
                let verdict = LinkVerdict::of_status(status);
                let login = String::new();
                let reason = Reason::Status { status, login };
                return ended(
                    chain,
                    verdict,
                    (verdict != LinkVerdict::Ok).then_some(reason),
                );
            }
            Some(Err(error)) => {
                let detail = format!(": {error}");
                let reason = Reason::with_detail("redirects to an invalid URL", detail);
                return ended(chain, LinkVerdict::Unknown, Some(reason));
            }
            Some(Ok(_)) if chain.redirects.len() >= context.policy.redirects => {
                let most = u32::try_from(context.policy.redirects).unwrap_or(u32::MAX);
                return ended(
                    chain,
                    LinkVerdict::Unknown,
                    Some(Reason::LongChain { most }),
                );
            }
            Some(Ok(next)) => {
                let url = std::mem::replace(&mut chain.url, next);
                chain.redirects.push(LinkHop { url, status });
            }
        }
    }
}

impl Chain<'_> {
    fn end(self, checked_at: Timestamp, verdict: LinkVerdict, reason: Option<Reason>) -> LinkCheck {
        let has_moved = !self.redirects.is_empty();
        LinkCheck {
            url: self.target.url.clone(),
            verdict,
            method: self.method,
            checked_at,
            status: self.status,
            reason: reason.map(|reason| reason.to_string()),
            redirects: self.redirects,
            final_url: has_moved.then_some(self.url),
            linked_from: self.target.linked_from.clone(),
        }
    }
}

/// Returns the expression of the user that excludes a URL.
fn exclusion(context: &CrawlContext, url: &PageUrl) -> Option<OutOfScope> {
    let judged = context.scope().judge(url);
    judged.err().filter(OutOfScope::is_exclusion)
}

/// Requests a link by HEAD and, if the response may differ for GET, by GET without its body.
async fn request_link(
    context: &CrawlContext,
    url: &PageUrl,
) -> Result<(CheckMethod, Result<Exchange, FetchFailure>), StoreFault> {
    let head = request(context, url, RequestMethod::Head).await?;
    let is_doubtful = match &head {
        Ok(exchange) => {
            exchange.status == 403 || LinkVerdict::of_status(exchange.status) == LinkVerdict::Broken
        }
        Err(failure) => matches!(
            failure.kind(),
            FailureKind::Timeout
                | FailureKind::TooSlow
                | FailureKind::Disconnected
                | FailureKind::Protocol
                | FailureKind::HeadersTooLarge
        ),
    };
    match is_doubtful {
        true => {
            let get = request(context, url, RequestMethod::Get).await?;
            Ok((CheckMethod::Get, get))
        }
        false => Ok((CheckMethod::Head, head)),
    }
}

/// Requests a link when its host is ready, without its body.
async fn request(
    context: &CrawlContext,
    url: &PageUrl,
    method: RequestMethod,
) -> Result<Result<Exchange, FetchFailure>, StoreFault> {
    let content = RequestContent {
        fields: HeaderMap::new(),
        method,
    };
    let without_body = |_status, _headers: &HeaderMap| false;
    let usual = Validators::default();
    politeness::request(context, None, url, &usual, &content, &without_body).await
}

/// Returns true unless the response is a success or a redirect.
fn is_failure(outcome: &Result<Exchange, FetchFailure>) -> bool {
    outcome
        .as_ref()
        .map_or(true, |exchange| exchange.status >= 400)
}

/// Returns the verdict on a link without a response.
const fn of_failure(failure: &FetchFailure) -> LinkVerdict {
    match failure {
        FetchFailure::Dns | FetchFailure::Connect(std::io::ErrorKind::ConnectionRefused) => {
            LinkVerdict::Broken
        }
        FetchFailure::PrivateAddress { .. } => LinkVerdict::NotChecked,
        _ => LinkVerdict::Unknown,
    }
}

/// Returns true if robots.txt may be available later.
fn may_pass(error: &RobotsError) -> bool {
    Consequence::of_robots(error.kind()).may_pass()
}

/// Returns the verdict on a link whose robots.txt is unavailable, with the reason.
fn of_outage(outage: &RobotsOutage) -> (LinkVerdict, Reason) {
    match &outage.error {
        RobotsError::Lost(failure) => (of_failure(failure), redirects::reason_of(failure)),
        error @ (RobotsError::Status(_) | RobotsError::Coding(_)) => {
            let detail = format!(" ({error}), which forbids everything");
            let reason = Reason::with_detail("robots.txt is unavailable", detail);
            (LinkVerdict::Unknown, reason)
        }
    }
}
