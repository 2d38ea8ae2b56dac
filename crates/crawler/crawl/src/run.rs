//! The loop that runs many visits at a time.
//!
//! A visit takes a slot before its lease: as many visits are active as there are slots, and no
//! lease waits for a slot. Reaching a limit ends the leasing; active visits are finished, unless
//! the user asks twice. Leasing pauses while the disk is full, and while an override demands a
//! pause ([`RuntimeOverrides`]).
//!
//! [`RuntimeOverrides`]: policy::RuntimeOverrides

use std::sync::Arc;
use std::time::Duration;

use journal::StoreFault;
use store::{Lease, LeaseFilter, Supply};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use web::Timestamp;

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::page::{Outcome, visit};
use crate::runtime::disk_space::{CHECK_EVERY, DiskSpaceMonitor};
use crate::runtime::saves::{Saves, every};
use crate::steps::reading::Kind;

/// The limits of a crawl.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Visits at a time, at least 1.
    pub concurrency: usize,
    /// Pages fetched and judged, over all sessions; never exceeded. Page requisites do not count,
    /// and are fetched even after the last page.
    pub pages: Option<u64>,
    /// Payload bytes received, over all sessions; active visits may exceed it.
    pub bytes: Option<u64>,
    /// Minimum share of pages on topic among the last [`RECENT_PAGES`] of this session, in a
    /// crawl with a topic.
    ///
    /// [`RECENT_PAGES`]: crate::RECENT_PAGES
    pub harvest: Option<f64>,
    /// The time during which this session leases.
    pub time: Option<Duration>,
    /// The time that active visits get once the crawl stops. Then they are dropped, and their pages
    /// wait for the next session.
    pub drain: Duration,
}

/// Extra slots for each slot of [`Limits::concurrency`], available to stalled visits: a host that
/// never answers does not hold up others, and the number of such visits stays bounded.
const STALLED_BESIDE: usize = 3;

/// The reason why a crawl ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// No URL is left to visit.
    Exhausted,
    /// [`Limits::pages`] was reached.
    MaxPages,
    /// [`Limits::bytes`] was reached.
    MaxSize,
    /// [`Limits::time`] was reached.
    MaxTime,
    /// The last pages brought less than [`Limits::harvest`].
    MinHarvest,
    /// The user asked for it.
    Interrupted,
}

impl Finish {
    /// Returns the word in the summary.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::MaxPages => "max-pages",
            Self::MaxSize => "max-size",
            Self::MaxTime => "max-time",
            Self::MinHarvest => "min-harvest",
            Self::Interrupted => "interrupted",
        }
    }
}

/// The sender of requests to stop a crawl.
#[derive(Debug)]
pub struct StopHandle(watch::Sender<u8>);

/// The receiver of requests to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<u8>);

/// Returns a connected pair to stop a crawl.
#[must_use]
pub fn stop() -> (StopHandle, Stop) {
    let (sender, receiver) = watch::channel(0);
    (StopHandle(sender), Stop(receiver))
}

impl StopHandle {
    /// Requests the crawl to stop. After the first call active visits are finished; after the
    /// second they are dropped.
    pub fn request(&self) {
        self.0
            .send_modify(|requests| *requests = requests.saturating_add(1));
    }
}

impl Stop {
    /// Returns true if a stop was requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Waits until a stop is requested.
    pub async fn requested(&mut self) {
        self.requested_times(1).await;
    }

    pub(crate) async fn requested_times(&mut self, times: u8) {
        if self
            .0
            .wait_for(|requests| *requests >= times)
            .await
            .is_err()
        {
            // No sender is left.
            std::future::pending::<()>().await;
        }
    }
}

/// Visits pages until the frontier is exhausted, a limit is reached or a stop is requested. Settled
/// visits are durable afterwards and the archive is closed, even if the disk was full for too long
/// ([`Fault::NoSpace`]).
///
/// # Errors
/// [`Fault`] if our own machinery fails, or the disk stays full for too long.
pub async fn run(context: &Arc<CrawlContext>, limits: Limits, stop: Stop) -> Result<Finish, Fault> {
    let totals = context.frontier.stats().totals;
    let mut visits = ActiveVisits {
        in_flight: JoinSet::new(),
        requisites: 0,
        pages: totals.pages,
    };
    let mut saves = Saves::from(totals.bytes);
    let ended = run_and_close(context, limits, stop, &mut visits, &mut saves).await;
    // After a fault no visit and no save continues behind the caller's back.
    visits.in_flight.shutdown().await;
    let saved = saves.finish().await;
    ended.and_then(|finish| saved.map(|()| finish))
}

async fn run_and_close(
    context: &Arc<CrawlContext>,
    limits: Limits,
    mut stop: Stop,
    visits: &mut ActiveVisits,
    saves: &mut Saves,
) -> Result<Finish, Fault> {
    let mut monitor = DiskSpaceMonitor::new(&context.disk_space);
    let leasing = lease_until_done(context, limits, stop.clone(), visits, saves, &mut monitor);
    let mut ended = leasing.await;
    if !matches!(ended, Ok(_) | Err(Fault::NoSpace { .. })) {
        return ended;
    }
    let is_urgent = matches!(ended, Ok(Finish::Interrupted | Finish::MaxTime));
    tokio::select! {
        drained = visits.drain() => drained?,
        () = tokio::time::sleep(limits.drain), if is_urgent => {
            let visits_dropped = visits.in_flight.len();
            tracing::info!(
                visits_dropped,
                "these visits did not end in time: their pages stay queued for the next run"
            );
            visits.in_flight.shutdown().await;
        }
        () = stop.requested_times(2) => {
            visits.in_flight.shutdown().await;
            ended = Ok(Finish::Interrupted);
        }
    }
    saves.finish().await?;
    // Closed even after a second request, or the next session would blame the active pages for a
    // crash.
    context.close().await?;
    monitor.release().await?;
    ended
}

async fn lease_until_done(
    context: &Arc<CrawlContext>,
    limits: Limits,
    mut stop: Stop,
    visits: &mut ActiveVisits,
    saves: &mut Saves,
    monitor: &mut DiskSpaceMonitor,
) -> Result<Finish, Fault> {
    let started = Instant::now();
    let mut check = every(CHECK_EVERY);
    let mut changes = context.overrides.changes();
    let mut stalls = context.stalls.changes();
    monitor.check().await?;
    loop {
        if let Some(finish) = limits.reached(context, started.elapsed()) {
            return Ok(finish);
        }
        if monitor.is_reserve_spent() {
            monitor.check().await?;
        }
        if monitor.must_save(visits.in_flight.len()) {
            saves.finish().await?;
            context.save().await?;
        }
        let overrides = context.overrides.current();
        let limits = Limits {
            concurrency: overrides.concurrency.unwrap_or(limits.concurrency),
            ..limits
        };
        let may_begin = !(monitor.pauses() || overrides.pause || saves.are_behind(context));
        let supply = lease(context, limits, visits, may_begin).await?;
        let wake = match supply {
            Supply::Exhausted if limits.has_pages(context, visits) => return Ok(Finish::MaxPages),
            // The end of a settled visit may not have been received yet.
            Supply::Exhausted if limits.pages_left(visits) == 0 => Timestamp::NEVER,
            Supply::Exhausted => return Ok(Finish::Exhausted),
            Supply::NothingBefore(time) => time,
            Supply::Leases(leases) => {
                for lease in leases {
                    visits.begin(context, lease);
                }
                continue;
            }
        };
        let until = |time: Timestamp| Instant::now() + time.since(context.clock.now()).min(DAY);
        tokio::select! {
            biased;
            () = stop.requested_times(1) => return Ok(Finish::Interrupted),
            Some(ended) = visits.in_flight.join_next() => {
                visits.ended(ended)?;
                saves.begin_if_due(context);
            }
            saved = saves.next(context) => saved?,
            () = tokio::time::sleep_until(until(wake)) => {}
            () = out_of_time(limits.time, started) => {}
            Ok(()) = changes.changed() => {}
            () = context.frontier.changed() => {}
            Ok(()) = stalls.changed() => {}
            _ = check.tick() => monitor.check().await?,
        }
    }
}

/// Leases as many pages as may begin now, or requisites if no page may.
async fn lease(
    context: &CrawlContext,
    limits: Limits,
    visits: &ActiveVisits,
    may_begin: bool,
) -> Result<Supply, StoreFault> {
    let now = context.clock.now();
    let free = limits.free_slots(visits, context.stalls.count());
    if !may_begin || free == 0 {
        return Ok(Supply::NothingBefore(Timestamp::NEVER));
    }
    let (most, filter) = match free.min(limits.pages_left(visits)) {
        0 => (free, LeaseFilter::Requisites),
        pages => (pages, LeaseFilter::All),
    };
    context.frontier.lease(now, most, filter).await
}

/// The longest wait for an event.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

/// Waits until the time limit has passed since `started`.
pub(crate) async fn out_of_time(limit: Option<Duration>, started: Instant) {
    match limit {
        Some(limit) => tokio::time::sleep_until(started + limit).await,
        None => std::future::pending().await,
    }
}

/// The active visits.
struct ActiveVisits {
    in_flight: JoinSet<(Kind, Result<Outcome, Fault>)>,
    /// The active visits to requisites.
    requisites: usize,
    /// The pages judged so far.
    pages: u64,
}

impl ActiveVisits {
    fn begin(&mut self, context: &Arc<CrawlContext>, lease: Lease) {
        let (context, kind) = (Arc::clone(context), Kind::of(lease.discovered()));
        self.requisites += usize::from(kind == Kind::Requisite);
        self.in_flight
            .spawn(async move { (kind, visit(&context, lease).await) });
    }

    fn ended(
        &mut self,
        ended: Result<(Kind, Result<Outcome, Fault>), JoinError>,
    ) -> Result<(), Fault> {
        let (kind, outcome) = ended.map_err(Fault::Panicked)?;
        let had_page = matches!(outcome?, Outcome::Ended(fate) if fate.is_page());
        match kind {
            Kind::Seed | Kind::Page | Kind::Sitemap => self.pages += u64::from(had_page),
            Kind::Requisite => self.requisites -= 1,
        }
        Ok(())
    }

    /// Returns the number of active visits that may turn out to be pages.
    fn may_be_pages(&self) -> u64 {
        (self.in_flight.len() - self.requisites) as u64
    }

    async fn drain(&mut self) -> Result<(), Fault> {
        while let Some(ended) = self.in_flight.join_next().await {
            self.ended(ended)?;
        }
        Ok(())
    }
}

impl Limits {
    fn reached(&self, context: &CrawlContext, elapsed: Duration) -> Option<Finish> {
        if self.time.is_some_and(|max| elapsed >= max) {
            return Some(Finish::MaxTime);
        }
        let harvest = || context.focus.as_ref()?.recent_harvest();
        if let Some(least) = self.harvest
            && harvest().is_some_and(|share| share < least)
        {
            return Some(Finish::MinHarvest);
        }
        let too_large = |max| context.frontier.stats().totals.bytes >= max;
        self.bytes.is_some_and(too_large).then_some(Finish::MaxSize)
    }

    /// True if the page limit is reached, by this process or by all nodes of a shared crawl.
    fn has_pages(&self, context: &CrawlContext, visits: &ActiveVisits) -> bool {
        self.pages
            .is_some_and(|max| visits.pages >= max || context.frontier.stats().totals.pages >= max)
    }

    /// Returns the number of visits that may begin now, if `stalled` exchanges of the active ones
    /// are stalled.
    fn free_slots(&self, visits: &ActiveVisits, stalled: usize) -> usize {
        let concurrency = self.concurrency.max(1);
        let beside = stalled.min(concurrency.saturating_mul(STALLED_BESIDE));
        (concurrency + beside).saturating_sub(visits.in_flight.len())
    }

    /// Returns the number of page visits that may begin: each may turn out to be a page, so every
    /// active one counts against the limit.
    fn pages_left(&self, visits: &ActiveVisits) -> usize {
        let left = self.pages.map_or(u64::MAX, |max| {
            max.saturating_sub(visits.pages + visits.may_be_pages())
        });
        usize::try_from(left).unwrap_or(usize::MAX)
    }
}
