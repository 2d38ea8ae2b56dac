//! The interface to the queue of URLs that wait for their visit.
//!
//! Politeness is a property of the frontier. It never leases more pages of a host at a time than
//! the rules allow (one by default), and never leases a page before its host is ready.

use std::time::Duration;

use async_trait::async_trait;
use journal::{DiscoveredUrl, FinishedVisit, QueueEntry, Reason, StoreFault, Totals, UrlHarvest};
use web::{Host, HostTable, Pace, PageUrl, RestartRule, Timestamp};

use crate::host_memory::HostMemory;

/// Name of the rule [`FrontierRules::max_hosts_per_domain`] in [`journal::ExcludedLinks`].
pub const HOSTS_RULE: &str = "max-hosts-per-domain";

/// The right to visit one URL, until it is settled.
#[derive(Debug, PartialEq, Eq)]
pub struct Lease {
    /// The entry in the queue.
    pub entry: QueueEntry,
    /// The pacing state of its host as last recorded, possibly by an earlier session.
    pub pace: Pace,
    /// The reason to leave the URL out unvisited, if its pattern is closed or has reached its limit
    /// of pages.
    pub excluded: Option<Reason>,
    /// True if the scripts of the page are run although it has text without them.
    pub runs_scripts: bool,
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

/// Number of sessions that die with a page before it is quarantined (see [`Frontier::lease`]).
pub const CRASHES_TO_QUARANTINE: u32 = 2;

/// The kinds of URLs that [`Frontier::lease`] hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseFilter {
    /// Pages and requisites.
    All,
    /// Requisites only, for a crawl that has reached its limit of pages.
    Requisites,
}

impl LeaseFilter {
    /// Returns true for a URL of one of these kinds.
    #[must_use]
    pub const fn admits(self, url: &DiscoveredUrl) -> bool {
        matches!(self, Self::All) || url.requisite > 0
    }
}

/// The result of [`Frontier::lease`].
#[derive(Debug, PartialEq, Eq)]
pub enum Supply<L = Lease> {
    /// Leased URLs, at most the requested number.
    Leases(Vec<L>),
    /// Nothing before this time; [`Timestamp::NEVER`] if only a settlement can change that.
    NothingBefore(Timestamp),
    /// The crawl ends: no URL that may be visited is queued, except URLs of hosts that rest past
    /// their last chance ([`Pace::is_past_last_chance`]), and no lease is out.
    Exhausted,
}

impl<L> Supply<L> {
    /// Returns the supply, given that another URL becomes ready at `time`.
    #[must_use]
    pub fn or_before(self, time: Option<Timestamp>) -> Self {
        match (self, time) {
            (Self::NothingBefore(one), Some(other)) => Self::NothingBefore(one.min(other)),
            (Self::Exhausted, Some(time)) => Self::NothingBefore(time),
            (supply, _) => supply,
        }
    }
}

/// A position in the archive, such as the end of an [`journal::ArchiveSpan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePlace {
    /// The file, relative to the archive's directory.
    pub file: String,
    /// Number of bytes of that file before the position.
    pub end: u64,
}

/// The part of a crawl that a checkpoint has made durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// The end of the last archived visit with a durable settlement.
    pub settled: Option<ArchivePlace>,
    /// Durable length of the journal in bytes; 0 without a journal.
    pub journal: u64,
}

/// The outcome of a lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// The visit ended.
    Done(FinishedVisit),
    /// The visit failed in a way that may pass: the URL is retried, but not before `at`.
    Again {
        /// The earliest time of the next visit.
        at: Timestamp,
        /// The failure.
        reason: Reason,
        /// True if the visit counts as an attempt; false if the page is not to blame.
        counts: bool,
    },
    /// The visit did not start: the URL keeps its place, and no attempt is counted.
    Returned,
}

/// The limits of a frontier.
#[derive(Clone, Debug)]
pub struct FrontierRules {
    /// Maximum number of pages of a host out on lease at a time, at least 1.
    pub per_host: usize,
    /// Limits of individual hosts, which replace `per_host` and `max_pages_per_host`.
    pub of_hosts: HostTable<HostLimits>,
    /// Maximum number of pages of a host in the whole crawl. Further pages stay queued and are not
    /// leased; requisites still are.
    pub max_pages_per_host: Option<u64>,
    /// True if the ready host with the best-scored waiting URL goes first. This is for a focused
    /// crawl, whose links have scores ([`DiscoveredUrl::with_link_score`]).
    pub best_first: bool,
    /// Maximum time that a slot may stay empty rather than take a URL with a low link score, under
    /// `best_first`: see [`Frontier::lease`]. It costs time and saves pages.
    pub anticipation: Duration,
    /// True if URL patterns that bring next to nothing new are put behind and then closed, and if
    /// patterns without a page about the topic are put behind: see [`crate::Patterns`].
    pub closes_patterns: bool,
    /// True if probes are visited. Otherwise they are leased with the reason to leave them out,
    /// unless a kept page also links to them.
    pub probes: bool,
    /// True if the scripts of some pages that have text without them are run, to learn what they
    /// bring: see [`crate::ScriptUse`].
    pub probes_scripts: bool,
    /// Maximum number of pages of a URL pattern in the whole crawl. Further pages are excluded when
    /// their turn comes. Pages that are out on lease when the limit is reached may exceed it.
    pub max_pages_per_pattern: Option<u64>,
    /// Maximum number of hosts of a registrable domain; links to further hosts are excluded. Hosts
    /// below one name of the domain get at most half of the places that other hosts leave. Seeds
    /// count, and are always queued.
    pub max_hosts_per_domain: Option<u32>,
    /// Minimum wait between two requests to a host. The last session, if it died, may just have
    /// sent a request to any host. In this case, no host is leased until this time has passed since
    /// the store was opened.
    pub min_wait: Duration,
    /// Maximum wait after a session that died: a host that had responded before rests for the delay
    /// computed from its last response, but no longer than this.
    pub max_calm_wait: Duration,
    /// Rest of a host after a response, in thousandths of the response time.
    pub delay_factor: u32,
    /// Maximum wait: from the opening of the store, no host and no page that an earlier session
    /// postponed waits longer, regardless of changes of the system clock.
    pub max_wait: Duration,
}

/// Limits of individual hosts; the common limits apply where one is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostLimits {
    /// Replaces [`FrontierRules::per_host`].
    pub leases: Option<usize>,
    /// Replaces [`FrontierRules::max_pages_per_host`].
    pub max_pages: Option<u64>,
}

impl Default for FrontierRules {
    fn default() -> Self {
        Self {
            per_host: 1,
            of_hosts: HostTable::default(),
            max_pages_per_host: None,
            best_first: false,
            anticipation: Duration::ZERO,
            closes_patterns: true,
            probes: true,
            probes_scripts: false,
            max_pages_per_pattern: None,
            max_hosts_per_domain: None,
            min_wait: Duration::ZERO,
            max_calm_wait: Duration::from_secs(30),
            delay_factor: 5000,
            max_wait: Duration::from_secs(24 * 3600),
        }
    }
}

impl FrontierRules {
    /// The [`FrontierRules::anticipation`] of a focused crawl with a limit on pages. Chosen by the
    /// area under recall of crawls over manuals: docs/measurements/focus.md.
    pub const ANTICIPATION: Duration = Duration::from_secs(5);

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

    /// Returns the rule for how long hosts rest after a session that died.
    #[must_use]
    pub const fn after_death(&self) -> RestartRule {
        RestartRule {
            min_wait: self.min_wait,
            max_wait: self.max_calm_wait,
            factor: self.delay_factor,
        }
    }
}

/// The state of a crawl in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontierStats {
    /// Sums over the visits that ended.
    pub totals: Totals,
    /// URLs in the queue, including URLs out on lease.
    pub queued: u64,
    /// Queued URLs that failed and are retried at a later time.
    pub postponed: u64,
    /// URLs out on lease.
    pub leased: u64,
    /// Queued URLs that are quarantined after two or more sessions died with them; each is visited
    /// alone, when no other URL can be.
    pub quarantined: u64,
    /// Queued URLs of hosts past their last chance: the crawl does not wait for them, and the next
    /// session requests them again.
    pub unreachable: u64,
    /// Number of hosts past their last chance.
    pub unreachable_hosts: u64,
    /// Hosts with URLs that are waiting or out on lease; postponed URLs do not count until they are
    /// due.
    pub active_hosts: u64,
    /// Hosts with at least one fetched page.
    pub hosts: u64,
    /// True while a remote store is unreachable, so that no page is leased.
    pub is_store_away: bool,
}

/// The queue of URLs to visit.
///
/// All methods may be called concurrently by many workers. Discovery is exactly-once per URL.
/// Leases are at-least-once: if the process dies before a lease is settled, the next process hands
/// it out again.
#[async_trait]
pub trait Frontier: Send + Sync {
    /// Queues the new URLs among `discovered`, and returns their number. A URL is new once in a
    /// crawl. A URL of a host beyond [`FrontierRules::max_hosts_per_domain`] is excluded, unless it
    /// is a seed (depth 0).
    ///
    /// A probe ([`DiscoveredUrl::is_probed`]) is new once more when it is found on a kept page,
    /// unless it has been visited by then. It gets a place among ordinary URLs; if it was excluded
    /// unvisited, its visit record is revoked.
    ///
    /// A URL that a redirect has claimed is not new while the claim lasts: see [`Frontier::claim`].
    ///
    /// A URL that is found again keeps its place, even if it is found with a better score
    /// ([`DiscoveredUrl::with_link_score`]), depth or page. Two spellings are one URL, which is
    /// leased, in this session and later ones, with the request of the first spelling
    /// ([`PageUrl::request`]).
    ///
    /// # Errors
    /// A fault of the store.
    async fn discover(&self, discovered: Vec<DiscoveredUrl>) -> Result<usize, StoreFault>;

    /// Leases up to `want` URLs: at most [`FrontierRules::per_host`] per host at a time, and none
    /// of a host that is not ready. Hosts take turns in the order in which they became ready.
    /// Within a host, the URL with the lowest priority goes first; ties go to the URL nearest to a
    /// seed. If a URL's pattern is closed or has reached its limit of pages, the URL is leased with
    /// the reason to leave it out.
    ///
    /// A probe ([`DiscoveredUrl::is_probed`]) is leased when no other page of its registrable
    /// domain is waiting or out; pages of other domains do not delay it. A probe that was found on
    /// copies of another domain's pages ([`DiscoveredUrl::is_mirrored`]) is leased when no other
    /// page of the crawl is waiting or out. So a mirror is visited after its original. In a crawl
    /// with several nodes, only pages of the same node count.
    ///
    /// With [`FrontierRules::best_first`], the ready host whose next URL has the lowest priority
    /// goes first; ties go to the host that became ready first. Requisites and ordered URLs compete
    /// on the same terms. No host gets a second turn until every ready host has had one. An
    /// *off-topic streak* lowers the scores of a host by one level after four judged pages off
    /// topic in a row, and by one more each time its length doubles. So hosts with only low-scored
    /// links are tried in turn. One page on topic ends the streak.
    ///
    /// With [`FrontierRules::anticipation`], a URL with a score is not leased while a better URL
    /// is expected from a host. The host must be below its limits, and its first URL that is
    /// waiting or out must have a better score. In addition, either it rests for no longer than
    /// the anticipation from now, or it cannot take another lease now and had its last lease less
    /// than the anticipation ago. URLs out on lease count because their links may be as good. So a
    /// slot waits for a host that does not respond once, and no longer than the anticipation.
    ///
    /// A URL that two sessions died with is quarantined. It is leased alone, when no other URL can
    /// be leased and no lease is out, so that a third death identifies it.
    ///
    /// A host that has had its last chance ([`Pace::is_past_last_chance`]) is still tried whenever
    /// it is ready, but neither the end of the crawl nor a probe waits for it. It gets a new chance
    /// in each session.
    ///
    /// With [`LeaseFilter::Requisites`], only requisites are leased, as if no page were waiting.
    /// Pages out on lease may still discover some, so the supply is not exhausted before they are
    /// settled.
    ///
    /// # Errors
    /// A fault of the store.
    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault>;

    /// Settles a lease. No URL of the host is leased again before `pace.ready`. The next lease
    /// returns the pace, in this session or a later one.
    ///
    /// Archived visits are recorded in the order of the archive, regardless of the order of
    /// settlement. So the end of the last recorded visit is the valid length of the archive.
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
    /// Returns false if it was already queued, was reached or claimed by another page, or is a
    /// probe out on lease. The claim becomes durable with the settlement that names it in
    /// `reached`. Any other end of the lease releases it: another attempt, a return, a settlement
    /// that does not name the URL, the end of the session, or its death.
    ///
    /// A URL that is discovered while it is claimed is leased after the claim is released, in this
    /// session or a later one, and never if the settlement names it. The same applies to a URL
    /// reached by a visit whose record was revoked, if the next visit of that page does not reach
    /// it.
    ///
    /// # Errors
    /// A fault of the store.
    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault>;

    /// Returns true if the target of a redirect can never be part of the visit of the leased page,
    /// because another node of a shared crawl may send requests to its host. The target is queued
    /// instead.
    fn is_apart(&self, _lease: &Lease, _target: &PageUrl) -> bool {
        false
    }

    /// Waits until URLs may have arrived from another node of a shared crawl. Calls to this store
    /// do not end the wait.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    /// Adds the target of a seed's redirect to the scope. Durable with the next checkpoint.
    ///
    /// # Errors
    /// A fault of the store.
    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault>;

    /// Returns the host memory: paces and robots.txt files.
    fn hosts(&self) -> &dyn HostMemory;

    /// Returns the harvests around these URLs, in the same order: how many pages of their patterns
    /// and hosts were about the topic of a focused crawl. Hosts that another node visits are
    /// unknown.
    fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest>;

    /// Returns the state of the crawl in numbers.
    fn stats(&self) -> FrontierStats;

    /// Makes all settlements durable. `archive` is the end of the archive's synced part, if known:
    /// it was synced before the call, so a power cut can lose only visits settled after it. Returns
    /// the durable part of the crawl.
    ///
    /// # Errors
    /// A fault of the store.
    async fn checkpoint(&self, archive: Option<ArchivePlace>) -> Result<Durable, StoreFault>;

    /// Ends the session cleanly: everything is durable, and no visit is in progress. Leases that
    /// are still out count as returned. The next session treats any other end as a death.
    ///
    /// # Errors
    /// A fault of the store.
    async fn close(&self) -> Result<(), StoreFault>;
}
