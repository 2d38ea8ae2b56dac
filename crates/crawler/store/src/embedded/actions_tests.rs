//! Actions about unarchived pages: their effect, once, after kills, and in a closed pattern.

use journal::{Fate, FinishedVisit, VisitRecord};
use web::PageUrl;

use super::{DistinctEffect, EmbeddedStore};
use crate::fixtures::{at, leases, link, options, url, visit};
use crate::frontier::{Frontier, FrontierRules, Lease, Settlement};

const ORIGINAL: &str = "http://a.test/article";
const COPY: &str = "http://a.test/article?print=1";

fn open(directory: &tempfile::TempDir) -> EmbeddedStore {
    EmbeddedStore::open(directory.path(), &options(FrontierRules::default())).unwrap()
}

/// Returns the record of a page that was not archived as a copy of [`ORIGINAL`].
fn excluded(lease: &Lease) -> VisitRecord {
    VisitRecord {
        duplicate_of: Some(url(ORIGINAL)),
        kept: false,
        ..visit(lease, Fate::NearDuplicate)
    }
}

/// Visits everything that waits: [`COPY`] is excluded, all else is new. Returns the URLs.
async fn visit_all(store: &EmbeddedStore) -> Vec<String> {
    let mut visited = Vec::new();
    while let Some(lease) = leases(store, 0, 1).await.pop() {
        visited.push(lease.url().to_string());
        let record = match lease.url().as_str() {
            COPY => excluded(&lease),
            _ => visit(&lease, Fate::Unique),
        };
        let settlement = Settlement::Done(FinishedVisit::new(record));
        store.settle(lease, settlement, at(0).into()).await.unwrap();
    }
    visited
}

async fn visited(directory: &tempfile::TempDir) -> EmbeddedStore {
    let store = open(directory);
    let found = vec![link(ORIGINAL, 0), link(COPY, 0)];
    store.discover(found).await.unwrap();
    assert_eq!(visit_all(&store).await, [ORIGINAL, COPY]);
    store
}

async fn declare(store: &EmbeddedStore, urls: &[PageUrl]) -> Vec<DistinctEffect> {
    store.declare_distinct(urls).await.unwrap()
}

fn queued() -> DistinctEffect {
    DistinctEffect::Queued {
        original: url(ORIGINAL),
    }
}

#[tokio::test]
async fn a_page_that_is_declared_distinct_is_visited_again_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = visited(&directory).await;
    let actions = [url(COPY), url(ORIGINAL), url("http://a.test/unknown")];
    let effects = [
        queued(),
        DistinctEffect::Archived(Fate::Unique),
        DistinctEffect::NotVisited,
    ];
    assert_eq!(declare(&store, &actions).await, effects);
    assert_eq!(declare(&store, &actions[..1]).await, [DistinctEffect::Done]);
    // A kill changes nothing.
    drop(store);
    let store = open(&directory);
    assert_eq!(declare(&store, &actions[..1]).await, [DistinctEffect::Done]);

    let lease = leases(&store, 0, 9).await.remove(0);
    let settlement = Settlement::Done(FinishedVisit::new(visit(&lease, Fate::Unique)));
    store.settle(lease, settlement, at(0).into()).await.unwrap();
    assert_eq!(declare(&store, &actions[..1]).await, [DistinctEffect::Done]);
    assert_eq!(visit_all(&store).await, [""; 0]);
    store.close().await.unwrap();
    drop(store);
    let audit = super::audit(directory.path()).unwrap();
    assert_eq!(audit.findings, [""; 0]);
}

#[tokio::test]
async fn a_page_that_is_declared_distinct_goes_before_all_others_of_its_host() {
    let directory = tempfile::tempdir().unwrap();
    let store = visited(&directory).await;
    let waiting = ["http://a.test/1", "http://a.test/2"];
    store
        .discover(waiting.iter().map(|url| link(url, 0)).collect())
        .await
        .unwrap();
    declare(&store, &[url(COPY)]).await;
    // Out of the blocks on disk, too.
    store.flush().await.unwrap();
    drop(store);
    let store = open(&directory);
    assert_eq!(visit_all(&store).await, [COPY, waiting[0], waiting[1]]);
}

/// The two records of an action are not written in one step.
#[tokio::test]
async fn an_order_that_a_kill_cut_short_is_given_again_and_has_its_effect() {
    let directory = tempfile::tempdir().unwrap();
    let store = visited(&directory).await;
    crate::NearDupIndex::separate(&store, &url(COPY), &url(ORIGINAL))
        .await
        .unwrap();
    store.sync().await.unwrap();
    drop(store);
    let store = open(&directory);
    assert_eq!(visit_all(&store).await, [""; 0]);
    assert_eq!(declare(&store, &[url(COPY)]).await, [queued()]);
    assert_eq!(visit_all(&store).await, [COPY]);
}

#[tokio::test]
async fn a_page_that_repeats_its_own_earlier_capture_has_no_original_to_differ_from() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    store.discover(vec![link(ORIGINAL, 0)]).await.unwrap();
    let lease = leases(&store, 0, 1).await.remove(0);
    let record = VisitRecord {
        of_earlier: true,
        fate: Fate::ExactDuplicate,
        ..excluded(&lease)
    };
    let settlement = Settlement::Done(FinishedVisit::new(record));
    store.settle(lease, settlement, at(0).into()).await.unwrap();
    let effects = declare(&store, &[url(ORIGINAL)]).await;
    assert_eq!(effects, [DistinctEffect::Archived(Fate::ExactDuplicate)]);
}
