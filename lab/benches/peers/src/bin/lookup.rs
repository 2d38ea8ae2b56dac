//! Near-duplicate lookup: ours beside mih-rs and gaoya, on the same fingerprints, in one run on one
//! core.
//!
//! `cargo run --release --bin lookup -- [fingerprints] [runs]`: random fingerprints, half of the
//! probes planted with 0 to 3 errors (0 to 7 for the second part), recall checked on a sample
//! against a full scan. Peers get no more probes than they can answer in a few seconds; a peer that
//! would take too long to build is left out, with a message.

use std::collections::HashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use neardup::tables::{PermutedTables, QuarterTables, TableDesign};
use neardup::Fingerprint;
use peers::{Random, best_of};

/// The goals in millions of probes a second, by the number of fingerprints: batched, and one at a
/// time.
const GOALS: [(usize, f64); 3] = [(1_000_000, 12.0), (10_000_000, 4.5), (100_000_000, 1.1)];

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|word| word.replace('_', "").parse().ok());
    let held = arguments.next().unwrap_or(1_000_000);
    let runs = arguments.next().unwrap_or(5);
    let mut random = Random::new(3);
    let fingerprints: Vec<u64> = (0..held).map(|_| random.draw()).collect();
    let goal = GOALS
        .iter()
        .find(|(size, _)| *size == held)
        .map(|(_, goal)| *goal);

    let items: Vec<(Fingerprint, u32)> = fingerprints
        .iter()
        .map(|&bits| Fingerprint::new(bits))
        .zip(0..)
        .collect();
    let start = Instant::now();
    let ours = QuarterTables::build(items);
    println!("times are processor time of one thread, best of {runs} runs");
    println!(
        "{held} fingerprints; ours built in {:.2} s",
        start.elapsed().as_secs_f64()
    );
    println!(
        "ours: {:.1} bytes each with ids (goal 33)",
        ours.memory() as f64 / held as f64
    );

    for distance in [3, 7] {
        println!("\nwithin {distance} bits, half of the probes planted");
        let count = if distance == 3 { 1_000_000 } else { 100_000 };
        let probes = probes(&fingerprints, distance, count, &mut random);
        recall(&fingerprints, &ours, &probes, distance);
        let goal = goal.filter(|_| distance == 3);
        let batched = rate(
            count,
            best_of(runs, || {
                let mut found = 0_u64;
                ours.each_within_batch(&probes, distance, |query, near| {
                    found += query as u64 ^ u64::from(near.id)
                });
                found
            }),
        );
        report("ours, batched", batched, goal, None);
        let single = rate(
            count,
            best_of(runs, || {
                let mut found = 0_u64;
                for (query, &probe) in probes.iter().enumerate() {
                    ours.each_within(probe, distance, |near| {
                        found += query as u64 ^ u64::from(near.id)
                    });
                }
                found
            }),
        );
        report(
            "ours, one at a time",
            single,
            goal.map(|goal| goal / 2.0),
            None,
        );
        if std::env::var_os("ALONE").is_none() {
            peers(&fingerprints, &probes, distance, runs, batched);
        }
    }
}

/// Returns this many probes; every other one is a stored fingerprint with up to `distance` errors.
fn probes(
    fingerprints: &[u64],
    distance: u32,
    count: usize,
    random: &mut Random,
) -> Vec<Fingerprint> {
    let planted = |random: &mut Random| {
        let of = fingerprints[random.below(fingerprints.len() as u64) as usize];
        let errors = random.below(u64::from(distance) + 1) as u32;
        let mut flips = 0_u64;
        while flips.count_ones() < errors {
            flips |= 1 << random.below(64);
        }
        of ^ flips
    };
    let draw = |n: usize| {
        Fingerprint::new(if n % 2 == 0 {
            planted(random)
        } else {
            random.draw()
        })
    };
    (0..count).map(draw).collect()
}

/// Compares the answers to the first probes with those of a full scan.
fn recall(fingerprints: &[u64], ours: &QuarterTables, probes: &[Fingerprint], distance: u32) {
    let sample = &probes[..(4_000_000_000 / fingerprints.len()).clamp(20, 2_000)];
    let mut batched = vec![HashSet::new(); sample.len()];
    ours.each_within_batch(sample, distance, |query, near| {
        assert!(batched[query].insert(near.id))
    });
    let (mut expected, mut found) = (0, 0);
    for (probe, batched) in sample.iter().zip(batched) {
        let near = |(_, bits): &(u32, &u64)| (*bits ^ probe.as_u64()).count_ones() <= distance;
        let truth: HashSet<u32> = (0..)
            .zip(fingerprints)
            .filter(near)
            .map(|(id, _)| id)
            .collect();
        expected += truth.len();
        found += truth.intersection(&batched).count();
        assert!(batched.is_subset(&truth), "found what is not near");
        let single: HashSet<u32> = ours
            .within(*probe, distance)
            .iter()
            .map(|near| near.id)
            .collect();
        assert_eq!(single, truth, "one at a time");
    }
    println!(
        "recall: {found} of {expected} neighbours of {} probes (brute force)",
        sample.len()
    );
}

/// Returns thousands of probes a second.
fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}

fn report(what: &str, rate: f64, goal: Option<f64>, ours: Option<f64>) {
    let goal = goal.map_or(String::new(), |goal| format!(" (goal {goal})"));
    let ratio = ours.map_or(String::new(), |ours| {
        format!(": ours is {:.1} times as fast", ours / rate)
    });
    println!(
        "{what:<24} {rate:>8.3} M/s {:>9.0} ns{goal}{ratio}",
        1e3 / rate
    );
}

fn peers(fingerprints: &[u64], probes: &[Fingerprint], distance: u32, runs: usize, ours: f64) {
    let runs = runs.min(3);
    if fingerprints.len() > 20_000_000 {
        println!("peers are left out: they take tens of gigabytes or hours at this size");
        return;
    }
    let some = &probes[..if distance == 3 { 100_000 } else { 2_000 }];
    let index = mih_rs::Index::new(fingerprints.to_vec()).expect("mih-rs takes any codes");
    let mut searcher = index.range_searcher();
    let best = best_of(runs, || {
        let answers = some
            .iter()
            .map(|probe| searcher.run(probe.as_u64(), distance as usize).len());
        answers.sum::<usize>()
    });
    let goal = if fingerprints.len() > 2_000_000 {
        18
    } else {
        10
    };
    report("mih-rs", rate(some.len(), best), None, Some(ours));
    if distance == 3 {
        println!("{:<24} goal: {goal} times as fast", "");
    }
    drop(searcher);
    drop(index);
    if distance > 3 {
        return;
    }
    let items = fingerprints
        .iter()
        .map(|&bits| Fingerprint::new(bits))
        .zip(0..);
    let paper = PermutedTables::build(
        TableDesign::new(64, 3, &[6]).expect("the paper has it"),
        items,
    );
    let best = best_of(runs, || {
        let mut found = 0;
        some.iter()
            .for_each(|&probe| paper.each_within(probe, 3, |near| found += near.id as usize));
        found
    });
    report(
        "20 sorted tables (ours)",
        rate(some.len(), best),
        None,
        Some(ours),
    );
    drop(paper);
    // It finds distances below the one that it is made with.
    let mut index = gaoya::simhash::SimHashIndex::<u64, u32>::new(6, 4);
    index.par_bulk_insert(
        (0..fingerprints.len() as u32).collect(),
        fingerprints.to_vec(),
    );
    let some = &some[..some.len().min(20_000)];
    let best = best_of(runs, || {
        some.iter()
            .map(|probe| black_box(index.query(&probe.as_u64())).len())
            .sum::<usize>()
    });
    report(
        "gaoya, six blocks",
        rate(some.len(), best),
        None,
        Some(ours),
    );
    println!("{:<24} goal at 1 M: 30 times as fast", "");
}
