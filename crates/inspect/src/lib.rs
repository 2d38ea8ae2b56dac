//! Every question that can be put to a crawl, as a function from its directory to a value.
//!
//! Nothing here knows a terminal: faces print the values.

mod archives;
pub mod captures;
pub mod duplicates;
pub mod export;
pub mod frames;
pub mod import;
pub mod index;
pub mod journal;
pub mod leftovers;
pub mod moves;
pub mod nodes;
pub mod page_counts;
pub mod pair;
pub mod patterns;
pub mod rebuild;
pub mod report;
pub mod search;
pub mod similar;
pub mod skipped;
pub mod status;
pub mod unpack;
pub mod verify;
pub mod wacz;
pub mod why;
