//! Makes requests to a host wait for their turn.
//!
//! Times inside are the runtime's (`Instant`: exact, never set back, pausable in tests). The
//! [`Timestamp`]s that others are told are good to a millisecond; whoever comes a fraction of one
//! early waits for it here.
//!
//! Hosts may share their pace ([`GroupBy`]): then a turn is a turn of the host and of its group.
//! Whoever finds the group not ready is told when to come again ([`Pacer::enqueue_unless_ready`]), each at a
//! time of its own, instead of waiting with a slot of the crawl in hand.
//!
//! What is kept of a host is forgotten once it says nothing any more: nobody has or awaits a turn,
//! and the time at which the host may be asked lies behind by [`KEPT`], or by the wait itself where
//! that was longer. So the map holds the hosts of the last minutes, not those of the whole crawl;
//! of groups the same. What outlasts that, and the process, is a [`Pace`]: whoever keeps it asks
//! for it with [`Pacer::pace`], and says it again with [`Pacer::recall`].
//!
//! Invariant: after a session that died, no host and no group is asked before its delay has passed
//! since the opening ([`Pacer::assume_just_asked`]), whatever led there.
//!
//! The rules may change while turns are given out ([`Pacer::change`]). What was promised to a host
//! stays: a longer delay counts from its last answer on, a shorter one from its next. Of the locks
//! inside, nobody takes a second one while holding the first.
//!
//! Order of waiting: a host's slot before its group's, and the host's own time before its group's
//! slot. Who has a group's slot waits for the group's time alone; so nobody waits for each other,
//! and no host keeps its group waiting.
//!
//! [`GroupBy`]: web::GroupBy

mod expiring_map;
mod group;
mod host;
mod slots;
mod wait_queue;

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until};
use tracing::debug;
use web::{Clock, Group, GroupBy, Host, Pace, PageUrl, Timestamp};

use self::expiring_map::{Expiring as _, ExpiringMap};
use self::group::GroupState;
use self::host::HostState;
use self::slots::acquire;
use crate::fetch::Fetch;
use crate::politeness::gate::Gate;
use crate::politeness::jitter::chance;
use crate::politeness::pacing::{Answer, AnswerKind, HostPace, PacingRules};
use crate::politeness::rules_in_force::RulesInForce;

/// Gives out turns. Cheap to ask where no delay applies.
pub struct Pacer {
    shared: Arc<PacerInner>,
}

struct PacerInner {
    rules: RwLock<Arc<RulesInForce>>,
    clock: Clock,
    gate: RwLock<Arc<Gate>>,
    seed: u64,
    known: Mutex<PacerState>,
}

#[derive(Default)]
struct PacerState {
    hosts: ExpiringMap<Host, HostState>,
    groups: ExpiringMap<Group, GroupState>,
    /// When hosts of which nothing is known count as asked.
    supposed: Option<Instant>,
}

/// Whom a request goes to: a host, and the address where it is asked, as far as hosts of one
/// address share a pace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolitenessKey {
    /// The host.
    pub host: Host,
    /// Where the next request to it goes, if that is known and matters.
    pub address: Option<IpAddr>,
}

impl From<&Host> for PolitenessKey {
    fn from(host: &Host) -> Self {
        let host = host.clone();
        Self {
            host,
            address: None,
        }
    }
}

/// Leave to make one request to a host. Finish it, or it counts as a failure.
#[must_use = "a turn that is dropped counts as a failed request"]
pub struct Permit {
    shared: Arc<PacerInner>,
    host: Host,
    group: Option<Group>,
    /// Empty once finished.
    slots: Vec<OwnedSemaphorePermit>,
}

impl Pacer {
    /// A pacer that has not met any host yet. `clock` only translates times for others.
    #[must_use]
    pub fn new(rules: PacingRules, clock: Clock) -> Self {
        Self::seeded(rules, clock, 0)
    }

    /// The same; what chance adds to waits after failures follows from `seed`, so that crawlers do
    /// not come back at the same time.
    #[must_use]
    pub fn seeded(rules: PacingRules, clock: Clock, seed: u64) -> Self {
        let gate = Arc::new(Gate::new(&rules));
        let rules = Arc::new(RulesInForce::new(rules, &BTreeMap::new()));
        Self {
            shared: Arc::new(PacerInner {
                rules: RwLock::new(rules),
                clock,
                gate: RwLock::new(gate),
                seed,
                known: Mutex::default(),
            }),
        }
    }

    /// Whom a request for `url` would go to now. Only where hosts are grouped by address, `fetch`
    /// is asked for it, which may look the name up.
    pub async fn politeness_key(&self, fetch: &dyn Fetch, url: &PageUrl) -> PolitenessKey {
        let address = match self.shared.rules().common.group_by {
            GroupBy::Address => fetch.address(url).await,
            GroupBy::Host | GroupBy::Domain => None,
        };
        let host = url.host();
        PolitenessKey { host, address }
    }

    /// Whether somebody may be asked now, as far as its group goes: then take the turn at once, it
    /// comes soon. If not, a place in the group's line is kept for the host, and [`Pacer::pace`]
    /// says when to come again: do, and ask again.
    ///
    /// A host with its pace for itself always may: its own time is the frontier's business, and the
    /// turn's.
    #[must_use]
    pub fn enqueue_unless_ready(&self, to: &PolitenessKey) -> bool {
        let shared = &self.shared;
        let Some(group) = shared.group_of(to) else {
            return true;
        };
        let (now, rules) = (Instant::now(), shared.rules());
        let mut known = shared.known();
        let due = known
            .group(&group, now, &rules)
            .enqueue_unless_ready(&to.host, now);
        known.host(&to.host, now, &rules).place = due;
        due.is_none()
    }

    /// Waits for the host's turn: until fewer than `connections_per_host` turns are under way
    /// there, the host's next allowed time has come, and both limits of the gate let the request
    /// pass. Turns of a host are given out in the order in which they were asked for. Where the
    /// host shares its pace, all this holds for its group as well.
    ///
    /// Nobody may wait for a second turn while holding the first.
    pub async fn permit(&self, to: impl Into<PolitenessKey>) -> Permit {
        let (shared, to) = (&self.shared, to.into());
        let group = shared.group_of(&to);
        let host = &to.host;
        let mut slots =
            vec![acquire(shared.with_host(host, |entry, _| Arc::clone(&entry.slots))).await];
        match &group {
            Some(group) => slots.push(shared.begin_in(group, host).await),
            None => {
                while let Some(ready) =
                    shared.with_host(host, |entry, rules| entry.begin(Instant::now(), rules))
                {
                    sleep_until(ready).await;
                }
            }
        }
        if shared.rules().common.group_by == GroupBy::Address {
            shared.with_host(host, |entry, _| entry.address = to.address);
        }
        shared.gate().pass(host, group.as_ref()).await;
        Permit {
            shared: Arc::clone(shared),
            host: to.host,
            group,
            slots,
        }
    }

    /// How the host wants to be asked, as far as is known now: what to remember of it. It may be
    /// asked at once where nothing stands against it.
    #[must_use]
    pub fn pace(&self, host: &Host) -> Pace {
        let shared = &self.shared;
        let (now, rules) = (Instant::now(), shared.rules());
        let rules = rules.of(host);
        let known = shared.known();
        let Some(entry) = known.hosts.get(host) else {
            let least = HostPace::default().least(rules);
            return Pace {
                ready: shared.stamp(known.first_ready(rules, now), now),
                wait: least.wait,
                why: least.why,
                ..Pace::default()
            };
        };
        let ready = entry.ready().max(entry.place.unwrap_or(now));
        Pace {
            ready: shared.stamp(ready, now),
            failures: entry.pace.failures,
            crawl_delay: entry.pace.crawl_delay,
            retry_after: entry.pace.retry_after,
            wait: entry.cooldown.wait,
            why: entry.cooldown.why,
            answered: entry.answered,
            address: entry.address,
        }
    }

    /// Takes over what was remembered of a host, and so of its group, as far as nothing is known
    /// that is newer or stricter. No wait is longer than the rules can lead to, whatever a clock
    /// that was set may have made of the time.
    pub fn recall(&self, host: &Host, pace: Pace) {
        let shared = &self.shared;
        let (now, present, rules) = (Instant::now(), shared.clock.now(), shared.rules());
        let mut known = shared.known();
        if pace != Pace::default() {
            let entry = known.host(host, now, &rules);
            entry.recall(pace, now, present, rules.of(host));
        }
        let common = &rules.common;
        let rests = pace.shared_rest(common.delay) > present;
        if let Some(group) = common.group_by.group(host, pace.address).filter(|_| rests) {
            let group = known.group(&group, now, &rules);
            group.recall(pace, now, present, common);
        }
    }

    /// The session before this one died, and nobody knows whom it had just asked: from here on,
    /// every host counts as one whose last answer has ended now. To be said before the first turn.
    pub fn assume_just_asked(&self) {
        self.shared.known().supposed = Some(Instant::now());
    }

    /// Takes note of the `Crawl-delay` that the host's robots.txt asks for. Hosts are forgotten
    /// after a while: say it again whenever the rules are looked at.
    pub fn ask_crawl_delay(&self, host: &Host, delay: Option<Duration>) {
        let shared = &self.shared;
        shared.with_host(host, |entry, rules| entry.ask_crawl_delay(delay, rules));
    }

    /// Goes by other rules from now on. `delays` are the least delays of single hosts, one more
    /// reason beside the others. Connections a host, and which hosts share their pace, stay as they
    /// are.
    pub fn change(&self, rules: PacingRules, delays: &BTreeMap<Host, Duration>) {
        let shared = &self.shared;
        *shared.gate.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Gate::new(&rules));
        let rules = Arc::new(RulesInForce::new(rules, delays));
        let before = {
            let mut in_force = shared.rules.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *in_force, Arc::clone(&rules))
        };
        let mut known = shared.known();
        for (host, entry) in known.hosts.iter_mut() {
            entry.keep_distance(rules.of(host));
        }
        let longer = rules.common.delay.saturating_sub(before.common.delay);
        for (_, group) in known.groups.iter_mut() {
            group.wait_longer(longer);
        }
    }

    /// How many hosts are remembered at the moment.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.shared.known().hosts.len()
    }
}

impl Permit {
    /// Gives the turn back; the host is left alone until the moment that is returned.
    pub fn finish(mut self, answer: Answer) -> Timestamp {
        self.end(&answer)
    }

    fn end(&mut self, answer: &Answer) -> Timestamp {
        let shared = &self.shared;
        let (now, present, in_force) = (Instant::now(), shared.clock.now(), shared.rules());
        let rules = in_force.of(&self.host);
        let mut known = shared.known();
        let entry = known.host(&self.host, now, &in_force);
        let chance = chance(shared.seed, &self.host, entry.pace.failures);
        let (pace, mut cooldown) = entry.pace.after(answer, rules, chance);
        if let Some(group) = &self.group {
            let group = known.group(group, now, &in_force);
            // What all of them wait for, the host does too.
            let all = group.end(now, answer, pace, rules, chance);
            cooldown = cooldown.or_longer(all.wait, all.why);
        }
        let entry = known.host(&self.host, now, &in_force);
        let ready = entry.end(now, present, pace, cooldown);
        drop(known);
        if answer.kind != AnswerKind::Fine {
            debug!(host = %self.host, wait = ?cooldown.wait, why = %cooldown.why, answer = ?answer.kind, "backing off");
        }
        // Only now, or the next in line would look at the old time.
        self.slots.clear();
        shared.stamp(ready, now)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.slots.is_empty() {
            self.end(&Answer {
                elapsed: Duration::ZERO,
                kind: AnswerKind::Failed,
            });
        }
    }
}

impl PacerInner {
    fn known(&self) -> MutexGuard<'_, PacerState> {
        // Every change is one assignment or two: there is nothing half done to be found.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rules(&self) -> Arc<RulesInForce> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_host<T>(
        &self,
        host: &Host,
        change: impl FnOnce(&mut HostState, &PacingRules) -> T,
    ) -> T {
        let rules = self.rules();
        change(
            self.known().host(host, Instant::now(), &rules),
            rules.of(host),
        )
    }

    fn with_group<T>(&self, group: &Group, change: impl FnOnce(&mut GroupState) -> T) -> T {
        let rules = self.rules();
        change(self.known().group(group, Instant::now(), &rules))
    }

    fn group_of(&self, to: &PolitenessKey) -> Option<Group> {
        self.rules().common.group_by.group(&to.host, to.address)
    }

    /// Begins a request to a host whose slot is held, when it is the group's turn as well as its
    /// own.
    async fn begin_in(&self, group: &Group, host: &Host) -> OwnedSemaphorePermit {
        loop {
            while let Some(ready) =
                self.with_host(host, |entry, _| entry.waits_until(Instant::now()))
            {
                sleep_until(ready).await;
            }
            let slot = acquire(self.with_group(group, |group| Arc::clone(&group.slots))).await;
            while let Some(ready) =
                self.with_group(group, |group| group.waits_until(Instant::now()))
            {
                sleep_until(ready).await;
            }
            if self.begins_both(group, host) {
                return slot;
            }
        }
    }

    fn begins_both(&self, group: &Group, host: &Host) -> bool {
        let (now, rules) = (Instant::now(), self.rules());
        let mut known = self.known();
        let is_early = known.group(group, now, &rules).waits_until(now).is_some();
        let entry = known.host(host, now, &rules);
        if is_early || entry.begin(now, rules.of(host)).is_some() {
            return false;
        }
        let least = entry.pace.least(rules.of(host));
        known.group(group, now, &rules).begin(host, now, least);
        true
    }

    /// `moment` on the clock that others read; the present where it is not ahead.
    fn stamp(&self, moment: Instant, now: Instant) -> Timestamp {
        self.clock.now() + moment.saturating_duration_since(now)
    }
}

impl PacerState {
    fn host(&mut self, host: &Host, now: Instant, rules: &RulesInForce) -> &mut HostState {
        let rules = rules.of(host);
        let (ended, ready) = (self.supposed, self.first_ready(rules, now));
        self.hosts
            .or_insert_with(host, now, || HostState::new(ended, ready, rules))
    }

    fn group(&mut self, group: &Group, now: Instant, rules: &RulesInForce) -> &mut GroupState {
        let rules = &rules.common;
        let ready = self.first_ready(rules, now);
        self.groups
            .or_insert_with(group, now, || GroupState::new(ready, now, rules))
    }

    /// When a host may be asked of which nothing is known; a group too.
    fn first_ready(&self, rules: &PacingRules, now: Instant) -> Instant {
        let least = HostPace::default().least(rules).wait;
        self.supposed.map_or(now, |ended| now.max(ended + least))
    }
}

impl fmt::Debug for Pacer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pacer")
            .field("rules", &self.shared.rules)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.host).finish()
    }
}
