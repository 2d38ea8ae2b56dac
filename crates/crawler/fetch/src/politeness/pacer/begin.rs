//! The beginning of a request: when its host, its group and its address are ready at once.
//!
//! Waiting order: a host's slot, the host's own time, its group's slot and time, its address's slot
//! and time. The holder of a slot waits only for later steps of this order; so a deadlock is
//! impossible, and no host keeps its group or its address waiting.

use std::net::IpAddr;

use requests::PacingRules;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until};
use web::{Group, Host};

use super::PacerInner;
use super::address::AddressState;
use super::group::GroupState;
use super::host::HostState;
use super::readiness::{Readiness, sleep_while};

impl PacerInner {
    /// Begins a request to a host whose slot is held, and returns the slots of its group and its
    /// address.
    pub(super) async fn begin(
        &self,
        host: &Host,
        group: Option<&Group>,
        address: Option<IpAddr>,
    ) -> Vec<OwnedSemaphorePermit> {
        let waits_until = |readiness: &Readiness| readiness.waits_until(Instant::now());
        loop {
            let of_host = || self.with_host(host, |entry, _| waits_until(&entry.readiness));
            sleep_while(of_host).await;
            let mut slots = Vec::new();
            if let Some(group) = group {
                slots.push(self.with_group(group, |group| group.readiness.slot()).await);
                let of_group = || self.with_group(group, |group| waits_until(&group.readiness));
                sleep_while(of_group).await;
            }
            if let Some(address) = address {
                // The wait may be long if the visit came here by a redirect: others get its slot
                // of the crawl.
                let slot = self.stalls.watch(self.begin_at(address, host));
                slots.push(slot.await);
            }
            if self.begins(host, group) {
                return slots;
            }
        }
    }

    /// Waits for a slot of the address and its next free beginning.
    async fn begin_at(&self, address: IpAddr, host: &Host) -> OwnedSemaphorePermit {
        let slot = self.with_address(address, |state, _| state.readiness.slot());
        let slot = slot.await;
        let begin = |state: &mut AddressState, rules: &_| state.begin(host, Instant::now(), rules);
        sleep_until(self.with_address(address, begin)).await;
        slot
    }

    /// Begins a request to the host and its group, unless another request came between.
    fn begins(&self, host: &Host, group: Option<&Group>) -> bool {
        let Some(group) = group else {
            let begin = |entry: &mut HostState, rules: &_| entry.begin(Instant::now(), rules);
            return self.with_host(host, begin).is_none();
        };
        let (now, rules) = (Instant::now(), self.rules());
        let mut known = self.known();
        let is_early = known.group(group, now, &rules).readiness.ready > now;
        let entry = known.host(host, now, &rules);
        if is_early || entry.begin(now, rules.of(host)).is_some() {
            return false;
        }
        let least = entry.pace.least(rules.of(host));
        known.group(group, now, &rules).begin(host, now, least);
        true
    }

    fn with_group<T>(&self, group: &Group, change: impl FnOnce(&mut GroupState) -> T) -> T {
        let rules = self.rules();
        change(self.known().group(group, Instant::now(), &rules))
    }

    fn with_address<T>(
        &self,
        address: IpAddr,
        change: impl FnOnce(&mut AddressState, &PacingRules) -> T,
    ) -> T {
        let rules = self.rules();
        let mut known = self.known();
        change(
            known.address(address, Instant::now(), &rules),
            &rules.common,
        )
    }
}
