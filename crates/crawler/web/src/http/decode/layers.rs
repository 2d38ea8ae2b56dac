//! The layers of codings around a body, each recognised by its bytes.
//!
//! gzip and zstd begin with a distinctive mark. zlib, raw deflate and brotli do not: a body that
//! begins as text, or that their decoder refuses at its first byte, is not in these codings.
//! Compressed bytes do not look like text: 128 bytes without a control character occur in one of a
//! million bodies.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::RangeInclusive;

use brotli_decompressor::Decompressor;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, Operation};

/// The largest window of zstd: 8 MiB (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;
/// Maximum number of gzip members, or zstd frames, per body. Tools that write blocks of 64 KiB need
/// 256 for the 16 MiB that are read of a page; each costs a decoder's state.
const MAX_MEMBERS: u32 = 4096;
const BUFFER: usize = 16 << 10;
/// Number of bytes that are examined to recognise a coding.
const HEAD: usize = 512;
/// Minimum number of bytes without a control character that count as text in an encoding other than
/// UTF-8.
const MIN_TEXT: usize = 128;

/// The first bytes of a coded body, as ranges.
type Mark = &'static [RangeInclusive<u8>];

/// The mark of a gzip member (RFC 1952 section 2.3.1).
const GZIP_MARKS: &[Mark] = &[&[0x1f..=0x1f, 0x8b..=0x8b]];
/// The marks of zstd frames and of skippable frames (RFC 8878 section 3.1).
const ZSTD_MARKS: &[Mark] = &[
    &[0x28..=0x28, 0xb5..=0xb5, 0x2f..=0x2f, 0xfd..=0xfd],
    &[0x50..=0x5f, 0x2a..=0x2a, 0x4d..=0x4d, 0x18..=0x18],
];
/// The length of the longest mark.
const MARK: usize = 4;

/// A content coding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// A body without its codings.
pub(super) struct Peeled<'a> {
    pub(super) reader: Box<dyn BufRead + 'a>,
    /// True if the bytes were in all codings that the header names.
    pub(super) as_named: bool,
}

/// Removes codings, the last one first. Each layer passes on at most `room` bytes.
pub(super) fn peel<'a>(
    codings: &[Coding],
    body: Box<dyn BufRead + 'a>,
    room: u64,
) -> io::Result<Peeled<'a>> {
    let (mut reader, mut as_named) = (body, true);
    for named in codings.iter().rev() {
        let coded = Headed::new(reader)?;
        let coding = coding_of(*named, &coded.head);
        // Many servers send an empty page without any coded bytes.
        as_named &= coding == Some(*named) || coded.head.is_empty();
        reader = match coding {
            Some(coding) => {
                let layer = decoder(coding, coded)?.take(room);
                Box::new(BufReader::with_capacity(BUFFER, layer))
            }
            None => Box::new(coded),
        };
    }
    Ok(Peeled { reader, as_named })
}

/// Returns the coding of a body that begins with `head` and claims to be in `named`; `None` if the
/// body is in no coding.
fn coding_of(named: Coding, head: &[u8]) -> Option<Coding> {
    let is_zstd = matches!(
        head,
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]
    );
    match head {
        [] => None,
        [0x1f, 0x8b, ..] => Some(Coding::Gzip),
        _ if is_zstd => Some(Coding::Zstd),
        _ if is_text(head) => None,
        _ if named == Coding::Brotli => {
            let is_refused = is_large_window(head);
            (is_refused || begins(Decompressor::new(Head(head), HEAD))).then_some(named)
        }
        _ if is_zlib(head) && begins(ZlibDecoder::new(Head(head))) => Some(Coding::Deflate),
        _ if named == Coding::Deflate => begins(DeflateDecoder::new(Head(head))).then_some(named),
        _ => None,
    }
}

/// Returns true if a decoder of a [`Head`] does not refuse it.
fn begins(mut decoder: impl Read) -> bool {
    let refusal = decoder.read(&mut [0]).err();
    refusal.is_none_or(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// The beginning of a body, with more bytes to come.
struct Head<'h>(&'h [u8]);

impl Read for Head<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Head<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.0.is_empty() {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => Ok(self.0),
        }
    }

    fn consume(&mut self, amount: usize) {
        self.0 = &self.0[amount..];
    }
}

/// Returns true for the beginning of a text, which no coded body has.
fn is_text(head: &[u8]) -> bool {
    // One byte may be an empty body in brotli.
    let is_binary = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    if head.len() < 2 || head.iter().any(is_binary) {
        return false;
    }
    match std::str::from_utf8(head) {
        Ok(_) => true,
        // A character may be cut at the end.
        Err(error) => {
            error.error_len().is_none() && error.valid_up_to() > 0 || head.len() >= MIN_TEXT
        }
    }
}

/// A reader whose first bytes are known.
struct Headed<'a> {
    head: Vec<u8>,
    /// The number of bytes of the head that are read.
    at: usize,
    /// The error after the head.
    error: Option<io::Error>,
    rest: Box<dyn BufRead + 'a>,
}

impl<'a> Headed<'a> {
    /// Reads the head. Fails if there is an error before the first byte.
    fn new(mut rest: Box<dyn BufRead + 'a>) -> io::Result<Self> {
        let mut head = Vec::new();
        let read = rest.by_ref().take(HEAD as u64).read_to_end(&mut head);
        let error = match read {
            Err(error) if head.is_empty() => return Err(error),
            read => read.err(),
        };
        Ok(Self {
            head,
            at: 0,
            error,
            rest,
        })
    }
}

impl Headed<'_> {
    /// Returns true if the unread bytes begin with any of these marks, or break off within a mark.
    /// Fails if there is an error where a mark could be.
    fn is_next(&mut self, marks: &[Mark]) -> io::Result<bool> {
        let unread = self.head.len() - self.at;
        if unread < MARK {
            if let Some(error) = self.error.take() {
                return Err(error);
            }
            self.head.drain(..self.at);
            self.at = 0;
            let missing = (MARK - unread) as u64;
            self.rest
                .by_ref()
                .take(missing)
                .read_to_end(&mut self.head)?;
        }
        let unread = &self.head[self.at..];
        let fits = |mark: &Mark| unread.iter().zip(*mark).all(|(byte, of)| of.contains(byte));
        Ok(!unread.is_empty() && marks.iter().any(fits))
    }
}

impl Read for Headed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Headed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at < self.head.len() {
            return Ok(&self.head[self.at..]);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.rest.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        if self.at < self.head.len() {
            self.at += amount;
        } else {
            self.rest.consume(amount);
        }
    }
}

fn decoder<'a>(coding: Coding, coded: Headed<'a>) -> io::Result<Box<dyn Read + 'a>> {
    let head = &coded.head;
    Ok(match coding {
        Coding::Gzip => Box::new(Members::new(coded)),
        Coding::Deflate if is_zlib(head) => Box::new(ZlibDecoder::new(coded)),
        Coding::Deflate => Box::new(DeflateDecoder::new(coded)),
        Coding::Brotli if is_large_window(head) => return Err(io::ErrorKind::InvalidData.into()),
        Coding::Brotli => Box::new(Decompressor::new(coded, BUFFER)),
        Coding::Zstd => Box::new(Frames::new(coded)?),
    })
}

/// The members of a gzip file, one after the other (RFC 1952 section 2.2). Bytes behind the last
/// member that do not begin another one are ignored, as in browsers.
struct Members<'a> {
    /// `None` once the last one has ended.
    member: Option<GzDecoder<Headed<'a>>>,
    begun: u32,
}

impl<'a> Members<'a> {
    fn new(coded: Headed<'a>) -> Self {
        Self {
            member: Some(GzDecoder::new(coded)),
            begun: 1,
        }
    }
}

impl Read for Members<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.member.take() {
            let read = member.read(into)?;
            if read > 0 || into.is_empty() {
                self.member = Some(member);
                return Ok(read);
            }
            let mut coded = member.into_inner();
            if coded.is_next(GZIP_MARKS)? {
                one_more(&mut self.begun)?;
                self.member = Some(GzDecoder::new(coded));
            }
        }
        Ok(0)
    }
}

/// The frames of a zstd file, one after the other (RFC 8878 section 3). Bytes behind the last frame
/// that do not begin another one are ignored.
struct Frames<'a> {
    coded: Headed<'a>,
    decoder: ZstdDecoder<'static>,
    begun: u32,
    within: bool,
}

impl<'a> Frames<'a> {
    fn new(coded: Headed<'a>) -> io::Result<Self> {
        let mut decoder = ZstdDecoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))?;
        Ok(Self {
            coded,
            decoder,
            begun: 0,
            within: false,
        })
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.within {
                if !self.coded.is_next(ZSTD_MARKS)? {
                    return Ok(0);
                }
                one_more(&mut self.begun)?;
                self.within = true;
            }
            let input = self.coded.fill_buf()?;
            let ended = input.is_empty();
            let step = self.decoder.run_on_buffers(input, into)?;
            self.coded.consume(step.bytes_read);
            self.within = step.remaining != 0;
            if step.bytes_written > 0 {
                return Ok(step.bytes_written);
            }
            if ended && self.within {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn one_more(begun: &mut u32) -> io::Result<()> {
    *begun += 1;
    if *begun > MAX_MEMBERS {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(())
}

/// Returns true if a `deflate` body has the zlib format; some servers send the bare stream (RFC
/// 9110 section 8.4.1.2). The first two bytes of zlib are a multiple of 31 and name method 8 (RFC
/// 1950 section 2.2).
fn is_zlib(head: &[u8]) -> bool {
    head.first_chunk()
        .is_some_and(|start| start[0] & 0x0f == 8 && u16::from_be_bytes(*start) % 31 == 0)
}

/// Returns true for the extension of brotli to windows of up to a gibibyte: it starts with a code
/// that RFC 7932 section 9.1 forbids.
fn is_large_window(head: &[u8]) -> bool {
    head.first().is_some_and(|first| first & 0x7f == 0x11)
}
