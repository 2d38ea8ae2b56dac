//! Assembles a crawl from its settings. No other module puts the parts together.
//!
//! [`Components`] are the parts that write nothing. [`assemble`] opens all other parts in the order
//! of their dependencies: the store, the archive and its indexes. `rules.rs` turns settings into
//! the options of the parts.

mod archive;
mod browser;
mod components;
mod directory;
mod fence;
mod kept_pages;
mod long_list;
mod open_store;
mod rules;

use std::error::Error;
use std::sync::{Arc, RwLock, RwLockWriteGuard};

use crawl::{
    ActiveOverrides, CrawlContext, DiskSpace, ListingQuota, NotFoundPages, Renderer, RepeatedTexts,
    RobotsFiles, ShortestWays, Stop, Telemetry,
};
use disk::{Disk, ReservedDisk, SystemDisk};
use journal::DiscoveredUrl;
use messages::{CommandError, fault, remedy_of};
use policy::Policy;
use settings::rules::policy;
use settings::seeds::Seeds;
use settings::{Settings, crawl_directory, machine};
use shared_store::Session;
use sinks::Sink;
use store::{EmbeddedStore, Frontier};
use tokio::sync::Semaphore;
use web::Scope;

pub use self::browser::advice as browser_advice;
pub use self::components::Components;
pub use self::directory::prepare_directory;
use self::long_list::ListReading;
pub use self::long_list::ReadList;
use self::open_store::{OpenStore, StoreOpening};
pub(crate) use self::rules::store_options;
use crate::control::actions::ActionStore;
use crate::disk_space::DiskFullRetry;
use crate::features::adaptive_signatures;
use crate::focus::focus;
use crate::widened::{Before, Widened};
use crate::{disk_space, search_index};

/// A crawl that is ready to run.
pub struct AssembledCrawl {
    /// The parts of the crawl.
    pub context: Arc<CrawlContext>,
    /// True if the crawl was begun by an earlier session.
    pub resumed: bool,
    /// The crawl's store, or a node's working copy.
    pub store: Arc<EmbeddedStore>,
    /// The store that applies actions.
    pub action_store: ActionStore,
    /// Settings that admit more URLs than in the last session.
    pub widened: Option<Widened>,
    /// The rest of a long list of seeds, which was read into the queue; empty without such a list.
    pub list: ReadList,
}

/// A crawl whose store is open.
struct Assembly<'s> {
    settings: &'s Settings,
    store: OpenStore,
    disk: Arc<dyn Disk>,
    disk_space: Arc<DiskSpace>,
    retry: DiskFullRetry<'s>,
    components: Components,
}

/// Puts the parts together, and queues the seeds. With a `session`, the crawl is shared.
///
/// `listen` returns the request to stop; it is called once reading can be stopped.
pub async fn assemble(
    settings: &Settings,
    seeds: &mut Seeds,
    components: Components,
    session: Option<Session>,
    listen: impl FnOnce() -> Stop,
) -> Result<AssembledCrawl, CommandError> {
    let mut assembly = Assembly::open(settings, components, session).await?;
    assembly.widen_scope(seeds);
    let before = assembly.read_settings_before()?;
    let list = assembly.queue_seeds(seeds, listen).await?;
    let archive = assembly.open_archive().await?;
    let widened = assembly.note_widened(before, seeds, list.is_some()).await?;
    assembly.keep_settings(seeds, list.as_ref()).await?;
    let policy = policy(settings, settings.canonical_form());
    let sink = assembly.add_search_index(archive, &policy).await?;

    let store = Arc::clone(&assembly.store.local);
    let action_store = assembly.store.action_store();
    Ok(AssembledCrawl {
        context: Arc::new(assembly.into_context(seeds, policy, sink)?),
        resumed: store.resumed(),
        store,
        action_store,
        widened,
        list: list.unwrap_or_default(),
    })
}

impl<'s> Assembly<'s> {
    /// Opens the store, takes the reserve of the disk, and resumes the pauses of hosts.
    async fn open(
        settings: &'s Settings,
        components: Components,
        session: Option<Session>,
    ) -> Result<Self, CommandError> {
        if session.is_none() {
            refuse_lost_state(settings)?;
        }
        let reserved = Arc::new(ReservedDisk::bare(Arc::new(SystemDisk)));
        let disk = Arc::clone(&reserved) as Arc<dyn Disk>;
        let mut retry = DiskFullRetry::new(settings);
        let opening = StoreOpening {
            settings,
            components: &components,
            disk: &disk,
        };
        let store = match session {
            None => retry.step(async || opening.own()).await?,
            Some(session) => opening.shared(session).await?,
        };
        let disk_space = retry.step(async || disk_space::keep(&reserved, settings));
        let disk_space = disk_space.await?;
        store.resume_pacing(&components, settings);
        if store.shared.is_none() && !store.local.resumed() {
            directory::refuse_to_forget(&settings.out)?;
        }
        Ok(Self {
            settings,
            store,
            disk,
            disk_space,
            retry,
            components,
        })
    }

    /// Widens the scope by the seeds and the targets of their redirects.
    fn widen_scope(&self, seeds: &Seeds) {
        self.store.widen(&self.components.scope, &seeds.urls);
    }

    /// Reads the settings of the last session. All nodes of a shared crawl have the settings of the
    /// first node.
    fn read_settings_before(&self) -> Result<Option<Arc<Before>>, CommandError> {
        match self.store.shared {
            None => Before::read(self.settings, &self.store.local),
            Some(_) => Ok(None),
        }
    }

    /// Queues the seeds (a long list part by part), and requeues failed seeds.
    async fn queue_seeds(
        &mut self,
        seeds: &mut Seeds,
        listen: impl FnOnce() -> Stop,
    ) -> Result<Option<ReadList>, CommandError> {
        let (settings, frontier) = (self.settings, self.store.frontier());
        let queued = self
            .retry
            .step(async || queue(seeds, &*frontier, settings).await);
        queued.await?;
        let list = match seeds.take_rest() {
            Some(rest) => {
                let reading = ListReading {
                    settings,
                    frontier: &*frontier,
                    scope: &self.components.scope,
                    retry: &mut self.retry,
                    stop: listen(),
                };
                Some(reading.read(&seeds.urls, rest).await?)
            }
            None => None,
        };
        let retried = self.store.retry_seeds(seeds).await;
        retried.map_err(|error| with_disk_remedy(&error, settings))?;
        if let Some(shared) = &self.store.shared {
            // The next term of this process does not read them again.
            let settled = shared.checkpoint(None).await;
            settled.map_err(|error| with_disk_remedy(&error, settings))?;
        }
        Ok(list)
    }

    /// Opens the archive with its CDXJ index. A shared store syncs the archive.
    async fn open_archive(&mut self) -> Result<Arc<dyn Sink>, CommandError> {
        let (settings, disk) = (self.settings, &self.disk);
        let (store, clock) = (&self.store.local, &self.components.clock);
        let archive = async || archive::open(settings, store, clock, disk).await;
        let archive: Arc<dyn Sink> = Arc::new(self.retry.step(archive).await?);
        self.store.sync_archive(&archive);
        let indexed = async || archive::with_cdxj(settings, archive.clone(), disk).await;
        self.retry.step(indexed).await
    }

    /// Compares the settings and seeds with the last session. `is_long` is true for a long list of
    /// seeds.
    async fn note_widened(
        &mut self,
        before: Option<Arc<Before>>,
        seeds: &Seeds,
        is_long: bool,
    ) -> Result<Option<Widened>, CommandError> {
        if self.store.shared.is_some() {
            return Ok(None);
        }
        let (settings, disk) = (self.settings, &*self.disk);
        let note = async || Widened::note(before.as_ref(), settings, seeds, is_long, disk);
        self.retry.step(note).await
    }

    /// Writes the settings of this session.
    async fn keep_settings(
        &mut self,
        seeds: &Seeds,
        list: Option<&ReadList>,
    ) -> Result<(), CommandError> {
        let (settings, disk) = (self.settings, &*self.disk);
        let keep = async || directory::keep_settings(settings, seeds, list, disk);
        self.retry.step(keep).await
    }

    /// Wraps the archive with the search index.
    async fn add_search_index(
        &mut self,
        archive: Arc<dyn Sink>,
        policy: &Policy,
    ) -> Result<Arc<dyn Sink>, CommandError> {
        let (settings, clock) = (self.settings, &self.components.clock);
        let store = &self.store.local;
        let open = async || search_index::over(archive.clone(), settings, policy, store, clock);
        self.retry.step(open).await
    }

    /// Opens the parts that compare and judge pages, and returns all parts.
    fn into_context(
        self,
        seeds: &Seeds,
        policy: Policy,
        sink: Arc<dyn Sink>,
    ) -> Result<CrawlContext, CommandError> {
        let (settings, disk, components) = (self.settings, &self.disk, self.components);
        let (state, key) = (
            crawl_directory::state(&settings.out),
            self.store.local.key(),
        );
        let features = settings.feature_settings()?;
        let topic = components.topic;
        let focus = topic.map(|topic| focus(topic, settings, &seeds.urls, key, disk));
        Ok(CrawlContext {
            fetch: components.fetch,
            pacer: components.pacer,
            robots: components.robots,
            renderer: components.render.map(|render| {
                let archive = crawl_directory::archive(&settings.out);
                Renderer::new(render, archive, policy.render.screenshots)
            }),
            frontier: self.store.frontier(),
            index: self.store.index(),
            kept_pages: kept_pages::open(settings, disk)?,
            sink,
            earlier: components.archives,
            disk_space: self.disk_space,
            scope: components.scope,
            listings: ListingQuota::default(),
            shortest_ways: ShortestWays::default(),
            robots_files: RobotsFiles::default(),
            not_found_pages: NotFoundPages::default(),
            repeated_texts: RepeatedTexts::default(),
            adaptive_signatures: adaptive_signatures(&features, key, &state)?,
            focus: focus.transpose()?,
            policy,
            overrides: ActiveOverrides::default(),
            telemetry: Telemetry::default(),
            clock: components.clock,
            cores: Arc::new(Semaphore::new(machine::cores())),
            memory: components.memory,
            stalls: components.stalls,
        })
    }
}

/// Refuses a directory whose journal is lost or cut.
fn refuse_lost_state(settings: &Settings) -> Result<(), CommandError> {
    if !EmbeddedStore::exists(&crawl_directory::state(&settings.out)) {
        // Checked before a new journal begins, since it would be mistaken for the lost one.
        directory::refuse_to_forget(&settings.out)?;
    }
    crawl_directory::refuse_a_short_journal(&settings.out)
}

/// Queues the seeds; returns the number of new ones.
async fn queue(
    seeds: &Seeds,
    store: &dyn Frontier,
    settings: &Settings,
) -> Result<usize, CommandError> {
    let urls = seeds.urls.iter().cloned();
    let found = urls.map(|url| DiscoveredUrl::new(url, 0, None)).collect();
    let queued = store.discover(found).await;
    queued.map_err(|error| with_disk_remedy(&error, settings))
}

fn scope_mut(scope: &RwLock<Scope>) -> RwLockWriteGuard<'_, Scope> {
    scope
        .write()
        .expect("no panic can happen while the scope is locked")
}

/// Adds the remedy for a fault that the machine most likely caused.
fn with_disk_remedy(error: &(dyn Error + 'static), settings: &Settings) -> CommandError {
    fault(error).with_remedy(remedy_of(error, &settings.out))
}
