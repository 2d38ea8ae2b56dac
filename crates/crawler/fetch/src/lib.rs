//! The client side of the crawl: requests, made politely and safely.
//!
//! [`Fetch`] is the seam: one request, one response, never a redirect followed. [`HttpFetch`] is
//! its one real implementation, guarded against private addresses and against answers without end.
//! [`Pacer`] decides when a host may be asked, [`RobotsCache`] what it may be asked for. The
//! behaviour of a server is a value ([`FetchFailure`]); only a setup that cannot work is an error
//! ([`SetupError`]).

mod client;
mod credentials;
mod failure;
mod fetch;
mod generational_cache;
mod hsts;
mod memory;
mod open_files;
mod politeness;
mod robots_cache;
mod signature;
mod ssrf_guard;
mod stalls;

pub use client::http_fetch::HttpFetch;
pub use client::options::{FetchLimits, FetchOptions};
pub use client::setup_error::SetupError;
pub use client::tls::{InsecureHost, InsecureHostError};
pub use credentials::client_certificates::{ClientCertificate, ClientCertificates};
pub use credentials::cookies::{BadCookie, Cookie, CookieError, CookieFile, read_cookies};
pub use credentials::netrc::{Netrc, NetrcError, read_netrc};
pub use credentials::{REDACTED, Secrets};
pub use failure::FetchFailure;
pub use fetch::{Fetch, RequestContent, RequestMethod, WantsBody};
pub use memory::{MemoryBudget, MemoryShare};
pub use open_files::FileBudget;
pub use politeness::pacer::{Pacer, Permit, PolitenessKey};
pub use robots_cache::file::{RobotsError, RobotsText};
pub use robots_cache::{RobotsCache, RobotsResponse, RobotsSource};
pub use signature::key::{SigningKey, SigningKeyError, key_directory, new_pem};
pub use signature::{RequestSigner, SignatureAgent, SignatureAgentError, directory_fields};
pub use ssrf_guard::address::{Refusal, refusal};
pub use ssrf_guard::names::NameService;
pub use ssrf_guard::resolve_rule::{ResolveRule, ResolveRuleError};
pub use stalls::Stalls;
