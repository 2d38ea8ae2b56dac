//! Nodes whose way to the database fails: a batch counts once, or not at all if the term has ended.
//!
//! A batch is held back in the server, before its term is checked, by a gate that these tests add
//! to `settle_batch`. So it is certain that it arrives late, or that its answer is lost.

use std::sync::Arc;
use std::time::Duration;

use contract::Setup;
use contract::fixtures::{at, done_with, lease, link, seed, visit};
use journal::StoreFault;
use shared_store::SharedStore;
use sqlx::{Connection as _, PgConnection};
use store::{Frontier, FrontierRules, Lease, LeaseFilter, Supply};
use testkit::{FaultyNetwork, NetworkState, Postgres};
use tokio::sync::Notify;

use crate::database::{Database, VISITS};
use crate::support::Node;

/// The term of nodes that are to die.
const SHORT: Duration = Duration::from_secs(2);
/// The term of nodes that no fault here lasts as long as.
const LONG: Duration = Duration::from_secs(60);
/// The rest of hosts that a node which died may have asked.
const REST: Duration = Duration::from_secs(7);

const PAGE: &str = "http://a.test/";
const HELD_BACK: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE datname = current_database() AND wait_event = 'advisory'";
/// Batches that the server has refused, by its log.
const REFUSED: &str = "SELECT count(*) FROM regexp_matches( \
    pg_read_file(current_setting('data_directory') || '/../log'), \
    current_database() || ':STATEMENT: +SELECT settle_batch', 'g')";

/// The gate: batches of the first term wait for the lock 7.
const GATE: (&str, &str) = (
    "-- Waits for a call",
    "IF p_term = 1 THEN PERFORM pg_advisory_xact_lock_shared(7); END IF;
     -- Waits for a call",
);
/// A fence that lets every term through.
const NO_FENCE: (&str, &str) = (
    "WHERE term = p_term AND state = 'live' FOR UPDATE",
    "WHERE term = p_term FOR UPDATE",
);

/// A node that has leased a page, with the network that it reaches the database through.
struct Far {
    network: FaultyNetwork,
    store: Arc<SharedStore>,
    lease: Option<Lease>,
    _node: Node,
}

impl Drop for Far {
    fn drop(&mut self) {
        self.store.abandon();
    }
}

fn setup() -> Setup {
    Setup::with_rules(FrontierRules {
        min_wait: REST,
        ..FrontierRules::default()
    })
}

/// Begins the first term of the crawl, in which a page is out on lease.
async fn far(database: &Database) -> Far {
    let (network, url) = database.network();
    let mut node = Node::new(&url, "far", &setup()).await;
    let store = node.open(&setup()).await;
    seed(&*store, [PAGE]).await;
    let lease = lease(&*store, 0).await;
    Far {
        network,
        store,
        lease: Some(lease),
        _node: node,
    }
}

/// Closes the gate, until the returned connection is closed.
async fn close_gate(database: &Database, parts: &[(&str, &str)]) -> PgConnection {
    database.replace("settle_batch", parts).await;
    let mut holder = PgConnection::connect(&database.url).await.unwrap();
    let lock = sqlx::query("SELECT pg_advisory_lock(7)");
    lock.execute(&mut holder).await.unwrap();
    holder
}

/// Settles the page that is out on lease.
async fn settle(far: &mut Far) {
    let lease = far.lease.take().unwrap();
    visit(&*far.store, lease, 0).await;
}

/// Waits until a node owns the bucket of a URL.
async fn owns(store: &SharedStore, url: &str) {
    let host = link(url, 0).url.host();
    while !store.owns(&host).await {
        store.changed().await;
    }
}

/// Settles the page of a node that is cut off, and whose batch is held back until another node has
/// its buckets and has visited the page. Lets the batch go on then.
async fn settle_late(database: &Database, parts: &[(&str, &str)]) {
    let mut far = far(database).await;
    let gate = close_gate(database, parts).await;
    settle(&mut far).await;
    database.until(HELD_BACK, 1).await;
    far.network.set(NetworkState::Silent);

    let mut node = Node::new(&database.url, "near", &setup()).await;
    let near = node.open(&setup()).await;
    let late = far.store.checkpoint(None).await;
    assert!(
        matches!(late, Err(StoreFault::TermEnded { .. })),
        "{late:?}"
    );
    owns(&near, PAGE).await;
    let early = near.lease(at(0), 1, LeaseFilter::All).await.unwrap();
    assert_eq!(early, Supply::NothingBefore(at(0) + REST));
    let again = lease(&*near, 7_000).await;
    assert_eq!(again.url().as_str(), PAGE);
    visit(&*near, again, 7_000).await;
    near.checkpoint(None).await.unwrap();
    assert_eq!(database.number(VISITS).await, 1);

    gate.close().await.unwrap();
    database.until(HELD_BACK, 0).await;
    near.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_visit_is_sent_once_its_archive_is_synced() {
    // A power cut took pages from the archive of a node that the store had as visited.
    let database = Database::begin(LONG).await;
    let mut node = Node::new(&database.url, "node", &setup()).await;
    let store = node.open(&setup()).await;
    seed(&*store, [PAGE]).await;
    let (begun, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (at_sync, go_on) = (Arc::clone(&begun), Arc::clone(&release));
    store.sync_archive_by(Box::new(move || {
        let (at_sync, go_on) = (Arc::clone(&at_sync), Arc::clone(&go_on));
        Box::pin(async move {
            at_sync.notify_one();
            go_on.notified().await;
            Ok(())
        })
    }));
    let lease = lease(&*store, 0).await;
    let archived = done_with(&lease, Some(0), Vec::new());
    contract::fixtures::settle(&*store, lease, archived, 0).await;
    begun.notified().await;
    assert_eq!(database.number(VISITS).await, 0);
    release.notify_one();
    store.checkpoint(None).await.unwrap();
    assert_eq!(database.number(VISITS).await, 1);
    store.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_node_whose_archive_cannot_be_synced_stops_and_settles_nothing() {
    let database = Database::begin(LONG).await;
    let mut node = Node::new(&database.url, "node", &setup()).await;
    let store = node.open(&setup()).await;
    seed(&*store, [PAGE]).await;
    store.sync_archive_by(Box::new(|| {
        Box::pin(std::future::ready(
            Err("no space left on device".to_owned()),
        ))
    }));
    let lease = lease(&*store, 0).await;
    let archived = done_with(&lease, Some(0), Vec::new());
    contract::fixtures::settle(&*store, lease, archived, 0).await;
    let fault = store.checkpoint(None).await.unwrap_err();
    assert!(
        fault.to_string().contains("no space left on device"),
        "{fault}"
    );
    assert_eq!(database.number(VISITS).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn the_late_batch_of_a_node_that_was_cut_off_is_refused_and_another_visits_its_page_once() {
    let database = Database::begin(SHORT).await;
    settle_late(&database, &[GATE]).await;
    database.until(REFUSED, 1).await;
    assert_eq!(database.number(VISITS).await, 1);
}

/// The test above is sharp: it is the fence that keeps the late batch out.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn without_the_fence_the_page_stands_twice_in_the_rows() {
    let database = Database::begin(SHORT).await;
    settle_late(&database, &[GATE, NO_FENCE]).await;
    database.until(VISITS, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_node_whose_bytes_are_lost_ends_its_term_by_itself_and_stays_out_when_they_arrive_again()
{
    let database = Database::begin(SHORT).await;
    let mut far = far(&database).await;
    far.network.set(NetworkState::Silent);
    settle(&mut far).await;
    let late = far.store.checkpoint(None).await;
    assert!(
        matches!(late, Err(StoreFault::TermEnded { .. })),
        "{late:?}"
    );
    far.network.set(NetworkState::Up);
    let supply = far.store.lease(at(0), 1, LeaseFilter::All).await;
    assert!(
        matches!(supply, Err(StoreFault::TermEnded { .. })),
        "{supply:?}"
    );
    assert_eq!(database.number(VISITS).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_node_learns_with_its_batch_that_the_database_has_ended_its_term() {
    let database = Database::begin(LONG).await;
    let mut far = far(&database).await;
    database.run("SELECT end_term(1, 'expired')").await;
    settle(&mut far).await;
    let late = far.store.checkpoint(None).await.unwrap_err();
    assert_eq!(
        late.to_string(),
        "term 1 of node far has ended: it sent no heartbeat in time, and its buckets were \
         reassigned"
    );
    assert_eq!(database.number(VISITS).await, 0);
}

/// Waits until the page is settled, and fails unless it counts once.
async fn counts_once(database: &Database, far: &Far) {
    far.store.checkpoint(None).await.unwrap();
    assert_eq!(database.number(VISITS).await, 1);
    assert_eq!(database.number("SELECT pages FROM term").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_batch_whose_answer_is_lost_is_repeated_and_counts_once() {
    let database = Database::begin(LONG).await;
    let mut far = far(&database).await;
    let gate = close_gate(&database, &[GATE]).await;
    settle(&mut far).await;
    database.until(HELD_BACK, 1).await;
    far.network.set(NetworkState::Down);
    gate.close().await.unwrap();
    database.until(VISITS, 1).await;
    far.network.set(NetworkState::Up);
    counts_once(&database, &far).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_batch_that_is_repeated_while_the_first_call_still_runs_counts_once() {
    let database = Database::begin(LONG).await;
    let mut far = far(&database).await;
    let gate = close_gate(&database, &[GATE]).await;
    settle(&mut far).await;
    database.until(HELD_BACK, 1).await;
    far.network.set(NetworkState::Down);
    far.network.set(NetworkState::Up);
    database.until(HELD_BACK, 2).await;
    gate.close().await.unwrap();
    counts_once(&database, &far).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_batch_whose_connection_is_reset_on_the_way_is_repeated_and_counts_once() {
    let database = Database::begin(LONG).await;
    let mut far = far(&database).await;
    far.network.set(NetworkState::Stalled);
    settle(&mut far).await;
    far.network.caught(1).await;
    far.network.set(NetworkState::Down);
    far.network.set(NetworkState::Up);
    counts_once(&database, &far).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_node_on_a_slow_network_keeps_its_term_and_its_batch_counts_once() {
    let database = Database::begin(SHORT).await;
    let mut far = far(&database).await;
    far.network
        .set(NetworkState::Slow(Duration::from_millis(50)));
    settle(&mut far).await;
    counts_once(&database, &far).await;
    // It sends heartbeats again: its term goes on.
    let heartbeat = "SELECT count(*) FROM term WHERE heartbeat_at > begun_at + interval '3 s'";
    database.until(heartbeat, 1).await;
    assert_eq!(
        database
            .number("SELECT count(*) FROM term WHERE state = 'live'")
            .await,
        1
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_batch_during_which_the_server_crashes_is_repeated_and_counts_once() {
    let server = Postgres::start(&[]);
    let database = Database::begin_on(&server, LONG).await;
    let mut far = far(&database).await;
    let _gate = close_gate(&database, &[GATE]).await;
    settle(&mut far).await;
    database.until(HELD_BACK, 1).await;
    tokio::task::block_in_place(|| {
        server.crash();
        server.restart();
    });
    counts_once(&database, &far).await;
}
