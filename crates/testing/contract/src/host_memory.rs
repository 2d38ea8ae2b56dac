//! The memory of hosts: their paces and their robots.txt files.

use std::net::Ipv6Addr;
use std::time::Duration;

use journal::Robots;
use store::{FrontierRules, Settlement, Supply};
use web::{Host, Pace, WaitReason};

use crate::backend::Backend;
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    the_pace_of_a_host_comes_back_with_its_next_lease,
    a_host_that_a_redirect_reached_is_not_leased_before_it_is_ready,
    the_latest_robots_txt_of_an_origin_is_remembered,
);

fn pace(ready: u64, failures: u32, crawl_delay: u64) -> Pace {
    Pace {
        ready: at(ready),
        failures,
        crawl_delay: Some(Duration::from_millis(crawl_delay)),
        retry_after: Some(Duration::from_secs(ready)),
        wait: Duration::from_millis(ready),
        why: WaitReason::RetryAfter,
        answered: at(ready / 2),
        address: Some(Ipv6Addr::LOCALHOST.into()),
    }
}

async fn the_pace_of_a_host_comes_back_with_its_next_lease(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
    let first = lease(frontier, 0).await;
    assert_eq!(first.pace, Pace::default());
    let slow = pace(500, 2, 300);
    let settled = frontier.settle(first, Settlement::Returned, slow).await;
    settled.unwrap();
    let recorded = frontier.hosts().pace(&Host::new("a.test")).await;
    assert_eq!(recorded.unwrap(), Some(slow));
    let again = lease(frontier, 500).await;
    assert_eq!((again.pace, again.entry.crashes), (slow, 0));
    visit(frontier, again, 900).await;
    assert_eq!(lease(frontier, 900).await.pace, at(900).into());
}

async fn a_host_that_a_redirect_reached_is_not_leased_before_it_is_ready(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let (hosts, host) = (frontier.hosts(), Host::new("a.test"));
    assert_eq!(hosts.pace(&host).await.unwrap(), None);
    hosts.record_pace(&host, pace(500, 1, 300)).await.unwrap();
    seed(frontier, ["http://a.test/1"]).await;
    let too_early = supply(frontier, 499).await;
    assert_eq!(too_early, Supply::NothingBefore(at(500)));
    let ready = lease(frontier, 500).await;
    assert_eq!(ready.pace, pace(500, 1, 300));
    // The latest pace counts, but no wait becomes shorter.
    hosts.record_pace(&host, pace(100, 0, 200)).await.unwrap();
    let expected = Pace {
        ready: at(500),
        ..pace(100, 0, 200)
    };
    let recorded = hosts.pace(&host).await.unwrap();
    assert_eq!(recorded, Some(expected));
}

async fn the_latest_robots_txt_of_an_origin_is_remembered(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let hosts = session.frontier().hosts();
    let origin = url("http://a.test:8080/").origin();
    assert_eq!(hosts.robots(&origin).await.unwrap(), None);
    for text in [
        None,
        Some(b"User-agent: *".to_vec()),
        Some(vec![b'#'; 20_000]),
    ] {
        let robots = Robots { text, until: at(9) };
        let recorded = hosts.record_robots(&origin, robots.clone()).await;
        recorded.unwrap();
        assert_eq!(hosts.robots(&origin).await.unwrap(), Some(robots));
    }
    let other = url("http://a.test/").origin();
    assert_eq!(hosts.robots(&other).await.unwrap(), None);
}
