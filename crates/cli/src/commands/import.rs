//! `crawler import`: moves a crawl into a shared store.
//!
//! The journal is read twice. The crawl is locked, so that no other process continues or imports it
//! meanwhile. The archive stays in place.

use std::path::Path;

use journal::History;
use shared_store::{CrawlSettings, Import, ImportScan};
use store::DirectoryLock;

use super::journal::{damaged, records};
use super::shared;
use crate::args::ImportArgs;
use crate::cli_error::{CliError, usage};
use crate::seeds::{ReadAhead, Seeds};
use crate::settings::Settings;
use crate::terminal::say;
use crate::{crawl_directory, machine};

/// Time without a heartbeat until a node counts as dead.
const TERM: std::time::Duration = std::time::Duration::from_secs(10);

pub(crate) fn run(args: &ImportArgs) -> Result<(), CliError> {
    let directory = &args.directory;
    let state = crawl_directory::state_of(directory)?;
    let url = shared::required_url(args.store.as_ref())?;
    let settings = Settings::of_crawl(directory)?;
    settings.refuse_unshared()?;
    let lock = DirectoryLock::take(&state, machine::clock().now());
    let _lock = lock.map_err(|error| crawl_directory::cli_error(&error))?;
    crawl_directory::refuse_a_short_journal(directory)?;
    let damaged = damaged(directory);
    let Some(key) = History::open(&state).map_err(damaged)?.key() else {
        let shown = directory.display();
        return Err(usage(format!("{shown} contains a crawl that never began"))
            .with_remedy("begin it with `crawler node`"));
    };
    let seeds = Seeds::gather(&settings, &settings.canonical_form(), ReadAhead::All)?.urls;
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
    let imported = shared::runtime()?.block_on(async {
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
        Ok::<_, CliError>(Some((records_read, before)))
    })?;
    let archive = crawl_directory::archive(directory);
    close(imported, &archive);
    Ok(())
}

/// Prints the result. `imported` contains the number of records, and how many of these an earlier
/// run imported.
fn close(imported: Option<(u64, u64)>, archive: &Path) {
    let archive = archive.display();
    let done = match imported {
        None => "the crawl was imported before".to_owned(),
        Some((records, 0)) => format!("imported {records} records"),
        Some((records, before)) => {
            format!("imported {records} records, {before} of them in an earlier run")
        }
    };
    say(&format!("{done}; its archive stays in {archive}"));
}
