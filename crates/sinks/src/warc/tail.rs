//! The end of the archive: the file being written, the order of the visits, and what a fault leaves behind.
//!
//! Invariant: while the tail is in order, its file is exactly `length` bytes long and holds whole visits only. A
//! fault poisons it; the file is then cut back to that length if the system lets us, and never written again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archive::ArchiveEnd;
use super::identity::RecordId;
use super::volume::{OpenFile, Volume, remove_after};
use super::warcinfo::ArchiveOptions;
use crate::{Archived, SinkFault};

/// The end of the archive.
pub(super) struct Tail {
    dir: PathBuf,
    options: ArchiveOptions,
    session: RecordId,
    current: Volume,
    ticket: u64,
    condition: Condition,
    /// Files that were filled since the last sync: one for every `max_file` bytes.
    finished: Vec<OpenFile>,
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
        dir: &Path,
        options: ArchiveOptions,
        session: RecordId,
        resume: Option<ArchiveEnd>,
    ) -> Result<Self, SinkFault> {
        let current = match resume {
            Some(end) => Volume::resume(dir, end)?,
            None => {
                remove_after(dir, 0)?;
                Volume::begin(dir, &options, session, 1)?
            }
        };
        Ok(Self {
            dir: dir.to_owned(),
            options,
            session,
            current,
            ticket: 0,
            condition: Condition::InOrder,
            finished: Vec::new(),
        })
    }

    /// The file being written.
    pub(super) fn path(&self) -> &Path {
        &self.current.open.path
    }

    /// The id of the `warcinfo` record of the file being written.
    pub(super) fn warcinfo(&self) -> Arc<str> {
        Arc::clone(&self.current.warcinfo)
    }

    /// Appends the records of a visit, which name `warcinfo`, in one piece, and deals the next ticket.
    /// `page_offset` is counted from their beginning.
    pub(super) fn append(
        &mut self,
        records: &[u8],
        warcinfo: &str,
        page_offset: u64,
    ) -> Result<Appended, SinkFault> {
        self.in_order()?;
        if !records.is_empty() {
            if self.current.is_full(self.options.max_file) {
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
        let offset = end - records.len() as u64;
        let ticket = self.ticket;
        self.ticket += 1;
        let file = self.current.name.as_str().to_owned();
        Ok(Appended::At(Archived {
            ticket,
            file,
            offset,
            end,
            page_offset: offset + page_offset,
        }))
    }

    /// The files that may hold bytes which are not on the disk yet, the current one last.
    pub(super) fn unsynced(&self) -> Result<Vec<OpenFile>, SinkFault> {
        if self.condition == Condition::Poisoned {
            return Err(SinkFault::Poisoned {
                path: self.path().to_owned(),
            });
        }
        Ok(self
            .finished
            .iter()
            .chain([&self.current.open])
            .cloned()
            .collect())
    }

    /// Those files are on the disk, as [`Tail::unsynced`] gave them.
    pub(super) fn synced(&mut self, files: &[OpenFile]) {
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
        let next = Volume::begin(&self.dir, &self.options, self.session, counter);
        match next {
            Ok(next) => {
                let full = std::mem::replace(&mut self.current, next);
                self.finished.push(full.open);
                Ok(())
            }
            Err(fault) => {
                self.condition = Condition::Poisoned;
                Err(fault)
            }
        }
    }
}
