//! From settings to a crew: the one place where the parts of the crawler are put together.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::{Arc, RwLock};

use crawl::{Crew, Policy, Telemetry};
use fetch::{Fetch, FetchLimits, FetchOptions, HttpFetch, Pacer, PacingRules, RobotsCache};
use neardup::HashKey;
use sinks::{ArchiveEnd, ArchiveOptions, WarcArchive};
use store::embedded::{Earlier, EmbeddedStore, StoreOptions};
use store::{Find, Frontier, FrontierRules, StoreFault};
use tokio::sync::Semaphore;
use web::{CanonicalForm, Clock, ReadLimits, Scope};

use crate::complaint::{Complaint, fault, usage};
use crate::seeds::Seeds;
use crate::settings::{AS_RUN, Settings};
use crate::{earlier, history};

/// Origins whose robots.txt is remembered.
const ROBOTS_REMEMBERED: usize = 100_000;
/// Bytes of a decoded document that are read.
const MAX_DECODED: u64 = 16 << 20;

/// The machine's clock: the only place that asks it.
pub(crate) fn clock() -> Clock {
    Clock::new(|| {
        #[expect(
            clippy::disallowed_methods,
            reason = "the command line is where time comes from"
        )]
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        web::Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    })
}

/// A directory that a crawl may write to: made if it is not there, refused where something else is in it.
pub(crate) fn prepare_directory(settings: &Settings) -> Result<File, Complaint> {
    let directory = &settings.out;
    let holds_crawl = EmbeddedStore::exists(&history::state(directory));
    if settings.fresh && directory.exists() {
        let remedy = "leave --fresh away to go on with it, or choose another --out";
        return Err(
            usage(format!("{} exists, and --fresh was given", directory.display())).with_remedy(remedy),
        );
    }
    if !holds_crawl && std::fs::read_dir(directory).is_ok_and(|mut items| items.any(|item| !is_ours(item))) {
        let remedy = "choose an empty or a new directory with --out";
        return Err(
            usage(format!("{} holds other things and no crawl", directory.display())).with_remedy(remedy),
        );
    }
    std::fs::create_dir_all(directory).map_err(|error| cannot("create", directory, &error))?;
    let log = directory.join("crawl.log");
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&log)
        .map_err(|error| cannot("write", &log, &error))
}

/// What a crawl leaves that ended before its state was begun.
fn is_ours(item: std::io::Result<std::fs::DirEntry>) -> bool {
    item.is_ok_and(|item| {
        ["crawl.log", AS_RUN, "state", "archive"]
            .iter()
            .any(|name| item.file_name() == *name)
    })
}

fn cannot(action: &str, path: &Path, error: &std::io::Error) -> Complaint {
    let told = format!("cannot {action} {}: {error}", path.display());
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::FileTooLarge => {
            fault(&std::io::Error::other(told))
        }
        _ => usage(told),
    }
}

/// A crew that is ready to crawl, and the memory that it shares with the progress bar.
pub(crate) struct Ready {
    pub(crate) crew: Arc<Crew>,
    pub(crate) resumed: bool,
}

/// What a crew needs that writes nothing: wrong settings are found here, before there is a directory.
pub(crate) struct Tools {
    scope: Scope,
    fetch: Arc<dyn Fetch>,
    pacer: Arc<Pacer>,
    robots: RobotsCache,
    earlier: Option<Arc<Earlier>>,
}

impl Tools {
    pub(crate) fn new(settings: &Settings, clock: &Clock) -> Result<Self, Complaint> {
        let fetch: Arc<dyn Fetch> = Arc::new(fetcher(settings, clock)?);
        let pacer = Arc::new(Pacer::new(pacing(settings), clock.clone()));
        let robots = RobotsCache::new(
            Arc::clone(&fetch),
            Arc::clone(&pacer),
            settings.agent_token(),
            clock.clone(),
            ROBOTS_REMEMBERED,
        );
        let scope = scope(settings)?;
        let earlier = earlier::load(settings)?.map(Arc::new);
        Ok(Self {
            scope,
            fetch,
            pacer,
            robots,
            earlier,
        })
    }
}

/// The scope of the settings, without seeds yet.
pub(crate) fn scope(settings: &Settings) -> Result<Scope, Complaint> {
    Scope::new(settings.scope, &settings.include, &settings.exclude).map_err(|error| {
        // The expression's engine draws a picture of the mistake and names it in the last line.
        let drawn = error.source.to_string();
        let named = drawn.lines().last().unwrap_or_default();
        let named = named.strip_prefix("error: ").unwrap_or(named);
        let told = usage(format!("--include or --exclude {:?}: {named}", error.pattern));
        told.with_remedy("regular expressions are those of the Rust crate `regex`: https://docs.rs/regex")
    })
}

/// Puts the parts together, and queues the seeds.
pub(crate) async fn assemble(
    settings: &Settings,
    seeds: &Seeds,
    form: CanonicalForm,
    clock: Clock,
    tools: Tools,
) -> Result<Ready, Complaint> {
    let Tools {
        mut scope,
        fetch,
        pacer,
        robots,
        earlier,
    } = tools;
    let store = Arc::new(open_store(settings, earlier, &clock)?);
    for seed in seeds.urls.iter().chain(store.adopted_seeds()) {
        scope.add_seed(seed);
    }
    if !store.resumed() {
        refuse_to_forget(&history::archive(&settings.out))?;
    }
    let finds = seeds
        .urls
        .iter()
        .map(|url| Find {
            url: url.clone(),
            depth: 0,
            via: None,
        })
        .collect();
    store.discover(finds).await.map_err(|error| fault(&error))?;
    let archive = open_archive(settings, &store, &clock)?;
    keep_settings(settings, seeds)?;

    let crew = Crew {
        fetch,
        pacer,
        robots,
        frontier: store.clone(),
        index: store.clone(),
        sink: Arc::new(archive),
        scope: RwLock::new(scope),
        studio: settings
            .recipe()?
            .studio(store.key(), &history::state(&settings.out))?,
        policy: policy(settings, form),
        telemetry: Telemetry::default(),
        clock,
        cores: Arc::new(Semaphore::new(cores())),
    };
    Ok(Ready {
        crew: Arc::new(crew),
        resumed: store.resumed(),
    })
}

/// Threads that compute.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZeroUsize::get)
}

fn fetcher(settings: &Settings, clock: &Clock) -> Result<HttpFetch, Complaint> {
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
        connections_per_host: settings.per_host(),
        ..FetchOptions::new(settings.user_agent(), clock.clone())
    };
    HttpFetch::new(options).map_err(|error| Complaint::of_usage(&error))
}

fn pacing(settings: &Settings) -> PacingRules {
    PacingRules {
        delay: settings.delay.0,
        factor: settings.delay_factor,
        max_delay: settings.max_delay.0.max(settings.delay.0),
        connections_per_host: settings.per_host(),
        rate: settings.rate.map(|rate| rate.0),
        ..PacingRules::default()
    }
}

fn policy(settings: &Settings, canonical: CanonicalForm) -> Policy {
    Policy {
        on_duplicate: settings.on_duplicate,
        max_depth: settings.max_depth,
        tries: settings.tries,
        redirects: settings.max_redirects,
        ignore_robots: settings.ignore_robots,
        main_content: settings.main_content.is_on(),
        agent: settings.agent_token(),
        max_decoded: MAX_DECODED,
        read: ReadLimits::default(),
        canonical,
    }
}

fn open_store(
    settings: &Settings,
    earlier: Option<Arc<Earlier>>,
    clock: &Clock,
) -> Result<EmbeddedStore, Complaint> {
    let options = StoreOptions {
        rules: FrontierRules {
            per_host: settings.per_host(),
            max_pages_per_host: settings.max_pages_per_host,
        },
        likeness: settings.likeness()?,
        features: settings.recipe_name(),
        key: settings.hash_key.map(|key| key.0),
        earlier,
        new_key: HashKey::new(random()?),
        now: clock.now(),
    };
    EmbeddedStore::open(&history::state(&settings.out), &options).map_err(|error| match error {
        StoreFault::Setting { .. }
        | StoreFault::Key
        | StoreFault::Incomparable { .. }
        | StoreFault::InUse { .. } => Complaint::of_usage(&error),
        other => fault(&other),
    })
}

fn open_archive(settings: &Settings, store: &EmbeddedStore, clock: &Clock) -> Result<WarcArchive, Complaint> {
    let directory = history::archive(&settings.out);
    std::fs::create_dir_all(&directory).map_err(|error| cannot("create", &directory, &error))?;
    let robots = if settings.ignore_robots { "ignore" } else { "obey" };
    let options = ArchiveOptions {
        software: format!("crawler/{}", env!("CARGO_PKG_VERSION")),
        user_agent: settings.user_agent(),
        robots: robots.to_owned(),
        operator: settings.contact.clone().unwrap_or_default(),
        settings: settings.as_run(Vec::new())?,
        max_file: settings.warc_max_size.0,
        seed: u128::from(random()?) << 64 | u128::from(random()?),
        ..ArchiveOptions::new(clock.clone())
    };
    let end = store.archive_end().map(|span| ArchiveEnd {
        file: span.file.clone(),
        end: span.end,
    });
    WarcArchive::open(&directory, options, end).map_err(|error| fault(&error))
}

/// What is in an archive beyond the end that the journal tells is cut off, so an archive whose journal was lost must not
/// be opened by a new one.
fn refuse_to_forget(archive: &Path) -> Result<(), Complaint> {
    let pages = std::fs::read_dir(archive).is_ok_and(|mut items| items.next().is_some());
    if !pages {
        return Ok(());
    }
    let remedy = "keep it, and choose another --out";
    Err(usage(format!(
        "{} holds an archive whose state is gone",
        archive.display()
    ))
    .with_remedy(remedy))
}

/// The settings as run, replaced in one step.
fn keep_settings(settings: &Settings, seeds: &Seeds) -> Result<(), Complaint> {
    let text = settings.as_run(seeds.urls.iter().map(ToString::to_string).collect())?;
    let path = settings.out.join(AS_RUN);
    let new = path.with_extension("toml.new");
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, &path))
        .map_err(|error| cannot("write", &path, &error))
}

fn random() -> Result<u64, Complaint> {
    getrandom::u64().map_err(|error| fault(&error))
}
