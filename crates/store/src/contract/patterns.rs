//! URL patterns and budgets of a frontier.

use std::collections::BTreeSet;

use super::*;
use crate::embedded::History;
use crate::embedded::record::Record;
use crate::frontier::{HOSTS_RULE, LeftOut};
use crate::patterns::PatternName;

/// A trap: a number of pages of one pattern, and one page outside it.
fn trap(pages: u64) -> Vec<DiscoveredUrl> {
    let items =
        (0..pages).map(|number| link(&format!("http://a.test/item/{}", number + 10_000), 1));
    items.chain([link("http://a.test/about", 9)]).collect()
}

/// Visits up to `most` pages; those of the pattern repeat one another. Returns the leased URLs with
/// the reasons to leave them out.
async fn visit_some(frontier: &dyn Frontier, most: usize) -> Vec<(String, Option<String>)> {
    let is_new = |url: &str| !url.contains("/item/");
    visit_pages(frontier, most, is_new, |_| Vec::new()).await
}

async fn visit_all(frontier: &dyn Frontier) -> Vec<(String, Option<String>)> {
    visit_some(frontier, usize::MAX).await
}

fn is_any_barred(leased: &[(String, Option<String>)]) -> bool {
    leased.iter().any(|(_, barred)| barred.is_some())
}

#[tokio::test]
async fn urls_of_a_pattern_that_brings_nothing_new_wait_behind_all_others_of_their_host() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        discover(frontier, trap(40)).await;
        visit_some(frontier, 40).await;
        let late = [
            link("http://a.test/item/99999", 1),
            link("http://a.test/faq", 5),
        ];
        discover(frontier, late).await;
        for (url, depth, priority) in [
            ("http://a.test/faq", 5, 0),
            ("http://a.test/about", 9, 0),
            ("http://a.test/item/99999", 1, DiscoveredUrl::BEHIND),
        ] {
            let next = lease(frontier, 0).await;
            let found = next.discovered();
            let found = (found.url.as_str(), found.depth, found.priority);
            assert_eq!(found, (url, depth, priority), "{name}");
            visit(frontier, next, 0).await;
        }
    }
}

#[tokio::test]
async fn urls_of_a_closed_pattern_are_left_out_with_the_reason_and_a_few_are_visited_at_the_end() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        discover(frontier, trap(110)).await;
        let leased = visit_all(frontier).await;
        let all = 0..leased.len();
        let places: Vec<usize> = all.filter(|place| leased[*place].1.is_some()).collect();
        assert_eq!(places, (100..110).collect::<Vec<_>>(), "{name}");
        // When nothing else is left to do, ten pages cost less than they may be worth.
        let left_out: HashSet<&String> = leased[100..110].iter().map(|(url, _)| url).collect();
        let visited: HashSet<&String> = leased[111..].iter().map(|(url, _)| url).collect();
        assert_eq!(left_out, visited, "{name}");
        let reason = "pattern closed: a.test/item/{n}: 0 of its last 100 pages said something new";
        assert_eq!(leased[100].1.as_deref(), Some(reason), "{name}");
        assert_eq!(frontier.standing().totals.excluded, 0, "{name}");
    }
}

#[tokio::test]
async fn no_pattern_is_closed_where_the_rules_forbid_it() {
    let rules = FrontierRules {
        closes_patterns: false,
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        discover(frontier, trap(150)).await;
        assert!(!is_any_barred(&visit_all(frontier).await), "{name}");
    }
}

#[tokio::test]
async fn a_pattern_has_its_budget_of_pages() {
    let rules = FrontierRules {
        max_pages_per_pattern: Some(3),
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        discover(frontier, trap(5)).await;
        let leased = visit_all(frontier).await.into_iter();
        let barred: Vec<bool> = leased.map(|(_, barred)| barred.is_some()).collect();
        let expected = [false, false, false, true, true, false];
        assert_eq!(barred, expected, "{name}");
    }
}

#[tokio::test]
async fn a_domain_has_its_budget_of_hosts_which_seeds_may_exceed() {
    let rules = FrontierRules {
        max_hosts_per_domain: Some(3),
        ..FrontierRules::default()
    };
    let steps: [(u32, usize, &[&str]); 5] = [
        (0, 2, &["a.example.org", "b.example.org"]),
        // c takes the last place, and there is none for d; the second c is the same URL.
        (
            1,
            3,
            &[
                "c.example.org",
                "a.example.org",
                "d.example.org",
                "c.example.org",
                "x.example.com",
            ],
        ),
        (0, 1, &["e.example.org"]),
        (2, 2, &["d.example.org", "1.2.3.4", "2.2.3.4"]),
        (2, 1, &["c.example.org"]),
    ];
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        for (depth, new, hosts) in steps {
            let links = hosts
                .iter()
                .map(|host| link(&format!("http://{host}/{depth}"), depth));
            assert_eq!(discover(frontier, links).await, new, "{name}: {hosts:?}");
        }
    }
}

#[tokio::test]
async fn patterns_outlast_the_process_and_a_reopened_one_brings_back_what_it_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules::default();
    let open = || EmbeddedStore::open(directory.path(), &options(rules.clone())).unwrap();
    let name = PatternName::from_text("a.test/item/{n}").unwrap();
    let mut store = open();
    discover(&store, trap(120)).await;
    // The process dies after every few pages, sometimes during a flush, and also after the last
    // visit before the closing.
    for round in 0..20 {
        let leased = visit_some(&store, 5).await;
        assert!(!is_any_barred(&leased), "{round}");
        if round % 3 == 0 {
            store.flush().await.unwrap();
        } else {
            store.flush_in_part(round);
        }
        drop(store);
        store = open();
    }
    let (last, mut leased) = (url("http://a.test/about"), visit_some(&store, 21).await);
    assert_eq!(leased.pop(), Some((last.to_string(), None)));
    leased.retain(|(_, barred)| barred.is_some());
    assert_eq!(leased.len(), 19, "all but a probe after sixteen");
    store.close().await.unwrap();
    drop(store);
    agree(&directory);

    let store = open();
    let unknown = PatternName::from_text("b.test/item/{n}").unwrap();
    assert_eq!(store.reopen(&unknown).await.unwrap(), None);
    assert_eq!(store.reopen(&name).await.unwrap(), Some(19));
    let standing = store.standing();
    assert_eq!((standing.queued, standing.totals.excluded), (19, 0));
    drop(store);
    let store = open();
    let again = visit_all(&store).await;
    assert!(!is_any_barred(&again), "its window begins anew");
    let left_out: BTreeSet<&String> = leased.iter().map(|(url, _)| url).collect();
    let visited: BTreeSet<&String> = again.iter().map(|(url, _)| url).collect();
    assert_eq!((visited, again.len()), (left_out, 19));
    let more = store.reopen(&name).await.unwrap();
    assert_eq!(more, Some(0), "each is brought back once");
    drop(store);
    agree(&directory);
}

#[tokio::test]
async fn the_journal_records_the_links_that_a_rule_left_out_with_an_example() {
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules {
        max_hosts_per_domain: Some(1),
        ..FrontierRules::default()
    };
    let store = EmbeddedStore::open(directory.path(), &options(rules.clone())).unwrap();
    seed(&store, ["http://a.example.org/"]).await;
    let page = lease(&store, 0).await;
    let links = vec![
        link("http://b.example.org/", 1),
        link("http://c.example.org/", 1),
    ];
    let settlement = done_with(&page, None, links);
    settle(&store, page, settlement, 0).await;
    drop(store);
    let mut history = History::open(directory.path()).unwrap();
    let left_out = history.find_map(|record| match record.unwrap() {
        Record::Settled(settled) => Some(settled.visit.left_out),
        _ => None,
    });
    let expected = LeftOut {
        rule: HOSTS_RULE.to_owned(),
        links: 2,
        example: url("http://b.example.org/"),
    };
    assert_eq!(left_out, Some(vec![expected]));
}
