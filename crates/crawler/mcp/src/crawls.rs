//! The crawls that agents may read.

use std::path::PathBuf;

/// The crawls that agents may read.
#[derive(Clone, Debug)]
pub struct Crawls {
    /// The directory of the crawl.
    pub directory: PathBuf,
    /// The directory of an earlier crawl, to compare it with.
    pub against: Option<PathBuf>,
}
