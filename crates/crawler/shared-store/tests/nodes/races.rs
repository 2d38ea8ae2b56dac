//! Like pages that nodes admit at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use contract::Setup;
use contract::fixtures::{at, url};
use journal::Page;
use neardup::{Features, HashKey, PageSignature, PageText, SignatureBuilder};
use shared_store::SharedStore;
use store::{NearDupIndex, Verdict};
use testkit::Random;
use tokio::task::JoinSet;

use crate::database::Database;
use crate::support::Node;

const NODES: usize = 4;
/// Workers of a node.
const WORKERS: usize = 8;
/// Pages of a cluster.
const PAGES: usize = 6;
/// Words of a page.
const WORDS: usize = 60;
/// No node dies here, however long the admissions take.
const TERM: Duration = Duration::from_secs(60);

/// A page of a cluster, with its number there.
fn page(cluster: usize, number: usize) -> Page {
    let url = url(&format!("http://h{number}.test/{cluster}"));
    Page {
        final_url: url.clone(),
        url,
        at: at(7),
    }
}

/// Returns the signature of that page. The pages 0 to 3 differ in their last word; 4 has the text
/// of page 0 and 5 its bytes.
fn signature(builder: &SignatureBuilder, cluster: usize, number: usize) -> PageSignature {
    const LAST: [&str; PAGES] = ["one", "two", "three", "four", "one", "one"];
    let mut random = Random::of(7, cluster as u64);
    let mut words: Vec<String> = (1..WORDS)
        .map(|_word| format!("{:x}", random.next() & 0xf_ffff))
        .collect();
    words.push(LAST[number].to_owned());
    let of_bytes = if number == 5 { 0 } else { number };
    let payload = (PAGES * cluster + of_bytes) as u128;
    builder.signature(payload, Some(PageText::of(&words.join(" "))))
}

/// Admits all pages of so many clusters, those of each cluster on different nodes at the same time.
/// Returns the verdicts with the clusters.
async fn race(database: &Database, clusters: usize) -> Vec<(usize, Verdict)> {
    let setup = Setup::default();
    let mut stores = Vec::new();
    for number in 0..NODES {
        let mut node = Node::new(&database.url, &format!("n{number}"), &setup).await;
        stores.push((node.open(&setup).await, node));
    }
    let mut workers = JoinSet::new();
    for (node, (store, _)) in stores.iter().enumerate() {
        let of_node = (0..clusters * PAGES)
            .map(|number| (number / PAGES, number % PAGES))
            .filter(|(cluster, number)| (cluster + number) % NODES == node);
        let pages: Arc<Vec<(usize, usize)>> = Arc::new(of_node.collect());
        let next = Arc::new(AtomicUsize::new(0));
        for _worker in 0..WORKERS {
            workers.spawn(admit(
                Arc::clone(store),
                Arc::clone(&pages),
                Arc::clone(&next),
            ));
        }
    }
    let verdicts = workers.join_all().await.concat();
    for (store, _) in &stores {
        store.abandon();
        store.stopped().await;
    }
    verdicts
}

/// Admits pages, as long as there is a next one.
async fn admit(
    store: Arc<SharedStore>,
    pages: Arc<Vec<(usize, usize)>>,
    next: Arc<AtomicUsize>,
) -> Vec<(usize, Verdict)> {
    let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let mut verdicts = Vec::new();
    while let Some((cluster, number)) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
        let page = page(*cluster, *number);
        let signature = signature(&builder, *cluster, *number);
        let verdict = store.admit(&page, &signature, None).await.unwrap();
        verdicts.push((*cluster, verdict));
    }
    verdicts
}

/// Returns the number of admitted pages of each cluster.
fn admitted(clusters: usize, verdicts: &[(usize, Verdict)]) -> Vec<usize> {
    let mut admitted = vec![0; clusters];
    for (cluster, verdict) in verdicts {
        admitted[*cluster] += usize::from(*verdict == Verdict::Unique);
    }
    admitted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn of_4_000_clusters_of_six_like_pages_raced_by_four_nodes_one_page_each_is_admitted() {
    const CLUSTERS: usize = 4_000;
    let database = Database::begin(TERM).await;
    let verdicts = race(&database, CLUSTERS).await;
    assert_eq!(admitted(CLUSTERS, &verdicts), vec![1; CLUSTERS]);
    let mut duplicates = 0;
    for (cluster, verdict) in &verdicts {
        match verdict {
            Verdict::Unique => {}
            Verdict::Duplicate(original) => {
                let of = original.page.url.as_str();
                assert!(of.ends_with(&format!(".test/{cluster}")), "{cluster}: {of}");
                duplicates += 1;
            }
            other => panic!("{cluster}: {other:?}"),
        }
    }
    assert_eq!(duplicates, CLUSTERS * (PAGES - 1));
    let rows = database.number("SELECT count(*) FROM signature_log").await;
    assert_eq!(rows, CLUSTERS as i64);
}

/// The test above is sharp: it is the overlap of keys that keeps like pages out.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
async fn without_the_overlap_of_keys_several_pages_of_a_cluster_are_admitted() {
    const CLUSTERS: usize = 400;
    let database = Database::begin(TERM).await;
    database
        .replace(
            "append_admissions",
            &[("WHERE i NOT IN (SELECT o FROM refused)", "")],
        )
        .await;
    let verdicts = race(&database, CLUSTERS).await;
    let admitted = admitted(CLUSTERS, &verdicts);
    let several = admitted.iter().filter(|count| **count > 1).count();
    assert!(several > 0, "none of {CLUSTERS}");
    assert!(!admitted.contains(&0));
}
