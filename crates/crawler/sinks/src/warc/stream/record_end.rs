//! The end of a record: where it is, if `Content-Length` may be wrong, and whether it is plausible.

use std::io::{self, BufRead, Read};

use super::{WRONG_LENGTH, WarcStream};
use crate::warc::arc;
use crate::warc::deviations::Deviation;
use crate::warc::parse::ParseFailure;
use crate::warc::parsed::{DigestCheck, Record};
use crate::warc::unpack::{
    ArchiveFormat, Peek, Unpacker, VERSION, is_padding, is_version, without_breaks,
};

/// Maximum number of bytes that a block may have beyond the length in its header, if a digest
/// proves it.
const MAX_SURPLUS: usize = 64;

/// Maximum number of bytes beyond the length in the header without such a proof.
const MAX_UNPROVEN: usize = 2;

/// The end of a record.
const ENDING: &[u8] = b"\r\n\r\n";

/// The bytes after a block.
pub(super) struct Ending {
    /// The line breaks, at most two empty lines.
    breaks: Vec<u8>,
    /// True if a record or nothing follows.
    is_end: bool,
}

impl WarcStream {
    /// Returns the number of bytes that the block has beyond the length in its header, if the end
    /// of a record follows them. Line breaks alone count as part of the block only if a digest is
    /// wrong without them.
    pub(super) fn excess(&mut self, record: &Record) -> Result<Option<u64>, ParseFailure> {
        if self.format == ArchiveFormat::Arc {
            return self.excess_of_arc();
        }
        let holds = |check| check == DigestCheck::Holds;
        if holds(record.block_digest) || holds(record.payload_digest) {
            return Ok(None);
        }
        let is_provable = !record.digests_hold();
        let most = if is_provable {
            MAX_SURPLUS
        } else {
            MAX_UNPROVEN
        };
        let bytes = self
            .input
            .peek(MAX_SURPLUS + ENDING.len() + VERSION.len() + 3)?;
        if bytes.starts_with(ENDING) {
            return Ok(None);
        }
        let ends_at = |place: &usize| {
            let rest = bytes[*place..].strip_prefix(ENDING);
            rest.is_some_and(|rest| rest.is_empty() || is_version(rest))
        };
        let last = bytes.len().min(most);
        let excess = (1..=last).find(ends_at).filter(|excess| {
            let is_text = !bytes[..*excess].iter().all(is_padding);
            is_text || is_provable
        });
        Ok(excess.map(|excess| excess as u64))
    }

    /// Returns the same for a record of ARC: a line break and another header, or the end of the
    /// member, prove where it ends.
    fn excess_of_arc(&mut self) -> Result<Option<u64>, ParseFailure> {
        let bytes = self.input.peek(MAX_SURPLUS + arc::MAX_LINE)?;
        let ends = |rest: &[u8]| rest.is_empty() || arc::begins(rest);
        if ends(without_breaks(bytes)) {
            return Ok(None);
        }
        let ends_at = |place: &usize| {
            let (block, rest) = bytes.split_at(*place);
            let next = without_breaks(rest);
            ends(next) && (next.is_empty() || rest.len() > next.len() || block.ends_with(b"\n"))
        };
        let last = bytes.len().min(MAX_SURPLUS);
        Ok((1..=last).find(ends_at).map(|excess| excess as u64))
    }

    /// Reads the line breaks after a block, and looks for a record after them. A record that began
    /// with its member ends with it.
    pub(super) fn ending(&mut self, has_member: bool) -> Result<Ending, ParseFailure> {
        let mut breaks = Vec::new();
        let most = match self.format {
            ArchiveFormat::Warc => ENDING.len(),
            ArchiveFormat::Arc => MAX_SURPLUS,
        };
        while breaks.len() < most {
            let next = match has_member {
                true => self.input.fill()?.first().copied(),
                false => self.across().fill_buf()?.first().copied(),
            };
            match next {
                Some(byte @ (b'\r' | b'\n')) => breaks.push(byte),
                _ => break,
            }
            self.input.skip(1);
        }
        if has_member {
            // Further line breaks at the end of a member cannot belong to another record.
            let bytes = self.input.peek(MAX_SURPLUS)?;
            let padding = bytes.len() - without_breaks(bytes).len();
            if padding == bytes.len() && (1..MAX_SURPLUS).contains(&padding) {
                self.input.skip(padding);
                self.deviations.note(Deviation::Padding);
            }
        }
        let next = self.input.peek(self.format.look())?.trim_ascii_start();
        Ok(Ending {
            breaks,
            is_end: next.is_empty() || self.format.begins(next) || is_padding(&next[0]),
        })
    }

    /// Returns a reader of the bytes of the record, across members.
    fn across(&mut self) -> MemberChain<'_> {
        MemberChain {
            input: &mut self.input,
            format: self.format,
            begin: self.begin,
        }
    }

    /// Checks that the block ends as the record says.
    pub(super) fn believe(&mut self, ending: &Ending, record: &Record) -> Result<(), ParseFailure> {
        let is_warc = self.format == ArchiveFormat::Warc;
        let is_whole = is_warc && ending.breaks == ENDING;
        if is_warc && !is_whole {
            self.deviations.note(Deviation::MissingEnding);
        }
        let is_false = matches!(record.block_digest, DigestCheck::False { .. });
        match ending.is_end || record.block_digest == DigestCheck::Holds || (is_whole && !is_false)
        {
            true => Ok(()),
            false => Err(ParseFailure::Malformed(WRONG_LENGTH.into())),
        }
    }
}

/// A reader that continues across members, which bgzip and others cut anywhere; it ends before a
/// member that begins with another record than the record at `begin`.
pub(super) struct MemberChain<'a> {
    pub(super) input: &'a mut Unpacker<Box<dyn Read + Send>>,
    pub(super) format: ArchiveFormat,
    pub(super) begin: u64,
}

impl Peek for MemberChain<'_> {
    fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        match self.fill_buf()?.is_empty() {
            true => Ok(&[]),
            false => self.input.peek(length),
        }
    }
}

impl Read for MemberChain<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(into)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for MemberChain<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.input.fill()?.is_empty() {
            if self.input.enter()?.is_none() {
                return Ok(&[]);
            }
        }
        let here = self.input.offset();
        let first = self.input.member().and_then(|member| member.first);
        if here != self.begin
            && first == Some(here)
            && self
                .format
                .begins(without_breaks(self.input.peek(self.format.look())?))
        {
            return Ok(&[]);
        }
        self.input.fill()
    }

    fn consume(&mut self, length: usize) {
        self.input.skip(length);
    }
}
