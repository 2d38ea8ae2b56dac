//! What every page looked like that was kept: the store's memory for likeness, at ten million pages
//! and more.
//!
//! | file | what |
//! |---|---|
//! | `documents.rs` | the originals: candidates by keys, confirmed by cards |
//! | `mirror.rs` | all keys in memory |
//! | `shelf.rs` | keys, cards and seats on disk |
//! | `delta.rs` | what was memtable since the last begin_flush |
//! | `settings.rs` | what is baked into the tables, and how far they tell |
//! | `teller.rs` | the pages themselves, from the journal |
//!
//! The life is that of every part of the store (docs/adr/0006): `load`, `hear`, `fold`, `write`,
//! `folded`. With a mirror, look-ups touch the disk only for the cards of candidates; without, for
//! keys as well.
//!
//! Invariant: all of it is a function of the journal up to the last record that was memtable, whatever
//! was end_flush when.

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

use web::{PageUrl, UrlKey};

use self::disk_index::DiskIndex;
use self::documents::Documents;
use self::memory_index::SignatureMemory;
use self::memtable::Memtable;
use self::settings::{IndexSettings, IndexState, SignatureStoreOptions};
use super::database::Database;
use super::journal::Journal;
use super::journal::frame::Position;
use super::journal::record::Record;
use crate::known::{Known, Opinion, Seated};
use crate::{Page, StoreFault};

/// While the tables are made again from the journal, they are end_flush whenever so many documents
/// were memtable: a few hundred MB.
const FLUSH_DOCUMENTS: usize = 1 << 19;

/// The looks of all pages of a crawl. See the module's documentation.
pub(super) struct SignatureStore {
    disk: Arc<DiskIndex>,
    settings: IndexSettings,
    known: Known<Documents>,
}

/// What a begin_flush took aside, to be written without any lock.
pub(super) struct Flush {
    disk: Arc<DiskIndex>,
    memtable: Arc<Memtable>,
    state: IndexState,
}

impl Flush {
    /// Writes it. May be done again.
    pub(super) fn write(&self) -> Result<(), StoreFault> {
        self.disk.write(&self.memtable)
    }

    /// Belongs into the checkpoint that says that it was written.
    pub(super) fn state(&self) -> &IndexState {
        &self.state
    }
}

impl SignatureStore {
    /// Reads the tables as they were at the checkpoint with this state, which the journal had come
    /// to `position` at. They may be ahead of it. Where the state says that they are void, they are
    /// emptied, and everything is to be memtable from the journal's beginning on.
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
        let thresholds = options.rules.thresholds;
        let documents = Documents::load(
            Arc::clone(&disk),
            thresholds,
            options.keys_in_memory,
            state.documents,
        )?;
        let mut known = Known::new(options.rules, options.key, documents, options.earlier);
        for (page, seated) in disk.seats(position)? {
            known.seat(page, seated);
        }
        Ok(Self {
            disk,
            settings,
            known,
        })
    }

    /// Hears the journal from its beginning to `position`, where the tables were void.
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

    /// Writes what was memtable, if it has become much: for those who apply a long journal, and have
    /// the tables to themselves.
    pub(super) fn flush_if_large(&mut self) -> Result<(), StoreFault> {
        if self.known.originals().memtable().added.len() >= FLUSH_DOCUMENTS {
            self.begin_flush().write()?;
            self.end_flush();
        }
        Ok(())
    }

    /// What a record means, which begins at `begin`: the same while it happens and when it is
    /// replayed.
    pub(super) fn apply(&mut self, begin: Position, record: &Record) -> Result<(), StoreFault> {
        match record {
            Record::Admitted { page, signature } => {
                self.known.admit(page, (**signature).clone(), begin);
            }
            Record::LetThrough(kept) => {
                let seated = kept.seated(begin, self.known.group(&kept.page));
                let page = kept.page.key();
                self.known.seat(page, seated);
                self.changed_seat(page, Some(seated));
            }
            Record::Forgotten { page } => {
                if self.known.is_seated(*page) {
                    self.changed_seat(*page, None);
                }
                self.known.forget(*page)?;
            }
            // Nothing else tells of looks.
            _ => {}
        }
        Ok(())
    }

    fn changed_seat(&mut self, page: UrlKey, seated: Option<Seated>) {
        self.known
            .originals_mut()
            .memtable_mut()
            .seats
            .insert(page, seated);
    }

    /// Takes aside what was memtable since the last begin_flush, at once; it goes on being looked at.
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

    /// The last begin_flush is on disk. What was kept for it is let go by the caller, without a lock: it
    /// may be a million cards.
    pub(super) fn end_flush(&mut self) -> impl Sized + use<> {
        self.known.originals_mut().end_flush()
    }

    /// What is to be said of a page that looks like this.
    pub(super) fn judge(
        &mut self,
        page: &Page,
        signature: &neardup::PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Opinion, StoreFault> {
        self.known.judge(page, signature, canonical)
    }

    /// All pages that hold a seat, with its number.
    pub(super) fn seats(&self) -> impl Iterator<Item = (UrlKey, u32)> {
        self.known
            .seated()
            .map(|(page, seated)| (page, seated.number))
    }

    /// All originals.
    pub(super) fn originals(&mut self) -> Result<Vec<UrlKey>, StoreFault> {
        self.known.originals_mut().pages()
    }

    /// How many of a kind are kept.
    pub(super) fn per_cluster(&self) -> u32 {
        self.known.per_cluster()
    }

    /// Whether anything is known of this page, an earlier crawl aside.
    pub(super) fn knows(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        self.known.knows(page)
    }

    pub(super) fn memory(&self) -> SignatureMemory {
        self.known.originals().memory()
    }
}
