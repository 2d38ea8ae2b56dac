//! Closing and reopening of patterns.

use journal::{Fate, QueueEntry};
use proptest::prelude::*;
use web::{CanonicalForm, Host, Timestamp};

use super::*;
use crate::fixtures::{link, url};
use crate::frontier::FrontierRules;

pub(super) fn record(address: &str, fate: Fate, status: u16) -> VisitRecord {
    VisitRecord {
        status: Some(status),
        duplicate_of: fate.is_duplicate().then(|| url("http://a.test/original")),
        kept: fate == Fate::Unique,
        ..VisitRecord::new(link(address, 1), fate, Timestamp::from_millis(1))
    }
}

/// Returns the entry of an ordinary page.
pub(super) fn entry(address: &str) -> QueueEntry {
    QueueEntry::new(0, link(address, 1))
}

/// Visits the next page of the pattern, or leaves it out, as a crawl does.
pub(super) fn visit(
    patterns: &mut Patterns,
    number: u64,
    fate: Fate,
    max: Option<u64>,
) -> Option<Reason> {
    let address = format!("http://a.test/item/{}", number + 10_000);
    let rules = FrontierRules {
        max_pages_per_pattern: max,
        ..FrontierRules::default()
    };
    let excluded = patterns.exclusion(&entry(&address), &rules);
    let mut record = record(&address, fate, 200);
    if excluded.is_some() {
        (record.fate, record.status, record.duplicate_of) = (Fate::Excluded, None, None);
        record.reason.clone_from(&excluded);
    }
    settled(patterns, &record);
    while let Some(change) = patterns.due(&FrontierRules::default()) {
        patterns.apply(&change);
    }
    excluded
}

/// Ends the visit of an ordinary page.
pub(super) fn settled(patterns: &mut Patterns, record: &VisitRecord) {
    patterns.settled(record, &[], 0, None);
}

fn name() -> PatternName {
    PatternName::from_text("a.test/item/{n}").unwrap()
}

fn state(patterns: &Patterns) -> PatternState {
    patterns.get(&name()).unwrap().state()
}

#[test]
fn a_pattern_that_brings_nothing_new_becomes_poor_and_then_closed_with_a_reason() {
    let mut patterns = Patterns::default();
    visit(&mut patterns, 0, Fate::Unique, None);
    for number in 1..29 {
        visit(&mut patterns, number, Fate::NearDuplicate, None);
    }
    assert_eq!(state(&patterns), PatternState::Open);
    visit(&mut patterns, 29, Fate::ExactDuplicate, None);
    assert_eq!(state(&patterns), PatternState::Poor);
    let mut discovered = [
        link("http://a.test/item/7", 3),
        link("http://a.test/about", 3),
    ];
    patterns.put_behind(&mut discovered, &FrontierRules::default());
    assert_eq!(
        discovered.each_ref().map(|found| found.priority),
        [DiscoveredUrl::BEHIND, 0]
    );
    for number in 30..100 {
        assert_eq!(state(&patterns), PatternState::Poor, "{number}");
        assert_eq!(
            visit(&mut patterns, number, Fate::NearDuplicate, None),
            None
        );
    }
    assert_eq!(state(&patterns), PatternState::Closed);
    let reason = visit(&mut patterns, 100, Fate::Unique, None).unwrap();
    assert_eq!(
        reason.to_string(),
        "pattern closed: a.test/item/{n}: 1 of its last 100 pages said something new"
    );
    let report = patterns.reports().next().unwrap();
    assert_eq!(
        (report.visited, report.new, report.repeated, report.excluded),
        (100, 1, 99, 1)
    );
    let examples: Vec<&str> = report
        .examples
        .iter()
        .map(|example| &*example.url)
        .collect();
    assert_eq!(
        examples,
        [
            "http://a.test/item/10099",
            "http://a.test/item/10098",
            "http://a.test/item/10097"
        ]
    );
    assert_eq!(
        report.examples[0].original.as_deref(),
        Some("http://a.test/original")
    );
}

#[test]
fn a_poor_pattern_that_brings_something_new_again_is_open_again() {
    let mut patterns = Patterns::default();
    (0..40).for_each(|number| drop(visit(&mut patterns, number, Fate::NearDuplicate, None)));
    assert_eq!(state(&patterns), PatternState::Poor);
    (40..43).for_each(|number| drop(visit(&mut patterns, number, Fate::Unique, None)));
    assert_eq!(state(&patterns), PatternState::Open);
    assert_eq!(patterns.troubled, 0);
}

#[test]
fn a_closed_pattern_is_probed_ever_more_rarely_and_opens_when_it_brings_something_new_again() {
    let mut patterns = Patterns::default();
    let mut probes = Vec::new();
    for number in 0..5_000 {
        let had_been_closed = number >= 100;
        if visit(&mut patterns, number, Fate::NearDuplicate, None).is_none() && had_been_closed {
            probes.push(number);
        }
    }
    let gaps: Vec<u64> = probes
        .windows(2)
        .map(|pair| pair[1] - pair[0] - 1)
        .collect();
    assert_eq!(probes[0], 116);
    assert_eq!(gaps, [32, 64, 128, 256, 512, 1_024, 1_024, 1_024]);

    let mut excluded = 0;
    for number in 5_000.. {
        excluded += u64::from(visit(&mut patterns, number, Fate::Unique, None).is_some());
        if state(&patterns) == PatternState::Open {
            break;
        }
    }
    assert!(excluded <= 1_024 + 2 * 2, "{excluded}");
    assert_eq!(visit(&mut patterns, 1, Fate::NearDuplicate, None), None);
}

/// With `--since`, a calendar without end was never closed: 1,564 pages instead of 217.
#[test]
fn pages_that_repeat_others_of_an_earlier_crawl_close_their_pattern() {
    let mut patterns = Patterns::default();
    for number in 10_000..10_300 {
        let mut record = record(
            &format!("http://a.test/item/{number}"),
            Fate::NearDuplicate,
            200,
        );
        record.of_earlier = true;
        settled(&mut patterns, &record);
        while let Some(change) = patterns.due(&FrontierRules::default()) {
            patterns.apply(&change);
        }
    }
    assert_eq!(state(&patterns), PatternState::Closed);
}

#[test]
fn a_visit_that_says_nothing_about_the_pattern_does_not_count() {
    let mut earlier = record("http://a.test/item/1", Fate::ExactDuplicate, 200);
    earlier.of_earlier = true;
    earlier.duplicate_of = Some(earlier.url.clone());
    let mut unasked = record("http://a.test/item/1", Fate::Excluded, 200);
    unasked.status = None;
    let silent = [
        record("http://a.test/item/1", Fate::Failed, 503),
        record("http://a.test/item/1", Fate::Failed, 403),
        unasked,
        earlier,
    ];
    let mut patterns = Patterns::default();
    for _ in 0..300 {
        silent
            .iter()
            .for_each(|record| settled(&mut patterns, record));
    }
    assert_eq!(state(&patterns), PatternState::Open);
    for (fate, status) in [
        (Fate::Failed, 404),
        (Fate::Failed, 410),
        (Fate::Excluded, 200),
    ] {
        let mut patterns = Patterns::default();
        for _ in 0..300 {
            settled(&mut patterns, &record("http://a.test/item/1", fate, status));
        }
        assert!(
            patterns.due(&FrontierRules::default()).is_some(),
            "{fate:?} {status}"
        );
    }
}

/// Printed views that came before their pages were new when they came, so that the pattern that
/// brought nothing else stayed open and cost a fetch for each page of the site.
#[test]
fn a_pattern_whose_pages_are_contained_in_later_ones_is_closed() {
    let mut patterns = Patterns::default();
    for number in 0..200 {
        visit(&mut patterns, number, Fate::Unique, None);
    }
    assert_eq!(state(&patterns), PatternState::Open);
    for number in 0..200_u64 {
        let mut article = record(
            &format!("http://a.test/article/{number}"),
            Fate::Unique,
            200,
        );
        let view = format!("http://a.test/item/{}", number + 10_000);
        article.details.contains = vec![url(&view)];
        settled(&mut patterns, &article);
    }
    let report = patterns
        .reports()
        .find(|report| report.pattern == &name().pattern);
    let report = report.unwrap();
    assert_eq!((report.visited, report.new, report.repeated), (200, 0, 200));
    let due = patterns.due(&FrontierRules::default()).unwrap();
    patterns.apply(&due);
    assert_eq!(state(&patterns), PatternState::Closed);
}

/// A shop's lists in another order, as a grid, and both: each combination of parameters cost a
/// hundred fetches, of which there are 31 for five parameters.
#[test]
fn a_pattern_with_the_parameters_of_a_closed_one_and_more_is_closed_after_fewer_visits() {
    let mut patterns = Patterns::default();
    let mut visits_until_closed = |queries: &[&str]| {
        let closed = |patterns: &Patterns, query: &str| {
            let keys: Vec<&str> = query.split('&').map(|key| &key[..key.len() - 2]).collect();
            let name = format!("a.test/{{name}}?{}", keys.join("&"));
            let name = PatternName::from_text(&name).unwrap();
            let state = patterns.get(&name).map(Pattern::state);
            state == Some(PatternState::Closed)
        };
        let visits = queries.iter().map(|query| {
            let number = (0..200).find(|number| {
                let address = format!("http://a.test/list{number}?{query}");
                settled(&mut patterns, &record(&address, Fate::NearDuplicate, 200));
                while let Some(change) = patterns.due(&FrontierRules::default()) {
                    patterns.apply(&change);
                }
                closed(&patterns, query)
            });
            number.map(|number| number + 1)
        });
        visits.collect::<Vec<_>>()
    };
    let visits =
        visits_until_closed(&["sort=1", "look=1&sort=1", "page=1", "look=1&page=1&sort=1"]);
    assert_eq!(visits, [Some(100), Some(40), Some(100), Some(40)]);
}

#[test]
fn a_page_that_contains_one_of_no_known_pattern_changes_nothing() {
    let mut patterns = Patterns::default();
    let mut article = record("http://a.test/article/1", Fate::Unique, 200);
    article.details.contains = vec![url("http://b.test/item/1")];
    settled(&mut patterns, &article);
    let counts = patterns
        .reports()
        .map(|report| (report.new, report.repeated));
    assert_eq!(counts.collect::<Vec<_>>(), [(1, 0)]);
}

#[test]
fn a_pattern_has_its_budget_of_pages() {
    let mut patterns = Patterns::default();
    for number in 0..5 {
        assert_eq!(visit(&mut patterns, number, Fate::Unique, Some(5)), None);
    }
    let reason = visit(&mut patterns, 5, Fate::Unique, Some(5)).unwrap();
    assert_eq!(
        reason.to_string(),
        "pattern budget: a.test/item/{n}: it had its 5 pages (--max-pages-per-pattern)"
    );
    assert_eq!(visit(&mut patterns, 6, Fate::Unique, Some(6)), None);
}

#[test]
fn beyond_the_cap_of_a_host_visits_count_for_more_general_patterns() {
    let mut patterns = Patterns::default();
    for number in 0..2_000 {
        // Words, so that each folder is a pattern of its own.
        let word: String = format!("{number:04}")
            .bytes()
            .map(|digit| char::from(digit + 50))
            .collect();
        settled(
            &mut patterns,
            &record(
                &format!("http://a.test/shop/{word}/item"),
                Fate::Unique,
                200,
            ),
        );
        settled(
            &mut patterns,
            &record(&format!("http://a.test/list?{word}=1"), Fate::Unique, 200),
        );
    }
    let names: Vec<String> = patterns
        .reports()
        .map(|report| report.pattern.as_str().to_owned())
        .collect();
    assert!(names.len() <= MAX_OF_A_HOST.iter().sum(), "{}", names.len());
    assert!(
        names.contains(&"/shop/{name}/{name}".to_owned()),
        "{names:?}"
    );
    assert!(names.contains(&"/{name}?**".to_owned()), "{names:?}");
    assert_eq!(
        names
            .iter()
            .filter(|name| name.starts_with("/{name}?"))
            .count(),
        MAX_QUERIES + 1
    );
    let visited: u64 = patterns.reports().map(|report| report.visited).sum();
    assert_eq!(visited, 4_000);
}

#[test]
fn the_longest_idle_patterns_are_forgotten_first_and_closed_ones_last() {
    let mut patterns = Patterns::default();
    (0..200).for_each(|number| drop(visit(&mut patterns, number, Fate::NearDuplicate, None)));
    for host in 0..MAX_PATTERNS {
        settled(
            &mut patterns,
            &record(&format!("http://h{host}.test/x"), Fate::Unique, 200),
        );
    }
    assert!(
        patterns.count <= MAX_PATTERNS && patterns.count >= MAX_PATTERNS / 2,
        "{}",
        patterns.count
    );
    assert_eq!(state(&patterns), PatternState::Closed);
    let known = |host: usize| {
        patterns
            .hosts
            .contains_key(format!("h{host}.test").as_str())
    };
    assert!(!known(0) && known(MAX_PATTERNS - 1));
    assert_eq!(patterns.troubled, 1);
}

#[test]
fn a_record_names_the_pattern_that_left_it_out() {
    let because = || "1 of: its last".to_owned();
    let closed = || Reason::PatternClosed {
        name: name(),
        because: because(),
    };
    let spent = Reason::PatternSpent {
        name: name(),
        most: 5,
    };
    for (reason, pattern) in [
        (Some(closed()), Some(name())),
        (Some(spent), Some(name())),
        (Some(Reason::of_redirect(&"http://b.test/", closed())), None),
        (Some(Reason::said(closed().to_string())), None),
        (None, None),
    ] {
        let mut excluded = record("http://a.test/item/1", Fate::Excluded, 200);
        excluded.reason = reason;
        assert_eq!(excluded.excluding_pattern(), pattern.as_ref());
        excluded.fate = Fate::Failed;
        assert_eq!(excluded.excluding_pattern(), None);
    }
}

proptest! {
    /// State that is kept in step equals state computed anew, and stored state is read back.
    #[test]
    fn the_sums_match_the_patterns_and_stored_state_is_read_back(
        visits in proptest::collection::vec((0..3_u8, 0..40_u8, 0..6_u8), 0..600),
        reopen in any::<bool>(),
    ) {
        let mut patterns = Patterns::default();
        for (host, page, outcome) in visits {
            let folder = ["a", "b"][usize::from(page % 2)];
            let address = format!("http://h{host}.test/{folder}/{page}");
            let address = PageUrl::parse(&address, &CanonicalForm::default()).unwrap();
            let excluded = patterns.exclusion(&entry(address.as_str()), &FrontierRules::default());
            let fate = [
                Fate::NearDuplicate,
                Fate::ExactDuplicate,
                Fate::Unique,
                Fate::Failed,
                Fate::ExactDuplicate,
                Fate::NearDuplicate,
            ];
            let mut record = record(address.as_str(), fate[usize::from(outcome)], 404);
            if let Some(reason) = excluded {
                (record.fate, record.reason, record.status) = (Fate::Excluded, Some(reason), None);
            }
            settled(&mut patterns, &record);
            while let Some(change) = patterns.due(&FrontierRules::default()) {
                patterns.apply(&change);
            }
        }
        let first = patterns.reports().next().map(|report| PatternName {
            host: Host::new(report.host),
            pattern: report.pattern.clone(),
        });
        if let Some(name) = first.filter(|_| reopen) {
            patterns.apply(&Record::PatternReopened(name));
        }
        prop_assert_eq!(patterns.count, patterns.reports().count());
        let not_open = patterns.reports().filter(|report| report.state != PatternState::Open);
        prop_assert_eq!(patterns.troubled, not_open.count());
        prop_assert!(patterns.due.is_empty());
        patterns.begin_session(true);
        let bytes = postcard::to_allocvec(&patterns).unwrap();
        let read: Patterns = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&read, &patterns);
        let rules = FrontierRules::default();
        for page in 0..40 {
            let address = format!("http://h{}.test/{}/{page}", page % 3, ["a", "b"][page % 2]);
            let _reason = patterns.exclusion(&entry(&address), &rules);
            patterns.put_behind(&mut [link(&address, 1)], &rules);
            let _place = patterns.take_wanted_again(&mut vec![link(&address, 1)], |_key| true);
        }
        let _records = [patterns.due(&rules), patterns.last_look(&rules)];
        let after = postcard::to_allocvec(&patterns).unwrap();
        prop_assert_eq!(after, bytes, "a decision stores nothing");
    }
}

#[test]
fn the_last_look_is_short_for_a_trap_and_as_long_as_the_visits_for_an_honest_pattern() {
    for (new, fruitless, most) in [
        (0, 100, 256),
        (4, 96, 256),
        (5, 95, 256),
        (20, 980, 256),
        (50, 950, 1_000),
        (298, 527, 825),
    ] {
        let found = closed::max_left(new, fruitless);
        assert_eq!(found, most, "{new} and {fruitless}");
    }
}

/// Of LLVM's manuals 13 pages were lost: the last look ended after a hundred more pages that
/// repeated others.
#[test]
fn a_pattern_is_not_closed_again_before_its_last_look_has_ended() {
    let mut patterns = Patterns::default();
    for number in 0..100 {
        visit(&mut patterns, number, Fate::Unique, None);
    }
    for number in 100..200 {
        visit(&mut patterns, number, Fate::NearDuplicate, None);
    }
    assert_eq!(state(&patterns), PatternState::Closed);
    let excluded = (200..390).map(|number| {
        let address = format!("http://a.test/item/{}", number + 10_000);
        let mut record = record(&address, Fate::Excluded, 200);
        record.status = None;
        record.reason = patterns.exclusion(&entry(record.url.as_str()), &FrontierRules::default());
        patterns.settled(&record, &[], 0, Some(number));
        record
    });
    let excluded: Vec<VisitRecord> = excluded.filter(|record| record.reason.is_some()).collect();
    let look = patterns.last_look(&FrontierRules::default()).unwrap();
    patterns.apply(&look);
    excluded.iter().for_each(|record| patterns.revoked(record));
    for number in 0..excluded.len() as u64 {
        assert_eq!(
            visit(&mut patterns, 1_000 + number, Fate::NearDuplicate, None),
            None
        );
    }
    assert_eq!(state(&patterns), PatternState::Closed, "and then it is");
    assert_eq!(patterns.last_look(&FrontierRules::default()), None, "once");
}

/// Visits the next page of the pattern with a relevance, as a focused crawl does.
fn judge(patterns: &mut Patterns, number: u64, is_on_topic: bool) -> Option<Reason> {
    let address = format!("http://a.test/item/{}", number + 10_000);
    let excluded = patterns.exclusion(&entry(&address), &FrontierRules::default());
    let mut record = match is_on_topic {
        true => record(&address, Fate::NearDuplicate, 200),
        false => record(&address, Fate::OffTopic, 200),
    };
    record.details.relevance = Some(journal::Relevance::from_thousandths(500));
    if excluded.is_some() {
        (record.fate, record.status, record.duplicate_of) = (Fate::Excluded, None, None);
        record.details.relevance = None;
        record.reason.clone_from(&excluded);
    }
    settled(patterns, &record);
    while let Some(change) = patterns.due(&FrontierRules::default()) {
        patterns.apply(&change);
    }
    excluded
}

#[test]
fn a_pattern_off_topic_is_poor_after_sixteen_pages_never_closed_and_open_after_one_on_topic() {
    let mut patterns = Patterns::default();
    let mut reports = Vec::new();
    for number in 0..300 {
        assert_eq!(judge(&mut patterns, number, false), None);
        let expected = match number < 15 {
            true => PatternState::Open,
            false => PatternState::Poor,
        };
        assert_eq!(state(&patterns), expected, "{number}");
    }
    for report in patterns.reports() {
        reports.push((report.visited, report.new, report.nothing, report.off_topic));
        assert_eq!(report.examples.len(), 3);
    }
    assert_eq!(reports, [(300, 0, 0, 300)]);
    assert_eq!(judge(&mut patterns, 300, true), None);
    assert_eq!(state(&patterns), PatternState::Open);
    assert_eq!(patterns.troubled, 0);
}

/// Pages that were not compared with others say nothing about what is new.
#[test]
fn pages_off_topic_between_duplicates_neither_delay_nor_hasten_the_end_of_a_pattern() {
    let mut patterns = Patterns::default();
    let closed = (0..1_000).find(|number| judge(&mut patterns, *number, number % 4 == 0).is_some());
    // A hundred duplicates close it, and the next URL is excluded.
    assert_eq!(closed, Some(397));
    assert_eq!(state(&patterns), PatternState::Closed);
}

#[test]
fn a_probe_of_a_closed_pattern_that_is_off_topic_is_followed_by_a_longer_gap() {
    let mut patterns = Patterns::default();
    (0..100).for_each(|number| drop(visit(&mut patterns, number, Fate::NearDuplicate, None)));
    let probes = (100..1_100).filter(|number| judge(&mut patterns, *number, false).is_none());
    assert!(probes.count() < 8);
}

/// The record of a page that needs its scripts and has the same bytes as a page under another path.
fn shell(address: &str) -> VisitRecord {
    let mut record = record(address, Fate::Unique, 200);
    record.details.needs_scripts = true;
    record.kept = false;
    record
}

/// A crawl of an application lost 200 of its 302 routes: the server answers all routes with the
/// same bytes, so their pattern was closed.
#[test]
fn equal_bytes_of_shells_neither_close_a_pattern_nor_reopen_it() {
    let mut patterns = Patterns::default();
    let shells = |patterns: &mut Patterns, numbers: std::ops::Range<u64>| {
        for number in numbers {
            settled(patterns, &shell(&format!("http://a.test/item/{number}")));
        }
    };
    shells(&mut patterns, 10_000..10_400);
    assert_eq!(patterns.due(&FrontierRules::default()), None);
    assert_eq!(state(&patterns), PatternState::Open);

    for number in 0..100 {
        visit(&mut patterns, number, Fate::ExactDuplicate, None);
    }
    assert_eq!(state(&patterns), PatternState::Closed);
    shells(&mut patterns, 10_400..10_500);
    assert_eq!(patterns.due(&FrontierRules::default()), None);
    assert_eq!(state(&patterns), PatternState::Closed);
}

/// The relative links of a shell point to deeper and deeper folders with the same bytes.
#[test]
fn a_folder_of_probes_is_closed_if_they_are_all_shells() {
    let mut patterns = Patterns::default();
    let mut visited = 0;
    while patterns.due(&FrontierRules::default()).is_none() {
        let record = shell(&format!("http://a.test/app/{visited}"));
        patterns.settled(&record, &[], DiscoveredUrl::PROBED, None);
        visited += 1;
    }
    assert_eq!(visited, 160);
}
