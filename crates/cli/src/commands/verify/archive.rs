//! Journal and archive side by side: settled visits stand in the order of the archive, so one
//! reading of both is enough.
//!
//! Each settled visit has a span of a file, which begins where that of the visit before it ends. In
//! it stands the record that the row names, and nothing that a visit does not leave; between the
//! spans there is nothing but the `warcinfo` at a file's beginning. What lies behind the last span
//! was never settled: the crawl cuts it off when it goes on.
//!
//! Files of other crawlers are only read: whatever is broken or odd in them is counted, and is no
//! complaint. That the record is there which a row names is checked, and so is that a file can be
//! opened; how hosts were asked by others is not.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::BufReader;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinks::ArchiveEnd;
use sinks::warc::{ReadFault, Record, WarcReader, WarcStream, is_foreign, name_of};
use store::embedded::record::{Record as JournalRecord, SettledVisit};
use store::embedded::{History, Revocation, revocations};
use store::{ArchiveSpan, FinishedVisit, StoreFault, VisitRecord};
use web::{CanonicalForm, PageUrl};

use super::Complaints;
use super::journal::Journal;
use super::politeness::{self, Politeness, Request};
use crate::crawl_directory;
use crate::progress::SlowProgress;

/// More of a `warcinfo` record is not read: settings are a few KiB, lists of seeds are not in it.
const MAX_WARCINFO: usize = 1 << 20;

/// The counts of an archive.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) archive_files: u64,
    pub(super) archive_records: u64,
    archive_bytes: u64,
    responses: u64,
    requests: u64,
    revisits: u64,
    resources: u64,
    metadata: u64,
    /// Files of other crawlers, and what is in them.
    pub(super) foreign_files: u64,
    pub(super) foreign_records: u64,
    /// Places in them that cannot be read.
    pub(super) foreign_broken: u64,
    /// Records in them that are read although they differ from the standard in some way, each way
    /// counted.
    pub(super) foreign_oddities: u64,
    /// Behind the last settled visit.
    pub(super) unsettled_bytes: u64,
    /// Settled visits that are not there, as after a power cut, and will be made again.
    pub(super) lost_visits: u64,
}

/// The archive, while it is read.
pub(super) struct Archive<'a> {
    files: VecDeque<PathBuf>,
    foreign: Vec<PathBuf>,
    /// The records in files of other crawlers that rows name: where they begin.
    named: HashMap<String, HashSet<u64>>,
    open: Option<Open>,
    politeness: Politeness,
    counts: Counts,
    /// From the first visit on that a power cut took, none that may be lost is looked for.
    torn: bool,
    /// The end of the last settled visit that is archived.
    end: Option<ArchiveEnd>,
    /// The beginning of the archive: behind files of other crawlers it is on the disk before any
    /// visit.
    begins: Option<ArchiveEnd>,
    complaints: &'a mut Complaints,
}

/// A file that is being read.
struct Open {
    path: PathBuf,
    name: String,
    length: u64,
    /// The offset of the next record.
    at: u64,
    reader: WarcReader<BufReader<File>>,
}

/// A visit that was settled.
struct Visit<'a> {
    row: &'a VisitRecord,
    span: &'a ArchiveSpan,
    reached: &'a [PageUrl],
    /// The address whose pace its host shared.
    address: Option<IpAddr>,
}

impl<'a> Archive<'a> {
    pub(super) fn new(
        directory: &Path,
        politeness: Politeness,
        complaints: &'a mut Complaints,
    ) -> Self {
        let files = crawl_directory::archive_files(directory).unwrap_or_else(|error| {
            complaints.add(format!("cannot read {}: {error}", directory.display()));
            Vec::new()
        });
        let (foreign, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|path| is_foreign(path));
        Self {
            counts: Counts {
                archive_files: files.len() as u64,
                foreign_files: foreign.len() as u64,
                ..Counts::default()
            },
            files: files.into(),
            foreign,
            named: HashMap::new(),
            open: None,
            politeness,
            torn: false,
            end: None,
            begins: None,
            complaints,
        }
    }

    /// Reads the journal in `state` once more, and the archive with it.
    pub(super) fn read(&mut self, state: &Path, journal: &Journal) -> Result<(), StoreFault> {
        let mut revoked = revocations(state)?;
        let mut progress = SlowProgress::new("visits compared with the archive");
        let mut archived = 0;
        for record in History::open(state)? {
            match record? {
                JournalRecord::Archived { file, end } => {
                    archived += 1;
                    if self.end.is_none() {
                        self.begins = Some(ArchiveEnd { file, end });
                    }
                }
                JournalRecord::RobotsRead { origin, robots } => {
                    self.politeness
                        .apply_robots(&origin, &robots.text.unwrap_or_default());
                }
                JournalRecord::Settled(SettledVisit {
                    pace,
                    visit:
                        FinishedVisit {
                            row,
                            archived: Some(span),
                            reached,
                            ..
                        },
                    ..
                }) => {
                    if row
                        .duplicate_of
                        .as_ref()
                        .is_some_and(|of| journal.dangling.contains(&of.key()))
                    {
                        self.complaints.add(format!(
                            "the original of {} was not kept: {}",
                            row.url,
                            row.duplicate_of.as_ref().map_or("", PageUrl::as_str)
                        ));
                    }
                    if revoked.take(&row) != Some(Revocation::Lost) {
                        let durable = journal.durable.as_ref();
                        let is_durable = durable.is_some_and(|place| {
                            place.file == span.file && span.end <= place.end
                                || crawl_directory::file_number(&span.file)
                                    < crawl_directory::file_number(&place.file)
                        });
                        // See `archive_tail.rs` in the store: older visits are on the disk for
                        // certain.
                        let may_be_lost = archived + 1 >= journal.archived && !is_durable;
                        let (row, reached) = (&row, &reached);
                        self.visit(
                            &Visit {
                                row,
                                span: &span,
                                reached,
                                address: pace.address,
                            },
                            may_be_lost,
                        );
                    }
                    self.politeness.apply_visit_end(&row.url.host(), pace);
                    self.politeness.apply_pace(&row.url.host(), pace);
                }
                JournalRecord::Restarted { at, rule } => {
                    self.politeness
                        .apply_restart(at, rule.least_wait, rule.factor);
                }
                JournalRecord::Resumed { at, least_wait } => {
                    self.politeness.apply_restart(at, least_wait, 0);
                }
                JournalRecord::Stopped => self.politeness.apply_session_end(),
                JournalRecord::ClockSetBack { to, least_wait } => {
                    self.politeness.apply_set_back(to, least_wait);
                }
                JournalRecord::ClockSet { ahead, behind, .. } => {
                    self.politeness.apply_clock_set(ahead, behind);
                }
                JournalRecord::Paced { host, pace }
                | JournalRecord::Returned { host, pace, .. } => {
                    self.politeness.apply_pace(&host, pace);
                }
                JournalRecord::Postponed { entry, pace, .. } => {
                    self.politeness
                        .apply_pace(&entry.discovered.url.host(), pace);
                }
                JournalRecord::Settled(SettledVisit { pace, visit, .. }) => {
                    let row = visit.row;
                    self.politeness.apply_pace(&row.url.host(), pace);
                    if let (Some(file), Some(offset)) = (row.warc_file, row.warc_offset) {
                        self.named.entry(file).or_default().insert(offset);
                    }
                }
                _ => {}
            }
            progress.step();
        }
        drop(progress);
        self.read_foreign();
        Ok(())
    }

    /// Reads the files of other crawlers.
    fn read_foreign(&mut self) {
        let mut progress = SlowProgress::new("records of other crawlers read");
        for path in std::mem::take(&mut self.foreign) {
            let name = name_of(&path).unwrap_or_default();
            let mut named = self.named.remove(name).unwrap_or_default();
            let mut stream = match WarcStream::open(&path) {
                Ok(stream) => stream,
                Err(fault) => {
                    self.complaints.add(fault.to_string());
                    continue;
                }
            };
            loop {
                match stream.next_record(0) {
                    Ok(Some(record)) if record.addressable => drop(named.remove(&record.offset)),
                    Ok(Some(_)) | Err(ReadFault::Broken { .. }) => {}
                    Ok(None) => break,
                    Err(fault) => {
                        self.complaints.add(fault.to_string());
                        break;
                    }
                }
                progress.step();
            }
            self.counts.foreign_records += stream.records();
            self.counts.foreign_broken += stream.broken();
            self.counts.foreign_oddities += stream
                .deviations()
                .seen()
                .map(|(_, count)| count)
                .sum::<u64>();
            for offset in named {
                self.complaints.add(format!(
                    "{name} at {offset}: no record, where a row has one"
                ));
            }
        }
        for (name, offsets) in std::mem::take(&mut self.named) {
            let pages = offsets.len();
            self.complaints.add(format!(
                "{name} is missing, which has {pages} pages of the crawl"
            ));
        }
    }

    /// Returns the counts and the end of the last visit. Bytes behind it count as unsettled.
    pub(super) fn end(mut self) -> (Counts, politeness::Counts, Option<ArchiveEnd>) {
        if let Some(open) = self.open.take() {
            self.counts.unsettled_bytes += open.length - open.at.min(open.length);
        }
        for path in std::mem::take(&mut self.files) {
            let begins = self.begins.as_ref();
            let begun = begins.filter(|begins| crawl_directory::is_named(&path, &begins.file));
            let length = std::fs::metadata(path).map_or(0, |file| file.len());
            self.counts.unsettled_bytes +=
                length.saturating_sub(begun.map_or(0, |begun| begun.end));
        }
        let begins = self.begins.filter(|_| self.counts.foreign_files > 0);
        (self.counts, self.politeness.counts(), self.end.or(begins))
    }

    fn visit(&mut self, visit: &Visit<'_>, may_be_lost: bool) {
        if self.torn && may_be_lost {
            self.counts.lost_visits += 1;
            return;
        }
        let complaints = self.complaints.count;
        let found = self.enter(visit.span).and_then(|()| self.read_span(visit));
        let is_lost = found.is_err() && may_be_lost && self.complaints.count == complaints;
        if !is_lost {
            self.end = Some(ArchiveEnd {
                file: visit.span.file.clone(),
                end: visit.span.end,
            });
        }
        let Err(what) = found else {
            return;
        };
        if is_lost {
            self.torn = true;
            self.counts.lost_visits += 1;
            // What is still there belongs to nobody any more.
            return;
        }
        self.complaints
            .add(format!("{what}, where {} should be", visit.row.url));
        // One damaged place costs one visit: the next one's place is known.
        if let Some(open) = self.open.take().filter(|open| open.name == visit.span.file) {
            self.open = Open::at(open.path, visit.span.end).ok();
        }
    }

    /// Opens the file of a span, unless it is open.
    fn enter(&mut self, span: &ArchiveSpan) -> Result<(), String> {
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.name == span.file)
        {
            return Ok(());
        }
        let missing = || format!("{} is missing", span.file);
        if !self
            .files
            .iter()
            .any(|path| crawl_directory::is_named(path, &span.file))
        {
            return Err(missing());
        }
        if let Some(open) = self.open.take()
            && open.at < open.length
        {
            self.complaints.add(format!(
                "{}: {} bytes from {} on belong to no visit",
                open.name,
                open.length - open.at,
                open.at
            ));
        }
        while let Some(path) = self.files.pop_front() {
            let is_it = crawl_directory::is_named(&path, &span.file);
            if !is_it {
                self.complaints
                    .add(format!("{} belongs to no visit", path.display()));
                continue;
            }
            let mut open = Open::at(path, 0).map_err(|fault| fault.to_string())?;
            let warcinfo = open.next(MAX_WARCINFO).map_err(|fault| fault.to_string())?;
            match warcinfo {
                Some(record) if record.kind() == "warcinfo" => {
                    self.counts.take(&record);
                    self.politeness.begin_file(&record.block);
                    self.open = Some(open);
                }
                _ => {
                    self.complaints.add(format!(
                        "{}: no warcinfo record at its beginning",
                        span.file
                    ));
                    let path = open.path;
                    self.open = Open::at(path, 0).ok();
                }
            }
            return Ok(());
        }
        Err(missing())
    }

    /// Reads the records of a span.
    fn read_span(&mut self, visit: &Visit<'_>) -> Result<(), String> {
        let Visit { row, span, .. } = visit;
        let page_offset = row.warc_offset.unwrap_or_default();
        let mut is_there = page_offset == span.end;
        let mut first = true;
        while let Some(open) = self.open.as_mut().filter(|open| open.at < span.end) {
            let offset = open.at;
            let at = format!("{} at {offset}", span.file);
            let record = match open.next(0) {
                Ok(Some(record)) => record,
                Ok(None) => return Err(format!("{at}: the file ends")),
                Err(fault) => return Err(fault.to_string()),
            };
            let end = open.at;
            if !record.digests_hold() {
                return Err(format!("{at}: a digest does not agree with the record"));
            }
            if end > span.end {
                return Err(format!("{at}: a record reaches beyond its visit"));
            }
            self.counts.take(&record);
            if record.kind() == "request" {
                self.check_request(visit, &record, &mut first);
            }
            match visit.fits(&record, offset == page_offset, offset < page_offset) {
                Ok(()) => is_there |= offset == page_offset,
                Err(what) => self
                    .complaints
                    .add(format!("{at}: {what}, in the visit to {}", row.url)),
            }
        }
        if is_there {
            Ok(())
        } else {
            Err(format!("{} at {page_offset}: no record", span.file))
        }
    }

    fn check_request(&mut self, visit: &Visit<'_>, record: &Record, first: &mut bool) {
        let url = record
            .target()
            .map(|url| PageUrl::parse(url, &CanonicalForm::default()));
        let (Some(Ok(url)), Ok(at)) = (url, record.date().parse()) else {
            self.complaints.add(format!(
                "{}: a request without a URL and a date, in the visit to {}",
                visit.span.file, visit.row.url
            ));
            return;
        };
        let first = std::mem::replace(first, false);
        // Only where it was asked is where it was to be asked: others were paced as hosts by
        // themselves, as far as is known here.
        let asked_at: Option<IpAddr> = record
            .field("WARC-IP-Address")
            .and_then(|field| field.parse().ok());
        let is_its_host = url.host() == visit.row.url.host();
        let address = visit.address.map(|address| address.to_canonical());
        let request = Request {
            url: &url,
            at,
            first,
            address: address.filter(|address| is_its_host && asked_at == Some(*address)),
        };
        self.politeness
            .check_request(visit.row, &request, self.complaints);
    }
}

impl Visit<'_> {
    /// Checks that a record belongs to this visit.
    fn fits(&self, record: &Record, is_page: bool, is_before: bool) -> Result<(), String> {
        let kind = record.kind();
        let target = record.target().unwrap_or_default();
        let page = self.row.final_url.as_ref().unwrap_or(&self.row.url);
        let known = if is_page {
            let fits = match kind {
                "response" => self.row.kept,
                "revisit" | "metadata" => !self.row.kept,
                _ => false,
            };
            if !fits {
                let kept = if self.row.kept { "kept" } else { "not kept" };
                return Err(format!("a {kind} record for a page that was {kept}"));
            }
            target == page.as_str()
        } else {
            match kind {
                // A hop on the way.
                // A robots.txt that was asked for on the way, of whatever host.
                "resource" if is_before => return Ok(()),
                "response" if !is_before => return Err("a response that no row names".to_owned()),
                "response" | "request" | "metadata" => {
                    let on_the_way = || self.reached.iter().any(|url| url.as_str() == target);
                    target == self.row.url.as_str() || target == page.as_str() || on_the_way()
                }
                other => return Err(format!("a {other} record, which no visit leaves there")),
            }
        };
        if known {
            Ok(())
        } else {
            Err(format!("a {kind} record of {target}"))
        }
    }
}

impl Open {
    fn at(path: PathBuf, at: u64) -> Result<Self, ReadFault> {
        let name = name_of(&path).unwrap_or_default().to_owned();
        Ok(Self {
            length: std::fs::metadata(&path).map_or(0, |file| file.len()),
            reader: WarcReader::open_at(&path, at)?,
            path,
            name,
            at,
        })
    }

    fn next(&mut self, keep: usize) -> Result<Option<Record>, ReadFault> {
        let record = self.reader.next_record(keep)?;
        if let Some(record) = &record {
            self.at = record.offset + record.length;
        }
        Ok(record)
    }
}

impl Counts {
    fn take(&mut self, record: &Record) {
        self.archive_records += 1;
        self.archive_bytes += record.length;
        match record.kind() {
            "response" => self.responses += 1,
            "request" => self.requests += 1,
            "revisit" => self.revisits += 1,
            "resource" => self.resources += 1,
            "metadata" => self.metadata += 1,
            _ => {}
        }
    }
}
