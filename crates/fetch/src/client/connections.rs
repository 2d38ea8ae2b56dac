//! reqwest's clients, stripped of their own decisions: they follow no redirect, know no cookies,
//! referrer or proxy of the environment, retry nothing and decompress nothing. One request and one
//! answer remain.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use web::PageUrl;

use crate::client::options::FetchOptions;
use crate::client::setup_error::SetupError;
use crate::client::tls;
use crate::credentials::client_certificates::{ClientCertificate, ClientCertificates};
use crate::ssrf_guard::names::Names;
use crate::ssrf_guard::resolver::GuardedResolver;

/// Idle connections kept for a host. Each holds a read buffer of up to some hundred KiB: 64 for
/// each of 64 hosts took 150 MiB.
const IDLE_PER_HOST: usize = 4;
/// The time that idle connections are kept: as long as a polite crawler may need them again, and no
/// longer, because over many hosts they dominate memory.
const IDLE: Duration = Duration::from_secs(10);
/// Bytes that an HTTP/2 server may send ahead of our reading, for a stream and for a connection.
const H2_STREAM_WINDOW: u32 = 512 << 10;
const H2_CONNECTION_WINDOW: u32 = 1 << 20;

/// The clients without a certificate of the user's, and those with each.
#[derive(Debug)]
pub(crate) struct Clients {
    without: ClientsOfPorts,
    with: HashMap<ClientCertificate, ClientsOfPorts>,
    certificates: ClientCertificates,
}

/// A client per port in the resolve rules, because reqwest asks its resolver without the port; and
/// one for all other ports.
#[derive(Debug)]
struct ClientsOfPorts {
    of_port: Vec<(u16, Client)>,
    of_any_port: Client,
}

impl Clients {
    pub(crate) fn new(options: &FetchOptions, names: &Arc<Names>) -> Result<Self, SetupError> {
        let certificates = options.client_certificates.clone();
        let with = certificates.all().into_iter().map(|certificate| {
            let clients = ClientsOfPorts::new(options, names, Some(certificate))?;
            Ok((certificate.clone(), clients))
        });
        Ok(Self {
            without: ClientsOfPorts::new(options, names, None)?,
            with: with.collect::<Result<_, SetupError>>()?,
            certificates,
        })
    }

    /// Returns the client for `url`.
    pub(crate) fn of(&self, url: &PageUrl) -> &Client {
        let shown = self.certificates.of(url);
        let clients = shown.and_then(|certificate| self.with.get(certificate));
        clients.unwrap_or(&self.without).of(url)
    }
}

impl ClientsOfPorts {
    fn new(
        options: &FetchOptions,
        names: &Arc<Names>,
        certificate: Option<&ClientCertificate>,
    ) -> Result<Self, SetupError> {
        let (roots, insecure) = (&options.ca_certificates, &options.insecure_hosts);
        let tls = tls::client_config(roots, insecure, certificate)?;
        let client = |port| {
            let proxy = options.proxy.as_ref().map(|proxy| proxy.host().to_owned());
            let resolver = GuardedResolver::new(Arc::clone(names), port, proxy);
            client(options, tls.clone(), resolver).map_err(SetupError::Client)
        };
        let mut ports: Vec<u16> = options.resolve.iter().map(|rule| rule.port).collect();
        ports.sort_unstable();
        ports.dedup();
        Ok(Self {
            of_port: ports
                .into_iter()
                .map(|port| Ok((port, client(port)?)))
                .collect::<Result<_, SetupError>>()?,
            of_any_port: client(0)?,
        })
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

fn client(
    options: &FetchOptions,
    tls: rustls::ClientConfig,
    resolver: GuardedResolver,
) -> Result<Client, reqwest::Error> {
    let header_bytes = u32::try_from(options.limits.header_bytes).unwrap_or(u32::MAX);
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(resolver)
        .connect_timeout(options.limits.connect_timeout)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(options.connections_per_host.min(IDLE_PER_HOST))
        .http1_max_headers(options.limits.header_fields)
        // RFC 9112 section 5.2: each fold is read as spaces, here and in the archive.
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http2_max_header_list_size(header_bytes)
        .http2_initial_stream_window_size(H2_STREAM_WINDOW)
        .http2_initial_connection_window_size(H2_CONNECTION_WINDOW)
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy();
    match &options.proxy {
        Some(proxy) => builder.proxy(proxy.for_everything()?).build(),
        None => builder.build(),
    }
}
