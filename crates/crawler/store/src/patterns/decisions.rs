//! The decisions of a store about URLs, by the state of the patterns.
//!
//! A store asks when a URL is discovered (`put_behind`, `take_wanted_again`), when an entry comes
//! up for lease (`exclusion`), after each settlement (`due`, `to_requeue`) and when nothing is left
//! to lease (`last_look`). It journals the record that is the answer, and applies it with
//! [`Patterns::apply`].
//!
//! Invariant: a decision changes nothing that is stored, except by the record that a store makes of
//! it. A leased probe of a closed pattern is only remembered until its visit or the session ends.

use journal::{DiscoveredUrl, PatternName, QueueEntry, Reason, Record, UrlHarvest};
use web::{Host, PageUrl, UrlKey, UrlPattern};

use super::Patterns;
use super::left::LeftRecords;
use super::pattern::PatternState;
use super::probes::Probes;
use crate::frontier::FrontierRules;
use crate::seen::seen_as_probe;

impl Patterns {
    /// Returns the reason to exclude an entry that comes up for lease: its pattern or folder is
    /// closed, or has reached its limit of pages. From time to time, a URL is let through as a
    /// probe.
    pub fn exclusion(&mut self, entry: &QueueEntry, rules: &FrontierRules) -> Option<Reason> {
        let found = &entry.discovered;
        // A URL whose visit has begun is not excluded: a kept page may have linked to it in the
        // meantime.
        let is_begun = found.is_probed() && (entry.attempts > 0 || entry.crashes > 0);
        if found.requisite > 0 || is_begun || found.is_ordered() {
            return None;
        }
        self.exclusion_of(&found.url, found.priority, rules)
    }

    fn exclusion_of(
        &mut self,
        url: &PageUrl,
        priority: u8,
        rules: &FrontierRules,
    ) -> Option<Reason> {
        if priority >= DiscoveredUrl::PROBED {
            if !rules.probes {
                return Some(Probes::unfollowed(url));
            }
            if rules.closes_patterns
                && let Some(reason) = self.probes.exclusion(url)
            {
                return Some(reason);
            }
        }
        let by_pattern = self.bar_by_pattern(url, rules);
        if by_pattern.is_some() || !rules.closes_patterns || self.troubled == 0 {
            return by_pattern;
        }
        self.bar_by_parameter(url)
    }

    fn bar_by_pattern(&mut self, url: &PageUrl, rules: &FrontierRules) -> Option<Reason> {
        let max_pages = rules.max_pages_per_pattern;
        if self.troubled == 0 && max_pages.is_none() {
            return None;
        }
        let (pattern, _) = self.known(url)?;
        let name = PatternName {
            host: url.host(),
            pattern: pattern.clone(),
        };
        let pattern = self.get_mut(&name)?;
        if rules.closes_patterns && pattern.state() == PatternState::Closed {
            let because = pattern.why_closed();
            return (!pattern.probe()).then_some(Reason::PatternClosed { name, because });
        }
        let most = max_pages.filter(|most| pattern.pages() >= *most)?;
        Some(Reason::PatternSpent { name, most })
    }

    /// Returns true if the scripts of a leased page are run although it has text without them: its
    /// pattern is not static, or it is a probe.
    pub fn runs_scripts(&mut self, url: &PageUrl, rules: &FrontierRules) -> bool {
        if !rules.probes_scripts {
            return false;
        }
        let Some((pattern, _)) = self.known(url) else {
            return true;
        };
        let name = PatternName {
            host: url.host(),
            pattern: pattern.clone(),
        };
        self.get_mut(&name)
            .is_none_or(|pattern| pattern.scripts.runs_next())
    }

    /// Returns the next record to journal under these rules: a pattern closes or reopens.
    #[must_use]
    pub fn due(&self, rules: &FrontierRules) -> Option<Record> {
        if !rules.closes_patterns {
            return None;
        }
        if let Some((name, is_closed)) = self.probes.due() {
            let name = name.clone();
            return Some(match is_closed {
                true => Record::PatternReopened(name),
                false => Record::PatternClosed(name),
            });
        }
        let name = self.due.first()?.clone();
        Some(match self.get(&name)?.state() {
            PatternState::Closed => Record::PatternReopened(name),
            _ => Record::PatternClosed(name),
        })
    }

    /// Returns the record that reopens a closed pattern or folder with few excluded pages, once for
    /// each, when the crawl is otherwise finished. An honest site has an end, and its last pages
    /// may be worth more than they cost; a trap never ends.
    #[must_use]
    pub fn last_look(&self, rules: &FrontierRules) -> Option<Record> {
        if self.left_records == 0 || !rules.closes_patterns {
            return None;
        }
        let mut patterns = self.all().filter(|(host, pattern, known)| {
            let visits = match known.is_parameter() {
                true => self.visits_beside(host, pattern, known.left().len()),
                false => Some(known.visits()),
            };
            // Only recent visits close a parameter, so the visits of its patterns decide here.
            known.is_worth_a_last_look(visits.unwrap_or((0, 1)))
        });
        let name = patterns.next().map(|(host, pattern, _)| PatternName {
            host: Host::new(host),
            pattern: pattern.clone(),
        });
        let name = name.or_else(|| self.probes.worth_a_last_look().cloned());
        name.map(Record::PatternReopened)
    }

    /// Returns the fruitful and the fruitless visits of the open patterns whose URLs were mostly
    /// excluded by a closed parameter. Returns `None` unless most of these visits were fruitful,
    /// which means that the parameter was closed too early.
    fn visits_beside(&self, host: &str, parameter: &UrlPattern, left: usize) -> Option<(u64, u64)> {
        let has_parameter = |pattern: &UrlPattern| {
            let mut parameters = pattern.of_parameters();
            parameters.any(|other| other == *parameter)
        };
        let of_host = self.all().filter(|(other, ..)| *other == host);
        let beside = of_host
            .filter(|(_, pattern, known)| known.is_open_by_itself() && has_parameter(pattern));
        let (mut new, mut fruitless, mut left_beside) = (0, 0, 0);
        for (.., known) in beside {
            let visits = known.visits();
            new += visits.0;
            fruitless += visits.1;
            left_beside += known.left_to_parameters;
        }
        (new >= fruitless && left_beside * 10 >= left as u64 * 9).then_some((new, fruitless))
    }

    /// Returns the next records to revoke: a pattern or folder left them out, and is open again.
    #[must_use]
    pub fn to_requeue(&self) -> Option<&LeftRecords> {
        if self.left_records == 0 {
            return None;
        }
        let mut patterns = self.reopened.iter();
        let records = patterns.find_map(|name| self.get(name)?.to_requeue());
        records.or_else(|| self.probes.to_requeue())
    }

    /// Removes the discovered URLs that were excluded as probes and are known from a kept page now.
    /// Returns each with the place of its record. `is_seen` searches the set of seen URLs.
    pub fn take_wanted_again(
        &self,
        discovered: &mut Vec<DiscoveredUrl>,
        is_seen: impl Fn(UrlKey) -> bool,
    ) -> Vec<(DiscoveredUrl, u64)> {
        let place = |found: &DiscoveredUrl| {
            let is_ordinary = found.requisite == 0 && !found.is_probed();
            if !is_ordinary || !is_seen(seen_as_probe(found.url.key())) {
                return None;
            }
            self.place_of_probe(&found.url)
        };
        let wanted = discovered.extract_if(.., |found| place(found).is_some());
        let with_place = |found: DiscoveredUrl| place(&found).map(|place| (found, place));
        wanted.filter_map(with_place).collect()
    }

    /// Returns the place of the record of a URL that was found only on unarchived pages, and was
    /// excluded.
    fn place_of_probe(&self, url: &PageUrl) -> Option<u64> {
        if self.left_records == 0 {
            return None;
        }
        let by_pattern = || self.known(url)?.1.left().get(url.key());
        let place = self.probes.place_of(url).or_else(by_pattern);
        place.or_else(|| self.place_by_parameter(url))
    }

    /// Puts URLs behind everything else if their pattern is poor or closed, and these rules close
    /// patterns.
    pub fn put_behind(&self, discovered: &mut [DiscoveredUrl], rules: &FrontierRules) {
        if self.troubled == 0 || !rules.closes_patterns {
            return;
        }
        for found in discovered.iter_mut().filter(|found| found.requisite == 0) {
            let pattern = self.known(&found.url);
            if pattern.is_some_and(|(_, pattern)| pattern.is_troubled()) {
                found.priority = DiscoveredUrl::behind(found.priority);
            }
        }
    }

    /// Returns the harvests around these URLs, in the same order.
    #[must_use]
    pub fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest> {
        let harvest = |found: &DiscoveredUrl| {
            let host = found.url.as_url().host_str()?;
            Some(UrlHarvest {
                pattern: self.known(&found.url).map(|(_, known)| known.harvest()),
                host: Some(self.hosts.get(host)?.harvest),
            })
        };
        let harvests = discovered.iter().map(harvest);
        harvests.map(Option::unwrap_or_default).collect()
    }
}
