//! Content codings that stand for far more than they weigh, or for nothing at all.
//!
//! Sources: RFC 1950 to 1952, RFC 7932, RFC 8878. The compressors are asked for one mebibyte at
//! most; the rest is repetition, which all of these formats allow at block boundaries.

use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc, FlushCompress};

use super::mode::{Asked, Expect, Mode};
use super::script::{ENDLESS, Piece, Script, TICK};
use crate::brotli;

const FAMILY: &str = "bombs";
const MEBIBYTE: usize = 1 << 20;

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{FailedOrPage, Kept, Page};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode(
            "gzip-bomb-of-nuls",
            "4 MiB of NULs as a page in gzip",
            Page,
            |_| coded("gzip", gzip_of(&ZEROS, 4)),
        ),
        mode(
            "gzip-bomb",
            "a gibibyte of zeros in a mebibyte of gzip",
            Page,
            |_| coded_file("gzip", gzip_of(&ZEROS, 1024)),
        ),
        mode(
            "gzip-bomb-of-html",
            "a gibibyte of paragraphs in gzip",
            Page,
            |_| coded("gzip", gzip_of(b"<p>a", 1024)),
        ),
        mode(
            "gzip-bomb-of-tags",
            "4 MiB of opening tags in gzip",
            Page,
            |_| coded("gzip", gzip_of(b"<div>", 4)),
        ),
        mode(
            "gzip-bomb-of-links",
            "4 MiB of one link in gzip",
            Page,
            |_| coded("gzip", gzip_of(b"<a href=/x>x</a>", 4)),
        ),
        mode(
            "deflate-bomb",
            "a gibibyte of zeros in zlib's format",
            Page,
            |_| coded_file("deflate", zlib_of_zeros(1024)),
        ),
        mode(
            "deflate-bomb-raw",
            "a gibibyte of zeros as a bare deflate stream",
            Page,
            |_| coded_file("deflate", deflate_of(&ZEROS, 1024)),
        ),
        mode(
            "brotli-bomb",
            "a gibibyte of zeros in 1.6 KiB of brotli",
            Page,
            |_| coded_file("br", brotli::bomb(64)),
        ),
        mode(
            "zstd-bomb",
            "a gibibyte of zeros in 32 KiB of zstd",
            Page,
            |_| coded_file("zstd", zstd_bomb(8192)),
        ),
        mode(
            "zstd-frames",
            "100,000 zstd frames of 128 KiB of zeros each",
            Page,
            |_| coded_file("zstd", zstd_bomb(1).repeat(100_000)),
        ),
        mode(
            "gzip-in-gzip",
            "a gzip bomb in gzip: 700 bytes for a gibibyte",
            Page,
            |_| coded_file("gzip, gzip", gzip(&gzip_of(&ZEROS, 1024))),
        ),
        mode(
            "gzip-in-brotli-in-zstd",
            "a gzip bomb in stored brotli in stored zstd",
            Page,
            |_| {
                coded_file(
                    "gzip, br, zstd",
                    zstd_stored(&brotli::stored(&gzip_of(&ZEROS, 64))),
                )
            },
        ),
        mode(
            "ten-layers",
            "names ten codings and has them",
            Page,
            |asked| {
                let layered = (0..10).fold(asked.article("").into_bytes(), |body, _| gzip(&body));
                coded(&["gzip"; 10].join(", "), layered)
            },
        ),
        mode(
            "thousand-codings",
            "names a thousand codings",
            Page,
            |asked| {
                Script::page(
                    format!("Content-Encoding: {}\r\n", ["gzip"; 1000].join(",")),
                    asked.article(""),
                )
            },
        ),
        mode(
            "gzip-many-members",
            "20,000 gzip members that stand for nothing",
            Page,
            |_| coded("gzip", gzip(b"").repeat(20_000)),
        ),
        mode(
            "gzip-members-of-a-byte",
            "20,000 gzip members of one letter each",
            Page,
            |_| coded("gzip", gzip(b"a").repeat(20_000)),
        ),
        mode(
            "deflate-hollow-blocks",
            "400,000 empty blocks, and a letter",
            Page,
            |_| {
                let hollow = [0, 0, 0, 0xff, 0xff].repeat(400_000);
                coded("deflate", [hollow, deflate_of(b"x", 1)].concat())
            },
        ),
        mode(
            "gzip-endless",
            "a gzip stream without end",
            FailedOrPage,
            |_| {
                let segment = deflate_segment(&ZEROS);
                until_close("gzip", &GZIP_HEAD).stream(Piece::Same(segment.into()), ENDLESS, TICK)
            },
        ),
        mode(
            "gzip-endless-name",
            "a file name without end in the gzip header",
            FailedOrPage,
            |_| {
                let mut head = GZIP_HEAD;
                head[3] = 8; // FNAME
                until_close("gzip", &head).endless("n".repeat(8192), TICK)
            },
        ),
        mode(
            "gzip-truncated",
            "half a gzip stream with a length that agrees",
            Page,
            |asked| {
                let whole = gzip(asked.article("").as_bytes());
                coded("gzip", &whole[..whole.len() / 2])
            },
        ),
        mode(
            "gzip-wrong-checksum",
            "a gzip stream whose checksum is wrong",
            Page,
            |asked| {
                let mut whole = gzip(asked.article("").as_bytes());
                let at = whole.len() - 8;
                whole[at] ^= 0xff;
                coded("gzip", whole)
            },
        ),
        mode(
            "gzip-then-garbage",
            "a gzip stream with bytes behind it",
            Page,
            |asked| {
                coded(
                    "gzip",
                    [&gzip(asked.article("").as_bytes())[..], b"and then this"].concat(),
                )
            },
        ),
        mode(
            "gzip-head-only",
            "ten bytes of gzip, and no more",
            Page,
            |_| coded("gzip", GZIP_HEAD),
        ),
        mode(
            "gzip-flipped",
            "a gzip stream with a bit turned in the middle",
            Page,
            |asked| {
                let mut whole = gzip(asked.article("").as_bytes());
                let at = whole.len() / 2;
                whole[at] ^= 0x10;
                coded("gzip", whole)
            },
        ),
        mode(
            "gzip-not-there",
            "a plain page that is called gzip",
            Page,
            |asked| coded("gzip", asked.article("")),
        ),
        mode(
            "brotli-not-there",
            "a plain page that is called brotli",
            Page,
            |asked| coded("br", asked.article("")),
        ),
        mode(
            "zstd-not-there",
            "a plain page that is called zstd",
            Page,
            |asked| coded("zstd", asked.article("")),
        ),
        mode(
            "gzip-unnamed",
            "a gzip stream that is called nothing",
            Page,
            |asked| Script::page("", gzip(asked.article("").as_bytes())),
        ),
        mode(
            "gzip-named-zstd",
            "a gzip stream that is called zstd",
            Page,
            |asked| coded("zstd", gzip(asked.article("").as_bytes())),
        ),
        mode(
            "coding-unknown",
            "a coding that nobody knows",
            Page,
            |asked| coded("frobnicate", asked.article("")),
        ),
        mode(
            "coding-garbage",
            "a coding's name of bytes that are no text",
            Page,
            |asked| {
                Script::page(
                    b"Content-Encoding: \xff\xfe\x80gzip;;,,=\r\n",
                    asked.article(""),
                )
            },
        ),
        mode(
            "coding-cut-by-length",
            "a gzip bomb whose length promises more than comes",
            Kept,
            |_| {
                let bomb = gzip_of(&ZEROS, 1024);
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
                    bomb.len() + 1
                );
                Script::new().send(head).send(bomb).close()
            },
        ),
        mode(
            "brotli-large-window",
            "brotli that asks for a window of a gibibyte",
            Page,
            |_| coded("br", [0x11, 30, 3]),
        ),
        mode(
            "zstd-large-window",
            "zstd that asks for a window of two gibibytes",
            Page,
            |_| coded("zstd", [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 9, 0, 0, b'x']),
        ),
        mode(
            "zstd-skippable",
            "zstd frames to be skipped, one of which says it has 4 GiB",
            Page,
            |_| {
                let skip = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].repeat(10_000);
                coded(
                    "zstd",
                    [skip, vec![0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff]].concat(),
                )
            },
        ),
    ]
}

const FILE: &str = "application/octet-stream";
const ZEROS: [u8; 1] = [0];
/// Method 8, no flags, no time, no system (RFC 1952 section 2.3).
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

fn coded(coding: &str, body: impl AsRef<[u8]>) -> Script {
    Script::page(format!("Content-Encoding: {coding}\r\n"), body)
}

/// The same as a file: what it stands for is unpacked, and not read as HTML, which would cost every
/// test seconds.
fn coded_file(coding: &str, body: impl AsRef<[u8]>) -> Script {
    Script::document(FILE, format!("Content-Encoding: {coding}\r\n"), body)
}

fn until_close(coding: &str, first: &[u8]) -> Script {
    Script::until_close(format!("Content-Encoding: {coding}\r\n")).send(first.to_vec())
}

/// `bytes` in gzip.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("memory does not fail")
}

/// About a mebibyte of `pattern` in deflate, which ends at a byte and may be repeated: what it
/// copies is the same before it.
fn deflate_segment(pattern: &[u8]) -> Vec<u8> {
    let plain = mebibyte(pattern);
    let mut encoder = flate2::Compress::new(Compression::best(), false);
    let mut segment = Vec::with_capacity(64 << 10);
    let status = encoder.compress_vec(&plain, &mut segment, FlushCompress::Full);
    status.expect("deflate takes anything");
    segment
}

fn mebibyte(pattern: &[u8]) -> Vec<u8> {
    pattern.repeat(MEBIBYTE / pattern.len())
}

/// So many mebibytes of `pattern` as a bare deflate stream.
fn deflate_of(pattern: &[u8], mebibytes: usize) -> Vec<u8> {
    let mut stream = deflate_segment(pattern).repeat(mebibytes);
    let last = DeflateEncoder::new(Vec::new(), Compression::fast()).finish();
    stream.extend(last.expect("memory does not fail"));
    stream
}

/// So many mebibytes of `pattern` in one member of gzip.
pub(super) fn gzip_of(pattern: &[u8], mebibytes: usize) -> Vec<u8> {
    let plain = mebibyte(pattern);
    let (mut segment, mut whole) = (Crc::new(), Crc::new());
    segment.update(&plain);
    for _ in 0..mebibytes {
        whole.combine(&segment);
    }
    let mut member = GZIP_HEAD.to_vec();
    member.extend(deflate_of(pattern, mebibytes));
    member.extend(whole.sum().to_le_bytes());
    member.extend(whole.amount().to_le_bytes());
    member
}

/// So many mebibytes of zeros in zlib's format (RFC 1950).
fn zlib_of_zeros(mebibytes: usize) -> Vec<u8> {
    let mut stream = vec![0x78, 0xda];
    stream.extend(deflate_of(&ZEROS, mebibytes));
    // Adler-32 of n zeros: 1 + 0, and n times 1 (modulo 65,521).
    let second = u32::try_from(mebibytes * MEBIBYTE % 65_521).expect("less than 65,521");
    stream.extend((second << 16 | 1).to_be_bytes());
    stream
}

/// A frame without a length of so many blocks of 128 KiB of zeros, four bytes each (RFC 8878
/// section 3.1.1.2).
fn zstd_bomb(blocks: usize) -> Vec<u8> {
    /// Type 1 (one byte, repeated), size 128 KiB.
    const BLOCK: u32 = 1 << 1 | (128 << 10) << 3;
    // A window of 128 KiB: exponent 7.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    for block in 0..blocks {
        let last = u32::from(block + 1 == blocks);
        frame.extend(&(BLOCK | last).to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

/// zstd without compression.
fn zstd_stored(bytes: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    let blocks = bytes.chunks(128 << 10);
    let count = blocks.len();
    for (number, block) in blocks.enumerate() {
        let length = u32::try_from(block.len()).expect("128 KiB at most");
        let head = u32::from(number + 1 == count) | length << 3;
        frame.extend(&head.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::{MultiGzDecoder, ZlibDecoder};

    use super::*;

    fn count(mut reader: impl Read) -> (usize, u8) {
        let (mut total, mut seen) = (0, 0);
        let mut piece = vec![0; 1 << 16];
        loop {
            let length = reader.read(&mut piece).unwrap();
            if length == 0 {
                return (total, seen);
            }
            total += length;
            seen |= piece[..length].iter().fold(0, |all, byte| all | byte);
        }
    }

    #[test]
    fn bombs_have_valid_checksums() {
        let bomb = gzip_of(&ZEROS, 9);
        assert!(bomb.len() < 16 << 10, "{} bytes are no bomb", bomb.len());
        assert_eq!(count(MultiGzDecoder::new(&bomb[..])), (9 << 20, 0));
        let bomb = zlib_of_zeros(9);
        assert_eq!(count(ZlibDecoder::new(&bomb[..])), (9 << 20, 0));
        let pattern = gzip_of(b"<p>a", 3);
        assert_eq!(count(MultiGzDecoder::new(&pattern[..])).0, 3 << 20);
    }

    #[test]
    fn handmade_bombs_are_small() {
        assert!(brotli::bomb(64).len() < 2 << 10);
        assert!(zstd_bomb(8192).len() < 33 << 10);
    }
}
