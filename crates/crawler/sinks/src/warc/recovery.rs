//! Recovery of an archive's end after a power cut.
//!
//! Bytes that were never synced may be missing, zero, or whole: the checksum of each gzip member
//! and the digests of each record tell which. Synced bytes must be there: if they are missing,
//! somebody removed them, and that is a fault.

use std::io;
use std::path::Path;

use disk::Disk;

use super::archive_end::ArchiveEnd;
use super::files::locate;
use super::read::{ReadFault, WarcReader};
use super::unsettled_tail::damaged;
use crate::fault::SinkFault;

/// Returns the number of whole visits before the first incomplete one. `visits` are their ends, in
/// the order of the archive in `dir`. Visits that end at or before `durable` are on the disk for
/// certain and are not read; later visits are read, and synced afterwards.
///
/// # Errors
/// [`SinkFault::Missing`], [`SinkFault::TooShort`] if a durable visit is gone;
/// [`SinkFault::Foreign`] if a file name is not ours; otherwise the system's error.
pub fn whole_visits(
    disk: &dyn Disk,
    dir: &Path,
    durable: Option<&ArchiveEnd>,
    visits: &[ArchiveEnd],
) -> Result<usize, SinkFault> {
    let mut checked: Option<(&str, u64)> = None;
    for (place, visit) in visits.iter().enumerate() {
        let path = locate(dir, visit.name()?.as_str());
        if let Some(durable) = durable {
            durable.name()?;
            if !durable.is_before(visit) {
                holds(&path, visit.end)?;
                continue;
            }
        }
        let whole = match checked {
            Some((file, whole)) if file == visit.file => whole,
            _ => {
                let before = durable.filter(|durable| durable.file == visit.file);
                let whole = synced_end(disk, &path, before.map_or(0, |durable| durable.end))?;
                checked = Some((&visit.file, whole));
                whole
            }
        };
        if visit.end > whole {
            return Ok(place);
        }
    }
    Ok(visits.len())
}

/// Checks that a file has at least `end` bytes.
fn holds(path: &Path, end: u64) -> Result<(), SinkFault> {
    let path = path.to_owned();
    match std::fs::metadata(&path) {
        Ok(found) if found.len() >= end => Ok(()),
        Ok(found) => Err(SinkFault::TooShort {
            path,
            end,
            length: found.len(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(SinkFault::Missing { path }),
        Err(error) => Err(SinkFault::io("examine", &path)(error)),
    }
}

/// Returns the [`whole_end`] of a file, and syncs the file up to there.
fn synced_end(disk: &dyn Disk, path: &Path, from: u64) -> Result<u64, SinkFault> {
    let whole = whole_end(path, from).map_err(damaged(path))?;
    if whole > from {
        disk.open(path)
            .and_then(|file| disk.sync(&file))
            .map_err(SinkFault::io("sync", path))?;
    }
    Ok(whole)
}

/// Reads the records of `path` from byte `from` on, where one begins, and returns the end of the
/// last one before the first that is torn, damaged or has a wrong digest: at least `from`. If the
/// file is missing, or shorter than `from`, the result is `from`.
///
/// # Errors
/// [`ReadFault::Io`] if the system refuses the read: the content is then unknown.
fn whole_end(path: &Path, from: u64) -> Result<u64, ReadFault> {
    let mut reader = match WarcReader::open_at(path, from) {
        Err(ReadFault::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(from);
        }
        // The file's dictionary is torn, so no record is whole.
        Err(ReadFault::TornTail { .. } | ReadFault::Damaged { .. }) => return Ok(from),
        opened => opened?,
    };
    let mut end = from;
    loop {
        match reader.next_record(0) {
            Ok(Some(record)) if record.digests_hold() => end = record.offset + record.length,
            Err(fault @ ReadFault::Io { .. }) => return Err(fault),
            Ok(_) | Err(_) => return Ok(end),
        }
    }
}
