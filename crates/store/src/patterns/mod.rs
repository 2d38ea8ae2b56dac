//! What the pages of each URL pattern brought: something new, or the same again.
//!
//! A trap makes addresses without end, and most of what they bring repeats what is known. That can be told from outside by nobody
//! but a crawler that judges pages while it crawls. So each visit is counted for its pattern ([`web::UrlPattern`]): a pattern that brings
//! next to nothing new becomes *poor* (what is found of it waits behind everything else of its host), and then is *closed* (what comes up
//! for lease is left out unvisited, and reported). Now and then a closed pattern is probed, and reopens when it brings something
//! new again. `pattern.rs` has the numbers, docs/adr/0007 the reasons.
//!
//! Invariants: a function of the journal, and on disk as part of the frontier's tables (postcard). Bounded: so many patterns a host, more
//! general ones behind the first; so many in all, those go that were idle longest.

mod pattern;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use web::{Generality, Host, PageUrl, UrlPattern};

use crate::embedded::record::Record;
use crate::{Fate, Find, Row};

pub use self::pattern::{Example, PatternState};
use self::pattern::{Pattern, Visit};

/// Patterns in all. One takes about 400 bytes with its examples: 13 MB.
const MAX_PATTERNS: usize = 32_768;
/// Patterns of a host, by generality.
const MAX_OF_A_HOST: [usize; 5] = [128, 64, 32, 16, 1];
/// Exact patterns that differ in the query only.
const MAX_QUERIES: usize = 16;

/// A pattern of a host: `a.test/forum/{n}?page`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PatternName {
    /// The host.
    pub host: Host,
    /// The pattern below it.
    pub pattern: UrlPattern,
}

impl PatternName {
    /// A name as it is printed; none where there is no path in it.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (host, pattern) = text.split_at(text.find('/')?);
        (!host.is_empty()).then(|| Self {
            host: Host::new(host),
            pattern: UrlPattern::from_text(pattern),
        })
    }

    /// The pattern for whose sake a row was left out.
    #[must_use]
    pub fn that_left_out(row: &Row) -> Option<Self> {
        let reason = row.reason.as_deref().filter(|_| row.fate == Fate::Excluded)?;
        let rest = reason
            .strip_prefix(CLOSED)
            .or_else(|| reason.strip_prefix(SPENT))?;
        Self::from_text(rest.split_once(": ")?.0)
    }
}

impl fmt::Display for PatternName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.host, self.pattern.as_str())
    }
}

/// How reasons begin: patterns have no spaces, so what follows can be told.
const CLOSED: &str = "pattern closed: ";
const SPENT: &str = "pattern budget: ";

/// All patterns of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Patterns {
    hosts: BTreeMap<Box<str>, OfHost>,
    count: usize,
    /// Visits that were heard: the time by which idleness goes.
    heard: u64,
    /// Patterns that are poor or closed.
    troubled: usize,
    /// What is to be closed or reopened.
    due: BTreeSet<PatternName>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct OfHost {
    patterns: BTreeMap<UrlPattern, Pattern>,
}

/// What is known of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternReport<'a> {
    /// Which.
    pub host: &'a str,
    /// Below that host.
    pub pattern: &'a UrlPattern,
    /// Whether it is open, poor or closed.
    pub state: PatternState,
    /// Visits that were counted.
    pub visited: u64,
    /// Those that brought something new.
    pub new: u64,
    /// Those that brought a duplicate.
    pub repeated: u64,
    /// Those that brought nothing: it is gone (404, 410), or the page was left out after it was fetched.
    pub nothing: u64,
    /// URLs that were left out unvisited.
    pub left_out: u64,
    /// The last visits that brought nothing new.
    pub examples: &'a [Example],
}

impl Patterns {
    /// Takes note of a record of the journal.
    pub fn hear(&mut self, record: &Record) {
        match record {
            Record::Settled { row, .. } => self.settled(row),
            Record::Revoked { row, .. } => self.revoked(row),
            Record::PatternClosed(name) => self.change(name, Pattern::close),
            Record::PatternReopened(name) => self.change(name, Pattern::reopen),
            _ => {}
        }
    }

    /// A visit ended.
    pub(crate) fn settled(&mut self, row: &Row) {
        self.heard += 1;
        if row.requisite > 0 {
            return;
        }
        let left_out = PatternName::that_left_out(row);
        let visit = match (&left_out, Visit::of(row)) {
            (Some(_), _) => Visit::LeftOut,
            (None, Some(visit)) => visit,
            (None, None) => return,
        };
        let name = left_out.or_else(|| self.name_to_count(&row.url));
        let (Some(name), heard) = (name, self.heard) else {
            return;
        };
        self.change(&name, |pattern| pattern.count(visit, row, heard));
        if self.count > MAX_PATTERNS {
            self.forget_idle();
        }
    }

    fn revoked(&mut self, row: &Row) {
        if let Some(name) = PatternName::that_left_out(row) {
            self.change(&name, Pattern::take_back_left_out);
        }
    }

    /// What is to be told to the journal next: a pattern is to be closed, or to be reopened.
    pub(crate) fn due(&self) -> Option<Record> {
        let name = self.due.first()?.clone();
        Some(match self.get(&name)?.state() {
            PatternState::Closed => Record::PatternReopened(name),
            _ => Record::PatternClosed(name),
        })
    }

    /// Whether the pattern of this URL is poor or closed.
    fn is_troubled(&self, url: &PageUrl) -> bool {
        self.known(url)
            .is_some_and(|(_, pattern)| pattern.state() != PatternState::Open)
    }

    /// Puts those behind everything else whose pattern has brought little so far.
    pub(crate) fn put_behind(&self, finds: &mut [Find]) {
        if self.troubled == 0 {
            return;
        }
        for find in finds.iter_mut().filter(|find| find.requisite == 0) {
            if self.is_troubled(&find.url) {
                find.priority = Find::BEHIND;
            }
        }
    }

    /// Why a URL that comes up for lease is to be left out: its pattern is closed, or had so many pages. A probe of a closed
    /// pattern is let through.
    pub(crate) fn bar(&mut self, url: &PageUrl, closes: bool, max_pages: Option<u64>) -> Option<String> {
        if self.troubled == 0 && max_pages.is_none() {
            return None;
        }
        let (pattern, _) = self.known(url)?;
        let name = PatternName {
            host: url.host(),
            pattern: pattern.clone(),
        };
        let pattern = self.get_mut(&name)?;
        if closes && pattern.state() == PatternState::Closed {
            return (!pattern.probe()).then(|| format!("{CLOSED}{name}: {}", pattern.why_closed()));
        }
        let max = max_pages.filter(|max| pattern.pages() >= *max)?;
        Some(format!(
            "{SPENT}{name}: it had its {max} pages (--max-pages-per-pattern)"
        ))
    }

    /// A session begins: what the last one had under way is not.
    pub(crate) fn begin_session(&mut self) {
        for pattern in self
            .hosts
            .values_mut()
            .flat_map(|host| host.patterns.values_mut())
        {
            pattern.begin_session();
        }
    }

    /// Whether this pattern is known.
    #[must_use]
    pub fn contains(&self, name: &PatternName) -> bool {
        self.get(name).is_some()
    }

    /// All of them, by host and pattern.
    pub fn reports(&self) -> impl Iterator<Item = PatternReport<'_>> {
        self.hosts.iter().flat_map(|(host, of)| {
            of.patterns
                .iter()
                .map(move |(pattern, known)| known.report(host, pattern))
        })
    }

    /// The pattern of a URL, if it is known; with what is known of it.
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

    /// The pattern that a visit of this URL counts for; it is known from now on.
    fn name_to_count(&mut self, url: &PageUrl) -> Option<PatternName> {
        let host = url.as_url().host_str()?;
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.into(), OfHost::default());
        }
        let of_host = self.hosts.get_mut(host)?;
        let name = |pattern| {
            Some(PatternName {
                host: url.host(),
                pattern,
            })
        };
        for generality in Generality::ALL {
            let pattern = UrlPattern::of(url, generality);
            if of_host.patterns.contains_key(&pattern) {
                return name(pattern);
            }
            if of_host.has_room(&pattern, generality) {
                let begun = Pattern::new(generality as u8);
                of_host.patterns.insert(pattern.clone(), begun);
                self.count += 1;
                return name(pattern);
            }
        }
        None
    }

    fn get(&self, name: &PatternName) -> Option<&Pattern> {
        self.hosts.get(name.host.as_str())?.patterns.get(&name.pattern)
    }

    fn get_mut(&mut self, name: &PatternName) -> Option<&mut Pattern> {
        self.hosts
            .get_mut(name.host.as_str())?
            .patterns
            .get_mut(&name.pattern)
    }

    /// Changes a pattern, and keeps in step what depends on it. One that is not known any more is left alone.
    fn change(&mut self, name: &PatternName, change: impl FnOnce(&mut Pattern)) {
        let Some(pattern) = self.get_mut(name) else {
            return;
        };
        let was_troubled = pattern.state() != PatternState::Open;
        change(pattern);
        let is_troubled = pattern.state() != PatternState::Open;
        let is_due = pattern.is_due();
        self.troubled = self.troubled + usize::from(is_troubled) - usize::from(was_troubled);
        if is_due {
            self.due.insert(name.clone());
        } else if !self.due.is_empty() {
            self.due.remove(name);
        }
    }

    /// Forgets a quarter of the patterns: open ones first, and of these the ones that were idle longest.
    fn forget_idle(&mut self) {
        let all = self.hosts.values().flat_map(|host| host.patterns.values());
        let mut order: Vec<(bool, u64)> = all.map(Pattern::idleness).collect();
        let quarter = order.len() / 4;
        let (_, bound, _) = order.select_nth_unstable(quarter);
        let bound = *bound;
        for host in self.hosts.values_mut() {
            host.patterns.retain(|_, pattern| pattern.idleness() >= bound);
        }
        self.hosts.retain(|_, host| !host.patterns.is_empty());
        let left = || self.hosts.values().flat_map(|host| host.patterns.values());
        self.count = left().count();
        self.troubled = left()
            .filter(|pattern| pattern.state() != PatternState::Open)
            .count();
        let hosts = &self.hosts;
        self.due.retain(|name| {
            let host = hosts.get(name.host.as_str());
            host.is_some_and(|host| host.patterns.contains_key(&name.pattern))
        });
    }
}

impl OfHost {
    /// Whether there is room for this pattern, which is not known.
    fn has_room(&self, pattern: &UrlPattern, generality: Generality) -> bool {
        let alike = |known: &&Pattern| known.generality == generality as u8;
        let room = self.patterns.values().filter(alike).count() < MAX_OF_A_HOST[generality as usize];
        room && (generality != Generality::Exact || self.queries_beside(pattern) < MAX_QUERIES)
    }

    /// Exact patterns of the same path with another query.
    fn queries_beside(&self, pattern: &UrlPattern) -> usize {
        let Some((path, _)) = pattern.as_str().split_once('?') else {
            return 0;
        };
        let from = UrlPattern::from_text(&format!("{path}?"));
        let same_path = |(known, _): &(&UrlPattern, &Pattern)| {
            known
                .as_str()
                .strip_prefix(path)
                .is_some_and(|rest| rest.starts_with('?'))
        };
        self.patterns.range(from..).take_while(same_path).count()
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
