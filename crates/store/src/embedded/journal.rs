//! The journal: everything that must not be forgotten, in the order in which it happened.
//!
//! It is a row of segments (`segment.rs` has their format), named by the position of their first
//! byte; a position counts the bytes of all segments.
//!
//! Invariants: a segment is only ever appended to, and only the last one; what stands before a
//! durable position never changes. How far that is, the journal says itself, in marks (`mark.rs`).
//!
//! Behind that, a power cut may leave a torn write with whole records behind it, as a turned bit
//! does: opening ends the journal before it and keeps what is cut off as `NNNN….log.cut-N`. The
//! archive tells whether visits are lost by that.
//!
//! A write that fails is cut off again. If the disk was full, and is as it was before, the journal
//! goes on: the caller may make room and write again. After anything else it takes nothing more;
//! least of all after a failed fsync, which is never retried: the kernel may have dropped the pages
//! (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020).
//!
//! Locks: `tail` before those of the group commit.

mod group_commit;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use disk::{Disk, DiskErrorKind, DiskFile};
use neardup::HashKey;
use tokio::sync::oneshot;

use self::group_commit::{GroupCommit, Part, State, StdLocks};
use super::mark;
use super::record::Record;
use super::segment::{
    HEADER_BYTES, Position, Replay, encode, header, is_current, records_behind, segments,
    sound_length,
};
use crate::StoreFault;

/// A new segment is begun when the last one has grown to this.
pub const SEGMENT_BYTES: u64 = 64 << 20;

/// The journal, open for appending.
pub struct Journal {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    key: HashKey,
    segment_bytes: u64,
    tail: Arc<Mutex<Tail>>,
    commit: Arc<GroupCommit>,
}

struct Tail {
    file: Arc<DiskFile>,
    base: Position,
    length: u64,
    /// Where its last record ends; only a mark can be behind it.
    records: u64,
    /// Where the last mark says that the durable part ends; 0 where this process wrote none.
    marked: Position,
}

/// A call that failed, and whether it left everything as it was before.
struct Refusal {
    fault: StoreFault,
    undone: bool,
}

impl Refusal {
    /// Poisons, unless the call may be made again when there is room.
    fn settle(self, commit: &GroupCommit) -> StoreFault {
        let full = match &self.fault {
            StoreFault::File { source, .. } => DiskErrorKind::of(source) == DiskErrorKind::Full,
            _ => false,
        };
        if !(full && self.undone) {
            commit.poison(&self.fault);
        }
        self.fault
    }
}

impl Tail {
    fn end(&self) -> Position {
        self.base + self.length
    }
}

impl Journal {
    /// Opens the journal in `directory`, which exists: removes a torn tail, or begins the first
    /// segment with `new_key`.
    pub fn open(
        disk: Arc<dyn Disk>,
        directory: &Path,
        new_key: HashKey,
        segment_bytes: u64,
    ) -> Result<Self, StoreFault> {
        let segments = segments(directory)?;
        let (tail, key) = match segments.last() {
            None => {
                let begun = begin_segment(&*disk, directory, new_key, 0);
                (begun.map_err(|refusal| refusal.fault)?, new_key)
            }
            Some((base, path)) => {
                let (length, key) = sound_length(path, *base)?;
                match key {
                    // The crash came before the header was whole: nothing was ever written to this
                    // segment.
                    None => {
                        disk.remove(path)
                            .map_err(StoreFault::file("remove", path))?;
                        return Self::open(disk, directory, new_key, segment_bytes);
                    }
                    // An older version would take records that it does not know for damage.
                    Some(key) if !is_current(path)? => {
                        (succeed_segment(&*disk, directory, key, *base, length)?, key)
                    }
                    Some(key) => (reopen_segment(&*disk, path, *base, length)?, key),
                }
            }
        };
        let commit = GroupCommit::new(StdLocks::new(State::durable_to(tail.end())));
        Ok(Self {
            disk,
            directory: directory.to_owned(),
            key,
            segment_bytes,
            tail: Arc::new(Mutex::new(tail)),
            commit: Arc::new(commit),
        })
    }

    /// The key of every hash in this crawl.
    pub fn key(&self) -> HashKey {
        self.key
    }

    /// Appends a record; it is readable at once and durable after the next [`Journal::sync`].
    /// Returns the position after it.
    ///
    /// # Errors
    /// [`StoreFault::File`] where the disk refused: if there was no room ([`DiskErrorKind::Full`]), the
    /// call may be repeated. [`StoreFault::Poisoned`] after an earlier failure of another kind.
    pub fn append(&self, record: &Record) -> Result<Position, StoreFault> {
        self.append_frame(&encode(record))
    }

    /// The same with a record that is a frame already.
    pub(super) fn append_frame(&self, frame: &[u8]) -> Result<Position, StoreFault> {
        let mut tail = self.tail();
        self.commit.in_order()?;
        if tail.length >= self.segment_bytes {
            self.roll(&mut tail)?;
        }
        let durable = self.durable();
        if durable > tail.marked {
            let mut marked = mark::encode(self.key, tail.end(), durable).to_vec();
            marked.extend_from_slice(frame);
            self.append_to(&mut tail, &marked)?;
            tail.marked = durable;
        } else {
            self.append_to(&mut tail, frame)?;
        }
        tail.records = tail.length;
        Ok(tail.end())
    }

    /// Makes everything before `position` durable; many callers share one fdatasync. A call that is
    /// dropped loses nothing.
    ///
    /// # Errors
    /// [`StoreFault::File`] where the disk refused, and to all others [`StoreFault::Poisoned`].
    pub async fn sync(&self, position: Position) -> Result<(), StoreFault> {
        let turn = match self.commit.join(position).await {
            Part::Durable => return Ok(()),
            Part::Failed(fault) => return Err(fault),
            Part::Lead(turn) => turn,
        };
        let (disk, tail) = (Arc::clone(&self.disk), Arc::clone(&self.tail));
        let (tell, told) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let sync = |commit: &GroupCommit| {
                // As late as can be, so that it serves as many as can be.
                let (file, end) = {
                    let tail = locked(&tail);
                    (Arc::clone(&tail.file), tail.end())
                };
                commit.fsync(file.path(), || disk.sync(&file))?;
                Ok(end)
            };
            // Whoever was given the turn may have let go of his wish.
            turn.lead(sync, |first| drop(tell.send(first)));
        });
        told.await.unwrap_or_else(|gone| {
            self.commit.poison(&gone);
            self.commit.in_order()
        })
    }

    /// Writes how far the journal is durable: what a later opening finds damaged before that, it
    /// reports. Without it the next append says so; a journal that may not be written again for a
    /// while needs it.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn mark(&self) -> Result<(), StoreFault> {
        let mut tail = self.tail();
        let durable = self.durable();
        if durable <= tail.marked {
            return Ok(());
        }
        self.commit.in_order()?;
        let mark = mark::encode(self.key, tail.end(), durable);
        self.append_to(&mut tail, &mark)?;
        tail.marked = durable;
        Ok(())
    }

    /// The position after the last record.
    pub fn end(&self) -> Position {
        let tail = self.tail();
        tail.base + tail.records
    }

    /// Everything before this is durable.
    pub fn durable(&self) -> Position {
        self.commit.durable()
    }

    /// The records from `from` on.
    pub fn replay(&self, from: Position) -> Result<Replay, StoreFault> {
        Replay::open(&self.directory, from)
    }

    /// Appends to the last segment, or leaves it as it was.
    fn append_to(&self, tail: &mut Tail, bytes: &[u8]) -> Result<(), StoreFault> {
        let Err(short) = self.disk.append(&tail.file, bytes) else {
            tail.length += bytes.len() as u64;
            return Ok(());
        };
        let cut = self.disk.set_length(&tail.file, tail.length);
        let refusal = Refusal {
            fault: StoreFault::file("write", tail.file.path())(short.source),
            undone: cut.is_ok(),
        };
        Err(refusal.settle(&self.commit))
    }

    /// Ends a full segment (durably: `durable` speaks of all segments before the last) and begins
    /// the next.
    fn roll(&self, tail: &mut Tail) -> Result<(), StoreFault> {
        let file = &tail.file;
        self.commit.fsync(file.path(), || self.disk.sync(file))?;
        let next = begin_segment(&*self.disk, &self.directory, self.key, tail.end());
        *tail = next.map_err(|refusal| refusal.settle(&self.commit))?;
        self.commit.reached(tail.end());
        Ok(())
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        locked(&self.tail)
    }
}

fn locked(tail: &Mutex<Tail>) -> MutexGuard<'_, Tail> {
    tail.lock()
        .expect("no panic can happen while the tail is locked")
}

fn begin_segment(
    disk: &dyn Disk,
    directory: &Path,
    key: HashKey,
    base: Position,
) -> Result<Tail, Refusal> {
    let path = directory.join(format!("{base:020}.log"));
    let file = disk.create(&path).map_err(|source| Refusal {
        fault: StoreFault::file("create", &path)(source),
        undone: true,
    })?;
    disk.append(&file, &header(key, base))
        .map_err(|short| Refusal {
            fault: StoreFault::file("write", &path)(short.source),
            undone: disk.remove(&path).is_ok(),
        })?;
    let synced = disk.sync(&file).map_err(StoreFault::file("sync", &path));
    let named = synced.and_then(|()| {
        disk.sync_directory(directory)
            .map_err(StoreFault::file("sync", directory))
    });
    // Never undone: what a sync that failed has lost is not known.
    named.map_err(|fault| Refusal {
        fault,
        undone: false,
    })?;
    let length = HEADER_BYTES as u64;
    Ok(Tail {
        file: Arc::new(file),
        base,
        length,
        records: length,
        marked: base + length,
    })
}

fn reopen_segment(
    disk: &dyn Disk,
    path: &Path,
    base: Position,
    length: u64,
) -> Result<Tail, StoreFault> {
    let file = disk.open(path).map_err(StoreFault::file("open", path))?;
    let found = file.length().map_err(StoreFault::file("examine", path))?;
    if found > length {
        let kept = keep_records(disk, path, length)
            .map_err(StoreFault::file("set aside the end of", path))?;
        let kept = kept.map(|kept| kept.display().to_string());
        tracing::warn!(path = %path.display(), bytes = found - length, kept, "cut a torn write off the journal");
        disk.set_length(&file, length)
            .map_err(StoreFault::file("cut", path))?;
    }
    disk.sync(&file).map_err(StoreFault::file("sync", path))?;
    Ok(Tail {
        file: Arc::new(file),
        base,
        length,
        records: length,
        marked: 0,
    })
}

/// Ends the last segment, which is of an older version, and begins one of this version behind it;
/// in its place, where it has no record.
fn succeed_segment(
    disk: &dyn Disk,
    directory: &Path,
    key: HashKey,
    base: Position,
    length: u64,
) -> Result<Tail, StoreFault> {
    let path = directory.join(format!("{base:020}.log"));
    let end = if length > HEADER_BYTES as u64 {
        reopen_segment(disk, &path, base, length)?.end()
    } else {
        disk.remove(&path)
            .map_err(StoreFault::file("remove", &path))?;
        base
    };
    begin_segment(disk, directory, key, end).map_err(|refusal| refusal.fault)
}

/// Sets aside what stands in a segment from `length` on, if there are whole records in it.
fn keep_records(disk: &dyn Disk, path: &Path, length: u64) -> std::io::Result<Option<PathBuf>> {
    if records_behind(path, length)? == 0 {
        return Ok(None);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    disk::set_aside(disk, path, &name, b"", length).map(Some)
}

#[cfg(test)]
#[path = "journal_fault_tests.rs"]
mod fault_tests;
#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
