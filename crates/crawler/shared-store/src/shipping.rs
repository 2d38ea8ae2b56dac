//! The transport of a node's records to the database, in their order. They are sent in batches, and
//! each batch is repeated until it is settled or the term has ended.
//!
//! A single task sends. A batch holds the items that arrived while the previous batch was on its
//! way, so a busy node makes large batches and an idle node does not wait. Callers can wait until
//! their records are settled.
//!
//! A visit counts once it is in the database, and a node that resumes its archive keeps the visits
//! that count. So the archive is synced before a batch with archived visits is sent, and a power
//! cut cannot lose them.
//!
//! Invariant: a batch is settled as a whole, after all batches before it, and exactly once: the
//! database knows the number of the last batch.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use journal::{DiscoveredUrl, Record, StoreFault, Totals};
use store::ArchivePlace;
use tokio::sync::{Notify, watch};
use web::PageUrl;

use crate::bucket::Bucket;
use crate::calls::CallError;
use crate::connection::Connection;
use crate::packing::Packing;
use crate::rows::{Row, RowKind, rows_of};
use crate::term::Term;

/// Maximum number of items of a batch.
const BATCH: usize = 4_096;
/// Maximum number of waiting items before the node stops leasing.
const FULL: usize = 65_536;

/// A function that makes the content of the node's archive durable. An error is the reason of a
/// failure.
pub type SyncArchive =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// An item for the database.
#[derive(Debug)]
enum Item {
    Row(Row, Option<ArchivePlace>),
    /// A URL for another node.
    Link(Bucket, Vec<u8>),
    /// A row of an inbox that this node has processed.
    Taken(Bucket, i64),
    /// A URL that widens the scope of all nodes.
    Seed(String),
    /// Only a change of the node's state.
    Update,
}

/// The records of a node on their way to the database.
pub(crate) struct Shipping {
    queue: Mutex<Queue>,
    /// Wakes the sending task.
    waiting: Notify,
    /// Number of settled items.
    settled: watch::Sender<u64>,
    /// Number of transfers in progress.
    transferring: watch::Sender<u32>,
    /// Counts the settled rows.
    packing: Arc<Packing>,
    /// Syncs the node's archive, once it is open.
    pub(crate) sync_archive: OnceLock<SyncArchive>,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    /// Number of items that have been added.
    added: u64,
    /// Links of visits to other buckets, by the number of the entry, until the visit is recorded.
    links: HashMap<u64, Vec<DiscoveredUrl>>,
    totals: Totals,
    queued: u64,
    /// The last applied admission when the node had nothing to visit; `None` while it has.
    exhausted_at: Option<i64>,
    /// Number of beginnings and ends of transfers and departures.
    transfers: u64,
    /// Number of departures in progress.
    departing: u32,
    /// The end of the last settled visit in the archive.
    archive: Option<ArchivePlace>,
}

impl Queue {
    fn add(&mut self, item: Item) {
        self.items.push_back(item);
        self.added += 1;
    }
}

/// A batch on its way, by columns.
#[derive(Default)]
struct Batch {
    items: u64,
    exhausted_at: Option<i64>,
    buckets: Vec<i16>,
    kinds: Vec<i16>,
    pages: Vec<Option<i64>>,
    originals: Vec<Option<i64>>,
    records: Vec<Vec<u8>>,
    link_buckets: Vec<i16>,
    links: Vec<Vec<u8>>,
    taken_buckets: Vec<i16>,
    taken: Vec<i64>,
    seeds: Vec<String>,
    archive: Option<ArchivePlace>,
    totals: Totals,
    queued: u64,
}

impl Shipping {
    pub(crate) fn new(archive: Option<ArchivePlace>, packing: Arc<Packing>) -> Self {
        let queue = Queue {
            archive,
            ..Queue::default()
        };
        Self {
            queue: Mutex::new(queue),
            waiting: Notify::new(),
            settled: watch::Sender::new(0),
            transferring: watch::Sender::new(0),
            packing,
            sync_archive: OnceLock::new(),
        }
    }

    /// Adds the rows of a record that the working copy has made.
    pub(crate) fn add(&self, record: &Record) {
        let mut queue = self.queue();
        match record {
            Record::Settled(settled) => queue.totals.count(&settled.visit.record),
            Record::Revoked { visit, .. } => queue.totals.uncount(visit),
            Record::SeedAdopted { url } => queue.add(Item::Seed(url.to_string())),
            _ => {}
        }
        let mut archive = None;
        let mut links = Vec::new();
        if let Record::Settled(settled) = record {
            let span = settled.visit.archived.clone();
            archive = span.map(|span| ArchivePlace {
                file: span.file,
                end: span.end,
            });
            links = queue.links.remove(&settled.sequence).unwrap_or_default();
        }
        for row in rows_of(record) {
            queue.add(Item::Row(row, archive.take()));
        }
        for link in &links {
            queue.add(link_to(link));
        }
        drop(queue);
        self.waiting.notify_one();
    }

    /// Adds a record of a bucket that names entries by number.
    pub(crate) fn add_to(&self, bucket: Bucket, record: &Record) {
        self.push(Item::Row(Row::new(bucket, record), None));
    }

    /// Keeps the links of a visit to other buckets until the visit is recorded.
    pub(crate) fn keep_links(&self, sequence: u64, links: Vec<DiscoveredUrl>) {
        if !links.is_empty() {
            self.queue().links.insert(sequence, links);
        }
    }

    /// Sends URLs to the nodes that own their buckets.
    pub(crate) fn send_links(&self, links: &[DiscoveredUrl]) {
        let mut queue = self.queue();
        links.iter().for_each(|link| queue.add(link_to(link)));
        drop(queue);
        self.waiting.notify_one();
    }

    /// Sends seeds, which widen the scope of all nodes. URLs that are sent later arrive after them.
    pub(crate) fn send_seeds(&self, seeds: &[PageUrl]) {
        let mut queue = self.queue();
        let items = seeds.iter().map(|seed| Item::Seed(seed.to_string()));
        items.for_each(|item| queue.add(item));
        drop(queue);
        self.waiting.notify_one();
    }

    /// Removes a row of an inbox, whose URL this node has queued.
    pub(crate) fn take(&self, bucket: Bucket, number: i64) {
        self.push(Item::Taken(bucket, number));
    }

    /// Marks the beginning of a transfer of URLs from elsewhere. The node does not
    /// count as exhausted until it ends. The transfer ends when the guard is dropped.
    pub(crate) fn begin_transfer(&self) -> Transfer<'_> {
        let mut queue = self.queue();
        queue.transfers += 1;
        self.transferring
            .send_modify(|transferring| *transferring += 1);
        queue.exhausted_at = None;
        queue.add(Item::Update);
        drop(queue);
        self.waiting.notify_one();
        Transfer(self)
    }

    /// Marks the beginning of a departure: the release of buckets, whose URLs wait for another
    /// node. This node does not count as exhausted before they are free. The departure ends when
    /// the guard is dropped.
    pub(crate) fn depart(&self) -> Departure<'_> {
        let mut queue = self.queue();
        queue.transfers += 1;
        queue.departing += 1;
        queue.exhausted_at = None;
        queue.add(Item::Update);
        drop(queue);
        self.waiting.notify_one();
        Departure(self)
    }

    /// Returns true while buckets are being released.
    pub(crate) fn is_departing(&self) -> bool {
        self.queue().departing > 0
    }

    /// Returns the number to pass to [`Shipping::report_exhausted`]. Call it before the node looks
    /// for something to visit.
    pub(crate) fn transfers(&self) -> u64 {
        self.queue().transfers
    }

    /// Reports that the node found nothing to visit, considering the admissions up to `applied`.
    /// `transfers` is the number of transfers and departures when it began to look. Returns false
    /// if there have been more since then, or if one is still in progress.
    pub(crate) fn report_exhausted(&self, applied: i64, transfers: u64) -> bool {
        let mut queue = self.queue();
        let is_moving = *self.transferring.borrow() > 0 || queue.departing > 0;
        if is_moving || queue.transfers != transfers {
            return false;
        }
        if queue.exhausted_at.is_none_or(|reported| reported < applied) {
            queue.exhausted_at = Some(applied);
            queue.add(Item::Update);
            drop(queue);
            self.waiting.notify_one();
        }
        true
    }

    /// Reports that the node has something to visit, and the number of its waiting URLs.
    pub(crate) fn report_waiting(&self, queued: u64) {
        let mut queue = self.queue();
        queue.queued = queued;
        if queue.exhausted_at.take().is_some() {
            queue.add(Item::Update);
            drop(queue);
            self.waiting.notify_one();
        }
    }

    /// Returns the sums over the visits of this term.
    pub(crate) fn totals(&self) -> Totals {
        self.queue().totals
    }

    /// Returns the number of the last applied admission when the node reported that it had nothing
    /// to visit; `None` while it has.
    pub(crate) fn exhausted_at(&self) -> Option<i64> {
        self.queue().exhausted_at
    }

    /// Waits until no URLs arrive from elsewhere.
    pub(crate) async fn transfers_ended(&self, term: &Term) -> Result<(), StoreFault> {
        let mut transferring = self.transferring.subscribe();
        tokio::select! {
            // The sender is `self`.
            _ = transferring.wait_for(|transferring| *transferring == 0) => Ok(()),
            ended = term.ended() => Err(ended),
        }
    }

    /// Returns true if too many items are waiting for another visit to begin.
    pub(crate) fn is_full(&self) -> bool {
        self.queue().items.len() >= FULL
    }

    /// Returns true if everything is settled.
    pub(crate) fn is_idle(&self) -> bool {
        let added = self.queue().added;
        *self.settled.borrow() >= added
    }

    /// Waits until everything that has been added is settled. Returns the end of the last settled
    /// visit in the archive.
    ///
    /// # Errors
    /// [`StoreFault::TermEnded`] if the term ends first.
    pub(crate) async fn settled(&self, term: &Term) -> Result<Option<ArchivePlace>, StoreFault> {
        let added = self.queue().added;
        let mut settled = self.settled.subscribe();
        tokio::select! {
            // The sender is `self`.
            _ = settled.wait_for(|settled| *settled >= added) => {}
            ended = term.ended() => return Err(ended),
        }
        Ok(self.queue().archive.clone())
    }

    /// Sends until the term ends.
    pub(crate) async fn send(self: Arc<Self>, connection: Connection, term: Arc<Term>) {
        let mut number = 0;
        loop {
            let batch = self.next_batch();
            if batch.items == 0 {
                self.waiting.notified().await;
                continue;
            }
            number += 1;
            if let (Some(_), Some(sync)) = (&batch.archive, self.sync_archive.get())
                && let Err(why) = sync().await
            {
                return term.fail("synced the archive of the node", &why);
            }
            let settled = term
                .call("settled visits", || async {
                    settle(&connection, &term, number, &batch).await
                })
                .await;
            if settled.is_err() {
                // The crawl receives the fault at its next call.
                return;
            }
            let buckets = batch.buckets.iter();
            self.packing
                .count(buckets.map(|bucket| Bucket::from_sql(*bucket)));
            if batch.archive.is_some() {
                self.queue().archive = batch.archive;
            }
            self.settled.send_modify(|settled| *settled += batch.items);
        }
    }

    fn next_batch(&self) -> Batch {
        let mut queue = self.queue();
        let mut batch = Batch {
            totals: queue.totals,
            queued: queue.queued,
            ..Batch::default()
        };
        let count = queue.items.len().min(BATCH);
        // The state is the state after all items, so it is sent only with the last item.
        batch.exhausted_at = queue.exhausted_at.filter(|_| count == queue.items.len());
        for item in queue.items.drain(..count) {
            batch.add(item);
        }
        batch
    }

    fn push(&self, item: Item) {
        self.queue().add(item);
        self.waiting.notify_one();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue
            .lock()
            .expect("no panic can happen while the queue is locked")
    }
}

/// A transfer of URLs from elsewhere.
pub(crate) struct Transfer<'a>(&'a Shipping);

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.transfers += 1;
        self.0
            .transferring
            .send_modify(|transferring| *transferring -= 1);
    }
}

/// Buckets that are being released.
pub(crate) struct Departure<'a>(&'a Shipping);

impl Drop for Departure<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.transfers += 1;
        queue.departing -= 1;
    }
}

fn link_to(link: &DiscoveredUrl) -> Item {
    let found = postcard::to_allocvec(link).expect("encoding to memory cannot fail");
    Item::Link(Bucket::of(&link.url), found)
}

impl Batch {
    fn add(&mut self, item: Item) {
        self.items += 1;
        match item {
            Item::Row(row, archive) => {
                let (kind, page, original) = kind_to_sql(row.kind);
                self.buckets.push(row.bucket.to_sql());
                self.kinds.push(kind);
                self.pages.push(page.map(to_sql));
                self.originals.push(original.map(to_sql));
                self.records.push(row.record);
                if archive.is_some() {
                    self.archive = archive;
                }
            }
            Item::Link(bucket, found) => {
                self.link_buckets.push(bucket.to_sql());
                self.links.push(found);
            }
            Item::Taken(bucket, number) => {
                self.taken_buckets.push(bucket.to_sql());
                self.taken.push(number);
            }
            Item::Seed(url) => self.seeds.push(url),
            Item::Update => {}
        }
    }
}

/// Returns the number of a row's kind in the database, its page and its original.
pub(crate) fn kind_to_sql(kind: RowKind) -> (i16, Option<web::UrlKey>, Option<web::UrlKey>) {
    match kind {
        RowKind::Other => (0, None, None),
        RowKind::Settled { page, original } => (1, Some(page), original),
        RowKind::Revoked { page } => (2, Some(page), None),
        RowKind::Leased => (3, None, None),
    }
}

/// Returns a key as stored in the database: the same 64 bits.
pub(crate) fn to_sql(key: web::UrlKey) -> i64 {
    key.as_u64().cast_signed()
}

async fn settle(
    connection: &Connection,
    term: &Term,
    number: i64,
    batch: &Batch,
) -> Result<(), CallError> {
    let totals = postcard::to_allocvec(&batch.totals).expect("encoding to memory cannot fail");
    let place = batch.archive.as_ref();
    let query = "SELECT settle_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, \
        $15, $16, $17, $18, $19)";
    sqlx::query(query)
        .bind(term.to_sql())
        .bind(number)
        .bind(batch.exhausted_at)
        .bind(&batch.buckets)
        .bind(&batch.kinds)
        .bind(&batch.pages)
        .bind(&batch.originals)
        .bind(&batch.records)
        .bind(&batch.link_buckets)
        .bind(&batch.links)
        .bind(&batch.taken_buckets)
        .bind(&batch.taken)
        .bind(&batch.seeds)
        .bind(place.map(|place| place.file.as_str()))
        .bind(place.and_then(|place| i64::try_from(place.end).ok()))
        .bind(totals)
        .bind(batch.totals.pages.cast_signed())
        .bind(batch.totals.bytes.cast_signed())
        .bind(i64::try_from(batch.queued).unwrap_or(i64::MAX))
        .execute(&connection.pool)
        .await?;
    Ok(())
}
