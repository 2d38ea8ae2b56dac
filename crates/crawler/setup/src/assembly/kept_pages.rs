//! The kept pages of a crawl, for the comparison of texts.

use std::io;
use std::sync::Arc;

use crawl::KeptPages;
use disk::Disk;
use messages::CommandError;
use settings::{Settings, crawl_directory};
use store::ComparisonOptions;

use super::with_disk_remedy;

/// Opens the kept pages; `None` if the user chose other rules.
pub(super) fn open(
    settings: &Settings,
    disk: &Arc<dyn Disk>,
) -> Result<Option<KeptPages>, CommandError> {
    let comparison = settings.comparison()?;
    // With earlier crawls, a page is compared with its own capture first.
    let is_default = settings.since.is_empty()
        && settings.against.is_empty()
        && comparison.thresholds.resemblance().is_none()
        && comparison.thresholds.needs_bands()
        && comparison.scope == ComparisonOptions::default().scope
        && comparison.per_cluster == ComparisonOptions::default().per_cluster;
    let archive = crawl_directory::archive(&settings.out);
    let state = crawl_directory::state(&settings.out);
    let open = || KeptPages::open(archive, &state, Arc::clone(disk));
    is_default.then(open).transpose().map_err(|error| {
        let message = format!("the kept pages in {}: {error}", state.display());
        with_disk_remedy(&io::Error::new(error.kind(), message), settings)
    })
}
