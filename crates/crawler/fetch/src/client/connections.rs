//! The clients of hyper, one per certificate, proxy and ruled port, and the connections they use.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::{Builder, Client as HttpClient, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use requests::ProxyUrl;
use rustls::ClientConfig;
use web::PageUrl;

use crate::client::connector::{Connector, without_http2};
use crate::client::idle_connections::{IDLE, IdleSeats, Seat};
use crate::client::options::FetchOptions;
use crate::client::setup_error::SetupError;
use crate::client::tls;
use crate::credentials::client_certificates::{ClientCertificate, ClientCertificates};
use crate::ssrf_guard::names::Names;
use crate::ssrf_guard::resolver::GuardedResolver;

/// Idle connections kept for a host. Each holds a read buffer of up to some hundred KiB: 64 for
/// each of 64 hosts took 150 MiB.
const IDLE_PER_HOST: usize = 4;
/// Bytes that an HTTP/2 server may send ahead of our reading, for a stream and for a connection.
const H2_STREAM_WINDOW: u32 = 512 << 10;
const H2_CONNECTION_WINDOW: u32 = 1 << 20;

/// The clients without a user certificate, and the clients per certificate.
#[derive(Debug)]
pub(crate) struct Clients {
    without: ClientsOfProxies,
    with: HashMap<ClientCertificate, ClientsOfProxies>,
    certificates: ClientCertificates,
    seats: Arc<IdleSeats>,
}

/// The clients of each proxy, and of requests without one.
#[derive(Debug)]
struct ClientsOfProxies(Vec<(Option<ProxyUrl>, ClientsOfPorts)>);

/// One client per port in the resolve rules, because the engine asks its resolver without the port,
/// and one client for all other ports.
#[derive(Debug)]
struct ClientsOfPorts {
    of_port: Vec<(u16, Client)>,
    of_any_port: Client,
}

/// The client of a port.
#[derive(Debug)]
pub(crate) struct Client {
    kept: HttpClient<Connector, Full<Bytes>>,
    fresh: HttpClient<Connector, Full<Bytes>>,
    fresh_http1: HttpClient<Connector, Full<Bytes>>,
}

/// The connection that a request is sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    /// An idle one, or else a new one, which is kept.
    Kept,
    /// A new one.
    Fresh,
    /// A new one, with HTTP/1.1.
    FreshHttp1,
}

impl Clients {
    pub(crate) fn new(options: &FetchOptions, names: &Arc<Names>) -> Result<Self, SetupError> {
        let certificates = options.client_certificates.clone();
        let with = certificates.all().into_iter().map(|certificate| {
            let clients = ClientsOfProxies::new(options, names, Some(certificate))?;
            Ok((certificate.clone(), clients))
        });
        Ok(Self {
            without: ClientsOfProxies::new(options, names, None)?,
            with: with.collect::<Result<_, SetupError>>()?,
            certificates,
            seats: IdleSeats::new(options.open_files.idle, idle_per_host(options)),
        })
    }

    /// Returns a seat for the origin of `url`, which lets it keep its connections; `None` if all
    /// seats are taken.
    pub(crate) fn seat(&self, url: &PageUrl) -> Option<Seat> {
        self.seats.take(url.origin())
    }

    /// Returns the client for `url` and its proxy, which is one of
    /// [`FetchOptions::proxies`].
    pub(crate) fn of(&self, url: &PageUrl, proxy: Option<&ProxyUrl>) -> &Client {
        let shown = self.certificates.of(url);
        let clients = shown.and_then(|certificate| self.with.get(certificate));
        clients.unwrap_or(&self.without).of(proxy).of(url)
    }
}

impl ClientsOfProxies {
    fn new(
        options: &FetchOptions,
        names: &Arc<Names>,
        certificate: Option<&ClientCertificate>,
    ) -> Result<Self, SetupError> {
        let (roots, insecure) = (&options.ca_certificates, &options.insecure_hosts);
        let tls = tls::client_config(roots, insecure, certificate)?;
        let clients = options.proxies().into_iter().map(|proxy| {
            let clients = ClientsOfPorts::new(options, names, proxy, &tls);
            (proxy.cloned(), clients)
        });
        Ok(Self(clients.collect()))
    }

    fn of(&self, proxy: Option<&ProxyUrl>) -> &ClientsOfPorts {
        let mut known = self.0.iter();
        let clients = known.find(|(known, _)| known.as_ref() == proxy);
        &clients.expect("every proxy of the options has clients").1
    }
}

impl ClientsOfPorts {
    fn new(
        options: &FetchOptions,
        names: &Arc<Names>,
        proxy: Option<&ProxyUrl>,
        tls: &ClientConfig,
    ) -> Self {
        let client = |port| {
            let host = proxy.map(|proxy| proxy.host().to_owned());
            let resolver = GuardedResolver::new(Arc::clone(names), port, host);
            Client::new(options, proxy, tls, &resolver)
        };
        let mut ports: Vec<u16> = options.resolve.iter().map(|rule| rule.port).collect();
        ports.sort_unstable();
        ports.dedup();
        Self {
            of_port: ports.into_iter().map(|port| (port, client(port))).collect(),
            of_any_port: client(0),
        }
    }

    fn of(&self, url: &PageUrl) -> &Client {
        let port = url.as_url().port_or_known_default();
        let ruled = self
            .of_port
            .iter()
            .find(|(of_port, _)| Some(*of_port) == port);
        ruled.map_or(&self.of_any_port, |(_, client)| client)
    }
}

impl Client {
    fn new(
        options: &FetchOptions,
        proxy: Option<&ProxyUrl>,
        tls: &ClientConfig,
        resolver: &GuardedResolver,
    ) -> Self {
        let connector = |tls| Connector::new(options, proxy, tls, resolver.clone());
        Self {
            kept: engine(options).build(connector(tls.clone())),
            fresh: unpooled(options).build(connector(tls.clone())),
            fresh_http1: unpooled(options).build(connector(without_http2(tls))),
        }
    }

    /// Sends a request and returns the head of its response.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        connection: Connection,
    ) -> Result<Response<Incoming>, Error> {
        let client = match connection {
            Connection::Kept => &self.kept,
            Connection::Fresh => &self.fresh,
            Connection::FreshHttp1 => &self.fresh_http1,
        };
        client.request(request).await
    }
}

/// Returns the number of idle connections that an origin keeps.
fn idle_per_host(options: &FetchOptions) -> usize {
    options.connections_per_host.min(IDLE_PER_HOST)
}

/// Returns the settings of an engine that decides nothing: it follows no redirect, knows no
/// cookies, and repeats only a request that was never sent.
fn engine(options: &FetchOptions) -> Builder {
    let header_bytes = u32::try_from(options.limits.header_bytes).unwrap_or(u32::MAX);
    let mut engine = HttpClient::builder(TokioExecutor::new());
    engine
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(idle_per_host(options))
        .http1_max_headers(options.limits.header_fields)
        .http2_max_header_list_size(header_bytes)
        .http2_initial_stream_window_size(H2_STREAM_WINDOW)
        .http2_initial_connection_window_size(H2_CONNECTION_WINDOW);
    engine
}

/// Returns the settings of an engine that keeps no connection.
fn unpooled(options: &FetchOptions) -> Builder {
    let mut engine = engine(options);
    engine.pool_max_idle_per_host(0);
    engine
}
