//! Full text: what a crawl kept, found again by its words.
//!
//! The engine is tantivy, and only this crate knows it.
//!
//! - [`Searchable`] is a sink on the way to the archive: what the archive took, it indexes, by
//!   means of a [`Writer`], which also makes the index again from an archive.
//! - [`Query`] is what somebody looks for, [`Finder`] finds it, [`Snippets`] show it in a text.
//! - An index is a function of the archive, and says up to where it tells it ([`Writer::covered`]).

mod covered;
mod either;
mod fault;
mod fields;
mod finder;
mod merging;
mod phrase;
mod plan;
mod query;
mod searchable;
mod snippet;
mod without;
mod words;
mod writer;

pub use fault::IndexFault;
pub use fields::IndexPage;
pub use finder::{Finder, Hit, MAX_HITS, Place};
pub use query::{MAX_CLAUSES, MAX_DEPTH, MAX_QUERY, MAX_WORDS, Query, QueryError, Reason};
pub use searchable::Searchable;
pub use snippet::{Snippet, Snippets};
pub use writer::{IndexOptions, MIN_MEMORY, Writer, exists};

/// The format of the index: its fields, and the words of its texts. An index of another format is
/// made again from the archive.
pub const FORMAT: u32 = 1;
