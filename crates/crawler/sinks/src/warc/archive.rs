//! The archive as a sink: records are built in parallel, off the reactor; only appends are
//! serialized.
//!
//! A `write` waits for one of a few permits, builds and compresses its records (in a blocking
//! thread, unless they are small), and then holds the lock on the [`Tail`] for a single append.
//! Records name the `warcinfo` of their file, so if that file is full by then, they are built again
//! for the next one: at most a few per gigabyte.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use bytes::Bytes;
use disk::{Disk, DiskErrorKind};
use tokio::sync::Semaphore;

use super::archive_end::ArchiveEnd;
use super::commit_point::CommitPoint;
use super::identity::RecordId;
use super::packing::Compression;
use super::record::RecordWriter;
use super::tail::{Appended, Tail};
use super::visit::{self, RecordNames};
use super::warcinfo::ArchiveOptions;
use crate::blocking::off_the_reactor;
use crate::digest::DigestAlgorithm;
use crate::fault::SinkFault;
use crate::sink::{Archived, Sink, Visit};

/// Minimum and maximum number of visits whose records are built in parallel; within them, one per
/// core. Each takes a few MiB of memory at most.
const WRITERS: RangeInclusive<usize> = 4..=16;

/// Payload bytes of a visit whose records are built within half a millisecond: handing it to
/// another thread and back would cost more than it saves the reactor.
const SMALL_VISIT: u64 = 32 << 10;

/// A directory of WARC/1.1 files.
pub struct WarcArchive(Arc<Inner>);

struct Inner {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    compression: Compression,
    digest: DigestAlgorithm,
    session: RecordId,
    arrivals: AtomicU64,
    permits: Arc<Semaphore>,
    /// Idle writers, never more than there are permits.
    writers: Mutex<Vec<RecordWriter>>,
    tail: Mutex<Tail>,
    /// Held during a sync: a second sync must know how the first one ended. Taken before `tail`.
    syncing: Mutex<()>,
}

impl WarcArchive {
    /// Opens the archive in `dir`, which is created if it is missing. Blocks on the disk; call it
    /// once, at the start.
    ///
    /// With `resume`, the archive continues there: the rest of that file is cut, and files with a
    /// higher number are removed. Without it, no visit is settled yet, and **all** archive files in
    /// `dir` are removed. Readable records in the removed parts are kept under names that end in
    /// `.cut-1`, `.cut-2`, and so on. Files whose names are not exactly of the archive's form are
    /// left alone.
    ///
    /// # Errors
    /// [`SinkFault::JournalEnds`] if visits after `resume` were settled: in a closed file, or
    /// before the noted end. Other faults if `dir` cannot be read or written.
    ///
    /// The caller ensures that only one archive is open in a directory.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: ArchiveOptions,
        resume: Option<ArchiveEnd>,
    ) -> Result<Self, SinkFault> {
        disk.create_directories(dir)
            .map_err(SinkFault::io("create", dir))?;
        let (compression, digest) = (options.compression.clone(), options.digest);
        let session = session(&options, resume.as_ref());
        let tail = Tail::open(Arc::clone(&disk), dir, options, session, resume)?;
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let writers = cores.clamp(*WRITERS.start(), *WRITERS.end());
        Ok(Self(Arc::new(Inner {
            disk,
            dir: dir.to_owned(),
            compression,
            digest,
            session,
            arrivals: AtomicU64::new(0),
            permits: Arc::new(Semaphore::new(writers)),
            writers: Mutex::new(Vec::with_capacity(writers)),
            tail: Mutex::new(tail),
            syncing: Mutex::new(()),
        })))
    }
}

#[async_trait]
impl Sink for WarcArchive {
    async fn write(&self, visit: Visit) -> Result<Archived, SinkFault> {
        let permit = Arc::clone(&self.0.permits).acquire_owned().await;
        let permit = permit.expect("this semaphore is never closed");
        let exchanges = visit.exchanges.iter().chain(&visit.subrequests);
        let bodies: u64 = exchanges.map(|exchange| exchange.body.len()).sum();
        let dom = visit.dom.as_ref().map_or(0, |dom| dom.len());
        let picture = visit.picture.as_ref().map_or(0, Bytes::len);
        if bodies + (dom + picture) as u64 <= SMALL_VISIT {
            return self.0.write(&visit);
        }
        let inner = Arc::clone(&self.0);
        off_the_reactor(move || {
            let archived = inner.write(&visit);
            drop(permit);
            archived
        })
        .await
    }

    async fn sync(&self) -> Result<ArchiveEnd, SinkFault> {
        let inner = Arc::clone(&self.0);
        off_the_reactor(move || inner.sync()).await
    }

    async fn set_commit_point(&self, point: Option<CommitPoint>) -> Result<(), SinkFault> {
        let inner = Arc::clone(&self.0);
        off_the_reactor(move || inner.set_commit_point(point)).await
    }

    async fn close(&self) -> Result<ArchiveEnd, SinkFault> {
        let inner = Arc::clone(&self.0);
        off_the_reactor(move || {
            inner.tail()?.close();
            inner.sync()
        })
        .await
    }
}

impl Inner {
    fn write(&self, visit: &Visit) -> Result<Archived, SinkFault> {
        let mut writer = self.take_writer();
        let arrival = self.arrivals.fetch_add(1, Ordering::Relaxed);
        let mut warcinfo = self.tail()?.warcinfo();
        loop {
            let names = RecordNames {
                session: self.session,
                visit: arrival,
                warcinfo: &warcinfo,
            };
            let places = visit::write_records(visit, names, &mut writer)
                .map_err(SinkFault::io("spool records in", &self.dir))?;
            let members = writer.members();
            let appended = self.tail()?.append(members, &warcinfo, &places)?;
            match appended {
                Appended::At(mut archived) => {
                    archived.captures = writer.take_captures(archived.offset);
                    self.return_writer(writer);
                    return Ok(archived);
                }
                Appended::NextFile(next) => warcinfo = next,
            }
        }
    }

    fn sync(&self) -> Result<ArchiveEnd, SinkFault> {
        let _turn = self.turn()?;
        let (files, end) = self.tail()?.unsynced()?;
        for file in &files {
            self.poison_on_error(file.sync())?;
        }
        self.tail()?.synced(&files);
        self.close_files()?;
        Ok(end)
    }

    /// Records the commit point, then closes the files before it.
    fn set_commit_point(&self, point: Option<CommitPoint>) -> Result<(), SinkFault> {
        let _turn = self.turn()?;
        if let Some(point) = &point
            && self.tail()?.advances(&point.place)
        {
            let path = CommitPoint::path(&self.dir);
            match self.disk.replace(&path, &point.note()) {
                // The earlier note is still true, and the crawl waits for space elsewhere.
                Err(error) if DiskErrorKind::of(&error) == DiskErrorKind::Full => {
                    let path = path.display();
                    tracing::warn!(%path, %error, "no space to record the commit point");
                }
                noted => noted.map_err(SinkFault::io("write", &path))?,
            }
        }
        self.tail()?
            .set_commit_point(point.map(|point| point.place));
        self.close_files()
    }

    /// Closes the files whose bytes are synced and whose settlements are durable, in this order: a
    /// file without the suffix `.open` is whole, and its visits are settled.
    fn close_files(&self) -> Result<(), SinkFault> {
        let files = self.tail()?.closable();
        let Some(first) = files.first() else {
            return Ok(());
        };
        for file in &files {
            self.poison_on_error(file.close(&self.dir))?;
        }
        self.poison_on_error(first.sync_directory(&self.dir))?;
        self.tail()?.closed(&files);
        Ok(())
    }

    fn poison_on_error(&self, done: Result<(), SinkFault>) -> Result<(), SinkFault> {
        if done.is_err() {
            self.tail()?.poison();
        }
        done
    }

    /// Waits for the end of any other sync.
    fn turn(&self) -> Result<MutexGuard<'_, ()>, SinkFault> {
        self.syncing.lock().map_err(|_panic| self.poisoned())
    }

    /// Locks the end of the archive; a panic under the lock poisons it for good.
    fn tail(&self) -> Result<MutexGuard<'_, Tail>, SinkFault> {
        self.tail.lock().map_err(|_panic| self.poisoned())
    }

    fn poisoned(&self) -> SinkFault {
        let path = self.dir.clone();
        SinkFault::Poisoned { path }
    }

    fn take_writer(&self) -> RecordWriter {
        let idle = self.writers.lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| RecordWriter::new(&self.compression, self.digest, &self.dir))
    }

    fn return_writer(&self, mut writer: RecordWriter) {
        writer.clear();
        if let Ok(mut writers) = self.writers.lock() {
            writers.push(writer);
        }
    }
}

/// Returns the namespace of the record ids of this opening; see [`super::identity`].
pub(super) fn session(options: &ArchiveOptions, resume: Option<&ArchiveEnd>) -> RecordId {
    let (file, end) = resume.map_or(("", 0), |resume| (resume.file.as_str(), resume.end));
    RecordId::ROOT
        .name(&options.seed.to_be_bytes())
        .name(&options.warcinfo())
        .name(&options.clock.now().as_millis().to_be_bytes())
        .name(file.as_bytes())
        .name(&end.to_be_bytes())
}
