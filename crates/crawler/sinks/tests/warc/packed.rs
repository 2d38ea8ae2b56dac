//! Every packing and every digest: what goes in comes out, and each record can be unpacked by
//! itself.

use std::io::{Cursor, Read};
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use sinks::warc::{Compression, Dictionary, Record, WarcStream, locate};
use sinks::{ArchiveEnd, ArchiveOptions, Archived, DigestAlgorithm, Sink, WarcArchive};
use web::{Clock, Timestamp};

use crate::fixtures::{NOON, after, exchange, files, kinds, options, system, visit};

/// Made by `zstd --train` of 400 records.
const DICTIONARY: &[u8] = include_bytes!("golden/pages.dict");
/// The frame that holds it begins so: 0x184D2A5D and its length, little-endian.
const SKIPPABLE: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];

fn dictionary() -> Option<Dictionary> {
    Some(Dictionary::new(DICTIONARY).unwrap())
}

fn compressions() -> Vec<Compression> {
    let zstd = |level, dictionary| Compression::Zstd { level, dictionary };
    vec![
        Compression::Gzip { level: 1 },
        Compression::Gzip { level: 12 },
        zstd(1, None),
        zstd(19, dictionary()),
        Compression::None,
    ]
}

fn with(compression: Compression, digest: DigestAlgorithm) -> ArchiveOptions {
    ArchiveOptions {
        compression,
        digest,
        ..options()
    }
}

/// Unpacks `packed`, which is whole members.
fn unpacked(packed: &[u8], compression: &Compression) -> Vec<u8> {
    let mut plain = Vec::new();
    match compression {
        Compression::Gzip { .. } => flate2::read::MultiGzDecoder::new(packed)
            .read_to_end(&mut plain)
            .unwrap(),
        Compression::Zstd { dictionary, .. } => {
            let dictionary = if dictionary.is_some() {
                DICTIONARY
            } else {
                &[]
            };
            zstd::stream::read::Decoder::with_dictionary(packed, dictionary)
                .unwrap()
                .read_to_end(&mut plain)
                .unwrap()
        }
        Compression::None => {
            plain.extend_from_slice(packed);
            packed.len()
        }
    };
    plain
}

fn records(packed: &[u8], compression: &Compression) -> Vec<Record> {
    let plain = Cursor::new(unpacked(packed, compression));
    let mut stream = WarcStream::new(Path::new("unpacked.warc"), plain);
    let mut records = Vec::new();
    while let Some(record) = stream.next_record(usize::MAX).unwrap() {
        assert!(record.digests_hold(), "{record:?}");
        records.push(record);
    }
    records
}

fn slice(bytes: &[u8], from: u64, to: u64) -> &[u8] {
    &bytes[usize::try_from(from).unwrap()..usize::try_from(to).unwrap()]
}

async fn write(archive: &WarcArchive, url: &str, body: Vec<u8>) -> Archived {
    archive
        .write(visit(vec![exchange(url, body)]))
        .await
        .unwrap()
}

fn bodies_come_back(bodies: &[Vec<u8>]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for compression in compressions() {
        for digest in [DigestAlgorithm::Sha1, DigestAlgorithm::Sha256] {
            let dir = tempfile::tempdir().unwrap();
            let options = with(compression.clone(), digest);
            let archived: Vec<Archived> = runtime.block_on(async {
                let archive = WarcArchive::open(system(), dir.path(), options, None).unwrap();
                let mut all = Vec::new();
                for body in bodies {
                    all.push(write(&archive, "http://example.org/", body.clone()).await);
                }
                all
            });
            let file = std::fs::read(locate(dir.path(), &archived[0].file)).unwrap();
            let whole = records(&file, &compression);
            assert_eq!(whole.len(), 1 + 2 * bodies.len());
            for (number, (archived, body)) in archived.iter().zip(bodies).enumerate() {
                let response = &whole[1 + 2 * number];
                assert_eq!(response.payload(), Some(digest.of(body)));
                assert_eq!(response.head_and_payload().unwrap().1, body);
                // By its offset alone, as in an index.
                let capture = &archived.captures[0];
                let alone = slice(&file, capture.offset, capture.offset + capture.length);
                let alone = records(alone, &compression);
                assert_eq!(kinds(&alone), ["response"]);
                assert_eq!(alone[0].block, response.block);
            }
        }
    }
}

#[test]
fn empty_large_and_treacherous_bodies_come_back() {
    bodies_come_back(&[
        Vec::new(),
        vec![b'a'; 3 << 20],
        b"\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n".to_vec(),
        DICTIONARY.to_vec(),
        [SKIPPABLE.as_slice(), &[0xff; 4]].concat(),
        vec![0x1f, 0x8b, 8, 0, 0],
    ]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_body_is_read_back_unchanged(
        bodies in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..3_000), 1..4,
        ),
    ) {
        bodies_come_back(&bodies);
    }
}

/// Section 3 of the draft: a skippable frame with the dictionary, before the first record, in every
/// file.
#[tokio::test]
async fn each_file_begins_with_the_dictionary_that_its_records_need() {
    let dir = tempfile::tempdir().unwrap();
    let compression = Compression::Zstd {
        level: 3,
        dictionary: dictionary(),
    };
    let options = ArchiveOptions {
        max_file: 1,
        ..with(compression.clone(), DigestAlgorithm::Sha1)
    };
    let archive = WarcArchive::open(system(), dir.path(), options, None).unwrap();
    for number in 0..3 {
        write(
            &archive,
            &format!("http://example.org/{number}"),
            b"text".to_vec(),
        )
        .await;
    }
    archive.close().await.unwrap();
    assert_eq!(files(dir.path()).len(), 3);
    for file in files(dir.path()) {
        assert!(file.ends_with(".warc.zst"), "{file}");
        let bytes = std::fs::read(dir.path().join(file)).unwrap();
        assert_eq!(bytes[..4], SKIPPABLE);
        let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
        assert_eq!(&bytes[8..8 + usize::try_from(length).unwrap()], DICTIONARY);
        assert_eq!(
            kinds(&records(&bytes, &compression)),
            ["warcinfo", "response", "request"]
        );
        assert!(
            zstd::stream::decode_all(&bytes[8 + DICTIONARY.len()..]).is_err(),
            "the records need it"
        );
    }
}

#[tokio::test]
async fn a_file_that_is_old_is_closed_and_the_next_one_begun() {
    let dir = tempfile::tempdir().unwrap();
    let hour = Duration::from_secs(3_600);
    let (now, moved) = {
        let now = std::sync::Arc::new(std::sync::Mutex::new(NOON));
        (std::sync::Arc::clone(&now), now)
    };
    let options = ArchiveOptions {
        max_age: Some(hour),
        ..with(Compression::default(), DigestAlgorithm::Sha1)
    };
    let options = ArchiveOptions {
        clock: Clock::new(move || *now.lock().unwrap()),
        ..options
    };
    let archive = WarcArchive::open(system(), dir.path(), options.clone(), None).unwrap();
    let file_at = async |archive: &WarcArchive, after: Duration| {
        *moved.lock().unwrap() = NOON + after;
        write(archive, "http://example.org/", b"text".to_vec()).await
    };
    let first = file_at(&archive, Duration::ZERO).await;
    let still = file_at(
        &archive,
        hour.checked_sub(Duration::from_millis(1)).unwrap(),
    )
    .await;
    assert_eq!(first.file, still.file);
    let next = file_at(&archive, hour).await;
    assert_ne!(first.file, next.file);
    assert_eq!(
        file_at(&archive, hour * 2 - Duration::from_millis(1))
            .await
            .file,
        next.file
    );
    drop(archive);
    // The age counts from the creation, in any session.
    let archive = WarcArchive::open(system(), dir.path(), options, after(&next)).unwrap();
    assert_ne!(file_at(&archive, hour * 2).await.file, next.file);
}

#[tokio::test]
async fn an_archive_continues_under_another_compression_in_its_next_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut end: Option<ArchiveEnd> = None;
    let mut used = Vec::new();
    for compression in [
        Compression::Gzip { level: 1 },
        Compression::Gzip { level: 6 },
        Compression::None,
    ] {
        let options = with(compression, DigestAlgorithm::Sha1);
        let archive = WarcArchive::open(system(), dir.path(), options, end.clone()).unwrap();
        let archived = write(&archive, "http://example.org/", b"text".to_vec()).await;
        end = after(&archived);
        used.push(archived.file);
        archive.close().await.unwrap();
    }
    assert_eq!(used[0], used[1], "another level is no other compression");
    assert_ne!(used[1], used[2]);
    assert!(used[2].ends_with("-00002.warc"), "{used:?}");
    assert_eq!(
        files(dir.path()),
        [used[0].clone(), used[2].clone()],
        "both are closed"
    );
}

#[test]
fn a_clock_that_went_back_does_not_make_a_file_old() {
    assert_eq!(
        Timestamp::from_millis(1).since(Timestamp::from_millis(2)),
        Duration::ZERO
    );
}
