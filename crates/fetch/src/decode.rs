//! Takes content codings off a body, up to a limit.
//!
//! Everything is streamed: what a body says about its own length is never believed, decoding stops at the
//! limit, and what a compressor may ask of our memory is bounded (a window of 16 MiB for brotli, 8 MiB for
//! zstd, as RFC 7932 and RFC 9659 have it for the web). 809 bytes of brotli can stand for a gibibyte.
//!
//! Nothing here fails: a body that breaks off or is not what it claims to be yields what could be read, and
//! says so. Sources: RFC 9110 section 8.4 (order of codings), RFC 1950 to 1952, RFC 7932, RFC 8878.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use brotli_decompressor::Decompressor;
use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// More codings on top of each other than this are an attack, not a page.
const MAX_LAYERS: usize = 3;
/// RFC 9659: a zstd window on the web is 8 MiB at most.
const ZSTD_WINDOW_LOG: u32 = 23;
const BUFFER: usize = 16 << 10;

/// A body without its codings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// What the body stands for, or the beginning of it.
    pub bytes: Bytes,
    /// Whether the limit cut it.
    pub truncated: bool,
    /// What was wrong with it.
    pub trouble: Option<DecodeTrouble>,
}

/// What was wrong with a coded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeTrouble {
    /// A coding that we do not know: the bytes are as received.
    Unknown,
    /// Too many codings: the bytes are as received.
    Layers,
    /// It breaks off or is damaged: the bytes are what comes before that.
    Broken,
}

impl fmt::Display for DecodeTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown content coding",
            Self::Layers => "too many content codings",
            Self::Broken => "broken content coding",
        })
    }
}

#[derive(Clone, Copy)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Takes off what `Content-Encoding` names, and yields at most `cap` bytes. Without a coding nothing is copied.
#[must_use]
pub fn decode(headers: &HeaderMap, body: &Bytes, cap: u64) -> Decoded {
    match codings(headers) {
        Ok(codings) if codings.is_empty() => as_received(body, cap, None),
        Ok(codings) => take_off(&codings, body, cap),
        Err(trouble) => as_received(body, cap, Some(trouble)),
    }
}

/// The codings in the order in which they were applied.
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, DecodeTrouble> {
    let mut codings = Vec::new();
    for field in headers.get_all(CONTENT_ENCODING) {
        let Ok(field) = field.to_str() else {
            return Err(DecodeTrouble::Unknown);
        };
        for name in field.split(',').map(str::trim) {
            match name.to_ascii_lowercase().as_str() {
                "" | "identity" => continue,
                "gzip" | "x-gzip" => codings.push(Coding::Gzip),
                "deflate" => codings.push(Coding::Deflate),
                "br" => codings.push(Coding::Brotli),
                "zstd" => codings.push(Coding::Zstd),
                _ => return Err(DecodeTrouble::Unknown),
            }
            if codings.len() > MAX_LAYERS {
                return Err(DecodeTrouble::Layers);
            }
        }
    }
    Ok(codings)
}

fn as_received(body: &Bytes, cap: u64, trouble: Option<DecodeTrouble>) -> Decoded {
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    Decoded {
        bytes: body.slice(..body.len().min(cap)),
        truncated: body.len() > cap,
        trouble,
    }
}

/// One reader around the other, the last coding innermost. Each passes on one byte more than the limit and
/// ends: a layer that swallows gigabytes and yields nothing would otherwise cost time without end.
fn take_off(codings: &[Coding], body: &Bytes, cap: u64) -> Decoded {
    let room = cap.saturating_add(1);
    let mut bytes = Vec::new();
    let read = peel(codings, body, room).and_then(|mut reader| reader.read_to_end(&mut bytes));
    let truncated = bytes.len() as u64 > cap;
    if truncated {
        bytes.truncate(bytes.len() - 1);
    }
    let trouble = (read.is_err() && !truncated).then_some(DecodeTrouble::Broken);
    Decoded {
        bytes: bytes.into(),
        truncated,
        trouble,
    }
}

fn peel<'a>(codings: &[Coding], body: &'a [u8], room: u64) -> io::Result<Box<dyn BufRead + 'a>> {
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
        // Nothing at all is how many servers code an empty page.
        return Ok(Box::new(io::empty()));
    }
    Ok(match coding {
        Coding::Gzip => Box::new(MultiGzDecoder::new(coded)),
        Coding::Deflate if is_zlib(head) => Box::new(ZlibDecoder::new(coded)),
        Coding::Deflate => Box::new(DeflateDecoder::new(coded)),
        Coding::Brotli if is_large_window(head) => return Err(io::ErrorKind::InvalidData.into()),
        Coding::Brotli => Box::new(Decompressor::new(coded, BUFFER)),
        Coding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(coded)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
    })
}

/// `deflate` means the zlib format, but some servers send the bare stream (RFC 9110 section 8.4.1.2). The
/// first two bytes of zlib are a multiple of 31 and name method 8 (RFC 1950 section 2.2).
fn is_zlib(head: &[u8]) -> bool {
    match head {
        [first, second, ..] => first & 0x0f == 8 && u16::from_be_bytes([*first, *second]) % 31 == 0,
        _ => false,
    }
}

/// The extension of brotli to windows of up to a gibibyte starts with a code that RFC 7932 section 9.1 forbids.
fn is_large_window(head: &[u8]) -> bool {
    head.first().is_some_and(|first| first & 0x7f == 0x11)
}
