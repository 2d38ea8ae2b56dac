//! From a leased URL to the page: the crawl follows redirects itself, one hop at a time.
//!
//! Invariant: no hop is requested that a page would not be. Each is in scope, allowed by
//! robots.txt, guarded (by the fetcher) and paced by its own host. Each is kept for the archive,
//! except pages with a visit of their own that only redirect back ([`Hop::Passing`]). Only the
//! leased URL itself is requested conditionally, and never twice.
//!
//! A target is requested as it was written (RFC 9110 section 15.4). A circle is a request that was
//! sent before: the same URL to the byte, with the same cookies. So a site may redirect to its own
//! spelling of a URL, or to the same URL after it has set a cookie.
//!
//! A host that asks for https (HSTS, RFC 6797) gets no request over http: as in browsers, the https
//! URL is the next hop. Nothing is archived for such a step, because nothing was sent.

use std::io;
use std::sync::Arc;

use fetch::{FetchFailure, RequestContent, RequestMethod};
use http::header::{SET_COOKIE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue};
use journal::{DiscoveredUrl, Page, Reason, StoreFault};
use policy::links_off_scope;
use store::Lease;
use web::{
    CanonicalForm, Exchange, Host, Interstitial, OutOfScope, PageUrl, Timestamp, UrlError,
    Validators,
};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::earlier_archives::{NOT_MODIFIED, UnmodifiedPage};
use crate::runtime::retry::{self, Decision, VisitFailure};
use crate::runtime::seed_reports::MovedScope;
use crate::runtime::{blocks, politeness};
use crate::steps::permission::{self, Permission, RobotsOutage};
use crate::steps::{conditional, content_filter, head_first, listings, requisites, seed_moves};

/// The requests from a leased URL to its page.
#[derive(Default)]
pub(crate) struct RedirectChain {
    /// The exchanges, from first to last.
    pub(crate) exchanges: Vec<Exchange>,
    /// The targets of the redirects that were followed, without other spellings of the leased URL.
    pub(crate) reached: Vec<PageUrl>,
    sent: Vec<SentRequest>,
    stopped_by: StopReason,
}

/// A sent request, to recognise circles.
struct SentRequest {
    url: String,
    /// The cookies that servers have set, if they are sent.
    cookies: Option<HeaderValue>,
    /// True if its response sets a cookie.
    sets_cookie: bool,
}

impl SentRequest {
    /// Returns the request that would be sent now.
    fn now(context: &CrawlContext, url: &PageUrl) -> Self {
        Self {
            url: url.request().to_string(),
            cookies: context.fetch.session_cookies(url),
            sets_cookie: false,
        }
    }

    fn repeats(&self, other: &Self) -> bool {
        (&self.url, &self.cookies) == (&other.url, &other.cookies)
    }
}

/// The reason why a chain goes no further.
#[derive(Default)]
enum StopReason {
    /// The last exchange is not a redirect.
    #[default]
    Arrived,
    /// The last exchange shows that the page is unchanged since an earlier crawl.
    NotModified(Box<UnmodifiedPage>),
    /// The next hop was not answered.
    Unanswered(FetchFailure),
    /// A rule forbids the next hop.
    Excluded(Reason),
    /// The robots.txt of the next hop is unavailable.
    NoRobots(RobotsOutage),
    /// The last exchange is a block page with the status of a refusal.
    Blocked(Interstitial),
}

/// The result of a chain.
pub(crate) enum ChainEnd<'a> {
    /// A page to read.
    Page(&'a Exchange),
    /// The rule that forbids a hop.
    Excluded(Reason),
    /// A failure; the page may be tried again.
    Failed(FailedAttempt),
}

/// An attempt to visit a page that failed.
pub(crate) struct FailedAttempt {
    pub(crate) failure: VisitFailure,
    /// The host that failed.
    pub(crate) host: Host,
    /// The failure.
    pub(crate) reason: Reason,
    /// Its cause, without what follows from it.
    pub(crate) cause: Reason,
    /// The page is not tried again before this time.
    pub(crate) until: Timestamp,
}

impl RedirectChain {
    /// Returns a chain without a request, because this rule forbids it.
    pub(crate) fn excluded(rule: Reason) -> Self {
        Self {
            stopped_by: StopReason::Excluded(rule),
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

    /// Returns the result for the URL that was leased.
    pub(crate) fn end(&self, leased: &PageUrl) -> ChainEnd<'_> {
        let failed = |failure, reason: Reason, until| {
            let reason = self.blamed(reason);
            ChainEnd::Failed(FailedAttempt {
                failure,
                host: self.asked_last(leased),
                cause: reason.clone(),
                reason,
                until,
            })
        };
        let soon = Timestamp::default();
        match &self.stopped_by {
            StopReason::Excluded(reason) => ChainEnd::Excluded(reason.clone()),
            StopReason::NoRobots(RobotsOutage { until, error, .. }) => {
                let reason = Reason::with_detail(
                    "robots.txt is unavailable",
                    format!(" ({error}), which forbids everything"),
                );
                ChainEnd::Failed(FailedAttempt {
                    failure: VisitFailure::of_robots(error),
                    host: self.asked_last(leased),
                    reason: self.blamed(reason),
                    cause: self.blamed(Reason::said(error.to_string())),
                    until: *until,
                })
            }
            StopReason::Unanswered(failure) => failed(
                VisitFailure::Fetch(failure.kind()),
                reason_of(failure),
                soon,
            ),
            StopReason::NotModified(unmodified) => ChainEnd::Page(&unmodified.exchange),
            StopReason::Blocked(found) => {
                let reason = Reason::Interstitial(found.clone());
                failed(VisitFailure::Blocked, reason, soon)
            }
            StopReason::Arrived => match self.exchanges.last() {
                Some(page) if is_document(page) => ChainEnd::Page(page),
                Some(refusal) => {
                    let (status, login) = (refusal.status, login_clause(refusal));
                    let reason = Reason::Status { status, login };
                    failed(VisitFailure::Status(status), reason, soon)
                }
                None => ChainEnd::Excluded(Reason::said("nothing was requested")),
            },
        }
    }

    /// Returns the cause of a failure, after the redirect target that it concerns, since then the
    /// leased URL itself is fine.
    fn blamed(&self, cause: Reason) -> Reason {
        let target = match &self.stopped_by {
            StopReason::NoRobots(outage) => outage.target.as_ref(),
            StopReason::Unanswered(_) => self.reached.last(),
            // The redirects may have gone back to the leased URL.
            _ => {
                let last = self.exchanges.last().map(|exchange| &exchange.url);
                last.filter(|last| self.reached.contains(last))
            }
        };
        match target {
            Some(target) => Reason::of_redirect(&target.request(), cause),
            None => cause,
        }
    }

    /// Returns the unmodified page of an earlier crawl.
    pub(crate) fn unmodified(&self) -> Option<&Page> {
        match &self.stopped_by {
            StopReason::NotModified(unmodified) => Some(&unmodified.original),
            _ => None,
        }
    }

    /// Returns the host that was asked last, for a page or for its robots.txt: the host of `leased`
    /// if there was no redirect.
    fn asked_last(&self, leased: &PageUrl) -> Host {
        let of_target = match &self.stopped_by {
            StopReason::Unanswered(_) => self.reached.last().map(PageUrl::host),
            StopReason::NoRobots(outage) => outage.target.as_ref().map(PageUrl::host),
            _ => self.exchanges.last().map(|exchange| exchange.url.host()),
        };
        of_target.unwrap_or_else(|| leased.host())
    }

    fn stop(mut self, reason: StopReason) -> Result<Self, Fault> {
        self.stopped_by = reason;
        Ok(self)
    }

    /// Returns a target over https, if its host asks for that. A host that leads from there back to
    /// http gets what it wants.
    fn over_https(&self, context: &CrawlContext, target: PageUrl) -> PageUrl {
        let secure = context.fetch.over_https(&target);
        let is_new = |secure: &PageUrl| self.circle(&SentRequest::now(context, secure)).is_none();
        secure.filter(is_new).unwrap_or(target)
    }

    /// Returns the reason not to send a request that was sent before.
    fn circle(&self, next: &SentRequest) -> Option<Reason> {
        let first = self.sent.iter().position(|sent| sent.repeats(next))?;
        let sets_cookie = self.sent[first..].iter().any(|sent| sent.sets_cookie);
        Some(match sets_cookie && next.cookies.is_none() {
            true => Reason::CookieCircle,
            false => Reason::said("redirects in a circle"),
        })
    }
}

/// Requests `url`, the leased URL in a spelling or over https, and follows its redirects.
///
/// # Errors
/// A broken store, or a disk that rejects a large body although it is not full: the page is not to
/// blame.
pub(crate) async fn follow(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    mut url: PageUrl,
) -> Result<RedirectChain, Fault> {
    let mut chain = RedirectChain::default();
    let mut is_own = true;
    let mut archived = match url == *lease.url() && !context.policy.spider {
        true => conditional::archived(context, &url).await,
        false => None,
    };
    loop {
        if url != *lease.url() || !chain.sent.is_empty() {
            is_own = match hop(context, lease, &chain, &url).await? {
                Hop::Own => true,
                Hop::Passing => false,
                Hop::Stopped(reason) => return chain.stop(reason),
            };
        }
        if is_own && url != *lease.url() {
            chain.reached.push(url.clone());
        }
        let asked_by = archived.take();
        let mut sent = SentRequest::now(context, &url);
        let validators = asked_by.as_ref().map(|page| &page.validators);
        let exchange = match request(context, lease, &url, validators).await? {
            Ok(exchange) => exchange,
            Err(FetchFailure::Spool(kind)) if !is_want_of_room(kind) => {
                return Err(Fault::Spool(kind.into()));
            }
            Err(failure) => return chain.stop(StopReason::Unanswered(failure)),
        };
        if let Some(failure) = incomplete(context, lease, &exchange) {
            return chain.stop(StopReason::Unanswered(failure));
        }
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
        sent.sets_cookie = exchange.headers.contains_key(SET_COOKIE);
        chain.sent.push(sent);
        let target = target(&exchange, &context.policy.reading.canonical);
        if is_own && let Some(found) = blocks::in_refusal(context, &exchange).await {
            blocks::report(context, lease, &exchange, &found).await?;
            chain.exchanges.push(exchange);
            return chain.stop(StopReason::Blocked(found));
        }
        if is_own {
            chain.exchanges.push(exchange);
        }
        url = match target {
            None if is_own => return chain.stop(StopReason::Arrived),
            None => return chain.stop(StopReason::Excluded(visited_for_itself(&url))),
            Some(Err(error)) => {
                let detail = format!(": {error}");
                let reason = Reason::with_detail("redirects to an invalid URL", detail);
                return chain.stop(StopReason::Excluded(reason));
            }
            Some(Ok(next)) => chain.over_https(context, next),
        };
    }
}

/// Requests one hop when its host is ready: by HEAD first, if pages are checked.
async fn request(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
    validators: Option<&Validators>,
) -> Result<Result<Exchange, FetchFailure>, StoreFault> {
    let unconditional = Validators::default();
    let wants_body =
        |status, headers: &HeaderMap| content_filter::wants_body(context, lease, status, headers);
    let known = validators.unwrap_or(&unconditional);
    let leased = lease.url().host();
    let request = async |method| {
        let fields = requisites::fields(lease.discovered(), url);
        let content = RequestContent { fields, method };
        politeness::request(context, Some(&leased), url, known, &content, &wants_body).await
    };
    let checked = match context.policy.spider {
        true => Some(request(RequestMethod::Head).await?),
        false => None,
    };
    let outcome = match checked.filter(|outcome| head_first::settles(context, lease, outcome)) {
        Some(outcome) => outcome,
        None => request(RequestMethod::Get).await?,
    };
    if let Ok(exchange) = &outcome
        && (200..300).contains(&exchange.status)
        && FetchFailure::of_incomplete(exchange).is_none()
    {
        context.pacer.remember_page(url);
    }
    Ok(outcome)
}

/// Returns the schemes of authentication that a server asks for (RFC 9110 section 11.6.1), as a
/// clause; empty for other refusals, and for a login that is there and wrong.
fn login_clause(refusal: &Exchange) -> String {
    let fields = refusal.headers.get_all(WWW_AUTHENTICATE).iter();
    let fields = fields.filter_map(|field| field.to_str().ok());
    let mut schemes: Vec<String> = fields.flat_map(schemes).collect();
    schemes.dedup();
    let known = |scheme: &String| {
        ["basic", "digest"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
    };
    let knows_one = schemes.iter().any(known);
    match (refusal.status, schemes.join(", ")) {
        (401, schemes) if knows_one => format!(" (asks for {schemes})"),
        (401, schemes) if !schemes.is_empty() => {
            format!(" (asks for {schemes}, which is not supported)")
        }
        _ => String::new(),
    }
}

/// Returns a failure as a reason. Its name omits the details that differ between servers.
pub(crate) fn reason_of(failure: &FetchFailure) -> Reason {
    let (name, detail) = match failure {
        FetchFailure::PrivateAddress { address, refusal } => {
            let (address, kind) = (address.to_string(), refusal.to_string());
            return Reason::Address { address, kind };
        }
        FetchFailure::Connect(kind) => ("cannot connect", kind.to_string()),
        FetchFailure::Tls { cause } => ("TLS", cause.to_string()),
        FetchFailure::Proxy { cause } => ("the proxy", cause.to_string()),
        FetchFailure::Spool(kind) => ("the body cannot be kept on disk", kind.to_string()),
        other => return Reason::said(other.to_string()),
    };
    Reason::with_detail(name, format!(": {detail}"))
}

/// Returns the schemes of the challenges in a field: of each element, the first word, unless it is
/// a parameter.
fn schemes(field: &str) -> Vec<String> {
    let unquoted: String = field.split('"').step_by(2).collect();
    let elements = unquoted.split(',');
    let words = elements.filter_map(|element| element.split_ascii_whitespace().next());
    words
        .filter(|word| !word.contains('='))
        .map(str::to_owned)
        .collect()
}

/// Returns the failure of a page that is not whole, if another visit may bring the rest. After the
/// last one, what came is the page.
fn incomplete(context: &CrawlContext, lease: &Lease, page: &Exchange) -> Option<FetchFailure> {
    let failure = FetchFailure::of_incomplete(page).filter(|_| is_document(page))?;
    let of_visit = VisitFailure::Fetch(failure.kind());
    let host = page.url.host();
    let is_well =
        !context.pacer.has_answered_page(&host) || context.pacer.pace(&host).failures <= 1;
    let decision = retry::decide(
        of_visit,
        lease.entry.attempts,
        context.policy.tries,
        is_well,
    );
    (decision != Decision::GiveUp).then_some(failure)
}

/// Returns true if the response is a page to read: 200 to 299 (RFC 9110 section 15.3), and a
/// redirect that names no target (section 15.4: its content has the links).
fn is_document(response: &Exchange) -> bool {
    match response.status {
        200..300 => true,
        NOT_MODIFIED => false,
        300..400 => target(response, &CanonicalForm::keep_all()).is_none(),
        _ => false,
    }
}

/// Returns the target of a redirect. As in browsers, an empty or invalid `Location` does not name a
/// target.
pub(crate) fn target(
    response: &Exchange,
    form: &CanonicalForm,
) -> Option<Result<PageUrl, UrlError>> {
    let location = response.location().filter(|text| !text.trim().is_empty())?;
    let target = response.url.join(&location, form);
    (!matches!(target, Err(UrlError::Malformed(_)))).then_some(target)
}

/// Returns true if the error means a full disk, which may have room later.
fn is_want_of_room(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// The response of servers that take If-None-Match for a demand (RFC 9110 section 13.1.2 has it so
/// for other methods than ours).
const PRECONDITION_FAILED: u16 = 412;

fn is_about_conditions(response: &Exchange) -> bool {
    matches!(response.status, NOT_MODIFIED | PRECONDITION_FAILED)
}

/// The next hop of a chain.
enum Hop {
    /// It may be the page.
    Own,
    /// It is another page of the crawl, and may redirect back to the leased URL.
    Passing,
    /// It is not requested, for this reason.
    Stopped(StopReason),
}

/// Judges the next hop.
async fn hop(
    context: &CrawlContext,
    lease: &Lease,
    chain: &RedirectChain,
    next: &PageUrl,
) -> Result<Hop, StoreFault> {
    let excluded = |reason: Reason| Ok(Hop::Stopped(StopReason::Excluded(reason)));
    let most = context.policy.redirects;
    if chain.sent.len() > most {
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        return excluded(Reason::LongChain { most });
    }
    if let Some(circle) = chain.circle(&SentRequest::now(context, next)) {
        return excluded(circle);
    }
    let judged = context.scope().judge(next);
    if let Err(out_of_scope) = judged
        && !(lease.discovered().requisite > 0 && is_requisite(context, next))
    {
        let (is_seed, is_hop) = (lease.is_seed(), is_hop(context, lease, &out_of_scope));
        let is_let_in = is_hop || is_seed || listings::may_move(context, lease, next);
        if out_of_scope.is_exclusion() || !is_let_in {
            let because = Reason::OutOfScope(out_of_scope);
            return excluded(Reason::of_redirect(&next.request(), because));
        }
        if is_seed {
            seed_moves::follow(context, lease, next).await?;
        }
    } else if lease.is_seed() {
        let seeds = context.telemetry.seeds();
        seeds.add_move(lease.url(), next, MovedScope::Within);
    }
    if context.frontier.is_apart(lease, next) {
        visit_apart(context, lease, next).await?;
        return excluded(visited_for_itself(next));
    }
    match permission::check_hop(context, lease, next).await? {
        Permission::Granted(_) | Permission::NotYet => {}
        Permission::Forbidden(reason) => {
            return excluded(Reason::of_redirect(&next.request(), reason));
        }
        Permission::Unknown(outage) => {
            let target = Some(next.clone());
            return Ok(Hop::Stopped(StopReason::NoRobots(RobotsOutage {
                target,
                ..outage
            })));
        }
    }
    // Another spelling of the leased URL needs no claim.
    if next == lease.url() || context.frontier.claim(lease, next).await? {
        return Ok(Hop::Own);
    }
    // A cookie wall sends every page to one URL, and from there back to the page.
    let again = SentRequest::now(context, lease.url());
    let is_changed = again.cookies.is_some() && !chain.sent.iter().any(|sent| sent.repeats(&again));
    if is_changed {
        return Ok(Hop::Passing);
    }
    // The visit that claims it may give the claim up.
    visit_apart(context, lease, next).await?;
    excluded(visited_for_itself(next))
}

/// Queues the target of a redirect, unless it has a visit.
async fn visit_apart(
    context: &CrawlContext,
    lease: &Lease,
    target: &PageUrl,
) -> Result<(), StoreFault> {
    let found = DiscoveredUrl {
        url: target.clone(),
        off_scope: links_off_scope(&context.scope(), lease.discovered().off_scope, target),
        ..lease.discovered().clone()
    };
    context.frontier.discover(vec![found]).await.map(drop)
}

fn visited_for_itself(url: &PageUrl) -> Reason {
    let to = url.to_string();
    Reason::VisitedForItself { to }
}

/// Returns true if a page may redirect to a target that this rule keeps out of the scope.
fn is_hop(context: &CrawlContext, lease: &Lease, out_of_scope: &OutOfScope) -> bool {
    let found = lease.discovered();
    found.requisite == 0
        && context
            .policy
            .redirects_off_scope(found.off_scope, out_of_scope)
}

/// True if a requisite of a page may be at `url`.
fn is_requisite(context: &CrawlContext, url: &PageUrl) -> bool {
    context.policy.page_requisites.let_in(&context.scope(), url)
}
