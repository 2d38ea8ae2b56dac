//! Requisites: before the pages, and beside their limits.

use super::*;

fn needed(text: &str, steps: u8) -> DiscoveredUrl {
    link(text, 1).needed(steps)
}

#[tokio::test]
async fn requisites_go_before_the_pages_of_their_host_the_nearest_first() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
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
        assert_eq!(visited, expected, "{name}");
    }
}

#[tokio::test]
async fn requisites_are_leased_after_the_page_limit_of_their_host() {
    let rules = FrontierRules {
        max_pages_per_host: Some(1),
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
        let first = leases(frontier, 0, 9).await.remove(0);
        let meanwhile = supply_of(frontier, 0, LeaseFilter::Requisites).await;
        let nothing = Supply::NothingBefore(Timestamp::NEVER);
        assert_eq!(meanwhile, nothing, "{name}: the page may lead to some");
        let settlement = done_with(&first, None, vec![needed("http://a.test/3.png", 1)]);
        settle(frontier, first, settlement, 0).await;

        let next = supply_of(frontier, 0, LeaseFilter::Requisites).await;
        let Supply::Leases(mut left) = next else {
            panic!("{name}: a requisite waits, got {next:?}");
        };
        assert_eq!(urls(&left), ["http://a.test/3.png"], "{name}");
        visit(frontier, left.remove(0), 0).await;
        for filter in [LeaseFilter::Requisites, LeaseFilter::All] {
            let supply = supply_of(frontier, 0, filter).await;
            assert_eq!(supply, Supply::Exhausted, "{name}: {filter:?}");
        }
        let totals = frontier.standing().totals;
        let counts = [totals.pages, totals.unique, totals.requisites, totals.bytes];
        assert_eq!(counts, [1, 1, 1, 20], "{name}");
    }
}

#[tokio::test]
async fn a_requisite_that_failed_comes_back_as_one() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        seed(frontier, ["http://a.test/"]).await;
        discover(frontier, [needed("http://a.test/x", 3)]).await;
        let first = lease(frontier, 0).await;
        settle(frontier, first, again(at(50)), 0).await;
        let too_early = supply_of(frontier, 1, LeaseFilter::Requisites).await;
        assert_eq!(too_early, Supply::NothingBefore(at(50)), "{name}");
        let due = supply_of(frontier, 50, LeaseFilter::Requisites).await;
        let Supply::Leases(leases) = due else {
            panic!("{name}: it is due, got {due:?}");
        };
        let [again] = &leases[..] else {
            panic!("{name}: one requisite waits, got {leases:?}");
        };
        let (steps, attempts) = (again.discovered().requisite, again.entry.attempts);
        assert_eq!((steps, attempts), (3, 1), "{name}");
    }
}
