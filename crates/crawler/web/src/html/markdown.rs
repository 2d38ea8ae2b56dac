//! The main content of a page as Markdown (CommonMark 0.31, with the tables of GitHub Flavored
//! Markdown): headings, lists, quotes, code, tables, emphasis and links.
//!
//! [`Structure`] records the structure of a page during the walk, as events at positions of the
//! gathered text; [`write()`] uses it to write the chosen lines. No library fits here: main content
//! is chosen by lines, not nodes, so a converter would read the page again, with its frame. And
//! existing converters walk the tree recursively, so a deeply nested page would crash the process.
//!
//! Invariants: nothing is recursive; the output has at most four times the bytes that
//! [`ReadLimits::text`](crate::ReadLimits::text) allows; as CommonMark, it contains the same words
//! as the text, except the signs (`¶`) that link headings to themselves.

mod escape;
mod inline;
mod structure;
mod write;

pub(crate) use structure::Structure;
pub(crate) use write::write;
