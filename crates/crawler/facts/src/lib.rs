//! Questions about a crawl: each is a function from its directory to a value.
//!
//! They are answered by the files of the directory alone: settings, journal, archive and search
//! index, which a running crawl may write meanwhile. So this crate, and with it the Python package,
//! compiles without an HTTP client and without a database. `inspect` passes the answers on to the
//! other faces. It has the questions that need more than one directory: a shared crawl, the
//! dashboard, or a place to write files to.

pub mod archived_visits;
mod captures;
pub mod changes;
pub mod duplicates;
pub mod frames;
pub mod hosts;
pub mod journal;
pub mod leftovers;
mod moves;
pub mod page_counts;
mod page_history;
pub mod pair;
pub mod patterns;
mod readable_crawl;
#[cfg(test)]
mod rendered_visits;
pub mod similar;
pub mod skipped;
pub mod status;
pub mod verify;
pub mod why;

pub use readable_crawl::ReadableCrawl;
