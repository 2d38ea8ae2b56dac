//! The end of the archive: the file being written, the order of the visits, and the state after a
//! fault.
//!
//! Invariant: while the tail is writable, its file is exactly `length` bytes long and holds whole
//! visits only. A fault poisons it; the file is then cut back to that length if the system allows
//! it, and never written again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;

use super::archive_end::ArchiveEnd;
use super::files::{FileName, is_prefix};
use super::identity::RecordId;
use super::members::Members;
use super::unsettled_tail::UnsettledTail;
use super::visit::RecordPlaces;
use super::warc_file::{OpenFile, WarcFile};
use super::warcinfo::ArchiveOptions;
use crate::fault::SinkFault;
use crate::sink::Archived;

/// The end of the archive.
pub(super) struct Tail {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    options: ArchiveOptions,
    session: RecordId,
    current: WarcFile,
    archive_sequence: u64,
    condition: Condition,
    /// Full files that are not closed yet: one for every `max_file` bytes.
    finished: Vec<Finished>,
    /// True if the current file is synced and complete.
    is_current_synced: bool,
    /// True if the current file lost its suffix `.open`, as it does when the archive is closed.
    is_current_closed: bool,
    settled: SettledEnd,
}

/// A full file.
struct Finished {
    file: OpenFile,
    is_synced: bool,
}

/// The end of the visits with durable settlements.
enum SettledEnd {
    /// The caller does not settle visits.
    NotTracked,
    /// This end; `None` if no visit is settled.
    Known(Option<ArchiveEnd>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Writable,
    Poisoned,
    Closed,
}

/// The result of appending the records of a visit.
pub(super) enum Appended {
    /// They were appended here.
    At(Archived),
    /// The file that they were built for is full: build them for the file with this `warcinfo`
    /// record.
    NextFile(Arc<str>),
}

impl Tail {
    /// Finds the end of the archive in `dir`, sets aside the rest, and prepares to continue.
    pub(super) fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: ArchiveOptions,
        session: RecordId,
        resume: Option<ArchiveEnd>,
    ) -> Result<Self, SinkFault> {
        if !is_prefix(&options.prefix) {
            let name = options.prefix;
            return Err(SinkFault::Foreign { name });
        }
        let current = match resume {
            Some(end) => WarcFile::resume(&disk, dir, &options, end)?,
            None => {
                let behind = UnsettledTail {
                    dir,
                    prefix: &options.prefix,
                    last: None,
                };
                behind.check()?;
                behind.clear_up(&disk)?;
                WarcFile::begin(&disk, dir, &options, session, 1)?
            }
        };
        Ok(Self {
            disk,
            dir: dir.to_owned(),
            options,
            session,
            current,
            archive_sequence: 0,
            condition: Condition::Writable,
            finished: Vec::new(),
            is_current_synced: false,
            is_current_closed: false,
            settled: SettledEnd::NotTracked,
        })
    }

    /// Returns the path of the file being written.
    pub(super) fn path(&self) -> &Path {
        self.current.open.path()
    }

    /// Returns the id of the `warcinfo` record of the file being written.
    pub(super) fn warcinfo(&self) -> Arc<str> {
        Arc::clone(&self.current.warcinfo)
    }

    /// Appends the records of a visit, which refer to `warcinfo`, in one piece, and assigns the
    /// next archive sequence number.
    pub(super) fn append(
        &mut self,
        records: &Members,
        warcinfo: &str,
        places: &RecordPlaces,
    ) -> Result<Appended, SinkFault> {
        self.check_writable()?;
        if records.length() > 0 {
            if self.current.is_full(&self.options) {
                self.begin_next_file()?;
            }
            if *warcinfo != *self.current.warcinfo {
                return Ok(Appended::NextFile(self.warcinfo()));
            }
            let appended = self.current.append(records);
            appended.inspect_err(|_fault| self.condition = Condition::Poisoned)?;
        }
        let end = self.current.length;
        let offset = end - records.length();
        let archive_sequence = self.archive_sequence;
        self.archive_sequence += 1;
        Ok(Appended::At(Archived {
            archive_sequence,
            file: self.current.open.name.as_str().to_owned(),
            offset,
            end,
            page_offset: offset + places.page,
            dom_offset: places.dom.map(|dom| offset + dom),
            subrequest_offsets: places.subrequests.iter().map(|at| offset + at).collect(),
            captures: Vec::new(),
        }))
    }

    /// Returns the files that may have unsynced bytes, the current one last, and the end that is
    /// durable once they are synced.
    pub(super) fn unsynced(&self) -> Result<(Vec<OpenFile>, ArchiveEnd), SinkFault> {
        if self.condition == Condition::Poisoned {
            return Err(self.poisoned());
        }
        let full = self.finished.iter().filter(|full| !full.is_synced);
        let files = full.map(|full| &full.file).chain([&self.current.open]);
        Ok((files.cloned().collect(), self.end()))
    }

    /// Marks the files of [`Tail::unsynced`] as synced.
    pub(super) fn synced(&mut self, files: &[OpenFile]) {
        for full in &mut self.finished {
            full.is_synced |= files.iter().any(|file| file.name == full.file.name);
        }
        self.is_current_synced = self.condition == Condition::Closed;
    }

    /// Returns true if `end` is after the known commit point.
    pub(super) fn advances(&self, end: &ArchiveEnd) -> bool {
        match &self.settled {
            SettledEnd::Known(Some(known)) => known.is_before(end),
            SettledEnd::Known(None) | SettledEnd::NotTracked => true,
        }
    }

    /// Sets the end of the visits with durable settlements.
    pub(super) fn set_commit_point(&mut self, end: Option<ArchiveEnd>) {
        self.settled = SettledEnd::Known(end);
    }

    /// Returns the files that can be closed: they are synced, and their visits are settled.
    pub(super) fn closable(&self) -> Vec<OpenFile> {
        let full = self.finished.iter().filter(|full| full.is_synced);
        let full = full.map(|full| &full.file);
        let settled = full.filter(|file| self.is_settled(&file.name));
        let mut files: Vec<OpenFile> = settled.cloned().collect();
        let all_settled = match &self.settled {
            SettledEnd::NotTracked => true,
            SettledEnd::Known(Some(end)) => !end.is_before(&self.end()),
            SettledEnd::Known(None) => self.current.has_no_visit(),
        };
        if self.is_current_synced && !self.is_current_closed && all_settled {
            files.push(self.current.open.clone());
        }
        files
    }

    /// Marks the files of [`Tail::closable`] as closed.
    pub(super) fn closed(&mut self, files: &[OpenFile]) {
        let is_closed = |name: &FileName| files.iter().any(|file| file.name == *name);
        self.finished.retain(|full| !is_closed(&full.file.name));
        self.is_current_closed |= is_closed(&self.current.open.name);
    }

    /// Returns true if all visits in a full file are settled.
    fn is_settled(&self, name: &FileName) -> bool {
        match &self.settled {
            SettledEnd::NotTracked => true,
            SettledEnd::Known(end) => {
                let settled = end.as_ref().and_then(|end| FileName::parse(&end.file));
                settled.is_some_and(|settled| name.counter() < settled.counter())
            }
        }
    }

    fn end(&self) -> ArchiveEnd {
        ArchiveEnd::of(&self.current.open.name, self.current.length)
    }

    /// Forbids further writes, because the end of the file is uncertain.
    pub(super) fn poison(&mut self) {
        self.condition = Condition::Poisoned;
    }

    /// Ends writing.
    pub(super) fn close(&mut self) {
        if self.condition == Condition::Writable {
            self.condition = Condition::Closed;
        }
    }

    fn check_writable(&self) -> Result<(), SinkFault> {
        match self.condition {
            Condition::Writable => Ok(()),
            Condition::Poisoned => Err(self.poisoned()),
            Condition::Closed => {
                let path = self.path().to_owned();
                Err(SinkFault::Closed { path })
            }
        }
    }

    fn poisoned(&self) -> SinkFault {
        let path = self.path().to_owned();
        SinkFault::Poisoned { path }
    }

    fn begin_next_file(&mut self) -> Result<(), SinkFault> {
        let counter = self.current.open.name.counter() + 1;
        let next = WarcFile::begin(&self.disk, &self.dir, &self.options, self.session, counter);
        let next = next.inspect_err(|_fault| self.condition = Condition::Poisoned)?;
        let file = std::mem::replace(&mut self.current, next).open;
        let is_synced = false;
        self.finished.push(Finished { file, is_synced });
        Ok(())
    }
}
