//! Removal of content codings from a body, up to a limit.
//!
//! Decoding is streamed: lengths in the body are not trusted, it stops at the limit, and the
//! memory that a compressor may demand is bounded (a window of 16 MiB for brotli, 8 MiB for zstd,
//! as RFC 7932 and RFC 9659 have it for the web). 809 bytes of brotli can decode to a gibibyte: a
//! body that grows a thousandfold is a bomb and is abandoned long before the limit. The members of
//! gzip and frames of zstd are counted, so that many small pieces cost no more than their length.
//!
//! A body that breaks off or is not what it claims to be yields the readable part and reports the
//! error: [`decode`] beside the bytes, a [`Decoding`] as the error at its end. Sources: RFC 9110
//! section 8.4 (order of codings), RFC 1950 to 1952, RFC 7932, RFC 8878.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use brotli_decompressor::Decompressor;
use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use web::Body;
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, Operation};

/// The most codings on top of each other; more are an attack.
const MAX_LAYERS: usize = 3;
/// The largest window of zstd: 8 MiB (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;
/// The most members of gzip, or frames of zstd, in one body. Tools that write blocks of 64 KiB need
/// 256 for the 16 MiB that are read of a page; each costs a decoder's state.
const MAX_MEMBERS: u32 = 4096;
/// The least decoded size of a bomb.
const BOMB_SIZE: usize = 1 << 20;
/// The least growth of a bomb. No text grows so much: zeros in gzip grow 1,029-fold, the most
/// repetitive pages some hundredfold.
const BOMB_RATIO: usize = 1000;
const BUFFER: usize = 16 << 10;

/// A body without its codings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The decoded body, or its beginning.
    pub bytes: Bytes,
    /// True if the limit cut it.
    pub truncated: bool,
    /// The error, if there was one.
    pub error: Option<DecodeError>,
}

/// An error in a coded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// An unknown coding: the bytes are as received.
    #[error("unknown content coding")]
    Unknown,
    /// Too many codings: the bytes are as received.
    #[error("too many content codings")]
    Layers,
    /// The body breaks off or is damaged: the bytes are the part before.
    #[error("broken content coding")]
    Broken,
    /// The body grows as no page does: the bytes are the beginning.
    #[error("a bomb of content coding")]
    Bomb,
}

#[derive(Clone, Copy)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Removes the codings that `Content-Encoding` names, and returns at most `cap` bytes. A body in
/// memory without a coding is not copied. A stored body that cannot be read is a broken one.
#[must_use]
pub fn decode(headers: &HeaderMap, body: &Body, cap: u64) -> Decoded {
    match codings(headers) {
        Ok(codings) if codings.is_empty() => as_received(body, cap, None),
        Ok(codings) => Decoding::peeled(&codings, Box::new(body.reader()), cap).whole(),
        Err(error) => as_received(body, cap, Some(error)),
    }
}

/// Returns at most `cap` bytes of a body that is itself a gzip file, whatever its header fields say
/// (`sitemap.xml.gz`).
#[must_use]
pub fn gunzip(body: &Bytes, cap: u64) -> Decoded {
    Decoding::gunzip(&**body, cap).whole()
}

/// Returns the codings in the order in which they were applied.
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, DecodeError> {
    let mut codings = Vec::new();
    for field in headers.get_all(CONTENT_ENCODING) {
        let Ok(field) = field.to_str() else {
            return Err(DecodeError::Unknown);
        };
        for name in field.split(',').map(str::trim) {
            match name.to_ascii_lowercase().as_str() {
                "" | "identity" => continue,
                "gzip" | "x-gzip" => codings.push(Coding::Gzip),
                "deflate" => codings.push(Coding::Deflate),
                "br" => codings.push(Coding::Brotli),
                "zstd" => codings.push(Coding::Zstd),
                _ => return Err(DecodeError::Unknown),
            }
            if codings.len() > MAX_LAYERS {
                return Err(DecodeError::Layers);
            }
        }
    }
    Ok(codings)
}

fn as_received(body: &Body, cap: u64, error: Option<DecodeError>) -> Decoded {
    let (bytes, error) = match body.beginning(cap) {
        Ok(bytes) => (bytes, error),
        Err(_unreadable) => (Bytes::new(), Some(DecodeError::Broken)),
    };
    Decoded {
        bytes,
        truncated: body.len() > cap,
        error,
    }
}

/// A body that is decoded while it is read. It ends without an error only if it is whole: a body
/// that is cut at the cap, breaks off or is a bomb ends with an error.
pub struct Decoding<'a> {
    reader: Box<dyn BufRead + 'a>,
    eaten: Rc<Cell<usize>>,
    given: usize,
    cap: usize,
    truncated: bool,
    error: Option<DecodeError>,
}

impl<'a> Decoding<'a> {
    /// Removes the codings that `Content-Encoding` names, and yields at most `cap` bytes. A body
    /// with an unknown coding is read as it is.
    #[must_use]
    pub fn of(headers: &HeaderMap, body: &'a Body, cap: u64) -> Self {
        Self::peeled(
            &codings(headers).unwrap_or_default(),
            Box::new(body.reader()),
            cap,
        )
    }

    /// Returns true once the limit has cut it, or it grew as no page does.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Removes gzip, whatever the header fields say.
    #[must_use]
    pub fn gunzip(body: impl BufRead + 'a, cap: u64) -> Self {
        Self::peeled(&[Coding::Gzip], Box::new(body), cap)
    }

    /// Nests the readers, the last coding innermost. Each passes on one byte more than the limit
    /// and ends: a layer that swallows gigabytes and yields nothing would otherwise run without
    /// end.
    fn peeled(codings: &[Coding], body: Box<dyn BufRead + 'a>, cap: u64) -> Self {
        let eaten = Rc::new(Cell::new(0));
        let received = Received {
            rest: body,
            eaten: Rc::clone(&eaten),
        };
        let reader = peel(codings, received, cap.saturating_add(1));
        Self {
            error: reader.is_err().then_some(DecodeError::Broken),
            reader: reader.unwrap_or_else(|_broken| Box::new(io::empty())),
            eaten,
            given: 0,
            cap: usize::try_from(cap).unwrap_or(usize::MAX),
            truncated: false,
        }
    }

    fn whole(mut self) -> Decoded {
        let mut bytes = Vec::new();
        // The fields below record the end.
        let _end = self.read_to_end(&mut bytes);
        Decoded {
            bytes: bytes.into(),
            truncated: self.truncated,
            error: self.error,
        }
    }

    /// Records how it ends.
    fn ends(&mut self, truncated: bool, error: Option<DecodeError>) -> io::Error {
        self.truncated = truncated;
        self.error = error;
        io::ErrorKind::UnexpectedEof.into()
    }
}

impl Read for Decoding<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.truncated || self.error.is_some() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Ok(piece) = self.reader.fill_buf() else {
            return Err(self.ends(false, Some(DecodeError::Broken)));
        };
        if piece.is_empty() {
            return Ok(0);
        }
        if self.given == self.cap {
            return Err(self.ends(true, None));
        }
        let length = piece.len().min(into.len()).min(self.cap - self.given);
        into[..length].copy_from_slice(&piece[..length]);
        self.reader.consume(length);
        self.given += length;
        if self.given > BOMB_SIZE && self.given / BOMB_RATIO >= self.eaten.get() {
            // These bytes count; the next call returns the error.
            self.truncated = true;
            self.error = Some(DecodeError::Bomb);
        }
        Ok(length)
    }
}

/// The body as received, with a note of how much of it was read.
struct Received<'a> {
    rest: Box<dyn BufRead + 'a>,
    eaten: Rc<Cell<usize>>,
}

impl Read for Received<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.rest.read(into)?;
        self.eaten.set(self.eaten.get() + read);
        Ok(read)
    }
}

impl BufRead for Received<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.rest.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.rest.consume(amount);
        self.eaten.set(self.eaten.get() + amount);
    }
}

fn peel<'a>(
    codings: &[Coding],
    body: Received<'a>,
    room: u64,
) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut reader: Box<dyn BufRead + 'a> = Box::new(body);
    for coding in codings.iter().rev() {
        let layer = decoder(*coding, reader)?.take(room);
        reader = Box::new(BufReader::with_capacity(BUFFER, layer));
    }
    Ok(reader)
}

fn decoder<'a>(coding: Coding, mut coded: Box<dyn BufRead + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    let head = coded.fill_buf()?;
    if head.is_empty() {
        // Many servers send an empty page without any coded bytes.
        return Ok(Box::new(io::empty()));
    }
    Ok(match coding {
        Coding::Gzip => Box::new(Members::new(coded)),
        Coding::Deflate if is_zlib(head) => Box::new(ZlibDecoder::new(coded)),
        Coding::Deflate => Box::new(DeflateDecoder::new(coded)),
        Coding::Brotli if is_large_window(head) => return Err(io::ErrorKind::InvalidData.into()),
        Coding::Brotli => Box::new(Decompressor::new(coded, BUFFER)),
        Coding::Zstd => Box::new(Frames::new(coded)?),
    })
}

/// The members of a gzip file, one after the other (RFC 1952 section 2.2).
struct Members<'a> {
    /// None once the last one has ended.
    member: Option<GzDecoder<Box<dyn BufRead + 'a>>>,
    begun: u32,
}

impl<'a> Members<'a> {
    fn new(coded: Box<dyn BufRead + 'a>) -> Self {
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
            if !coded.fill_buf()?.is_empty() {
                one_more(&mut self.begun)?;
                self.member = Some(GzDecoder::new(coded));
            }
        }
        Ok(0)
    }
}

/// The frames of a zstd file, one after the other (RFC 8878 section 3).
struct Frames<'a> {
    coded: Box<dyn BufRead + 'a>,
    decoder: ZstdDecoder<'static>,
    begun: u32,
    within: bool,
}

impl<'a> Frames<'a> {
    fn new(coded: Box<dyn BufRead + 'a>) -> io::Result<Self> {
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
            let input = self.coded.fill_buf()?;
            let ended = input.is_empty();
            if !self.within {
                if ended {
                    return Ok(0);
                }
                one_more(&mut self.begun)?;
                self.within = true;
            }
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
