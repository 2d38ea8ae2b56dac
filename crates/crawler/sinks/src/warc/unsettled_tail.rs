//! The part of an archive after its commit point, which opening cuts.
//!
//! The order of durability: bytes of visits, then their settlements in the journal, then the note
//! of the commit point (`commit_point.rs`), then the names of files without `.open`. So a kill or a
//! power cut leaves unsettled visits only in open files and only after the noted end. Their pages
//! are visited again; their readable part is kept as `NAME.cut-N` (`disk::set_aside`), which
//! readers do not mistake for a file of the archive. Unsettled visits anywhere else prove that the
//! journal lost its end: then the opening is refused, and the archive stays unchanged.
//!
//! Pieces stay until somebody removes them; a kill leaves at most the work in progress.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;

use super::archive_end::ArchiveEnd;
use super::commit_point::{CommitPoint, CommitPointFile};
use super::files::{self, FileName, FoundFile};
use super::packing::preamble_of;
use super::read::{ReadFault, WarcReader};
use super::stream::next_record_behind;
use crate::fault::SinkFault;

/// Returns the names of the files in the archive in `dir` that have settled visits after `end`:
/// closed files, and the file of the noted end. Empty if the archive can continue at `end`;
/// `prefix` begins the names of its files.
///
/// # Errors
/// [`SinkFault::Foreign`] if the file of `end` is not ours; otherwise the system's error.
pub fn settled_behind(
    dir: &Path,
    prefix: &str,
    end: Option<&ArchiveEnd>,
) -> Result<Vec<String>, SinkFault> {
    let name = end.map(ArchiveEnd::name).transpose()?;
    let last = name.as_ref().zip(end.map(|end| end.end));
    UnsettledTail { dir, prefix, last }.settled()
}

/// The commit point of an archive being opened; `last` is `None` if no visit is settled.
#[derive(Clone, Copy)]
pub(super) struct UnsettledTail<'a> {
    pub(super) dir: &'a Path,
    pub(super) prefix: &'a str,
    pub(super) last: Option<(&'a FileName, u64)>,
}

impl UnsettledTail<'_> {
    /// Refuses an end that comes before settled visits, since the journal of this archive once
    /// ended later. Changes nothing.
    ///
    /// # Errors
    /// [`SinkFault::JournalEnds`] if settled visits would be cut; otherwise the system's error.
    pub(super) fn check(self) -> Result<(), SinkFault> {
        let files = self.settled()?;
        if files.is_empty() {
            return Ok(());
        }
        let directory = self.dir.to_owned();
        Err(SinkFault::JournalEnds { directory, files })
    }

    /// Returns the files that have settled visits after the end.
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
        if let CommitPointFile::Read(CommitPoint { place, .. }) = self.noted()? {
            let is_lost =
                |(name, end): (&FileName, u64)| ArchiveEnd::of(name, end).is_before(&place);
            if self.last.is_none_or(is_lost) && !beyond.contains(&place.file) {
                beyond.push(place.file);
            }
        }
        beyond.sort();
        Ok(beyond)
    }

    /// Keeps the files up to the settled one. Later files, which contain no settled visit, are set
    /// aside; earlier files are full, and are closed if they are still open. Without a settled
    /// file, all of our files are set aside.
    pub(super) fn clear_up(self, disk: &Arc<dyn Disk>) -> Result<(), SinkFault> {
        for found in self.files()? {
            let FoundFile {
                name,
                is_open,
                path,
            } = &found;
            if self.is_cut(&found) {
                // Closed files hold no visit, otherwise the check would have refused them.
                if holds_records(path, 0).map_err(damaged(path))? {
                    let kept = disk::set_aside_whole(&**disk, path, name.as_str());
                    let kept = kept.map_err(SinkFault::io("set aside", path))?;
                    tell(name, 0, &kept);
                } else {
                    disk.remove(path).map_err(SinkFault::io("remove", path))?;
                }
            } else if *is_open
                && let Some((last, _)) = self.last
                && name.counter() < last.counter()
            {
                disk.open(path)
                    .and_then(|file| disk.sync(&file))
                    .map_err(SinkFault::io("sync", path))?;
                disk.rename(path, &self.dir.join(name.as_str()))
                    .map_err(SinkFault::io("rename", path))?;
            }
        }
        disk.sync_directory(self.dir)
            .map_err(SinkFault::io("sync", self.dir))
    }

    /// Returns true if a file is after the end and is ours to cut.
    fn is_cut(self, found: &FoundFile) -> bool {
        let (name, last) = (&found.name, self.last.map(|(last, _)| last));
        let is_behind = last.is_none_or(|last| name.counter() > last.counter());
        // An open file of another session, with another prefix, is ours; a closed one may be
        // somebody else's.
        let is_ours = found.is_open
            || name.prefix() == self.prefix
            || last.is_some_and(|last| name.prefix() == last.prefix());
        is_behind && is_ours
    }

    fn files(self) -> Result<Vec<FoundFile>, SinkFault> {
        files::last_first(self.dir).map_err(SinkFault::io("list", self.dir))
    }

    fn noted(self) -> Result<CommitPointFile, SinkFault> {
        let path = CommitPoint::path(self.dir);
        let noted = CommitPoint::read(self.dir).map_err(SinkFault::io("read", &path))?;
        if noted == CommitPointFile::Damaged {
            tracing::warn!(
                path = %path.display(),
                "the record of the archive's commit point is damaged: it is rewritten"
            );
        }
        Ok(noted)
    }
}

/// Sets aside the records of the file at `path` from byte `from` on, if any is readable. The caller
/// cuts them.
pub(super) fn set_aside(
    disk: &Arc<dyn Disk>,
    path: &Path,
    name: &FileName,
    from: u64,
) -> Result<(), SinkFault> {
    if !holds_records(path, from).map_err(damaged(path))? {
        return Ok(());
    }
    let preamble = preamble_of(path).map_err(SinkFault::io("read", path))?;
    let kept = disk::set_aside(&**disk, path, name.as_str(), &preamble, from);
    let kept = kept.map_err(SinkFault::io("set aside the end of", path))?;
    tell(name, from, &kept);
    Ok(())
}

fn tell(name: &FileName, from: u64, kept: &Path) {
    tracing::warn!(
        file = name.as_str(),
        from,
        kept = %kept.display(),
        "records after the journal's end are set aside: their pages are visited again"
    );
}

/// Returns true if there is a whole record at or after `from`, where one begins; the `warcinfo` of
/// a file does not count.
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

/// Returns a conversion of the errors of reading the file at `path`.
pub(super) fn damaged(path: &Path) -> impl FnOnce(ReadFault) -> SinkFault {
    let path: PathBuf = path.to_owned();
    |source| SinkFault::Damaged { path, source }
}
