//! The rules of requests, as values: the pace of hosts, the consequences of failures, secrets and
//! proxies.
//!
//! [`PacingRules`] is the formula of politeness, [`Consequence`] the table of what follows a
//! failure. Nothing here sends, waits or reads a clock: `fetch` does, by these rules. So settings
//! and questions about a crawl can use the rules without an HTTP client.

mod address_bound;
mod consequence;
mod failure_kind;
mod pacing;
mod proxy_url;
mod retry_after;
mod secret_field;

pub use consequence::{Blame, Consequence, Rest};
pub use failure_kind::FailureKind;
pub use pacing::{
    AddressBound, Cooldown, HostPace, HostPacing, PacedResponse, PacingRules, ResponseKind,
};
pub use proxy_url::{HostProxy, HostProxyError, ProxyPrecheck, ProxyUrl, ProxyUrlError};
pub use retry_after::retry_after;
pub use secret_field::{Login, SecretField, SecretFieldError, secret};
