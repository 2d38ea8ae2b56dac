//! The shared store as seen by a node: a working copy of its buckets, whose records are shipped.
//!
//! The working copy decides, also about URL patterns and probes: it asks `store::Patterns` and
//! `store::LeasedProbes`, and the records are shipped. `frontier.rs` and `near_dup.rs` implement
//! the two seams over it, `updates.rs` handles data from other nodes, `ownership.rs` the buckets,
//! `page_limit.rs` the limit on pages.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use journal::{ArchiveSpan, NodeFile, Record, Robots, StoreFault, Totals};
use store::{
    ArchivePlace, DirectoryLock, EmbeddedStore, Frontier as _, FrontierRules, FrontierStats,
    HostMemory, StoreOptions, WorkingCopy,
};
use tokio::sync::{Notify, RwLock, watch};
use tokio::task::JoinSet;
use web::{Clock, Host, Pace, PageUrl, UrlKey};

use crate::admissions::Admissions;
use crate::bucket::{Bucket, BucketSet};
use crate::keys::LogKeys;
use crate::packing::Packing;
use crate::scope_seeds::{ScopeSeeds, Widen};
use crate::session::Session;
use crate::shipping::{Shipping, SyncArchive};

/// Interval between polls.
pub(crate) const POLL: Duration = Duration::from_millis(250);
/// Number of bits of an entry's number below the bits of the term.
const TERM_SHIFT: u32 = 40;

/// The memory of a shared crawl, as seen by one node.
pub struct SharedStore {
    pub(crate) session: Session,
    pub(crate) local: Arc<EmbeddedStore>,
    pub(crate) shipping: Arc<Shipping>,
    pub(crate) packing: Arc<Packing>,
    pub(crate) admissions: Admissions,
    pub(crate) rules: FrontierRules,
    pub(crate) clock: Clock,
    /// The buckets whose hosts are in the working copy.
    pub(crate) owned: RwLock<BucketSet>,
    pub(crate) keys: LogKeys,
    pub(crate) max_pages: Option<u64>,
    /// Number of pages of `max_pages` that this term may visit.
    pub(crate) reserved: AtomicI64,
    /// Number of pages out on lease.
    pub(crate) out: AtomicU64,
    /// The keys of links that were sent to other buckets.
    pub(crate) sent: Mutex<HashSet<UrlKey>>,
    /// Sums over the visits of all other terms.
    pub(crate) others: Mutex<Totals>,
    pub(crate) scope_seeds: ScopeSeeds,
    /// The control file of the crawl.
    pub(crate) control: watch::Sender<Option<String>>,
    /// Wakes the crawl when URLs have arrived from elsewhere, or the crawl has ended.
    pub(crate) updates: Notify,
    /// Held while buckets are acquired or released.
    pub(crate) moving: tokio::sync::Mutex<()>,
    /// Stats of the node's hosts when it began to leave.
    pub(crate) at_leaving: OnceLock<FrontierStats>,
    pub(crate) tasks: Mutex<JoinSet<()>>,
}

/// The options of a shared store.
pub struct SharedOptions {
    /// The options of the working copy, with the crawl's key.
    pub store: StoreOptions,
    /// The clock of the node.
    pub clock: Clock,
    /// Maximum number of pages of the crawl, across all nodes.
    pub max_pages: Option<u64>,
    /// Adds the seeds of all nodes, and the targets of their redirects, to the node's scope: each
    /// before the node leases the URLs that it lets in.
    pub widen: Widen,
    /// Number of unpacked rows of a bucket that the node packs: [`crate::ROWS_PER_PACK`]; fewer in
    /// tests of few rows.
    pub rows_per_pack: u32,
}

impl SharedStore {
    /// Opens the store for a session. The working copy is recreated in `directory`.
    ///
    /// # Errors
    /// [`StoreFault`]: the directory holds another crawl or is in use, the database failed, or a
    /// file cannot be read or written.
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
            rows_per_pack,
        } = options;
        clear(directory, session.node_file(), &options)?;
        let archive = session.archive.clone();
        let packing = Arc::new(Packing::new(rows_per_pack));
        let shipping = Arc::new(Shipping::new(archive.clone(), Arc::clone(&packing)));
        let watch = {
            let shipping = Arc::clone(&shipping);
            Arc::new(move |record: &Record| shipping.add(record))
        };
        let local = EmbeddedStore::open(directory, &options)?.into_working_copy(WorkingCopy {
            first_sequence: (session.term.number() - 1) << TERM_SHIFT,
            archive: archive.map(|ArchivePlace { file, end }| ArchiveSpan {
                archive_sequence: 0,
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
        let keys = LogKeys::new(local.key(), options.comparison.thresholds.distance());
        let store = Arc::new(Self {
            scope_seeds: ScopeSeeds::new(widen),
            control: watch::Sender::new(None),
            session,
            local,
            shipping: Arc::clone(&shipping),
            packing: Arc::clone(&packing),
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
            updates: Notify::new(),
            moving: tokio::sync::Mutex::default(),
            at_leaving: OnceLock::new(),
            tasks: Mutex::default(),
        });
        {
            let mut tasks = store.tasks();
            tasks.spawn(shipping.send(connection.clone(), Arc::clone(&term)));
            tasks.spawn(packing.run(connection, Arc::clone(&term)));
            tasks.spawn(log.run());
        }
        store.take(store.session.share().await?).await?;
        store.read_totals().await?;
        // They end with the term.
        let mut tasks = store.tasks();
        tasks.spawn(Arc::clone(&store).keep_share());
        tasks.spawn(Arc::clone(&store).requeue_unarchived());
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

    /// Ends the term without leaving, like a node that dies: its buckets are reassigned when the
    /// term expires.
    pub fn abandon(&self) {
        self.session.abandon("the node was stopped");
    }

    /// Waits until the tasks of an ended term have finished. They share the store.
    pub async fn stopped(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks());
        tasks.shutdown().await;
    }

    /// Returns true if the host is in a bucket of this node.
    pub async fn owns(&self, host: &Host) -> bool {
        self.owned.read().await.contains(Bucket::of_host(host))
    }

    /// Reads the data that other nodes have sent, and their state, without waiting for the next
    /// poll. Returns true if this node received something.
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

    /// Returns true if the whole crawl has reached its maximum number of pages.
    #[must_use]
    pub fn has_all_pages(&self) -> bool {
        self.max_pages
            .is_some_and(|max| self.stats().totals.pages >= max)
    }

    /// Returns the text of the crawl's control file, which applies to nodes without their own.
    #[must_use]
    pub fn control(&self) -> Option<String> {
        self.control.borrow().clone()
    }

    /// Sets the function `sync` to call before visits with a place in the node's archive are sent.
    /// Call it once, before the first lease.
    pub fn sync_archive_by(&self, sync: SyncArchive) {
        // A second function would sync the same archive.
        let _set = self.shipping.sync_archive.set(sync);
    }

    /// Sends this node's seeds, which widen the scope of all nodes. Call it before they are queued.
    pub fn share_seeds(&self, seeds: &[PageUrl]) {
        self.shipping.send_seeds(seeds);
    }

    pub(crate) fn others(&self) -> MutexGuard<'_, Totals> {
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

/// Removes the working copy of an earlier session. Refuses a directory that holds a crawl that is
/// not shared, or that belongs to another node.
fn clear(directory: &Path, node_file: &NodeFile, options: &StoreOptions) -> Result<(), StoreFault> {
    let shared = |what: String| StoreFault::Shared {
        action: "made the working copy",
        what,
    };
    let found = NodeFile::read(directory).map_err(|error| shared(error.to_string()))?;
    let shown = directory.display();
    match found {
        None if EmbeddedStore::exists(directory) => {
            return Err(shared(format!(
                "{shown} contains a crawl that is not shared"
            )));
        }
        Some(other) if other != *node_file => {
            let node = other.node;
            return Err(shared(format!("{shown} belongs to node {node} of a crawl")));
        }
        _ => {}
    }
    std::fs::create_dir_all(directory).map_err(|error| shared(error.to_string()))?;
    drop(DirectoryLock::take(directory, options.now)?);
    node_file
        .write(directory, &*options.disk)
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
