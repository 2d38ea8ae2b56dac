//! The crawl itself over the hosts' directories, in virtual time.
//!
//! `crawl::run` runs with the embedded store, the pacer and the life of a page; only [`Fetch`]
//! and [`Sink`] are of the evaluation. The clock is that of a paused runtime, which advances when
//! every task waits: an hour of a crawl takes as long as its computations, and waits are exact.

use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use crawl::{
    ActiveOverrides, AdaptiveSignatures, CrawlContext, DiskSpace, DiskSpaceRules, Focus, Limits,
    ListingQuota, NotFoundPages, RepeatedTexts, RobotsFiles, ShortestWays, Telemetry,
};
use disk::{Disk, SystemDisk};
use fetch::{Fetch, FetchFailure, Pacer, RobotsCache};
use http::{HeaderMap, HeaderValue};
use journal::DiscoveredUrl;
use neardup::{Features, HashKey, SignatureBuilder};
use policy::{LearnedWords, OffTopic, Policy};
use reading::ReadingRules;
use requests::PacingRules;
use sinks::{ArchiveEnd, Archived, CommitPoint, Sink, SinkFault, Visit};
use store::{ComparisonOptions, EmbeddedStore, Frontier, FrontierRules, StoreOptions};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use topic::Topic;
use web::{
    Clock, Exchange, PageUrl, Protocol, ReadLimits, Scope, ScopeKind, Timestamp, Validators,
};

use super::hosts::Hosts;
use super::simulator::SimulatedVisit;

/// The time in which a server answers.
const ANSWER: Duration = Duration::from_millis(100);
/// The rest of a host between two requests.
const DELAY: Duration = Duration::from_secs(1);
/// The start of each crawl: 2026-01-01.
const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);
const AGENT: &str = "crawler";
const NO_ROOM_NEEDED: DiskSpaceRules = DiskSpaceRules {
    least: 0,
    patience: Duration::ZERO,
};

/// The pages of the hosts, as servers.
struct Directories {
    hosts: Arc<Hosts>,
    clock: Clock,
}

#[async_trait]
impl Fetch for Directories {
    async fn request(&self, url: &PageUrl, _known: &Validators) -> Result<Exchange, FetchFailure> {
        let started = self.clock.now();
        tokio::time::sleep(ANSWER).await;
        let page = self.hosts.of_url(url);
        let body = page.and_then(|page| self.hosts.pages[page as usize].read().ok());
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("text/html"));
        Ok(Exchange {
            url: url.clone(),
            request_head: format!("GET {url} HTTP/1.1\r\n\r\n").into_bytes(),
            status: if body.is_some() { 200 } else { 404 },
            headers,
            body: body.unwrap_or_default().into(),
            truncated: None,
            warnings: Vec::new(),
            address: None,
            protocol: Protocol::Http11,
            started,
            elapsed: ANSWER,
        })
    }
}

/// An archive that keeps the order of visits of manuals and nothing else.
struct VisitOrder {
    hosts: Arc<Hosts>,
    clock: Clock,
    state: Mutex<(u64, Vec<SimulatedVisit>)>,
}

impl VisitOrder {
    fn end(&self) -> ArchiveEnd {
        let state = self
            .state
            .lock()
            .expect("no panic happens while it is locked");
        ArchiveEnd {
            file: "order".to_owned(),
            end: state.0,
        }
    }
}

#[async_trait]
impl Sink for VisitOrder {
    async fn write(&self, visit: Visit) -> Result<Archived, SinkFault> {
        let mut state = self
            .state
            .lock()
            .expect("no panic happens while it is locked");
        let archive_sequence = state.0;
        state.0 += 1;
        let is_page = visit
            .exchanges
            .last()
            .is_some_and(|last| last.status == 200);
        let page = self.hosts.of_url(&visit.url);
        if let Some(page) = page.filter(|page| is_page && !self.hosts.is_hub(*page)) {
            let at = self.clock.now().since(START).as_millis() as u64;
            state.1.push(SimulatedVisit { at, page });
        }
        Ok(Archived {
            archive_sequence,
            file: "order".to_owned(),
            offset: archive_sequence,
            end: archive_sequence + 1,
            page_offset: archive_sequence,
            dom_offset: None,
            subrequest_offsets: Vec::new(),
            captures: Vec::new(),
        })
    }

    async fn sync(&self) -> Result<ArchiveEnd, SinkFault> {
        Ok(self.end())
    }

    async fn set_commit_point(&self, _point: Option<CommitPoint>) -> Result<(), SinkFault> {
        Ok(())
    }

    async fn close(&self) -> Result<ArchiveEnd, SinkFault> {
        Ok(self.end())
    }
}

/// A crawl of the hosts.
pub(crate) struct EngineCrawl<'a> {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) seeds: &'a [u32],
    /// The topic; none for a crawl in the order of depths.
    pub(crate) topic: Option<&'a Topic>,
    /// The time for which a slot may stay empty rather than take a page with a low score.
    pub(crate) anticipation: Duration,
    /// The number of visits after which it ends.
    pub(crate) most: u64,
}

impl EngineCrawl<'_> {
    /// Returns the visited pages, in the order of the archive.
    pub(crate) fn visits(&self) -> Result<Vec<SimulatedVisit>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map_err(|why| why.to_string())?;
        let state = tempfile::tempdir().map_err(|why| why.to_string())?;
        runtime.block_on(run(self, state.path()))
    }
}

/// Crawls with the state of the crawl in a directory.
async fn run(crawl: &EngineCrawl<'_>, state: &Path) -> Result<Vec<SimulatedVisit>, String> {
    let (hosts, topic) = (&crawl.hosts, crawl.topic);
    let begun = Instant::now();
    let clock = Clock::new(move || START + begun.elapsed());
    let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
    let store = EmbeddedStore::open(state, &store_options(&clock, &disk, crawl));
    let store = Arc::new(store.map_err(|why| why.to_string())?);
    let mut scope = Scope::new(ScopeKind::Any, &[], &[]).map_err(|why| why.to_string())?;
    let mut found = Vec::new();
    for seed in crawl.seeds {
        let url = hosts.url(*seed);
        scope.add_seed(&url);
        found.push(DiscoveredUrl::new(url, 0, None));
    }
    store.discover(found).await.map_err(|why| why.to_string())?;
    let fetch: Arc<dyn Fetch> = Arc::new(Directories {
        hosts: Arc::clone(hosts),
        clock: clock.clone(),
    });
    let order = Arc::new(VisitOrder {
        hosts: Arc::clone(hosts),
        clock: clock.clone(),
        state: Mutex::default(),
    });
    let pacing = PacingRules {
        delay: DELAY,
        ..PacingRules::default()
    };
    let pacer = Arc::new(Pacer::new(pacing, clock.clone()));
    let agent = AGENT.to_owned();
    let key = store.key();
    let context = Arc::new(CrawlContext {
        fetch: Arc::clone(&fetch),
        pacer: Arc::clone(&pacer),
        robots: RobotsCache::new(fetch, pacer, agent, clock.clone(), 100),
        renderer: None,
        frontier: store.clone(),
        index: store,
        kept_pages: None,
        sink: order.clone(),
        earlier: None,
        disk_space: Arc::new(DiskSpace::new(disk, None, Vec::new(), NO_ROOM_NEEDED)),
        scope: Arc::new(RwLock::new(scope)),
        listings: ListingQuota::default(),
        robots_files: RobotsFiles::default(),
        not_found_pages: NotFoundPages::default(),
        repeated_texts: RepeatedTexts::default(),
        adaptive_signatures: AdaptiveSignatures::new(SignatureBuilder::new(
            Features::default(),
            key,
        )),
        overrides: ActiveOverrides::default(),
        policy: policy(topic.is_some()),
        focus: topic.map(|topic| Focus::new(topic, OffTopic::Drop, LearnedWords::default())),
        telemetry: Telemetry::default(),
        shortest_ways: ShortestWays::default(),
        clock,
        cores: Arc::new(Semaphore::new(2)),
        memory: fetch::MemoryBudget::default(),
        stalls: fetch::Stalls::default(),
    });
    let limits = Limits {
        concurrency: 64,
        pages: Some(crawl.most),
        bytes: None,
        time: None,
        harvest: None,
        drain: Duration::from_secs(60),
    };
    let (_handle, stop) = crawl::stop();
    let ended = crawl::run(&context, limits, stop).await;
    ended.map_err(|why| why.to_string())?;
    let mut state = order
        .state
        .lock()
        .expect("no panic happens while it is locked");
    Ok(std::mem::take(&mut state.1))
}

fn store_options(clock: &Clock, disk: &Arc<dyn Disk>, crawl: &EngineCrawl<'_>) -> StoreOptions {
    StoreOptions {
        rules: FrontierRules {
            min_wait: DELAY,
            best_first: crawl.topic.is_some(),
            anticipation: crawl.anticipation,
            ..FrontierRules::default()
        },
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now: clock.now(),
        disk: Arc::clone(disk),
    }
}

/// Returns the rules of a crawl by default.
fn policy(is_focused: bool) -> Policy {
    Policy {
        duplicate_links: policy::DuplicateLinks::Probe,
        tries: 3,
        redirects: 5,
        traps: Some(web::TrapRules::at(START)),
        ..Policy::new(ReadingRules {
            agent: AGENT.to_owned(),
            max_decoded: 64 << 20,
            limits: ReadLimits {
                link_context: is_focused,
                ..ReadLimits::default()
            },
            ..ReadingRules::default()
        })
    }
}
