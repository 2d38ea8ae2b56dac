//! Reads archives of any crawler, front to back, in bounded memory; skips and reports broken
//! stretches.
//!
//! Other crawlers write their records plain, each in a gzip member or Zstandard frame of its own,
//! or all in one: `unpack` turns all of this into one stream of records. A deviation from the
//! standard that does not prevent reading is a [`Deviation`], and counted. An unreadable stretch is
//! reported as one [`ReadFault::Broken`], and the search for the next record begins: within the
//! unpacked bytes of the broken member, at the next line that names a WARC version; if a member
//! does not unpack, at the next member that holds such a line.
//!
//! A record is accepted if its end is plausible: two empty lines and another record, or the end of
//! the member. If that comes a few bytes later, `Content-Length` is too small, and the record is
//! read with them. Otherwise `Content-Length` is wrong, and the search begins right after the
//! record's first line, so that no following record is swallowed.

mod record_end;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use self::record_end::MemberChain;
use super::deviations::{Deviation, Deviations};
use super::parse::{self, Keep, ParseFailure, SHORT_BLOCK};
use super::parsed::{DigestCheck, Record};
use super::read::{CHUNK, ReadFault};
use super::spooled::SpoolRules;
use super::unpack::{
    ArchiveFormat, Member, Packing, Source, Unpacker, VERSION, is_version, without_breaks,
};

/// Bytes of the packed stream and of the unpacked one that are kept, to go back after a broken
/// record. A plain file on a disk can be read again from anywhere.
const KEPT_BYTES: usize = 1 << 20;

/// A tolerant, sequential reader of the records of any archive.
pub struct WarcStream {
    path: PathBuf,
    input: Unpacker<Box<dyn Read + Send>>,
    spool: Option<SpoolRules>,
    /// The format of the last record.
    format: ArchiveFormat,
    /// The start of the last record, in the unpacked stream.
    begin: u64,
    /// Line breaks before it that belong to its member: some ARC files have them there.
    lead: u64,
    /// True if the last record was broken and the start of the next one is unknown.
    lost: bool,
    ended: bool,
    /// A failure after the last record, to be returned next.
    later: Option<ParseFailure>,
    records: u64,
    broken: u64,
    deviations: Deviations,
}

const WRONG_LENGTH: &str = "the block is longer or shorter than Content-Length says";

/// The result of reading a record.
enum Reading {
    Record(Box<Record>),
    /// `Content-Length` is too small by this much.
    TooShort {
        excess: u64,
    },
}

impl WarcStream {
    /// Opens a file at its beginning.
    ///
    /// # Errors
    /// [`ReadFault::Io`] if the system refuses the read.
    pub fn open(path: &Path) -> Result<Self, ReadFault> {
        let file = File::open(path).map_err(|source| ParseFailure::Io(source).at(path, 0))?;
        // A pipe, also one with a name, cannot be read again.
        let source = match file.metadata() {
            Ok(about) if about.is_file() => Source::File(file),
            _ => Source::Stream(Box::new(file) as Box<dyn Read + Send>),
        };
        Ok(Self::of(path, source))
    }

    /// Reads `input`, packed or plain, which faults name `path`.
    #[must_use]
    pub fn new(path: &Path, input: impl Read + Send + 'static) -> Self {
        Self::of(path, Source::Stream(Box::new(input)))
    }

    fn of(path: &Path, source: Source<Box<dyn Read + Send>>) -> Self {
        Self {
            path: path.to_owned(),
            input: Unpacker::new(source, 0, KEPT_BYTES, CHUNK),
            spool: None,
            format: ArchiveFormat::Warc,
            begin: 0,
            lead: 0,
            lost: false,
            ended: false,
            later: None,
            records: 0,
            broken: 0,
            deviations: Deviations::default(),
        }
    }

    /// Opens a file at the start of a record, to read that alone.
    ///
    /// # Errors
    /// [`ReadFault`] if the file cannot be read, or its dictionary is damaged.
    pub fn open_at(path: &Path, offset: u64) -> Result<Self, ReadFault> {
        let fault = |error: io::Error| ParseFailure::Io(error).at(path, offset);
        let mut stream = Self::open(path)?;
        stream.input.read_dictionary().map_err(fault)?;
        stream.input.go_to(offset).map_err(fault)?;
        Ok(stream)
    }

    /// Spools the bytes of blocks that are not kept in memory, as
    /// [`WarcReader::spooling_in`](super::read::WarcReader::spooling_in).
    #[must_use]
    pub fn spooling_in(self, directory: &Path, most: u64) -> Self {
        let directory = directory.to_owned();
        let spool = Some(SpoolRules { directory, most });
        Self { spool, ..self }
    }

    /// Returns the number of records read.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the number of broken stretches; each may have been one record or more.
    #[must_use]
    pub fn broken(&self) -> u64 {
        self.broken
    }

    /// Returns the deviations of the records read.
    #[must_use]
    pub fn deviations(&self) -> &Deviations {
        &self.deviations
    }

    /// Returns the Zstandard dictionary that is needed to unpack the records of the file; empty if
    /// the file has none, and before the first record is read.
    #[must_use]
    pub fn zstd_dictionary(&self) -> &[u8] {
        self.input.dictionary()
    }

    /// Returns the next record with the first `keep` bytes of its block; `None` at the end.
    ///
    /// # Errors
    /// [`ReadFault::Broken`] if a stretch is skipped: the next call continues after it. Otherwise
    /// the system's error, and nothing more is read.
    pub fn next_record(&mut self, keep: usize) -> Result<Option<Record>, ReadFault> {
        while !self.ended {
            let found = if self.lost {
                self.find_record()
            } else {
                Ok(true)
            };
            let read = found.and_then(|found| match found {
                true => self.read(keep),
                false => Ok(None),
            });
            self.deviations.settle(matches!(read, Ok(Some(_))));
            match read {
                Ok(Some(record)) => {
                    self.lost = false;
                    self.records += 1;
                    return Ok(Some(record));
                }
                Ok(None) => self.ended = true,
                Err(failure) => {
                    if let Some(fault) = self.lose(failure) {
                        return Err(fault);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Prepares a search; returns the fault of this failure, unless a search is already in flight.
    fn lose(&mut self, failure: ParseFailure) -> Option<ReadFault> {
        let offset = self.place();
        let (reason, in_member) = match failure {
            ParseFailure::Spool(_) => {
                self.ended = true;
                return Some(failure.at(&self.path, offset));
            }
            ParseFailure::Malformed(reason) | ParseFailure::Short(reason) => {
                (reason.into_owned(), true)
            }
            ParseFailure::Io(error) => match error.kind() {
                io::ErrorKind::UnexpectedEof => ("the file ends within it".to_owned(), false),
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                    (error.to_string(), false)
                }
                _ => {
                    self.ended = true;
                    return Some(ParseFailure::Io(error).at(&self.path, offset));
                }
            },
        };
        let goes_on = match in_member {
            true => self.input.back_to(self.begin + 1).map(|()| true),
            false => self.input.find_member(),
        };
        match goes_on {
            Ok(goes_on) => self.ended = !goes_on,
            Err(error) => {
                self.ended = true;
                return Some(ParseFailure::Io(error).at(&self.path, offset));
            }
        }
        if std::mem::replace(&mut self.lost, true) {
            return None;
        }
        self.broken += 1;
        Some(ReadFault::Broken {
            path: self.path.clone(),
            record: self.records + self.broken,
            offset,
            reason,
        })
    }

    /// Returns the position of the last record that was begun: its own in a plain file, else its
    /// member's.
    fn place(&self) -> u64 {
        match self.input.member() {
            Some(member) if member.packing == Packing::Plain => match member.first {
                Some(first) => member.begin + self.begin.saturating_sub(first),
                None => self.begin,
            },
            _ => self.input.tried(),
        }
    }

    /// Skips to the next header of a record: for WARC, a version, anywhere; for ARC, a line.
    /// Returns false if there is none.
    fn find_record(&mut self) -> Result<bool, ParseFailure> {
        let mut is_at_line = self.format == ArchiveFormat::Warc || self.input.is_at_member();
        loop {
            let is_first = self.input.is_at_member();
            let bytes = self.input.peek(self.format.look())?;
            if is_at_line && self.format.begins(bytes)
                || is_first && self.format.begins(without_breaks(bytes))
            {
                return Ok(true);
            }
            if bytes.is_empty() {
                self.input.skip_padding()?;
                if self.input.enter()?.is_none() {
                    return Ok(false);
                }
                self.set_format()?;
                is_at_line = true;
                continue;
            }
            let passed = match self.format {
                ArchiveFormat::Warc => {
                    let here = usize::from(bytes[0] == VERSION[0]);
                    let next = bytes[here..].iter().position(|byte| *byte == VERSION[0]);
                    next.map_or(bytes.len(), |next| here + next)
                }
                ArchiveFormat::Arc => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    is_at_line = end.is_some();
                    end.map_or(bytes.len(), |end| end + 1)
                }
            };
            self.input.skip(passed);
        }
    }

    fn read(&mut self, keep: usize) -> Result<Option<Record>, ParseFailure> {
        if let Some(later) = self.later.take() {
            return Err(later);
        }
        if !self.stand_at_record()? {
            return Ok(None);
        }
        self.begin = self.input.offset();
        match self.read_from_here(keep, 0)? {
            Reading::Record(record) => Ok(Some(*record)),
            Reading::TooShort { excess } => {
                self.input.back_to(self.begin)?;
                if self.input.offset() == self.begin {
                    self.deviations.note(Deviation::ShortLength);
                    // A false length may also end close to the end of the next record.
                    if let Reading::Record(record) = self.read_from_here(keep, excess)?
                        && record.digests_hold()
                    {
                        return Ok(Some(*record));
                    }
                }
                Err(ParseFailure::Malformed(WRONG_LENGTH.into()))
            }
        }
    }

    /// Reads a record whose block is longer by `excess` than its header says.
    fn read_from_here(&mut self, keep: usize, excess: u64) -> Result<Reading, ParseFailure> {
        let member = self.input.member();
        let mut across = MemberChain {
            input: &mut self.input,
            format: self.format,
            begin: self.begin,
        };
        let (fields, declared) = parse::header(&mut across, Some(&mut self.deviations))?;
        let block_length = declared.saturating_add(excess);
        if self.input.left().is_some_and(|left| left < block_length) {
            return Err(ParseFailure::Short(SHORT_BLOCK.into()));
        }
        let mut across = MemberChain {
            input: &mut self.input,
            format: self.format,
            begin: self.begin,
        };
        let keep = Keep {
            held: keep,
            rest: self.spool.as_ref(),
        };
        let mut record = parse::block(&mut across, fields, block_length, keep)?;
        let block_end = self.input.offset();
        let holds = record.block_digest == DigestCheck::Holds;
        let is_in = |other: Member| member.is_some_and(|member| member.begin == other.begin);
        let has_member = member.is_some_and(|member| member.first == Some(self.begin - self.lead))
            && self.input.member().is_some_and(is_in);
        let longer = match excess {
            0 => self.excess(&record),
            _ => Ok(None),
        };
        let ending = match longer {
            Ok(Some(excess)) => return Ok(Reading::TooShort { excess }),
            Ok(None) => self.ending(has_member),
            Err(failure) => Err(failure),
        };
        match ending {
            Ok(ending) => self.believe(&ending, &record)?,
            // The record is whole, or the damage is in another record of its member.
            Err(later) if holds || !has_member => {
                self.later = Some(later);
            }
            Err(failure) => return Err(failure),
        }
        for check in [record.block_digest, record.payload_digest] {
            match check {
                DigestCheck::False { .. } => self.deviations.note(Deviation::FalseDigest),
                DigestCheck::Unchecked if record.kind() != "revisit" => {
                    self.deviations.note(Deviation::UnknownDigest);
                }
                _ => {}
            }
        }
        (record.offset, record.length, record.addressable) = self.extent(member);
        if member.is_some_and(|member| member.packing == Packing::Plain) {
            record.breaks = self.input.offset() - block_end;
        }
        // Our own reader cannot read a member with a damaged end.
        record.addressable &= self.later.is_none();
        if !record.addressable {
            self.deviations.note(Deviation::SharedMember);
        }
        Ok(Reading::Record(Box::new(record)))
    }

    /// Skips empty lines and ends of members; returns false at the end of the file.
    fn stand_at_record(&mut self) -> Result<bool, ParseFailure> {
        self.lead = 0;
        loop {
            let bytes = self.input.fill()?;
            if bytes.is_empty() {
                if self.input.skip_padding()? > 0 && self.records > 0 {
                    self.deviations.note(Deviation::Padding);
                }
                self.begin = self.input.offset();
                if self.input.enter()?.is_none() {
                    return Ok(false);
                }
                continue;
            }
            let breaks = bytes.len() - without_breaks(bytes).len();
            if breaks == 0 {
                self.set_format()?;
                return Ok(true);
            }
            let is_first = self.input.is_at_member();
            self.input.skip(breaks);
            self.set_format()?;
            match self.format {
                ArchiveFormat::Arc if is_first => self.lead = breaks as u64,
                ArchiveFormat::Arc => {}
                ArchiveFormat::Warc => self.deviations.note(Deviation::Padding),
            }
        }
    }

    /// Recognises the format of the record here; if no record begins here, the format stays as it
    /// was.
    fn set_format(&mut self) -> Result<(), ParseFailure> {
        if !is_version(self.input.peek(ArchiveFormat::Warc.look())?) {
            let bytes = self.input.peek(ArchiveFormat::Arc.look())?;
            self.format = ArchiveFormat::of(without_breaks(bytes)).unwrap_or(self.format);
        } else {
            self.format = ArchiveFormat::Warc;
        }
        Ok(())
    }

    /// Returns offset and length of the record that began in `member` and was read to its end, and
    /// true if it can be read by them.
    fn extent(&self, member: Option<Member>) -> (u64, u64, bool) {
        let unpacked = (self.begin, self.input.offset() - self.begin, false);
        let Some((member, first)) = member.and_then(|member| Some((member, member.first?))) else {
            return unpacked;
        };
        if member.packing == Packing::Plain {
            return (member.begin + self.begin - first, unpacked.1, true);
        }
        // The member has ended, or the next one has begun and is unread.
        let now = self.input.member();
        let is_in = |other: &Member| other.begin == member.begin;
        let end = match now {
            Some(now) if is_in(&now) => now.end.filter(|_| self.input.is_empty()),
            Some(next) if next.first == Some(self.input.offset()) => {
                let before = self.input.member_before().filter(is_in);
                before.and_then(|before| before.end)
            }
            _ => None,
        };
        match end.filter(|_| first + self.lead == self.begin) {
            Some(end) => (member.begin, end - member.begin, true),
            None => unpacked,
        }
    }
}

/// Returns the start of the first record after byte `from` of a file that can apparently be read by
/// its offset; `None` if there is none.
///
/// # Errors
/// [`ReadFault::Io`] if the system refuses the read.
pub fn next_record_behind(path: &Path, from: u64) -> Result<Option<u64>, ReadFault> {
    let mut stream = WarcStream::open(path)?;
    let fault = |error: io::Error| ParseFailure::Io(error).at(path, from);
    match stream.input.read_dictionary() {
        Err(error) if !is_damage(&error) => return Err(fault(error)),
        _ => {}
    }
    stream.input.go_to(from + 1).map_err(fault)?;
    loop {
        match stream.next_record(0) {
            Ok(Some(record)) if record.addressable => return Ok(Some(record.offset)),
            Ok(None) => return Ok(None),
            Ok(Some(_)) | Err(ReadFault::Broken { .. }) => {}
            Err(fault) => return Err(fault),
        }
    }
}

/// Returns true if an error is about the content of the file, not the disk.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}
