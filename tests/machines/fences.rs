//! A commit that comes too late: the fence of `settle_batch` refuses it.
//!
//! A node settles a page, and the commit waits inside the database until the node's term has
//! expired and another node has visited all pages.

use testkit::{Gate, NetworkState, Postgres, Site};

use crate::support::shared_crawl::{SharedCrawl, Web, assert_exhausted};

/// One host, so that one node has all pages.
const WEB: Web = Web { hosts: 1, pages: 3 };
/// The beginning of `settle_batch`, which checks the term.
const FENCE: &str = "BEGIN
    -- Waits for a call that is about to end this term, and is waited for by it.
    SELECT batch INTO v_batch FROM term WHERE term = p_term AND state = 'live' FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM refuse_ended_term(p_term);
    END IF;";
/// The same, with a gate before it.
const GATE_AND_FENCE: &str = "BEGIN
    WHILE EXISTS (SELECT FROM held WHERE held.term = p_term) LOOP
        PERFORM pg_sleep(0.005);
    END LOOP;
    SELECT batch INTO v_batch FROM term WHERE term = p_term AND state = 'live' FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM refuse_ended_term(p_term);
    END IF;";
/// The gate, and a fence that every term passes.
const GATE_ALONE: &str = "BEGIN
    WHILE EXISTS (SELECT FROM held WHERE held.term = p_term) LOOP
        PERFORM pg_sleep(0.005);
    END LOOP;
    SELECT batch INTO v_batch FROM term WHERE term = p_term FOR UPDATE;";
/// The commits that wait at the gate.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
    AND state = 'active' AND query LIKE 'SELECT settle_batch%'";

/// Has the node "late" commit a page after its term, by way of this gate. The node "other" has
/// visited all pages before.
fn commit_late(postgres: &Postgres, gate: &str) -> SharedCrawl {
    let door = Gate::new();
    let held = door.clone();
    let site = Site::new(move |request| match request.path() {
        "/1" => WEB.reply(request).hold(&held),
        _ => WEB.reply(request),
    });
    let shared = SharedCrawl::of_site(postgres, WEB, site);
    let (network, store) = shared.network();
    let late = shared.start_through("late", &store);
    shared.wait_for("late", "live");
    let waits = |count: &str| while postgres.query(&shared.store, WAITING) != count {};

    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(door.arrivals(1));
    postgres.query(&shared.store, "CREATE TABLE held AS SELECT term FROM term");
    shared.replace(postgres, "settle_batch", FENCE, gate);
    door.open();
    waits("1");
    network.set(NetworkState::Silent);
    let other = shared.start("other");
    assert_exhausted(&other.end());
    postgres.query(&shared.store, "DELETE FROM held");
    waits("0");
    network.set(NetworkState::Up);
    assert_exhausted(&late.end());
    shared
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_commit_that_arrives_after_its_term_is_refused_and_its_tail_is_cut_from_the_archive() {
    let postgres = Postgres::shared();
    let shared = commit_late(postgres, GATE_AND_FENCE);
    assert_eq!(shared.server.log().count(&Web::host(0), "/1"), 2);
    assert_eq!(shared.verify()["pages"], WEB.all_pages());
    shared.verify_archive("late");
    shared.verify_archive("other");
    WEB.stands_once_in(&shared.archived(&["late", "other"]));
    shared.was_polite();
}

/// Without the fence the test above fails, so it tests the fence.
#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn without_the_fence_the_late_commit_is_found_as_a_page_that_was_visited_twice() {
    let postgres = Postgres::shared();
    let shared = commit_late(postgres, GATE_ALONE);
    let run = shared
        .crawl
        .run_command(&["verify", "--store", &shared.store]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.output.contains("/1"), "{run:?}");
}
