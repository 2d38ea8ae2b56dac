//! The yield of each URL pattern: pages that are new, and pages that repeat others.
//!
//! A trap produces an unlimited number of URLs, and most of their pages repeat known pages. Only a
//! crawler that judges pages while it crawls can notice that. So each visit is counted for its
//! pattern ([`web::UrlPattern`]). A pattern that brings next to nothing new becomes *poor*: its
//! URLs wait behind everything else of their host. Later it is *closed*: its URLs are excluded
//! unvisited when they come up for lease, and reported. From time to time, a closed pattern is
//! probed, and reopens when it brings something new again. If a later page contains a known page
//! (for example, a printed view crawled before its article), the known page counts as a repeat from
//! then on. `pattern.rs` has the numbers, docs/adr/0007 the reasons.
//!
//! The same applies to each parameter of a path, in all of its combinations: `parameters.rs`.
//!
//! In a focused crawl, visits are also counted by whether they were about the topic, for each
//! pattern and each host ([`Harvest`]). A pattern with many compared pages, all of them off topic,
//! is poor too: its URLs wait behind, since their links may be on topic. It is not closed, because
//! pages off topic say nothing about new content.
//!
//! The module is pure: it has neither I/O nor a lock nor a clock. Records and visits go in, and
//! decisions come out as values: the reason to exclude a leased URL, the next record to journal,
//! the records to queue again. The embedded store asks it, as do `JournalRebuild`, the nodes of a
//! shared crawl by their working copies, and the store of `contract`; each writes the records and
//! keeps them in its own way.
//!
//! Invariants: it is a function of the journal, and on disk as part of the frontier's tables
//! (postcard). Two caps bound it. Beyond the cap on the patterns of a host, more general patterns
//! are used; beyond the cap on all patterns, the patterns that were idle longest are forgotten.

mod closed;
mod decisions;
mod left;
mod parameters;
mod pattern;
mod probes;
mod scripts;

use std::collections::{BTreeMap, BTreeSet};

use journal::{DiscoveredUrl, Fate, Harvest, PatternName, Reason, Record, VisitRecord};
use serde::{Deserialize, Serialize};
use web::{Generality, PageUrl, UrlPattern};

pub use self::left::LeftRecords;
use self::left::MAX_LEFT_RECORDS;
pub use self::pattern::{Example, PatternState};
use self::pattern::{Pattern, Visit};
use self::probes::Probes;
pub use self::scripts::{RenderedPages, ScriptUse};

/// Maximum number of patterns. One takes about 400 bytes with its examples: 13 MB.
const MAX_PATTERNS: usize = 32_768;
/// Maximum numbers of patterns of a host, by generality.
const MAX_OF_A_HOST: [usize; 5] = [512, 64, 32, 16, 1];
/// Maximum number of exact patterns that differ only in the query.
const MAX_QUERIES: usize = 16;

/// All patterns of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Patterns {
    hosts: BTreeMap<Box<str>, OfHost>,
    count: usize,
    /// Number of counted visits: the clock for idleness.
    visits: u64,
    /// Number of patterns that are poor or closed.
    troubled: usize,
    /// The patterns to close or reopen.
    due: BTreeSet<PatternName>,
    /// The folders of probes: URLs known only from unarchived pages.
    probes: Probes,
    /// Number of remembered records of URLs that were excluded.
    left_records: usize,
    /// Patterns that are open and have such records.
    reopened: BTreeSet<PatternName>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct OfHost {
    patterns: BTreeMap<UrlPattern, Pattern>,
    harvest: Harvest,
}

/// A report on a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternReport<'a> {
    /// The host.
    pub host: &'a str,
    /// The pattern below that host.
    pub pattern: &'a UrlPattern,
    /// Its state: open, poor or closed.
    pub state: PatternState,
    /// Number of counted visits.
    pub visited: u64,
    /// Visits that brought something new.
    pub new: u64,
    /// Visits that brought a duplicate.
    pub repeated: u64,
    /// Visits that brought nothing: the page is gone (404, 410), or was excluded after it was
    /// fetched.
    pub nothing: u64,
    /// Visits that brought a page off the topic of a focused crawl.
    pub off_topic: u64,
    /// URLs that were excluded unvisited.
    pub excluded: u64,
    /// The pages whose scripts were run, if any.
    pub scripts: RenderedPages,
    /// The most recent visits that brought nothing new.
    pub examples: &'a [Example],
}

impl Patterns {
    /// Applies a record of the journal.
    pub fn apply(&mut self, record: &Record) {
        self.apply_at(record, None);
    }

    /// Applies a record at a known place, which is used to queue an excluded URL again.
    pub(crate) fn apply_at(&mut self, record: &Record, place: Option<u64>) {
        match record {
            Record::Settled(settled) => {
                let visit = &settled.visit;
                self.settled(&visit.record, &visit.finds, settled.priority, place);
            }
            Record::Revoked { visit, .. } => self.revoked(visit),
            Record::PatternClosed(name) if Probes::names(name) => self.probes.close(name),
            Record::PatternReopened(name) if Probes::names(name) => self.probes.reopen(name),
            Record::PatternClosed(name) => self.change(name, Pattern::close),
            Record::PatternReopened(name) => self.change(name, Pattern::reopen),
            _ => {}
        }
    }

    /// Counts the end of a visit to a URL of this priority, with its new links. `place` is the
    /// place of its record.
    pub fn settled(
        &mut self,
        record: &VisitRecord,
        finds: &[DiscoveredUrl],
        priority: u8,
        place: Option<u64>,
    ) {
        self.visits += 1;
        if record.requisite > 0 {
            return;
        }
        let place = place.filter(|_| self.left_records < MAX_LEFT_RECORDS);
        let excluded = record.excluding_pattern().cloned();
        if let Some(folder) = excluded.as_ref().filter(|name| Probes::names(name)) {
            let remembered = self.probes.excluded(folder, record.url.key(), place);
            self.left_records += usize::from(remembered);
            return;
        }
        let visit = match (&excluded, Visit::of(record)) {
            (Some(_), _) => Visit::Excluded,
            (None, Some(visit)) => visit,
            (None, None) => return,
        };
        if priority >= DiscoveredUrl::PROBED && visit != Visit::Excluded {
            self.probes.count(visit, record);
        }
        // URLs excluded by a budget come back only if the user reopens the pattern.
        let is_closed = record.fate == Fate::Excluded
            && record
                .reason
                .as_ref()
                .is_some_and(Reason::is_of_closed_pattern);
        let place = place.filter(|_| is_closed);
        let Some(name) = excluded.or_else(|| self.name_to_count(&record.url)) else {
            return;
        };
        if let Some(host) = self.hosts.get_mut(name.host.as_str()) {
            host.harvest.count(record);
        }
        let (now, mut remembered) = (self.visits, false);
        let leads_on = self.count_for_parameters(visit, record, finds);
        self.change(&name, |pattern| {
            pattern.count(visit, leads_on, record, now);
            remembered =
                place.is_some_and(|place| pattern.remember_excluded(record.url.key(), place));
        });
        self.left_records += usize::from(remembered);
        if remembered {
            self.change_beside(&name, &record.url, |pattern| {
                pattern.left_to_parameters += 1;
            });
        }
        if self.count > MAX_PATTERNS {
            self.forget_idle();
        }
        for page in &record.details.contains {
            self.contained(page);
        }
    }

    /// Uncounts the visit of a kept page as new, because a later page has all of its content.
    fn contained(&mut self, page: &PageUrl) {
        let name = self.known(page).map(|(pattern, _)| PatternName {
            host: page.host(),
            pattern: pattern.clone(),
        });
        if let Some(name) = name {
            self.change(&name, Pattern::take_back_new);
        }
        self.take_back_new_of_parameters(page);
    }

    /// Takes back a record that is void: its URL does not count as excluded any more.
    pub fn revoked(&mut self, record: &VisitRecord) {
        let Some(name) = record.excluding_pattern().cloned() else {
            return;
        };
        let page = record.url.key();
        let mut remembered = false;
        if Probes::names(&name) {
            remembered = self.probes.take_back(&name, page);
        } else {
            self.change(&name, |pattern| {
                remembered = pattern.take_back_excluded(page);
            });
            if remembered {
                self.change_beside(&name, &record.url, Pattern::take_back_left_to_parameters);
            }
        }
        self.left_records -= usize::from(remembered);
    }

    /// Updates the exact pattern of a URL when a parameter leaves the URL out or takes it back.
    fn change_beside(
        &mut self,
        name: &PatternName,
        url: &PageUrl,
        change: impl FnOnce(&mut Pattern),
    ) {
        if self.get(name).is_some_and(Pattern::is_parameter) {
            let exact = PatternName {
                host: name.host.clone(),
                pattern: UrlPattern::of(url, Generality::Exact),
            };
            self.change(&exact, change);
        }
    }

    /// Begins a session, without the probes that were in progress in the last one.
    pub fn begin_session(&mut self, probes: bool) {
        self.begin_session_of(probes, |_host| true);
    }

    /// Begins the session of the selected hosts.
    pub(crate) fn begin_session_of(&mut self, probes: bool, is_meant: impl Fn(&str) -> bool) {
        self.probes.begin_session_of(probes, &is_meant);
        let hosts = self.hosts.iter_mut().filter(|(host, _)| is_meant(host));
        hosts
            .flat_map(|(_, host)| host.patterns.values_mut())
            .for_each(Pattern::begin_session);
    }

    /// Forgets the patterns of the selected hosts.
    pub(crate) fn forget(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.left_records -= self.probes.forget(&is_meant);
        self.retain(|host, _| !is_meant(host));
    }

    /// Returns true for a known pattern.
    #[must_use]
    pub fn contains(&self, name: &PatternName) -> bool {
        self.get(name).is_some() || self.probes.contains(name)
    }

    /// Returns reports on all patterns, by host and pattern, and on closed parameters.
    pub fn reports(&self) -> impl Iterator<Item = PatternReport<'_>> {
        let known = self.all().filter(|(.., known)| known.is_reported());
        let reports = known.map(|(host, pattern, known)| known.report(host, pattern));
        reports.chain(self.probes.reports())
    }

    /// Returns all patterns with their hosts and states, sorted by host and pattern.
    fn all(&self) -> impl Iterator<Item = (&str, &UrlPattern, &Pattern)> {
        self.hosts.iter().flat_map(|(host, of)| {
            let patterns = of.patterns.iter();
            patterns.map(move |(pattern, known)| (&**host, pattern, known))
        })
    }

    /// Returns the pattern of a URL and its state, if it is known.
    fn known(&self, url: &PageUrl) -> Option<(&UrlPattern, &Pattern)> {
        if self.count == 0 {
            return None;
        }
        let host = self.hosts.get(url.as_url().host_str()?)?;
        for generality in Generality::ALL {
            let pattern = UrlPattern::of(url, generality);
            if let Some(found) = host.patterns.get_key_value(&pattern) {
                return Some(found);
            }
            if host.has_room(&pattern, generality) {
                return None;
            }
        }
        None
    }

    /// Returns the pattern that a visit of this URL counts for, adding it if it is new.
    fn name_to_count(&mut self, url: &PageUrl) -> Option<PatternName> {
        let host = url.as_url().host_str()?;
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.into(), OfHost::default());
        }
        let of_host = self.hosts.get_mut(host)?;
        for generality in Generality::ALL {
            let pattern = UrlPattern::of(url, generality);
            if !of_host.patterns.contains_key(&pattern) {
                if !of_host.has_room(&pattern, generality) {
                    continue;
                }
                let begun = Pattern::new(generality as u8);
                of_host.patterns.insert(pattern.clone(), begun);
                self.count += 1;
            }
            let host = url.host();
            return Some(PatternName { host, pattern });
        }
        None
    }

    fn get(&self, name: &PatternName) -> Option<&Pattern> {
        self.hosts
            .get(name.host.as_str())?
            .patterns
            .get(&name.pattern)
    }

    fn get_mut(&mut self, name: &PatternName) -> Option<&mut Pattern> {
        self.hosts
            .get_mut(name.host.as_str())?
            .patterns
            .get_mut(&name.pattern)
    }

    /// Changes a pattern if it is still known, and keeps the sums and sets in step with it.
    fn change(&mut self, name: &PatternName, change: impl FnOnce(&mut Pattern)) {
        let of_host = self.hosts.get(name.host.as_str());
        let is_suspect =
            self.troubled > 0 && of_host.is_some_and(|of_host| of_host.is_suspect(&name.pattern));
        let Some(pattern) = self.get_mut(name) else {
            return;
        };
        let was_troubled = pattern.is_troubled();
        change(pattern);
        let (is_troubled, is_due) = (pattern.is_troubled(), pattern.is_due(is_suspect));
        let is_reopened = pattern.to_requeue().is_some();
        self.troubled = self.troubled + usize::from(is_troubled) - usize::from(was_troubled);
        set_member(&mut self.due, name, is_due);
        set_member(&mut self.reopened, name, is_reopened);
    }

    /// Forgets a quarter of the patterns: open patterns first, starting with the patterns that were
    /// idle longest.
    fn forget_idle(&mut self) {
        let mut order: Vec<(bool, u64)> = self.all().map(|(.., known)| known.idleness()).collect();
        let quarter = order.len() / 4;
        let (_, &mut bound, _) = order.select_nth_unstable(quarter);
        self.retain(|_, pattern| pattern.idleness() >= bound);
    }

    /// Keeps only the patterns that `stays`, called with their hosts, accepts.
    fn retain(&mut self, stays: impl Fn(&str, &Pattern) -> bool) {
        for (name, host) in &mut self.hosts {
            host.patterns.retain(|_, pattern| {
                let stays = stays(name, pattern);
                self.left_records -= if stays { 0 } else { pattern.left().len() };
                stays
            });
        }
        self.hosts.retain(|_, host| !host.patterns.is_empty());
        self.count = self.all().count();
        self.troubled = self.all().filter(|(.., known)| known.is_troubled()).count();
        let hosts = &self.hosts;
        let is_known = |name: &PatternName| {
            let host = hosts.get(name.host.as_str());
            host.is_some_and(|host| host.patterns.contains_key(&name.pattern))
        };
        self.due.retain(is_known);
        self.reopened.retain(is_known);
    }
}

/// Adds a name to a set or removes it.
fn set_member(names: &mut BTreeSet<PatternName>, name: &PatternName, is_member: bool) {
    if is_member {
        names.insert(name.clone());
    } else if !names.is_empty() {
        names.remove(name);
    }
}

impl OfHost {
    /// Returns true if there is room for this pattern, which is not known yet.
    fn has_room(&self, pattern: &UrlPattern, generality: Generality) -> bool {
        let is_alike = |known: &&Pattern| known.generality == generality as u8;
        let alike = self.patterns.values().filter(is_alike).count();
        let has_room = alike < MAX_OF_A_HOST[generality as usize];
        has_room && (generality != Generality::Exact || self.queries_beside(pattern) < MAX_QUERIES)
    }

    /// Returns the number of exact patterns of the same path with another query.
    fn queries_beside(&self, pattern: &UrlPattern) -> usize {
        self.of_path(pattern).count()
    }

    /// Returns true if a poor or closed pattern of its path has a subset of its query parameters.
    fn is_suspect(&self, pattern: &UrlPattern) -> bool {
        let of_pattern: BTreeSet<&str> = pattern.parameters().collect();
        let is_part = |(part, state): (&UrlPattern, &Pattern)| {
            let has_all = || part.parameters().all(|name| of_pattern.contains(name));
            part != pattern && state.is_troubled() && has_all()
        };
        self.of_path(pattern).any(is_part)
    }

    /// Returns the exact patterns of the same path with any query.
    fn of_path(&self, pattern: &UrlPattern) -> impl Iterator<Item = (&UrlPattern, &Pattern)> {
        let path = pattern
            .as_str()
            .split_once('?')
            .map(|(path, _)| path.to_owned());
        let from = UrlPattern::from_text(&format!("{}?", path.as_deref().unwrap_or_default()));
        let same_path = move |(known, _): &(&UrlPattern, &Pattern)| {
            let rest = path
                .as_ref()
                .and_then(|path| known.as_str().strip_prefix(path.as_str()));
            rest.is_some_and(|rest| rest.starts_with('?'))
        };
        let of_path = self.patterns.range(from..).take_while(same_path);
        of_path.filter(|(_, known)| !known.is_parameter())
    }
}

#[cfg(test)]
mod parameter_tests;
#[cfg(test)]
mod probe_simulation;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
