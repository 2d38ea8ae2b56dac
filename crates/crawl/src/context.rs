//! Everything that a visit needs.

use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use fetch::{Fetch, MemoryBudget, Pacer, PacingRules, RobotsCache, Stalls};
use sinks::{ArchiveEnd, Settled, Sink};
use store::{ArchivePlace, Durable, Frontier, NearDupIndex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use web::{Clock, Scope};

use crate::fault::Fault;
use crate::policy::Policy;
use crate::runtime::adaptive_signatures::AdaptiveSignatures;
use crate::runtime::disk_space::DiskSpace;
use crate::runtime::runtime_overrides::{ActiveOverrides, RuntimeOverrides};
use crate::runtime::telemetry::Telemetry;
use crate::steps::earlier_archives::EarlierArchives;
use crate::steps::listings::quota::ListingQuota;
use crate::steps::robots_files::RobotsFiles;

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
    pub disk_space: Arc<DiskSpace>,
    /// What the seeds let in; redirects of seeds widen it.
    pub scope: RwLock<Scope>,
    /// What hosts have listed in sitemaps and feeds.
    pub listings: ListingQuota,
    /// The robots.txt files that are to be archived.
    pub robots_files: RobotsFiles,
    /// What a page looks like.
    pub adaptive_signatures: AdaptiveSignatures,
    /// The rules of this crawl.
    pub policy: Policy,
    /// What may change of them while it runs: see [`CrawlContext::obey`].
    pub overrides: ActiveOverrides,
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

    /// Applies these overrides from now on, in place of those in force. `settings` are the pacing
    /// rules that hold without overrides.
    pub fn apply(&self, overrides: RuntimeOverrides, settings: &PacingRules) {
        self.pacer
            .change(overrides.pacing(settings), &overrides.host_delays);
        self.scope_mut().exclude_now(overrides.exclude.clone());
        self.overrides.replace(overrides);
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
