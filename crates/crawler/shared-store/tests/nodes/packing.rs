//! Rows that a bucket's owner packs: readers and the next owner get the same rows, however the call
//! ends.
//!
//! Nodes of these tests pack three rows at a time, except for the nodes that leave it to the test.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use contract::Setup;
use contract::fixtures::{at, done_with, lease, leases, link, seed, settle, visit};
use journal::{Fate, FinishedVisit, VisitRecord};
use shared_store::{SharedCrawl, SharedStore};
use sqlx::{Connection as _, PgConnection};
use store::{Frontier, NearDupIndex, Settlement};
use testkit::Postgres;

use crate::database::Database;
use crate::support::Node;

/// A term that no fault here lasts as long as.
const LONG: Duration = Duration::from_secs(60);
const PACKS: &str = "SELECT count(*) FROM packed_journal";
const PACK: &str = "SELECT pack_rows(1, array(SELECT bucket FROM bucket), 3)";
const HELD_BACK: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE datname = current_database() AND wait_event = 'advisory'";
/// Everything about all rows, in their order, as a number.
const ROWS: &str = "SELECT hashtextextended(string_agg(row_of_all::text, ' ' ORDER BY number), 0) \
    FROM (SELECT bucket, number, term, kind, page, original, record FROM rows_after( \
        array(SELECT bucket FROM bucket), array_fill(0::bigint, ARRAY[4096]))) AS row_of_all";
/// A gate in `pack_rows` once the rows have moved: the call waits for the lock 7.
const GATE: (&str, &str) = (
    "FROM taken HAVING count(*) > 0;",
    "FROM taken HAVING count(*) > 0;
     PERFORM pg_advisory_xact_lock_shared(7);",
);

/// Opens a node. It packs rows only if `packs` is true.
async fn open(database: &Database, name: &str, packs: bool) -> (Node, Arc<SharedStore>) {
    let mut node = Node::new(&database.url, name, &Setup::default()).await;
    node.rows_per_pack = if packs { 3 } else { u32::MAX };
    let store = node.open(&Setup::default()).await;
    (node, store)
}

/// Visits eight of the pages of one host, so that as many wait.
async fn visit_half(store: &SharedStore) {
    seed(store, ["http://a.test/"]).await;
    let first = lease(store, 0).await;
    let links = (1..16).map(|page| link(&format!("http://a.test/{page}"), 1));
    let end = done_with(&first, None, links.collect());
    settle(store, first, end, 0).await;
    for step in 1..8 {
        let lease = lease(store, step * 100_000).await;
        visit(store, lease, step * 100_000).await;
    }
    store.checkpoint(None).await.unwrap();
}

/// Returns the URLs that a store leases from now on.
async fn rest(store: &SharedStore) -> BTreeSet<String> {
    let (mut urls, mut now) = (BTreeSet::new(), 1_000_000_000);
    loop {
        let leased = leases(store, now, 9).await;
        if leased.is_empty() {
            return urls;
        }
        for lease in leased {
            assert!(urls.insert(lease.url().to_string()), "{}", lease.url());
            visit(store, lease, now).await;
        }
        now += 1_000_000;
    }
}

async fn findings(database: &Database) -> Vec<String> {
    let crawl = SharedCrawl::open(&database.url).await.unwrap();
    let mut findings = Vec::new();
    let audit = crawl.audit(3, |_record| {}, |finding| findings.push(finding));
    audit.await.unwrap();
    findings
}

/// Runs `PACK` on a connection of its own, and returns its error, if any.
async fn pack(database: &Database) -> Option<String> {
    let mut connection = PgConnection::connect(&database.url).await.unwrap();
    let packed = sqlx::query(PACK).execute(&mut connection).await;
    packed.err().map(|error| error.to_string())
}

/// Closes the gate until the returned connection is closed.
async fn close_gate(database: &Database) -> PgConnection {
    database.replace("pack_rows", &[GATE]).await;
    let mut holder = PgConnection::connect(&database.url).await.unwrap();
    let lock = sqlx::query("SELECT pg_advisory_lock(7)");
    lock.execute(&mut holder).await.unwrap();
    holder
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_node_that_takes_a_packed_bucket_over_goes_on_where_its_owner_died() {
    let database = Database::begin(LONG).await;
    let (_first, store) = open(&database, "first", true).await;
    visit_half(&store).await;
    let some = "SELECT least(count(*), 1) FROM packed_journal";
    database.until(some, 1).await;
    assert_eq!(pack(&database).await, None);
    assert!(database.number("SELECT count(*) FROM journal").await < 3);
    assert_eq!(findings(&database).await, Vec::<String>::new());
    store.abandon();
    store.stopped().await;
    database.run("SELECT end_term(1, 'expired')").await;

    let (_second, store) = open(&database, "second", true).await;
    let rest = rest(&store).await;
    assert_eq!(rest.len(), 8, "{rest:?}");
    store.close().await.unwrap();
    assert_eq!(findings(&database).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_duplicate_in_a_pack_is_visited_again_once_its_original_is_forgotten() {
    let database = Database::begin(LONG).await;
    let (_node, store) = open(&database, "node", false).await;
    seed(&*store, ["http://a.test/", "http://b.test/"]).await;
    let (original, duplicate) = (lease(&*store, 0).await, lease(&*store, 0).await);
    let page = journal::Page {
        url: original.url().clone(),
        final_url: original.url().clone(),
        at: at(0),
    };
    let signature = neardup::PageSignature {
        payload: 7,
        text: None,
    };
    store.admit(&page, &signature, None).await.unwrap();
    let url = duplicate.url().clone();
    let repeats = VisitRecord {
        duplicate_of: Some(page.url.clone()),
        ..VisitRecord::new(duplicate.discovered().clone(), Fate::ExactDuplicate, at(0))
    };
    visit(&*store, original, 0).await;
    let end = Settlement::Done(FinishedVisit::new(repeats));
    settle(&*store, duplicate, end, 0).await;
    store.checkpoint(None).await.unwrap();
    let pack_all = PACK.replace(", 3)", ", 1)");
    database.run(&pack_all).await;
    assert_eq!(database.number("SELECT count(*) FROM journal").await, 0);

    store.forget(page.key()).await.unwrap();
    store.refresh().await.unwrap();
    let again = lease(&*store, 1_000_000).await;
    assert_eq!(again.url(), &url);
    store.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn packing_for_a_term_that_has_ended_is_refused() {
    let database = Database::begin(LONG).await;
    let (_node, store) = open(&database, "node", false).await;
    visit_half(&store).await;
    let rows = database.number(ROWS).await;
    database.run("SELECT end_term(1, 'expired')").await;
    let refusal = pack(&database).await.unwrap();
    assert!(refusal.contains("no heartbeat in time"), "{refusal}");
    assert_eq!(database.number(PACKS).await, 0);
    assert_eq!(database.number(ROWS).await, rows);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_repeated_call_packs_no_row_twice() {
    let database = Database::begin(LONG).await;
    let (_node, store) = open(&database, "node", false).await;
    visit_half(&store).await;
    let rows = database.number(ROWS).await;
    let gate = close_gate(&database).await;
    // The answer of the first call is lost; the second arrives while the first still runs.
    let (first, second) = tokio::join!(pack(&database), async {
        database.until(HELD_BACK, 1).await;
        let (second, ()) = tokio::join!(pack(&database), async {
            let waiting = "SELECT count(*) FROM pg_stat_activity \
                WHERE datname = current_database() AND wait_event_type = 'Lock' \
                AND query LIKE 'SELECT pack_rows%'";
            database.until(waiting, 2).await;
            gate.close().await.unwrap();
        });
        second
    });
    assert_eq!((first, second), (None, None));
    assert_eq!(database.number(PACKS).await, 1);
    assert_eq!(database.number(ROWS).await, rows);
    store.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_crash_of_the_server_while_rows_move_leaves_each_row_once() {
    let server = Postgres::start(&[]);
    let database = Database::begin_on(&server, LONG).await;
    let (_node, store) = open(&database, "node", false).await;
    visit_half(&store).await;
    let rows = database.number(ROWS).await;
    let _gate = close_gate(&database).await;
    let (lost, ()) = tokio::join!(pack(&database), async {
        database.until(HELD_BACK, 1).await;
        tokio::task::block_in_place(|| {
            server.crash();
            server.restart();
        });
    });
    assert!(lost.is_some());
    assert_eq!(database.number(PACKS).await, 0);
    assert_eq!(database.number(ROWS).await, rows);
    assert_eq!(pack(&database).await, None);
    assert_eq!(database.number(PACKS).await, 1);
    assert_eq!(database.number(ROWS).await, rows);
    assert_eq!(findings(&database).await, Vec::<String>::new());
    store.abandon();
}
