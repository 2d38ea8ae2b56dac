//! The end of the archive: the file being written, the order of the visits, and what a fault leaves behind.
//!
//! Invariant: while the tail is in order, its file is exactly `length` bytes long and holds whole visits only. A
//! fault poisons it; the file is then cut back to that length if the system lets us, and never written again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;

use super::archive::ArchiveEnd;
use super::files::{FileName, is_prefix};
use super::identity::RecordId;
use super::members::Members;
use super::volume::{OpenFile, Volume, clear_up};
use super::warcinfo::ArchiveOptions;
use crate::{Archived, SinkFault};

/// The end of the archive.
pub(super) struct Tail {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    options: ArchiveOptions,
    session: RecordId,
    current: Volume,
    ticket: u64,
    condition: Condition,
    /// Files that were filled since the last sync: one for every `max_file` bytes.
    finished: Vec<(FileName, OpenFile)>,
    /// Whether the current file lost its `….open`, as it does when the archive is closed.
    is_current_closed: bool,
}

/// A file that may hold bytes which are not on the disk yet.
pub(super) struct Unsynced {
    pub(super) name: FileName,
    pub(super) open: OpenFile,
    /// Whether nothing more will be written to it: once it is synced, it is closed.
    pub(super) is_full: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    InOrder,
    Poisoned,
    Closed,
}

/// What became of the records of a visit.
pub(super) enum Appended {
    /// They stand here.
    At(Archived),
    /// The file they were made for is full: make them for the one with this `warcinfo` record.
    NextFile(Arc<str>),
}

impl Tail {
    /// Finds the end of the archive in `dir`, takes away what lies beyond it, and makes ready to continue.
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
            Some(end) => Volume::resume(&disk, dir, &options, end)?,
            None => {
                clear_up(&disk, dir, &options, None)?;
                Volume::begin(&disk, dir, &options, session, 1)?
            }
        };
        Ok(Self {
            disk,
            dir: dir.to_owned(),
            options,
            session,
            current,
            ticket: 0,
            condition: Condition::InOrder,
            finished: Vec::new(),
            is_current_closed: false,
        })
    }

    /// The file being written.
    pub(super) fn path(&self) -> &Path {
        self.current.open.path()
    }

    /// The id of the `warcinfo` record of the file being written.
    pub(super) fn warcinfo(&self) -> Arc<str> {
        Arc::clone(&self.current.warcinfo)
    }

    /// Appends the records of a visit, which name `warcinfo`, in one piece, and deals the next ticket.
    /// `page_offset` is counted from their beginning.
    pub(super) fn append(
        &mut self,
        records: &Members,
        warcinfo: &str,
        page_offset: u64,
    ) -> Result<Appended, SinkFault> {
        self.in_order()?;
        if records.length() > 0 {
            if self.current.is_full(&self.options) {
                self.begin_next_file()?;
            }
            if *warcinfo != *self.current.warcinfo {
                return Ok(Appended::NextFile(self.warcinfo()));
            }
            if let Err(fault) = self.current.append(records) {
                self.condition = Condition::Poisoned;
                return Err(fault);
            }
        }
        let end = self.current.length;
        let offset = end - records.length();
        let ticket = self.ticket;
        self.ticket += 1;
        let file = self.current.name.as_str().to_owned();
        Ok(Appended::At(Archived {
            ticket,
            file,
            offset,
            end,
            page_offset: offset + page_offset,
            captures: Vec::new(),
        }))
    }

    /// The files that may hold bytes which are not on the disk yet, the current one last; and up to where everything is
    /// on the disk once they are synced.
    pub(super) fn unsynced(&self) -> Result<(Vec<Unsynced>, ArchiveEnd), SinkFault> {
        if self.condition == Condition::Poisoned {
            return Err(SinkFault::Poisoned {
                path: self.path().to_owned(),
            });
        }
        let full = self.finished.iter().map(|(name, open)| Unsynced {
            name: name.clone(),
            open: open.clone(),
            is_full: true,
        });
        let current = Unsynced {
            name: self.current.name.clone(),
            open: self.current.open.clone(),
            is_full: self.condition == Condition::Closed && !self.is_current_closed,
        };
        let end = ArchiveEnd {
            file: self.current.name.as_str().to_owned(),
            end: self.current.length,
        };
        Ok((full.chain([current]).collect(), end))
    }

    /// Those files are on the disk, as [`Tail::unsynced`] gave them, and the full ones of them are closed.
    pub(super) fn synced(&mut self, files: &[Unsynced]) {
        self.is_current_closed |= files.last().is_some_and(|current| current.is_full);
        let finished = self.finished.len().min(files.len() - 1);
        self.finished.drain(..finished);
    }

    /// Nothing more may be written: what stands at the end is in doubt.
    pub(super) fn poison(&mut self) {
        self.condition = Condition::Poisoned;
    }

    /// Nothing more will be written.
    pub(super) fn close(&mut self) {
        if self.condition == Condition::InOrder {
            self.condition = Condition::Closed;
        }
    }

    fn in_order(&self) -> Result<(), SinkFault> {
        let path = || self.path().to_owned();
        match self.condition {
            Condition::InOrder => Ok(()),
            Condition::Poisoned => Err(SinkFault::Poisoned { path: path() }),
            Condition::Closed => Err(SinkFault::Closed { path: path() }),
        }
    }

    fn begin_next_file(&mut self) -> Result<(), SinkFault> {
        let counter = self.current.name.counter() + 1;
        let next = Volume::begin(&self.disk, &self.dir, &self.options, self.session, counter);
        match next {
            Ok(next) => {
                let full = std::mem::replace(&mut self.current, next);
                self.finished.push((full.name, full.open));
                Ok(())
            }
            Err(fault) => {
                self.condition = Condition::Poisoned;
                Err(fault)
            }
        }
    }
}
