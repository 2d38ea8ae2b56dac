//! The web as values: URLs, scopes, robots rules, documents, sitemaps and feeds. Pure: no I/O, no
//! clock, no runtime.

mod body;
mod canonical;
mod css;
mod document;
mod exchange;
mod group;
mod host;
mod listing;
mod pace;
mod page_url;
mod robots;
mod scope;
mod seeds;
mod surt;
mod time;
mod trap;
mod url_key;
mod url_pattern;
mod validators;

pub use body::{Body, BodyReader, StoredBytes};
pub use canonical::CanonicalForm;
pub use document::{
    BadSelector, Cut, Directives, Document, Link, LinkKind, LinkKinds, MIN_MAIN_WORDS, MainContent,
    MainSelectors, Media, ParseWarning, ReadLimits, Relations, ResponseMetadata, UnknownRelation,
    essence, read,
};
pub use exchange::{Exchange, Protocol, Truncation};
pub use group::{Group, GroupBy, UnknownGrouping};
pub use host::Host;
pub use listing::{
    Lastmod, Listed, Listing, ListingKind, ListingLimits, ListingWarning, NoDate,
    SNIFFED_LISTING_BYTES, read_listing, read_listing_in_parts,
};
pub use pace::{AfterDeath, Pace, Why};
pub use page_url::{MAX_URL_BYTES, PageUrl, UrlError};
pub use robots::{
    Grounds, MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, RobotsRule, RobotsRules, RobotsVerdict,
    product_token, whole_lines,
};
pub use scope::{Exclusions, OutOfScope, Scope, ScopeError, ScopeKind, UnknownScope};
pub use seeds::{BadSeed, MAX_QUOTED_CHARS, SeedList, read_seeds};
pub use time::{Clock, Timestamp};
pub use trap::{Trap, TrapRules};
pub use url_key::UrlKey;
pub use url_pattern::{Generality, UrlPattern};
pub use validators::Validators;
