//! Places in the queue, and the memory of a waiting URL.

use std::sync::Arc;

use journal::{DiscoveredUrl, QueueEntry, StoreFault, VisitRecord};
use serde::{Deserialize, Serialize};
use web::PageUrl;

/// A page's place among the pages of its host: requisites, then pages that a user wants to have
/// visited, then all others by priority. Ties go to the page nearer to the scope, then to the page
/// nearer to a seed, then to the page discovered first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Rank {
    /// The order; lower goes first. The highest bit is set for a page. The next eight bits hold the
    /// priority, or for a requisite the number of steps from the page that needs it; the rest holds
    /// the number of links off the scope, then the depth. For an ordered page, the eight bits sort
    /// after the bits of all requisites.
    pub(super) priority: u32,
    pub(super) sequence: u64,
}

const PAGE: u32 = 1 << 31;
/// The value for an ordered page in place of the steps of a requisite.
const ORDERED: u8 = u8::MAX;
/// Bits below the priority.
const DISTANCE_BITS: u32 = 23;
/// Bits for the depth; the bits above hold the number of links off the scope.
const DEPTH_BITS: u32 = 20;
/// Maximum depth: URLs farther from a seed are recorded with this depth. At one page per second, it
/// is reached in twelve days.
const MAX_DEPTH: u32 = (1 << DEPTH_BITS) - 1;
const _: () = assert!(DiscoveredUrl::MAX_OFF_SCOPE >> (DISTANCE_BITS - DEPTH_BITS) == 0);

/// A rank without its distances: the kind and the priority of an entry. Lower goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Level(u16);

/// The rank of a host's first entry among the first entries of other hosts: lower goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Urgency(pub(super) u32);

/// A page's place in the queue of the crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Place {
    /// The number of its host: hosts are numbered in the order in which they became known.
    pub(super) host: u32,
    pub(super) rank: Rank,
}

/// A waiting URL, as text: parsed URLs take three times the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Body {
    /// The URL with the request for it ([`PageUrl::to_stored`]).
    pub(super) url: Box<str>,
    /// The page that it was found on, shared by the links of one page.
    pub(super) via: Option<Arc<str>>,
}

impl Rank {
    /// Returns the rank of a discovered URL.
    pub(super) fn of(discovered: &DiscoveredUrl, sequence: u64) -> Self {
        let DiscoveredUrl {
            requisite,
            priority,
            depth,
            off_scope,
            ..
        } = *discovered;
        Self::new(requisite, priority, [off_scope.into(), depth], sequence)
    }

    /// Returns the rank that the URL of a visit had.
    pub(super) fn of_visit(visit: &VisitRecord, priority: u8, sequence: u64) -> Self {
        let distance = [visit.details.off_scope.into(), visit.depth];
        Self::new(visit.requisite, priority, distance, sequence)
    }

    /// Returns the rank of a page (`requisite` is 0) or a requisite, this number of links off the
    /// scope and from a seed.
    fn new(requisite: u8, priority: u8, [off_scope, depth]: [u32; 2], sequence: u64) -> Self {
        let (kind, urgency) = match requisite {
            0 if priority == DiscoveredUrl::ORDERED => (0, ORDERED),
            0 => (PAGE, priority),
            steps => (0, steps.min(ORDERED - 1)),
        };
        Self {
            priority: kind
                | u32::from(urgency) << DISTANCE_BITS
                | off_scope.min(DiscoveredUrl::MAX_OFF_SCOPE.into()) << DEPTH_BITS
                | depth.min(MAX_DEPTH),
            sequence,
        }
    }

    /// Returns true for a requisite.
    pub(super) fn is_requisite(self) -> bool {
        self.priority & PAGE == 0 && self.middle() != ORDERED
    }

    fn is_ordered(self) -> bool {
        self.priority & PAGE == 0 && self.middle() == ORDERED
    }

    /// Returns true for a probe: a URL found only on unarchived pages.
    pub(super) fn is_probed(self) -> bool {
        self.urgency() >= DiscoveredUrl::PROBED
    }

    /// Returns true for a probe that waits for the whole crawl.
    pub(super) fn is_mirrored(self) -> bool {
        self.urgency() >= DiscoveredUrl::MIRRORED
    }

    /// Returns the kind and the priority, without the distances: lower goes first.
    pub(super) fn level(self) -> Level {
        // Nine bits are left.
        Level((self.priority >> DISTANCE_BITS) as u16)
    }

    /// Returns the depth of the URL.
    pub(super) fn depth(self) -> u32 {
        self.priority & MAX_DEPTH
    }

    /// Returns the number of links off the scope.
    fn off_scope(self) -> u8 {
        (self.priority >> DEPTH_BITS & 0xff) as u8 & DiscoveredUrl::MAX_OFF_SCOPE
    }

    /// Returns the priority of a page.
    fn urgency(self) -> u8 {
        if self.is_requisite() {
            0
        } else if self.is_ordered() {
            DiscoveredUrl::ORDERED
        } else {
            self.middle()
        }
    }

    /// Returns the number of steps from a requisite to the page that needs it; 0 for a page.
    fn requisite(self) -> u8 {
        if self.is_requisite() {
            self.middle()
        } else {
            0
        }
    }

    fn middle(self) -> u8 {
        (self.priority >> DISTANCE_BITS & 0xff) as u8
    }

    /// Returns the last rank before this one, if any.
    pub(super) fn before(self) -> Option<Self> {
        match (self.sequence.checked_sub(1), self.priority.checked_sub(1)) {
            (Some(sequence), _) => Some(Self { sequence, ..self }),
            (None, Some(priority)) => Some(Self {
                priority,
                sequence: u64::MAX,
            }),
            (None, None) => None,
        }
    }
}

impl Level {
    /// Returns the urgency of a host with this first entry, whose score is lowered by `levels`.
    pub(super) fn urgency(self, levels: u8) -> Urgency {
        let priority = (self.0 & 0xff) as u8;
        let place = match self.is_page() {
            true => DiscoveredUrl::among_hosts(priority, levels),
            false => u16::from(priority) << 8,
        };
        Urgency(u32::from(self.0 >> 8) << 16 | u32::from(place))
    }

    fn is_page(self) -> bool {
        self.0 & (PAGE >> DISTANCE_BITS) as u16 != 0
    }

    /// Returns true for the level of a page with a score.
    pub(super) fn is_scored(self) -> bool {
        self.is_page() && DiscoveredUrl::link_score_of((self.0 & 0xff) as u8).is_some()
    }
}

impl Place {
    /// Returns the first place that a host can have.
    pub(super) fn first_of(host: u32) -> Self {
        let rank = Rank {
            priority: 0,
            sequence: 0,
        };
        Self { host, rank }
    }

    /// Returns the last place that a host can have.
    pub(super) fn last_of(host: u32) -> Self {
        let rank = Rank {
            priority: u32::MAX,
            sequence: u64::MAX,
        };
        Self { host, rank }
    }
}

impl Body {
    /// Returns the approximate number of bytes in memory: the texts, and a node of the map that
    /// holds them.
    pub(super) fn weight(&self) -> usize {
        self.url.len() + 96
    }

    /// Returns the entry at this rank.
    pub(super) fn into_entry(
        self,
        rank: Rank,
        attempts: u32,
        crashes: u32,
    ) -> Result<QueueEntry, StoreFault> {
        let parse = |text: &str| {
            PageUrl::of_stored(text).map_err(|error| StoreFault::Tables {
                path: "sled".into(),
                what: format!("a queued URL cannot be read ({error})"),
            })
        };
        let discovered = DiscoveredUrl {
            url: parse(&self.url)?,
            depth: rank.depth(),
            via: self.via.as_deref().map(parse).transpose()?,
            priority: rank.urgency(),
            requisite: rank.requisite(),
            off_scope: rank.off_scope(),
        };
        Ok(QueueEntry {
            sequence: rank.sequence,
            discovered,
            attempts,
            crashes,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::link;

    proptest! {
        /// The distance from the scope shares the bits of the depth.
        #[test]
        fn an_entry_comes_back_from_its_rank_as_it_was_discovered(
            priority in any::<u8>(),
            depth in 0..=MAX_DEPTH,
            requisite in 0..9_u8,
            off_scope in 0..=DiscoveredUrl::MAX_OFF_SCOPE,
            sequence in any::<u64>(),
        ) {
            let found = DiscoveredUrl {
                // A requisite has no priority.
                priority: if requisite == 0 { priority } else { 0 },
                ..link("http://a.test/1", depth).needed(requisite).off_scope(off_scope)
            };
            let body = Body {
                url: found.url.to_stored().into(),
                via: None,
            };
            let entry = body.into_entry(Rank::of(&found, sequence), 0, 0).unwrap();
            prop_assert_eq!(entry.discovered, found);
            prop_assert_eq!(entry.sequence, sequence);
        }

        #[test]
        fn of_equal_priority_the_page_nearer_to_the_scope_goes_first(
            near in (0..DiscoveredUrl::MAX_OFF_SCOPE, 0..=MAX_DEPTH),
            far_depth in 0..=MAX_DEPTH,
        ) {
            let (off_scope, depth) = near;
            let rank = |off_scope, depth| {
                Rank::of(&link("http://a.test/1", depth).off_scope(off_scope), 7)
            };
            prop_assert!(rank(off_scope, depth) < rank(off_scope + 1, far_depth));
        }
    }
}
