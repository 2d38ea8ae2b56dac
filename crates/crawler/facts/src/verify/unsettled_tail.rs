//! Checks the archive after the journal's end, and the end of the journal itself.
//!
//! A kill leaves running visits in an open file. When the crawl continues, they are set aside and
//! repeated. Anything else after the last settled visit proves that the journal ends before the
//! archive, for example because the state is an older copy or the journal was cut. This is a
//! finding.

use std::path::{Path, PathBuf};

use messages::{CommandError, fault, pasted};
use serde::Serialize;
use settings::{Settings, crawl_directory};
use sinks::warc::{
    CommitPointFile, ReadFault, WarcReader, is_foreign, name_of, next_record_behind, settled_behind,
};
use sinks::{ArchiveEnd, CommitPoint, SinkFault};
use store::ArchivePlace;
use web::PageUrl;

use super::Findings;
use super::journal::Journal;
use crate::archived_visits::Visits;

/// The records after the journal's end.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Readable records, except the `warcinfo` of each file.
    pub unsettled_records: u64,
    /// Visits whose records are complete.
    unsettled_visits: u64,
}

/// Checks the archive after `end`, the end of the last settled visit.
pub(super) fn check(
    settings: &Settings,
    end: Option<&ArchiveEnd>,
    journal: &Journal,
    findings: &mut Findings,
) -> Result<Counts, CommandError> {
    check_journal(settings, findings)?;
    let archive = crawl_directory::archive(&settings.out);
    if !archive.is_dir() {
        return Ok(Counts::default());
    }
    if CommitPoint::read(&archive).map_err(|error| fault(&error))? == CommitPointFile::Damaged {
        let path = CommitPoint::path(&archive);
        findings.add(format!(
            "{} has changed since it was written: it is rewritten when the crawl is continued",
            path.display()
        ));
    }
    // Other crawlers' files are never after an end.
    let others = crawl_directory::archive_files(&archive)
        .is_ok_and(|files| end.is_none() && files.iter().any(|path| is_foreign(path)));
    let behind = match settled_behind(&archive, &settings.warc_prefix, end) {
        Ok(_) if others => Vec::new(),
        Ok(files) => files,
        // The earlier readings already have findings.
        Err(SinkFault::Foreign { .. }) => Vec::new(),
        Err(error) => return Err(fault(&error)),
    };
    for name in &behind {
        findings.add(format!(
            "{name}: the archive has visits beyond the end of the journal"
        ));
    }
    let mut counts = Counts::default();
    for (path, from) in files_behind(&archive, end) {
        let rest = rest_of(&path, from).map_err(|error| fault(&error))?;
        counts.unsettled_records += rest.records;
        let name = name_of(&path).unwrap_or_default();
        let is_closed = path.file_name().and_then(|file| file.to_str()) == Some(name);
        if rest.garbage > 0 && (is_closed || rest.is_mixed) {
            findings.add(format!(
                "{name}: {} bytes beyond the end of the journal are not records",
                rest.garbage
            ));
        }
    }
    let form = settings.canonical_form();
    let place = end.map(|end| ArchivePlace {
        file: end.file.clone(),
        end: end.end,
    });
    let visits = Visits::open(&archive, place.as_ref(), &form);
    let mut visits = visits.map_err(|error| fault(&error))?;
    let mut unknown = 0_u64;
    while let Some(next) = visits.next_visit() {
        let Ok((_, visit)) = next else { continue };
        counts.unsettled_visits += 1;
        let is_known = |url: PageUrl| journal.in_flight.contains(&url.key());
        unknown += u64::from(!visit.url.is_some_and(is_known));
    }
    if unknown > 0 && behind.is_empty() {
        findings.add(format!(
            "the archive has {unknown} visits beyond the end of the journal that were not in \
             progress when it ended, as after a power cut or with an older state. When the crawl \
             is continued, they are set aside and repeated; `crawler rebuild {} --from-archive` \
             keeps them",
            pasted(&settings.out)
        ));
    }
    Ok(counts)
}

/// Checks that the journal is complete and has not become shorter.
fn check_journal(settings: &Settings, findings: &mut Findings) -> Result<(), CommandError> {
    let missing = crawl_directory::missing_journal(&settings.out)?;
    if missing > 0 {
        findings.add(format!(
            "state/journal: it ends before the archive: {missing} bytes of it are missing"
        ));
    }
    let torn = journal::torn_tail(&crawl_directory::state(&settings.out))?;
    if let Some(torn) = torn.filter(|torn| torn.records > 0) {
        findings.add(format!(
            "state/journal: its last {} bytes begin with a torn record, followed by {} complete \
             records: they are set aside when the crawl is continued",
            torn.bytes, torn.records
        ));
    }
    Ok(())
}

/// Returns our files with bytes after `end`, and the offsets where these bytes begin.
fn files_behind(archive: &Path, end: Option<&ArchiveEnd>) -> Vec<(PathBuf, u64)> {
    let files = crawl_directory::archive_files(archive).unwrap_or_default();
    let number = crawl_directory::file_number;
    let ours = files.into_iter().filter(|path| !is_foreign(path));
    ours.filter_map(|path| {
        let name = name_of(&path)?;
        let from = match end {
            Some(end) if name == end.file => end.end,
            Some(end) if number(name) <= number(&end.file) => return None,
            _ => 0,
        };
        Some((path, from))
    })
    .collect()
}

/// The bytes of a file after the end.
#[derive(Default)]
struct UnsettledBytes {
    /// Whole records, except a `warcinfo`.
    records: u64,
    /// Bytes outside records.
    garbage: u64,
    /// True if a complete record follows such bytes: a torn write cannot leave this.
    is_mixed: bool,
}

/// Reads a file from the offset `from`.
fn rest_of(path: &Path, from: u64) -> Result<UnsettledBytes, ReadFault> {
    let length = std::fs::metadata(path).map_or(0, |file| file.len());
    let (mut rest, mut at) = (UnsettledBytes::default(), from);
    while at < length {
        match WarcReader::open_at(path, at).and_then(|mut reader| reader.next_record(0)) {
            Ok(None) => break,
            Ok(Some(record)) => {
                rest.records += u64::from(record.kind() != "warcinfo" && record.digests_hold());
                at = record.offset + record.length;
            }
            Err(fault @ ReadFault::Io { .. }) => return Err(fault),
            Err(_damage) => {
                let next = next_record_behind(path, at)?;
                rest.is_mixed |= next.is_some();
                rest.garbage += next.unwrap_or(length) - at;
                at = next.unwrap_or(length);
            }
        }
    }
    Ok(rest)
}
