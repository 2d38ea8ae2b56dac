//! Pages, visits and steps of a crawl, the building blocks of the sentences. Tests of a single
//! store use them too.
//!
//! Functions panic if a store fails: a test that encounters a fault has failed.

use journal::{ArchiveSpan, DiscoveredUrl, Fate, FinishedVisit, Relevance, VisitRecord};
use store::{Frontier, FrontierRules, Lease, LeaseFilter, Settlement, Supply};
use web::{CanonicalForm, PageUrl, Timestamp};

use crate::backend::{Backend, End, Session, Setup};

/// Opens a new crawl with these rules of the frontier.
pub(crate) async fn begin(backend: &dyn Backend, rules: FrontierRules) -> Box<dyn Session> {
    backend.open(&Setup::with_rules(rules)).await
}

/// Returns the time `millis` milliseconds after the epoch.
#[must_use]
pub fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Returns the URL in this text.
#[must_use]
pub fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

/// Returns a URL as it is discovered at this depth.
#[must_use]
pub fn link(text: &str, depth: u32) -> DiscoveredUrl {
    DiscoveredUrl::new(url(text), depth, None)
}

/// Returns the settlement of a failed visit that is repeated at this time.
#[must_use]
pub fn again(at: Timestamp) -> Settlement {
    let reason = journal::Reason::said("no answer");
    Settlement::Again {
        at,
        reason,
        counts: true,
    }
}

/// Returns the record of a visit with this fate.
#[must_use]
pub fn visit_record(lease: &Lease, fate: Fate) -> VisitRecord {
    VisitRecord {
        status: Some(200),
        bytes: 10,
        kept: fate == Fate::Unique,
        ..VisitRecord::new(lease.discovered().clone(), fate, at(1))
    }
}

/// Returns the end of a visit that is not archived and found no links.
#[must_use]
pub fn done(lease: &Lease) -> Settlement {
    done_with(lease, None, Vec::new())
}

/// Returns the end of a visit that is archived under `archive_sequence` and found these links.
#[must_use]
pub fn done_with(
    lease: &Lease,
    archive_sequence: Option<u64>,
    links: Vec<DiscoveredUrl>,
) -> Settlement {
    let archived = archive_sequence.map(|archive_sequence| ArchiveSpan {
        archive_sequence,
        file: "a.warc.gz".to_owned(),
        end: (archive_sequence + 1) * 100,
    });
    Settlement::Done(FinishedVisit {
        archived,
        finds: links,
        ..FinishedVisit::new(end_of(lease, Fate::Unique))
    })
}

/// Returns the record of a visit with this fate, or of an excluded URL.
fn end_of(lease: &Lease, fate: Fate) -> VisitRecord {
    if lease.excluded.is_none() {
        return visit_record(lease, fate);
    }
    VisitRecord {
        status: None,
        bytes: 0,
        reason: lease.excluded.clone(),
        warc_file: Some("a.warc.gz".to_owned()),
        ..visit_record(lease, Fate::Excluded)
    }
}

/// Queues URLs and returns the number of new URLs.
pub async fn discover(
    frontier: &dyn Frontier,
    urls: impl IntoIterator<Item = DiscoveredUrl>,
) -> usize {
    let urls = urls.into_iter().collect();
    frontier.discover(urls).await.unwrap()
}

/// Queues seeds and returns the number of new seeds.
pub async fn seed<const N: usize>(frontier: &dyn Frontier, urls: [&str; N]) -> usize {
    discover(frontier, urls.map(|url| link(url, 0))).await
}

/// Requests up to nine leases.
pub(crate) async fn supply(frontier: &dyn Frontier, now: u64) -> Supply {
    supply_of(frontier, now, LeaseFilter::All).await
}

/// Requests up to nine leases of these kinds.
pub(crate) async fn supply_of(frontier: &dyn Frontier, now: u64, filter: LeaseFilter) -> Supply {
    frontier.lease(at(now), 9, filter).await.unwrap()
}

/// Leases up to `want` URLs.
pub async fn leases(frontier: &dyn Frontier, now: u64, want: usize) -> Vec<Lease> {
    let supply = frontier.lease(at(now), want, LeaseFilter::All).await;
    match supply.unwrap() {
        Supply::Leases(leases) => leases,
        Supply::NothingBefore(_) | Supply::Exhausted => Vec::new(),
    }
}

/// Leases the next URL.
pub async fn lease(frontier: &dyn Frontier, now: u64) -> Lease {
    leases(frontier, now, 1).await.remove(0)
}

/// Settles a lease; its host is ready again at `ready`.
pub async fn settle(frontier: &dyn Frontier, lease: Lease, settlement: Settlement, ready: u64) {
    let pace = at(ready).into();
    frontier.settle(lease, settlement, pace).await.unwrap();
}

/// Settles a lease as visited; its host is ready again at `ready`.
pub async fn visit(frontier: &dyn Frontier, lease: Lease, ready: u64) {
    let settlement = done(&lease);
    settle(frontier, lease, settlement, ready).await;
}

/// Visits up to `most` pages, one at a time. `is_new` selects the pages that bring something new;
/// all others are near-duplicates. The links of every page are the URLs that `links` returns for
/// it. Returns the leased URLs with the reasons to leave them out.
pub async fn visit_pages(
    frontier: &dyn Frontier,
    most: usize,
    mut is_new: impl FnMut(&str) -> bool,
    links: impl Fn(&str) -> Vec<DiscoveredUrl>,
) -> Vec<(String, Option<journal::Reason>)> {
    let mut leased = Vec::new();
    while leased.len() < most
        && let Some(lease) = leases(frontier, 0, 1).await.pop()
    {
        let url = lease.url().to_string();
        let fate = match lease.excluded.is_none() && is_new(&url) {
            true => Fate::Unique,
            false => Fate::NearDuplicate,
        };
        let settlement = Settlement::Done(FinishedVisit {
            finds: links(&url),
            ..FinishedVisit::new(end_of(&lease, fate))
        });
        leased.push((url, lease.excluded.clone()));
        settle(frontier, lease, settlement, 0).await;
    }
    leased
}

/// Returns the URLs of leases.
pub(crate) fn urls(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.url().as_str()).collect()
}

/// Fails if the parts of the store disagree. Ends the session.
pub(crate) async fn agree(session: Box<dyn Session>) {
    assert_eq!(session.differences().await, Vec::<String>::new());
}

/// Ends the session by a death: in two of three rounds during a flush, otherwise after a flush.
pub(crate) async fn die(session: Box<dyn Session>, round: u8) -> Box<dyn Session> {
    let end = match round % 3 {
        0 => {
            session.flush().await;
            End::Death
        }
        _ => End::DeathInFlush(round),
    };
    session.reopen(end, at(0)).await
}

/// Visits a page that was compared with a topic; its host is ready again at `ready`.
pub(crate) async fn judge(frontier: &dyn Frontier, lease: Lease, is_on_topic: bool, ready: u64) {
    let (fate, relevance) = match is_on_topic {
        true => (Fate::Unique, 700),
        false => (Fate::OffTopic, 90),
    };
    let mut visit = visit_record(&lease, fate);
    visit.details.relevance = Some(Relevance::from_thousandths(relevance));
    let settlement = Settlement::Done(FinishedVisit::new(visit));
    settle(frontier, lease, settlement, ready).await;
}
