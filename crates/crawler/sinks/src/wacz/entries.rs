//! The files in a ZIP, with their positions.
//!
//! The library reads the central directory; the bytes are then read directly from their positions,
//! so that several files can be read at once. Hostile directories are bounded here: positions are
//! clamped to the file, and decompression fails once the output is more than the compressed length
//! can explain.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;

use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::fault::WaczFault;
use super::layout::{ARCHIVE, CHUNK};

/// Maximum ratio of unpacked to compressed length, beyond [`SLACK`]; text has about 5.
const RATIO: u64 = 250;
const SLACK: u64 = 16 << 20;

/// A file in a ZIP.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its name in the directory; invalid UTF-8 is replaced.
    pub(super) name: String,
    pub(super) packing: Packing,
    /// The start of its bytes in the file.
    pub(super) begin: u64,
    /// Their length there.
    pub(super) length: u64,
    /// Its unpacked length, as declared.
    pub(super) size: u64,
    pub(super) crc: u32,
    pub(super) is_directory: bool,
    /// The problems of its directory entry.
    pub(super) warnings: Vec<&'static str>,
}

/// The compression of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Stored,
    Deflated,
    Other,
}

/// The directory of a ZIP file, and the file.
pub(super) struct Entries<R> {
    pub(super) list: Vec<Entry>,
    /// The problems of the directory as a whole.
    pub(super) warnings: Vec<String>,
    file: RefCell<R>,
}

impl<R: Read + Seek> Entries<R> {
    pub(super) fn read(mut input: R) -> Result<Self, WaczFault> {
        let end = input.seek(SeekFrom::End(0));
        let end = end.map_err(|error| WaczFault::not_zip(&error))?;
        let buffered = BufReader::with_capacity(CHUNK, input);
        let zip = ZipArchive::new(buffered);
        let mut zip = zip.map_err(|error| WaczFault::not_zip(&error))?;
        let mut warnings = Vec::new();
        if zip.has_duplicate_names() {
            warnings.push("two files of the ZIP have the same name".to_owned());
        }
        match zip.has_overlapping_entries() {
            Ok(false) => {}
            Ok(true) => warnings.push("files of the ZIP overlap each other".to_owned()),
            Err(error) => warnings.push(format!("the list of the ZIP is damaged: {error}")),
        }
        let mut list = Vec::new();
        for number in 0..zip.len() {
            match zip.by_index_raw(number) {
                Ok(file) => list.push(Entry::of(&file, end)),
                Err(error) => {
                    warnings.push(format!("file {number} of the ZIP is damaged: {error}"));
                }
            }
        }
        Ok(Self {
            list,
            warnings,
            file: RefCell::new(zip.into_inner().into_inner()),
        })
    }

    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        self.list.iter().find(|entry| entry.name == name)
    }

    /// Returns a reader of its unpacked bytes, which fails if there are implausibly many.
    pub(super) fn open(&self, entry: &Entry) -> io::Result<Box<dyn Read + '_>> {
        let section = self.section(entry, 0, entry.length);
        match entry.packing {
            Packing::Stored => Ok(Box::new(section)),
            Packing::Deflated => {
                let unpacked = DeflateDecoder::new(section);
                Ok(Box::new(Bounded::of(unpacked, entry.length)))
            }
            Packing::Other => Err(io::Error::other(
                "it is encrypted, or compressed with a method that WACZ does not allow",
            )),
        }
    }

    /// Returns a reader of up to `length` raw bytes of an entry, from `from` on.
    pub(super) fn section(&self, entry: &Entry, from: u64, length: u64) -> Section<'_, R> {
        let from = from.min(entry.length);
        let length = length.min(entry.length - from);
        Section {
            file: &self.file,
            from: entry.begin.saturating_add(from),
            length,
            at: 0,
        }
    }
}

impl Entry {
    fn of<R: Read>(file: &zip::read::ZipFile<'_, R>, end: u64) -> Self {
        let raw = file.name_raw();
        let name = String::from_utf8_lossy(raw).into_owned();
        let mut warnings = Vec::new();
        if std::str::from_utf8(raw).is_err() || !is_inside(&name) {
            warnings.push("its name points outside the package, or is invalid");
        }
        if file.is_symlink() {
            warnings.push("it is a link");
        }
        if file.encrypted() {
            warnings.push("it is encrypted");
        }
        let packing = match file.compression() {
            _ if file.encrypted() => Packing::Other,
            CompressionMethod::Stored => Packing::Stored,
            CompressionMethod::Deflated => Packing::Deflated,
            _ => Packing::Other,
        };
        let begin = file.data_start().unwrap_or(end).min(end);
        let length = file.compressed_size();
        if length > end - begin {
            warnings.push("it extends beyond the end of the ZIP");
        }
        Self {
            name,
            packing,
            begin,
            length: length.min(end - begin),
            size: file.size(),
            crc: file.crc32(),
            is_directory: file.is_dir(),
            warnings,
        }
    }
}

/// Returns true if a name, unpacked on any system, stays below the target directory.
fn is_inside(name: &str) -> bool {
    let path = name.strip_suffix('/').unwrap_or(name);
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    let is_plain = !path.contains(|letter: char| letter == '\\' || letter.is_control());
    is_plain && !is_drive && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// A part of a shared file, as a file of its own; each read seeks first.
pub(super) struct Section<'a, R> {
    file: &'a RefCell<R>,
    from: u64,
    length: u64,
    at: u64,
}

impl<R: Read + Seek> Read for Section<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.length.saturating_sub(self.at);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let length = bytes.len().min(left);
        if length == 0 {
            return Ok(0);
        }
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(self.from.saturating_add(self.at)))?;
        let read = file.read(&mut bytes[..length])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl<R> Seek for Section<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// A reader that fails after a maximum number of bytes.
pub(super) struct Bounded<R> {
    input: R,
    left: u64,
}

impl<R> Bounded<R> {
    /// Limits `input`, which unpacks `packed` bytes.
    pub(super) fn of(input: R, packed: u64) -> Self {
        Self {
            input,
            left: packed.saturating_mul(RATIO).saturating_add(SLACK),
        }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(bytes)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| io::Error::other("it unpacks to more than allowed"))?;
        Ok(read)
    }
}

/// An archive in a WACZ, or a package: its name and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePart {
    /// Its name in the WACZ, "archive/data.warc.gz". It is untrusted: do not follow it as a path.
    pub name: String,
    begin: u64,
    length: u64,
}

impl ArchivePart {
    /// Returns true for the whole file, and for a package in it.
    fn is_package(&self) -> bool {
        self.name.is_empty() || is_named(&self.name, &[".wacz"])
    }

    /// Returns the start of its bytes in the WACZ.
    #[must_use]
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// Opens its bytes in the WACZ at `path`.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub fn open(&self, path: &Path) -> io::Result<Take<File>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.begin))?;
        Ok(file.take(self.length))
    }
}

/// Levels of packages that are read: a collection, and the packages in it.
const MAX_DEPTH: usize = 2;

/// Maximum number of archives and packages that are read: entries of a hostile ZIP can share their
/// bytes.
const MAX_PARTS: usize = 1 << 16;

/// Lists the WARC and ARC files in the WACZ at `path`, in its order, including the files in its
/// packages (a collection is a package of packages).
///
/// # Errors
/// [`WaczFault::Read`] if the file cannot be read, [`WaczFault::NotZip`] if it, or a package in it,
/// is not a ZIP file, and [`WaczFault::NoArchive`] if no archive can be read in place.
pub fn archives(path: &Path) -> Result<Vec<ArchivePart>, WaczFault> {
    let unreadable = |source| WaczFault::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut parts = vec![ArchivePart {
        name: String::new(),
        begin: 0,
        length,
    }];
    for _ in 0..MAX_DEPTH {
        let mut found = Vec::new();
        for part in parts {
            match part.is_package() {
                true => add_parts(&file, &part, &mut found)?,
                false => found.push(part),
            }
        }
        parts = found;
    }
    match parts.iter().find(|part| part.is_package()) {
        Some(part) => Err(WaczFault::no_archive(format!(
            "{} in it is a nested package: unzip it first",
            part.name
        ))),
        None if parts.is_empty() => Err(WaczFault::no_archive(
            "it contains neither a WARC file in archive/ nor a package: unzip it, or download the \
             files that it refers to",
        )),
        None => Ok(parts),
    }
}

/// Adds the archives and the packages in a package, which is a part of `file`.
fn add_parts(
    file: &File,
    package: &ArchivePart,
    found: &mut Vec<ArchivePart>,
) -> Result<(), WaczFault> {
    let input = Section {
        file: &RefCell::new(file),
        from: package.begin,
        length: package.length,
        at: 0,
    };
    for entry in Entries::read(input)?.list {
        let is_archive = entry.name.starts_with(ARCHIVE)
            && is_named(
                &entry.name,
                &[".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"],
            );
        if entry.is_directory || !is_archive && !is_package(&entry) {
            continue;
        }
        let slash = if package.name.is_empty() { "" } else { "/" };
        let name = format!("{}{slash}{}", package.name, entry.name);
        if entry.packing != Packing::Stored || found.len() >= MAX_PARTS {
            return Err(WaczFault::no_archive(format!(
                "{name} in it is not stored uncompressed, as WACZ requires, or exceeds the number \
                 of files: unzip it first"
            )));
        }
        found.push(ArchivePart {
            name,
            begin: package.begin + entry.begin,
            length: entry.length,
        });
    }
    Ok(())
}

/// Returns true if a name has one of these endings, regardless of case.
fn is_named(name: &str, endings: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns true if an entry is a package in a collection.
pub(super) fn is_package(entry: &Entry) -> bool {
    is_named(&entry.name, &[".wacz"]) && !entry.is_directory
}

/// Returns true if an entry is a WARC file of the archive.
pub(super) fn is_archive(entry: &Entry) -> bool {
    let is_warc = |name: &str| {
        let unpacked = name.strip_suffix(".gz").or(name.strip_suffix(".zst"));
        unpacked.unwrap_or(name).ends_with(".warc")
    };
    entry.name.strip_prefix(ARCHIVE).is_some_and(is_warc) && !entry.is_directory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_outside_on_any_system_are_recognised() {
        for name in [
            "archive/a.warc.gz",
            "a",
            "archive/",
            "archive/a b",
            "..a/b..",
            "archive/a:b",
        ] {
            assert!(is_inside(name), "{name}");
        }
        for name in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a/..",
            "./a",
            "a//b",
            "C:/a",
            "c:a",
            "a\\b",
            "\\\\host\\a",
            "a\0b",
            "a\nb",
        ] {
            assert!(!is_inside(name), "{name:?}");
        }
    }
}
