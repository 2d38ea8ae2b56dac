//! The shared store as a node sees it: the two seams over a working copy of its buckets.
//!
//! The working copy decides; its records are shipped. A lease is handed out once the database has
//! it, so that a page with which nodes die is found. A visit is settled here and counts once its
//! batch is in the database: [`Frontier::checkpoint`] waits for that.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use neardup::PageSignature;
use store::embedded::record::Record;
use store::embedded::{
    DirectoryLock, DistinctOrder, EmbeddedStore, LogStep, StoreOptions, WorkingCopy,
};
use store::{
    ArchivePlace, ArchiveSpan, DiscoveredUrl, Durable, Frontier, FrontierRules, HostMemory, Lease,
    LeaseFilter, NearDupIndex, Page, PatternName, Robots, Settlement, Standing, StoreFault, Supply,
    Totals, Verdict,
};
use tokio::sync::{Notify, RwLock, watch};
use tokio::task::JoinSet;
use web::{Clock, Host, Pace, PageUrl, Timestamp, UrlKey};

use crate::admissions::Admissions;
use crate::bucket::{Bucket, BucketSet};
use crate::keys::LogKeys;
use crate::mark::NodeMark;
use crate::rows::original_of_row;
use crate::scope_seeds::{ScopeSeeds, Widen};
use crate::session::Session;
use crate::shipping::Shipping;

/// The interval of polls.
pub(crate) const POLL: Duration = Duration::from_millis(250);
/// Polls between two reads of the totals of other nodes.
const TOTALS_EVERY: u32 = 4;
/// URLs that are taken out of the inboxes at a time.
const INBOX: i64 = 4_096;
/// Links to other buckets that are remembered, so that they are not sent twice: 8 bytes each.
const SENT: usize = 1 << 20;
/// Bits of an entry's number below those of the term.
const TERM_SHIFT: u32 = 40;

/// The memory of a shared crawl, as one node has it.
pub struct SharedStore {
    pub(crate) session: Session,
    pub(crate) local: Arc<EmbeddedStore>,
    pub(crate) shipping: Arc<Shipping>,
    pub(crate) admissions: Admissions,
    pub(crate) rules: FrontierRules,
    pub(crate) clock: Clock,
    /// The buckets whose hosts are in the working copy.
    pub(crate) owned: RwLock<BucketSet>,
    keys: LogKeys,
    max_pages: Option<u64>,
    /// Pages of `max_pages` that this term may visit.
    reserved: AtomicI64,
    /// Pages out on lease.
    out: AtomicU64,
    /// The keys of links that were sent to other buckets.
    sent: Mutex<HashSet<UrlKey>>,
    /// Sums over the visits of all other terms.
    others: Mutex<Totals>,
    scope_seeds: ScopeSeeds,
    /// The control file of the crawl.
    control: watch::Sender<Option<String>>,
    /// Wakes the crawl when URLs have come from elsewhere, or the crawl has ended.
    pub(crate) news: Notify,
    /// Held while buckets are taken or given up.
    pub(crate) moving: tokio::sync::Mutex<()>,
    /// The standing of the node's hosts when it began to leave.
    at_leaving: OnceLock<Standing>,
    tasks: Mutex<JoinSet<()>>,
}

/// The options of a shared store.
pub struct SharedOptions {
    /// The options of the working copy. Its key is the crawl's.
    pub store: StoreOptions,
    /// The clock of the node.
    pub clock: Clock,
    /// The maximum number of pages of the crawl, over all nodes.
    pub max_pages: Option<u64>,
    /// Widens the node's scope by the seeds of all nodes, and by the targets of their redirects:
    /// each before the node leases what it lets in.
    pub widen: Widen,
}

impl SharedStore {
    /// Opens the store for a session. The working copy is made anew in `directory`.
    ///
    /// # Errors
    /// [`StoreFault`]: the directory holds a crawl of its own or is in use, the database failed, or
    /// a file cannot be read or written.
    pub async fn open(
        session: Session,
        directory: &Path,
        options: SharedOptions,
    ) -> Result<Arc<Self>, StoreFault> {
        let SharedOptions {
            store: options,
            clock,
            max_pages,
            widen,
        } = options;
        clear(directory, session.mark(), &options)?;
        let archive = session.archive.clone();
        let shipping = Arc::new(Shipping::new(archive.clone()));
        let watch = {
            let shipping = Arc::clone(&shipping);
            Arc::new(move |record: &Record| shipping.add(record))
        };
        let local = EmbeddedStore::open(directory, &options)?.into_working_copy(WorkingCopy {
            first_sequence: (session.term.number() - 1) << TERM_SHIFT,
            archive: archive.map(|ArchivePlace { file, end }| ArchiveSpan {
                ticket: 0,
                file,
                end,
            }),
            resumed: session.resumed,
            watch,
        });
        let local = Arc::new(local);
        let (connection, term) = (session.connection.clone(), Arc::clone(&session.term));
        let (admissions, mut log) =
            Admissions::new(connection.clone(), Arc::clone(&term), Arc::clone(&local));
        log.catch_up().await?;
        let keys = LogKeys::new(local.key(), options.likeness.thresholds.distance());
        let store = Arc::new(Self {
            scope_seeds: ScopeSeeds::new(widen),
            control: watch::Sender::new(None),
            session,
            local,
            shipping: Arc::clone(&shipping),
            admissions,
            rules: options.rules.clone(),
            clock,
            owned: RwLock::default(),
            keys,
            max_pages,
            reserved: AtomicI64::new(0),
            out: AtomicU64::new(0),
            sent: Mutex::default(),
            others: Mutex::default(),
            news: Notify::new(),
            moving: tokio::sync::Mutex::default(),
            at_leaving: OnceLock::new(),
            tasks: Mutex::default(),
        });
        {
            let mut tasks = store.tasks();
            tasks.spawn(shipping.send(connection, Arc::clone(&term)));
            tasks.spawn(log.run());
        }
        store.take(store.session.share().await?).await?;
        store.read_totals().await?;
        // They end with the term.
        let mut tasks = store.tasks();
        tasks.spawn(Arc::clone(&store).keep_share());
        tasks.spawn(Arc::clone(&store).requeue_left_out());
        tasks.spawn(Arc::clone(&store).poll());
        drop(tasks);
        Ok(store)
    }

    /// Returns the working copy of the node's buckets.
    #[must_use]
    pub fn working_copy(&self) -> &Arc<EmbeddedStore> {
        &self.local
    }

    /// Returns the session of the node.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Ends the term without leaving, as a node that dies: its buckets pass on when the term
    /// lapses.
    pub fn abandon(&self) {
        self.session.abandon("the node was stopped");
    }

    /// Waits until the tasks of a term that has ended are gone. They share the store.
    pub async fn stopped(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks());
        tasks.shutdown().await;
    }

    /// Returns true if the host is in a bucket of this node.
    pub async fn owns(&self, host: &Host) -> bool {
        self.owned.read().await.contains(Bucket::of_host(host))
    }

    /// Reads what other nodes have sent and done, without waiting for the next poll. Returns true
    /// if something came for this node.
    ///
    /// # Errors
    /// [`StoreFault`] if the term has ended, or the database failed.
    pub async fn refresh(&self) -> Result<bool, StoreFault> {
        self.shipping.settled(&self.session.term).await?;
        self.admissions.catch_up(&self.session.term).await?;
        self.admissions.revoked.idle(&self.session.term).await?;
        self.read_totals().await?;
        self.read_inbox().await
    }

    /// Returns true if the pages of the whole crawl have reached their maximum.
    #[must_use]
    pub fn has_all_pages(&self) -> bool {
        self.max_pages
            .is_some_and(|max| self.standing().totals.pages >= max)
    }

    /// Returns the text of the crawl's control file, which nodes without one of their own obey.
    #[must_use]
    pub fn control(&self) -> Option<String> {
        self.control.borrow().clone()
    }

    /// Reopens a pattern of a host that this node has: [`EmbeddedStore::reopen`]. None if it has no
    /// such pattern.
    ///
    /// # Errors
    /// [`StoreFault`], as there.
    pub async fn reopen(&self, name: &PatternName) -> Result<Option<u64>, StoreFault> {
        if !self.owns(&name.host).await {
            return Ok(None);
        }
        let _arrival = self.shipping.arrive();
        self.local.reopen(name).await
    }

    /// Declares pages distinct, of those that are in buckets of this node:
    /// [`EmbeddedStore::declare_distinct`]. Returns the effect on each of these.
    ///
    /// # Errors
    /// [`StoreFault`], as there.
    pub async fn declare_distinct(
        &self,
        urls: &[PageUrl],
    ) -> Result<Vec<(PageUrl, DistinctOrder)>, StoreFault> {
        let mut ours = Vec::new();
        for url in urls {
            if self.owns(&url.host()).await {
                ours.push(url.clone());
            }
        }
        let _arrival = self.shipping.arrive();
        let effects = self.local.declare_distinct_in(self, &ours).await?;
        Ok(ours.into_iter().zip(effects).collect())
    }

    /// Sends this node's seeds, which widen the scope of all nodes. Call it before they are queued.
    pub fn share_seeds(&self, seeds: &[PageUrl]) {
        self.shipping.send_seeds(seeds);
    }

    /// Widens the scope by the seeds that came since the last call. What they let in is leased
    /// afterwards.
    pub(crate) async fn read_seeds(&self) -> Result<(), StoreFault> {
        let connection = &self.session.connection;
        self.scope_seeds.read(connection, &self.session.term).await
    }

    /// Queues URLs of owned buckets, and sends the others to their owners. Returns the number of
    /// new ones, as far as this node can tell.
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

    /// Returns the links that were not sent before, as far as that is remembered. A link that was
    /// found on left-out pages only is sent once more when it is found elsewhere. Seeds are always
    /// sent: limits of links do not hold for them.
    fn unsent(&self, mut links: Vec<DiscoveredUrl>) -> Vec<DiscoveredUrl> {
        let mut sent = self
            .sent
            .lock()
            .expect("no panic can happen while the links are locked");
        if sent.len() >= SENT {
            sent.clear();
        }
        links.retain(|link| {
            let key = link.url.key();
            let key = match link.is_probed() {
                true => UrlKey::from_u64(!key.as_u64()),
                false => key,
            };
            link.depth == 0 || sent.insert(key)
        });
        links
    }

    /// Returns the number of pages that may be leased now, at most `want`.
    async fn reserve(&self, want: usize) -> Result<usize, StoreFault> {
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

    /// Returns the pages of this term, those out on lease included; below zero if it revoked more
    /// visits of other terms.
    fn used(&self) -> i64 {
        let visited = self.shipping.totals().pages.cast_signed();
        visited.saturating_add_unsigned(self.out.load(Ordering::Relaxed))
    }

    /// Gives back the pages that were reserved and are not needed.
    async fn give_back(&self) -> Result<(), StoreFault> {
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

    fn has_queued(&self) -> bool {
        self.local.standing().queued > 0
    }

    /// Returns the supply of a node that has nothing to visit.
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

    /// Reads the inboxes of the node, the state of the other nodes and the end of the crawl, until
    /// the term ends.
    async fn poll(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(POLL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut count = 0_u32;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                _ended = self.session.term.ended() => {
                    // The crawl learns it at its next lease.
                    self.news.notify_one();
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
                Ok(true) => self.news.notify_one(),
                Ok(false) => {}
                // The crawl learns it at its next lease.
                Err(fault) => self.session.term.end(&fault.to_string()),
            }
        }
    }

    async fn read_inbox(&self) -> Result<bool, StoreFault> {
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
        let arrival = self.shipping.arrive();
        self.local.discover(found).await?;
        drop(owned);
        for (bucket, row) in taken {
            self.shipping.take(bucket, row);
        }
        drop(arrival);
        self.news.notify_one();
        self.shipping.settled(term).await?;
        Ok(true)
    }

    async fn read_totals(&self) -> Result<(), StoreFault> {
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
    /// should look for something to visit: to find the end, or because admissions came.
    async fn note_finished(&self) -> Result<bool, StoreFault> {
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

    fn others(&self) -> MutexGuard<'_, Totals> {
        self.others
            .lock()
            .expect("no panic can happen while the totals are locked")
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks
            .lock()
            .expect("no panic can happen while the tasks are locked")
    }
}

/// Removes the working copy of an earlier session. Refuses a directory with a crawl of its own, and
/// that of another node.
fn clear(directory: &Path, mark: &NodeMark, options: &StoreOptions) -> Result<(), StoreFault> {
    let shared = |what: String| StoreFault::Shared {
        action: "made the working copy",
        what,
    };
    let found = NodeMark::read(directory).map_err(|error| shared(error.to_string()))?;
    let shown = directory.display();
    match found {
        None if EmbeddedStore::exists(directory) => {
            return Err(shared(format!("{shown} holds a crawl of its own")));
        }
        Some(other) if other != *mark => {
            let node = other.node;
            return Err(shared(format!("{shown} belongs to node {node} of a crawl")));
        }
        _ => {}
    }
    std::fs::create_dir_all(directory).map_err(|error| shared(error.to_string()))?;
    drop(DirectoryLock::take(directory, options.now)?);
    mark.write(directory)
        .map_err(|error| shared(error.to_string()))?;
    for part in ["journal", "sled"] {
        match std::fs::remove_dir_all(directory.join(part)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(shared(error.to_string()));
            }
            _ => {}
        }
    }
    Ok(())
}

#[async_trait]
impl Frontier for SharedStore {
    async fn discover(&self, discovered: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        self.session.term.check()?;
        // They come from outside: a node that was exhausted is not any more.
        let _arrival = self.shipping.arrive();
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
            let (arrivals, applied) = (self.shipping.arrivals(), self.admissions.applied());
            let is_requeuing = self.admissions.revoked.is_busy();
            match self.local.lease(now, want, kinds).await? {
                Supply::Leases(leases) => break leases,
                // No page may be leased. The end of this node is not that of the crawl.
                Supply::Exhausted if filter == LeaseFilter::Requisites || self.has_all_pages() => {
                    self.give_back().await?;
                    return Ok(Supply::Exhausted);
                }
                // Pages wait, and may be visited if other nodes do not need what they reserved.
                Supply::Exhausted if kinds == LeaseFilter::Requisites && self.has_queued() => {
                    return Ok(Supply::NothingBefore(now + POLL));
                }
                Supply::Exhausted if is_requeuing => self.admissions.revoked.idle(term).await?,
                // What waits in buckets that are given up is no longer here, and not elsewhere yet.
                Supply::Exhausted if self.shipping.is_departing() => {
                    return Ok(Supply::NothingBefore(now + POLL));
                }
                Supply::Exhausted if self.shipping.report_exhausted(applied, arrivals) => {
                    return self.look_for_end().await;
                }
                Supply::Exhausted => self.shipping.arrived(term).await?,
                wait @ Supply::NothingBefore(_) => {
                    self.shipping.report_waiting(self.local.standing().queued);
                    return Ok(wait);
                }
            }
        };
        self.shipping.report_waiting(self.local.standing().queued);
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
            original = original_of_row(&visit.row);
            let owned = self.owned.read().await;
            let is_theirs = |found: &mut DiscoveredUrl| !owned.contains(Bucket::of(&found.url));
            let theirs = visit.finds.extract_if(.., is_theirs).collect();
            self.shipping
                .keep_links(lease.entry.sequence, self.unsent(theirs));
            self.local.settle(lease, settlement, pace).await?;
        } else {
            self.local.settle(lease, settlement, pace).await?;
        }
        self.out.fetch_sub(pages, Ordering::Relaxed);
        if let Some(original) = original {
            self.admissions.revoked.left_out(original);
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
        self.news.notified().await;
    }

    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault> {
        self.local.adopt_seed(url).await
    }

    fn hosts(&self) -> &dyn HostMemory {
        self
    }

    fn standing(&self) -> Standing {
        let mut totals = *self.others();
        totals.add(&self.shipping.totals());
        let at_leaving = self.at_leaving.get().copied();
        Standing {
            totals,
            is_store_away: self.session.term.is_waiting(),
            ..at_leaving.unwrap_or_else(|| self.local.standing())
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
        self.at_leaving.get_or_init(|| self.local.standing());
        self.give_up_all().await?;
        let term = &self.session.term;
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

#[async_trait]
impl HostMemory for SharedStore {
    async fn pace(&self, host: &Host) -> Result<Option<Pace>, StoreFault> {
        self.local.pace(host).await
    }

    async fn record_pace(&self, host: &Host, pace: Pace) -> Result<(), StoreFault> {
        self.local.record_pace(host, pace).await
    }

    async fn robots(&self, origin: &str) -> Result<Option<Robots>, StoreFault> {
        self.local.robots(origin).await
    }

    async fn record_robots(&self, origin: &str, robots: Robots) -> Result<(), StoreFault> {
        self.local.record_robots(origin, robots).await
    }
}

#[async_trait]
impl NearDupIndex for SharedStore {
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault> {
        let term = &self.session.term;
        loop {
            let applied = self.admissions.applied();
            let (record, verdict) = match self.local.judge(page, signature, canonical)? {
                LogStep::Given(verdict) => return Ok(verdict),
                LogStep::Append(record, verdict) => (*record, Some(verdict)),
                LogStep::Forget(record) => (*record, None),
            };
            let keys = self.keys.of(&record, canonical);
            let is_admitted = self.admissions.offer(record, keys, applied, term).await?;
            if let Some(verdict) = verdict.filter(|_| is_admitted) {
                return Ok(verdict);
            }
        }
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let term = &self.session.term;
        loop {
            let applied = self.admissions.applied();
            let Some(record) = self.local.revocation_of(page)? else {
                return Ok(());
            };
            let keys = self.keys.of(&record, None);
            if self.admissions.offer(record, keys, applied, term).await? {
                return Ok(());
            }
        }
    }

    async fn separate(&self, page: &PageUrl, original: &PageUrl) -> Result<(), StoreFault> {
        let term = &self.session.term;
        loop {
            let applied = self.admissions.applied();
            let record = EmbeddedStore::separation_of(page, original);
            let keys = self.keys.of(&record, None);
            if self.admissions.offer(record, keys, applied, term).await? {
                return Ok(());
            }
        }
    }
}
