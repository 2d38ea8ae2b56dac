//! Archives of any records whose lengths are right: few changes of a whole archive leave it one
//! that is read beyond its first record.

use std::io::Cursor;
use std::path::Path;

use sinks::captures::{CaptureKind, Requests};
use sinks::warc::{ReadFault, Record, WarcStream};

/// The maximum number of records.
const MAX_RECORDS: usize = 64;

/// The maximum number of kept bytes of a block.
const KEEP: usize = 64 << 10;

/// The line between two records.
const SEPARATOR: &str = "\n===\n";

/// Returns an archive of the records in the input, between lines `===`. A record is its fields, an
/// empty line, and its block. It gets the first and the last line of its head.
pub(crate) fn archive(bytes: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut rest = bytes;
    for _ in 0..MAX_RECORDS {
        let (record, behind) = crate::base::split(rest, SEPARATOR.as_bytes());
        let (head, block) = crate::base::split(record, b"\n\n");
        archive.extend_from_slice(b"WARC/1.1\r\n");
        archive.extend_from_slice(head);
        let end = format!("\r\nContent-Length: {}\r\n\r\n", block.len());
        archive.extend_from_slice(end.as_bytes());
        archive.extend_from_slice(block);
        archive.extend_from_slice(b"\r\n\r\n");
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    archive
}

/// Returns the records of an archive that judges captures by their requests.
pub(crate) fn judged_records(archive: Vec<u8>) -> Vec<(Record, CaptureKind)> {
    let mut stream = WarcStream::new(Path::new("any.warc"), Cursor::new(archive));
    let mut requests = Requests::default();
    loop {
        match stream.next_record(KEEP) {
            Ok(Some(record)) => requests.push(&record, Some(record.clone())),
            Ok(None) => break,
            Err(ReadFault::Broken { .. }) => {}
            Err(fault) => panic!("bytes in memory can always be read: {fault}"),
        }
    }
    std::iter::from_fn(|| requests.pop_last()).collect()
}
