//! Records as other crawlers write them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

pub(crate) const DATE: &str = "2026-11-21T22:29:28Z";

pub(crate) fn record(kind: &str, target: &str, media: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: \
         <urn:uuid:4ca75dad-9336-4923-b54e-eaa1b21e9aa0>\r\n\
         WARC-Target-URI: {target}\r\nWARC-Date: {DATE}\r\nContent-Type: \
         {media}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

pub(crate) fn page(target: &str, head: &str, body: &str) -> String {
    let block = format!("{head}\r\n\r\n{body}");
    record(
        "response",
        target,
        "application/http;msgtype=response",
        &block,
    )
}

pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes.as_ref()).unwrap();
    packer.finish().unwrap()
}
