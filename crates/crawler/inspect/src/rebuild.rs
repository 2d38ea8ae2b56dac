//! Rebuilds the state of a crawl, for `crawler rebuild`.
//!
//! Tables are rebuilt from the journal. A damaged or lost journal is rebuilt from its readable part
//! up to the damage, and then from the archive: visits with their verdicts, links and signatures.
//! The new state is written next to the old state, read back into tables, and then replaces it
//! atomically; the old state is kept. A journal that ends before the archive is rebuilt in the same
//! way.
//!
//! Other crawlers' files do not contain verdicts: their pages are judged here, in the order of the
//! files, before the crawl's own files. Their visits refer to places in these files. The files are
//! never changed, and a continued crawl writes after them.
//!
//! The rebuild cannot restore data that is not in the archive: failures of pages that will be
//! retried, the paces of hosts, and the links of duplicates whose text was not kept. For pages off
//! topic, the archive notes the links that were queued. If a page is unchanged since an earlier
//! crawl (`--since`, `--against`), that crawl's archive has its links. The sitemaps that a
//! robots.txt names are queued; the rest of it is fetched again.
//!
//! The topic of a focused crawl comes from its old state, or else from its settings. It is used to
//! recompute the score of links on archived pages.

mod foreign;
mod journal;
mod revisits;
mod scratch_index;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::journal::{History, Revocation, StoreFault};
use crawl::EarlierArchives;
use disk::{Disk, SystemDisk};
use facts::journal::visits as journal_visits;
use messages::{CommandError, SlowProgress, fault, usage, warn};
use neardup::HashKey;
use serde::Serialize;
use settings::crawl_topic::CrawlTopic;
use settings::seeds::{ReadAhead, SEEDS_FILE, Seeds, Suggest};
use settings::values::Key;
use settings::{SETTINGS_FILE, Settings, crawl_directory, machine};
use setup::crawl_store::{open_store, runtime};
use setup::earlier;
use setup::features::adaptive_signatures;
use sinks::warc::{ReadFault, WarcStream, is_foreign, name_of, settled_behind};
use sinks::{ArchiveEnd, CommitPoint, cdxj};
use store::{DirectoryLock, EarlierCrawls, EmbeddedStore, Frontier};
use web::Clock;

use self::journal::Rebuilding;
use self::scratch_index::ScratchIndex;

/// The result of a rebuild.
#[derive(Default, Serialize)]
pub struct Report {
    /// `journal`, or `archive` if the journal was also rebuilt.
    pub from: &'static str,
    /// Records that were copied from the old journal.
    pub journal_records: u64,
    /// Visits that are only in the archive.
    pub archived_visits: u64,
    /// Visits in other crawlers' files, which are judged here.
    pub foreign_visits: u64,
    /// Visits in other crawlers' files that no index can address: each record is compressed
    /// together with other records.
    pub without_place: u64,
    /// Further captures, in other crawlers' files, of pages that already count as visited.
    pub captured_again: u64,
    /// Revisits in other crawlers' files whose original is archived elsewhere.
    pub without_original: u64,
    /// Texts extracted from pages, in other crawlers' files. They do not count as visits.
    pub conversions: u64,
    /// Responses in other crawlers' files that do not represent a page: to methods other than GET,
    /// or with parts of files.
    pub not_pages: u64,
    /// Responses in other crawlers' files whose head, URL or date cannot be read.
    pub unusable: u64,
    /// Records of redirects and failures in other crawlers' files: their URLs will be requested
    /// again.
    pub left: u64,
    /// Pages unchanged since an earlier crawl whose links are in no archive.
    pub without_links: u64,
    /// Links of pages off topic that the archive only contains as a number.
    pub links_omitted: u64,
    /// Places of the archive that could not be read.
    pub damaged_places: u64,
    /// Counts of the rebuilt state.
    pub pages: u64,
    /// Number of queued pages.
    pub queued: u64,
    /// Path of the old state, or of the old tables.
    pub kept: Option<String>,
}

/// What to rebuild, and from what.
pub struct Options<'a> {
    /// Directory of the crawl.
    pub directory: &'a Path,
    /// True if the journal is not read.
    pub from_archive: bool,
    /// File of seeds.
    pub seeds: Option<&'a Path>,
    /// Hash key of the crawl.
    pub hash_key: Option<Key>,
}

/// A rebuilt state.
pub struct Rebuilt {
    /// What was rebuilt.
    pub report: Report,
    /// True if all of the archive was read.
    pub is_complete: bool,
}

/// Rebuilds the state of a crawl. `suggest` returns the remedy for a seed that is not a URL.
pub fn rebuild(args: &Options<'_>, suggest: Suggest) -> Result<Rebuilt, CommandError> {
    let directory = args.directory;
    let archive = crawl_directory::archive(directory);
    let is_crawl = directory.join(SETTINGS_FILE).exists();
    let becomes_crawl = args.from_archive && archive.is_dir();
    if !is_crawl && !becomes_crawl {
        return Err(usage(format!(
            "{} does not contain {SETTINGS_FILE}, which defines the scope of the crawl",
            directory.display()
        ))
        .with_remedy(
            "give the directory that was given to --out; or write the crawl's settings and seeds \
             there again; or make a crawl from any archive in DIR/archive with --from-archive",
        ));
    }
    let has_unread = match args.from_archive {
        true => refuse_nothing(&archive)?,
        false => false,
    };
    let mut settings = Settings::of_crawl(directory)?;
    settings.hash_key = args.hash_key.or(settings.hash_key);
    if args.from_archive {
        find_seeds(args, suggest, &mut settings, &archive)?;
    }
    let clock = machine::clock();
    let state = crawl_directory::state(directory);
    // A rebuild that was interrupted between its two renames left no state, only the new state next
    // to it. The new state is rebuilt, too.
    fs::create_dir_all(&state).map_err(|error| fault(&error))?;
    let lock = DirectoryLock::take(&state, clock.now())?;
    let report = if !args.from_archive && is_complete(&settings, &state)? {
        let kept = set_tables_aside(&state, &clock)?;
        drop(lock);
        let mut report = Report {
            from: "journal",
            kept,
            ..Report::default()
        };
        report.open(&settings, &state, &clock)?;
        report
    } else {
        from_archive(&settings, &state, &clock, args.from_archive, lock)?
    };
    let is_whole = report.unusable == 0 && report.damaged_places == 0;
    Ok(Rebuilt {
        report,
        is_complete: !has_unread && is_whole,
    })
}

/// Refuses a directory without records. Warns about archives in it that are not read or are empty,
/// and returns true if there are any.
fn refuse_nothing(archive: &Path) -> Result<bool, CommandError> {
    if !archive.is_dir() {
        return Ok(false); // Refused later, with its own reason.
    }
    let has_unread =
        crawl_directory::warn_of_unread(archive, false).map_err(|error| fault(&error))?;
    let files = crawl_directory::archive_files(archive).map_err(|error| fault(&error))?;
    let (empty, others): (Vec<_>, Vec<_>) = files.iter().partition(|path| is_empty(path));
    for path in &empty {
        warn(&format!("{} contains no readable record", path.display()));
    }
    match others.is_empty() {
        true => Err(
            usage(format!("{} does not contain an archive", archive.display()))
                .with_remedy("the names of archives end in .warc.gz, .warc.zst or .warc"),
        ),
        false => Ok(has_unread || !empty.is_empty()),
    }
}

/// Returns true if another crawler's file contains no readable record.
fn is_empty(path: &Path) -> bool {
    let Some(mut stream) = WarcStream::open(path).ok().filter(|_| is_foreign(path)) else {
        return false;
    };
    loop {
        match stream.next_record(0) {
            Err(ReadFault::Broken { .. }) => {}
            first => return matches!(first, Ok(None)),
        }
    }
}

/// Sets the seeds from the given file, or else from the settings, or else from the archive.
fn find_seeds(
    args: &Options<'_>,
    suggest: Suggest,
    settings: &mut Settings,
    archive: &Path,
) -> Result<(), CommandError> {
    let form = settings.canonical_form();
    let seeds = match args.seeds {
        Some(file) => {
            settings.seeds = Some(file.to_owned());
            let seeds = Seeds::gather(settings, &form, ReadAhead::All, suggest)?;
            for warning in seeds.warnings.lines() {
                warn(&warning);
            }
            seeds.urls
        }
        None if settings.out.join(SEEDS_FILE).is_file() => return Ok(()),
        None if settings.url.is_empty() => foreign::first_pages(archive, &form)?,
        None => return Ok(()),
    };
    settings.seeds = None;
    settings.url = seeds.iter().map(ToString::to_string).collect();
    Ok(())
}

/// Returns true if the journal exists, is readable to its end, and does not end before the archive.
/// A journal ends before the archive if it is an older copy, or if it was begun after the archive's
/// own journal was lost.
fn is_complete(settings: &Settings, state: &Path) -> Result<bool, CommandError> {
    if !EmbeddedStore::exists(state) {
        return Ok(false);
    }
    let mut progress = SlowProgress::new("visits read");
    let visits = match journal_visits(state) {
        Ok(visits) => visits,
        Err(damage) if is_damage(&damage) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let (mut has_visits, mut end) = (false, None);
    for visit in visits {
        match visit {
            Ok((visit, revocation)) => {
                has_visits = true;
                let is_lost = revocation == Some(Revocation::Lost);
                if let Some(span) = visit.archived.filter(|_| !is_lost) {
                    end = Some(ArchiveEnd {
                        file: span.file,
                        end: span.end,
                    });
                }
            }
            Err(damage) if is_damage(&damage) => {
                warn(&damage.to_string());
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        progress.step();
    }
    let archive = crawl_directory::archive(&settings.out);
    if !has_visits {
        return Ok(!crawl_directory::archive_files(&archive).is_ok_and(|files| !files.is_empty()));
    }
    let missing = crawl_directory::missing_journal(&settings.out)?;
    let behind = match end {
        Some(end) if archive.is_dir() => {
            settled_behind(&archive, &settings.warc_prefix, Some(&end))
        }
        _ => Ok(Vec::new()),
    };
    let behind = behind.map_err(|error| fault(&error))?;
    Ok(missing == 0 && behind.is_empty())
}

fn is_damage(error: &StoreFault) -> bool {
    matches!(
        error,
        StoreFault::Damaged { .. } | StoreFault::Format { .. } | StoreFault::Setting { .. }
    )
}

/// Moves the tables to another path, and returns it.
fn set_tables_aside(state: &Path, clock: &Clock) -> Result<Option<String>, CommandError> {
    let tables = state.join("sled");
    if !tables.exists() {
        return Ok(None);
    }
    let aside = crawl_directory::quarantine_path(&tables, "unusable", clock.now());
    fs::rename(&tables, &aside).map_err(|error| fault(&error))?;
    sync_directory(state)?;
    Ok(Some(aside.display().to_string()))
}

fn sync_directory(directory: &Path) -> Result<(), CommandError> {
    File::open(directory)
        .and_then(|open| open.sync_all())
        .map_err(|error| fault(&error))
}

/// Writes a new state next to the old state, and then replaces it.
fn from_archive(
    settings: &Settings,
    state: &Path,
    clock: &Clock,
    ignore_journal: bool,
    lock: DirectoryLock,
) -> Result<Report, CommandError> {
    let archive = crawl_directory::archive(&settings.out);
    if !archive.is_dir() {
        return Err(usage(format!("{} does not exist", archive.display()))
            .with_remedy("without a journal, a crawl can only be rebuilt from its archive"));
    }
    let new = begin_new_state(state)?;
    let old = match ignore_journal {
        true => None,
        false => History::open(state).ok(),
    };
    let others = foreign::files(&archive)?;
    refuse_names(&archive, &others)?;
    let mut rebuilding = begin(settings, [state, &new], old, others.is_empty(), clock)?;
    rebuilding.replay_foreign(&others)?;
    rebuilding.replay_archive(&archive)?;
    if !others.is_empty() {
        rebuilding.continue_behind(&archive, settings, clock)?;
    }
    let mut report = rebuilding.finish(&archive, &new)?;
    report.open(settings, &new, clock)?;
    write_files(settings, &archive)?;
    let kept = replace_state(state, &new, clock)?;
    sync_directory(&settings.out)?;
    drop(lock);
    report.kept = Some(kept.display().to_string());
    Ok(report)
}

/// Creates the empty directory of the new state.
fn begin_new_state(state: &Path) -> Result<PathBuf, CommandError> {
    let new = state.with_extension("new");
    if new.exists() {
        fs::remove_dir_all(&new).map_err(|error| fault(&error))?;
    }
    fs::create_dir_all(&new).map_err(|error| fault(&error))?;
    Ok(new)
}

/// Begins the rebuilding of a journal in `new`. `is_ours` is true if the archive has no files of
/// other crawlers.
fn begin(
    settings: &Settings,
    [state, new]: [&Path; 2],
    old: Option<History>,
    is_ours: bool,
    clock: &Clock,
) -> Result<Rebuilding, CommandError> {
    let earlier = load_earlier(settings, is_ours)?;
    // A crawl that ran against earlier crawls was hashed with their key, and can only be compared
    // with them under that key.
    let key = old
        .as_ref()
        .and_then(History::key)
        .or(settings.hash_key.map(|key| key.0))
        .or(earlier.as_ref().map(|earlier| earlier.key()));
    let key = match key {
        Some(key) => key,
        None => HashKey::new(machine::random()?),
    };
    let adaptive_signatures = adaptive_signatures(&settings.feature_settings()?, key, state)?;
    let scratch_index = match is_ours {
        true => None,
        false => Some(ScratchIndex::new(
            settings,
            earlier.clone(),
            new,
            key,
            clock,
        )?),
    };
    let mut rebuilding = Rebuilding::begin(
        settings,
        new,
        key,
        adaptive_signatures,
        old,
        scratch_index,
        clock,
    )?;
    rebuilding.set_earlier(earlier.map(|pages| archives(settings, pages)));
    if let Some(topic) = CrawlTopic::to_rebuild(settings)
        && let Some(topic) = topic.keep(settings, new)?
    {
        rebuilding.set_topic(topic);
    }
    Ok(rebuilding)
}

/// Loads the pages of earlier crawls. Warns if they cannot be loaded and are not needed.
fn load_earlier(
    settings: &Settings,
    is_ours: bool,
) -> Result<Option<Arc<EarlierCrawls>>, CommandError> {
    match earlier::load(settings) {
        Ok(pages) => Ok(pages.map(Arc::new)),
        Err(complaint) if is_ours => {
            complaint.warn();
            Ok(None)
        }
        // Pages of other crawlers cannot be judged without the pages of earlier crawls.
        Err(complaint) => Err(complaint),
    }
}

/// Writes the settings and the CDXJ index, and removes the note about the end of the archive.
fn write_files(settings: &Settings, archive: &Path) -> Result<(), CommandError> {
    let as_run = settings.as_run(settings.url.clone())?;
    SystemDisk
        .replace(&settings.out.join(SETTINGS_FILE), as_run.as_bytes())
        .map_err(|error| fault(&error))?;
    if settings.cdxj.is_on() {
        cdxj::make_again(Arc::new(SystemDisk), archive, cdxj::MEMORY)
            .map_err(|error| fault(&error))?;
    }
    // The note is about the old journal.
    let noted = CommitPoint::path(archive);
    if noted.exists() {
        SystemDisk
            .remove(&noted)
            .and_then(|()| SystemDisk.sync_directory(archive))
            .map_err(|error| fault(&error))?;
    }
    Ok(())
}

/// Replaces the state by the new one. Returns the path of the old state.
fn replace_state(state: &Path, new: &Path, clock: &Clock) -> Result<PathBuf, CommandError> {
    let kept = crawl_directory::quarantine_path(state, "old", clock.now());
    fs::rename(state, &kept)
        .and_then(|()| fs::rename(new, state))
        .map_err(|error| fault(&error))?;
    Ok(kept)
}

/// Returns the archives of earlier crawls for `pages`. A missing file is reported when a page in it
/// is needed.
fn archives(settings: &Settings, pages: Arc<EarlierCrawls>) -> EarlierArchives {
    let directories = settings.against.iter();
    let archives = directories.map(|directory| Some(crawl_directory::archive(directory)));
    EarlierArchives::new(pages, archives.collect())
}

/// Refuses other crawlers' files whose numbers are not below ours. A continued crawl removes files
/// after its end, by the numbers in their names.
fn refuse_names(archive: &Path, others: &[PathBuf]) -> Result<(), CommandError> {
    let number = |path: &PathBuf| name_of(path).and_then(crawl_directory::file_number);
    let files = crawl_directory::archive_files(archive).map_err(|error| fault(&error))?;
    let ours = files.iter().filter(|path| !others.contains(path));
    let Some(last) = ours.filter_map(number).max() else {
        return Ok(());
    };
    match others.iter().find(|path| number(path) >= Some(last)) {
        None => Ok(()),
        Some(path) => Err(usage(format!(
            "{} is from another crawler, and its name sorts after the files of this crawl",
            path.display()
        ))
        .with_remedy("rename it so that the name does not end in a number, such as other.warc.gz")),
    }
}

impl Report {
    /// Opens the state, which rebuilds its tables.
    fn open(
        &mut self,
        settings: &Settings,
        state: &Path,
        clock: &Clock,
    ) -> Result<(), CommandError> {
        let settings = Settings {
            hash_key: None,
            ..settings.clone()
        };
        let store = open_store(&settings, None, clock, state)?;
        let stats = store.stats();
        (self.pages, self.queued) = (stats.totals.pages, stats.queued);
        Ok(runtime()?.block_on(store.close())?)
    }
}
