//! [`Fetch`] over the real network.
//!
//! reqwest is kept from everything it would do on its own: it follows no redirect, knows no cookies, referrer
//! or proxy, retries nothing, decompresses nothing. What remains is one request and one answer.
//!
//! Who may be asked is checked three times: an address written in the URL before anything happens (the engine
//! never asks a resolver for it), every address of a name when it is looked up, and the peer at the end.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use http::header::{ACCEPT, ACCEPT_ENCODING, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Version};
use reqwest::{Client, Request, Response};
use rustls::pki_types::pem;
use tokio::time::{Instant, timeout_at};
use web::{Clock, Exchange, PageUrl, Protocol};

use crate::body::{BodyReader, Cut};
use crate::failure::FetchFailure;
use crate::guard::refusal;
use crate::resolve::GuardedResolver;
use crate::{Fetch, FetchLimits, FetchOptions, tls};

/// Idle connections kept for a host. Each holds a read buffer of up to some hundred KiB: 64 for each of 64 hosts were 150 MiB.
const IDLE_PER_HOST: usize = 4;
/// Idle connections are kept as long as a polite crawler may need them again, and no longer: over many hosts
/// they are what memory goes into.
const IDLE: Duration = Duration::from_secs(10);
/// Bytes that an HTTP/2 server may send ahead of our reading, for a stream and for a connection.
const H2_STREAM_WINDOW: u32 = 512 << 10;
const H2_CONNECTION_WINDOW: u32 = 1 << 20;

/// Asks real servers.
#[derive(Debug)]
pub struct HttpFetch {
    /// A client for each port that a resolve rule names: reqwest asks its resolver without saying the port.
    of_port: Vec<(u16, Client)>,
    of_any_port: Client,
    /// What every request says of us, in the order in which it is sent.
    said_always: HeaderMap,
    body: BodyReader,
    limits: FetchLimits,
    allow_private: bool,
    clock: Clock,
}

/// Why a fetcher cannot be set up as it was told.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The user agent has characters that a header field cannot carry.
    #[error("the user agent {0:?} cannot be sent in a header field")]
    UserAgent(String),
    /// A file of certificates cannot be read.
    #[error("cannot read certificates from {path:?}")]
    CertificateFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: pem::Error,
    },
    /// A file of certificates holds none.
    #[error("there is no PEM certificate in {0:?}")]
    NoCertificate(PathBuf),
    /// The TLS library does not accept its configuration.
    #[error("cannot set up TLS")]
    Tls(#[source] rustls::Error),
    /// The HTTP library does not accept its configuration.
    #[error("cannot set up the HTTP client")]
    Client(#[source] reqwest::Error),
}

impl HttpFetch {
    /// Prepares for asking; reads certificates but touches no network.
    ///
    /// # Errors
    ///
    /// [`SetupError`] if what the options say cannot be done at all. A machine without root certificates is
    /// no such case: https then fails page by page.
    pub fn new(options: FetchOptions) -> Result<Self, SetupError> {
        let Ok(user_agent) = HeaderValue::from_str(&options.user_agent) else {
            return Err(SetupError::UserAgent(options.user_agent));
        };
        let tls = tls::client_config(&options.ca_certificates)?;
        let client = |port| {
            let resolver = GuardedResolver::new(&options.resolve, port, options.allow_private);
            client(&options, tls.clone(), resolver).map_err(SetupError::Client)
        };
        let mut ports: Vec<u16> = options.resolve.iter().map(|rule| rule.port).collect();
        ports.sort_unstable();
        ports.dedup();
        Ok(Self {
            of_port: ports
                .into_iter()
                .map(|port| Ok((port, client(Some(port))?)))
                .collect::<Result<_, SetupError>>()?,
            of_any_port: client(None)?,
            said_always: said_always(user_agent),
            body: BodyReader::new(&options.limits),
            limits: options.limits,
            allow_private: options.allow_private,
            clock: options.clock,
        })
    }

    fn client_for(&self, url: &PageUrl) -> &Client {
        let port = url.as_url().port_or_known_default();
        let ruled = self.of_port.iter().find(|(of_port, _)| Some(*of_port) == port);
        ruled.map_or(&self.of_any_port, |(_, client)| client)
    }

    fn guard(&self, address: IpAddr) -> Result<(), FetchFailure> {
        match refusal(address) {
            Some(refusal) if !self.allow_private => Err(FetchFailure::PrivateAddress { address, refusal }),
            _ => Ok(()),
        }
    }

    /// The request for `url`, or why it is not to be made.
    fn request(&self, url: &PageUrl) -> Result<Request, FetchFailure> {
        match url.as_url().host() {
            Some(url::Host::Ipv4(address)) => self.guard(address.into())?,
            Some(url::Host::Ipv6(address)) => self.guard(address.into())?,
            Some(url::Host::Domain(_)) => {}
            None => return Err(FetchFailure::Unaskable),
        }
        let mut request = Request::new(Method::GET, url.as_url().clone());
        let fields = request.headers_mut();
        if url.as_url().scheme() == "http" {
            fields.insert(HOST, host_field(url)?);
        }
        fields.extend(self.said_always.clone());
        Ok(request)
    }
}

#[async_trait]
impl Fetch for HttpFetch {
    async fn fetch(&self, url: &PageUrl) -> Result<Exchange, FetchFailure> {
        let request = self.request(url)?;
        let started = self.clock.now();
        let began = Instant::now();
        let deadline = began + self.limits.timeout;

        let asked = self.client_for(url).execute(request);
        let mut response = match timeout_at(deadline, asked).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(FetchFailure::of(&error)),
            Err(_elapsed) => return Err(FetchFailure::Timeout),
        };
        let address = response.remote_addr();
        if let Some(peer) = address {
            self.guard(peer.ip())?;
        }
        check_head(&response, &self.limits)?;
        let Cut { body, truncated } = self.body.read(&mut response, deadline).await?;

        let protocol = protocol(response.version())?;
        Ok(Exchange {
            url: url.clone(),
            request_head: request_head(url, &self.said_always, protocol)?,
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body,
            truncated,
            address: address.map(unmapped),
            protocol,
            started,
            elapsed: began.elapsed(),
        })
    }
}

fn client(
    options: &FetchOptions,
    tls: rustls::ClientConfig,
    resolver: GuardedResolver,
) -> Result<Client, reqwest::Error> {
    let header_bytes = u32::try_from(options.limits.header_bytes).unwrap_or(u32::MAX);
    Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(resolver)
        .connect_timeout(options.limits.connect_timeout)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(options.connections_per_host.min(IDLE_PER_HOST))
        .http1_max_headers(options.limits.header_fields)
        .http2_max_header_list_size(header_bytes)
        .http2_initial_stream_window_size(H2_STREAM_WINDOW)
        .http2_initial_connection_window_size(H2_CONNECTION_WINDOW)
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .build()
}

fn said_always(user_agent: HeaderValue) -> HeaderMap {
    let mut fields = HeaderMap::with_capacity(3);
    fields.insert(USER_AGENT, user_agent);
    fields.insert(
        ACCEPT,
        HeaderValue::from_static("text/html,application/xhtml+xml,*/*;q=0.8"),
    );
    fields.insert(
        ACCEPT_ENCODING,
        HeaderValue::from_static("gzip, deflate, br, zstd"),
    );
    fields
}

fn host_field(url: &PageUrl) -> Result<HeaderValue, FetchFailure> {
    HeaderValue::from_str(url.authority()).map_err(|_not_a_field| FetchFailure::Unaskable)
}

/// The request as it was written to an HTTP/1.1 connection, byte for byte; what HTTP/2 sends in frames is
/// written the same way, as archives do.
///
/// `Host` comes first over http, where we set it. Over https it is not known beforehand whether HTTP/2 will
/// be spoken, which has no such field, so the engine appends it where it is needed.
fn request_head(url: &PageUrl, said: &HeaderMap, protocol: Protocol) -> Result<Vec<u8>, FetchFailure> {
    let host = host_field(url)?;
    let host_last = url.as_url().scheme() == "https" && protocol != Protocol::Http2;
    let mut head = Vec::with_capacity(256 + url.as_str().len());
    head.extend_from_slice(b"GET ");
    head.extend_from_slice(url.as_url().path().as_bytes());
    if let Some(query) = url.as_url().query() {
        head.push(b'?');
        head.extend_from_slice(query.as_bytes());
    }
    head.extend_from_slice(b" HTTP/1.1\r\n");
    if !host_last {
        write_field(&mut head, "host", &host);
    }
    for (name, value) in said {
        write_field(&mut head, name.as_str(), value);
    }
    if host_last {
        write_field(&mut head, "host", &host);
    }
    head.extend_from_slice(b"\r\n");
    Ok(head)
}

fn write_field(head: &mut Vec<u8>, name: &str, value: &HeaderValue) {
    for part in [name.as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
        head.extend_from_slice(part);
    }
}

/// The engine counts the fields of HTTP/1 and the bytes of HTTP/2; here both count for both.
fn check_head(response: &Response, limits: &FetchLimits) -> Result<(), FetchFailure> {
    let fields = response.headers();
    let bytes: usize = fields
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    if bytes > limits.header_bytes || fields.len() > limits.header_fields {
        return Err(FetchFailure::HeadersTooLarge);
    }
    // 101 Switching Protocols was not asked for; 600 and above do not exist (RFC 9110 section 15).
    if (200..600).contains(&response.status().as_u16()) {
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

/// An IPv4 peer seen through an IPv6 socket is an IPv4 peer.
fn unmapped(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
