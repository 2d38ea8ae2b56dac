//! One pattern: what its visits brought, and what follows from that.
//!
//! The numbers are from a simulation (`examples/novelty.rs`; docs/adr/0007 has its table).

use serde::{Deserialize, Serialize};
use web::{UrlKey, UrlPattern};

use super::PatternReport;
use super::left::LeftRows;
use crate::visit_record::{Fate, VisitRecord};

/// Visits after which a pattern may become poor.
const POOR_VISITS: u32 = 30;
/// The visits that decide on that, and how many of them in a hundred must bring something new.
const POOR_WINDOW: u32 = 50;
const POOR_PERCENT: u32 = 5;
/// The last visits that decide on closing, and how many of them at most brought something new.
const CLOSED_WINDOW: u32 = 100;
const CLOSED_NEW: u32 = 1;
/// URLs of a closed pattern that are left out before the first probe; twice as many before each one
/// after that, up to the last.
const FIRST_GAP: u32 = 16;
const LAST_GAP: u32 = 1_024;
/// After a probe that brought something new, and so many of them in a row reopen the pattern.
const HOPEFUL_GAP: u32 = 2;
const REOPENING_PROBES: u8 = 3;
/// Pages that a pattern may have left out and are visited all the same, once, when nothing else of
/// the crawl is left to do.
const LAST_LOOK: usize = 256;
/// If one visit in so many brought something new, it may be as many as were visited: the pattern
/// costs at most twice as much.
const HONEST_ONE_IN: u64 = 20;
/// Examples that are kept: the latest.
const EXAMPLES: usize = 3;

/// Returns how many pages that were left out are visited at the end, where so many visits brought
/// something new and so many did not.
pub(super) fn last_look(new: u64, fruitless: u64) -> usize {
    let visited = new + fruitless;
    if new * HONEST_ONE_IN < visited {
        return LAST_LOOK;
    }
    usize::try_from(visited)
        .unwrap_or(usize::MAX)
        .max(LAST_LOOK)
}

/// The state of a pattern: the order in which its URLs are visited, if at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatternState {
    /// As all others.
    Open,
    /// Behind all others of the host.
    Poor,
    /// Not, but for a probe now and then.
    Closed,
}

impl PatternState {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Poor => "poor",
            Self::Closed => "closed",
        }
    }
}

/// A visit that brought nothing new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The visited URL.
    pub url: Box<str>,
    /// The page that it repeats, if it was had.
    pub original: Option<Box<str>>,
}

/// The yield of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    New,
    Repeated,
    Nothing,
    LeftOut,
}

impl Example {
    /// Remembers a visit that brought nothing new among the latest ones.
    pub(super) fn remember(examples: &mut Vec<Self>, row: &VisitRecord) {
        let original = row.duplicate_of.as_ref().map(|url| url.as_str().into());
        let url = row.url.as_str().into();
        examples.truncate(EXAMPLES - 1);
        examples.insert(0, Self { url, original });
    }
}

impl Visit {
    /// None where it says nothing about the pattern: the host was in trouble, or nothing was asked
    /// for.
    pub(super) fn of(row: &VisitRecord) -> Option<Self> {
        match row.fate {
            Fate::Unique | Fate::Changed => Some(Self::New),
            // What is unchanged since an earlier crawl is no fault of its address.
            Fate::ExactDuplicate | Fate::NearDuplicate if row.of_earlier => Some(Self::New),
            Fate::ExactDuplicate | Fate::NearDuplicate => Some(Self::Repeated),
            Fate::Failed => matches!(row.status, Some(404 | 410)).then_some(Self::Nothing),
            Fate::Excluded => row.status.map(|_| Self::Nothing),
        }
    }
}

/// The visits of a pattern, and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pattern {
    pub(super) generality: u8,
    new: u64,
    repeated: u64,
    nothing: u64,
    left_out: u64,
    /// The last visits, the latest in the lowest bit: whether they brought something new.
    recent: u128,
    /// Their number, up to the window.
    recent_visits: u32,
    closed: Option<Closed>,
    /// The time of its last visit, in visits.
    touched: u64,
    examples: Vec<Example>,
    /// The rows of what was left out since it was closed.
    left: LeftRows,
    /// It was reopened although its probes brought nothing new: at the end of the crawl, or by
    /// hand.
    looked_into: bool,
    /// Visits before it may be closed again: as many as it had left out when it was looked into.
    grace: u64,
    /// A probe is under way.
    #[serde(skip)]
    probing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Closed {
    /// URLs left out since the last probe.
    since: u32,
    /// And before the next.
    gap: u32,
    /// Probes in a row that brought something new.
    hopeful: u8,
}

impl Pattern {
    pub(super) fn new(generality: u8) -> Self {
        Self {
            generality,
            new: 0,
            repeated: 0,
            nothing: 0,
            left_out: 0,
            recent: 0,
            recent_visits: 0,
            closed: None,
            touched: 0,
            examples: Vec::new(),
            left: LeftRows::default(),
            looked_into: false,
            grace: 0,
            probing: false,
        }
    }

    pub(super) fn count(&mut self, visit: Visit, row: &VisitRecord, heard: u64) {
        self.touched = heard;
        self.probing = false;
        *match visit {
            Visit::New => &mut self.new,
            Visit::Repeated => &mut self.repeated,
            Visit::Nothing => &mut self.nothing,
            Visit::LeftOut => &mut self.left_out,
        } += 1;
        if visit == Visit::LeftOut {
            if let Some(closed) = &mut self.closed {
                closed.since = closed.since.saturating_add(1);
            }
            return;
        }
        let is_new = visit == Visit::New;
        self.grace = self.grace.saturating_sub(1);
        self.recent = self.recent << 1 | u128::from(is_new);
        self.recent_visits = (self.recent_visits + 1).min(CLOSED_WINDOW);
        if let Some(closed) = &mut self.closed {
            closed.since = 0;
            closed.hopeful = if is_new {
                closed.hopeful.saturating_add(1)
            } else {
                0
            };
            closed.gap = match is_new {
                true => HOPEFUL_GAP,
                false => (closed.gap * 2).clamp(FIRST_GAP, LAST_GAP),
            };
        }
        if !is_new {
            Example::remember(&mut self.examples, row);
        }
    }

    /// Remembers the place of the row of a URL that was left out; false where it was known.
    pub(super) fn remember_left_out(&mut self, page: UrlKey, place: u64) -> bool {
        self.left.insert(page, place)
    }

    /// Takes back that a URL was left out: its row is void. Returns whether the row was remembered.
    pub(super) fn take_back_left_out(&mut self, page: UrlKey) -> bool {
        self.left_out = self.left_out.saturating_sub(1);
        self.left.remove(page)
    }

    /// Returns the place of the row of a URL that was left out.
    pub(super) fn left_row(&self, page: UrlKey) -> Option<u64> {
        self.left.get(page)
    }

    /// Returns how many rows are remembered of what was left out.
    pub(super) fn left_rows(&self) -> usize {
        self.left.len()
    }

    /// Returns whether it left out so few pages that they are visited when nothing else is left to
    /// do. A trap leaves out more, or is looked into only once.
    pub(super) fn is_worth_a_last_look(&self) -> bool {
        let is_small = self.left.len() <= last_look(self.new, self.repeated + self.nothing);
        self.closed.is_some() && !self.looked_into && is_small && !self.left.is_empty()
    }

    /// Returns the rows that it left out while it was closed, if it is open.
    pub(super) fn to_requeue(&self) -> Option<&LeftRows> {
        (self.closed.is_none() && !self.left.is_empty()).then_some(&self.left)
    }

    pub(super) fn state(&self) -> PatternState {
        if self.closed.is_some() {
            return PatternState::Closed;
        }
        let window = self.recent_visits.min(POOR_WINDOW);
        let is_poor = self.recent_visits >= POOR_VISITS
            && self.new_of_last(window) * 100 < window * POOR_PERCENT;
        if is_poor {
            PatternState::Poor
        } else {
            PatternState::Open
        }
    }

    /// Returns the change that is due: closing, or reopening.
    pub(super) fn is_due(&self) -> bool {
        match &self.closed {
            Some(closed) => closed.hopeful >= REOPENING_PROBES,
            None => {
                let is_fruitless = self.new_of_last(CLOSED_WINDOW) <= CLOSED_NEW;
                self.grace == 0 && self.recent_visits >= CLOSED_WINDOW && is_fruitless
            }
        }
    }

    pub(super) fn close(&mut self) {
        let (since, gap, hopeful) = (0, FIRST_GAP, 0);
        self.closed = Some(Closed {
            since,
            gap,
            hopeful,
        });
    }

    /// Restarts the evidence; the counts stay.
    pub(super) fn reopen(&mut self) {
        if self.closed.is_some() && !self.is_due() {
            self.looked_into = true;
            self.grace = self.left.len() as u64;
        }
        self.closed = None;
        (self.recent, self.recent_visits) = (0, 0);
    }

    /// Returns true if the next URL of this closed pattern is to be visited as a probe.
    pub(super) fn probe(&mut self) -> bool {
        let is_time = self
            .closed
            .as_ref()
            .is_some_and(|closed| closed.since >= closed.gap);
        let probe = is_time && !self.probing;
        self.probing |= probe;
        probe
    }

    pub(super) fn begin_session(&mut self) {
        self.probing = false;
    }

    /// Pages that were had.
    pub(super) fn pages(&self) -> u64 {
        self.new + self.repeated
    }

    pub(super) fn why_closed(&self) -> String {
        format!(
            "{} of its last {} pages said something new",
            self.new_of_last(self.recent_visits),
            self.recent_visits
        )
    }

    /// Returns the order of forgetting: the smallest goes first.
    pub(super) fn idleness(&self) -> (bool, u64) {
        (self.closed.is_some(), self.touched)
    }

    pub(super) fn report<'a>(
        &'a self,
        host: &'a str,
        pattern: &'a UrlPattern,
    ) -> PatternReport<'a> {
        PatternReport {
            host,
            pattern,
            state: self.state(),
            visited: self.new + self.repeated + self.nothing,
            new: self.new,
            repeated: self.repeated,
            nothing: self.nothing,
            left_out: self.left_out,
            examples: &self.examples,
        }
    }

    fn new_of_last(&self, visits: u32) -> u32 {
        let last = (1_u128 << visits.min(CLOSED_WINDOW)) - 1;
        (self.recent & last).count_ones()
    }
}
