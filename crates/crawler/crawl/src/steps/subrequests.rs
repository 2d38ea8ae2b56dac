//! The requests of a page's scripts: the twin of `redirects.rs`.
//!
//! Invariant: no request is sent that a page would not be. Each is allowed by robots.txt, guarded
//! (by the fetcher) and paced by its own host; the expressions that exclude pages exclude it, too.
//! Each response is kept for the archive.
//!
//! With `--render-post`, a POST is sent to the domain of its page, once: it may change something at
//! the server.
//!
//! Scripts, styles and fonts are requested once ([`SharedParts`]), data and frames for each page.
//! Pictures, films and fonts show nothing that is read, so they are requested only for an archive
//! with page requisites.
//!
//! [`SharedParts`]: crate::runtime::shared_parts::SharedParts

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use fetch::{FetchFailure, RequestContent, RequestMethod};
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD,
    AUTHORIZATION, CONTENT_LENGTH, ORIGIN,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use journal::Reason;
use policy::Requisites;
use render::{BrowserAnswer, BrowserRequest, PageNetwork, RequestKind};
use store::Lease;
use tokio::sync::Mutex as AsyncMutex;
use web::{Exchange, OutOfScope, PageUrl, Timestamp, Validators};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::politeness;
use crate::runtime::renderer::Renderer;
use crate::runtime::retry::VisitFailure;
use crate::runtime::shared_parts::{MAX_PART, Part};
use crate::steps::permission::{self, Permission};
use crate::steps::redirects::{self, FailedAttempt};
use crate::steps::rendered_page::Subrequest;

/// Maximum number of requests of a page.
const MAX_REQUESTS: usize = 200;

/// Maximum number of bytes that a page receives for its requests, without content coding.
const MAX_BYTES: u64 = 20 << 20;

/// Maximum length of the body of a POST, in bytes.
const MAX_POST: usize = 64 << 10;

/// Fields that the fetcher sets, or that describe the browser rather than the request.
const NOT_SENT: [&str; 14] = [
    "accept-encoding",
    "cache-control",
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "host",
    "pragma",
    "range",
    "te",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
];

/// Prefixes of further such fields.
const NOT_SENT_PREFIXES: [&str; 3] = ["if-", "proxy-", "sec-"];

/// The network of a page while its scripts run.
pub(crate) struct Subrequests<'a> {
    pub(crate) context: &'a Arc<CrawlContext>,
    pub(crate) renderer: &'a Renderer,
    pub(crate) lease: &'a Lease,
    /// The URL of the page, after redirects.
    page: &'a PageUrl,
    sent: Mutex<Sent>,
    /// Locked while a response is decoded, so that all responses together have a limit.
    decoding: AsyncMutex<()>,
}

/// The requests of a page so far.
#[derive(Default)]
struct Sent {
    requests: usize,
    bytes: u64,
    /// True once a POST was sent.
    has_posted: bool,
    made: Vec<Subrequest>,
    /// The requests for text that failed in a way that may pass, and did not succeed later.
    failed: Vec<FailedRequest>,
    /// The first fault of our own machinery.
    fault: Option<Fault>,
}

/// The requests of a page whose scripts have ended.
pub(crate) struct EndedRequests {
    /// The requests with a response, in the order of their responses.
    pub(crate) made: Vec<Subrequest>,
    /// The requests for text that failed in a way that may pass.
    pub(crate) failed: Vec<FailedRequest>,
    /// True if a POST was sent.
    pub(crate) has_posted: bool,
}

impl EndedRequests {
    /// Forgets the parts that pages share, because the page is not archived yet.
    pub(crate) async fn forget_shared(&self, renderer: &Renderer) {
        for request in self.made.iter().filter(|request| request.is_shared) {
            renderer.shared.forget(request.exchange.url.key()).await;
        }
    }
}

/// A request that failed in a way that may pass.
pub(crate) struct FailedRequest {
    pub(crate) url: PageUrl,
    pub(crate) attempt: FailedAttempt,
    /// True if the request belongs to the domain of its page.
    pub(crate) is_own: bool,
}

/// A request that passed the gates that need no request, or the reason why it did not.
type Gated = Result<PageUrl, String>;

impl<'a> Subrequests<'a> {
    pub(crate) fn new(
        context: &'a Arc<CrawlContext>,
        renderer: &'a Renderer,
        lease: &'a Lease,
        page: &'a PageUrl,
    ) -> Self {
        Self {
            context,
            renderer,
            lease,
            page,
            sent: Mutex::default(),
            decoding: AsyncMutex::default(),
        }
    }

    /// Returns the requests.
    ///
    /// # Errors
    /// The fault of our own machinery that a request met.
    pub(crate) fn end(self) -> Result<EndedRequests, Fault> {
        let sent = self.sent.into_inner();
        let sent = sent.unwrap_or_else(PoisonError::into_inner);
        match sent.fault {
            Some(fault) => Err(fault),
            None => Ok(EndedRequests {
                made: sent.made,
                failed: sent.failed,
                has_posted: sent.has_posted,
            }),
        }
    }

    /// Returns true if the page has sent a POST.
    pub(crate) fn has_posted(&self) -> bool {
        self.sent().has_posted
    }

    /// Judges a request by its kind, method and URL.
    fn gate(&self, request: &BrowserRequest) -> Gated {
        let has_requisites = self.context.policy.page_requisites != Requisites::Off;
        match request.kind {
            RequestKind::Image | RequestKind::Media | RequestKind::Font if !has_requisites => {
                return Err("pictures, films and fonts need --page-requisites".to_owned());
            }
            RequestKind::Other => return Err("nothing of the page depends on it".to_owned()),
            _ => {}
        }
        match request.method {
            Method::GET | Method::HEAD | Method::OPTIONS => {}
            Method::POST if self.context.policy.render.posts => {}
            Method::POST => return Err("POST is not sent without --render-post".to_owned()),
            _ => return Err(format!("{} is not sent", request.method)),
        }
        let form = &self.context.policy.reading.canonical;
        let url = PageUrl::parse(&request.url, form).map_err(|error| error.to_string())?;
        let url = self.context.fetch.over_https(&url).unwrap_or(url);
        if request.method == Method::POST {
            self.gate_post(request, &url)?;
        }
        let judged = self.context.scope().judge(&url);
        let excluded = judged.err().filter(OutOfScope::is_exclusion);
        let excluded = excluded.or_else(|| self.context.overrides.exclusion(&url));
        match excluded {
            Some(rule) => Err(rule.to_string()),
            None => Ok(url),
        }
    }

    /// Judges a POST.
    fn gate_post(&self, request: &BrowserRequest, url: &PageUrl) -> Result<(), String> {
        let length = request.body.as_ref().map(Bytes::len);
        let reason = match length {
            _ if request.kind != RequestKind::Data => "a POST is sent only for data",
            _ if url.registrable_domain() != self.page.registrable_domain() => {
                "a POST is sent only to the domain of its page"
            }
            None => "the body of this POST is not known",
            Some(length) if length > MAX_POST => "the body of this POST exceeds 64 KiB",
            Some(_) => return Ok(()),
        };
        Err(reason.to_owned())
    }

    async fn answer_or_fault(&self, request: &BrowserRequest) -> Result<BrowserAnswer, Fault> {
        let url = match self.gate(request) {
            Ok(url) => url,
            Err(reason) => return Ok(BrowserAnswer::Refused(reason)),
        };
        if request.method == Method::OPTIONS {
            return Ok(preflight(&request.headers));
        }
        let answered = match is_shared(request.kind) {
            true => self.shared(&url, request).await?,
            false => self.requested(&url, request).await?,
        };
        Ok(match answered {
            Ok(part) => BrowserAnswer::Response {
                status: part.status,
                headers: part.headers,
                body: match request.method == Method::HEAD {
                    true => Bytes::new(),
                    false => part.body,
                },
            },
            Err(answer) => answer,
        })
    }

    /// Returns a part that pages share; requests it if no page did before.
    async fn shared(
        &self,
        url: &PageUrl,
        request: &BrowserRequest,
    ) -> Result<Result<Part, BrowserAnswer>, Fault> {
        let key = url.key();
        let shared = &self.renderer.shared;
        let Some(mut slot) = shared.lock(key).await else {
            return self.requested(url, request).await;
        };
        if let Some(part) = &slot.part {
            return Ok(Ok(part.clone()));
        }
        if let Some(place) = shared.place(&slot) {
            let form = self.context.policy.reading.canonical.clone();
            let read = self.context.compute(move || place.read(&form)).await;
            if let Some(part) = read.flatten() {
                shared.keep(key, &mut slot, part.clone());
                return Ok(Ok(part));
            }
        }
        let answered = self.requested(url, request).await?;
        if let Ok(part) = answered.as_ref()
            && part.is_lasting()
        {
            shared.keep(key, &mut slot, part.clone());
        }
        Ok(answered)
    }

    /// Requests `url`, if the page has requests left and robots.txt allows it.
    async fn requested(
        &self,
        url: &PageUrl,
        request: &BrowserRequest,
    ) -> Result<Result<Part, BrowserAnswer>, Fault> {
        let (context, lease) = (self.context, self.lease);
        let refused = |reason: String| Ok(Err(BrowserAnswer::Refused(reason)));
        if !self.take_request() {
            return refused(format!("a page has {MAX_REQUESTS} requests"));
        }
        match permission::check_hop(context, lease, url).await? {
            Permission::Granted(_) | Permission::NotYet => {}
            Permission::Forbidden(reason) => return refused(reason.to_string()),
            Permission::Unknown(outage) => {
                let cause = Reason::said(format!("robots.txt is unavailable ({})", outage.error));
                let refusal = refused(cause.to_string());
                self.note_failure(
                    url,
                    request.kind,
                    VisitFailure::of_robots(&outage.error),
                    cause,
                );
                return refusal;
            }
        }
        let left = self.bytes_left();
        let fits = |_status, headers: &HeaderMap| announced(headers) <= left;
        let usual = Validators::default();
        let is_post = request.method == Method::POST;
        self.sent().has_posted |= is_post;
        let content = RequestContent {
            fields: fields(&request.headers),
            method: match request.body.clone().filter(|_| is_post) {
                Some(body) => RequestMethod::Post(body),
                None => RequestMethod::Get,
            },
        };
        let leased = lease.url().host();
        let outcome =
            politeness::request(context, Some(&leased), url, &usual, &content, &fits).await?;
        let exchange = match outcome {
            Ok(exchange) => exchange,
            Err(failure) => {
                self.note_fetch_failure(url, request.kind, &failure);
                return Ok(Err(BrowserAnswer::Failed(failure.to_string())));
            }
        };
        let incomplete = FetchFailure::of_incomplete(&exchange);
        if let Some(failure) = &incomplete {
            self.note_fetch_failure(url, request.kind, failure);
        } else if exchange.status >= 400 {
            let status = exchange.status;
            let (failure, login) = (VisitFailure::Status(status), String::new());
            self.note_failure(url, request.kind, failure, Reason::Status { status, login });
        } else {
            self.sent().failed.retain(|failed| failed.url != *url);
            self.renderer.lost.succeeded(url);
        }
        let is_whole = exchange.truncated.is_none() && incomplete.is_none();
        let part = self.decoded(&exchange).await.filter(|_| is_whole);
        self.sent().made.push(Subrequest {
            exchange,
            is_shared: is_shared(request.kind),
        });
        Ok(part.ok_or_else(|| BrowserAnswer::Failed("the response is not whole".to_owned())))
    }

    /// Decodes a response off the reactor; returns `None` if it is larger than what the page may
    /// still receive, or if decoding it panicked.
    async fn decoded(&self, exchange: &Exchange) -> Option<Part> {
        let _turn = self.decoding.lock().await;
        let (exchange, left) = (exchange.clone(), self.bytes_left());
        let decode = move || Part::of(&exchange, left);
        let part = self.context.compute(decode).await.flatten()?;
        self.sent().bytes += part.body.len() as u64;
        Some(part)
    }

    fn note_fetch_failure(&self, url: &PageUrl, kind: RequestKind, failure: &FetchFailure) {
        let of_visit = VisitFailure::Fetch(failure.kind());
        self.note_failure(url, kind, of_visit, redirects::reason_of(failure));
    }

    /// Notes a request for text that failed in a way that may pass. Scripts may repeat it.
    fn note_failure(&self, url: &PageUrl, kind: RequestKind, failure: VisitFailure, cause: Reason) {
        use RequestKind::{Data, Frame, Script};
        let brings_text = matches!(kind, Data | Frame | Script);
        if !brings_text || !failure.consequence().may_pass() {
            return;
        }
        let request = url.request();
        let attempt = FailedAttempt {
            failure,
            host: url.host(),
            reason: Reason::with_detail(
                "a request of its scripts failed",
                format!(": {request}: {cause}"),
            ),
            cause,
            until: Timestamp::default(),
        };
        let is_own = url.registrable_domain() == self.page.registrable_domain();
        let failed = FailedRequest {
            url: url.clone(),
            attempt,
            is_own,
        };
        self.sent().failed.push(failed);
    }

    fn bytes_left(&self) -> u64 {
        MAX_BYTES.saturating_sub(self.sent().bytes)
    }

    fn take_request(&self) -> bool {
        let mut sent = self.sent();
        sent.requests += 1;
        sent.requests <= MAX_REQUESTS && sent.bytes < MAX_BYTES
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl PageNetwork for Subrequests<'_> {
    async fn answer(&self, request: BrowserRequest) -> BrowserAnswer {
        match self.answer_or_fault(&request).await {
            Ok(answer) => answer,
            Err(fault) => {
                let answer = BrowserAnswer::Failed(fault.to_string());
                self.sent().fault.get_or_insert(fault);
                answer
            }
        }
    }
}

/// Returns true for parts that pages share.
const fn is_shared(kind: RequestKind) -> bool {
    matches!(
        kind,
        RequestKind::Script | RequestKind::Style | RequestKind::Font
    )
}

/// Returns the length that a response announces; 0 if it announces none.
fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or_default()
}

/// Returns the fields of a script's request that are sent. A login that a script sends is secret.
fn fields(asked: &HeaderMap) -> HeaderMap {
    let is_sent = |name: &HeaderName| {
        let mut prefixes = NOT_SENT_PREFIXES.iter();
        !NOT_SENT.contains(&name.as_str())
            && !prefixes.any(|prefix| name.as_str().starts_with(prefix))
    };
    let sent = asked.iter().filter(|(name, _)| is_sent(name));
    let mut fields: HeaderMap = sent
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(login) = fields.get_mut(AUTHORIZATION) {
        login.set_sensitive(true);
    }
    fields
}

/// Returns the answer to a preflight (Fetch standard, section 3.2.2): the request that follows may
/// be sent, if its method is one of ours. Whether the page may read its response is up to the
/// server, by the fields of that response.
fn preflight(asked: &HeaderMap) -> BrowserAnswer {
    let mut headers = HeaderMap::new();
    let any = HeaderValue::from_static("*");
    let copied = [
        (ORIGIN, ACCESS_CONTROL_ALLOW_ORIGIN),
        (ACCESS_CONTROL_REQUEST_METHOD, ACCESS_CONTROL_ALLOW_METHODS),
        (ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_ALLOW_HEADERS),
    ];
    for (from, to) in copied {
        headers.insert(to, asked.get(from).unwrap_or(&any).clone());
    }
    let allowed = HeaderValue::from_static("true");
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, allowed);
    BrowserAnswer::Response {
        status: 204,
        headers,
        body: Bytes::new(),
    }
}

const _: () = assert!(MAX_PART as u64 >= MAX_BYTES, "a part of a page fits");
