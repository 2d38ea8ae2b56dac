//! The web as values: URLs, scopes, robots rules, HTTP exchanges, documents, sitemaps and feeds.
//! The crate is pure: it uses no I/O, no clock and no runtime.

mod choice;
mod escaping;
mod html;
mod http;
mod interstitial;
mod letter_case;
mod pace;
mod preferences;
mod printable;
mod robots;
mod scope;
mod sitemap;
mod time;
mod url;

pub use crate::url::canonical::CanonicalForm;
pub use crate::url::host::Host;
pub use crate::url::host_group::{Group, GroupBy, UnknownGrouping};
pub use crate::url::host_table::{BadHostPattern, HostPattern, HostTable};
pub use crate::url::page_url::{MAX_URL_BYTES, PageUrl, UrlError};
pub use crate::url::surt::surt_key;
pub use crate::url::url_key::UrlKey;
pub use crate::url::url_pattern::{Generality, UrlPattern};

pub use crate::choice::{UnknownChoice, parse_choice};

pub use crate::scope::seeds::{MAX_QUOTED_CHARS, SeedError, SeedLine, SeedWarning};
pub use crate::scope::trap::{Trap, TrapRules};
pub use crate::scope::{Exclusions, OutOfScope, Scope, ScopeError, ScopeKind, UnknownScope};

pub use crate::robots::{
    Grounds, MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, RobotsRule, RobotsRules, RobotsVerdict,
    product_token, robots_text, whole_lines,
};

pub use crate::escaping::Escaping;
pub use crate::pace::{Pace, RestartRule, WaitReason};
pub use crate::preferences::page::page_preferences;
pub use crate::preferences::preference::{
    BadPreferences, Preference, PreferenceSource, Preferences, UnknownUsage, Usage, Usages,
};
pub use crate::preferences::site_files::SiteFile;
pub use crate::printable::{is_command, printable};
pub use crate::time::{BadTimestamp, Clock, Timestamp};

pub use crate::http::body::{Body, BodyReader, StoredBytes};
pub use crate::http::content_filter::{BadContentFilter, LanguageFilter, TypeFilter};
pub use crate::http::decode::{DecodeError, Decoded, Decoding, decode, gunzip, is_gzip};
pub use crate::http::exchange::{Exchange, Protocol, Truncation, url_field};
pub use crate::http::identified_type::{MAX_IDENTIFIED, identified_type};
pub use crate::http::media_type::{Media, content_type, essence, is_pdf, names_format};
pub use crate::http::validators::Validators;
pub use crate::http::warning::Warning;

pub use crate::html::{
    AuditFields, BadSelector, Directives, Document, FieldSelectors, Link, LinkContext, LinkKind,
    LinkKinds, LostLinks, MIN_MAIN_WORDS, MainContent, MainSelectors, PageDate, PageFields,
    PageKind, ParseWarning, ParserStop, PdfContent, PdfFailure, ReadLimits, ReadPdf, Relations,
    ResponseMetadata, SharedLines, Translation, UnknownRelation, read, read_pdf,
};
pub use crate::interstitial::{Interstitial, InterstitialKind, says_not_found};

pub use crate::html::{
    CssUrl, LazyValue, UrlForm, attribute_value, css_urls, is_preview, lazy_value, page_text,
    refresh_url, sheet_text, srcset_urls, tld, url_attributes,
};
pub use crate::html::{TextLanguage, text_language};

pub use crate::sitemap::{
    InvalidLastmod, Lastmod, ListedUrl, Listing, ListingKind, ListingLimits, ListingWarning,
    SNIFFED_LISTING_BYTES, read_listing, read_listing_in_parts,
};
