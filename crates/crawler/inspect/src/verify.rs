//! Checks of a crawl, of the archive of a node, and of a shared crawl, for `crawler verify`.
//!
//! The checks of one directory are in `facts`; those of a shared crawl read its store, too.

pub mod node;
pub mod shared_crawl;

pub use facts::verify::{Findings, Report, check, wacz};
