//! The promises of every reader of foreign bytes: a value or an error, never a panic.
//!
//! Every reader of untrusted bytes has a target here: a function of any bytes that panics where a
//! promise is broken. The fuzzer feeds the targets (`just fuzz`); `tests/corpus.rs` feeds them the
//! inputs in `corpus/`, so that a machine without a fuzzer checks them too. Development only.
//!
//! Invariant: a target is a pure function of its bytes, so every finding can be repeated.

mod any_archive;
mod arrow;
mod base;
mod blocks;
mod cdxj;
mod css;
mod dedup;
mod features;
mod headers;
mod html;
mod jsonl;
mod listings;
mod query;
mod rebuild;
mod robots;
mod tables;
mod unpack;
mod url;
mod wacz;
mod warc;

pub use self::unpack::unpack;
pub use arrow::arrow;
pub use blocks::blocks;
pub use cdxj::cdxj;
pub use css::css;
pub use dedup::dedup;
pub use features::features;
pub use headers::headers;
pub use html::{charset, html};
pub use jsonl::jsonl;
pub use listings::listings;
pub use query::query;
pub use rebuild::rebuild;
pub use robots::robots;
pub use tables::tables;
pub use url::url;
pub use wacz::wacz;
pub use warc::warc;

/// A function of any bytes that panics where a promise is broken.
pub type Target = fn(&[u8]);

/// Every target, by the name of its corpus.
pub const TARGETS: [(&str, Target); 19] = [
    ("arrow", arrow),
    ("blocks", blocks),
    ("cdxj", cdxj),
    ("charset", charset),
    ("css", css),
    ("dedup", dedup),
    ("features", features),
    ("headers", headers),
    ("html", html),
    ("jsonl", jsonl),
    ("listings", listings),
    ("query", query),
    ("rebuild", rebuild),
    ("robots", robots),
    ("tables", tables),
    ("unpack", unpack),
    ("url", url),
    ("wacz", wacz),
    ("warc", warc),
];
