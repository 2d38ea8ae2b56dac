//! The harvest of URL patterns and hosts: how many of their pages were about the topic of a focused
//! crawl.
//!
//! Source: the harvest rate of Chakrabarti, van den Berg and Dom 1999, section 3. Invariant: it
//! counts visits, like the novelty of patterns; a revoked visit stays counted.

use serde::{Deserialize, Serialize};

use crate::visit_record::{Fate, VisitRecord};

/// Pages of one part of the web that were compared with the topic. It is on disk (postcard), in the
/// tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harvest {
    /// Pages that were compared with the topic.
    pub judged: u32,
    /// Compared pages that are about the topic, duplicates included.
    pub on_topic: u32,
}

impl Harvest {
    /// Counts a visit, if its page was compared with the topic. The counts stop at their maximum.
    pub fn count(&mut self, visit: &VisitRecord) {
        if !visit.is_judged() || self.judged == u32::MAX {
            return;
        }
        self.judged += 1;
        self.on_topic += u32::from(visit.fate != Fate::OffTopic);
    }
}

/// The harvest around a URL so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrlHarvest {
    /// The harvest of its URL pattern; `None` if the pattern has had no visit, or was forgotten.
    pub pattern: Option<Harvest>,
    /// The harvest of its host; `None` if no pattern of the host has had a visit.
    pub host: Option<Harvest>,
}
