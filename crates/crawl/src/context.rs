//! Everything that a visit needs.

use std::sync::{Arc, RwLock};

use fetch::{Fetch, MemoryBudget, Pacer, RobotsCache, Stalls};
use sinks::{ArchiveEnd, DigestAlgorithm, Settled, Sink};
use store::{ArchivePlace, Durable, Frontier, NearDupIndex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use web::{CanonicalForm, Clock, MainSelectors, ReadLimits, Relations, Scope, TrapRules};

use crate::{
    AdaptiveSignatures, DiskSpace, DuplicateLinks, EarlierArchives, Fault, IndexedPages,
    ListingRules, Listings, Live, OnDuplicate, Requisites, RobotsFiles, Telemetry,
};

/// The seams, the rules and the measures of a crawl; shared by all visits.
pub struct CrawlContext {
    /// Asks the web.
    pub fetch: Arc<dyn Fetch>,
    /// Says when a host may be asked.
    pub pacer: Arc<Pacer>,
    /// Says what a host may be asked for.
    pub robots: RobotsCache,
    /// The pages to visit.
    pub frontier: Arc<dyn Frontier>,
    /// What the pages so far looked like.
    pub index: Arc<dyn NearDupIndex>,
    /// Where pages go.
    pub sink: Arc<dyn Sink>,
    /// What earlier crawls archived: pages in there are fetched only if they were modified.
    pub earlier: Option<Arc<EarlierArchives>>,
    /// What all of these write to.
    pub room: Arc<DiskSpace>,
    /// What the seeds let in; redirects of seeds widen it.
    pub scope: RwLock<Scope>,
    /// What hosts have listed in sitemaps and feeds.
    pub listings: Listings,
    /// The robots.txt files that are to be archived.
    pub robots_files: RobotsFiles,
    /// What a page looks like.
    pub adaptive_signatures: AdaptiveSignatures,
    /// The rules of this crawl.
    pub policy: Policy,
    /// What may change of them while it runs: see [`CrawlContext::obey`].
    pub live: Live,
    /// Counts what the frontier does not.
    pub telemetry: Telemetry,
    /// The present.
    pub clock: Clock,
    /// Bounds what computes at a time.
    pub cores: Arc<Semaphore>,
    /// Bounds what is held in memory of what servers send.
    pub memory: MemoryBudget,
    /// Counts the exchanges that do not move, whose slots others may take.
    pub stalls: Stalls,
}

/// The rules of a crawl.
#[derive(Clone, Debug)]
pub struct Policy {
    /// What becomes of a page that repeats an earlier one.
    pub on_duplicate: OnDuplicate,
    /// The fate of its links.
    pub duplicate_links: DuplicateLinks,
    /// Links away from a seed, at most.
    pub max_depth: Option<u32>,
    /// Which pictures, styles, scripts and films of a page are fetched with it.
    pub page_requisites: Requisites,
    /// Visits of a page that fails in a way that may pass, at most.
    pub tries: u32,
    /// Redirects in a row that are followed.
    pub redirects: usize,
    /// Whether robots.txt, meta robots and X-Robots-Tag count for nothing.
    pub ignore_robots: bool,
    /// Links of these relations are not followed.
    pub skip_relations: Relations,
    /// Whether a page is judged by its main content; by all its text otherwise.
    pub main_content: bool,
    /// Selectors of the main content of pages, `CSS` or `HOST=CSS`; of several the first that finds
    /// something.
    pub main_selectors: MainSelectors,
    /// The name that robots rules may call us by.
    pub agent: String,
    /// Bytes of a body that are read, once its coding is off.
    pub max_decoded: u64,
    /// Which pages a search index gets; none where there is no index.
    pub index: Option<IndexedPages>,
    /// The digest of a payload that the archive writes.
    pub digest: DigestAlgorithm,
    /// Whether the archive tells where each page leads.
    pub outlinks: bool,
    /// How much of a document is read.
    pub read: ReadLimits,
    /// What is asked of sitemaps and feeds.
    pub listings: ListingRules,
    /// Which query parameters say nothing.
    pub canonical: CanonicalForm,
    /// Which links are taken for traps, and left out; none where traps are of no concern.
    pub traps: Option<TrapRules>,
}

impl CrawlContext {
    /// Runs work of more than half a millisecond off the reactor, as many at a time as there are
    /// cores. `None` where it panicked: a document can be that hostile to a library.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = permit(&self.cores).await;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.ok()
    }

    /// Makes everything that was settled durable: the archive first, since the journal speaks of
    /// it.
    pub async fn save(&self) -> Result<(), Fault> {
        let archive = self.sink.sync().await?;
        let durable = self
            .frontier
            .checkpoint(Some(place(archive.clone())))
            .await?;
        self.sink.settled(settled(archive, durable)).await?;
        Ok(())
    }

    /// Ends the crawl: everything is on the disk, and the archive is closed if all its visits are
    /// settled.
    pub async fn close(&self) -> Result<(), Fault> {
        // A file is closed behind the settlements of its visits.
        self.save().await?;
        self.sink.close().await?;
        self.frontier.close().await?;
        Ok(())
    }
}

async fn permit(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let permit = Arc::clone(semaphore).acquire_owned().await;
    permit.expect("the semaphore is never closed")
}

/// Returns what is settled of an archive that is on the disk up to `archive`.
pub(crate) fn settled(archive: ArchiveEnd, durable: Durable) -> Option<Settled> {
    let ArchivePlace { file, end } = durable.settled?;
    Some(Settled::new(
        archive,
        ArchiveEnd { file, end },
        durable.journal,
    ))
}

/// The archive's end as the frontier knows it: the two crates do not know each other.
fn place(end: ArchiveEnd) -> ArchivePlace {
    ArchivePlace {
        file: end.file,
        end: end.end,
    }
}
