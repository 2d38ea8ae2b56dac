//! Archives as other crawlers write them: records in their words, and the ways in which they pack
//! them.
//!
//! The words are those of GNU Wget 1.21.3 (its own output), Heritrix 3.4, Browsertrix 1.5, Common
//! Crawl's WARC and WET files, and of the draft from before WARC/1.0.

use std::fmt::Write as _;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// Returns a record of this version, these fields and this block. `Content-Length` follows the
/// fields.
#[derive(Clone)]
pub(crate) struct Theirs {
    pub(crate) head: String,
    pub(crate) block: Vec<u8>,
}

impl Theirs {
    pub(crate) fn new(version: &str, fields: &[(&str, &str)], block: impl Into<Vec<u8>>) -> Self {
        let mut head = format!("{version}\r\n");
        for (name, value) in fields {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        Self {
            head,
            block: block.into(),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let length = format!("Content-Length: {}\r\n\r\n", self.block.len());
        [
            self.head.as_bytes(),
            length.as_bytes(),
            &self.block,
            b"\r\n\r\n",
        ]
        .concat()
    }
}

fn sha1(bytes: &[u8]) -> String {
    format!(
        "sha1:{}",
        data_encoding::BASE32.encode(&Sha1::digest(bytes))
    )
}

fn http(head: &str, body: &[u8]) -> Vec<u8> {
    [head.as_bytes(), b"\r\n\r\n", body].concat()
}

/// Requests before responses, targets in angle brackets, chunks as they were sent, and metadata of
/// its own at the end.
pub(crate) fn wget() -> Vec<Theirs> {
    let info = Theirs::new(
        "WARC/1.0",
        &[
            ("WARC-Type", "warcinfo"),
            ("Content-Type", "application/warc-fields"),
            ("WARC-Date", "2026-11-21T22:29:28Z"),
            (
                "WARC-Record-ID",
                "<urn:uuid:38cffed2-489e-424a-ad95-9103225a4a97>",
            ),
            ("WARC-Filename", "w.warc.gz"),
        ],
        "software: Wget/1.21.3 (linux-gnu)\r\n\
         format: WARC File Format 1.0\r\nrobots: classic\r\n\r\n",
    );
    let request = Theirs::new(
        "WARC/1.0",
        &[
            ("WARC-Type", "request"),
            ("WARC-Target-URI", "<http://toy.test/two.html>"),
            ("Content-Type", "application/http;msgtype=request"),
            ("WARC-Date", "2026-11-21T22:29:28Z"),
            (
                "WARC-Record-ID",
                "<urn:uuid:4ca75dad-9336-4923-b54e-eaa1b21e9aa0>",
            ),
        ],
        "GET /two.html HTTP/1.1\r\nHost: toy.test\r\nAccept-Encoding: identity\r\n\r\n",
    );
    let body = b"14\r\n<html><title>Two</ti\r\na\r\ntle>second\r\n0\r\n\r\n";
    let block = http(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked",
        body,
    );
    let (block_digest, payload_digest) = (sha1(&block), sha1(body));
    let response = Theirs::new(
        "WARC/1.0",
        &[
            ("WARC-Type", "response"),
            (
                "WARC-Record-ID",
                "<urn:uuid:f25bc75a-c77a-4c44-b3ec-e166d85e891c>",
            ),
            (
                "WARC-Concurrent-To",
                "<urn:uuid:4ca75dad-9336-4923-b54e-eaa1b21e9aa0>",
            ),
            ("WARC-Target-URI", "<http://toy.test/two.html>"),
            ("WARC-Date", "2026-11-21T22:29:28Z"),
            ("WARC-Block-Digest", &block_digest),
            ("WARC-Payload-Digest", &payload_digest),
            ("Content-Type", "application/http;msgtype=response"),
        ],
        block,
    );
    let arguments = Theirs::new(
        "WARC/1.0",
        &[
            ("WARC-Type", "resource"),
            (
                "WARC-Record-ID",
                "<urn:uuid:d0cbe89c-2c0c-4d1c-8dc1-2a9e0a3c13b2>",
            ),
            (
                "WARC-Target-URI",
                "<metadata://gnu.org/software/wget/warc/wget_arguments.txt>",
            ),
            ("WARC-Date", "2026-11-21T22:29:28Z"),
            ("Content-Type", "text/plain"),
        ],
        "\"-r\" \"--warc-file=w\"\n",
    );
    vec![info, request, response, arguments]
}

/// A DNS lookup, a page, its request, and its outlinks.
pub(crate) fn heritrix() -> Vec<Theirs> {
    let dns = Theirs::new(
        "WARC/1.0",
        &[
            ("WARC-Type", "response"),
            ("WARC-Target-URI", "dns:toy.test"),
            ("WARC-Date", "2024-05-02T10:00:00Z"),
            ("WARC-IP-Address", "192.0.2.53"),
            (
                "WARC-Record-ID",
                "<urn:uuid:00000000-0000-4000-8000-000000000001>",
            ),
            ("Content-Type", "text/dns"),
        ],
        "20240502100000\ntoy.test.\t\t300\tIN\tA\t192.0.2.1\n",
    );
    let body = b"<html><title>Page</title>what Heritrix saw";
    let digest = sha1(body);
    let page = Theirs::new(
        "WARC/1.0",
        &[
            ("WARC-Type", "response"),
            ("WARC-Target-URI", "http://toy.test/"),
            ("WARC-Date", "2024-05-02T10:00:01Z"),
            ("WARC-Payload-Digest", &digest),
            ("WARC-IP-Address", "192.0.2.1"),
            (
                "WARC-Record-ID",
                "<urn:uuid:00000000-0000-4000-8000-000000000002>",
            ),
            ("Content-Type", "application/http; msgtype=response"),
        ],
        http("HTTP/1.1 200 OK\r\nContent-Type: text/html", body),
    );
    let metadata = Theirs::new(
        "WARC/1.0",
        &[
            ("WARC-Type", "metadata"),
            ("WARC-Target-URI", "http://toy.test/"),
            ("WARC-Date", "2024-05-02T10:00:01Z"),
            (
                "WARC-Concurrent-To",
                "<urn:uuid:00000000-0000-4000-8000-000000000002>",
            ),
            (
                "WARC-Record-ID",
                "<urn:uuid:00000000-0000-4000-8000-000000000003>",
            ),
            ("Content-Type", "application/warc-fields"),
        ],
        "seed: \r\nfetchTimeMs: 12\r\noutlink: http://toy.test/a L a/@href\r\n\r\n",
    );
    vec![dns, page, metadata]
}

/// HTTP/2 as such, SHA-256 in hex, metadata about pages under names of its own.
pub(crate) fn browsertrix() -> Vec<Theirs> {
    let body = b"<html><title>App</title>what a browser saw";
    let digest = format!(
        "sha256:{}",
        data_encoding::HEXLOWER.encode(&Sha256::digest(body))
    );
    let page = Theirs::new(
        "WARC/1.1",
        &[
            ("WARC-Target-URI", "https://app.test/"),
            ("WARC-Date", "2025-01-02T03:04:05.678Z"),
            ("WARC-Type", "response"),
            (
                "WARC-Record-ID",
                "<urn:uuid:10000000-0000-4000-8000-000000000001>",
            ),
            ("WARC-Page-ID", "0d6b2f0e"),
            ("WARC-Protocol", "h2"),
            ("WARC-Resource-Type", "document"),
            ("Content-Type", "application/http; msgtype=response"),
            ("WARC-Payload-Digest", &digest),
        ],
        http("HTTP/2 200\r\ncontent-type: text/html\r\nx-orig: a", body),
    );
    let info = Theirs::new(
        "WARC/1.1",
        &[
            ("WARC-Target-URI", "urn:pageinfo:https://app.test/"),
            ("WARC-Date", "2025-01-02T03:04:05.678Z"),
            ("WARC-Type", "resource"),
            (
                "WARC-Record-ID",
                "<urn:uuid:10000000-0000-4000-8000-000000000002>",
            ),
            ("Content-Type", "application/json"),
        ],
        "{\"pageid\":\"0d6b2f0e\",\"urls\":{}}",
    );
    vec![page, info]
}

/// A text that was made of a page, as in Common Crawl's WET files.
pub(crate) fn wet() -> Vec<Theirs> {
    let text = "Ein Text, aus einer Seite gemacht.\n";
    let digest = sha1(text.as_bytes());
    vec![Theirs::new(
        "WARC/1.0",
        &[
            ("WARC-Type", "conversion"),
            ("WARC-Target-URI", "http://toy.test/text"),
            ("WARC-Date", "2024-02-21T00:00:00Z"),
            (
                "WARC-Record-ID",
                "<urn:uuid:20000000-0000-4000-8000-000000000001>",
            ),
            (
                "WARC-Refers-To",
                "<urn:uuid:20000000-0000-4000-8000-000000000000>",
            ),
            ("WARC-Block-Digest", &digest),
            ("WARC-Identified-Content-Language", "deu"),
            ("Content-Type", "text/plain"),
        ],
        text,
    )]
}

/// From before WARC/1.0, with names in lower case.
pub(crate) fn draft() -> Vec<Theirs> {
    vec![Theirs::new(
        "WARC/0.18",
        &[
            ("warc-type", "response"),
            ("warc-target-uri ", "http://old.test/"),
            ("warc-date", "2008-04-30T20:48:25Z"),
            (
                "warc-record-id",
                "<urn:uuid:30000000-0000-4000-8000-000000000001>",
            ),
            ("content-type", "message/http"),
        ],
        http("HTTP/1.0 200 OK\r\nContent-Type: text/html", b"<p>old"),
    )]
}

/// Returns all of them.
pub(crate) fn everybody() -> Vec<Theirs> {
    [wget(), heritrix(), browsertrix(), wet(), draft()].concat()
}

/// A layout of records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packed {
    Plain,
    GzipEach,
    GzipAll,
    /// Blocks of 100 bytes, wherever they end: bgzip has 64 KiB.
    GzipBlocks,
    ZstdEach,
    ZstdAll,
    ZstdDictionary,
    ZstdPackedDictionary,
}

impl Packed {
    pub(crate) const ALL: [Self; 8] = [
        Self::Plain,
        Self::GzipEach,
        Self::GzipAll,
        Self::GzipBlocks,
        Self::ZstdEach,
        Self::ZstdAll,
        Self::ZstdDictionary,
        Self::ZstdPackedDictionary,
    ];

    /// Returns true if each record can be read by its offset.
    pub(crate) fn is_addressable(self) -> bool {
        !matches!(self, Self::GzipAll | Self::GzipBlocks | Self::ZstdAll)
    }

    /// Each record's bytes in the file; where they share members, all in one.
    pub(crate) fn pieces(self, records: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let each =
            |pack: &dyn Fn(&[u8]) -> Vec<u8>| records.iter().map(|record| pack(record)).collect();
        let all = records.concat();
        match self {
            Self::Plain => records.to_vec(),
            Self::GzipEach => each(&gzip),
            Self::GzipAll => vec![gzip(&all)],
            Self::GzipBlocks => vec![all.chunks(100).flat_map(bgzip).collect()],
            Self::ZstdEach => each(&|record| zstd(record, &[])),
            Self::ZstdAll => vec![zstd(&all, &[])],
            Self::ZstdDictionary => {
                let dictionary = dictionary();
                let mut pieces: Vec<_> = each(&|record| zstd(record, &dictionary));
                pieces.insert(0, skippable(0x5d, &dictionary));
                pieces
            }
            Self::ZstdPackedDictionary => {
                let dictionary = dictionary();
                let mut pieces: Vec<_> = each(&|record| zstd(record, &dictionary));
                pieces.insert(0, skippable(0x5d, &zstd(&dictionary, &[])));
                pieces
            }
        }
    }

    pub(crate) fn file(self, records: &[Theirs]) -> Vec<u8> {
        let records: Vec<Vec<u8>> = records.iter().map(Theirs::bytes).collect();
        self.pieces(&records).concat()
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// A block with the extra field of bgzip (SAM specification, section 4.1).
fn bgzip(bytes: &[u8]) -> Vec<u8> {
    let extra: &[u8] = b"BC\x02\0\0\0";
    let mut packer = flate2::GzBuilder::new()
        .extra(extra)
        .write(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut packer = zstd::stream::read::Encoder::with_dictionary(bytes, 3, dictionary).unwrap();
    packer.include_checksum(true).unwrap();
    packer.read_to_end(&mut packed).unwrap();
    packed
}

pub(crate) fn skippable(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&[kind, 0x2a, 0x4d, 0x18], &length[..], content].concat()
}

/// Text that the records have in common. Without the magic number of trained dictionaries, all of
/// it is content.
fn dictionary() -> Vec<u8> {
    let records: Vec<Vec<u8>> = everybody().iter().map(Theirs::bytes).collect();
    String::from_utf8_lossy(&records.concat())
        .replace("WARC/", "WARC-")
        .into_bytes()
}
