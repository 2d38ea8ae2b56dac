//! [`Fetch`] over the real network.
//!
//! Addresses are checked three times: an address in the URL before anything happens (the engine
//! never asks a resolver for it), every address of a name when it is looked up, and the peer at the
//! end. With a proxy the peer is the proxy; `requests/src/proxy_url.rs` describes the checks then.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpInfo;
use requests::{ProxyPrecheck, ProxyUrl};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};
use web::{Body, Exchange, PageUrl, Protocol, Timestamp, Truncation, Validators};

use crate::client::body::{self, ReceivedBody};
use crate::client::connections::{Clients, Connection};
use crate::client::options::{FetchLimits, FetchOptions};
use crate::client::repetition::{self, MAX_REPEATS};
use crate::client::request::{self, Outgoing, RequestHeaders};
use crate::client::setup_error::SetupError;
use crate::client::wire::WireExchange;
use crate::credentials::logins::Logins;
use crate::credentials::session_cookies::SessionCookies;
use crate::failure::FetchFailure;
use crate::fetch::{Fetch, RequestContent, RequestMethod, WantsBody};
use crate::hsts::Hsts;
use crate::open_files::{SHORTAGE_TRIES, SHORTAGE_WAIT};
use crate::ssrf_guard::guard::Guard;
use crate::ssrf_guard::names::{Addresses, Names};

/// The client for real servers.
#[derive(Debug)]
pub struct HttpFetch {
    clients: Clients,
    guard: Guard,
    names: Arc<Names>,
    request_headers: RequestHeaders,
    /// The cookies that servers have set, if they are kept.
    cookies: Option<SessionCookies>,
    logins: Logins,
    hsts: Hsts,
    /// One permit per request in flight: its connection is an open file.
    files: Semaphore,
    options: FetchOptions,
}

impl HttpFetch {
    /// Prepares a client; reads certificates but touches no network.
    ///
    /// # Errors
    ///
    /// [`SetupError`] if the options cannot be fulfilled. A machine without root certificates is
    /// accepted: https then fails page by page.
    pub fn new(options: FetchOptions) -> Result<Self, SetupError> {
        let Ok(user_agent) = HeaderValue::from_str(&options.user_agent) else {
            return Err(SetupError::UserAgent(options.user_agent));
        };
        let guard = Guard::new(options.allow_private, &options.allow_addresses);
        let names = Arc::new(Names::new(
            options.names.clone(),
            &options.resolve,
            guard.clone(),
            options.limits.names_kept,
            options.open_files.look_ups,
        ));
        Ok(Self {
            clients: Clients::new(&options, &names)?,
            guard,
            names,
            request_headers: RequestHeaders::new(user_agent, Arc::clone(&options.secrets)),
            cookies: options.keeps_cookies.then(SessionCookies::default),
            logins: Logins::new(options.nonce_seed),
            hsts: Hsts::new(options.insecure_hosts.clone()),
            files: Semaphore::new(options.open_files.requests.min(Semaphore::MAX_PERMITS)),
            options,
        })
    }

    /// Checks that a page may be requested, except for the checks in a connection's own look-up.
    async fn check(&self, url: &PageUrl) -> Result<(), FetchFailure> {
        let host = url.as_url().host_str().ok_or(FetchFailure::Unaskable)?;
        self.guard.check_literal(host)?;
        let Some(proxy) = self.options.proxy_of(url) else {
            return Ok(());
        };
        if url.as_url().scheme() == "https" && host.starts_with('[') {
            return Err(FetchFailure::Unaskable);
        }
        match proxy.precheck(host) {
            ProxyPrecheck::Nothing => Ok(()),
            ProxyPrecheck::Spelling => self.guard.check_unresolved(host),
            ProxyPrecheck::Addresses => self.addresses(url).await.map(|_addresses| ()),
        }
    }

    /// Looks up the addresses of a page's host.
    async fn addresses(&self, url: &PageUrl) -> Result<Addresses, FetchFailure> {
        let host = url.as_url().host_str().ok_or(FetchFailure::Unaskable)?;
        let port = url.as_url().port_or_known_default().unwrap_or_default();
        let found = self.names.addresses(host, port);
        let found = timeout(self.options.limits.connect_timeout, found).await;
        found.unwrap_or(Err(FetchFailure::Dns))
    }

    /// Signs a request that is sent now. A proxy that reads requests may change what is signed, so
    /// they are not signed there.
    fn sign(&self, url: &PageUrl, headers: &mut HeaderMap) {
        let https = url.as_url().scheme() == "https";
        let proxy = self.options.proxy_of(url);
        let is_read = proxy.is_some_and(|proxy| proxy.reads_requests(https));
        if let Some(signer) = self.options.signer.as_ref().filter(|_| !is_read) {
            signer.sign(url, headers, self.options.clock.date());
        }
    }

    /// Returns the fields of a request that is sent now.
    fn fields(
        &self,
        url: &PageUrl,
        known: &Validators,
        content: &RequestContent,
        now: Timestamp,
    ) -> HeaderMap {
        let mut fields = self.request_headers.for_url(url, known, content, now);
        if let Some(cookies) = &self.cookies
            && let Some(field) = cookies.field(url, fields.get(COOKIE), now)
        {
            fields.insert(COOKIE, field);
        }
        if let Some(login) = self.options.secrets.login_for(url)
            && let Some(field) = self
                .logins
                .field(url, content.method.name().as_str(), login)
        {
            fields.insert(AUTHORIZATION, field);
        }
        self.sign(url, &mut fields);
        fields
    }

    /// Learns from a head: cookies, what the login needs, and whether the host wants https.
    fn learn(
        &self,
        url: &PageUrl,
        sent: &HeaderMap,
        response: &Response<Incoming>,
        started: Timestamp,
    ) {
        let (status, headers) = (response.status(), response.headers());
        if let Some(cookies) = &self.cookies {
            cookies.learn(url, headers, started);
        }
        if self.options.secrets.login_for(url).is_some() {
            let sent = sent.get(AUTHORIZATION);
            self.logins.learn(url, sent, status, headers);
        }
        self.hsts.learn(url, headers, self.options.clock.now());
    }

    /// Returns the head of the response, with the time when its exchange began. While files are
    /// short, connecting is tried again: the shortage is not the host's failure.
    async fn begin(
        &self,
        outgoing: Outgoing<'_>,
        connection: Connection,
    ) -> Result<(Instant, Response<Incoming>), FetchFailure> {
        let FetchOptions { limits, stalls, .. } = &self.options;
        let mut left = SHORTAGE_TRIES;
        loop {
            let began = Instant::now();
            let response = stalls.watch(self.request_once(outgoing, connection));
            let answered = timeout(limits.timeout, response).await;
            match answered.unwrap_or(Err(FetchFailure::Timeout)) {
                Err(FetchFailure::OpenFiles) if left > 1 => left -= 1,
                answered => return answered.map(|response| (began, response)),
            }
            sleep(SHORTAGE_WAIT).await;
        }
    }

    /// Returns the head of the response.
    async fn request_once(
        &self,
        outgoing: Outgoing<'_>,
        connection: Connection,
    ) -> Result<Response<Incoming>, FetchFailure> {
        self.check(outgoing.url).await?;
        let https = outgoing.url.as_url().scheme() == "https";
        let proxy = self.options.proxy_of(outgoing.url);
        let response = self.send(outgoing, connection).await?;
        match proxy {
            None => {
                if let Some(peer) = peer(&response) {
                    self.guard.check(peer.ip())?;
                }
            }
            Some(proxy) => {
                let refused = response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED;
                if refused && proxy.reads_requests(https) {
                    return Err(FetchFailure::proxy("it requires a user and a password"));
                }
            }
        }
        check_head(&response, &self.options.limits)?;
        Ok(response)
    }

    /// Sends the request, and again where the standards let a client repeat it at once.
    async fn send(
        &self,
        outgoing: Outgoing<'_>,
        mut connection: Connection,
    ) -> Result<Response<Incoming>, FetchFailure> {
        let url = outgoing.url;
        let https = url.as_url().scheme() == "https";
        let proxy = self.options.proxy_of(url);
        let reader = proxy.filter(|proxy| proxy.reads_requests(https));
        let login = reader.and_then(ProxyUrl::basic_login);
        let mut repeats = 0;
        loop {
            let request = request::request(outgoing, login.clone())?;
            let response = self.clients.of(url, proxy).send(request, connection).await;
            if repeats < MAX_REPEATS
                && let Some(another) = repetition::connection_for(&response)
            {
                (connection, repeats) = (another, repeats + 1);
                continue;
            }
            return response.map_err(|error| match proxy {
                None => FetchFailure::of(&error),
                Some(_) => FetchFailure::by_way_of_proxy(&error, https),
            });
        }
    }
}

#[async_trait]
impl Fetch for HttpFetch {
    async fn request(&self, url: &PageUrl, known: &Validators) -> Result<Exchange, FetchFailure> {
        let usual = RequestContent::default();
        self.request_for(url, known, &usual, &|_, _| true).await
    }

    async fn request_for(
        &self,
        url: &PageUrl,
        known: &Validators,
        content: &RequestContent,
        wants_body: &WantsBody<'_>,
    ) -> Result<Exchange, FetchFailure> {
        let (options, started) = (&self.options, self.options.clock.date());
        let _file = self.files.acquire().await.expect("it is never closed");
        let seat = self.clients.seat(url);
        let connection = match seat {
            // A kept connection may have ended, and a POST is not repeated on another one.
            None => Connection::Fresh,
            Some(_) if matches!(content.method, RequestMethod::Post(_)) => Connection::Fresh,
            Some(_) => Connection::Kept,
        };
        let headers = self.fields(url, known, content, started);
        let outgoing = Outgoing {
            url,
            headers: &headers,
            method: &content.method,
        };
        let (began, mut response) = self.begin(outgoing, connection).await?;
        self.learn(url, &headers, &response, started);
        let wire = response.extensions().get::<WireExchange>();
        let mut warnings = wire.map(WireExchange::take_warnings).unwrap_or_default();
        // With a proxy the peer is the proxy, and the server's address is not known.
        let address = peer(&response).filter(|_| options.proxy_of(url).is_none());
        let status = response.status().as_u16();
        let ReceivedBody {
            body,
            truncated,
            warning,
        } = match wants_body(status, response.headers()) {
            true => body::read(&mut response, options).await?,
            // The connection is closed with the response.
            false => ReceivedBody {
                body: Body::default(),
                truncated: Some(Truncation::Length),
                warning: None,
            },
        };
        warnings.extend(warning);

        let protocol = protocol(response.version())?;
        Ok(Exchange {
            url: url.clone(),
            request_head: request::written(outgoing, protocol)?,
            status,
            headers: std::mem::take(response.headers_mut()),
            body,
            truncated,
            warnings,
            address: address.map(unmapped),
            protocol,
            started,
            elapsed: began.elapsed(),
        })
    }

    fn session_cookies(&self, url: &PageUrl) -> Option<HeaderValue> {
        let cookies = self.cookies.as_ref()?;
        let field = cookies.field(url, None, self.options.clock.date());
        Some(field.unwrap_or(HeaderValue::from_static("")))
    }

    fn can_log_in(&self, refusal: &Exchange) -> bool {
        let login = self.options.secrets.login_for(&refusal.url);
        login.is_some() && self.logins.can_answer(refusal)
    }

    fn over_https(&self, url: &PageUrl) -> Option<PageUrl> {
        self.hsts.over_https(url, self.options.clock.now())
    }

    async fn address(&self, url: &PageUrl) -> Option<IpAddr> {
        let proxy = self.options.proxy_of(url);
        if proxy.is_some_and(ProxyUrl::looks_up_itself) {
            return None;
        }
        // A slow name server must not hold up other hosts, as in a request.
        let found = self.options.stalls.watch(self.addresses(url)).await;
        found.ok()?.first().copied()
    }
}

/// Returns the address at the other end of the connection.
fn peer(response: &Response<Incoming>) -> Option<SocketAddr> {
    let connection = response.extensions().get::<HttpInfo>();
    connection.map(HttpInfo::remote_addr)
}

/// Checks the head of a response. The engine counts the fields of HTTP/1 and the bytes of HTTP/2;
/// here both count for both.
fn check_head(response: &Response<Incoming>, limits: &FetchLimits) -> Result<(), FetchFailure> {
    let fields = response.headers();
    let bytes: usize = fields
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    if bytes > limits.header_bytes || fields.len() > limits.header_fields {
        return Err(FetchFailure::HeadersTooLarge);
    }
    // 101 Switching Protocols was not requested. 600 to 999 are invalid but still sent (999 by
    // linkedin.com): RFC 9110 section 15 has a client treat them as errors, and they are answers.
    if response.status().as_u16() >= 200 {
        Ok(())
    } else {
        Err(FetchFailure::Protocol)
    }
}

fn protocol(version: Version) -> Result<Protocol, FetchFailure> {
    match version {
        Version::HTTP_10 => Ok(Protocol::Http10),
        Version::HTTP_11 => Ok(Protocol::Http11),
        Version::HTTP_2 => Ok(Protocol::Http2),
        _ => Err(FetchFailure::Protocol),
    }
}

/// Returns the IPv4 address of an IPv4 peer seen through an IPv6 socket.
fn unmapped(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
