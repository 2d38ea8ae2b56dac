//! Unpacks the frames of a Zstandard file (RFC 8878), one at a time, with the dictionary that web
//! archives put before them.
//!
//! "Zstandard compression for WARC files" (IIPC, draft 1.0): each record is a frame; a dictionary
//! is at the start of the file in a skippable frame, plain or packed itself. Other skippable frames
//! are ignored.

use std::io::{self, Read};

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::errors::{broken, torn};
use super::window::{self, Input, Window};

/// The first bytes of a frame (section 3.1.1).
pub(super) const MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The first bytes of the skippable frame with the dictionary.
pub(super) const DICTIONARY: &[u8] = &[0x5d, 0x2a, 0x4d, 0x18];

/// Maximum length of a dictionary in bytes; the common tool makes 100 KiB by default.
const MAX_DICTIONARY: usize = 16 << 20;

/// Maximum unpacked length of a block in bytes (section 3.1.1.2.3).
const BLOCK: usize = 128 << 10;

/// Returns true if a dictionary begins here, by more than its first four bytes.
pub(super) fn begins_dictionary(bytes: &[u8]) -> bool {
    let is_one =
        |inside: &[u8]| inside.starts_with(MAGIC) || inside.starts_with(&[0x37, 0xa4, 0x30, 0xec]);
    bytes.starts_with(DICTIONARY) && bytes.get(8..).is_some_and(is_one)
}

/// Returns true if a skippable frame begins here (section 3.1.2).
pub(super) fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// A decompressor of frames. Their windows are at most 128 MiB, the limit of the library.
pub(super) struct Unzstd {
    decoder: Decoder<'static>,
    dictionary: Vec<u8>,
    /// True if the library has reached the end of the frame; it may still have bytes for us.
    full: bool,
}

impl Unzstd {
    pub(super) fn new() -> io::Result<Self> {
        Self::with(Vec::new())
    }

    fn with(dictionary: Vec<u8>) -> io::Result<Self> {
        let decoder = Decoder::with_dictionary(&dictionary)
            .map_err(|_error| broken("corrupt zstd dictionary"))?;
        Ok(Self {
            decoder,
            dictionary,
            full: false,
        })
    }

    /// Returns the dictionary; empty if there is none.
    pub(super) fn dictionary(&self) -> &[u8] {
        &self.dictionary
    }

    /// Returns another decompressor with the same dictionary.
    pub(super) fn again(&self) -> io::Result<Self> {
        Self::with(self.dictionary.clone())
    }

    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.full = false;
        self.decoder.reinit()
    }

    /// Returns true if the frame at the start of `bytes`, which may be cut, unpacks to something
    /// that begins with `beginning`.
    pub(super) fn unpacks_to(&mut self, bytes: &[u8], beginning: &[u8]) -> bool {
        let mut found = Vec::with_capacity(BLOCK);
        let mut from = bytes;
        if self.begin().is_err() {
            return false;
        }
        while found.len() < beginning.len() && found.len() < found.capacity() {
            match run(&mut self.decoder, from, &mut found) {
                Ok((read, hint)) if hint > 0 && read > 0 => from = &from[read..],
                _ => break,
            }
        }
        found.starts_with(beginning)
    }

    /// Skips the next skippable frame, and loads the dictionary that may be in it.
    pub(super) fn skip(&mut self, input: &mut Input<impl Read>) -> io::Result<()> {
        let Some(&[_, _, _, _, a, b, c, d]) = input.at_least(8)?.first_chunk::<8>() else {
            return Err(torn());
        };
        let is_dictionary = input.rest().starts_with(DICTIONARY);
        let mut left = u32::from_le_bytes([a, b, c, d]) as usize;
        if is_dictionary && left > MAX_DICTIONARY {
            return Err(broken("the zstd dictionary is too long"));
        }
        input.consume(8);
        let mut bytes = Vec::new();
        while left > 0 {
            let next = input.fill()?;
            if next.is_empty() {
                return Err(torn());
            }
            let length = next.len().min(left);
            if is_dictionary {
                bytes.extend_from_slice(&next[..length]);
            }
            input.consume(length);
            left -= length;
        }
        if is_dictionary {
            *self = Self::with(unpacked_dictionary(bytes)?)?;
        }
        Ok(())
    }

    /// Appends unpacked bytes to `out`; returns false at the frame's end.
    pub(super) fn unpack(
        &mut self,
        input: &mut Input<impl Read>,
        out: &mut Window,
        chunk: usize,
    ) -> io::Result<bool> {
        if self.full {
            return Ok(false);
        }
        let (has_grown, has_ended) = window::unpack(input, out, chunk, |packed, into| {
            let (read, hint) = run(&mut self.decoder, packed, into)?;
            Ok((read, hint == 0))
        })?;
        self.full = has_ended;
        Ok(has_grown)
    }
}

/// Runs one step; returns the number of bytes consumed and the library's hint, which is 0 after a
/// frame.
fn run(decoder: &mut Decoder<'_>, packed: &[u8], into: &mut Vec<u8>) -> io::Result<(usize, usize)> {
    let mut from = InBuffer::around(packed);
    let at = into.len();
    let mut to = OutBuffer::around_pos(into, at);
    let hint = decoder.run(&mut from, &mut to);
    let hint = hint.map_err(|error| broken(&format!("corrupt zstd frame ({error})")))?;
    Ok((from.pos(), hint))
}

fn unpacked_dictionary(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(MAGIC) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    zstd::stream::read::Decoder::with_buffer(&bytes[..])?
        .take(MAX_DICTIONARY as u64 + 1)
        .read_to_end(&mut unpacked)
        .map_err(|_error| broken("corrupt zstd dictionary"))?;
    if unpacked.len() > MAX_DICTIONARY {
        return Err(broken("the zstd dictionary is too long"));
    }
    Ok(unpacked)
}
