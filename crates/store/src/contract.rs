//! Every sentence that the traits promise, held against every implementation.
//!
//! A new store is done when it is in [`subjects`] and this module passes.

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
use crate::embedded::{EmbeddedStore, StoreOptions, audit};
use crate::frontier::{
    ArchiveSpan, FinishedVisit, Frontier, FrontierRules, HostLimits, Lease, LeaseFilter,
    Settlement, Standing, Supply,
};
use crate::memory::MemoryStore;
use crate::near_dup::NearDupIndex;
use crate::rules::LikenessRules;
use crate::visit_record::{Fate, VisitRecord};

/// A store under test.
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
    let memory = MemoryStore::new(
        options.rules.clone(),
        options.likeness,
        options.earlier.clone(),
    );
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

/// Returns the settlement of a visit that failed and is repeated at this time.
pub(crate) fn again(at: Timestamp) -> Settlement {
    let reason = "no answer".to_owned();
    Settlement::Again { at, reason }
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

pub(crate) fn link(text: &str, depth: u32) -> DiscoveredUrl {
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

/// Returns the end of a visit that is archived under `ticket`, and found these links.
pub(crate) fn done_with(
    lease: &Lease,
    ticket: Option<u64>,
    links: Vec<DiscoveredUrl>,
) -> Settlement {
    let archived = ticket.map(|ticket| ArchiveSpan {
        ticket,
        file: "a.warc.gz".to_owned(),
        end: (ticket + 1) * 100,
    });
    Settlement::Done(FinishedVisit {
        archived,
        finds: links,
        ..FinishedVisit::new(end_of(lease, Fate::Unique))
    })
}

/// Returns the record of a visit with this fate, or of a URL that is left out.
fn end_of(lease: &Lease, fate: Fate) -> VisitRecord {
    if lease.barred.is_none() {
        return row(lease, fate);
    }
    VisitRecord {
        status: None,
        bytes: 0,
        reason: lease.barred.clone(),
        warc_file: Some("a.warc.gz".to_owned()),
        ..row(lease, Fate::Excluded)
    }
}

/// Queues URLs and returns the number of new ones.
async fn discover(frontier: &dyn Frontier, urls: impl IntoIterator<Item = DiscoveredUrl>) -> usize {
    let urls = urls.into_iter().collect();
    frontier.discover(urls).await.unwrap()
}

/// Queues seeds and returns the number of new ones.
async fn seed<const N: usize>(frontier: &dyn Frontier, urls: [&str; N]) -> usize {
    discover(frontier, urls.map(|url| link(url, 0))).await
}

async fn supply(frontier: &dyn Frontier, now: u64) -> Supply {
    supply_of(frontier, now, LeaseFilter::All).await
}

async fn supply_of(frontier: &dyn Frontier, now: u64, filter: LeaseFilter) -> Supply {
    frontier.lease(at(now), 9, filter).await.unwrap()
}

pub(crate) async fn leases(frontier: &dyn Frontier, now: u64, want: usize) -> Vec<Lease> {
    let supply = frontier.lease(at(now), want, LeaseFilter::All).await;
    match supply.unwrap() {
        Supply::Leases(leases) => leases,
        Supply::NothingBefore(_) | Supply::Exhausted => Vec::new(),
    }
}

/// Leases the next URL.
async fn lease(frontier: &dyn Frontier, now: u64) -> Lease {
    leases(frontier, now, 1).await.remove(0)
}

/// Settles a lease; its host is ready again at `ready`.
async fn settle(frontier: &dyn Frontier, lease: Lease, settlement: Settlement, ready: u64) {
    let pace = at(ready).into();
    frontier.settle(lease, settlement, pace).await.unwrap();
}

/// Settles a lease as visited; its host is ready again at `ready`.
async fn visit(frontier: &dyn Frontier, lease: Lease, ready: u64) {
    let settlement = done(&lease);
    settle(frontier, lease, settlement, ready).await;
}

/// Visits up to `most` pages, one at a time. `is_new` selects those that say something new; all
/// others are near-duplicates. Every page leads to the links that `links` returns for it. Returns
/// the leased URLs with the reasons to leave them out.
async fn visit_pages(
    frontier: &dyn Frontier,
    most: usize,
    mut is_new: impl FnMut(&str) -> bool,
    links: impl Fn(&str) -> Vec<DiscoveredUrl>,
) -> Vec<(String, Option<String>)> {
    let mut leased = Vec::new();
    while leased.len() < most
        && let Some(lease) = leases(frontier, 0, 1).await.pop()
    {
        let url = lease.url().to_string();
        let fate = match lease.barred.is_none() && is_new(&url) {
            true => Fate::Unique,
            false => Fate::NearDuplicate,
        };
        let settlement = Settlement::Done(FinishedVisit {
            finds: links(&url),
            ..FinishedVisit::new(end_of(&lease, fate))
        });
        leased.push((url, lease.barred.clone()));
        settle(frontier, lease, settlement, 0).await;
    }
    leased
}

fn urls(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.url().as_str()).collect()
}

/// Fails if the tables of a closed store disagree with its journal.
fn agree(directory: &tempfile::TempDir) {
    let audit = audit(directory.path()).unwrap();
    assert_eq!(audit.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn a_url_is_new_once_in_a_crawl() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let twice = [link("http://a.test/", 0), link("http://a.test/", 1)];
        assert_eq!(discover(frontier, twice.clone()).await, 1, "{name}");
        assert_eq!(discover(frontier, twice.clone()).await, 0, "{name}");
        let lease = lease(frontier, 0).await;
        let settlement = done_with(&lease, None, twice.to_vec());
        settle(frontier, lease, settlement, 0).await;
        assert_eq!(supply(frontier, 0).await, Supply::Exhausted, "{name}");
    }
}

#[tokio::test]
async fn a_host_has_one_page_out_at_a_time_and_none_before_it_is_ready() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        seed(
            frontier,
            ["http://a.test/1", "http://a.test/2", "http://b.test/1"],
        )
        .await;
        let mut out = leases(frontier, 5, 9).await;
        assert_eq!(urls(&out), ["http://a.test/1", "http://b.test/1"], "{name}");
        let while_both_are_out = supply(frontier, 5).await;
        assert_eq!(
            while_both_are_out,
            Supply::NothingBefore(Timestamp::NEVER),
            "{name}"
        );

        visit(frontier, out.remove(0), 500).await;
        let too_early = supply(frontier, 499).await;
        assert_eq!(too_early, Supply::NothingBefore(at(500)), "{name}");
        let ready = leases(frontier, 500, 9).await;
        assert_eq!(urls(&ready), ["http://a.test/2"], "{name}");
    }
}

#[tokio::test]
async fn several_pages_of_a_host_may_be_out_if_the_rules_allow_it_and_hosts_take_turns() {
    let rules = FrontierRules {
        per_host: 3,
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let names = ["a.test/1", "a.test/2", "a.test/3", "a.test/4", "b.test/1"];
        discover(
            frontier,
            names.map(|name| link(&format!("http://{name}"), 0)),
        )
        .await;
        let out = leases(frontier, 0, 9).await;
        let expected = [
            "http://a.test/1",
            "http://b.test/1",
            "http://a.test/2",
            "http://a.test/3",
        ];
        assert_eq!(urls(&out), expected, "{name}");
    }
}

#[tokio::test]
async fn pages_nearer_to_a_seed_go_first_even_if_they_are_found_later() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let deep = [
            link("http://a.test/deep", 3),
            link("http://a.test/deeper", 4),
        ];
        discover(frontier, deep).await;
        let first = lease(frontier, 0).await;
        assert_eq!(first.url().as_str(), "http://a.test/deep", "{name}");
        let settlement = done_with(&first, None, vec![link("http://a.test/near", 1)]);
        settle(frontier, first, settlement, 0).await;
        let next = lease(frontier, 0).await;
        assert_eq!(next.url().as_str(), "http://a.test/near", "{name}");
    }
}

#[tokio::test]
async fn a_postponed_page_comes_back_when_it_is_due_and_its_attempts_are_counted() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
        let first = lease(frontier, 0).await;
        assert_eq!(first.entry.attempts, 0, "{name}");
        settle(frontier, first, again(at(1000)), 10).await;

        let other = lease(frontier, 10).await;
        assert_eq!(other.url().as_str(), "http://a.test/2", "{name}");
        visit(frontier, other, 20).await;
        assert_eq!(frontier.standing().queued, 1, "{name}");
        let too_early = supply(frontier, 999).await;
        assert_eq!(too_early, Supply::NothingBefore(at(1000)), "{name}");
        let again = lease(frontier, 1000).await;
        assert_eq!(again.url().as_str(), "http://a.test/1", "{name}");
        assert_eq!(again.entry.attempts, 1, "{name}");
    }
}

#[tokio::test]
async fn a_returned_page_keeps_its_place_and_counts_no_attempt() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
        let first = lease(frontier, 0).await;
        settle(frontier, first, Settlement::Returned, 0).await;
        let again = lease(frontier, 0).await;
        assert_eq!(again.url().as_str(), "http://a.test/1", "{name}");
        assert_eq!(again.entry.attempts, 0, "{name}");
    }
}

#[tokio::test]
async fn a_host_at_its_page_limit_keeps_the_rest_queued_and_does_not_hold_up_the_end() {
    let rules = FrontierRules {
        max_pages_per_host: Some(1),
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        seed(frontier, ["http://a.test/1", "http://a.test/2"]).await;
        visit(frontier, lease(frontier, 0).await, 0).await;
        assert_eq!(supply(frontier, 0).await, Supply::Exhausted, "{name}");
        assert_eq!(frontier.standing().queued, 1, "{name}");
    }
}

#[tokio::test]
async fn a_host_with_limits_of_its_own_has_these() {
    let own = |leases, max_pages| HostLimits {
        leases: Some(leases),
        max_pages: Some(max_pages),
    };
    let patterns = [("*.a.test", own(2, 3)), ("b.test", own(1, 0))];
    let entries = patterns.map(|(pattern, limits)| (pattern.parse().unwrap(), limits));
    let rules = FrontierRules {
        of_hosts: entries.into_iter().collect(),
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let pages = |host: &str| [0, 1, 2, 3].map(|page| format!("http://{host}/{page}"));
        for host in ["www.a.test", "b.test", "c.test"] {
            let pages = pages(host);
            seed(frontier, pages.each_ref().map(String::as_str)).await;
        }
        let out = leases(frontier, 0, 12).await;
        let of = |host: &str| {
            let hosts = out.iter().map(|lease| lease.url().host());
            hosts.filter(|found| found.as_str() == host).count()
        };
        let counts = ["www.a.test", "b.test", "c.test"].map(of);
        assert_eq!(counts, [2, 0, 1], "{name}");
    }
}

#[tokio::test]
async fn a_redirect_target_is_claimed_by_one_page_and_not_queued_afterwards() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        seed(frontier, ["http://a.test/", "http://b.test/"]).await;
        let mut out = leases(frontier, 0, 2).await;
        let (second, first) = (out.pop().unwrap(), out.pop().unwrap());
        let target = url("http://c.test/");
        let claims = [
            (&first, second.url(), false, "it is queued"),
            (&first, &target, true, "nobody else has it"),
            (&first, &target, true, "a second attempt goes the same way"),
            (&second, &target, false, "the first has it"),
        ];
        for (lease, url, expected, why) in claims {
            let is_claimed = frontier.claim(lease, url).await.unwrap();
            assert_eq!(is_claimed, expected, "{name}: {why}");
        }
        assert_eq!(seed(frontier, ["http://c.test/"]).await, 0, "{name}");
    }
}

#[tokio::test]
async fn archived_pages_are_recorded_in_the_order_of_the_archive() {
    let rules = FrontierRules {
        per_host: 9,
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        seed(
            frontier,
            ["http://a.test/0", "http://a.test/1", "http://a.test/2"],
        )
        .await;
        let mut out = leases(frontier, 0, 9).await.into_iter();
        let [first, second, third] = std::array::from_fn(|_| out.next().unwrap());
        for (lease, ticket, unique) in [(second, 1, 0), (third, 2, 0), (first, 0, 3)] {
            let settlement = done_with(&lease, Some(ticket), Vec::new());
            settle(frontier, lease, settlement, 0).await;
            assert_eq!(
                frontier.standing().totals.unique,
                unique,
                "{name}: {ticket}"
            );
        }
    }
}
