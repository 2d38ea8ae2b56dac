//! One pattern: the yield of its visits, and its state.
//!
//! The numbers are from a simulation (`examples/novelty.rs`; docs/adr/0007 has its table).

use journal::{Fate, Harvest, VisitRecord};
use serde::{Deserialize, Serialize};
use web::{Generality, UrlKey, UrlPattern};

use super::PatternReport;
use super::closed::{Closed, LastLook};
use super::left::LeftRecords;
use super::scripts::RenderedPages;

/// The generality of parameters, which follows the generalities of patterns.
pub(super) const PARAMETER: u8 = Generality::ALL.len() as u8;
/// Minimum number of visits of a poor pattern.
const POOR_VISITS: u32 = 30;
/// Number of recent visits that decide whether a pattern is poor, and the percentage of new pages
/// below which it is.
const POOR_WINDOW: u32 = 50;
const POOR_PERCENT: u32 = 5;
/// Number of recent visits that decide on closing, and the maximum number of new pages among them.
const CLOSED_WINDOW: u32 = 100;
const CLOSED_NEW: u32 = 1;
/// The window of a pattern that has all query parameters of a poor or closed pattern and more:
/// `?sort` brings nothing new, so `?look&sort` probably will not either.
const SUSPECT_WINDOW: u32 = 40;
/// The percentage of new pages below which a parameter may be closed; and the number of visits of
/// an exact pattern with a closed parameter before that parameter applies.
const PARAMETER_PERCENT: u32 = 20;
const SAMPLES: u32 = 16;
/// Number of URLs of a closed pattern that are excluded before the first probe. It doubles before
/// each further probe, up to the last gap.
const FIRST_GAP: u32 = 16;
const LAST_GAP: u32 = 1_024;
/// The gap after a probe that brought something new, and the number of such probes in a row that
/// reopen the pattern.
const HOPEFUL_GAP: u32 = 2;
const REOPENING_PROBES: u8 = 3;
/// Number of pages compared with a topic that put a pattern behind if all are off topic.
const OFF_TOPIC_VISITS: u32 = 16;
/// Number of the latest examples that are kept.
const EXAMPLES: usize = 3;

/// The state of a pattern: the order in which its URLs are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatternState {
    /// In the usual order.
    Open,
    /// Behind all other URLs of the host.
    Poor,
    /// Not at all, except for occasional probes.
    Closed,
}

impl PatternState {
    /// Returns the word for it in reports.
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
    /// The page that it repeats, if it is a duplicate.
    pub original: Option<Box<str>>,
}

/// The yield of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    New,
    Repeated,
    Nothing,
    /// A page that is not about the topic. It was not compared with other pages, so it does not
    /// show whether the pattern brings something new.
    OffTopic,
    /// A page that needs its scripts and has the same bytes as another path. Whether it brings
    /// something new is unknown, so it neither closes a pattern nor keeps one open.
    Shell,
    Excluded,
}

impl Example {
    /// Adds a visit that brought nothing new to the latest examples.
    pub(super) fn remember(examples: &mut Vec<Self>, record: &VisitRecord) {
        let original = record.duplicate_of.as_ref().map(|url| url.as_str().into());
        let url = record.url.as_str().into();
        examples.truncate(EXAMPLES - 1);
        examples.insert(0, Self { url, original });
    }
}

impl Visit {
    /// Returns the yield of a visit; `None` if it says nothing about the pattern: the host failed,
    /// or nothing was requested.
    pub(super) fn of(record: &VisitRecord) -> Option<Self> {
        match record.fate {
            _ if record.is_repeated_shell() => Some(Self::Shell),
            Fate::Unique | Fate::Changed => Some(Self::New),
            // A page that is unchanged since an earlier crawl does not count against its pattern; a
            // page that repeats another page of that crawl does.
            Fate::ExactDuplicate | Fate::NearDuplicate if record.repeats_itself() => {
                Some(Self::New)
            }
            Fate::ExactDuplicate | Fate::NearDuplicate => Some(Self::Repeated),
            Fate::OffTopic => Some(Self::OffTopic),
            Fate::Failed => matches!(record.status, Some(404 | 410)).then_some(Self::Nothing),
            Fate::Excluded => record.status.map(|_| Self::Nothing),
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
    off_topic: u64,
    excluded: u64,
    harvest: Harvest,
    /// The last visits, the latest in the lowest bit: 1 for each that brought something new.
    recent: u128,
    /// The same visits: 1 for each that found an unknown URL outside the pattern.
    leading: u128,
    /// Number of recent visits, up to the window.
    recent_visits: u32,
    closed: Option<Closed>,
    /// The time of its last visit, measured in visits.
    touched: u64,
    examples: Vec<Example>,
    /// The records of the URLs excluded since it was closed.
    left: LeftRecords,
    /// Number of records of its URLs that parameters excluded and remember.
    pub(super) left_to_parameters: u64,
    last_look: LastLook,
    pub(super) scripts: RenderedPages,
}

impl Pattern {
    pub(super) fn new(generality: u8) -> Self {
        Self {
            generality,
            new: 0,
            repeated: 0,
            nothing: 0,
            off_topic: 0,
            excluded: 0,
            harvest: Harvest::default(),
            recent: 0,
            leading: 0,
            recent_visits: 0,
            closed: None,
            touched: 0,
            examples: Vec::new(),
            left: LeftRecords::default(),
            left_to_parameters: 0,
            last_look: LastLook::default(),
            scripts: RenderedPages::default(),
        }
    }

    pub(super) fn count(&mut self, visit: Visit, leads_on: bool, record: &VisitRecord, now: u64) {
        self.touched = now;
        self.scripts.count(record);
        self.end_probe();
        if visit == Visit::Shell && self.closed.is_none() {
            return;
        }
        *match visit {
            Visit::New => &mut self.new,
            Visit::Repeated | Visit::Shell => &mut self.repeated,
            Visit::Nothing => &mut self.nothing,
            Visit::OffTopic => &mut self.off_topic,
            Visit::Excluded => &mut self.excluded,
        } += 1;
        if visit == Visit::Excluded {
            self.closed.iter_mut().for_each(Closed::exclude);
            return;
        }
        let is_new = visit == Visit::New;
        self.harvest.count(record);
        self.last_look.count();
        if visit != Visit::OffTopic {
            self.recent = self.recent << 1 | u128::from(is_new);
            self.leading = self.leading << 1 | u128::from(leads_on);
            self.recent_visits = (self.recent_visits + 1).min(CLOSED_WINDOW);
        }
        if let Some(closed) = &mut self.closed {
            closed.since = 0;
            (closed.hopeful, closed.gap) = match is_new {
                true => (closed.hopeful.saturating_add(1), HOPEFUL_GAP),
                false => (0, (closed.gap * 2).clamp(FIRST_GAP, LAST_GAP)),
            };
            if leads_on && self.generality == PARAMETER {
                closed.hopeful = REOPENING_PROBES;
            }
        }
        if !is_new {
            Example::remember(&mut self.examples, record);
        }
    }

    /// Takes back that a visit brought something new, because a later page repeats it. It is not
    /// known which of the last visits it was, so the latest new one is changed.
    pub(super) fn take_back_new(&mut self) {
        if self.new > 0 {
            self.new -= 1;
            self.repeated += 1;
            self.recent &= self.recent.wrapping_sub(1);
        }
    }

    /// Remembers the place of the record of an excluded URL. Returns false if it was already known.
    pub(super) fn remember_excluded(&mut self, page: UrlKey, place: u64) -> bool {
        self.left.insert(page, place)
    }

    /// Takes back that a URL was excluded: its record is void. Returns true if the record was
    /// remembered.
    pub(super) fn take_back_excluded(&mut self, page: UrlKey) -> bool {
        self.excluded = self.excluded.saturating_sub(1);
        self.left.remove(page)
    }

    /// Takes back that a parameter excluded one of its URLs.
    pub(super) fn take_back_left_to_parameters(&mut self) {
        self.left_to_parameters = self.left_to_parameters.saturating_sub(1);
    }

    /// Returns the remembered records of the URLs that were excluded.
    pub(super) fn left(&self) -> &LeftRecords {
        &self.left
    }

    /// Returns true for a closed pattern with few enough excluded pages to visit them when the
    /// crawl is otherwise finished. `visits` counts the fruitful and the fruitless visits; the
    /// higher the share of fruitful visits, the more pages may be left.
    pub(super) fn is_worth_a_last_look(&self, visits: (u64, u64)) -> bool {
        self.closed.is_some() && self.last_look.is_worth_it(&self.left, visits.0, visits.1)
    }

    /// Returns the numbers of visits that brought something new, and that did not.
    pub(super) const fn visits(&self) -> (u64, u64) {
        (self.new, self.repeated + self.nothing)
    }

    /// Returns true for an exact pattern that stays open regardless of its parameters.
    pub(super) fn is_open_by_itself(&self) -> bool {
        !self.is_parameter() && self.closed.is_none() && self.is_decided_alone()
    }

    /// Returns the records that it excluded while it was closed, if it is open.
    pub(super) fn to_requeue(&self) -> Option<&LeftRecords> {
        (self.closed.is_none() && !self.left.is_empty()).then_some(&self.left)
    }

    /// Returns the harvest so far.
    pub(super) const fn harvest(&self) -> Harvest {
        self.harvest
    }

    /// Returns true if many pages were compared with the topic, and none was about it.
    const fn is_off_topic(&self) -> bool {
        self.harvest.judged >= OFF_TOPIC_VISITS && self.harvest.on_topic == 0
    }

    pub(super) fn state(&self) -> PatternState {
        let window = self.recent_visits.min(POOR_WINDOW);
        let is_poor = self.recent_visits >= POOR_VISITS
            && self.new_of_last(window) * 100 < window * POOR_PERCENT;
        match self.closed {
            Some(_) => PatternState::Closed,
            None if is_poor || self.is_off_topic() => PatternState::Poor,
            None => PatternState::Open,
        }
    }

    /// Returns true if the pattern is poor or closed.
    pub(super) fn is_troubled(&self) -> bool {
        self.state() != PatternState::Open
    }

    /// Returns true for the counts of a parameter.
    pub(super) const fn is_parameter(&self) -> bool {
        self.generality == PARAMETER
    }

    /// Returns true if parameters do not decide about the URLs of this exact pattern. It is closed
    /// or has a last look itself, has had few visits, or brings something new.
    pub(super) fn is_decided_alone(&self) -> bool {
        let is_seen_to = self.closed.is_some() || !self.last_look.is_over();
        is_seen_to || self.recent_visits < SAMPLES || !self.is_fruitless_view()
    }

    /// Returns true if few of its last visits brought something new, and none found unknown URLs
    /// outside the pattern: the views of known lists.
    fn is_fruitless_view(&self) -> bool {
        let window = self.recent_visits.min(CLOSED_WINDOW);
        let is_new = self.new_of_last(window) * 100 >= window * PARAMETER_PERCENT;
        !is_new && self.leading & last(window) == 0
    }

    /// Returns true if a change is due: closing or reopening. A suspect pattern is closed after
    /// fewer visits; it has the query parameters of a poor or closed pattern and more.
    pub(super) fn is_due(&self, is_suspect: bool) -> bool {
        match &self.closed {
            Some(closed) => closed.hopeful >= REOPENING_PROBES,
            None if self.is_parameter() => {
                let is_over = self.last_look.is_over() && self.recent_visits >= CLOSED_WINDOW;
                is_over && self.is_fruitless_view()
            }
            None => {
                let window = if is_suspect {
                    SUSPECT_WINDOW
                } else {
                    CLOSED_WINDOW
                };
                let is_fruitless = self.new_of_last(window) <= CLOSED_NEW;
                self.last_look.is_over() && self.recent_visits >= window && is_fruitless
            }
        }
    }

    pub(super) fn close(&mut self) {
        self.closed = Some(Closed::new(FIRST_GAP));
    }

    /// Clears the recent visits; the counts stay.
    pub(super) fn reopen(&mut self) {
        if self.closed.is_some() && !self.is_due(false) {
            self.last_look.take(&self.left);
        }
        self.closed = None;
        (self.recent, self.leading, self.recent_visits) = (0, 0, 0);
    }

    /// Returns true if the next URL of this closed pattern should be visited as a probe.
    pub(super) fn probe(&mut self) -> bool {
        self.closed.as_mut().is_some_and(Closed::probe)
    }

    /// Ends a probe in progress.
    fn end_probe(&mut self) {
        self.closed.iter_mut().for_each(Closed::end_probe);
    }

    /// Forgets the probes that an earlier session handed out.
    pub(super) fn begin_session(&mut self) {
        self.end_probe();
        self.scripts.begin_session();
    }

    /// Returns the number of fetched pages.
    pub(super) fn pages(&self) -> u64 {
        self.new + self.repeated + self.off_topic
    }

    pub(super) fn why_closed(&self) -> String {
        let (new, visits) = (self.new_of_last(self.recent_visits), self.recent_visits);
        let why = format!("{new} of its last {visits} pages said something new");
        match self.is_parameter() {
            true => format!("{why}, and none led to an unknown one"),
            false => why,
        }
    }

    /// Returns the sort key for forgetting: the smallest is forgotten first.
    pub(super) fn idleness(&self) -> (bool, u64) {
        (self.closed.is_some(), self.touched)
    }

    /// Returns true for patterns, and for parameters that are closed or have excluded URLs.
    pub(super) fn is_reported(&self) -> bool {
        !self.is_parameter() || self.closed.is_some() || self.excluded > 0
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
            visited: self.pages() + self.nothing,
            new: self.new,
            repeated: self.repeated,
            nothing: self.nothing,
            off_topic: self.off_topic,
            excluded: self.excluded,
            scripts: self.scripts,
            examples: &self.examples,
        }
    }

    fn new_of_last(&self, visits: u32) -> u32 {
        (self.recent & last(visits)).count_ones()
    }
}

/// Returns the bits of the last visits.
fn last(visits: u32) -> u128 {
    (1_u128 << visits.min(CLOSED_WINDOW)) - 1
}
