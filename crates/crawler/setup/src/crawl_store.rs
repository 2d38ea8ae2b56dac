//! A crawl that is not running: its store, and the scope in force.

use std::path::Path;
use std::sync::Arc;

use disk::SystemDisk;
use journal::StoreFault;
use messages::{CommandError, fault};
use policy::control_file::CONTROL;
use store::{EarlierCrawls, EmbeddedStore, Frontier};
use tokio::runtime::Runtime;
use web::{CanonicalForm, Clock, Scope};

use crate::control::last_in_force;
use crate::settings::Settings;
use crate::{assembly, crawl_directory, earlier, machine, seeds};

/// Returns the scope of a crawl with its seeds and the exclusions in effect.
pub fn scope_in_force(settings: &Settings, form: &CanonicalForm) -> Result<Scope, CommandError> {
    let mut scope = assembly::scope(settings)?;
    if let Some(in_force) = last_in_force(&settings.out)? {
        scope.exclude_now(in_force.overrides.exclude);
    }
    seeds::each_of_crawl(settings, form, |seed| {
        scope.add_seed(seed);
    })?;
    Ok(scope)
}

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
