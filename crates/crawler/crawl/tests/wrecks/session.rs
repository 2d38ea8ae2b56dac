//! A session of a crawl, from opening its directory to its end, and the checks of the directory
//! afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use crawl::{
    ActiveOverrides, AdaptiveSignatures, CrawlContext, DiskSpace, DiskSpaceRules, Fault, Finish,
    Limits, ListingQuota, ShortestWays, Telemetry,
};
use disk::Disk;
use fetch::{Pacer, RobotsCache};
use journal::{DiscoveredUrl, visits};
use neardup::{Features, HashKey, SignatureBuilder};
use policy::Policy;
use reading::ReadingRules;
use requests::PacingRules;
use sinks::ArchiveOptions;
use sinks::warc::{WarcReader, check_file, name_of};
use store::{ComparisonOptions, EmbeddedStore, Frontier, FrontierRules, StoreOptions, audit};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use web::{Clock, Scope, ScopeKind, Timestamp};

use crate::site::Site;
use crate::witness::Witness;

const DELAY: Duration = Duration::from_millis(300);
const NO_ROOM_NEEDED: DiskSpaceRules = DiskSpaceRules {
    least: 0,
    patience: Duration::ZERO,
};
const AGENT: &str = "crawler";

pub(crate) fn store_options(now: Timestamp, disk: Arc<dyn Disk>) -> StoreOptions {
    StoreOptions {
        rules: FrontierRules {
            min_wait: DELAY,
            ..FrontierRules::default()
        },
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now,
        disk,
    }
}

/// The state of sled's files since the last session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tables {
    /// Nothing.
    Whole,
    /// They are older, truncated, or missing.
    Wrecked,
}

/// A crawl in a directory of its own, session after session.
pub(crate) struct Crawl {
    directory: TempDir,
    site: Arc<Site>,
    /// The start of the next session.
    now: Timestamp,
}

impl Crawl {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            site: Arc::new(Site::new()),
            now: Timestamp::from_millis(1_000_000),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the directory that sled writes to, behind the disk's back.
    pub(crate) fn tables(&self) -> PathBuf {
        self.state().join("sled")
    }

    fn state(&self) -> PathBuf {
        self.directory().join("state")
    }

    fn archive(&self) -> PathBuf {
        self.directory().join("archive")
    }

    /// Runs a session to its end. None of its tasks and locks is left on return.
    pub(crate) fn session(&mut self, disk: Arc<dyn Disk>) -> Result<Finish, Fault> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let ended = runtime.block_on(self.run(disk));
        drop(runtime);
        ended
    }

    async fn run(&mut self, disk: Arc<dyn Disk>) -> Result<Finish, Fault> {
        let (begun, now) = (Instant::now(), self.now);
        let clock = Clock::new(move || now + begun.elapsed());
        let ended = self.crawl(disk, clock.clone()).await;
        self.now = clock.now();
        ended
    }

    async fn crawl(&self, disk: Arc<dyn Disk>, clock: Clock) -> Result<Finish, Fault> {
        let options = store_options(clock.now(), Arc::clone(&disk));
        let store = Arc::new(EmbeddedStore::open(&self.state(), &options)?);
        let mut scope = Scope::new(ScopeKind::Host, &[], &[]).unwrap();
        let seeds = Site::seeds();
        for seed in seeds.iter().chain(store.adopted_seeds()) {
            scope.add_seed(seed);
        }
        let finds = seeds
            .into_iter()
            .map(|url| DiscoveredUrl::new(url, 0, None));
        store.discover(finds.collect()).await?;
        let options = ArchiveOptions {
            max_file: 8 << 10,
            ..ArchiveOptions::new(clock.clone())
        };
        let archive = crawl::open_archive(&store, &disk, &self.archive(), options).await?;
        let pacing = PacingRules {
            delay: DELAY,
            factor: 0.0,
            ..PacingRules::default()
        };
        let pacer = Arc::new(Pacer::new(pacing, clock.clone()));
        let witness = Arc::new(Witness::new(store.clone()));
        let robots = RobotsCache::new(
            self.site.clone(),
            Arc::clone(&pacer),
            AGENT.to_owned(),
            clock.clone(),
            100,
        );
        let context = Arc::new(CrawlContext {
            fetch: self.site.clone(),
            pacer,
            robots,
            renderer: None,
            frontier: witness.clone(),
            index: store.clone(),
            kept_pages: None,
            sink: Arc::new(archive),
            earlier: None,
            disk_space: Arc::new(DiskSpace::new(disk, None, Vec::new(), NO_ROOM_NEEDED)),
            scope: Arc::new(RwLock::new(scope)),
            focus: None,
            listings: ListingQuota::default(),
            shortest_ways: ShortestWays::default(),
            robots_files: crawl::RobotsFiles::default(),
            not_found_pages: crawl::NotFoundPages::default(),
            repeated_texts: crawl::RepeatedTexts::default(),
            adaptive_signatures: AdaptiveSignatures::new(SignatureBuilder::new(
                Features::default(),
                store.key(),
            )),
            overrides: ActiveOverrides::default(),
            policy: Policy {
                tries: 3,
                redirects: 5,
                outlinks: true,
                ..Policy::new(ReadingRules {
                    agent: AGENT.to_owned(),
                    max_decoded: 1 << 20,
                    ..ReadingRules::default()
                })
            },
            telemetry: Telemetry::default(),
            clock,
            cores: Arc::new(Semaphore::new(2)),
            memory: fetch::MemoryBudget::default(),
            stalls: fetch::Stalls::default(),
        });
        let limits = Limits {
            concurrency: 8,
            pages: None,
            bytes: None,
            harvest: None,
            time: None,
            drain: Duration::from_secs(60),
        };
        let (_handle, stop) = crawl::stop();
        let ended = crawl::run(&context, limits, stop).await;
        self.site.settle(witness.acknowledged());
        ended
    }

    /// Asserts that no durably settled page was requested again.
    pub(crate) fn asked_no_page_in_vain(&self, case: &str) {
        let again: Vec<String> = self
            .site
            .asked_again()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(again, [] as [String; 0], "{case}");
    }

    /// Asserts that the files of a session are sound, however it ended. Tables that a power cut has
    /// changed may be unreadable, and then that must be reported.
    pub(crate) fn is_sound(&self, tables: Tables, case: &str) {
        self.asked_no_page_in_vain(case);
        if !EmbeddedStore::exists(&self.state()) {
            return;
        }
        let mut found = audit(&self.state()).unwrap_or_else(|error| panic!("{case}: {error}"));
        if tables == Tables::Wrecked {
            found
                .findings
                .retain(|finding| !finding.starts_with("state/sled cannot be read"));
        }
        assert_eq!(found.findings, [] as [String; 0], "{case}");
    }

    /// Asserts that every page was archived exactly once, with the expected result.
    pub(crate) fn is_complete(&self, case: &str) {
        self.is_sound(Tables::Whole, case);
        let truth = Site::truth();
        let mut verdicts = BTreeMap::new();
        let mut originals = BTreeMap::new();
        for visit in visits(&self.state()).unwrap() {
            let visit = visit.unwrap();
            let before = verdicts.insert(visit.url.to_string(), visit.fate.as_str());
            assert_eq!(before, None, "{case}: {} was settled twice", visit.url);
            if let Some(original) = visit.duplicate_of {
                originals.insert(visit.url.to_string(), original.to_string());
            }
        }
        let mut expected = truth.also_archived;
        for alike in truth.alike {
            let unique = |url: &&String| verdicts.get(*url) == Some(&"unique");
            let kept: Vec<&String> = alike.iter().filter(unique).collect();
            assert_eq!(kept.len(), 1, "{case}: {alike:?} {kept:?}");
            for other in alike.iter().filter(|url| *url != kept[0]) {
                assert_eq!(originals.get(other), Some(kept[0]), "{case}: {other}");
            }
            expected.push(kept[0].clone());
            verdicts.retain(|url, _| !alike.contains(url));
        }
        for (url, verdict) in &truth.verdicts {
            assert_eq!(verdicts.remove(url), Some(*verdict), "{case}: {url}");
        }
        assert_eq!(verdicts, BTreeMap::new(), "{case}: unexpected URLs");
        let unique = truth
            .verdicts
            .into_iter()
            .filter(|(_, verdict)| *verdict == "unique");
        expected.extend(unique.map(|(url, _)| url));
        expected.sort();
        assert_eq!(self.archived(), expected, "{case}");
    }

    /// Returns the URLs of the archive's `response` records in order, and asserts that every record
    /// is whole.
    fn archived(&self) -> Vec<String> {
        let mut archived = Vec::new();
        for item in std::fs::read_dir(self.archive()).unwrap() {
            let path = item.unwrap().path();
            if name_of(&path).is_none() {
                continue;
            }
            check_file(&path, &mut |record| {
                assert!(record.digests_hold(), "{record:?}");
            })
            .unwrap();
            let mut reader = WarcReader::open(&path).unwrap();
            while let Some(record) = reader.next_record(0).unwrap() {
                if record.kind() == "response" {
                    archived.push(record.target().unwrap().to_owned());
                }
            }
        }
        archived.sort();
        archived
    }
}
