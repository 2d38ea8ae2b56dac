//! A crawl whose pages can be read again.

use std::path::PathBuf;

use corpus::PageArchive;

/// The directories of a crawl, and the rules that its pages were read with.
#[derive(Clone, Debug)]
pub struct ReadableCrawl {
    /// The directory of its state.
    pub state: PathBuf,
    /// Its archive.
    pub archive: PageArchive,
    /// The crawls that it was run against, oldest first.
    pub against: Vec<PathBuf>,
}
