//! The memory and time of the exact keys and fingerprints of a crawl: `KeyTable` as the eight bands
//! of sketches, `SeenKeys` as the URLs, `QuarterTables` as the fingerprints.
//!
//! Keys are random, as hashes are. Times are processor time of one thread, best of the runs. Memory
//! is the figure of the structures themselves, which the tests of `neardup` check, beside the
//! resident size by Linux (VmRSS).
//!
//! ```text
//! cargo run --release -p benches --bin bench-keys -- [--pages 1000000,10000000] [--runs 3]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use clap::Parser;
use neardup::Fingerprint;
use neardup::keys::{KeyTable, SeenKeys, ShortKey};
use neardup::tables::QuarterTables;
use nix::time::{ClockId, clock_gettime};

type Failure = Box<dyn Error>;

/// Bands of a sketch, each a table of its own.
const BANDS: u64 = 8;
/// Look-ups and insertions that are timed together.
const COUNT: usize = 1_000_000;
/// URLs that are added at a time.
const BATCH: usize = 1_000;

/// Measure the memory of exact keys
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Numbers of pages
    #[arg(long, default_value = "1000000,10000000", value_delimiter = ',')]
    pages: Vec<usize>,
    /// Runs, of which the best counts
    #[arg(long, default_value_t = 3)]
    runs: usize,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    for &pages in &options.pages {
        println!("{pages} pages");
        bands(pages, options.runs)?;
        seen(pages, options.runs)?;
        fingerprints(pages, options.runs)?;
    }
    Ok(())
}

/// Returns the number at this place of this stream: SplitMix64's finaliser (Steele, Lea and Flood,
/// OOPSLA 2014).
fn random(stream: u64, number: usize) -> u64 {
    let mut bits = (stream << 40 | number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

fn bands(pages: usize, runs: usize) -> Result<(), Failure> {
    let before = resident()?;
    let mut tables = Vec::new();
    let mut build = Duration::MAX;
    for band in 0..BANDS {
        let key = |page| ShortKey::of(random(band, page));
        let mut pairs: Vec<(ShortKey, u32)> = (0..pages).map(key).zip(0..).collect();
        pairs.sort_unstable();
        for _ in 0..if band == 0 { runs } else { 1 } {
            let (took, table) = timed(|| KeyTable::from_ascending(pairs.iter().copied()));
            build = build.min(took);
            tables.truncate(band as usize);
            tables.push(table?);
        }
    }
    println!("  eight bands, KeyTable");
    rate("from ascending pairs, pairs", pages, build, "goal 50 M/s");
    memory("loaded", memory_of(&tables), pages, "goal 48");
    println!(
        "    resident: {:.1} B a page",
        per_page(resident()?.saturating_sub(before), pages)
    );
    let look_up = |offset: usize| {
        let mut found = 0_u64;
        for at in 0..COUNT {
            let page = random(99, at) as usize % pages + offset;
            found += tables[0]
                .under(ShortKey::of(random(0, page)))
                .map(u64::from)
                .sum::<u64>();
        }
        found
    };
    each("look-up in one band, hit", COUNT, best(runs, || look_up(0)));
    each(
        "look-up in one band, miss",
        COUNT,
        best(runs, || look_up(pages)),
    );
    let in_all = || {
        let mut found = 0_u64;
        for at in 0..COUNT / 8 {
            let page = random(98, at) as usize % pages;
            let keys = (0..BANDS).map(|band| ShortKey::of(random(band, page)));
            KeyTable::each_under(tables.iter().zip(keys), |id| found += u64::from(id));
        }
        found
    };
    each(
        "look-up of a page in all eight, hit",
        COUNT / 8,
        best(runs, in_all),
    );
    let coming = pages / 10;
    let (took, ()) = timed(|| {
        for page in pages..pages + coming {
            for (table, band) in tables.iter_mut().zip(0..) {
                table.insert(ShortKey::of(random(band, page)), page as u32);
            }
        }
    });
    each(
        "insertion in one band, with its merges",
        coming * tables.len(),
        took,
    );
    memory(
        "a tenth more inserted",
        memory_of(&tables),
        pages + coming,
        "goal 48",
    );
    let mut longest = Duration::ZERO;
    for page in (pages..).skip(coming).take(100_000) {
        longest =
            longest.max(timed(|| tables[0].insert(ShortKey::of(random(0, page)), page as u32)).0);
    }
    println!(
        "    longest of 100,000 insertions, a merge: {:.0} µs",
        longest.as_secs_f64() * 1e6
    );
    let (took, removed) = timed(|| {
        let key = |page| ShortKey::of(random(1, page));
        (0..COUNT / 10)
            .filter(|&page| tables[1].remove(key(page), page as u32))
            .count()
    });
    each("removal in one band, with its merges", removed, took);
    let (took, sum) = timed(|| {
        tables[2]
            .iter()
            .map(|(key, id)| u64::from(key.as_u32() ^ id))
            .sum::<u64>()
    });
    black_box(sum);
    rate("read in order, pairs", tables[2].len(), took, "");
    Ok(())
}

fn seen(pages: usize, runs: usize) -> Result<(), Failure> {
    println!("  URLs seen, SeenKeys");
    let mut keys: Vec<u64> = (0..pages).map(|url| random(20, url)).collect();
    keys.sort_unstable();
    let (mut build, mut insert, mut known, mut single) =
        (Duration::MAX, Duration::MAX, Duration::MAX, Duration::MAX);
    let coming: Vec<u64> = (0..COUNT)
        .map(|at| random(20, if at % 2 == 0 { pages + at } else { at % pages }))
        .collect();
    for run in 0..runs.max(1) {
        let (took, seen) = timed(|| SeenKeys::from_ascending(keys.iter().copied()));
        let mut seen = seen?;
        build = build.min(took);
        if run == 0 {
            memory("loaded", seen.memory(), seen.len(), "goal 9");
        }
        let batches = |seen: &mut SeenKeys| {
            let new = |batch: &[u64]| {
                seen.insert_new(batch)
                    .into_iter()
                    .filter(|is_new| *is_new)
                    .count()
            };
            coming.chunks(BATCH).map(new).sum::<usize>()
        };
        let (took, _) = timed(|| batches(&mut seen));
        insert = insert.min(took);
        if run == 0 {
            println!("    not yet saved: {}", seen.unsaved());
            drop(seen.take_unsaved());
            memory(
                "more inserted and saved",
                seen.memory(),
                seen.len(),
                "goal 9",
            );
        }
        known = known.min(timed(|| batches(&mut seen)).0);
        let more: Vec<u64> = (0..COUNT / 4).map(|at| random(21, at)).collect();
        single = single.min(timed(|| more.iter().filter(|key| seen.insert(**key)).count()).0);
    }
    rate("from ascending keys, keys", pages, build, "");
    rate(
        "inserted in batches of 1,000, half of them new, keys",
        COUNT,
        insert,
        "goal 1 M/s",
    );
    rate(
        "the same once more, none of them new, keys",
        COUNT,
        known,
        "",
    );
    rate(
        "inserted one at a time, all new, keys",
        COUNT / 4,
        single,
        "",
    );
    Ok(())
}

fn fingerprints(pages: usize, runs: usize) -> Result<(), Failure> {
    println!("  fingerprints, QuarterTables");
    let fingerprint = |page| Fingerprint::new(random(30, page));
    let items: Vec<(Fingerprint, u32)> = (0..pages).map(fingerprint).zip(0..).collect();
    let mut ordered = items.clone();
    ordered.sort_unstable();
    let mut tables = QuarterTables::new();
    for (items, order) in [(&items, "in any order"), (&ordered, "in order")] {
        let mut build = Duration::MAX;
        for _ in 0..runs.max(1) {
            let items = items.clone();
            let (took, built) = timed(|| QuarterTables::build(items));
            build = build.min(took);
            tables = built;
        }
        println!(
            "    built from pairs {order} in {:.2} s (goal 1 s at 10 M)",
            build.as_secs_f64()
        );
    }
    drop((items, ordered));
    memory("built", tables.memory(), pages, "goal 40");
    let coming = pages / 10;
    let (took, ()) = timed(|| {
        for page in pages..pages + coming {
            tables.insert(fingerprint(page), page as u32);
        }
    });
    each("insertion", coming, took);
    memory(
        "a tenth more inserted",
        tables.memory(),
        pages + coming,
        "goal 40",
    );
    let mut tables = QuarterTables::new();
    for page in 0..pages {
        tables.insert(fingerprint(page), page as u32);
    }
    memory("all inserted one by one", tables.memory(), pages, "goal 40");
    Ok(())
}

fn memory_of(tables: &[KeyTable]) -> usize {
    tables.iter().map(KeyTable::memory).sum()
}

fn memory(what: &str, bytes: usize, entries: usize, goal: &str) {
    println!(
        "    memory, {what}: {:.1} B each ({goal})",
        per_page(bytes, entries)
    );
}

fn rate(what: &str, count: usize, took: Duration, goal: &str) {
    println!(
        "    {what}: {:.1} M/s {goal}",
        count as f64 / took.as_secs_f64() / 1e6
    );
}

fn each(what: &str, count: usize, took: Duration) {
    println!(
        "    {what}: {:.0} ns",
        took.as_secs_f64() * 1e9 / count.max(1) as f64
    );
}

fn per_page(bytes: usize, pages: usize) -> f64 {
    bytes as f64 / pages as f64
}

fn best<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    (0..runs.max(1))
        .map(|_| timed(|| black_box(work())).0)
        .min()
        .unwrap_or_default()
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = processor_time();
    let made = work();
    (processor_time().saturating_sub(start), made)
}

/// Returns the processor time of this thread so far.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Returns the resident bytes of this process.
fn resident() -> Result<usize, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("no VmRSS")?;
    let kib: usize = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1_024)
}
