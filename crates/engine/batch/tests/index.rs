//! Indexes of fingerprints: what a naive program finds, whatever the bits, the distance and the
//! memory; and an error, never another answer, where a byte is not what was written.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use batch::{
    BatchError, Control, FingerprintFile, FingerprintIndex, FingerprintWriter, GroupedMatch,
    IndexMatch, IndexOptions, IndexWriter, ParametersDigest, Progress, QueryMatch, QueryOptions,
    Repository, Shard, Step, grouped_query, ordered_query,
};
use neardup::{ALGORITHM, Features, Fingerprint, HashKey};
use proptest::prelude::*;

fn parameters_digest() -> ParametersDigest {
    ParametersDigest::new(Features::default(), HashKey::ZERO)
}

/// Returns a file of fingerprints with the ids 7, 10, 13, …, or without.
fn written(path: &Path, fingerprints: &[u64], has_ids: bool) -> FingerprintFile {
    let mut writer = FingerprintWriter::create(path, parameters_digest(), has_ids).unwrap();
    for (&bits, number) in fingerprints.iter().zip(0..) {
        writer.push(Fingerprint::new(bits), 7 + 3 * number).unwrap();
    }
    writer.finish().unwrap()
}

fn options(directory: &Path) -> IndexOptions {
    IndexOptions {
        memory: 0,
        scratch: directory.to_owned(),
    }
}

fn writer(path: &Path) -> IndexWriter {
    IndexWriter::new(path, File::create(path).unwrap())
}

/// Returns the index at `index` of fingerprints beside it.
fn indexed(directory: &Path, fingerprints: &[u64]) -> FingerprintIndex {
    let file = written(&directory.join("prints"), fingerprints, true);
    let empty = writer(&directory.join("index"));
    empty
        .write(&file, &options(directory), Control::none())
        .unwrap()
}

/// SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

fn naive(fingerprints: &[u64], probe: u64, distance: u32) -> Vec<IndexMatch> {
    let mut found: Vec<IndexMatch> = (0..)
        .zip(fingerprints)
        .map(|(position, bits)| IndexMatch {
            distance: (bits ^ probe).count_ones(),
            position,
        })
        .filter(|near| near.distance <= distance)
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn an_index_of_nothing_and_of_one_fingerprint_answer() {
    let directory = tempfile::tempdir().unwrap();
    for fingerprints in [&[][..], &[0], &[u64::MAX], &[1 << 63]] {
        let index = indexed(directory.path(), fingerprints);
        assert_eq!(index.len(), fingerprints.len() as u64);
        assert_eq!(
            (index.has_ids(), index.parameters_digest()),
            (true, parameters_digest())
        );
        let length = std::fs::metadata(index.path()).unwrap().len();
        assert_eq!(index.bytes(), length);
        for probe in [0, 0b111, u64::MAX, 1 << 63, 3 << 62] {
            for distance in 0..=7 {
                assert_eq!(
                    index
                        .read()
                        .within(Fingerprint::new(probe), distance)
                        .unwrap(),
                    naive(fingerprints, probe, distance)
                );
            }
        }
        let refused = index.read().within(Fingerprint::new(0), 8).unwrap_err();
        assert!(matches!(refused, BatchError::Distance(8)));
        let mut reader = index.read();
        let expected = (!fingerprints.is_empty()).then_some(7);
        assert_eq!(reader.id(0).unwrap(), expected);
        assert_eq!(reader.id(1).unwrap(), None);
    }
}

#[test]
fn planted_neighbours_among_300_000_are_found_by_few_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let fingerprints: Vec<u64> = (0..300_000).map(mixed).collect();
    let file = written(&directory.path().join("prints"), &fingerprints, false);
    let empty = writer(&directory.path().join("index"));
    let options = IndexOptions {
        memory: 2 << 20,
        ..options(directory.path())
    };
    let index = empty.write(&file, &options, Control::none()).unwrap();
    assert!(!index.has_ids());
    let mut read = 0;
    for number in (0..300_000).step_by(3_001) {
        let flips = (0..number % 4).map(|flip| mixed(number + flip) % 64);
        let probe = flips.fold(mixed(number), |bits, flip| bits ^ 1 << flip);
        let mut reader = index.read();
        let found = reader.within(Fingerprint::new(probe), 3).unwrap();
        let distance = (probe ^ mixed(number)).count_ones();
        assert!(
            found.contains(&IndexMatch {
                distance,
                position: number
            }),
            "{number}"
        );
        read += reader.blocks_read();
    }
    // In each of four tables a block of the directory and one or two of the 634 of entries.
    assert!(read < 100 * 4 * 3, "{read} blocks were read for 100 probes");
}

/// Half of a collection may be error pages with one fingerprint, which lies in the way of others.
#[test]
fn equal_fingerprints_are_all_found_and_are_not_read_for_others() {
    let directory = tempfile::tempdir().unwrap();
    let mut fingerprints = vec![mixed(1); 100_000];
    fingerprints.extend((0..1_000).map(|number| mixed(1) ^ mixed(number) >> 40));
    let index = indexed(directory.path(), &fingerprints);
    let mut reader = index.read();
    let other = mixed(1) ^ 0x1111;
    let found = reader.within(Fingerprint::new(other), 3).unwrap();
    assert_eq!(found, naive(&fingerprints, other, 3));
    assert!(reader.blocks_read() < 60, "{} blocks", reader.blocks_read());
    for distance in [0, 3, 7] {
        let all = reader.within(Fingerprint::new(mixed(1)), distance).unwrap();
        assert_eq!(all, naive(&fingerprints, mixed(1), distance));
    }
}

/// A file and its index, and the matches of every kind of query in both.
fn check_queries(fingerprints: &[u64], asked: &[u64], distance: u32, shard: Shard) {
    let directory = tempfile::tempdir().unwrap();
    let queries = written(&directory.path().join("queries"), asked, true);
    let index = indexed(directory.path(), fingerprints);
    let file = FingerprintFile::open(directory.path().join("prints")).unwrap();
    let options = QueryOptions {
        distance,
        shard,
        memory: 0,
        workers: NonZeroUsize::new(2).unwrap(),
        scratch: directory.path().to_owned(),
    };
    let [streamed, probed] = [Repository::File(file), Repository::Index(index)].map(|held| {
        let mut ids = held.ids().unwrap();
        let mut ordered: Vec<(QueryMatch, Option<u64>)> = Vec::new();
        let summary = ordered_query(&queries, &held, &options, Control::none(), |near| {
            ordered.push((near, ids.id(near.position)?));
            Ok::<(), BatchError>(())
        });
        let mut grouped: Vec<GroupedMatch> = Vec::new();
        grouped_query(&queries, &held, &options, Control::none(), |near| {
            grouped.push(near);
            Ok::<(), BatchError>(())
        })
        .unwrap();
        (summary.unwrap(), ordered, grouped)
    });
    assert!(streamed == probed, "{streamed:?}\nbut\n{probed:?}");
}

#[test]
fn queries_of_an_index_and_their_shards_are_those_of_the_file() {
    let near = |number: u64| mixed(number % 70_000) ^ 1 << (number % 64);
    let fingerprints: Vec<u64> = (0..140_000).map(near).collect();
    let asked: Vec<u64> = (0..6_000).map(|number| mixed(number * 11)).collect();
    for (distance, shard) in [(3, "1/1"), (1, "2/3"), (4, "1/2")] {
        check_queries(&fingerprints, &asked, distance, shard.parse().unwrap());
    }
}

#[test]
fn other_fingerprints_and_eight_bits_of_distance_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let index = Repository::Index(indexed(directory.path(), &[1, 2]));
    let path = directory.path().join("other");
    let other = ParametersDigest::new("char:5".parse::<Features>().unwrap(), HashKey::ZERO);
    let others = FingerprintWriter::create(path, other, false).unwrap();
    let others = others.finish().unwrap();
    let own = FingerprintFile::open(directory.path().join("prints")).unwrap();
    let refused = |queries: &FingerprintFile, distance| {
        let options = QueryOptions {
            distance,
            shard: Shard::WHOLE,
            memory: 0,
            workers: NonZeroUsize::MIN,
            scratch: directory.path().to_owned(),
        };
        let visit = |_| Ok::<(), BatchError>(());
        ordered_query(queries, &index, &options, Control::none(), visit).unwrap_err()
    };
    assert!(matches!(
        refused(&others, 3),
        BatchError::OtherParameters { .. }
    ));
    assert!(matches!(refused(&own, 8), BatchError::Distance(8)));
}

/// Cancels the work when a step is reported for the first time.
struct CancelAt<'a>(Step, &'a AtomicBool, Mutex<Vec<Step>>);

impl Progress for CancelAt<'_> {
    fn advanced(&self, step: Step, _: u64, _: Option<u64>) {
        self.2.lock().unwrap().push(step);
        if step == self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_cancelled_index_is_damaged_and_the_next_one_replaces_it() {
    let directory = tempfile::tempdir().unwrap();
    let fingerprints: Vec<u64> = (0..200_000).map(mixed).collect();
    let file = written(&directory.path().join("prints"), &fingerprints, true);
    for step in [Step::Reading, Step::Sorting, Step::Reporting] {
        let cancelled = AtomicBool::new(false);
        let progress = CancelAt(step, &cancelled, Mutex::default());
        let control = Control::new(&progress, &cancelled);
        let path = directory.path().join("index");
        let empty = writer(&path);
        let ended = empty.write(&file, &options(directory.path()), control);
        assert!(matches!(ended, Err(BatchError::Cancelled)), "{step:?}");
        assert!(FingerprintIndex::open(&path).is_err());
    }
    let index = indexed(directory.path(), &fingerprints);
    let found = index.read().within(Fingerprint::new(mixed(77)), 0).unwrap();
    assert_eq!(found, naive(&fingerprints, mixed(77), 0));
}

#[test]
fn a_disk_without_space_and_a_missing_directory_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = written(&directory.path().join("prints"), &[1, 2, 3], true);
    let full = writer(Path::new("/dev/full"));
    let refused = full.write(&file, &options(directory.path()), Control::none());
    assert_eq!(refused.unwrap_err().to_string(), "cannot write /dev/full");
    let missing = FingerprintIndex::open("/no/such/file").unwrap_err();
    assert_eq!(missing.to_string(), "cannot read /no/such/file");
}

/// Returns the file with a right checksum of one block.
fn resealed_at(mut file: Vec<u8>, number: usize) -> Vec<u8> {
    let block = &mut file[number * 4_096..][..4_096];
    let sum = HashKey::new(number as u64).digest(&block[..4_088]) as u64;
    block[4_088..].copy_from_slice(&sum.to_le_bytes());
    file
}

fn resealed(file: Vec<u8>) -> Vec<u8> {
    resealed_at(file, 0)
}

/// Thirty-two bytes a line, without the zeros at the end of each block. The algorithm's number is
/// taken out, since the format does not depend on it.
#[test]
fn an_index_has_the_bytes_of_the_golden_file() {
    let directory = tempfile::tempdir().unwrap();
    let fingerprints: Vec<u64> = (0..40).map(|number| mixed(number) >> 10).collect();
    let index = indexed(directory.path(), &fingerprints);
    let mut bytes = std::fs::read(index.path()).unwrap();
    assert_eq!(bytes[10..12], ALGORITHM.to_le_bytes());
    bytes[10..12].fill(0);
    let bytes = resealed(bytes);
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let mut lines = Vec::new();
    for block in bytes.chunks(4_096) {
        let (data, sum) = block.split_at(4_088);
        let end = data
            .iter()
            .rposition(|byte| *byte > 0)
            .map_or(0, |last| last + 1);
        lines.extend(data[..end].chunks(32).map(hex));
        lines.push(format!("checksum {}", hex(sum)));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/index.hex");
    let promised = std::fs::read_to_string(path).unwrap();
    assert!(
        lines == promised.lines().collect::<Vec<_>>(),
        "{}",
        lines.join("\n")
    );
}

#[test]
fn another_version_and_another_algorithm_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = indexed(directory.path(), &[1, 2, 3]).path().to_owned();
    let bytes = std::fs::read(&path).unwrap();
    let opened = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        std::fs::write(&path, resealed(changed)).unwrap();
        FingerprintIndex::open(&path).map(|_| ()).unwrap_err()
    };
    let later = opened(&|bytes| bytes[8] = 2);
    assert!(matches!(later, BatchError::OtherFormat { version: 2, .. }));
    let other = (ALGORITHM + 1).to_le_bytes();
    let other = opened(&|bytes| bytes[10..12].copy_from_slice(&other));
    assert!(
        matches!(other, BatchError::OtherAlgorithm { algorithm, .. } if algorithm == ALGORITHM + 1)
    );
    for (at, value) in [(12, 0), (12, 65), (13, 65), (18, 1), (23, 255)] {
        let wrong = opened(&|bytes| bytes[at] = value);
        assert!(matches!(wrong, BatchError::Damaged { .. }), "{at}: {wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Fingerprints of any number of bits: random ones, clusters around a few centres, and equal
    /// ones.
    #[test]
    fn an_index_finds_exactly_what_a_naive_program_finds(
        bits in 8_u32..=64,
        count in 0_usize..1_500,
        centres in 1_u64..200,
        max_flips in 0_u64..9,
        seed: u64,
    ) {
        let fingerprint = |number: u64| {
            let drawn = mixed(seed.wrapping_add(number));
            let flips = (0..drawn >> 40 & max_flips).map(|flip| mixed(drawn ^ flip) % 64);
            let centre = mixed(seed ^ (drawn % centres));
            flips.fold(centre, |bits, flip| bits ^ 1 << flip) >> (64 - bits)
        };
        let fingerprints: Vec<u64> = (0..count as u64).map(fingerprint).collect();
        let directory = tempfile::tempdir().unwrap();
        let index = indexed(directory.path(), &fingerprints);
        let mut reader = index.read();
        for number in 0..12 {
            let probe = fingerprint(u64::MAX / 2 + number);
            // Queries need not have the bits of the index.
            let probe = if number == 11 { mixed(probe) } else { probe };
            for distance in 0..=7 {
                prop_assert_eq!(
                    reader.within(Fingerprint::new(probe), distance).unwrap(),
                    naive(&fingerprints, probe, distance)
                );
            }
        }
        for position in [0, count / 2, count.saturating_sub(1), count] {
            let expected = (position < count).then_some(7 + 3 * position as u64);
            prop_assert_eq!(reader.id(position as u64).unwrap(), expected);
        }
    }

    #[test]
    fn a_changed_byte_or_another_length_is_an_error_and_never_another_answer(
        count in 1_u64..400,
        at in 0.0..1.0,
        change in 1_u8..,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let fingerprints: Vec<u64> = (0..count).map(|number| mixed(number % 300)).collect();
        let path = indexed(directory.path(), &fingerprints).path().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        let at = (at * bytes.len() as f64) as usize;
        let mut changed = bytes.clone();
        changed[at] ^= change;
        for wrong in [&bytes[..at], &[&bytes[..], &[change]].concat()] {
            std::fs::write(&path, wrong).unwrap();
            prop_assert!(FingerprintIndex::open(&path).is_err());
        }
        std::fs::write(&path, &changed).unwrap();
        let Ok(index) = FingerprintIndex::open(&path) else {
            return Ok(());
        };
        let mut has_failed = false;
        for &probe in &fingerprints {
            match index.read().within(Fingerprint::new(probe), 7) {
                Ok(found) => prop_assert_eq!(found, naive(&fingerprints, probe, 7)),
                Err(error) => {
                    has_failed = true;
                    prop_assert!(error.to_string().contains("checksum"));
                }
            }
        }
        let mut reader = index.read();
        has_failed |= (0..count).any(|position| reader.id(position).is_err());
        prop_assert!(has_failed, "nothing has read the changed byte {at}");
    }

    /// Whoever forges the checksum as well gets any answer or an error, and no panic.
    #[test]
    fn no_forged_block_makes_it_panic(
        count in 1_u64..3_000,
        block in 0.0..1.0,
        changes in prop::collection::vec((0_usize..4_088, any::<u8>()), 1..30),
        of_header in prop::collection::vec((12_usize..24, any::<u8>()), 0..2),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let fingerprints: Vec<u64> = (0..count).map(mixed).collect();
        let path = indexed(directory.path(), &fingerprints).path().to_owned();
        let mut bytes = std::fs::read(&path).unwrap();
        let number = 1 + (block * (bytes.len() / 4_096 - 1) as f64) as usize;
        for (at, value) in changes {
            bytes[number * 4_096 + at % 600] = value;
        }
        for (at, value) in of_header {
            bytes[at] = value;
        }
        std::fs::write(&path, resealed(resealed_at(bytes, number))).unwrap();
        if let Ok(index) = FingerprintIndex::open(&path) {
            let mut reader = index.read();
            for number in 0..10 {
                drop(reader.within(Fingerprint::new(mixed(number)), 7));
                drop(reader.id(number));
            }
        }
    }
}
