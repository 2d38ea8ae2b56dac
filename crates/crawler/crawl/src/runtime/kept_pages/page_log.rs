//! The log of kept pages on disk: their places in the archive and their lookup keys, in records of
//! fixed length.
//!
//! Each page is appended as soon as it is remembered, so a kill loses no page. The log is synced
//! only when the session ends; after a power cut, checksums find the records that were not written.
//!
//! Invariant: the log ends before the first record that is damaged or names an unknown file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use disk::{Disk, DiskFile};
use neardup::HashKey;
use web::UrlKey;

/// Maximum lookup keys of a page, without the key of its URL.
pub(super) const KEYS: usize = 8;
/// The length of a record in bytes: the fields of [`PageRecord`] in their order and a checksum,
/// little-endian.
const LENGTH: usize = 64;
/// The header of a log, padded to the length of a record. A log of another version is replaced.
const TITLE: &[u8] = b"crawler kept pages, version 4\n";
/// The offset that marks an [`Entry::Contained`].
const NO_PAGE: u64 = u64::MAX;

/// An entry of the log. Entries are numbered from 0; a page is known by the number of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A page that is kept.
    Page(PageRecord),
    /// A note that a later page has all of the content of page number n.
    Contained(u32),
}

/// A kept page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageRecord {
    pub(super) url: UrlKey,
    /// The offset in the archive file.
    pub(super) offset: u64,
    /// The number of the archive file.
    pub(super) file: u32,
    /// The upper half of the hash of its heading or title. A page repeats another one only if they
    /// share their name or their canonical URL.
    pub(super) name: u32,
    /// The upper half of the key of its canonical URL, or of its own if it names none.
    pub(super) canonical: u32,
    /// Its lookup keys; 0 marks an unused place.
    pub(super) keys: [u32; KEYS],
}

impl PageRecord {
    pub(super) const EMPTY: Self = Self {
        url: UrlKey::from_u64(0),
        offset: 0,
        file: 0,
        name: 0,
        canonical: 0,
        keys: [0; KEYS],
    };
}

/// The log of the kept pages of a crawl.
#[derive(Debug)]
pub(super) struct PageLog {
    disk: Arc<dyn Disk>,
    entries: DiskFile,
    reader: File,
    len: u32,
    /// The names of the archive's files, one per line.
    names: DiskFile,
    files: Vec<String>,
}

impl PageLog {
    /// Opens the log in this state directory and visits its entries from first to last. The log is
    /// truncated before a damaged entry. A file without the header is replaced, with a warning.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub(super) fn open(
        state: &Path,
        disk: Arc<dyn Disk>,
        mut visit: impl FnMut(u32, Entry),
    ) -> io::Result<Self> {
        let (path, names) = (state.join("kept-pages"), state.join("kept-pages.files"));
        let is_known = File::open(&path)
            .and_then(|mut file| {
                let mut title = [0; LENGTH];
                file.read_exact(&mut title).map(|()| title == head())
            })
            .or_else(|error| match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => Ok(false),
                _other => Err(error),
            })?;
        if !is_known {
            begin(&*disk, &path, &names)?;
        }
        let mut log = Self {
            entries: disk.open(&path)?,
            reader: File::open(&path)?,
            len: 0,
            files: lines(&names)?,
            names: disk.open(&names)?,
            disk,
        };
        log.cut_names()?;
        log.read_entries(&path, &mut visit)?;
        Ok(log)
    }

    /// Truncates the names after the last complete line.
    fn cut_names(&self) -> io::Result<()> {
        let whole: usize = self.files.iter().map(|name| name.len() + 1).sum();
        self.cut(&self.names, whole as u64)
    }

    fn read_entries(&mut self, path: &Path, visit: &mut impl FnMut(u32, Entry)) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
        let mut bytes = [0; LENGTH];
        reader.read_exact(&mut bytes)?;
        while reader.read_exact(&mut bytes).is_ok()
            && let Some(entry) = Entry::decode(&bytes).filter(|entry| self.has_file_of(entry))
        {
            visit(self.len, entry);
            self.len += 1;
        }
        self.cut(&self.entries, place(self.len))
    }

    fn cut(&self, file: &DiskFile, length: u64) -> io::Result<()> {
        match file.length()? == length {
            true => Ok(()),
            false => self.disk.set_length(file, length),
        }
    }

    fn has_file_of(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Page(page) => (page.file as usize) < self.files.len(),
            Entry::Contained(page) => *page < self.len,
        }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the page with this number; `None` if it cannot be read.
    pub(super) fn page(&self, number: u32) -> Option<PageRecord> {
        let mut bytes = [0; LENGTH];
        let read = disk::read_at(&self.reader, &mut bytes, place(number));
        match Entry::decode(&bytes).filter(|_| read.is_ok_and(|read| read == LENGTH))? {
            Entry::Page(page) => Some(page),
            Entry::Contained(_) => None,
        }
    }

    /// Returns the name of a file.
    pub(super) fn file_name(&self, file: u32) -> Option<&str> {
        self.files.get(file as usize).map(String::as_str)
    }

    /// Returns the number of an archive file, and adds a file that is new.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub(super) fn file(&mut self, name: &str) -> io::Result<u32> {
        let known = self.files.iter().rposition(|known| known == name);
        let number = known.unwrap_or(self.files.len());
        if known.is_none() {
            let line = format!("{name}\n");
            self.disk
                .append(&self.names, line.as_bytes())
                .map_err(|short| short.source)?;
            self.files.push(name.to_owned());
        }
        u32::try_from(number).map_err(io::Error::other)
    }

    /// Appends an entry. Do not append after an error: the last record may be incomplete.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub(super) fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let appended = self.disk.append(&self.entries, &entry.encode());
        appended.map_err(|short| short.source)?;
        self.len += 1;
        Ok(())
    }

    /// Makes all entries durable.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.disk.sync(&self.names)?;
        self.disk.sync(&self.entries)
    }
}

impl Entry {
    fn encode(&self) -> [u8; LENGTH] {
        let page = match self {
            Self::Page(page) => *page,
            Self::Contained(number) => PageRecord {
                offset: NO_PAGE,
                file: *number,
                ..PageRecord::EMPTY
            },
        };
        let longs = [page.url.as_u64(), page.offset].map(u64::to_le_bytes);
        let shorts = [page.file, page.name, page.canonical].map(u32::to_le_bytes);
        let keys = page.keys.map(u32::to_le_bytes);
        let mut bytes = [longs.concat(), shorts.concat(), keys.concat()].concat();
        bytes.extend(checksum(&bytes));
        bytes.try_into().expect("the fields have one length")
    }

    /// Returns the entry of a record; `None` if the record is damaged.
    fn decode(bytes: &[u8; LENGTH]) -> Option<Self> {
        let (fields, sum) = bytes.split_at(LENGTH - size_of::<u32>());
        let long = |at: usize| Some(u64::from_le_bytes(*fields.get(at..)?.first_chunk()?));
        let short = |at: usize| Some(u32::from_le_bytes(*fields.get(at..)?.first_chunk()?));
        let mut page = PageRecord {
            url: UrlKey::from_u64(long(0)?),
            offset: long(8)?,
            file: short(16)?,
            name: short(20)?,
            canonical: short(24)?,
            ..PageRecord::EMPTY
        };
        for (key, at) in page.keys.iter_mut().zip((28..).step_by(size_of::<u32>())) {
            *key = short(at)?;
        }
        let entry = match page.offset {
            NO_PAGE => Self::Contained(page.file),
            _ => Self::Page(page),
        };
        (checksum(fields) == *sum).then_some(entry)
    }
}

/// Creates an empty log.
fn begin(disk: &dyn Disk, path: &Path, names: &Path) -> io::Result<()> {
    if path.exists() {
        let file = path.display();
        tracing::warn!(%file, "no log: earlier pages are compared only by their signatures");
    }
    disk.replace(names, &[])?;
    disk.replace(path, &head())
}

/// Returns the header, padded.
fn head() -> [u8; LENGTH] {
    let mut head = [0; LENGTH];
    head[..TITLE.len()].copy_from_slice(TITLE);
    head
}

/// Returns the complete lines of a file.
fn lines(path: &Path) -> io::Result<Vec<String>> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => String::new(),
        read => read?,
    };
    let whole = text.split_inclusive('\n');
    Ok(whole
        .filter_map(|line| line.strip_suffix('\n'))
        .map(str::to_owned)
        .collect())
}

/// Returns the place of an entry in the file.
fn place(number: u32) -> u64 {
    (u64::from(number) + 1) * LENGTH as u64
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    (HashKey::ZERO.digest(bytes) as u32).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use disk::SystemDisk;

    use super::*;

    fn record(number: u32) -> PageRecord {
        PageRecord {
            url: UrlKey::from_u64(u64::from(number) << 40 | 7),
            offset: u64::from(number) * 1_000,
            name: !number,
            canonical: number + 1,
            keys: [number; KEYS],
            ..PageRecord::EMPTY
        }
    }

    fn opened(state: &Path) -> (PageLog, Vec<Entry>) {
        let mut entries = Vec::new();
        let log = PageLog::open(state, Arc::new(SystemDisk), |number, entry| {
            assert_eq!(number as usize, entries.len());
            entries.push(entry);
        });
        (log.unwrap(), entries)
    }

    /// A log of three pages in two files, the first of which the last contains.
    fn filled(state: &Path) -> Vec<Entry> {
        let (mut log, none) = opened(state);
        assert_eq!(none, []);
        let mut entries: Vec<Entry> = Vec::new();
        for (number, name) in [(0, "one.warc.gz"), (1, "one.warc.gz"), (2, "two.warc.gz")] {
            let file = log.file(name).unwrap();
            entries.push(Entry::Page(PageRecord {
                file,
                ..record(number)
            }));
        }
        entries.insert(2, Entry::Contained(0));
        for entry in &entries {
            log.append(entry).unwrap();
        }
        assert_eq!(log.page(3).map(Entry::Page), Some(entries[3]));
        assert_eq!(log.page(2), None, "no page");
        assert_eq!(log.page(4), None, "the end");
        entries
    }

    #[test]
    fn a_log_that_was_not_synced_or_closed_is_read_back_and_goes_on() {
        let state = tempfile::tempdir().unwrap();
        let mut entries = filled(state.path());
        let (mut log, read) = opened(state.path());
        assert_eq!(read, entries);
        assert_eq!(log.file_name(1), Some("two.warc.gz"));
        assert_eq!(log.file("one.warc.gz").unwrap(), 0);
        entries.push(Entry::Page(record(9)));
        log.append(&entries[4]).unwrap();
        assert_eq!(opened(state.path()).1, entries);
    }

    #[test]
    fn a_log_that_is_cut_or_damaged_anywhere_ends_before_the_damage_and_goes_on() {
        let state = tempfile::tempdir().unwrap();
        let entries = filled(state.path());
        let path = state.path().join("kept-pages");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let left = (at / LENGTH).saturating_sub(1);
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            for damaged in [&whole[..at], &flipped[..]] {
                fs::write(&path, damaged).unwrap();
                // A log without its title is begun anew, with the names of its files.
                let names: &[u8] = b"one.warc.gz\ntwo.warc.gz\n";
                fs::write(state.path().join("kept-pages.files"), names).unwrap();
                let (mut log, read) = opened(state.path());
                assert_eq!(read, entries[..left], "{at}");
                log.file("one.warc.gz").unwrap();
                log.append(&entries[0]).unwrap();
                assert_eq!(opened(state.path()).1.len(), left + 1, "{at}");
            }
        }
    }

    #[test]
    fn pages_in_files_whose_names_were_lost_are_forgotten() {
        let state = tempfile::tempdir().unwrap();
        let entries = filled(state.path());
        let names = state.path().join("kept-pages.files");
        for (left, pages) in [
            (&b"one.warc.gz\ntwo.w"[..], 3),
            (b"one.w", 0),
            (b"\xff\n", 0),
        ] {
            fs::write(&names, left).unwrap();
            assert_eq!(opened(state.path()).1, entries[..pages]);
        }
    }
}
