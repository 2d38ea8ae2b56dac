//! One attempt to check a link: HEAD, or else GET without the body, along its redirects.
//! [`head_first`] says when GET follows.

use fetch::{FetchFailure, RequestContent, RequestMethod, RobotsError};
use http::{HeaderMap, HeaderValue};
use journal::{CheckMethod, LinkCheck, LinkHop, LinkVerdict, Reason, StoreFault};
use requests::Consequence;
use web::{Exchange, OutOfScope, PageUrl, Timestamp, Validators};

use super::LinkTarget;
use crate::context::CrawlContext;
use crate::runtime::politeness;
use crate::steps::permission::{self, Permission, RobotsOutage};
use crate::steps::{head_first, redirects};

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
pub(super) struct Chain<'a> {
    target: &'a LinkTarget,
    /// The URL of the next request, or of the last one.
    url: PageUrl,
    method: Option<CheckMethod>,
    status: Option<u16>,
    redirects: Vec<LinkHop>,
    /// Requests that were sent, with the cookies of servers: a repeated one makes a circle.
    sent: Vec<(String, Option<HeaderValue>)>,
}

/// The end of a chain.
enum ChainEnd {
    /// The verdict, with its reason.
    Verdict(LinkVerdict, Option<Reason>),
    /// A failure that may be temporary; the host is ready at this time.
    Again(Timestamp),
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
    let mut chain = Chain::of(target);
    let end = loop {
        let end = match chain.obstacle(context, is_last_try).await? {
            Some(obstacle) => Some(obstacle),
            None => chain.request(context, is_last_try).await?,
        };
        if let Some(end) = end {
            break end;
        }
    };
    Ok(match end {
        ChainEnd::Verdict(verdict, reason) => Attempt::Ended(chain.end(context, verdict, reason)),
        ChainEnd::Again(not_before) => Attempt::Again { not_before },
    })
}

impl<'a> Chain<'a> {
    /// Returns a chain without a request.
    pub(super) fn of(target: &'a LinkTarget) -> Self {
        Self {
            target,
            url: target.url.clone(),
            method: None,
            status: None,
            redirects: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Returns the end of the chain if the next request must not be sent: the user or robots.txt
    /// forbids it, or it was sent before.
    async fn obstacle(
        &mut self,
        context: &CrawlContext,
        is_last_try: bool,
    ) -> Result<Option<ChainEnd>, StoreFault> {
        if let Some(secure) = context.fetch.over_https(&self.url) {
            self.url = secure;
        }
        if let Some(rule) = exclusion(context, &self.url) {
            let reason = Some(Reason::OutOfScope(rule));
            return Ok(Some(ChainEnd::Verdict(LinkVerdict::NotChecked, reason)));
        }
        match permission::check_link(context, &self.url).await? {
            Permission::Granted(url) => self.url = url,
            Permission::NotYet => {}
            Permission::Forbidden(rule) => {
                return Ok(Some(ChainEnd::Verdict(LinkVerdict::NotChecked, Some(rule))));
            }
            Permission::Unknown(outage) => return Ok(Some(of_outage(&outage, is_last_try))),
        }
        let cookies = context.fetch.session_cookies(&self.url);
        let request = (self.url.request().to_string(), cookies);
        if self.sent.contains(&request) {
            let circle = Some(Reason::said("redirects in a circle"));
            return Ok(Some(ChainEnd::Verdict(LinkVerdict::Unknown, circle)));
        }
        self.sent.push(request);
        Ok(None)
    }

    /// Sends the next request. Returns the end of the chain, or `None` after a redirect.
    async fn request(
        &mut self,
        context: &CrawlContext,
        is_last_try: bool,
    ) -> Result<Option<ChainEnd>, StoreFault> {
        let (method, outcome) = request_link(context, &self.url).await?;
        (self.method, self.status) = (Some(method), None);
        let consequence = match &outcome {
            Ok(exchange) if exchange.status < 400 => None,
            Ok(exchange) => Some(Consequence::of_status(exchange.status)),
            Err(failure) => Some(Consequence::of_failure(failure.kind())),
        };
        if !is_last_try && consequence.is_some_and(Consequence::may_pass) {
            let ready = context.pacer.pace(&self.url.host()).ready;
            return Ok(Some(ChainEnd::Again(ready)));
        }
        Ok(match outcome {
            Ok(exchange) => self.follow(context, &exchange),
            Err(failure) => {
                let reason = redirects::reason_of(&failure);
                Some(ChainEnd::Verdict(of_failure(&failure), Some(reason)))
            }
        })
    }

    /// Follows a redirect. Returns the end of the chain if there is none to follow.
    fn follow(&mut self, context: &CrawlContext, exchange: &Exchange) -> Option<ChainEnd> {
        let status = exchange.status;
        self.status = Some(status);
        let target = redirects::target(exchange, &context.policy.reading.canonical);
        let (verdict, reason) = match target {
            None => {
                let login = String::new();
                (
                    LinkVerdict::of_status(status),
                    Reason::Status { status, login },
                )
            }
            Some(Err(error)) => {
                let detail = format!(": {error}");
                let reason = Reason::with_detail("redirects to an invalid URL", detail);
                (LinkVerdict::Unknown, reason)
            }
            Some(Ok(_)) if self.redirects.len() >= context.policy.redirects => {
                let most = u32::try_from(context.policy.redirects).unwrap_or(u32::MAX);
                (LinkVerdict::Unknown, Reason::LongChain { most })
            }
            Some(Ok(next)) => {
                let url = std::mem::replace(&mut self.url, next);
                self.redirects.push(LinkHop { url, status });
                return None;
            }
        };
        let reason = (verdict != LinkVerdict::Ok).then_some(reason);
        Some(ChainEnd::Verdict(verdict, reason))
    }

    /// Returns the result of the check.
    pub(super) fn end(
        self,
        context: &CrawlContext,
        verdict: LinkVerdict,
        reason: Option<Reason>,
    ) -> LinkCheck {
        let has_moved = !self.redirects.is_empty();
        LinkCheck {
            url: self.target.url.clone(),
            verdict,
            method: self.method,
            checked_at: context.clock.date(),
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
    match head_first::may_differ_for_get(&head) {
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

/// Returns the end of a chain whose robots.txt is unavailable, which forbids everything.
fn of_outage(outage: &RobotsOutage, is_last_try: bool) -> ChainEnd {
    if !is_last_try && Consequence::of_robots(outage.error.kind()).may_pass() {
        return ChainEnd::Again(outage.until);
    }
    match &outage.error {
        RobotsError::Lost(failure) => {
            ChainEnd::Verdict(of_failure(failure), Some(redirects::reason_of(failure)))
        }
        error @ (RobotsError::Status(_) | RobotsError::Coding(_)) => {
            let detail = format!(" ({error}), which forbids everything");
            let reason = Reason::with_detail("robots.txt is unavailable", detail);
            ChainEnd::Verdict(LinkVerdict::Unknown, Some(reason))
        }
    }
}
