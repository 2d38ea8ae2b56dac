//! Segments of the journal: the files that hold its frames, and reading them back.
//!
//! A file `NNNNNNNNNNNNNNNNNNNN.log` is a header and frames:
//!
//! ```text
//! header  "CRWLJRNL" · format u16 · fingerprint algorithm u16 · 0 u32 · hash key u64 · base u64
//!         · crc32 u32                                                           (little-endian)
//! frame   length u32 · crc32 of the payload u32 · crc32 of these eight bytes u32
//!         · payload (postcard)
//! ```
//!
//! A frame's head has its own checksum. Otherwise a damaged length would look like a frame that the
//! end of the file cuts short, and everything after it would be mistaken for a torn write.
//!
//! Invariant: reading ends before a bad frame in the last segment, which is a torn write, unless a
//! later mark (`mark.rs`) says that it was synced. In that case, and in any other segment, the
//! frame is damage and is reported, never skipped. The header is synced before anything else is
//! written, so a torn header cannot be followed by data.

use std::fs::{File, Metadata};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use neardup::HashKey;

use crate::fault::StoreFault;
use crate::frame::{FRAME_HEAD_BYTES, Position, head_of, whole_frame};
use crate::mark;
use crate::record::{self, Record};

/// The format version of this module, of frames, and of [`Record`].
pub const FORMAT: u16 = 19;
/// Maximum length of a record in bytes; a longer length field is damage.
const MAX_RECORD_BYTES: u32 = 128 << 20;
const MAGIC: &[u8; 8] = b"CRWLJRNL";
pub(crate) const HEADER_BYTES: usize = 36;
const MARK_PAYLOAD: u32 = 8;

/// Returns the header of a segment.
pub(crate) fn header(key: HashKey, base: Position) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..10].copy_from_slice(&FORMAT.to_le_bytes());
    header[10..12].copy_from_slice(&neardup::ALGORITHM.to_le_bytes());
    header[16..24].copy_from_slice(&key.as_u64().to_le_bytes());
    header[24..32].copy_from_slice(&base.to_le_bytes());
    let checksum = crc32fast::hash(&header[..32]);
    header[32..].copy_from_slice(&checksum.to_le_bytes());
    header
}

fn read_header(
    path: &Path,
    header: &[u8; HEADER_BYTES],
    base: Position,
) -> Result<HashKey, StoreFault> {
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let damaged = |what: &str| StoreFault::Damaged {
        path: path.to_owned(),
        offset: 0,
        what: what.to_owned(),
    };
    if &header[..8] != MAGIC {
        return Err(damaged("it does not begin with the journal's magic bytes"));
    }
    if half(8) != FORMAT {
        return Err(StoreFault::Format {
            path: path.to_owned(),
            found: half(8),
            known: FORMAT,
        });
    }
    if !is_whole(header) {
        return Err(damaged("the header's checksum is wrong"));
    }
    if half(10) != neardup::ALGORITHM {
        return Err(StoreFault::Setting {
            setting: "fingerprint version",
            begun: half(10).to_string(),
            asked: neardup::ALGORITHM.to_string(),
        });
    }
    if long(24) != base {
        return Err(damaged("the header names another position than the file"));
    }
    Ok(HashKey::new(long(16)))
}

/// Returns true if the header's checksum is right.
fn is_whole(header: &[u8; HEADER_BYTES]) -> bool {
    crc32fast::hash(&header[..32]).to_le_bytes() == header[32..]
}

/// Returns the base position and the path of each segment, ascending.
///
/// # Errors
/// [`StoreFault::File`] if the directory cannot be read.
pub fn segments(directory: &Path) -> Result<Vec<(Position, PathBuf)>, StoreFault> {
    let mut found = Vec::new();
    let listing = std::fs::read_dir(directory).map_err(StoreFault::file("list", directory))?;
    for item in listing {
        let path = item.map_err(StoreFault::file("list", directory))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let digits = name.and_then(|name| name.strip_suffix(".log"));
        let digits = digits.filter(|digits| digits.len() == 20);
        if let Some(base) = digits.and_then(|digits| digits.parse().ok()) {
            found.push((base, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the length of the last segment's intact part, and its key; no key if even the header is
/// incomplete.
pub(crate) fn sound_length(
    path: &Path,
    base: Position,
) -> Result<(u64, Option<HashKey>), StoreFault> {
    let mut segment = Segment::open(path, base, AHEAD, Tear::Allowed)?;
    let Some(key) = segment.key else {
        return Ok((0, None));
    };
    while segment.next(Tear::Allowed)?.is_some() {}
    Ok((segment.offset, Some(key)))
}

/// Returns the number of complete records after byte `from` of a segment, where a torn record
/// begins.
pub(crate) fn records_behind(path: &Path, from: u64) -> std::io::Result<u64> {
    let mut rest = File::open(path)?;
    rest.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    rest.read_to_end(&mut bytes)?;
    let (mut at, mut records) = (0, 0);
    while let Some(rest) = bytes.get(at..) {
        match whole_frame(rest) {
            Some(length) => {
                at += length;
                records += 1;
            }
            None => at += 1,
        }
    }
    Ok(records)
}

/// A torn end of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// Number of bytes from the first torn record.
    pub bytes: u64,
    /// Number of complete records after the torn one.
    pub records: u64,
}

/// Returns the length of the journal of the store in `directory` in bytes, a torn end included.
///
/// # Errors
/// [`StoreFault::File`] if the journal cannot be examined.
pub fn length(directory: &Path) -> Result<u64, StoreFault> {
    match segments(&directory.join("journal"))?.last() {
        Some((base, path)) => Ok(base + length_of(path)?),
        None => Ok(0),
    }
}

/// Returns the torn end of the journal of the store in `directory`, if it has one.
///
/// # Errors
/// [`StoreFault::Damaged`] if more than its end is damaged; otherwise the operating system's error.
pub fn torn_tail(directory: &Path) -> Result<Option<TornTail>, StoreFault> {
    let Some((base, path)) = segments(&directory.join("journal"))?.pop() else {
        return Ok(None);
    };
    let length = length_of(&path)?;
    let (sound, _) = sound_length(&path, base)?;
    if sound >= length {
        return Ok(None);
    }
    let records = records_behind(&path, sound).map_err(StoreFault::file("read", &path))?;
    let bytes = length - sound;
    Ok(Some(TornTail { bytes, records }))
}

fn length_of(path: &Path) -> Result<u64, StoreFault> {
    let metadata = std::fs::metadata(path).map_err(StoreFault::file("examine", path))?;
    Ok(metadata.len())
}

/// The meaning of a bad frame: a torn write is possible only at the end of the last segment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tear {
    Allowed,
    Damage,
}

impl Tear {
    fn at(last: bool) -> Self {
        if last { Self::Allowed } else { Self::Damage }
    }
}

/// One segment, read from the front.
pub(crate) struct Segment {
    path: PathBuf,
    base: Position,
    reader: BufReader<File>,
    length: u64,
    offset: u64,
    key: Option<HashKey>,
    /// The offset of the last record that was read.
    begun: u64,
    passes_over_signatures: bool,
}

/// Read-ahead in bytes: large to read a complete segment, small to read one record.
pub(crate) const AHEAD: usize = 256 << 10;
const AHEAD_OF_ONE: usize = 4 << 10;

impl Segment {
    pub(crate) fn open(
        path: &Path,
        base: Position,
        ahead: usize,
        tear: Tear,
    ) -> Result<Self, StoreFault> {
        let file = File::open(path).map_err(StoreFault::file("open", path))?;
        let length = file
            .metadata()
            .map_err(StoreFault::file("examine", path))?
            .len();
        let mut reader = BufReader::with_capacity(ahead, file);
        let key = if length < HEADER_BYTES as u64 {
            None
        } else {
            let mut header = [0; HEADER_BYTES];
            reader
                .read_exact(&mut header)
                .map_err(StoreFault::file("read", path))?;
            match read_header(path, &header, base) {
                Ok(key) => Some(key),
                // An unknown format may be garbage too: one of our headers, in any format, ends
                // with its checksum.
                Err(_)
                    if tear == Tear::Allowed
                        && length == HEADER_BYTES as u64
                        && !is_whole(&header) =>
                {
                    None
                }
                Err(fault) => return Err(fault),
            }
        };
        Ok(Self {
            path: path.to_owned(),
            base,
            reader,
            length,
            offset: HEADER_BYTES as u64,
            key,
            begun: HEADER_BYTES as u64,
            passes_over_signatures: false,
        })
    }

    /// Skips records that are only about signatures from now on.
    pub(crate) fn pass_over_signatures(&mut self) {
        self.passes_over_signatures = true;
    }

    /// Returns the key of every hash in the journal; `None` if the header is incomplete.
    pub(crate) fn key(&self) -> Option<HashKey> {
        self.key
    }

    /// Returns the position of the first byte.
    pub(crate) fn base(&self) -> Position {
        self.base
    }

    /// Returns the position of the last record that was read.
    pub(crate) fn begun(&self) -> Position {
        self.base + self.begun
    }

    /// Returns the position after the last record or mark that was read.
    pub(crate) fn position(&self) -> Position {
        self.base + self.offset
    }

    /// Takes in everything appended since the segment was opened.
    pub(crate) fn grow(&mut self) -> Result<(), StoreFault> {
        self.length = self.metadata()?.len();
        // Drops what was read ahead: it may end in part of a frame.
        self.seek(self.offset)
    }

    /// Returns true if the opened file has been renamed or removed, or has lost bytes that were
    /// read.
    pub(crate) fn is_replaced(&self) -> Result<bool, StoreFault> {
        let named = match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
            named => named.map_err(StoreFault::file("examine", &self.path))?,
        };
        let opened = self.metadata()?;
        let is_other = (named.dev(), named.ino()) != (opened.dev(), opened.ino());
        Ok(is_other || named.len() < self.offset)
    }

    fn metadata(&self) -> Result<Metadata, StoreFault> {
        let metadata = self.reader.get_ref().metadata();
        metadata.map_err(StoreFault::file("examine", &self.path))
    }

    /// Continues at this offset of the segment, where a frame begins.
    pub(crate) fn seek(&mut self, offset: u64) -> Result<(), StoreFault> {
        self.reader
            .seek(SeekFrom::Start(offset))
            .map_err(StoreFault::file("read", &self.path))?;
        self.offset = offset;
        Ok(())
    }

    /// Returns the next record, skipping marks; `None` at the end, or before a torn write if torn
    /// writes are allowed.
    pub(crate) fn next(&mut self, tear: Tear) -> Result<Option<Record>, StoreFault> {
        loop {
            let left = self.length.saturating_sub(self.offset);
            if left == 0 {
                return Ok(None);
            }
            if left < FRAME_HEAD_BYTES as u64 {
                return self.bad(tear, "a frame ends early");
            }
            let mut head = [0; FRAME_HEAD_BYTES];
            self.read(&mut head)?;
            let Some((length, checksum)) = head_of(&head) else {
                return self.bad(tear, "the checksum of a frame's head is wrong");
            };
            let is_mark = length == mark::LENGTH;
            let length = if is_mark { MARK_PAYLOAD } else { length };
            let whole = FRAME_HEAD_BYTES as u64 + u64::from(length);
            if whole > left {
                return self.bad(tear, "a frame ends early");
            }
            if length > MAX_RECORD_BYTES {
                return self.bad(tear, "a frame is longer than any record");
            }
            let mut payload = vec![0; length as usize];
            self.read(&mut payload)?;
            if is_mark {
                if self.mark(&head, &payload).is_none() {
                    return self.bad(tear, "a mark is wrong");
                }
                self.offset += whole;
                continue;
            }
            if crc32fast::hash(&payload) != checksum {
                return self.bad(tear, "a frame's checksum is wrong");
            }
            if self.passes_over_signatures && record::is_about_signatures(&payload) {
                self.offset += whole;
                continue;
            }
            let record = postcard::from_bytes(&payload)
                .map_err(|error| self.damaged(&format!("a record cannot be read ({error})")))?;
            self.begun = self.offset;
            self.offset += whole;
            return Ok(Some(record));
        }
    }

    /// Returns the durable position in the mark at the offset.
    fn mark(&self, head: &[u8], payload: &[u8]) -> Option<Position> {
        let bytes = [head, payload].concat().try_into().ok()?;
        mark::decode(self.key?, self.base + self.offset, &bytes)
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), StoreFault> {
        self.reader
            .read_exact(into)
            .map_err(StoreFault::file("read", &self.path))
    }

    /// Ends the reading at a bad frame if it is a torn write. Fails if it is damage: if torn writes
    /// are not allowed here, or a later mark says that it was synced.
    fn bad(&mut self, tear: Tear, what: &str) -> Result<Option<Record>, StoreFault> {
        if tear == Tear::Damage {
            return Err(self.damaged(what));
        }
        let at = self.offset;
        self.seek(at)?;
        let Some(key) = self.key else {
            return Err(self.damaged(what));
        };
        let synced = mark::farthest(key, self.base + at, &mut self.reader)
            .map_err(StoreFault::file("read", &self.path))?;
        if synced > self.base + at {
            return Err(self.damaged(what));
        }
        // The next call returns the same result.
        self.length = at;
        Ok(None)
    }

    pub(crate) fn damaged(&self, what: &str) -> StoreFault {
        StoreFault::Damaged {
            path: self.path.clone(),
            offset: self.offset,
            what: what.to_owned(),
        }
    }
}

/// Returns the record at `position`, a position as returned by [`Replay::next_record`], from a
/// journal with these ascending `segments`; `None` if the journal ends there.
///
/// # Errors
/// [`StoreFault`] if the segment cannot be read, or if no record begins there.
pub fn record_in(
    segments: &[(Position, PathBuf)],
    position: Position,
) -> Result<Option<Record>, StoreFault> {
    let place = segments.partition_point(|(base, _)| *base <= position);
    let Some((base, path)) = place.checked_sub(1).and_then(|place| segments.get(place)) else {
        return Ok(None);
    };
    let mut segment = Segment::open(path, *base, AHEAD_OF_ONE, Tear::Allowed)?;
    // The end of a segment is the base of the next, whose first record follows its header.
    segment.seek((position - base).max(HEADER_BYTES as u64))?;
    segment.next(Tear::Allowed)
}

/// The records of a journal from some position, with the position after each.
pub struct Replay {
    segments: std::vec::IntoIter<(Position, PathBuf)>,
    current: Option<(Position, Segment)>,
}

impl Replay {
    /// Opens the journal in `directory` for reading. Takes no lock, so it works during a crawl.
    ///
    /// # Errors
    /// [`StoreFault`] if the directory or the first segment cannot be read.
    pub fn open(directory: &Path, from: Position) -> Result<Self, StoreFault> {
        let mut all = segments(directory)?;
        let first = all.iter().rposition(|(base, _)| *base <= from).unwrap_or(0);
        let mut replay = Self {
            segments: all.split_off(first).into_iter(),
            current: None,
        };
        replay.advance()?;
        if let Some((base, segment)) = &mut replay.current
            && from > *base + HEADER_BYTES as u64
        {
            segment.seek(from - *base)?;
        }
        Ok(replay)
    }

    /// Returns the key of every hash in the journal; `None` if no segment has a complete header.
    #[must_use]
    pub fn key(&self) -> Option<HashKey> {
        self.current.as_ref().and_then(|(_, segment)| segment.key)
    }

    fn advance(&mut self) -> Result<(), StoreFault> {
        self.current = match self.segments.next() {
            Some((base, path)) => {
                let tear = Tear::at(self.segments.len() == 0);
                Some((base, Segment::open(&path, base, AHEAD, tear)?))
            }
            None => None,
        };
        Ok(())
    }

    /// Returns the next record and the position after it; `None` at the journal's end.
    ///
    /// # Errors
    /// [`StoreFault::Damaged`] if a frame is damaged or a segment is missing.
    pub fn next_record(&mut self) -> Result<Option<(Position, Record)>, StoreFault> {
        loop {
            let last = self.segments.len() == 0;
            let Some((base, segment)) = &mut self.current else {
                return Ok(None);
            };
            let tear = Tear::at(last);
            if let Some(record) = segment.next(tear)? {
                return Ok(Some((*base + segment.offset, record)));
            }
            if last {
                return Ok(None);
            }
            let end = *base + segment.offset;
            let path = segment.path.clone();
            self.advance()?;
            if self.current.as_ref().is_some_and(|(next, _)| *next != end) {
                return Err(StoreFault::Damaged {
                    path,
                    offset: end,
                    what: "a segment is missing behind it".to_owned(),
                });
            }
        }
    }
}
