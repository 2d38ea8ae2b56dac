//! Durable verdicts: many workers admit pages, and each waits until its verdict is durable.
//!
//! The store is filled with pages through its interface, with flushes in between: each page is
//! discovered, leased, admitted and settled, as in a crawl. Then sixteen workers admit leased
//! pages, of which one in thirteen is similar to a known one (the same sketch but for a few minima,
//! a fingerprint two bits away), so that candidates are found, signature records read and originals
//! named. A verdict counts if it is right and the journal is durable up to it. Afterwards these
//! visits end too, and the store is opened twice: as after a kill, and after a session that ended
//! in order.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use clap::Args;
use disk::SystemDisk;
use journal::{DiscoveredUrl, Fate, FinishedVisit, Page};
use neardup::{
    BAG_BYTES, BagSketch, Features, Fingerprint, HashKey, PageSignature, SKETCH_BYTES, Sketch,
    TextSignature,
};
use store::{
    ArchivePlace, ComparisonOptions, EmbeddedStore, Frontier, FrontierRules, Lease, LeaseFilter,
    NearDupIndex, Settlement, StoreOptions, Supply, Verdict,
};
use web::{CanonicalForm, PageUrl, Timestamp};

use crate::Failure;
use crate::frontier::visit_record;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Pages that are known at the start
    #[arg(long, default_value_t = 10_000_000)]
    count: u64,
    /// Pages between two flushes while the store is filled
    #[arg(long, default_value_t = 2_000_000)]
    fold: u64,
    /// Verdicts that are measured, over all workers
    #[arg(long, default_value_t = 320_000)]
    verdicts: u64,
    /// Workers
    #[arg(long, default_value_t = 16)]
    workers: u64,
    /// Look up keys on disk
    #[arg(long)]
    no_mirror: bool,
    /// Directory to write to; a store that an earlier run left is used [default: a temporary
    /// directory]
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// One page in this many is similar to a known one.
const ONE_IN: u64 = 13;
/// Pages that are discovered and leased at a time.
const AT_A_TIME: u64 = 64;

pub(crate) fn measure(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()?;
    let temporary = tempfile::tempdir()?;
    let directory = options.directory.as_deref().unwrap_or(temporary.path());
    let store = EmbeddedStore::open(directory, &store_options(options))?;
    runtime.block_on(fill(&store, options))?;
    let (alone, slow) = alone(directory)?;
    println!("fdatasync of a record alone: median {alone:?}, one in a hundred {slow:?}");

    let store = Arc::new(store);
    runtime.block_on(race(&store, options))?;
    let memory = store.signature_memory();
    let each = |bytes: usize| bytes as f64 / memory.documents.max(1) as f64;
    println!(
        "in memory, bytes a page of {}: {:.1} tables, {:.1} bands, {:.1} other keys; {:.0} MB of \
         cards",
        memory.documents,
        each(memory.tables),
        each(memory.bands),
        each(memory.exact),
        memory.records as f64 / 1e6
    );
    let journal_bytes = size_of_directory(&directory.join("journal"))?;
    drop(store);
    let store = open(directory, options, "a death")?;
    let begin = Instant::now();
    runtime.block_on(checkpoint(&store, options.count + 3))?;
    println!(
        "the first checkpoint, with a flush if one is due: {:.1?}",
        begin.elapsed()
    );
    runtime.block_on(checkpoint(&store, options.count + 4))?;
    runtime.block_on(store.close())?;
    drop(store);
    let count = (options.count + options.verdicts) as f64;
    println!(
        "on disk, bytes a page: {:.0} sled, {:.0} journal",
        size_of_directory(&directory.join("sled"))? as f64 / count,
        journal_bytes as f64 / count
    );
    drop(open(directory, options, "a session that ended in order")?);
    Ok(())
}

fn open(directory: &Path, options: &Options, after: &str) -> Result<EmbeddedStore, Failure> {
    let begin = Instant::now();
    let store = EmbeddedStore::open(directory, &store_options(options))?;
    println!("restart after {after}: {:.2?}", begin.elapsed());
    Ok(store)
}

fn store_options(options: &Options) -> StoreOptions {
    StoreOptions {
        rules: FrontierRules {
            // All measured pages are leased before the measurement begins.
            per_host: usize::MAX,
            ..FrontierRules::default()
        },
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: !options.no_mirror,
        tables: None,
        now: Timestamp::from_millis(0),
        disk: Arc::new(SystemDisk),
    }
}

async fn fill(store: &EmbeddedStore, options: &Options) -> Result<(), Failure> {
    let begin = Instant::now();
    let mut number = 0;
    while number < options.count {
        let end = options.count.min(number + AT_A_TIME);
        let visits = lease(store, number..end).await?;
        if visits.is_empty() {
            println!("the pages are there already");
            return Ok(());
        }
        for (number, lease) in visits {
            let verdict = store
                .admit(&page_of(&lease), &signature(number), None)
                .await?;
            settle(store, lease, &verdict).await?;
        }
        if end / options.fold > number / options.fold || end == options.count {
            let began = Instant::now();
            checkpoint(store, end).await?;
            println!(
                "{end} pages after {:.0?}, of which the last flush took {:.1?}",
                begin.elapsed(),
                began.elapsed()
            );
        }
        number = end;
    }
    Ok(())
}

/// Discovers and leases pages; returns nothing for those that were discovered before.
async fn lease(store: &EmbeddedStore, numbers: Range<u64>) -> Result<Vec<(u64, Lease)>, Failure> {
    let mut visits = Vec::with_capacity(numbers.clone().count());
    let mut left = numbers;
    while !left.is_empty() {
        let some = left.start..left.end.min(left.start + AT_A_TIME);
        left.start = some.end;
        let finds = some.map(|number| Ok(DiscoveredUrl::new(url(number)?, 1, None)));
        let finds = store
            .discover(finds.collect::<Result<_, Failure>>()?)
            .await?;
        if finds == 0 {
            continue;
        }
        let Supply::Leases(leases) = store
            .lease(Timestamp::from_millis(0), finds, LeaseFilter::All)
            .await?
        else {
            return Err("what was found is not handed out".into());
        };
        for lease in leases {
            let number = lease
                .url()
                .as_str()
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .parse()?;
            visits.push((number, lease));
        }
    }
    Ok(visits)
}

/// Ends the visit, as a crawl does.
async fn settle(store: &EmbeddedStore, lease: Lease, verdict: &Verdict) -> Result<(), Failure> {
    let mut visit = visit_record(
        lease.url(),
        lease.discovered().depth,
        Timestamp::from_millis(0),
    );
    if let Verdict::Duplicate(original) = verdict {
        visit.fate = Fate::NearDuplicate;
        visit.kept = false;
        visit.duplicate_of = Some(original.page.url.clone());
    }
    let done = Settlement::Done(FinishedVisit::new(visit));
    store
        .settle(lease, done, Timestamp::from_millis(0).into())
        .await?;
    Ok(())
}

/// Makes a checkpoint as a crawl does, after the archive has grown.
async fn checkpoint(store: &EmbeddedStore, end: u64) -> Result<(), Failure> {
    let file = "verdicts.warc.gz".to_owned();
    store.checkpoint(Some(ArchivePlace { file, end })).await?;
    Ok(())
}

/// Returns the time to sync a single record: the median and the 99th percentile.
fn alone(directory: &Path) -> Result<(Duration, Duration), Failure> {
    let path = directory.join("alone");
    let mut file = File::create(&path)?;
    let mut times = Vec::new();
    for _ in 0..1_000 {
        let begin = Instant::now();
        file.write_all(&[7; 320])?;
        file.sync_data()?;
        times.push(begin.elapsed());
    }
    std::fs::remove_file(&path)?;
    times.sort_unstable();
    Ok((times[500], times[990]))
}

async fn race(store: &Arc<EmbeddedStore>, options: &Options) -> Result<(), Failure> {
    // Far beyond the known pages, and different in each process.
    let first = 1 << 62 | u64::from(std::process::id()) << 36;
    let visits = lease(store, first..first + options.verdicts).await?;
    let mut works: Vec<Vec<_>> = (0..options.workers).map(|_worker| Vec::new()).collect();
    for (number, lease) in visits {
        let of = mix(number)
            .is_multiple_of(ONE_IN)
            .then_some(mix(!number) % options.count);
        let signature = of.map_or_else(|| signature(number), |of| nearly(of, number));
        works[(number % options.workers) as usize].push((lease, signature, of));
    }
    let (begin, busy) = (Instant::now(), processor_time()?);
    let mut workers = tokio::task::JoinSet::new();
    for work in works {
        let store = Arc::clone(store);
        workers.spawn(async move {
            let mut times = Vec::with_capacity(work.len());
            let mut visits = Vec::with_capacity(work.len());
            let mut wrong = 0;
            for (lease, signature, of) in work {
                let page = page_of(&lease);
                let begin = Instant::now();
                let verdict = store.admit(&page, &signature, None).await;
                let synced = store.sync().await;
                times.push(begin.elapsed());
                let is_right = matches!(
                    (&verdict, of),
                    (Ok(Verdict::Unique), None) | (Ok(Verdict::Duplicate(_)), Some(_))
                );
                wrong += u64::from(!is_right || synced.is_err());
                visits.extend(verdict.map(|verdict| (lease, verdict)));
            }
            (times, wrong, visits)
        });
    }
    let (mut times, mut wrong, mut visits) = (Vec::new(), 0, Vec::new());
    for (own, amiss, ended) in workers.join_all().await {
        times.extend(own);
        wrong += amiss;
        visits.extend(ended);
    }
    let (elapsed, busy) = (begin.elapsed(), processor_time()? - busy);
    times.sort_unstable();
    let at = |share: f64| times[(times.len() as f64 * share) as usize];
    println!(
        "{} durable verdicts by {} workers: {:.0} a second, {wrong} wrong; median {:?}, one in a \
         hundred above {:?}, one in a thousand {:?}, the longest {:?}; {:.0} µs of processor time \
         each",
        times.len(),
        options.workers,
        times.len() as f64 / elapsed.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(0.999),
        times[times.len() - 1],
        busy * 1e6 / times.len() as f64
    );
    if wrong > 0 {
        return Err("verdicts were wrong".into());
    }
    for (lease, verdict) in visits {
        settle(store, lease, &verdict).await?;
    }
    checkpoint(store, options.count + 1).await?;
    checkpoint(store, options.count + 2).await
}

/// Returns the processor seconds of the process so far.
pub(crate) fn processor_time() -> Result<f64, Failure> {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    Ok(Duration::from(time).as_secs_f64())
}

fn url(number: u64) -> Result<PageUrl, Failure> {
    let text = format!("http://h{}.test/{number}", number % 100_000);
    Ok(PageUrl::parse(&text, &CanonicalForm::default())?)
}

fn page_of(lease: &Lease) -> Page {
    Page {
        final_url: lease.url().clone(),
        url: lease.url().clone(),
        at: Timestamp::from_millis(0),
    }
}

pub(crate) fn signature(number: u64) -> PageSignature {
    PageSignature {
        payload: u128::from(mix(number ^ 1 << 40)) << 64 | u128::from(number),
        text: Some(Box::new(TextSignature {
            digest: u128::from(mix(number ^ 1 << 41)) << 64 | u128::from(number),
            words: 500,
            main_content: None,
            fingerprint: Fingerprint::new(mix(number ^ 1 << 42)),
            sketch: Some(Sketch::from_bytes(&sketch(number))),
            bag: Some(bag(number)),
            title_terms: None,
        })),
    }
}

/// Returns the signature of `number`, which nearly equals that of `of`: two bits, nine minima and
/// half of the bands apart, the same counted words.
fn nearly(of: u64, number: u64) -> PageSignature {
    let mut changed = signature(number);
    if let Some(text) = &mut changed.text {
        let mut bytes = sketch(of);
        for byte in &mut bytes[..9] {
            *byte ^= 0x05;
        }
        for byte in &mut bytes[SKETCH_BYTES - 16..] {
            *byte ^= number as u8 | 1;
        }
        text.fingerprint = Fingerprint::new(mix(of ^ 1 << 42) ^ 1 << (number % 31) ^ 1 << 63);
        text.sketch = Some(Sketch::from_bytes(&bytes));
        text.bag = Some(bag(of));
    }
    changed
}

/// Returns a bag sketch of 450 different words.
fn bag(number: u64) -> BagSketch {
    let mut bytes = [0; BAG_BYTES];
    for (place, chunk) in (0_u64..).zip(bytes.chunks_mut(8)) {
        let random = mix(mix(number ^ 1 << 43) ^ place).to_le_bytes();
        chunk.copy_from_slice(&random[..chunk.len()]);
    }
    bytes[..4].copy_from_slice(&450_u32.to_le_bytes());
    BagSketch::from_bytes(&bytes)
}

fn sketch(number: u64) -> [u8; SKETCH_BYTES] {
    let mut bytes = [0; SKETCH_BYTES];
    for (place, chunk) in (0_u64..).zip(bytes.chunks_exact_mut(8)) {
        chunk.copy_from_slice(&mix(mix(number) ^ place).to_le_bytes());
    }
    bytes
}

/// Returns uniform numbers without repetition (the finaliser of SplitMix64; Steele, Lea and Flood,
/// OOPSLA 2014).
pub(crate) fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

fn size_of_directory(path: &Path) -> Result<u64, Failure> {
    let mut size = 0;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() {
            size_of_directory(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(size)
}
