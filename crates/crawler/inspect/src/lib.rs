//! Every question that can be put to a crawl, as a function to a value.
//!
//! Nothing here knows a terminal: faces print the values. Questions that one directory answers are
//! in `facts`, which the Python package uses, too. Here are those that read a shared crawl, feed
//! the dashboard and the report, or write files.

mod archives;
pub mod export;
pub mod import;
pub mod index;
pub mod nodes;
pub mod rebuild;
pub mod report;
pub mod search;
pub mod similar;
mod tree;
pub mod unpack;
pub mod verify;
pub mod visits_csv;
pub mod wacz;

pub use facts::page_counts::PageCounts;
pub use facts::{
    changes, duplicates, frames, hosts, journal, leftovers, pair, patterns, skipped, status, why,
};
