//! The options of a client, and every limit that it keeps. (The limit on a URL's length is
//! [`PageUrl`]'s.)

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use requests::{HostProxy, ProxyUrl};
use web::{Clock, HostTable, PageUrl};

use crate::client::tls::InsecureHost;
use crate::credentials::Secrets;
use crate::credentials::client_certificates::ClientCertificates;
use crate::memory::MemoryBudget;
use crate::open_files::FileBudget;
use crate::signature::RequestSigner;
use crate::ssrf_guard::names::NameService;
use crate::ssrf_guard::resolve_rule::ResolveRule;
use crate::stalls::Stalls;

/// The options of a client.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The `User-Agent` field, whole.
    pub user_agent: String,
    /// The limits that cut a response or give it up.
    pub limits: FetchLimits,
    /// True if private, loopback and link-local addresses may be asked.
    pub allow_private: bool,
    /// Single addresses that may be asked although they are not public.
    pub allow_addresses: Vec<IpAddr>,
    /// The service that resolves names. Its answers are guarded.
    pub names: NameService,
    /// The names that are not looked up. Their addresses are still guarded.
    pub resolve: Vec<ResolveRule>,
    /// PEM files with certificates to trust besides the system's.
    pub ca_certificates: Vec<PathBuf>,
    /// Hosts whose certificates are not checked.
    pub insecure_hosts: Vec<InsecureHost>,
    /// The proxy of requests. The environment (`http_proxy`) is ignored.
    pub proxy: Option<ProxyUrl>,
    /// The proxies of single hosts, in place of `proxy`.
    pub host_proxies: HostTable<Option<HostProxy>>,
    /// The fields and cookies for single origins.
    pub secrets: Arc<Secrets>,
    /// Random bits, from which the nonces of logins follow.
    pub nonce_seed: u64,
    /// The signer of requests. Requests that an HTTP proxy reads are not signed.
    pub signer: Option<Arc<RequestSigner>>,
    /// True if the cookies that servers set are sent back to their origins.
    pub keeps_cookies: bool,
    /// The client certificates of the crawler.
    pub client_certificates: ClientCertificates,
    /// The number of idle connections per host, the same as the maximum in use at a time (see
    /// [`PacingRules::connections_per_host`](requests::PacingRules::connections_per_host)).
    pub connections_per_host: usize,
    /// The open files of the client.
    pub open_files: FileBudget,
    /// The memory budget of bodies.
    pub memory: MemoryBudget,
    /// The directory on whose file system larger bodies are kept while they are needed. Without one
    /// they stay in memory.
    pub spool: Option<PathBuf>,
    /// The count of stalled exchanges.
    pub stalls: Stalls,
    /// The clock that dates exchanges.
    pub clock: Clock,
}

impl FetchOptions {
    /// Returns the defaults with this user agent and clock.
    #[must_use]
    pub fn new(user_agent: impl Into<String>, clock: Clock) -> Self {
        Self {
            user_agent: user_agent.into(),
            limits: FetchLimits::default(),
            allow_private: false,
            allow_addresses: Vec::new(),
            names: NameService::system(),
            resolve: Vec::new(),
            ca_certificates: Vec::new(),
            insecure_hosts: Vec::new(),
            proxy: None,
            host_proxies: HostTable::default(),
            secrets: Arc::default(),
            nonce_seed: 0,
            signer: None,
            keeps_cookies: false,
            client_certificates: ClientCertificates::default(),
            connections_per_host: 1,
            open_files: FileBudget::default(),
            memory: MemoryBudget::default(),
            spool: None,
            stalls: Stalls::default(),
            clock,
        }
    }

    /// Returns the proxy of requests for `url`; `None` if they go straight to its host.
    pub(crate) fn proxy_of(&self, url: &PageUrl) -> Option<&ProxyUrl> {
        match self.host_proxies.get(&url.host()) {
            Some(Some(HostProxy::Direct)) => None,
            Some(Some(HostProxy::Through(proxy))) => Some(proxy),
            Some(None) | None => self.proxy.as_ref(),
        }
    }

    /// Returns every result that [`Self::proxy_of`] may have, each once.
    pub(crate) fn proxies(&self) -> Vec<Option<&ProxyUrl>> {
        let mut proxies = vec![self.proxy.as_ref()];
        for own in self.host_proxies.values().flatten() {
            let proxy = match own {
                HostProxy::Direct => None,
                HostProxy::Through(proxy) => Some(proxy),
            };
            if !proxies.contains(&proxy) {
                proxies.push(proxy);
            }
        }
        proxies
    }
}

/// The limits on every size and time that a server could stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// Bytes of a body as received; a longer one is cut, and the exchange counts as answered.
    pub body: u64,
    /// Bytes of header fields: names and values, plus four per field.
    pub header_bytes: usize,
    /// Number of header fields.
    pub header_fields: usize,
    /// Time from the look-up of the name to the end of the head, and of the longest silence of a
    /// body.
    pub timeout: Duration,
    /// Maximum time of a body. After that it is cut, and the exchange counts as answered. This ends
    /// bodies that come barely faster than the minimum rate.
    pub body_time: Duration,
    /// Time from the look-up of the name to the end of the TLS handshake.
    pub connect_timeout: Duration,
    /// Minimum rate of a body in bytes per second, averaged over each `min_rate_grace` without its
    /// silence; 0 disables it.
    pub min_rate: u64,
    /// The time before the rate of a body counts, and then the window of the average; `timeout` if
    /// that is shorter. Tenths of it without any bytes are limited by `timeout` only.
    pub min_rate_grace: Duration,
    /// The time that the addresses of a name are cached.
    pub names_kept: Duration,
    /// Maximum number of redirects in a row, for the code that follows them.
    pub redirects: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            body: 50 << 20,
            header_bytes: 64 << 10,
            header_fields: 256,
            timeout: Duration::from_secs(60),
            body_time: Duration::from_secs(3600),
            connect_timeout: Duration::from_secs(10),
            min_rate: 512,
            min_rate_grace: Duration::from_secs(20),
            names_kept: Duration::from_secs(120),
            redirects: 10,
        }
    }
}
