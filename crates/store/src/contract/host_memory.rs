//! The memory of hosts: their paces, and their robots.txt.

use web::{Host, Pace};

use super::*;
use crate::host_memory::Robots;

fn pace(ready: u64, failures: u32, crawl_delay: u64) -> Pace {
    Pace {
        ready: at(ready),
        failures,
        crawl_delay: Some(Duration::from_millis(crawl_delay)),
        retry_after: Some(Duration::from_secs(ready)),
        wait: Duration::from_millis(ready),
        why: web::WaitReason::RetryAfter,
        answered: at(ready / 2),
        address: Some(std::net::Ipv6Addr::LOCALHOST.into()),
    }
}

#[tokio::test]
async fn the_pace_of_a_host_comes_back_with_its_next_lease() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        frontier
            .discover(vec![find("http://a.test/1", 0), find("http://a.test/2", 0)])
            .await
            .unwrap();
        let lease = leases(frontier, 0, 1).await.remove(0);
        assert_eq!(lease.pace, Pace::default(), "{name}");
        let told = pace(500, 2, 300);
        frontier
            .settle(lease, Settlement::Returned, told)
            .await
            .unwrap();
        assert_eq!(
            frontier.hosts().pace(&Host::new("a.test")).await.unwrap(),
            Some(told),
            "{name}"
        );
        let lease = leases(frontier, 500, 1).await.remove(0);
        assert_eq!((lease.pace, lease.entry.strikes), (told, 0), "{name}");
        let settlement = done(&lease);
        frontier
            .settle(lease, settlement, at(900).into())
            .await
            .unwrap();
        assert_eq!(
            leases(frontier, 900, 1).await[0].pace,
            at(900).into(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_host_that_was_asked_on_the_way_is_not_handed_out_before_it_is_ready() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let host = Host::new("a.test");
        assert_eq!(frontier.hosts().pace(&host).await.unwrap(), None, "{name}");
        frontier
            .hosts()
            .record_pace(&host, pace(500, 1, 300))
            .await
            .unwrap();
        frontier
            .discover(vec![find("http://a.test/1", 0)])
            .await
            .unwrap();
        let too_early = frontier.lease(at(499), 1, LeaseFilter::All).await.unwrap();
        assert_eq!(too_early, Supply::NothingBefore(at(500)), "{name}");
        let lease = leases(frontier, 500, 1).await.remove(0);
        assert_eq!(lease.pace, pace(500, 1, 300), "{name}");
        // The last word counts, but no wait is cut short.
        frontier
            .hosts()
            .record_pace(&host, pace(100, 0, 200))
            .await
            .unwrap();
        assert_eq!(
            frontier.hosts().pace(&host).await.unwrap(),
            Some(Pace {
                ready: at(500),
                ..pace(100, 0, 200)
            }),
            "{name}"
        );
    }
}

#[tokio::test]
async fn what_a_robots_txt_said_is_remembered_by_origin_and_the_last_word_counts() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let origin = url("http://a.test:8080/").origin();
        assert_eq!(
            frontier.hosts().robots(&origin).await.unwrap(),
            None,
            "{name}"
        );
        for text in [
            None,
            Some(b"User-agent: *".to_vec()),
            Some(vec![b'#'; 20_000]),
        ] {
            let robots = Robots { text, until: at(9) };
            frontier
                .hosts()
                .record_robots(&origin, robots.clone())
                .await
                .unwrap();
            assert_eq!(
                frontier.hosts().robots(&origin).await.unwrap(),
                Some(robots),
                "{name}"
            );
        }
        let other = url("http://a.test/").origin();
        assert_eq!(
            frontier.hosts().robots(&other).await.unwrap(),
            None,
            "{name}"
        );
    }
}
