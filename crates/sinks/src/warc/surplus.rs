//! The part of an archive behind its settled end, which an opening cuts.
//!
//! The order of durability: bytes of visits, then their settlements in the journal, then the note
//! of the settled end (`settled.rs`), then the names of files without `….open`. So a kill or a
//! power cut leaves unsettled visits in open files only, and none before the noted end. Such visits
//! are made again; what a reader can read of them is kept as `NAME.cut-N` (`disk::set_aside`),
//! which no reader of archives takes for a file of the archive. Unsettled visits anywhere else
//! prove that the journal lost its end: then nothing is touched, and the opening is refused.
//!
//! Pieces stay until somebody removes them: a kill leaves as much as was under way, never more.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;

use super::archive_end::ArchiveEnd;
use super::files::{self, FileName, FoundFile};
use super::packing::preamble_of;
use super::read::{ReadFault, WarcReader};
use super::settled::{Settled, SettledNote};
use super::stream::next_record_behind;
use crate::fault::SinkFault;

/// The names of the files in the archive in `dir` that have visits behind `end` which were settled
/// once: closed ones, and that of the noted end. None where the archive can go on from `end`;
/// `prefix` begins the names of its files.
///
/// # Errors
/// [`SinkFault::Foreign`] where the end is in a file that is none of ours; otherwise what the
/// system said.
pub fn settled_behind(
    dir: &Path,
    prefix: &str,
    end: Option<&ArchiveEnd>,
) -> Result<Vec<String>, SinkFault> {
    let name = match end {
        None => None,
        Some(end) => Some(
            FileName::parse(&end.file).ok_or_else(|| SinkFault::Foreign {
                name: end.file.clone(),
            })?,
        ),
    };
    let last = name.as_ref().zip(end.map(|end| end.end));
    Surplus { dir, prefix, last }.settled()
}

/// The settled end of an archive that is opened; no file where nothing is settled.
#[derive(Clone, Copy)]
pub(super) struct Surplus<'a> {
    pub(super) dir: &'a Path,
    pub(super) prefix: &'a str,
    pub(super) last: Option<(&'a FileName, u64)>,
}

impl Surplus<'_> {
    /// Refuses an end that is not where the journal of this archive ended once. Changes nothing.
    ///
    /// # Errors
    /// [`SinkFault::JournalEnds`] where settled visits would be cut; otherwise what the system
    /// said.
    pub(super) fn check(self) -> Result<(), SinkFault> {
        let files = self.settled()?;
        if files.is_empty() {
            return Ok(());
        }
        let directory = self.dir.to_owned();
        Err(SinkFault::JournalEnds { directory, files })
    }

    /// The files that have visits behind the end which were settled once.
    fn settled(self) -> Result<Vec<String>, SinkFault> {
        let mut beyond = Vec::new();
        for found in self.files()? {
            let from = match self.last {
                Some((name, end)) if found.name == *name => end,
                _ if self.is_cut(&found) => 0,
                _ => continue,
            };
            if !found.is_open && holds_records(&found.path, from).map_err(damaged(&found.path))? {
                beyond.push(found.name.as_str().to_owned());
            }
        }
        if let SettledNote::Settled(Settled { place, .. }) = self.noted()?
            && self
                .last
                .is_none_or(|(name, end)| end_of(name, end).is_before(&place))
            && !beyond.contains(&place.file)
        {
            beyond.push(place.file);
        }
        beyond.sort();
        Ok(beyond)
    }

    /// Leaves the files up to the settled one: those behind it are set aside, since nothing in them
    /// was settled; those before it are full, and are closed where that was not done yet. With no
    /// settled one, all of ours are set aside.
    pub(super) fn clear_up(self, disk: &Arc<dyn Disk>) -> Result<(), SinkFault> {
        for found in self.files()? {
            let FoundFile {
                name,
                is_open,
                path,
            } = &found;
            if self.is_cut(&found) {
                // Closed ones hold no visit, or the check had refused them.
                if holds_records(path, 0).map_err(damaged(path))? {
                    let kept = disk::set_aside_whole(&**disk, path, name.as_str());
                    let kept = kept.map_err(|source| SinkFault::io("set aside", path, source))?;
                    tell(name, 0, &kept);
                } else {
                    disk.remove(path)
                        .map_err(|source| SinkFault::io("remove", path, source))?;
                }
            } else if *is_open
                && self
                    .last
                    .is_some_and(|(last, _)| name.counter() < last.counter())
            {
                disk.open(path)
                    .and_then(|file| disk.sync(&file))
                    .map_err(|source| SinkFault::io("sync", path, source))?;
                disk.rename(path, &self.dir.join(name.as_str()))
                    .map_err(|source| SinkFault::io("rename", path, source))?;
            }
        }
        disk.sync_directory(self.dir)
            .map_err(|source| SinkFault::io("sync", self.dir, source))
    }

    /// Returns whether a file stands behind the end, and is ours to cut.
    fn is_cut(self, found: &FoundFile) -> bool {
        let name = &found.name;
        let is_behind = self
            .last
            .is_none_or(|(last, _)| name.counter() > last.counter());
        // What another session began under another prefix is ours if it is open; else somebody may
        // have put it there.
        let is_ours = found.is_open
            || name.prefix() == self.prefix
            || self
                .last
                .is_some_and(|(last, _)| name.prefix() == last.prefix());
        is_behind && is_ours
    }

    fn files(self) -> Result<Vec<FoundFile>, SinkFault> {
        files::last_first(self.dir).map_err(|source| SinkFault::io("list", self.dir, source))
    }

    fn noted(self) -> Result<SettledNote, SinkFault> {
        let path = Settled::path(self.dir);
        let noted =
            Settled::read(self.dir).map_err(|source| SinkFault::io("read", &path, source))?;
        if noted == SettledNote::Damaged {
            tracing::warn!(path = %path.display(), "the note of the archive's settled end is damaged: it is written anew");
        }
        Ok(noted)
    }
}

/// Sets aside the records of the file at `path` from byte `from` on, if there is any that can be
/// read. The caller cuts them.
pub(super) fn set_aside(
    disk: &Arc<dyn Disk>,
    path: &Path,
    name: &FileName,
    from: u64,
) -> Result<(), SinkFault> {
    if !holds_records(path, from).map_err(damaged(path))? {
        return Ok(());
    }
    let preamble = preamble_of(path).map_err(|source| SinkFault::io("read", path, source))?;
    let kept = disk::set_aside(&**disk, path, name.as_str(), &preamble, from);
    let kept = kept.map_err(|source| SinkFault::io("set aside the end of", path, source))?;
    tell(name, from, &kept);
    Ok(())
}

fn tell(name: &FileName, from: u64, kept: &Path) {
    tracing::warn!(
        file = name.as_str(),
        from,
        kept = %kept.display(),
        "records behind the journal's end are set aside: their pages are visited again"
    );
}

/// Returns whether a reader finds a whole record behind `from`, where one begins; the `warcinfo` of
/// a file is none.
///
/// # Errors
/// [`ReadFault::Io`] if the system refuses the read.
pub(super) fn holds_records(path: &Path, from: u64) -> Result<bool, ReadFault> {
    let length = std::fs::metadata(path).map_or(0, |file| file.len());
    let mut at = from;
    while at < length {
        match WarcReader::open_at(path, at).and_then(|mut reader| reader.next_record(0)) {
            Ok(None) => return Ok(false),
            Ok(Some(record)) if record.kind() != "warcinfo" && record.digests_hold() => {
                return Ok(true);
            }
            Ok(Some(record)) => at = record.offset + record.length,
            Err(fault @ ReadFault::Io { .. }) => return Err(fault),
            Err(_damage) => match next_record_behind(path, at)? {
                Some(next) => at = next,
                None => return Ok(false),
            },
        }
    }
    Ok(false)
}

fn end_of(name: &FileName, end: u64) -> ArchiveEnd {
    let file = name.as_str().to_owned();
    ArchiveEnd { file, end }
}

fn damaged(path: &Path) -> impl FnOnce(ReadFault) -> SinkFault {
    let path: PathBuf = path.to_owned();
    |source| SinkFault::Damaged { path, source }
}
