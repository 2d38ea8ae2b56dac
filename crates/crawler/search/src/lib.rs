//! Full-text search over the pages that a crawl kept.
//!
//! The engine is tantivy; only this crate uses it.
//!
//! - [`Searchable`] is a sink that wraps the archive and indexes the archived pages with a
//!   [`Writer`], which also rebuilds the index from an archive.
//! - [`Finder`] evaluates a [`Query`], and [`Snippets`] show its matches in a text.
//! - An index is a function of the archive and records the end of the part that it covers
//!   ([`Writer::covered`]).

mod best_hits;
mod columns;
mod commit_payload;
mod exclusion;
mod fault;
mod fields;
mod fillers;
mod finder;
mod lazy_union;
mod merging;
mod phrase;
mod plan;
mod query;
mod searchable;
mod snippet;
mod stepping;
mod words;
mod writer;

pub use columns::RecordLocation;
pub use commit_payload::FORMAT;
pub use fault::IndexFault;
pub use fields::IndexPage;
pub use fillers::MIN_MEMORY;
pub use finder::{Finder, Hit, MAX_HITS};
pub use query::{MAX_CLAUSES, MAX_DEPTH, MAX_QUERY, MAX_WORDS, Query, QueryError, Reason};
pub use searchable::Searchable;
pub use snippet::{Snippet, Snippets};
pub use writer::{IndexOptions, Writer, exists};
