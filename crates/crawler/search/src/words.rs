//! Words: the units of indexing and search.
//!
//! - [`pieces`] cuts a text into words (UAX 29) and, in scripts that write no spaces between them,
//!   into characters;
//! - [`fold`] gives all forms of a word one spelling;
//! - [`tokens`] makes index tokens of both, and of the parts of words such as `a.b` and `a_b`, for
//!   tantivy.
//!
//! Words are not stemmed: a stem is a guess that depends on the language of the page and of the
//! query, and the language of a query is unknown. A search finds exactly what a plain scan for the
//! words would find: `page` does not find `pages`, `page OR pages` does.
//!
//! Invariant: the index and its queries use the same words; any change to them requires a new
//! [`FORMAT`](crate::FORMAT) of the index.

pub(crate) mod fold;
pub(crate) mod letters;
pub(crate) mod pieces;
pub(crate) mod tokens;

#[cfg(test)]
mod tests;
