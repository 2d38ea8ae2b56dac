//! Full text: what a crawl kept, found again by its words.
//!
//! The engine is tantivy, and only this crate knows it.
//!
//! - [`Searchable`] is a sink on the way to the archive: what the archive took, it indexes, by
//!   means of a [`Writer`], which also makes the index again from an archive.
//! - [`Query`] is what somebody looks for, [`Finder`] finds it, [`Snippets`] show it in a text.
//! - An index is a function of the archive, and says up to where it tells it ([`Writer::covered`]).

mod commit_payload;
mod exclusion;
mod fault;
mod fields;
mod finder;
mod lazy_union;
mod merging;
mod phrase;
mod plan;
mod query;
mod searchable;
mod snippet;
mod words;
mod writer;

pub use commit_payload::FORMAT;
pub use fault::IndexFault;
pub use fields::IndexPage;
pub use finder::{Finder, Hit, MAX_HITS, RecordLocation};
pub use query::{MAX_CLAUSES, MAX_DEPTH, MAX_QUERY, MAX_WORDS, Query, QueryError, Reason};
pub use searchable::Searchable;
pub use snippet::{Snippet, Snippets};
pub use writer::{IndexOptions, MIN_MEMORY, Writer, exists};
