//! One machine, one directory: the journal is the truth, sled holds what is derived from it.
//!
//! ```text
//! DIR/lock                  who has it open                                  lock.rs
//! DIR/journal/NNNN….log     what happened, in order                          journal.rs, segment.rs, mark.rs, record.rs
//! DIR/sled/                 the frontier, the looks of pages, the watermark  frontier/, looks/, saving.rs
//! ```
//! Pages of earlier crawls that count as seen stay where they are, in journals that are only read
//! (earlier.rs).
//!
//! Every verb does the same three things: it decides (under one short mutex), appends a record of
//! what it decided to the journal, and hears that record. What was heard is folded into the tables
//! now and then (saving.rs). Opening loads the tables and hears the journal from their watermark on
//! (opening.rs); tables that cannot be read are set aside and made again from the journal's
//! beginning. So the invariant: memory and tables are a function of the journal (docs/adr/0006).
//!
//! What lies in sled is sealed or in blocks with checksums: `sorted/` for keys, `cards.rs` for what
//! verification needs, `meta.rs` for the rest; `database.rs` is the only module that knows sled.

mod admission;
mod archive_tail;
mod aside;
mod audit;
mod cards;
mod database;
mod earlier;
mod frontier;
mod history;
pub mod journal;
mod lock;
mod looks;
mod mark;
mod meta;
mod opening;
mod options;
pub mod record;
mod replayed;
mod restoring;
mod rewrite;
mod saving;
mod seal;
mod segment;
mod shadow;
mod sorted;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use disk::Disk;
use neardup::HashKey;
use web::{Host, Pace, PageUrl, Timestamp};

pub use self::archive_tail::ArchiveTail;
pub use self::audit::{Audit, audit};
pub use self::cards::{Card, Cards};
pub use self::database::Database;
pub use self::earlier::Earlier;
pub(crate) use self::earlier::{Capture, Change};
use self::frontier::Queue;
pub use self::history::{History, Revocations, TakenBack, revocations, rows};
use self::journal::Journal;
pub use self::lock::DirectoryLock;
pub use self::looks::SignatureIndexLocation;
use self::looks::{Looks, Teller};
use self::meta::Meta;
use self::opening::Baked;
pub use self::options::StoreOptions;
use self::record::Record;
pub use self::restoring::{Admission as RestoredAdmission, RestoredVisit, Restoring};
use self::saving::Saved;
pub use self::segment::TornTail;
pub use self::sorted::{Posting, Scan, SortedTables, Summary, Table};
use crate::{
    ArchivePlace, ArchiveSpan, DiscoveredUrl, Durable, Frontier, HostMemory, Lease, LeaseFilter,
    PatternName, Robots,
};
use crate::{Settlement, Standing, StoreFault, Supply};

/// The memory of a crawl, in a directory. See the module's documentation.
pub struct EmbeddedStore {
    directory: PathBuf,
    journal: Journal,
    disk: Arc<dyn Disk>,
    database: Arc<Database>,
    meta: Meta,
    /// Locked after the looks where both are.
    queue: Mutex<Queue>,
    looks: Mutex<Looks>,
    teller: Teller,
    earlier: Option<Arc<Earlier>>,
    /// One checkpoint at a time: what the last one said.
    saving: tokio::sync::Mutex<Saved>,
    /// The end of the archive as it was found; taken alone.
    tail: Mutex<ArchiveTail>,
    begun: Begun,
    _lock: DirectoryLock,
}

/// What was found when the store was opened.
#[derive(Clone, Debug, Default)]
struct Begun {
    archive: Option<ArchiveSpan>,
    adopted: Vec<PageUrl>,
    resumed: bool,
    after_a_death: bool,
    clock_behind: Duration,
}

impl EmbeddedStore {
    /// Whether `directory` holds a store.
    #[must_use]
    pub fn exists(directory: &Path) -> bool {
        directory.join("journal").is_dir()
    }

    /// Returns how many bytes the journal of the store in `directory` has, whole or not.
    ///
    /// # Errors
    /// What the system said.
    pub fn journal_length(directory: &Path) -> Result<u64, StoreFault> {
        let segments = segment::segments(&directory.join("journal"))?;
        let Some((base, path)) = segments.last() else {
            return Ok(0);
        };
        let last = std::fs::metadata(path).map_err(StoreFault::file("examine", path))?;
        Ok(base + last.len())
    }

    /// Returns the torn end of the journal of the store in `directory`, if it has one.
    ///
    /// # Errors
    /// [`StoreFault::Damaged`] where more than its end is damaged; otherwise what the system said.
    pub fn torn_tail(directory: &Path) -> Result<Option<TornTail>, StoreFault> {
        segment::torn_tail(&directory.join("journal"))
    }

    /// Opens the store in `directory`, or begins one there.
    pub fn open(directory: &Path, options: &StoreOptions) -> Result<Self, StoreFault> {
        Self::open_with(directory, options, Baked::AsAsked)
    }

    /// The key of every hash in this crawl.
    #[must_use]
    pub fn key(&self) -> HashKey {
        self.journal.key()
    }

    /// The valid end of the archive as it was when the store was opened, or as
    /// [`EmbeddedStore::revoke_after`] left it.
    #[must_use]
    pub fn archive_end(&self) -> Option<ArchiveSpan> {
        self.tail().end(self.begun.archive.clone())
    }

    /// Redirects of seeds that widened the scope in earlier sessions.
    #[must_use]
    pub fn adopted_seeds(&self) -> &[PageUrl] {
        &self.begun.adopted
    }

    /// Whether the store held a crawl when it was opened.
    #[must_use]
    pub fn resumed(&self) -> bool {
        self.begun.resumed
    }

    /// Opens a pattern of URLs again, and queues what was left out for its sake: how many URLs that
    /// were; none where no such pattern is known. Durable when it returns. Call it before the first
    /// lease.
    ///
    /// # Errors
    /// What the journal or the tables meet.
    pub async fn reopen(&self, name: &PatternName) -> Result<Option<u64>, StoreFault> {
        if !self.queue().reopen(&self.journal, name)? {
            return Ok(None);
        }
        let mut count = 0;
        for row in rows(&self.directory)? {
            let row = row?;
            if PatternName::that_left_out(&row).as_ref() == Some(name) {
                self.queue()
                    .revoke(&self.journal, Box::new(row), Vec::new())?;
                count += 1;
            }
        }
        self.sync().await?;
        Ok(Some(count))
    }

    /// Makes everything durable that was decided so far; many callers share one fdatasync.
    pub async fn sync(&self) -> Result<(), StoreFault> {
        self.journal.sync(self.journal.end()).await
    }

    /// What is held in memory of the pages' looks.
    #[must_use]
    pub fn looks_memory(&self) -> SignatureIndexLocation {
        self.looks().memory()
    }

    /// Whether the session before did not end in order: any host may have been asked just before
    /// this one.
    #[must_use]
    pub fn after_a_death(&self) -> bool {
        self.begun.after_a_death
    }

    /// By how much the clock was behind that of an earlier session when the store was opened; zero
    /// where it was not.
    #[must_use]
    pub fn clock_behind(&self) -> Duration {
        self.begun.clock_behind
    }

    /// Takes note that the machine's clock was set: dates are ahead of the clock of the waits, or
    /// behind it, by this much from now on.
    ///
    /// # Errors
    /// What the journal meets.
    pub fn note_clock_set(
        &self,
        at: Timestamp,
        ahead: Duration,
        behind: Duration,
    ) -> Result<(), StoreFault> {
        self.queue()
            .note_clock_set(&self.journal, at, ahead, behind)
    }

    /// The hosts whose last answer, in whatever session, asks to be left alone beyond `now`, and
    /// how: what to know before the first request, where hosts share their pace.
    #[must_use]
    pub fn resting(&self, now: Timestamp) -> Vec<(Host, Pace)> {
        self.queue().resting(now)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue
            .lock()
            .expect("no panic can happen while the queue is locked")
    }

    fn tail(&self) -> MutexGuard<'_, ArchiveTail> {
        self.tail
            .lock()
            .expect("no panic can happen while the tail is locked")
    }

    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.looks
            .lock()
            .expect("no panic can happen while the looks are locked")
    }
}

#[cfg(test)]
impl EmbeddedStore {
    pub(crate) async fn fold(&self) -> Result<(), StoreFault> {
        self.save(None, true).await.map(drop)
    }

    /// What a process leaves that dies while it writes a fold; drop the store afterwards.
    pub(crate) fn fold_in_part(&self, parts: u8) {
        let mut fold = self.queue().fold(self.journal.end());
        fold.leave_out(parts);
        fold.write(&self.database).unwrap();
        self.database.flush().unwrap();
    }
}

#[async_trait]
impl Frontier for EmbeddedStore {
    async fn discover(&self, finds: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        let new = self.queue().discover(&self.journal, finds)?;
        // A host can list faster than the tables take it. Who discovers waits for them then, so
        // that what they do not have yet is bounded: four hosts with packed sitemaps took 447 MiB.
        if self.queue().wants_fold() {
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
        self.queue().lease(&self.journal, now, want, filter)
    }

    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        self.queue().settle(&self.journal, lease, settlement, pace)
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

    fn standing(&self) -> Standing {
        self.queue().standing()
    }

    async fn checkpoint(&self, archive: Option<ArchivePlace>) -> Result<Durable, StoreFault> {
        self.save(archive, false).await
    }

    async fn close(&self) -> Result<(), StoreFault> {
        self.queue().stop(&self.journal)?;
        self.save(None, true).await.map(drop)
    }
}

#[async_trait]
impl HostMemory for EmbeddedStore {
    async fn pace(&self, host: &Host) -> Result<Option<Pace>, StoreFault> {
        Ok(self.queue().pace(host))
    }

    async fn record_pace(&self, host: &Host, pace: Pace) -> Result<(), StoreFault> {
        self.queue().record_pace(&self.journal, host, pace)
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
        match self.teller.record_at(position)? {
            Record::RobotsRead { origin: of, robots } if of == origin => Ok(Some(robots)),
            _ => Err(self.teller.wrong(position)),
        }
    }

    async fn record_robots(&self, origin: &str, robots: Robots) -> Result<(), StoreFault> {
        self.queue().record_robots(&self.journal, origin, robots)
    }
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod likeness_tests;
#[cfg(test)]
mod power_tests;
#[cfg(test)]
mod tests;
