//! Everything that a visit needs.

use std::sync::{Arc, RwLock};

use fetch::{Fetch, Pacer, RobotsCache};
use sinks::Sink;
use store::{Frontier, NearDupIndex};
use tokio::sync::Semaphore;
use web::{CanonicalForm, Clock, ReadLimits, Scope};

use crate::{Fault, OnDuplicate, Studio, Telemetry};

/// The seams, the rules and the measures of a crawl; shared by all visits.
pub struct Crew {
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
    /// What the seeds let in; redirects of seeds widen it.
    pub scope: RwLock<Scope>,
    /// What a page looks like.
    pub studio: Studio,
    /// The rules of this crawl.
    pub policy: Policy,
    /// Counts what the frontier does not.
    pub telemetry: Telemetry,
    /// The present.
    pub clock: Clock,
    /// Bounds what computes at a time.
    pub cores: Arc<Semaphore>,
}

/// The rules of a crawl.
#[derive(Clone, Debug)]
pub struct Policy {
    /// What becomes of a page that repeats an earlier one.
    pub on_duplicate: OnDuplicate,
    /// Links away from a seed, at most.
    pub max_depth: Option<u32>,
    /// Visits of a page that fails in a way that may pass, at most.
    pub tries: u32,
    /// Redirects in a row that are followed.
    pub redirects: usize,
    /// Whether robots.txt, meta robots, X-Robots-Tag and rel=nofollow count for nothing.
    pub ignore_robots: bool,
    /// Whether a page is judged by its main content; by all its text otherwise.
    pub main_content: bool,
    /// The name that robots rules may call us by.
    pub agent: String,
    /// Bytes of a body that are read, once its coding is off.
    pub max_decoded: u64,
    /// How much of a document is read.
    pub read: ReadLimits,
    /// Which query parameters say nothing.
    pub canonical: CanonicalForm,
}

impl Crew {
    /// Runs work of more than half a millisecond off the reactor, as many at a time as there are cores. `None` where it panicked:
    /// a document can be that hostile to a library.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.cores)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.ok()
    }

    /// Makes everything that was settled durable: the archive first, since the journal speaks of it.
    pub async fn save(&self) -> Result<(), Fault> {
        self.sink.sync().await?;
        self.frontier.checkpoint().await?;
        Ok(())
    }

    /// Ends the crawl: everything is on the disk, and the archive is closed.
    pub async fn close(&self) -> Result<(), Fault> {
        self.sink.close().await?;
        self.frontier.checkpoint().await?;
        Ok(())
    }
}
