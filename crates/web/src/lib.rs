//! The web as values: URLs, scopes, robots rules, documents. Pure: no I/O, no clock, no runtime.

mod canonical;
mod document;
mod exchange;
mod host;
mod page_url;
mod robots;
mod scope;
mod seeds;
mod surt;
mod time;
mod url_key;

pub use canonical::CanonicalForm;
pub use document::{
    Cut, Directives, Document, Hints, Link, MIN_MAIN_WORDS, Media, Oddity, Own, ReadLimits, essence, read,
};
pub use exchange::{Exchange, Protocol, Truncation};
pub use host::Host;
pub use page_url::{MAX_URL_BYTES, PageUrl, UrlError};
pub use robots::{MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, RobotsRules, RobotsVerdict};
pub use scope::{OutOfScope, Scope, ScopeError, ScopeKind, UnknownScope};
pub use seeds::{BadSeed, MAX_QUOTED_CHARS, SeedList, read_seeds};
pub use time::{Clock, Timestamp};
pub use url_key::UrlKey;
