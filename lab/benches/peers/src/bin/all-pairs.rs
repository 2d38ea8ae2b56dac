//! All pairs within 3 bits: ours beside all-pairs-hamming, on the same fingerprints, in one run on
//! one core.
//!
//! `cargo run --release --bin all-pairs -- [fingerprints] [runs]`: random fingerprints, a tenth of
//! them copies of earlier ones with 1 to 5 errors. Both must find the same pairs.

use std::collections::HashSet;

use all_pairs_hamming::multi_sort::MultiSort;
use neardup::tables::{Pair, each_pair};
use neardup::Fingerprint;
use peers::{Random, best_of};

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|word| word.replace('_', "").parse().ok());
    let count: usize = arguments.next().unwrap_or(1_000_000);
    let runs = arguments.next().unwrap_or(5);
    let mut random = Random::new(4);
    let mut seen = HashSet::new();
    let mut bits: Vec<u64> = Vec::with_capacity(count);
    while bits.len() < count {
        let mut next = random.draw();
        if bits.len() % 10 == 9 {
            next = bits[random.below(bits.len() as u64) as usize];
            (0..=random.below(5)).for_each(|_| next ^= 1 << random.below(64));
        }
        // The peer pairs equal fingerprints with each other, ours pairs them with the first one;
        // they are not compared.
        if seen.insert(next) {
            bits.push(next);
        }
    }
    let fingerprints: Vec<Fingerprint> = bits.iter().map(|&bits| Fingerprint::new(bits)).collect();
    println!("times are processor time of one thread, best of {runs} runs");
    for distance in [3, 7] {
        let mut pairs: Vec<Pair> = Vec::new();
        let time = best_of(runs, || {
            pairs.clear();
            each_pair(&fingerprints, distance, |pair| pairs.push(pair));
        });
        let ours = time.as_secs_f64();
        println!("within {distance} bits of {count}: {} pairs", pairs.len());
        let goal = if count == 1_000_000 && distance == 3 {
            " (goal 0.07)"
        } else {
            ""
        };
        println!("{:<20} {ours:>8.3} s{goal}", "ours");

        let mut found = hashbrown::HashSet::new();
        let time = best_of(if distance == 3 { runs.min(3) } else { 1 }, || {
            found.clear();
            MultiSort::<u64>::new().similar_pairs(&bits, distance as usize, &mut found);
        });
        let theirs = time.as_secs_f64();
        let ratio = theirs / ours;
        let goal = if distance == 3 { " (goal 8)" } else { "" };
        println!(
            "{:<20} {theirs:>8.3} s: ours is {ratio:.1} times as fast{goal}",
            "all-pairs-hamming"
        );
        let ours: HashSet<(usize, usize)> = pairs
            .iter()
            .map(|pair| (pair.first as usize, pair.second as usize))
            .collect();
        let theirs: HashSet<(usize, usize)> = found
            .iter()
            .map(|&(one, other)| (one.min(other), one.max(other)))
            .collect();
        println!(
            "{:<20} {}\n",
            "the same pairs",
            if ours == theirs { "yes" } else { "NO" }
        );
    }
}
