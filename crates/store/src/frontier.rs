//! The seam behind which the pages to visit wait.
//!
//! Politeness is a property of the frontier: it never has more pages of one host out on lease than the rules
//! say (one, unless told otherwise), and none before the host may be asked again.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp};

use crate::{Row, StoreFault, Totals};

/// A URL that was found: a seed, or a link on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    /// What was found.
    pub url: PageUrl,
    /// Links away from a seed; nearer pages go first.
    pub depth: u32,
    /// The page that it was found on.
    pub via: Option<PageUrl>,
}

/// The right to visit one page, until it is settled.
#[derive(Debug, PartialEq, Eq)]
pub struct Lease {
    /// The page.
    pub url: PageUrl,
    /// Links away from a seed.
    pub depth: u32,
    /// The page that it was found on.
    pub via: Option<PageUrl>,
    /// Visits that were begun before this one and ended in [`Settlement::Again`].
    pub attempts: u32,
    /// The order of discovery: names the entry in the queue.
    pub(crate) sequence: u64,
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

/// Where a page stands in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveSpan {
    /// Counts the archive's spans of this session, from 0 and without gaps, in the order of the archive.
    pub ticket: u64,
    /// The file, below the archive's directory.
    pub file: String,
    /// One past the span's last byte.
    pub end: u64,
}

/// What became of a lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// The visit ended.
    Done {
        /// What became of the page.
        row: Box<Row>,
        /// Its place in the archive.
        archived: Option<ArchiveSpan>,
        /// The links to queue, in the order of the page.
        finds: Vec<Find>,
        /// URLs that were reached on the way (redirects) and need no visit of their own.
        reached: Vec<PageUrl>,
    },
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
    /// Pages of one host in the whole crawl; those beyond stay queued and are not handed out.
    pub max_pages_per_host: Option<u64>,
}

impl Default for FrontierRules {
    fn default() -> Self {
        Self {
            per_host: 1,
            max_pages_per_host: None,
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
    /// Hosts with pages that wait or are out on lease; those that were postponed do not count until they are due.
    pub active_hosts: u64,
    /// Hosts that a page was had from.
    pub hosts: u64,
}

/// The pages to visit.
///
/// Every verb may be called by many workers at once. Discovery is exactly-once for each URL; leases are
/// at-least-once: a lease that is not settled before the process dies is handed out again by the next.
#[async_trait]
pub trait Frontier: Send + Sync {
    /// Queues what is new among these, and says how much was. A URL is new once in a crawl.
    async fn discover(&self, finds: Vec<Find>) -> Result<usize, StoreFault>;

    /// Hands out up to `want` pages: at most [`FrontierRules::per_host`] of a host at a time, none whose host is not yet
    /// ready, hosts in the order in which they became ready, and of a host the page nearest to a seed first.
    async fn lease(&self, now: Timestamp, want: usize) -> Result<Supply, StoreFault>;

    /// Takes a lease back. The host is not handed out again before `ready`.
    ///
    /// Archived pages are recorded in the order of the archive, whatever order they are settled in, so that the end
    /// of the last recorded page is the archive's valid length.
    async fn settle(&self, lease: Lease, settlement: Settlement, ready: Timestamp) -> Result<(), StoreFault>;

    /// Marks a URL as reached by a leased page's redirect, so that it needs no visit of its own. False where it was queued, or reached by
    /// another page, before; the same page may claim it again in a later attempt. Durable with the settlement that names it in `reached`.
    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault>;

    /// Lets a redirect of a seed widen the scope: durable with the next checkpoint.
    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault>;

    /// How the crawl stands now.
    fn standing(&self) -> Standing;

    /// Makes everything that was settled durable.
    async fn checkpoint(&self) -> Result<(), StoreFault>;
}
