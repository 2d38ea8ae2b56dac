//! The pacer: makes requests to a host wait until the host is ready.
//!
//! Times inside are the runtime's (`Instant`: exact, never set back, pausable in tests).
//! [`Timestamp`]s for callers are good to a millisecond; a caller that comes a fraction of one
//! early waits here.
//!
//! Hosts may share their pace ([`GroupBy`]): then a permit is one of the host and of its group. A
//! caller that finds the group not ready gets a time of its own to come again
//! ([`Pacer::enqueue_unless_ready`]), instead of waiting with a slot of the crawl in hand.
//!
//! A host is forgotten once its state is meaningless: no permit is held or awaited, and its ready
//! time is past by at least `MIN_RETENTION`, or by the wait itself if that was longer. So the map
//! holds only the hosts of the last minutes; groups likewise. A [`Pace`] is the state that outlasts
//! that time, and the process: callers read it with [`Pacer::pace`] and give it back with
//! [`Pacer::recall`].
//!
//! Invariant: after a session that died, no request goes to any host or group before its delay has
//! passed since the opening ([`Pacer::assume_just_requested`]).
//!
//! The rules may change while permits are given out ([`Pacer::change`]). A wait that was promised
//! to a host stays: a longer delay counts from its last response, a shorter one from its next. No
//! code takes a second lock while holding one.
//!
//! By default the hosts of one address share a bound ([`AddressBound`]), and the same holds for it.
//!
//! [`AddressBound`]: requests::AddressBound
//! [`GroupBy`]: web::GroupBy

mod address;
mod begin;
mod expiring_map;
mod group;
mod host;
mod readiness;
mod wait_queue;

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use requests::{HostPace, PacedResponse, PacingRules, ResponseKind};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tracing::debug;
use web::{Clock, Group, GroupBy, Host, Pace, PageUrl, Timestamp, WaitReason};

use self::address::AddressState;
use self::expiring_map::ExpiringMap;
use self::group::GroupState;
use self::host::HostState;
use crate::fetch::Fetch;
use crate::politeness::jitter::chance;
use crate::politeness::rules_in_force::RulesInForce;
use crate::stalls::Stalls;

/// The pacer of a crawl. Cheap to ask if no delay applies.
pub struct Pacer {
    shared: Arc<PacerInner>,
}

struct PacerInner {
    rules: RwLock<Arc<RulesInForce>>,
    clock: Clock,
    seed: u64,
    stalls: Stalls,
    known: Mutex<PacerState>,
}

#[derive(Default)]
struct PacerState {
    hosts: ExpiringMap<Host, HostState>,
    groups: ExpiringMap<Group, GroupState>,
    addresses: ExpiringMap<IpAddr, AddressState>,
    /// The time when unknown hosts count as asked.
    supposed: Option<Instant>,
}

/// The key of requests that share a pace: a host, and its address if hosts of one address share a
/// pace or a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolitenessKey {
    /// The host.
    pub host: Host,
    /// The address of the next request, if it is known and matters.
    pub address: Option<IpAddr>,
}

impl From<&Host> for PolitenessKey {
    fn from(host: &Host) -> Self {
        Self {
            host: host.clone(),
            address: None,
        }
    }
}

/// A permit for one request to a host. Finish it, or the request counts as a failure.
#[must_use = "a permit that is dropped counts as a failed request"]
pub struct Permit {
    shared: Arc<PacerInner>,
    host: Host,
    group: Option<Group>,
    address: Option<IpAddr>,
    /// The time when the slots were taken.
    began: Instant,
    /// Empty once finished.
    slots: Vec<OwnedSemaphorePermit>,
}

impl Pacer {
    /// Returns a pacer without any host. `clock` only translates times for others.
    #[must_use]
    pub fn new(rules: PacingRules, clock: Clock) -> Self {
        Self::seeded(rules, clock, 0, Stalls::default())
    }

    /// Returns a pacer without any host, whose jitter after failures follows from `seed`, so that
    /// crawlers do not come back at the same time. Long waits for an address are counted in
    /// `stalls`.
    #[must_use]
    pub fn seeded(rules: PacingRules, clock: Clock, seed: u64, stalls: Stalls) -> Self {
        let rules = Arc::new(RulesInForce::new(rules, &BTreeMap::new()));
        Self {
            shared: Arc::new(PacerInner {
                rules: RwLock::new(rules),
                clock,
                seed,
                stalls,
                known: Mutex::default(),
            }),
        }
    }

    /// Returns the key of a request for `url` now. Asks `fetch` only if hosts of one address share
    /// a pace or a bound; that may look the name up.
    pub async fn politeness_key(&self, fetch: &dyn Fetch, url: &PageUrl) -> PolitenessKey {
        let (host, rules) = (url.host(), self.shared.rules());
        let matters =
            rules.common.group_by == GroupBy::Address || rules.common.bounds_address_of(&host);
        let address = match matters {
            true => fetch.address(url).await,
            false => None,
        };
        PolitenessKey { host, address }
    }

    /// Returns true if the group and the address of `to` allow a request now: take the permit at
    /// once, it comes soon. Otherwise the host keeps a place in a queue, and [`Pacer::pace`] says
    /// when to call again.
    ///
    /// Always true for a host that shares nothing: the frontier and the permit wait for its time.
    #[must_use]
    pub fn enqueue_unless_ready(&self, to: &PolitenessKey) -> bool {
        let (shared, host) = (&self.shared, &to.host);
        let (group, address) = (shared.group_of(to), shared.address_of(to));
        if group.is_none() && address.is_none() {
            return true;
        }
        let (now, rules) = (Instant::now(), shared.rules());
        let mut known = shared.known();
        let of_group = group.and_then(|group| {
            let group = known.group(&group, now, &rules);
            group.enqueue_unless_ready(host, now)
        });
        let due = of_group.or_else(|| {
            let address = known.address(address?, now, &rules);
            address.enqueue_unless_ready(host, now, &rules.common)
        });
        known.host(host, now, &rules).place = due;
        due.is_none()
    }

    /// Waits for a permit: until fewer than `connections_per_host` permits are held there, the
    /// host's next allowed time has come, and both limits of the gate let the request pass. Permits
    /// of a host are given out in the order of the calls. If the host shares its pace, all this
    /// holds for its group as well; and the bound of its address holds.
    ///
    /// A caller must not wait for a second permit while holding one.
    pub async fn permit(&self, to: impl Into<PolitenessKey>) -> Permit {
        let (shared, to) = (&self.shared, to.into());
        let (group, address) = (shared.group_of(&to), shared.address_of(&to));
        let host = &to.host;
        let mut slots = vec![
            shared
                .with_host(host, |entry, _| entry.readiness.slot())
                .await,
        ];
        slots.extend(shared.begin(host, group.as_ref(), address).await);
        let rules = shared.rules();
        if rules.common.group_by == GroupBy::Address {
            shared.with_host(host, |entry, _| entry.address = to.address);
        }
        let delay = match &group {
            Some(_) => rules.common.delay,
            None => rules.of(host).delay,
        };
        rules.gate.pass(host, group.as_ref(), delay).await;
        Permit {
            shared: Arc::clone(shared),
            host: to.host,
            group,
            address,
            began: Instant::now(),
            slots,
        }
    }

    /// Returns the pace of a host to store. A host without any state may be asked at once.
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
        let ready = entry.readiness.ready.max(entry.place.unwrap_or(now));
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

    /// Takes over the stored pace of a host, and so of its group, unless newer or stricter state is
    /// known. No wait exceeds the maximum by the rules, even if a changed clock has distorted the
    /// time.
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

    /// Assumes that every host's last response ended now. Call it before the first permit if the
    /// session before this one died and the hosts that it had just asked are unknown.
    pub fn assume_just_requested(&self) {
        self.shared.known().supposed = Some(Instant::now());
    }

    /// Sets the `Crawl-delay` of the host's robots.txt. Hosts are forgotten after a while: repeat
    /// it whenever the rules are read.
    pub fn set_crawl_delay(&self, host: &Host, delay: Option<Duration>) {
        let shared = &self.shared;
        shared.with_host(host, |entry, rules| entry.set_crawl_delay(delay, rules));
    }

    /// Remembers a page that a host answered whole and with success, for as long as the host.
    pub fn remember_page(&self, url: &PageUrl) {
        let page = Some(url.clone());
        let remember = |entry: &mut HostState, _: &_| {
            entry.answered_page = page;
            entry.has_answered_page = true;
        };
        self.shared.with_host(&url.host(), remember);
    }

    /// Reports that the last response of a host was a block page, which looked like a page. Its
    /// failures in a row go on from those before it.
    pub fn report_block(&self, host: &Host) {
        let shared = &self.shared;
        let (now, present, in_force) = (Instant::now(), shared.clock.now(), shared.rules());
        let rules = in_force.of(host);
        let response = PacedResponse {
            elapsed: Duration::ZERO,
            kind: ResponseKind::Blocked,
        };
        let mut known = shared.known();
        let entry = known.host(host, now, &in_force);
        entry.take_back();
        let chance = chance(shared.seed, host, entry.pace.failures);
        let (pace, cooldown) = entry.pace.after(&response, rules, chance);
        entry.end(now, present, pace, cooldown);
    }

    /// Returns the number of hosts whose last response was a block page.
    #[must_use]
    pub fn blocking_hosts(&self) -> u64 {
        let mut known = self.shared.known();
        let hosts = known.hosts.iter_mut();
        let blocking = hosts.filter(|(_, host)| host.cooldown.why == WaitReason::Blocked);
        blocking.count() as u64
    }

    /// Returns true if a host has answered a page whole and with success.
    #[must_use]
    pub fn has_answered_page(&self, host: &Host) -> bool {
        let known = self.shared.known();
        let entry = known.hosts.get(host);
        entry.is_some_and(|entry| entry.has_answered_page)
    }

    /// Takes the page that a host answered last with success. While it is taken, no other task
    /// requests it.
    #[must_use]
    pub fn take_page(&self, host: &Host) -> Option<PageUrl> {
        let take = |entry: &mut HostState, _: &_| entry.answered_page.take();
        self.shared.with_host(host, take)
    }

    /// Replaces the rules. `delays` are the minimum delays of single hosts, one more reason to
    /// wait. The connections per host, and the groups, stay as they are.
    pub fn change(&self, rules: PacingRules, delays: &BTreeMap<Host, Duration>) {
        let shared = &self.shared;
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

    /// Returns the number of hosts that are remembered now.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.shared.known().hosts.len()
    }
}

impl Permit {
    /// Gives the permit back, and returns the time when the host may be asked again.
    pub fn finish(mut self, response: PacedResponse) -> Timestamp {
        self.end(&response)
    }

    fn end(&mut self, response: &PacedResponse) -> Timestamp {
        let shared = &self.shared;
        let (now, present, in_force) = (Instant::now(), shared.clock.now(), shared.rules());
        let rules = in_force.of(&self.host);
        let mut known = shared.known();
        let entry = known.host(&self.host, now, &in_force);
        let chance = chance(shared.seed, &self.host, entry.pace.failures);
        let (pace, mut cooldown) = entry.pace.after(response, rules, chance);
        if let Some(group) = &self.group {
            let group = known.group(group, now, &in_force);
            // The host waits for its group, too.
            let all = group.end(now, response, pace, rules, chance);
            cooldown = cooldown.or_longer(all.wait, all.why);
        }
        if let Some(address) = self.address {
            let address = known.address(address, now, &in_force);
            address.end(now, now - self.began, response, &in_force.common);
        }
        let entry = known.host(&self.host, now, &in_force);
        let ready = entry.end(now, present, pace, cooldown);
        drop(known);
        if response.kind != ResponseKind::Fine {
            debug!(
                host = %self.host,
                wait = ?cooldown.wait,
                why = %cooldown.why,
                response = ?response.kind,
                "backing off"
            );
        }
        // The slots are returned last, or the next in the queue would see the old time.
        self.slots.clear();
        shared.stamp(ready, now)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.slots.is_empty() {
            self.end(&PacedResponse {
                elapsed: Duration::ZERO,
                kind: ResponseKind::Failed,
            });
        }
    }
}

impl PacerInner {
    fn known(&self) -> MutexGuard<'_, PacerState> {
        // Every change is one assignment or two, so a panic leaves nothing half done.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rules(&self) -> Arc<RulesInForce> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
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

    fn group_of(&self, to: &PolitenessKey) -> Option<Group> {
        self.rules().common.group_by.group(&to.host, to.address)
    }

    fn address_of(&self, to: &PolitenessKey) -> Option<IpAddr> {
        self.rules().common.bounded_address(&to.host, to.address)
    }

    /// Converts `moment` to the clock of callers; a moment in the past becomes the present.
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

    fn address(
        &mut self,
        address: IpAddr,
        now: Instant,
        rules: &RulesInForce,
    ) -> &mut AddressState {
        let new = || AddressState::new(now, &rules.common);
        self.addresses.or_insert_with(&address, now, new)
    }

    /// Returns the first time when an unknown host or group may be asked.
    fn first_ready(&self, rules: &PacingRules, now: Instant) -> Instant {
        let least = HostPace::default().least(rules).wait;
        self.supposed.map_or(now, |ended| now.max(ended + least))
    }
}

impl fmt::Debug for Pacer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pacer")
            .field("rules", &self.shared.rules().common)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.host).finish()
    }
}
