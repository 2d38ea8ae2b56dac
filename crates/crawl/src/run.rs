//! The loop that lives many pages at a time.
//!
//! A slot first, then a lease: as many visits are under way as there are slots, and no lease waits for one. What
//! ends the crawl ends the leasing; visits under way are finished, unless the user asks twice.

use std::sync::Arc;
use std::time::Duration;

use store::Supply;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};
use web::Timestamp;

use crate::{Crew, Fault, Outcome, visit};

/// How often what was settled is made durable.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// What bounds a crawl.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Pages under way at a time, at least 1.
    pub concurrency: usize,
    /// Pages fetched and judged, over all sessions; never exceeded.
    pub pages: Option<u64>,
    /// Payload bytes received, over all sessions; what is under way when it is reached comes on top.
    pub bytes: Option<u64>,
    /// How long this session leases.
    pub time: Option<Duration>,
}

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

/// Visits pages until nothing is left, a limit is reached or somebody asks to stop. What was settled is durable
/// afterwards, and the archive is closed.
pub async fn run(crew: &Arc<Crew>, limits: Limits, stop: Stop) -> Result<Finish, Fault> {
    let mut visits = Visits {
        under_way: JoinSet::new(),
        pages: crew.frontier.standing().totals.pages,
    };
    let finish = lease_until_done(crew, limits, stop.clone(), &mut visits).await?;
    let mut stop = stop;
    tokio::select! {
        drained = visits.drain() => drained?,
        () = stop.asked(2) => {
            visits.under_way.shutdown().await;
            return Ok(Finish::Interrupted);
        }
    }
    crew.close().await?;
    Ok(finish)
}

async fn lease_until_done(
    crew: &Arc<Crew>,
    limits: Limits,
    mut stop: Stop,
    visits: &mut Visits,
) -> Result<Finish, Fault> {
    let started = Instant::now();
    let mut save = tokio::time::interval_at(started + SAVE_EVERY, SAVE_EVERY);
    save.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        if let Some(finish) = limits.reached(crew, visits.pages, started.elapsed()) {
            return Ok(finish);
        }
        let supply = match limits.free_slots(visits) {
            0 => Supply::NothingBefore(Timestamp::NEVER),
            free => crew.frontier.lease(crew.clock.now(), free).await?,
        };
        let wake = match supply {
            Supply::Exhausted => return Ok(Finish::Exhausted),
            Supply::NothingBefore(time) => time,
            Supply::Leases(leases) => {
                for lease in leases {
                    let crew = Arc::clone(crew);
                    visits.under_way.spawn(async move { visit(&crew, lease).await });
                }
                continue;
            }
        };
        let until = |time: Timestamp| {
            started
                + time
                    .since(crew.clock.now())
                    .saturating_add(started.elapsed())
                    .min(DAY)
        };
        tokio::select! {
            biased;
            () = stop.asked(1) => return Ok(Finish::Interrupted),
            Some(ended) = visits.under_way.join_next() => visits.ended(ended)?,
            () = tokio::time::sleep_until(until(wake)) => {}
            () = out_of_time(limits.time, started) => {}
            _ = save.tick() => crew.save().await?,
        }
    }
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
    under_way: JoinSet<Result<Outcome, Fault>>,
    /// Pages that were judged so far.
    pages: u64,
}

impl Visits {
    fn ended(&mut self, ended: Result<Result<Outcome, Fault>, JoinError>) -> Result<(), Fault> {
        let outcome = ended.map_err(Fault::Panicked)??;
        self.pages += u64::from(matches!(outcome, Outcome::Ended(fate) if fate.is_page()));
        Ok(())
    }

    async fn drain(&mut self) -> Result<(), Fault> {
        while let Some(ended) = self.under_way.join_next().await {
            self.ended(ended)?;
        }
        Ok(())
    }
}

impl Limits {
    fn reached(&self, crew: &Crew, pages: u64, elapsed: Duration) -> Option<Finish> {
        if self.pages.is_some_and(|max| pages >= max) {
            return Some(Finish::MaxPages);
        }
        if self.time.is_some_and(|max| elapsed >= max) {
            return Some(Finish::MaxTime);
        }
        let too_large = |max| crew.frontier.standing().totals.bytes >= max;
        self.bytes.is_some_and(too_large).then_some(Finish::MaxSize)
    }

    /// Visits that may be begun now: each may turn out to be a page, so each counts against the limit.
    fn free_slots(&self, visits: &Visits) -> usize {
        let free = self.concurrency.max(1).saturating_sub(visits.under_way.len());
        let pages_left = self.pages.map_or(u64::MAX, |max| {
            max.saturating_sub(visits.pages + visits.under_way.len() as u64)
        });
        free.min(usize::try_from(pages_left).unwrap_or(usize::MAX))
    }
}
