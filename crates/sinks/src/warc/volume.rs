//! One file of the archive: begun with its `warcinfo` record, or found again and cut to its settled end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use super::archive::ArchiveEnd;
use super::files::{self, FileName};
use super::identity::RecordId;
use super::read::{ReadFault, WarcReader};
use super::record::{FIELDS, Header, Press};
use super::warcinfo::ArchiveOptions;
use crate::SinkFault;

/// One file of the archive, open for appending.
pub(super) struct Volume {
    pub(super) name: FileName,
    pub(super) open: OpenFile,
    pub(super) length: u64,
    /// How long its `warcinfo` record is: a file without a visit is never full.
    preface: u64,
    /// The id of that record.
    pub(super) warcinfo: Arc<str>,
}

/// An open file, and what to call it in a fault.
#[derive(Clone)]
pub(super) struct OpenFile {
    file: Arc<File>,
    pub(super) path: Arc<Path>,
}

impl OpenFile {
    /// Has the disk keep what was written.
    pub(super) fn sync(&self) -> Result<(), SinkFault> {
        self.file
            .sync_data()
            .map_err(|source| SinkFault::io("sync", &self.path, source))
    }
}

impl Volume {
    /// Begins file number `counter` with its `warcinfo` record.
    pub(super) fn begin(
        dir: &Path,
        options: &ArchiveOptions,
        session: RecordId,
        counter: u64,
    ) -> Result<Self, SinkFault> {
        let now = options.clock.now();
        let name = FileName::new(now, counter);
        let path: Arc<Path> = dir.join(name.as_str()).into();
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(|source| SinkFault::io("create", &path, source))?;
        files::sync_directory(dir).map_err(|source| SinkFault::io("sync", dir, source))?;

        let id = session.name(name.as_str().as_bytes());
        let mut header = Header::new("warcinfo", id, now);
        header.field("WARC-Filename", name.as_str());
        let mut press = Press::new(options.level);
        press.record(header, FIELDS, [&options.warcinfo(), b""]);

        let open = OpenFile {
            file: Arc::new(file),
            path,
        };
        let preface = press.length();
        let mut volume = Self {
            name,
            open,
            length: 0,
            preface,
            warcinfo: id.to_string().into(),
        };
        volume.append(press.members())?;
        Ok(volume)
    }

    /// The file in which the settled part of the archive ends, cut to that end; later files are removed.
    pub(super) fn resume(dir: &Path, end: ArchiveEnd) -> Result<Self, SinkFault> {
        let Some(name) = FileName::parse(&end.file) else {
            return Err(SinkFault::Foreign { name: end.file });
        };
        let path: Arc<Path> = dir.join(name.as_str()).into();
        let file = match OpenOptions::new().append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SinkFault::Missing {
                    path: path.to_path_buf(),
                });
            }
            Err(error) => return Err(SinkFault::io("open", &path, error)),
        };
        let length = file
            .metadata()
            .map_err(|source| SinkFault::io("examine", &path, source))?
            .len();
        if length < end.end {
            return Err(SinkFault::TooShort {
                path: path.to_path_buf(),
                end: end.end,
                length,
            });
        }
        let (warcinfo, preface) = first_record(&path).map_err(|source| SinkFault::Damaged {
            path: path.to_path_buf(),
            source,
        })?;

        remove_after(dir, name.counter())?;
        let length = end.end.max(preface);
        file.set_len(length)
            .and_then(|()| file.sync_all())
            .map_err(|source| SinkFault::io("cut back", &path, source))?;
        let open = OpenFile {
            file: Arc::new(file),
            path,
        };
        Ok(Self {
            name,
            open,
            length,
            preface,
            warcinfo,
        })
    }

    /// Whether the next visit belongs into the next file.
    pub(super) fn is_full(&self, max_file: u64) -> bool {
        self.length >= max_file && self.length > self.preface
    }

    /// Appends bytes in one piece; where that fails, cuts the file back to what it was.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), SinkFault> {
        let OpenFile { file, path } = &self.open;
        let Err(source) = (&**file).write_all(bytes) else {
            self.length += bytes.len() as u64;
            return Ok(());
        };
        if let Err(error) = file.set_len(self.length) {
            tracing::error!(path = %path.display(), length = self.length, %error, "cannot cut a torn archive back");
        }
        Err(SinkFault::io("write", path, source))
    }
}

/// The id of the `warcinfo` record with which a file begins, and where that record ends.
fn first_record(path: &Path) -> Result<(Arc<str>, u64), ReadFault> {
    let mut reader = WarcReader::open(path)?;
    match reader.next_record(0)? {
        Some(record) if record.kind() == "warcinfo" => Ok((record.id().into(), record.length)),
        _ => {
            let reason = "the first record is not a warcinfo".to_owned();
            Err(ReadFault::Damaged {
                path: path.to_owned(),
                offset: 0,
                reason,
            })
        }
    }
}

/// Removes the archive files behind number `counter`: nothing in them was settled.
pub(super) fn remove_after(dir: &Path, counter: u64) -> Result<(), SinkFault> {
    let names = files::last_first(dir).map_err(|source| SinkFault::io("list", dir, source))?;
    for name in names.iter().take_while(|name| name.counter() > counter) {
        let path = dir.join(name.as_str());
        fs::remove_file(&path).map_err(|source| SinkFault::io("remove", &path, source))?;
    }
    files::sync_directory(dir).map_err(|source| SinkFault::io("sync", dir, source))
}
