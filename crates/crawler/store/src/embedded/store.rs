//! The embedded store: its state while it is open, and its implementation of [`Frontier`].
//!
//! checkpoint/save.rs makes it durable, recovery.rs opens it, admission.rs implements the
//! near-duplicate index.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use disk::Disk;
use journal::{
    ArchiveSpan, DiscoveredUrl, Journal, JournalReader, Record, Robots, StoreFault, UrlHarvest,
};
use neardup::HashKey;
use web::{Host, Pace, PageUrl, Timestamp};

use super::checkpoint::LastCheckpoint;
use super::checkpoint::meta::Meta;
use super::database::Database;
use super::earlier::EarlierCrawls;
use super::frontier::{self, Queue, Taken};
use super::lock::DirectoryLock;
use super::near_dup::SignatureStore;
use super::near_dup::memory_index::SignatureMemory;
use super::recovery::archive_tail::ArchiveTail;
use crate::frontier::{
    ArchivePlace, Durable, Frontier, FrontierStats, Lease, LeaseFilter, Settlement, Supply,
};
use crate::host_memory::HostMemory;

/// The memory of a crawl, in a directory. See the module's documentation.
pub struct EmbeddedStore {
    pub(super) directory: PathBuf,
    pub(super) journal: Journal,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) database: Arc<Database>,
    pub(super) meta: Meta,
    /// Locked after `signatures` if both are needed.
    pub(super) queue: Mutex<Queue>,
    pub(super) signatures: Mutex<SignatureStore>,
    pub(super) reader: JournalReader,
    pub(super) earlier: Option<Arc<EarlierCrawls>>,
    /// The last checkpoint. Its lock admits one checkpoint at a time.
    pub(super) last_checkpoint: tokio::sync::Mutex<LastCheckpoint>,
    /// The end of the archive as found on opening; never locked together with another lock.
    pub(super) tail: Mutex<ArchiveTail>,
    pub(super) opened: OpenedState,
    pub(super) _lock: DirectoryLock,
}

/// The state of the store when it was opened.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenedState {
    pub(super) archive: Option<ArchiveSpan>,
    pub(super) adopted: Vec<PageUrl>,
    pub(super) resumed: bool,
    pub(super) after_a_death: bool,
    pub(super) clock_behind: Duration,
}

impl EmbeddedStore {
    /// Returns true if `directory` holds a store.
    #[must_use]
    pub fn exists(directory: &Path) -> bool {
        directory.join("journal").is_dir()
    }

    /// Returns the key of every hash in this crawl.
    #[must_use]
    pub fn key(&self) -> HashKey {
        self.journal.key()
    }

    /// Returns the valid end of the archive as it was when the store was opened, or as set by
    /// [`EmbeddedStore::revoke_after`].
    #[must_use]
    pub fn archive_end(&self) -> Option<ArchiveSpan> {
        self.tail().end(self.opened.archive.clone())
    }

    /// Returns the redirects of seeds that widened the scope in earlier sessions.
    #[must_use]
    pub fn adopted_seeds(&self) -> &[PageUrl] {
        &self.opened.adopted
    }

    /// Returns true if the store held a crawl when it was opened.
    #[must_use]
    pub fn resumed(&self) -> bool {
        self.opened.resumed
    }

    /// Makes every decision so far durable; concurrent callers share one fdatasync.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be synced.
    pub async fn sync(&self) -> Result<(), StoreFault> {
        self.journal.sync(self.journal.end()).await
    }

    /// Returns the memory that the signature index takes.
    #[must_use]
    pub fn signature_memory(&self) -> SignatureMemory {
        self.signatures().memory()
    }

    /// Returns true if the previous session died: it may have sent a request to any host just
    /// before this session.
    #[must_use]
    pub fn after_a_death(&self) -> bool {
        self.opened.after_a_death
    }

    /// Returns how far the clock was behind the clock of an earlier session when the store was
    /// opened; zero if it was not.
    #[must_use]
    pub fn clock_behind(&self) -> Duration {
        self.opened.clock_behind
    }

    /// Records that the system clock was set: from now on, dates are ahead of, or behind, the clock
    /// for waits.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be written.
    pub fn note_clock_set(
        &self,
        at: Timestamp,
        ahead: Duration,
        behind: Duration,
    ) -> Result<(), StoreFault> {
        self.record(&Record::ClockSet { at, ahead, behind })
    }

    /// Returns the hosts that must rest beyond `now`, with their paces, even if their last response
    /// came in an earlier session. Hosts that share a pace need this before the first request.
    #[must_use]
    pub fn resting(&self, now: Timestamp) -> Vec<(Host, Pace)> {
        self.queue().resting(now)
    }

    /// Appends a record about the frontier to the journal and applies it.
    pub(super) fn record(&self, record: &Record) -> Result<(), StoreFault> {
        self.queue().record(&self.journal, record)
    }

    /// Calls the queue, and drops the values that it no longer needs after it is unlocked.
    fn change_queue<T>(&self, change: impl FnOnce(&mut Queue) -> T) -> T {
        let mut queue = self.queue();
        let returned = change(&mut queue);
        let used = queue.take_used();
        drop(queue);
        drop(used);
        returned
    }

    pub(super) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue
            .lock()
            .expect("no panic can happen while the queue is locked")
    }

    pub(super) fn tail(&self) -> MutexGuard<'_, ArchiveTail> {
        self.tail
            .lock()
            .expect("no panic can happen while the tail is locked")
    }

    pub(super) fn signatures(&self) -> MutexGuard<'_, SignatureStore> {
        self.signatures
            .lock()
            .expect("no panic can happen while the signatures are locked")
    }
}

#[async_trait]
impl Frontier for EmbeddedStore {
    async fn discover(&self, discovered: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        let new = self.change_queue(|queue| queue.discover(&self.journal, discovered))?;
        // A host can list URLs faster than the tables take them. The caller then waits for the
        // tables, so that unflushed memory is bounded: four hosts with packed sitemaps took 447
        // MiB.
        if self.queue().wants_flush() {
            self.save(None, false).await?;
        }
        Ok(new)
    }

    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault> {
        let taken = match self.queue().take(&self.journal, now, want, filter)? {
            Supply::Leases(taken) => taken,
            Supply::NothingBefore(time) => return Ok(Supply::NothingBefore(time)),
            Supply::Exhausted => return Ok(Supply::Exhausted),
        };
        let entries = taken.into_iter().map(Taken::read);
        let entries = entries.collect::<Result<_, _>>()?;
        let leases = self.queue().begin_visits(&self.journal, entries)?;
        Ok(Supply::Leases(leases))
    }

    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        self.change_queue(|queue| queue.settle(&self.journal, lease, settlement, pace))
    }

    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault> {
        Ok(self.queue().claim(lease, url))
    }

    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault> {
        self.queue().adopt_seed(&self.journal, url)
    }

    fn hosts(&self) -> &dyn HostMemory {
        self
    }

    fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest> {
        self.queue().harvests(discovered)
    }

    fn stats(&self) -> FrontierStats {
        self.queue().stats()
    }

    async fn checkpoint(&self, archive: Option<ArchivePlace>) -> Result<Durable, StoreFault> {
        self.save(archive, false).await
    }

    async fn close(&self) -> Result<(), StoreFault> {
        self.queue().give_up_all_claims(&self.journal)?;
        self.record(&Record::Stopped)?;
        self.save(None, true).await.map(drop)
    }
}

#[async_trait]
impl HostMemory for EmbeddedStore {
    async fn pace(&self, host: &Host) -> Result<Option<Pace>, StoreFault> {
        Ok(self.queue().pace(host))
    }

    async fn record_pace(&self, host: &Host, pace: Pace) -> Result<(), StoreFault> {
        let host = host.clone();
        self.record(&Record::Paced { host, pace })
    }

    async fn robots(&self, origin: &str) -> Result<Option<Robots>, StoreFault> {
        let fresh = self.queue().robots_position(origin);
        let position = match fresh {
            Some(position) => Some(position),
            None => frontier::robots_position(&self.database, origin)?,
        };
        let Some(position) = position else {
            return Ok(None);
        };
        match self.reader.record_at(position)? {
            Record::RobotsRead { origin: of, robots } if of == origin => Ok(Some(robots)),
            _ => Err(self.reader.mismatch(position)),
        }
    }

    async fn record_robots(&self, origin: &str, robots: Robots) -> Result<(), StoreFault> {
        let origin = origin.to_owned();
        self.record(&Record::RobotsRead { origin, robots })
    }
}
