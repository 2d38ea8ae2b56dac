//! The effects of one session as seen by the next: leases, settlements, claims, hosts, admissions.

use std::time::Duration;

use journal::{Fate, FinishedVisit, Robots};
use store::{ComparisonOptions, FrontierRules, Settlement, Supply};
use web::{Host, Pace, Timestamp};

use crate::admissions::{about, admitted, alike_by, check, kept, nearly};
use crate::backend::{Backend, End, Promise};
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[Promise::Sessions],
    a_page_that_was_out_in_a_death_is_leased_again_and_a_visited_one_is_not,
    a_page_that_was_out_at_the_end_of_a_session_counts_as_returned_and_in_a_death_it_does_not,
    a_failed_visit_is_repeated_when_it_is_due_whatever_session_it_failed_in,
    archived_pages_behind_one_that_was_never_recorded_are_visited_again,
    a_claim_lasts_if_a_settlement_names_it,
    a_url_is_leased_with_the_request_of_the_link_that_queued_it_whatever_happened_meanwhile,
    paces_and_robots_txt_files_outlast_a_session_that_ends_in_order,
    admitted_pages_are_known_to_the_next_session_and_forgotten_ones_are_not,
    ranks_and_separations_outlast_the_process,
);

pub(crate) const ALONE: &[Sentence] = &scenarios!(
    &[Promise::Sessions, Promise::QuarantinedAlone],
    a_page_that_two_sessions_died_with_is_leased_alone_when_nothing_else_can_be,
);

/// All ends of a session; the last two write only a part of the tables.
const ENDS: [End; 4] = [
    End::InOrder,
    End::Death,
    End::DeathInFlush(0b01010),
    End::DeathInFlush(0b10101),
];

async fn a_page_that_was_out_in_a_death_is_leased_again_and_a_visited_one_is_not(
    backend: &dyn Backend,
) {
    for end in ENDS {
        let mut session = begin(backend, FrontierRules::default()).await;
        let frontier = session.frontier().as_ref();
        seed(frontier, ["http://a.test/1", "http://b.test/1"]).await;
        let mut out = leases(frontier, 0, 9).await;
        out.sort_by_key(|lease| lease.url().to_string());
        let first = out.remove(0);
        let settlement = done_with(&first, None, vec![link("http://a.test/2", 1)]);
        settle(frontier, first, settlement, 0).await;

        session = session.reopen(end, at(0)).await;
        let frontier = session.frontier().as_ref();
        assert_eq!(frontier.stats().totals.unique, 1, "{end:?}");
        assert_eq!(seed(frontier, ["http://a.test/1"]).await, 0, "{end:?}");
        let again = leases(frontier, 0, 9).await;
        let mut again = urls(&again);
        again.sort_unstable();
        assert_eq!(again, ["http://a.test/2", "http://b.test/1"], "{end:?}");
    }
}

async fn a_page_that_was_out_at_the_end_of_a_session_counts_as_returned_and_in_a_death_it_does_not(
    backend: &dyn Backend,
) {
    for end in ENDS {
        let mut session = begin(backend, FrontierRules::default()).await;
        seed(session.frontier().as_ref(), ["http://a.test/"]).await;
        let lost = lease(session.frontier().as_ref(), 0).await;
        drop(lost);
        session = session.reopen(end, at(0)).await;
        let again = lease(session.frontier().as_ref(), 0).await;
        let crashes = u32::from(!end.is_in_order());
        let counts = (again.entry.attempts, again.entry.crashes);
        assert_eq!(counts, (0, crashes), "{end:?}");
    }
}

async fn a_url_is_leased_with_the_request_of_the_link_that_queued_it_whatever_happened_meanwhile(
    backend: &dyn Backend,
) {
    let found = link("http://a.test/2?z=1&a=2;jsessionid=3", 1);
    assert_ne!(found.url.request(), found.url.as_url());
    for end in ENDS {
        let mut session = begin(backend, FrontierRules::default()).await;
        let frontier = session.frontier().as_ref();
        seed(frontier, ["http://a.test/1"]).await;
        let first = lease(frontier, 0).await;
        let settlement = done_with(&first, None, vec![found.clone()]);
        settle(frontier, first, settlement, 0).await;
        // Another spelling of a known URL is not new.
        let again_found = link("http://a.test/2?a=2&z=1", 1);
        assert_eq!(discover(frontier, [again_found]).await, 0, "{end:?}");

        session = session.reopen(end, at(0)).await;
        let leased = lease(session.frontier().as_ref(), 0).await;
        assert_eq!(leased.url().request(), found.url.request(), "{end:?}");
        settle(session.frontier().as_ref(), leased, again(at(5)), 0).await;
        session = session.reopen(end, at(9)).await;
        let leased = lease(session.frontier().as_ref(), 9).await;
        assert_eq!(leased.url().request(), found.url.request(), "{end:?}");
    }
}

async fn a_page_that_two_sessions_died_with_is_leased_alone_when_nothing_else_can_be(
    backend: &dyn Backend,
) {
    let mut session = begin(backend, FrontierRules::default()).await;
    seed(session.frontier().as_ref(), ["http://a.test/deadly"]).await;
    for death in 0..2 {
        let deadly = lease(session.frontier().as_ref(), 0).await;
        assert_eq!(deadly.entry.crashes, death);
        session = session.reopen(End::Death, at(0)).await;
    }
    let frontier = session.frontier().as_ref();
    assert_eq!(frontier.stats().quarantined, 1);
    seed(frontier, ["http://a.test/2", "http://b.test/"]).await;
    let mut others = leases(frontier, 0, 9).await;
    others.sort_by_key(|lease| lease.url().to_string());
    assert_eq!(urls(&others), ["http://a.test/2", "http://b.test/"]);
    for other in others {
        let while_others_are_out = supply(frontier, 0).await;
        let nothing = Supply::NothingBefore(Timestamp::NEVER);
        assert_eq!(while_others_are_out, nothing);
        visit(frontier, other, 0).await;
    }
    let deadly = lease(frontier, 0).await;
    assert_eq!(deadly.entry.crashes, 2);
    seed(frontier, ["http://c.test/"]).await;
    let while_it_is_out = supply(frontier, 0).await;
    assert_eq!(while_it_is_out, Supply::NothingBefore(Timestamp::NEVER));
    visit(frontier, deadly, 0).await;
    visit(frontier, lease(frontier, 0).await, 0).await;
    assert_eq!(supply(frontier, 0).await, Supply::Exhausted);
}

async fn a_failed_visit_is_repeated_when_it_is_due_whatever_session_it_failed_in(
    backend: &dyn Backend,
) {
    for end in ENDS {
        let mut session = begin(backend, FrontierRules::default()).await;
        let frontier = session.frontier().as_ref();
        seed(frontier, ["http://a.test/"]).await;
        let failed = lease(frontier, 0).await;
        settle(frontier, failed, again(at(1000)), 0).await;
        session = session.reopen(end, at(10)).await;
        let frontier = session.frontier().as_ref();
        let too_early = supply(frontier, 999).await;
        assert_eq!(too_early, Supply::NothingBefore(at(1000)), "{end:?}");
        let due = lease(frontier, 1000).await;
        assert_eq!((due.entry.attempts, due.entry.crashes), (1, 0), "{end:?}");
    }
}

async fn archived_pages_behind_one_that_was_never_recorded_are_visited_again(
    backend: &dyn Backend,
) {
    for end in ENDS {
        let rules = FrontierRules {
            per_host: 9,
            ..FrontierRules::default()
        };
        let mut session = begin(backend, rules).await;
        let frontier = session.frontier().as_ref();
        let pages = ["http://a.test/0", "http://a.test/1", "http://a.test/2"];
        seed(frontier, pages).await;
        let mut out = leases(frontier, 0, 9).await;
        let (third, _second, first) = (out.remove(2), out.remove(1), out.remove(0));
        for (lease, archive_sequence) in [(third, 2), (first, 0)] {
            let settlement = done_with(&lease, Some(archive_sequence), Vec::new());
            settle(frontier, lease, settlement, 0).await;
        }
        session = session.reopen(end, at(0)).await;
        let frontier = session.frontier().as_ref();
        assert_eq!(frontier.stats().totals.unique, 1, "{end:?}");
        let again = leases(frontier, 0, 9).await;
        assert_eq!(urls(&again), pages[1..], "{end:?}");
    }
}

async fn a_claim_lasts_if_a_settlement_names_it(backend: &dyn Backend) {
    for end in ENDS {
        let mut session = begin(backend, FrontierRules::default()).await;
        let frontier = session.frontier().as_ref();
        seed(frontier, ["http://a.test/", "http://b.test/"]).await;
        let mut out = leases(frontier, 0, 9).await;
        let (cut_off, ended) = (out.remove(1), out.remove(0));
        // Each page is redirected within its host, because a redirect to another host may not be
        // followed.
        let (named, unnamed) = (url("http://a.test/named"), url("http://b.test/unnamed"));
        assert!(frontier.claim(&ended, &named).await.unwrap());
        assert!(frontier.claim(&cut_off, &unnamed).await.unwrap());
        let settlement = Settlement::Done(FinishedVisit {
            reached: vec![named.clone()],
            ..FinishedVisit::new(visit_record(&ended, Fate::Unique))
        });
        settle(frontier, ended, settlement, 0).await;

        session = session.reopen(end, at(0)).await;
        let frontier = session.frontier().as_ref();
        assert_eq!(seed(frontier, [named.as_str()]).await, 0, "{end:?}");
        let again = lease(frontier, 0).await;
        assert_eq!(again.url(), cut_off.url(), "{end:?}");
        let is_free =
            !frontier.is_apart(&again, &named) && frontier.claim(&again, &named).await.unwrap();
        assert!(!is_free, "{end:?}");
        let is_claimed = frontier.claim(&again, &unnamed).await.unwrap();
        assert!(is_claimed, "{end:?}: the same page goes the same way");
    }
}

async fn paces_and_robots_txt_files_outlast_a_session_that_ends_in_order(backend: &dyn Backend) {
    let mut session = begin(backend, FrontierRules::default()).await;
    let hosts = session.frontier().hosts();
    let (host, origin) = (Host::new("a.test"), url("http://a.test/").origin());
    let slow = Pace {
        ready: at(90_000),
        failures: 2,
        crawl_delay: Some(Duration::from_secs(3)),
        wait: Duration::from_secs(80),
        answered: at(10_000),
        ..Pace::default()
    };
    let robots = Robots {
        text: Some(b"User-agent: *".to_vec()),
        until: at(99_000),
    };
    hosts.record_pace(&host, slow).await.unwrap();
    let recorded = hosts.record_robots(&origin, robots.clone()).await;
    recorded.unwrap();
    session = session.reopen(End::InOrder, at(20_000)).await;
    let hosts = session.frontier().hosts();
    assert_eq!(hosts.pace(&host).await.unwrap(), Some(slow));
    assert_eq!(hosts.robots(&origin).await.unwrap(), Some(robots));
    let frontier = session.frontier().as_ref();
    seed(frontier, ["http://a.test/"]).await;
    let too_early = supply(frontier, 89_999).await;
    assert_eq!(too_early, Supply::NothingBefore(at(90_000)));
}

async fn admitted_pages_are_known_to_the_next_session_and_forgotten_ones_are_not(
    backend: &dyn Backend,
) {
    let (tea, coffee) = (about("tea", 1), about("coffee", 2));
    for end in ENDS {
        let mut session = alike_by(backend, ComparisonOptions::default()).await;
        let pages = [
            ("http://a.test/tea", &tea, "unique"),
            ("http://a.test/coffee", &coffee, "unique"),
        ];
        check(&*session, &pages).await;
        let key = url("http://a.test/coffee").key();
        session.index().forget(key).await.unwrap();
        session = session.reopen(end, at(0)).await;
        let pages = [
            ("http://a.test/tea", &tea, "own"),
            ("http://b.test/tea", &tea, "duplicate of http://a.test/tea"),
            (
                "http://c.test/tea",
                &nearly(1),
                "duplicate of http://a.test/tea",
            ),
            ("http://b.test/coffee", &coffee, "unique"),
        ];
        check(&*session, &pages).await;
    }
}

async fn ranks_and_separations_outlast_the_process(backend: &dyn Backend) {
    for end in ENDS {
        let mut session = alike_by(backend, kept(2)).await;
        let (first, second) = ("http://a.test/", "http://a.test/2");
        let retained = "2 of 2 of http://a.test/";
        let pages = [
            (first, &about("tea", 1), "unique"),
            (second, &nearly(1), retained),
        ];
        check(&*session, &pages).await;
        let (distinct, original) = (url("http://b.test/"), url(first));
        let separated = session.index().separate(&distinct, &original).await;
        separated.unwrap();
        session = session.reopen(end, at(0)).await;
        let pages = [
            (second, &nearly(1), retained),
            ("http://a.test/3", &nearly(2), "duplicate of http://a.test/"),
        ];
        check(&*session, &pages).await;
        let verdict = admitted(session.index().as_ref(), distinct.as_str(), &nearly(3)).await;
        assert_eq!(verdict, "unique", "{end:?}");
    }
}
