//! Chunked bodies (RFC 9112, section 7.1), as found in archives.
//!
//! Many archivers decode the chunks and keep `Transfer-Encoding`, so the field proves nothing: a
//! text may begin like the size of a chunk. Invariant: a body is chunked only if it is so from its
//! beginning to its end, or to the place where it breaks off; otherwise it is taken as it is.

use std::io::{self, BufRead, Read};

/// Maximum length of a line with a size, or of a trailer field, in bytes.
const MAX_LINE: u64 = 4 << 10;

/// Bytes in whole chunks that prove the chunks of a body that breaks off.
const MIN_CHUNKED: u64 = 64;

/// The chunks of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunking {
    /// The body is not chunked.
    Absent,
    /// The last chunk is there.
    Whole,
    /// The body breaks off before the last chunk.
    BreaksOff,
}

/// Calls `put` with the content of each chunk. If the body turns out not to be chunked, the content
/// already put is worthless. `is_cut` means that the body is known to break off.
pub(super) fn unchunk(
    sent: &mut impl BufRead,
    is_cut: bool,
    put: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Chunking> {
    let (mut chunked, mut line) = (0, Vec::new());
    let broken_off = |chunked: u64| match chunked >= MIN_CHUNKED || is_cut {
        true => Chunking::BreaksOff,
        false => Chunking::Absent,
    };
    loop {
        if !read_line(sent, &mut line)? {
            return Ok(broken_off(chunked));
        }
        let Some(size) = size_of(&line) else {
            return Ok(Chunking::Absent);
        };
        if size == 0 {
            return is_last(sent, chunked, &mut line);
        }
        let mut left = size;
        while left > 0 {
            let piece = sent.fill_buf()?;
            let length = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
            if length == 0 {
                return Ok(broken_off(chunked));
            }
            put(&piece[..length])?;
            sent.consume(length);
            left -= length as u64;
        }
        chunked += size;
        if !read_line(sent, &mut line)? {
            let is_begun = line.is_empty() || line == b"\r";
            return Ok(if is_begun {
                broken_off(chunked)
            } else {
                Chunking::Absent
            });
        }
        if !line.is_empty() {
            return Ok(Chunking::Absent);
        }
    }
}

/// Reads the trailer fields and the empty line after the last chunk. If the body is empty, it must
/// end there.
fn is_last(sent: &mut impl BufRead, chunked: u64, line: &mut Vec<u8>) -> io::Result<Chunking> {
    while read_line(sent, line)? {
        if line.is_empty() {
            let is_end = chunked > 0 || sent.fill_buf()?.is_empty();
            return Ok(if is_end {
                Chunking::Whole
            } else {
                Chunking::Absent
            });
        }
        if !line.contains(&b':') {
            return Ok(Chunking::Absent);
        }
    }
    let is_end = line.is_empty() || line == b"\r";
    Ok(if is_end {
        Chunking::Whole
    } else {
        Chunking::Absent
    })
}

/// Reads a line without its ending, CR LF or LF alone; returns false if the body ends before it.
fn read_line(sent: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    sent.by_ref().take(MAX_LINE).read_until(b'\n', line)?;
    if line.pop_if(|byte| *byte == b'\n').is_none() {
        // A longer line is not a size, and does not end here.
        return Ok(line.len() as u64 == MAX_LINE);
    }
    line.pop_if(|byte| *byte == b'\r');
    Ok(true)
}

/// Returns the size of a chunk: hexadecimal digits, and perhaps extensions.
fn size_of(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit());
    let (digits, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.trim_ascii_start();
    if !rest.is_empty() && !rest.starts_with(b";") {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sent: &[u8], is_cut: bool) -> (Chunking, Vec<u8>) {
        let mut body = Vec::new();
        let found = unchunk(&mut &*sent, is_cut, &mut |chunk| {
            body.extend_from_slice(chunk);
            Ok(())
        });
        (found.unwrap(), body)
    }

    /// A text that began with a line such as `2024` lost this line, one that began with `1, 2, 3`
    /// all but six bytes.
    #[test]
    fn a_body_is_chunked_only_from_its_beginning_to_its_end() {
        for text in [
            &b"2024\r\nThe year"[..],
            b"Cafe\r\nOpening hours",
            b"1\r\n2\r\n3\r\nTesting",
            b"0\r\nZero",
            b"0\r\n\r\nZero",
            b"5\r\nhello world\r\n0\r\n\r\n",
            b"5\r\nhel",
            b"ffffffffffffffff\r\nhello",
            b"fffffffffffffffff\r\nhello",
            b"<html>",
            b"",
        ] {
            assert_eq!(read(text, false).0, Chunking::Absent, "{text:?}");
        }
        for (sent, body) in [
            (&b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"[..], &b"hello!"[..]),
            (b"5\nhello\n1\n!\n0\n\n", b"hello!"),
            (b"5;note=1\r\nhello\r\n0  \r\nExpires: 0\r\n\r\n", b"hello"),
            (b"5\r\nhello\r\n0\r\n", b"hello"),
            (b"5\r\nhello\r\n0\r\n\r\n\r\n", b"hello"),
            (b"0\r\n\r\n", b""),
        ] {
            assert_eq!(
                read(sent, false),
                (Chunking::Whole, body.to_vec()),
                "{sent:?}"
            );
        }
    }

    #[test]
    fn chunks_that_break_off_are_joined_up_to_there() {
        let long = [b"50\r\n".as_slice(), &[b'a'; 0x50], b"\r\n"].concat();
        for end in [&b""[..], b"5", b"5\r\n", b"5\r\nhel", b"5\r\nhello\r"] {
            let sent = [long.as_slice(), end].concat();
            assert_eq!(read(&sent, false).0, Chunking::BreaksOff, "{end:?}");
        }
        assert_eq!(
            read(b"5\r\nhel", true),
            (Chunking::BreaksOff, b"hel".to_vec())
        );
    }
}
