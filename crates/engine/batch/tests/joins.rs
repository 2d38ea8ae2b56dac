//! Joins and queries over files: exactly what brute force finds, whatever the memory and the number
//! of threads.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use batch::{
    BatchError, Control, FingerprintFile, FingerprintWriter, JoinOptions, JoinSummary, MIN_MEMORY,
    Pair, ParametersDigest, Progress, QueryMatch, QueryOptions, Repository, Shard, Step,
    ordered_pairs, ordered_query, query, self_join,
};
use neardup::{Features, Fingerprint, HashKey};
use proptest::prelude::*;

fn parameters_digest() -> ParametersDigest {
    ParametersDigest::new(Features::default(), HashKey::ZERO)
}

fn written(path: &Path, fingerprints: &[u64]) -> FingerprintFile {
    let mut writer = FingerprintWriter::create(path, parameters_digest(), false).unwrap();
    for &bits in fingerprints {
        writer.push(Fingerprint::new(bits), 0).unwrap();
    }
    writer.finish().unwrap()
}

/// SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// `count` fingerprints around a few centres, up to `flips` bits from them.
fn clustered(count: usize, centres: u64, flips: u64, seed: u64) -> Vec<u64> {
    (0..count as u64)
        .map(|number| {
            let drawn = mixed(seed.wrapping_add(number));
            let centre = mixed(seed ^ (drawn % centres));
            (0..drawn >> 32 & flips)
                .fold(centre, |bits, flip| bits ^ 1 << (mixed(drawn ^ flip) % 64))
        })
        .collect()
}

fn options(directory: &Path, distance: u32, memory: usize, workers: usize) -> JoinOptions {
    JoinOptions {
        distance,
        memory,
        workers: NonZeroUsize::new(workers).unwrap(),
        scratch: directory.to_owned(),
    }
}

fn all_pairs(fingerprints: &[u64], distance: u32) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (a, one) in (0..).zip(fingerprints) {
        for (b, other) in (0..).zip(fingerprints).skip(a as usize + 1) {
            let apart = (one ^ other).count_ones();
            if apart <= distance {
                pairs.push(Pair {
                    first: a,
                    second: b,
                    distance: apart,
                });
            }
        }
    }
    pairs
}

/// Returns the first difference of two lists; the lists themselves would fill screens.
fn first_difference<T: Clone + PartialEq>(
    one: &[T],
    other: &[T],
) -> Option<(Option<T>, Option<T>)> {
    let at = (0..one.len().max(other.len())).find(|&at| one.get(at) != other.get(at))?;
    Some((one.get(at).cloned(), other.get(at).cloned()))
}

fn joined(file: &FingerprintFile, options: &JoinOptions) -> (Vec<Pair>, JoinSummary) {
    let mut pairs = Vec::new();
    let joined = self_join(file, options, Control::none(), |near| {
        pairs.push(near);
        Ok::<(), BatchError>(())
    })
    .unwrap();
    assert_eq!(joined.pairs, pairs.len() as u64);
    pairs.sort_unstable();
    (pairs, joined)
}

#[test]
fn no_fingerprint_and_one_fingerprint_make_no_pair() {
    let directory = tempfile::tempdir().unwrap();
    for fingerprints in [&[][..], &[5]] {
        let file = written(&directory.path().join("prints"), fingerprints);
        let (pairs, joined) = joined(&file, &options(directory.path(), 7, 0, 3));
        assert_eq!(
            (pairs, joined.fingerprints),
            (vec![], fingerprints.len() as u64)
        );
    }
}

/// One value more frequent than memory holds: its part is joined chunk by chunk.
#[test]
fn equal_fingerprints_beyond_the_memory_are_paired_once_each() {
    let directory = tempfile::tempdir().unwrap();
    let count = 2 * MIN_MEMORY / 26;
    let file = written(&directory.path().join("prints"), &vec![77; count]);
    let mut seen = vec![0_u32; count];
    let joined = self_join(
        &file,
        &options(directory.path(), 3, MIN_MEMORY, 2),
        Control::none(),
        |near| {
            assert_eq!(near.distance, 0);
            seen[near.first as usize] += 1;
            seen[near.second as usize] += 1;
            Ok::<(), BatchError>(())
        },
    )
    .unwrap();
    assert!(joined.spilled > 0);
    assert_eq!(joined.pairs, (count * (count - 1) / 2) as u64);
    assert!(seen.iter().all(|&partners| partners as usize == count - 1));
}

#[test]
fn planted_neighbours_among_a_hundred_thousand_are_found_in_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let mut fingerprints: Vec<u64> = (0..100_000).map(mixed).collect();
    for (number, bits) in fingerprints.clone().into_iter().take(500).enumerate() {
        let flips = (0..number as u64 % 9).map(|flip| 1 << (mixed(bits ^ flip) % 64));
        fingerprints.push(flips.fold(bits, |bits, flip: u64| bits ^ flip));
    }
    let file = written(&directory.path().join("prints"), &fingerprints);
    for distance in [0, 3, 7] {
        let within =
            |number: usize| (fingerprints[number] ^ fingerprints[100_000 + number]).count_ones();
        let planted = (0..500)
            .filter(|&number| within(number) <= distance)
            .count();
        let (in_memory, _) = joined(&file, &options(directory.path(), distance, 64 << 20, 2));
        let (spilled, owned) = joined(&file, &options(directory.path(), distance, MIN_MEMORY, 2));
        assert!(owned.spilled > 0);
        assert_eq!(first_difference(&in_memory, &spilled), None);
        // Random fingerprints are hardly ever so near.
        assert!(
            (planted..planted + 5).contains(&spilled.len()),
            "{} at {distance}",
            spilled.len()
        );
    }
}

#[test]
fn eight_bits_are_too_many() {
    let directory = tempfile::tempdir().unwrap();
    let file = written(&directory.path().join("prints"), &[1, 2]);
    let visit = |_| Ok::<(), BatchError>(());
    let refusal = self_join(
        &file,
        &options(directory.path(), 8, 0, 1),
        Control::none(),
        visit,
    )
    .unwrap_err();
    assert!(matches!(refusal, BatchError::Distance(8)));
    let refusal = query(&file, &file, 8, NonZeroUsize::MIN, Control::none(), |_| {
        Ok(())
    })
    .unwrap_err();
    assert!(matches!(refusal, BatchError::Distance(8)));
}

/// With memory for everything, and with 64 KiB, a tenth of the pairs.
#[test]
fn near_pairs_come_in_the_order_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut prints = clustered(2_000, 300, 3, 7);
    prints.extend([7; 300]);
    let file = written(&directory.path().join("prints"), &prints);
    let expected = all_pairs(&prints, 3);
    assert!(expected.len() > 40_000);
    for memory in [0, 1 << 24] {
        let mut found = Vec::new();
        let options = options(directory.path(), 3, memory, 2);
        let visit = |pair| {
            found.push(pair);
            Ok::<(), BatchError>(())
        };
        let summary = ordered_pairs(&file, &options, Control::none(), visit).unwrap();
        assert_eq!(first_difference(&found, &expected), None);
        assert_eq!(summary.pairs, expected.len() as u64);
        assert_eq!(summary.spilled > 0, memory == 0);
    }
}

/// Three blocks of a file, with a match around each border.
#[test]
fn the_matches_of_all_shards_concatenated_are_those_of_one_run_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let mut prints: Vec<u64> = (1..=150_000).map(mixed).collect();
    let places = [0, 65_535, 65_536, 65_537, 131_071, 131_072, 149_999];
    for place in places {
        prints[place] = 0b111;
    }
    let repository = written(&directory.path().join("repository"), &prints);
    let queries = written(&directory.path().join("queries"), &[0b111, 0b101]);
    let searched = repository.clone();
    let repository = Repository::File(repository);
    let found = |shard: Shard, workers: usize| {
        let options = QueryOptions {
            distance: 3,
            shard,
            memory: 0,
            workers: NonZeroUsize::new(workers).unwrap(),
            scratch: directory.path().to_owned(),
        };
        let mut found = Vec::new();
        let visit = |near| {
            found.push(near);
            Ok::<(), BatchError>(())
        };
        let control = Control::none();
        let summary = ordered_query(&queries, &repository, &options, control, visit).unwrap();
        assert_eq!(summary.searched, searched.len_of(shard));
        assert_eq!(summary.matches, found.len() as u64);
        found
    };
    let whole = found(Shard::WHOLE, 1);
    let expected: Vec<QueryMatch> = places
        .iter()
        .flat_map(|&place| {
            [(0, 0), (1, 1)].map(|(query, distance)| QueryMatch {
                query,
                position: place as u64,
                distance,
            })
        })
        .collect();
    assert_eq!(whole, expected);
    for of in [1, 2, 3, 7] {
        let shards = (1..=of).flat_map(|number| found(Shard::new(number, of).unwrap(), 2));
        assert_eq!(shards.collect::<Vec<_>>(), whole, "{of} shards");
    }
}

/// The sorter of 64 KiB holds a twentieth of these matches.
#[test]
fn more_matches_than_memory_holds_come_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let repository = written(&directory.path().join("repository"), &[7; 10_000]);
    let repository = Repository::File(repository);
    let queries = written(&directory.path().join("queries"), &[7; 10]);
    let options = QueryOptions {
        distance: 0,
        shard: Shard::WHOLE,
        memory: 0,
        workers: NonZeroUsize::new(2).unwrap(),
        scratch: directory.path().to_owned(),
    };
    let mut next = (0, 0);
    let visit = |near: QueryMatch| {
        assert_eq!((near.position, near.query), next);
        next = if near.query == 9 {
            (near.position + 1, 0)
        } else {
            (near.position, near.query + 1)
        };
        Ok::<(), BatchError>(())
    };
    let summary = ordered_query(&queries, &repository, &options, Control::none(), visit).unwrap();
    assert_eq!((summary.matches, next), (100_000, (10_000, 0)));
}

#[test]
fn ids_are_read_by_position_in_any_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("prints");
    let mut writer = FingerprintWriter::create(&path, parameters_digest(), true).unwrap();
    for number in 0..140_000 {
        writer
            .push(Fingerprint::new(mixed(number)), 3 * number)
            .unwrap();
    }
    let file = writer.finish().unwrap();
    let mut ids = file.ids().unwrap();
    for position in [0, 65_535, 65_536, 139_999, 5, 131_072, 131_071] {
        assert_eq!(ids.id(position).unwrap(), Some(3 * position));
    }
    assert_eq!(ids.id(140_000).unwrap(), None);
    let without = written(&directory.path().join("without"), &[1, 2]);
    assert_eq!(without.ids().unwrap().id(0).unwrap(), None);
}

#[test]
fn fingerprints_under_another_key_are_not_compared() {
    let directory = tempfile::tempdir().unwrap();
    let one = written(&directory.path().join("one"), &[1]);
    let keyed = ParametersDigest::new(Features::default(), HashKey::new(1));
    let other = FingerprintWriter::create(directory.path().join("other"), keyed, false).unwrap();
    let refusal = query(
        &one,
        &other.finish().unwrap(),
        3,
        NonZeroUsize::MIN,
        Control::none(),
        |_| Ok(()),
    );
    assert!(matches!(refusal, Err(BatchError::OtherParameters { .. })));
}

#[test]
fn the_first_error_of_the_visitor_ends_the_join() {
    let directory = tempfile::tempdir().unwrap();
    let file = written(&directory.path().join("prints"), &[7; 5_000]);
    let mut calls = 0;
    let ended = self_join(
        &file,
        &options(directory.path(), 3, 0, 2),
        Control::none(),
        |_| {
            calls += 1;
            if calls == 10 {
                Err(BatchError::TooMany)
            } else {
                Ok(())
            }
        },
    );
    assert!(matches!(ended, Err(BatchError::TooMany)));
    assert_eq!(calls, 10);
}

/// The last report of each step; cancels the work at a certain step.
#[derive(Default)]
struct Log {
    owned: Mutex<BTreeMap<String, (u64, Option<u64>)>>,
    end: AtomicBool,
    end_at: Option<Step>,
}

impl Progress for Log {
    fn advanced(&self, step: Step, done: u64, of: Option<u64>) {
        self.owned
            .lock()
            .unwrap()
            .insert(format!("{step:?}"), (done, of));
        if self.end_at == Some(step) {
            self.end.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn progress_reaches_the_end_and_a_cancelled_join_ends() {
    let directory = tempfile::tempdir().unwrap();
    let fingerprints: Vec<u64> = (0..10_000).map(mixed).collect();
    let file = written(&directory.path().join("prints"), &fingerprints);
    let run = |log: &Log| {
        let options = options(directory.path(), 3, MIN_MEMORY, 2);
        self_join(&file, &options, Control::new(log, &log.end), |_| {
            Ok::<(), BatchError>(())
        })
    };
    let log = Log::default();
    run(&log).unwrap();
    let owned = log.owned.into_inner().unwrap();
    assert_eq!(owned.len(), 3);
    for (step, (done, of)) in owned {
        assert_eq!(Some(done), of, "{step}");
    }
    for step in [Step::Reading, Step::Sorting, Step::Joining] {
        let log = Log {
            end_at: Some(step),
            ..Log::default()
        };
        assert!(matches!(run(&log), Err(BatchError::Cancelled)), "{step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_join_finds_what_brute_force_finds_in_memory_and_spilled(
        count in 2_usize..4_500,
        centres in 1_u64..400,
        flips in prop::sample::select(vec![0_u64, 1, 3, 7, 15]),
        distance in 0_u32..8,
        workers in 1_usize..4,
        seed: u64,
    ) {
        // Clusters large enough to skew buckets, small enough to list their pairs.
        let fingerprints = clustered(count, centres.max(count as u64 / 40), flips, seed);
        let directory = tempfile::tempdir().unwrap();
        let file = written(&directory.path().join("prints"), &fingerprints);
        let expected = all_pairs(&fingerprints, distance);
        let (pairs, owned) = joined(&file, &options(directory.path(), distance, 1 << 20, workers));
        prop_assert_eq!(owned.spilled, 0);
        prop_assert_eq!(first_difference(&pairs, &expected), None);
        let (pairs, owned) =
            joined(&file, &options(directory.path(), distance, MIN_MEMORY, workers));
        prop_assert_eq!(owned.spilled > 0, count > MIN_MEMORY / 26);
        prop_assert_eq!(first_difference(&pairs, &expected), None);
    }

    #[test]
    fn a_query_finds_what_brute_force_finds(
        queries in 0_usize..700,
        repository in 0_usize..2_000,
        centres in 1_u64..300,
        flips in prop::sample::select(vec![0_u64, 1, 3, 7, 15]),
        distance in 0_u32..8,
        workers in 1_usize..4,
        seed: u64,
    ) {
        let all = clustered(queries + repository, centres, flips, seed);
        let (queries, repository) = all.split_at(queries);
        let directory = tempfile::tempdir().unwrap();
        let mut expected = Vec::new();
        for (number, one) in (0..).zip(queries) {
            for (position, other) in (0..).zip(repository) {
                let apart = (one ^ other).count_ones();
                if apart <= distance {
                    expected.push(QueryMatch { query: number, position, distance: apart });
                }
            }
        }
        let mut hits = Vec::new();
        let looked_at = query(
            &written(&directory.path().join("queries"), queries),
            &written(&directory.path().join("repository"), repository),
            distance,
            NonZeroUsize::new(workers).unwrap(),
            Control::none(),
            |hit| {
                hits.push(hit);
                Ok::<(), BatchError>(())
            },
        );
        prop_assert_eq!(looked_at.unwrap(), repository.len() as u64);
        hits.sort_unstable();
        prop_assert_eq!(first_difference(&hits, &expected), None);
    }
}
