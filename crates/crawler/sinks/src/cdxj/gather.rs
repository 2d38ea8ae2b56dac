//! Indexes any WARC files, ours or others'.

use std::borrow::Cow;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use disk::Disk;

use super::capture::{Capture, GLANCE};
use super::line_sorter::LineSorter;
use super::neighbours::Neighbours;
use super::scan;
use crate::captures::{CaptureKind, Requests};
use crate::fault::SinkFault;
use crate::warc::files;
use crate::warc::read::ReadFault;
use crate::warc::stream::WarcStream;

/// Maximum number of reported faults; further ones are only counted.
const MAX_REPORTED: usize = 20;

/// The result of indexing files.
#[derive(Debug, Default)]
pub struct IndexingReport {
    /// The number of records read.
    pub records: u64,
    /// The number of lines written.
    pub lines: u64,
    /// The number of unreadable stretches, which were skipped.
    pub broken: u64,
    /// The faults of the first unreadable stretches.
    pub faults: Vec<ReadFault>,
    /// The number of records without a line because they share a packed member with other records,
    /// so they cannot be read by an offset.
    pub sharing: u64,
    /// The number of responses without a line because they do not represent a page: pieces of
    /// files, and answers to requests other than GET, unless the key has the body of the request.
    pub not_pages: u64,
    /// The files without a record.
    pub empty: Vec<PathBuf>,
    /// The number of captures without a line because they lack a usable URL or date.
    pub unnamed: u64,
}

/// Writes the sorted index of these files to `out`; lines name files without their directories.
/// Lines that exceed the memory go to runs in the directory `scratch`, which is created if needed
/// and is empty afterwards.
///
/// # Errors
/// I/O errors of the disk and of `out`: for the latter, [`SinkFault::Io`] with the path `-`.
pub fn index_files(
    disk: &dyn Disk,
    files: &[PathBuf],
    scratch: &Path,
    out: &mut dyn Write,
) -> Result<IndexingReport, SinkFault> {
    let mut report = IndexingReport::default();
    let mut sorter = LineSorter::new(disk, scratch);
    for path in files {
        index_file(path, &shown_name(path), &mut report, &mut |line| {
            sorter.push(line)
        })?;
    }
    let mut lines = sorter.finish()?;
    let mut line = Vec::new();
    let unwritable = SinkFault::io("write", Path::new("-"));
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line);
        if read.map_err(SinkFault::io("read", scratch))? == 0 {
            break;
        }
        report.lines += 1;
        out.write_all(&line).map_err(unwritable)?;
    }
    out.flush().map_err(unwritable)?;
    Ok(report)
}

/// Returns the name of a file in an index. An open file gets its later name.
pub(crate) fn shown_name(path: &Path) -> Cow<'_, str> {
    match files::name_of(path) {
        Some(name) => name.into(),
        None => path.file_name().unwrap_or_default().to_string_lossy(),
    }
}

/// Calls `each` with the line of each record of a file, which lines call `name`; skips and reports
/// unreadable stretches.
pub(crate) fn index_file(
    path: &Path,
    name: &str,
    report: &mut IndexingReport,
    each: &mut dyn FnMut(&str) -> Result<(), SinkFault>,
) -> Result<(), SinkFault> {
    let pass_over = |report: &mut IndexingReport, fault: ReadFault| {
        report.broken += 1;
        if report.faults.len() < MAX_REPORTED {
            report.faults.push(fault);
        }
    };
    let mut stream = match WarcStream::open(path) {
        Ok(stream) => stream,
        Err(fault) => {
            pass_over(report, fault);
            return Ok(());
        }
    };
    let before = report.records + report.broken;
    let mut requests = Requests::default();
    let mut add = |report: &mut IndexingReport, (capture, kind): (Capture, CaptureKind)| {
        if scan::stands_for(&capture, kind) {
            return each(&capture.line(name));
        }
        report.not_pages += 1;
        Ok(())
    };
    let mut neighbours = Neighbours::default();
    let mut is_read = false;
    while !is_read {
        let next = match stream.next_record(GLANCE) {
            Ok(None) => {
                is_read = true;
                neighbours.pop()
            }
            Err(fault) => {
                pass_over(report, fault);
                None
            }
            Ok(Some(record)) => {
                report.records += 1;
                report.unnamed += u64::from(scan::is_unnamed(&record));
                let capture = scan::capture(&record);
                let is_sharing = capture.is_some() && !record.addressable;
                report.sharing += u64::from(is_sharing);
                let capture = capture.filter(|_| record.addressable);
                neighbours.push(record, capture)
            }
        };
        if let Some((record, capture)) = next {
            requests.push(&record, capture);
        }
        while let Some(next) = requests.pop() {
            add(report, next)?;
        }
    }
    while let Some(next) = requests.pop_last() {
        add(report, next)?;
    }
    if report.records + report.broken == before {
        report.empty.push(path.to_owned());
    }
    Ok(())
}
