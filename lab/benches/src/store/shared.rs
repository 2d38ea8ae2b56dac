//! The shared store: nodes of one crawl and their database on the same cores.
//!
//! The server syncs its writes, as it does by default. Nodes are stores in this process, each with
//! its own connections and its own index, over the same interface as a crawl's. The log of
//! admissions is filled through one of them; the others join then. Bytes are those of the tables
//! with their indexes, by PostgreSQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;
use disk::SystemDisk;
use journal::{DiscoveredUrl, FinishedVisit, Page};
use neardup::{Features, HashKey};
use shared_store::{
    BUCKETS, Connection, CrawlSettings, ROWS_PER_PACK, Session, SharedOptions, SharedStore,
};
use store::{
    ComparisonOptions, Frontier, FrontierRules, LeaseFilter, NearDupIndex, Settlement,
    StoreOptions, Supply, Verdict,
};
use tempfile::TempDir;
use testkit::Postgres;
use tokio::task::JoinSet;
use tokio::time::Instant;
use web::{CanonicalForm, Clock, PageUrl, Timestamp};

use crate::Failure;
use crate::frontier::visit_record;
use crate::verdicts::{mix, processor_time, signature};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Signatures in the log before admissions are measured
    #[arg(long, default_value_t = 1_000_000)]
    signatures: u64,
    /// Admissions that are measured, in each of the two ways
    #[arg(long, default_value_t = 40_000)]
    admissions: u64,
    /// New URLs that are discovered; nine times as many links lead to known ones
    #[arg(long, default_value_t = 200_000)]
    urls: u64,
    /// Hosts of these URLs
    #[arg(long, default_value_t = 10_000)]
    hosts: u64,
    /// URLs that are leased and settled
    #[arg(long, default_value_t = 60_000)]
    visits: u64,
    /// Nodes
    #[arg(long, default_value_t = 4)]
    nodes: usize,
    /// The memory of the database for tables and indexes
    #[arg(long, default_value = "256MB")]
    shared_buffers: String,
}

/// The term of the nodes: that of a crawl of busy nodes, which share this process.
const TERM: Duration = Duration::from_secs(60);
/// The interval at which the buckets are counted.
const POLL: Duration = Duration::from_millis(250);
/// Workers that fill the log, and those of a node that admit in batches.
const WORKERS: u64 = 256;
const NODE_WORKERS: u64 = 64;
/// Links of a page.
const LINKS: u64 = 50;
/// Links to new URLs among them.
const NEW_LINKS: u64 = 5;
/// Leases that a node asks for at a time.
const LEASES: usize = 64;

/// A node of the crawl. Its directory is removed with it.
struct Node {
    store: Arc<SharedStore>,
    _directory: TempDir,
}

pub(crate) fn measure(options: &Options) -> Result<(), Failure> {
    let buffers = format!("shared_buffers={}", options.shared_buffers);
    if !Postgres::is_installed() {
        return Err("PostgreSQL is not installed".into());
    }
    let server = Postgres::start(&["fsync=on", &buffers]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(measure_on(&server, options))
}

async fn measure_on(server: &Postgres, options: &Options) -> Result<(), Failure> {
    let url = server.create_database();
    let settings = CrawlSettings {
        key: HashKey::ZERO,
        text: String::new(),
        term: TERM,
    };
    Connection::open(&url).await?.begin_crawl(&settings).await?;

    let mut nodes = vec![open(&url, &settings, 0).await?];
    let log = 0..options.signatures;
    let filled = admit(&nodes, log, WORKERS).await?;
    filled.print("admissions by one node that fills the log", "");
    let bytes = size(server, &url, "signature_log")?;
    println!(
        "bytes a signature in the log: {} (goal 700)",
        bytes / options.signatures.max(1)
    );
    for number in 1..options.nodes {
        let begin = Instant::now();
        let busy = processor_time()?;
        nodes.push(open(&url, &settings, number).await?);
        println!(
            "node {number} joins and applies the log: {:.1?}, {:.1} s of processor time (goal 10 s \
             for a million)",
            begin.elapsed(),
            processor_time()? - busy
        );
    }

    balance(server, &url, options.nodes).await?;
    let singly = options.signatures..options.signatures + options.admissions;
    let batches = singly.end..singly.end + options.admissions;
    admit(&nodes, singly, 1)
        .await?
        .print("admissions, one at a time a node", "2,000/s");
    admit(&nodes, batches, NODE_WORKERS)
        .await?
        .print("admissions, 64 at a time a node", "10,000/s");

    // What is due from the admissions is not charged to the links.
    let begin = Instant::now();
    for node in &nodes {
        node.store.checkpoint(None).await?;
    }
    println!(
        "a checkpoint of every node, with flushes that are due: {:.1?}",
        begin.elapsed()
    );
    let before = rows_size(server, &url)?;
    discover(&nodes, options)
        .await?
        .print("links, nine of ten known", "50,000/s");
    let waiting = rows_size(server, &url)? - before;
    if server.query(&url, "SELECT count(*) FROM inbox") != "0" {
        return Err("links are left in the inbox".into());
    }
    println!(
        "bytes a waiting URL: {} in the journal (goal 250), {} in the inbox, which is empty again",
        waiting / options.urls.max(1),
        size(server, &url, "inbox")? / options.urls.max(1)
    );
    let before = rows_size(server, &url)?;
    let visits = visit(&nodes, options.visits).await?;
    visits.print("lease and settle", "3,000/s");
    println!(
        "bytes a visited URL, on top of those while it waited: {} (goal 120 for a seen one)",
        (rows_size(server, &url)? - before) / visits.count.max(1)
    );
    leave(server, &url, &mut nodes).await?;
    print_sizes(server, &url, options)?;
    for node in &nodes {
        node.store.abandon();
        node.store.stopped().await;
    }
    Ok(())
}

/// Measures how long the other nodes take to have the buckets of one that leaves.
async fn leave(server: &Postgres, url: &str, nodes: &mut Vec<Node>) -> Result<(), Failure> {
    if nodes.len() < 2 {
        return Ok(());
    }
    let Some(leaving) = nodes.pop() else {
        return Ok(());
    };
    let queued = |node: &Node| node.store.stats().queued;
    let due = nodes.iter().map(queued).sum::<u64>() + queued(&leaving);
    let sql = format!(
        "SELECT count(*) FROM rows_after(array(SELECT bucket FROM bucket JOIN term ON \
         owner = term.term WHERE node = 'n{}'), array_fill(0::bigint, ARRAY[4096]))",
        nodes.len()
    );
    let rows = server.query(url, &sql);
    let (begin, busy) = (Instant::now(), processor_time()?);
    leaving.store.close().await?;
    let left = begin.elapsed();
    let mut ticks = tokio::time::interval(POLL);
    while nodes.iter().map(queued).sum::<u64>() < due {
        ticks.tick().await;
    }
    println!(
        "a node with {rows} rows leaves in {left:.1?}, and {:.1?} after that what waited there \
         waits at the others; {:.1} s of processor time",
        begin.elapsed() - left,
        processor_time()? - busy
    );
    Ok(())
}

/// Prints the sizes of the tables with URLs after all of this, after a vacuum, and without the
/// space that the vacuum has freed for later rows.
fn print_sizes(server: &Postgres, url: &str, options: &Options) -> Result<(), Failure> {
    for (state, vacuum) in [
        ("after all of this", "SELECT 1"),
        ("after a vacuum", "VACUUM"),
        ("live rows alone", "VACUUM FULL journal"),
    ] {
        server.query(url, vacuum);
        let indexes: u64 = server
            .query(url, "SELECT pg_indexes_size('journal')")
            .parse()?;
        println!(
            "{state}: {} bytes a URL in the journal, {} MiB of indexes (shared buffers: {}); \
             {} MiB of inbox",
            rows_size(server, url)? / options.urls.max(1),
            indexes >> 20,
            options.shared_buffers,
            size(server, url, "inbox")? >> 20
        );
    }
    let packed = "SELECT coalesce(sum(cardinality(numbers)), 0) FROM packed_journal";
    let packed: u64 = server.query(url, packed).parse()?;
    let unpacked: u64 = server.query(url, "SELECT count(*) FROM journal").parse()?;
    println!(
        "{packed} packed rows of {} bytes each, {unpacked} unpacked rows of {} bytes each",
        size(server, url, "packed_journal")? / packed.max(1),
        size(server, url, "journal")? / unpacked.max(1)
    );
    Ok(())
}

/// A measured rate.
struct Rate {
    count: u64,
    elapsed: Duration,
    /// Processor seconds of this process, without the server's.
    busy: f64,
}

impl Rate {
    fn print(&self, name: &str, goal: &str) {
        let goal = match goal {
            "" => String::new(),
            goal => format!(" (goal {goal})"),
        };
        println!(
            "{name}: {} in {:.1?}, {:.0}/s{goal}; {:.0} µs of the nodes' processor time each",
            self.count,
            self.elapsed,
            self.count as f64 / self.elapsed.as_secs_f64(),
            self.busy * 1e6 / self.count.max(1) as f64
        );
    }
}

async fn open(url: &str, settings: &CrawlSettings, number: usize) -> Result<Node, Failure> {
    let connection = Connection::open(url).await?;
    let name = format!("n{number}");
    let session = Session::begin(&connection, &name, settings, None, |_wait| {}).await?;
    let directory = tempfile::tempdir()?;
    let store = StoreOptions {
        rules: FrontierRules {
            per_host: usize::MAX,
            ..FrontierRules::default()
        },
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: settings.key,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now: Timestamp::from_millis(0),
        disk: Arc::new(SystemDisk),
    };
    let options = SharedOptions {
        store,
        clock: Clock::fixed(Timestamp::from_millis(0)),
        max_pages: None,
        widen: Arc::new(|_seed| {}),
        rows_per_pack: ROWS_PER_PACK,
    };
    Ok(Node {
        store: SharedStore::open(session, directory.path(), options).await?,
        _directory: directory,
    })
}

/// Waits until each node has its share of the buckets.
async fn balance(server: &Postgres, url: &str, nodes: usize) -> Result<(), Failure> {
    let share = usize::from(BUCKETS).div_ceil(nodes);
    let sql = "SELECT coalesce(max(count), 0) FROM (SELECT count(*) FROM bucket GROUP BY owner) \
        AS of_owner";
    let mut ticks = tokio::time::interval(POLL);
    while server.query(url, sql).parse::<usize>()? > share {
        ticks.tick().await;
    }
    Ok(())
}

/// Admits pages that are like no other, by so many workers of each node.
async fn admit(
    nodes: &[Node],
    numbers: std::ops::Range<u64>,
    workers: u64,
) -> Result<Rate, Failure> {
    let (begin, busy) = (Instant::now(), processor_time()?);
    let next = Arc::new(AtomicU64::new(numbers.start));
    let mut tasks = JoinSet::new();
    for node in nodes {
        for _worker in 0..workers {
            let (store, next) = (Arc::clone(&node.store), Arc::clone(&next));
            tasks.spawn(async move {
                let mut wrong = 0_u64;
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return Ok::<u64, String>(wrong);
                    }
                    let url = url(number, 100_000).map_err(|error| error.to_string())?;
                    let page = Page {
                        final_url: url.clone(),
                        url,
                        at: Timestamp::from_millis(0),
                    };
                    let verdict = store.admit(&page, &signature(number), None).await;
                    let verdict = verdict.map_err(|fault| fault.to_string())?;
                    wrong += u64::from(verdict != Verdict::Unique);
                }
            });
        }
    }
    let mut wrong = 0;
    while let Some(done) = tasks.join_next().await {
        wrong += done??;
    }
    if wrong > 0 {
        return Err(format!("{wrong} pages that are like no other were not archived").into());
    }
    Ok(Rate {
        count: numbers.end - numbers.start,
        elapsed: begin.elapsed(),
        busy: processor_time()? - busy,
    })
}

/// Discovers the links of pages on all nodes, until every link is queued by the owner of its bucket
/// and the database has it.
async fn discover(nodes: &[Node], options: &Options) -> Result<Rate, Failure> {
    let (begin, busy) = (Instant::now(), processor_time()?);
    let next = Arc::new(AtomicU64::new(0));
    let (urls, hosts) = (options.urls, options.hosts);
    let mut tasks = JoinSet::new();
    for node in nodes {
        let (store, next) = (Arc::clone(&node.store), Arc::clone(&next));
        tasks.spawn(async move {
            loop {
                let first = next.fetch_add(NEW_LINKS, Ordering::Relaxed);
                if first >= urls {
                    let sent = store.checkpoint(None).await;
                    return sent.map(drop).map_err(|fault| fault.to_string());
                }
                let known = NEW_LINKS..LINKS;
                let known = known.map(|link| mix(first + link) % first.max(NEW_LINKS));
                let links = (first..first + NEW_LINKS).chain(known).map(|number| {
                    let url = url(number, hosts).map_err(|error| error.to_string())?;
                    Ok(DiscoveredUrl::new(url, 1, None))
                });
                let links = links.collect::<Result<Vec<_>, String>>()?;
                let found = store.discover(links).await;
                found.map_err(|fault| fault.to_string())?;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    // The first round may find what the last node sent.
    let mut is_news = true;
    while is_news {
        is_news = false;
        for node in nodes {
            is_news |= node.store.refresh().await?;
        }
    }
    let queued: u64 = nodes.iter().map(|node| node.store.stats().queued).sum();
    if queued < urls {
        return Err(format!("{queued} of {urls} URLs wait").into());
    }
    Ok(Rate {
        count: urls / NEW_LINKS * LINKS,
        elapsed: begin.elapsed(),
        busy: processor_time()? - busy,
    })
}

/// Leases and settles URLs on all nodes, until the database has every settlement.
async fn visit(nodes: &[Node], visits: u64) -> Result<Rate, Failure> {
    let (begin, busy) = (Instant::now(), processor_time()?);
    let each = visits / nodes.len() as u64;
    let mut tasks = JoinSet::new();
    for node in nodes {
        let store = Arc::clone(&node.store);
        tasks.spawn(async move {
            let mut visited = 0;
            while visited < each {
                let now = Timestamp::from_millis(0);
                let supply = store.lease(now, LEASES, LeaseFilter::All).await;
                let Supply::Leases(leases) = supply.map_err(|fault| fault.to_string())? else {
                    return Err("a node has nothing to visit".to_owned());
                };
                visited += leases.len() as u64;
                for lease in leases {
                    let visit = visit_record(lease.url(), lease.discovered().depth, now);
                    let done = Settlement::Done(FinishedVisit::new(visit));
                    let settled = store.settle(lease, done, now.into()).await;
                    settled.map_err(|fault| fault.to_string())?;
                }
            }
            let settled = store.checkpoint(None).await;
            settled.map_err(|fault| fault.to_string())?;
            Ok(visited)
        });
    }
    let mut count = 0;
    while let Some(done) = tasks.join_next().await {
        count += done??;
    }
    Ok(Rate {
        count,
        elapsed: begin.elapsed(),
        busy: processor_time()? - busy,
    })
}

/// Returns the size of a table and its indexes in bytes.
fn size(server: &Postgres, url: &str, table: &str) -> Result<u64, Failure> {
    let sql = format!("SELECT pg_total_relation_size('{table}')");
    Ok(server.query(url, &sql).parse()?)
}

/// Returns the bytes of all rows, packed or not. The space of rows that were packed counts until it
/// is freed.
fn rows_size(server: &Postgres, url: &str) -> Result<u64, Failure> {
    Ok(size(server, url, "journal")? + size(server, url, "packed_journal")?)
}

fn url(number: u64, hosts: u64) -> Result<PageUrl, Failure> {
    let text = format!("http://h{}.test/article/{number}.html", mix(number) % hosts);
    Ok(PageUrl::parse(&text, &CanonicalForm::default())?)
}
