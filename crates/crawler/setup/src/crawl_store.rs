//! The store of a crawl that is not running.

use std::path::Path;
use std::sync::Arc;

use disk::SystemDisk;
use journal::StoreFault;
use messages::{CommandError, fault};
use policy::control_file::CONTROL;
use settings::{Settings, crawl_directory, machine};
use store::{EarlierCrawls, EmbeddedStore, Frontier};
use tokio::runtime::Runtime;
use web::Clock;

use crate::{assembly, earlier};

/// Opens the store in `state` for exclusive use.
pub fn open_store(
    settings: &Settings,
    earlier: Option<Arc<EarlierCrawls>>,
    clock: &Clock,
    state: &Path,
) -> Result<EmbeddedStore, CommandError> {
    let disk: Arc<dyn disk::Disk> = Arc::new(SystemDisk);
    let options = assembly::store_options(settings, earlier, clock, &disk)?;
    Ok(EmbeddedStore::open(state, &options)?)
}

/// Opens the store of a crawl that is not running, applies an action, and closes the store.
/// `line` is the line of `control.toml` that gives the same order to a running crawl.
pub fn apply<T>(
    directory: &Path,
    line: &str,
    apply: impl AsyncFnOnce(&EmbeddedStore) -> Result<T, StoreFault>,
) -> Result<T, CommandError> {
    let settings = Settings::of_crawl(directory)?;
    let earlier = earlier::load(&settings)?.map(Arc::new);
    let state = crawl_directory::state(directory);
    let disk: Arc<dyn disk::Disk> = Arc::new(SystemDisk);
    let options = assembly::store_options(&settings, earlier, &machine::clock(), &disk)?;
    let store = EmbeddedStore::open(&state, &options).map_err(|error| match error {
        StoreFault::InUse { .. } => CommandError::of_usage(&error).with_remedy(format!(
            "to change the running crawl, write `{line}` into {}; it takes effect within seconds",
            directory.join(CONTROL).display()
        )),
        error => error.into(),
    })?;
    runtime()?.block_on(async {
        let effect = apply(&store).await?;
        store.close().await?;
        Ok(effect)
    })
}

/// Returns a runtime for a command that needs one for asynchronous calls.
pub fn runtime() -> Result<Runtime, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.map_err(|error| fault(&error))
}
