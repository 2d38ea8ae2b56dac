//! The frontier of a node: the working copy's frontier, with links to other nodes, and the end of
//! the crawl.
//!
//! A lease is handed out once the database has it, so that a page that kills nodes can be
//! identified. A visit is settled in the working copy and counts once its batch is in the database:
//! [`Frontier::checkpoint`] waits for that.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use journal::{DiscoveredUrl, Record, StoreFault, UrlHarvest};
use store::{
    ArchivePlace, Durable, Frontier, FrontierStats, HostMemory, Lease, LeaseFilter, Settlement,
    Supply, seen_as,
};
use web::{Pace, PageUrl, Timestamp};

use crate::bucket::Bucket;
use crate::rows::original_of_visit;
use crate::store::{POLL, SharedStore};

/// Maximum number of remembered links to other buckets, which prevent sending links twice: 8 bytes
/// each.
const SENT: usize = 1 << 20;

#[async_trait]
impl Frontier for SharedStore {
    async fn discover(&self, discovered: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        self.session.term.check()?;
        // They come from outside, so an exhausted node is not exhausted any more.
        let _transfer = self.shipping.begin_transfer();
        self.queue(discovered).await
    }

    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault> {
        let term = &self.session.term;
        term.check()?;
        if !term.allows_requests() || self.shipping.is_full() {
            return Ok(Supply::NothingBefore(now + POLL));
        }
        let (want, kinds) = match filter {
            LeaseFilter::Requisites => (want, filter),
            LeaseFilter::All => match self.reserve(want).await? {
                0 => (want, LeaseFilter::Requisites),
                pages => (pages, LeaseFilter::All),
            },
        };
        let leases = loop {
            let (transfers, applied) = (self.shipping.transfers(), self.admissions.applied());
            let is_requeuing = self.admissions.revoked.is_busy();
            match self.local.lease(now, want, kinds).await? {
                Supply::Leases(leases) => break leases,
                // No page may be leased. The end of this node is not the end of the crawl.
                Supply::Exhausted if filter == LeaseFilter::Requisites || self.has_all_pages() => {
                    self.give_back().await?;
                    return Ok(Supply::Exhausted);
                }
                // Pages are waiting, and may be visited if other nodes do not need the pages that
                // they reserved.
                Supply::Exhausted if kinds == LeaseFilter::Requisites && self.has_queued() => {
                    return Ok(Supply::NothingBefore(now + POLL));
                }
                Supply::Exhausted if is_requeuing => self.admissions.revoked.idle(term).await?,
                // URLs in buckets that are being released are no longer here, and not yet
                // elsewhere.
                Supply::Exhausted if self.shipping.is_departing() => {
                    return Ok(Supply::NothingBefore(now + POLL));
                }
                Supply::Exhausted if self.shipping.report_exhausted(applied, transfers) => {
                    return self.look_for_end().await;
                }
                Supply::Exhausted => self.shipping.transfers_ended(term).await?,
                wait @ Supply::NothingBefore(_) => {
                    self.shipping.report_waiting(self.local.stats().queued);
                    return Ok(wait);
                }
            }
        };
        self.shipping.report_waiting(self.local.stats().queued);
        for lease in &leases {
            let sequences = vec![lease.entry.sequence];
            self.shipping
                .add_to(Bucket::of(lease.url()), &Record::Leased { sequences });
            self.out.fetch_add(pages_of(lease), Ordering::Relaxed);
        }
        self.shipping.settled(term).await?;
        Ok(Supply::Leases(leases))
    }

    async fn settle(
        &self,
        lease: Lease,
        mut settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        self.session.term.check()?;
        let pages = pages_of(&lease);
        let mut original = None;
        if let Settlement::Done(visit) = &mut settlement {
            original = original_of_visit(&visit.record);
            let owned = self.owned.read().await;
            let is_theirs = |found: &mut DiscoveredUrl| !owned.contains(Bucket::of(&found.url));
            let theirs = visit.finds.extract_if(.., is_theirs).collect();
            self.shipping
                .keep_links(lease.entry.sequence, self.unsent(theirs));
            self.local.settle(lease, settlement, pace).await?;
        } else {
            self.local.settle(lease, settlement, pace).await?;
        }
        self.out.fetch_sub(pages, Ordering::Release);
        if let Some(original) = original {
            self.admissions.revoked.not_archived(original);
        }
        Ok(())
    }

    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault> {
        self.local.claim(lease, url).await
    }

    fn is_apart(&self, lease: &Lease, target: &PageUrl) -> bool {
        Bucket::of(lease.url()) != Bucket::of(target)
    }

    async fn changed(&self) {
        self.updates.notified().await;
    }

    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault> {
        self.local.adopt_seed(url).await
    }

    fn hosts(&self) -> &dyn HostMemory {
        self
    }

    fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest> {
        self.local.harvests(discovered)
    }

    fn stats(&self) -> FrontierStats {
        let mut totals = *self.others();
        totals.add(&self.shipping.totals());
        let at_leaving = self.at_leaving.get().copied();
        FrontierStats {
            totals,
            is_store_away: self.session.term.is_waiting(),
            ..at_leaving.unwrap_or_else(|| self.local.stats())
        }
    }

    async fn checkpoint(&self, archive: Option<ArchivePlace>) -> Result<Durable, StoreFault> {
        self.local.checkpoint(archive).await?;
        let settled = self.shipping.settled(&self.session.term).await?;
        Ok(Durable {
            settled,
            journal: 0,
        })
    }

    async fn close(&self) -> Result<(), StoreFault> {
        self.local.return_leases()?;
        self.at_leaving.get_or_init(|| self.local.stats());
        let term = &self.session.term;
        let call = || async {
            let row = sqlx::query_as("SELECT finished_at IS NOT NULL FROM crawl");
            row.fetch_one(&self.session.connection.pool).await
        };
        let (is_finished,): (bool,) = term.call("looked for the end", call).await?;
        // At the end, nothing is waiting in the buckets, which become free with the term. Releasing
        // them earlier would restart the crawl for the other nodes.
        match is_finished {
            true => drop(self.shipping.settled(term).await?),
            false => self.give_up_all().await?,
        }
        // For the summary: the other nodes may have ended since the last poll.
        self.read_totals().await?;
        let call = || async {
            let call = sqlx::query("SELECT end_term($1, 'left')").bind(term.to_sql());
            call.execute(&self.session.connection.pool).await
        };
        term.call("left the crawl", call).await?;
        self.session.abandon("it left");
        self.stopped().await;
        Ok(())
    }
}

/// Returns 1 if a lease may turn out to be a page of `max_pages`.
fn pages_of(lease: &Lease) -> u64 {
    u64::from(lease.discovered().requisite == 0)
}

impl SharedStore {
    /// Queues URLs of owned buckets, and sends all others to their owners. Returns the number of
    /// new URLs to the best of this node's knowledge.
    async fn queue(&self, discovered: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        let owned = self.owned.read().await;
        let is_ours = |found: &DiscoveredUrl| owned.contains(Bucket::of(&found.url));
        let (ours, theirs): (Vec<_>, Vec<_>) = discovered.into_iter().partition(is_ours);
        let new = match ours.is_empty() {
            true => 0,
            false => self.local.discover(ours).await?,
        };
        let theirs = self.unsent(theirs);
        self.shipping.send_links(&theirs);
        Ok(new + theirs.len())
    }

    /// Returns the links that are not remembered as sent. A link found only on unarchived pages is
    /// sent once more when it is found elsewhere. Seeds are always sent, because limits on links do
    /// not apply to them.
    fn unsent(&self, mut links: Vec<DiscoveredUrl>) -> Vec<DiscoveredUrl> {
        let mut sent = self
            .sent
            .lock()
            .expect("no panic can happen while the links are locked");
        if sent.len() >= SENT {
            sent.clear();
        }
        links.retain(|link| link.depth == 0 || sent.insert(seen_as(link)));
        links
    }

    fn has_queued(&self) -> bool {
        self.local.stats().queued > 0
    }

    /// Returns the supply of a node without URLs to visit.
    async fn look_for_end(&self) -> Result<Supply, StoreFault> {
        self.give_back().await?;
        self.shipping.settled(&self.session.term).await?;
        let is_current = self
            .shipping
            .exhausted_at()
            .is_some_and(|applied| applied == self.admissions.applied());
        Ok(match is_current && self.note_finished().await? {
            true => Supply::Exhausted,
            false => Supply::NothingBefore(Timestamp::NEVER),
        })
    }
}
