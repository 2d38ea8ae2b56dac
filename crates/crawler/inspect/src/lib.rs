//! Every question that can be put to a crawl, as a function from its directory to a value.
//!
//! Nothing here knows a terminal: faces print the values. Questions that need no settings are in
//! `facts`, which the Python package uses, too.

mod archives;
pub mod changes;
pub mod export;
pub mod frames;
pub mod hosts;
pub mod import;
pub mod index;
pub mod journal;
pub mod nodes;
pub mod pair;
pub mod rebuild;
pub mod report;
pub mod search;
pub mod similar;
pub mod skipped;
pub mod unpack;
pub mod verify;
pub mod wacz;
pub mod why;

pub use facts::page_counts::PageCounts;
pub use facts::{duplicates, leftovers, patterns, status};
