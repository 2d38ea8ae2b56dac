//! URL patterns and budgets of a frontier.

use std::collections::HashSet;

use store::{DiscoveredUrl, Frontier, FrontierRules};

use crate::backend::{Backend, Promise};
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    urls_of_a_pattern_that_brings_nothing_new_wait_behind_all_others_of_their_host,
    urls_of_a_closed_pattern_are_left_out_with_the_reason_and_a_few_are_visited_at_the_end,
    no_pattern_is_closed_where_the_rules_forbid_it,
    a_pattern_has_its_budget_of_pages,
    a_domain_has_its_budget_of_hosts_which_seeds_may_exceed,
);

pub(crate) const OVER_SESSIONS: &[Sentence] =
    &scenarios!(&[Promise::Sessions], patterns_outlast_the_process,);

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

async fn urls_of_a_closed_pattern_are_left_out_with_the_reason_and_a_few_are_visited_at_the_end(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    discover(frontier, trap(110)).await;
    let leased = visit_all(frontier).await;
    let all = 0..leased.len();
    let places: Vec<usize> = all.filter(|place| leased[*place].1.is_some()).collect();
    assert_eq!(places, (100..110).collect::<Vec<_>>());
    // When nothing else is left to do, ten pages cost less than they may be worth.
    let left_out: HashSet<&String> = leased[100..110].iter().map(|(url, _)| url).collect();
    let visited: HashSet<&String> = leased[111..].iter().map(|(url, _)| url).collect();
    assert_eq!(left_out, visited);
    let reason = "pattern closed: a.test/item/{n}: 0 of its last 100 pages said something new";
    assert_eq!(leased[100].1.as_deref(), Some(reason));
    assert_eq!(frontier.standing().totals.excluded, 0);
}

async fn no_pattern_is_closed_where_the_rules_forbid_it(backend: &dyn Backend) {
    let rules = FrontierRules {
        closes_patterns: false,
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    discover(frontier, trap(150)).await;
    assert!(!is_any_barred(&visit_all(frontier).await));
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
    let barred: Vec<bool> = leased.map(|(_, barred)| barred.is_some()).collect();
    let expected = [false, false, false, true, true, false];
    assert_eq!(barred, expected);
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

async fn patterns_outlast_the_process(backend: &dyn Backend) {
    let mut session = begin(backend, FrontierRules::default()).await;
    discover(session.frontier().as_ref(), trap(120)).await;
    // The process dies after every few pages, sometimes during a flush, and also after the last
    // visit before the closing.
    for round in 0..20 {
        let leased = visit_some(session.frontier().as_ref(), 5).await;
        assert!(!is_any_barred(&leased), "{round}");
        session = die(session, round).await;
    }
    let mut leased = visit_some(session.frontier().as_ref(), 21).await;
    assert_eq!(leased.pop(), Some(("http://a.test/about".to_owned(), None)));
    leased.retain(|(_, barred)| barred.is_some());
    assert_eq!(leased.len(), 19, "all but a probe after sixteen");
    agree(session).await;
}
