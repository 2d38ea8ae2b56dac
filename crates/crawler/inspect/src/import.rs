//! Moves a crawl into a shared store, for `crawler import`.
//!
//! The journal is read twice. The crawl is locked, so that no other process continues or imports it
//! meanwhile. The archive stays in place.

use std::path::Path;

use facts::journal::{damaged, records};
use journal::History;
use messages::{CommandError, usage};
use settings::seeds::{ReadAhead, Seeds, Suggest};
use settings::{Settings, crawl_directory, machine};
use setup::shared::{self, StoreUrl};
use shared_store::{CrawlSettings, Import, ImportScan};
use store::DirectoryLock;

/// Time without a heartbeat until a node counts as dead.
const TERM: std::time::Duration = std::time::Duration::from_secs(10);

/// Number of records that an import read, and how many of these an earlier one had imported.
type Imported = (u64, u64);

/// Moves the crawl in `directory` into the store that `store` or the environment names. Returns
/// `None` if it was imported before. `suggest` returns the remedy for a seed that is not a URL.
pub fn import(
    directory: &Path,
    store: Option<&StoreUrl>,
    suggest: Suggest,
) -> Result<Option<Imported>, CommandError> {
    let state = crawl_directory::state_of(directory)?;
    let url = shared::required_url(store)?;
    let settings = Settings::of_crawl(directory)?;
    settings.refuse_unshared()?;
    let lock = DirectoryLock::take(&state, machine::clock().now());
    let _lock = lock.map_err(|error| CommandError::of_store(&error))?;
    crawl_directory::refuse_a_short_journal(directory)?;
    let damaged = damaged(directory);
    let Some(key) = History::open(&state).map_err(damaged)?.key() else {
        let shown = directory.display();
        return Err(usage(format!("{shown} contains a crawl that never began"))
            .with_remedy("begin it with `crawler node`"));
    };
    let seeds = Seeds::gather(
        &settings,
        &settings.canonical_form(),
        ReadAhead::All,
        suggest,
    )?
    .urls;
    let crawl = CrawlSettings {
        key,
        text: settings.shared_text()?,
        term: TERM,
    };
    let import_error = |error| shared::import_error(error, directory);
    let mut scan = ImportScan::default();
    for record in records(&state, "records read").map_err(damaged)? {
        scan.apply(&record.map_err(damaged)?)
            .map_err(import_error)?;
    }
    shared::runtime()?.block_on(async {
        let import = Import::begin(&url, &crawl, settings.distance, scan).await;
        let Some(mut import) = import.map_err(import_error)? else {
            return Ok(None);
        };
        seeds.iter().for_each(|seed| import.add_seed(seed));
        let before = import.done_before();
        let mut records_read = 0_u64;
        for record in records(&state, "records imported").map_err(damaged)? {
            import
                .add(&record.map_err(damaged)?)
                .await
                .map_err(import_error)?;
            records_read += 1;
        }
        import.finish().await.map_err(import_error)?;
        Ok::<_, CommandError>(Some((records_read, before)))
    })
}
