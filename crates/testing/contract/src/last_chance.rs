//! Hosts that have had their last chance: the crawl does not wait for them, and does not lose any
//! of their URLs.

use std::time::Duration;

use store::{Frontier, FrontierRules, Lease, LeaseFilter, Settlement, Supply};
use web::{Pace, Timestamp, WaitReason};

use crate::backend::{Backend, End, Promise};
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    a_visit_that_does_not_count_leaves_the_attempts_of_its_page,
);

pub(crate) const COUNTED: &[Sentence] = &scenarios!(
    &[Promise::HostsDown],
    a_crawl_ends_when_only_hosts_past_their_last_chance_have_urls,
);

pub(crate) const IN_ORDER: &[Sentence] = &scenarios!(
    &[Promise::HostOrder],
    a_host_past_its_last_chance_is_tried_while_others_have_pages,
);

pub(crate) const OVER_SESSIONS: &[Sentence] = &scenarios!(
    &[Promise::Sessions],
    the_next_session_gives_a_host_another_chance,
);

/// The pace of a host that failed nine times and rests for ten minutes.
fn down(ready: u64) -> Pace {
    Pace {
        failures: 9,
        wait: Duration::from_secs(600),
        why: WaitReason::Failures,
        answered: at(1),
        ..at(ready).into()
    }
}

async fn fail(frontier: &dyn Frontier, lease: Lease, ready: u64, counts: bool) {
    let reason = journal::Reason::said("no answer");
    let settlement = Settlement::Again {
        at: at(ready),
        reason,
        counts,
    };
    frontier
        .settle(lease, settlement, down(ready))
        .await
        .unwrap();
}

/// A crawl whose host went down used to wait for it forever, or to give up all of its pages.
async fn a_crawl_ends_when_only_hosts_past_their_last_chance_have_urls(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
    let first = lease(frontier, 0).await;
    let while_it_is_out = supply(frontier, 0).await;
    assert_eq!(while_it_is_out, Supply::NothingBefore(Timestamp::NEVER));
    fail(frontier, first, 500, true).await;
    for filter in [LeaseFilter::All, LeaseFilter::Requisites] {
        assert_eq!(supply_of(frontier, 10, filter).await, Supply::Exhausted);
    }
    let stats = frontier.stats();
    let unreachable = (stats.unreachable, stats.unreachable_hosts);
    assert_eq!((stats.queued, unreachable), (2, (2, 1)));
}

async fn a_host_past_its_last_chance_is_tried_while_others_have_pages(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/1", "http://b.test/1"]).await;
    let mut both = leases(frontier, 0, 9).await;
    both.sort_by_key(|lease| lease.url().to_string());
    let other = both.pop().unwrap();
    fail(frontier, both.remove(0), 500, true).await;
    settle(frontier, other, again(at(800)), 0).await;
    assert_eq!(supply(frontier, 10).await, Supply::NothingBefore(at(500)));
    let tried = lease(frontier, 500).await;
    assert_eq!(tried.url().as_str(), "http://a.test/1");
    visit(frontier, tried, 600).await;
    assert_eq!(frontier.stats().unreachable, 0);
    visit(frontier, lease(frontier, 800).await, 800).await;
    assert_eq!(supply(frontier, 800).await, Supply::Exhausted);
}

async fn a_visit_that_does_not_count_leaves_the_attempts_of_its_page(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/1"]).await;
    for (counts, attempts) in [(false, 0), (true, 1), (false, 1), (true, 2)] {
        let failed = lease(frontier, 0).await;
        fail(frontier, failed, 0, counts).await;
        let next = lease(frontier, 0).await;
        assert_eq!(next.entry.attempts, attempts);
        settle(frontier, next, Settlement::Returned, 0).await;
    }
}

/// A crawl whose host was down at the start used to say "Complete" forever.
async fn the_next_session_gives_a_host_another_chance(backend: &dyn Backend) {
    for end in [End::InOrder, End::Death] {
        let mut session = begin(backend, FrontierRules::default()).await;
        let frontier = session.frontier().as_ref();
        seed(frontier, ["http://a.test/1"]).await;
        let failed = lease(frontier, 0).await;
        fail(frontier, failed, 500_000, true).await;
        assert_eq!(supply(frontier, 10).await, Supply::Exhausted);

        session = session.reopen(end, at(20)).await;
        let frontier = session.frontier().as_ref();
        assert_eq!(frontier.stats().unreachable, 0, "{end:?}");
        let waits = supply(frontier, 20).await;
        assert!(
            matches!(waits, Supply::NothingBefore(_)),
            "{end:?}: {waits:?}"
        );
        assert_eq!(
            lease(frontier, 500_000).await.url().as_str(),
            "http://a.test/1"
        );
    }
}
