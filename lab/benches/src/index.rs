//! The cost of an index of fingerprints on disk, beside streaming the file that it was made of.
//!
//! Fingerprints are random, as hashes are. Half of the queries differ from one of them in 0 to 3
//! bits, the others are random; every planted neighbour must be found. Single probes are made one
//! after the other by one reader, once before they are timed, so that the system holds what they
//! read. Seconds are wall time, with processor time of all threads behind it.
//!
//! ```text
//! cargo run --release -p benches --bin bench-index -- [--counts 1000000,10000000]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use batch::{
    BatchError, Control, FingerprintFile, FingerprintIndex, FingerprintWriter, IndexOptions,
    IndexWriter, ParametersDigest, QueryOptions, Repository, Shard, ordered_query,
};
use clap::Parser;
use neardup::{Features, Fingerprint, HashKey};
use nix::time::{ClockId, clock_gettime};

type Failure = Box<dyn Error>;

/// Measure an index of fingerprints on disk
#[derive(Debug, Parser)]
struct Options {
    /// Numbers of fingerprints
    #[arg(long, default_value = "1000000,10000000", value_delimiter = ',')]
    counts: Vec<u64>,
    /// Queries that are searched together
    #[arg(long, default_value_t = 100_000)]
    queries: u64,
    /// Queries that are made one after the other
    #[arg(long, default_value_t = 2_000)]
    singles: u64,
    /// Distances in bits
    #[arg(long, default_value = "3,7", value_delimiter = ',')]
    distances: Vec<u32>,
    /// Memory for sorting, in MiB
    #[arg(long, default_value_t = 256)]
    memory: usize,
    /// Directory for the files, which are removed at the end [default: the system's for temporary
    /// files]
    #[arg(long)]
    directory: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let directory = match &options.directory {
        Some(directory) => tempfile::tempdir_in(directory)?,
        None => tempfile::tempdir()?,
    };
    for &count in &options.counts {
        measure(&options, count, directory.path())?;
    }
    Ok(())
}

fn measure(options: &Options, count: u64, directory: &Path) -> Result<(), Failure> {
    println!("{count} fingerprints");
    let file = written(&directory.join("corpus.fp"), (0..count).map(mixed))?;
    let path = directory.join("corpus.fpi");
    let writer = IndexWriter::new(&path, File::create(&path)?);
    let index_options = IndexOptions {
        memory: options.memory << 20,
        scratch: directory.to_owned(),
    };
    let (took, index) = timed(|| writer.write(&file, &index_options, Control::none()));
    let index = index?;
    let per_fingerprint = index.bytes() as f64 / count as f64;
    println!("  built: {took}; {per_fingerprint:.1} B a fingerprint");
    let queries: Vec<u64> = (0..options.queries)
        .map(|number| query(number, count))
        .collect();
    let asked = written(&directory.join("queries.fp"), queries.iter().copied())?;
    let (file, index) = (Repository::File(file), Repository::Index(index));
    for &distance in &options.distances {
        if let Repository::Index(index) = &index {
            singly(options, index, count, distance)?;
        }
        let mut found = Vec::new();
        for (name, repository) in [("index", &index), ("stream", &file)] {
            let (took, matches) = timed(|| together(&asked, repository, distance, directory));
            found.push(matches?);
            let each = took.wall.as_secs_f64() * 1e6 / options.queries as f64;
            println!(
                "  {distance} bits, {name}: {} queries {took}, {each:.2} µs",
                options.queries
            );
        }
        if found[0] != found[1] {
            return Err(format!("{} and {} matches", found[0], found[1]).into());
        }
    }
    Ok(())
}

/// Makes queries one after the other.
fn singly(
    options: &Options,
    index: &FingerprintIndex,
    count: u64,
    distance: u32,
) -> Result<(), Failure> {
    let mut reader = index.read();
    let mut probe_all = || {
        for number in 0..options.singles {
            let probe = query(number, count);
            let near = reader.within(Fingerprint::new(probe), distance)?;
            let planted = place(number, count);
            if distance >= 3 && number % 2 == 0 && !near.iter().any(|near| near.position == planted)
            {
                return Err(format!("query {number} does not find {planted}").into());
            }
        }
        Ok::<u64, Failure>(reader.blocks_read())
    };
    let before = probe_all()?;
    let (took, after) = timed(probe_all);
    let singles = options.singles as f64;
    println!(
        "  {distance} bits, singly: {:.2} µs ({:.2} of processor time), {:.1} pages",
        took.wall.as_secs_f64() * 1e6 / singles,
        took.processor.as_secs_f64() * 1e6 / singles,
        (after? - before) as f64 / singles
    );
    Ok(())
}

/// Returns the number of matches of all queries.
fn together(
    queries: &FingerprintFile,
    repository: &Repository,
    distance: u32,
    directory: &Path,
) -> Result<u64, BatchError> {
    let options = QueryOptions {
        distance,
        shard: Shard::WHOLE,
        memory: 256 << 20,
        workers: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        scratch: directory.to_owned(),
    };
    let visit = |_| Ok::<(), BatchError>(());
    Ok(ordered_query(queries, repository, &options, Control::none(), visit)?.matches)
}

fn written(
    path: &Path,
    fingerprints: impl Iterator<Item = u64>,
) -> Result<FingerprintFile, BatchError> {
    let parameters_digest = ParametersDigest::new(Features::default(), HashKey::ZERO);
    let mut writer = FingerprintWriter::create(path, parameters_digest, true)?;
    // Ids as those of names of 24 bytes.
    for (bits, number) in fingerprints.zip(0..) {
        writer.push(Fingerprint::new(bits), 24 * number)?;
    }
    writer.finish()
}

/// Returns the position of the fingerprint that a query of an even number resembles.
fn place(number: u64, count: u64) -> u64 {
    mixed(!number) % count
}

/// Returns a fingerprint near one of `count`, or a random one.
fn query(number: u64, count: u64) -> u64 {
    match number % 2 {
        0 => {
            let flips = (0..mixed(number ^ 77) % 4).map(|flip| mixed(number << 8 ^ flip) % 64);
            flips.fold(mixed(place(number, count)), |bits, flip| bits ^ 1 << flip)
        }
        _ => mixed(!number),
    }
}

/// SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

struct Took {
    wall: Duration,
    processor: Duration,
}

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [wall, processor] = [self.wall, self.processor].map(|time| time.as_secs_f64());
        write!(f, "{wall:.2} s ({processor:.2} of processor time)")
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Took, T) {
    let clock = |clock| clock_gettime(clock).map_or(Duration::ZERO, Duration::from);
    let wall = || clock(ClockId::CLOCK_MONOTONIC);
    let processor = || clock(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    let (begun, used) = (wall(), processor());
    let done = work();
    let took = Took {
        wall: wall().saturating_sub(begun),
        processor: processor().saturating_sub(used),
    };
    (took, done)
}
