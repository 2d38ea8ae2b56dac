//! A crawl whose pages can be read again.

use std::path::{Path, PathBuf};

use corpus::PageArchive;
use messages::CommandError;
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory};

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

impl ReadableCrawl {
    /// Finds the crawl in `directory`.
    ///
    /// # Errors
    /// [`CommandError`] if there is none, or if its settings are not valid.
    pub fn of(directory: &Path) -> Result<Self, CommandError> {
        let state = crawl_directory::state_of(directory)?;
        let settings = Settings::of_crawl(directory)?;
        Ok(Self {
            state,
            archive: ArchivedPages::of(&settings).archive,
            // Its settings list all earlier crawls, oldest first.
            against: settings.against,
        })
    }
}
