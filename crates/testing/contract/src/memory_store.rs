//! A store without a disk: plain collections and linear searches, slow and simple.
//!
//! It serves tests, and is the oracle for the embedded store. Pure decisions (URL patterns, probes,
//! off-topic streaks, verdicts) are those of the crate `store`, whose own tests are about them.

mod claims;
mod lease;
mod near_dup;
mod probes;
mod queue;

use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use journal::{DiscoveredUrl, Robots, StoreFault, UrlHarvest};
use neardup::HashKey;
use store::{
    ArchivePlace, ComparisonOptions, Durable, EarlierCrawls, Frontier, FrontierRules,
    FrontierStats, HostMemory, Lease, LeaseFilter, Settlement, Supply,
};
use web::{Host, Pace, PageUrl, Timestamp};

use self::near_dup::Index;
use self::queue::Queue;

/// The memory of a crawl that ends with the process.
pub struct MemoryStore {
    state: Mutex<State>,
}

struct State {
    queue: Queue,
    index: Index,
}

impl MemoryStore {
    /// Returns an empty store, with the pages of an earlier crawl if there is one.
    #[must_use]
    pub fn new(
        rules: FrontierRules,
        comparison: ComparisonOptions,
        earlier: Option<Arc<EarlierCrawls>>,
    ) -> Self {
        let key = earlier
            .as_ref()
            .map_or(HashKey::ZERO, |earlier| earlier.key());
        let queue = Queue::new(rules);
        let index = Index::new(comparison, key, earlier);
        Self {
            state: Mutex::new(State { queue, index }),
        }
    }

    /// Ends the session, cleanly or by a death, and begins the next one, like reopening a store on
    /// disk.
    pub fn begin_session(&self, now: Timestamp, in_order: bool) {
        self.state().queue.begin_session(now, in_order);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no panic can happen while the state is locked")
    }
}

#[async_trait]
impl Frontier for MemoryStore {
    async fn discover(&self, discovered: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        Ok(self.state().queue.discover(discovered))
    }

    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault> {
        Ok(self.state().queue.lease(now, want, filter))
    }

    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        self.state().queue.settle(&lease, settlement, pace);
        Ok(())
    }

    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault> {
        Ok(self.state().queue.claim(lease, url))
    }

    async fn adopt_seed(&self, _url: &PageUrl) -> Result<(), StoreFault> {
        Ok(())
    }

    fn hosts(&self) -> &dyn HostMemory {
        self
    }

    fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest> {
        self.state().queue.patterns.harvests(discovered)
    }

    fn stats(&self) -> FrontierStats {
        self.state().queue.stats()
    }

    async fn checkpoint(&self, _archive: Option<ArchivePlace>) -> Result<Durable, StoreFault> {
        Ok(Durable::default())
    }

    async fn close(&self) -> Result<(), StoreFault> {
        self.state().queue.asked = false;
        Ok(())
    }
}

#[async_trait]
impl HostMemory for MemoryStore {
    async fn pace(&self, host: &Host) -> Result<Option<Pace>, StoreFault> {
        Ok(self.state().queue.paces.get(host).copied())
    }

    async fn record_pace(&self, host: &Host, pace: Pace) -> Result<(), StoreFault> {
        let queue = &mut self.state().queue;
        queue.know(host);
        queue.record_pace(host, pace);
        Ok(())
    }

    async fn robots(&self, origin: &str) -> Result<Option<Robots>, StoreFault> {
        Ok(self.state().queue.robots.get(origin).cloned())
    }

    async fn record_robots(&self, origin: &str, robots: Robots) -> Result<(), StoreFault> {
        let queue = &mut self.state().queue;
        queue.robots.insert(origin.to_owned(), robots);
        Ok(())
    }
}
