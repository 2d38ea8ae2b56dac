//! Removal of content codings from a body, up to a limit.
//!
//! Decoding is streamed: lengths in the body are not trusted, it stops at the limit, and the
//! memory that a compressor may demand is bounded (a window of 16 MiB for brotli, 8 MiB for zstd,
//! as RFC 7932 and RFC 9659 have it for the web). 809 bytes of brotli can decode to a gibibyte: a
//! body that grows a thousandfold is a bomb and is abandoned long before the limit. The members of
//! gzip and frames of zstd are counted, so that many small pieces cost no more than their length.
//!
//! The header is not trusted either. Servers name codings that they did not apply, apply others,
//! and write `utf-8` or `none`. Each layer is removed only if the bytes are in a coding, and names
//! that mean nothing are skipped ([`layers`]). A page is then read as users see it, and
//! [`Decoded::error`] says what was wrong. A body that breaks off yields the readable part and the
//! error: [`decode`] returns it with the bytes, a [`Decoding`] as the error at its end.
//!
//! Sources: RFC 9110 section 8.4 (order of codings), RFC 1950 to 1952, RFC 7932, RFC 8878.

mod layers;

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use self::layers::{Coding, Peeled, peel};
use super::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// Maximum number of nested codings; more are an attack.
const MAX_LAYERS: usize = 3;
/// Minimum decoded size of a bomb.
const BOMB_SIZE: usize = 1 << 20;
/// Minimum growth of a bomb. No text grows as much: zeros in gzip grow 1,029-fold, the most
/// repetitive pages some hundredfold.
const BOMB_RATIO: usize = 1000;

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
    /// An unknown name: it is skipped.
    #[error("unknown content coding")]
    Unknown,
    /// Too many codings: the bytes are as received.
    #[error("too many content codings")]
    Layers,
    /// The bytes are not in a coding that the header names: this coding is skipped, or replaced by
    /// the coding that they are in.
    #[error("not in the content coding that it names")]
    Misnamed,
    /// The body breaks off or is damaged: the bytes are the part before.
    #[error("broken content coding")]
    Broken,
    /// The body grows as no page does: the bytes are the beginning.
    #[error("a bomb of content coding")]
    Bomb,
}

/// Removes the codings that `Content-Encoding` names, and returns at most `cap` bytes. A body in
/// memory without a coding is not copied. A stored body that cannot be read is a broken one.
#[must_use]
pub fn decode(headers: &HeaderMap, body: &Body, cap: u64) -> Decoded {
    let named = Codings::of(headers);
    if named.codings.is_empty() {
        return as_received(body, cap, named.error);
    }
    Decoding::peeled(&named, Box::new(body.reader()), cap).whole()
}

/// Returns true if a body is a gzip file, as `sitemap.xml.gz` is.
#[must_use]
pub fn is_gzip(body: &[u8]) -> bool {
    body.starts_with(&[0x1f, 0x8b])
}

/// Returns at most `cap` bytes of a body that is itself a gzip file, regardless of its header
/// fields (`sitemap.xml.gz`).
#[must_use]
pub fn gunzip(body: &Bytes, cap: u64) -> Decoded {
    Decoding::gunzip(&**body, cap).whole()
}

/// The codings that a header names, in the order they were applied.
#[derive(Default)]
struct Codings {
    codings: Vec<Coding>,
    error: Option<DecodeError>,
}

impl Codings {
    fn of(headers: &HeaderMap) -> Self {
        let mut named = Self::default();
        for field in headers.get_all(CONTENT_ENCODING) {
            let field = String::from_utf8_lossy(field.as_bytes()).to_ascii_lowercase();
            for name in field.split(',') {
                // Parameters and quotation marks are in no standard.
                let name = name.split(';').next().unwrap_or_default();
                match name.trim().trim_matches('"') {
                    "" | "identity" => {}
                    "gzip" | "x-gzip" => named.codings.push(Coding::Gzip),
                    "deflate" => named.codings.push(Coding::Deflate),
                    "br" => named.codings.push(Coding::Brotli),
                    "zstd" => named.codings.push(Coding::Zstd),
                    _ => named.error = Some(DecodeError::Unknown),
                }
            }
        }
        if named.codings.len() > MAX_LAYERS {
            named.codings.clear();
            named.error = Some(DecodeError::Layers);
        }
        named
    }
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
    /// The error that ends the bytes.
    error: Option<DecodeError>,
    /// The error in the names, which ends nothing.
    misnamed: Option<DecodeError>,
}

impl<'a> Decoding<'a> {
    /// Removes the codings that `Content-Encoding` names, and yields at most `cap` bytes. A body
    /// that is not coded is read as it is.
    #[must_use]
    pub fn of(headers: &HeaderMap, body: &'a Body, cap: u64) -> Self {
        Self::peeled(&Codings::of(headers), Box::new(body.reader()), cap)
    }

    /// Returns true once the limit has cut it, or it grew as no page does.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Removes gzip, regardless of the header fields.
    #[must_use]
    pub fn gunzip(body: impl BufRead + 'a, cap: u64) -> Self {
        let named = Codings {
            codings: vec![Coding::Gzip],
            error: None,
        };
        Self::peeled(&named, Box::new(body), cap)
    }

    /// Nests the readers, the last coding innermost. Each passes on one byte more than the limit
    /// and ends: a layer that swallows gigabytes and yields nothing would otherwise run without
    /// end.
    fn peeled(named: &Codings, body: Box<dyn BufRead + 'a>, cap: u64) -> Self {
        let eaten = Rc::new(Cell::new(0));
        let received = Received {
            rest: body,
            eaten: Rc::clone(&eaten),
        };
        let peeled = peel(&named.codings, Box::new(received), cap.saturating_add(1));
        let error = peeled.is_err().then_some(DecodeError::Broken);
        let Peeled { reader, as_named } = peeled.unwrap_or_else(|_broken| Peeled {
            reader: Box::new(io::empty()),
            as_named: true,
        });
        Self {
            reader,
            eaten,
            given: 0,
            cap: usize::try_from(cap).unwrap_or(usize::MAX),
            truncated: false,
            error,
            misnamed: if as_named {
                named.error
            } else {
                Some(DecodeError::Misnamed)
            },
        }
    }

    fn whole(mut self) -> Decoded {
        let mut bytes = Vec::new();
        // The fields below record the end.
        let _end = self.read_to_end(&mut bytes);
        Decoded {
            bytes: bytes.into(),
            truncated: self.truncated,
            error: self.error.or(self.misnamed),
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
