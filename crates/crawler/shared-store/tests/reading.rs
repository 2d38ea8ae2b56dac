//! Reading a shared crawl without taking part in it, and bringing an embedded crawl in.
//!
//! The tests are ignored unless PostgreSQL is installed.

#![expect(clippy::unwrap_used, reason = "what the test unwraps is part of it")]

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use contract::Setup;
use contract::fixtures::{again, at, done_with, leases, link, seed, settle, visit};
use disk::SystemDisk;
use journal::{DiscoveredUrl, Fate, FinishedVisit, History, Page, Record, VisitRecord, visits};
use neardup::{Features, HashKey, PageSignature, PageText, SignatureBuilder};
use shared_store::{
    ConnectError, CrawlSettings, Import, ImportError, ImportScan, JoinError, ReadError, Replica,
    ReplicaPart, SharedCrawl, SharedStore, TermState,
};
use store::{EmbeddedStore, Frontier, Lease, NearDupIndex, Settlement, StoreOptions};
use testkit::Postgres;

use self::support::Node;

/// The distance of the default rules.
const DISTANCE: u32 = 3;

fn signature(text: &str) -> PageSignature {
    let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    builder.signature(
        HashKey::ZERO.digest(text.as_bytes()),
        Some(PageText::of(text)),
    )
}

/// Returns a text of sixty words of its own.
fn text(number: u32) -> String {
    (0..60)
        .map(|word| format!("word{word}of{number} "))
        .collect()
}

fn page(lease: &Lease) -> Page {
    Page {
        url: lease.url().clone(),
        final_url: lease.url().clone(),
        at: at(1),
    }
}

/// A crawl of two hosts: visits, a near duplicate, a failure to be repeated, a lease that does not
/// end, and URLs that wait. `index` and `frontier` are one store.
async fn some_crawl(frontier: &dyn Frontier, index: &dyn NearDupIndex) {
    seed(
        frontier,
        ["http://a.test/", "http://b.test/", "http://c.test/"],
    )
    .await;
    let mut first = leases(frontier, 0, 3).await;
    assert_eq!(first.len(), 3);
    let (c, b, a) = (first.remove(2), first.remove(1), first.remove(0));
    index
        .admit(&page(&a), &signature(&text(1)), None)
        .await
        .unwrap();
    let links: Vec<DiscoveredUrl> = ["http://a.test/1", "http://b.test/1", "http://a.test/2"]
        .map(|url| link(url, 1))
        .into();
    let original = a.url().clone();
    let end = done_with(&a, Some(0), links);
    settle(frontier, a, end, 0).await;
    index
        .admit(&page(&b), &signature(&text(1)), None)
        .await
        .unwrap();
    let duplicate = VisitRecord {
        duplicate_of: Some(original),
        ..VisitRecord::new(b.discovered().clone(), Fate::ExactDuplicate, at(1))
    };
    let end = Settlement::Done(FinishedVisit::new(duplicate));
    settle(frontier, b, end, 0).await;
    settle(frontier, c, again(at(90_000)), 0).await;
    let lease = leases(frontier, 10, 1).await.remove(0);
    visit(frontier, lease, 20).await;
    // It is in flight at the end.
    assert_eq!(leases(frontier, 100, 1).await.len(), 1);
}

/// Returns the records of the visits, and the pages that were admitted.
fn contents(state: &Path) -> (Vec<VisitRecord>, BTreeSet<String>) {
    let visits = visits(state).unwrap().map(Result::unwrap).collect();
    let mut admitted = BTreeSet::new();
    for record in History::open(state).unwrap() {
        if let Record::Admitted { page, .. } = record.unwrap() {
            admitted.insert(page.url.to_string());
        }
    }
    (visits, admitted)
}

fn options(setup: &Setup) -> StoreOptions {
    StoreOptions {
        rules: setup.rules.clone(),
        comparison: setup.comparison,
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now: setup.now,
        disk: Arc::new(SystemDisk),
    }
}

/// Returns the URLs that wait in a store.
async fn waiting(store: &dyn Frontier) -> BTreeSet<String> {
    // Every host may be asked, and every retry is due.
    let mut urls = BTreeSet::new();
    let mut now = 1_000_000_000;
    loop {
        let leased = leases(store, now, 9).await;
        if leased.is_empty() {
            return urls;
        }
        for lease in leased {
            urls.insert(lease.url().to_string());
            visit(store, lease, now).await;
        }
        now += 1_000_000;
    }
}

/// Begins the next term of a node, and opens its store.
async fn open(node: &mut Node, setup: &Setup) -> Arc<SharedStore> {
    let session = node.begin().await;
    node.open_session(session, setup).await
}

async fn replica(url: &str, state: &Path) -> Replica {
    let crawl = SharedCrawl::open(url).await.unwrap();
    let features = Features::default().to_string();
    let replica = Replica::begin(crawl, ReplicaPart::Whole, state, features).await;
    let mut replica = replica.unwrap();
    replica.refresh(|| {}).await.unwrap();
    replica
}

async fn audit(url: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let crawl = SharedCrawl::open(url).await.unwrap();
    let audited = crawl
        .audit(DISTANCE, |_| {}, |text| findings.push(text))
        .await;
    audited.unwrap();
    findings
}

/// Imports the crawl in `state`; gives up behind so many records.
async fn import(url: &str, state: &Path, most: usize) -> Result<bool, ImportError> {
    let mut scan = ImportScan::default();
    for record in History::open(state).unwrap() {
        scan.apply(&record.unwrap())?;
    }
    let settings = CrawlSettings {
        key: HashKey::ZERO,
        text: "delay = \"1s\"\n".to_owned(),
        term: std::time::Duration::from_secs(10),
    };
    let Some(mut import) = Import::begin(url, &settings, DISTANCE, scan).await? else {
        return Ok(false);
    };
    for (number, record) in History::open(state).unwrap().enumerate() {
        if number == most {
            import.write().await?;
            return Ok(true);
        }
        import.add(&record.unwrap()).await?;
    }
    import.finish().await?;
    Ok(true)
}

#[tokio::test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_replica_has_the_visits_the_queue_and_the_admissions_of_the_crawl() {
    let server = Postgres::shared();
    let (url, setup) = (server.create_database(), Setup::default());
    let mut node = Node::new(&url, "n1", &setup).await;
    let store = open(&mut node, &setup).await;
    some_crawl(&*store, &*store).await;
    store.checkpoint(None).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut replica = replica(&url, directory.path()).await;

    let (visits, admitted) = contents(directory.path());
    assert_eq!(visits.len(), 3);
    assert_eq!(visits[1].fate, Fate::ExactDuplicate);
    assert_eq!(admitted, BTreeSet::from(["http://a.test/".to_owned()]));

    // What is added later comes with the next refresh, once.
    assert_eq!(replica.refresh(|| {}).await.unwrap(), 0);
    seed(&*store, ["http://d.test/"]).await;
    store.checkpoint(None).await.unwrap();
    assert!(replica.refresh(|| {}).await.unwrap() > 0);
    assert_eq!(contents(directory.path()), (visits, admitted));
    drop(replica);

    let queued = store.stats().queued;
    let copy = EmbeddedStore::open(directory.path(), &options(&setup)).unwrap();
    assert_eq!(copy.stats().queued, queued);
    assert_eq!(copy.stats().totals, store.stats().totals);
    assert_eq!(
        waiting(&copy).await,
        [
            "http://a.test/2",
            "http://b.test/1",
            "http://c.test/",
            "http://d.test/"
        ]
        .map(str::to_owned)
        .into()
    );
    assert_eq!(audit(&url).await, Vec::<String>::new());
}

#[tokio::test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn an_embedded_crawl_is_imported_and_a_node_continues_it() {
    let server = Postgres::shared();
    let (url, setup) = (server.create_database(), Setup::default());
    let embedded = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(embedded.path(), &options(&setup)).unwrap();
    some_crawl(&store, &store).await;
    store.checkpoint(None).await.unwrap();
    drop(store);
    assert!(import(&url, embedded.path(), usize::MAX).await.unwrap());
    assert_eq!(audit(&url).await, Vec::<String>::new());
    // A second run finds everything there.
    assert!(!import(&url, embedded.path(), usize::MAX).await.unwrap());

    let directory = tempfile::tempdir().unwrap();
    drop(replica(&url, directory.path()).await);
    assert_eq!(contents(directory.path()), contents(embedded.path()));

    let mut node = Node::new(&url, "n1", &setup).await;
    let store = open(&mut node, &setup).await;
    assert_eq!(store.stats().totals.pages, 3);
    let expected = ["http://a.test/2", "http://b.test/1", "http://c.test/"];
    assert_eq!(waiting(&*store).await, expected.map(str::to_owned).into());
}

#[tokio::test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn an_import_that_was_killed_anywhere_continues_and_no_node_joins_before_its_end() {
    let server = Postgres::shared();
    let setup = Setup::default();
    let embedded = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(embedded.path(), &options(&setup)).unwrap();
    some_crawl(&store, &store).await;
    store.close().await.unwrap();
    drop(store);
    let records = History::open(embedded.path()).unwrap().count();
    for most in 0..records {
        let url = server.create_database();
        import(&url, embedded.path(), most).await.unwrap();
        let refused = SharedCrawl::open(&url).await.unwrap_err();
        assert!(
            matches!(refused, ReadError::Join(JoinError::Importing)),
            "{refused}"
        );
        import(&url, embedded.path(), usize::MAX).await.unwrap();
        assert_eq!(
            audit(&url).await,
            Vec::<String>::new(),
            "killed behind {most}"
        );
        let directory = tempfile::tempdir().unwrap();
        drop(replica(&url, directory.path()).await);
        assert_eq!(contents(directory.path()), contents(embedded.path()));
    }
}

#[tokio::test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_store_with_a_crawl_takes_no_other_one() {
    let server = Postgres::shared();
    let (url, setup) = (server.create_database(), Setup::default());
    Node::new(&url, "n1", &setup).await;
    let embedded = tempfile::tempdir().unwrap();
    drop(EmbeddedStore::open(embedded.path(), &options(&setup)).unwrap());
    let refused = import(&url, embedded.path(), usize::MAX).await.unwrap_err();
    assert!(matches!(refused, ImportError::Occupied { .. }), "{refused}");
}

#[tokio::test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_database_without_a_crawl_or_with_a_later_one_is_refused_and_not_changed() {
    let server = Postgres::shared();
    let url = server.create_database();
    let refused = SharedCrawl::open(&url).await.unwrap_err();
    assert!(matches!(refused, ReadError::NoCrawl { .. }), "{refused}");
    assert_eq!(
        server.query(
            &url,
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ),
        "0"
    );

    Node::new(&url, "n1", &Setup::default()).await;
    server.query(
        &url,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (999, 'later', true, '', 0)",
    );
    let refused = SharedCrawl::open(&url).await.unwrap_err();
    let is_newer = matches!(
        refused,
        ReadError::Connect(ConnectError::Newer { migration: 999, .. })
    );
    assert!(is_newer, "{refused}");
}

#[tokio::test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn the_nodes_of_a_crawl_are_listed_with_their_states() {
    let server = Postgres::shared();
    let (url, setup) = (server.create_database(), Setup::default());
    let mut node = Node::new(&url, "n1", &setup).await;
    let store = open(&mut node, &setup).await;
    some_crawl(&*store, &*store).await;
    store.checkpoint(None).await.unwrap();
    let crawl = SharedCrawl::open(&url).await.unwrap();
    let nodes = crawl.nodes().await.unwrap();
    assert_eq!(nodes.len(), 1);
    assert_eq!(
        (nodes[0].name.as_str(), nodes[0].state),
        ("n1", TermState::Live)
    );
    assert_eq!(
        (nodes[0].term, nodes[0].buckets, nodes[0].pages),
        (1, 4096, 3)
    );
    store.abandon();
    server.query(
        &url,
        "UPDATE term SET heartbeat_at = heartbeat_at - interval '1 minute'",
    );
    assert_eq!(crawl.nodes().await.unwrap()[0].state, TermState::Silent);
}

#[tokio::test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn an_audit_names_every_kind_of_damage() {
    let server = Postgres::shared();
    for (damage, expected) in [
        (
            "UPDATE bucket SET owner = 1 WHERE bucket = 7",
            "bucket 7 belongs to term 1 of node",
        ),
        (
            "DELETE FROM bucket WHERE bucket = 7",
            "there must be 4096 buckets, got 4095",
        ),
        (
            "UPDATE journal SET term = 99 WHERE kind = 1",
            "names term 99, which is unknown",
        ),
        (
            "UPDATE journal SET record = '\\xff' WHERE kind = 1",
            "cannot be read",
        ),
        (
            "UPDATE journal SET page = page + 1 WHERE kind = 1",
            "are not those of its record",
        ),
        (
            "UPDATE journal SET bucket = (bucket + 1) % 4096 WHERE kind = 1",
            "its host in bucket",
        ),
        (
            "INSERT INTO journal (bucket, term, kind, page, original, record) \
             SELECT bucket, term, kind, page, original, record FROM journal WHERE kind = 1 LIMIT 1",
            "was settled twice",
        ),
        ("UPDATE term SET pages = 2", "in its columns"),
        (
            "DELETE FROM journal WHERE kind = 1",
            "its visits have 0 pages",
        ),
        ("DELETE FROM signature_log", "which is not admitted"),
        ("UPDATE signature_log SET keys = '{}'", "lacks a key"),
        (
            "UPDATE signature_log SET term = 99",
            "log of admissions names term 99",
        ),
        (
            "INSERT INTO inbox (bucket, found) VALUES (1, '\\xff')",
            "of the inbox cannot be read",
        ),
    ] {
        let (url, setup) = (server.create_database(), Setup::default());
        let embedded = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(embedded.path(), &options(&setup)).unwrap();
        some_crawl(&store, &store).await;
        store.close().await.unwrap();
        drop(store);
        import(&url, embedded.path(), usize::MAX).await.unwrap();
        server.query(&url, damage);
        let findings = audit(&url).await;
        let is_named = findings.iter().any(|text| text.contains(expected));
        assert!(is_named, "{damage}: {findings:?}");
    }
}

/// Visits in the buckets of both nodes, with links from each to the other.
#[tokio::test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn the_crawl_of_two_nodes_is_one_crawl_in_audit_and_replica() {
    let server = Postgres::shared();
    let (url, setup) = (server.create_database(), Setup::default());
    let mut first = Node::new(&url, "n1", &setup).await;
    let mut second = Node::new(&url, "n2", &setup).await;
    let stores = [
        open(&mut first, &setup).await,
        open(&mut second, &setup).await,
    ];
    let hosts: Vec<String> = (0..40)
        .map(|host| format!("http://host-{host}.test/"))
        .collect();
    let seeds = hosts.iter().map(|url| link(url, 0));
    stores[0].discover(seeds.collect()).await.unwrap();
    let mut visited = 0;
    let mut text_number = 0;
    // Each page of depth 0 leads to one of another host, which may be the other node's.
    while visited < 80 {
        for store in &stores {
            for lease in leases(&**store, 1_000_000 * (visited + 1), 4).await {
                text_number += 1;
                let text = signature(&text(text_number));
                store.admit(&page(&lease), &text, None).await.unwrap();
                let is_seed = lease.discovered().depth == 0;
                let next = format!("{}of-{visited}", hosts[text_number as usize % hosts.len()]);
                let links = is_seed.then(|| link(&next, 1)).into_iter().collect();
                let end = done_with(&lease, None, links);
                settle(&**store, lease, end, 0).await;
                visited += 1;
            }
            store.checkpoint(None).await.unwrap();
        }
        // The inboxes are polled.
        tokio::task::yield_now().await;
    }
    let directory = tempfile::tempdir().unwrap();
    drop(replica(&url, directory.path()).await);
    let (visits, admitted) = contents(directory.path());
    assert_eq!((visits.len(), admitted.len()), (80, 80));
    assert_eq!(audit(&url).await, Vec::<String>::new());
    let crawl = SharedCrawl::open(&url).await.unwrap();
    let nodes = crawl.nodes().await.unwrap();
    assert_eq!(nodes.iter().map(|node| node.pages).sum::<u64>(), 80);
    for store in &stores {
        store.close().await.unwrap();
    }
    assert_eq!(audit(&url).await, Vec::<String>::new());
}
