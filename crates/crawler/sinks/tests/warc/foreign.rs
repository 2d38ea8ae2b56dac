//! Archives of others, in every packing, whole and broken.

use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use proptest::prelude::*;
use sinks::warc::{
    Deviation, ReadFault, Record, WarcReader, WarcStream, next_record_behind, read_head,
};
use sinks::{PayloadDigest, Sink};

use crate::fixtures::{exchange, files, fresh, kinds, visit};
use crate::theirs::{Packed, Theirs, everybody, gzip, skippable, wet, wget, zstd};

const KEEP: usize = 1 << 20;

/// The result of reading: records, faults of broken stretches, and the stream for its counts.
struct FoundFile {
    records: Vec<Record>,
    faults: Vec<ReadFault>,
    stream: WarcStream,
}

impl FoundFile {
    fn blocks(&self) -> Vec<Vec<u8>> {
        self.records
            .iter()
            .map(|record| record.block.clone())
            .collect()
    }

    fn counts(&self) -> Vec<(Deviation, u64)> {
        self.stream.deviations().seen().collect()
    }
}

fn read_all(mut stream: WarcStream) -> FoundFile {
    let (mut records, mut faults) = (Vec::new(), Vec::new());
    loop {
        match stream.next_record(KEEP) {
            Ok(Some(record)) => records.push(record),
            Ok(None) => break,
            Err(fault) => faults.push(fault),
        }
        assert!(records.len() + faults.len() < 10_000, "reading ends");
    }
    assert!(stream.next_record(KEEP).unwrap().is_none());
    assert_eq!(stream.records(), records.len() as u64);
    assert_eq!(stream.broken(), faults.len() as u64);
    FoundFile {
        records,
        faults,
        stream,
    }
}

/// Read from a stream that gives a few bytes at a time.
fn read(bytes: &[u8]) -> FoundFile {
    let input = BufReader::with_capacity(61, Cursor::new(bytes.to_vec()));
    read_all(WarcStream::new(Path::new("theirs.warc"), input))
}

/// Read from a file.
fn read_file(bytes: &[u8]) -> FoundFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    read_all(WarcStream::open(file.path()).unwrap())
}

fn both(bytes: &[u8]) -> [FoundFile; 2] {
    [read(bytes), read_file(bytes)]
}

fn blocks(records: &[Theirs]) -> Vec<Vec<u8>> {
    records.iter().map(|record| record.block.clone()).collect()
}

/// An archive as we write it: a member a record.
async fn ours() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    for path in ["a", "b"] {
        let url = format!("http://example.org/{path}");
        archive
            .write(visit(vec![exchange(&url, "hello")]))
            .await
            .unwrap();
    }
    std::fs::read(dir.path().join(&files(dir.path())[0])).unwrap()
}

fn plain(ours: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    flate2::bufread::MultiGzDecoder::new(ours)
        .read_to_end(&mut unpacked)
        .unwrap();
    unpacked
}

#[tokio::test]
async fn our_records_are_read_alike_in_every_packing() {
    let ours = ours().await;
    let plain = plain(&ours);
    let expected = read(&ours);
    assert_eq!(
        kinds(&expected.records),
        ["warcinfo", "response", "request", "response", "request"]
    );
    for theirs in [gzip(&plain), zstd(&plain, &[]), plain] {
        let found = read(&theirs);
        assert_eq!(found.blocks(), expected.blocks());
        assert!(found.records.iter().all(Record::digests_hold));
        assert!(found.faults.is_empty());
    }
}

#[test]
fn archives_of_every_crawler_are_read_in_every_packing() {
    let theirs = everybody();
    for packed in Packed::ALL {
        for found in both(&packed.file(&theirs)) {
            assert!(found.faults.is_empty(), "{packed:?} {:?}", found.faults);
            assert_eq!(found.blocks(), blocks(&theirs), "{packed:?}");
            assert!(found.records.iter().all(Record::digests_hold), "{packed:?}");
            let addressable = found
                .records
                .iter()
                .filter(|record| record.addressable)
                .count();
            match packed {
                Packed::GzipBlocks => assert!(addressable < 2),
                _ if packed.is_addressable() => assert_eq!(addressable, theirs.len(), "{packed:?}"),
                _ => assert_eq!(addressable, 0, "{packed:?}"),
            }
            let counts = found.counts();
            assert!(counts.contains(&(Deviation::OldVersion, 1)), "{counts:?}");
        }
    }
}

#[test]
fn a_record_that_can_be_read_by_its_offset_is_read_by_it() {
    let theirs = everybody();
    for packed in Packed::ALL
        .into_iter()
        .filter(|packed| packed.is_addressable())
    {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), packed.file(&theirs)).unwrap();
        let found = read_all(WarcStream::open(file.path()).unwrap());
        let length = std::fs::metadata(file.path()).unwrap().len();
        let mut end = found.records[0].offset;
        for record in &found.records {
            assert_eq!(record.offset, end, "{packed:?}");
            end += record.length;
        }
        assert_eq!(end, length, "{packed:?}");
        let ours = found
            .records
            .iter()
            .filter(|record| record.field("warc-type").is_some());
        // Our own reader is strict: it does not read the draft format.
        for record in
            ours.filter(|record| !record.target().is_some_and(|url| url.contains("old.test")))
        {
            let mut reader = WarcReader::open_at(file.path(), record.offset).unwrap();
            let found = reader.next_record(KEEP).unwrap().unwrap();
            assert_eq!(found.block, record.block, "{packed:?}");
            assert_eq!((found.offset, found.length), (record.offset, record.length));
        }
    }
}

#[test]
fn targets_come_without_the_brackets_of_wget() {
    let found = read(&Packed::GzipEach.file(&wget()));
    assert_eq!(found.records[2].target(), Some("http://toy.test/two.html"));
}

/// Three records, so that each of their bytes can be tried.
fn few() -> Vec<Theirs> {
    let wget = wget();
    vec![wget[1].clone(), wget[2].clone(), wet()[0].clone()]
}

#[test]
fn the_next_record_is_found_after_any_byte() {
    let records: Vec<Vec<u8>> = few().iter().map(Theirs::bytes).collect();
    for packed in Packed::ALL
        .into_iter()
        .filter(|packed| packed.is_addressable())
    {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes = packed.pieces(&records).concat();
        std::fs::write(file.path(), &bytes).unwrap();
        let all = read_all(WarcStream::open(file.path()).unwrap()).records;
        for from in (0..bytes.len() as u64).step_by(13) {
            let next = all
                .iter()
                .map(|record| record.offset)
                .find(|offset| *offset > from);
            assert_eq!(
                next_record_behind(file.path(), from).unwrap(),
                next,
                "{packed:?} {from}"
            );
        }
    }
}

/// Returns the whole blocks in the rest of a file.
fn beginning(pieces: &[Vec<u8>], length: usize) -> usize {
    let ends = pieces.iter().scan(0, |end, piece| {
        *end += piece.len();
        Some(*end)
    });
    ends.filter(|end| *end <= length).count()
}

#[test]
fn a_file_cut_at_any_byte_gives_its_whole_records() {
    let theirs = few();
    let records: Vec<Vec<u8>> = theirs.iter().map(Theirs::bytes).collect();
    for packed in Packed::ALL {
        let pieces = packed.pieces(&records);
        let bytes = pieces.concat();
        let dictionary = pieces.len().saturating_sub(records.len());
        for length in 0..bytes.len() {
            let found = read(&bytes[..length]);
            let expected = blocks(&theirs);
            // With shared members, the packer determines how much is whole.
            let whole = beginning(&pieces, length).saturating_sub(dictionary);
            assert!(
                found.records.len() >= whole,
                "{packed:?} {length}: {:?}",
                found.faults
            );
            assert_eq!(
                found.blocks(),
                expected[..found.records.len()],
                "{packed:?} {length}"
            );
            assert!(
                found.faults.len() <= 1,
                "{packed:?} {length}: {:?}",
                found.faults
            );
        }
    }
}

#[test]
fn all_other_records_of_a_file_with_a_changed_byte_are_read() {
    let theirs = few();
    let records: Vec<Vec<u8>> = theirs.iter().map(Theirs::bytes).collect();
    for packed in Packed::ALL
        .into_iter()
        .filter(|packed| packed.is_addressable())
    {
        let pieces = packed.pieces(&records);
        let dictionary = pieces.len() - records.len();
        for (place, piece) in pieces.iter().enumerate().skip(dictionary) {
            let mut others = blocks(&theirs);
            others.remove(place - dictionary);
            for byte in 0..piece.len() {
                let mut pieces = pieces.clone();
                pieces[place][byte] ^= 1 << (byte % 8);
                let found = read(&pieces.concat());
                let mut found_others = found.blocks();
                found_others.retain(|block| others.contains(block));
                assert_eq!(
                    found_others, others,
                    "{packed:?}: byte {byte} of record {place}"
                );
                assert!(found.records.len() <= theirs.len());
            }
        }
    }
}

/// A broken piece is reported once, and the others are read.
#[track_caller]
fn all_but(broken: &[u8], reason: &str) {
    let good = everybody();
    let (before, after) = good.split_at(5);
    for packed in Packed::ALL {
        if packed == Packed::GzipBlocks {
            continue;
        }
        let mut records: Vec<Vec<u8>> = before.iter().map(Theirs::bytes).collect();
        records.push(broken.to_vec());
        records.extend(after.iter().map(Theirs::bytes));
        for found in both(&packed.pieces(&records).concat()) {
            assert_eq!(found.blocks(), blocks(&good), "{packed:?}");
            let messages: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
            assert_eq!(messages.len(), 1, "{packed:?} {messages:?}");
            assert!(
                messages[0].contains(": record 6 at offset "),
                "{messages:?}"
            );
            assert!(messages[0].contains(reason), "{packed:?} {messages:?}");
        }
    }
}

const HEAD: &str = "WARC/1.0\r\nWARC-Type: resource\r\n\
WARC-Record-ID: <urn:x>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n";

/// A record whose `Content-Length` was one too small was lost, or lost its last byte.
#[test]
fn a_record_that_is_a_few_bytes_longer_than_it_says_is_read_whole() {
    let good = few();
    let digest = PayloadDigest::of(b"longer\n");
    for (length, digest, block, odd) in [
        (6, String::new(), "longer\n", false),
        (
            6,
            format!("WARC-Block-Digest: {digest}\r\n"),
            "longer\n",
            true,
        ),
        (5, String::new(), "longer", true),
        (
            0,
            format!("WARC-Block-Digest: {digest}\r\n"),
            "longer\n",
            true,
        ),
    ] {
        let long = format!("{HEAD}{digest}Content-Length: {length}\r\n\r\n{block}\r\n\r\n");
        let all = Packed::ALL.into_iter();
        for packed in all.filter(|packed| *packed != Packed::GzipBlocks) {
            let mut records: Vec<Vec<u8>> = good.iter().map(Theirs::bytes).collect();
            records.insert(1, long.clone().into_bytes());
            for found in both(&packed.pieces(&records).concat()) {
                assert!(found.faults.is_empty(), "{packed:?} {:?}", found.faults);
                let read = String::from_utf8(found.blocks().swap_remove(1)).unwrap();
                let expected = if odd { block } else { "longer" };
                assert_eq!(read, expected, "{packed:?} {length}");
                assert_eq!(found.blocks().len(), records.len());
                let counted = found.stream.deviations().count(Deviation::ShortLength);
                assert_eq!(counted, u64::from(odd), "{packed:?} {length}");
            }
        }
    }
}

#[test]
fn records_around_a_broken_one_are_read() {
    for (broken, reason) in [
        (
            format!("{HEAD}Content-Length: 100\r\n\r\nshort\r\n\r\n"),
            "Content-Length",
        ),
        (
            format!(
                "{HEAD}Content-Length: 3\r\n\r\nl{}er\r\n\r\n",
                "ong".repeat(30)
            ),
            "Content-Length",
        ),
        (
            format!("{HEAD}Content-Length: 18446744073709551615\r\n\r\nx\r\n\r\n"),
            "Content-Length",
        ),
        (
            format!("{HEAD}Content-Length: 18446744073709551616\r\n\r\nx\r\n\r\n"),
            "Content-Length",
        ),
        (format!("{HEAD}\r\nx\r\n\r\n"), "no numeric Content-Length"),
        (
            format!("{HEAD}Content-Length: -1\r\n\r\nx\r\n\r\n"),
            "no numeric Content-Length",
        ),
        (
            "WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n".to_owned(),
            "no WARC-Type",
        ),
        (
            "garbage between two records\r\n\r\n".to_owned(),
            "WARC version",
        ),
        (
            format!(
                "{HEAD}X: {}\r\nContent-Length: 1\r\n\r\nx\r\n\r\n",
                "y".repeat(300 << 10)
            ),
            "does not end",
        ),
    ] {
        all_but(broken.as_bytes(), reason);
    }
}

/// One record, written in an odd way.
#[track_caller]
fn odd(record: &str, expected: &[Deviation]) {
    let (first, last) = (wet()[0].bytes(), wget()[1].bytes());
    let file = [first, record.as_bytes().to_vec(), last].concat();
    for found in both(&file) {
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        assert_eq!(found.records.len(), 3);
        assert_eq!(found.records[1].block, b"ab");
        let mut seen: Vec<Deviation> = found
            .counts()
            .iter()
            .map(|(deviation, _)| *deviation)
            .collect();
        seen.retain(|deviation| *deviation != Deviation::SharedMember);
        assert_eq!(seen, expected, "{record}");
        assert!(found.counts().iter().all(|(_, count)| *count == 1));
    }
}

#[test]
fn readable_deviations_are_counted() {
    odd(&format!("{HEAD}Content-Length: 2\r\n\r\nab\r\n\r\n"), &[]);
    odd(
        &format!("{HEAD}Content-Length: 2\r\n\r\nab\r\n\r\n").replace('\r', ""),
        &[Deviation::BareLineFeed, Deviation::MissingEnding],
    );
    odd(
        &format!(
            "{}Content-Length: 2\r\n\r\nab\r\n\r\n",
            HEAD.replace("1.0", "0.17")
        ),
        &[Deviation::OldVersion],
    );
    odd(
        &format!(
            "{}Content-Length: 2\r\n\r\nab\r\n\r\n",
            HEAD.replace("1.0", "2.0")
        ),
        &[Deviation::NewVersion],
    );
    odd(
        &format!("{HEAD}X: a\r\n\t b\r\nContent-Length: 2\r\n\r\nab\r\n\r\n"),
        &[Deviation::FoldedField],
    );
    odd(
        &format!("{HEAD}no field\r\ncontent-length : 2\r\n\r\nab\r\n\r\n"),
        &[Deviation::NoField],
    );
    odd(
        "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 2\r\n\r\nab\r\n\r\n",
        &[Deviation::MissingField],
    );
    odd(
        &format!("{HEAD}Content-Length: 2\r\n\r\nab"),
        &[Deviation::MissingEnding],
    );
    odd(
        &format!("{HEAD}Content-Length: 2\r\n\r\nab\r\n"),
        &[Deviation::MissingEnding],
    );
    odd(
        &format!("{HEAD}Content-Length: 2\r\n\r\nab\r\n\r\n\r\n\r\n\r\n"),
        &[Deviation::Padding],
    );
    odd(
        &format!(
            "{HEAD}WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n\
             Content-Length: 2\r\n\r\nab\r\n\r\n"
        ),
        &[Deviation::FalseDigest],
    );
    odd(
        &format!(
            "{HEAD}WARC-Block-Digest: md5:1B2M2Y8AsgTpgAmY7PhCfg==\r\n\
             Content-Length: 2\r\n\r\nab\r\n\r\n"
        ),
        &[Deviation::UnknownDigest],
    );
}

#[test]
fn trailing_garbage_is_reported_and_padding_is_not() {
    let theirs = everybody();
    for packed in Packed::ALL {
        let file = packed.file(&theirs);
        for found in both(&[&file[..], b"no record"].concat()) {
            assert_eq!(
                (found.blocks(), found.faults.len()),
                (blocks(&theirs), 1),
                "{packed:?}"
            );
        }
        for found in both(&[&file[..], &[0; 1000]].concat()) {
            assert_eq!(
                (found.blocks(), found.faults.len()),
                (blocks(&theirs), 0),
                "{packed:?}"
            );
        }
    }
}

#[test]
fn concatenated_files_are_read_as_one() {
    let theirs = everybody();
    let mut file = Vec::new();
    // A plain file ends only at its end.
    for packed in Packed::ALL.into_iter().rev() {
        file.extend(packed.file(&theirs));
        file.extend(skippable(0x50, b"nothing to us"));
        if packed == Packed::GzipEach {
            break;
        }
    }
    file.extend(Packed::Plain.file(&theirs));
    for found in both(&file) {
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        assert_eq!(found.records.len(), 8 * theirs.len());
    }
}

#[test]
fn the_first_member_may_be_broken_too() {
    let theirs = everybody();
    for packed in [Packed::GzipEach, Packed::ZstdEach, Packed::Plain] {
        for place in 0..4 {
            let mut file = packed.file(&theirs);
            file[place] ^= 0xff;
            for found in both(&file) {
                assert_eq!(found.blocks(), blocks(&theirs[1..]), "{packed:?} {place}");
                assert_eq!(found.faults.len(), 1);
            }
        }
    }
}

#[test]
fn records_within_a_record_of_false_length_are_read() {
    // Longer than the bytes that a stream keeps: a file is read again.
    let filler = Theirs {
        block: vec![b'x'; 3 << 20],
        ..wet()[0].clone()
    };
    let swallowing = format!("{HEAD}Content-Length: {}\r\n\r\n", 2 << 20);
    let file = [
        swallowing.into_bytes(),
        wet()[0].bytes(),
        filler.bytes(),
        wget()[1].bytes(),
    ]
    .concat();
    let found = read_file(&file);
    assert_eq!(found.records.len(), 3);
    assert_eq!(found.faults.len(), 1);
}

#[test]
fn a_length_of_gigabytes_allocates_nothing_and_a_bomb_is_passed_through_in_little_memory() {
    for length in [2_u64 << 30, u64::MAX] {
        let torn = format!("{HEAD}Content-Length: {length}\r\n\r\nlittle");
        for packed in [Packed::Plain, Packed::GzipEach, Packed::ZstdEach] {
            let file = packed
                .pieces(&[torn.clone().into_bytes(), wet()[0].bytes()])
                .concat();
            for found in both(&file) {
                assert_eq!(
                    (found.records.len(), found.faults.len()),
                    (1, 1),
                    "{packed:?}"
                );
            }
        }
    }
    // 8 MiB of zeros in a few kilobytes, in the block, in the header, and behind the record.
    let zeros = vec![0; 8 << 20];
    let block = Theirs {
        block: zeros.clone(),
        ..wet()[0].clone()
    };
    let header = [HEAD.as_bytes(), &zeros].concat();
    let behind = [wet()[0].bytes(), zeros].concat();
    for (bomb, records) in [(block.bytes(), 2), (header, 1), (behind, 2)] {
        for pack in [gzip as fn(&[u8]) -> Vec<u8>, |bytes| zstd(bytes, &[])] {
            let file = [pack(&bomb), pack(&wget()[1].bytes())].concat();
            assert!(file.len() < 100_000);
            let mut stream = WarcStream::new(Path::new("bomb.warc"), Cursor::new(file));
            let mut found = 0;
            loop {
                match stream.next_record(10) {
                    Ok(Some(record)) => {
                        found += 1;
                        assert!(record.block.capacity() < 1 << 20);
                    }
                    Ok(None) => break,
                    Err(_told) => {}
                }
            }
            assert_eq!(found, records);
        }
    }
}

/// The digest of a payload behind `100 Continue` was computed from the first head on, so that of an
/// archiver which declares the final response's was counted as false.
#[test]
fn a_payload_begins_behind_the_interim_responses() {
    let (interim, last) = ("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n");
    let block = [
        interim,
        "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n",
        last,
        "body",
    ]
    .concat();
    let behind_first = &block[interim.len()..];
    for (payload, holds) in [("body", true), (behind_first, true), (&*block, false)] {
        let digest = PayloadDigest::of(payload.as_bytes()).to_string();
        let fields = [
            ("WARC-Type", "response"),
            ("WARC-Record-ID", "<urn:x:1>"),
            ("WARC-Date", "2026-11-01T00:00:00Z"),
            ("WARC-Target-URI", "http://a.test/"),
            ("WARC-Payload-Digest", &digest),
            ("Content-Type", "application/http; msgtype=response"),
        ];
        let record = Theirs::new("WARC/1.1", &fields, block.clone());
        for found in both(&record.bytes()) {
            assert_eq!(found.records[0].digests_hold(), holds, "{payload:?}");
            assert_eq!(found.records[0].payload_length, Some(4));
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), record.bytes()).unwrap();
        let head = read_head(file.path(), 0, KEEP).unwrap();
        assert_eq!(head.http().unwrap().status, 200);
    }
}

/// A record whose length is one too small was read in a row, and not by its offset: `unpack` could
/// not read what the index named.
#[test]
fn a_record_is_read_by_its_offset_as_it_is_in_a_row() {
    let archive: Vec<_> = wget()
        .iter()
        .flat_map(|record| gzip(&short(record)))
        .collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &archive).unwrap();
    let all = read_all(WarcStream::open(file.path()).unwrap());
    assert_eq!(all.records.len(), wget().len());
    for record in &all.records {
        assert!(record.addressable);
        let mut stream = WarcStream::open_at(file.path(), record.offset).unwrap();
        let again = stream.next_record(KEEP).unwrap().unwrap();
        assert_eq!(again.block, record.block);
        assert_eq!(again.length, record.length);
    }
}

/// Returns a record whose `Content-Length` is one too small.
fn short(record: &Theirs) -> Vec<u8> {
    let length = record.block.len();
    let declared = format!("Content-Length: {length}\r\n");
    let bytes = record.bytes();
    let place = bytes
        .windows(declared.len())
        .position(|window| window == declared.as_bytes());
    let (before, rest) = bytes.split_at(place.unwrap());
    let false_length = format!("Content-Length: {}\r\n", length - 1);
    [before, false_length.as_bytes(), &rest[declared.len()..]].concat()
}

#[test]
fn a_file_of_another_kind_is_broken_and_an_empty_file_is_an_empty_archive() {
    for bytes in [
        b"hello".to_vec(),
        b"WARC/1.1".to_vec(),
        vec![0x1f, 0x8b],
        vec![1; 100_000],
        b"filedesc://old.arc 0.0.0.0 20080430204825 text/plain 76\n1 0 InternetArchive\n".to_vec(),
    ] {
        for found in both(&bytes) {
            assert_eq!((found.records.len(), found.faults.len()), (0, 1));
        }
    }
    for bytes in [Vec::new(), vec![0; 100_000], b"\r\n\r\n".to_vec()] {
        for found in both(&bytes) {
            assert_eq!((found.records.len(), found.faults.len()), (0, 0));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reading_a_changed_file_ends_and_gives_no_block_longer_than_declared(
        packed in proptest::sample::select(&Packed::ALL[..]),
        edits in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<u8>(), 0_usize..3), 0..8,
        ),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut file = packed.file(&everybody());
        for (place, byte, way) in edits {
            let place = place.index(file.len());
            match way {
                0 => file[place] = byte,
                1 => file.insert(place, byte),
                _ => drop(file.drain(place..(place + usize::from(byte)).min(file.len()))),
            }
            if file.is_empty() {
                file.push(byte);
            }
        }
        if cut.index(4) == 0 {
            file.truncate(cut.index(file.len()));
        }
        let [stream, whole] = both(&file);
        for record in &whole.records {
            prop_assert!(record.block.len() as u64 <= record.block_length);
        }
        prop_assert_eq!(stream.blocks(), whole.blocks());
    }
}
