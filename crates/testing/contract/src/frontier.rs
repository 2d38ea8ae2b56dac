//! The queue of URLs: order, politeness, retries, limits and claims.

use std::collections::BTreeSet;
use std::sync::Arc;

use store::{FrontierRules, HostLimits, Settlement, Supply};
use tokio::task::JoinSet;
use web::Timestamp;

use crate::backend::{Backend, Promise};
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    a_url_is_new_once_in_a_crawl,
    a_host_has_one_page_out_at_a_time_and_none_before_it_is_ready,
    pages_nearer_to_a_seed_go_first_even_if_they_are_found_later,
    a_postponed_page_comes_back_when_it_is_due_and_its_attempts_are_counted,
    a_returned_page_keeps_its_place_and_counts_no_attempt,
    a_host_at_its_page_limit_keeps_the_rest_queued_and_does_not_hold_up_the_end,
    a_host_with_limits_of_its_own_has_these,
    a_redirect_target_is_claimed_by_one_page_and_not_queued_afterwards,
    archived_pages_are_recorded_in_the_order_of_the_archive,
);

pub(crate) const COUNTED: &[Sentence] = &scenarios!(
    &[Promise::NewCount],
    of_many_workers_one_discovers_a_url_and_one_visits_it,
);

pub(crate) const IN_ORDER: &[Sentence] = &scenarios!(
    &[Promise::HostOrder],
    several_pages_of_a_host_may_be_out_if_the_rules_allow_it_and_hosts_take_turns,
    hosts_take_turns_in_the_order_in_which_they_became_ready,
);

async fn a_url_is_new_once_in_a_crawl(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let twice = [link("http://a.test/", 0), link("http://a.test/", 1)];
    assert_eq!(discover(frontier, twice.clone()).await, 1);
    assert_eq!(discover(frontier, twice.clone()).await, 0);
    let lease = lease(frontier, 0).await;
    let settlement = done_with(&lease, None, twice.to_vec());
    settle(frontier, lease, settlement, 0).await;
    assert_eq!(supply(frontier, 0).await, Supply::Exhausted);
}

async fn a_host_has_one_page_out_at_a_time_and_none_before_it_is_ready(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    seed(
        frontier,
        ["http://a.test/1", "http://a.test/2", "http://b.test/1"],
    )
    .await;
    let mut out = leases(frontier, 5, 9).await;
    out.sort_by_key(|lease| lease.url().to_string());
    assert_eq!(urls(&out), ["http://a.test/1", "http://b.test/1"]);
    let while_both_are_out = supply(frontier, 5).await;
    assert_eq!(while_both_are_out, Supply::NothingBefore(Timestamp::NEVER));

    visit(frontier, out.remove(0), 500).await;
    let too_early = supply(frontier, 499).await;
    assert_eq!(too_early, Supply::NothingBefore(at(500)));
    let ready = leases(frontier, 500, 9).await;
    assert_eq!(urls(&ready), ["http://a.test/2"]);
}

async fn several_pages_of_a_host_may_be_out_if_the_rules_allow_it_and_hosts_take_turns(
    backend: &dyn Backend,
) {
    let rules = FrontierRules {
        per_host: 3,
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    let names = ["a.test/1", "a.test/2", "a.test/3", "a.test/4", "b.test/1"];
    discover(
        frontier,
        names.map(|name| link(&format!("http://{name}"), 0)),
    )
    .await;
    let out = leases(frontier, 0, 9).await;
    let expected = [
        "http://a.test/1",
        "http://b.test/1",
        "http://a.test/2",
        "http://a.test/3",
    ];
    assert_eq!(urls(&out), expected);
}

async fn hosts_take_turns_in_the_order_in_which_they_became_ready(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    for page in [1, 2] {
        let pages = ["a", "b", "c"].map(|host| link(&format!("http://{host}.test/{page}"), 0));
        discover(frontier, pages).await;
    }
    for lease in leases(frontier, 0, 9).await {
        let ready = match lease.url().host().as_str() {
            "a.test" => 30,
            "b.test" => 10,
            _ => 20,
        };
        visit(frontier, lease, ready).await;
    }
    let out = leases(frontier, 30, 9).await;
    let expected = ["http://b.test/2", "http://c.test/2", "http://a.test/2"];
    assert_eq!(urls(&out), expected);
}

async fn pages_nearer_to_a_seed_go_first_even_if_they_are_found_later(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let deep = [
        link("http://a.test/deep", 3),
        link("http://a.test/deeper", 4),
    ];
    discover(frontier, deep).await;
    let first = lease(frontier, 0).await;
    assert_eq!(first.url().as_str(), "http://a.test/deep");
    let settlement = done_with(&first, None, vec![link("http://a.test/near", 1)]);
    settle(frontier, first, settlement, 0).await;
    let next = lease(frontier, 0).await;
    assert_eq!(next.url().as_str(), "http://a.test/near");
}

async fn a_postponed_page_comes_back_when_it_is_due_and_its_attempts_are_counted(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
    let first = lease(frontier, 0).await;
    assert_eq!(first.entry.attempts, 0);
    settle(frontier, first, again(at(1000)), 10).await;

    let other = lease(frontier, 10).await;
    assert_eq!(other.url().as_str(), "http://a.test/2");
    visit(frontier, other, 20).await;
    assert_eq!(frontier.stats().queued, 1);
    let too_early = supply(frontier, 999).await;
    assert_eq!(too_early, Supply::NothingBefore(at(1000)));
    let again = lease(frontier, 1000).await;
    assert_eq!(again.url().as_str(), "http://a.test/1");
    assert_eq!(again.entry.attempts, 1);
}

async fn a_returned_page_keeps_its_place_and_counts_no_attempt(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
    let first = lease(frontier, 0).await;
    settle(frontier, first, Settlement::Returned, 0).await;
    let again = lease(frontier, 0).await;
    assert_eq!(again.url().as_str(), "http://a.test/1");
    assert_eq!(again.entry.attempts, 0);
}

async fn a_host_at_its_page_limit_keeps_the_rest_queued_and_does_not_hold_up_the_end(
    backend: &dyn Backend,
) {
    let rules = FrontierRules {
        max_pages_per_host: Some(1),
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
    visit(frontier, lease(frontier, 0).await, 0).await;
    assert_eq!(supply(frontier, 0).await, Supply::Exhausted);
    assert_eq!(frontier.stats().queued, 1);
}

async fn a_host_with_limits_of_its_own_has_these(backend: &dyn Backend) {
    let own = |leases, max_pages| HostLimits {
        leases: Some(leases),
        max_pages: Some(max_pages),
    };
    let patterns = [("*.a.test", own(2, 3)), ("b.test", own(1, 0))];
    let entries = patterns.map(|(pattern, limits)| (pattern.parse().unwrap(), limits));
    let rules = FrontierRules {
        of_hosts: entries.into_iter().collect(),
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    let pages = |host: &str| [0, 1, 2, 3].map(|page| format!("http://{host}/{page}"));
    for host in ["www.a.test", "b.test", "c.test"] {
        let pages = pages(host);
        seed(frontier, pages.each_ref().map(String::as_str)).await;
    }
    let out = leases(frontier, 0, 12).await;
    let of = |host: &str| {
        let hosts = out.iter().map(|lease| lease.url().host());
        hosts.filter(|found| found.as_str() == host).count()
    };
    let counts = ["www.a.test", "b.test", "c.test"].map(of);
    assert_eq!(counts, [2, 0, 1]);
}

async fn a_redirect_target_is_claimed_by_one_page_and_not_queued_afterwards(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    // Hosts of one domain: a redirect to another domain is not a part of a visit in every store.
    seed(frontier, ["http://a.test/", "http://b.a.test/"]).await;
    let mut out = leases(frontier, 0, 2).await;
    let (second, first) = (out.pop().unwrap(), out.pop().unwrap());
    let target = url("http://c.a.test/");
    let claims = [
        (&first, second.url(), false, "it is queued"),
        (&first, &target, true, "nobody else has it"),
        (&first, &target, true, "a second attempt goes the same way"),
        (&second, &target, false, "the first has it"),
    ];
    for (lease, url, expected, why) in claims {
        assert!(!frontier.is_apart(lease, url));
        let is_claimed = frontier.claim(lease, url).await.unwrap();
        assert_eq!(is_claimed, expected, "{why}");
    }
    assert_eq!(seed(frontier, [target.as_str()]).await, 0);
}

async fn archived_pages_are_recorded_in_the_order_of_the_archive(backend: &dyn Backend) {
    let rules = FrontierRules {
        per_host: 9,
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    seed(
        frontier,
        ["http://a.test/0", "http://a.test/1", "http://a.test/2"],
    )
    .await;
    let mut out = leases(frontier, 0, 9).await.into_iter();
    let [first, second, third] = std::array::from_fn(|_| out.next().unwrap());
    for (lease, archive_sequence, unique) in [(second, 1, 0), (third, 2, 0), (first, 0, 3)] {
        let settlement = done_with(&lease, Some(archive_sequence), Vec::new());
        settle(frontier, lease, settlement, 0).await;
        assert_eq!(frontier.stats().totals.unique, unique, "{archive_sequence}");
    }
}

async fn of_many_workers_one_discovers_a_url_and_one_visits_it(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let frontier = Arc::clone(session.frontier());
        workers.spawn(async move {
            let mut new = 0;
            for page in 0..60 {
                let name = format!("http://h{}.test/{page}", page % 12);
                new += discover(&*frontier, [link(&name, 0)]).await;
            }
            let mut visited = Vec::new();
            loop {
                match supply(&*frontier, 0).await {
                    Supply::Leases(leases) => {
                        visited.extend(leases.iter().map(|lease| lease.url().to_string()));
                        for lease in leases {
                            visit(&*frontier, lease, 0).await;
                        }
                    }
                    // Another worker has the rest.
                    Supply::NothingBefore(_) => tokio::task::yield_now().await,
                    Supply::Exhausted => return (new, visited),
                }
            }
        });
    }
    let (new, visited): (Vec<_>, Vec<_>) = workers.join_all().await.into_iter().unzip();
    let (new, visited) = (new.into_iter().sum::<usize>(), visited.concat());
    let distinct: BTreeSet<&String> = visited.iter().collect();
    assert_eq!((new, visited.len(), distinct.len()), (60, 60, 60));
}
