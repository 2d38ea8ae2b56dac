//! Requisites: before the pages, and beside their limits.

use super::*;

fn needed(text: &str, steps: u8) -> DiscoveredUrl {
    find(text, 1).needed(steps)
}

async fn settle(frontier: &dyn Frontier, lease: Lease) {
    let settlement = done(&lease);
    frontier
        .settle(lease, settlement, at(0).into())
        .await
        .unwrap();
}

#[tokio::test]
async fn what_a_page_needs_goes_before_the_pages_of_its_host_the_nearest_first() {
    for subject in subjects(FrontierRules::default()) {
        let frontier = &*subject.frontier;
        let finds = vec![
            find("http://a.test/page", 0),
            needed("http://a.test/imported.css", 2),
            needed("http://a.test/style.css", 1),
            needed("http://b.test/picture", 1),
        ];
        frontier.discover(finds).await.unwrap();
        let mut told = Vec::new();
        loop {
            let next = leases(frontier, 0, 1).await;
            let Some(lease) = next.into_iter().next() else {
                break;
            };
            told.push((
                lease.url().to_string(),
                lease.discovered().requisite,
                lease.discovered().requisite,
            ));
            settle(frontier, lease).await;
        }
        told.retain(|(url, ..)| url.starts_with("http://a.test/"));
        let expected = [
            ("http://a.test/style.css", 1),
            ("http://a.test/imported.css", 2),
            ("http://a.test/page", 0),
        ];
        let expected = expected.map(|(url, steps)| (url.to_owned(), steps, steps));
        assert_eq!(told, expected, "{}", subject.name);
    }
}

#[tokio::test]
async fn when_there_were_enough_pages_what_they_need_is_still_handed_out() {
    let rules = FrontierRules {
        max_pages_per_host: Some(1),
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let frontier = &*subject.frontier;
        let pages = vec![find("http://a.test/1", 0), find("http://a.test/2", 0)];
        frontier.discover(pages).await.unwrap();
        let first = leases(frontier, 0, 9).await.remove(0);
        assert_eq!(
            frontier
                .lease(at(0), 9, LeaseFilter::Requisites)
                .await
                .unwrap(),
            Supply::NothingBefore(Timestamp::NEVER),
            "{}: the page that is out may bring some",
            subject.name
        );
        let settlement = done_with(&first, None, vec![needed("http://a.test/3.png", 1)]);
        frontier
            .settle(first, settlement, at(0).into())
            .await
            .unwrap();

        let Supply::Leases(mut left) = frontier
            .lease(at(0), 9, LeaseFilter::Requisites)
            .await
            .unwrap()
        else {
            panic!("{}: something is needed", subject.name);
        };
        assert_eq!(urls(&left), ["http://a.test/3.png"], "{}", subject.name);
        settle(frontier, left.remove(0)).await;
        for supply in [
            frontier
                .lease(at(0), 9, LeaseFilter::Requisites)
                .await
                .unwrap(),
            frontier.lease(at(0), 9, LeaseFilter::All).await.unwrap(),
        ] {
            assert_eq!(supply, Supply::Exhausted, "{}", subject.name);
        }
        let totals = frontier.standing().totals;
        assert_eq!(
            (totals.pages, totals.unique, totals.requisites, totals.bytes),
            (1, 1, 1, 20),
            "{}",
            subject.name
        );
    }
}

#[tokio::test]
async fn what_failed_comes_back_as_what_a_page_needs() {
    for subject in subjects(FrontierRules::default()) {
        let frontier = &*subject.frontier;
        frontier
            .discover(vec![
                find("http://a.test/", 0),
                needed("http://a.test/x", 3),
            ])
            .await
            .unwrap();
        let first = leases(frontier, 0, 1).await.remove(0);
        let again = Settlement::Again { at: at(50) };
        frontier.settle(first, again, at(0).into()).await.unwrap();
        assert_eq!(
            frontier
                .lease(at(1), 1, LeaseFilter::Requisites)
                .await
                .unwrap(),
            Supply::NothingBefore(at(50)),
            "{}",
            subject.name
        );
        let Supply::Leases(leases) = frontier
            .lease(at(50), 9, LeaseFilter::Requisites)
            .await
            .unwrap()
        else {
            panic!("{}: it is due", subject.name);
        };
        let told: Vec<_> = leases
            .iter()
            .map(|lease| (lease.discovered().requisite, lease.entry.attempts))
            .collect();
        assert_eq!(told, [(3, 1)], "{}", subject.name);
    }
}
