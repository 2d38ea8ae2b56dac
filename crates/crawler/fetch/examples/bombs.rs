//! The cost of bodies that were made to cost much: `cargo run --release -p fetch --example bombs`.
//!
//! Prints, for each bomb, the bytes received, the bytes it stands for, what was decoded of it under
//! the crawler's cap, and the milliseconds that this took (the best of three).

#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};
use testkit::brotli::{self, Bits};
use tokio::time::Instant;
use web::{Decoded, decode};

const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;
/// The crawler's.
const CAP: u64 = 16 << 20;
/// The most that it receives.
const BODY: usize = 50 * MIB;

fn main() -> io::Result<()> {
    println!(
        "{:<44} {:>9} {:>9} {:>9} {:>7}  trouble",
        "", "received", "stands for", "decoded", "ms"
    );
    let zeros = vec![0; MIB];
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::best());
    let mut zstd = zstd::Encoder::new(Vec::new(), 19)?;
    for _ in 0..GIB / MIB {
        for encoder in [&mut gzip as &mut dyn Write, &mut zlib, &mut raw, &mut zstd] {
            encoder.write_all(&zeros)?;
        }
    }
    let (gzip, zlib, raw, zstd) = (
        gzip.finish()?,
        zlib.finish()?,
        raw.finish()?,
        zstd.finish()?,
    );
    let brotli = brotli::bomb(GIB >> 24);
    show("gzip, zeros", &["gzip"], &gzip, GIB);
    show("deflate, zeros", &["deflate"], &zlib, GIB);
    show(
        "deflate without zlib's frame, zeros",
        &["deflate"],
        &raw,
        GIB,
    );
    show("br, zeros", &["br"], &brotli, GIB);
    show("zstd, zeros", &["zstd"], &zstd, GIB);
    show("identity, zeros", &[], &vec![0; BODY], BODY);
    for (coding, bomb) in [("gzip", &gzip), ("br", &brotli), ("zstd", &zstd)] {
        let twice = zstd::encode_all(bomb.as_slice(), 19)?;
        show(
            &format!("{coding} in zstd, zeros"),
            &[coding, "zstd"],
            &twice,
            GIB,
        );
    }

    let nothing = GzEncoder::new(Vec::new(), Compression::fast()).finish()?;
    show("gzip, members of nothing", &["gzip"], &filled(&nothing), 0);
    let mut one = GzEncoder::new(Vec::new(), Compression::fast());
    one.write_all(b"x")?;
    let one = one.finish()?;
    show(
        "gzip, members of one byte",
        &["gzip"],
        &filled(&one),
        BODY / one.len(),
    );
    let mut dynamic = GzEncoder::new(Vec::new(), Compression::best());
    dynamic.write_all(b"the quick brown fox jumps over the lazy dog, the lazy dog sleeps")?;
    let dynamic = dynamic.finish()?;
    show(
        "gzip, members of a line",
        &["gzip"],
        &filled(&dynamic),
        BODY / dynamic.len() * 64,
    );
    let frame = zstd::encode_all(&b""[..], 1)?;
    show("zstd, frames of nothing", &["zstd"], &filled(&frame), 0);
    let frame = zstd::encode_all(&b"x"[..], 1)?;
    show(
        "zstd, frames of one byte",
        &["zstd"],
        &filled(&frame),
        BODY / frame.len(),
    );
    show(
        "zstd, frames to skip",
        &["zstd"],
        &filled(&[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]),
        0,
    );
    show(
        "deflate, blocks of nothing",
        &["deflate"],
        &filled(&[0, 0, 0, 0xff, 0xff]),
        0,
    );
    let hollow = zstd::encode_all(filled(&[0, 0, 0, 0xff, 0xff]).repeat(4).as_slice(), 3)?;
    show(
        "deflate, blocks of nothing, in zstd",
        &["deflate", "zstd"],
        &hollow,
        0,
    );
    let named = [
        &[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3][..],
        &vec![b'n'; BODY - 10],
    ]
    .concat();
    show("gzip, a name without end", &["gzip"], &named, 0);
    // Meta-blocks that are to be skipped: not the last, no nibbles, a byte of length, that byte.
    show("br, blocks to skip", &["br"], &brotli_hollow(), 0);
    Ok(())
}

fn filled(piece: &[u8]) -> Vec<u8> {
    piece.repeat(BODY / piece.len())
}

fn show(name: &str, codings: &[&'static str], body: &[u8], stands_for: usize) {
    let mut headers = HeaderMap::new();
    for coding in codings {
        headers.append(CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    let body = Bytes::copy_from_slice(body);
    let mut best: Option<(Duration, Decoded)> = None;
    for _ in 0..3 {
        let began = Instant::now();
        let decoded = decode(&headers, &body.clone().into(), CAP);
        let took = began.elapsed();
        if best.as_ref().is_none_or(|(least, _)| took < *least) {
            best = Some((took, decoded));
        }
    }
    let Some((took, decoded)) = best else { return };
    let trouble = decoded
        .error
        .map_or(String::new(), |trouble| trouble.to_string());
    println!(
        "{name:<44} {:>9} {:>9} {:>9} {:>7.1}  {}{trouble}",
        size(body.len()),
        size(stands_for),
        size(decoded.bytes.len()),
        took.as_secs_f64() * 1000.0,
        if decoded.truncated { "cut " } else { "" },
    );
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..MIB => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / MIB as f64),
    }
}

/// Brotli of nothing but meta-blocks to be skipped, a byte each.
fn brotli_hollow() -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0, 1); // a window of 64 KiB
    while bits.bytes.len() < BODY / 16 {
        bits.push(0, 1); // not the last
        bits.push(3, 2); // no nibbles of length: metadata
        bits.push(0, 1); // reserved
        bits.push(0, 2); // no bytes of it
        bits.align();
    }
    bits.bytes.repeat(16)
}
