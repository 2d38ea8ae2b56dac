//! The signatures of all kept pages: the store's memory for near-duplicates, at ten million pages
//! and more.
//!
//! | file | content |
//! |---|---|
//! | `documents.rs` | the originals: candidates by keys, confirmed by signature records |
//! | `memory_index.rs` | all keys in memory |
//! | `disk_index.rs` | keys, signature records and kept duplicates on disk |
//! | `memtable.rs` | changes since the last flush |
//! | `records.rs` | signature records on disk |
//! | `settings.rs` | the settings and the state of the tables |
//!
//! It has the same life cycle as every part of the store (docs/adr/0006): `load`, `apply`,
//! `begin_flush`, `write`, `end_flush`. With all keys in memory, lookups touch the disk only for
//! the records of candidates; otherwise for keys as well.
//!
//! Invariant: the whole is a function of the journal up to the last record applied, regardless of
//! the flushes.

mod disk_index;
mod documents;
mod keys;
pub(super) mod memory_index;
mod memtable;
mod record_cache;
pub(super) mod records;
pub(super) mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use journal::{DistinctPages, Journal, Page, Position, Record, StoreFault};
use web::{PageUrl, UrlKey};

use self::disk_index::DiskIndex;
use self::documents::Documents;
use self::memory_index::SignatureMemory;
use self::memtable::Memtable;
use self::settings::{IndexSettings, IndexState, SignatureStoreOptions};
use super::database::Database;
use crate::known::{Decision, Known, RetainedEntry};

/// Number of documents between flushes while the tables are rebuilt from the journal: a few hundred
/// MB.
const FLUSH_DOCUMENTS: usize = 1 << 19;

/// The signatures of all kept pages of a crawl. See the module's documentation.
pub(super) struct SignatureStore {
    disk: Arc<DiskIndex>,
    settings: IndexSettings,
    known: Known<Documents>,
}

/// The changes of a flush, to be written without holding a lock.
pub(super) struct Flush {
    disk: Arc<DiskIndex>,
    memtable: Arc<Memtable>,
    /// The state for the checkpoint of this flush.
    pub(super) state: IndexState,
}

impl Flush {
    /// Writes the changes. Writing again is harmless.
    pub(super) fn write(&self) -> Result<(), StoreFault> {
        self.disk.write(&self.memtable)
    }
}

impl SignatureStore {
    /// Reads the tables as they were at the checkpoint with this state, at `position` of the
    /// journal. They may be ahead of it. If the state says that they are void, they are emptied,
    /// and the journal must be replayed from its beginning.
    pub(super) fn load(
        database: &Database,
        state: &IndexState,
        position: Position,
        options: SignatureStoreOptions,
    ) -> Result<Self, StoreFault> {
        let design = options.design()?;
        let settings = IndexSettings::of(&options.rules, &design);
        let disk = Arc::new(DiskIndex::open(database, design)?);
        if state.settings.is_none() {
            disk.clear()?;
        }
        let (thresholds, in_memory) = (options.rules.thresholds, options.keys_in_memory);
        let documents = Documents::load(Arc::clone(&disk), thresholds, in_memory, state.documents)?;
        let mut known = Known::new(options.rules, options.key, documents, options.earlier);
        for (page, retained) in disk.retained(position)? {
            known.retain(page, retained);
        }
        for (page, original) in disk.distinct(position)? {
            known.separate(page, original);
        }
        Ok(Self {
            disk,
            settings,
            known,
        })
    }

    /// Replays the journal from its beginning to `position`, if the tables were void.
    pub(super) fn replay(
        &mut self,
        journal: &Journal,
        position: Position,
    ) -> Result<(), StoreFault> {
        let mut replay = journal.replay(0)?;
        let mut begin = 0;
        while begin < position
            && let Some((end, record)) = replay.next_record()?
        {
            self.apply(begin, &record)?;
            self.flush_if_large()?;
            begin = end;
        }
        Ok(())
    }

    /// Writes the memtable if it is large. For replays of a long journal, when no one else uses the
    /// tables.
    pub(super) fn flush_if_large(&mut self) -> Result<(), StoreFault> {
        if self.known.originals().memtable().added.len() >= FLUSH_DOCUMENTS {
            self.begin_flush().write()?;
            self.end_flush();
        }
        Ok(())
    }

    /// Applies a record that begins at position `begin`, in the same way whether it is new or
    /// replayed.
    pub(super) fn apply(&mut self, begin: Position, record: &Record) -> Result<(), StoreFault> {
        match record {
            Record::Admitted { page, signature } => {
                self.known.admit(page, (**signature).clone(), begin);
            }
            Record::Retained(kept) => {
                let retained = RetainedEntry::of(kept, begin, self.known.group(&kept.page));
                let page = kept.page.key();
                self.known.retain(page, retained);
                self.changed_retained(page, Some(retained));
            }
            Record::Forgotten { page } => {
                if self.known.is_retained(*page) {
                    self.changed_retained(*page, None);
                }
                self.known.forget(*page)?;
            }
            Record::Distinct(DistinctPages { page, original }) => {
                let pair = (page.key(), original.key());
                self.known.separate(pair.0, pair.1);
                let memtable = self.known.originals_mut().memtable_mut();
                memtable.distinct.insert(pair, begin);
            }
            // No other record concerns signatures.
            _ => {}
        }
        Ok(())
    }

    /// Applies a record like [`SignatureStore::apply`], without copying its signature.
    pub(super) fn apply_owned(
        &mut self,
        begin: Position,
        record: Record,
    ) -> Result<(), StoreFault> {
        let Record::Admitted { page, signature } = record else {
            return self.apply(begin, &record);
        };
        self.known.admit(&page, *signature, begin);
        Ok(())
    }

    /// Indexes the keys of all applied records, which otherwise happens at the next lookup.
    pub(super) fn index_added(&mut self) {
        self.known.originals_mut().index_added();
    }

    fn changed_retained(&mut self, page: UrlKey, retained: Option<RetainedEntry>) {
        let memtable = self.known.originals_mut().memtable_mut();
        memtable.retained.insert(page, retained);
    }

    /// Takes the changes since the last flush, in constant time. Lookups still see them.
    pub(super) fn begin_flush(&mut self) -> Flush {
        let documents = self.known.originals_mut();
        let memtable = documents.begin_flush();
        Flush {
            disk: Arc::clone(&self.disk),
            memtable,
            state: IndexState {
                documents: documents.next(),
                settings: Some(self.settings.clone()),
            },
        }
    }

    /// Ends the last flush, which is on disk. Returns its changes so that the caller can drop them
    /// without a lock: they may be a million records.
    pub(super) fn end_flush(&mut self) -> impl Sized + use<> {
        self.known.originals_mut().end_flush()
    }

    /// Returns the decision on a page with this signature.
    pub(super) fn judge(
        &mut self,
        page: &Page,
        signature: &neardup::PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Decision, StoreFault> {
        let group = self.known.group(page);
        let originals = self.known.originals();
        originals.prefetch(page.key(), group, signature);
        self.known.judge(page, signature, canonical)
    }

    /// Returns all kept duplicates, with their ranks.
    pub(super) fn retained(&self) -> impl Iterator<Item = (UrlKey, u32)> {
        self.known
            .retained()
            .map(|(page, retained)| (page, retained.rank))
    }

    /// Returns all originals.
    pub(super) fn originals(&mut self) -> Result<Vec<UrlKey>, StoreFault> {
        self.known.originals_mut().pages()
    }

    /// Returns the number of pages of a cluster that are kept.
    pub(super) fn per_cluster(&self) -> u32 {
        self.known.per_cluster()
    }

    /// Returns true for pages that were separated.
    pub(super) fn are_separate(&self, one: UrlKey, other: UrlKey) -> bool {
        self.known.are_separate(one, other)
    }

    /// Returns true if this crawl knows the page.
    pub(super) fn knows(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        self.known.knows(page)
    }

    pub(super) fn memory(&self) -> SignatureMemory {
        self.known.originals().memory()
    }
}
