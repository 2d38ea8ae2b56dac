//! The pages that changed between two crawls, for `crawler changes`.

use std::path::Path;

use facts::ReadableCrawl;
pub use facts::changes::{Change, ChangeKind, Changes};
use messages::CommandError;
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory};

/// Compares the crawls in two directories. With `with_diff`, each changed text has all its runs.
///
/// # Errors
/// [`CommandError`] if one of the crawls cannot be read.
pub fn between(old: &Path, new: &Path, with_diff: bool) -> Result<Changes, CommandError> {
    Changes::between(old, new, &open, with_diff)
}

fn open(directory: &Path) -> Result<ReadableCrawl, CommandError> {
    let state = crawl_directory::state_of(directory)?;
    let settings = Settings::of_crawl(directory)?;
    Ok(ReadableCrawl {
        state,
        archive: ArchivedPages::of(&settings).archive,
        // Its settings list all earlier crawls, oldest first.
        against: settings.against,
    })
}
