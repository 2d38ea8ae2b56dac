//! Off-topic streaks of hosts in a focused crawl: consecutive pages off topic.
//!
//! A crawl often knows hosts only by links without the topic's words, and has to try them. A host
//! whose pages are off topic waits behind other hosts with the same score, so that all hosts are
//! tried and hosts with the topic are found. One page on topic ends the streak.
//!
//! Invariant: a streak depends only on the visits and their order. It changes the turns of hosts,
//! not the order of a host's URLs.

use journal::{Fate, VisitRecord};
use serde::{Deserialize, Serialize};

/// Number of pages off topic that cost the first level.
const FIRST: u32 = 4;

/// Number of pages off topic of a host since its last page on topic. It is on disk (postcard), in
/// the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffTopicStreak(u32);

impl OffTopicStreak {
    /// Counts a visit, if its page was compared with the topic.
    pub fn count(&mut self, visit: &VisitRecord) {
        if visit.is_judged() {
            self.0 = match visit.fate {
                Fate::OffTopic => self.0.saturating_add(1),
                _ => 0,
            };
        }
    }

    /// Returns how many levels the streak costs the scores of the host's URLs: one after four
    /// pages, and one more each time its length has doubled.
    #[must_use]
    pub fn levels(self) -> u8 {
        let times = (self.0 / FIRST).checked_ilog2();
        times.map_or(0, |times| times as u8 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streak_costs_a_level_from_four_pages_on_and_one_more_with_each_doubling() {
        for (pages, levels) in [
            (0, 0),
            (3, 0),
            (4, 1),
            (7, 1),
            (8, 2),
            (16, 3),
            (u32::MAX, 30),
        ] {
            assert_eq!(OffTopicStreak(pages).levels(), levels, "{pages}");
        }
    }
}
