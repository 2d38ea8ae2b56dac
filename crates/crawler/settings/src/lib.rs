//! The settings of a crawl.
