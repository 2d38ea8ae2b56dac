//! Requisites: they go before the pages, and do not count towards limits on pages.

use journal::DiscoveredUrl;
use store::{FrontierRules, LeaseFilter, Supply};
use web::Timestamp;

use crate::backend::Backend;
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    requisites_go_before_the_pages_of_their_host_the_nearest_first,
    requisites_are_leased_after_the_page_limit_of_their_host,
    a_requisite_that_failed_comes_back_as_one,
);

fn needed(text: &str, steps: u8) -> DiscoveredUrl {
    link(text, 1).needed(steps)
}

async fn requisites_go_before_the_pages_of_their_host_the_nearest_first(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let discovered = [
        link("http://a.test/page", 0),
        needed("http://a.test/imported.css", 2),
        needed("http://a.test/style.css", 1),
        needed("http://b.test/picture", 1),
    ];
    discover(frontier, discovered).await;
    let mut visited = Vec::new();
    while let Some(lease) = leases(frontier, 0, 1).await.pop() {
        visited.push((lease.url().to_string(), lease.discovered().requisite));
        visit(frontier, lease, 0).await;
    }
    visited.retain(|(url, _)| url.starts_with("http://a.test/"));
    let expected = [
        ("http://a.test/style.css", 1),
        ("http://a.test/imported.css", 2),
        ("http://a.test/page", 0),
    ];
    let expected = expected.map(|(url, steps)| (url.to_owned(), steps));
    assert_eq!(visited, expected);
}

async fn requisites_are_leased_after_the_page_limit_of_their_host(backend: &dyn Backend) {
    let rules = FrontierRules {
        max_pages_per_host: Some(1),
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
    let first = leases(frontier, 0, 9).await.remove(0);
    let meanwhile = supply_of(frontier, 0, LeaseFilter::Requisites).await;
    let nothing = Supply::NothingBefore(Timestamp::NEVER);
    assert_eq!(meanwhile, nothing, "the page may lead to some");
    let settlement = done_with(&first, None, vec![needed("http://a.test/3.png", 1)]);
    settle(frontier, first, settlement, 0).await;

    let next = supply_of(frontier, 0, LeaseFilter::Requisites).await;
    let Supply::Leases(mut left) = next else {
        panic!("a requisite waits, got {next:?}");
    };
    assert_eq!(urls(&left), ["http://a.test/3.png"]);
    visit(frontier, left.remove(0), 0).await;
    for filter in [LeaseFilter::Requisites, LeaseFilter::All] {
        let supply = supply_of(frontier, 0, filter).await;
        assert_eq!(supply, Supply::Exhausted, "{filter:?}");
    }
    let totals = frontier.stats().totals;
    let counts = [totals.pages, totals.unique, totals.requisites, totals.bytes];
    assert_eq!(counts, [1, 1, 1, 20]);
}

async fn a_requisite_that_failed_comes_back_as_one(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/"]).await;
    discover(frontier, [needed("http://a.test/x", 3)]).await;
    let first = lease(frontier, 0).await;
    settle(frontier, first, again(at(50)), 0).await;
    let too_early = supply_of(frontier, 1, LeaseFilter::Requisites).await;
    assert_eq!(too_early, Supply::NothingBefore(at(50)));
    let due = supply_of(frontier, 50, LeaseFilter::Requisites).await;
    let Supply::Leases(leases) = due else {
        panic!("it is due, got {due:?}");
    };
    let [again] = &leases[..] else {
        panic!("one requisite waits, got {leases:?}");
    };
    let (steps, attempts) = (again.discovered().requisite, again.entry.attempts);
    assert_eq!((steps, attempts), (3, 1));
}
