//! Words: what a text is indexed by, and what a query looks for.
//!
//! - [`pieces`] cuts a text into words (UAX 29) and, in scripts that write no spaces between them,
//!   into characters;
//! - [`fold`] spells alike what readers take for one word;
//! - [`tokens`] makes of both what stands in the index, for tantivy.
//!
//! There is no stemming: which stem a word has is a guess that depends on the language of the page
//! and of the query, and of the latter nobody tells. So what is found is what a plain scan for the
//! words would find, and nothing else; a search for `page` does not find `pages`, `page OR pages`
//! does.
//!
//! Invariant: the index and its queries use the same words; a change to any of this is a new
//! [`FORMAT`](crate::FORMAT) of the index.

pub(crate) mod fold;
pub(crate) mod letters;
pub(crate) mod pieces;
pub(crate) mod tokens;

#[cfg(test)]
mod tests;
