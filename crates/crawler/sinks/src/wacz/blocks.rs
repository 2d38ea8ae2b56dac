//! The index of a WACZ: gzip members of some thousand lines each, and a list of the members
//! (ZipNum).
//!
//! A lookup finds the member of a key in the list and unpacks only that. A line of the list has the
//! key and the timestamp of the member's first line, and the member's position and digest, as
//! cdxj-indexer writes it and pywb and ReplayWeb.page read it.

use std::io::{self, Write};

use libdeflater::{CompressionLvl, Compressor};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::fault::WaczFault;
use super::layout::sha256_text;

/// Lines per member, as in pywb.
const LINES: usize = 3_000;
/// Size in bytes that ends a member of very long lines early.
const BYTES: usize = 4 << 20;

/// The header of the list.
const META: &str = "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n";

/// Packs lines into members and collects their list.
pub(super) struct Blocks<W> {
    out: W,
    compressor: Compressor,
    text: Vec<u8>,
    packed: Vec<u8>,
    lines: usize,
    offset: u64,
    list: Vec<u8>,
}

impl<W: Write> Blocks<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            compressor: Compressor::new(CompressionLvl::default()),
            text: Vec::new(),
            packed: Vec::new(),
            lines: 0,
            offset: 0,
            list: META.as_bytes().to_vec(),
        }
    }

    /// Adds a line without a line break.
    pub(super) fn push(&mut self, line: &[u8]) -> Result<(), WaczFault> {
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.lines += 1;
        if self.lines < LINES && self.text.len() < BYTES {
            return Ok(());
        }
        self.end_block()
    }

    /// Ends the last member; returns the output and the list.
    pub(super) fn finish(mut self) -> Result<(W, Vec<u8>), WaczFault> {
        // An index without a line gets one empty member: an empty file is not valid gzip.
        if self.lines > 0 || self.offset == 0 {
            self.end_block()?;
        }
        Ok((self.out, self.list))
    }

    fn end_block(&mut self) -> Result<(), WaczFault> {
        let bound = self.compressor.gzip_compress_bound(self.text.len());
        self.packed.resize(bound, 0);
        let length = self
            .compressor
            .gzip_compress(&self.text, &mut self.packed)
            .map_err(|error| WaczFault::Write(io::Error::other(error)))?;
        let block = &self.packed[..length];
        self.out.write_all(block).map_err(WaczFault::Write)?;
        if self.lines > 0 {
            let place = json!({
                "offset": self.offset,
                "length": length,
                "digest": sha256_text(&Sha256::digest(block)),
            });
            self.list.extend_from_slice(prefix(&self.text));
            self.list
                .extend_from_slice(format!(" {place}\n").as_bytes());
        }
        self.offset += length as u64;
        self.lines = 0;
        self.text.clear();
        Ok(())
    }
}

/// Returns key and timestamp of the first line.
pub(super) fn prefix(line: &[u8]) -> &[u8] {
    let mut spaces = line
        .iter()
        .enumerate()
        .filter(|(_, byte)| matches!(byte, b' ' | b'\n'));
    let end = spaces.nth(1).map_or(line.len(), |(place, _)| place);
    &line[..end]
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use serde_json::Value;

    use super::*;

    fn packed(lines: &[String]) -> (Vec<u8>, Vec<Value>, Vec<String>) {
        let mut blocks = Blocks::new(Vec::new());
        for line in lines {
            blocks.push(line.as_bytes()).unwrap();
        }
        let (bytes, list) = blocks.finish().unwrap();
        let list = String::from_utf8(list).unwrap();
        let (meta, list) = list.split_once('\n').unwrap();
        assert_eq!(format!("{meta}\n"), META);
        let split = |line: &str| {
            let (prefix, place) = line.split_once(" {").unwrap();
            let place = serde_json::from_str(&format!("{{{place}")).unwrap();
            (place, prefix.to_owned())
        };
        let (places, prefixes) = list.lines().map(split).unzip();
        (bytes, places, prefixes)
    }

    #[test]
    fn each_block_unpacks_by_itself_from_where_the_list_says_and_begins_with_the_line_of_the_list()
    {
        for count in [0, 1, LINES - 1, LINES, LINES + 1, 3 * LINES] {
            let line = |number| {
                format!("com,example)/{number:07} 20261120190455 {{\"offset\": \"{number}\"}}")
            };
            let lines: Vec<String> = (0..count).map(line).collect();
            let (bytes, places, prefixes) = packed(&lines);
            assert_eq!(places.len(), count.div_ceil(LINES), "{count}");
            let mut text = String::new();
            for (place, prefix) in places.iter().zip(prefixes) {
                let begin = place["offset"].as_u64().unwrap() as usize;
                let block = &bytes[begin..begin + place["length"].as_u64().unwrap() as usize];
                assert_eq!(place["digest"], sha256_text(&Sha256::digest(block)));
                let before = text.len();
                GzDecoder::new(block).read_to_string(&mut text).unwrap();
                assert!(
                    text[before..].starts_with(&format!("{prefix} {{")),
                    "{prefix}"
                );
            }
            assert!(text.lines().eq(lines.iter().map(String::as_str)), "{count}");
        }
    }

    #[test]
    fn lines_that_are_very_long_make_small_blocks() {
        let long = "x".repeat(1 << 20);
        let lines: Vec<String> = (0..10)
            .map(|number| format!("{number} 2026 {long}"))
            .collect();
        assert_eq!(packed(&lines).1.len(), 3);
    }

    #[test]
    fn the_prefix_of_a_line_is_its_key_and_its_timestamp() {
        for (line, expected) in [
            ("a)/ 2026 {\"a\": 1}", "a)/ 2026"),
            ("a)/ 2026", "a)/ 2026"),
            ("a)/", "a)/"),
            ("", ""),
        ] {
            assert_eq!(prefix(line.as_bytes()), expected.as_bytes());
        }
    }
}
