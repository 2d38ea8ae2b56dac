//! Assembles a crawl from its settings. No other module puts the parts together.
//!
//! [`Components`] are the parts that write nothing. [`assemble`] opens all other parts in the order
//! of their dependencies: the store, the archive and its indexes. `rules.rs` turns settings into
//! the options of the parts.

mod archive;
mod directory;
mod fence;
mod long_list;
pub mod rules;

use std::collections::HashSet;
use std::error::Error;
use std::io;
use std::sync::{Arc, RwLock, RwLockWriteGuard};

use crawl::{
    ActiveOverrides, CrawlContext, EarlierArchives, FailedPages, KeptPages, ListingQuota,
    RobotsFiles, ShortestWays, Stop, Telemetry,
};
use disk::{Disk, ReservedDisk, SystemDisk};
use fetch::{Fetch, FetchOptions, HttpFetch, MemoryBudget, Pacer, RobotsCache, Secrets, Stalls};
use journal::{DiscoveredUrl, StoreFault, VisitRecord};
use messages::{CommandError, fault, in_use, remedy_of};
use shared_store::{Session, SharedOptions, SharedStore};
use sinks::Sink;
use store::{EarlierCrawls, EmbeddedStore, Frontier, LikenessRules, NearDupIndex, StoreOptions};
use tokio::sync::Semaphore;
use web::{CanonicalForm, Clock, GroupBy, PageUrl, Scope, UrlKey};

pub use self::directory::prepare_directory;
use self::fence::FencedFetch;
use self::long_list::ListReading;
pub use self::long_list::ReadList;
pub(crate) use self::rules::store_options;
pub use self::rules::{pacing, policy, scope};
use crate::control::actions::ActionStore;
use crate::disk_space::DiskFullRetry;
use crate::focus::CrawlTopic;
use crate::seeds::Seeds;
use crate::settings::Settings;
use crate::widened::{Before, Widened};
use crate::{
    archiving, crawl_directory, disk_space, earlier, machine, search_index, session_clock,
};

/// Maximum number of origins whose robots.txt is remembered.
const ROBOTS_REMEMBERED: usize = 100_000;

/// A crawl that is ready to run.
pub struct AssembledCrawl {
    /// The parts of the crawl.
    pub context: Arc<CrawlContext>,
    /// True if the crawl was begun by an earlier session.
    pub resumed: bool,
    /// The crawl's store, or a node's working copy.
    pub store: Arc<EmbeddedStore>,
    /// The store that applies actions.
    pub ordered: ActionStore,
    /// Settings that admit more URLs than in the last session.
    pub widened: Option<Widened>,
    /// The rest of a long list of seeds, which was read into the queue.
    pub list: Option<ReadList>,
}

/// The store of a crawl: its own, or a node's part of a shared one.
struct OpenStore {
    local: Arc<EmbeddedStore>,
    shared: Option<Arc<SharedStore>>,
}

impl OpenStore {
    fn frontier(&self) -> Arc<dyn Frontier> {
        match &self.shared {
            Some(shared) => shared.clone(),
            None => self.local.clone(),
        }
    }

    fn index(&self) -> Arc<dyn NearDupIndex> {
        match &self.shared {
            Some(shared) => shared.clone(),
            None => self.local.clone(),
        }
    }

    /// Requeues failed seeds whose failure may have passed, or that were not seeds when they
    /// failed. If the crawl has fetched no page yet, requeues all failed seeds: the user may have
    /// added a login, for example.
    async fn retry_seeds(&self, seeds: &Seeds) -> Result<u64, StoreFault> {
        // The journal is read only if anything failed.
        let totals = self.frontier().stats().totals;
        if totals.failed == 0 {
            return Ok(0);
        }
        let is_without_page = totals.pages == 0;
        let keys: HashSet<UrlKey> = seeds.urls.iter().map(PageUrl::key).collect();
        let may_have_passed = FailedPages::default();
        let select = |row: &VisitRecord| {
            let was_seed = row.depth == 0 && row.via.is_none();
            let is_meant = is_without_page || !was_seed || may_have_passed.select(row);
            keys.contains(&row.url.key()) && is_meant
        };
        match &self.shared {
            Some(shared) => shared.retry_failed(select).await,
            None => self.local.retry_failed(select).await,
        }
    }

    /// Widens the scope by the seeds and the targets of their redirects.
    fn widen(&self, scope: &RwLock<Scope>, seeds: &[PageUrl]) {
        if let Some(shared) = &self.shared {
            shared.share_seeds(seeds);
        }
        for seed in seeds.iter().chain(self.local.adopted_seeds()) {
            scope_mut(scope).add_seed(seed);
        }
    }
}

/// Components that write nothing. Creating them detects wrong settings before the directory exists.
pub struct Components {
    scope: Scope,
    fetch: Arc<dyn Fetch>,
    pacer: Arc<Pacer>,
    robots: RobotsCache,
    earlier: Option<Arc<EarlierCrawls>>,
    archives: Option<Arc<EarlierArchives>>,
    memory: MemoryBudget,
    stalls: Stalls,
    topic: Option<CrawlTopic>,
}

impl Components {
    /// Creates the components.
    ///
    /// # Errors
    /// A setting is wrong.
    pub fn new(
        settings: &Settings,
        seeds: &Seeds,
        secrets: Secrets,
        clock: &Clock,
        session: Option<&Session>,
    ) -> Result<Self, CommandError> {
        let (memory, stalls) = (MemoryBudget::new(settings.memory()), Stalls::default());
        let options = rules::fetch_options(settings, secrets, clock, &memory, &stalls)?;
        let options = FetchOptions {
            client_certificates: settings.client_certificates(&seeds.urls),
            ..options
        };
        let fetch = HttpFetch::new(options).map_err(|error| CommandError::of_usage(&error))?;
        let mut fetch: Arc<dyn Fetch> = Arc::new(fetch);
        if let Some(session) = session {
            let term = Arc::clone(session.term());
            fetch = Arc::new(FencedFetch { inner: fetch, term });
        }
        let seed = machine::random()?;
        let pacer = Pacer::seeded(pacing(settings), clock.clone(), seed, stalls.clone());
        let pacer = Arc::new(pacer);
        let robots = RobotsCache::new(
            Arc::clone(&fetch),
            Arc::clone(&pacer),
            settings.agent_token(),
            clock.clone(),
            ROBOTS_REMEMBERED,
        );
        let scope = scope(settings)?;
        archiving::compression(settings)?;
        let topic = CrawlTopic::of(settings)?;
        let earlier = earlier::load(settings)?.map(Arc::new);
        let archives = earlier::archives(settings, earlier.as_ref())?.map(Arc::new);
        Ok(Self {
            scope,
            fetch,
            pacer,
            robots,
            earlier,
            archives,
            memory,
            stalls,
            topic,
        })
    }
}

/// Puts the parts together, and queues the seeds. With a `session`, the crawl is shared.
///
/// `listen` returns the request to stop; it is called once reading can be stopped.
pub async fn assemble(
    settings: &Settings,
    seeds: &mut Seeds,
    form: CanonicalForm,
    clock: Clock,
    components: Components,
    session: Option<Session>,
    listen: impl FnOnce() -> Stop,
) -> Result<AssembledCrawl, CommandError> {
    let state = crawl_directory::state(&settings.out);
    if session.is_none() {
        if !EmbeddedStore::exists(&state) {
            // Checked before a new journal begins, since it would be mistaken for the lost one.
            directory::refuse_to_forget(&settings.out)?;
        }
        crawl_directory::refuse_a_short_journal(&settings.out)?;
    }
    let reserved = Arc::new(ReservedDisk::bare(Arc::new(SystemDisk)));
    let disk = Arc::clone(&reserved) as Arc<dyn Disk>;
    let mut retry = DiskFullRetry::new(settings);

    let earlier = &components.earlier;
    let scope = Arc::new(RwLock::new(components.scope));
    let opened = match session {
        None => {
            let own = retry.step(async || open_store(settings, earlier.clone(), &clock, &disk));
            OpenStore {
                local: Arc::new(own.await?),
                shared: None,
            }
        }
        Some(session) => {
            let options = store_options(settings, earlier.clone(), &clock, &disk)?;
            open_shared(settings, session, options, &clock, &scope).await?
        }
    };
    let store = Arc::clone(&opened.local);
    let disk_space = retry.step(async || disk_space::keep(&reserved, settings));
    let disk_space = disk_space.await?;
    resume_pacing(&components.pacer, &store, settings, &clock);
    if opened.shared.is_none() && !store.resumed() {
        directory::refuse_to_forget(&settings.out)?;
    }
    opened.widen(&scope, &seeds.urls);
    // All nodes of a shared crawl have the settings of the first node.
    let before = match opened.shared {
        None => Before::read(settings, &store)?,
        Some(_) => None,
    };
    let queued = retry.step(async || queue(seeds, &*opened.frontier(), settings).await);
    queued.await?;
    let list = match seeds.take_rest() {
        Some(rest) => {
            let frontier = opened.frontier();
            let reading = ListReading {
                settings,
                frontier: &*frontier,
                scope: &scope,
                retry: &mut retry,
                stop: listen(),
            };
            Some(reading.read(&seeds.urls, rest).await?)
        }
        None => None,
    };
    let retried = opened.retry_seeds(seeds).await;
    retried.map_err(|error| with_disk_remedy(&error, settings))?;
    if let Some(shared) = &opened.shared {
        // The next term of this process does not read them again.
        let settled = shared.checkpoint(None).await;
        settled.map_err(|error| with_disk_remedy(&error, settings))?;
    }

    let archive = retry.step(async || archive::open(settings, &store, &clock, &disk).await);
    let archive: Arc<dyn Sink> = Arc::new(archive.await?);
    if let Some(shared) = &opened.shared {
        let archive = Arc::clone(&archive);
        shared.sync_archive_by(Box::new(move || {
            let archive = Arc::clone(&archive);
            Box::pin(async move {
                let synced = archive.sync().await;
                synced.map(drop).map_err(|error| error.to_string())
            })
        }));
    }
    let indexed = retry.step(async || archive::with_cdxj(settings, archive.clone(), &disk).await);
    let indexed = indexed.await?;
    let widened = match opened.shared {
        None => {
            let (before, is_long) = (before.as_ref(), list.is_some());
            let noted =
                retry.step(async || Widened::note(before, settings, seeds, is_long, &*disk));
            noted.await?
        }
        Some(_) => None,
    };
    let kept =
        retry.step(async || directory::keep_settings(settings, seeds, list.as_ref(), &*disk));
    kept.await?;
    let policy = policy(settings, form);
    let sink =
        retry.step(async || search_index::over(indexed.clone(), settings, &policy, &store, &clock));
    let sink = sink.await?;

    let features = settings.feature_settings()?;
    let focus = components
        .topic
        .map(|topic| topic.focus(settings, &seeds.urls, store.key(), &disk));
    let context = CrawlContext {
        fetch: components.fetch,
        pacer: components.pacer,
        robots: components.robots,
        frontier: opened.frontier(),
        index: opened.index(),
        kept_pages: kept_pages(settings, &disk)?,
        sink,
        earlier: components.archives,
        disk_space,
        scope,
        listings: ListingQuota::default(),
        shortest_ways: ShortestWays::default(),
        robots_files: RobotsFiles::default(),
        adaptive_signatures: features.adaptive_signatures(store.key(), &state)?,
        focus: focus.transpose()?,
        policy,
        overrides: ActiveOverrides::default(),
        telemetry: Telemetry::default(),
        clock,
        cores: Arc::new(Semaphore::new(machine::cores())),
        memory: components.memory,
        stalls: components.stalls,
    };
    Ok(AssembledCrawl {
        context: Arc::new(context),
        resumed: store.resumed(),
        widened,
        ordered: match &opened.shared {
            Some(shared) => ActionStore::Shared(Arc::downgrade(shared)),
            None => ActionStore::Own(Arc::downgrade(&store)),
        },
        store,
        list,
    })
}

/// Opens the kept pages for the comparison of texts; `None` if the user chose other rules.
fn kept_pages(
    settings: &Settings,
    disk: &Arc<dyn Disk>,
) -> Result<Option<KeptPages>, CommandError> {
    let likeness = settings.likeness()?;
    // With earlier crawls, a page is compared with its own capture first.
    let is_default = settings.since.is_empty()
        && settings.against.is_empty()
        && likeness.thresholds.resemblance().is_none()
        && likeness.thresholds.needs_bands()
        && likeness.scope == LikenessRules::default().scope
        && likeness.per_cluster == LikenessRules::default().per_cluster;
    let archive = crawl_directory::archive(&settings.out);
    let state = crawl_directory::state(&settings.out);
    let open = || KeptPages::open(archive, &state, Arc::clone(disk));
    is_default.then(open).transpose().map_err(|error| {
        let message = format!("the kept pages in {}: {error}", state.display());
        with_disk_remedy(&io::Error::new(error.kind(), message), settings)
    })
}

/// Opens a node's part of a shared crawl.
async fn open_shared(
    settings: &Settings,
    session: Session,
    mut options: StoreOptions,
    clock: &Clock,
    scope: &Arc<RwLock<Scope>>,
) -> Result<OpenStore, CommandError> {
    let state = crawl_directory::state(&settings.out);
    (options.key, options.new_key) = (None, session.key());
    let options = SharedOptions {
        store: options,
        clock: clock.clone(),
        max_pages: settings.max_pages,
        widen: {
            let scope = Arc::clone(scope);
            Arc::new(move |seed| {
                scope_mut(&scope).add_seed(seed);
            })
        },
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

fn scope_mut(scope: &RwLock<Scope>) -> RwLockWriteGuard<'_, Scope> {
    scope
        .write()
        .expect("no panic can happen while the scope is locked")
}

fn open_store(
    settings: &Settings,
    earlier: Option<Arc<EarlierCrawls>>,
    clock: &Clock,
    disk: &Arc<dyn Disk>,
) -> Result<EmbeddedStore, CommandError> {
    let options = store_options(settings, earlier, clock, disk)?;
    EmbeddedStore::open(&crawl_directory::state(&settings.out), &options).map_err(|error| {
        match error {
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
        }
    })
}

/// Resumes the pauses that remain from an earlier session.
fn resume_pacing(pacer: &Pacer, store: &EmbeddedStore, settings: &Settings, clock: &Clock) {
    session_clock::warn_if_behind(store.clock_behind());
    if store.after_a_death() {
        pacer.assume_just_requested();
    }
    if settings.group_by() != GroupBy::Host {
        // A host's pace comes with its next lease, but a host that shares it may be leased sooner.
        for (host, pace) in store.resting(clock.now()) {
            pacer.recall(&host, pace);
        }
    }
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

/// Adds the remedy for a fault that the machine most likely caused.
fn with_disk_remedy(error: &(dyn Error + 'static), settings: &Settings) -> CommandError {
    fault(error).with_remedy(remedy_of(error, &settings.out))
}
