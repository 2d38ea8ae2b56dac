//! A WACZ from outside: packed files are found again; broken and hostile ones are reported and do
//! no harm.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

use std::io::{Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use sinks::wacz::{PackageInfo, Packer, Page, WaczCheck, WaczFault, archives, check};
use web::Timestamp;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const AT: u64 = 1_795_201_495_120;
const NAME: &str = "crawl-20261120190455-00001.warc.gz";

fn record(number: usize) -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Page {number}");
    let length = block.len();
    let record = format!(
        "WARC/1.1\r\nWARC-Type: response\r\n\
         WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>\r\n\
         WARC-Date: 2026-11-20T19:04:55Z\r\nWARC-Target-URI: http://a.test/{number}\r\n\
         Content-Type: application/http;msgtype=response\r\n\
         Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
    );
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(record.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

/// Returns an archive of this many records, and its index.
fn archive(count: usize) -> (Vec<u8>, String) {
    let (mut bytes, mut index) = (Vec::new(), String::new());
    for number in 0..count {
        let record = record(number);
        let (offset, length) = (bytes.len(), record.len());
        index.push_str(&format!(
            "test,a)/{number:05} 20261120190455 {{\"url\": \"http://a.test/{number}\", \
             \"length\": \"{length}\", \"offset\": \"{offset}\", \
             \"filename\": \"{NAME}\"}}\n"
        ));
        bytes.extend(record);
    }
    (bytes, index)
}

fn about() -> PackageInfo {
    PackageInfo {
        software: "tests".to_owned(),
        title: Some("A \"title\"".to_owned()),
        description: None,
        main_page: Some(("http://a.test/0".to_owned(), Timestamp::from_millis(AT))),
    }
}

fn fill<W: Write + std::io::Seek>(
    mut packer: Packer<W>,
    bytes: &[u8],
    index: &str,
    pages: usize,
) -> W {
    packer
        .archive(NAME, Path::new(NAME), bytes, &mut || {})
        .unwrap();
    packer
        .index(Path::new("index.cdxj"), index.as_bytes())
        .unwrap();
    let listed = packer.pages(|add| -> Result<(), WaczFault> {
        for number in 0..pages {
            add(&Page {
                url: &format!("http://a.test/{number}"),
                at: Timestamp::from_millis(AT),
                title: Some("Page"),
                text: Some("Page, and what it says"),
            })?;
        }
        Ok(())
    });
    listed.unwrap();
    packer.finish(&about()).unwrap()
}

fn packed(count: usize) -> Vec<u8> {
    let (bytes, index) = archive(count);
    let packer = Packer::new(Cursor::new(Vec::new()), Timestamp::from_millis(AT));
    fill(packer, &bytes, &index, count)
        .into_inner()
        .into_inner()
}

fn checked(bytes: &[u8]) -> WaczCheck {
    check(Cursor::new(bytes), &mut || {}).unwrap()
}

/// Checks that a problem is found, and its message.
fn has_problem(bytes: &[u8], words: &str) {
    let found = checked(bytes);
    assert!(
        found.problems.iter().any(|finding| finding.contains(words)),
        "{words:?} in {:?}",
        found.problems
    );
}

/// Returns the bytes with one part replaced by another of the same length.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|&place| bytes[place..].starts_with(from.as_bytes()))
        .collect();
    assert!(!places.is_empty(), "{from}");
    for place in places {
        bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}

/// A ZIP of these files, deflated.
fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    zip_of(files, CompressionMethod::Deflated)
}

fn zip_of(files: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_wacz_is_valid_with_or_without_a_seekable_output() {
    for count in [0, 1, 7, 3_001] {
        let (bytes, index) = archive(count);
        let whole = packed(count);
        let stream = Packer::stream(Vec::new(), Timestamp::from_millis(AT));
        let stream = fill(stream, &bytes, &index, count)
            .into_inner()
            .into_inner();
        for wacz in [&whole, &stream] {
            let found = checked(wacz);
            assert_eq!(found.problems, [""; 0], "{count}");
            let counts = (found.files, found.archives, found.index_lines, found.pages);
            assert_eq!(counts, (6, 1, count as u64, count as u64));
        }
        assert_eq!(whole, packed(count), "the same bytes again");
    }
}

#[test]
fn lines_of_duplicates_and_of_missing_records_are_not_archived() {
    let (bytes, index) = archive(2);
    let length = bytes.len();
    let odd = format!(
        "!duplicate:test,a)/ 20261120190455 {{\"length\": \"5\", \
         \"offset\": \"0\", \"filename\": \"{NAME}\"}}\n{index}\
         test,b)/ 20261120190455 {{\"length\": \"5\", \
         \"offset\": \"{length}\", \"filename\": \"{NAME}\"}}\n\
         test,c)/ 20261120190455 {{\"length\": \"5\", \
         \"offset\": \"0\", \"filename\": \"other.warc.gz\"}}\n"
    );
    let packer = Packer::new(Cursor::new(Vec::new()), Timestamp::from_millis(AT));
    let wacz = fill(packer, &bytes, &odd, 2).into_inner().into_inner();
    assert_eq!(wacz, packed(2));
}

#[test]
fn an_index_that_is_not_sorted_or_not_whole_is_not_packed() {
    let (bytes, index) = archive(2);
    let lines: Vec<&str> = index.lines().collect();
    for odd in [
        format!("{}\n{}\n", lines[1], lines[0]),
        format!("{}\nnothing\n", lines[0]),
    ] {
        let mut packer = Packer::new(Cursor::new(Vec::new()), Timestamp::from_millis(AT));
        packer
            .archive(NAME, Path::new(NAME), &*bytes, &mut || {})
            .unwrap();
        let refused = packer.index(Path::new("index.cdxj"), odd.as_bytes());
        assert!(
            matches!(refused, Err(WaczFault::Index { line: 2, .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn a_failed_write_is_an_error_and_leaves_no_complete_file() {
    struct Full(Vec<u8>, usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0.len() + bytes.len() > self.1 {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (bytes, index) = archive(3);
    let mut out = Full(Vec::new(), 300);
    let mut packer = Packer::stream(&mut out, Timestamp::from_millis(AT));
    let failed = packer.archive(NAME, Path::new(NAME), &*bytes, &mut || {});
    assert!(matches!(failed, Err(WaczFault::Write(_))), "{failed:?}");
    drop(packer);
    assert!(out.0.len() < 300 && ZipArchive::new(Cursor::new(&out.0)).is_err());

    // Neither is an abandoned one.
    let mut out = Vec::new();
    let mut packer = Packer::stream(&mut out, Timestamp::from_millis(AT));
    packer
        .archive(NAME, Path::new(NAME), &*bytes, &mut || {})
        .unwrap();
    packer
        .index(Path::new("index.cdxj"), index.as_bytes())
        .unwrap();
    drop(packer);
    assert!(ZipArchive::new(Cursor::new(&out)).is_err());
}

#[test]
fn a_changed_byte_in_any_file_is_reported_and_one_elsewhere_breaks_nothing() {
    let wacz = packed(2);
    let mut zip = ZipArchive::new(Cursor::new(&wacz)).unwrap();
    let data: Vec<std::ops::Range<u64>> = (0..zip.len())
        .map(|number| {
            let file = zip.by_index_raw(number).unwrap();
            let begin = file.data_start().unwrap();
            // The last byte of a deflate stream has unused bits.
            let padded = u64::from(file.compression() == CompressionMethod::Deflated);
            begin..begin + file.compressed_size() - padded
        })
        .collect();
    for place in 0..wacz.len() {
        for bit in [0, 6] {
            let mut changed = wacz.clone();
            changed[place] ^= 1 << bit;
            let found = check(Cursor::new(&changed), &mut || {});
            let is_told = found.map_or(true, |found| found.problem_count > 0);
            let must_be = data.iter().any(|range| range.contains(&(place as u64)));
            assert!(is_told || !must_be, "bit {bit} of byte {place}");
        }
    }
}

#[test]
fn a_wacz_cut_anywhere_is_invalid() {
    let wacz = packed(2);
    for length in 0..wacz.len() {
        let found = check(Cursor::new(&wacz[..length]), &mut || {});
        assert!(found.is_err(), "{length}");
    }
}

#[test]
fn names_that_lead_outside_are_reported() {
    let wacz = packed(1);
    for name in [
        "../../../nowhere",
        "/etc/crontab.dir",
        "C:\\windows\\hosts",
        "a/../../../../bb",
    ] {
        has_problem(
            &replaced(&wacz, "pages/pages.jsonl", &format!("{name}x")),
            "points outside",
        );
    }
    assert_eq!("../../../nowhere".len() + 1, "pages/pages.jsonl".len());
}

#[test]
fn two_files_of_the_same_name_are_reported() {
    let wacz = replaced(&packed(1), "indexes/index.idx", "pages/pages.jsonl");
    has_problem(&wacz, "the same name");
}

#[test]
fn missing_repeated_and_unlisted_files_are_reported() {
    has_problem(&zipped(&[]), "datapackage.json is missing");
    has_problem(&zipped(&[("datapackage.json", b"{")]), "is not JSON");
    has_problem(
        &zipped(&[("datapackage.json", b"[]")]),
        "lists no resources",
    );
    has_problem(
        &zipped(&[(
            "datapackage.json",
            br#"{"wacz_version": "1.1.1", "resources": [{"path": "a", "hash": "sha256:0"}, 5]}"#,
        )]),
        "a is listed in datapackage.json, but missing",
    );
    let more = zipped(&[
        ("archive/a.warc", b"WARC/1.1"),
        ("datapackage.json", br#"{"resources": []}"#),
    ]);
    for words in [
        "archive/a.warc is not listed",
        "archive/a.warc is not stored",
        "WACZ version",
        "it has no index",
        "pages/pages.jsonl is missing",
    ] {
        has_problem(&more, words);
    }
}

#[test]
fn lines_without_a_record_are_reported_with_their_number() {
    let (bytes, index) = archive(2);
    for (from, to, words) in [
        (
            "\"offset\": \"0\"",
            "\"offset\": \"1\"",
            "line 1 does not point to a record",
        ),
        (
            NAME,
            "crawl-20261120190455-00002.warc.gz",
            "which does not exist",
        ),
    ] {
        let wacz = zipped(&[
            ("indexes/index.cdxj", index.replace(from, to).as_bytes()),
            (&format!("archive/{NAME}"), &bytes),
        ]);
        has_problem(&wacz, words);
    }
    let far = index.replace("\"offset\": \"0\"", "\"offset\": \"18446744073709551615\"");
    has_problem(
        &zipped(&[
            ("indexes/index.cdxj", far.as_bytes()),
            (&format!("archive/{NAME}"), &bytes),
        ]),
        "points beyond the end",
    );
}

#[test]
fn a_decompression_bomb_is_not_read_to_its_end() {
    let zeros = vec![0; 40 << 20];
    has_problem(
        &zipped(&[("pages/pages.jsonl", &zeros)]),
        "more than allowed",
    );
}

#[test]
fn the_archives_in_a_wacz_are_listed_and_read_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.wacz");
    std::fs::write(&path, packed(3)).unwrap();
    let parts = archives(&path).unwrap();
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].name, format!("archive/{NAME}"));
    let mut bytes = Vec::new();
    parts[0]
        .open(&path)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    assert_eq!(bytes, archive(3).0);
    std::fs::write(&path, zipped(&[("a", b"b")])).unwrap();
    assert!(matches!(archives(&path), Err(WaczFault::NoArchive { .. })));
    std::fs::write(&path, "nothing").unwrap();
    assert!(matches!(archives(&path), Err(WaczFault::NotZip { .. })));
}

/// A collection, as Browsertrix offers it for download, had "no WARC file".
#[test]
fn the_packages_in_a_collection_are_read_in_place_and_what_cannot_be_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.wacz");
    let [one, two] = [packed(1), packed(2)];
    let arc = b"filedesc://a.arc 0.0.0.0 20040102030405 text/plain 2\n1\n";
    let files: [(&str, &[u8]); 4] = [
        ("one.wacz", &one),
        ("archive/Old.ARC", arc),
        ("two.WACZ", &two),
        ("datapackage.json", b"{}"),
    ];
    let stored = |files: &[(&str, &[u8])]| zip_of(files, CompressionMethod::Stored);
    let collection = stored(&files);
    std::fs::write(&path, &collection).unwrap();
    let parts = archives(&path).unwrap();
    let names: Vec<_> = parts.iter().map(|part| part.name.clone()).collect();
    let expected = [
        &format!("one.wacz/archive/{NAME}"),
        "archive/Old.ARC",
        &format!("two.WACZ/archive/{NAME}"),
    ];
    assert_eq!(names, expected);
    for (part, expected) in parts.iter().zip([archive(1).0, arc.to_vec(), archive(2).0]) {
        let mut bytes = Vec::new();
        part.open(&path).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, expected, "{}", part.name);
    }
    let twice = stored(&[("all.wacz", &collection)]);
    for refused in [zipped(&files), stored(&[("more.wacz", &twice)])] {
        std::fs::write(&path, refused).unwrap();
        let reason = archives(&path).unwrap_err().to_string();
        assert!(reason.contains("unzip it first"), "{reason}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_cause_a_panic(
        from in 0_usize..6_000, to in 0_usize..6_000, length in 0_usize..200,
        noise in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let wacz = packed(1);
        let cut = |at: usize| at.min(wacz.len());
        let piece = &wacz[cut(from)..cut(from + length)];
        let spliced = [&wacz[..cut(to)], piece, &noise, &wacz[cut(to)..]].concat();
        let _told = check(Cursor::new(&spliced), &mut || {});
        let over = [&wacz[..cut(to)], &noise, &wacz[cut(to + noise.len())..]].concat();
        let _told = check(Cursor::new(&over), &mut || {});
    }
}
