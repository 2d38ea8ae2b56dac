//! One file of the archive: created with its `warcinfo` record, or reopened and cut to its settled
//! end.
//!
//! Invariant: a file has the suffix `.open` from before its first byte is written until after its
//! last is synced ([`WarcFile::begin`], [`WarcFile::resume`], [`OpenFile::close`]). Each rename is
//! durable before the next step, and each step can be interrupted and repeated, so a file never has
//! both names.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, DiskFile};
use web::{Body, Timestamp};

use super::archive_end::ArchiveEnd;
use super::files::{FileName, open_path};
use super::identity::RecordId;
use super::members::Members;
use super::packing::preamble_of;
use super::read::{ReadFault, WarcReader};
use super::record::{FIELDS, Header, RecordWriter};
use super::unsettled_tail::{self, UnsettledTail};
use super::warcinfo::ArchiveOptions;
use crate::fault::SinkFault;

/// One file of the archive, open for appending.
pub(super) struct WarcFile {
    pub(super) open: OpenFile,
    pub(super) length: u64,
    /// The end of its `warcinfo` record: a file without a visit is never full.
    preface: u64,
    /// The time of its creation.
    begun: Timestamp,
    /// True if its packing matches the options; otherwise it takes no further visit.
    is_packed_alike: bool,
    /// The id of that record.
    pub(super) warcinfo: Arc<str>,
}

/// An open file with the suffix `.open`, its later name, and the disk that it is on.
#[derive(Clone)]
pub(super) struct OpenFile {
    pub(super) name: FileName,
    disk: Arc<dyn Disk>,
    file: Arc<DiskFile>,
}

impl OpenFile {
    fn new(name: FileName, disk: &Arc<dyn Disk>, file: DiskFile) -> Self {
        Self {
            name,
            disk: Arc::clone(disk),
            file: Arc::new(file),
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Syncs the written bytes.
    pub(super) fn sync(&self) -> Result<(), SinkFault> {
        let synced = self.disk.sync(&self.file);
        synced.map_err(SinkFault::io("sync", self.path()))
    }

    /// Removes the suffix `.open` of a complete, synced file; durable after the next sync of the
    /// directory.
    pub(super) fn close(&self, dir: &Path) -> Result<(), SinkFault> {
        let name = self.name.as_str();
        let (open, closed) = (open_path(dir, name), dir.join(name));
        let renamed = self.disk.rename(&open, &closed);
        renamed.map_err(SinkFault::io("rename", &open))
    }

    /// Syncs the names in `dir`, the directory of the file.
    pub(super) fn sync_directory(&self, dir: &Path) -> Result<(), SinkFault> {
        let synced = self.disk.sync_directory(dir);
        synced.map_err(SinkFault::io("sync", dir))
    }
}

impl WarcFile {
    /// Creates file number `counter` with its `warcinfo` record.
    pub(super) fn begin(
        disk: &Arc<dyn Disk>,
        dir: &Path,
        options: &ArchiveOptions,
        session: RecordId,
        counter: u64,
    ) -> Result<Self, SinkFault> {
        let now = options.clock.date();
        let name = FileName::new(&options.prefix, now, counter, options.compression.packing());
        let path = open_path(dir, name.as_str());
        let file = disk.create(&path).map_err(SinkFault::io("create", &path))?;
        disk.sync_directory(dir)
            .map_err(SinkFault::io("sync", dir))?;

        let id = session.name(name.as_str().as_bytes());
        let mut header = Header::new("warcinfo", id, now);
        header.field("WARC-Filename", name.as_str());
        let mut writer = RecordWriter::new(&options.compression, options.digest, dir);
        let preamble = options.compression.preamble();
        writer.members_mut().held().extend_from_slice(&preamble);
        writer
            .record(header, FIELDS, &options.warcinfo(), &Body::default())
            .map_err(SinkFault::io("begin", &path))?;
        let mut warc_file = Self {
            open: OpenFile::new(name, disk, file),
            length: 0,
            preface: writer.members().length(),
            begun: now,
            is_packed_alike: true,
            warcinfo: id.to_string().into(),
        };
        warc_file.append(writer.members())?;
        Ok(warc_file)
    }

    /// Reopens the file that contains the commit point of the archive, and cuts it there; later
    /// files are set aside.
    pub(super) fn resume(
        disk: &Arc<dyn Disk>,
        dir: &Path,
        options: &ArchiveOptions,
        end: ArchiveEnd,
    ) -> Result<Self, SinkFault> {
        let Some(name) = FileName::parse(&end.file) else {
            return Err(SinkFault::Foreign { name: end.file });
        };
        let (path, is_open) = find(dir, &name)?;
        let file = match disk.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SinkFault::Missing { path });
            }
            Err(error) => return Err(SinkFault::io("open", &path)(error)),
        };
        let length = file.length().map_err(SinkFault::io("examine", &path))?;
        if length < end.end {
            let end = end.end;
            return Err(SinkFault::TooShort { path, end, length });
        }
        let first = first_record(&path).map_err(unsettled_tail::damaged(&path))?;
        let preamble = preamble_of(&path).map_err(SinkFault::io("read", &path))?;
        let compression = &options.compression;
        let is_packed_alike =
            name.packing() == compression.packing() && preamble == compression.preamble();

        let length = end.end.max(first.ends);
        let last = Some((&name, length));
        let prefix = &options.prefix;
        let behind = UnsettledTail { dir, prefix, last };
        behind.check()?;
        let open = open_path(dir, name.as_str());
        if !is_open {
            disk.rename(&path, &open)
                .map_err(SinkFault::io("rename", &path))?;
        }
        behind.clear_up(disk)?;
        unsettled_tail::set_aside(disk, &open, &name, length)?;
        disk.set_length(&file, length)
            .and_then(|()| disk.sync(&file))
            .map_err(SinkFault::io("cut back", &path))?;
        Ok(Self {
            open: OpenFile::new(name, disk, file),
            length,
            preface: first.ends,
            begun: first.begun,
            is_packed_alike,
            warcinfo: first.warcinfo,
        })
    }

    /// Returns true if the next visit belongs in the next file.
    pub(super) fn is_full(&self, options: &ArchiveOptions) -> bool {
        let is_old = |age| options.clock.date().since(self.begun) >= age;
        let is_done = self.length >= options.max_file || options.max_age.is_some_and(is_old);
        !self.is_packed_alike || is_done && self.length > self.preface
    }

    /// Returns true if it has only its `warcinfo` record.
    pub(super) fn has_no_visit(&self) -> bool {
        self.length <= self.preface
    }

    /// Appends all of the records or none: if that fails, the file is cut back to its previous
    /// length.
    pub(super) fn append(&mut self, records: &Members) -> Result<(), SinkFault> {
        let OpenFile { disk, file, .. } = &self.open;
        let appended =
            records.for_each_piece(|piece| disk.append(file, piece).map_err(|short| short.source));
        let Err(source) = appended else {
            self.length += records.length();
            return Ok(());
        };
        if let Err(error) = disk.set_length(file, self.length) {
            let path = file.path().display();
            tracing::error!(%path, length = self.length, %error, "cannot truncate a torn archive");
        }
        Err(SinkFault::io("write", file.path())(source))
    }
}

/// The `warcinfo` record at the start of a file.
pub(super) struct FirstRecord {
    /// Its id.
    warcinfo: Arc<str>,
    /// Its end in bytes.
    pub(super) ends: u64,
    begun: Timestamp,
}

pub(super) fn first_record(path: &Path) -> Result<FirstRecord, ReadFault> {
    let mut reader = WarcReader::open(path)?;
    match reader.next_record(0)? {
        Some(record) if record.kind() == "warcinfo" => Ok(FirstRecord {
            warcinfo: record.id().into(),
            ends: record.offset + record.length,
            // An unreadable date makes the file old, so that the next file is begun.
            begun: record.date().parse().unwrap_or_default(),
        }),
        _ => Err(ReadFault::Damaged {
            path: path.to_owned(),
            offset: 0,
            reason: "the first record is not a warcinfo".to_owned(),
        }),
    }
}

/// Returns the path of the file `name`, and true if it has the suffix `.open`.
fn find(dir: &Path, name: &FileName) -> Result<(PathBuf, bool), SinkFault> {
    let (open, closed) = (open_path(dir, name.as_str()), dir.join(name.as_str()));
    match (open.exists(), closed.exists()) {
        (true, true) => Err(SinkFault::Twice { open, closed }),
        (true, false) => Ok((open, true)),
        (false, _) => Ok((closed, false)),
    }
}
