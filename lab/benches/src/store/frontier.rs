//! A frontier of many URLs on many hosts: discovered as the links of pages, leased and settled, and
//! flushed as a crawl does.
//!
//! Hosts are drawn unevenly (the square of a uniform number). One page in a hundred is
//! postponed once. Memory is the peak of the process by Linux (VmHWM), disk the size of the
//! directories of the journal and of the tables, garbage included.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use disk::SystemDisk;
use journal::{DiscoveredUrl, Fate, FinishedVisit, Reason, VisitRecord};
use neardup::keys::SeenKeys;
use neardup::{Features, HashKey};
use store::{
    ComparisonOptions, EmbeddedStore, Frontier, FrontierRules, LeaseFilter, Settlement,
    StoreOptions, Supply,
};
use web::{CanonicalForm, PageUrl, Timestamp};

use crate::Failure;

/// Links of a page.
const LINKS: u64 = 50;
/// Pages that are leased at a time.
const BATCH: usize = 64;
/// Pages between two checkpoints.
const CHECKPOINT_EVERY: u64 = 20_000;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// URLs
    #[arg(long, default_value_t = 10_000_000)]
    count: u64,
    /// Hosts
    #[arg(long, default_value_t = 100_000)]
    hosts: u64,
    /// URLs that are leased and settled, each of which leads to a new one
    #[arg(long, default_value_t = 1_000_000)]
    churn: u64,
    /// Directory to write to [default: a temporary directory]
    #[arg(long)]
    directory: Option<PathBuf>,
}

pub(crate) fn measure(options: &Options) -> Result<(), Failure> {
    seen(options.count);
    let temporary = tempfile::tempdir()?;
    let directory = options.directory.as_deref().unwrap_or(temporary.path());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()?;
    runtime.block_on(frontier(options, directory))
}

async fn frontier(options: &Options, directory: &Path) -> Result<(), Failure> {
    let now = Timestamp::from_millis(1_000_000);
    let store = EmbeddedStore::open(directory, &store_options(now))?;
    let push = seconds();
    let mut number = 0;
    while number < options.count {
        store.discover(links(options, &mut number, LINKS)?).await?;
        if number % (CHECKPOINT_EVERY * LINKS) == 0 {
            store.checkpoint(None).await?;
        }
    }
    let push = push();
    println!("{} URLs on {} hosts", options.count, options.hosts);
    println!(
        "  push               {:>10.0} a second",
        options.count as f64 / push
    );
    println!("  memory             {:>10.0} MiB", memory()?);

    let churn = seconds();
    let mut popped = 0;
    while popped < options.churn {
        let Supply::Leases(leases) = store.lease(now, BATCH, LeaseFilter::All).await? else {
            return Err("the frontier ran dry".into());
        };
        for lease in leases {
            popped += 1;
            let settlement = if popped % 100 == 0 && lease.entry.attempts == 0 {
                Settlement::Again {
                    at: now,
                    reason: Reason::said("no answer"),
                    counts: true,
                }
            } else {
                let visit = visit_record(lease.url(), lease.discovered().depth, now);
                let finds = links(options, &mut number, 1)?;
                Settlement::Done(FinishedVisit {
                    finds,
                    ..FinishedVisit::new(visit)
                })
            };
            store.settle(lease, settlement, now.into()).await?;
        }
        if popped % CHECKPOINT_EVERY < BATCH as u64 {
            store.checkpoint(None).await?;
        }
    }
    let churn = churn();
    println!(
        "  push + pop         {:>10.0} a second (goal 50,000), over {} settled",
        popped as f64 / churn,
        popped
    );
    let close = seconds();
    store.close().await?;
    println!("  close              {:>10.1} s", close());
    println!("  memory             {:>10.0} MiB (goal 512)", memory()?);
    let queued = store.stats().queued;
    drop(store);
    let bytes = |name: &str| size(&directory.join(name));
    println!(
        "  tables on disk     {:>10.1} bytes a URL (goal 200)",
        bytes("sled")? as f64 / queued as f64
    );
    println!(
        "  journal            {:>10.1} bytes a URL",
        bytes("journal")? as f64 / number as f64
    );
    let open = seconds();
    let store = EmbeddedStore::open(directory, &store_options(now))?;
    println!("  restart            {:>10.2} s", open());
    if store.stats().queued != queued {
        return Err("pages were lost".into());
    }
    Ok(())
}

/// Measures the seen URLs alone, in batches of a page's links.
fn seen(count: u64) {
    let keys: Vec<u64> = (0..count).map(mix).collect();
    let insert = seconds();
    let mut seen = SeenKeys::new();
    let mut new = 0;
    for batch in keys.chunks(LINKS as usize) {
        new += seen
            .insert_new(batch)
            .into_iter()
            .filter(|new| *new)
            .count();
    }
    println!("{new} URLs seen, {LINKS} at a time");
    println!(
        "  insert             {:>10.0} a second (goal 1,000,000)",
        count as f64 / insert()
    );
    println!(
        "  memory             {:>10.1} bytes each",
        seen.memory() as f64 / count as f64
    );
}

fn links(options: &Options, number: &mut u64, count: u64) -> Result<Vec<DiscoveredUrl>, Failure> {
    let via = url(&format!(
        "http://host{}.test/articles/{}",
        *number % options.hosts,
        *number / 7
    ))?;
    let first = *number;
    *number += count;
    (first..*number)
        .map(|number| {
            let uneven = (mix(number) >> 11) as f64 / (1_u64 << 53) as f64;
            let host = (uneven * uneven * options.hosts as f64) as u64;
            let page = mix(number ^ 0x55);
            let text = format!(
                "http://host{host}.test/articles/{:04x}/{:012x}.html",
                page >> 48,
                page << 16 >> 16
            );
            Ok(DiscoveredUrl::new(
                url(&text)?,
                (page % 4) as u32,
                Some(via.clone()),
            ))
        })
        .collect()
}

fn url(text: &str) -> Result<PageUrl, Failure> {
    Ok(PageUrl::parse(text, &CanonicalForm::default())?)
}

/// Returns the record of a visit to a page that is new.
pub(crate) fn visit_record(url: &PageUrl, depth: u32, at: Timestamp) -> VisitRecord {
    VisitRecord {
        url: url.clone(),
        final_url: None,
        status: Some(200),
        fetched_at: at,
        depth,
        via: None,
        content_type: None,
        bytes: 10_000,
        charset: None,
        language: None,
        title: None,
        fate: Fate::Unique,
        duplicate_of: None,
        distance: None,
        resemblance: None,
        fingerprint: None,
        reason: None,
        warc_file: None,
        warc_offset: None,
        kept: true,
        of_earlier: false,
        canonical: None,
        payload: None,
        requisite: 0,
        details: journal::VisitDetails::default(),
    }
}

fn store_options(now: Timestamp) -> StoreOptions {
    StoreOptions {
        rules: FrontierRules::default(),
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now,
        disk: Arc::new(SystemDisk),
    }
}

/// SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014).
fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

fn seconds() -> impl Fn() -> f64 {
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    let now = std::time::Instant::now;
    let begun = now();
    move || begun.elapsed().as_secs_f64()
}

/// Returns the peak resident memory in MiB.
fn memory() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line
        .and_then(|line| line.split_whitespace().next())
        .ok_or("no VmHWM")?;
    Ok(kib.parse::<f64>()? / 1024.0)
}

fn size(directory: &Path) -> Result<u64, Failure> {
    let mut sum = 0;
    for item in std::fs::read_dir(directory)? {
        let item = item?;
        sum += if item.file_type()?.is_dir() {
            size(&item.path())?
        } else {
            item.metadata()?.len()
        };
    }
    Ok(sum)
}
