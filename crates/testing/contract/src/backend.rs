//! A store under test: its sessions, and the promises that it makes.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use store::{ComparisonOptions, EarlierCrawls, Frontier, FrontierRules, NearDupIndex};
use web::Timestamp;

/// A kind of store. Each test opens its own crawls, and many tests run concurrently.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Returns the prefix of the names of its tests.
    fn name(&self) -> &'static str;

    /// Returns the promises that this kind of store does not make.
    fn lacks(&self) -> &'static [Promise] {
        &[]
    }

    /// Returns the number of cases of a property test, `usual` for most stores. A store that takes
    /// long to open has fewer.
    fn cases(&self, usual: u32) -> u32 {
        usual
    }

    /// Returns what this machine lacks for the tests of this store: they are ignored then.
    fn missing(&self) -> Option<&'static str> {
        None
    }

    /// Opens the first session of a new crawl, in an empty store.
    async fn open(&self, setup: &Setup) -> Box<dyn Session>;
}

/// A session of a crawl, from the opening of its store to the end of the process.
///
/// A test that clones one of the `Arc`s drops its clone before the session ends.
#[async_trait]
pub trait Session: Send + Sync {
    /// Returns the store as the frontier of the crawl.
    fn frontier(&self) -> &Arc<dyn Frontier>;

    /// Returns the same store as its near-duplicate index.
    fn index(&self) -> &Arc<dyn NearDupIndex>;

    /// Writes pending changes of the store to its tables. A user of the store does not see any
    /// change. A store without tables does nothing.
    async fn flush(&self) {}

    /// Ends this session, and opens the next session of the same crawl at the time `now`, which may
    /// be before the last one. The rest of the setup stays.
    async fn reopen(self: Box<Self>, end: End, now: Timestamp) -> Box<dyn Session>;

    /// Ends the session by a death, and returns the differences between parts of the store that
    /// must agree, for example between a journal and tables. A store with only one part has none.
    async fn differences(self: Box<Self>) -> Vec<String> {
        Vec::new()
    }
}

/// The options for opening a store. The default is a crawl with the default rules and without
/// earlier crawls, at time 0.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The rules of the frontier.
    pub rules: FrontierRules,
    /// The rules of the near-duplicate index.
    pub comparison: ComparisonOptions,
    /// Earlier crawls whose pages count as admitted. The crawl has their key; without earlier
    /// crawls, its key is `HashKey::ZERO`.
    pub earlier: Option<Arc<EarlierCrawls>>,
    /// The time of the opening.
    pub now: Timestamp,
}

impl Setup {
    /// Returns the setup with these rules of the frontier.
    #[must_use]
    pub fn with_rules(rules: FrontierRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// Returns the setup with these rules of the near-duplicate index.
    #[must_use]
    pub fn with_comparison(comparison: ComparisonOptions) -> Self {
        Self {
            comparison,
            ..Self::default()
        }
    }
}

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The session is closed ([`Frontier::close`]).
    InOrder,
    /// The process dies, but loses nothing that it handed to the operating system.
    Death,
    /// The process dies while the store writes its tables. Each set bit names a part of the tables
    /// that is not written; the store decides what a part is. Equivalent to [`End::Death`] for a
    /// store that writes all its tables in one step.
    DeathInFlush(u8),
}

impl End {
    /// Returns true if the next session sees a clean end of this one.
    #[must_use]
    pub const fn is_in_order(self) -> bool {
        matches!(self, Self::InOrder)
    }
}

/// A promise that a store may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Hosts take turns in the order in which they became ready, across the whole crawl. A store
    /// with several nodes may keep this order only within each node.
    HostOrder,
    /// Hosts keep their turns, and queue entries their numbers, from one session to the next.
    OrderOverSessions,
    /// [`Frontier::discover`] counts new URLs exactly, even if other callers discover URLs
    /// concurrently.
    NewCount,
    /// A page that two sessions died with is leased alone, and no other lease is out anywhere.
    QuarantinedAlone,
    /// The stats count the hosts of the whole crawl that are down. A store with several nodes
    /// may count only the hosts of each node.
    HostsDown,
    /// A later session continues an earlier one.
    Sessions,
    /// Pages of earlier crawls count as admitted.
    EarlierCrawls,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HostOrder => "hosts in the order in which they became ready",
            Self::OrderOverSessions => "turns that outlast a session",
            Self::NewCount => "an exact count of new URLs",
            Self::QuarantinedAlone => "quarantined pages visited alone",
            Self::HostsDown => "a count of all hosts that are down",
            Self::Sessions => "later sessions of a crawl",
            Self::EarlierCrawls => "earlier crawls",
        })
    }
}
