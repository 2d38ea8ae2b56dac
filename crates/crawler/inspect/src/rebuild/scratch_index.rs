//! The index that judges pages of other crawlers: a store in a separate directory, for the duration
//! of a rebuild.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use journal::Page;
use messages::{CommandError, fault};
use neardup::{HashKey, PageSignature};
use settings::Settings;
use settings::values::Key;
use setup::crawl_store::{open_store, runtime};
use store::{EarlierCrawls, EmbeddedStore, Frontier, NearDupIndex, Verdict};
use tokio::runtime::Runtime;
use web::{Clock, PageUrl};

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
    ) -> Result<Self, CommandError> {
        let directory = state.join("judging");
        let settings = Settings {
            hash_key: Some(Key(key)),
            ..settings.clone()
        };
        Ok(Self {
            store: open_store(&settings, earlier, clock, &directory)?,
            runtime: runtime()?,
            directory,
        })
    }

    /// Judges a page and admits it.
    pub(super) fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, CommandError> {
        let verdict = self.store.admit(page, signature, canonical);
        Ok(self.runtime.block_on(verdict)?)
    }

    /// Closes the index and removes its directory.
    pub(super) fn end(self) -> Result<(), CommandError> {
        self.runtime.block_on(self.store.close())?;
        drop(self.store);
        fs::remove_dir_all(&self.directory).map_err(|error| fault(&error))
    }
}
