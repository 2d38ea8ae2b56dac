//! The loop that lives many pages at a time.
//!
//! A slot first, then a lease: as many visits are under way as there are slots, and no lease waits
//! for one. What ends the crawl ends the leasing; visits under way are finished, unless the user
//! asks twice. While the disk is full, leasing pauses; so it does while somebody orders that
//! ([`crate::RuntimeOverrides`]).

use std::sync::Arc;
use std::time::Duration;

use store::{Lease, LeaseFilter, Supply};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use web::Timestamp;

use crate::disk_space::{LOOK_EVERY, Watch};
use crate::reading::Kind;
use crate::{CrawlContext, Fault, Outcome, visit};

/// How often what was settled is made durable.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// Payload bytes after which it is made durable without waiting for that: they bound what is read
/// again after a crash.
const SAVE_EVERY_BYTES: u64 = 64 << 20;

/// What bounds a crawl.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Pages under way at a time, at least 1.
    pub concurrency: usize,
    /// Pages fetched and judged, over all sessions; never exceeded. What they need is fetched
    /// beside that, also when they were enough.
    pub pages: Option<u64>,
    /// Payload bytes received, over all sessions; what is under way when it is reached comes on
    /// top.
    pub bytes: Option<u64>,
    /// How long this session leases.
    pub time: Option<Duration>,
    /// The time that running visits get once the crawl is to stop; then they are dropped, and their
    /// pages wait for the next session.
    pub drain: Duration,
}

/// Slots beside [`Limits::concurrency`], for each of it, that visits without any movement may take:
/// a host that answers to nobody holds up no other, and a crowd of them is bounded all the same.
const STALLED_BESIDE: usize = 3;

/// Why a crawl ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Nothing is left to visit.
    Exhausted,
    /// [`Limits::pages`] was reached.
    MaxPages,
    /// [`Limits::bytes`] was reached.
    MaxSize,
    /// [`Limits::time`] was reached.
    MaxTime,
    /// The user asked for it.
    Interrupted,
}

impl Finish {
    /// The word in the summary.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::MaxPages => "max-pages",
            Self::MaxSize => "max-size",
            Self::MaxTime => "max-time",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Asks a crawl to stop.
#[derive(Debug)]
pub struct StopHandle(watch::Sender<u8>);

/// Hears that the crawl is to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<u8>);

/// A way to stop a crawl.
#[must_use]
pub fn stop() -> (StopHandle, Stop) {
    let (sender, receiver) = watch::channel(0);
    (StopHandle(sender), Stop(receiver))
}

impl StopHandle {
    /// Once: visits under way are finished. Twice: they are dropped.
    pub fn ask(&self) {
        self.0.send_modify(|asked| *asked = asked.saturating_add(1));
    }
}

impl Stop {
    async fn asked(&mut self, times: u8) {
        if self.0.wait_for(|asked| *asked >= times).await.is_err() {
            // Nobody is left who could ask.
            std::future::pending::<()>().await;
        }
    }
}

/// Visits pages until nothing is left, a limit is reached or somebody asks to stop. What was
/// settled is durable afterwards, and the archive is closed; so it is where the disk was full for
/// too long ([`Fault::NoRoom`]).
pub async fn run(context: &Arc<CrawlContext>, limits: Limits, stop: Stop) -> Result<Finish, Fault> {
    let mut visits = Visits {
        under_way: JoinSet::new(),
        requisites: 0,
        pages: context.frontier.standing().totals.pages,
    };
    let ended = run_and_close(context, limits, stop, &mut visits).await;
    // After a fault nothing goes on behind the caller's back.
    visits.under_way.shutdown().await;
    ended
}

async fn run_and_close(
    context: &Arc<CrawlContext>,
    limits: Limits,
    mut stop: Stop,
    visits: &mut Visits,
) -> Result<Finish, Fault> {
    let mut watch = Watch::new(&context.room);
    let mut ended = lease_until_done(context, limits, stop.clone(), visits, &mut watch).await;
    if !matches!(ended, Ok(_) | Err(Fault::NoRoom { .. })) {
        return ended;
    }
    let is_urgent = matches!(ended, Ok(Finish::Interrupted | Finish::MaxTime));
    tokio::select! {
        drained = visits.drain() => drained?,
        () = tokio::time::sleep(limits.drain), if is_urgent => {
            let visits_dropped = visits.under_way.len();
            tracing::info!(visits_dropped, "these visits did not end in time: their pages wait for the next session");
            visits.under_way.shutdown().await;
        }
        () = stop.asked(2) => {
            visits.under_way.shutdown().await;
            ended = Ok(Finish::Interrupted);
        }
    }
    // In order even for the impatient, or the next session would take the pages under way for the
    // cause of a death.
    context.close().await?;
    watch.release().await?;
    ended
}

async fn lease_until_done(
    context: &Arc<CrawlContext>,
    limits: Limits,
    mut stop: Stop,
    visits: &mut Visits,
    watch: &mut Watch,
) -> Result<Finish, Fault> {
    let started = Instant::now();
    let mut save = every(SAVE_EVERY);
    let mut look = every(LOOK_EVERY);
    let mut orders = context.live.listen();
    let mut stalls = context.stalls.changes();
    watch.look().await?;
    let received = || context.frontier.standing().totals.bytes;
    let mut saved = received();
    loop {
        if let Some(finish) = limits.reached(context, started.elapsed()) {
            return Ok(finish);
        }
        if watch.is_alarmed() {
            watch.look().await?;
        }
        if watch.is_to_be_saved(visits.under_way.len()) {
            context.save().await?;
        }
        let ordered = context.live.orders();
        let limits = Limits {
            concurrency: ordered.concurrency.unwrap_or(limits.concurrency),
            ..limits
        };
        let (free, now) = (
            limits.free_slots(visits, context.stalls.count()),
            context.clock.now(),
        );
        let supply = match free.min(limits.pages_left(visits)) {
            _ if watch.pauses() || ordered.pause => Supply::NothingBefore(Timestamp::NEVER),
            _ if free == 0 => Supply::NothingBefore(Timestamp::NEVER),
            0 => {
                context
                    .frontier
                    .lease(now, free, LeaseFilter::Requisites)
                    .await?
            }
            pages => context.frontier.lease(now, pages, LeaseFilter::All).await?,
        };
        let wake = match supply {
            Supply::Exhausted if limits.has_pages(visits) => return Ok(Finish::MaxPages),
            // A visit that was settled may not have been heard of.
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
        let until = |time: Timestamp| {
            started
                + time
                    .since(context.clock.now())
                    .saturating_add(started.elapsed())
                    .min(DAY)
        };
        tokio::select! {
            biased;
            () = stop.asked(1) => return Ok(Finish::Interrupted),
            Some(ended) = visits.under_way.join_next() => {
                visits.ended(ended)?;
                if received().saturating_sub(saved) >= SAVE_EVERY_BYTES {
                    saved = received();
                    save.reset();
                    context.save().await?;
                }
            }
            () = tokio::time::sleep_until(until(wake)) => {}
            () = out_of_time(limits.time, started) => {}
            Ok(()) = orders.changed() => {}
            Ok(()) = stalls.changed() => {}
            _ = look.tick() => watch.look().await?,
            _ = save.tick() => {
                saved = received();
                context.save().await?;
            }
        }
    }
}

fn every(period: Duration) -> Interval {
    let mut ticks = tokio::time::interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Nothing waits longer without a look around.
const DAY: Duration = Duration::from_secs(24 * 3600);

async fn out_of_time(limit: Option<Duration>, started: Instant) {
    match limit {
        Some(limit) => tokio::time::sleep_until(started + limit).await,
        None => std::future::pending().await,
    }
}

/// The visits under way.
struct Visits {
    under_way: JoinSet<(Kind, Result<Outcome, Fault>)>,
    /// Those among them that are of no page, but of what one needs.
    requisites: usize,
    /// Pages that were judged so far.
    pages: u64,
}

impl Visits {
    fn begin(&mut self, context: &Arc<CrawlContext>, lease: Lease) {
        let (context, kind) = (Arc::clone(context), Kind::of(lease.discovered().requisite));
        self.requisites += usize::from(kind == Kind::Requisite);
        self.under_way
            .spawn(async move { (kind, visit(&context, lease).await) });
    }

    fn ended(
        &mut self,
        ended: Result<(Kind, Result<Outcome, Fault>), JoinError>,
    ) -> Result<(), Fault> {
        let (kind, outcome) = ended.map_err(Fault::Panicked)?;
        let had_page = matches!(outcome?, Outcome::Ended(fate) if fate.is_page());
        match kind {
            Kind::Page => self.pages += u64::from(had_page),
            Kind::Requisite => self.requisites -= 1,
        }
        Ok(())
    }

    /// Visits under way that may turn out to be pages.
    fn may_be_pages(&self) -> u64 {
        (self.under_way.len() - self.requisites) as u64
    }

    async fn drain(&mut self) -> Result<(), Fault> {
        while let Some(ended) = self.under_way.join_next().await {
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
        let too_large = |max| context.frontier.standing().totals.bytes >= max;
        self.bytes.is_some_and(too_large).then_some(Finish::MaxSize)
    }

    /// Whether there were as many pages as there may be.
    fn has_pages(&self, visits: &Visits) -> bool {
        self.pages.is_some_and(|max| visits.pages >= max)
    }

    /// Visits that may be begun now, where so many exchanges of those under way are stalled.
    fn free_slots(&self, visits: &Visits, stalled: usize) -> usize {
        let concurrency = self.concurrency.max(1);
        let beside = stalled.min(concurrency.saturating_mul(STALLED_BESIDE));
        (concurrency + beside).saturating_sub(visits.under_way.len())
    }

    /// Visits of pages that may be begun: each may turn out to be one, so each that is under way
    /// counts against the limit.
    fn pages_left(&self, visits: &Visits) -> usize {
        let left = self.pages.map_or(u64::MAX, |max| {
            max.saturating_sub(visits.pages + visits.may_be_pages())
        });
        usize::try_from(left).unwrap_or(usize::MAX)
    }
}
