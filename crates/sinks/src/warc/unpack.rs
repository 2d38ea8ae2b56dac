//! From a file as it lies on the disk to the bytes of its records, member by member.
//!
//! A *member* is what can be unpacked by itself: a gzip member, a Zstandard frame; a plain file is
//! one member. Where each record is a member of its own, its offset and length are those of the
//! member. Members are told apart by their first bytes, one by one, so that files which were put
//! together from several are read too.
//!
//! Invariant: memory is bounded by what is kept to go back (`keep`) and by the unpackers' windows,
//! whatever the bytes say; time by the length of the file, unpacked, since what is read again is
//! bounded too (`window`).

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
pub(super) use super::packing::Packing;

/// How much is looked at to tell whether a member begins somewhere: a whole block of a Zstandard
/// frame, and its headers.
const LOOK: usize = 160 << 10;

/// What every record begins with, whatever its version.
pub(super) const VERSION: &[u8] = b"WARC/";

/// What is unpacked in one go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) packing: Packing,
    /// Where it begins in the file, in bytes.
    pub(super) begin: u64,
    /// Where its first byte stands in the unpacked stream; none where that can no longer be told.
    pub(super) first: Option<u64>,
    /// Where it ends in the file, once that was reached.
    pub(super) end: Option<u64>,
}

/// Unpacks one member after the other. As a [`BufRead`] it ends where the member ends.
pub(super) struct Unpacker<R> {
    input: Input<R>,
    out: Window,
    again: Again,
    chunk: usize,
    gunzip: Gunzip,
    /// Made for the first frame; has the dictionary.
    unzstd: Option<Unzstd>,
    /// Tells whether a frame begins somewhere, without disturbing the one that is being unpacked.
    scout: Option<Unzstd>,
    member: Option<Member>,
    before: Option<Member>,
    /// How the first member was packed.
    known: Option<Packing>,
    /// Where that began which was last entered, or could not be, in the file.
    tried: u64,
    /// What comes behind the bytes that were unpacked last.
    trouble: Option<io::Error>,
}

impl<R: Read> Unpacker<R> {
    /// Unpacks `source`, which stands at `offset`, a `chunk` at a time; of the packed bytes and of
    /// the unpacked ones, the last `keep` are kept.
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

    /// Where the packed bytes go on, in the file.
    pub(super) fn packed_offset(&self) -> u64 {
        self.input.offset()
    }

    /// Where that began which was last entered, or could not be, in the file.
    pub(super) fn tried(&self) -> u64 {
        self.tried
    }

    /// Where a reader stands in the file that reads each member to its end: at a byte of a plain
    /// one, or behind a packed one.
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

    /// Where the unpacked bytes go on.
    pub(super) fn offset(&self) -> u64 {
        self.out.offset()
    }

    /// The member that was entered last, and the one before it.
    pub(super) fn member(&self) -> Option<Member> {
        self.member
    }

    pub(super) fn member_before(&self) -> Option<Member> {
        self.before
    }

    /// How many bytes there are from here on at most, where that is known: in a plain file.
    pub(super) fn left(&self) -> Option<u64> {
        let member = self
            .member
            .filter(|member| member.packing == Packing::Plain)?;
        let here = member.begin + self.offset().checked_sub(member.first?)?;
        Some(self.input.length()?.saturating_sub(here))
    }

    /// Reads the dictionary with which a file may begin, and how it is packed, and nothing else.
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

    /// Enters the member that stands next, behind all that is left of the last one; nothing at the
    /// end.
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
        let packing = packing(self.input.rest())
            .ok_or_else(|| broken("neither a WARC record nor a packed one begins there"))?;
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

    /// The unpacked bytes that come next: none at the end of the member.
    pub(super) fn fill(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    /// At least so many of the unpacked bytes that come next, unless the member ends before.
    pub(super) fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        while self.out.rest().len() < length && self.unpack_more() {}
        if self.out.rest().is_empty()
            && let Some(trouble) = self.trouble.take()
        {
            return Err(trouble);
        }
        Ok(self.out.rest())
    }

    /// Unpacks more of the member; false at its end, or where it is damaged: what was unpacked
    /// before that comes first.
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

    /// Whether nothing is left of what was unpacked.
    pub(super) fn is_empty(&self) -> bool {
        self.out.rest().is_empty()
    }

    /// Passes over unpacked bytes.
    pub(super) fn skip(&mut self, length: usize) {
        self.out.consume(length);
    }

    /// Stands at the unpacked byte `offset` again, or as near behind it as can be.
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

    /// Goes to the next place in the file behind the one that was tried last where a member begins
    /// that holds records; false where there is none.
    pub(super) fn find_member(&mut self) -> io::Result<bool> {
        self.out.consume(self.out.rest().len());
        self.trouble = None;
        let from = self.tried + 1;
        self.input.back_to(from)?;
        while self.input.offset() < from && !self.input.fill()?.is_empty() {
            self.input.consume(1);
        }
        // Packed bytes can hold the words that a plain record begins with.
        let is_packed = matches!(self.known, Some(Packing::Gzip | Packing::Zstd));
        loop {
            let bytes = self.input.at_least(LOOK)?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let begins =
                |byte: &u8| matches!(byte, 0x1f | 0x28 | 0x5d) || (*byte == b'W' && !is_packed);
            let place = bytes.iter().position(begins);
            let passed = place.unwrap_or(bytes.len());
            self.input.consume(passed);
            if place.is_some() {
                self.input.at_least(LOOK)?;
                if self.promises()? {
                    return Ok(true);
                }
                self.input.consume(1);
            }
        }
    }

    /// Whether what stands next begins like a member that holds records.
    fn promises(&mut self) -> io::Result<bool> {
        let bytes = self.input.rest();
        if gzip::begins(bytes) {
            return Ok(gzip::is_block(bytes) || gzip::unpacks_to(bytes, VERSION));
        }
        if bytes.starts_with(zstandard::MAGIC) {
            let scout = match &mut self.scout {
                Some(scout) => scout,
                none => none.insert(unzstd(&mut self.unzstd)?.again()?),
            };
            return Ok(scout.unpacks_to(bytes, VERSION));
        }
        Ok(zstandard::begins_dictionary(bytes) || is_version(bytes))
    }

    /// Passes over zeros and empty lines between members; says how many bytes.
    pub(super) fn skip_padding(&mut self) -> io::Result<u64> {
        let begun = self.input.offset();
        loop {
            let bytes = self.input.fill()?;
            let padding = bytes
                .iter()
                .take_while(|byte| matches!(byte, 0 | b'\r' | b'\n'))
                .count();
            if padding == 0 {
                return Ok(self.input.offset() - begun);
            }
            self.input.consume(padding);
        }
    }

    /// Goes on at `offset` of a file, where a member begins.
    pub(super) fn go_to(&mut self, offset: u64) -> io::Result<()> {
        self.input.go_to(offset)?;
        self.tried = offset;
        self.out.consume(self.out.rest().len());
        (self.member, self.before, self.trouble) = (None, None, None);
        Ok(())
    }
}

impl<R: Read> Read for Unpacker<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill()?;
        let length = bytes.len().min(into.len());
        into[..length].copy_from_slice(&bytes[..length]);
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

/// How a member is packed, by its first bytes, which may be cut.
fn packing(bytes: &[u8]) -> Option<Packing> {
    let begins = |magic: &[u8]| {
        let length = bytes.len().min(magic.len());
        bytes[..length] == magic[..length]
    };
    let known = [
        (Packing::Gzip, &gzip::MAGIC[..2]),
        (Packing::Zstd, zstandard::MAGIC),
        (Packing::Plain, VERSION),
    ];
    known
        .into_iter()
        .find_map(|(packing, magic)| begins(magic).then_some(packing))
}

/// Whether `bytes`, the first of a file, begin an archive in any packing; a few hundred are enough
/// but for zstd, of which it takes a block: what is packed is looked into.
#[must_use]
pub fn begins_archive(bytes: &[u8]) -> bool {
    let in_frame = || Unzstd::new().is_ok_and(|mut unzstd| unzstd.unpacks_to(bytes, VERSION));
    is_version(bytes)
        || gzip::begins(bytes) && gzip::unpacks_to(bytes, VERSION)
        || zstandard::begins_dictionary(bytes)
        || bytes.starts_with(zstandard::MAGIC) && in_frame()
}

/// Whether a record begins here: "WARC/" and a number.
pub(super) fn is_version(bytes: &[u8]) -> bool {
    let number = bytes.strip_prefix(VERSION);
    number.is_some_and(|number| matches!(number, [b'0'..=b'9', b'.', b'0'..=b'9', ..]))
}

/// The one there is, or a new one.
fn unzstd(made: &mut Option<Unzstd>) -> io::Result<&mut Unzstd> {
    match made {
        Some(unzstd) => Ok(unzstd),
        none => Ok(none.insert(Unzstd::new()?)),
    }
}

/// Plain bytes from one window into the other.
fn pass(input: &mut Input<impl Read>, out: &mut Window) -> io::Result<bool> {
    let bytes = input.fill()?;
    let length = bytes.len();
    out.end().extend_from_slice(bytes);
    input.consume(length);
    Ok(length > 0)
}
