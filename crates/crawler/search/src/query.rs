//! Queries: their syntax and meaning.
//!
//! [`Query::parse`] reads a query from text and names what it does not understand;
//! `docs/guide/search.md` defines the meaning. [`plan`](crate::plan) translates it for tantivy, and
//! [`snippet`](crate::snippet) finds its words in a text.

pub(crate) mod clause;
mod error;
mod lexer;
mod parser;

#[cfg(test)]
mod tests;

pub use clause::{MAX_CLAUSES, MAX_DEPTH, MAX_QUERY, MAX_WORDS, Query};
pub use error::{QueryError, Reason};
