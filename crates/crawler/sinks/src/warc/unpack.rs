//! Unpacks a file into the bytes of its records, member by member.
//!
//! A *member* can be unpacked on its own: a gzip member or a Zstandard frame; a plain file is one
//! member. If each record is a member of its own, it has the offset and length of the member. Each
//! member is recognised by its first bytes, so concatenated files of different packings are read
//! too.
//!
//! Invariant: for any input, memory is bounded by the bytes kept to go back (`keep`) and the
//! windows of the decompressors, and time by the unpacked length of the file, since repeated reads
//! are bounded too (`window`).

mod errors;
mod gzip;
mod window;
mod zstandard;

use std::io::{self, BufRead, Read};

use self::errors::broken;
use self::gzip::Gunzip;
pub(super) use self::window::Source;
use self::window::{Again, Input, Window};
use self::zstandard::Unzstd;
use super::arc;
pub(super) use super::packing::Packing;

/// Bytes that are examined to decide whether a member begins somewhere: a whole block of a
/// Zstandard frame, and its headers.
const LOOK: usize = 160 << 10;

/// The first bytes of every record, in every version.
pub(super) const VERSION: &[u8] = b"WARC/";

/// A format of archives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// WARC, of any version.
    #[default]
    Warc,
    /// ARC, which came before it.
    Arc,
}

impl ArchiveFormat {
    /// Recognises the first bytes of a record; `None` if they begin none.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let all = [Self::Warc, Self::Arc].into_iter();
        all.clone().find(|format| format.begins(bytes))
    }

    /// Returns true if a record of this format begins here.
    pub(super) fn begins(self, bytes: &[u8]) -> bool {
        match self {
            Self::Warc => is_version(bytes),
            Self::Arc => arc::begins(bytes),
        }
    }

    /// Returns the maximum number of bytes that are needed to recognise a record.
    pub(super) const fn look(self) -> usize {
        match self {
            Self::Warc => VERSION.len() + 3,
            Self::Arc => arc::MAX_LINE,
        }
    }
}

/// A reader that can look at bytes before it reads them.
pub(super) trait Peek: BufRead {
    /// Returns at least the next `length` bytes, unless the member ends before.
    fn peek(&mut self, length: usize) -> io::Result<&[u8]>;
}

/// A part of a file that is unpacked on its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) packing: Packing,
    /// Its start in the file, in bytes.
    pub(super) begin: u64,
    /// The position of its first byte in the unpacked stream; `None` if it is no longer known.
    pub(super) first: Option<u64>,
    /// Its end in the file, once it was reached.
    pub(super) end: Option<u64>,
}

/// Unpacks one member after the other. As a [`BufRead`] it ends at the end of the member.
pub(super) struct Unpacker<R> {
    input: Input<R>,
    out: Window,
    again: Again,
    chunk: usize,
    gunzip: Gunzip,
    /// Created for the first frame; has the dictionary.
    unzstd: Option<Unzstd>,
    /// Tests for the start of a frame without disturbing the frame that is being unpacked.
    scout: Option<Unzstd>,
    member: Option<Member>,
    before: Option<Member>,
    /// The packing of the first member.
    known: Option<Packing>,
    /// The start, in the file, of the last member that was entered, or could not be.
    tried: u64,
    /// An error after the bytes that were unpacked last.
    trouble: Option<io::Error>,
}

impl<R: Read> Unpacker<R> {
    /// Unpacks `source`, which is at `offset`, `chunk` bytes at a time; the last `keep` packed and
    /// unpacked bytes are kept.
    pub(super) fn new(source: Source<R>, offset: u64, keep: usize, chunk: usize) -> Self {
        Self {
            input: Input::new(source, offset, keep, chunk),
            out: Window::new(keep),
            again: Again::default(),
            chunk,
            gunzip: Gunzip::new(),
            unzstd: None,
            scout: None,
            member: None,
            before: None,
            known: None,
            tried: offset,
            trouble: None,
        }
    }

    /// The start, in the file, of the last member that was entered, or could not be.
    pub(super) fn tried(&self) -> u64 {
        self.tried
    }

    /// Returns the position in the file of a reader that reads each member to its end: a byte of a
    /// plain file, or the end of a packed member.
    pub(super) fn place(&self) -> u64 {
        match self.member {
            Some(Member {
                packing: Packing::Plain,
                begin,
                first: Some(first),
                ..
            }) => begin + self.offset() - first,
            Some(Member {
                begin, end: None, ..
            }) => begin,
            _ => self.input.offset(),
        }
    }

    /// Returns the position in the unpacked stream.
    pub(super) fn offset(&self) -> u64 {
        self.out.offset()
    }

    /// Returns true at the first byte of a member.
    pub(super) fn is_at_member(&self) -> bool {
        let first = self.member.and_then(|member| member.first);
        first == Some(self.offset())
    }

    /// Returns the current member.
    pub(super) fn member(&self) -> Option<Member> {
        self.member
    }

    pub(super) fn member_before(&self) -> Option<Member> {
        self.before
    }

    /// Returns the maximum number of bytes from here on, if known: in a plain file.
    pub(super) fn left(&self) -> Option<u64> {
        let member = self
            .member
            .filter(|member| member.packing == Packing::Plain)?;
        let here = member.begin + self.offset().checked_sub(member.first?)?;
        Some(self.input.length()?.saturating_sub(here))
    }

    /// Reads the dictionary at the start of a file, if there is one, and determines the packing.
    pub(super) fn read_dictionary(&mut self) -> io::Result<()> {
        if self.input.at_least(4)?.starts_with(zstandard::DICTIONARY) {
            unzstd(&mut self.unzstd)?.skip(&mut self.input)?;
        }
        self.known = match self.input.at_least(4)? {
            [] => None,
            bytes => packing(bytes),
        };
        Ok(())
    }

    /// Returns the Zstandard dictionary that was read; empty if there was none.
    pub(super) fn dictionary(&self) -> &[u8] {
        self.unzstd.as_ref().map_or(&[], Unzstd::dictionary)
    }

    /// Enters the next member and skips the rest of the current one; returns `None` at the end.
    pub(super) fn enter(&mut self) -> io::Result<Option<Member>> {
        self.out.consume(self.out.rest().len());
        self.trouble = None;
        loop {
            self.tried = self.input.offset();
            let next = self.input.at_least(4)?;
            if next.is_empty() {
                return Ok(None);
            }
            if !zstandard::is_skippable(next) {
                break;
            }
            self.scout = None;
            unzstd(&mut self.unzstd)?.skip(&mut self.input)?;
        }
        let packing = match packing(self.input.rest()) {
            Some(packing) => packing,
            None if arc::begins(without_breaks(self.input.at_least(arc::MAX_LINE)?)) => {
                Packing::Plain
            }
            None => {
                return Err(broken(
                    "neither a WARC record nor a compressed record begins there",
                ));
            }
        };
        match packing {
            Packing::Plain => {}
            Packing::Gzip => self.gunzip.begin(&mut self.input)?,
            Packing::Zstd => unzstd(&mut self.unzstd)?.begin()?,
        }
        self.known.get_or_insert(packing);
        self.before = self.member;
        self.member = Some(Member {
            packing,
            begin: self.tried,
            first: Some(self.out.offset()),
            end: None,
        });
        Ok(self.member)
    }

    /// Returns the next unpacked bytes; empty at the end of the member.
    pub(super) fn fill(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    /// Returns at least the next `length` unpacked bytes, unless the member ends before.
    pub(super) fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        while self.out.rest().len() < length && self.unpack_more() {}
        if self.out.rest().is_empty()
            && let Some(trouble) = self.trouble.take()
        {
            return Err(trouble);
        }
        Ok(self.out.rest())
    }

    /// Unpacks more of the member; returns false at its end or at damage, whose error comes after
    /// the bytes before it.
    fn unpack_more(&mut self) -> bool {
        let Some(member) = self.member.filter(|member| member.end.is_none()) else {
            return false;
        };
        let (input, out) = (&mut self.input, &mut self.out);
        let more = match member.packing {
            Packing::Plain => pass(input, out),
            Packing::Gzip => self.gunzip.unpack(input, out, self.chunk),
            Packing::Zstd => {
                unzstd(&mut self.unzstd).and_then(|unzstd| unzstd.unpack(input, out, self.chunk))
            }
        };
        if let Ok(true) = more {
            return true;
        }
        self.trouble = more.err();
        let end = Some(self.input.offset());
        self.member = Some(Member { end, ..member });
        false
    }

    /// Returns true if all unpacked bytes are consumed.
    pub(super) fn is_empty(&self) -> bool {
        self.out.rest().is_empty()
    }

    /// Consumes unpacked bytes.
    pub(super) fn skip(&mut self, length: usize) {
        self.out.consume(length);
    }

    /// Goes back to the unpacked byte `offset`, or as near after it as possible.
    pub(super) fn back_to(&mut self, offset: u64) -> io::Result<()> {
        let now = self.out.offset();
        if !self.again.allows(now, offset) {
            return Ok(());
        }
        match self.member {
            // A plain file can be read again from anywhere.
            Some(Member {
                packing: Packing::Plain,
                begin,
                first: Some(first),
                ..
            }) if !self.out.keeps(offset) && offset >= first && self.input.is_file() => {
                self.input.go_to(begin + offset - first)?;
                self.out.move_to(offset);
                self.trouble = None;
                self.member = self.member.map(|member| Member {
                    end: None,
                    ..member
                });
            }
            _ => self.out.back_to(offset),
        }
        self.again.note(now, self.out.offset());
        if let Some(member) = &mut self.member
            && member.first.is_some_and(|first| first > self.out.offset())
        {
            member.first = None;
        }
        Ok(())
    }

    /// Skips to the next position in the file, after the last one that was tried, where a member
    /// with records begins; returns false if there is none.
    pub(super) fn find_member(&mut self) -> io::Result<bool> {
        self.out.consume(self.out.rest().len());
        self.trouble = None;
        let from = self.tried + 1;
        self.input.back_to(from)?;
        while self.input.offset() < from && !self.input.fill()?.is_empty() {
            self.input.consume(1);
        }
        // Packed bytes may contain the first bytes of a plain record. An ARC record begins a line.
        let is_packed = matches!(self.known, Some(Packing::Gzip | Packing::Zstd));
        loop {
            let bytes = self.input.at_least(LOOK)?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let begins = |byte: &u8| {
                matches!(byte, 0x1f | 0x28 | 0x5d) || (matches!(byte, b'W' | b'\n') && !is_packed)
            };
            let place = bytes.iter().position(begins);
            let passed = place.unwrap_or(bytes.len());
            self.input.consume(passed);
            if place.is_some() {
                let is_line = self.input.rest().first() == Some(&b'\n');
                self.input.consume(usize::from(is_line));
                self.input.at_least(LOOK)?;
                if self.promises()? {
                    return Ok(true);
                }
                self.input.consume(usize::from(!is_line));
            }
        }
    }

    /// Returns true if the next bytes begin like a member with records.
    fn promises(&mut self) -> io::Result<bool> {
        let bytes = self.input.rest();
        if gzip::begins(bytes) {
            return Ok(gzip::is_block(bytes) || in_member(bytes).is_some());
        }
        if bytes.starts_with(zstandard::MAGIC) {
            let scout = match &mut self.scout {
                Some(scout) => scout,
                none => none.insert(unzstd(&mut self.unzstd)?.again()?),
            };
            return Ok(scout.unpacks_to(bytes, VERSION));
        }
        Ok(zstandard::begins_dictionary(bytes) || ArchiveFormat::of(bytes).is_some())
    }

    /// Skips zeros and empty lines between members; returns their number.
    pub(super) fn skip_padding(&mut self) -> io::Result<u64> {
        let begun = self.input.offset();
        loop {
            let bytes = self.input.fill()?;
            let padding = bytes.iter().take_while(|byte| is_padding(byte)).count();
            if padding == 0 {
                return Ok(self.input.offset() - begun);
            }
            self.input.consume(padding);
        }
    }

    /// Continues at `offset` of a file, where a member begins.
    pub(super) fn go_to(&mut self, offset: u64) -> io::Result<()> {
        self.input.go_to(offset)?;
        self.tried = offset;
        self.out.consume(self.out.rest().len());
        (self.member, self.before, self.trouble) = (None, None, None);
        Ok(())
    }
}

impl<R: Read> Peek for Unpacker<R> {
    fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        Unpacker::peek(self, length)
    }
}

impl<R: Read> Read for Unpacker<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill()?.read(into)?;
        self.skip(length);
        Ok(length)
    }
}

impl<R: Read> BufRead for Unpacker<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.fill()
    }

    fn consume(&mut self, length: usize) {
        self.skip(length);
    }
}

/// Returns the packing of a member, by its first bytes, which may be cut.
fn packing(bytes: &[u8]) -> Option<Packing> {
    let begins = |magic: &[u8]| bytes.starts_with(magic) || magic.starts_with(bytes);
    let known = [
        (Packing::Gzip, &gzip::MAGIC[..2]),
        (Packing::Zstd, zstandard::MAGIC),
        (Packing::Plain, VERSION),
    ];
    let found = known.into_iter().find(|(_, magic)| begins(magic));
    found.map(|(packing, _)| packing)
}

/// Recognises an archive in any packing by `bytes`, the first of its file. Packed bytes are
/// unpacked; a few hundred suffice, except for zstd, which needs a block.
#[must_use]
pub fn archive_format(bytes: &[u8]) -> Option<ArchiveFormat> {
    if gzip::begins(bytes) {
        return in_member(bytes);
    }
    let in_frame = || Unzstd::new().is_ok_and(|mut unzstd| unzstd.unpacks_to(bytes, VERSION));
    let is_zstandard =
        zstandard::begins_dictionary(bytes) || bytes.starts_with(zstandard::MAGIC) && in_frame();
    match is_zstandard {
        true => Some(ArchiveFormat::Warc),
        false => ArchiveFormat::of(without_breaks(bytes)),
    }
}

/// Recognises the record at the start of a gzip member.
fn in_member(bytes: &[u8]) -> Option<ArchiveFormat> {
    ArchiveFormat::of(without_breaks(&gzip::beginning(bytes, arc::MAX_LINE)))
}

/// Returns bytes without the line breaks before them.
pub(super) fn without_breaks(bytes: &[u8]) -> &[u8] {
    let breaks = bytes.iter().take_while(|byte| is_padding(byte)).count();
    &bytes[breaks..]
}

/// Returns true if a record begins here: "WARC/" and a number.
pub(super) fn is_version(bytes: &[u8]) -> bool {
    let number = bytes.strip_prefix(VERSION);
    number.is_some_and(|number| matches!(number, [b'0'..=b'9', b'.', b'0'..=b'9', ..]))
}

/// Returns true for a byte that may occur between records.
pub(super) fn is_padding(byte: &u8) -> bool {
    matches!(byte, 0 | b'\r' | b'\n')
}

/// Returns the existing decompressor, or a new one.
fn unzstd(made: &mut Option<Unzstd>) -> io::Result<&mut Unzstd> {
    match made {
        Some(unzstd) => Ok(unzstd),
        none => Ok(none.insert(Unzstd::new()?)),
    }
}

/// Copies plain bytes from one window to the other.
fn pass(input: &mut Input<impl Read>, out: &mut Window) -> io::Result<bool> {
    let bytes = input.fill()?;
    let length = bytes.len();
    out.end().extend_from_slice(bytes);
    input.consume(length);
    Ok(length > 0)
}
