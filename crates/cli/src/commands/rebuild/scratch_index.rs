//! The index that judges pages of other crawlers: a store in a directory of its own, for the
//! duration of a rebuild.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, SystemDisk};
use neardup::{HashKey, PageSignature};
use store::embedded::{EarlierCrawls, EmbeddedStore};
use store::{NearDupIndex, Page, Verdict};
use tokio::runtime::Runtime;
use web::{Clock, PageUrl};

use crate::cli_error::{CliError, fault};
use crate::settings::Settings;
use crate::values::Key;
use crate::{assembly, crawl_directory};

pub(super) struct ScratchIndex {
    store: EmbeddedStore,
    runtime: Runtime,
    directory: PathBuf,
}

impl ScratchIndex {
    /// Creates an index below `state` that knows only `earlier`, the crawls that count as seen.
    pub(super) fn new(
        settings: &Settings,
        earlier: Option<Arc<EarlierCrawls>>,
        state: &Path,
        key: HashKey,
        clock: &Clock,
    ) -> Result<Self, CliError> {
        let directory = state.join("judging");
        let settings = Settings {
            hash_key: Some(Key(key)),
            ..settings.clone()
        };
        let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
        let options = assembly::store_options(&settings, earlier, clock, &disk)?;
        let store = EmbeddedStore::open(&directory, &options)
            .map_err(|error| crawl_directory::cli_error(&error))?;
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        Ok(Self {
            store,
            runtime: runtime.map_err(|error| fault(&error))?,
            directory,
        })
    }

    /// Judges a page and admits it.
    pub(super) fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, CliError> {
        let verdict = self
            .runtime
            .block_on(self.store.admit(page, signature, canonical));
        verdict.map_err(|error| fault(&error))
    }

    /// Closes the index and removes its directory.
    pub(super) fn end(self) -> Result<(), CliError> {
        let closed = self.runtime.block_on(store::Frontier::close(&self.store));
        closed.map_err(|error| fault(&error))?;
        drop(self.store);
        fs::remove_dir_all(&self.directory).map_err(|error| fault(&error))
    }
}
