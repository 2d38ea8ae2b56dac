//! Compares journal and archive: settled visits are in archive order, so one reading of both is
//! enough.
//!
//! Each settled visit has a span of a file, which begins where the previous visit's span ends. The
//! span contains the record that the visit names, and only records that a visit writes. The scripts
//! of a rendered page may have requested any URL, and the visit also names its DOM. Only the
//! `warcinfo` record at the beginning of a file is outside the spans. The archive after the last
//! span was never settled: the crawl cuts it off when it continues.
//!
//! Other crawlers' files are only read: damage and warnings in them are counted but are not
//! findings. Each file must open, and contain the records that visits name. The politeness of other
//! crawlers is not checked.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::BufReader;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use journal::{
    ArchiveSpan, Record as JournalRecord, Revocation, Revocations, SettledVisit, StoreFault,
    VisitRecord, revocations,
};
use messages::SlowProgress;
use serde::Serialize;
use settings::crawl_directory;
use sinks::ArchiveEnd;
use sinks::warc::{PICTURE_OF, ReadFault, Record, WarcReader, WarcStream, is_foreign, name_of};
use web::{CanonicalForm, PageUrl};

use super::Findings;
use super::journal::Journal;
use super::politeness::{self, Politeness, Request};
use crate::journal::records;

/// Maximum bytes of a `warcinfo` record that are read. It contains a few KiB of settings, without a
/// list of seeds.
pub(super) const MAX_WARCINFO: usize = 1 << 20;

/// The counts of an archive.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    pub archive_files: u64,
    pub archive_records: u64,
    archive_bytes: u64,
    responses: u64,
    requests: u64,
    revisits: u64,
    resources: u64,
    metadata: u64,
    /// DOMs of rendered pages, and texts of pages that were not archived.
    conversions: u64,
    /// Other crawlers' files, and the records in these files.
    pub foreign_files: u64,
    pub foreign_records: u64,
    /// Unreadable places in other crawlers' files.
    pub foreign_broken: u64,
    /// Deviations from the standard in readable records of other crawlers.
    pub foreign_warnings: u64,
    /// Bytes after the last settled visit.
    pub unsettled_bytes: u64,
    /// Settled visits that the archive lost, as in a power cut. They will be repeated.
    pub lost_visits: u64,
}

/// The archive, while it is read.
pub(super) struct Archive<'a> {
    files: VecDeque<PathBuf>,
    foreign: Vec<PathBuf>,
    /// Offsets of the records in other crawlers' files that visits name.
    named: HashMap<String, HashSet<u64>>,
    open: Option<Open>,
    /// The canonical form of the crawl's URLs.
    form: CanonicalForm,
    politeness: Politeness,
    counts: Counts,
    /// Number of the journal's `Archived` records so far.
    syncs: u64,
    /// Set at the first lost visit: later visits that may be lost count as lost without being read.
    torn: bool,
    /// The end of the last settled visit that is archived.
    end: Option<ArchiveEnd>,
    /// The beginning of the archive after other crawlers' files. It is durable before the first
    /// visit.
    begins: Option<ArchiveEnd>,
    findings: &'a mut Findings,
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
    record: &'a VisitRecord,
    span: &'a ArchiveSpan,
    reached: &'a [PageUrl],
    /// Address whose pace its host shared.
    address: Option<IpAddr>,
}

impl<'a> Archive<'a> {
    pub(super) fn new(
        directory: &Path,
        form: CanonicalForm,
        politeness: Politeness,
        findings: &'a mut Findings,
    ) -> Self {
        let files = crawl_directory::archive_files(directory).unwrap_or_else(|error| {
            findings.add(format!("cannot read {}: {error}", directory.display()));
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
            form,
            politeness,
            syncs: 0,
            torn: false,
            end: None,
            begins: None,
            findings,
        }
    }

    /// Reads the journal in `state` again, together with the archive.
    pub(super) fn read(&mut self, state: &Path, journal: &Journal) -> Result<(), StoreFault> {
        let mut revoked = revocations(state)?;
        for record in records(state, "visits compared with the archive")? {
            let record = record?;
            match &record {
                JournalRecord::Archived { file, end } => {
                    self.syncs += 1;
                    if self.end.is_none() {
                        let (file, end) = (file.clone(), *end);
                        self.begins = Some(ArchiveEnd { file, end });
                    }
                }
                JournalRecord::Settled(settled) => self.compare(settled, journal, &mut revoked),
                _ => {}
            }
            self.politeness.apply(&record);
        }
        self.read_foreign();
        Ok(())
    }

    /// Compares a settled visit with its span of the archive. If a visit has no span, its record
    /// can only be in another crawler's file.
    fn compare(&mut self, settled: &SettledVisit, journal: &Journal, revoked: &mut Revocations) {
        let record = &settled.visit.record;
        let Some(span) = &settled.visit.archived else {
            if let (Some(file), Some(offset)) = (&record.warc_file, record.warc_offset) {
                self.named.entry(file.clone()).or_default().insert(offset);
            }
            return;
        };
        if let Some(original) = &record.duplicate_of
            && journal.dangling.contains(&original.key())
        {
            self.findings.add(format!(
                "the original of {} was not archived: {original}",
                record.url
            ));
        }
        if revoked.take(record) == Some(Revocation::Lost) {
            return;
        }
        // Older visits are certainly durable: see `archive_tail.rs` in the store.
        let may_be_lost = self.syncs + 1 >= journal.archived && !journal.is_durable(span);
        let visit = Visit {
            record,
            span,
            reached: &settled.visit.reached,
            address: settled.pace.address,
        };
        self.visit(&visit, may_be_lost);
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
                    self.findings.add(fault.to_string());
                    continue;
                }
            };
            loop {
                match stream.next_record(0) {
                    Ok(Some(record)) if record.addressable => drop(named.remove(&record.offset)),
                    Ok(Some(_)) | Err(ReadFault::Broken { .. }) => {}
                    Ok(None) => break,
                    Err(fault) => {
                        self.findings.add(fault.to_string());
                        break;
                    }
                }
                progress.step();
            }
            self.counts.foreign_records += stream.records();
            self.counts.foreign_broken += stream.broken();
            let deviations = stream.deviations().seen().map(|(_, count)| count);
            self.counts.foreign_warnings += deviations.sum::<u64>();
            for offset in named {
                self.findings.add(format!(
                    "{name} at {offset}: the record of a visit is missing"
                ));
            }
        }
        for (name, offsets) in std::mem::take(&mut self.named) {
            let pages = offsets.len();
            self.findings.add(format!(
                "{name} is missing, with {pages} pages of the crawl"
            ));
        }
    }

    /// Returns the counts and the end of the last visit. Bytes after it count as unsettled.
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
        let findings = self.findings.count;
        let found = self.enter(visit.span).and_then(|()| self.read_span(visit));
        if found.is_err() && may_be_lost && self.findings.count == findings {
            // The rest of its span no longer belongs to a visit.
            self.torn = true;
            self.counts.lost_visits += 1;
            return;
        }
        let ArchiveSpan { file, end, .. } = visit.span.clone();
        self.end = Some(ArchiveEnd { file, end });
        if let Err(what) = found {
            self.findings
                .add(format!("{what} instead of {}", visit.record.url));
            // One damaged place costs one visit: the next one begins at a known offset.
            if let Some(open) = self.open.take().filter(|open| open.name == visit.span.file) {
                self.open = Open::at(open.path, visit.span.end).ok();
            }
        }
    }

    /// Opens the file of a span, unless it is already open.
    fn enter(&mut self, span: &ArchiveSpan) -> Result<(), String> {
        let file = &span.file;
        if self.open.as_ref().is_some_and(|open| open.name == *file) {
            return Ok(());
        }
        let mut files = self.files.iter();
        let Some(place) = files.position(|path| crawl_directory::is_named(path, file)) else {
            return Err(format!("{file} is missing"));
        };
        if let Some(open) = self.open.take()
            && open.at < open.length
        {
            self.findings.add(format!(
                "{}: {} bytes starting at {} do not belong to a visit",
                open.name,
                open.length - open.at,
                open.at
            ));
        }
        for path in self.files.drain(..place) {
            self.findings
                .add(format!("{} belongs to no visit", path.display()));
        }
        let path = self.files.pop_front().expect("the file was found");
        let mut open = Open::at(path, 0).map_err(|fault| fault.to_string())?;
        match open.next(MAX_WARCINFO).map_err(|fault| fault.to_string())? {
            Some(record) if record.kind() == "warcinfo" => {
                self.counts.count(&record);
                self.politeness.begin_file(&record.block);
                self.open = Some(open);
            }
            _ => {
                self.findings
                    .add(format!("{file}: no warcinfo record at its beginning"));
                self.open = Open::at(open.path, 0).ok();
            }
        }
        Ok(())
    }

    /// Reads the records of a span.
    fn read_span(&mut self, visit: &Visit<'_>) -> Result<(), String> {
        let span = visit.span;
        let page_offset = visit.record.warc_offset.unwrap_or_default();
        let mut is_there = page_offset == span.end;
        let mut missing_dom = visit.record.dom_offset();
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
                return Err(format!("{at}: a digest does not match the record"));
            }
            if end > span.end {
                return Err(format!("{at}: a record extends beyond its visit"));
            }
            self.counts.count(&record);
            if record.kind() == "request" {
                self.check_request(visit, &record, &mut first);
            }
            match visit.fits(&record, &self.form, offset) {
                Ok(()) => {
                    is_there |= offset == page_offset;
                    missing_dom = missing_dom.filter(|dom| *dom != offset);
                }
                Err(what) => self.findings.add(format!(
                    "{at}: {what}, in the visit to {}",
                    visit.record.url
                )),
            }
        }
        if let Some(dom) = missing_dom.filter(|_| is_there) {
            self.findings.add(format!(
                "{} at {dom}: no DOM, in the visit to {}",
                span.file, visit.record.url
            ));
        }
        if is_there {
            Ok(())
        } else {
            Err(format!("{} at {page_offset}: no record", span.file))
        }
    }

    fn check_request(&mut self, visit: &Visit<'_>, record: &Record, first: &mut bool) {
        let url = record.page_url(&self.form);
        let (Some(url), Ok(at)) = (url, record.date().parse()) else {
            self.findings.add(format!(
                "{}: a request without a URL and a date, in the visit to {}",
                visit.span.file, visit.record.url
            ));
            return;
        };
        let first = std::mem::replace(first, false);
        // Only requests that were sent to this address share its pace. Other requests count only
        // for their hosts.
        let sent_to: Option<IpAddr> = record
            .field("WARC-IP-Address")
            .and_then(|field| field.parse().ok());
        let is_its_host = url.host() == visit.record.url.host();
        let address = visit.address.map(|address| address.to_canonical());
        let request = Request {
            url: &url,
            at,
            first,
            address: address.filter(|address| is_its_host && sent_to == Some(*address)),
        };
        self.politeness
            .check_request(visit.record, &request, self.findings);
    }
}

impl Visit<'_> {
    /// Checks that a record at this offset belongs to this visit.
    fn fits(&self, record: &Record, form: &CanonicalForm, offset: u64) -> Result<(), String> {
        let page_offset = self.record.warc_offset.unwrap_or_default();
        let (is_page, is_before) = (offset == page_offset, offset < page_offset);
        let kind = record.kind();
        let target = record.target().unwrap_or_default();
        // A record contains the URL as requested, a visit its canonical form.
        let url = record.page_url(form);
        let page = self.record.final_url.as_ref().unwrap_or(&self.record.url);
        let is_known = match kind {
            "response" if is_page && self.record.kept => url.as_ref() == Some(page),
            "revisit" | "conversion" | "metadata" if is_page && !self.record.kept => {
                url.as_ref() == Some(page)
            }
            _ if is_page => {
                let kept = if self.record.kept { "kept" } else { "not kept" };
                return Err(format!("a {kind} record for a page that was {kept}"));
            }
            // A robots.txt that was read for a host on the way.
            "resource" if is_before => true,
            "conversion" if self.record.dom_offset() == Some(offset) && record.is_dom() => {
                url.as_ref() == Some(page)
            }
            "resource" if self.record.dom_offset().is_some() => {
                let shown = target.strip_prefix(PICTURE_OF);
                let shown = shown.and_then(|url| PageUrl::parse(url, form).ok());
                shown.as_ref() == Some(page)
            }
            "response" | "request" if self.may_be_of_scripts(is_before) => url.is_some(),
            "response" if !is_before => return Err("a response that no visit refers to".to_owned()),
            "response" | "request" | "metadata" => {
                let mut urls = [&self.record.url, page].into_iter().chain(self.reached);
                urls.any(|known| url.as_ref() == Some(known))
            }
            other => return Err(format!("an unexpected {other} record")),
        };
        match is_known {
            true => Ok(()),
            false => Err(format!("a {kind} record of {target}")),
        }
    }

    /// Returns true if a record before or after the page's may be of a sub-request, whose URL the
    /// visit does not name. If the page was not archived, its record is the last.
    fn may_be_of_scripts(&self, is_before: bool) -> bool {
        let is_archived = self.record.kept || self.record.dom_offset().is_some();
        self.record.details.rendered.is_some() && (!is_before || !is_archived)
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
    fn count(&mut self, record: &Record) {
        self.archive_records += 1;
        self.archive_bytes += record.length;
        match record.kind() {
            "response" => self.responses += 1,
            "request" => self.requests += 1,
            "revisit" => self.revisits += 1,
            "resource" => self.resources += 1,
            "metadata" => self.metadata += 1,
            "conversion" => self.conversions += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
