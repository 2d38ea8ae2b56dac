//! The seam behind which URLs wait for their visit.
//!
//! Politeness is a property of the frontier: it never leases more pages of one host at a time than
//! the rules allow (one by default), and none before the host is ready.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use web::{Host, HostTable, Pace, PageUrl, RestartRule, Timestamp};

use crate::discovered_url::DiscoveredUrl;
use crate::fault::StoreFault;
use crate::harvest::UrlHarvest;
use crate::host_memory::HostMemory;
use crate::reason::Reason;
use crate::totals::Totals;
use crate::visit_record::VisitRecord;

/// Links of a page that a rule left out. They are not queued, and not remembered one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The rule's name.
    pub rule: String,
    /// The number of links.
    pub links: u64,
    /// One of them.
    pub example: PageUrl,
}

/// The name of the rule [`FrontierRules::max_hosts_per_domain`] in [`LeftOut`].
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
    /// Earlier visits that ended in [`Settlement::Again`] and count.
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
    pub barred: Option<Reason>,
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

/// The number of sessions that die with a page before it is set aside (see [`Frontier::lease`]).
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

/// The result of [`Frontier::lease`].
#[derive(Debug, PartialEq, Eq)]
pub enum Supply {
    /// Leased URLs, at most as many as were wanted.
    Leases(Vec<Lease>),
    /// Nothing before this time; [`Timestamp::NEVER`] where only a settlement can change that.
    NothingBefore(Timestamp),
    /// Nothing that may be visited is queued, except URLs of hosts that rest past their last chance
    /// ([`Pace::is_past_last_chance`]), and nothing is out on lease: the crawl ends.
    Exhausted,
}

impl Supply {
    /// Returns the supply where something else becomes ready at `time`.
    pub(crate) fn or_before(self, time: Option<Timestamp>) -> Self {
        match (self, time) {
            (Self::NothingBefore(one), Some(other)) => Self::NothingBefore(one.min(other)),
            (Self::Exhausted, Some(time)) => Self::NothingBefore(time),
            (supply, _) => supply,
        }
    }
}

/// The span of a visit in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveSpan {
    /// The number of the span in this session, from 0 and without gaps, in the order of the
    /// archive.
    pub ticket: u64,
    /// The file, below the archive's directory.
    pub file: String,
    /// One past the span's last byte.
    pub end: u64,
}

/// A position in the archive, like the end of an [`ArchiveSpan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePlace {
    /// The file, below the archive's directory.
    pub file: String,
    /// The number of bytes of that file before it.
    pub end: u64,
}

/// The part of a crawl that a checkpoint has made durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// The end of the last archived visit whose settlement is durable.
    pub settled: Option<ArchivePlace>,
    /// The durable length of the journal in bytes; 0 where there is no journal.
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
    /// The visit failed in a way that may pass: the URL is tried again, not before `at`.
    Again {
        /// The earliest time of the next visit.
        at: Timestamp,
        /// The failure.
        reason: Reason,
        /// True if the visit counts as an attempt; false if the page is not to blame.
        counts: bool,
    },
    /// The visit was not begun: the URL keeps its place, and no attempt is counted.
    Returned,
}

/// The limits of a frontier.
#[derive(Clone, Debug)]
pub struct FrontierRules {
    /// The maximum number of pages of one host out on lease at a time, at least 1.
    pub per_host: usize,
    /// The limits of single hosts, in place of `per_host` and `max_pages_per_host`.
    pub of_hosts: HostTable<HostLimits>,
    /// The maximum number of pages of one host in the whole crawl. Further pages stay queued and
    /// are not leased; requisites are.
    pub max_pages_per_host: Option<u64>,
    /// True if, of the hosts that are ready, those whose best waiting URL has the best priority go
    /// first: for a focused crawl, whose links have promises ([`DiscoveredUrl::promising`]).
    pub best_first: bool,
    /// The time for which a slot may stay empty rather than take a URL with a poor promise, under
    /// `best_first`: see [`Frontier::lease`]. It costs time and saves pages.
    pub patience: Duration,
    /// True if URL patterns that bring next to nothing new are put behind, and then closed, and
    /// those of which no page is about the topic are put behind: see [`crate::Patterns`].
    pub closes_patterns: bool,
    /// True if probes are visited. Otherwise they are leased with the reason to leave them out,
    /// unless a kept page links to them as well.
    pub probes: bool,
    /// The maximum number of pages of one URL pattern in the whole crawl. Further ones are left out
    /// when they come up. Pages out on lease when the limit is reached come on top.
    pub max_pages_per_pattern: Option<u64>,
    /// The maximum number of hosts of one registrable domain; links to further hosts are left out.
    /// Hosts below one name of the domain get at most half of the places that the others leave.
    /// Seeds count, and are always queued.
    pub max_hosts_per_domain: Option<u32>,
    /// The minimum wait between two requests to a host. After a session that did not end in order,
    /// each host may just have been asked: none is leased until this has passed since the store was
    /// opened.
    pub least_wait: Duration,
    /// The maximum wait after a session that did not end in order: a host that answered before
    /// rests for the wait that its last answer led to, but for no longer than this.
    pub most_calm_wait: Duration,
    /// The rest of a host after a response, in thousandths of the response time.
    pub delay_factor: u32,
    /// The maximum wait: from the opening of the store on, no host and no page that an earlier
    /// session postponed waits for longer, whatever the clock was set to.
    pub most_wait: Duration,
}

/// The limits of single hosts; those that are missing are the common ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostLimits {
    /// In place of [`FrontierRules::per_host`].
    pub leases: Option<usize>,
    /// In place of [`FrontierRules::max_pages_per_host`].
    pub max_pages: Option<u64>,
}

impl Default for FrontierRules {
    fn default() -> Self {
        Self {
            per_host: 1,
            of_hosts: HostTable::default(),
            max_pages_per_host: None,
            best_first: false,
            patience: Duration::ZERO,
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
    /// The [`FrontierRules::patience`] of a focused crawl whose pages are limited. Chosen by the
    /// area under recall of crawls over manuals: docs/measurements/focus.md.
    pub const PATIENCE: Duration = Duration::from_secs(5);

    /// Returns the maximum number of pages of a host out on lease at a time.
    #[must_use]
    pub fn leases_of(&self, host: &Host) -> usize {
        let own = self.of_hosts.get(host).and_then(|own| own.leases);
        own.unwrap_or(self.per_host).max(1)
    }

    /// Returns the maximum number of pages of a host in the whole crawl.
    #[must_use]
    pub fn max_pages_of(&self, host: &Host) -> Option<u64> {
        let own = self.of_hosts.get(host).and_then(|own| own.max_pages);
        own.or(self.max_pages_per_host)
    }

    /// Returns the rule for the rest of hosts after a session that died.
    #[must_use]
    pub const fn after_death(&self) -> RestartRule {
        RestartRule {
            least_wait: self.least_wait,
            most_wait: self.most_calm_wait,
            factor: self.delay_factor,
        }
    }
}

/// The state of a crawl in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Sums over the visits that ended.
    pub totals: Totals,
    /// URLs in the queue, those out on lease included.
    pub queued: u64,
    /// Queued URLs that failed and are tried again at a later time.
    pub postponed: u64,
    /// URLs out on lease.
    pub leased: u64,
    /// Queued URLs that are set aside after two or more deaths of sessions; each is visited alone,
    /// when no other URL can be.
    pub set_aside: u64,
    /// Queued URLs of hosts past their last chance: the crawl does not wait for them, and the next
    /// session asks for them again.
    pub unreachable: u64,
    /// The number of these hosts.
    pub unreachable_hosts: u64,
    /// Hosts with URLs that wait or are out on lease; postponed URLs do not count until they are
    /// due.
    pub active_hosts: u64,
    /// Hosts with at least one fetched page.
    pub hosts: u64,
    /// True while a store on another machine is out of reach, so that no page is leased.
    pub is_store_away: bool,
}

/// The queue of URLs to visit.
///
/// All methods may be called by many workers at once. Discovery is exactly-once for each URL;
/// leases are at-least-once: a lease that is not settled before the process dies is handed out
/// again by the next one.
#[async_trait]
pub trait Frontier: Send + Sync {
    /// Queues the new URLs among these, and returns their number. A URL is new once in a crawl. A
    /// URL of a host beyond [`FrontierRules::max_hosts_per_domain`] is left out, unless it is a
    /// seed (depth 0).
    ///
    /// A probe ([`DiscoveredUrl::is_probed`]) is new once more when it is found on a kept page,
    /// unless it was visited by then: it gets a place among ordinary URLs, or, where it was left
    /// out unvisited, its visit record is revoked.
    ///
    /// A URL that a redirect has claimed is not new while the claim lasts: see [`Frontier::claim`].
    ///
    /// A URL that is found again keeps its place, also if it is found with a better promise
    /// ([`DiscoveredUrl::promising`]), depth or page. Two spellings are one URL, which is leased,
    /// in this session and later ones, with the request of the first ([`PageUrl::request`]).
    ///
    /// # Errors
    /// A fault of the store.
    async fn discover(&self, discovered: Vec<DiscoveredUrl>) -> Result<usize, StoreFault>;

    /// Leases up to `want` URLs: at most [`FrontierRules::per_host`] of a host at a time, and none
    /// of a host that is not ready. Hosts take turns in the order in which they became ready; of a
    /// host, the URL with the lowest priority goes first, and of these the nearest to a seed. A URL
    /// of a pattern that is closed, or has had its pages, is leased with the reason to leave it
    /// out.
    ///
    /// A probe ([`DiscoveredUrl::is_probed`]) is leased when no other page of its registrable
    /// domain waits or is out; nothing of another domain delays it. One that was found on copies of
    /// another domain's pages ([`DiscoveredUrl::is_mirrored`]) is leased when no other page of the
    /// crawl waits or is out, so that a mirror is visited behind its original. Of a crawl of
    /// several nodes, only the pages of the same node count.
    ///
    /// With [`FrontierRules::best_first`], of the hosts that are ready the one goes first whose
    /// first URL has the lowest priority, requisites and ordered URLs included; of equal ones, the
    /// one that became ready first. A host has no second turn before all ready ones had one. The
    /// promises of a host in a *dry spell* are worse for that: by one level once its last four
    /// judged pages were off topic, and by one more whenever the spell has doubled. So hosts with
    /// nothing but poor links are tried in turn, and one page on topic ends the spell.
    ///
    /// With [`FrontierRules::patience`], a URL with a promise is not leased while a better one is
    /// expected: a host that is below its limits, and whose first URL that waits or is out has a
    /// better promise, rests for no longer than the patience from now; or it has no room for
    /// another lease, and had its last one less than the patience ago. URLs out on lease count
    /// because their links may be as good. So a slot waits for a host that does not answer once,
    /// and for no longer than the patience.
    ///
    /// A URL that two sessions died with is set aside: it is leased alone, when nothing else can be
    /// leased and nothing is out, so that a third death identifies it.
    ///
    /// A host that has had its last chance ([`Pace::is_past_last_chance`]) is still tried whenever
    /// it is ready, but nothing waits for it: neither the end of the crawl nor a probe. Each
    /// session begins with a new chance for it.
    ///
    /// With [`LeaseFilter::Requisites`] only requisites are leased, as if no page waited. Pages out
    /// on lease may still discover some, so the supply is not exhausted before they are settled.
    ///
    /// # Errors
    /// A fault of the store.
    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault>;

    /// Settles a lease. No URL of the host is leased again before `pace.ready`; the pace comes back
    /// with the next lease, in this session or a later one.
    ///
    /// Archived visits are recorded in the order of the archive, whatever the order of settlement,
    /// so that the end of the last recorded visit is the valid length of the archive.
    ///
    /// # Errors
    /// A fault of the store.
    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault>;

    /// Marks a URL as reached by a redirect of a leased page, so that it needs no visit of its own.
    /// Returns false if it was queued before, reached or claimed by another page, or is a probe
    /// out on lease. The claim is durable with the settlement that names it in `reached`. Any other
    /// end of the lease gives it up: another attempt, a return, a settlement that does not name the
    /// URL, the end of the session, its death.
    ///
    /// A URL that is discovered while it is claimed is leased after the claim is given up, in this
    /// session or a later one, and never if the settlement names it. So is a URL that was reached
    /// by a visit whose record was revoked, if the next visit of that page does not reach it.
    ///
    /// # Errors
    /// A fault of the store.
    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault>;

    /// Returns true if the target of a redirect of a leased page is never a part of its visit,
    /// because another node of a shared crawl may ask its host: the target is queued instead.
    fn is_apart(&self, _lease: &Lease, _target: &PageUrl) -> bool {
        false
    }

    /// Waits until URLs may have come from elsewhere: from another node of a shared crawl. What a
    /// caller of this store did is no such news.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    /// Widens the scope by the target of a seed's redirect. Durable with the next checkpoint.
    ///
    /// # Errors
    /// A fault of the store.
    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault>;

    /// Returns the memory of hosts: their paces and their robots.txt files.
    fn hosts(&self) -> &dyn HostMemory;

    /// Returns the harvests around these URLs, in their order: how many pages of their patterns and
    /// hosts were about the topic of a focused crawl. Of hosts that another node visits, nothing is
    /// known.
    fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest>;

    /// Returns the state of the crawl in numbers.
    fn standing(&self) -> Standing;

    /// Makes all settlements durable. `archive` is the position up to which the archive is on the
    /// disk, where it is known: it was synced before the call, so that only visits settled behind
    /// it can be missing after a power cut. Returns the part of the crawl that is durable.
    ///
    /// # Errors
    /// A fault of the store.
    async fn checkpoint(&self, archive: Option<ArchivePlace>) -> Result<Durable, StoreFault>;

    /// Ends the session in order: everything is durable, and no visit is under way. Leases that are
    /// still out count as returned. The next session takes any other end for a death.
    ///
    /// # Errors
    /// A fault of the store.
    async fn close(&self) -> Result<(), StoreFault>;
}
