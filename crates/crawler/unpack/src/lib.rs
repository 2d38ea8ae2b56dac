//! Archived pages rewritten so that a browser shows them without the web: as files that need no
//! server, as `wget -k -E -p` leaves them, or from a server of the archive. The crate is pure: it
//! names files and rewrites links, and its caller reads and writes.
//!
//! - [`FileNames`] gives each URL a file of its own below one directory, with names that every
//!   usual file system accepts; [`relative()`] is the link from one file to another.
//! - [`rewrite_html()`] and [`rewrite_css()`] convert the links of a page or a style sheet: to the
//!   file of their target if there is one, otherwise to its URL.
//! - [`inert_html()`] removes scripts and everything else in a page that acts on its own.
//!
//! Invariant of the conversion of links: only links, the declared charset, and markup that would
//! keep a browser from loading local files change.

mod conversion;
#[cfg(test)]
mod crawl_links;
mod file_names;
mod inert_html;
mod path_segment;
mod rewrite_css;
mod rewrite_html;

pub use conversion::{LinkCounts, Rewritten, absolute};
pub use file_names::{FileKind, FileNames, MAX_PATH, relative};
pub use inert_html::{Fallback, inert_html};
pub use path_segment::MAX_SEGMENT;
pub use rewrite_css::rewrite_css;
pub use rewrite_html::{UnreadableHtml, rewrite_html};
