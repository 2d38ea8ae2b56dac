//! URL patterns of the embedded store: the order to reopen one, and the journal's record of links
//! that a rule excluded. The contract has the rest.

#![expect(clippy::unwrap_used, reason = "what the test unwraps is part of it")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use contract::fixtures::{discover, done_with, lease, link, seed, settle, url, visit_pages};
use disk::SystemDisk;
use journal::{DiscoveredUrl, ExcludedLinks, History, PatternName, Record};
use neardup::{Features, HashKey};
use store::{
    ComparisonOptions, EmbeddedStore, Frontier, FrontierRules, HOSTS_RULE, StoreOptions, audit,
};
use tempfile::TempDir;
use web::Timestamp;

fn open(directory: &Path, rules: FrontierRules) -> EmbeddedStore {
    let options = StoreOptions {
        rules,
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now: Timestamp::from_millis(0),
        disk: Arc::new(SystemDisk),
    };
    EmbeddedStore::open(directory, &options).unwrap()
}

/// Fails if the tables of a closed store disagree with its journal.
fn agree(directory: &TempDir) {
    let audit = audit(directory.path()).unwrap();
    assert_eq!(audit.findings, Vec::<String>::new());
}

/// Visits up to `most` pages; those of the trap repeat one another. Returns the leased URLs with
/// the reasons to leave them out.
async fn visit_some(
    frontier: &dyn Frontier,
    most: usize,
) -> Vec<(String, Option<journal::Reason>)> {
    let is_new = |url: &str| !url.contains("/item/");
    visit_pages(frontier, most, is_new, |_| Vec::new()).await
}

fn is_any_excluded(leased: &[(String, Option<journal::Reason>)]) -> bool {
    leased.iter().any(|(_, excluded)| excluded.is_some())
}

/// Dies during a flush in two of three rounds, otherwise behind one, and opens the next session.
async fn die(store: EmbeddedStore, round: u8, directory: &TempDir) -> EmbeddedStore {
    if round.is_multiple_of(3) {
        store.flush().await.unwrap();
        drop(store);
    } else {
        store.crash_in_flush(round).unwrap();
    }
    open(directory.path(), FrontierRules::default())
}

/// A trap: a number of pages of one pattern, and one page outside it.
fn trap(pages: u64) -> Vec<DiscoveredUrl> {
    let items =
        (0..pages).map(|number| link(&format!("http://a.test/item/{}", number + 10_000), 1));
    items.chain([link("http://a.test/about", 9)]).collect()
}

#[tokio::test]
async fn patterns_outlast_the_process_and_a_reopened_one_brings_back_what_it_excluded() {
    let directory = tempfile::tempdir().unwrap();
    let open = || open(directory.path(), FrontierRules::default());
    let name = PatternName::from_text("a.test/item/{n}").unwrap();
    let mut store = open();
    discover(&store, trap(120)).await;
    // The process dies after every few pages, sometimes during a flush, and also after the last
    // visit before the closing.
    for round in 0..20 {
        let leased = visit_some(&store, 5).await;
        assert!(!is_any_excluded(&leased), "{round}");
        store = die(store, round, &directory).await;
    }
    let (last, mut leased) = (url("http://a.test/about"), visit_some(&store, 21).await);
    assert_eq!(leased.pop(), Some((last.to_string(), None)));
    leased.retain(|(_, excluded)| excluded.is_some());
    assert_eq!(leased.len(), 19, "all but a probe after sixteen");
    store.close().await.unwrap();
    drop(store);
    agree(&directory);

    let store = open();
    let unknown = PatternName::from_text("b.test/item/{n}").unwrap();
    assert_eq!(store.reopen(&unknown).await.unwrap(), None);
    assert_eq!(store.reopen(&name).await.unwrap(), Some(19));
    let stats = store.stats();
    assert_eq!((stats.queued, stats.totals.excluded), (19, 0));
    drop(store);
    let store = open();
    let again = visit_some(&store, usize::MAX).await;
    assert!(!is_any_excluded(&again), "its window begins anew");
    let not_visited: BTreeSet<&String> = leased.iter().map(|(url, _)| url).collect();
    let visited: BTreeSet<&String> = again.iter().map(|(url, _)| url).collect();
    assert_eq!((visited, again.len()), (not_visited, 19));
    let more = store.reopen(&name).await.unwrap();
    assert_eq!(more, Some(0), "each is brought back once");
    drop(store);
    agree(&directory);
}

#[tokio::test]
async fn the_journal_records_the_links_that_a_rule_excluded_with_an_example() {
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules {
        max_hosts_per_domain: Some(1),
        ..FrontierRules::default()
    };
    let store = open(directory.path(), rules);
    seed(&store, ["http://a.example.org/"]).await;
    let page = lease(&store, 0).await;
    let links = vec![
        link("http://b.example.org/", 1),
        link("http://c.example.org/", 1),
    ];
    let settlement = done_with(&page, None, links);
    settle(&store, page, settlement, 0).await;
    drop(store);
    let mut history = History::open(directory.path()).unwrap();
    let not_visited = history.find_map(|record| match record.unwrap() {
        Record::Settled(settled) => Some(settled.visit.excluded),
        _ => None,
    });
    let expected = ExcludedLinks {
        rule: HOSTS_RULE.to_owned(),
        links: 2,
        example: url("http://b.example.org/"),
    };
    assert_eq!(not_visited, Some(vec![expected]));
}

#[tokio::test]
async fn a_reopened_folder_brings_back_what_it_excluded_after_many_deaths() {
    let directory = tempfile::tempdir().unwrap();
    let open = || open(directory.path(), FrontierRules::default());
    let mut store = open();
    let found = (0..700).map(|n| link(&format!("http://a.test/f{}/{n}", n % 30), 3).probed());
    discover(&store, found).await;
    let (mut visited, mut not_visited) = (0, 0);
    // The process dies after every few pages, sometimes during a flush.
    for round in 0..=70_u8 {
        for (_, excluded) in visit_pages(&store, 10, |_| false, |_| Vec::new()).await {
            visited += u32::from(excluded.is_none());
            not_visited += u32::from(excluded.is_some());
        }
        store = die(store, round, &directory).await;
    }
    assert_eq!(visited + not_visited, 700);
    assert!((160..=164).contains(&visited), "{visited}");
    store.close().await.unwrap();
    let name = PatternName::from_text("a.test/{duplicates}").unwrap();
    let reopened = store.reopen(&name).await.unwrap();
    assert_eq!(reopened, Some(u64::from(not_visited)));
    drop(store);
    agree(&directory);
}
