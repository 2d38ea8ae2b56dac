//! Lists the records of WARC files as the `warc` crate reads them; nothing of ours is used. See
//! `lab/interop/readers.py`.
//!
//! ```text
//! warc_crate FILE…            each `.warc` or `.warc.gz`, with `.open` behind it or not
//! ```
//!
//! A line a record: type, id, target, date, length of the block, SHA-256 of the payload in base 16,
//! and the results of checking the block digest and the payload digest: `pass`, `absent`, or
//! `elsewhere` for the payload of a revisit. A file that cannot be read, or a wrong digest, is an
//! error and ends the program with code 1.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

use data_encoding::{BASE32, HEXLOWER};
use flate2::bufread::MultiGzDecoder;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use warc::{BufferedBody, Record, RecordType, WarcHeader, WarcReader};

fn main() -> Result<(), Box<dyn Error>> {
    let mut list = BufWriter::new(io::stdout().lock());
    for path in std::env::args().skip(1) {
        let file = BufReader::new(File::open(&path)?);
        let unpacked: Box<dyn BufRead> = if path.trim_end_matches(".open").ends_with(".gz") {
            Box::new(BufReader::new(MultiGzDecoder::new(file)))
        } else {
            Box::new(file)
        };
        for record in WarcReader::new(unpacked).iter_records() {
            let record = record.map_err(|fault| format!("{path}: {fault}"))?;
            let line =
                line(&record).map_err(|fault| format!("{path}: {}: {fault}", record.warc_id()))?;
            writeln!(list, "{line}")?;
        }
    }
    Ok(list.flush()?)
}

fn line(record: &Record<BufferedBody>) -> Result<String, String> {
    let block = record.body();
    let payload = payload(record)?;
    let field = |name| record.header(name).unwrap_or_default();
    let block_digest = check(&field(WarcHeader::BlockDigest), block)?;
    let payload_digest = match record.warc_type() {
        // It is the digest of the payload in another record.
        RecordType::Revisit => "elsewhere",
        _ => check(&field(WarcHeader::PayloadDigest), payload)?,
    };
    Ok(format!(
        "{}\t{}\t{}\t{}\t{}\t{}\t{block_digest}\t{payload_digest}",
        record.warc_type(),
        record.warc_id(),
        field(WarcHeader::TargetURI),
        field(WarcHeader::Date),
        block.len(),
        HEXLOWER.encode(&Sha256::digest(payload)),
    ))
}

/// Returns the bytes after the head of an HTTP message, or the whole block if it is not one.
fn payload(record: &Record<BufferedBody>) -> Result<&[u8], String> {
    let block = record.body();
    let content_type = record.header(WarcHeader::ContentType).unwrap_or_default();
    if !content_type.starts_with("application/http") {
        return Ok(block);
    }
    let end = block.windows(4).position(|window| window == b"\r\n\r\n");
    end.map(|end| &block[end + 4..])
        .ok_or_else(|| "an HTTP message whose head has no end".to_owned())
}

fn check(digest: &str, bytes: &[u8]) -> Result<&'static str, String> {
    let Some((algorithm, wanted)) = digest.split_once(':') else {
        return if digest.is_empty() {
            Ok("absent")
        } else {
            Err(format!("no digest: {digest}"))
        };
    };
    let found = match algorithm {
        "sha1" => BASE32.encode(&Sha1::digest(bytes)),
        "sha256" => BASE32.encode(&Sha256::digest(bytes)),
        _ => return Err(format!("an unknown kind of digest: {digest}")),
    };
    // RFC 4648 allows padding to be omitted if the length is known.
    if found.trim_end_matches('=') == wanted.trim_end_matches('=') {
        Ok("pass")
    } else {
        Err(format!(
            "the digest is {digest}, of the bytes {algorithm}:{found}"
        ))
    }
}
