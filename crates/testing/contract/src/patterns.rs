//! URL patterns and budgets of a frontier.

use std::collections::HashSet;

use journal::{DiscoveredUrl, Harvest, UrlHarvest};
use store::{Frontier, FrontierRules};

use crate::backend::{Backend, Promise};
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    urls_of_a_pattern_that_brings_nothing_new_wait_behind_all_others_of_their_host,
    urls_of_a_closed_pattern_are_excluded_with_the_reason_and_a_few_are_visited_at_the_end,
    no_pattern_is_closed_where_the_rules_forbid_it,
    urls_of_a_pattern_without_a_page_on_topic_wait_behind_and_are_never_excluded,
    harvests_count_the_judged_pages_of_a_pattern_and_of_a_host,
    pages_off_topic_count_against_limits_and_lower_the_harvest,
    a_pattern_has_its_budget_of_pages,
    a_domain_has_its_budget_of_hosts_which_seeds_may_exceed,
    a_name_of_a_domain_leaves_half_of_the_hosts_to_others,
);

pub(crate) const OVER_SESSIONS: &[Sentence] = &scenarios!(
    &[Promise::Sessions],
    patterns_outlast_the_process,
    harvests_outlast_the_process,
);

/// A trap: `pages` pages of one pattern, and one page outside it.
fn trap(pages: u64) -> Vec<DiscoveredUrl> {
    let items =
        (0..pages).map(|number| link(&format!("http://a.test/item/{}", number + 10_000), 1));
    items.chain([link("http://a.test/about", 9)]).collect()
}

/// Visits up to `most` pages; the pages of the pattern repeat one another. Returns the leased URLs
/// with the reasons to leave them out.
async fn visit_some(
    frontier: &dyn Frontier,
    most: usize,
) -> Vec<(String, Option<journal::Reason>)> {
    let is_new = |url: &str| !url.contains("/item/");
    visit_pages(frontier, most, is_new, |_| Vec::new()).await
}

async fn visit_all(frontier: &dyn Frontier) -> Vec<(String, Option<journal::Reason>)> {
    visit_some(frontier, usize::MAX).await
}

fn is_any_excluded(leased: &[(String, Option<journal::Reason>)]) -> bool {
    leased.iter().any(|(_, excluded)| excluded.is_some())
}

async fn urls_of_a_pattern_that_brings_nothing_new_wait_behind_all_others_of_their_host(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
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
        assert_eq!(found, (url, depth, priority));
        visit(frontier, next, 0).await;
    }
}

async fn urls_of_a_closed_pattern_are_excluded_with_the_reason_and_a_few_are_visited_at_the_end(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    discover(frontier, trap(110)).await;
    let leased = visit_all(frontier).await;
    let all = 0..leased.len();
    let places: Vec<usize> = all.filter(|place| leased[*place].1.is_some()).collect();
    assert_eq!(places, (100..110).collect::<Vec<_>>());
    // When the crawl is otherwise finished, ten pages cost less than they may be worth.
    let excluded: HashSet<&String> = leased[100..110].iter().map(|(url, _)| url).collect();
    let visited: HashSet<&String> = leased[111..].iter().map(|(url, _)| url).collect();
    assert_eq!(excluded, visited);
    let reason = "pattern closed: a.test/item/{n}: 0 of its last 100 pages said something new";
    let excluded = leased[100].1.as_ref().map(ToString::to_string);
    assert_eq!(excluded.as_deref(), Some(reason));
    assert_eq!(frontier.stats().totals.excluded, 0);
}

async fn no_pattern_is_closed_where_the_rules_forbid_it(backend: &dyn Backend) {
    let rules = FrontierRules {
        closes_patterns: false,
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    discover(frontier, trap(150)).await;
    assert!(!is_any_excluded(&visit_all(frontier).await));
}

async fn a_pattern_has_its_budget_of_pages(backend: &dyn Backend) {
    let rules = FrontierRules {
        max_pages_per_pattern: Some(3),
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    discover(frontier, trap(5)).await;
    let leased = visit_all(frontier).await.into_iter();
    let excluded: Vec<bool> = leased.map(|(_, excluded)| excluded.is_some()).collect();
    let expected = [false, false, false, true, true, false];
    assert_eq!(excluded, expected);
}

async fn a_domain_has_its_budget_of_hosts_which_seeds_may_exceed(backend: &dyn Backend) {
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
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    for (depth, new, hosts) in steps {
        let links = hosts
            .iter()
            .map(|host| link(&format!("http://{host}/{depth}"), depth));
        assert_eq!(discover(frontier, links).await, new, "{hosts:?}");
    }
}

/// One user of a platform with wildcard names used to crowd out a hundred other users.
async fn a_name_of_a_domain_leaves_half_of_the_hosts_to_others(backend: &dyn Backend) {
    let rules = FrontierRules {
        max_hosts_per_domain: Some(20),
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    let hosts = |count: u32, under: &'static str| {
        (0..count).map(move |n| link(&format!("http://h{n}{under}.example.org/"), 1))
    };
    for (count, under, new) in [
        (100, ".greedy", 10),
        (100, ".greedy", 0),
        // Half of the remaining ten places, at any depth below the name.
        (3, ".deep.second", 3),
        (3, ".second", 2),
        (1, ".greedy", 0),
        (9, "", 5),
    ] {
        let found = discover(frontier, hosts(count, under)).await;
        assert_eq!(found, new, "{count} hosts h*{under}");
    }
}

async fn patterns_outlast_the_process(backend: &dyn Backend) {
    let mut session = begin(backend, FrontierRules::default()).await;
    discover(session.frontier().as_ref(), trap(120)).await;
    // The process dies after every few pages, sometimes during a flush, and also after the last
    // visit before the closing.
    for round in 0..20 {
        let leased = visit_some(session.frontier().as_ref(), 5).await;
        assert!(!is_any_excluded(&leased), "{round}");
        session = die(session, round).await;
    }
    let mut leased = visit_some(session.frontier().as_ref(), 21).await;
    assert_eq!(leased.pop(), Some(("http://a.test/about".to_owned(), None)));
    leased.retain(|(_, excluded)| excluded.is_some());
    assert_eq!(leased.len(), 19, "all but a probe after sixteen");
    agree(session).await;
}

/// Visits up to `most` pages and returns the URLs that were not excluded.
async fn judge_some(
    frontier: &dyn Frontier,
    most: usize,
    is_on_topic: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut visited = Vec::new();
    while visited.len() < most
        && let Some(lease) = leases(frontier, 0, 1).await.pop()
    {
        assert_eq!(lease.excluded, None);
        let url = lease.url().to_string();
        let is_on_topic = is_on_topic(&url);
        judge(frontier, lease, is_on_topic, 0).await;
        visited.push(url);
    }
    visited
}

const fn harvest(judged: u32, on_topic: u32) -> Option<Harvest> {
    Some(Harvest { judged, on_topic })
}

fn item(number: u32) -> DiscoveredUrl {
    link(&format!("http://a.test/item/{}", number + 10_000), 1).with_link_score(3)
}

async fn urls_of_a_pattern_without_a_page_on_topic_wait_behind_and_are_never_excluded(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    discover(frontier, (0..16).map(item)).await;
    assert_eq!(judge_some(frontier, 15, |_| false).await.len(), 15);
    discover(frontier, [item(100)]).await;
    assert_eq!(judge_some(frontier, 1, |_| false).await.len(), 1);
    // Sixteen pages are off topic now.
    discover(
        frontier,
        [item(101), link("http://a.test/faq", 9).with_link_score(31)],
    )
    .await;
    for (number, url, priority) in [
        (100, None, item(0).priority),
        (
            0,
            Some("http://a.test/faq"),
            link("http://a.test/", 0).with_link_score(31).priority,
        ),
        (101, None, item(0).put_behind().priority),
    ] {
        let next = lease(frontier, 0).await;
        let expected = url.map_or_else(|| item(number).url.to_string(), str::to_owned);
        let found = (next.url().to_string(), next.discovered().priority);
        assert_eq!(found, (expected, priority));
        judge(frontier, next, false, 0).await;
    }
    discover(frontier, (200..400).map(item)).await;
    assert_eq!(judge_some(frontier, 150, |_| false).await.len(), 150);
    // One page about the topic, and new URLs of the pattern wait like all others.
    judge_some(frontier, 1, |_| true).await;
    discover(frontier, [item(500)]).await;
    assert_eq!(lease(frontier, 0).await.discovered(), &item(500));
}

async fn harvests_count_the_judged_pages_of_a_pattern_and_of_a_host(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let urls = [
        "a.test/item/99999",
        "a.test/about",
        "a.test/deep/below/x",
        "b.test/x",
        "c.test/x",
    ];
    let urls = urls.map(|url| link(&format!("http://{url}"), 1));
    assert_eq!(frontier.harvests(&urls), [UrlHarvest::default(); 5]);
    assert_eq!(frontier.harvests(&[]), []);
    let pages = [item(0), item(1), item(2), urls[3].clone(), urls[4].clone()];
    discover(frontier, pages).await;
    assert_eq!(
        frontier.harvests(&urls),
        [UrlHarvest::default(); 5],
        "nothing was visited"
    );
    let is_on_topic = |url: &str| !url.contains("10001") && !url.contains("b.test");
    judge_some(frontier, 4, is_on_topic).await;
    judge_some(frontier, 1, is_on_topic).await;
    // A page that was not compared with the topic.
    discover(frontier, [urls[1].clone()]).await;
    visit(frontier, lease(frontier, 0).await, 0).await;
    let (host, none) = (harvest(3, 2), None);
    let expected = [
        (harvest(3, 2), host),
        (harvest(0, 0), host),
        (none, host),
        (harvest(1, 0), harvest(1, 0)),
        (harvest(1, 1), harvest(1, 1)),
    ];
    let expected = expected.map(|(pattern, host)| UrlHarvest { pattern, host });
    assert_eq!(frontier.harvests(&urls), expected);
}

async fn pages_off_topic_count_against_limits_and_lower_the_harvest(backend: &dyn Backend) {
    let rules = FrontierRules {
        max_pages_per_host: Some(4),
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    assert_eq!(frontier.stats().totals.harvest(), None);
    discover(frontier, (0..6).map(item)).await;
    visit(frontier, lease(frontier, 0).await, 0).await;
    let totals = frontier.stats().totals;
    assert_eq!(
        (totals.pages, totals.harvest()),
        (1, None),
        "it was not judged"
    );
    let is_on_topic = |url: &str| url.ends_with("10001");
    assert_eq!(judge_some(frontier, 9, is_on_topic).await.len(), 3);
    let totals = frontier.stats().totals;
    let counts = [totals.pages, totals.unique, totals.judged, totals.off_topic];
    assert_eq!(counts, [4, 2, 3, 2]);
    assert_eq!((totals.on_topic(), totals.harvest()), (1, Some(1.0 / 3.0)));
    assert_eq!(frontier.stats().queued, 2);
}

async fn harvests_outlast_the_process(backend: &dyn Backend) {
    let mut session = begin(backend, FrontierRules::default()).await;
    for round in 0..7 {
        let frontier = session.frontier().as_ref();
        discover(frontier, (round * 3..round * 3 + 3).map(item)).await;
        let visited = judge_some(frontier, 3, |url| url.ends_with('2')).await;
        assert_eq!(visited.len(), 3, "{round}");
        session = die(session, u8::try_from(round).unwrap()).await;
        let frontier = session.frontier().as_ref();
        let judged = round * 3 + 3;
        // Of 0, 1, 2, …, these end in 2.
        let on_topic = (0..judged).filter(|number| number % 10 == 2).count();
        let on_topic = u32::try_from(on_topic).unwrap();
        let known = harvest(judged, on_topic);
        let expected = UrlHarvest {
            pattern: known,
            host: known,
        };
        assert_eq!(frontier.harvests(&[item(900)]), [expected], "{round}");
        let totals = frontier.stats().totals;
        let counts = (totals.judged, totals.on_topic());
        assert_eq!(counts, (judged.into(), on_topic.into()), "{round}");
    }
    agree(session).await;
}
