//! What somebody looks for.
//!
//! A [`Query`] is read from text by [`parse`](Query::parse), which names what it does not
//! understand, and is a value: what it means is told in `docs/search.md`. [`plan`](crate::plan)
//! says it to the engine, [`snippet`](crate::snippet) finds its words in a text.

pub(crate) mod clause;
mod error;
mod lexer;
mod parser;

#[cfg(test)]
mod tests;

pub use clause::{MAX_CLAUSES, MAX_DEPTH, MAX_QUERY, MAX_WORDS, Query};
pub use error::{QueryError, Reason};
