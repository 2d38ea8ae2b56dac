//! Claims of redirects, and the URLs that are discovered while they are claimed.
//!
//! A redirect of a leased page claims its target. The claim lasts as long as the lease: a
//! settlement that names the target in `reached` makes it a visited URL, and any other end releases
//! the claim. A link to the target that is found in the meantime must survive both ends, so it is
//! *held*. It is journalled when it is found ([`Record::Held`]), before the record of the page with
//! the link. The settlement that names the target drops the held URL in the same record, so no
//! crash leaves a second visit. When the claim is released, the held URL is queued; after a crash,
//! the next session does that, since claims end with the process.
//!
//! Queueing it immediately would need a second record to take it back, and a queue that skips
//! entries; a claim in the journal would cost a record per redirect.
//!
//! A URL that was reached by a visit that is revoked is *reserved* for the next visit of that
//! entry. It is seen, so links to it are dropped: if the next visit does not reach it, it is held
//! as if it had been discovered, and queued.
//!
//! Invariant: when a method of the queue returns, every held URL is claimed.

use std::collections::BTreeMap;

use journal::{DiscoveredUrl, ExcludedLinks, Journal, QueueEntry, Record, StoreFault};
use serde::{Deserialize, Serialize};
use web::{PageUrl, UrlKey};

use super::Queue;
use crate::frontier::Lease;

/// Discovered URLs that wait for the end of a claim. Bounded by the claims and the revoked visits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct HeldUrls {
    /// Discovered while claimed.
    held: BTreeMap<UrlKey, DiscoveredUrl>,
    /// Reached by a visit that was revoked, each with the entry that may claim it again.
    reserved: BTreeMap<UrlKey, (u64, DiscoveredUrl)>,
}

impl HeldUrls {
    /// Returns true if this discovery is the first of its URL, or better than the held one.
    fn wants(&self, found: &DiscoveredUrl) -> bool {
        let held = self.held.get(&found.url.key());
        held.is_none_or(|held| held.is_probed() && !found.is_probed())
    }

    /// Holds a discovery.
    pub(super) fn hold(&mut self, found: &DiscoveredUrl) {
        if self.wants(found) {
            self.held.insert(found.url.key(), found.clone());
        }
    }

    /// Drops a URL that does not need a visit of its own.
    pub(super) fn reached(&mut self, url: UrlKey) {
        self.held.remove(&url);
        self.reserved.remove(&url);
    }

    /// Drops a URL that was queued. If it was queued as a probe, an ordinary discovery stays held.
    pub(super) fn queued(&mut self, found: &DiscoveredUrl) {
        let key = found.url.key();
        let held = self.held.get(&key);
        if held.is_some_and(|held| held.is_probed() || !found.is_probed()) {
            self.held.remove(&key);
        }
    }

    /// Reserves the URLs that a revoked visit reached for the next visit of its entry.
    pub(super) fn revoked(&mut self, entry: &QueueEntry, reached: &[PageUrl]) {
        let page = &entry.discovered;
        for url in reached {
            let found = DiscoveredUrl::new(url.clone(), page.depth, page.via.clone());
            let found = found.needed(page.requisite).off_scope(page.off_scope);
            let found = found.with_priority_of(page.priority);
            let found = if page.is_probed() {
                found.probed_as(page.priority)
            } else {
                found
            };
            self.reserved.insert(url.key(), (entry.sequence, found));
        }
    }

    /// Holds the URLs that are reserved for an entry that has ended.
    pub(super) fn ended(&mut self, sequence: u64) {
        let is_its = |_: &UrlKey, reserved: &mut (u64, DiscoveredUrl)| reserved.0 == sequence;
        let unreached: Vec<_> = self.reserved.extract_if(.., is_its).collect();
        for (_, (_, found)) in unreached {
            self.hold(&found);
        }
    }

    /// Drops the URLs of hosts that leave this queue.
    pub(super) fn forget(&mut self, is_theirs: impl Fn(&DiscoveredUrl) -> bool) {
        self.held.retain(|_, found| !is_theirs(found));
        self.reserved.retain(|_, (_, found)| !is_theirs(found));
    }

    fn is_reserved_for(&self, url: UrlKey, sequence: u64) -> bool {
        let reserved = self.reserved.get(&url);
        reserved.is_some_and(|(entry, _)| *entry == sequence)
    }
}

impl Queue {
    pub(in super::super) fn claim(&mut self, lease: &Lease, url: &PageUrl) -> bool {
        let (key, sequence) = (url.key(), lease.entry.sequence);
        let is_seen = |key| self.seen.contains(key);
        match self.out.claimant(key) {
            Some(owner) => owner == sequence,
            None if self.state.held.is_reserved_for(key, sequence) => true,
            None if self.out.probes().is_known(key, is_seen) => false,
            None => {
                self.out.claim(key, sequence);
                true
            }
        }
    }

    /// Removes the claimed URLs from `discovered`, and holds those that are new. URLs of a host
    /// beyond the limit of its domain are excluded.
    pub(super) fn hold_claimed(
        &mut self,
        journal: &Journal,
        discovered: &mut Vec<DiscoveredUrl>,
        excluded: &mut Vec<ExcludedLinks>,
    ) -> Result<(), StoreFault> {
        if !self.out.has_claims() {
            return Ok(());
        }
        let is_claimed = |found: &mut DiscoveredUrl| self.out.is_claimed(found.url.key());
        let mut finds: Vec<DiscoveredUrl> = discovered.extract_if(.., is_claimed).collect();
        finds.retain(|found| !self.is_seen(found) && self.state.held.wants(found));
        excluded.extend(self.hosts.exclude(&mut finds));
        match finds.is_empty() {
            true => Ok(()),
            false => self.record(journal, &Record::Held { finds }),
        }
    }

    /// Returns true if a redirect has claimed the URL of this probe: the URL is held, and its place
    /// in the queue should be dropped.
    pub(super) fn hold_probe(
        &mut self,
        journal: &Journal,
        probe: &DiscoveredUrl,
    ) -> Result<bool, StoreFault> {
        if !self.out.is_claimed(probe.url.key()) {
            return Ok(false);
        }
        if self.state.held.wants(probe) {
            let finds = vec![probe.clone()];
            self.record(journal, &Record::Held { finds })?;
        }
        Ok(true)
    }

    /// Releases the claims of an entry whose lease has ended, and queues the URLs found in the
    /// meantime.
    pub(super) fn give_up_claims(
        &mut self,
        journal: &Journal,
        sequence: u64,
    ) -> Result<(), StoreFault> {
        self.out.give_up_claims(sequence);
        self.queue_unclaimed(journal)
    }

    /// Releases all claims, at the end of a session when no further lease is settled.
    pub(in super::super) fn give_up_all_claims(
        &mut self,
        journal: &Journal,
    ) -> Result<(), StoreFault> {
        self.out.give_up_all_claims();
        self.queue_unclaimed(journal)
    }

    /// Queues the held URLs whose claims have ended.
    pub(in super::super) fn queue_unclaimed(
        &mut self,
        journal: &Journal,
    ) -> Result<(), StoreFault> {
        let held = self.state.held.held.iter();
        let unclaimed = held.filter(|(key, _)| !self.out.is_claimed(**key));
        let mut finds: Vec<DiscoveredUrl> = unclaimed.map(|(_, found)| found.clone()).collect();
        if finds.is_empty() {
            return Ok(());
        }
        let rules = self.hosts.rules();
        self.state.patterns.put_behind(&mut finds, rules);
        let wanted_again = self.take_wanted_again(&mut finds);
        if !finds.is_empty() {
            let first = self.state.next_sequence;
            self.record(journal, &Record::Discovered { first, finds })?;
        }
        self.queue_again(journal, wanted_again)
    }
}
