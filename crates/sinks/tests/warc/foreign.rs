//! Archives of others: plain, a gzip member for each record, one for all.

use std::io::{BufReader, Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use sinks::Sink;
use sinks::warc::{ReadFault, Record, WarcStream};

use crate::fixtures::{exchange, files, fresh, kinds, visit};

/// An archive as we write it: a member a record.
async fn ours() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    for path in ["a", "b"] {
        let url = format!("http://example.org/{path}");
        archive.write(visit(vec![exchange(&url, "hello")])).await.unwrap();
    }
    std::fs::read(dir.path().join(&files(dir.path())[0])).unwrap()
}

fn plain(ours: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(ours).read_to_end(&mut unpacked).unwrap();
    unpacked
}

fn packed_as_one(plain: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(plain).unwrap();
    packer.finish().unwrap()
}

fn read(bytes: Vec<u8>) -> Result<Vec<Record>, ReadFault> {
    let input = BufReader::with_capacity(7, Cursor::new(bytes));
    let mut stream = WarcStream::new(Path::new("theirs.warc"), input).unwrap();
    let mut records = Vec::new();
    while let Some(record) = stream.next_record(1 << 20)? {
        records.push(record);
    }
    Ok(records)
}

#[tokio::test]
async fn whatever_the_layout_the_records_are_the_same() {
    let ours = ours().await;
    let plain = plain(&ours);
    let expected = read(ours).unwrap();
    assert_eq!(
        kinds(&expected),
        ["warcinfo", "response", "request", "response", "request"]
    );
    assert!(expected.iter().all(Record::digests_hold));
    for theirs in [packed_as_one(&plain), plain] {
        let records = read(theirs).unwrap();
        let blocks = |records: &[Record]| {
            records
                .iter()
                .map(|record| record.block.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(blocks(&records), blocks(&expected));
    }
}

#[tokio::test]
async fn a_file_that_breaks_off_gives_what_comes_before_and_says_where() {
    let plain = plain(&ours().await);
    let input = Cursor::new(plain[..plain.len() - 10].to_vec());
    let mut stream = WarcStream::new(Path::new("theirs.warc"), input).unwrap();
    let mut read = 0;
    let fault = loop {
        match stream.next_record(0) {
            Ok(Some(_)) => read += 1,
            Ok(None) => panic!("the end is missing"),
            Err(fault) => break fault,
        }
    };
    assert_eq!(read, 4);
    assert!(fault.to_string().contains("theirs.warc"), "{fault}");
    assert!(stream.next_record(0).unwrap().is_none());
}

#[test]
fn what_is_no_archive_is_a_fault_and_nothing_at_all_is_an_empty_archive() {
    for bytes in [
        b"hello".to_vec(),
        b"WARC/1.1".to_vec(),
        vec![0x1f, 0x8b],
        vec![0; 100_000],
    ] {
        assert!(read(bytes).is_err());
    }
    assert!(read(Vec::new()).unwrap().is_empty());
}
