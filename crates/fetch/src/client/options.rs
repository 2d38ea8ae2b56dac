//! What a fetcher can be told, and every limit that it keeps. (How long a URL may be is
//! [`PageUrl`](web::PageUrl)'s.)

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use web::Clock;

use crate::client::proxy::ProxyUrl;
use crate::client::tls::InsecureHost;
use crate::credentials::Secrets;
use crate::memory::MemoryBudget;
use crate::ssrf_guard::names::NameService;
use crate::ssrf_guard::resolve_rule::ResolveRule;
use crate::stalls::Stalls;

/// How to ask.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The `User-Agent` field, whole.
    pub user_agent: String,
    /// Where an answer is cut or given up.
    pub limits: FetchLimits,
    /// Whether private, loopback and link-local addresses may be asked.
    pub allow_private: bool,
    /// Single addresses that may be asked although they are not public.
    pub allow_addresses: Vec<IpAddr>,
    /// Who knows the addresses of names. What it says is guarded.
    pub names: NameService,
    /// Names that are not looked up. What they point to is guarded all the same.
    pub resolve: Vec<ResolveRule>,
    /// PEM files with certificates to trust besides the system's.
    pub ca_certificates: Vec<PathBuf>,
    /// Hosts whose certificates are not checked.
    pub insecure_hosts: Vec<InsecureHost>,
    /// By way of whom everything is asked. The environment (`http_proxy`) has no say.
    pub proxy: Option<ProxyUrl>,
    /// What is said to some origins only.
    pub secrets: Arc<Secrets>,
    /// How many idle connections are kept for a host: as many as are used at a time (see
    /// [`PacingRules::connections_per_host`](crate::PacingRules::connections_per_host)).
    pub connections_per_host: usize,
    /// The memory that bodies are received into.
    pub memory: MemoryBudget,
    /// The directory on whose file system larger bodies are kept while they are needed. Without one
    /// they stay in memory.
    pub spool: Option<PathBuf>,
    /// Counts the exchanges that do not move.
    pub stalls: Stalls,
    /// Dates the exchanges.
    pub clock: Clock,
}

impl FetchOptions {
    /// The defaults, under this name and with this clock.
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
            secrets: Arc::default(),
            connections_per_host: 1,
            memory: MemoryBudget::default(),
            spool: None,
            stalls: Stalls::default(),
            clock,
        }
    }
}

/// Every size and time that a server could stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// Bytes of body, as received; a longer one is cut, and the exchange counts as answered.
    pub body: u64,
    /// Bytes of header fields, names and values with four more for each.
    pub header_bytes: usize,
    /// Number of header fields.
    pub header_fields: usize,
    /// From the look-up of the name to the last byte.
    pub timeout: Duration,
    /// From the look-up of the name to the end of the TLS handshake.
    pub connect_timeout: Duration,
    /// Bytes a second that a body must bring on average over each `min_rate_grace`; 0 is no
    /// minimum.
    pub min_rate: u64,
    /// How long a body may take before its rate counts, and over how long it counts then.
    pub min_rate_grace: Duration,
    /// How long the addresses of a name are believed.
    pub names_kept: Duration,
    /// How many redirects in a row are followed, by whoever follows them.
    pub redirects: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            body: 50 << 20,
            header_bytes: 64 << 10,
            header_fields: 256,
            timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            min_rate: 512,
            min_rate_grace: Duration::from_secs(20),
            names_kept: Duration::from_secs(120),
            redirects: 10,
        }
    }
}
