//! A whole store under a power cut or a failing disk.

use std::path::Path;
use std::sync::Arc;

use testkit::{CallKind, Failure, FaultyDisk, Plan};

use super::{EmbeddedStore, StoreOptions, audit};
use crate::fixtures::{at, done_with, leases, link, options};
use crate::frontier::{Frontier, FrontierRules};

fn on(disk: &Arc<FaultyDisk>) -> StoreOptions {
    let rules = FrontierRules {
        per_host: 9,
        ..FrontierRules::default()
    };
    StoreOptions {
        disk: disk.clone(),
        ..options(rules.clone())
    }
}

fn ends_of_visits(store: &EmbeddedStore) -> Vec<u64> {
    store
        .archive_tail()
        .visits
        .iter()
        .map(|visit| visit.end)
        .collect()
}

/// The tables of a new crawl were written before the first record of its journal was synced. A
/// power cut then left tables ahead of the journal, with the settings of a crawl that never began:
/// `verify` refused it for them.
#[test]
fn a_crawl_that_lost_power_while_it_began_has_no_tables_of_another() {
    for seed in 0..12 {
        let directory = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(directory.path(), seed));
        let open = |directory: &Path| EmbeddedStore::open(directory, &on(&disk));
        drop(open(directory.path()).unwrap());
        disk.power_cut(seed).unwrap();
        disk.power_on();
        let found = audit(directory.path()).unwrap();
        assert_eq!(found.findings, [] as [String; 0], "seed {seed}");
        assert_eq!(found.records, 1, "seed {seed}");
        open(directory.path()).unwrap();
    }
}

/// Pages whose bytes the archive had lost were revoked one by one from the first on. When that was
/// cut short, the archive had a hole in front of pages that the next session found whole: torn
/// records stayed in it for ever.
#[tokio::test]
async fn a_revocation_that_was_cut_short_leaves_an_archive_without_a_hole() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::new(FaultyDisk::new(directory.path(), 0));
    let open = || EmbeddedStore::open(directory.path(), &on(&disk)).unwrap();
    let store = open();
    let discovered = (0..4).map(|page| link(&format!("http://a.test/{page}"), 0));
    store.discover(discovered.collect()).await.unwrap();
    for (archive_sequence, lease) in (0..).zip(leases(&store, 0, 9).await) {
        let settlement = done_with(&lease, Some(archive_sequence), Vec::new());
        store.settle(lease, settlement, at(0).into()).await.unwrap();
    }
    drop(store);
    let store = open();
    assert_eq!(ends_of_visits(&store), [100, 200, 300, 400]);

    disk.fail(Plan::from(3, Failure::Broken).of_kind(CallKind::Append));
    store.revoke_after("a.warc.gz", 100).await.unwrap_err();
    disk.mend();
    drop(store);
    let store = open();
    assert_eq!(ends_of_visits(&store), [100, 200]);

    assert_eq!(store.revoke_after("a.warc.gz", 100).await.unwrap(), 1);
    drop(store);
    let store = open();
    assert_eq!(ends_of_visits(&store), [100]);
    assert_eq!(store.archive_end().map(|span| span.end), Some(100));
    assert_eq!(leases(&store, 1_000_000, 9).await.len(), 3);
}

/// The record of a settled page found no space on the disk. Pages behind it in the archive were
/// settled once there was room, so its bytes were kept, it was visited again, and it was archived
/// twice.
#[tokio::test]
async fn nothing_is_settled_behind_a_page_whose_settlement_could_not_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::new(FaultyDisk::new(directory.path(), 0));
    let open = || EmbeddedStore::open(directory.path(), &on(&disk)).unwrap();
    let store = open();
    let discovered = (0..3).map(|page| link(&format!("http://a.test/{page}"), 0));
    store.discover(discovered.collect()).await.unwrap();
    let mut out = leases(&store, 0, 9).await.into_iter();
    let mut settle_next = async |archive_sequence| {
        let lease = out.next().unwrap();
        let settlement = done_with(&lease, Some(archive_sequence), Vec::new());
        store.settle(lease, settlement, at(0).into()).await
    };
    settle_next(0).await.unwrap();
    disk.fail(Plan::once(1, Failure::NoSpace).of_kind(CallKind::Append));
    settle_next(1).await.unwrap_err();
    settle_next(2).await.unwrap();
    drop(store);

    let store = open();
    assert_eq!(store.archive_end().map(|span| span.end), Some(100));
    assert_eq!(leases(&store, 1_000_000, 9).await.len(), 2);
}
