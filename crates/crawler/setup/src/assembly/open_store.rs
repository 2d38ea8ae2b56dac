//! The store of a crawl, open.

use std::collections::HashSet;
use std::sync::{Arc, RwLock};

use disk::Disk;
use journal::{StoreFault, VisitRecord};
use messages::{CommandError, fault, in_use};
use policy::FailedPages;
use settings::seeds::Seeds;
use settings::{Settings, crawl_directory};
use shared_store::{ROWS_PER_PACK, Session, SharedOptions, SharedStore};
use sinks::Sink;
use store::{EmbeddedStore, Frontier, NearDupIndex, StoreOptions};
use web::{GroupBy, PageUrl, Scope, UrlKey};

use super::components::Components;
use super::rules::store_options;
use super::{scope_mut, with_disk_remedy};
use crate::control::actions::ActionStore;
use crate::session_clock;

/// The parts that are needed to open a store.
pub(super) struct StoreOpening<'a> {
    pub(super) settings: &'a Settings,
    pub(super) components: &'a Components,
    pub(super) disk: &'a Arc<dyn Disk>,
}

impl StoreOpening<'_> {
    /// Opens the store of a crawl on one machine.
    pub(super) fn own(&self) -> Result<OpenStore, CommandError> {
        let (settings, options) = (self.settings, self.options()?);
        let opened = EmbeddedStore::open(&crawl_directory::state(&settings.out), &options);
        let store = opened.map_err(|error| match error {
            StoreFault::Setting { .. }
            | StoreFault::Key
            | StoreFault::Incomparable { .. }
            | StoreFault::Design { .. } => CommandError::of_usage(&error),
            StoreFault::Damaged { .. } => {
                fault(&error).with_remedy(crawl_directory::rebuild(&settings.out))
            }
            StoreFault::Format { .. } => CommandError::of_store(&error),
            StoreFault::InUse { .. } => in_use(&error),
            other => with_disk_remedy(&other, settings),
        })?;
        Ok(OpenStore {
            local: Arc::new(store),
            shared: None,
        })
    }

    /// Opens a node's part of a shared crawl.
    pub(super) async fn shared(&self, session: Session) -> Result<OpenStore, CommandError> {
        let (settings, components) = (self.settings, self.components);
        let state = crawl_directory::state(&settings.out);
        let store = StoreOptions {
            key: None,
            new_key: session.key(),
            ..self.options()?
        };
        let options = SharedOptions {
            store,
            clock: components.clock.clone(),
            max_pages: settings.max_pages,
            widen: {
                let scope = Arc::clone(&components.scope);
                Arc::new(move |seed| {
                    scope_mut(&scope).add_seed(seed);
                })
            },
            rows_per_pack: ROWS_PER_PACK,
        };
        let opened = SharedStore::open(session, &state, options).await;
        let shared = opened.map_err(|error| match error {
            StoreFault::InUse { .. } => in_use(&error),
            other => with_disk_remedy(&other, settings),
        })?;
        Ok(OpenStore {
            local: Arc::clone(shared.working_copy()),
            shared: Some(shared),
        })
    }

    fn options(&self) -> Result<StoreOptions, CommandError> {
        let (settings, components) = (self.settings, self.components);
        let earlier = components.earlier.clone();
        store_options(settings, earlier, &components.clock, self.disk)
    }
}

/// The store of a crawl: its own, or a node's part of a shared one.
pub(super) struct OpenStore {
    /// The crawl's store, or a node's working copy.
    pub(super) local: Arc<EmbeddedStore>,
    pub(super) shared: Option<Arc<SharedStore>>,
}

impl OpenStore {
    pub(super) fn frontier(&self) -> Arc<dyn Frontier> {
        match &self.shared {
            Some(shared) => shared.clone(),
            None => self.local.clone(),
        }
    }

    pub(super) fn index(&self) -> Arc<dyn NearDupIndex> {
        match &self.shared {
            Some(shared) => shared.clone(),
            None => self.local.clone(),
        }
    }

    /// Requeues failed seeds whose failure may have passed, or that were not seeds when they
    /// failed. If the crawl has fetched no page yet, requeues all failed seeds: the user may have
    /// added a login, for example.
    pub(super) async fn retry_seeds(&self, seeds: &Seeds) -> Result<u64, StoreFault> {
        // The journal is read only if anything failed.
        let totals = self.frontier().stats().totals;
        if totals.failed == 0 {
            return Ok(0);
        }
        let is_without_page = totals.pages == 0;
        let keys: HashSet<UrlKey> = seeds.urls.iter().map(PageUrl::key).collect();
        let may_have_passed = FailedPages::default();
        let select = |visit: &VisitRecord| {
            let was_seed = visit.depth == 0 && visit.via.is_none();
            let is_meant = is_without_page || !was_seed || may_have_passed.select(visit);
            keys.contains(&visit.url.key()) && is_meant
        };
        match &self.shared {
            Some(shared) => shared.retry_failed(select).await,
            None => self.local.retry_failed(select).await,
        }
    }

    /// Widens the scope by the seeds and the targets of their redirects.
    pub(super) fn widen(&self, scope: &RwLock<Scope>, seeds: &[PageUrl]) {
        if let Some(shared) = &self.shared {
            shared.share_seeds(seeds);
        }
        for seed in seeds.iter().chain(self.local.adopted_seeds()) {
            scope_mut(scope).add_seed(seed);
        }
    }

    /// Resumes the pauses that remain from an earlier session.
    pub(super) fn resume_pacing(&self, components: &Components, settings: &Settings) {
        let (store, pacer) = (&self.local, &components.pacer);
        session_clock::warn_if_behind(store.clock_behind());
        if store.after_a_death() {
            pacer.assume_just_requested();
        }
        if settings.group_by() != GroupBy::Host {
            // A host's pace comes with its next lease, but a host that shares it may be leased
            // sooner.
            for (host, pace) in store.resting(components.clock.now()) {
                pacer.recall(&host, pace);
            }
        }
    }

    /// Gives the archive to a shared store, which syncs it.
    pub(super) fn sync_archive(&self, archive: &Arc<dyn Sink>) {
        let Some(shared) = &self.shared else { return };
        let archive = Arc::clone(archive);
        shared.sync_archive_by(Box::new(move || {
            let archive = Arc::clone(&archive);
            Box::pin(async move {
                let synced = archive.sync().await;
                synced.map(drop).map_err(|error| error.to_string())
            })
        }));
    }

    /// Returns the store that takes actions.
    pub(super) fn action_store(&self) -> ActionStore {
        match &self.shared {
            Some(shared) => ActionStore::Shared(Arc::downgrade(shared)),
            None => ActionStore::Own(Arc::downgrade(&self.local)),
        }
    }
}
