//! Scores of links: they determine the order of a host's URLs, and the order of hosts.

use std::collections::BTreeSet;
use std::time::Duration;

use journal::DiscoveredUrl;
use store::{FrontierRules, LeaseFilter, Supply};

use crate::backend::{Backend, Promise, Session};
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    of_a_host_the_url_with_the_best_score_goes_first_whatever_its_depth,
    a_url_that_is_found_again_keeps_its_first_score,
    a_host_that_is_not_ready_is_not_asked_however_good_its_pages_are,
);

pub(crate) const IN_ORDER: &[Sentence] = &scenarios!(
    &[Promise::HostOrder],
    of_ready_hosts_the_one_with_the_best_page_goes_first,
    hosts_with_pages_of_equal_score_take_turns_in_the_order_in_which_they_became_ready,
    every_ready_host_has_a_turn_before_any_has_its_second,
    the_scores_of_a_host_in_an_off_topic_streak_are_worse_until_it_brings_a_page_on_topic,
    a_slot_waits_for_no_page_of_a_host_in_an_off_topic_streak_that_is_as_poor,
    a_slot_waits_for_a_better_page_of_a_host_that_rests_within_the_patience,
    a_slot_waits_for_a_host_with_a_better_page_that_answers_within_the_patience,
    a_slot_waits_for_the_links_of_a_better_page_that_is_out,
    seeds_and_requisites_wait_for_no_better_page_and_no_page_waits_for_them,
    without_a_topic_patience_changes_nothing,
    without_best_first_scores_do_not_change_the_turns_of_hosts,
);

pub(crate) const OVER_SESSIONS: &[Sentence] = &scenarios!(
    &[Promise::Sessions, Promise::HostOrder],
    the_best_host_goes_first_after_a_flush_and_after_a_death,
    a_dry_spell_outlasts_a_flush_and_a_death,
);

const BEST_FIRST: fn() -> FrontierRules = || FrontierRules {
    best_first: true,
    ..FrontierRules::default()
};

const ANTICIPATION: Duration = Duration::from_millis(50);

const PATIENT: fn() -> FrontierRules = || FrontierRules {
    anticipation: ANTICIPATION,
    ..BEST_FIRST()
};

fn scored(text: &str, depth: u32, score: u8) -> DiscoveredUrl {
    link(&format!("http://{text}"), depth).with_link_score(score)
}

/// Leases everything that is ready, and returns the URLs without their scheme.
async fn names(session: &dyn Session, now: u64, want: usize) -> Vec<String> {
    let out = leases(session.frontier().as_ref(), now, want).await;
    let name = |url: &&str| url.trim_start_matches("http://").to_owned();
    urls(&out).iter().map(name).collect()
}

async fn of_a_host_the_url_with_the_best_score_goes_first_whatever_its_depth(
    backend: &dyn Backend,
) {
    let session = begin(backend, BEST_FIRST()).await;
    let frontier = session.frontier().as_ref();
    let found = [
        scored("a.test/poor", 1, 31),
        scored("a.test/behind", 0, 0).put_behind(),
        scored("a.test/good", 9, 4),
        scored("a.test/near", 2, 4),
        link("http://a.test/seed", 0),
        scored("a.test/far-behind", 0, 1).put_behind(),
        link("http://a.test/style.css", 3).needed(1),
    ];
    discover(frontier, found).await;
    for expected in [
        "style.css",
        "seed",
        "near",
        "good",
        "poor",
        "behind",
        "far-behind",
    ] {
        let next = lease(frontier, 0).await;
        assert_eq!(next.url().as_str(), format!("http://a.test/{expected}"));
        visit(frontier, next, 0).await;
    }
}

async fn a_url_that_is_found_again_keeps_its_first_score(backend: &dyn Backend) {
    let session = begin(backend, BEST_FIRST()).await;
    let frontier = session.frontier().as_ref();
    let found = [scored("a.test/1", 1, 20), scored("a.test/2", 1, 10)];
    discover(frontier, found).await;
    assert_eq!(discover(frontier, [scored("a.test/1", 0, 0)]).await, 0);
    for (expected, score) in [("http://a.test/2", 10), ("http://a.test/1", 20)] {
        let next = lease(frontier, 0).await;
        let found = (next.url().as_str(), next.discovered().link_score());
        assert_eq!(found, (expected, Some(score)));
        visit(frontier, next, 0).await;
    }
}

async fn a_host_that_is_not_ready_is_not_asked_however_good_its_pages_are(backend: &dyn Backend) {
    let session = begin(backend, BEST_FIRST()).await;
    let frontier = session.frontier().as_ref();
    let good = [scored("a.test/1", 1, 0), scored("a.test/2", 1, 0)];
    discover(frontier, good).await;
    let first = lease(frontier, 0).await;
    discover(frontier, [scored("b.test/poor", 1, 31)]).await;
    visit(frontier, first, 100).await;
    assert_eq!(names(&*session, 99, 9).await, ["b.test/poor"]);
    assert_eq!(names(&*session, 100, 9).await, ["a.test/2"]);
}

async fn of_ready_hosts_the_one_with_the_best_page_goes_first(backend: &dyn Backend) {
    let session = begin(backend, BEST_FIRST()).await;
    let frontier = session.frontier().as_ref();
    let found = [
        scored("a.test/1", 1, 12),
        scored("b.test/1", 1, 12).put_behind(),
        scored("c.test/1", 5, 3),
        scored("d.test/1", 1, 30),
        // A better page of a known host.
        scored("d.test/2", 2, 4),
    ];
    discover(frontier, found).await;
    assert_eq!(names(&*session, 0, 1).await, ["c.test/1"]);
    discover(frontier, [link("http://e.test/seed", 0)]).await;
    let rest = ["e.test/seed", "d.test/2", "a.test/1", "b.test/1"];
    assert_eq!(names(&*session, 0, 9).await, rest);
}

async fn hosts_with_pages_of_equal_score_take_turns_in_the_order_in_which_they_became_ready(
    backend: &dyn Backend,
) {
    let session = begin(backend, BEST_FIRST()).await;
    let frontier = session.frontier().as_ref();
    for (page, score) in [(1, 0), (2, 8)] {
        let of_host = |host| scored(&format!("{host}.test/{page}"), 1, score);
        discover(frontier, ["a", "b", "c"].map(of_host)).await;
    }
    for lease in leases(frontier, 0, 9).await {
        let ready = match lease.url().host().as_str() {
            "a.test" => 30,
            "b.test" => 10,
            _ => 20,
        };
        visit(frontier, lease, ready).await;
    }
    let expected = ["b.test/2", "c.test/2", "a.test/2"];
    assert_eq!(names(&*session, 30, 9).await, expected);
}

async fn every_ready_host_has_a_turn_before_any_has_its_second(backend: &dyn Backend) {
    let rules = FrontierRules {
        per_host: 3,
        ..BEST_FIRST()
    };
    let session = begin(backend, rules).await;
    let found = [
        scored("a.test/1", 1, 9),
        scored("b.test/1", 1, 0),
        scored("b.test/2", 1, 1),
        scored("b.test/3", 1, 30),
        scored("a.test/2", 1, 9),
    ];
    discover(session.frontier().as_ref(), found).await;
    let expected = ["b.test/1", "a.test/1", "b.test/2", "a.test/2", "b.test/3"];
    assert_eq!(names(&*session, 0, 9).await, expected);
}

/// Queues pages of a host with these scores, and visits them: all of them are off topic.
async fn spend_dry(session: &dyn Session, host: &str, scores: &[u8]) {
    let frontier = session.frontier().as_ref();
    for score in scores {
        let page = format!("{host}.test/dry/{score}");
        discover(frontier, [scored(&page, 1, *score)]).await;
        let lease = lease(frontier, 0).await;
        assert_eq!(lease.url().as_str(), format!("http://{page}"));
        judge(frontier, lease, false, 0).await;
    }
}

async fn the_scores_of_a_host_in_an_off_topic_streak_are_worse_until_it_brings_a_page_on_topic(
    backend: &dyn Backend,
) {
    let session = begin(backend, BEST_FIRST()).await;
    let frontier = session.frontier().as_ref();
    spend_dry(&*session, "dry", &[0, 1, 2]).await;
    let found = [scored("dry.test/1", 1, 8), scored("new.test/1", 1, 9)];
    discover(frontier, found).await;
    let first = lease(frontier, 0).await;
    assert_eq!(first.url().as_str(), "http://dry.test/1", "three pages");
    judge(frontier, first, false, 0).await;
    // One level is four scores.
    let found = [scored("dry.test/2", 1, 4), scored("dry.test/3", 1, 6)];
    discover(frontier, found).await;
    let second = lease(frontier, 0).await;
    assert_eq!(second.url().as_str(), "http://dry.test/2", "8 before 9");
    judge(frontier, second, false, 0).await;
    let third = lease(frontier, 0).await;
    assert_eq!(third.url().as_str(), "http://new.test/1", "9 before 10");
    let fourth = lease(frontier, 0).await;
    judge(frontier, fourth, true, 0).await;
    judge(frontier, third, false, 0).await;
    let found = [scored("new.test/2", 1, 9), scored("dry.test/4", 1, 8)];
    discover(frontier, found).await;
    assert_eq!(names(&*session, 0, 1).await, ["dry.test/4"], "it is over");
}

async fn a_slot_waits_for_no_page_of_a_host_in_an_off_topic_streak_that_is_as_poor(
    backend: &dyn Backend,
) {
    let session = begin(backend, PATIENT()).await;
    let frontier = session.frontier().as_ref();
    spend_dry(&*session, "dry", &[0, 1, 2]).await;
    let found = [scored("dry.test/1", 1, 3), scored("dry.test/2", 1, 8)];
    discover(frontier, found).await;
    let last = lease(frontier, 0).await;
    judge(frontier, last, false, 40).await;
    discover(frontier, [scored("new.test/1", 1, 12)]).await;
    assert_eq!(names(&*session, 0, 9).await, ["new.test/1"]);
}

async fn a_dry_spell_outlasts_a_flush_and_a_death(backend: &dyn Backend) {
    let mut session = begin(backend, BEST_FIRST()).await;
    for round in 0..8 {
        spend_dry(&*session, "dry", &[round]).await;
        session = die(session, round).await;
    }
    // Eight pages cost two levels, or eight scores.
    let found = [
        scored("dry.test/1", 1, 12),
        scored("new.test/1", 1, 19),
        scored("more.test/1", 1, 21),
    ];
    discover(session.frontier().as_ref(), found).await;
    let expected = ["new.test/1", "dry.test/1", "more.test/1"];
    assert_eq!(names(&*session, 0, 9).await, expected);
    agree(session).await;
}

/// Asserts that nothing is leased at `now`, and that the next time to try is `next`.
async fn nothing_before(session: &dyn Session, now: u64, next: u64) {
    let supply = session.frontier().lease(at(now), 9, LeaseFilter::All);
    assert_eq!(supply.await.unwrap(), Supply::NothingBefore(at(next)));
}

async fn a_slot_waits_for_a_better_page_of_a_host_that_rests_within_the_patience(
    backend: &dyn Backend,
) {
    let session = begin(backend, PATIENT()).await;
    let frontier = session.frontier().as_ref();
    let found = [scored("a.test/1", 1, 0), scored("a.test/2", 1, 8)];
    discover(frontier, found).await;
    let first = lease(frontier, 0).await;
    visit(frontier, first, 100).await;
    discover(frontier, [scored("b.test/1", 1, 20)]).await;
    discover(frontier, [scored("c.test/1", 1, 20)]).await;
    // The better page is too far away.
    assert_eq!(names(&*session, 49, 1).await, ["b.test/1"]);
    // The leased host is not anticipated after 99.
    nothing_before(&*session, 50, 99).await;
    discover(frontier, [scored("d.test/1", 1, 8)]).await;
    assert_eq!(
        names(&*session, 50, 9).await,
        ["d.test/1"],
        "it is as good as the one that is expected"
    );
    let second = lease(frontier, 100).await;
    assert_eq!(second.url().as_str(), "http://a.test/2");
    visit(frontier, second, 140).await;
    // Nothing better is known any more.
    assert_eq!(names(&*session, 110, 9).await, ["c.test/1"]);
}

async fn a_slot_waits_for_a_host_with_a_better_page_that_answers_within_the_patience(
    backend: &dyn Backend,
) {
    let session = begin(backend, PATIENT()).await;
    let frontier = session.frontier().as_ref();
    let found = [
        scored("a.test/1", 1, 0),
        scored("a.test/2", 1, 8),
        scored("b.test/1", 1, 20),
    ];
    discover(frontier, found).await;
    assert_eq!(names(&*session, 10, 9).await, ["a.test/1"]);
    nothing_before(&*session, 59, 60).await;
    assert_eq!(
        names(&*session, 60, 9).await,
        ["b.test/1"],
        "a host that does not answer is not waited for"
    );
}

async fn a_slot_waits_for_the_links_of_a_better_page_that_is_out(backend: &dyn Backend) {
    let session = begin(backend, PATIENT()).await;
    let frontier = session.frontier().as_ref();
    let found = [scored("a.test/1", 1, 0), scored("b.test/1", 1, 20)];
    discover(frontier, found).await;
    let first = lease(frontier, 0).await;
    nothing_before(&*session, 0, 50).await;
    let done = done_with(&first, None, vec![scored("a.test/2", 2, 4)]);
    frontier.settle(first, done, at(20).into()).await.unwrap();
    nothing_before(&*session, 10, 20).await;
    let second = lease(frontier, 20).await;
    assert_eq!(second.url().as_str(), "http://a.test/2");
    visit(frontier, second, 40).await;
    assert_eq!(
        names(&*session, 30, 9).await,
        ["b.test/1"],
        "nothing better is known any more"
    );
}

async fn seeds_and_requisites_wait_for_no_better_page_and_no_page_waits_for_them(
    backend: &dyn Backend,
) {
    let session = begin(backend, PATIENT()).await;
    let frontier = session.frontier().as_ref();
    let found = [scored("a.test/1", 1, 0), scored("a.test/2", 1, 0)];
    discover(frontier, found).await;
    assert_eq!(names(&*session, 0, 9).await, ["a.test/1"]);
    let found = [
        link("http://b.test/seed", 0),
        scored("c.test/1", 1, 20),
        link("http://c.test/style.css", 2).needed(1),
    ];
    discover(frontier, found).await;
    let expected = ["c.test/style.css", "b.test/seed"];
    assert_eq!(names(&*session, 0, 9).await, expected);
    let session = begin(backend, PATIENT()).await;
    let frontier = session.frontier().as_ref();
    let found = [link("http://a.test/1", 0), link("http://a.test/2", 0)];
    discover(frontier, found).await;
    assert_eq!(names(&*session, 0, 9).await, ["a.test/1"]);
    discover(frontier, [scored("b.test/1", 1, 31)]).await;
    assert_eq!(names(&*session, 0, 9).await, ["b.test/1"]);
}

async fn without_a_topic_patience_changes_nothing(backend: &dyn Backend) {
    let rules = FrontierRules {
        best_first: false,
        ..PATIENT()
    };
    let session = begin(backend, rules).await;
    let found = [
        scored("a.test/1", 1, 0),
        scored("a.test/2", 1, 0),
        scored("b.test/1", 1, 20),
    ];
    discover(session.frontier().as_ref(), found).await;
    let expected = ["a.test/1", "b.test/1"];
    assert_eq!(names(&*session, 0, 9).await, expected);
}

async fn without_best_first_scores_do_not_change_the_turns_of_hosts(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let found = [scored("a.test/1", 1, 9), scored("b.test/1", 1, 0)];
    discover(session.frontier().as_ref(), found).await;
    let expected = ["a.test/1", "b.test/1"];
    assert_eq!(names(&*session, 0, 9).await, expected);
}

async fn the_best_host_goes_first_after_a_flush_and_after_a_death(backend: &dyn Backend) {
    let mut session = begin(backend, BEST_FIRST()).await;
    // The scores of the pages waiting at each host. All differ.
    let mut waiting = vec![BTreeSet::new(); 4];
    for round in 0..7_u8 {
        let found = (0..4).map(|host: u8| {
            let score = (round * 4 + host) * 5 % DiscoveredUrl::LINK_SCORES;
            waiting[usize::from(host)].insert(score);
            scored(&format!("h{host}.test/{round}"), 1, score)
        });
        let frontier = session.frontier().as_ref();
        assert_eq!(discover(frontier, found.collect::<Vec<_>>()).await, 4);
        let best = waiting.iter().filter_map(BTreeSet::first).copied();
        let mut expected: Vec<u8> = best.collect();
        expected.sort_unstable();
        expected.truncate(2);
        let out = leases(frontier, 0, 2).await;
        let scores = out
            .iter()
            .filter_map(|lease| lease.discovered().link_score());
        assert_eq!(scores.collect::<Vec<_>>(), expected, "{round}");
        for host in &mut waiting {
            host.retain(|score| !expected.contains(score));
        }
        for lease in out {
            visit(frontier, lease, 0).await;
        }
        session = die(session, round).await;
    }
    agree(session).await;
}
