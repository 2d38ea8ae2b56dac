//! The journal: everything that must not be forgotten, in the order in which it happened.
//!
//! It is a row of segments (`segment.rs` has their format), named by the position of their first byte; a position counts the
//! bytes of all segments.
//!
//! Invariants: a segment is only ever appended to, and only the last one; what stands before a durable position never
//! changes. After a failed write or fsync the journal takes nothing more (fsync is never retried: the kernel may have
//! dropped the pages, see Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020).

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use neardup::HashKey;

use super::record::Record;
use super::segment::{HEADER_BYTES, Position, Replay, encode, header, segments, sound_length};
use crate::StoreFault;

/// A new segment is begun when the last one has grown to this.
pub const SEGMENT_BYTES: u64 = 64 << 20;

/// The journal, open for appending.
pub struct Journal {
    directory: PathBuf,
    key: HashKey,
    segment_bytes: u64,
    tail: Mutex<Tail>,
    durable: AtomicU64,
    /// Held while somebody syncs; those who wait for it are the next group.
    sync_turn: tokio::sync::Mutex<()>,
}

struct Tail {
    file: Arc<File>,
    path: PathBuf,
    base: Position,
    length: u64,
    failure: Option<String>,
}

impl Tail {
    fn end(&self) -> Position {
        self.base + self.length
    }
}

impl Journal {
    /// Opens the journal in `directory`, which exists: removes a torn tail, or begins the first segment with `new_key`.
    pub fn open(directory: &Path, new_key: HashKey, segment_bytes: u64) -> Result<Self, StoreFault> {
        let segments = segments(directory)?;
        let (tail, key) = match segments.last() {
            None => (begin_segment(directory, new_key, 0)?, new_key),
            Some((base, path)) => {
                let (length, key) = sound_length(path, *base)?;
                match key {
                    // The crash came before the header was whole: nothing was ever written to this segment.
                    None => {
                        std::fs::remove_file(path).map_err(StoreFault::file("remove", path))?;
                        return Self::open(directory, new_key, segment_bytes);
                    }
                    Some(key) => (reopen_segment(path, *base, length)?, key),
                }
            }
        };
        let durable = AtomicU64::new(tail.end());
        Ok(Self {
            directory: directory.to_owned(),
            key,
            segment_bytes,
            tail: Mutex::new(tail),
            durable,
            sync_turn: tokio::sync::Mutex::new(()),
        })
    }

    /// The key of every hash in this crawl.
    pub fn key(&self) -> HashKey {
        self.key
    }

    /// Appends a record; it is readable at once and durable after the next [`Journal::sync`]. Returns the position after it.
    pub fn append(&self, record: &Record) -> Result<Position, StoreFault> {
        let frame = encode(record);
        let mut tail = self.tail();
        if let Some(failure) = &tail.failure {
            return Err(StoreFault::Poisoned(failure.clone()));
        }
        if tail.length >= self.segment_bytes {
            let next = self.roll(&tail)?;
            *tail = next;
        }
        let written = (&*tail.file).write_all(&frame);
        if let Err(source) = written {
            tail.failure = Some(source.to_string());
            return Err(StoreFault::File {
                action: "write",
                path: tail.path.clone(),
                source,
            });
        }
        tail.length += frame.len() as u64;
        Ok(tail.end())
    }

    /// Makes everything before `position` durable; many callers share one fdatasync.
    pub async fn sync(&self, position: Position) -> Result<(), StoreFault> {
        if self.durable.load(Ordering::Acquire) >= position {
            return Ok(());
        }
        let _turn = self.sync_turn.lock().await;
        if self.durable.load(Ordering::Acquire) >= position {
            return Ok(());
        }
        let (file, path, end) = {
            let tail = self.tail();
            if let Some(failure) = &tail.failure {
                return Err(StoreFault::Poisoned(failure.clone()));
            }
            (Arc::clone(&tail.file), tail.path.clone(), tail.end())
        };
        let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
        let failure = match synced {
            Ok(Ok(())) => {
                self.durable.fetch_max(end, Ordering::AcqRel);
                return Ok(());
            }
            Ok(Err(source)) => source,
            Err(join) => std::io::Error::other(join),
        };
        self.tail().failure = Some(failure.to_string());
        Err(StoreFault::File {
            action: "sync",
            path,
            source: failure,
        })
    }

    /// The position after the last record.
    pub fn end(&self) -> Position {
        self.tail().end()
    }

    /// Everything before this is durable.
    pub fn durable(&self) -> Position {
        self.durable.load(Ordering::Acquire)
    }

    /// The records from `from` on.
    pub fn replay(&self, from: Position) -> Result<Replay, StoreFault> {
        Replay::open(&self.directory, from)
    }

    /// Ends a full segment (durably: `durable` speaks of all segments before the last) and begins the next.
    fn roll(&self, full: &Tail) -> Result<Tail, StoreFault> {
        full.file
            .sync_data()
            .map_err(StoreFault::file("sync", &full.path))?;
        begin_segment(&self.directory, self.key, full.end())
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail
            .lock()
            .expect("no panic can happen while the tail is locked")
    }
}

fn begin_segment(directory: &Path, key: HashKey, base: Position) -> Result<Tail, StoreFault> {
    let path = directory.join(format!("{base:020}.log"));
    let mut file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(&path)
        .map_err(StoreFault::file("create", &path))?;
    file.write_all(&header(key, base))
        .map_err(StoreFault::file("write", &path))?;
    file.sync_data().map_err(StoreFault::file("sync", &path))?;
    sync_directory(directory)?;
    Ok(Tail {
        file: Arc::new(file),
        path,
        base,
        length: HEADER_BYTES as u64,
        failure: None,
    })
}

fn reopen_segment(path: &Path, base: Position, length: u64) -> Result<Tail, StoreFault> {
    let file = OpenOptions::new()
        .append(true)
        .open(path)
        .map_err(StoreFault::file("open", path))?;
    let found = file.metadata().map_err(StoreFault::file("examine", path))?.len();
    if found > length {
        tracing::warn!(path = %path.display(), bytes = found - length, "cut a torn write off the journal");
        file.set_len(length).map_err(StoreFault::file("cut", path))?;
    }
    file.sync_data().map_err(StoreFault::file("sync", path))?;
    Ok(Tail {
        file: Arc::new(file),
        path: path.to_owned(),
        base,
        length,
        failure: None,
    })
}

/// A new file is only there after a crash if its directory was synced too.
pub(super) fn sync_directory(directory: &Path) -> Result<(), StoreFault> {
    File::open(directory)
        .and_then(|handle| handle.sync_all())
        .map_err(StoreFault::file("sync", directory))
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
