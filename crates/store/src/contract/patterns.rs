//! URL patterns and budgets of a frontier.

use super::*;
use crate::embedded::audit;
use crate::frontier::{HOSTS_RULE, LeftOut};
use crate::patterns::PatternName;

/// A trap: so many pages of one pattern, and one that is not of it.
fn trap(pages: u64) -> Vec<DiscoveredUrl> {
    let items =
        (0..pages).map(|number| find(&format!("http://a.test/item/{}", number + 10_000), 1));
    items.chain([find("http://a.test/about", 9)]).collect()
}

/// Visits pages until `stop` says so of one; those of the pattern repeat one another. Returns the
/// URLs as they were handed out, with the reasons to leave them out.
async fn visit(
    frontier: &dyn Frontier,
    finds_of_each: &[DiscoveredUrl],
    mut stop: impl FnMut(&Lease) -> bool,
) -> Vec<(String, Option<String>)> {
    let mut handed_out = Vec::new();
    while let Some(lease) = leases(frontier, 0, 1).await.pop() {
        handed_out.push((lease.url().to_string(), lease.barred.clone()));
        let is_last = stop(&lease);
        let is_item = lease.url().as_str().contains("/item/");
        let fate = match (&lease.barred, is_item) {
            (Some(_), _) => Fate::Excluded,
            (None, true) => Fate::NearDuplicate,
            (None, false) => Fate::Unique,
        };
        let mut row = row(&lease, fate);
        row.status = row.status.filter(|_| lease.barred.is_none());
        row.reason.clone_from(&lease.barred);
        row.warc_file = Some("a.warc.gz".to_owned());
        let settlement = Settlement::Done(FinishedVisit {
            finds: finds_of_each.to_vec(),
            ..FinishedVisit::new(row)
        });
        frontier
            .settle(lease, settlement, at(0).into())
            .await
            .unwrap();
        if is_last {
            break;
        }
    }
    handed_out
}

#[tokio::test]
async fn urls_of_a_pattern_that_brings_nothing_new_wait_behind_all_others_of_their_host() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        frontier.discover(trap(40)).await.unwrap();
        let mut left = 40;
        visit(frontier, &[], |_| {
            left -= 1;
            left == 0
        })
        .await;
        let late = [
            find("http://a.test/item/99999", 1),
            find("http://a.test/faq", 5),
        ];
        frontier.discover(late.to_vec()).await.unwrap();
        let mut rest = Vec::new();
        for _ in 0..3 {
            let lease = leases(frontier, 0, 1).await.remove(0);
            rest.push((
                lease.url().to_string(),
                lease.discovered().depth,
                lease.discovered().priority,
            ));
            let settlement = done(&lease);
            frontier
                .settle(lease, settlement, at(0).into())
                .await
                .unwrap();
        }
        let expected = [
            ("http://a.test/faq".to_owned(), 5, 0),
            ("http://a.test/about".to_owned(), 9, 0),
            (
                "http://a.test/item/99999".to_owned(),
                1,
                DiscoveredUrl::BEHIND,
            ),
        ];
        assert_eq!(rest, expected, "{name}");
    }
}

#[tokio::test]
async fn a_closed_pattern_is_left_out_with_the_reason_and_the_few_that_were_are_visited_in_the_end()
{
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        frontier.discover(trap(110)).await.unwrap();
        let handed_out = visit(frontier, &[], |_| false).await;
        let barred = |told: &&(String, Option<String>)| told.1.is_some();
        let all = 0..handed_out.len();
        let places: Vec<usize> = all.filter(|place| barred(&&handed_out[*place])).collect();
        assert_eq!(places, (100..110).collect::<Vec<_>>(), "{name}");
        // When nothing else is left to do, ten pages cost less than they may be worth.
        let left_out: HashSet<&String> = handed_out[100..110].iter().map(|(url, _)| url).collect();
        let visited: HashSet<&String> = handed_out[111..].iter().map(|(url, _)| url).collect();
        assert_eq!(left_out, visited, "{name}");
        let reason = handed_out[100].1.as_deref().unwrap();
        assert_eq!(
            reason, "pattern closed: a.test/item/{n}: 0 of its last 100 pages said something new",
            "{name}"
        );
        assert_eq!(frontier.standing().totals.excluded, 0, "{name}");
    }
}

#[tokio::test]
async fn where_patterns_are_not_to_be_closed_they_are_not() {
    let rules = FrontierRules {
        closes_patterns: false,
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        subject.frontier.discover(trap(150)).await.unwrap();
        let handed_out = visit(&*subject.frontier, &[], |_| false).await;
        assert!(
            handed_out.iter().all(|(_, barred)| barred.is_none()),
            "{}",
            subject.name
        );
    }
}

#[tokio::test]
async fn a_pattern_has_its_budget_of_pages() {
    let rules = FrontierRules {
        max_pages_per_pattern: Some(3),
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        subject.frontier.discover(trap(5)).await.unwrap();
        let handed_out = visit(&*subject.frontier, &[], |_| false).await;
        let barred: Vec<bool> = handed_out
            .iter()
            .map(|(_, barred)| barred.is_some())
            .collect();
        assert_eq!(
            barred,
            [false, false, false, true, true, false],
            "{}",
            subject.name
        );
    }
}

#[tokio::test]
async fn a_domain_has_its_budget_of_hosts_which_seeds_may_exceed() {
    let rules = FrontierRules {
        max_hosts_per_domain: Some(3),
        ..FrontierRules::default()
    };
    let hosts = |depth: u32, hosts: &[&str]| -> Vec<DiscoveredUrl> {
        hosts
            .iter()
            .map(|host| find(&format!("http://{host}/{depth}"), depth))
            .collect()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let seeds = hosts(0, &["a.example.org", "b.example.org"]);
        assert_eq!(frontier.discover(seeds).await.unwrap(), 2, "{name}");
        let links = hosts(
            1,
            &[
                "c.example.org",
                "a.example.org",
                "d.example.org",
                "c.example.org",
                "x.example.com",
            ],
        );
        // c takes the last place, and d finds none; the second c is the same URL.
        assert_eq!(frontier.discover(links).await.unwrap(), 3, "{name}");
        assert_eq!(
            frontier
                .discover(hosts(0, &["e.example.org"]))
                .await
                .unwrap(),
            1,
            "{name}"
        );
        assert_eq!(
            frontier
                .discover(hosts(2, &["d.example.org", "1.2.3.4", "2.2.3.4"]))
                .await
                .unwrap(),
            2,
            "{name}"
        );
        assert_eq!(
            frontier
                .discover(hosts(2, &["c.example.org"]))
                .await
                .unwrap(),
            1,
            "{name}"
        );
    }
}

#[tokio::test]
async fn patterns_outlast_the_process_and_reopening_one_brings_back_what_it_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let open =
        || EmbeddedStore::open(directory.path(), &options(FrontierRules::default())).unwrap();
    let name = PatternName::from_text("a.test/item/{n}").unwrap();
    let mut store = open();
    store.discover(trap(120)).await.unwrap();
    // The process dies after every few pages, in a flush sometimes, and so does the one that hears
    // the last visit before the closing.
    for round in 0..20 {
        let mut left = 5;
        let handed_out = visit(&store, &[], |_| {
            left -= 1;
            left == 0
        })
        .await;
        assert!(
            handed_out.iter().all(|(_, barred)| barred.is_none()),
            "{round}"
        );
        if round % 3 == 0 {
            store.flush().await.unwrap();
        } else {
            store.flush_in_part(round);
        }
        drop(store);
        store = open();
    }
    let handed_out = visit(&store, &[], |lease| lease.url().as_str().ends_with("about")).await;
    let barred: Vec<&String> = handed_out
        .iter()
        .filter(|told| told.1.is_some())
        .map(|told| &told.0)
        .collect();
    assert_eq!(barred.len(), 19, "all but a probe after sixteen");
    store.close().await.unwrap();
    drop(store);
    assert_eq!(
        audit(directory.path()).unwrap().complaints,
        Vec::<String>::new()
    );

    let store = open();
    let unknown = PatternName::from_text("b.test/item/{n}").unwrap();
    assert_eq!(store.reopen(&unknown).await.unwrap(), None);
    assert_eq!(store.reopen(&name).await.unwrap(), Some(19));
    assert_eq!(
        (store.standing().queued, store.standing().totals.excluded),
        (19, 0)
    );
    drop(store);
    let store = open();
    let again = visit(&store, &[], |_| false).await;
    let mut visited: Vec<&String> = again.iter().map(|(url, _)| url).collect();
    let mut left_out = barred.clone();
    visited.sort();
    left_out.sort();
    assert_eq!(visited, left_out);
    assert!(
        again.iter().all(|(_, barred)| barred.is_none()),
        "its window begins anew"
    );
    assert_eq!(
        store.reopen(&name).await.unwrap(),
        Some(0),
        "what was brought back is not brought back again"
    );
    drop(store);
    assert_eq!(
        audit(directory.path()).unwrap().complaints,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn links_that_a_rule_left_out_are_told_to_the_journal_with_an_example() {
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules {
        max_hosts_per_domain: Some(1),
        ..FrontierRules::default()
    };
    let store = EmbeddedStore::open(directory.path(), &options(rules)).unwrap();
    store
        .discover(vec![find("http://a.example.org/", 0)])
        .await
        .unwrap();
    let finds = [
        find("http://b.example.org/", 1),
        find("http://c.example.org/", 1),
    ];
    visit(&store, &finds, |_| false).await;
    drop(store);
    let told = crate::embedded::History::open(directory.path())
        .unwrap()
        .find_map(|record| match record.unwrap() {
            crate::embedded::record::Record::Settled(settled) => Some(settled.visit.left_out),
            _ => None,
        });
    let expected = LeftOut {
        rule: HOSTS_RULE.to_owned(),
        links: 2,
        example: url("http://b.example.org/"),
    };
    assert_eq!(told, Some(vec![expected]));
}
