//! MinHashes of 200 values of documents of 1,000 shingles: ours, gaoya's, and rensa's if a
//! Python has it.
//!
//!     cargo run --release --bin minhash [-- venv/bin/python]
//!
//! All get the same documents, in one run, on one core; the best of several runs counts. From
//! *hashes* means that each shingle is hashed already; from *strings*, that each is a string.
//! Prints documents a second, ratios, and goals beside them.

use std::hash::{BuildHasherDefault, Hasher};
use std::process::Command;

use classics::minhash::{Family, MinHasher};
use gaoya::minhash::{MinHasher as _, MinHasher32, MinHasher64V1};
use neardup::{ExactFingerprint, HashKey, NormalText, Shingles, Sketch, Width};
use peers::{Random, best_of};

const DOCUMENTS: usize = 256;
const SHINGLES: usize = 1_000;
const VALUES: usize = 200;
const WORDS: u64 = 50_000;
const RUNS: usize = 15;

fn main() {
    let documents = documents();
    println!(
        "{DOCUMENTS} documents of {SHINGLES} shingles, {VALUES} values, one core; documents a \
         second:\n"
    );

    let hashes: Vec<Vec<u64>> = documents
        .iter()
        .map(|document| hashed(&document.shingles))
        .collect();
    let sets: Vec<Shingles> = hashes
        .iter()
        .map(|hashes| Shingles::from_hashes(hashes.clone()))
        .collect();
    let fast = MinHasher::new(Family::Fast, VALUES).expect("so many are possible");
    let permutations = MinHasher::new(Family::Permutations, VALUES).expect("so many are possible");

    let ours = rate("ours, fast, hashes", &hashes, |hashes| {
        fast.of_members(hashes, SHINGLES as u64)
    });
    rate("ours, fast, sorted set", &sets, |set| fast.of(set));
    rate(
        "ours, fast, hashes, sorted for their number",
        &hashes,
        |hashes| fast.of(&Shingles::from_hashes(hashes.clone())),
    );
    let ours_from_strings = rate("ours, fast, strings", &documents, |document| {
        fast.of_members(&hashed(&document.shingles), SHINGLES as u64)
    });
    rate("ours, fast, text", &documents, |document| {
        fast.of(&Shingles::of(
            &NormalText::of(&document.text),
            Width::VERIFICATION,
            HashKey::ZERO,
        ))
    });
    let permuted = rate("ours, permutations, hashes", &hashes, |hashes| {
        permutations.of_members(hashes, SHINGLES as u64)
    });
    rate("ours, sketch of 256, sorted set", &sets, Sketch::of);
    let sketches: Vec<Sketch> = sets.iter().filter_map(Sketch::of).collect();
    rate(
        "ours, comparing a sketch with 256 others",
        &sketches,
        |one| {
            sketches
                .iter()
                .map(|other| one.resemblance(other))
                .sum::<f64>()
        },
    );
    let minhashes: Vec<_> = sets.iter().map(|set| fast.of(set)).collect();
    rate(
        "ours, comparing a MinHash with 256 others",
        &minhashes,
        |one| {
            minhashes
                .iter()
                .filter_map(|other| one.resemblance(other).ok())
                .sum::<f64>()
        },
    );

    let as_it_is = BuildHasherDefault::<AsItIs>::default();
    let gaoya_32 = MinHasher32::new_with_hasher(VALUES, as_it_is.clone());
    let gaoya_64 = MinHasher64V1::new_with_hasher(VALUES, as_it_is);
    let gaoya = [
        rate("gaoya MinHasher32, hashes", &hashes, |hashes| {
            gaoya_32.create_signature(hashes.iter())
        }),
        rate("gaoya MinHasher64V1, hashes", &hashes, |hashes| {
            gaoya_64.create_signature(hashes.iter())
        }),
    ];
    let gaoya = gaoya.into_iter().fold(0.0, f64::max);

    println!("\nfrom hashes: {ours:.0} a second (goal 170,000)");
    println!(
        "from hashes: {:.1} times the fastest of gaoya (goal 10); permutations {:.1} times",
        ours / gaoya,
        permuted / gaoya
    );
    let Some(python) = std::env::args().nth(1) else {
        println!("rensa: not run; give the Python that has it");
        return;
    };
    let theirs = rensa(&python);
    let best = |of: &str| {
        let of = theirs
            .iter()
            .filter(|(_, way)| way.contains(of) && !way.starts_with("Rho"));
        of.map(|(rate, _)| *rate).fold(0.0, f64::max)
    };
    println!(
        "from hashes: {:.1} times the fastest of rensa (goal 3)",
        ours / best("hashes")
    );
    println!(
        "from strings: {:.1} times the fastest of rensa (goal 3)",
        ours_from_strings / best("strings")
    );
    error_beside_theory(&fast);
    error_beside_theory(&permutations);
}

struct Document {
    text: String,
    shingles: Vec<String>,
}

/// The same as in rensa.py.
fn documents() -> Vec<Document> {
    let mut random = Random::new(7);
    (0..DOCUMENTS)
        .map(|_| {
            let words: Vec<String> = (0..SHINGLES + 2)
                .map(|_| format!("word{}", random.below(WORDS)))
                .collect();
            Document {
                text: words.join(" "),
                shingles: words.windows(3).map(|run| run.join(" ")).collect(),
            }
        })
        .collect()
}

fn hashed(shingles: &[String]) -> Vec<u64> {
    shingles
        .iter()
        .map(|shingle| ExactFingerprint::of_bytes(shingle.as_bytes(), HashKey::ZERO).as_u64())
        .collect()
}

/// Prints documents a second.
fn rate<T, R>(way: &str, documents: &[T], work: impl Fn(&T) -> R) -> f64 {
    let time = best_of(RUNS, || {
        for document in documents {
            std::hint::black_box(work(document));
        }
    });
    let rate = documents.len() as f64 / time.as_secs_f64();
    println!("{rate:>12.0}  {way}");
    rate
}

fn rensa(python: &str) -> Vec<(f64, String)> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/rensa.py");
    let output = Command::new(python)
        .arg(script)
        .output()
        .expect("the interpreter runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let ways = lines.lines().filter_map(|line| line.split_once(' '));
    ways.filter_map(|(rate, way)| {
        let rate: f64 = rate.parse().ok()?;
        println!("{rate:>12.0}  rensa {way}");
        Some((rate, way.to_owned()))
    })
    .collect()
}

/// Measures the error over 10,000 pairs of sets of 1,000 members with resemblances from 0.05 to
/// 0.95.
fn error_beside_theory(hasher: &MinHasher) {
    const PAIRS: usize = 10_000;
    let mut random = Random::new(11);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..PAIRS {
        let shared = 100 + random.below(876) as usize;
        let members: Vec<u64> = (0..2 * SHINGLES - shared).map(|_| random.draw()).collect();
        let one = hasher.of_members(&members[..SHINGLES], SHINGLES as u64);
        let two = hasher.of_members(&members[SHINGLES - shared..], SHINGLES as u64);
        let resemblance = shared as f64 / (2 * SHINGLES - shared) as f64;
        let theory = (resemblance * (1.0 - resemblance) / VALUES as f64).sqrt();
        let error = (one.resemblance(&two).expect("made alike") - resemblance) / theory;
        sum += error;
        squares += error * error;
    }
    println!(
        "{:?}: over {PAIRS} pairs a bias of {:.3} and an error of {:.3} in units of theory's \
         √(J(1-J)/n) (goal 0.9 to 1.1, or less)",
        hasher.of_members(&[1], 1).family(),
        sum / PAIRS as f64,
        (squares / PAIRS as f64).sqrt()
    );
}

/// A hasher that returns its input, which is gaoya's best case.
#[derive(Clone, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |hash, byte| hash << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
