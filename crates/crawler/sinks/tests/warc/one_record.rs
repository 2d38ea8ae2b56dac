//! A record is read by its offset alone, and its head without the rest of it.

use std::fs;

use sinks::warc::{ReadFault, Record, WarcReader, read_head};
use sinks::{Keeping, Original, Sink, Visit};
use web::{CanonicalForm, Exchange, Protocol, Truncation};

use crate::fixtures::{NOON, exchange, fresh, headers, page, records_of, visit};
use sinks::warc::locate;

const KEEP: usize = 64 << 10;

#[tokio::test]
async fn any_record_of_a_file_is_read_from_where_it_begins() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let mut file = String::new();
    for body in ["small".to_owned(), "large ".repeat(50_000), String::new()] {
        let of = Original {
            url: page("http://example.org/a"),
            at: NOON,
        };
        for keeping in [Keeping::Whole, Keeping::NotModified { of }] {
            let visit = Visit {
                keeping,
                metadata: vec![("verdict", "unique".to_owned())],
                ..visit(vec![exchange("http://example.org/a", body.clone())])
            };
            file = archive.write(visit).await.unwrap().file;
        }
    }
    let path = locate(dir.path(), &file);
    let all = records_of(&path);
    assert_eq!(all.len(), 1 + 6 * 3);
    for record in &all {
        let mut reader = WarcReader::open_at(&path, record.offset).unwrap();
        let read = reader.next_record(usize::MAX).unwrap().unwrap();
        assert_eq!(
            (read.offset, read.length, read.id(), &read.block),
            (record.offset, record.length, record.id(), &record.block)
        );
        let head = read_head(&path, record.offset, KEEP).unwrap();
        assert_eq!(
            (head.id(), head.offset, head.block_length),
            (record.id(), record.offset, record.block_length)
        );
        let whole = record.head_and_payload();
        let expected = whole.map_or(&record.block[..], |(head, _)| head);
        assert_eq!(head.block, expected, "{}", record.kind());
        for keep in [0, 1, expected.len().saturating_sub(1)] {
            let less = read_head(&path, record.offset, keep).unwrap();
            assert_eq!(less.block, &expected[..keep.min(expected.len())]);
        }
    }
    let end = fs::metadata(&path).unwrap().len();
    assert!(
        WarcReader::open_at(&path, end)
            .unwrap()
            .next_record(0)
            .unwrap()
            .is_none()
    );
    let nothing = read_head(&path, end, KEEP).unwrap_err();
    assert_eq!(nothing.offset(), end);
    assert!(read_head(&dir.path().join("missing"), 0, KEEP).is_err());
}

#[tokio::test]
async fn an_offset_without_a_record_and_a_torn_record_are_faults_with_that_offset() {
    let dir = tempfile::tempdir().unwrap();
    let archived = fresh(dir.path())
        .write(visit(vec![exchange(
            "http://example.org/a",
            "some text ".repeat(9),
        )]))
        .await
        .unwrap();
    let path = locate(dir.path(), &archived.file);
    let bytes = fs::read(&path).unwrap();
    let all = records_of(&path);
    for offset in archived.offset + 1..archived.end {
        let starts = all.iter().any(|record| record.offset == offset);
        assert_eq!(read_head(&path, offset, KEEP).is_ok(), starts, "{offset}");
    }
    let second = &all[1];
    for length in second.offset..second.offset + second.length {
        fs::write(&path, &bytes[..usize::try_from(length).unwrap()]).unwrap();
        match read_head(&path, second.offset, KEEP) {
            Ok(head) => assert_eq!(head.id(), second.id(), "the rest of it is not read"),
            Err(fault) => assert_eq!(fault.offset(), second.offset, "{fault}"),
        }
        let whole = WarcReader::open_at(&path, second.offset)
            .unwrap()
            .next_record(0);
        match whole {
            Ok(None) => assert_eq!(length, second.offset),
            Err(ReadFault::TornTail { offset, .. }) => assert_eq!(offset, second.offset),
            other => panic!("cut at {length}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_response_is_read_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let written = Exchange {
        status: 203,
        headers: headers(&[
            ("etag", b"W/\"\xe9\x80 \t,\""),
            ("transfer-encoding", b"chunked"),
            ("content-length", b"17"),
            ("link", b"</a>"),
            ("link", b"</b>"),
        ]),
        protocol: Protocol::Http2,
        truncated: Some(Truncation::Disconnect),
        ..exchange("http://example.org/a?b=c", "body \0\r\n\r\n")
    };
    let archived = archive.write(visit(vec![written.clone()])).await.unwrap();
    let path = locate(dir.path(), &archived.file);
    let mut reader = WarcReader::open_at(&path, archived.page_offset).unwrap();
    let record: Record = reader.next_record(usize::MAX).unwrap().unwrap();
    let form = CanonicalForm::default();
    let read = record.response(&form).unwrap();
    assert_eq!(read.url, written.url);
    assert_eq!(
        (read.status, read.protocol, read.truncated),
        (203, Protocol::Http2, written.truncated)
    );
    assert_eq!(
        (&read.headers, read.body.held()),
        (&written.headers, written.body.held())
    );
    assert_eq!(read.started, written.started);

    let glance = read_head(&path, archived.page_offset, KEEP)
        .unwrap()
        .response(&form)
        .unwrap();
    assert_eq!((&glance.headers, glance.body.len()), (&written.headers, 0));
    assert!(
        read_head(&path, archived.page_offset, 20)
            .unwrap()
            .response(&form)
            .is_none(),
        "a part of its head"
    );
    let request = read_head(&path, record.offset + record.length, KEEP).unwrap();
    assert!(
        request.response(&form).is_none(),
        "a {} is none",
        request.kind()
    );
}
