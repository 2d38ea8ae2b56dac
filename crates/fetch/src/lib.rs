//! Asks the web for things, politely and safely.
//!
//! [`Fetch`] is the seam: one request, one answer, never a redirect followed. [`HttpFetch`] is its
//! one real implementation, guarded against private addresses and against answers without end.
//! [`Pacer`] says when a host may be asked, [`RobotsCache`] what it may be asked for, and
//! [`decode()`] reads a body that arrived compressed. What a server does to us is a value
//! ([`FetchFailure`]); only a setup that cannot work is an error ([`SetupError`]).

mod body;
mod client;
mod decode;
mod failure;
mod gate;
mod guard;
mod http_fetch;
mod jitter;
mod memory;
mod names;
mod options;
mod pacer;
mod pacing;
mod progress;
mod proxy;
mod request;
mod resolve;
mod retry_after;
mod robots_cache;
mod rules_in_force;
mod secrets;
mod stalls;
mod tls;

use std::net::IpAddr;

use async_trait::async_trait;
use web::{Exchange, PageUrl, Validators};

pub use decode::{DecodeTrouble, Decoded, Decoding, decode, gunzip};
pub use failure::{FailureKind, FetchFailure};
pub use guard::{Refusal, refusal};
pub use http_fetch::{HttpFetch, SetupError};
pub use memory::{MemoryBudget, MemoryShare};
pub use names::NameService;
pub use options::{FetchLimits, FetchOptions};
pub use pacer::{Pacer, PolitenessKey, Turn};
pub use pacing::{Answer, Asked, HostPace, PacingRules, Rest};
pub use proxy::{ProxyUrl, ProxyUrlError};
pub use resolve::{ResolveRule, ResolveRuleError};
pub use retry_after::retry_after;
pub use robots_cache::{RobotsAnswer, RobotsCache, RobotsStanding, RobotsText, RobotsTrouble};
pub use secrets::{
    BadCookie, Cookie, CookieFile, CookieTrouble, NOT_KEPT, SecretField, SecretFieldError, Secrets,
    read_cookies,
};
pub use stalls::Stalls;
pub use tls::{InsecureHost, InsecureHostError};

/// Whoever can ask the web for a page.
///
/// Promises of every implementation:
/// - with validators, a request is conditional: 304 Not Modified is an answer like any other;
/// - exactly one request is made for a call, or none where it is refused beforehand; a redirect is
///   an answer like any other and is not followed;
/// - the body is what the server sent, its content coding left on, cut at a limit that is known
///   beforehand;
/// - it ends: there is a deadline for the whole exchange;
/// - `Err` is the page's fate, a value to be counted and perhaps tried again, never a fault of
///   ours.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Asks for `url`, unless it is still what `known` names, and waits for the whole answer.
    async fn ask(&self, url: &PageUrl, known: &Validators) -> Result<Exchange, FetchFailure>;

    /// Asks for `url`, whatever was known of it, and waits for the whole answer.
    async fn fetch(&self, url: &PageUrl) -> Result<Exchange, FetchFailure> {
        self.ask(url, &Validators::default()).await
    }

    /// The address that the next request for `url` goes to, where that is known beforehand: who
    /// shares it shares a pace.
    async fn address(&self, _url: &PageUrl) -> Option<IpAddr> {
        None
    }
}
