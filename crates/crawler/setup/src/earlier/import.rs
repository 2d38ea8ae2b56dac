//! The import of an archive that another program made, as an earlier crawl.
//!
//! A WACZ package or an index is read once, before the crawl begins. The import is a crawl of its
//! own, in `imported/` below the new crawl: a journal whose visits are the captures of pages, and
//! the settings that they were read with. So the crawl needs nothing but an earlier crawl.
//!
//! The pages of a package are read, so that they have signatures, validators and texts; their
//! places are in the package itself. An index has only digests: its pages are recognised by their
//! bytes. Memory grows as that of a journal that is rebuilt: with the number of URLs.
//!
//! Invariant: the settings are written last. A directory without them is an interrupted import,
//! which is made again.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use corpus::{MAX_DOCUMENT, exchange, is_visited};
use crawl::{AdaptiveSignatures, ArchivedVisit, ListingQuota, RebuildRules, rebuild_visit};
use disk::{Disk, SystemDisk};
use journal::{DiscoveredUrl, Fate, History, VisitRecord};
use messages::{CommandError, SlowProgress, counted, fault, say, usage, warn};
use neardup::HashKey;
use policy::Policy;
use settings::{SETTINGS_FILE, Settings, crawl_directory, machine, rules};
use sinks::PayloadDigest;
use sinks::captures::{CaptureKind, Requests};
use sinks::cdxj::CaptureReader;
use sinks::wacz::{ArchivePart, archives};
use sinks::warc::{Record, WarcStream};
use store::{EmbeddedStore, JournalRebuild, RestoredAdmission, RestoredVisit};
use web::{PageUrl, Scope};

use crate::features::adaptive_signatures;
use crate::target_directory::refuse_occupied;

/// Bytes of a record that are held in memory; the rest of a body is spooled.
const HELD: usize = 256 << 10;

/// The forms of archives that are imported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A WACZ package, with its WARC files.
    Package,
    /// An index, CDXJ or CDX, possibly compressed.
    Index,
}

impl Format {
    fn of(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_string_lossy().to_ascii_lowercase();
        let unpacked = name.strip_suffix(".gz").unwrap_or(&name);
        match unpacked.rsplit_once('.')?.1 {
            "wacz" => Some(Self::Package),
            "cdxj" | "cdx" => Some(Self::Index),
            _ => None,
        }
    }
}

/// An import that is being written.
struct Import<'f> {
    file: &'f Path,
    journal: JournalRebuild,
    /// Directory of the import, where long bodies are spooled.
    directory: PathBuf,
    policy: Policy,
    signatures: AdaptiveSignatures,
    quota: ListingQuota,
    scope: Scope,
    progress: SlowProgress,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    /// Captures that count as seen.
    captures: u64,
    /// Captures without a SHA-1 digest.
    without_digest: u64,
    /// Lines, records and URLs that cannot be read.
    unreadable: u64,
}

/// Imports `file`, the value of `option`, unless an earlier session has done so. Returns the
/// directory of the import.
pub(super) fn import(
    file: &Path,
    option: &str,
    settings: &Settings,
) -> Result<PathBuf, CommandError> {
    let shown = file.display();
    let format = match Format::of(file) {
        Some(Format::Index) if option == "--since" => {
            let error = usage(format!(
                "--since {shown}: an index does not contain the validators of conditional requests"
            ));
            return Err(error.with_remedy(format!("use --against {shown}, or give the WACZ")));
        }
        Some(format) => format,
        None => {
            let error = usage(format!(
                "{option} {shown} is not a crawl, a WACZ or an index"
            ));
            return Err(error.with_remedy(
                "give the directory of a crawl, or a file named .wacz, .cdxj, .cdx, .cdxj.gz or \
                 .cdx.gz",
            ));
        }
    };
    refuse_occupied(settings)?;
    let directory = directory_of(file, settings).map_err(|error| unreadable(file, &error))?;
    if directory.join(SETTINGS_FILE).exists() {
        return Ok(directory);
    }
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(|error| fault(&error))?;
    }
    let mut import = Import::begin(file, &directory, settings)?;
    match format {
        Format::Package => import.read_package()?,
        Format::Index => import.read_index()?,
    }
    import.finish(settings)?;
    Ok(directory)
}

/// Returns the directory of the import: its name depends on the file and on the settings that
/// decide whether pages can be compared.
fn directory_of(file: &Path, settings: &Settings) -> io::Result<PathBuf> {
    let (path, metadata) = (file.canonicalize()?, file.metadata()?);
    let identity = format!(
        "{} {} {}.{} {} {}",
        path.display(),
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        settings.feature_settings_name(),
        settings.main_content.as_str()
    );
    let digest = HashKey::ZERO.digest(identity.as_bytes()) >> 64;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let imported = settings.out.join(crawl_directory::IMPORTED);
    Ok(imported.join(format!("{name}-{digest:016x}")))
}

/// Returns the hash key of the crawl: as set, as in any of the crawls that it continues or is
/// compared with, or else a new one.
fn key(settings: &Settings) -> Result<HashKey, CommandError> {
    if let Some(key) = settings.hash_key {
        return Ok(key.0);
    }
    let mut crawls = vec![settings.out.clone()];
    crawls.extend(settings.against.iter().chain(&settings.since).cloned());
    if let Ok(items) = fs::read_dir(settings.out.join(crawl_directory::IMPORTED)) {
        crawls.extend(items.filter_map(|item| item.ok().map(|item| item.path())));
    }
    for directory in crawls {
        let state = crawl_directory::state(&directory);
        if EmbeddedStore::exists(&state)
            && let Some(key) = History::open(&state).ok().and_then(|known| known.key())
        {
            return Ok(key);
        }
    }
    Ok(HashKey::new(machine::random()?))
}

fn unreadable(file: &Path, error: &io::Error) -> CommandError {
    usage(format!("cannot read {}: {error}", file.display()))
}

impl<'f> Import<'f> {
    fn begin(file: &'f Path, directory: &Path, settings: &Settings) -> Result<Self, CommandError> {
        let key = key(settings)?;
        let state = crawl_directory::state(directory);
        fs::create_dir_all(&state).map_err(|error| fault(&error))?;
        let begun = (machine::clock().date(), settings.feature_settings_name());
        Ok(Self {
            file,
            journal: JournalRebuild::begin(Arc::new(SystemDisk), &state, key, Some(begun))?,
            policy: rules::policy(settings, settings.canonical_form()),
            signatures: adaptive_signatures(&settings.feature_settings()?, key, &state)?,
            directory: directory.to_owned(),
            quota: ListingQuota::default(),
            scope: rules::scope(settings)?,
            progress: SlowProgress::new("captures of another archive read"),
            counts: Counts::default(),
        })
    }

    /// Reads an index. Of captures with the same URL and bytes one after the other, the first
    /// counts.
    fn read_index(&mut self) -> Result<(), CommandError> {
        let file = self.file;
        let mut reader = CaptureReader::open(file).map_err(|error| unreadable(file, &error))?;
        let mut before = None;
        loop {
            let next = reader.next_capture();
            let Some(capture) = next.map_err(|error| unreadable(file, &error))? else {
                break;
            };
            self.progress.step();
            if !is_visited(&capture.url) {
                continue;
            }
            let Ok(url) = PageUrl::parse(&capture.url, &self.policy.reading.canonical) else {
                self.counts.unreadable += 1;
                continue;
            };
            let Some(digest @ PayloadDigest::Sha1(_)) = capture.digest else {
                self.counts.without_digest += 1;
                continue;
            };
            let name = (url.key(), digest.name());
            if before.replace(name) == Some(name) {
                continue;
            }
            let record =
                VisitRecord::new(DiscoveredUrl::new(url, 1, None), Fate::Unique, capture.at);
            let record = VisitRecord {
                payload: Some(digest.name()),
                kept: true,
                ..record
            };
            self.settle(record, RestoredAdmission::None)?;
        }
        self.counts.unreadable += reader.malformed();
        if self.counts.captures + self.counts.without_digest == 0 && reader.malformed() > 0 {
            let error = usage(format!("{} is not an index of captures", file.display()));
            return Err(error.with_remedy("its lines must be CDXJ or CDX, as pywb reads them"));
        }
        Ok(())
    }

    /// Reads the WARC files in a package, in place.
    fn read_package(&mut self) -> Result<(), CommandError> {
        let file = self.file;
        let parts = archives(file);
        let parts = parts.map_err(|error| usage(format!("{}: {error}", file.display())))?;
        for part in parts {
            let input = part.open(file).map_err(|error| unreadable(file, &error))?;
            let stream = WarcStream::new(&file.join(&part.name), input);
            let mut stream = stream.spooling_in(&self.directory, MAX_DOCUMENT);
            let mut requests = Requests::default();
            loop {
                match stream.next_record(HELD) {
                    Ok(Some(record)) => {
                        let is_page = matches!(record.kind(), "response" | "resource");
                        let item = is_page.then(|| record.clone());
                        requests.push(&record, item);
                    }
                    Ok(None) => break,
                    Err(damage) => {
                        if self.counts.unreadable == 0 {
                            warn(&format!("{damage}; reported only once"));
                        }
                        self.counts.unreadable += 1;
                    }
                }
                while let Some((record, kind)) = requests.pop() {
                    self.read_record(&part, &record, kind)?;
                }
            }
            while let Some((record, kind)) = requests.pop_last() {
                self.read_record(&part, &record, kind)?;
            }
        }
        Ok(())
    }

    /// Reads the page in a record, if there is one. A page that is not there whole is recognised by
    /// its bytes only.
    fn read_record(
        &mut self,
        part: &ArchivePart,
        record: &Record,
        kind: CaptureKind,
    ) -> Result<(), CommandError> {
        self.progress.step();
        let page = exchange(record, &self.policy.reading.canonical);
        let is_page = |status: u16| (200..300).contains(&status) && kind == CaptureKind::ByStatus;
        let Some(page) = page.filter(|page| is_page(page.status)) else {
            return Ok(());
        };
        let is_cut = page.truncated.is_some();
        let visit = ArchivedVisit {
            page: DiscoveredUrl::new(page.url.clone(), 1, None),
            at: page.started,
            exchanges: vec![page],
            kept: true,
            dom: None,
            notes: Vec::new(),
            robots: Vec::new(),
            unchanged: None,
        };
        let rules = RebuildRules {
            policy: &self.policy,
            adaptive_signatures: &self.signatures,
            quota: &self.quota,
            link_scores: None,
        };
        let rebuilt = rebuild_visit(rules, &mut self.scope, visit);
        let mut visit = rebuilt.record;
        let place = self.file.canonicalize().ok().filter(|_| record.addressable);
        if let Some(path) = place.as_deref().and_then(Path::to_str) {
            visit.warc_file = Some(path.to_owned());
            visit.warc_offset = Some(part.begin() + record.offset);
        }
        let admission = match rebuilt.signature {
            Some(signature) if !is_cut => RestoredAdmission::New(Box::new(signature)),
            _ => {
                let digest = record.whole_payload();
                let sha1 = digest.filter(|digest| matches!(digest, PayloadDigest::Sha1(_)));
                self.counts.without_digest += u64::from(sha1.is_none());
                visit.payload = sha1.map(|digest| digest.name());
                RestoredAdmission::None
            }
        };
        match visit.payload {
            Some(_) => self.settle(visit, admission),
            None => Ok(()),
        }
    }

    fn settle(
        &mut self,
        record: VisitRecord,
        admission: RestoredAdmission,
    ) -> Result<(), CommandError> {
        self.counts.captures += 1;
        Ok(self.journal.settle(RestoredVisit {
            record,
            end: None,
            finds: Vec::new(),
            reached: Vec::new(),
            admission,
        })?)
    }

    /// Ends the journal, reports the counts, and writes the settings.
    fn finish(self, settings: &Settings) -> Result<(), CommandError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| fault(&error))?;
        runtime.block_on(self.journal.finish())?;
        let (shown, counts) = (self.file.display(), self.counts);
        let captures = counted(counts.captures, "capture");
        say(&format!("{shown}: {captures} of pages count as seen"));
        if counts.without_digest > 0 {
            let captures = counted(counts.without_digest, "capture");
            warn(&format!(
                "{shown}: {captures} without a SHA-1 digest cannot be recognised by their bytes"
            ));
        }
        if counts.unreadable > 0 {
            let places = counted(counts.unreadable, "unreadable place");
            warn(&format!("{shown}: skipped {places}"));
        }
        let settings = Settings {
            against: Vec::new(),
            since: Vec::new(),
            ..settings.clone()
        };
        let text = settings.as_run(Vec::new())?;
        SystemDisk
            .replace(&self.directory.join(SETTINGS_FILE), text.as_bytes())
            .map_err(|error| fault(&error))
    }
}
