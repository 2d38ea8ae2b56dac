//! Quarter tables against brute force, singly and in batches, growing and shrinking, uniform and
//! skewed.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::oracle::{brute_force, clustered, neighbour};
use super::{MAX_DISTANCE, MAX_EQUAL, Neighbour, QuarterTables};
use crate::fingerprint::Fingerprint;
use crate::mix::mix;

fn inserted(held: &[(u64, u32)]) -> QuarterTables {
    let mut tables = QuarterTables::new();
    held.iter()
        .for_each(|&(bits, id)| assert!(tables.insert(Fingerprint::new(bits), id)));
    tables
}

fn built(held: &[(u64, u32)]) -> QuarterTables {
    held.iter()
        .map(|&(bits, id)| (Fingerprint::new(bits), id))
        .collect()
}

fn batch(tables: &QuarterTables, probes: &[u64], distance: u32) -> Vec<Vec<Neighbour>> {
    let probes: Vec<Fingerprint> = probes.iter().map(|&bits| Fingerprint::new(bits)).collect();
    let mut found = vec![Vec::new(); probes.len()];
    tables.each_within_batch(&probes, distance, |query, neighbour| {
        found[query].push(neighbour);
    });
    found.iter_mut().for_each(|found| found.sort_unstable());
    found
}

/// One at a time and in a batch, at every distance.
fn check(tables: &QuarterTables, held: &[(u64, u32)], probes: &[u64]) {
    assert_eq!(tables.len(), held.len());
    for distance in 0..=MAX_DISTANCE {
        let batched = batch(tables, probes, distance);
        for (&probe, batched) in probes.iter().zip(batched) {
            let expected = brute_force(held, probe, distance);
            assert_eq!(tables.within(Fingerprint::new(probe), distance), expected);
            assert_eq!(batched, expected);
        }
    }
}

#[test]
fn empty_tables_find_nothing() {
    let tables = QuarterTables::new();
    assert!(tables.is_empty());
    assert_eq!(tables.within(Fingerprint::new(0), 7), []);
    assert_eq!(
        batch(&tables, &[0, 1, 2], 7),
        [[], [], []] as [[Neighbour; 0]; 3]
    );
    assert!(built(&[]).is_empty());
}

#[test]
fn everything_planted_among_two_hundred_thousand_is_found_and_nothing_else() {
    let held: Vec<(u64, u32)> = (0..200_000).map(|id| (mix(u64::from(id)), id)).collect();
    for tables in [inserted(&held), built(&held)] {
        assert_eq!(tables.fingerprints(), held.len());
        let planted: Vec<u64> = (0..20)
            .map(|n| neighbour(mix(n * 997), n as u32 % 8, n))
            .collect();
        check(&tables, &held, &planted);
    }
}

/// Large batches are put in order, table by table, and cut into lots.
#[test]
fn a_large_batch_finds_what_single_probes_find() {
    let held: Vec<(u64, u32)> = (0..50_000)
        .map(|id| (mix(u64::from(id % 40_000)), id))
        .collect();
    let tables = built(&held);
    let probes: Vec<u64> = (0..4_200)
        .map(|n| neighbour(mix(n * 5), n as u32 % 9, n))
        .collect();
    for distance in [0, 3, 5] {
        for (probe, batched) in probes.iter().zip(batch(&tables, &probes, distance)) {
            assert_eq!(batched, tables.within(Fingerprint::new(*probe), distance));
        }
    }
}

/// A crowded quarter is cut by siblings as well.
#[test]
fn a_crowded_quarter_is_cut_by_siblings_and_answers_the_same() {
    let crowd = |id: u32| match id % 3 {
        0 => mix(u64::from(id)) >> 16,
        1 => mix(u64::from(id)) & !0xffff,
        _ => mix(u64::from(id)) & !0xffff_0000_0000 | 0x1234_0000_0000,
    };
    let held: Vec<(u64, u32)> = (0..60_000).map(|id| (crowd(id), id)).collect();
    let mut probes: Vec<u64> = (0..10)
        .map(|n| neighbour(held[n * 991].0, n as u32 % 8, 7))
        .collect();
    probes.extend([0, u64::MAX, 0xffff]);
    check(&built(&held), &held, &probes);
    check(&inserted(&held), &held, &probes);
}

#[test]
fn a_million_equal_ones_cost_no_more_than_the_ids_that_are_kept() {
    let same = Fingerprint::new(mix(1));
    let mut tables = QuarterTables::new();
    let kept = (0..1_000_000).filter(|&id| tables.insert(same, id)).count();
    assert_eq!(
        (kept, tables.len(), tables.fingerprints()),
        (MAX_EQUAL, MAX_EQUAL, 1)
    );
    let built = QuarterTables::build((0..1_000_000).map(|id| (same, id)).collect());
    let near = Fingerprint::new(same.as_u64() ^ 0b111);
    assert_eq!(tables.within(near, 3), built.within(near, 3));
    assert_eq!(built.len(), MAX_EQUAL);
    // A place that has become free can be taken again.
    assert!(
        tables.remove(same, 3) && tables.insert(same, 5_000_000) && !tables.insert(same, 5_000_001)
    );
}

#[test]
fn in_a_cluster_of_thirty_thousand_a_probe_can_stop_after_the_first_few() {
    let cluster: BTreeSet<u64> = (0..35_000)
        .map(|n| neighbour(mix(7), n as u32 % 8, n))
        .collect();
    let held: Vec<(u64, u32)> = cluster.iter().copied().zip(0..).collect();
    let mut tables = built(&held);
    let probes = [mix(7), neighbour(mix(7), 4, 9)];
    assert_eq!(
        batch(&tables, &probes, 2)[0],
        brute_force(&held, probes[0], 2)
    );
    for &(bits, id) in held.iter().step_by(2) {
        assert!(tables.remove(Fingerprint::new(bits), id));
    }
    assert_eq!(tables.len(), held.len() / 2);
}

#[test]
fn any_id_can_be_held_including_the_greatest() {
    let same = Fingerprint::new(5);
    let mut tables = QuarterTables::new();
    assert!(tables.insert(same, u32::MAX));
    assert_eq!(
        tables.within(same, 0),
        [Neighbour {
            distance: 0,
            id: u32::MAX
        }]
    );
    assert!(tables.insert(same, 0) && tables.insert(same, u32::MAX));
    assert_eq!(tables.within(same, 0).len(), 3);
    assert_eq!(built(&[(5, u32::MAX)]).within(same, 0).len(), 1);
    assert!(tables.remove(same, u32::MAX) && tables.remove(same, u32::MAX));
    assert!(!tables.remove(same, u32::MAX) && tables.remove(same, 0));
    assert!(tables.is_empty() && tables.within(same, 7).is_empty());
    assert!(tables.insert(same, 9) && !tables.remove(same, 8));
}

#[test]
fn a_hundred_thousand_take_less_than_forty_bytes_each_and_a_few_thousand_a_few_megabytes() {
    let held = |count: u32| {
        (0..count)
            .map(|id| (mix(u64::from(id)), id))
            .collect::<Vec<_>>()
    };
    assert!(inserted(&held(400_000)).memory() < 400_000 * 40);
    assert!(built(&held(400_000)).memory() < 400_000 * 40);
    assert!(inserted(&held(5_000)).memory() < 6_000_000);
    assert!(QuarterTables::new().memory() < 200_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn at_every_distance_exactly_what_brute_force_finds_is_found(
        seeds in prop::collection::vec((0_u64..40, 0_u32..10, any::<u64>()), 1..900), removed: u64,
    ) {
        let mut held = clustered(&seeds);
        let probes: Vec<u64> = (0..40).map(mix).collect();
        let mut tables = inserted(&held);
        check(&tables, &held, &probes);
        check(&built(&held), &held, &probes);
        held.retain(|&(bits, id)| {
            let stays = mix(removed ^ u64::from(id)).is_multiple_of(2);
            assert!(stays || tables.remove(Fingerprint::new(bits), id));
            stays
        });
        check(&tables, &held, &probes);
        for n in 0..200 {
            held.push((neighbour(mix(n % 40), n as u32 % 9, removed ^ n), 10_000 + n as u32));
            assert!(tables.insert(Fingerprint::new(held[held.len() - 1].0), 10_000 + n as u32));
        }
        check(&tables, &held, &probes);
    }
}
