//! Reading damaged files.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use sinks::Sink;
use sinks::warc::{DigestCheck, ReadFault, Record, WarcReader, check_file};

use crate::fixtures::{exchange, fresh, visit};

/// Returns a small archive file and the start of its last record.
async fn archived() -> (Vec<u8>, u64) {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let file = archive
        .write(visit(vec![exchange("http://example.org/a", "hello")]))
        .await
        .unwrap()
        .file;
    let path = sinks::warc::locate(dir.path(), &file);
    let mut last = 0;
    let check = check_file(&path, &mut |record| last = record.offset).unwrap();
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(
        (check.records, check.length, check.false_digests),
        (3, bytes.len() as u64, 0)
    );
    (bytes, last)
}

fn read(bytes: &[u8]) -> (Vec<Record>, Option<ReadFault>) {
    let mut reader = WarcReader::new(Path::new("test.warc.gz"), bytes);
    let mut records = Vec::new();
    loop {
        match reader.next_record(usize::MAX) {
            Ok(Some(record)) => records.push(record),
            Ok(None) => return (records, None),
            Err(fault) => {
                assert!(
                    reader.next_record(0).unwrap().is_none(),
                    "nothing follows a fault"
                );
                return (records, Some(fault));
            }
        }
    }
}

fn packed(record: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(record.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_file_that_ends_within_a_record_has_a_torn_tail_at_the_start_of_that_record() {
    let (bytes, last) = archived().await;
    for length in usize::try_from(last).unwrap()..bytes.len() {
        let (records, fault) = read(&bytes[..length]);
        assert_eq!(records.len(), 2);
        if length as u64 == last {
            assert!(fault.is_none(), "cut between two records");
        } else {
            assert!(
                matches!(fault, Some(ReadFault::TornTail { offset, .. }) if offset == last),
                "{fault:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_changed_byte_is_noticed_or_changes_nothing() {
    let (bytes, _) = archived().await;
    let (whole, _) = read(&bytes);
    let mut unnoticed = 0;
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 0x11;
        let (records, fault) = read(&changed);
        match fault {
            Some(fault) => assert!(fault.offset() <= place as u64),
            None => {
                unnoticed += 1;
                for (record, original) in records.iter().zip(&whole) {
                    assert_eq!(record.block, original.block, "byte {place}");
                }
            }
        }
    }
    // Time, flags and system of each gzip header: three records of six such bytes.
    assert!(unnoticed <= 3 * 6, "{unnoticed}");
}

#[test]
fn damage_is_named_with_its_file_and_place() {
    let head =
        "WARC-Type: resource\r\nWARC-Record-ID: <urn:x>\r\nWARC-Date: 2026-11-20T18:24:55Z\r\n";
    let good = packed(&format!(
        "WARC/1.1\r\n{head}Content-Length: 2\r\n\r\nab\r\n\r\n"
    ));
    let long = "x".repeat(256 << 10);
    for (record, reason) in [
        (
            format!("WARC/9.9\r\n{head}Content-Length: 0\r\n\r\n\r\n\r\n"),
            "WARC version",
        ),
        (String::new(), "WARC version"),
        (
            format!("WARC/1.1\r\n{head}\r\nab\r\n\r\n"),
            "no numeric Content-Length",
        ),
        (
            format!("WARC/1.1\r\n{head}Content-Length: -1\r\n\r\nab\r\n\r\n"),
            "no numeric Content-Length",
        ),
        (
            "WARC/1.1\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n\r\n\r\n".to_owned(),
            "no WARC-Record-ID",
        ),
        (
            format!("WARC/1.1\r\n{head}Content-Length: 3\r\n\r\nab\r\n\r\n"),
            "two line breaks",
        ),
        (
            format!("WARC/1.1\r\n{head}Content-Length: 99\r\n\r\nab\r\n\r\n"),
            "shorter",
        ),
        (
            format!("WARC/1.1\r\n{head}Content-Length: 1\r\n\r\nab\r\n\r\n"),
            "two line breaks",
        ),
        (
            format!("WARC/1.1\r\n{head}Content-Length: 2\r\n\r\nab\r\n\r\nWARC/1.1\r\n"),
            "two line breaks",
        ),
        (
            format!("WARC/1.1\r\n{head}what is this\r\nContent-Length: 2\r\n\r\nab\r\n\r\n"),
            "no colon",
        ),
        (format!("WARC/1.1\r\n{head}"), "does not end"),
        (
            format!("WARC/1.1\r\n{head}X: {long}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"),
            "does not end",
        ),
    ] {
        let (records, fault) = read(&[good.clone(), packed(&record)].concat());
        assert_eq!(records.len(), 1, "{record:.60}");
        let fault = fault.unwrap();
        assert!(
            matches!(&fault, ReadFault::Damaged { offset, .. } if *offset == good.len() as u64),
            "{fault}"
        );
        let message = fault.to_string();
        assert!(
            message.contains(reason) && message.contains("test.warc.gz"),
            "{message}"
        );
    }
    let (_, no_archive) = read(b"hello, this is not an archive at all");
    assert!(
        matches!(no_archive, Some(ReadFault::Damaged { offset: 0, .. })),
        "{no_archive:?}"
    );
}

#[test]
fn a_wrong_digest_is_reported_and_reading_continues() {
    let record = |block: &str, payload: &str| {
        let message = "HTTP/1.1 200 OK\r\n\r\nhello";
        packed(&format!(
            "WARC/1.0\r\nwarc-type: response\r\n\
             WARC-Record-ID: <urn:x>\r\nWARC-Date: 2026-11-20T18:24:55Z\r\n\
             Content-Type: application/http;\r\n msgtype=response\r\n{block}{payload}\
             Content-Length: {}\r\n\r\n{message}\r\n\r\n",
            message.len()
        ))
    };
    let wrong = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
    let right = sinks::PayloadDigest::of(b"hello");
    let bytes = [
        record(
            &format!("WARC-Block-Digest: {wrong}\r\n"),
            &format!("WARC-Payload-Digest: {right}\r\n"),
        ),
        record("", &format!("WARC-Payload-Digest: {wrong}\r\n")),
        record("WARC-Block-Digest: md5:1B2M2Y8AsgTpgAmY7PhCfg==\r\n", ""),
    ]
    .concat();
    let (records, fault) = read(&bytes);
    assert!(fault.is_none());
    let checks: Vec<_> = records
        .iter()
        .map(|record| (record.block_digest, record.payload_digest))
        .collect();
    assert!(matches!(
        checks[0],
        (DigestCheck::False { .. }, DigestCheck::Holds)
    ));
    assert_eq!(
        checks[1],
        (DigestCheck::Absent, DigestCheck::False { found: right })
    );
    assert_eq!(checks[2], (DigestCheck::Unchecked, DigestCheck::Absent));
    let hold: Vec<bool> = records.iter().map(Record::digests_hold).collect();
    assert_eq!(hold, [false, false, true]);
    assert_eq!(
        records[0].field("content-type"),
        Some("application/http; msgtype=response")
    );
}

#[tokio::test]
async fn a_block_is_kept_up_to_the_requested_length() {
    let (bytes, _) = archived().await;
    for keep in [0, 1, 10, usize::MAX] {
        let mut reader = WarcReader::new(Path::new("test.warc.gz"), &bytes[..]);
        while let Some(record) = reader.next_record(keep).unwrap() {
            assert_eq!(
                record.block.len() as u64,
                record.block_length.min(keep as u64)
            );
            assert!(record.digests_hold());
            let whole = record.block.len() as u64 == record.block_length;
            assert_eq!(
                record.head_and_payload().is_some(),
                whole && record.payload_length.is_some()
            );
        }
    }
}
