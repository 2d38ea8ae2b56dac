//! The journal: everything that must not be forgotten, in the order of events.
//!
//! The journal is a sequence of segments (`segment.rs`), each named by the position of its first
//! byte. A position counts the bytes of all segments.
//!
//! Invariants: only the last segment is appended to, and no byte before a durable position ever
//! changes. The journal records in marks up to where it is durable (`mark.rs`).
//!
//! After the durable position, a power cut, like a flipped bit, may leave a torn write followed by
//! complete records. Opening ends the journal before the torn write and keeps the part that it cuts
//! off as `NNNN….log.cut-N`. The archive shows if that lost any visits.
//!
//! A write that fails is cut off again. If the disk was full and the cut succeeded, the journal
//! continues: the caller may free some space and write again. After any other failure, the journal
//! takes no more records. In particular, a failed fsync is never retried, because the kernel may
//! have dropped the pages (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX
//! ATC 2020).
//!
//! Lock order: `tail` before the locks of the group commit.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use disk::{Disk, DiskErrorKind, DiskFile};
use neardup::HashKey;
use tokio::sync::oneshot;

use crate::fault::StoreFault;
use crate::frame::{Position, encode};
use crate::group_commit::{GroupCommit, Role, State, StdLocks};
use crate::mark;
use crate::record::Record;
use crate::segment::{HEADER_BYTES, Replay, header, records_behind, segments, sound_length};

/// Length at which a segment is full and the next one begins.
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
    /// The end of the last record, which only a mark can follow.
    records: u64,
    /// The durable position in the last mark; 0 if this process has not written one.
    marked: Position,
}

/// A failed write; `undone` is true if the file is as it was before.
struct Refusal {
    fault: StoreFault,
    undone: bool,
}

impl Refusal {
    /// Poisons the journal, unless the call may be repeated once there is space.
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
    /// Opens the journal in `directory`, which must exist. Cuts off a torn tail, or creates the
    /// first segment with `new_key`.
    ///
    /// # Errors
    /// [`StoreFault::Damaged`] or [`StoreFault::Format`] if the last segment is not one of ours,
    /// [`StoreFault::File`] if a file cannot be read or written.
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
                    // The crash came before the header was complete: nothing was ever written after
                    // it.
                    None => {
                        disk.remove(path)
                            .map_err(StoreFault::file("remove", path))?;
                        return Self::open(disk, directory, new_key, segment_bytes);
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

    /// Returns the key of every hash in this crawl.
    pub fn key(&self) -> HashKey {
        self.key
    }

    /// Appends a record and returns the position after it. The record is readable immediately and
    /// durable after the next [`Journal::sync`].
    ///
    /// # Errors
    /// [`StoreFault::File`] if the disk rejects the write; after [`DiskErrorKind::Full`] the call
    /// may be repeated. [`StoreFault::Poisoned`] after an earlier failure of another kind.
    pub fn append(&self, record: &Record) -> Result<Position, StoreFault> {
        self.append_frame(&encode(record))
    }

    /// Appends a record like [`Journal::append`], and returns the span of its frame.
    ///
    /// # Errors
    /// The errors of [`Journal::append`].
    pub fn append_at(&self, record: &Record) -> Result<Range<Position>, StoreFault> {
        let frame = encode(record);
        let end = self.append_frame(&frame)?;
        Ok(end - frame.len() as u64..end)
    }

    /// Appends a record that is already a frame, or several, like [`Journal::append`].
    ///
    /// # Errors
    /// The errors of [`Journal::append`].
    pub fn append_frame(&self, frame: &[u8]) -> Result<Position, StoreFault> {
        let mut tail = self.tail();
        self.commit.check_writable()?;
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

    /// Makes everything before `position` durable; concurrent callers share one fdatasync. Dropping
    /// the future loses nothing.
    ///
    /// # Errors
    /// [`StoreFault::File`] to one caller if the disk rejects it, [`StoreFault::Poisoned`] to all
    /// others.
    pub async fn sync(&self, position: Position) -> Result<(), StoreFault> {
        let leader = match self.commit.join(position).await {
            Role::Durable => return Ok(()),
            Role::Failed(fault) => return Err(fault),
            Role::Lead(leader) => leader,
        };
        let (disk, tail) = (Arc::clone(&self.disk), Arc::clone(&self.tail));
        let (sender, receiver) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let sync = |commit: &GroupCommit| {
                // Read as late as possible, so that one sync serves as many callers as possible.
                let (file, end) = {
                    let tail = locked(&tail);
                    (Arc::clone(&tail.file), tail.end())
                };
                commit.fsync(file.path(), || disk.sync(&file))?;
                Ok(end)
            };
            // The caller may have dropped its future.
            leader.lead(sync, |first| drop(sender.send(first)));
        });
        receiver.await.unwrap_or_else(|gone| {
            self.commit.poison(&gone);
            self.commit.check_writable()
        })
    }

    /// Writes a mark of the durable position, so that a later opening reports damage before it. The
    /// next append would write it too; this call is for a journal without further appends for a
    /// while.
    ///
    /// # Errors
    /// The errors of [`Journal::append`].
    pub fn mark(&self) -> Result<(), StoreFault> {
        let mut tail = self.tail();
        let durable = self.durable();
        if durable <= tail.marked {
            return Ok(());
        }
        self.commit.check_writable()?;
        let mark = mark::encode(self.key, tail.end(), durable);
        self.append_to(&mut tail, &mark)?;
        tail.marked = durable;
        Ok(())
    }

    /// Returns the position after the last record.
    pub fn end(&self) -> Position {
        let tail = self.tail();
        tail.base + tail.records
    }

    /// Returns the durable position: everything before it is durable.
    pub fn durable(&self) -> Position {
        self.commit.durable()
    }

    /// Returns the records from position `from`.
    ///
    /// # Errors
    /// [`StoreFault`] if a segment cannot be opened.
    pub fn replay(&self, from: Position) -> Result<Replay, StoreFault> {
        Replay::open(&self.directory, from)
    }

    /// Appends to the last segment, or leaves it unchanged.
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

    /// Syncs a full segment, because `durable` covers all segments before the last, and begins the
    /// next.
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
    // Not undone: the damage of a failed sync is unknown.
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
        tracing::warn!(
            path = %path.display(),
            bytes = found - length,
            kept,
            "cut a torn write off the journal"
        );
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

/// Copies the bytes of a segment from `length` to a separate file, if they contain complete
/// records.
fn keep_records(disk: &dyn Disk, path: &Path, length: u64) -> std::io::Result<Option<PathBuf>> {
    if records_behind(path, length)? == 0 {
        return Ok(None);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    disk::set_aside(disk, path, &name, b"", length).map(Some)
}

#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod tests;
