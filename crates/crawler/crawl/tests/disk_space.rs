//! Crawls on a disk that is full, slow, read-only or broken, and of a web that never answers, in
//! this process and on the runtime's paused clock.
//!
//! The web is a function and the disk a directory with a budget; store, archive and loop are the
//! real ones.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use crawl::{
    ActiveOverrides, AdaptiveSignatures, CrawlContext, DiskSpace, DiskSpaceRules, Fault, Finish,
    Limits, ListingQuota, ShortestWays, Telemetry,
};
use disk::{Disk, Reserve, ReservedDisk};
use fetch::{Fetch, FetchFailure, Pacer, RobotsCache};
use http::HeaderMap;
use journal::{DiscoveredUrl, Fate, StoreFault, visits};
use neardup::{Features, HashKey, SignatureBuilder};
use policy::Policy;
use reading::ReadingRules;
use requests::PacingRules;
use sinks::warc::{check_file, name_of};
use sinks::{
    ArchiveEnd, ArchiveOptions, Archived, CommitPoint, Sink, SinkFault, Visit, WarcArchive,
};
use store::{ComparisonOptions, EmbeddedStore, Frontier, FrontierRules, StoreOptions};
use testkit::{CallKind, Failure, FaultyDisk, Plan, Random};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use web::{
    CanonicalForm, Clock, Exchange, Pace, PageUrl, Protocol, Scope, ScopeKind, Timestamp,
    Validators,
};

const PAGES: u64 = 40;
const RESERVE: u64 = 1 << 20;
const KIB: u64 = 1 << 10;
const MINUTE: Duration = Duration::from_secs(60);
const LIMITS: Limits = Limits {
    concurrency: 8,
    pages: None,
    bytes: None,
    harvest: None,
    time: None,
    drain: MINUTE,
};

fn url(path: &str) -> PageUrl {
    PageUrl::parse(
        &format!("http://heavy.test/{path}"),
        &CanonicalForm::default(),
    )
    .unwrap()
}

/// A tree of pages of about 32 KiB each in the archive; counts its requests.
#[derive(Default)]
struct Web {
    asked: Mutex<u64>,
    /// True if it takes requests and never answers them.
    is_silent: AtomicBool,
}

impl Web {
    fn asked(&self) -> u64 {
        *self.asked.lock().unwrap()
    }

    fn page(number: u64) -> String {
        let mut random = Random::of(1, number);
        let mut page = String::from("<html><body><main><p>");
        for _ in 0..120 {
            write!(page, "{:08x} ", random.next() >> 32).unwrap();
        }
        page.push_str("</p></main>");
        for link in [2 * number + 1, 2 * number + 2] {
            if link < PAGES {
                write!(page, "<a href=\"/{link}\">{link}</a>").unwrap();
            }
        }
        page.push_str("<script>");
        for _ in 0..4096 {
            write!(page, "{:016x}", random.next()).unwrap();
        }
        page + "</script></body></html>"
    }
}

#[async_trait]
impl Fetch for Web {
    async fn request(&self, url: &PageUrl, _known: &Validators) -> Result<Exchange, FetchFailure> {
        *self.asked.lock().unwrap() += 1;
        if self.is_silent.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        // By the runtime's clock; otherwise a whole crawl would fit between two checks of the disk.
        sleep(Duration::from_millis(400)).await;
        let page = url.as_url().path()[1..].parse().ok().map(Self::page);
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "text/html; charset=utf-8".parse().unwrap());
        Ok(Exchange {
            url: url.clone(),
            request_head: Vec::new(),
            status: if page.is_some() { 200 } else { 404 },
            headers,
            body: page.unwrap_or_default().into(),
            truncated: None,
            warnings: Vec::new(),
            address: None,
            protocol: Protocol::Http11,
            started: Timestamp::from_millis(1_000),
            elapsed: Duration::ZERO,
        })
    }
}

/// An archive on a disk that takes this long for a sync.
struct SlowArchive {
    archive: WarcArchive,
    sync_takes: Duration,
}

#[async_trait]
impl Sink for SlowArchive {
    async fn write(&self, visit: Visit) -> Result<Archived, SinkFault> {
        self.archive.write(visit).await
    }

    async fn sync(&self) -> Result<ArchiveEnd, SinkFault> {
        sleep(self.sync_takes).await;
        self.archive.sync().await
    }

    async fn set_commit_point(&self, point: Option<CommitPoint>) -> Result<(), SinkFault> {
        self.archive.set_commit_point(point).await
    }

    async fn close(&self) -> Result<ArchiveEnd, SinkFault> {
        self.archive.close().await
    }
}

/// A machine with a small disk.
struct Machine {
    directory: tempfile::TempDir,
    disk: Arc<FaultyDisk>,
    web: Arc<Web>,
    clock: Clock,
    rules: DiskSpaceRules,
    sync_takes: Duration,
}

/// A context, and the reserve of its disk.
struct Session {
    context: Arc<CrawlContext>,
    reserve: Arc<Reserve>,
}

impl Machine {
    fn new(least: u64, patience: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let began = Instant::now();
        Self {
            disk: Arc::new(FaultyDisk::new(directory.path(), 1)),
            directory,
            web: Arc::default(),
            clock: Clock::new(move || Timestamp::from_millis(1_000_000) + began.elapsed()),
            rules: DiskSpaceRules {
                least,
                patience: Duration::from_secs(patience),
            },
            sync_takes: Duration::ZERO,
        }
    }

    fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    async fn session(&self) -> Session {
        let plain: Arc<dyn Disk> = self.disk.clone();
        let reserved = Arc::new(ReservedDisk::bare(Arc::clone(&plain)));
        let options = StoreOptions {
            rules: FrontierRules {
                per_host: 8,
                ..FrontierRules::default()
            },
            comparison: ComparisonOptions::default(),
            features: Features::default().to_string(),
            key: None,
            new_key: HashKey::ZERO,
            earlier: None,
            keys_in_memory: true,
            tables: None,
            now: self.clock.now(),
            disk: reserved.clone(),
        };
        // A page that is still being read when its crawl ends keeps the context of that crawl
        // alive.
        let store = loop {
            match EmbeddedStore::open(&self.state(), &options) {
                Err(StoreFault::InUse { .. }) => tokio::task::yield_now().await,
                opened => break Arc::new(opened.unwrap()),
            }
        };
        let path = self.state().join("reserve");
        let reserve = Reserve::take(Arc::clone(&plain), &path, RESERVE, self.rules.least);
        let reserve = Arc::new(reserve.unwrap());
        reserved.keep(Arc::clone(&reserve));
        let root = DiscoveredUrl::new(url("0"), 0, None);
        store.discover(vec![root]).await.unwrap();
        let archive = self.directory.path().join("archive");
        let end = store.archive_end().map(|span| ArchiveEnd {
            file: span.file,
            end: span.end,
        });
        let options = ArchiveOptions::new(self.clock.clone());
        let sink = SlowArchive {
            archive: WarcArchive::open(reserved, &archive, options, end).unwrap(),
            sync_takes: self.sync_takes,
        };
        let directories = vec![self.state(), archive];
        let space = DiskSpace::new(plain, Some(Arc::clone(&reserve)), directories, self.rules);
        let context = Arc::new(self.context(store, sink, space));
        Session { context, reserve }
    }

    fn context(
        &self,
        store: Arc<EmbeddedStore>,
        sink: SlowArchive,
        space: DiskSpace,
    ) -> CrawlContext {
        let pacing = PacingRules {
            delay: Duration::ZERO,
            factor: 0.0,
            connections_per_host: 8,
            ..PacingRules::default()
        };
        let pacer = Arc::new(Pacer::new(pacing, self.clock.clone()));
        let fetch = Arc::clone(&self.web) as Arc<dyn Fetch>;
        let agent = "crawler".to_owned();
        let robots = RobotsCache::new(
            Arc::clone(&fetch),
            Arc::clone(&pacer),
            agent.clone(),
            self.clock.clone(),
            10,
        );
        let mut scope = Scope::new(ScopeKind::Host, &[], &[]).unwrap();
        scope.add_seed(&url("0"));
        CrawlContext {
            fetch,
            pacer,
            robots,
            renderer: None,
            frontier: store.clone(),
            index: store,
            kept_pages: None,
            sink: Arc::new(sink),
            earlier: None,
            disk_space: Arc::new(space),
            scope: Arc::new(RwLock::new(scope)),
            focus: None,
            listings: ListingQuota::default(),
            shortest_ways: ShortestWays::default(),
            robots_files: crawl::RobotsFiles::default(),
            not_found_pages: crawl::NotFoundPages::default(),
            repeated_texts: crawl::RepeatedTexts::default(),
            adaptive_signatures: AdaptiveSignatures::new(SignatureBuilder::new(
                Features::default(),
                HashKey::ZERO,
            )),
            overrides: ActiveOverrides::default(),
            policy: Policy {
                tries: 3,
                redirects: 10,
                outlinks: true,
                ..Policy::new(ReadingRules {
                    agent,
                    max_decoded: 1 << 20,
                    ..ReadingRules::default()
                })
            },
            telemetry: Telemetry::default(),
            clock: self.clock.clone(),
            cores: Arc::new(Semaphore::new(2)),
            memory: fetch::MemoryBudget::default(),
            stalls: fetch::Stalls::default(),
        }
    }

    /// Leaves space for this many more bytes.
    fn leave(&self, bytes: u64) {
        self.disk.set_budget(Some(self.disk.used() + bytes));
    }

    /// Completes the crawl on a working disk, and asserts that every page is there once.
    async fn completes(&self) {
        self.disk.mend();
        self.disk.set_budget(None);
        let session = self.session().await;
        let (_handle, stop) = crawl::stop();
        let ended = crawl::run(&session.context, LIMITS, stop).await;
        assert_eq!(ended.unwrap(), Finish::Exhausted);
        self.is_complete();
    }

    fn is_complete(&self) {
        let visits: Vec<_> = visits(&self.state()).unwrap().map(Result::unwrap).collect();
        let urls: BTreeSet<String> = visits.iter().map(|visit| visit.url.to_string()).collect();
        assert_eq!((visits.len() as u64, urls.len() as u64), (PAGES, PAGES));
        assert!(
            visits
                .iter()
                .all(|visit| visit.fate == Fate::Unique && visit.kept)
        );
        for item in std::fs::read_dir(self.directory.path().join("archive")).unwrap() {
            let path = item.unwrap().path();
            if name_of(&path).is_some() {
                let check = check_file(&path, &mut |_record| {}).unwrap();
                assert_eq!(check.false_digests, 0);
            }
        }
        assert!(
            !self.state().join("reserve").exists(),
            "the reserve is removed"
        );
    }
}

/// Waits by the runtime's clock, which is paused while any task can run.
async fn after<T>(wait: Duration, act: impl FnOnce() -> T) -> T {
    sleep(wait).await;
    act()
}

#[tokio::test(start_paused = true)]
async fn below_the_low_water_mark_no_visit_begins_until_there_is_room() {
    let machine = Machine::new(256 * KIB, 600);
    let session = machine.session().await;
    machine.leave(600 * KIB);
    let (_handle, stop) = crawl::stop();
    let (ended, (stats, asked)) = tokio::join!(
        crawl::run(&session.context, LIMITS, stop),
        after(MINUTE, || {
            let seen = (session.context.frontier.stats(), machine.web.asked());
            machine.disk.set_budget(None);
            seen
        })
    );
    assert_eq!(ended.unwrap(), Finish::Exhausted);
    assert_eq!(stats.leased, 0, "active visits are finished");
    assert!(stats.totals.pages < PAGES, "{stats:?}");
    let robots = u64::from(asked > 0);
    assert_eq!(asked, stats.totals.pages + robots, "no other visit began");
    drop(session);
    machine.is_complete();
}

#[tokio::test(start_paused = true)]
async fn active_visits_on_a_full_disk_use_the_reserve_which_is_restored_later() {
    let machine = Machine::new(0, 600);
    let session = machine.session().await;
    machine.leave(200 * KIB);
    let (_handle, stop) = crawl::stop();
    let (ended, (spent, stats)) = tokio::join!(
        crawl::run(&session.context, LIMITS, stop),
        after(MINUTE, || {
            let seen = (session.reserve.is_spent(), session.context.frontier.stats());
            machine.disk.set_budget(None);
            seen
        })
    );
    assert_eq!(ended.unwrap(), Finish::Exhausted);
    assert!(spent);
    assert_eq!(stats.leased, 0, "active visits are finished");
    assert!((1..PAGES).contains(&stats.totals.pages), "{stats:?}");
    drop(session);
    machine.is_complete();
}

#[tokio::test(start_paused = true)]
async fn a_crawl_whose_patience_for_room_ends_is_saved_and_continues_later() {
    for patience in [0, 600] {
        let machine = Machine::new(256 * KIB, patience);
        let session = machine.session().await;
        machine.leave(600 * KIB);
        let began = Instant::now();
        let (_handle, stop) = crawl::stop();
        let fault = crawl::run(&session.context, LIMITS, stop)
            .await
            .unwrap_err();
        let waited = began.elapsed();
        let message = fault.to_string();
        assert!(matches!(fault, Fault::NoSpace { .. }), "{message}");
        assert!(
            message.contains("state") && message.contains(" are needed"),
            "{message}"
        );
        let patience = Duration::from_secs(patience);
        assert!(
            waited >= patience && waited <= patience + MINUTE,
            "{waited:?}"
        );
        drop(session);
        machine.completes().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_waits_for_room_can_be_interrupted() {
    let machine = Machine::new(256 * KIB, 600);
    let session = machine.session().await;
    machine.leave(0);
    let (handle, stop) = crawl::stop();
    let (ended, ()) = tokio::join!(
        crawl::run(&session.context, LIMITS, stop),
        after(MINUTE, || handle.request())
    );
    assert_eq!(ended.unwrap(), Finish::Interrupted);
    assert_eq!(machine.web.asked(), 0, "no visit began");
    drop(session);
    machine.completes().await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_disk_ends_the_crawl_with_the_file_name_and_settled_pages_are_kept() {
    for failure in [Failure::ReadOnly, Failure::Broken] {
        for (kind, number) in [
            (CallKind::Append, 1),
            (CallKind::Append, 7),
            (CallKind::Append, 60),
            (CallKind::Sync, 1),
        ] {
            let machine = Machine::new(0, 600);
            let session = machine.session().await;
            machine.disk.fail(Plan::from(number, failure).of_kind(kind));
            let (_handle, stop) = crawl::stop();
            let message = crawl::run(&session.context, LIMITS, stop)
                .await
                .unwrap_err()
                .to_string();
            let root = machine.directory.path().display().to_string();
            assert!(
                message.contains(&root),
                "{failure:?} of {kind:?} {number}: {message}"
            );
            drop(session);
            machine.completes().await;
        }
    }
}

/// A time limit of 140 s and an interrupt were overrun at 538 s: the crawl waited for active
/// visits, however long their servers took.
#[tokio::test(start_paused = true)]
async fn time_limit_and_interrupt_hold_although_a_server_never_answers() {
    for (time, finish) in [(Some(MINUTE), Finish::MaxTime), (None, Finish::Interrupted)] {
        let machine = Machine::new(0, 600);
        machine.web.is_silent.store(true, Ordering::Relaxed);
        let session = machine.session().await;
        let (handle, stop) = crawl::stop();
        let began = Instant::now();
        let limits = Limits { time, ..LIMITS };
        let (ended, ()) = tokio::join!(
            crawl::run(&session.context, limits, stop),
            after(MINUTE, || {
                if time.is_none() {
                    handle.request();
                }
            })
        );
        assert_eq!(ended.unwrap(), finish);
        assert_eq!(
            began.elapsed().as_secs(),
            120,
            "a minute, and another to drain"
        );
        drop(session);
        machine.web.is_silent.store(false, Ordering::Relaxed);
        machine.completes().await;
    }
}

/// The loop waited for each save: while a sync of the archive took half a minute, nothing ran.
#[tokio::test(start_paused = true)]
async fn visits_begin_while_the_disk_is_syncing() {
    let machine = Machine {
        sync_takes: Duration::from_secs(30),
        ..Machine::new(0, 600)
    };
    let session = machine.session().await;
    let one_at_a_time = Limits {
        concurrency: 1,
        ..LIMITS
    };
    let (_handle, stop) = crawl::stop();
    // The first save begins after 5 s, and the 40 pages take 16 s.
    let (ended, asked) = tokio::join!(
        crawl::run(&session.context, one_at_a_time, stop),
        after(Duration::from_secs(30), || machine.web.asked())
    );
    assert_eq!(ended.unwrap(), Finish::Exhausted);
    assert_eq!(asked, PAGES + 1, "every page and robots.txt");
    drop(session);
    machine.is_complete();
}

/// The loop slept until a day after the session's start at most: from then on each wait was over at
/// once, and the crawl kept a core busy until a page was ready.
#[tokio::test(start_paused = true)]
async fn a_crawl_sleeps_while_its_only_host_waits_beyond_the_first_day_of_a_session() {
    let machine = Machine::new(0, 600);
    let session = machine.session().await;
    let pace = Pace {
        ready: machine.clock.now() + 30 * 60 * MINUTE,
        ..Pace::default()
    };
    let hosts = session.context.frontier.hosts();
    hosts.record_pace(&url("0").host(), pace).await.unwrap();
    let (_handle, stop) = crawl::stop();
    // The paused clock stands still while a task is busy, so a busy loop never ends.
    let ended = crawl::run(&session.context, LIMITS, stop).await;
    assert_eq!(ended.unwrap(), Finish::Exhausted);
    drop(session);
    machine.is_complete();
}
