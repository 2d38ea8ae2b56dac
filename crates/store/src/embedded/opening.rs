//! How a store is opened: the tables up to their watermark, the journal from there on.
//!
//! Whatever is wrong with the tables, they are set aside and made again from the journal. What is
//! wrong with the journal stops the opening: it is the truth. Tables that tell of more than the
//! journal prove that it lost its end.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use disk::Disk;

use super::archive_tail::ArchiveTail;
use super::aside;
use super::database::Database;
use super::frontier::Queue;
use super::journal::{Journal, SEGMENT_BYTES};
use super::lock::DirectoryLock;
use super::looks::{Looks, LooksOptions, Mark, Teller};
use super::meta::Meta;
use super::record::Record;
use super::rewrite::rewrite_if_bloated;
use super::saving::{Checkpoint, Fold, Saved, is_quick};
use super::segment::Position;
use super::{Begun, EmbeddedStore, StoreOptions};
use crate::StoreFault;

/// What must be free on the disk before the tables are opened.
const ROOM_BYTES: usize = 1 << 20;

/// What is baked into the tables of a crawl that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Baked {
    /// What the options say; tables that were made under others are made again.
    AsAsked,
    /// What is in them.
    AsItIs,
}

/// What was read when the store was opened.
struct Loaded {
    database: Database,
    meta: Meta,
    queue: Queue,
    looks: Looks,
    checkpoint: Checkpoint,
}

impl EmbeddedStore {
    pub(super) fn open_with(
        directory: &Path,
        options: &StoreOptions,
        baked: Baked,
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
            // Opening makes it durable, which the tables need that are about to be written.
            journal = open()?;
        }
        find_room(&*disk, directory)?;
        let path = directory.join("sled");
        let load = || Loaded::read(&journal, &path, options, baked);
        let loaded = match load() {
            Err(StoreFault::Tables { what, .. }) => {
                aside::set_aside(&path, &what)?;
                load()?
            }
            other => other?,
        };
        let Loaded {
            database,
            meta,
            mut queue,
            looks,
            checkpoint,
        } = loaded;
        let tail = ArchiveTail::read(journal.replay(queue.unsure_from())?)?;
        let begun = Begun {
            archive: queue.archive_end().cloned(),
            adopted: queue.adopted().to_vec(),
            resumed: queue.is_begun(),
            after_a_death: queue.died(),
            clock_behind: queue.clock_behind(options.now),
        };
        queue.begin_session(&journal, options.now)?;
        let teller = Teller::of(&journals)?;
        Ok(Self {
            directory: directory.to_owned(),
            journal,
            disk,
            database: Arc::new(database),
            meta,
            queue: Mutex::new(queue),
            looks: Mutex::new(looks),
            teller,
            earlier: options.earlier.clone(),
            saving: tokio::sync::Mutex::new(Saved {
                checkpoint,
                // Where the archive was cut, its end is said again, be it the same.
                archive: tail.durable.clone().filter(|_| !tail.is_cut()),
            }),
            tail: Mutex::new(tail),
            begun,
            _lock: lock,
        })
    }
}

impl Loaded {
    /// Reads the tables, and hears the journal from their watermark on.
    fn read(
        journal: &Journal,
        path: &Path,
        options: &StoreOptions,
        baked: Baked,
    ) -> Result<Self, StoreFault> {
        let free = options.disk.free_room(path.parent().unwrap_or(path));
        let database = rewrite_if_bloated(Database::open(path)?, free)?;
        let meta = Meta::open(&database)?;
        let mut checkpoint = Checkpoint::read(&meta)?;
        if checkpoint.position > journal.end() {
            // The journal is synced before a watermark is written: what stood behind its end was
            // durable.
            return Err(StoreFault::Damaged {
                path: PathBuf::from("state/journal"),
                offset: journal.end(),
                what: format!(
                    "its end is missing: the tables tell of {} more bytes",
                    checkpoint.position - journal.end()
                ),
            });
        }
        if meta.is_fold_under_way()? {
            tracing::info!(
                "the last session ended while it brought the tables up to date: that is done again"
            );
        }
        let looks = load_looks(journal, &database, &meta, &mut checkpoint, options, baked)?;
        let queue = Queue::load(&database, checkpoint.position, options.rules)?;
        let mut loaded = Self {
            database,
            meta,
            queue,
            looks,
            checkpoint,
        };
        let end = loaded.hear(journal)?;
        let begun = &loaded.checkpoint.features;
        if *begun != options.features {
            return Err(StoreFault::Setting {
                setting: "--features",
                begun: begun.clone(),
                asked: options.features.clone(),
            });
        }
        let heard = end.saturating_sub(loaded.checkpoint.position);
        if is_quick(heard, loaded.database.size_on_disk()?) {
            loaded.fold(end)?;
        }
        Ok(loaded)
    }

    /// Hears the journal from the watermark on; returns where it ends.
    fn hear(&mut self, journal: &Journal) -> Result<Position, StoreFault> {
        let mut begin = self.checkpoint.position;
        let mut replay = journal.replay(begin)?;
        while let Some((end, record)) = replay.next_record()? {
            if let Record::Begun { features, .. } = &record {
                self.checkpoint.features.clone_from(features);
            }
            self.looks.hear(begin, &record)?;
            self.looks.fold_if_much()?;
            self.queue.apply(end, &record);
            begin = end;
            if self.queue.wants_fold() {
                self.fold(begin)?;
            }
        }
        Ok(begin)
    }

    /// Folds what was heard of the journal up to `position`. What is read here was made durable
    /// when the journal was opened.
    fn fold(&mut self, position: Position) -> Result<(), StoreFault> {
        let fold = Fold::of(&mut self.queue, &mut self.looks, position, &self.checkpoint);
        fold.write(&self.database, &self.meta)?;
        self.looks.folded();
        self.queue.folded(&fold.queue);
        self.checkpoint = fold.checkpoint;
        Ok(())
    }
}

/// The looks as they were at the checkpoint; made again from the journal where other settings are
/// baked into their tables.
fn load_looks(
    journal: &Journal,
    database: &Database,
    meta: &Meta,
    checkpoint: &mut Checkpoint,
    options: &StoreOptions,
    baked: Baked,
) -> Result<Looks, StoreFault> {
    let mut asked = LooksOptions {
        rules: options.likeness,
        key: journal.key(),
        earlier: options.earlier.clone(),
        mirror: options.mirror,
        tables: options.tables.clone(),
    };
    if baked == Baked::AsItIs {
        asked = checkpoint.looks.as_it_is(asked);
    }
    let position = checkpoint.position;
    if checkpoint.looks.suits(&asked)? {
        return Looks::load(database, &checkpoint.looks, position, asked);
    }
    if position > 0 {
        tracing::info!(
            to = position,
            "the scope or the tables are others than before: what pages look like is read again from the journal"
        );
    }
    checkpoint.looks = Mark::default();
    checkpoint.write(meta)?;
    let mut looks = Looks::load(database, &checkpoint.looks, position, asked)?;
    looks.hear_again(journal, position)?;
    Ok(looks)
}

/// On a full disk sled 0.34 hangs, or fails in a way that looks like damaged tables: so a file of
/// the size of its first ones is written and removed before it is let near the disk.
fn find_room(disk: &dyn Disk, directory: &Path) -> Result<(), StoreFault> {
    let probe = directory.join("probe");
    let left_over = disk.remove(&probe);
    let gone = left_over.or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    let written = gone.and_then(|()| {
        let file = disk.create(&probe)?;
        disk.append(&file, &vec![0; ROOM_BYTES])?;
        disk.sync(&file)
    });
    let removed = disk.remove(&probe);
    written
        .and(removed)
        .map_err(StoreFault::file("find room for the tables in", directory))
}
