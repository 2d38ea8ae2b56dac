//! Indexes any WARC files, ours or others'.

use std::io::Write;
use std::path::{Path, PathBuf};

use disk::Disk;

use super::batch::Batch;
use super::capture::{Capture, GLANCE};
use super::index::MEMORY;
use super::run::{self, Run};
use super::scan;
use crate::fault::SinkFault;
use crate::warc::files;
use crate::warc::read::ReadFault;
use crate::warc::stream::WarcStream;

/// Faults that are kept; the others are only counted.
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
    /// The faults of the first of them.
    pub faults: Vec<ReadFault>,
    /// The number of records that share a packed member with others: they cannot be read by an
    /// offset, so they have no line.
    pub sharing: u64,
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
    let mut gathering = IndexingReport::default();
    let mut batch = Batch::default();
    let mut runs: Vec<Run> = Vec::new();
    let mut number = 0;
    let mut name = || {
        number += 1;
        scratch.join(format!("{number:06}.cdxj"))
    };
    for path in files {
        // An open file gets its later name.
        let file = match files::name_of(path) {
            Some(name) => name.into(),
            None => path.file_name().unwrap_or_default().to_string_lossy(),
        };
        read_file(path, &mut gathering, &mut |capture| {
            batch.push(&capture.line(&file));
            if batch.size() < MEMORY {
                return Ok(());
            }
            runs.push(spill(disk, scratch, &batch, &name())?);
            batch = Batch::default();
            Ok(())
        })?;
    }
    let mut write = |line: &[u8]| {
        gathering.lines += 1;
        out.write_all(line)
            .and_then(|()| out.write_all(b"\n"))
            .map_err(SinkFault::io("write", Path::new("-")))
    };
    if runs.is_empty() {
        let mut lines = batch.sorted();
        lines.dedup();
        for line in lines {
            write(line)?;
        }
    } else {
        runs.push(spill(disk, scratch, &batch, &name())?);
        let whole = run::merge(disk, &runs, &mut name)?;
        run::merged(std::slice::from_ref(&whole), &mut |line| Ok(write(line)?))?;
        for run in runs.iter().chain([&whole]) {
            run::remove(disk, &run.path)?;
        }
    }
    out.flush()
        .map_err(SinkFault::io("write", Path::new("-")))?;
    Ok(gathering)
}

fn spill(disk: &dyn Disk, scratch: &Path, batch: &Batch, path: &Path) -> Result<Run, SinkFault> {
    let made = disk.create_directories(scratch);
    made.map_err(SinkFault::io("create", scratch))?;
    run::write(disk, path, batch.sorted())
}

/// Calls `each` with the capture of each record of a file, and skips what cannot be read.
fn read_file(
    path: &Path,
    gathering: &mut IndexingReport,
    each: &mut dyn FnMut(&Capture) -> Result<(), SinkFault>,
) -> Result<(), SinkFault> {
    let pass_over = |gathering: &mut IndexingReport, fault: ReadFault| {
        gathering.broken += 1;
        if gathering.faults.len() < MAX_REPORTED {
            gathering.faults.push(fault);
        }
    };
    let mut stream = match WarcStream::open(path) {
        Ok(stream) => stream,
        Err(fault) => {
            pass_over(gathering, fault);
            return Ok(());
        }
    };
    loop {
        match stream.next_record(GLANCE) {
            Ok(None) => return Ok(()),
            Err(fault) => pass_over(gathering, fault),
            Ok(Some(record)) => {
                gathering.records += 1;
                if let Some(capture) = scan::capture(&record) {
                    match record.addressable {
                        true => each(&capture)?,
                        false => gathering.sharing += 1,
                    }
                }
            }
        }
    }
}
