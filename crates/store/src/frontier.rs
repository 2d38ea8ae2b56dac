//! The seam behind which the pages to visit wait.
//!
//! Politeness is a property of the frontier: it never has more pages of one host out on lease than
//! the rules say (one, unless told otherwise), and none before the host may be asked again.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use web::{AfterDeath, Pace, PageUrl, Timestamp};

use crate::{HostMemory, StoreFault, Totals, VisitRecord};

/// A URL that was found: a seed, or a link on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredUrl {
    /// What was found.
    pub url: PageUrl,
    /// Links away from a seed; nearer pages go first.
    pub depth: u32,
    /// The page that it was found on.
    pub via: Option<PageUrl>,
    /// Before the depth, lower goes first. A frontier raises it to [`DiscoveredUrl::BEHIND`] where
    /// the pattern of the URL has brought little so far.
    pub priority: u8,
    /// How many steps it is from the page that needs it to be shown: 1 for what a page names
    /// itself, 2 for what that names, and so on. 0 is a page. What is needed goes before every page
    /// of its host, the nearest first, whatever its priority; it belongs to no pattern, and counts
    /// against no limit of pages.
    pub requisite: u8,
}

impl DiscoveredUrl {
    /// The priority of what waits for everything else of its host.
    pub const BEHIND: u8 = 128;

    /// The least priority of what is known only from pages that were left out as duplicates. It
    /// waits until no other page of the crawl waits or is out, in an order drawn from the URL, so
    /// that the first ones are a sample.
    pub const PROBED: u8 = 192;

    /// A URL that was found so many links away from a seed, on that page.
    #[must_use]
    pub const fn new(url: PageUrl, depth: u32, via: Option<PageUrl>) -> Self {
        Self {
            url,
            depth,
            via,
            priority: 0,
            requisite: 0,
        }
    }

    /// The same, found on a page that was left out as a duplicate: see [`DiscoveredUrl::PROBED`].
    #[must_use]
    pub fn probed(self) -> Self {
        let strata = u64::from(u8::MAX - Self::PROBED) + 1;
        let stratum = u8::try_from(self.url.key().as_u64() % strata).unwrap_or(0);
        Self {
            priority: Self::PROBED + stratum,
            ..self
        }
    }

    /// Returns whether it is known only from pages that were left out as duplicates.
    #[must_use]
    pub const fn is_probed(&self) -> bool {
        self.priority >= Self::PROBED && self.requisite == 0
    }

    /// The same, so many steps from the page that needs it.
    #[must_use]
    pub fn needed(self, requisite: u8) -> Self {
        Self { requisite, ..self }
    }
}

/// Links of a page that a rule left out: they are not queued, and not remembered one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The rule's name.
    pub rule: String,
    /// How many.
    pub links: u64,
    /// One of them.
    pub example: PageUrl,
}

/// The rule of [`FrontierRules::max_hosts_per_domain`], as [`LeftOut`] names it.
pub const HOSTS_RULE: &str = "max-hosts-per-domain";

/// A URL in the queue, with the history of its visits.
///
/// The journal stores it (postcard): the order of the fields is on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueEntry {
    /// The order of discovery. No two entries of a crawl share it.
    pub sequence: u64,
    /// The URL, as it was discovered.
    pub discovered: DiscoveredUrl,
    /// Earlier visits that ended in [`Settlement::Again`].
    pub attempts: u32,
    /// Sessions that died while the entry was out on lease.
    pub strikes: u32,
}

impl QueueEntry {
    /// Returns the entry of a URL that was not visited yet.
    pub(crate) const fn new(sequence: u64, discovered: DiscoveredUrl) -> Self {
        Self {
            sequence,
            discovered,
            attempts: 0,
            strikes: 0,
        }
    }
}

/// The right to visit one URL, until it is settled.
#[derive(Debug, PartialEq, Eq)]
pub struct Lease {
    /// The entry in the queue.
    pub entry: QueueEntry,
    /// The pacing state of its host, as last recorded; possibly by an earlier session.
    pub pace: Pace,
    /// The reason to leave the URL out unvisited, if its pattern is closed or has had its pages.
    pub barred: Option<String>,
}

impl Lease {
    /// Returns the leased URL.
    #[must_use]
    pub const fn url(&self) -> &PageUrl {
        &self.entry.discovered.url
    }

    /// Returns the leased URL as it was discovered.
    #[must_use]
    pub const fn discovered(&self) -> &DiscoveredUrl {
        &self.entry.discovered
    }

    /// Returns true for a seed: depth 0, and found on no page.
    #[must_use]
    pub const fn is_seed(&self) -> bool {
        self.entry.discovered.depth == 0 && self.entry.discovered.via.is_none()
    }
}

/// Sessions that died with a page before it is set aside (see [`Frontier::lease`]).
pub const STRIKES_ASIDE: u32 = 2;

/// The kinds of URLs that [`Frontier::lease`] hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseFilter {
    /// Pages and requisites.
    All,
    /// Requisites only: for a crawl that has had its pages.
    Requisites,
}

impl LeaseFilter {
    /// Returns true for a URL of one of these kinds.
    pub(crate) const fn admits(self, url: &DiscoveredUrl) -> bool {
        matches!(self, Self::All) || url.requisite > 0
    }
}

/// What there is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Supply {
    /// These, at most as many as were wanted.
    Leases(Vec<Lease>),
    /// Nothing until then; [`Timestamp::NEVER`] where only a settlement can change that.
    NothingBefore(Timestamp),
    /// Nothing is queued that may be visited, and nothing is out on lease: the crawl is complete.
    Exhausted,
}

impl Supply {
    /// The same, where something else could be handed out at `time`.
    pub(crate) fn or_before(self, time: Option<Timestamp>) -> Self {
        match (self, time) {
            (Self::NothingBefore(one), Some(other)) => Self::NothingBefore(one.min(other)),
            (Self::Exhausted, Some(time)) => Self::NothingBefore(time),
            (supply, _) => supply,
        }
    }
}

/// Where a page stands in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveSpan {
    /// Counts the archive's spans of this session, from 0 and without gaps, in the order of the
    /// archive.
    pub ticket: u64,
    /// The file, below the archive's directory.
    pub file: String,
    /// One past the span's last byte.
    pub end: u64,
}

/// A place in the archive, as [`ArchiveSpan`] has the end of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePlace {
    /// The file, below the archive's directory.
    pub file: String,
    /// Bytes of that file before it.
    pub end: u64,
}

/// The part of a crawl that a checkpoint left durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// Where the last archived visit ends whose settlement is durable.
    pub settled: Option<ArchivePlace>,
    /// Bytes of the journal that are durable; 0 where there is no journal.
    pub journal: u64,
}

/// The outcome of a visit that ended: one entry of the queue becomes one visit record.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedVisit {
    /// The visit record.
    pub row: Box<VisitRecord>,
    /// The span of the visit in the archive, if it was archived.
    pub archived: Option<ArchiveSpan>,
    /// The links to queue, in the order of the page. In the journal: those that were new.
    pub finds: Vec<DiscoveredUrl>,
    /// URLs reached by redirects, which need no visit of their own.
    pub reached: Vec<PageUrl>,
    /// Links that a rule left out as traps; one entry per rule.
    pub left_out: Vec<LeftOut>,
}

impl FinishedVisit {
    /// Returns the outcome of a visit that was not archived and led nowhere.
    #[must_use]
    pub fn new(row: VisitRecord) -> Self {
        Self {
            row: Box::new(row),
            archived: None,
            finds: Vec::new(),
            reached: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

/// The outcome of a lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// The visit ended.
    Done(FinishedVisit),
    /// The visit failed in a way that may pass: again, not before then.
    Again {
        /// When.
        at: Timestamp,
    },
    /// The visit was not begun: the page keeps its place, and no attempt is counted.
    Returned,
}

/// What bounds a frontier.
#[derive(Clone, Copy, Debug)]
pub struct FrontierRules {
    /// Pages of one host out on lease at a time, at least 1.
    pub per_host: usize,
    /// Pages of one host in the whole crawl; those beyond stay queued and are not handed out. What
    /// pages need is.
    pub max_pages_per_host: Option<u64>,
    /// Whether patterns of URLs that bring next to nothing new are put behind, and then closed: see
    /// [`crate::Patterns`].
    pub closes_patterns: bool,
    /// Whether what is known only from pages that were left out as duplicates is visited. Otherwise
    /// it is handed out with the reason to leave it out, unless a kept page leads to it as well.
    pub probes: bool,
    /// Pages of one URL pattern in the whole crawl; those beyond are left out when they come up.
    /// What is under way when it is reached comes on top.
    pub max_pages_per_pattern: Option<u64>,
    /// Hosts of one registrable domain that URLs are queued of; links to others are left out. Seeds
    /// count, and are let in always.
    pub max_hosts_per_domain: Option<u32>,
    /// The least wait between two requests to a host. After a session that did not end in order,
    /// each host may just have been asked: none is handed out before this has passed since the
    /// opening.
    pub least_wait: Duration,
    /// After a session that did not end in order, a host that answered before is left alone for the
    /// wait that its last answer led to, but for no longer than this.
    pub most_calm_wait: Duration,
    /// Thousandths of a response time that a host is left alone for.
    pub delay_factor: u32,
    /// The longest wait that anything can lead to: no host and no page that an earlier session put
    /// off waits for longer from the opening on, whatever a clock that was set back has made of the
    /// time.
    pub most_wait: Duration,
}

impl Default for FrontierRules {
    fn default() -> Self {
        Self {
            per_host: 1,
            max_pages_per_host: None,
            closes_patterns: true,
            probes: true,
            max_pages_per_pattern: None,
            max_hosts_per_domain: None,
            least_wait: Duration::ZERO,
            most_calm_wait: Duration::from_secs(30),
            delay_factor: 5000,
            most_wait: Duration::from_secs(24 * 3600),
        }
    }
}

impl FrontierRules {
    /// The rule by which hosts are left alone after a session that died.
    #[must_use]
    pub const fn after_death(&self) -> AfterDeath {
        AfterDeath {
            least_wait: self.least_wait,
            most_wait: self.most_calm_wait,
            factor: self.delay_factor,
        }
    }
}

/// How the crawl stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// What became of the pages so far.
    pub totals: Totals,
    /// Pages that wait, those out on lease included.
    pub queued: u64,
    /// Pages among them that failed and will be tried again when their time comes.
    pub postponed: u64,
    /// Pages out on lease.
    pub leased: u64,
    /// Pages among those that wait which two sessions or more died with: each is visited alone,
    /// when nothing else can be.
    pub set_aside: u64,
    /// Hosts with pages that wait or are out on lease; those that were postponed do not count until
    /// they are due.
    pub active_hosts: u64,
    /// Hosts that a page was had from.
    pub hosts: u64,
}

/// The pages to visit.
///
/// Every verb may be called by many workers at once. Discovery is exactly-once for each URL; leases
/// are at-least-once: a lease that is not settled before the process dies is handed out again by
/// the next.
#[async_trait]
pub trait Frontier: Send + Sync {
    /// Queues what is new among these, and says how much was. A URL is new once in a crawl; one of
    /// a host too many of its domain is left out, unless it is a seed (of depth 0).
    ///
    /// A URL that was found on left-out pages only ([`DiscoveredUrl::is_probed`]) is new once more
    /// when it is found elsewhere, unless it was visited by then: it takes its better place, or,
    /// where it was left out unvisited, its row is revoked.
    async fn discover(&self, finds: Vec<DiscoveredUrl>) -> Result<usize, StoreFault>;

    /// Hands out up to `want` pages: at most [`FrontierRules::per_host`] of a host at a time, none
    /// whose host is not yet ready, hosts in the order in which they became ready, and of a host
    /// the page of the lowest priority first, of these the one nearest to a seed. What is of a
    /// pattern that is closed, or had its pages, is handed out with the reason to leave it out.
    ///
    /// A page that two sessions died with is set aside: it is handed out when nothing else can be
    /// and nothing is out, alone, so that the third death tells which page it was.
    ///
    /// With [`LeaseFilter::Requisites`] only requisites are handed out, as if no page waited. Pages
    /// out on lease may still discover some, so nothing is exhausted before they are settled.
    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault>;

    /// Takes a lease back. The host is not handed out again before `pace.ready`; its pace comes
    /// back with the next lease, in whatever session.
    ///
    /// Archived pages are recorded in the order of the archive, whatever order they are settled in,
    /// so that the end of the last recorded page is the archive's valid length.
    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault>;

    /// Marks a URL as reached by a leased page's redirect, so that it needs no visit of its own.
    /// False where it was queued, or reached by another page, before; the same page may claim it
    /// again in a later attempt. Durable with the settlement that names it in `reached`.
    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault>;

    /// Lets a redirect of a seed widen the scope: durable with the next checkpoint.
    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault>;

    /// Returns the memory of hosts: their paces and their robots.txt files.
    fn hosts(&self) -> &dyn HostMemory;

    /// How the crawl stands now.
    fn standing(&self) -> Standing;

    /// Makes everything that was settled durable. `archive` says up to where the archive is on the
    /// disk, where that is known: it was synced before this is called, so that what is settled
    /// behind it, and only that, can be missing after a power cut. Returns what is durable now, at
    /// least.
    async fn checkpoint(&self, archive: Option<ArchivePlace>) -> Result<Durable, StoreFault>;

    /// Ends the session in order: everything is durable, and no visit is under way. Leases that are
    /// still out count as returned. What is done without this, the next session takes for a death.
    async fn close(&self) -> Result<(), StoreFault>;
}
