//! The assembly of a crawl from its settings: the one place that puts the parts together.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use crawl::{
    ActiveOverrides, CrawlContext, DuplicateLinks, EarlierArchives, ListingQuota, ListingRules,
    Policy, RobotsFiles, Telemetry,
};
use disk::Disk;
use fetch::{
    Fetch, FetchLimits, FetchOptions, HttpFetch, MemoryBudget, Pacer, PacingRules, RobotsCache,
    Secrets, Stalls,
};
use neardup::HashKey;
use sinks::cdxj::{self, Indexed};
use sinks::{Sink, SinkFault, WarcArchive};
use store::embedded::{Earlier, EmbeddedStore, StoreOptions};
use store::{DiscoveredUrl, Frontier, FrontierRules, StoreFault};
use tokio::sync::Semaphore;
use web::{CanonicalForm, Clock, GroupBy, MainSelectors, ReadLimits, Scope, TrapRules};

use crate::cli_error::{CliError, fault, usage};
use crate::control::CONTROL;
use crate::disk_error;
use crate::disk_space::{self, cannot};
use crate::seeds::Seeds;
use crate::settings::{SETTINGS_FILE, Settings};
use crate::values::SignatureIndexPlace;
use crate::{archiving, crawl_directory, earlier, machine, search_index, session_clock};

/// Origins whose robots.txt is remembered.
const ROBOTS_REMEMBERED: usize = 100_000;
/// Bytes of a decoded document that are read.
const MAX_DECODED: u64 = 8 << 20;

/// The longest delay. Clocks cannot count for ever.
const LONGEST_DELAY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Creates the crawl's directory and opens its log. Refuses a directory with other contents.
pub(crate) fn prepare_directory(settings: &Settings) -> Result<File, CliError> {
    let directory = &settings.out;
    let holds_crawl = EmbeddedStore::exists(&crawl_directory::state(directory));
    if settings.fresh && directory.exists() {
        let remedy = "omit --fresh to continue the crawl, or choose another --out";
        return Err(usage(format!(
            "{} exists, and --fresh was given",
            directory.display()
        ))
        .with_remedy(remedy));
    }
    if !holds_crawl
        && std::fs::read_dir(directory).is_ok_and(|mut items| items.any(|item| !is_ours(item)))
    {
        let remedy = "choose an empty or a new directory with --out";
        return Err(usage(format!(
            "{} holds other things and no crawl",
            directory.display()
        ))
        .with_remedy(remedy));
    }
    std::fs::create_dir_all(directory)
        .map_err(|error| cannot("create", directory, &error, directory))?;
    let log = directory.join("crawl.log");
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&log)
        .map_err(|error| cannot("write", &log, &error, directory))
}

/// Returns true if the item is one that a crawl leaves when it ends before its state exists.
fn is_ours(item: std::io::Result<std::fs::DirEntry>) -> bool {
    item.is_ok_and(|item| {
        [
            "crawl.log",
            SETTINGS_FILE,
            CONTROL,
            "state",
            "archive",
            search_index::NAME,
        ]
        .iter()
        .any(|name| item.file_name() == *name)
    })
}

/// A crawl that is ready to run.
pub(crate) struct AssembledCrawl {
    pub(crate) context: Arc<CrawlContext>,
    pub(crate) resumed: bool,
    pub(crate) store: Arc<EmbeddedStore>,
}

/// The components that write nothing. Creating them finds wrong settings before the directory
/// exists.
pub(crate) struct Components {
    scope: Scope,
    fetch: Arc<dyn Fetch>,
    pacer: Arc<Pacer>,
    robots: RobotsCache,
    earlier: Option<Arc<Earlier>>,
    archives: Option<Arc<EarlierArchives>>,
    memory: MemoryBudget,
    stalls: Stalls,
}

impl Components {
    pub(crate) fn new(
        settings: &Settings,
        secrets: Secrets,
        clock: &Clock,
    ) -> Result<Self, CliError> {
        let (memory, stalls) = (MemoryBudget::new(settings.memory()), Stalls::default());
        let fetch = fetcher(settings, secrets, clock, &memory, &stalls)?;
        let fetch: Arc<dyn Fetch> = Arc::new(fetch);
        let pacer = Arc::new(Pacer::seeded(
            pacing(settings),
            clock.clone(),
            machine::random()?,
        ));
        let robots = RobotsCache::new(
            Arc::clone(&fetch),
            Arc::clone(&pacer),
            settings.agent_token(),
            clock.clone(),
            ROBOTS_REMEMBERED,
        );
        let scope = scope(settings)?;
        archiving::compression(settings)?;
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
        })
    }
}

/// Returns the scope of the settings, without seeds yet.
pub(crate) fn scope(settings: &Settings) -> Result<Scope, CliError> {
    Scope::new(settings.scope, &settings.include, &settings.exclude).map_err(|error| {
        // The expression's engine draws a picture of the mistake and names it in the last line.
        let drawn = error.source.to_string();
        let named = drawn.lines().last().unwrap_or_default();
        let named = named.strip_prefix("error: ").unwrap_or(named);
        let told = usage(format!(
            "--include or --exclude {:?}: {named}",
            error.pattern
        ));
        told.with_remedy(
            "regular expressions are those of the Rust crate `regex`: https://docs.rs/regex",
        )
    })
}

/// Puts the parts together, and queues the seeds.
pub(crate) async fn assemble(
    settings: &Settings,
    seeds: &Seeds,
    form: CanonicalForm,
    clock: Clock,
    components: Components,
) -> Result<AssembledCrawl, CliError> {
    let Components {
        mut scope,
        fetch,
        pacer,
        robots,
        earlier,
        archives,
        memory,
        stalls,
    } = components;
    if !EmbeddedStore::exists(&crawl_directory::state(&settings.out)) {
        // Before a journal is begun that would pass for the one that was lost.
        refuse_to_forget(&settings.out)?;
    }
    crawl_directory::refuse_a_short_journal(&settings.out)?;
    let reserved = disk_space::disk();
    let disk: Arc<dyn Disk> = Arc::clone(&reserved) as Arc<dyn Disk>;
    let mut retry = disk_space::DiskFullRetry::new(settings);
    let store = retry.step(async || open_store(settings, earlier.clone(), &clock, &disk));
    let store = Arc::new(store.await?);
    let room = retry
        .step(async || disk_space::keep(&reserved, settings))
        .await?;
    session_clock::warn_if_behind(store.clock_behind());
    if store.after_a_death() {
        pacer.assume_just_asked();
    }
    if settings.group_by != GroupBy::Host {
        // A host's pace comes with its next lease, but others share it who may come sooner.
        for (host, pace) in store.resting(clock.now()) {
            pacer.recall(&host, pace);
        }
    }
    for seed in seeds.urls.iter().chain(store.adopted_seeds()) {
        scope.add_seed(seed);
    }
    if !store.resumed() {
        refuse_to_forget(&settings.out)?;
    }
    let seeds_found = || {
        let urls = seeds.urls.iter();
        urls.map(|url| DiscoveredUrl::new(url.clone(), 0, None))
            .collect()
    };
    retry
        .step(async || {
            let discovered = store.discover(seeds_found()).await;
            discovered.map_err(|error| broken(&error, settings))
        })
        .await?;
    let archive = retry.step(async || open_archive(settings, &store, &clock, &disk).await);
    let archive = Arc::new(archive.await?);
    let archive = retry.step(async || indexed(settings, Arc::clone(&archive), &disk).await);
    let archive = archive.await?;
    retry
        .step(async || keep_settings(settings, seeds, &*disk))
        .await?;

    let policy = policy(settings, form);
    let sink = retry
        .step(async || search_index::over(Arc::clone(&archive), settings, &policy, &store, &clock));
    let sink = sink.await?;

    let context = CrawlContext {
        fetch,
        pacer,
        robots,
        frontier: store.clone(),
        index: store.clone(),
        sink,
        earlier: archives,
        disk_space: room,
        scope: RwLock::new(scope),
        listings: ListingQuota::default(),
        robots_files: RobotsFiles::default(),
        adaptive_signatures: settings
            .feature_settings()?
            .adaptive_signatures(store.key(), &crawl_directory::state(&settings.out))?,
        policy,
        overrides: ActiveOverrides::default(),
        telemetry: Telemetry::default(),
        clock,
        cores: Arc::new(Semaphore::new(machine::cores())),
        memory,
        stalls,
    };
    Ok(AssembledCrawl {
        context: Arc::new(context),
        resumed: store.resumed(),
        store,
    })
}

fn fetcher(
    settings: &Settings,
    secrets: Secrets,
    clock: &Clock,
    memory: &MemoryBudget,
    stalls: &Stalls,
) -> Result<HttpFetch, CliError> {
    let options = FetchOptions {
        limits: FetchLimits {
            body: settings.max_body.0,
            timeout: settings.timeout.0,
            redirects: settings.max_redirects,
            ..FetchLimits::default()
        },
        allow_private: settings.allow_private,
        resolve: settings.resolve_rules()?,
        ca_certificates: settings.ca_certificate.clone(),
        insecure_hosts: settings.insecure_hosts()?,
        proxy: settings.proxy()?,
        secrets: Arc::new(secrets),
        connections_per_host: settings.per_host(),
        memory: memory.clone(),
        spool: Some(crawl_directory::state(&settings.out)),
        stalls: stalls.clone(),
        ..FetchOptions::new(settings.user_agent(), clock.clone())
    };
    HttpFetch::new(options).map_err(|error| CliError::of_usage(&error))
}

pub(crate) fn pacing(settings: &Settings) -> PacingRules {
    PacingRules {
        delay: settings.delay.0.min(LONGEST_DELAY),
        factor: settings.delay_factor,
        max_delay: settings
            .max_delay
            .0
            .max(settings.delay.0)
            .min(LONGEST_DELAY),
        connections_per_host: settings.per_host(),
        rate: settings.rate.map(|rate| rate.0),
        group_by: settings.group_by,
        ..PacingRules::default()
    }
}

pub(crate) fn policy(settings: &Settings, canonical: CanonicalForm) -> Policy {
    Policy {
        on_duplicate: settings.on_duplicate,
        duplicate_links: settings.duplicate_links,
        max_depth: settings.max_depth,
        page_requisites: settings.page_requisites,
        tries: settings.tries,
        redirects: settings.max_redirects,
        ignore_robots: settings.ignore_robots,
        skip_relations: settings.skip_relations(),
        main_content: settings.main_content.is_on(),
        main_selectors: MainSelectors::parse(&settings.main_selector)
            .expect("settings were checked when they were read"),
        agent: settings.agent_token(),
        max_decoded: MAX_DECODED,
        digest: settings.digest,
        outlinks: settings.outlinks.is_on(),
        index: (!settings.no_index).then_some(settings.index),
        read: ReadLimits {
            kinds: settings.link_kinds(),
            ..ReadLimits::default()
        },
        listings: ListingRules {
            sitemaps: settings.sitemaps,
            feeds: settings.feeds.is_on(),
            from: settings
                .sitemap_from
                .as_ref()
                .map(|date| date.lastmod.first),
            to: settings.sitemap_to.as_ref().map(|date| date.lastmod.last),
            ..ListingRules::default()
        },
        canonical,
        traps: settings
            .traps
            .is_on()
            .then(|| TrapRules::at(machine::clock().now())),
    }
}

fn open_store(
    settings: &Settings,
    earlier: Option<Arc<Earlier>>,
    clock: &Clock,
    disk: &Arc<dyn Disk>,
) -> Result<EmbeddedStore, CliError> {
    let options = store_options(settings, earlier, clock, disk)?;
    EmbeddedStore::open(&crawl_directory::state(&settings.out), &options).map_err(|error| {
        match error {
            StoreFault::Setting { .. }
            | StoreFault::Key
            | StoreFault::Incomparable { .. }
            | StoreFault::Design { .. } => CliError::of_usage(&error),
            StoreFault::Damaged { .. } => {
                fault(&error).with_remedy(crawl_directory::rebuild(&settings.out))
            }
            StoreFault::Format { .. } => fault(&error),
            StoreFault::InUse { .. } => crawl_directory::in_use(&error),
            other => broken(&other, settings),
        }
    })
}

/// Returns the options with which a crawl opens its store.
pub(crate) fn store_options(
    settings: &Settings,
    earlier: Option<Arc<Earlier>>,
    clock: &Clock,
    disk: &Arc<dyn Disk>,
) -> Result<StoreOptions, CliError> {
    Ok(StoreOptions {
        rules: FrontierRules {
            per_host: settings.per_host(),
            max_pages_per_host: settings.max_pages_per_host,
            closes_patterns: settings.traps.is_on(),
            probes: settings.duplicate_links != DuplicateLinks::None,
            max_pages_per_pattern: settings.max_pages_per_pattern,
            max_hosts_per_domain: Some(settings.max_hosts_per_domain),
            least_wait: pacing(settings).delay,
            most_calm_wait: pacing(settings).max_delay,
            delay_factor: thousandths(settings.delay_factor),
            most_wait: pacing(settings).longest_wait(),
        },
        likeness: settings.likeness()?,
        features: settings.feature_settings_name(),
        key: settings.hash_key.map(|key| key.0),
        earlier,
        new_key: HashKey::new(machine::random()?),
        keys_in_memory: settings.signature_index == SignatureIndexPlace::Memory,
        tables: settings.tables.design(settings.distance).map_err(usage)?,
        now: clock.now(),
        disk: Arc::clone(disk),
    })
}

/// Converts a factor to thousandths, as in the journal. NaN becomes 0.
fn thousandths(factor: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates"
    )]
    let thousandths = (factor * 1000.0).round() as u32;
    thousandths
}

/// Adds the remedy for a fault that is most likely the machine's.
fn broken(error: &(dyn std::error::Error + 'static), settings: &Settings) -> CliError {
    fault(error).with_remedy(disk_error::remedy_of(error, &settings.out))
}

async fn open_archive(
    settings: &Settings,
    store: &EmbeddedStore,
    clock: &Clock,
    disk: &Arc<dyn Disk>,
) -> Result<WarcArchive, CliError> {
    let directory = crawl_directory::archive(&settings.out);
    disk.create_directories(&directory)
        .map_err(|error| cannot("create", &directory, &error, &settings.out))?;
    let options = archiving::options(settings, clock)?;
    let archive = crawl::open_archive(store, disk, &directory, options).await;
    archive.map_err(|error| match error {
        crawl::Fault::Sink(error) => damaged(&error, settings),
        other => broken(&other, settings),
    })
}

/// Wraps the archive with its CDXJ index, or removes the index if it is off.
async fn indexed(
    settings: &Settings,
    archive: Arc<WarcArchive>,
    disk: &Arc<dyn Disk>,
) -> Result<Arc<dyn Sink>, CliError> {
    let directory = crawl_directory::archive(&settings.out);
    let archive: Arc<dyn Sink> = archive;
    if !settings.cdxj.is_on() {
        cdxj::remove(&**disk, &directory).map_err(|error| broken(&error, settings))?;
        return Ok(archive);
    }
    let indexed = Indexed::open(archive, Arc::clone(disk), &directory, cdxj::MEMORY).await;
    Ok(Arc::new(
        indexed.map_err(|error| damaged(&error, settings))?,
    ))
}

/// Converts a fault of an archive that differs from what was last synced.
fn damaged(error: &SinkFault, settings: &Settings) -> CliError {
    let lost = matches!(
        error,
        SinkFault::Missing { .. } | SinkFault::TooShort { .. } | SinkFault::Damaged { .. }
    );
    if matches!(error, SinkFault::JournalEnds { .. }) {
        return fault(error).with_remedy(crawl_directory::rebuild_from_archive(&settings.out));
    }
    if !lost {
        return broken(error, settings);
    }
    let out = settings.out.display();
    fault(error).with_remedy(format!(
        "it was on the disk once: put it back; or `crawler verify {out}` says what is missing, and \
         `crawler rebuild {out} --from-archive` goes on with what is left"
    ))
}

/// Refuses a directory that has an archive and no journal. A new journal would set the whole
/// archive aside as surplus.
fn refuse_to_forget(directory: &Path) -> Result<(), CliError> {
    let archive = crawl_directory::archive(directory);
    let pages = std::fs::read_dir(&archive).is_ok_and(|mut items| items.next().is_some());
    if !pages {
        return Ok(());
    }
    let remedy = format!(
        "`crawler rebuild {}` makes it again from the archive; or choose another --out",
        directory.display()
    );
    Err(usage(format!(
        "{} holds an archive whose state is gone",
        archive.display()
    ))
    .with_remedy(remedy))
}

/// Writes the settings as run, in one step.
fn keep_settings(settings: &Settings, seeds: &Seeds, disk: &dyn Disk) -> Result<(), CliError> {
    let text = settings.as_run(seeds.urls.iter().map(ToString::to_string).collect())?;
    let path = settings.out.join(SETTINGS_FILE);
    disk.replace(&path, text.as_bytes())
        .map_err(|error| cannot("write", &path, &error, &settings.out))
}
