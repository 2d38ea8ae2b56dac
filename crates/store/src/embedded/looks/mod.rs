//! What every page looked like that was kept: the store's memory for likeness, at ten million pages
//! and more.
//!
//! | file | what |
//! |---|---|
//! | `documents.rs` | the originals: candidates by keys, confirmed by cards |
//! | `mirror.rs` | all keys in memory |
//! | `shelf.rs` | keys, cards and seats on disk |
//! | `delta.rs` | what was heard since the last fold |
//! | `settings.rs` | what is baked into the tables, and how far they tell |
//! | `teller.rs` | the pages themselves, from the journal |
//!
//! The life is that of every part of the store (docs/adr/0006): `load`, `hear`, `fold`, `write`,
//! `folded`. With a mirror, look-ups touch the disk only for the cards of candidates; without, for
//! keys as well.
//!
//! Invariant: all of it is a function of the journal up to the last record that was heard, whatever
//! was folded when.

mod card;
mod delta;
mod documents;
mod keys;
mod mirror;
mod settings;
mod shelf;
mod teller;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use neardup::{HashKey, TableDesign};
use web::{PageUrl, UrlKey};

use self::delta::Delta;
use self::documents::Documents;
pub use self::mirror::SignatureIndexLocation;
pub(super) use self::settings::Mark;
use self::settings::{Design, Settings};
use self::shelf::Shelf;
pub(super) use self::teller::Teller;
use super::Earlier;
use super::database::Database;
use super::journal::Journal;
use super::record::Record;
use super::segment::Position;
use crate::known::{Decision, Known, RetainedEntry};
use crate::{LikenessRules, Page, StoreFault};

/// What a card takes in memory, about: itself, its text's signature, and its place in a map.
const CARD_BYTES: usize = 64 + 272 + 48;

/// While the tables are made again from the journal, they are folded whenever so many documents
/// were heard: a few hundred MB.
const HEARD_AT_A_TIME: usize = 1 << 19;

/// How the looks are kept.
#[derive(Clone, Debug)]
pub(super) struct LooksOptions {
    pub(super) rules: LikenessRules,
    pub(super) key: HashKey,
    pub(super) earlier: Option<Arc<Earlier>>,
    /// Whether all keys are in memory.
    pub(super) mirror: bool,
    /// The tables of fingerprints on disk, if not the usual ones.
    pub(super) tables: Option<TableDesign>,
}

impl LooksOptions {
    fn design(&self) -> Result<Design, StoreFault> {
        Design::of(self.tables.as_ref(), self.rules.thresholds.distance())
    }
}

/// The looks of all pages of a crawl. See the module's documentation.
pub(super) struct Looks {
    shelf: Arc<Shelf>,
    settings: Settings,
    known: Known<Documents>,
}

/// What a fold took aside, to be written without any lock.
pub(super) struct Fold {
    shelf: Arc<Shelf>,
    delta: Arc<Delta>,
    mark: Mark,
}

impl Fold {
    /// Writes it. May be done again.
    pub(super) fn write(&self) -> Result<(), StoreFault> {
        self.shelf.write(&self.delta)
    }

    /// Belongs into the checkpoint that says that it was written.
    pub(super) fn mark(&self) -> &Mark {
        &self.mark
    }
}

impl Looks {
    /// Reads the tables as they were at the checkpoint with this mark, which the journal had come
    /// to `position` at. They may be ahead of it. Where the mark says that they are void, they are
    /// emptied, and everything is to be heard from the journal's beginning on.
    pub(super) fn load(
        database: &Database,
        mark: &Mark,
        position: Position,
        options: LooksOptions,
    ) -> Result<Self, StoreFault> {
        let design = options.design()?;
        let settings = Settings::of(&options.rules, &design);
        let shelf = Arc::new(Shelf::open(database, design)?);
        if mark.settings.is_none() {
            shelf.clear()?;
        }
        let thresholds = options.rules.thresholds;
        let documents = Documents::load(
            Arc::clone(&shelf),
            thresholds,
            options.mirror,
            mark.documents,
        )?;
        let mut known = Known::new(options.rules, options.key, documents, options.earlier);
        for (page, seated) in shelf.seats(position)? {
            known.retain(page, seated);
        }
        Ok(Self {
            shelf,
            settings,
            known,
        })
    }

    /// Hears the journal from its beginning to `position`, where the tables were void.
    pub(super) fn hear_again(
        &mut self,
        journal: &Journal,
        position: Position,
    ) -> Result<(), StoreFault> {
        let mut replay = journal.replay(0)?;
        let mut begin = 0;
        while begin < position
            && let Some((end, record)) = replay.next_record()?
        {
            self.hear(begin, &record)?;
            self.fold_if_much()?;
            begin = end;
        }
        Ok(())
    }

    /// Writes what was heard, if it has become much: for those who hear a long journal, and have
    /// the tables to themselves.
    pub(super) fn fold_if_much(&mut self) -> Result<(), StoreFault> {
        if self.known.originals().heard().added.len() >= HEARD_AT_A_TIME {
            self.fold().write()?;
            self.folded();
        }
        Ok(())
    }

    /// What a record means, which begins at `begin`: the same while it happens and when it is
    /// replayed.
    pub(super) fn hear(&mut self, begin: Position, record: &Record) -> Result<(), StoreFault> {
        match record {
            Record::Admitted { page, signature } => {
                self.known.admit(page, (**signature).clone(), begin);
            }
            Record::Retained(kept) => {
                let seated = kept.entry(begin, self.known.group(&kept.page));
                let page = kept.page.key();
                self.known.retain(page, seated);
                self.changed_seat(page, Some(seated));
            }
            Record::Forgotten { page } => {
                if self.known.is_retained(*page) {
                    self.changed_seat(*page, None);
                }
                self.known.forget(*page)?;
            }
            // Nothing else tells of looks.
            _ => {}
        }
        Ok(())
    }

    fn changed_seat(&mut self, page: UrlKey, seated: Option<RetainedEntry>) {
        self.known
            .originals_mut()
            .heard_mut()
            .seats
            .insert(page, seated);
    }

    /// Takes aside what was heard since the last fold, at once; it goes on being looked at.
    pub(super) fn fold(&mut self) -> Fold {
        let documents = self.known.originals_mut();
        let delta = documents.fold();
        Fold {
            shelf: Arc::clone(&self.shelf),
            delta,
            mark: Mark {
                documents: documents.next(),
                settings: Some(self.settings.clone()),
            },
        }
    }

    /// The last fold is on disk. What was kept for it is let go by the caller, without a lock: it
    /// may be a million cards.
    pub(super) fn folded(&mut self) -> impl Sized + use<> {
        self.known.originals_mut().folded()
    }

    /// What is to be said of a page that looks like this.
    pub(super) fn judge(
        &mut self,
        page: &Page,
        signature: &neardup::PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Decision, StoreFault> {
        self.known.judge(page, signature, canonical)
    }

    /// All pages that hold a seat, with its number.
    pub(super) fn seats(&self) -> impl Iterator<Item = (UrlKey, u32)> {
        self.known
            .retained()
            .map(|(page, seated)| (page, seated.rank))
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

    pub(super) fn memory(&self) -> SignatureIndexLocation {
        self.known.originals().memory()
    }
}
