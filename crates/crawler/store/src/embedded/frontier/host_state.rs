//! One host: its pace, its pages, and the counts of its entries.

use std::collections::VecDeque;

use web::{Host, Pace, Timestamp};

use super::place::{Body, Level, Rank, Urgency};
use super::turns::{Levels, Turn};
use super::wait_counts::WaitCounts;
use crate::frontier::FrontierRules;
use crate::off_topic_streak::OffTopicStreak;

/// One host.
#[derive(Debug)]
pub(super) struct HostState {
    pub(super) name: Host,
    pub(super) pace: Pace,
    /// Number of recorded fetched pages.
    pub(super) pages: u64,
    /// Its consecutive pages off topic since the last page on topic.
    pub(super) off_topic_streak: OffTopicStreak,
    /// Unsettled entries.
    pub(super) all: WaitCounts,
    /// Unsettled requisites.
    pub(super) requisites: WaitCounts,
    /// Unsettled probes.
    pub(super) probes: WaitCounts,
    /// Unsettled probes of mirrors.
    pub(super) mirrored: WaitCounts,
    /// All entries by urgency, in a crawl with the best host first.
    pub(super) levels: Option<Levels>,
    /// Entries out on lease.
    pub(super) leased: u64,
    /// The time of the last lease in this session.
    pub(super) asked: Timestamp,
    /// Fetched pages that are not recorded yet.
    pub(super) unrecorded: u64,
    /// Settled entries that are still in blocks.
    pub(super) gone: u32,
    /// The first waiting entries.
    pub(super) heads: VecDeque<(Rank, Body)>,
    /// The last rank whose waiting entries are all among the heads, along with all before it.
    pub(super) read_to: Option<Rank>,
    /// True if it has had its turn in this round.
    pub(super) passed: bool,
    /// True if its entries are not leased any more: see working_copy.rs.
    pub(super) closed: bool,
}

impl HostState {
    pub(super) fn new(name: Host, pace: Pace) -> Self {
        Self {
            name,
            pace,
            pages: 0,
            off_topic_streak: OffTopicStreak::default(),
            all: WaitCounts::default(),
            requisites: WaitCounts::default(),
            probes: WaitCounts::default(),
            mirrored: WaitCounts::default(),
            levels: None,
            leased: 0,
            asked: Timestamp::default(),
            unrecorded: 0,
            gone: 0,
            heads: VecDeque::new(),
            read_to: None,
            passed: false,
            closed: false,
        }
    }

    /// Changes the count for this rank.
    pub(super) fn update_counts(&mut self, rank: Rank, count: impl Fn(&mut WaitCounts)) {
        count(&mut self.all);
        if rank.is_requisite() {
            count(&mut self.requisites);
        }
        if rank.is_probed() {
            count(&mut self.probes);
        }
        if rank.is_mirrored() {
            count(&mut self.mirrored);
        }
        if let Some(levels) = &mut self.levels {
            levels.update_counts(rank, count);
        }
    }

    /// Records its pace: the latest pace counts, but no wait becomes shorter.
    pub(super) fn keep_pace(&mut self, pace: Pace) {
        self.pace = self.pace.then(pace);
    }

    /// Returns true if one more entry can be leased now, ignoring limits of pages.
    pub(super) fn has_slot(&self, rules: &FrontierRules) -> bool {
        self.leased < rules.leases_of(&self.name) as u64
    }

    /// Returns true if the limits leave room for one more of its pages. A leased entry may turn out
    /// to be a page.
    pub(super) fn has_room(&self, rules: &FrontierRules) -> bool {
        self.has_slot(rules) && self.is_below_limit(rules)
    }

    pub(super) fn is_below_limit(&self, rules: &FrontierRules) -> bool {
        let pages = self.pages + self.unrecorded + self.leased;
        rules.max_pages_of(&self.name).is_none_or(|max| pages < max)
    }

    /// Returns the level of its first waiting entry; `None` if hosts take turns by time alone. The
    /// first entry is of a kind that can be leased: requisites come first, and probes are leased
    /// when nothing else of their host is waiting.
    pub(super) fn first_level(&self) -> Option<Level> {
        self.levels.as_ref().and_then(Levels::first)
    }

    /// Returns the urgency of its first waiting entry.
    pub(super) fn urgency(&self) -> Urgency {
        self.urgency_of(self.first_level())
    }

    /// Returns the level of its first entry that is waiting or out.
    fn expected_level(&self) -> Option<Level> {
        self.levels.as_ref().and_then(Levels::first_expected)
    }

    /// Returns the urgency of its first entry that is waiting or out.
    pub(super) fn expected_urgency(&self) -> Urgency {
        self.urgency_of(self.expected_level())
    }

    fn urgency_of(&self, level: Option<Level>) -> Urgency {
        level.map_or_else(Urgency::default, |level| {
            level.urgency(self.off_topic_streak.levels())
        })
    }

    /// Returns the end of the wait for this host, and the urgency of its first entry that is
    /// waiting or out, if that entry has a score and there is room for another page.
    pub(super) fn anticipated(&self, rules: &FrontierRules) -> Option<Turn> {
        if rules.anticipation.is_zero() {
            return None;
        }
        let level = self.expected_level()?;
        let urgency = self.expected_urgency();
        let is_awaited = !self.closed && self.is_below_limit(rules) && level.is_scored();
        let end = match self.has_slot(rules) {
            true => self.pace.ready,
            false => self.asked + rules.anticipation,
        };
        is_awaited.then_some(Turn {
            ready: end,
            urgency,
        })
    }

    /// Rewinds the entries read ahead to this rank, so that they do not skip it.
    pub(super) fn rewind(&mut self, rank: Rank) {
        if self.read_to.is_some_and(|read_to| rank <= read_to) {
            while self.heads.back().is_some_and(|(last, _)| *last >= rank) {
                self.heads.pop_back();
            }
            self.read_to = rank.before();
        }
    }
}
