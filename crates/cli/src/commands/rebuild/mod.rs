//! `crawler rebuild`: the state of a crawl once more, from what is left of it.
//!
//! Tables come from the journal. A journal that is damaged or gone comes from what can still be
//! read of it, up to the damage, and behind that from the archive: visits with their verdicts,
//! links and looks. It is written beside the old state, read back into tables, and then takes its
//! place in one step; the old state is kept. So it is with a journal that ends before the archive.
//!
//! Files of other crawlers in the archive have no verdicts: their pages are judged here, in the
//! order of the files, before what our own files tell; their rows name the place in the file, which
//! is never changed, and a crawl that goes on writes behind them.
//!
//! What the archive does not have cannot come back: how often a page failed that will be tried
//! again, how hosts wanted to be asked, the links of pages whose text was not kept. Where a page is
//! unchanged since an earlier crawl (`--since`, `--against`), that one's archive tells its links.
//! The sitemaps that a robots.txt names are queued; what else it says is asked for again.

mod foreign;
mod journal;
mod judge;
mod revisits;
pub(super) mod visits;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use crawl::EarlierArchives;
use disk::{Disk, SystemDisk};
use neardup::HashKey;
use serde::Serialize;
use sinks::warc::{name_of, settled_behind};
use sinks::{ArchiveEnd, Settled, cdxj};
use store::embedded::record::Record;
use store::embedded::{DirectoryLock, Earlier, EmbeddedStore, History, TakenBack, revocations};
use store::{ArchiveSpan, FinishedVisit, StoreFault};
use web::Clock;

use self::journal::Rebuilding;
use self::judge::Judge;
use crate::args::RebuildArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::output::{self, Format};
use crate::progress::Patience;
use crate::seeds::Seeds;
use crate::settings::{AS_RUN, Settings};
use crate::terminal::{printable, say};
use crate::{assembly, earlier, history};

/// What was made of what.
#[derive(Default, Serialize)]
struct Report {
    /// `journal`, or `archive` where the journal had to be made again too.
    from: &'static str,
    /// Records that the old journal still told.
    journal_records: u64,
    /// Visits that only the archive told.
    archived_visits: u64,
    /// Visits that files of other crawlers tell, which are judged here.
    foreign_visits: u64,
    /// Of those, the ones that no index can name: their records are packed together with others.
    without_place: u64,
    /// Further captures in those files of pages that count as visited already.
    captured_again: u64,
    /// Visits in those files that found what is archived elsewhere, and not there.
    without_original: u64,
    /// Texts in those files that were made of pages, and are no visits.
    conversions: u64,
    /// Records of redirects and failures in those files that are left to be asked for again.
    left: u64,
    /// Pages that repeat themselves in an earlier crawl, of which no archive tells where they lead.
    without_links: u64,
    /// Places of the archive that could not be read.
    damaged_places: u64,
    /// What is known now.
    pages: u64,
    queued: u64,
    /// Where the old state, or the old tables, are kept.
    kept: Option<String>,
}

pub(crate) fn run(args: &RebuildArgs) -> Result<ExitCode, CliError> {
    let directory = &args.directory;
    let archive = history::archive(directory);
    let is_crawl = directory.join(AS_RUN).exists();
    let is_made_one = args.from_archive && archive.is_dir();
    if !is_crawl && !is_made_one {
        let told = usage(format!(
            "{} has no {AS_RUN}: without it nobody knows what belongs to the crawl",
            directory.display()
        ));
        return Err(told.with_remedy(
            "name the directory that was given to --out; or write the crawl's settings and seeds there once more; \
             --from-archive makes a crawl of what is in DIR/archive, whoever archived it",
        ));
    }
    let mut settings = Settings::of_crawl(directory)?;
    settings.hash_key = args.hash_key.or(settings.hash_key);
    if args.from_archive {
        find_seeds(args, &mut settings, &archive)?;
    }
    let clock = assembly::clock();
    let state = history::state(directory);
    // An interrupted rebuild leaves no state at all for a moment, and the new one beside it: it is
    // made again.
    fs::create_dir_all(&state).map_err(|error| fault(&error))?;
    let lock =
        DirectoryLock::take(&state, clock.now()).map_err(|error| history::of_store(&error))?;
    let sound = !args.from_archive && tells_everything(&settings, &state)?;
    let report = if sound {
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
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &report),
        Format::Table => report.write(out, directory),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Where the crawl begins, from the file that is given; where nothing says it, from what is
/// archived.
fn find_seeds(args: &RebuildArgs, settings: &mut Settings, archive: &Path) -> Result<(), CliError> {
    let form = settings.canonical_form();
    let seeds = match &args.seeds {
        Some(file) => {
            settings.seeds = Some(file.clone());
            let seeds = Seeds::gather(settings, &form)?;
            for complaint in &seeds.complaints {
                say(&format!("warning: {}", printable(complaint)));
            }
            seeds.urls
        }
        None if settings.url.is_empty() => foreign::first_pages(archive, &form)?,
        None => return Ok(()),
    };
    settings.seeds = None;
    settings.url = seeds.iter().map(ToString::to_string).collect();
    Ok(())
}

/// Whether the journal is there, can be read to its end, and ends where the archive does: not
/// before it, as an older one or one that was begun over an archive whose own was lost.
fn tells_everything(settings: &Settings, state: &Path) -> Result<bool, CliError> {
    if !EmbeddedStore::exists(state) {
        return Ok(false);
    }
    let mut patience = Patience::new("journal records read");
    let records = match History::open(state) {
        Ok(records) => records,
        Err(damage) if is_damage(&damage) => return Ok(false),
        Err(error) => return Err(fault(&error)),
    };
    let mut revoked = revocations(state).map_err(|error| fault(&error))?;
    let mut tells_of_visits = false;
    let mut end = None;
    for record in records {
        match record {
            Ok(Record::Settled(settled)) => {
                let FinishedVisit { row, archived, .. } = settled.visit;
                tells_of_visits = true;
                let is_lost = revoked.why(&row) == Some(TakenBack::Lost);
                if let Some(span) = archived.filter(|_| !is_lost) {
                    let ArchiveSpan { file, end: at, .. } = span;
                    end = Some(ArchiveEnd { file, end: at });
                }
            }
            Ok(_) => {}
            Err(damage) if is_damage(&damage) => {
                say(&format!("warning: {}", printable(&damage.to_string())));
                return Ok(false);
            }
            Err(error) => return Err(fault(&error)),
        }
        patience.step();
    }
    let archive = history::archive(&settings.out);
    if !tells_of_visits {
        return Ok(!history::archive_files(&archive).is_ok_and(|files| !files.is_empty()));
    }
    let missing = history::missing_journal(&settings.out)?;
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

/// Keeps the tables beside those that are made next; says where.
fn set_tables_aside(state: &Path, clock: &Clock) -> Result<Option<String>, CliError> {
    let tables = state.join("sled");
    if !tables.exists() {
        return Ok(None);
    }
    let aside = history::aside(&tables, "unusable", clock.now());
    fs::rename(&tables, &aside).map_err(|error| fault(&error))?;
    sync_directory(state)?;
    Ok(Some(aside.display().to_string()))
}

fn sync_directory(directory: &Path) -> Result<(), CliError> {
    File::open(directory)
        .and_then(|open| open.sync_all())
        .map_err(|error| fault(&error))
}

/// Writes a new state beside the old one, and puts it in its place.
fn from_archive(
    settings: &Settings,
    state: &Path,
    clock: &Clock,
    ignore_journal: bool,
    lock: DirectoryLock,
) -> Result<Report, CliError> {
    let archive = history::archive(&settings.out);
    if !archive.is_dir() {
        return Err(usage(format!("{} is not there", archive.display()))
            .with_remedy("without a journal, a crawl can only be made again from its archive"));
    }
    let new = state.with_extension("new");
    if new.exists() {
        fs::remove_dir_all(&new).map_err(|error| fault(&error))?;
    }
    fs::create_dir_all(&new).map_err(|error| fault(&error))?;
    let old = (!ignore_journal)
        .then(|| History::open(state).ok())
        .flatten();
    let others = foreign::files(&archive)?;
    refuse_names(&archive, &others)?;
    let earlier = match earlier::load(settings) {
        Ok(pages) => pages.map(Arc::new),
        Err(complaint) if others.is_empty() => {
            complaint.warn();
            None
        }
        // They are judged by what was seen before.
        Err(complaint) => return Err(complaint),
    };
    // A crawl that was run against others hashed under their key, and can be compared with them
    // under no other.
    let key = old
        .as_ref()
        .and_then(History::key)
        .or(settings.hash_key.map(|key| key.0))
        .or(earlier.as_ref().map(|earlier| earlier.key()));
    let key = match key {
        Some(key) => key,
        None => HashKey::new(assembly::random()?),
    };
    let adaptive_signatures = settings.recipe()?.adaptive_signatures(key, state)?;
    let judge = match others.is_empty() {
        true => None,
        false => Some(Judge::new(settings, earlier.clone(), &new, key, clock)?),
    };
    let mut rebuilding =
        Rebuilding::begin(settings, &new, key, adaptive_signatures, old, judge, clock)?;
    rebuilding.look_into(earlier.map(|pages| archives(settings, pages)));
    rebuilding.hear_others(&others)?;
    rebuilding.hear_archive(&archive)?;
    if !others.is_empty() {
        rebuilding.go_on_behind(&archive, settings, clock)?;
    }
    let mut report = rebuilding.finish(&archive, &new)?;
    report.open(settings, &new, clock)?;
    let as_run = settings.as_run(settings.url.clone())?;
    SystemDisk
        .replace(&settings.out.join(AS_RUN), as_run.as_bytes())
        .map_err(|error| fault(&error))?;

    if settings.cdxj.is_on() {
        cdxj::make_again(Arc::new(SystemDisk), &archive).map_err(|error| fault(&error))?;
    }

    // What it says of a journal is not true of the new one.
    let noted = Settled::path(&archive);
    if noted.exists() {
        SystemDisk
            .remove(&noted)
            .and_then(|()| SystemDisk.sync_directory(&archive))
            .map_err(|error| fault(&error))?;
    }
    let kept = history::aside(state, "old", clock.now());
    fs::rename(state, &kept)
        .and_then(|()| fs::rename(&new, state))
        .map_err(|error| fault(&error))?;
    sync_directory(&settings.out)?;
    drop(lock);
    report.kept = Some(kept.display().to_string());
    Ok(report)
}

/// What the archives of earlier crawls have of `pages`. A file that is gone is missed when a page
/// in it is wanted.
fn archives(settings: &Settings, pages: Arc<Earlier>) -> EarlierArchives {
    let directories = settings.against.iter();
    let directories = directories.map(|directory| Some(history::archive(directory)));
    EarlierArchives::new(pages, directories.collect())
}

/// A crawl that goes on removes what stands behind its end, by the numbers in the names: no file of
/// others may.
fn refuse_names(archive: &Path, others: &[PathBuf]) -> Result<(), CliError> {
    let number = |path: &PathBuf| name_of(path).and_then(history::file_number);
    let files = history::archive_files(archive).map_err(|error| fault(&error))?;
    let ours = files.iter().filter(|path| !others.contains(path));
    let Some(last) = ours.filter_map(number).max() else {
        return Ok(());
    };
    match others.iter().find(|path| number(path) >= Some(last)) {
        None => Ok(()),
        Some(path) => Err(usage(format!(
            "{} is of another crawler, and its name says that it comes behind the files of this crawl",
            path.display()
        ))
        .with_remedy("give it a name that does not end in a number, such as other.warc.gz")),
    }
}

impl Report {
    /// Opens the state, which makes its tables.
    fn open(&mut self, settings: &Settings, state: &Path, clock: &Clock) -> Result<(), CliError> {
        let settings = Settings {
            hash_key: None,
            ..settings.clone()
        };
        let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
        let options = assembly::store_options(&settings, None, clock, &disk)?;
        let store =
            EmbeddedStore::open(state, &options).map_err(|error| history::of_store(&error))?;
        let standing = store::Frontier::standing(&store);
        (self.pages, self.queued) = (standing.totals.pages, standing.queued);
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| fault(&error))?;
        runtime
            .block_on(store::Frontier::close(&store))
            .map_err(|error| fault(&error))
    }

    fn write(&self, out: &mut dyn std::io::Write, directory: &Path) -> std::io::Result<()> {
        let (pages, queued) = (self.pages, self.queued);
        match self.from {
            "journal" => writeln!(
                out,
                "tables made again from the journal: {pages} pages, {queued} queued"
            )?,
            _ => writeln!(
                out,
                "journal made again from {} records of the old one and {} visits of the archive: {pages} pages, {queued} queued",
                self.journal_records, self.archived_visits
            )?,
        }
        if self.foreign_visits > 0 {
            writeln!(
                out,
                "of files of other crawlers: {} visits; {} more captures of the same pages; {} redirects and failures that will be asked for again",
                self.foreign_visits, self.captured_again, self.left
            )?;
        }
        if self.without_original > 0 {
            writeln!(
                out,
                "{} visits found what is not in these files (revisit records): whatever leads there is asked for again",
                self.without_original
            )?;
        }
        if self.conversions > 0 {
            writeln!(
                out,
                "{} texts were passed over (conversion records, as in WET files): they are of no visit",
                self.conversions
            )?;
        }
        if self.without_place > 0 {
            writeln!(
                out,
                "{} of these pages are packed together with others: no index can name them, and their text is not found again",
                self.without_place
            )?;
        }
        if self.without_links > 0 {
            writeln!(
                out,
                "{} pages repeat themselves in an earlier crawl, and no archive tells where they lead",
                self.without_links
            )?;
        }
        if self.damaged_places > 0 {
            writeln!(
                out,
                "{} places of the archive could not be read",
                self.damaged_places
            )?;
        }
        if let Some(kept) = &self.kept {
            writeln!(out, "what was there before is kept in {kept}")?;
        }
        writeln!(
            out,
            "`crawler verify {0}` checks it; `crawler --out {0}` goes on",
            directory.display()
        )
    }
}
