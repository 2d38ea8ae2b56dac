//! ARC files, read as WARC: as the Internet Archive, Heritrix 1 and liveweb wrote them, whole and
//! broken.

use std::io::{BufReader, Cursor};
use std::path::Path;

use proptest::prelude::*;
use sinks::warc::{Record, WarcStream, date, read_head};

use crate::theirs::gzip;

const KEEP: usize = 1 << 20;

const VERSION_BLOCK: &str =
    "1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n";

fn page(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}")
}

/// Returns a record without the line break behind it.
fn record(url: &str, block: &str) -> Vec<u8> {
    declared(url, block, block.len())
}

/// Returns a record of this Archive-length.
fn declared(url: &str, block: &str, length: usize) -> Vec<u8> {
    let kind = match url {
        url if url.starts_with("dns:") => "text/dns",
        _ => "text/html",
    };
    format!("{url} 192.0.2.1 20040102030405 {kind} {length}\n{block}").into_bytes()
}

fn version_block() -> Vec<u8> {
    record("filedesc://old.arc", VERSION_BLOCK)
}

struct Found {
    records: Vec<Record>,
    faults: usize,
}

impl Found {
    fn targets(&self) -> Vec<&str> {
        let targets = self.records.iter().filter_map(Record::target);
        targets.collect()
    }
}

fn read_all(mut stream: WarcStream) -> Found {
    let (mut records, mut faults) = (Vec::new(), 0);
    loop {
        match stream.next_record(KEEP) {
            Ok(Some(record)) => records.push(record),
            Ok(None) => break,
            Err(_told) => faults += 1,
        }
        assert!(records.len() + faults < 100, "reading ends");
    }
    Found { records, faults }
}

/// Reads an archive from a stream that gives a few bytes at a time, and from a file; each record is
/// found again by its offset, too.
fn both(bytes: &[u8]) -> Vec<Found> {
    let input = BufReader::with_capacity(61, Cursor::new(bytes.to_vec()));
    let streamed = read_all(WarcStream::new(Path::new("old.arc"), input));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let read = read_all(WarcStream::open(file.path()).unwrap());
    for record in read.records.iter().filter(|record| record.addressable) {
        let mut stream = WarcStream::open_at(file.path(), record.offset).unwrap();
        let again = stream.next_record(KEEP).unwrap().unwrap();
        assert_eq!(again.block, record.block);
        assert_eq!((again.offset, again.length), (record.offset, record.length));
        let head = read_head(file.path(), record.offset, KEEP).unwrap();
        assert_eq!(head.target(), record.target());
        assert_eq!(head.kind(), record.kind());
        assert!(record.block.starts_with(&head.block));
    }
    vec![streamed, read]
}

/// Returns an archive in one piece, and with a gzip member for each part.
fn packings(parts: &[Vec<u8>]) -> [Vec<u8>; 2] {
    let packed = parts.iter().flat_map(|part| gzip(part)).collect();
    [parts.concat(), packed]
}

/// ARC files, which archives before 2009 are, were refused.
#[test]
fn a_record_is_that_of_a_warc_file_wherever_its_line_breaks_are() {
    let (one, two) = (page("one"), page("two"));
    let records = [
        version_block(),
        record("http://a.test/", &one),
        record("dns:a.test", "20040102030405\na.test. 5 IN A 192.0.2.1\n"),
        record("http://a.test/?q=two words 1", &two),
        record("http://old.test/", "<p>a response of HTTP/0.9"),
    ];
    for (before, behind) in [
        ("", "\n"),
        ("\n", ""),
        ("", "\r\n"),
        ("", "\n\n"),
        ("", "\r\n\r\n"),
        ("\n", "\n\n\n\n\n"),
    ] {
        let part = |record: &Vec<u8>| [before.as_bytes(), record, behind.as_bytes()].concat();
        let parts: Vec<_> = records.iter().map(part).collect();
        for archive in packings(&parts) {
            for found in both(&archive) {
                let shown = format!("{before:?} {behind:?} {}", archive.len());
                assert_eq!(found.faults, 0, "{shown}");
                let kinds: Vec<_> = found.records.iter().map(Record::kind).collect();
                let expected = ["warcinfo", "response", "resource", "response", "resource"];
                assert_eq!(kinds, expected, "{shown}");
                let targets = [
                    "http://a.test/",
                    "dns:a.test",
                    "http://a.test/?q=two words 1",
                    "http://old.test/",
                ];
                assert_eq!(found.targets(), targets, "{shown}");
                assert!(
                    found.records.iter().all(|record| record.addressable),
                    "{shown}"
                );
                let page = &found.records[1];
                assert_eq!(page.field("WARC-IP-Address"), Some("192.0.2.1"));
                let at = date(page.date()).unwrap();
                assert_eq!(at.digits(), "20040102030405");
                assert_eq!(page.http().unwrap().body(), b"one".as_slice());
                assert_eq!(page.block, one.as_bytes(), "{shown}");
                assert_eq!(found.records[2].field("Content-Type"), Some("text/dns"));
            }
        }
    }
}

#[test]
fn a_length_that_is_a_little_too_small_is_made_up_for() {
    let block = page("a page of some words");
    for short in [1, 2, 5, 20] {
        let parts = [
            [version_block(), b"\n".to_vec()].concat(),
            [
                declared("http://a.test/", &block, block.len() - short),
                b"\n".to_vec(),
            ]
            .concat(),
            [record("http://b.test/", &block), b"\n".to_vec()].concat(),
        ];
        for archive in packings(&parts) {
            for found in both(&archive) {
                assert_eq!((found.records.len(), found.faults), (3, 0), "{short}");
                assert_eq!(found.records[1].block, block.as_bytes(), "{short}");
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_one_fault_and_costs_no_other_record() {
    let block = page("words");
    let whole = |url: &str| [record(url, &block), b"\n".to_vec()].concat();
    let odd = |length: &str| {
        format!("http://odd.test/ 192.0.2.1 20040102030405 text/html {length}\n{block}\n")
            .into_bytes()
    };
    for length in ["-1", "abc", "1000000", "0", "7"] {
        let parts = [
            [version_block(), b"\n".to_vec()].concat(),
            whole("http://a.test/"),
            odd(length),
            whole("http://b.test/"),
        ];
        for archive in packings(&parts) {
            for found in both(&archive) {
                let others = found.targets();
                let others: Vec<_> = others
                    .into_iter()
                    .filter(|url| !url.contains("odd"))
                    .collect();
                assert_eq!(others, ["http://a.test/", "http://b.test/"], "{length}");
                let is_made_up_for = found.records.len() == 4;
                assert!(found.faults == 1 || is_made_up_for, "{length}");
            }
        }
    }
    // warcio's `bad.arc`: a version block without a length, too.
    let bad = "filedesc://bad.arc.gz 127.0.0.1 20140301000000 text/plain -1\n1 0 Bad Capture\nURL \
               IP-address Archive-date Content-type Archive-length\n\nhttp://example.com/ \
               93.184.216.119 201404010000000000 text/html -1\n\nhttp://example.com/ 127.0.0.1 \
               20140102000000 text/plain 1\n\n\nhttp://example.com/ 93.184.216.119 \
               201404010000000000 text/html abc\n\n";
    for found in both(bad.as_bytes()) {
        // The first two are one stretch.
        assert_eq!((found.records.len(), found.faults), (1, 2));
        assert_eq!(found.records[0].date(), "2014-01-02T00:00:00Z");
    }
}

#[test]
fn a_file_that_ends_early_has_its_records_up_to_there() {
    let block = page("words");
    let parts = [
        [version_block(), b"\n".to_vec()].concat(),
        [record("http://a.test/", &block), b"\n".to_vec()].concat(),
        [record("http://b.test/", &block), b"\n".to_vec()].concat(),
    ];
    for archive in packings(&parts) {
        for found in both(&archive[..archive.len() - 20]) {
            assert_eq!(found.targets(), ["http://a.test/"]);
            assert_eq!(found.faults, 1);
        }
    }
}

#[test]
fn a_warc_record_that_has_an_arc_file_in_it_is_one_record() {
    let inner = [version_block(), record("http://a.test/", &page("one"))].concat();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:1>\r\n\
         WARC-Date: 2026-11-01T00:00:00Z\r\nContent-Length: {}\r\n\r\n",
        inner.len()
    );
    let warc = [head.as_bytes(), &inner, b"\r\n\r\n"].concat();
    for found in both(&[&*warc, &*warc].concat()) {
        assert_eq!((found.records.len(), found.faults), (2, 0));
        assert_eq!(found.records[0].block, inner);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reading_a_changed_file_ends_and_keeps_the_other_records(
        is_packed in any::<bool>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let block = page("words");
        let part = |number: usize| {
            let url = format!("http://{number}.test/");
            [record(&url, &block), b"\n".to_vec()].concat()
        };
        let parts: Vec<_> = (0..20).map(part).collect();
        let [plain, packed] = packings(&parts);
        let mut archive = if is_packed { packed } else { plain };
        for (place, byte) in &edits {
            let place = place.index(archive.len());
            archive[place] = *byte;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &archive).unwrap();
        let found = read_all(WarcStream::open(file.path()).unwrap());
        // An edit costs its record, and the one before it if a header is no header any more.
        let lost = 20_usize.saturating_sub(found.records.len());
        prop_assert!(lost <= 2 * edits.len(), "{lost} lost by {} edits", edits.len());
    }
}
