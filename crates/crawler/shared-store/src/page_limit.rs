//! The limit on the pages of a crawl, across all nodes: each reserves portions of it.
//!
//! Invariant: the sum of pages reserved by live terms and pages visited by ended terms never
//! exceeds the limit.

use std::sync::atomic::Ordering;

use journal::StoreFault;

use crate::store::SharedStore;

impl SharedStore {
    /// Returns the number of pages that may be leased now, at most `want`.
    pub(crate) async fn reserve(&self, want: usize) -> Result<usize, StoreFault> {
        let Some(max) = self.max_pages else {
            return Ok(want);
        };
        let used = self.used();
        let wanted = used.saturating_add_unsigned(want as u64);
        if wanted > self.reserved.load(Ordering::Relaxed) {
            self.set_reserved(max, wanted).await?;
        }
        let free = (self.reserved.load(Ordering::Relaxed) - used).max(0);
        Ok(usize::try_from(free).unwrap_or(usize::MAX).min(want))
    }

    /// Returns the number of this term's pages, including pages out on lease; negative if it
    /// revoked more visits of other terms.
    ///
    /// A visit that settles between the two reads is counted twice, and never missed: `settle` adds
    /// it to the totals before it takes its lease from `out`, so `out` is read first. In the other
    /// order, a crawl visited 51 pages of 50.
    fn used(&self) -> i64 {
        let out = self.out.load(Ordering::Acquire);
        let visited = self.shipping.totals().pages.cast_signed();
        visited.saturating_add_unsigned(out)
    }

    /// Returns reserved pages that are not needed.
    pub(crate) async fn give_back(&self) -> Result<(), StoreFault> {
        let used = self.used();
        match self.max_pages {
            Some(max) if self.reserved.load(Ordering::Relaxed) > used => {
                self.set_reserved(max, used).await
            }
            _ => Ok(()),
        }
    }

    async fn set_reserved(&self, max: u64, wanted: i64) -> Result<(), StoreFault> {
        let call = || async {
            sqlx::query_as("SELECT reserve_pages($1, $2, $3)")
                .bind(self.session.term.to_sql())
                .bind(i64::try_from(max).unwrap_or(i64::MAX))
                .bind(wanted)
                .fetch_one(&self.session.connection.pool)
                .await
        };
        let (reserved,): (i64,) = self.session.term.call("reserved pages", call).await?;
        self.reserved.store(reserved, Ordering::Relaxed);
        Ok(())
    }
}
