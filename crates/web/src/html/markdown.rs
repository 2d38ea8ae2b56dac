//! The main content of a page as Markdown (CommonMark 0.31, with the tables of GitHub Flavored
//! Markdown): headings, lists, quotes, code, tables, emphasis and links.
//!
//! [`Structure`] records the structure of a page while it is walked, as events at positions of the
//! gathered text; [`write()`] writes the chosen lines with it. No library fits here: the choice of
//! main content is one of lines, not of nodes, so a converter would read the page again, with its
//! frame; and those that exist walk the tree by recursion, which a page nested deeply enough turns
//! into the end of the process.
//!
//! Invariants: nothing is recursive; the output has at most four times the bytes that
//! [`ReadLimits::text`](crate::ReadLimits::text) allows; read as CommonMark it has the words of
//! the text.

mod escape;
mod inline;
mod structure;
mod write;

pub(crate) use structure::Structure;
pub(crate) use write::write;
