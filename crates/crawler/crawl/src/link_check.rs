//! Checks of links that leave the scope, after the crawl: each target is requested once, and only
//! the result is kept, in the [`LinkCheckLog`].
//!
//! The requests obey the rules for pages: robots.txt, the pace of host and address, the guard
//! against private addresses, exclusions and the pause in control.toml. One link per host is
//! checked at a time, so a slow host occupies one slot at most, and a host that must rest none.
//!
//! Invariants: no target with a line in the log is requested. Memory grows by eight bytes per link
//! and by the names of hosts; the URLs wait in a temporary file ([`LinkQueue`]).

mod attempt;
mod queue;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use journal::{LinkCheck, LinkCheckLog, LinkVerdict, Reason, StoreFault};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};
use web::Timestamp;

use self::attempt::{Attempt, Chain};
pub use self::queue::{LinkQueue, LinkTarget};
use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::run::{DAY, Finish, Limits, Stop, out_of_time};

/// Checks all links in the queue, at most [`Limits::concurrency`] at a time, until all are checked,
/// [`Limits::time`] is over or a stop is requested. Checks in flight then get [`Limits::drain`];
/// after a second request, they are dropped.
///
/// # Errors
/// [`Fault`] if our own machinery fails. A failure of a link is its [`LinkVerdict`].
pub async fn check_links(
    context: &Arc<CrawlContext>,
    queue: LinkQueue,
    log: &mut LinkCheckLog,
    limits: Limits,
    mut stop: Stop,
) -> Result<Finish, Fault> {
    let mut checks = ActiveChecks {
        context,
        ready: (0..queue.hosts())
            .map(|host| Reverse((Timestamp::default(), host)))
            .collect(),
        queue,
        log,
        again: HashMap::new(),
        down: HashMap::new(),
        in_flight: JoinSet::new(),
    };
    let mut finish = checks.run(&limits, &mut stop).await?;
    if finish != Finish::Exhausted {
        tokio::select! {
            drained = checks.drain() => drained?,
            () = sleep(limits.drain) => {}
            () = stop.requested_times(2) => finish = Finish::Interrupted,
        }
    }
    checks.in_flight.shutdown().await;
    checks.log.sync()?;
    context.frontier.close().await?;
    Ok(finish)
}

/// The checks in flight, and the links that wait.
struct ActiveChecks<'a> {
    context: &'a Arc<CrawlContext>,
    queue: LinkQueue,
    log: &'a mut LinkCheckLog,
    /// Hosts with links, by the time of their next request.
    ready: BinaryHeap<Reverse<(Timestamp, usize)>>,
    /// Links that are checked once more, at most one per host.
    again: HashMap<usize, LinkTarget>,
    /// The last failure of hosts past their last chance.
    down: HashMap<usize, (LinkVerdict, String)>,
    in_flight: JoinSet<EndedCheck>,
}

/// A check that has ended, with the number of its host.
type EndedCheck = (usize, LinkTarget, Result<Attempt, StoreFault>);

impl ActiveChecks<'_> {
    async fn run(&mut self, limits: &Limits, stop: &mut Stop) -> Result<Finish, Fault> {
        let started = Instant::now();
        let mut changes = self.context.overrides.changes();
        loop {
            self.begin(limits.concurrency)?;
            if self.in_flight.is_empty() && self.ready.is_empty() {
                return Ok(Finish::Exhausted);
            }
            let next = self
                .ready
                .peek()
                .map_or(Timestamp::NEVER, |Reverse((at, _))| *at);
            let wait = next.since(self.context.clock.now()).min(DAY);
            let has_slot = self.has_slot(limits.concurrency);
            tokio::select! {
                biased;
                () = stop.requested() => return Ok(Finish::Interrupted),
                () = out_of_time(limits.time, started) => return Ok(Finish::MaxTime),
                Some(ended) = self.in_flight.join_next() => self.end(ended)?,
                () = sleep_until(Instant::now() + wait), if has_slot => {}
                Ok(()) = changes.changed() => {}
            }
        }
    }

    /// Begins checks while there are slots and hosts that are ready.
    fn begin(&mut self, concurrency: usize) -> Result<(), Fault> {
        while self.has_slot(concurrency)
            && let Some(Reverse((at, host))) = self.ready.peek().copied()
            && at <= self.context.clock.now()
        {
            self.ready.pop();
            let is_last_try = self.again.contains_key(&host);
            let next = match self.again.remove(&host) {
                Some(target) => Some(target),
                None => self.queue.take(host).map_err(Fault::Links)?,
            };
            let Some(target) = next else {
                continue;
            };
            if let Some((verdict, reason)) = self.down.get(&host) {
                let reason = Some(Reason::said(reason));
                let check = Chain::of(&target).end(self.context, *verdict, reason);
                self.ready.push(Reverse((at, host)));
                self.note(&check)?;
                continue;
            }
            let context = Arc::clone(self.context);
            self.in_flight.spawn(async move {
                let attempt = attempt::check(&context, &target, is_last_try).await;
                (host, target, attempt)
            });
        }
        Ok(())
    }

    /// Returns true if a check may begin.
    fn has_slot(&self, concurrency: usize) -> bool {
        let overrides = self.context.overrides.current();
        let concurrency = overrides.concurrency.unwrap_or(concurrency).max(1);
        !overrides.pause && self.in_flight.len() < concurrency
    }

    /// Waits for the checks in flight.
    async fn drain(&mut self) -> Result<(), Fault> {
        while let Some(ended) = self.in_flight.join_next().await {
            self.end(ended)?;
        }
        Ok(())
    }

    /// Writes the result of a check, or queues the link once more.
    fn end(&mut self, ended: Result<EndedCheck, JoinError>) -> Result<(), Fault> {
        let (number, target, attempt) = ended.map_err(Fault::Panicked)?;
        let (host, pacer) = (target.url.host(), &self.context.pacer);
        let pace = pacer.pace(&host);
        let mut ready = pace.ready;
        match attempt? {
            Attempt::Again { not_before } => {
                ready = ready.max(not_before);
                self.again.insert(number, target);
            }
            Attempt::Ended(check) => {
                if pace.is_past_last_chance(pacer.has_answered_page(&host))
                    && let Some(reason) = &check.reason
                {
                    // A host that answers may answer otherwise for another link.
                    let verdict = match check.status {
                        None => check.verdict,
                        Some(_) => LinkVerdict::Unknown,
                    };
                    self.down
                        .insert(number, (verdict, format!("its host is down: {reason}")));
                    ready = Timestamp::default();
                }
                self.note(&check)?;
            }
        }
        self.ready.push(Reverse((ready, number)));
        Ok(())
    }

    fn note(&mut self, check: &LinkCheck) -> Result<(), Fault> {
        self.log.append(check)?;
        self.context.telemetry.note_checked_link();
        tracing::debug!(url = %check.url, verdict = ?check.verdict, "a link was checked");
        Ok(())
    }
}
