//! Several nodes of one crawl as one store: each call goes to the next node in turn, and all nodes
//! read the updates before the call returns.
//!
//! A URL is so discovered on one node and visited on another, and a page is judged by the
//! admissions of all.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use contract::Setup;
use journal::{DiscoveredUrl, Page, Robots, StoreFault, UrlHarvest};
use neardup::PageSignature;
use shared_store::SharedStore;
use store::{
    ArchivePlace, Durable, Frontier, FrontierStats, HostMemory, Lease, LeaseFilter, NearDupIndex,
    Settlement, Supply, Verdict,
};
use web::{Host, Pace, PageUrl, Timestamp, UrlKey};

use crate::support::Node;

pub(crate) struct Turns {
    stores: Vec<Arc<SharedStore>>,
    next: AtomicUsize,
    /// The node of each lease that is out, by the number of the entry.
    leased: Mutex<HashMap<u64, usize>>,
}

impl Turns {
    /// Opens a session of each node.
    pub(crate) async fn open(nodes: &mut [Node], setup: &Setup) -> Arc<Self> {
        let mut sessions = Vec::new();
        for node in &mut *nodes {
            sessions.push(node.begin().await);
        }
        let mut stores = Vec::new();
        for (node, session) in nodes.iter().zip(sessions) {
            stores.push(node.open_session(session, setup).await);
        }
        Arc::new(Self {
            stores,
            next: AtomicUsize::new(0),
            leased: Mutex::default(),
        })
    }

    /// Returns the store of the node, if there is only one.
    pub(crate) fn alone(&self) -> Option<&Arc<SharedStore>> {
        self.stores.first().filter(|_| self.stores.len() == 1)
    }

    /// Ends the sessions as processes that die.
    pub(crate) async fn die(&self) {
        self.checkpoint(None).await.unwrap();
        for store in &self.stores {
            store.abandon();
            store.stopped().await;
        }
    }

    pub(crate) async fn flush(&self) {
        for store in &self.stores {
            store.working_copy().flush().await.unwrap();
        }
    }

    fn turn(&self) -> &SharedStore {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        &self.stores[next % self.stores.len()]
    }

    /// Returns the node that has a lease, and takes it out if it is over.
    fn of(&self, lease: &Lease, is_over: bool) -> &SharedStore {
        let mut leased = self.leased.lock().unwrap();
        let node = leased[&lease.entry.sequence];
        if is_over {
            leased.remove(&lease.entry.sequence);
        }
        &self.stores[node]
    }

    async fn owner(&self, host: &Host) -> &SharedStore {
        for store in &self.stores {
            if store.owns(host).await {
                return store;
            }
        }
        panic!("no node has the bucket of {host}");
    }

    /// Lets all nodes read what the others sent.
    async fn share_news(&self) -> Result<(), StoreFault> {
        let mut rounds_without_news = 0;
        // The first round ships what the nodes have, so that the second one finds it.
        while rounds_without_news < 2 {
            rounds_without_news += 1;
            for store in &self.stores {
                if store.refresh().await? {
                    rounds_without_news = 0;
                }
            }
        }
        Ok(())
    }

    fn queued(&self) -> u64 {
        let queued = |store: &Arc<SharedStore>| store.stats().queued;
        self.stores.iter().map(queued).sum()
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        // Their tasks would keep the stores until the terms expire.
        self.stores.iter().for_each(|store| store.abandon());
    }
}

#[async_trait]
impl Frontier for Turns {
    async fn discover(&self, discovered: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        let before = self.queued();
        self.turn().discover(discovered).await?;
        self.share_news().await?;
        Ok(usize::try_from(self.queued().saturating_sub(before)).unwrap())
    }

    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let count = self.stores.len();
        let mut leases = Vec::new();
        let mut answers: Vec<Option<Supply>> = (0..count).map(|_| None).collect();
        // A node learns that the crawl is at its end when the last one has reported.
        for round in 0..2 * count {
            let node = (first + round) % count;
            let is_any_exhausted = answers.contains(&Some(Supply::Exhausted));
            if leases.len() == want || round >= count && !is_any_exhausted {
                break;
            }
            let supply = self.stores[node].lease(now, want - leases.len(), filter);
            match supply.await? {
                Supply::Leases(more) => {
                    let mut leased = self.leased.lock().unwrap();
                    leased.extend(more.iter().map(|lease| (lease.entry.sequence, node)));
                    leases.extend(more);
                }
                answer => answers[node] = Some(answer),
            }
        }
        if !leases.is_empty() {
            return Ok(Supply::Leases(leases));
        }
        let soonest = answers.iter().flatten().filter_map(|answer| match answer {
            Supply::NothingBefore(time) => Some(*time),
            _ => None,
        });
        Ok(soonest
            .min()
            .map_or(Supply::Exhausted, Supply::NothingBefore))
    }

    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        self.of(&lease, true)
            .settle(lease, settlement, pace)
            .await?;
        self.share_news().await
    }

    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault> {
        self.of(lease, false).claim(lease, url).await
    }

    fn is_apart(&self, lease: &Lease, target: &PageUrl) -> bool {
        self.of(lease, false).is_apart(lease, target)
    }

    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault> {
        self.turn().adopt_seed(url).await
    }

    fn hosts(&self) -> &dyn HostMemory {
        self
    }

    fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest> {
        // The node that visits a host knows of it.
        let mut harvests = vec![UrlHarvest::default(); discovered.len()];
        for store in &self.stores {
            for (harvest, known) in harvests.iter_mut().zip(store.harvests(discovered)) {
                if known.host.is_some() {
                    *harvest = known;
                }
            }
        }
        harvests
    }

    fn stats(&self) -> FrontierStats {
        let mut stats = self.stores[0].stats();
        for store in &self.stores[1..] {
            let other = store.stats();
            stats.queued += other.queued;
            stats.postponed += other.postponed;
            stats.leased += other.leased;
            stats.quarantined += other.quarantined;
            stats.active_hosts += other.active_hosts;
            stats.hosts += other.hosts;
        }
        stats
    }

    async fn checkpoint(&self, archive: Option<ArchivePlace>) -> Result<Durable, StoreFault> {
        let mut durable = Durable::default();
        for store in &self.stores {
            durable = store.checkpoint(archive.clone()).await?;
        }
        self.share_news().await?;
        Ok(durable)
    }

    async fn close(&self) -> Result<(), StoreFault> {
        for store in &self.stores {
            store.close().await?;
        }
        Ok(())
    }
}

#[async_trait]
impl HostMemory for Turns {
    async fn pace(&self, host: &Host) -> Result<Option<Pace>, StoreFault> {
        self.owner(host).await.pace(host).await
    }

    async fn record_pace(&self, host: &Host, pace: Pace) -> Result<(), StoreFault> {
        self.owner(host).await.record_pace(host, pace).await
    }

    async fn robots(&self, origin: &str) -> Result<Option<Robots>, StoreFault> {
        self.owner(&host_of(origin)).await.robots(origin).await
    }

    async fn record_robots(&self, origin: &str, robots: Robots) -> Result<(), StoreFault> {
        let owner = self.owner(&host_of(origin)).await;
        owner.record_robots(origin, robots).await
    }
}

fn host_of(origin: &str) -> Host {
    PageUrl::of_stored(origin).unwrap().host()
}

#[async_trait]
impl NearDupIndex for Turns {
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault> {
        self.share_news().await?;
        self.turn().admit(page, signature, canonical).await
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        self.share_news().await?;
        self.turn().forget(page).await?;
        self.share_news().await
    }

    async fn separate(&self, page: &PageUrl, original: &PageUrl) -> Result<(), StoreFault> {
        self.turn().separate(page, original).await?;
        self.share_news().await
    }

    fn are_separate(&self, page: UrlKey, original: UrlKey) -> bool {
        self.turn().are_separate(page, original)
    }
}
