//! Probes and closed patterns in the store without a disk: `store` decides, this store moves the
//! entries.

use journal::{DiscoveredUrl, Reason, VisitRecord};
use store::requeued;
use web::UrlKey;

use super::queue::Queue;

impl Queue {
    /// Removes and returns the discovered URLs that were excluded as probes.
    pub(super) fn take_wanted_again(
        &self,
        discovered: &mut Vec<DiscoveredUrl>,
    ) -> Vec<DiscoveredUrl> {
        let is_seen = |key: UrlKey| self.seen.contains(&key);
        let wanted = self.patterns.take_wanted_again(discovered, is_seen);
        wanted.into_iter().map(|(found, _place)| found).collect()
    }

    /// Queues again a URL that was excluded unvisited.
    pub(super) fn revoke_excluded(&mut self, discovered: DiscoveredUrl) {
        let is_its = |visit: &VisitRecord| {
            visit.url == discovered.url && visit.excluding_pattern().is_some()
        };
        let visit = self.visits.iter().rposition(is_its);
        let visit = self
            .visits
            .remove(visit.expect("an excluded URL has a visit"));
        self.totals.uncount(&visit);
        self.patterns.revoked(&visit);
        self.wait(discovered);
    }

    /// Reopens a pattern that excluded few pages. Returns false if there is none.
    pub(super) fn take_last_look(&mut self) -> bool {
        let Some(reopened) = self.patterns.last_look(&self.rules) else {
            return false;
        };
        self.patterns.apply(&reopened);
        self.requeue_reopened();
        true
    }

    /// Queues again the URLs that were excluded by patterns and folders that have been reopened.
    pub(super) fn requeue_reopened(&mut self) {
        while let Some(visits) = self.patterns.to_requeue() {
            let pages: Vec<UrlKey> = visits.iter().map(|(page, _)| page).collect();
            for page in pages {
                let is_its = |visit: &&VisitRecord| {
                    visit.url.key() == page && visit.excluding_pattern().is_some()
                };
                let visit = self.visits.iter().rfind(is_its);
                let visit = visit.expect("an excluded URL has a visit");
                let is_seen = |key: UrlKey| self.seen.contains(&key);
                let found = requeued(visit, self.priorities[&visit.url], is_seen);
                self.revoke_excluded(found);
            }
        }
    }

    /// Returns the reason to exclude an entry that comes up for lease.
    pub(super) fn exclusion(&mut self, index: usize) -> Option<Reason> {
        let entry = &self.entries[index].entry;
        self.leased_probes.lease(&entry.discovered);
        self.patterns.exclusion(entry, &self.rules)
    }
}
