//! The journal positions of visits, by the URL and by the original that the page repeats: 12 bytes
//! a visit, and 12 more for a duplicate.

use std::collections::HashSet;

use journal::{Position, VisitRecord};
use web::UrlKey;

use crate::clusters::{ClusterKey, cluster_of};
use crate::positions::{MAX_POSITION, Positions};

/// The position of a visit that was revoked.
const REVOKED: Position = MAX_POSITION;
/// The bit of a position of a duplicate whose visit was revoked later. Journals are
/// shorter: 128 TiB.
const WITHDRAWN: Position = MAX_POSITION / 2 + 1;

/// The positions of visits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VisitIndex {
    visits: Positions,
    /// The positions of duplicates by their clusters.
    members: Positions,
}

impl VisitIndex {
    /// Adds a visit.
    pub(crate) fn insert(&mut self, visit: &VisitRecord, position: Position) {
        self.visits.insert(visit.url.key().as_u64(), position);
        if let Some((cluster, _)) = cluster_of(visit) {
            self.members.insert(cluster, position);
        }
    }

    /// Takes back a visit that was added.
    pub(crate) fn remove(&mut self, visit: &VisitRecord) {
        let url = visit.url.key();
        if let (Some((cluster, _)), Some(position)) = (cluster_of(visit), self.get(url)) {
            self.members.insert(cluster, position | WITHDRAWN);
        }
        self.visits.insert(url.as_u64(), REVOKED);
    }

    /// Returns the position of the last visit of a URL, unless it was revoked.
    pub(crate) fn get(&self, url: UrlKey) -> Option<Position> {
        let last = self.visits.last(url.as_u64());
        last.filter(|position| *position != REVOKED)
    }

    /// Returns the positions of the duplicates of a cluster, in the order of their visits.
    pub(crate) fn members(&self, cluster: ClusterKey) -> Vec<Position> {
        let mut members: Vec<Position> = self.members.all(cluster).collect();
        let withdrawn = members
            .iter()
            .filter(|position| **position & WITHDRAWN != 0);
        let withdrawn: HashSet<Position> = withdrawn.map(|position| position ^ WITHDRAWN).collect();
        members.retain(|position| position & WITHDRAWN == 0 && !withdrawn.contains(position));
        members
    }
}
