//! Reads an archive for its index: the records of a span one by one, each with its capture if it
//! has one.

use std::path::{Path, PathBuf};

use super::capture::{Capture, GLANCE, UnplacedCapture};
use super::neighbours::Neighbours;
use crate::captures::{CaptureKind, Requests};
use crate::fault::SinkFault;
use crate::warc::archive_end::ArchiveEnd;
use crate::warc::files::{self, file_number};
use crate::warc::foreign;
use crate::warc::parsed::Record;
use crate::warc::read::{ReadFault, WarcReader};
use crate::warc::stream::WarcStream;

/// A record with its position.
pub(super) struct ScannedRecord<'a> {
    capture: Option<Capture>,
    file: &'a str,
    end: u64,
}

impl ScannedRecord<'_> {
    /// Returns the record's line, with its line break.
    pub(super) fn line(&self) -> Option<String> {
        self.capture.as_ref().map(|capture| capture.line(self.file))
    }

    /// Returns the end of the record.
    pub(super) fn end(&self) -> ArchiveEnd {
        ArchiveEnd {
            file: self.file.to_owned(),
            end: self.end,
        }
    }
}

/// Returns the capture of a record that was read with [`GLANCE`] bytes of its block.
pub(super) fn capture(record: &Record) -> Option<Capture> {
    let payload = || record.undeclared_payload;
    let capture = UnplacedCapture::of(|name| record.field(name), &record.block, payload)?;
    Some(capture.at(record.offset, record.length - record.breaks))
}

/// Returns true if a capture of this kind has a line: it represents its page, or its key has the
/// body of its request.
pub(super) fn stands_for(capture: &Capture, kind: CaptureKind) -> bool {
    kind == CaptureKind::ByStatus || kind == CaptureKind::OtherMethod && capture.is_of_post()
}

/// Returns true for a response that belongs in the index but lacks a usable URL or date.
pub(super) fn is_unnamed(record: &Record) -> bool {
    matches!(record.kind(), "response" | "revisit") && capture(record).is_none()
}

/// Lists the archive files in a directory, sorted by their number and then by their name without
/// the suffix of an open file. Files of other crawlers do not have a number of ours and come first.
fn files(directory: &Path) -> Result<Vec<(Option<u64>, String, PathBuf)>, SinkFault> {
    let unlisted = SinkFault::io("list", directory);
    let mut files = Vec::new();
    for item in std::fs::read_dir(directory).map_err(unlisted)? {
        let path = item.map_err(unlisted)?.path();
        if let Some(name) = files::name_of(&path) {
            files.push((file_number(name), name.to_owned(), path));
        }
    }
    files.sort();
    Ok(files)
}

/// Returns true if the archive has this file of ours, and it is at least as long.
pub(super) fn reaches(directory: &Path, end: &ArchiveEnd) -> bool {
    let found = std::fs::metadata(files::locate(directory, &end.file));
    let is_there = found.is_ok_and(|found| found.is_file() && found.len() >= end.end);
    file_number(&end.file).is_some() && is_there
}

/// Calls `each` with each record of the archive in `directory` between two record boundaries;
/// `None` means the start or the end of the archive. A file of ours is read up to the first
/// unreadable record, with a warning: `verify` reports more. Files of other crawlers are complete,
/// and come first; their broken records and their records without an offset of their own are
/// skipped. Returns the end of the last record that was read.
pub(super) fn scan(
    directory: &Path,
    from: Option<&ArchiveEnd>,
    to: Option<&ArchiveEnd>,
    each: &mut dyn FnMut(&ScannedRecord<'_>) -> Result<(), SinkFault>,
) -> Result<Option<ArchiveEnd>, SinkFault> {
    let first = from.and_then(|from| file_number(&from.file));
    let last = to.map_or(Some(u64::MAX), |to| file_number(&to.file));
    let mut reached = None;
    for (number, name, path) in files(directory)? {
        if number < first || number > last || (number.is_none() && from.is_some()) {
            continue;
        }
        let begun_before = from.filter(|_| number.is_some() && number == first);
        let start = begun_before.map_or(0, |from| from.end);
        let ends_within = to.filter(|_| number.is_some() && number == last);
        let end = ends_within.map_or(u64::MAX, |to| to.end);
        let mut at = start;
        let scan = match foreign::is_foreign(&path) {
            true => scan_foreign,
            false => scan_file,
        };
        let read = scan(&path, start, end, &mut |capture, record_end| {
            at = record_end;
            each(&ScannedRecord {
                capture,
                file: &name,
                end: at,
            })
        });
        match read {
            Ok(()) => {}
            Err(ScanFault::Sink(fault)) => return Err(fault),
            Err(ScanFault::Read(error)) if to.is_some() => {
                tracing::warn!(%error, "the rest of this archive file is not in the index");
            }
            Err(ScanFault::Read(_torn)) => {}
        }
        reached = Some(ArchiveEnd {
            file: name,
            end: at,
        });
    }
    Ok(reached)
}

/// A failure that ends reading a file.
enum ScanFault {
    Read(ReadFault),
    Sink(SinkFault),
}

/// Takes the capture of a record, if it has one, and the end of the record.
type Each<'a> = &'a mut dyn FnMut(Option<Capture>, u64) -> Result<(), SinkFault>;

fn scan_file(path: &Path, start: u64, end: u64, each: Each<'_>) -> Result<(), ScanFault> {
    if start >= end {
        return Ok(());
    }
    let mut reader = WarcReader::open_at(path, start).map_err(ScanFault::Read)?;
    let mut neighbours = Neighbours::default();
    let mut add = |(record, capture): (Record, Option<Capture>)| {
        each(capture, record.offset + record.length).map_err(ScanFault::Sink)
    };
    let mut at = start;
    let read = loop {
        if at >= end {
            break Ok(());
        }
        let record = match reader.next_record(GLANCE) {
            Ok(Some(record)) if record.offset + record.length <= end => record,
            Ok(_) => break Ok(()),
            Err(fault) => break Err(ScanFault::Read(fault)),
        };
        at = record.offset + record.length;
        let capture = capture(&record);
        if let Some(before) = neighbours.push(record, capture) {
            add(before)?;
        }
    };
    if let Some(last) = neighbours.pop() {
        add(last)?;
    }
    read
}

/// Scans a file of another crawler in the same way. Answers that do not represent a page have no
/// capture.
fn scan_foreign(path: &Path, start: u64, end: u64, each: Each<'_>) -> Result<(), ScanFault> {
    let mut stream = WarcStream::open(path).map_err(ScanFault::Read)?;
    let mut requests = Requests::default();
    let mut add = |((capture, end), kind): ((Option<Capture>, u64), CaptureKind)| {
        let capture = capture.filter(|capture| stands_for(capture, kind));
        each(capture, end).map_err(ScanFault::Sink)
    };
    let mut neighbours = Neighbours::default();
    let mut is_read = false;
    while !is_read {
        let next = match stream.next_record(GLANCE) {
            Ok(Some(record)) => {
                let capture = capture(&record);
                neighbours.push(record, capture)
            }
            Ok(None) => {
                is_read = true;
                neighbours.pop()
            }
            Err(ReadFault::Broken { .. }) => None,
            Err(fault) => return Err(ScanFault::Read(fault)),
        };
        let Some((record, capture)) = next else {
            continue;
        };
        let record_end = record.offset + record.length;
        let is_within = record.offset >= start && record_end <= end;
        let item = (record.addressable && is_within).then_some((capture, record_end));
        requests.push(&record, item);
        while let Some(next) = requests.pop() {
            add(next)?;
        }
    }
    while let Some(next) = requests.pop_last() {
        add(next)?;
    }
    Ok(())
}
