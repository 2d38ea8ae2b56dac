//! The statistics of generated histories equal a plain recount of the visit records that `crawler
//! export` prints, read at once or in any pieces.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use disk::SystemDisk;
use journal::{
    DiscoveredUrl, DuplicateRule, ExcludedLinks, Fate, FinishedVisit, Journal, JournalFollower,
    PatternName, Position, QueueEntry, Reason, Record, SettledVisit, VisitRecord,
};
use neardup::HashKey;
use proptest::prelude::*;
use statistics::{CrawlStatistics, Newest};
use store::CRASHES_TO_QUARANTINE;
use web::{CanonicalForm, Generality, Pace, PageUrl, RestartRule, Timestamp, UrlPattern};

const FATES: [Fate; 7] = [
    Fate::Unique,
    Fate::Changed,
    Fate::ExactDuplicate,
    Fate::NearDuplicate,
    Fate::OffTopic,
    Fate::Failed,
    Fate::Excluded,
];
const REASONS: usize = 4;
/// The number of the reason of pages with the same text.
const SAME_TEXT: usize = 1;

fn reason(number: usize) -> Reason {
    match number {
        0 => Reason::said("the same bytes"),
        SAME_TEXT => Reason::said("the same text"),
        2 => Reason::Robots {
            rule: "Disallow: /x (line 2)".to_owned(),
        },
        _ => Reason::Status {
            status: 404,
            login: String::new(),
        },
    }
}

/// Pages of the generated web.
const PAGES: u8 = 24;

/// A visit of a page.
#[derive(Clone, Debug)]
struct Visit {
    page: u8,
    fate: usize,
    reason: usize,
    minute: u64,
    bytes: u64,
    original: u8,
    distance: u32,
    hundredths: u32,
    flags: u8,
    finds: u8,
}

/// An event of a generated history.
#[derive(Clone, Debug)]
enum Event {
    Discover(u8),
    Visit(Visit),
    /// The page waits again, as after a power cut, the failure of its original, or the reopening of
    /// its pattern.
    Revoke(u8),
    Lease(u8),
    Postpone(u8),
    Stop,
    Die(u8),
    Supersede(u8),
    Restart(u64),
    ClosePattern(u8),
    ReopenPattern(u8),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let page = || 0..PAGES;
    let visit = (
        (page(), 0..FATES.len(), 0..REASONS, 0..4_000_u64),
        (0..9_000_u64, page(), 0..70_u32, 0..=100_u32),
        (any::<u8>(), 0..4_u8),
    );
    let visit = visit.prop_map(|(first, second, (flags, finds))| Visit {
        page: first.0,
        fate: first.1,
        reason: first.2,
        minute: first.3,
        bytes: second.0,
        original: second.1,
        distance: second.2,
        hundredths: second.3,
        flags,
        finds,
    });
    let event = prop_oneof![
        2 => page().prop_map(Event::Discover),
        8 => visit.prop_map(Event::Visit),
        3 => page().prop_map(Event::Revoke),
        4 => page().prop_map(Event::Lease),
        1 => page().prop_map(Event::Postpone),
        1 => Just(Event::Stop),
        2 => page().prop_map(Event::Die),
        1 => page().prop_map(Event::Supersede),
        1 => (0..4_000_u64).prop_map(Event::Restart),
        1 => page().prop_map(Event::ClosePattern),
        1 => page().prop_map(Event::ReopenPattern),
    ];
    proptest::collection::vec(event, 0..120)
}

fn url(page: u8) -> PageUrl {
    let host = page % 4;
    PageUrl::parse(
        &format!("http://h{host}.test/{page}"),
        &CanonicalForm::default(),
    )
    .unwrap()
}

fn at(minute: u64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + minute * 60_000 + minute % 7)
}

fn pattern(page: u8) -> PatternName {
    PatternName {
        host: url(page).host(),
        pattern: UrlPattern::of(&url(page), Generality::ALL[0]),
    }
}

/// The state of a generated crawl, from which only possible records follow.
#[derive(Default)]
struct Generator {
    next_sequence: u64,
    waiting: BTreeMap<u8, u64>,
    visited: BTreeMap<u8, VisitRecord>,
    deaths: BTreeMap<u64, u32>,
    in_flight: BTreeSet<u64>,
    records: Vec<Record>,
}

impl Generator {
    fn records(events: &[Event]) -> Self {
        let mut generator = Self::default();
        generator.records.push(Record::Begun {
            at: at(0),
            features: "word:1".to_owned(),
        });
        events.iter().for_each(|event| generator.add(event));
        generator
    }

    /// Queues a page if it is new, and returns it as discovered.
    fn queue(&mut self, page: u8) -> Option<DiscoveredUrl> {
        if self.waiting.contains_key(&page) || self.visited.contains_key(&page) {
            return None;
        }
        self.waiting.insert(page, self.next_sequence);
        self.next_sequence += 1;
        Some(DiscoveredUrl::new(url(page), 1, None))
    }

    fn add(&mut self, event: &Event) {
        match event {
            Event::Discover(page) => {
                let first = self.next_sequence;
                let finds = self.queue(*page).into_iter().collect();
                self.records.push(Record::Discovered { first, finds });
            }
            Event::Visit(visit) => self.visit(visit),
            Event::Revoke(page) => {
                let Some(mut record) = self.visited.remove(page) else {
                    return;
                };
                // The archive has lost the visit, or has it still.
                if record.bytes % 2 == 0 {
                    (record.warc_file, record.warc_offset) = (None, None);
                }
                self.waiting.insert(*page, self.next_sequence);
                self.records.push(Record::Revoked {
                    entry: entry(self.next_sequence, *page),
                    visit: Box::new(record),
                    reached: Vec::new(),
                });
                self.next_sequence += 1;
            }
            Event::Lease(page) => {
                let Some(sequence) = self.waiting.get(page).copied() else {
                    return;
                };
                self.in_flight.insert(sequence);
                let sequences = vec![sequence];
                self.records.push(Record::Leased { sequences });
            }
            Event::Postpone(page) => {
                let Some(sequence) = self.waiting.get(page).copied() else {
                    return;
                };
                self.in_flight.remove(&sequence);
                self.records.push(Record::Postponed {
                    entry: entry(sequence, *page),
                    at: at(9_000),
                    pace: Pace::from(at(1)),
                    reason: None,
                });
            }
            Event::Stop => {
                self.in_flight.clear();
                self.records.push(Record::Stopped);
            }
            Event::Die(page) => {
                let Some(sequence) = self.waiting.get(page).copied() else {
                    return;
                };
                self.in_flight.remove(&sequence);
                *self.deaths.entry(sequence).or_default() += 1;
                let sequences = vec![sequence];
                self.records.push(Record::Died { sequences });
            }
            Event::Supersede(page) => {
                let Some(sequence) = self.waiting.remove(page) else {
                    return;
                };
                self.deaths.remove(&sequence);
                self.in_flight.remove(&sequence);
                let entry = entry(sequence, *page);
                self.records.push(Record::Superseded { entry });
            }
            Event::Restart(minute) => self.records.push(Record::Restarted {
                at: at(*minute),
                rule: RestartRule {
                    min_wait: Duration::from_secs(1),
                    max_wait: Duration::from_secs(30),
                    factor: 5000,
                },
            }),
            Event::ClosePattern(page) => {
                self.records.push(Record::PatternClosed(pattern(*page)));
            }
            Event::ReopenPattern(page) => {
                self.records.push(Record::PatternReopened(pattern(*page)));
            }
        }
    }

    fn visit(&mut self, visit: &Visit) {
        let Some(sequence) = self.waiting.remove(&visit.page) else {
            return;
        };
        self.deaths.remove(&sequence);
        self.in_flight.remove(&sequence);
        let record = record(visit);
        self.visited.insert(visit.page, record.clone());
        let first = self.next_sequence;
        let links = (0..visit.finds).map(|step| (visit.page + step * 5) % PAGES);
        let links: Vec<u8> = links.collect();
        let finds = links.into_iter().filter_map(|page| self.queue(page));
        let finds = finds.collect();
        let excluded = vec![ExcludedLinks {
            rule: "too-deep".to_owned(),
            links: u64::from(visit.finds),
            example: url(0),
        }];
        self.records.push(Record::Settled(SettledVisit {
            sequence,
            priority: 0,
            first,
            pace: Pace::from(at(visit.minute)),
            visit: FinishedVisit {
                finds,
                excluded,
                ..FinishedVisit::new(record)
            },
        }));
    }
}

fn entry(sequence: u64, page: u8) -> QueueEntry {
    QueueEntry {
        sequence,
        discovered: DiscoveredUrl::new(url(page), 1, None),
        attempts: 0,
        crashes: 0,
    }
}

fn record(visit: &Visit) -> VisitRecord {
    let fate = FATES[visit.fate];
    let has = |bit: u8| visit.flags & 1 << bit != 0;
    let mut record = VisitRecord::new(
        DiscoveredUrl::new(url(visit.page), 1, None),
        fate,
        at(visit.minute),
    );
    record.requisite = has(0).into();
    record.kept = has(1);
    record.of_earlier = has(2);
    record.status = has(3).then_some(if has(4) { 200 } else { 404 });
    record.content_type = has(5).then(|| "text/html".to_owned());
    record.language = has(6).then(|| "en".to_owned());
    record.bytes = visit.bytes;
    record.reason = Some(reason(visit.reason));
    if fate == Fate::ExactDuplicate && visit.reason == SAME_TEXT {
        record.details.rule = Some(DuplicateRule::SameText);
    }
    (record.warc_file, record.warc_offset) = (Some("a.warc.gz".to_owned()), Some(7));
    if fate.is_duplicate() {
        record.duplicate_of = Some(url(visit.original));
    }
    if fate == Fate::NearDuplicate {
        record.distance = Some(visit.distance);
        record.resemblance = Some(f64::from(visit.hundredths) / 100.0);
    }
    record
}

fn count(visits: &[VisitRecord], is_one: impl Fn(&VisitRecord) -> bool) -> u64 {
    visits.iter().filter(|visit| is_one(visit)).count() as u64
}

/// Compares the figures with a recount of all visits that were not revoked.
fn compare(statistics: &CrawlStatistics, visits: &[VisitRecord]) {
    let counts = statistics.counts();
    let of = |fate: Fate| count(visits, |visit| visit.requisite == 0 && visit.fate == fate);
    assert_eq!(counts.totals.pages, count(visits, VisitRecord::is_page));
    assert_eq!(counts.totals.unique, of(Fate::Unique));
    assert_eq!(counts.totals.changed, of(Fate::Changed));
    assert_eq!(counts.totals.exact_duplicates, of(Fate::ExactDuplicate));
    assert_eq!(counts.totals.near_duplicates, of(Fate::NearDuplicate));
    assert_eq!(counts.totals.off_topic, of(Fate::OffTopic));
    assert_eq!(counts.totals.judged, count(visits, VisitRecord::is_judged));
    assert_eq!(counts.totals.failed, of(Fate::Failed));
    assert_eq!(counts.totals.excluded, of(Fate::Excluded));
    assert_eq!(
        counts.totals.bytes,
        visits.iter().map(|visit| visit.bytes).sum::<u64>()
    );
    let requisites = count(visits, |visit| visit.requisite > 0 && visit.fate.is_page());
    assert_eq!(counts.totals.requisites, requisites);
    let with_pages = visits.iter().filter(|visit| visit.is_page());
    let with_pages: BTreeSet<_> = with_pages.map(|visit| visit.url.host()).collect();
    assert_eq!(counts.hosts, with_pages.len() as u64);
    compare_hosts(statistics, visits);
    compare_times(statistics, visits);
    compare_verdicts(statistics, visits);
    compare_names(statistics, visits);
    for kind in Newest::ALL {
        let expected = visits.iter().rev().filter(|visit| kind.has(visit));
        let expected: Vec<&str> = expected.map(|visit| visit.url.as_str()).collect();
        let newest: Vec<&str> = statistics.newest(kind).map(|visit| &*visit.url).collect();
        assert_eq!(newest, expected, "{kind:?}");
    }
}

fn compare_hosts(statistics: &CrawlStatistics, visits: &[VisitRecord]) {
    for (host, figures) in statistics.hosts() {
        let visits: Vec<VisitRecord> = {
            let of_host = visits.iter().filter(|visit| visit.url.host() == *host);
            of_host.cloned().collect()
        };
        let duplicates = count(&visits, |visit| {
            visit.is_page() && visit.fate.is_duplicate()
        });
        let failed = count(&visits, |visit| {
            visit.requisite == 0 && visit.fate == Fate::Failed
        });
        assert_eq!(
            figures.sums.pages,
            count(&visits, VisitRecord::is_page),
            "{host}"
        );
        assert_eq!(figures.sums.duplicates, duplicates, "{host}");
        assert_eq!(figures.sums.failed, failed, "{host}");
        assert_eq!(
            figures.sums.bytes,
            visits.iter().map(|visit| visit.bytes).sum::<u64>()
        );
    }
}

fn compare_times(statistics: &CrawlStatistics, visits: &[VisitRecord]) {
    let points = statistics.timeline();
    assert!(points.is_sorted_by(|one, other| one.at < other.at));
    let mut timed = 0;
    for point in points {
        let end = point.at + point.span;
        let within = |visit: &VisitRecord| (point.at..end).contains(&visit.fetched_at);
        assert_eq!(
            point.sums.pages,
            count(visits, |visit| within(visit) && visit.is_page())
        );
        let bytes = visits
            .iter()
            .filter(|visit| within(visit))
            .map(|visit| visit.bytes);
        assert_eq!(point.sums.bytes, bytes.sum::<u64>());
        timed += count(visits, within);
    }
    assert_eq!(timed, visits.len() as u64, "each visit is in one point");
}

fn compare_verdicts(statistics: &CrawlStatistics, visits: &[VisitRecord]) {
    let near = |visit: &VisitRecord| visit.requisite == 0 && visit.fate == Fate::NearDuplicate;
    for (bits, found) in statistics.distances().iter().enumerate() {
        let is_so = |visit: &VisitRecord| visit.distance.unwrap().min(64) as usize == bits;
        assert_eq!(*found, count(visits, |visit| near(visit) && is_so(visit)));
    }
    for (hundredths, found) in statistics.resemblances().iter().enumerate() {
        let is_so = |visit: &VisitRecord| {
            (visit.resemblance.unwrap() * 100.0).round() as usize == hundredths
        };
        assert_eq!(*found, count(visits, |visit| near(visit) && is_so(visit)));
    }
    let rules = statistics.verdict_rules();
    let all = rules.same_bytes + rules.same_text + rules.near + rules.by_canonical;
    let duplicates = |visit: &VisitRecord| visit.is_page() && visit.fate.is_duplicate();
    assert_eq!(all, count(visits, duplicates));
    let same_text = |visit: &VisitRecord| {
        visit.requisite == 0
            && visit.fate == Fate::ExactDuplicate
            && visit.details.rule == Some(DuplicateRule::SameText)
    };
    assert_eq!(rules.same_text, count(visits, same_text));
    assert_eq!(
        rules.kept,
        count(visits, |visit| duplicates(visit) && visit.kept)
    );
    let mut clusters: BTreeMap<(bool, &PageUrl), u64> = BTreeMap::new();
    for visit in visits.iter().filter(|visit| duplicates(visit)) {
        let original = visit.duplicate_of.as_ref().unwrap();
        if *original != visit.url {
            *clusters.entry((visit.of_earlier, original)).or_default() += 1;
        }
    }
    let found = statistics.clusters().largest().into_iter();
    let found: BTreeMap<_, _> = found
        .map(|cluster| ((cluster.of_earlier, &cluster.original), cluster.duplicates))
        .collect();
    assert_eq!(found, clusters);
    assert_eq!(statistics.clusters().error(), 0);
    for ((of_earlier, original), members) in clusters {
        let found = statistics.members_of(original, of_earlier);
        assert_eq!(found.len() as u64, members, "{original}");
    }
}

fn compare_names(statistics: &CrawlStatistics, visits: &[VisitRecord]) {
    let codes = statistics.status_codes();
    assert_eq!(
        codes.count("200"),
        count(visits, |visit| visit.status == Some(200))
    );
    assert_eq!(codes.total(), count(visits, |visit| visit.status.is_some()));
    let types = statistics.types();
    assert_eq!(
        types.total(),
        count(visits, |visit| visit.content_type.is_some())
    );
    let english = count(visits, |visit| visit.is_page() && visit.language.is_some());
    assert_eq!(statistics.languages().count("en"), english);
    let counts = statistics.counts();
    assert_eq!(statistics.failure_kinds().total(), counts.totals.failed);
    assert_eq!(
        statistics.exclusion_reasons().total(),
        counts.totals.excluded
    );
}

fn url_of_visit(record: Record) -> PageUrl {
    match record {
        Record::Settled(settled) => settled.visit.record.url,
        other => panic!("{other:?}"),
    }
}

/// Returns the URL that was queued under a sequence number by a record that begins within.
fn queued_as(state: &Path, within: Range<Position>, sequence: u64) -> Option<PageUrl> {
    let mut follower = JournalFollower::open_at(state, within.start).unwrap();
    while let Some((position, record)) = follower.next_record().unwrap() {
        if position >= within.end {
            return None;
        }
        if let Some(url) = record.queued(sequence) {
            return Some(url.clone());
        }
    }
    None
}

fn visits(state: &Path) -> Vec<VisitRecord> {
    journal::visits(state)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn append(journal: &Journal, records: &[Record]) {
    for record in records {
        journal.append(record).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_figures_equal_a_recount_of_the_export_read_at_once_or_in_any_pieces(
        events in events(),
        pieces in proptest::collection::vec(1..20_usize, 0..10),
    ) {
        let state = tempfile::tempdir().unwrap();
        std::fs::create_dir(state.path().join("journal")).unwrap();
        let (disk, key) = (Arc::new(SystemDisk), HashKey::new(7));
        let journal = Journal::open(disk, &state.path().join("journal"), key, 2_000).unwrap();
        let history = Generator::records(&events);
        let mut in_pieces = CrawlStatistics::with_index();
        let mut follower = JournalFollower::open(state.path()).unwrap();
        let mut rest = &history.records[..];
        for piece in pieces {
            let (now, later) = rest.split_at(piece.min(rest.len()));
            append(&journal, now);
            rest = later;
            in_pieces.catch_up(&mut follower).unwrap();
            compare(&in_pieces, &visits(state.path()));
        }
        append(&journal, rest);
        in_pieces.catch_up(&mut follower).unwrap();
        let mut at_once = CrawlStatistics::with_index();
        at_once.catch_up(&mut JournalFollower::open(state.path()).unwrap()).unwrap();
        prop_assert_eq!(&at_once, &in_pieces);

        let visits = visits(state.path());
        compare(&at_once, &visits);
        prop_assert_eq!(at_once.counts().queued, history.waiting.len() as u64);
        let quarantined = history.deaths.values();
        let quarantined = quarantined.filter(|deaths| **deaths >= CRASHES_TO_QUARANTINE);
        prop_assert_eq!(at_once.counts().quarantined, quarantined.count() as u64);
        let waiting: u64 = at_once.hosts().map(|(_, figures)| figures.waiting).sum();
        prop_assert_eq!(waiting, at_once.counts().queued);
        for visit in &visits {
            let position = at_once.position_of(&visit.url).expect("it was visited");
            let record = journal::record_at(state.path(), position).unwrap();
            let is_it = |settled: &SettledVisit| *settled.visit.record == *visit;
            let found = matches!(record, Record::Settled(settled) if is_it(&settled));
            prop_assert!(found, "{}", visit.url);
        }
        for page in history.waiting.keys() {
            prop_assert_eq!(at_once.position_of(&url(*page)), None);
        }
        for page in 0..PAGES {
            for of_earlier in [false, true] {
                let original = url(page);
                let positions = at_once.members_of(&original, of_earlier);
                let members: Vec<PageUrl> = journal::records_at(state.path(), &positions)
                    .unwrap()
                    .into_iter()
                    .map(url_of_visit)
                    .collect();
                let is_member = |visit: &&VisitRecord| {
                    visit.duplicate_of.as_ref() == Some(&original)
                        && visit.of_earlier == of_earlier
                        && visit.is_page()
                        && visit.url != original
                };
                let expected = visits.iter().filter(is_member).map(|visit| visit.url.clone());
                prop_assert_eq!(members, expected.collect::<Vec<_>>());
            }
        }
        let in_flight: BTreeSet<u64> = at_once.in_flight().map(|visit| visit.sequence).collect();
        prop_assert_eq!(&in_flight, &history.in_flight);
        for (page, sequence) in &history.waiting {
            let within = at_once.queued_within(*sequence).expect("it was queued");
            let found = queued_as(state.path(), within, *sequence);
            prop_assert_eq!(found, Some(url(*page)));
        }
    }
}
