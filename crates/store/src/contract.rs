//! Every sentence that the traits promise, held against every implementation.
//!
//! A new store is done when it is in [`subjects`] and this file passes, and `contract/index.rs` and
//! `contract/model.rs` with it.

mod canonical;
mod host_memory;
mod index;
mod model;
mod patterns;
mod probes;
mod requisites;
mod restarts;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use disk::SystemDisk;
use neardup::{Features, HashKey};
use web::{CanonicalForm, Pace, PageUrl, Timestamp};

use crate::discovered_url::DiscoveredUrl;
use crate::embedded::{EmbeddedStore, StoreOptions};
use crate::frontier::{
    ArchiveSpan, FinishedVisit, Frontier, FrontierRules, Lease, LeaseFilter, Settlement, Supply,
};
use crate::memory::MemoryStore;
use crate::near_dup::NearDupIndex;
use crate::rules::LikenessRules;
use crate::visit_record::{Fate, VisitRecord};

pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) frontier: Arc<dyn Frontier>,
    pub(crate) index: Arc<dyn NearDupIndex>,
    _directory: Option<tempfile::TempDir>,
}

fn subjects(rules: FrontierRules) -> Vec<Subject> {
    subjects_with(&options(rules))
}

fn subjects_with(options: &StoreOptions) -> Vec<Subject> {
    let memory = MemoryStore::new(options.rules, options.likeness, options.earlier.clone());
    let memory = Arc::new(memory);
    let directory = tempfile::tempdir().unwrap();
    let embedded = Arc::new(EmbeddedStore::open(directory.path(), options).unwrap());
    vec![
        Subject {
            name: "memory",
            frontier: memory.clone(),
            index: memory,
            _directory: None,
        },
        Subject {
            name: "embedded",
            frontier: embedded.clone(),
            index: embedded,
            _directory: Some(directory),
        },
    ]
}

pub(crate) fn options(rules: FrontierRules) -> StoreOptions {
    StoreOptions {
        rules,
        likeness: LikenessRules::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now: at(0),
        disk: Arc::new(SystemDisk),
    }
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

pub(crate) fn find(text: &str, depth: u32) -> DiscoveredUrl {
    DiscoveredUrl::new(url(text), depth, None)
}

pub(crate) fn row(lease: &Lease, fate: Fate) -> VisitRecord {
    VisitRecord {
        status: Some(200),
        bytes: 10,
        kept: fate == Fate::Unique,
        ..VisitRecord::new(lease.discovered().clone(), fate, at(1))
    }
}

pub(crate) fn done(lease: &Lease) -> Settlement {
    done_with(lease, None, Vec::new())
}

pub(crate) fn done_with(
    lease: &Lease,
    ticket: Option<u64>,
    finds: Vec<DiscoveredUrl>,
) -> Settlement {
    let archived = ticket.map(|ticket| ArchiveSpan {
        ticket,
        file: "a.warc.gz".to_owned(),
        end: (ticket + 1) * 100,
    });
    Settlement::Done(FinishedVisit {
        archived,
        finds,
        ..FinishedVisit::new(end_of(lease))
    })
}

/// The row of a page that is new, or of one that is to be left out.
fn end_of(lease: &Lease) -> VisitRecord {
    let warc_file = Some("a.warc.gz".to_owned());
    if lease.barred.is_none() {
        return row(lease, Fate::Unique);
    }
    VisitRecord {
        status: None,
        bytes: 0,
        reason: lease.barred.clone(),
        warc_file,
        ..row(lease, Fate::Excluded)
    }
}

pub(crate) async fn leases(frontier: &dyn Frontier, now: u64, want: usize) -> Vec<Lease> {
    match frontier
        .lease(at(now), want, LeaseFilter::All)
        .await
        .unwrap()
    {
        Supply::Leases(leases) => leases,
        Supply::NothingBefore(_) | Supply::Exhausted => Vec::new(),
    }
}

fn urls(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.url().as_str()).collect()
}

#[tokio::test]
async fn a_url_is_new_once_in_a_crawl() {
    for subject in subjects(FrontierRules::default()) {
        let frontier = &*subject.frontier;
        let twice = vec![find("http://a.test/", 0), find("http://a.test/", 1)];
        assert_eq!(
            frontier.discover(twice.clone()).await.unwrap(),
            1,
            "{}",
            subject.name
        );
        assert_eq!(
            frontier.discover(twice.clone()).await.unwrap(),
            0,
            "{}",
            subject.name
        );
        let lease = leases(frontier, 0, 9).await.remove(0);
        let settlement = done_with(&lease, None, twice);
        frontier
            .settle(lease, settlement, at(0).into())
            .await
            .unwrap();
        assert_eq!(
            frontier.lease(at(0), 9, LeaseFilter::All).await.unwrap(),
            Supply::Exhausted,
            "{}",
            subject.name
        );
    }
}

#[tokio::test]
async fn a_host_has_one_page_out_at_a_time_and_none_before_it_is_ready() {
    for subject in subjects(FrontierRules::default()) {
        let frontier = &*subject.frontier;
        let finds = vec![
            find("http://a.test/1", 0),
            find("http://a.test/2", 0),
            find("http://b.test/1", 0),
        ];
        frontier.discover(finds).await.unwrap();
        let mut out = leases(frontier, 5, 9).await;
        assert_eq!(
            urls(&out),
            ["http://a.test/1", "http://b.test/1"],
            "{}",
            subject.name
        );
        assert_eq!(
            frontier.lease(at(5), 9, LeaseFilter::All).await.unwrap(),
            Supply::NothingBefore(Timestamp::NEVER)
        );

        let first = out.remove(0);
        let settlement = done(&first);
        frontier
            .settle(first, settlement, at(500).into())
            .await
            .unwrap();
        assert_eq!(
            frontier.lease(at(499), 9, LeaseFilter::All).await.unwrap(),
            Supply::NothingBefore(at(500)),
            "{}",
            subject.name
        );
        assert_eq!(
            urls(&leases(frontier, 500, 9).await),
            ["http://a.test/2"],
            "{}",
            subject.name
        );
    }
}

#[tokio::test]
async fn more_pages_of_a_host_may_be_out_where_the_rules_say_so_and_hosts_take_turns() {
    let rules = FrontierRules {
        per_host: 3,
        max_pages_per_host: None,
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let frontier = &*subject.frontier;
        let finds = ["a.test/1", "a.test/2", "a.test/3", "a.test/4", "b.test/1"];
        frontier
            .discover(
                finds
                    .iter()
                    .map(|name| find(&format!("http://{name}"), 0))
                    .collect(),
            )
            .await
            .unwrap();
        let out = leases(frontier, 0, 9).await;
        let expected = [
            "http://a.test/1",
            "http://b.test/1",
            "http://a.test/2",
            "http://a.test/3",
        ];
        assert_eq!(urls(&out), expected, "{}", subject.name);
    }
}

#[tokio::test]
async fn pages_nearer_to_a_seed_go_first_even_when_they_are_found_later() {
    for subject in subjects(FrontierRules::default()) {
        let frontier = &*subject.frontier;
        frontier
            .discover(vec![
                find("http://a.test/deep", 3),
                find("http://a.test/deeper", 4),
            ])
            .await
            .unwrap();
        let lease = leases(frontier, 0, 1).await.remove(0);
        assert_eq!(
            lease.url().as_str(),
            "http://a.test/deep",
            "{}",
            subject.name
        );
        let settlement = done_with(&lease, None, vec![find("http://a.test/near", 1)]);
        frontier
            .settle(lease, settlement, at(0).into())
            .await
            .unwrap();
        assert_eq!(
            urls(&leases(frontier, 0, 1).await),
            ["http://a.test/near"],
            "{}",
            subject.name
        );
    }
}

#[tokio::test]
async fn a_postponed_page_comes_back_when_it_is_due_and_its_attempts_are_counted() {
    for subject in subjects(FrontierRules::default()) {
        let frontier = &*subject.frontier;
        frontier
            .discover(vec![find("http://a.test/1", 0), find("http://a.test/2", 0)])
            .await
            .unwrap();
        let lease = leases(frontier, 0, 1).await.remove(0);
        assert_eq!(lease.entry.attempts, 0);
        frontier
            .settle(lease, Settlement::Again { at: at(1000) }, at(10).into())
            .await
            .unwrap();

        let other = leases(frontier, 10, 9).await;
        assert_eq!(urls(&other), ["http://a.test/2"], "{}", subject.name);
        for lease in other {
            let settlement = done(&lease);
            frontier
                .settle(lease, settlement, at(20).into())
                .await
                .unwrap();
        }
        assert_eq!(frontier.standing().queued, 1, "{}", subject.name);
        assert_eq!(
            frontier.lease(at(999), 9, LeaseFilter::All).await.unwrap(),
            Supply::NothingBefore(at(1000)),
            "{}",
            subject.name
        );
        let again = leases(frontier, 1000, 9).await;
        assert_eq!(urls(&again), ["http://a.test/1"], "{}", subject.name);
        assert_eq!(again[0].entry.attempts, 1, "{}", subject.name);
    }
}

#[tokio::test]
async fn a_returned_page_keeps_its_place_and_counts_no_attempt() {
    for subject in subjects(FrontierRules::default()) {
        let frontier = &*subject.frontier;
        frontier
            .discover(vec![find("http://a.test/1", 0), find("http://a.test/2", 0)])
            .await
            .unwrap();
        let lease = leases(frontier, 0, 1).await.remove(0);
        frontier
            .settle(lease, Settlement::Returned, at(0).into())
            .await
            .unwrap();
        let again = leases(frontier, 0, 1).await;
        assert_eq!(urls(&again), ["http://a.test/1"], "{}", subject.name);
        assert_eq!(again[0].entry.attempts, 0, "{}", subject.name);
    }
}

#[tokio::test]
async fn a_host_that_had_its_share_keeps_the_rest_queued_and_does_not_hold_up_the_end() {
    let rules = FrontierRules {
        per_host: 1,
        max_pages_per_host: Some(1),
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let frontier = &*subject.frontier;
        frontier
            .discover(vec![find("http://a.test/1", 0), find("http://a.test/2", 0)])
            .await
            .unwrap();
        let lease = leases(frontier, 0, 9).await.remove(0);
        let settlement = done(&lease);
        frontier
            .settle(lease, settlement, at(0).into())
            .await
            .unwrap();
        assert_eq!(
            frontier.lease(at(0), 9, LeaseFilter::All).await.unwrap(),
            Supply::Exhausted,
            "{}",
            subject.name
        );
        assert_eq!(frontier.standing().queued, 1, "{}", subject.name);
    }
}

#[tokio::test]
async fn a_redirect_target_is_claimed_by_one_page_and_not_queued_afterwards() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        frontier
            .discover(vec![find("http://a.test/", 0), find("http://b.test/", 0)])
            .await
            .unwrap();
        let mut out = leases(frontier, 0, 2).await;
        let (second, first) = (out.pop().unwrap(), out.pop().unwrap());
        let target = url("http://c.test/");
        assert!(
            !frontier.claim(&first, second.url()).await.unwrap(),
            "{name}: it is queued"
        );
        assert!(frontier.claim(&first, &target).await.unwrap(), "{name}");
        assert!(
            frontier.claim(&first, &target).await.unwrap(),
            "{name}: a second attempt goes the same way"
        );
        assert!(!frontier.claim(&second, &target).await.unwrap(), "{name}");
        assert_eq!(
            frontier
                .discover(vec![find("http://c.test/", 0)])
                .await
                .unwrap(),
            0,
            "{name}"
        );
    }
}

#[tokio::test]
async fn archived_pages_are_recorded_in_the_order_of_the_archive() {
    let rules = FrontierRules {
        per_host: 9,
        max_pages_per_host: None,
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let frontier = &*subject.frontier;
        let names = ["http://a.test/0", "http://a.test/1", "http://a.test/2"];
        frontier
            .discover(names.iter().map(|name| find(name, 0)).collect())
            .await
            .unwrap();
        let mut out = leases(frontier, 0, 9).await.into_iter();
        let [first, second, third] = std::array::from_fn(|_| out.next().unwrap());
        let (one, two) = (
            done_with(&second, Some(1), vec![]),
            done_with(&third, Some(2), vec![]),
        );
        frontier.settle(second, one, at(0).into()).await.unwrap();
        frontier.settle(third, two, at(0).into()).await.unwrap();
        assert_eq!(
            frontier.standing().totals.unique,
            0,
            "{}: they wait for the first",
            subject.name
        );
        let zero = done_with(&first, Some(0), vec![]);
        frontier.settle(first, zero, at(0).into()).await.unwrap();
        assert_eq!(frontier.standing().totals.unique, 3, "{}", subject.name);
    }
}
