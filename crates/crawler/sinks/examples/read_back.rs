//! Measures the speed of reading archives: unpacked megabytes a second of one core, for each
//! packing, digests checked.
//!
//!     cargo run --release -p sinks --example read_back

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "it prints measurements by this machine's clock, and ends where something fails"
)]

use std::io::{Cursor, Write};
use std::path::Path;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use sinks::PayloadDigest;
use sinks::warc::WarcStream;

/// The number of pages, and the length of each in bytes.
const PAGES: usize = 4_000;
const LENGTH: usize = 26 << 10;
const TURNS: usize = 5;

fn main() {
    let records: Vec<Vec<u8>> = (0..PAGES as u64).map(record).collect();
    let gzip = |bytes: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| zstd::bulk::compress(bytes, 3).unwrap();
    let all = records.concat();
    for (name, file) in [
        (
            "gzip, a member a record",
            records.iter().flat_map(|record| gzip(record)).collect(),
        ),
        ("gzip, one member", gzip(&all)),
        (
            "zstd, a frame a record",
            records.iter().flat_map(|record| zstd(record)).collect(),
        ),
        ("plain", all.clone()),
    ] {
        let best = (0..TURNS)
            .map(|_| read(&file))
            .fold(f64::INFINITY, f64::min);
        let speed = all.len() as f64 / 1e6 / best;
        println!(
            "{name:24} {speed:7.0} MB/s, {:.1} MB packed",
            file.len() as f64 / 1e6
        );
    }
}

/// Reads a file to its end; returns the seconds that it took.
fn read(file: &[u8]) -> f64 {
    let input = Cursor::new(file.to_vec());
    let begun = Instant::now();
    let mut stream = WarcStream::new(Path::new("measured.warc"), input);
    let mut kept = 0;
    while let Some(record) = stream.next_record(1 << 20).unwrap() {
        assert!(record.digests_hold());
        kept += record.block.len();
    }
    assert!(kept >= PAGES * LENGTH && stream.records() == PAGES as u64);
    begun.elapsed().as_secs_f64()
}

/// Returns a page of varied words, with the digests that crawlers write.
fn record(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut body = Vec::with_capacity(LENGTH + 16);
    while body.len() < LENGTH {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Small numbers are frequent, like common words.
        let word = (state % 4_000) * (state >> 32 & 0xfff) / 4_096;
        write!(body, "word{word} ").unwrap();
        if word.is_multiple_of(13) {
            body.extend_from_slice(b"</p>\n<p class=\"text\">");
        }
    }
    let block = [
        &b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"[..],
        &body,
    ]
    .concat();
    let head = format!(
        "WARC/1.1\r\nWARC-Type: response\r\n\
         WARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: 2026-11-20T18:24:55Z\r\n\
         WARC-Target-URI: http://example.org/{number}\r\n\
         Content-Type: application/http;msgtype=response\r\n\
         WARC-Block-Digest: {}\r\nWARC-Payload-Digest: {}\r\nContent-Length: {}\r\n\r\n",
        PayloadDigest::of(&block),
        PayloadDigest::of(&body),
        block.len()
    );
    [head.as_bytes(), &block, b"\r\n\r\n"].concat()
}
