//! Compressed files, recognised by their first bytes.
//!
//! Invariant: the memory of a decompressor has a bound that no file can exceed: 64 KiB (gzip), 4
//! MiB (bzip2), [`MAX_WINDOW`] (Zstandard) and [`MAX_XZ_KIB`] (xz). Readers bound the length of one
//! document; the total length of a stream of many documents is unbounded.
//!
//! Sources: RFC 1952 (gzip), RFC 8878 (Zstandard), the .xz file format 1.2.1, section 2.1.1.1.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;

/// Bytes that are unpacked at a time.
const CHUNK: usize = 64 << 10;

/// The base-2 logarithm of the largest window of a Zstandard frame, in bytes: 128 MiB, as `zstd`
/// accepts without `--long=31`.
const MAX_WINDOW: u32 = 27;

/// The largest memory of an xz decoder, in KiB: 65 MiB are needed for `xz -9`.
const MAX_XZ_KIB: u32 = 256 << 10;

/// A form of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// One or more gzip members.
    Gzip,
    /// One or more Zstandard frames.
    Zstandard,
    /// One or more bzip2 streams.
    Bzip2,
    /// One or more xz streams.
    Xz,
}

impl Compression {
    /// Recognises compressed bytes by their beginning.
    pub(crate) fn of(beginning: &[u8]) -> Option<Self> {
        // A block of bzip2 begins with the digits of pi, an empty stream with the digits of its
        // square root.
        let is_bzip2 = |bytes: &[u8]| {
            matches!(bytes, [b'B', b'Z', b'h', b'1'..=b'9', block @ ..]
                if block.starts_with(b"1AY&SY") || block.starts_with(b"\x17rE8P\x90"))
        };
        match beginning {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstandard),
            // A skippable frame may come first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstandard),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            bytes if is_bzip2(bytes) => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// Returns its name in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "Zstandard",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// Returns the unpacked bytes of `input`.
    ///
    /// # Errors
    /// The system lacks memory for the decoder.
    pub(crate) fn unpack(
        self,
        input: Box<dyn BufRead + Send>,
    ) -> io::Result<Box<dyn BufRead + Send>> {
        Ok(match self {
            Self::Gzip => buffered(GzipMembers(Some(GzDecoder::new(input)))),
            Self::Bzip2 => buffered(MultiBzDecoder::new(input)),
            Self::Xz => buffered(XzReader::new_mem_limit(input, true, MAX_XZ_KIB)),
            Self::Zstandard => {
                let mut unpacked = zstd::stream::read::Decoder::with_buffer(input)?;
                unpacked.window_log_max(MAX_WINDOW)?;
                buffered(unpacked)
            }
        })
    }
}

/// The members of a gzip file, one after the other. Zeros after them are padding, as on tapes.
struct GzipMembers(Option<GzDecoder<Box<dyn BufRead + Send>>>);

impl Read for GzipMembers {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            let Some(mut input) = self.0.take().map(GzDecoder::into_inner) else {
                break;
            };
            if skip_zeros(&mut input)? {
                self.0 = Some(GzDecoder::new(input));
            }
        }
        Ok(0)
    }
}

/// Skips zeros; returns true if something follows.
fn skip_zeros(input: &mut dyn BufRead) -> io::Result<bool> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let zeros = buffer.iter().take_while(|byte| **byte == 0).count();
        let is_done = zeros < buffer.len();
        input.consume(zeros);
        if is_done {
            return Ok(true);
        }
    }
}

fn buffered(unpacked: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(CHUNK, unpacked))
}
