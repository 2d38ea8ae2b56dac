//! One machine, one directory: the journal is the truth, sled holds what is derived from it.
//!
//! ```text
//! DIR/lock                  who has it open
//! DIR/journal/NNNN….log     what happened, in order          (journal.rs, segment.rs, record.rs)
//! DIR/sled/                 queue, admissions, seen URLs     (tables.rs)
//! ```
//! Pages of earlier crawls that count as seen stay where they are, in journals that are only read (earlier.rs).
//!
//! Every verb does the same three things: decide (under one short mutex), append what was decided to the journal, and
//! change the tables and the memory accordingly. Opening loads the tables and replays the journal from their last
//! checkpoint; if the tables cannot be opened they are set aside and made again from the journal's beginning.
//! So the invariant: tables and memory are a function of the journal.

mod admission;
mod audit;
mod earlier;
mod history;
pub mod journal;
mod lock;
mod queue;
pub mod record;
mod segment;
mod tables;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use neardup::HashKey;
use web::{PageUrl, Timestamp, UrlKey};

pub use self::audit::{Audit, audit};
pub use self::earlier::Earlier;
pub use self::history::{History, rows};
use self::journal::{Journal, SEGMENT_BYTES};
use self::lock::DirectoryLock;
use self::queue::Queue;
use self::record::Record;
use self::segment::Position;
use self::tables::{Admission, Checkpoint, Opening, Tables};
use crate::known::Known;
use crate::{ArchiveSpan, Find, Frontier, FrontierRules, Lease, LikenessRules};
use crate::{Settlement, Standing, StoreFault, Supply};

/// What must be free on the disk before the tables are opened.
const ROOM_BYTES: usize = 1 << 20;

/// How to open a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// What bounds the frontier.
    pub rules: FrontierRules,
    /// Which pages are compared, and when two are alike. A crawl may go on under other rules: verdicts that were given stay.
    pub likeness: LikenessRules,
    /// What fingerprints are made of, as the option has it; a crawl keeps what it was begun with.
    pub features: String,
    /// The key that every hash must have, if one was asked for; else an earlier crawl's, or `new_key`.
    pub key: Option<HashKey>,
    /// Keys every hash, if the crawl is begun now and no key was asked for; a crawl keeps its key.
    pub new_key: HashKey,
    /// Pages that count as admitted.
    pub earlier: Option<Arc<Earlier>>,
    /// The present.
    pub now: Timestamp,
}

/// The memory of a crawl, in a directory. See the module's documentation.
pub struct EmbeddedStore {
    journal: Journal,
    tables: Arc<Tables>,
    queue: Mutex<Queue>,
    keeper: Mutex<Keeper>,
    /// One checkpoint at a time.
    saving: tokio::sync::Mutex<()>,
    begun: Begun,
    _lock: DirectoryLock,
}

/// What was found when the store was opened.
#[derive(Clone, Debug, Default)]
struct Begun {
    archive: Option<ArchiveSpan>,
    adopted: Vec<PageUrl>,
    resumed: bool,
}

/// What is known of the pages, and which of them are not yet durable.
struct Keeper {
    known: Known,
    fresh: HashMap<UrlKey, Position>,
}

impl EmbeddedStore {
    /// Whether `directory` holds a store.
    #[must_use]
    pub fn exists(directory: &Path) -> bool {
        directory.join("journal").is_dir()
    }

    /// Opens the store in `directory`, or begins one there.
    pub fn open(directory: &Path, options: &StoreOptions) -> Result<Self, StoreFault> {
        let new_key = options.key_to_begin_with()?;
        let journals = directory.join("journal");
        std::fs::create_dir_all(&journals).map_err(StoreFault::file("create", &journals))?;
        let lock = DirectoryLock::take(directory)?;
        let journal = Journal::open(&journals, new_key, SEGMENT_BYTES)?;
        options.check_key(journal.key())?;
        if journal.replay(0)?.next_record()?.is_none() {
            journal.append(&Record::Begun {
                at: options.now,
                features: options.features.clone(),
            })?;
        }
        find_room(directory)?;
        let path = directory.join("sled");
        let loaded = match Tables::open(&path) {
            Opening::Ready(tables) => Self::load(&journal, tables, options),
            Opening::Unusable(what) => Err(StoreFault::Tables {
                path: path.clone(),
                what,
            }),
        };
        let (tables, queue, known, begun) = match loaded {
            Err(StoreFault::Tables { what, .. }) => {
                set_aside(&path, &what)?;
                match Tables::open(&path) {
                    Opening::Ready(tables) => Self::load(&journal, tables, options)?,
                    Opening::Unusable(what) => return Err(StoreFault::Tables { path, what }),
                }
            }
            other => other?,
        };
        let keeper = Keeper {
            known,
            fresh: HashMap::new(),
        };
        Ok(Self {
            journal,
            tables: Arc::new(tables),
            queue: Mutex::new(queue),
            keeper: Mutex::new(keeper),
            saving: tokio::sync::Mutex::new(()),
            begun,
            _lock: lock,
        })
    }

    /// Brings the tables up to the journal's end, then loads memory from them.
    fn load(
        journal: &Journal,
        tables: Tables,
        options: &StoreOptions,
    ) -> Result<(Tables, Queue, Known, Begun), StoreFault> {
        let mut checkpoint = tables.checkpoint()?;
        if checkpoint.position > journal.end() {
            let what = "they are ahead of the journal".to_owned();
            return Err(StoreFault::Tables {
                path: PathBuf::from("sled"),
                what,
            });
        }
        let mut seen = tables.seen(checkpoint.seen_runs)?;
        let mut host_pages = tables.host_pages()?;
        let mut fresh_seen = Vec::new();
        let mut changed_hosts = std::collections::HashSet::new();
        let mut replay = journal.replay(checkpoint.position)?;
        while let Some((position, record)) = replay.next_record()? {
            let mut note_seen = |url: &PageUrl| {
                if seen.insert(url.key()) {
                    fresh_seen.push(url.key());
                }
            };
            match &record {
                Record::Begun { features, .. } => checkpoint.features.clone_from(features),
                Record::Discovered { finds, .. } => finds.iter().for_each(|find| note_seen(&find.url)),
                Record::Settled {
                    row, finds, reached, ..
                } => {
                    finds.iter().for_each(|find| note_seen(&find.url));
                    reached.iter().for_each(&mut note_seen);
                    if row.fate.is_page() {
                        *host_pages.entry(row.url.host()).or_insert(0) += 1;
                        changed_hosts.insert(row.url.host());
                    }
                }
                _ => {}
            }
            apply(&tables, &mut checkpoint, &record)?;
            checkpoint.position = position;
        }
        if checkpoint.features != options.features {
            return Err(StoreFault::Setting {
                setting: "--features",
                begun: checkpoint.features,
                asked: options.features.clone(),
            });
        }
        checkpoint.seen_runs = tables.add_seen(checkpoint.seen_runs, &mut fresh_seen)?;
        let hosts: Vec<_> = changed_hosts
            .into_iter()
            .map(|host| (host.clone(), host_pages[&host]))
            .collect();
        tables.save(&checkpoint, &hosts)?;

        let mut known = Known::new(options.likeness, journal.key(), options.earlier.clone());
        for admission in tables.admissions() {
            let admission = admission?;
            known.admit(&admission.page, admission.portrait);
        }
        for seated in tables.all_seated() {
            let seated = seated?;
            known.seat(
                &seated.page,
                seated.portrait.payload,
                seated.cluster(),
                seated.number,
            );
        }
        let begun = Begun {
            archive: checkpoint.archive.clone(),
            adopted: checkpoint.adopted.clone(),
            resumed: checkpoint.next_sequence > 0,
        };
        let queue = Queue::load(&tables, options.rules, checkpoint, seen, host_pages)?;
        Ok((tables, queue, known, begun))
    }

    /// The key of every hash in this crawl.
    #[must_use]
    pub fn key(&self) -> HashKey {
        self.journal.key()
    }

    /// The valid end of the archive as it was when the store was opened.
    #[must_use]
    pub fn archive_end(&self) -> Option<&ArchiveSpan> {
        self.begun.archive.as_ref()
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

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue
            .lock()
            .expect("no panic can happen while the queue is locked")
    }

    fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper
            .lock()
            .expect("no panic can happen while the keeper is locked")
    }
}

impl StoreOptions {
    /// The key of a crawl that is begun now.
    fn key_to_begin_with(&self) -> Result<HashKey, StoreFault> {
        match (self.key, &self.earlier) {
            (Some(key), Some(earlier)) => earlier.check_key(key).map(|()| key),
            (Some(key), None) => Ok(key),
            (None, Some(earlier)) => Ok(earlier.key()),
            (None, None) => Ok(self.new_key),
        }
    }

    /// Whether the crawl's own key is what was asked for.
    fn check_key(&self, key: HashKey) -> Result<(), StoreFault> {
        if self.key.is_some_and(|asked| asked != key) {
            return Err(StoreFault::Key);
        }
        self.earlier
            .as_ref()
            .map_or(Ok(()), |earlier| earlier.check_key(key))
    }
}

/// What a record means for the tables: the same while it happens and when it is replayed.
fn apply(tables: &Tables, checkpoint: &mut Checkpoint, record: &Record) -> Result<(), StoreFault> {
    match record {
        Record::Begun { .. } => Ok(()),
        Record::Discovered { first, finds } => {
            checkpoint.next_sequence = first + finds.len() as u64;
            tables.queue(record::entries(*first, finds))
        }
        Record::Admitted { page, portrait } => tables.admit(&Admission {
            page: page.clone(),
            portrait: (**portrait).clone(),
        }),
        Record::LetThrough(seated) => tables.seat(seated),
        Record::Forgotten { page } => tables.forget(*page),
        Record::Postponed { entry, at } => tables.postpone(entry, *at),
        Record::Settled {
            sequence,
            row,
            archived,
            first,
            finds,
            ..
        } => {
            checkpoint.totals.count(row);
            checkpoint.next_sequence = first + finds.len() as u64;
            if archived.is_some() {
                checkpoint.archive.clone_from(archived);
            }
            tables.queue(record::entries(*first, finds))?;
            tables.settle(&row.url.host(), row.depth, *sequence)
        }
        Record::SeedAdopted { url } => {
            if !checkpoint.adopted.contains(url) {
                checkpoint.adopted.push(url.clone());
            }
            Ok(())
        }
    }
}

/// On a full disk sled 0.34 hangs, or fails in a way that looks like damaged tables: so a file of the size of its first
/// ones is written and removed before it is let near the disk.
fn find_room(directory: &Path) -> Result<(), StoreFault> {
    let probe = directory.join("probe");
    let written = std::fs::File::create(&probe).and_then(|mut file| {
        file.write_all(&vec![0; ROOM_BYTES])?;
        file.sync_data()
    });
    let removed = std::fs::remove_file(&probe);
    written
        .and(removed)
        .map_err(StoreFault::file("find room for the tables in", directory))
}

/// Tables that cannot be read are kept beside the new ones: they may be wanted to find out why.
fn set_aside(path: &Path, what: &str) -> Result<(), StoreFault> {
    let aside = path.with_extension("unusable");
    tracing::warn!(path = %path.display(), kept = %aside.display(), what, "tables set aside; making them again from the journal");
    if aside.exists() {
        std::fs::remove_dir_all(&aside).map_err(StoreFault::file("remove", &aside))?;
    }
    std::fs::rename(path, &aside).map_err(StoreFault::file("rename", path))
}

#[async_trait]
impl Frontier for EmbeddedStore {
    async fn discover(&self, finds: Vec<Find>) -> Result<usize, StoreFault> {
        self.queue().discover(&self.journal, &self.tables, finds)
    }

    async fn lease(&self, now: Timestamp, want: usize) -> Result<Supply, StoreFault> {
        self.queue().lease(&self.tables, now, want)
    }

    async fn settle(&self, lease: Lease, settlement: Settlement, ready: Timestamp) -> Result<(), StoreFault> {
        self.queue()
            .settle(&self.journal, &self.tables, lease, settlement, ready)
    }

    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault> {
        Ok(self.queue().claim(lease, url))
    }

    async fn adopt_seed(&self, url: &PageUrl) -> Result<(), StoreFault> {
        self.queue().adopt_seed(&self.journal, &self.tables, url)
    }

    fn standing(&self) -> Standing {
        self.queue().standing()
    }

    async fn checkpoint(&self) -> Result<(), StoreFault> {
        let _saving = self.saving.lock().await;
        let (checkpoint, hosts, mut seen) = {
            // An admission is journalled and in the tables before its lock is let go: none is half done here.
            let _no_admission_under_way = self.keeper();
            self.queue().snapshot(&self.journal)
        };
        self.journal.sync(checkpoint.position).await?;
        let durable = self.journal.durable();
        self.keeper().fresh.retain(|_, position| *position > durable);
        let tables = Arc::clone(&self.tables);
        let saved = tokio::task::spawn_blocking(move || {
            let seen_runs = tables.add_seen(checkpoint.seen_runs, &mut seen)?;
            tables.save(
                &Checkpoint {
                    seen_runs,
                    ..checkpoint
                },
                &hosts,
            )?;
            Ok(seen_runs)
        });
        let seen_runs = saved
            .await
            .map_err(|panic| self.tables.broken(panic.to_string()))??;
        self.queue().seen_runs(seen_runs);
        Ok(())
    }
}

#[cfg(test)]
mod likeness_tests;
#[cfg(test)]
mod tests;
