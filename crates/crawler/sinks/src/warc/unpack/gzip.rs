//! Unpacks the members of a gzip file (RFC 1952), one at a time, without reading past their end.

use std::io::{self, Read};

use flate2::bufread::GzDecoder;
use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::errors::{broken, torn};
use super::window::{self, Input, Window};

/// The first bytes of a member: the method is always deflate (section 2.3).
pub(super) const MAGIC: &[u8] = &[0x1f, 0x8b, 8];

/// Maximum header of a member, in bytes, with its name and comment.
const MAX_HEADER: usize = 64 << 10;

const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0xe0;

/// A decompressor of members.
pub(super) struct Gunzip {
    inflate: Decompress,
    checksum: Crc,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self {
            inflate: Decompress::new(false),
            checksum: Crc::new(),
        }
    }

    /// Reads a member's header.
    pub(super) fn begin(&mut self, input: &mut Input<impl Read>) -> io::Result<()> {
        self.inflate.reset(false);
        self.checksum.reset();
        loop {
            match header_length(input.rest()) {
                Ok(Some(length)) => {
                    input.consume(length);
                    return Ok(());
                }
                Ok(None) if input.more()? => {}
                Ok(None) => return Err(torn()),
                Err(reason) => return Err(broken(reason)),
            }
        }
    }

    /// Appends unpacked bytes to `out`; returns false at the member's end, once length and checksum
    /// are verified.
    pub(super) fn unpack(
        &mut self,
        input: &mut Input<impl Read>,
        out: &mut Window,
        chunk: usize,
    ) -> io::Result<bool> {
        let corrupt = || broken("corrupt deflate stream");
        let Self { inflate, checksum } = self;
        let (_, has_ended) = window::unpack(input, out, chunk, |packed, into| {
            let (before, consumed) = (into.len(), inflate.total_in());
            let unpacked = inflate.decompress_vec(packed, into, FlushDecompress::None);
            let has_ended = unpacked.map_err(|_error| corrupt())? == Status::StreamEnd;
            checksum.update(&into[before..]);
            let read = usize::try_from(inflate.total_in() - consumed).map_err(io::Error::other)?;
            // Without this, a decoder that makes no progress would loop for ever.
            if read == 0 && into.len() == before && !has_ended && !packed.is_empty() {
                return Err(corrupt());
            }
            Ok((read, has_ended))
        })?;
        if has_ended {
            self.trailer(input)?;
        }
        Ok(!has_ended)
    }

    fn trailer(&self, input: &mut Input<impl Read>) -> io::Result<()> {
        let Some(trailer) = input.at_least(8)?.first_chunk::<8>() else {
            return Err(torn());
        };
        let [a, b, c, d, length @ ..] = *trailer;
        let holds = u32::from_le_bytes([a, b, c, d]) == self.checksum.sum()
            && u32::from_le_bytes(length) == self.checksum.amount();
        input.consume(8);
        match holds {
            true => Ok(()),
            false => Err(broken(
                "corrupt gzip stream does not have a matching checksum",
            )),
        }
    }
}

/// Returns the length of the header at the start of `bytes`; `None` if it is incomplete.
fn header_length(bytes: &[u8]) -> Result<Option<usize>, &'static str> {
    let begun = bytes.len().min(MAGIC.len());
    if bytes[..begun] != MAGIC[..begun] {
        return Err("invalid gzip header");
    }
    let Some(&flags) = bytes.get(3) else {
        return Ok(None);
    };
    if flags & RESERVED != 0 {
        return Err("invalid gzip header");
    }
    let length = fields_length(bytes, flags);
    match length {
        Some(length) if length <= MAX_HEADER => {
            Ok(Some(length).filter(|&length| length <= bytes.len()))
        }
        None if bytes.len() <= MAX_HEADER => Ok(None),
        _ => Err("the gzip header does not end within the limit"),
    }
}

fn fields_length(bytes: &[u8], flags: u8) -> Option<usize> {
    let mut length = 10;
    if flags & HAS_EXTRA != 0 {
        let extra = bytes.get(length..length + 2)?;
        length += 2 + usize::from(extra[0]) + 256 * usize::from(extra[1]);
    }
    for text in [HAS_NAME, HAS_COMMENT] {
        if flags & text != 0 {
            length += bytes.get(length..)?.iter().position(|&byte| byte == 0)? + 1;
        }
    }
    Some(length + if flags & HAS_CHECKSUM != 0 { 2 } else { 0 })
}

/// Returns true if `bytes` begin with a valid or incomplete member header.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) && header_length(bytes).is_ok()
}

/// Returns the first unpacked bytes of the member at the start of `bytes`, which may be cut: at
/// most `most`.
pub(super) fn beginning(bytes: &[u8], most: usize) -> Vec<u8> {
    let mut found = Vec::new();
    // Damage after the beginning is found when the member is read.
    let _damage = GzDecoder::new(bytes)
        .take(most as u64)
        .read_to_end(&mut found);
    found
}

/// Returns true if a member is a block of bgzip: blocks are of equal size, regardless of the
/// records in them.
pub(super) fn is_block(bytes: &[u8]) -> bool {
    bytes.get(3).is_some_and(|flags| flags & HAS_EXTRA != 0) && bytes.get(12..14) == Some(b"BC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_ends_where_its_flags_say() {
        let fixed = |flags: u8| [&[0x1f, 0x8b, 8, flags], &[0; 6][..]].concat();
        for (flags, fields, length) in [
            (0, &b""[..], 10),
            (HAS_NAME, b"a.warc\0", 17),
            (HAS_NAME | HAS_COMMENT, b"a\0\0", 13),
            (HAS_EXTRA, b"\x04\0abcd", 16),
            (HAS_EXTRA | HAS_NAME | HAS_CHECKSUM, b"\x01\0a\0..", 16),
        ] {
            let header = [&fixed(flags), fields].concat();
            assert_eq!(
                header_length(&[&header[..], b"deflate"].concat()),
                Ok(Some(length))
            );
            for cut in 0..length {
                assert_eq!(header_length(&header[..cut]), Ok(None), "{flags} {cut}");
            }
        }
        assert!(header_length(&fixed(0x80)).is_err());
        assert!(header_length(b"\x1f\x8b\x07").is_err());
        let endless = [&fixed(HAS_NAME)[..], &vec![b'a'; MAX_HEADER]].concat();
        assert!(header_length(&endless).is_err());
    }
}
