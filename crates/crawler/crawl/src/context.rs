//! The context of a crawl: everything that a visit needs.

use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use fetch::{Fetch, MemoryBudget, Pacer, RobotsCache, Stalls};
use policy::{Policy, RuntimeOverrides};
use requests::PacingRules;
use sinks::{ArchiveEnd, CommitPoint, Sink};
use store::{ArchivePlace, Frontier, NearDupIndex};
use tokio::sync::Semaphore;
use web::{Clock, Scope};

use crate::fault::Fault;
use crate::runtime::active_overrides::ActiveOverrides;
use crate::runtime::adaptive_signatures::AdaptiveSignatures;
use crate::runtime::disk_space::DiskSpace;
use crate::runtime::earlier_archives::EarlierArchives;
use crate::runtime::focus::Focus;
use crate::runtime::kept_pages::KeptPages;
use crate::runtime::listing_quota::ListingQuota;
use crate::runtime::renderer::Renderer;
use crate::runtime::repeated_texts::RepeatedTexts;
use crate::runtime::robots_files::RobotsFiles;
use crate::runtime::shortest_ways::ShortestWays;
use crate::runtime::soft_not_found::NotFoundPages;
use crate::runtime::telemetry::Telemetry;

/// The seams, the rules and the state of a crawl; shared by all visits.
pub struct CrawlContext {
    /// The client that makes requests.
    pub fetch: Arc<dyn Fetch>,
    /// The pacer that decides when a host may be asked.
    pub pacer: Arc<Pacer>,
    /// The robots.txt rules of hosts.
    pub robots: RobotsCache,
    /// The renderer that runs scripts; `None` if pages are read as they are received.
    pub renderer: Option<Renderer>,
    /// The pages to visit.
    pub frontier: Arc<dyn Frontier>,
    /// The near-duplicate index of the pages so far.
    pub index: Arc<dyn NearDupIndex>,
    /// The kept pages for the comparison of texts; `None` if signatures alone decide.
    pub kept_pages: Option<KeptPages>,
    /// The archive, and the indexes derived from it.
    pub sink: Arc<dyn Sink>,
    /// The archives of earlier crawls: their pages are fetched only if they were modified.
    pub earlier: Option<Arc<EarlierArchives>>,
    /// The file systems that the crawl writes to.
    pub disk_space: Arc<DiskSpace>,
    /// The scope of the crawl; redirects of seeds widen it.
    pub scope: Arc<RwLock<Scope>>,
    /// The quota of sitemaps and feeds of each host.
    pub listings: ListingQuota,
    /// The shortest ways to pages, for a crawl with a maximum depth.
    pub shortest_ways: ShortestWays,
    /// The robots.txt files that wait to be archived.
    pub robots_files: RobotsFiles,
    /// The pages that hosts send for URLs that do not exist.
    pub not_found_pages: NotFoundPages,
    /// The short texts that recur under the URLs of a host, or on many hosts.
    pub repeated_texts: RepeatedTexts,
    /// The builder of page signatures.
    pub adaptive_signatures: AdaptiveSignatures,
    /// The topic of a focused crawl; `None` if all pages are equally wanted.
    pub focus: Option<Focus>,
    /// The rules of this crawl.
    pub policy: Policy,
    /// The overrides of this policy, which may change while the crawl runs: see
    /// [`CrawlContext::apply`].
    pub overrides: ActiveOverrides,
    /// The counts of this session.
    pub telemetry: Telemetry,
    /// The clock of the crawl.
    pub clock: Clock,
    /// The bound on concurrent computations.
    pub cores: Arc<Semaphore>,
    /// The bound on the memory that servers' answers take.
    pub memory: MemoryBudget,
    /// The count of stalled exchanges, whose slots other visits may take.
    pub stalls: Stalls,
}

impl CrawlContext {
    /// Locks the scope for reading.
    pub(crate) fn scope(&self) -> RwLockReadGuard<'_, Scope> {
        self.scope
            .read()
            .expect("no panic can happen while the scope is locked")
    }

    /// Locks the scope for a change.
    pub(crate) fn scope_mut(&self) -> RwLockWriteGuard<'_, Scope> {
        self.scope
            .write()
            .expect("no panic can happen while the scope is locked")
    }

    /// Runs work of more than half a millisecond off the reactor, at most one task per core at a
    /// time. Returns `None` if it panicked: a document can be that hostile to a library.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.cores).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.ok()
    }

    /// Makes everything that was settled durable.
    ///
    /// # Errors
    /// [`Fault`] if the archive or the journal cannot be synced, or the words that a focused crawl
    /// has counted cannot be written.
    pub async fn save(&self) -> Result<(), Fault> {
        save(&*self.sink, &*self.frontier).await?;
        match &self.focus {
            Some(focus) => focus.save().await.map_err(Fault::Topic),
            None => Ok(()),
        }
    }

    /// Applies these overrides from now on and replaces the previous ones. `settings` are the
    /// pacing rules that hold without overrides.
    pub fn apply(&self, overrides: RuntimeOverrides, settings: &PacingRules) {
        self.pacer
            .change(overrides.pacing(settings), &overrides.host_delays);
        self.scope_mut().exclude_now(overrides.exclude.clone());
        self.overrides.replace(overrides);
    }

    /// Ends the crawl: everything is on the disk, and the archive is closed if all its visits are
    /// settled.
    ///
    /// # Errors
    /// [`Fault`] as for [`Self::save`], or if the archive cannot be closed.
    pub async fn close(&self) -> Result<(), Fault> {
        // A file is closed behind the settlements of its visits.
        self.save().await?;
        self.sink.close().await?;
        self.frontier.close().await?;
        if let Some(kept) = &self.kept_pages
            && let Err(error) = kept.save()
        {
            tracing::warn!(%error, "the next run will not know the kept pages");
        }
        Ok(())
    }
}

/// Makes settled visits durable: the archive first, since the journal refers to it.
pub(crate) async fn save(sink: &dyn Sink, frontier: &dyn Frontier) -> Result<(), Fault> {
    let archive = sink.sync().await?;
    let ArchiveEnd { file, end } = archive.clone();
    let durable = frontier
        .checkpoint(Some(ArchivePlace { file, end }))
        .await?;
    let point = durable.settled.map(|ArchivePlace { file, end }| {
        CommitPoint::new(archive, ArchiveEnd { file, end }, durable.journal)
    });
    sink.set_commit_point(point).await?;
    Ok(())
}
