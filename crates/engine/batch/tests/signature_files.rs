//! Signature files: the bytes of the golden file, shards that merge to the whole, and files that an
//! interrupted run has left.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::{Path, PathBuf};

use batch::dedup::Document;
use batch::signature_file::{
    Continued, Extent, MAX_ID, MergedShards, SignatureFile, SignatureHeader, SignatureWriter,
};
use batch::{BatchError, DocumentId, Shard};
use neardup::{
    ALGORITHM, BAG_BYTES, BagSketch, BandDesign, BandedSignature, Fingerprint, HashKey,
    PageSignature, ParametersDigest, SKETCH_BYTES, ShortShingles, Sketch, TextSignature,
};
use proptest::prelude::*;

fn header(extent: Extent) -> SignatureHeader {
    SignatureHeader {
        parameters_digest: ParametersDigest::from_bytes([7; 16]),
        bands: BandDesign::SKETCH,
        extent,
        shingles: false,
    }
}

/// A document made of constants, because files do not depend on the algorithm. Every fifth one has
/// no text; ids are numbers and strings in turns.
fn document(number: u64) -> Document {
    let mut document = constant();
    document.id = match number % 2 {
        0 => number.to_string().into(),
        _ => number.into(),
    };
    document.signature.signature.payload = number.into();
    if number.is_multiple_of(5) {
        document.signature.signature.text = None;
        document.signature.bands = Box::default();
    }
    document
}

fn constant() -> Document {
    let text = TextSignature {
        digest: 2,
        words: 3,
        main_content: Some(4),
        fingerprint: Fingerprint::new(5),
        sketch: Some(Sketch::from_bytes(&[6; SKETCH_BYTES])),
        bag: Some(BagSketch::from_bytes(&[7; BAG_BYTES])),
        title_terms: None,
    };
    Document {
        id: "a page".into(),
        signature: BandedSignature {
            signature: PageSignature {
                payload: 1,
                text: Some(Box::new(text)),
            },
            bands: (8..16).collect(),
            shingles: None,
        },
    }
}

/// Writes the documents with these numbers, of `total`.
fn written(path: &Path, extent: Extent, numbers: impl Iterator<Item = u64>, total: u64) {
    let mut writer = SignatureWriter::create(path, &header(extent)).unwrap();
    for number in numbers {
        writer.push(number, &document(number)).unwrap();
    }
    writer.finish(total).unwrap();
}

fn read(path: &Path) -> Result<Vec<(u64, DocumentId, BandedSignature)>, BatchError> {
    let numbered = SignatureFile::open(path)?.read()?;
    numbered
        .map(|read| {
            let read = read?;
            Ok((read.number, read.document.id, read.document.signature))
        })
        .collect()
}

fn expected(numbers: impl Iterator<Item = u64>) -> Vec<(u64, DocumentId, BandedSignature)> {
    numbers
        .map(|number| {
            let document = document(number);
            (number, document.id, document.signature)
        })
        .collect()
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/signatures.hex")
}

/// Thirty-two bytes a line; the algorithm's number and the checksum of the header are taken out.
#[test]
fn a_file_has_the_bytes_of_the_golden_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("signatures");
    let shard = Extent::Shard(Shard::new(2, 3).unwrap());
    let mut writer = SignatureWriter::create(&path, &header(shard)).unwrap();
    writer.push(1, &constant()).unwrap();
    let empty = Document {
        id: "".into(),
        signature: PageSignature {
            payload: 9,
            text: None,
        }
        .into(),
    };
    writer.push(4, &empty).unwrap();
    writer.finish(6).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[10..12], ALGORITHM.to_le_bytes());
    bytes[10..12].fill(0);
    bytes[56..64].fill(0);
    let lines: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    let promised = std::fs::read_to_string(golden()).unwrap_or_default();
    assert_eq!(
        lines,
        promised.lines().collect::<Vec<_>>(),
        "golden/signatures.hex should be:\n{}",
        lines.join("\n")
    );
}

/// The bytes behind the bands of the golden file's documents, and the flag.
#[test]
fn a_file_with_shingles_has_their_number_and_their_bytes_behind_the_bands() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("signatures");
    let header = SignatureHeader {
        shingles: true,
        ..header(Extent::Originals)
    };
    let mut with = constant();
    with.signature.shingles = ShortShingles::from_bytes(&[1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff]);
    assert!(with.signature.shingles.is_some());
    let mut writer = SignatureWriter::create(&path, &header).unwrap();
    writer.push(0, &with).unwrap();
    writer.push(1, &constant()).unwrap();
    writer.finish(2).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[16..20], [3, 0, 0, 0]);
    let last_band = [15, 0, 0, 0];
    let shingles = [2, 0, 0, 0, 1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff];
    let behind: Vec<u8> = last_band.into_iter().chain(shingles).collect();
    assert!(bytes.windows(behind.len()).any(|window| window == behind));
    let none = [15, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    assert!(bytes.windows(none.len()).any(|window| window == none));

    let expected = [with.signature, constant().signature];
    let found: Vec<_> = read(&path)
        .unwrap()
        .into_iter()
        .map(|read| read.2)
        .collect();
    assert_eq!(found, expected);
    assert_eq!(*SignatureFile::open(&path).unwrap().header(), header);
}

#[test]
fn documents_are_read_as_they_were_written_over_many_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("signatures");
    for count in [0, 1, 9_000] {
        written(&path, Extent::Originals, 0..count, count);
        assert_eq!(
            *SignatureFile::open(&path).unwrap().header(),
            header(Extent::Originals)
        );
        assert!(read(&path).unwrap() == expected(0..count));
    }
}

#[test]
fn shards_in_any_order_merge_to_the_documents_of_one_run() {
    let directory = tempfile::tempdir().unwrap();
    for (count, shards) in [(0, 3), (1, 3), (100, 1), (100, 3), (101, 7)] {
        let mut files = Vec::new();
        for number in (1..=shards).rev() {
            let shard = Shard::new(number, shards).unwrap();
            let path = directory
                .path()
                .join(format!("{count}-{number}-of-{shards}"));
            written(
                &path,
                Extent::Shard(shard),
                (0..count).filter(|&number| shard.has(number)),
                count,
            );
            files.push(SignatureFile::open(&path).unwrap());
        }
        let merged: Result<Vec<Document>, BatchError> =
            MergedShards::open(&files).unwrap().collect();
        let ids: Vec<DocumentId> = merged.unwrap().into_iter().map(|one| one.id).collect();
        let expected: Vec<DocumentId> = (0..count).map(|at| document(at).id).collect();
        assert_eq!(ids, expected);
    }
}

#[test]
fn files_that_are_not_the_shards_of_one_corpus_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, extent, total| {
        let path = directory.path().join(name);
        written(&path, extent, std::iter::empty(), total);
        SignatureFile::open(&path).unwrap()
    };
    let shard = |number, of| Extent::Shard(Shard::new(number, of).unwrap());
    let (first, second) = (file("1", shard(1, 2), 0), file("2", shard(2, 2), 0));
    let third_of_three = file("3", shard(3, 3), 0);
    let (index, of_more) = (
        file("index", Extent::Originals, 0),
        file("more", shard(2, 2), 8),
    );
    let check = |files: &[&SignatureFile], reason: &str| {
        let files: Vec<SignatureFile> = files.iter().map(|&file| file.clone()).collect();
        let merged = MergedShards::open(&files);
        let error = merged.and_then(|merged| merged.collect::<Result<Vec<_>, _>>());
        let message = error.unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    };
    check(&[], "there is none");
    check(&[&first], "got 1/2");
    check(&[&first, &first], "got 1/2, 1/2");
    check(&[&first, &second, &third_of_three], "got 1/2, 2/2, 3/3");
    check(&[&index], "index is an index of originals");
    check(&[&first, &of_more], "document 0 is missing");
}

#[test]
fn signatures_of_other_features_or_bands_are_refused_with_the_difference() {
    let wanted = header(Extent::All);
    let others = [
        (
            SignatureHeader {
                parameters_digest: ParametersDigest::from_bytes([8; 16]),
                ..wanted
            },
            "features",
        ),
        (
            SignatureHeader {
                bands: BandDesign::new(35, 3).unwrap(),
                ..wanted
            },
            "bands, which follow from resemblance and recall: 35 x 3 there, 8 x 4 here",
        ),
    ];
    for (other, difference) in others {
        let error = other.check_comparable(Path::new("index"), &wanted);
        let message = error.unwrap_err().to_string();
        assert!(
            message.contains("index") && message.contains(difference),
            "{message}"
        );
    }
    let with_shingles = SignatureHeader {
        shingles: true,
        ..wanted
    };
    // Sketches compare them; but a run is continued and merged with its like only.
    with_shingles
        .check_comparable(Path::new("index"), &wanted)
        .unwrap();
    let error = with_shingles.check_equal(Path::new("1.sig"), &wanted);
    let message = error.unwrap_err().to_string();
    assert!(message.contains("1.sig"), "{message}");
    assert!(
        message.contains("with shingles there, without here"),
        "{message}"
    );
}

#[test]
fn files_of_another_version_algorithm_or_kind_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("known.sig");
    written(&path, Extent::Originals, 0..3, 3);
    let whole = std::fs::read(&path).unwrap();
    let refused = |place: usize, bytes: [u8; 2], reason: &str| {
        let mut other = whole.clone();
        other[place..place + 2].copy_from_slice(&bytes);
        let check = (HashKey::ZERO.digest(&other[..56]) as u64).to_le_bytes();
        other[56..64].copy_from_slice(&check);
        std::fs::write(&path, other).unwrap();
        let message = SignatureFile::open(&path).unwrap_err().to_string();
        assert!(
            message.contains("known.sig") && message.contains(reason),
            "{message}"
        );
    };
    refused(0, *b"PK", "magic bytes are wrong");
    refused(8, [2, 0], "format version 2");
    refused(10, [9, 9], "algorithm");
    refused(12, [0, 0], "bands are invalid");
    refused(16, [4, 0], "unknown flags");
    refused(20, [0, 0], "shard is invalid");
}

#[test]
fn a_long_id_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("signatures");
    let mut writer = SignatureWriter::create(&path, &header(Extent::All)).unwrap();
    let mut long = document(1);
    long.id = "x".repeat(MAX_ID).into();
    writer.push(0, &long).unwrap();
    long.id = "x".repeat(MAX_ID + 1).into();
    let refused = writer.push(1, &long).unwrap_err();
    assert!(matches!(refused, BatchError::LongId { bytes } if bytes == MAX_ID + 1));
    writer.finish(1).unwrap();
    assert_eq!(read(&path).unwrap().len(), 1);
}

/// Writes the first documents of 6,000 in a file that is cut at `kept` of its bytes.
fn cut(path: &Path, kept: f64) {
    written(path, Extent::All, 0..6_000, 6_000);
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(64 + (kept * (length - 64) as f64) as u64)
        .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_file_that_is_cut_anywhere_is_unfinished_and_can_be_continued(kept in 0.0..1.0) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("signatures");
        cut(&path, kept);
        let refused = matches!(read(&path), Err(BatchError::Unfinished { .. }));
        prop_assert!(refused);
        let resumed = SignatureWriter::resume(&path, &header(Extent::All)).unwrap();
        let known = SignatureFile::open(&path).unwrap().read().unwrap();
        let next = known.map_while(Result::ok).map(|read| read.number + 1).last().unwrap_or(0);
        let Continued::Unfinished { mut writer } = resumed else {
            panic!("it is finished");
        };
        for number in next..6_000 {
            writer.push(number, &document(number)).unwrap();
        }
        writer.finish(6_000).unwrap();
        prop_assert!(read(&path).unwrap() == expected(0..6_000));
        let again = SignatureWriter::resume(&path, &header(Extent::All)).unwrap();
        prop_assert!(matches!(again, Continued::Finished));
    }

    #[test]
    fn a_flipped_bit_is_found(place in 0.0..1.0, bit in 0..8) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("signatures");
        written(&path, Extent::All, 0..300, 300);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = (place * bytes.len() as f64) as usize;
        bytes[at] ^= 1_u8 << bit;
        std::fs::write(&path, &bytes).unwrap();
        prop_assert!(read(&path).is_err());
    }
}
