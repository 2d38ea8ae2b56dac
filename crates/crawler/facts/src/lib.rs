//! Questions about a crawl that its journal and its archive answer: each is a function from a
//! directory to a value.
//!
//! The Python package asks them, and `inspect` passes them on to the other faces. They need neither
//! the crawler's settings nor its requests, so this crate, and with it the Python package, compiles
//! without an HTTP client and without a database. The questions that apply the rules of a crawl
//! again (`why`, `skipped`, `verify`) are in `inspect`.

mod captures;
pub mod changes;
pub mod duplicates;
pub mod leftovers;
mod moves;
pub mod page_counts;
pub mod patterns;
mod readable_crawl;
pub mod status;

pub use captures::OpenCrawl;
pub use readable_crawl::ReadableCrawl;
