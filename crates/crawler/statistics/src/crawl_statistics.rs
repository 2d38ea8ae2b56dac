//! The projection: each record of the journal changes the statistics once.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

use journal::{
    DiscoveredUrl, ExcludedBy, ExcludedLinks, Fate, JournalFollower, Position, Reason, ReasonKind,
    Record, SettledVisit, StoreFault, Totals, VisitRecord,
};
use store::{CRASHES_TO_QUARANTINE, Patterns};
use web::{Host, Pace, PageUrl};

use crate::clusters::{Clusters, cluster_key};
use crate::counts::Counts;
use crate::hosts::{HostStatistics, Hosts};
use crate::in_flight::{InFlight, VisitInFlight};
use crate::limits::{MAX_DIED, MAX_NAMES};
use crate::name_counts::NameCounts;
use crate::newest::{Newest, NewestVisits, RecentVisit};
use crate::timeline::{Timeline, TimelinePoint};
use crate::verdicts::{VerdictRules, Verdicts};
use crate::visit_index::VisitIndex;

/// The name of URLs that redirect to a page of the crawl.
pub const REDIRECTED: &str = "redirects to pages of this crawl";

/// The statistics of a crawl: a function of the records of its journal, whether they are read at
/// once or in pieces. Revoked visits are taken back from every figure, except for the links that
/// their pages excluded and the last failure of a host.
///
/// ```no_run
/// use statistics::CrawlStatistics;
///
/// let (mut statistics, mut follower) = CrawlStatistics::read("crawl/state".as_ref())?;
/// assert!(statistics.totals().unique <= statistics.totals().pages);
/// // Later, while the crawl runs:
/// statistics.catch_up(&mut follower)?;
/// # Ok::<(), journal::StoreFault>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrawlStatistics {
    counts: Counts,
    timeline: Timeline,
    hosts: Hosts,
    verdicts: Verdicts,
    status_codes: NameCounts,
    types: NameCounts,
    languages: NameCounts,
    failure_kinds: NameCounts,
    exclusion_reasons: NameCounts,
    patterns: Patterns,
    excluded_links: BTreeMap<String, u64>,
    newest: NewestVisits,
    clusters: Clusters,
    /// Crashes of sessions by the sequence numbers of the queue entries that they visited.
    crashes: HashMap<u64, u32>,
    in_flight: InFlight,
    /// `None` unless asked for.
    index: Option<VisitIndex>,
}

impl CrawlStatistics {
    /// Returns the statistics of a crawl without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the same with an index of visits, for [`CrawlStatistics::position_of`] and
    /// [`CrawlStatistics::members_of`]. It takes 12 bytes per visit, and 12 more per duplicate.
    #[must_use]
    pub fn with_index() -> Self {
        Self {
            index: Some(VisitIndex::default()),
            ..Self::default()
        }
    }

    /// Reads the whole journal of the store in `state`. The follower reads on from there.
    ///
    /// The statistics of a damaged journal up to the damage are in the statistics that
    /// [`CrawlStatistics::catch_up`] was called on.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be read, or is damaged.
    pub fn read(state: &Path) -> Result<(Self, JournalFollower), StoreFault> {
        let mut statistics = Self::new();
        let mut follower = JournalFollower::open(state)?;
        statistics.catch_up(&mut follower)?;
        Ok((statistics, follower))
    }

    /// Applies the records that were appended since, and returns their number. If another journal
    /// has replaced the journal that was read, the statistics start over with the new one.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be read, or is damaged: the records before the damage
    /// are applied.
    pub fn catch_up(&mut self, follower: &mut JournalFollower) -> Result<u64, StoreFault> {
        loop {
            if follower.is_replaced()? {
                follower.restart()?;
                *self = self.emptied();
            }
            let applied = follower.apply_rest(|position, record| self.apply(position, record));
            if applied.is_ok() || !follower.is_replaced()? {
                return applied;
            }
        }
    }

    /// Returns statistics without records, with an index if these have one.
    fn emptied(&self) -> Self {
        match self.index {
            Some(_) => Self::with_index(),
            None => Self::new(),
        }
    }

    /// Applies a record of the journal that begins at `position`. Records are applied in their
    /// order, each once.
    pub fn apply(&mut self, position: Position, record: &Record) {
        self.patterns.apply(record);
        self.in_flight.apply(position, record);
        match record {
            Record::Begun { at, .. } => self.counts.begun_at = Some(*at),
            Record::Discovered { finds, .. } => self.queue(finds),
            Record::Settled(settled) => self.settle(position, settled),
            Record::Revoked { visit, .. } => self.revoke(visit),
            Record::Superseded { entry } => {
                self.end_entry(entry.sequence);
                let host = self.hosts.of(host_of(&entry.discovered.url));
                host.waiting = host.waiting.saturating_sub(1);
            }
            Record::Died { sequences } => sequences.iter().for_each(|one| self.die(*one)),
            Record::Postponed {
                entry,
                pace,
                reason,
                ..
            } => {
                let host = host_of(&entry.discovered.url);
                self.hosts.pace(host, *pace);
                if let Some(reason) = reason {
                    self.hosts.of(host).fail(Some(reason));
                }
            }
            Record::Paced { host, pace } | Record::Returned { host, pace, .. } => {
                self.hosts.pace(host.as_str(), *pace);
            }
            Record::Restarted { at, rule } => {
                self.change_paces(|pace| pace.after_restart(*at, *rule));
            }
            Record::ClockSetBack { to, min_wait } => {
                self.change_paces(|pace| pace.set_back(*to, *min_wait).0);
            }
            // Patterns and visits in flight are counted above; nothing else is. A URL that is held
            // counts once it is queued.
            Record::Admitted { .. }
            | Record::Forgotten { .. }
            | Record::SeedAdopted { .. }
            | Record::Retained(_)
            | Record::Leased { .. }
            | Record::Stopped
            | Record::RobotsRead { .. }
            | Record::Archived { .. }
            | Record::PatternClosed(_)
            | Record::PatternReopened(_)
            | Record::ClockSet { .. }
            | Record::Distinct(_)
            | Record::Held { .. } => {}
        }
    }

    fn queue(&mut self, finds: &[DiscoveredUrl]) {
        self.counts.queued += finds.len() as u64;
        for find in finds {
            self.hosts.of(host_of(&find.url)).waiting += 1;
        }
    }

    fn settle(&mut self, position: Position, settled: &SettledVisit) {
        let visit = &settled.visit;
        self.queue(&visit.finds);
        self.end_entry(settled.sequence);
        visit.excluded.iter().for_each(|links| self.exclude(links));
        let record = &*visit.record;
        let host = host_of(&record.url);
        let figures = self.hosts.of(host);
        figures.waiting = figures.waiting.saturating_sub(1);
        figures.pace = figures.pace.then(settled.pace);
        self.hosts.count(host, record);
        self.counts.totals.count(record);
        self.counts.last_visit_at = Some(record.fetched_at);
        self.counts.hosts = self.hosts.with_pages();
        self.timeline.count(record, self.counts.queued);
        self.verdicts.change(record, |sum, part| *sum += part);
        self.change_names(record, NameCounts::add);
        self.newest.count(record);
        self.clusters.count_visit(record);
        if let Some(index) = &mut self.index {
            index.insert(record, position);
        }
    }

    fn revoke(&mut self, visit: &VisitRecord) {
        let host = host_of(&visit.url);
        self.counts.queued += 1;
        self.hosts.of(host).waiting += 1;
        self.hosts.take_back(host, visit);
        self.counts.totals.uncount(visit);
        self.counts.hosts = self.hosts.with_pages();
        self.timeline.take_back(visit);
        self.verdicts
            .change(visit, |sum, part| *sum = sum.saturating_sub(part));
        self.change_names(visit, NameCounts::take_back);
        self.newest.take_back(visit);
        self.clusters.take_back(visit);
        if let Some(index) = &mut self.index {
            index.remove(visit);
        }
    }

    /// Takes an entry out of the queue.
    fn end_entry(&mut self, sequence: u64) {
        self.counts.queued = self.counts.queued.saturating_sub(1);
        let crashes = self.crashes.remove(&sequence);
        let was_quarantined = crashes.is_some_and(|crashes| crashes >= CRASHES_TO_QUARANTINE);
        self.counts.quarantined -= u64::from(was_quarantined);
    }

    fn die(&mut self, sequence: u64) {
        if self.crashes.len() >= MAX_DIED && !self.crashes.contains_key(&sequence) {
            return;
        }
        let crashes = self.crashes.entry(sequence).or_insert(0);
        *crashes += 1;
        self.counts.quarantined += u64::from(*crashes == CRASHES_TO_QUARANTINE);
    }

    fn exclude(&mut self, links: &ExcludedLinks) {
        if let Some(known) = self.excluded_links.get_mut(&links.rule) {
            *known += links.links;
        } else if self.excluded_links.len() < MAX_NAMES {
            self.excluded_links.insert(links.rule.clone(), links.links);
        }
    }

    fn change_paces(&mut self, change: impl Fn(Pace) -> Pace) {
        self.hosts.change_paces(change);
    }

    /// Changes the counts of the names that a visit has.
    fn change_names(&mut self, visit: &VisitRecord, change: impl Fn(&mut NameCounts, &str)) {
        if let Some(status) = visit.status {
            change(&mut self.status_codes, &status.to_string());
        }
        if let Some(media) = &visit.content_type {
            change(&mut self.types, media);
        }
        if visit.requisite > 0 {
            return;
        }
        if let Some(language) = visit.language.as_ref().filter(|_| visit.is_page()) {
            change(&mut self.languages, language);
        }
        let name = || {
            let reason = visit.reason.as_ref();
            reason.map_or_else(|| "without a reason".to_owned(), Reason::name)
        };
        match visit.fate {
            Fate::Failed => change(&mut self.failure_kinds, &name()),
            Fate::Excluded if ExcludedBy::of(visit) == ExcludedBy::Redirect => {
                change(&mut self.exclusion_reasons, REDIRECTED);
            }
            Fate::Excluded => change(&mut self.exclusion_reasons, &name()),
            Fate::Unique
            | Fate::Changed
            | Fate::ExactDuplicate
            | Fate::NearDuplicate
            | Fate::OffTopic => {}
        }
    }

    /// Returns the counts of the whole crawl.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the visits by time, at most [`MAX_POINTS`](crate::limits::MAX_POINTS) points in the
    /// order of their times. All have the same span: a minute, doubled when there are too many.
    /// Spans without a visit are omitted.
    #[must_use]
    pub fn timeline(&self) -> &[TimelinePoint] {
        self.timeline.points()
    }

    /// Returns the hosts with their statistics, in arbitrary order.
    pub fn hosts(&self) -> impl Iterator<Item = (&Host, &HostStatistics)> {
        self.hosts.known()
    }

    /// Returns the statistics of all hosts that came after
    /// [`MAX_HOSTS`](crate::limits::MAX_HOSTS) others, as if they were one.
    #[must_use]
    pub fn other_hosts(&self) -> &HostStatistics {
        self.hosts.other()
    }

    /// Returns the number of near duplicates by the distance of their fingerprints in bits.
    #[must_use]
    pub fn distances(&self) -> &[u64; 65] {
        &self.verdicts.distances
    }

    /// Returns the number of near duplicates by their resemblance in hundredths, rounded down.
    #[must_use]
    pub fn resemblances(&self) -> &[u64; 101] {
        &self.verdicts.resemblances
    }

    /// Returns the number of duplicates by the rule that found them.
    #[must_use]
    pub fn verdict_rules(&self) -> &VerdictRules {
        &self.verdicts.rules
    }

    /// Returns the number of visits by the status code of their last response, requisites included.
    #[must_use]
    pub fn status_codes(&self) -> &NameCounts {
        &self.status_codes
    }

    /// Returns the number of visits by media type, requisites included.
    #[must_use]
    pub fn types(&self) -> &NameCounts {
        &self.types
    }

    /// Returns the number of pages by language.
    #[must_use]
    pub fn languages(&self) -> &NameCounts {
        &self.languages
    }

    /// Returns the number of failed pages by the beginning of the reason.
    #[must_use]
    pub fn failure_kinds(&self) -> &NameCounts {
        &self.failure_kinds
    }

    /// Returns the number of excluded pages by the beginning of the reason.
    #[must_use]
    pub fn exclusion_reasons(&self) -> &NameCounts {
        &self.exclusion_reasons
    }

    /// Returns the URL patterns with their yields and states.
    #[must_use]
    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// Returns the number of links that were never queued, by the rule that took them for traps.
    #[must_use]
    pub fn excluded_links(&self) -> &BTreeMap<String, u64> {
        &self.excluded_links
    }

    /// Returns the number of URLs that were queued and then excluded unvisited, by the kind of
    /// reason. URLs that still wait, and links that were never queued, are not counted.
    pub fn skipped(&self) -> impl Iterator<Item = (ReasonKind, u64)> {
        ReasonKind::ALL
            .into_iter()
            .map(|kind| (kind, self.counts.totals.skipped[kind as usize]))
    }

    /// Returns the sums over all visits.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.counts.totals
    }

    /// Returns the newest visits of a kind, newest first, at most
    /// [`MAX_NEWEST`](crate::limits::MAX_NEWEST).
    pub fn newest(&self, kind: Newest) -> impl Iterator<Item = &RecentVisit> {
        self.newest.of(kind)
    }

    /// Returns the number of all visits of a kind.
    #[must_use]
    pub fn total_of(&self, kind: Newest) -> u64 {
        self.newest.total(kind)
    }

    /// Returns the clusters of pages that repeat the same original.
    #[must_use]
    pub fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// Returns the position of the last visit of a URL in the journal, for
    /// [`journal::record_at`]. `None` if it was not visited, if its visit was revoked, or
    /// if these statistics have no index ([`CrawlStatistics::with_index`]).
    #[must_use]
    pub fn position_of(&self, url: &PageUrl) -> Option<Position> {
        self.index.as_ref()?.get(url.key())
    }

    /// Returns the positions of the visits of all duplicates of an original, in the order
    /// the visits ended. Empty if these statistics have no index.
    #[must_use]
    pub fn members_of(&self, original: &PageUrl, of_earlier: bool) -> Vec<Position> {
        let cluster = cluster_key(original, of_earlier);
        let index = self.index.as_ref();
        index.map_or_else(Vec::new, |index| index.members(cluster))
    }

    /// Returns the visits that began and have not ended, at most
    /// [`MAX_UNDER_WAY`](crate::limits::MAX_UNDER_WAY), in the order of queuing. If no process runs
    /// the crawl, these visits were active when it died.
    pub fn in_flight(&self) -> impl ExactSizeIterator<Item = VisitInFlight> {
        self.in_flight.visits()
    }

    /// Returns the part of the journal with the record that queued this entry: the range of
    /// positions where that record may begin. `None` if the number is unknown.
    #[must_use]
    pub fn queued_within(&self, sequence: u64) -> Option<Range<Position>> {
        self.in_flight.queued_within(sequence)
    }
}

fn host_of(url: &PageUrl) -> &str {
    url.as_url().host_str().unwrap_or_default()
}
