//! A frontier that records the promises of another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use journal::{DiscoveredUrl, StoreFault, UrlHarvest};
use store::{
    ArchivePlace, Durable, Frontier, FrontierStats, HostMemory, Lease, LeaseFilter, Settlement,
    Supply,
};
use web::{Pace, PageUrl, Timestamp};

/// A frontier, and the pages that it settled for good.
pub(crate) struct Witness {
    frontier: Arc<dyn Frontier>,
    /// The settled pages, and the archive's end of each.
    settled: Mutex<BTreeMap<PageUrl, Option<ArchivePlace>>>,
    durable: Mutex<BTreeSet<PageUrl>>,
}

impl Witness {
    pub(crate) fn new(frontier: Arc<dyn Frontier>) -> Self {
        Self {
            frontier,
            settled: Mutex::default(),
            durable: Mutex::default(),
        }
    }

    /// The pages that were settled before a checkpoint which succeeded.
    pub(crate) fn acknowledged(&self) -> BTreeSet<PageUrl> {
        self.durable.lock().unwrap().clone()
    }
}

#[async_trait]
impl Frontier for Witness {
    async fn discover(&self, finds: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        self.frontier.discover(finds).await
    }

    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault> {
        self.frontier.lease(now, want, filter).await
    }

    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        let page = lease.url().clone();
        let ended = match &settlement {
            Settlement::Done(visit) => Some(visit.archived.as_ref().map(|span| ArchivePlace {
                file: span.file.clone(),
                end: span.end,
            })),
            _ => None,
        };
        self.frontier.settle(lease, settlement, pace).await?;
        if let Some(place) = ended {
            self.settled.lock().unwrap().insert(page, place);
        }
        Ok(())
    }

    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault> {
        self.frontier.claim(lease, url).await
    }

    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault> {
        self.frontier.adopt_seed(url).await
    }

    fn hosts(&self) -> &dyn HostMemory {
        self.frontier.hosts()
    }

    fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest> {
        self.frontier.harvests(discovered)
    }

    fn stats(&self) -> FrontierStats {
        self.frontier.stats()
    }

    async fn checkpoint(&self, archive: Option<ArchivePlace>) -> Result<Durable, StoreFault> {
        let settled = self.settled.lock().unwrap().clone();
        let checkpoint = self.frontier.checkpoint(archive.clone()).await?;
        let within = |place: &Option<ArchivePlace>| match (place, &archive) {
            (None, _) => true,
            (Some(_), None) => false,
            // Files are named in their order.
            (Some(place), Some(archive)) => {
                (&place.file, place.end) <= (&archive.file, archive.end)
            }
        };
        let durable = settled.into_iter().filter(|(_, place)| within(place));
        self.durable
            .lock()
            .unwrap()
            .extend(durable.map(|(page, _)| page));
        Ok(checkpoint)
    }

    async fn close(&self) -> Result<(), StoreFault> {
        let settled = self.settled.lock().unwrap().clone();
        self.frontier.close().await?;
        self.durable.lock().unwrap().extend(settled.into_keys());
        Ok(())
    }
}
