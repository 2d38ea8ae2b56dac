//! Data from other nodes: URLs, seeds, totals, the control file, and the end of the crawl.
//!
//! The database is polled; a node that receives updates wakes its crawl.

use std::sync::Arc;

use journal::{DiscoveredUrl, StoreFault, Totals};
use store::Frontier as _;

use crate::bucket::Bucket;
use crate::store::{POLL, SharedStore};

/// Number of polls between two reads of the totals of other nodes.
const TOTALS_EVERY: u32 = 4;
/// Number of URLs that are taken out of the inboxes at a time.
const INBOX: i64 = 4_096;

impl SharedStore {
    /// Reads the inboxes of the node, the state of the other nodes and the end of the crawl, until
    /// the term ends.
    pub(crate) async fn poll(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(POLL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut count = 0_u32;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                _ended = self.session.term.ended() => {
                    // The crawl sees it at its next lease.
                    self.updates.notify_one();
                    return;
                }
            }
            count = count.wrapping_add(1);
            let polled = async {
                self.read_inbox().await?;
                if count.is_multiple_of(TOTALS_EVERY) {
                    self.read_totals().await?;
                }
                self.note_finished().await
            };
            match polled.await {
                Ok(true) => self.updates.notify_one(),
                Ok(false) => {}
                // The crawl sees it at its next lease.
                Err(fault) => self.session.term.end_by(&fault),
            }
        }
    }

    pub(crate) async fn read_inbox(&self) -> Result<bool, StoreFault> {
        let query = "SELECT inbox.bucket, number, found FROM inbox JOIN bucket USING (bucket) \
            WHERE owner = $1 ORDER BY number LIMIT $2";
        let term = &self.session.term;
        let call = || async {
            let rows = sqlx::query_as(query).bind(term.to_sql()).bind(INBOX);
            rows.fetch_all(&self.session.connection.pool).await
        };
        let rows: Vec<(i16, i64, Vec<u8>)> = term.call("read the inbox", call).await?;
        if rows.is_empty() {
            return Ok(false);
        }
        self.read_seeds().await?;
        let (mut found, mut taken) = (Vec::new(), Vec::new());
        let owned = self.owned.read().await;
        for (number, row, bytes) in rows {
            let bucket = Bucket::from_sql(number);
            if !owned.contains(bucket) {
                continue;
            }
            taken.push((bucket, row));
            match postcard::from_bytes::<DiscoveredUrl>(&bytes) {
                Ok(url) => found.push(url),
                Err(error) => {
                    return Err(StoreFault::Shared {
                        action: "read the inbox",
                        what: format!("a URL cannot be read: {error}"),
                    });
                }
            }
        }
        let transfer = self.shipping.begin_transfer();
        self.local.discover(found).await?;
        drop(owned);
        for (bucket, row) in taken {
            self.shipping.take(bucket, row);
        }
        drop(transfer);
        self.updates.notify_one();
        self.shipping.settled(term).await?;
        Ok(true)
    }

    pub(crate) async fn read_totals(&self) -> Result<(), StoreFault> {
        let term = &self.session.term;
        let call = || async {
            let rows = sqlx::query_as("SELECT totals FROM term WHERE term <> $1");
            let rows = rows.bind(term.to_sql());
            rows.fetch_all(&self.session.connection.pool).await
        };
        let rows: Vec<(Vec<u8>,)> = term.call("read the totals", call).await?;
        let mut others = Totals::default();
        for (bytes,) in rows.iter().filter(|(bytes,)| !bytes.is_empty()) {
            if let Ok(totals) = postcard::from_bytes(bytes) {
                others.add(&totals);
            }
        }
        *self.others() = others;
        let call = || async {
            let row = sqlx::query_as("SELECT control FROM crawl");
            row.fetch_one(&self.session.connection.pool).await
        };
        let (control,): (Option<String>,) = term.call("read the control file", call).await?;
        self.control.send_if_modified(|known| {
            let is_new = *known != control;
            *known = control;
            is_new
        });
        self.read_seeds().await
    }

    /// Looks for the end of the crawl, if this node has nothing to do. Returns true if the node
    /// should look for something to visit: to see the end, or because admissions arrived.
    pub(crate) async fn note_finished(&self) -> Result<bool, StoreFault> {
        let Some(applied) = self.shipping.exhausted_at() else {
            return Ok(false);
        };
        if applied < self.admissions.applied() {
            return Ok(true);
        }
        if !self.shipping.is_idle() {
            return Ok(false);
        }
        let call = || async {
            let call = sqlx::query_as("SELECT note_finished()");
            call.fetch_one(&self.session.connection.pool).await
        };
        let (is_finished,): (bool,) = self.session.term.call("looked for the end", call).await?;
        Ok(is_finished)
    }

    /// Adds the seeds that arrived since the last call to the scope, before the URLs that they let
    /// in are leased.
    pub(crate) async fn read_seeds(&self) -> Result<(), StoreFault> {
        let connection = &self.session.connection;
        self.scope_seeds.read(connection, &self.session.term).await
    }
}
