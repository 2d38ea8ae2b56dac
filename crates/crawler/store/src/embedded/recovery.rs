//! Recovery: opening a store from its tables and the part of the journal after their watermark.
//!
//! Tables with any fault are quarantined and rebuilt from the journal. A fault in the journal stops
//! the opening, because the journal is the source of truth. Tables that are ahead of the journal
//! prove that it lost its end.

pub(super) mod archive_tail;
mod quarantine;

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use disk::Disk;
use journal::{Journal, JournalReader, Position, Record, Replay, SEGMENT_BYTES, StoreFault};

use self::archive_tail::ArchiveTail;
use super::checkpoint::meta::Meta;
use super::checkpoint::{Checkpoint, Flush, LastCheckpoint, is_quick};
use super::compaction::compact_if_bloated;
use super::database::Database;
use super::frontier::Queue;
use super::lock::DirectoryLock;
use super::near_dup::SignatureStore;
use super::near_dup::settings::{IndexState, SignatureStoreOptions};
use super::options::StoreOptions;
use super::store::{EmbeddedStore, OpenedState};

/// Number of bytes that must be free on the disk before the tables are opened.
const ROOM_BYTES: usize = 1 << 20;

/// Number of bytes of the journal that are applied at once: few in tests, whose journals are short.
const BYTES_AT_ONCE: u64 = if cfg!(test) { 1 << 8 } else { 1 << 20 };

/// Records of the journal, each with its place.
type Records = Vec<(Range<Position>, Record)>;

/// The settings of an existing crawl's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableSettings {
    /// The settings in the options; tables made with others are rebuilt.
    Requested,
    /// The settings that the tables were made with.
    Stored,
}

/// The state read from the tables and the journal.
struct Loaded {
    database: Database,
    meta: Meta,
    queue: Queue,
    signatures: SignatureStore,
    checkpoint: Checkpoint,
}

impl EmbeddedStore {
    /// Opens the store in `directory`, or creates one there.
    ///
    /// # Errors
    /// [`StoreFault`]: the directory is in use, the journal is damaged, the crawl began with other
    /// settings, or a file cannot be read or written.
    pub fn open(directory: &Path, options: &StoreOptions) -> Result<Self, StoreFault> {
        Self::open_with(directory, options, TableSettings::Requested)
    }

    pub(super) fn open_with(
        directory: &Path,
        options: &StoreOptions,
        settings: TableSettings,
    ) -> Result<Self, StoreFault> {
        let new_key = options.key_to_begin_with()?;
        let journals = directory.join("journal");
        let disk = Arc::clone(&options.disk);
        disk.create_directories(&journals)
            .map_err(StoreFault::file("create", &journals))?;
        let lock = DirectoryLock::take(directory, options.now)?;
        let open = || Journal::open(Arc::clone(&disk), &journals, new_key, SEGMENT_BYTES);
        let mut journal = open()?;
        options.check_key(journal.key())?;
        if journal.replay(0)?.next_record()?.is_none() {
            journal.append(&Record::Begun {
                at: options.now,
                features: options.features.clone(),
            })?;
            // Reopening makes the record durable, which the tables about to be written rely on.
            journal = open()?;
        }
        find_room(&*disk, directory)?;
        let path = directory.join("sled");
        let load = || Loaded::read(&journal, &path, options, settings);
        let loaded = match load() {
            Err(StoreFault::Tables { what, .. }) => {
                quarantine::set_aside(&path, &what)?;
                load()?
            }
            other => other?,
        };
        let Loaded {
            database,
            meta,
            mut queue,
            signatures,
            checkpoint,
        } = loaded;
        let tail = ArchiveTail::read(journal.replay(queue.unsure_from())?)?;
        let opened = OpenedState {
            archive: queue.archive_end().cloned(),
            adopted: queue.adopted().to_vec(),
            resumed: queue.is_begun(),
            after_a_death: queue.died(),
            clock_behind: queue.clock_behind(options.now),
        };
        queue.begin_session(&journal, options.now)?;
        if settings == TableSettings::Requested {
            // An audit compares what the journal has, so it does not queue anything.
            queue.queue_unclaimed(&journal)?;
        }
        let reader = JournalReader::of(&journals)?;
        Ok(Self {
            directory: directory.to_owned(),
            journal,
            disk,
            database: Arc::new(database),
            meta,
            queue: Mutex::new(queue),
            signatures: Mutex::new(signatures),
            reader,
            earlier: options.earlier.clone(),
            last_checkpoint: tokio::sync::Mutex::new(LastCheckpoint {
                checkpoint,
                // If the archive was cut, its end is journalled again even if it is the same.
                archive: tail.durable.clone().filter(|_| !tail.is_cut()),
            }),
            tail: Mutex::new(tail),
            opened,
            _lock: lock,
        })
    }

    /// Returns the end of the archive according to the journal.
    pub fn archive_tail(&self) -> ArchiveTail {
        self.tail().clone()
    }

    /// Revokes the visits that end after this place in the archive: their pages are queued again,
    /// and [`EmbeddedStore::archive_end`] becomes this place. The place is the end of one of
    /// [`ArchiveTail::visits`], or [`ArchiveTail::durable`] (empty and 0 if there is none) to
    /// revoke all of them. Returns the number of revoked visits. Durable when it returns. Call it
    /// before the first lease.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn revoke_after(&self, file: &str, end: u64) -> Result<u64, StoreFault> {
        let revoked = self.tail().split_after(file, end);
        self.last_checkpoint.lock().await.archive = None;
        let count = revoked.len() as u64;
        // From the end: if this is interrupted, the visits that are left to revoke are still after
        // all visits that are kept.
        for mut visit in revoked.into_iter().rev() {
            (visit.visit.warc_file, visit.visit.warc_offset) = (None, None);
            self.queue().revoke(&self.journal, visit)?;
        }
        self.sync().await?;
        Ok(count)
    }
}

impl Loaded {
    /// Reads the tables and replays the journal after their watermark.
    fn read(
        journal: &Journal,
        path: &Path,
        options: &StoreOptions,
        settings: TableSettings,
    ) -> Result<Self, StoreFault> {
        let free = options.disk.free_space(path.parent().unwrap_or(path));
        let database = compact_if_bloated(Database::open(path)?, free)?;
        let meta = Meta::open(&database)?;
        let mut checkpoint = Checkpoint::read(&meta)?;
        if checkpoint.position > journal.end() {
            // The journal is synced before a watermark is written, so the missing bytes were
            // durable.
            return Err(StoreFault::Damaged {
                path: PathBuf::from("state/journal"),
                offset: journal.end(),
                what: format!(
                    "its end is missing: the tables record {} more bytes",
                    checkpoint.position - journal.end()
                ),
            });
        }
        if meta.is_flush_in_progress()? {
            tracing::info!("the last session ended during a flush of the tables: it is repeated");
        }
        let position = checkpoint.position;
        let (queue, signatures) = thread::scope(|threads| {
            let queue = threads.spawn(|| Queue::load(&database, position, options.rules.clone()));
            let checkpoint = &mut checkpoint;
            let signatures =
                load_signatures(journal, &database, &meta, checkpoint, options, settings);
            let queue = queue.join().unwrap_or_else(|panic| resume_unwind(panic));
            (queue, signatures)
        });
        let (signatures, queue) = (signatures?, queue?);
        let mut loaded = Self {
            database,
            meta,
            queue,
            signatures,
            checkpoint,
        };
        let end = loaded.apply(journal)?;
        let begun = &loaded.checkpoint.features;
        if *begun != options.features {
            return Err(StoreFault::Setting {
                setting: "--features",
                begun: begun.clone(),
                asked: options.features.clone(),
            });
        }
        let unflushed = end.saturating_sub(loaded.checkpoint.position);
        if is_quick(unflushed, loaded.database.size_on_disk()?) {
            loaded.flush(end)?;
        }
        Ok(loaded)
    }

    /// Replays the journal after the watermark and returns its end. The next records are read while
    /// the last ones are applied.
    fn apply(&mut self, journal: &Journal) -> Result<Position, StoreFault> {
        let mut end = self.checkpoint.position;
        let mut replay = journal.replay(end)?;
        let mut records = next_records(&mut replay, end)?;
        while let Some((last, _)) = records.last() {
            end = last.end;
            for (_, record) in &records {
                if let Record::Begun { features, .. } = record {
                    self.checkpoint.features.clone_from(features);
                }
            }
            records = self.apply_all(&records, || next_records(&mut replay, end))?;
            if self.queue.wants_flush() {
                self.flush(end)?;
            }
        }
        Ok(end)
    }

    /// Applies records to the signatures and to the queue, which do not depend on each other, on
    /// two threads. Then returns what `read` reads in the meantime.
    fn apply_all<T>(
        &mut self,
        records: &Records,
        read: impl FnOnce() -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let (queue, signatures) = (&mut self.queue, &mut self.signatures);
        thread::scope(|threads| {
            let helper = threads.spawn(|| {
                records.iter().try_for_each(|(span, record)| {
                    signatures.apply(span.start, record)?;
                    signatures.flush_if_large()
                })
            });
            for (span, record) in records {
                queue.apply(span.clone(), record);
            }
            let read = read();
            helper.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            read
        })
    }

    /// Flushes the changes of the journal up to `position`. Opening has made the replayed part
    /// durable.
    fn flush(&mut self, position: Position) -> Result<(), StoreFault> {
        let (queue, signatures) = (&mut self.queue, &mut self.signatures);
        let flush = Flush::of(queue, signatures, position, &self.checkpoint);
        flush.write(&self.database, &self.meta)?;
        self.signatures.end_flush();
        self.queue.end_flush(&flush.queue);
        self.checkpoint = flush.checkpoint;
        Ok(())
    }
}

/// Returns the next records of the journal, from `begin` on; nothing at its end.
fn next_records(replay: &mut Replay, begin: Position) -> Result<Records, StoreFault> {
    let (mut records, mut end) = (Records::new(), begin);
    while end < begin + BYTES_AT_ONCE
        && let Some((next, record)) = replay.next_record()?
    {
        records.push((end..next, record));
        end = next;
    }
    Ok(records)
}

/// Returns the signatures as they were at the checkpoint; rebuilds them from the journal if their
/// tables were made with other settings.
fn load_signatures(
    journal: &Journal,
    database: &Database,
    meta: &Meta,
    checkpoint: &mut Checkpoint,
    options: &StoreOptions,
    settings: TableSettings,
) -> Result<SignatureStore, StoreFault> {
    let mut asked = SignatureStoreOptions {
        rules: options.comparison,
        key: journal.key(),
        earlier: options.earlier.clone(),
        keys_in_memory: options.keys_in_memory,
        tables: options.tables.clone(),
    };
    if settings == TableSettings::Stored {
        asked = checkpoint.signatures.with_stored(asked);
    }
    let position = checkpoint.position;
    if checkpoint.signatures.suits(&asked)? {
        return SignatureStore::load(database, &checkpoint.signatures, position, asked);
    }
    if position > 0 {
        tracing::info!(
            to = position,
            "the scope or the tables have changed: rebuilding the signatures from the journal"
        );
    }
    checkpoint.signatures = IndexState::default();
    checkpoint.write(meta)?;
    let mut signatures = SignatureStore::load(database, &checkpoint.signatures, position, asked)?;
    signatures.replay(journal, position)?;
    Ok(signatures)
}

/// Fails if the disk is full: sled 0.34 hangs there, or fails in a way that looks like damaged
/// tables. To find out, it writes and removes a file of the size of sled's first files before sled
/// opens.
fn find_room(disk: &dyn Disk, directory: &Path) -> Result<(), StoreFault> {
    let probe = directory.join("probe");
    let gone = disk.remove_if_there(&probe);
    let written = gone.and_then(|()| {
        let file = disk.create(&probe)?;
        disk.append(&file, &vec![0; ROOM_BYTES])?;
        disk.sync(&file)
    });
    let removed = disk.remove(&probe);
    written
        .and(removed)
        .map_err(StoreFault::file("find space for the tables in", directory))
}
