//! Probes and closed patterns in the store without a disk.

use journal::{DiscoveredUrl, Reason, VisitRecord};
use web::UrlKey;

use super::queue::Queue;

impl Queue {
    /// Notes the discovered URLs that are out on lease as probes. If these visits do not take
    /// place, the URLs are queued as they were discovered now.
    pub(super) fn note_wanted(&mut self, discovered: &[DiscoveredUrl]) {
        for found in discovered.iter().filter(|found| !found.is_probed()) {
            if let Some(wanted) = self.out_probes.get_mut(&found.url) {
                wanted.get_or_insert_with(|| found.clone());
            }
        }
    }

    /// Removes and returns the discovered URLs that were excluded as probes.
    pub(super) fn take_wanted_again(
        &self,
        discovered: &mut Vec<DiscoveredUrl>,
    ) -> Vec<DiscoveredUrl> {
        let is_wanted_again = |found: &mut DiscoveredUrl| {
            found.requisite == 0
                && !found.is_probed()
                && self.probed.contains(&found.url)
                && self.patterns.place_of_probe(&found.url).is_some()
        };
        discovered.extract_if(.., is_wanted_again).collect()
    }

    /// Queues again a URL that was excluded unvisited.
    pub(super) fn revoke_excluded(&mut self, discovered: DiscoveredUrl) {
        let is_its = |visit: &VisitRecord| {
            visit.url == discovered.url && visit.excluding_pattern().is_some()
        };
        let visit = self.rows.iter().rposition(is_its);
        let visit = self.rows.remove(visit.expect("an excluded URL has a row"));
        self.totals.uncount(&visit);
        self.patterns.revoked(&visit);
        self.wait(discovered);
    }

    /// Reopens a pattern that excluded few pages. Returns false if there is none.
    pub(super) fn take_last_look(&mut self) -> bool {
        let closes = self.rules.closes_patterns;
        let Some(reopened) = self.patterns.last_look().filter(|_| closes) else {
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
                let visit = self.rows.iter().rfind(is_its);
                let visit = visit.expect("an excluded URL has a row");
                let discovered =
                    DiscoveredUrl::new(visit.url.clone(), visit.depth, visit.via.clone());
                self.revoke_excluded(match self.seen.contains(&visit.url) {
                    true => discovered.with_priority_of(self.priorities[&visit.url]),
                    false => discovered.probed_as(self.priorities[&visit.url]),
                });
            }
        }
    }

    /// Returns the reason to exclude an entry that comes up for lease.
    pub(super) fn exclusion(&mut self, index: usize) -> Option<Reason> {
        let entry = &self.entries[index].entry;
        let found = &entry.discovered;
        if found.is_probed() {
            self.out_probes.insert(found.url.clone(), None);
        }
        let is_begun = found.is_probed() && (entry.attempts > 0 || entry.crashes > 0);
        if found.requisite > 0 || is_begun {
            return None;
        }
        self.patterns
            .exclusion(&found.url, found.priority, &self.rules)
    }
}
