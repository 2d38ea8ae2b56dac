//! Nodes that join, leave, die, and take a name again; the end of a crawl, and its pages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract::Setup;
use contract::fixtures::{discover, done_with, leases, link, visit};
use journal::{DiscoveredUrl, StoreFault};
use shared_store::{JoinError, SharedStore};
use store::{Frontier, LeaseFilter, Supply};
use tokio::task::JoinSet;
use web::Timestamp;

use crate::database::{Database, VISITS};
use crate::support::Node;

/// The term of nodes of which one dies.
const SHORT: Duration = Duration::from_secs(4);
/// The term of nodes that live.
const LONG: Duration = Duration::from_secs(8);
/// The interval at which a node looks for updates that no store announces.
const POLL: Duration = Duration::from_millis(20);

/// The number of visits of each page that began, over all nodes.
#[derive(Default)]
struct Visits(Mutex<BTreeMap<String, u32>>);

impl Visits {
    fn begin(&self, url: &str) {
        *self.0.lock().unwrap().entry(url.to_owned()).or_default() += 1;
    }

    /// Returns the number of visited pages, and those that were visited more than once.
    fn summary(&self) -> (usize, Vec<(String, u32)>) {
        let visits = self.0.lock().unwrap();
        let several = visits.iter().filter(|(_, count)| **count > 1);
        let several = several.map(|(url, count)| (url.clone(), *count)).collect();
        (visits.len(), several)
    }
}

/// Opens a node of the crawl.
async fn open(database: &Database, name: &str) -> (Node, Arc<SharedStore>) {
    open_with(database, name, None).await
}

async fn open_with(
    database: &Database,
    name: &str,
    max_pages: Option<u64>,
) -> (Node, Arc<SharedStore>) {
    let mut node = Node::new(&database.url, name, &Setup::default()).await;
    node.max_pages = max_pages;
    let store = node.open(&Setup::default()).await;
    (node, store)
}

/// Returns the URLs of two pages of each of so many hosts.
fn pages(hosts: u32) -> Vec<DiscoveredUrl> {
    let of_host = |host| [1, 2].map(|page| link(&format!("http://h{host}.test/{page}"), 0));
    (0..hosts).flat_map(of_host).collect()
}

/// Visits up to `most` pages, until the crawl or the node ends. Returns true at the end of the
/// crawl.
async fn crawl(
    store: Arc<SharedStore>,
    visits: Arc<Visits>,
    most: usize,
    links: fn(&str) -> Vec<DiscoveredUrl>,
) -> bool {
    let (mut now, mut left) = (Timestamp::from_millis(0), most);
    let mut ticks = tokio::time::interval(POLL);
    while left > 0 && !store.has_all_pages() {
        match store.lease(now, left.min(3), LeaseFilter::All).await {
            Ok(Supply::Leases(leases)) => {
                left -= leases.len();
                for lease in leases {
                    visits.begin(lease.url().as_str());
                    // Other nodes go on meanwhile.
                    tokio::task::yield_now().await;
                    let settlement = done_with(&lease, None, links(lease.url().as_str()));
                    let pace = now.into();
                    store.settle(lease, settlement, pace).await.unwrap();
                }
            }
            Ok(Supply::NothingBefore(time)) if time < Timestamp::NEVER => {
                now = time;
                // Regression: without this line the loop never yields while the store answers at
                // once. The task that sends the batch may then never run on this worker, and a
                // run of CI hung until its limit of 90 minutes.
                tokio::task::yield_now().await;
            }
            Ok(Supply::NothingBefore(_)) => tokio::select! {
                () = store.changed() => {}
                _ = ticks.tick() => {}
            },
            Ok(Supply::Exhausted) => return true,
            Err(StoreFault::TermEnded { .. }) => return false,
            Err(fault) => panic!("{fault}"),
        }
    }
    store.checkpoint(None).await.unwrap();
    false
}

fn no_links(_url: &str) -> Vec<DiscoveredUrl> {
    Vec::new()
}

/// Crawls on these nodes until all have found the end.
async fn finish(stores: &[&Arc<SharedStore>], visits: &Arc<Visits>) {
    let mut nodes = JoinSet::new();
    for store in stores {
        nodes.spawn(crawl(
            Arc::clone(store),
            Arc::clone(visits),
            usize::MAX,
            no_links,
        ));
    }
    assert!(nodes.join_all().await.iter().all(|is_end| *is_end));
}

/// Returns a query of the number of a term's buckets.
fn buckets_of(term: u32) -> String {
    format!("SELECT count(*) FROM bucket WHERE owner = {term}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn buckets_pass_to_a_node_that_joins_when_what_is_out_there_has_ended() {
    const HOSTS: u32 = 40;
    let database = Database::begin(LONG).await;
    let (_one, first) = open(&database, "n1").await;
    discover(&*first, pages(HOSTS)).await;
    let visits = Arc::new(Visits::default());
    let out = leases(&*first, 0, HOSTS as usize).await;
    assert_eq!(out.len(), HOSTS as usize);

    let (_two, second) = open(&database, "n2").await;
    let mut ticks = tokio::time::interval(POLL);
    let leaving = loop {
        ticks.tick().await;
        let mut leaving = 0;
        for lease in &out {
            leaving += u32::from(!first.owns(&lease.url().host()).await);
        }
        if leaving > 0 {
            break leaving;
        }
    };
    // Half of the buckets leave, and nothing of them is leased.
    assert!(leaving < HOSTS, "{leaving}");
    assert_eq!(database.number(&buckets_of(1)).await, 4096);
    for lease in out {
        visits.begin(lease.url().as_str());
        visit(&*first, lease, 0).await;
    }
    database.until(&buckets_of(2), 2048).await;
    finish(&[&first, &second], &visits).await;
    assert_eq!(visits.summary(), (2 * HOSTS as usize, Vec::new()));
    assert_eq!(database.number(VISITS).await, i64::from(2 * HOSTS));
    first.abandon();
    second.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn no_page_is_visited_twice_while_nodes_join_and_leave() {
    const HOSTS: u32 = 150;
    let database = Database::begin(LONG).await;
    let (_one, first) = open(&database, "n1").await;
    discover(&*first, pages(HOSTS)).await;
    let visits = Arc::new(Visits::default());
    crawl(Arc::clone(&first), Arc::clone(&visits), 50, no_links).await;

    let (_two, second) = open(&database, "n2").await;
    let (_three, third) = open(&database, "n3").await;
    let mut nodes = JoinSet::new();
    for store in [&first, &third] {
        nodes.spawn(crawl(
            Arc::clone(store),
            Arc::clone(&visits),
            usize::MAX,
            no_links,
        ));
    }
    crawl(Arc::clone(&second), Arc::clone(&visits), 30, no_links).await;
    second.close().await.unwrap();
    assert!(nodes.join_all().await.iter().all(|is_end| *is_end));
    assert_eq!(visits.summary(), (2 * HOSTS as usize, Vec::new()));
    assert_eq!(database.number(VISITS).await, i64::from(2 * HOSTS));
    first.abandon();
    third.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_node_that_takes_the_name_of_a_dead_one_visits_again_only_what_was_out() {
    const HOSTS: u32 = 60;
    const OUT: usize = 5;
    let database = Database::begin(SHORT).await;
    let (mut node, dead) = open(&database, "n1").await;
    discover(&*dead, pages(HOSTS)).await;
    let visits = Arc::new(Visits::default());
    crawl(Arc::clone(&dead), Arc::clone(&visits), 50, no_links).await;
    let out = leases(&*dead, 0, OUT).await;
    out.iter()
        .for_each(|lease| visits.begin(lease.url().as_str()));
    dead.abandon();
    dead.stopped().await;
    drop(dead);

    // The new process does not know that the last one has ended.
    node.last_term = None;
    let store = node.open(&Setup::default()).await;
    finish(&[&store], &visits).await;
    let (visited, several) = visits.summary();
    assert_eq!(visited, 2 * HOSTS as usize);
    let mut expected: Vec<_> = out
        .iter()
        .map(|lease| (lease.url().to_string(), 2))
        .collect();
    expected.sort();
    assert_eq!(several, expected);
    assert_eq!(database.number(VISITS).await, i64::from(2 * HOSTS));
    store.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_second_node_of_a_name_is_refused_while_the_first_one_lives() {
    let database = Database::begin(SHORT).await;
    let (_node, store) = open(&database, "n1").await;
    let other = Node::new(&database.url, "n1", &Setup::default()).await;
    let refused = other.try_begin().await.err();
    assert!(
        matches!(&refused, Some(JoinError::NameInUse { node }) if node == "n1"),
        "{refused:?}"
    );
    assert!(store.session().term().allows_requests());
    store.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_node_declares_another_dead_only_after_a_term_in_which_it_was_in_touch_itself() {
    let database = Database::begin(SHORT).await;
    let (_one, dead) = open(&database, "n1").await;
    dead.abandon();
    let term = format!("interval '{} s'", SHORT.as_secs());
    let silent =
        format!("SELECT count(*) FROM term WHERE heartbeat_at + {term} < clock_timestamp()");
    database.until(&silent, 1).await;
    let (_two, store) = open(&database, "n2").await;
    assert_eq!(database.number(&buckets_of(2)).await, 0);
    // The new node has heard from the store for no whole term.
    database
        .until("SELECT count(*) FROM term WHERE state = 'expired'", 1)
        .await;
    let in_touch = format!(
        "SELECT count(*) FROM term WHERE term = 2 AND begun_at + {term} <= clock_timestamp()"
    );
    assert_eq!(database.number(&in_touch).await, 1);
    database.until(&buckets_of(2), 4096).await;
    store.abandon();
}

/// Each page leads to the next one, which is on another host.
fn next_page(url: &str) -> Vec<DiscoveredUrl> {
    const LAST: u32 = 16;
    let number = url.rsplit('/').next().unwrap().parse::<u32>().unwrap();
    let next = (number < LAST).then(|| number + 1);
    let next = next.map(|next| link(&format!("http://chain{next}.test/{next}"), next));
    next.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn a_link_on_its_way_to_another_node_keeps_the_crawl_from_ending() {
    let database = Database::begin(LONG).await;
    let (_one, first) = open(&database, "n1").await;
    let (_two, second) = open(&database, "n2").await;
    database.until(&buckets_of(2), 2048).await;
    discover(&*first, [link("http://chain0.test/0", 0)]).await;
    let visits = Arc::new(Visits::default());
    let mut nodes = JoinSet::new();
    for store in [&first, &second] {
        nodes.spawn(crawl(
            Arc::clone(store),
            Arc::clone(&visits),
            usize::MAX,
            next_page,
        ));
    }
    assert!(nodes.join_all().await.iter().all(|is_end| *is_end));
    assert_eq!(visits.summary(), (17, Vec::new()));
    let finished = "SELECT count(*) FROM crawl WHERE finished_at IS NOT NULL";
    assert_eq!(database.number(finished).await, 1);
    first.abandon();
    second.abandon();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn four_nodes_visit_exactly_as_many_pages_as_the_crawl_may_have() {
    const MOST: u64 = 75;
    let database = Database::begin(LONG).await;
    let mut stores = Vec::new();
    for number in 1..=4 {
        stores.push(open_with(&database, &format!("n{number}"), Some(MOST)).await);
    }
    for number in 1..=4 {
        database.until(&buckets_of(number), 1024).await;
    }
    discover(&*stores[0].1, pages(200)).await;
    let visits = Arc::new(Visits::default());
    let mut nodes = JoinSet::new();
    for (_, store) in &stores {
        nodes.spawn(crawl(
            Arc::clone(store),
            Arc::clone(&visits),
            usize::MAX,
            no_links,
        ));
    }
    nodes.join_all().await;
    assert_eq!(visits.summary(), (MOST as usize, Vec::new()));
    assert_eq!(database.number(VISITS).await, MOST as i64);
    stores.iter().for_each(|(_, store)| store.abandon());
}
