//! The buckets of a node: acquired when they are free, released when another node has fewer.
//!
//! Each node owns its share: the number of buckets divided by the number of live nodes. A bucket to
//! be released is closed first: its leases end, its records are settled, and then it is free. The
//! buckets of an expired term are free immediately, and their hosts rest for a full delay.
//!
//! Invariant: a bucket is in the working copy before it counts as owned, and out of the working
//! copy before it is free.

use std::sync::Arc;
use std::time::Duration;

use journal::{Fate, Record, StoreFault};
use sqlx::Row as _;
use web::{Host, UrlKey};

use crate::bucket::{BUCKETS, Bucket, BucketSet};
use crate::heartbeat::Beat;
use crate::rows::{decode, original_of};
use crate::shipping::to_sql;
use crate::store::SharedStore;

/// Number of buckets that are acquired in one step.
const STEP: usize = 256;
/// Interval between checks for the end of the visits in buckets that are being released.
const DRAIN: Duration = Duration::from_millis(50);

/// The records of a bucket, and the originals of the pages in it that were not archived as
/// duplicates.
#[derive(Default)]
struct BucketJournal {
    records: Vec<Record>,
}

impl BucketJournal {
    /// Returns the originals of pages not archived as duplicates, for visits that were not revoked.
    fn originals(&self) -> Vec<UrlKey> {
        let mut originals = std::collections::HashMap::new();
        for record in &self.records {
            match record {
                Record::Settled(settled) => {
                    let page = settled.visit.record.url.key();
                    match original_of(settled) {
                        Some(original) => originals.insert(page, original),
                        None => originals.remove(&page),
                    };
                }
                Record::Revoked { visit, .. } => {
                    originals.remove(&visit.url.key());
                }
                _ => {}
            }
        }
        originals.into_values().collect()
    }
}

impl SharedStore {
    /// Keeps the node's share of the buckets until the term ends.
    pub(crate) async fn keep_share(self: Arc<Self>) {
        let mut beats = self.session.beats.clone();
        loop {
            let beat = *beats.borrow_and_update();
            if let Err(fault) = self.balance(beat).await {
                return self.session.term.end_by(&fault);
            }
            tokio::select! {
                changed = beats.changed() => if changed.is_err() { return },
                _ended = self.session.term.ended() => return,
            }
        }
    }

    /// Acquires or releases buckets, so that the node has its share.
    async fn balance(&self, beat: Beat) -> Result<(), StoreFault> {
        let _moving = self.moving.lock().await;
        let share = beat.share();
        // The heartbeat may have been answered before the node acquired or released buckets.
        let owned = self.owned.read().await.descending().count() as u64;
        if beat.free > 0 && owned < share {
            self.take(share).await?;
        }
        if owned > share {
            self.give_up(owned - share).await?;
        }
        Ok(())
    }

    /// Acquires free buckets until the node owns `share` of them or none is free.
    ///
    /// # Errors
    /// [`StoreFault`] if the term has ended, or a journal cannot be read or written.
    pub(crate) async fn take(&self, share: u64) -> Result<(), StoreFault> {
        // The database has it before it assigns buckets: the crawl is not finished while they are
        // arriving.
        let transfer = self.shipping.begin_transfer();
        self.shipping.settled(&self.session.term).await?;
        let term = &self.session.term;
        let call = || async {
            sqlx::query_as("SELECT acquired, acquired_rests FROM acquire_buckets($1, $2)")
                .bind(term.to_sql())
                .bind(i64::try_from(share).unwrap_or(i64::MAX))
                .fetch_all(&self.session.connection.pool)
                .await
        };
        let mut acquired: Vec<(i16, bool)> = term.call("acquired buckets", call).await?;
        {
            let owned = self.owned.read().await;
            acquired.retain(|(number, _)| !owned.contains(Bucket::from_sql(*number)));
        }
        let bucket = |(number, _): &(i16, bool)| Bucket::from_sql(*number);
        let mut buckets: Vec<Bucket> = acquired.iter().map(bucket).collect();
        buckets.sort_unstable();
        let rests: BucketSet = acquired
            .iter()
            .filter(|(_, rests)| *rests)
            .map(bucket)
            .collect();
        for step in buckets.chunks(STEP) {
            self.load(step, &rests).await?;
        }
        // Answers to earlier heartbeats do not count any more.
        self.session.share().await?;
        drop(transfer);
        self.updates.notify_one();
        if !buckets.is_empty() {
            tracing::info!(buckets = buckets.len(), "acquired buckets");
        }
        Ok(())
    }

    /// Loads the journals of these buckets, in ascending order, into the working copy.
    async fn load(&self, buckets: &[Bucket], rests: &BucketSet) -> Result<(), StoreFault> {
        let numbers: Vec<i16> = buckets.iter().map(|bucket| bucket.to_sql()).collect();
        let query = "SELECT bucket, record, is_packed FROM rows_after($1, $2) \
            ORDER BY bucket, number";
        let call = || async {
            let rows = sqlx::query(query).bind(&numbers);
            let rows = rows.bind(vec![0_i64; numbers.len()]);
            rows.fetch_all(&self.session.connection.pool).await
        };
        let rows = self.session.term.call("read the journal", call).await?;
        self.read_seeds().await?;
        let mut rest = rows.as_slice();
        for bucket in buckets {
            let of_bucket = |row: &&sqlx::postgres::PgRow| row.get::<i16, _>(0) == bucket.to_sql();
            let count = rest.iter().take_while(of_bucket).count();
            let (own, others) = rest.split_at(count);
            rest = others;
            let unpacked = own.iter().filter(|row| !row.get::<bool, _>(2)).count();
            self.packing.begin(*bucket, unpacked);
            let mut journal = BucketJournal::default();
            for row in own {
                let record = decode(row.get(1)).map_err(|error| StoreFault::Shared {
                    action: "read the journal",
                    what: format!("a record cannot be read: {error}"),
                })?;
                journal.records.push(record);
            }
            self.acquire(*bucket, &journal).await?;
        }
        let now = self.clock.now();
        let came = |host: &Host| buckets.binary_search(&Bucket::of_host(host)).is_ok();
        if buckets.iter().any(|bucket| rests.contains(*bucket)) {
            let is_meant = |host: &Host| came(host) && rests.contains(Bucket::of_host(host));
            let rule = self.rules.after_death();
            self.local.rest_after_death(is_meant, now, rule);
        }
        self.local.begin_session_of(came, now)?;
        let mut owned = self.owned.write().await;
        buckets.iter().for_each(|bucket| owned.insert(*bucket));
        Ok(())
    }

    async fn acquire(&self, bucket: Bucket, journal: &BucketJournal) -> Result<(), StoreFault> {
        if journal.records.is_empty() {
            return Ok(());
        }
        if let Some(died) = self.local.take_over(&journal.records).await? {
            self.shipping.add_to(bucket, &died);
        }
        // The owner of a page may have died before it looked for duplicates of a revoked original.
        for original in journal.originals() {
            if self.local.revocation_of(original)?.is_none() {
                self.admissions.revoked.look_up(original);
            }
        }
        Ok(())
    }

    /// Releases `count` buckets.
    async fn give_up(&self, count: u64) -> Result<(), StoreFault> {
        // Until they are free, this departure is the database's only sign of the URLs that wait in
        // them.
        let departure = self.shipping.depart();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let leaving: Vec<Bucket> = {
            let mut owned = self.owned.write().await;
            let leaving: Vec<Bucket> = owned.descending().take(count).collect();
            leaving.iter().for_each(|bucket| owned.remove(*bucket));
            leaving
        };
        self.release(leaving).await?;
        drop(departure);
        self.updates.notify_one();
        Ok(())
    }

    /// Releases all buckets, at the end of the term.
    pub(crate) async fn give_up_all(&self) -> Result<(), StoreFault> {
        let _moving = self.moving.lock().await;
        self.give_up(BUCKETS.into()).await
    }

    /// Frees buckets that do not count as owned any more, once everything in them is settled.
    async fn release(&self, leaving: Vec<Bucket>) -> Result<(), StoreFault> {
        let set: BucketSet = leaving.iter().copied().collect();
        let is_meant = |host: &Host| set.contains(Bucket::of_host(host));
        while self.local.close_hosts(is_meant) > 0 {
            tokio::select! {
                () = tokio::time::sleep(DRAIN) => {}
                ended = self.session.term.ended() => return Err(ended),
            }
        }
        self.shipping.settled(&self.session.term).await?;
        self.local.forget_hosts(is_meant);
        let numbers: Vec<i16> = leaving.iter().map(|bucket| bucket.to_sql()).collect();
        let term = &self.session.term;
        let call = || async {
            let call = sqlx::query("SELECT release_buckets($1, $2)").bind(term.to_sql());
            let call = call.bind(&numbers);
            call.execute(&self.session.connection.pool).await
        };
        term.call("released buckets", call).await?;
        tracing::info!(buckets = leaving.len(), "released buckets");
        Ok(())
    }

    /// Until the term ends, queues pages again that were not archived as duplicates of an original
    /// whose admission was revoked.
    pub(crate) async fn requeue_unarchived(self: Arc<Self>) {
        loop {
            let original = tokio::select! {
                original = self.admissions.revoked.next() => original,
                _ended = self.session.term.ended() => return,
            };
            if let Err(fault) = self.requeue(original).await {
                return self.session.term.end_by(&fault);
            }
        }
    }

    async fn requeue(&self, original: UrlKey) -> Result<(), StoreFault> {
        // The database has every visit that has ended.
        self.shipping.settled(&self.session.term).await?;
        let query = "SELECT unarchived.record FROM rows_of_original($1) AS unarchived \
            JOIN bucket USING (bucket) \
            WHERE owner = $2 AND NOT EXISTS ( \
                SELECT FROM journal AS revoked WHERE revoked.kind = 2 \
                AND revoked.page = unarchived.page AND revoked.number > unarchived.number)";
        let term = &self.session.term;
        let call = || async {
            let rows = sqlx::query_as(query).bind(to_sql(original));
            let rows = rows.bind(term.to_sql());
            rows.fetch_all(&self.session.connection.pool).await
        };
        let rows: Vec<(Vec<u8>,)> = term.call("looked up duplicates", call).await?;
        let transfer = self.shipping.begin_transfer();
        for (bytes,) in rows {
            let Ok(Record::Settled(settled)) = decode(&bytes) else {
                continue;
            };
            let (visit, priority) = (settled.visit, settled.priority);
            let owned = self.owned.read().await;
            // For a bucket that is on its way, these pages are looked up when it arrives.
            if owned.contains(Bucket::of(&visit.record.url)) && visit.record.fate != Fate::Unique {
                self.local
                    .revoke_visit(*visit.record, priority, visit.reached)?;
            }
        }
        drop(transfer);
        self.updates.notify_one();
        self.shipping.settled(&self.session.term).await.map(drop)
    }
}
