//! Fingerprints in files: many queries against a repository, and all pairs of similar ones.
//!
//! `cargo run --release --bin batch [queries] [repository] [joined]`, by default a million against
//! fifty millions, and a join of a million, then of ten. Half of the queries have a neighbour
//! planted within three bits, and all of these must be found. Goal of the batch query: at most
//! 60 ns a fingerprint of the repository a core.

use std::num::NonZeroUsize;
use std::path::Path;

use batch::{
    BatchError, Control, FingerprintFile, FingerprintWriter, JoinOptions, Queries, ParametersDigest,
    self_join,
};
use neardup::{Features, Fingerprint, HashKey};
use peers::{Random, best_by_clock};

const RUNS: usize = 3;

/// Returns the least processor time of `runs` runs of `work`, in seconds, of all threads together.
/// Unlike the clock it is the same on a busy machine. Linux only; elsewhere it is 0.
fn min_cpu(runs: usize, mut work: impl FnMut()) -> f64 {
    let run = |_| {
        let before = cpu_seconds();
        work();
        cpu_seconds() - before
    };
    (0..runs.max(1)).map(run).fold(f64::INFINITY, f64::min)
}

/// Returns the user and system time of this process so far, from `/proc/self/stat`, in steps of
/// 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .flat_map(str::parse::<u64>)
        .sum();
    ticks as f64 / 100.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = std::env::args()
        .skip(1)
        .map(|size| size.replace('_', "").parse::<usize>());
    let mut size = |usual| sizes.next().unwrap_or(Ok(usual));
    let (queries, repository, joined) = (size(1_000_000)?, size(50_000_000)?, size(10_000_000)?);
    let directory = tempfile::tempdir()?;
    batch_query(directory.path(), queries, repository)?;
    for count in [joined / 10, joined] {
        for memory in [2 << 30, 64 << 20] {
            join(directory.path(), count, memory)?;
        }
    }
    Ok(())
}

/// Returns random fingerprints, some of which are an earlier one with up to three bits flipped, and
/// the numbers of those 0, 1, 2 and 3 bits away.
fn write(
    path: &Path,
    count: usize,
    mut plant: impl FnMut(usize, &mut Random) -> Option<u64>,
) -> Result<(FingerprintFile, [u64; 4]), BatchError> {
    let mut planted_at = [0; 4];
    let mut random = Random::new(count as u64);
    let mut writer = FingerprintWriter::create(
        path,
        ParametersDigest::new(Features::default(), HashKey::ZERO),
        false,
    )?;
    for at in 0..count {
        let bits = match plant(at, &mut random) {
            Some(planted) => {
                let bits =
                    (0..random.below(4)).fold(planted, |bits, _| bits ^ 1 << random.below(64));
                planted_at[(bits ^ planted).count_ones() as usize] += 1;
                bits
            }
            None => random.draw(),
        };
        writer.push(Fingerprint::new(bits), 0)?;
    }
    Ok((writer.finish()?, planted_at))
}

fn batch_query(directory: &Path, queries: usize, repository: usize) -> Result<(), BatchError> {
    let mut random = Random::new(1);
    let asked: Vec<Fingerprint> = (0..queries)
        .map(|_| Fingerprint::new(random.draw()))
        .collect();
    let every = repository / (queries / 2).max(1);
    let (file, planted_at) = write(&directory.join("repository"), repository, |at, _| {
        let query = (at % every == 0)
            .then(|| asked.get(2 * (at / every)))
            .flatten()?;
        Some(query.as_u64())
    })?;
    for distance in [1, 3] {
        let planted: u64 = planted_at[..=distance as usize].iter().sum();
        let mut indexed = None;
        let index = best_by_clock(1, || indexed = Queries::new(&asked, distance).ok());
        let Some(indexed) = indexed else { continue };
        println!(
            "k = {distance}: {queries} queries indexed in {:.2} s, {:.0} bytes each",
            index.as_secs_f64(),
            indexed.memory() as f64 / queries as f64
        );
        for workers in [1, 2] {
            let workers = NonZeroUsize::new(workers).unwrap_or(NonZeroUsize::MIN);
            let (mut hits, mut cpu) = (0_u64, f64::INFINITY);
            let time = best_by_clock(RUNS, || {
                cpu = cpu.min(min_cpu(1, || {
                    hits = 0;
                    let counted = indexed.run(&file, workers, Control::none(), |_| {
                        hits += 1;
                        Ok::<(), BatchError>(())
                    });
                    assert!(counted.is_ok(), "{counted:?}");
                }));
            });
            assert!(hits >= planted, "{hits} of {planted} were found");
            println!(
                "  {repository} streamed by {workers}: {:.2} s by the clock, {:.1} ns of a core \
                 each, {hits} hits",
                time.as_secs_f64(),
                cpu * 1e9 / repository as f64
            );
        }
    }
    Ok(())
}

fn join(directory: &Path, count: usize, memory: usize) -> Result<(), BatchError> {
    let mut last = 0;
    let mut planted = 0;
    let (file, _) = write(&directory.join("joined"), count, |at, random| {
        if at % 20 == 10 {
            last = random.draw();
            return Some(last);
        }
        (at % 20 == 11).then(|| {
            planted += 1;
            last
        })
    })?;
    for workers in [1, 2] {
        let options = JoinOptions {
            distance: 3,
            memory,
            workers: NonZeroUsize::new(workers).unwrap_or(NonZeroUsize::MIN),
            scratch: directory.to_owned(),
        };
        let (mut joined, mut cpu) = (None, f64::INFINITY);
        let time = best_by_clock(RUNS, || {
            cpu = cpu.min(min_cpu(1, || {
                joined = self_join(&file, &options, Control::none(), |_| {
                    Ok::<(), BatchError>(())
                })
                .ok();
            }));
        });
        let Some(joined) = joined else { continue };
        println!(
            "all pairs ≤ 3 of {count} in {} MiB by {workers}: {:.3} s by the clock, {cpu:.2} s of \
             processors, {} pairs, {planted} planted up to 6 bits apart, {} MiB spilled",
            memory >> 20,
            time.as_secs_f64(),
            joined.pairs,
            joined.spilled >> 20,
        );
    }
    Ok(())
}
