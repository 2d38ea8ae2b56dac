//! Claims, and URLs that are discovered while claimed, in the store without a disk.

use journal::DiscoveredUrl;
use store::Lease;
use web::{PageUrl, UrlKey};

use super::queue::Queue;

impl Queue {
    pub(super) fn claim(&mut self, lease: &Lease, url: &PageUrl) -> bool {
        let sequence = lease.entry.sequence;
        if let Some(owner) = self.claims.get(url) {
            return *owner == sequence;
        }
        let reserved = self.reserved.get(&url.key());
        if reserved.is_some_and(|(entry, _)| *entry == sequence) {
            return true;
        }
        let is_seen = |key: UrlKey| self.seen.contains(&key);
        if self.leased_probes.is_known(url.key(), is_seen) {
            return false;
        }
        self.claims.insert(url.clone(), sequence);
        true
    }

    /// Removes the claimed URLs from `discovered`, and holds those that are new.
    pub(super) fn hold_claimed(&mut self, discovered: &mut Vec<DiscoveredUrl>) {
        let is_claimed = |found: &mut DiscoveredUrl| self.claims.contains_key(&found.url);
        let mut finds: Vec<DiscoveredUrl> = discovered.extract_if(.., is_claimed).collect();
        finds.retain(|found| !self.is_seen(found));
        self.exclude(&mut finds);
        finds.into_iter().for_each(|found| self.hold(found));
    }

    /// Holds a discovery unless its URL is already held; an ordinary discovery replaces a probe.
    pub(super) fn hold(&mut self, found: DiscoveredUrl) {
        let held = self.held.get(&found.url.key());
        if held.is_none_or(|held| held.is_probed() && !found.is_probed()) {
            self.held.insert(found.url.key(), found);
        }
    }

    /// Drops a held URL that is queued. If it is queued as a probe, an ordinary discovery stays
    /// held.
    pub(super) fn drop_held(&mut self, queued: &DiscoveredUrl) {
        let held = self.held.get(&queued.url.key());
        if held.is_some_and(|held| held.is_probed() || !queued.is_probed()) {
            self.held.remove(&queued.url.key());
        }
    }

    /// Marks URLs as reached by a visit that has ended.
    pub(super) fn reach(&mut self, urls: &[PageUrl]) {
        for url in urls {
            self.seen.insert(url.key());
            self.held.remove(&url.key());
            self.reserved.remove(&url.key());
        }
    }

    /// Reserves the URLs that a revoked visit reached for the next visit of its page.
    pub(super) fn reserve(&mut self, page: &DiscoveredUrl, reached: &[PageUrl]) {
        for url in reached {
            let found = DiscoveredUrl::new(url.clone(), page.depth, page.via.clone());
            let found = found.needed(page.requisite).off_scope(page.off_scope);
            let found = found.with_priority_of(page.priority);
            let reserved = (self.next_sequence, found);
            self.reserved.insert(url.key(), reserved);
        }
    }

    /// Holds the URLs that are reserved for an entry that has ended.
    pub(super) fn end_entry(&mut self, sequence: u64) {
        let reserved = self
            .reserved
            .extract_if(.., |_, (entry, _)| *entry == sequence);
        let unreached: Vec<DiscoveredUrl> = reserved.map(|(_, (_, found))| found).collect();
        unreached.into_iter().for_each(|found| self.hold(found));
    }

    /// Drops the place of a probe that has a better place, was reached, or is claimed by a
    /// redirect. Returns false for any other entry.
    pub(super) fn supersede(&mut self, index: usize) -> bool {
        let found = &self.entries[index].entry.discovered;
        let has_claim = self.claims.contains_key(&found.url);
        if !found.is_probed() || !has_claim && !self.seen.contains(&found.url.key()) {
            return false;
        }
        let entry = self.entries.remove(index).entry;
        if has_claim {
            self.hold(entry.discovered);
        }
        self.end_entry(entry.sequence);
        self.queue_unclaimed();
        true
    }

    /// Releases the claims of an entry whose lease has ended.
    pub(super) fn give_up_claims(&mut self, sequence: u64) {
        self.claims.retain(|_, owner| *owner != sequence);
        self.queue_unclaimed();
    }

    /// Queues the held URLs whose claims have ended.
    pub(super) fn queue_unclaimed(&mut self) {
        let held = self.held.values();
        let unclaimed = held.filter(|found| !self.claims.contains_key(&found.url));
        let mut finds: Vec<DiscoveredUrl> = unclaimed.cloned().collect();
        self.patterns.put_behind(&mut finds, &self.rules);
        let wanted_again = self.take_wanted_again(&mut finds);
        for found in finds {
            self.know(&found.url.host());
            self.wait(found);
        }
        for found in wanted_again {
            self.revoke_excluded(found);
        }
    }
}
