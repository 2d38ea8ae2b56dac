//! The cost of the same crawl by several nodes that share it on PostgreSQL, on the same cores; and
//! the time for which the hosts of a dead node are not asked.
//!
//! The database syncs its writes, as it does by default. A run lasts from the start of the first
//! process to the end of the last one.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use shared_store::BUCKETS;
use testkit::{Corpus, Database, Postgres, Server};
use tokio::time::Instant;

use crate::crawled::{arguments, cpu, peak_of, read_port, stop};
use crate::{Failure, Options, median, start_web, unarchived};

/// The settings of the database.
const DATABASE: [&str; 2] = ["fsync=on", "shared_buffers=256MB"];
/// Pages of a host in the crawl of which a node is killed: more than are visited until its hosts
/// are asked again.
const PAGES_OF_A_HOST: usize = 60;
/// The delay of that crawl.
const DELAY: Duration = Duration::from_secs(1);
/// The term of its nodes, which is the default.
const TERM: Duration = Duration::from_secs(10);
/// The margin of the goal.
const MARGIN: Duration = Duration::from_secs(2);
/// The least number of requests to each host before a node is killed.
const BEFORE: usize = 3;

/// The measurements of a crawl by nodes.
struct Measured {
    pages: u64,
    seconds: f64,
    /// Of all nodes.
    cpu: f64,
    /// Of the database's server.
    server_cpu: f64,
    /// Of the largest node.
    peak: u64,
    /// Of the database.
    bytes: u64,
    /// Pages of the busiest node and of the idlest one.
    most: u64,
    least: u64,
    judged: String,
}

/// Crawls by nodes, and compares with the medians of one process.
pub(crate) fn measure(
    options: &Options,
    corpus: &Arc<Corpus>,
    crawler: &Path,
    embedded_cpu: f64,
    embedded_peak: f64,
) -> Result<(), Failure> {
    if !Postgres::is_installed() {
        return Err("PostgreSQL is not installed".into());
    }
    let postgres = Postgres::start(&DATABASE);
    println!(
        "\n{} nodes and their database on the same cores",
        options.nodes
    );
    println!(
        "pages/s   CPU s per 1,000: nodes, server   peak MiB of a node   bytes a page in the \
         database   pages of a node   judged"
    );
    let mut runs = Vec::new();
    for _ in 0..options.runs.max(1) {
        let run = run(options, corpus, crawler, &postgres)?;
        println!(
            "{:>7.0}   {:>22.3}, {:>6.3}   {:>18.0}   {:>28}   {:>6} to {:>5}   {}",
            run.rate(),
            run.cpu_per_thousand(),
            run.server_cpu * 1000.0 / run.pages as f64,
            run.peak_mib(),
            run.bytes / run.pages.max(1),
            run.least,
            run.most,
            run.judged
        );
        runs.push(run);
    }
    let cpu = median(&runs, Measured::cpu_per_thousand);
    println!(
        "median: {:.0} pages/s (goal 400 by four nodes); {:.2} times the CPU of one process (goal \
         2.5); a node {:+.0} MiB (goal 32)",
        median(&runs, Measured::rate),
        cpu / embedded_cpu,
        median(&runs, Measured::peak_mib) - embedded_peak
    );
    silence(options, crawler, &postgres)
}

fn run(
    options: &Options,
    corpus: &Corpus,
    crawler: &Path,
    postgres: &Postgres,
) -> Result<Measured, Failure> {
    let mut web = start_web(options)?;
    let port = read_port(&mut web)?;
    let directory = tempfile::tempdir()?;
    let seeds = directory.path().join("seeds.txt");
    std::fs::write(&seeds, corpus.seeds(port).join("\n"))?;
    let crawl = SharedCrawl::new(crawler, postgres);
    let mut common = arguments(&corpus.hosts(), port, &seeds);
    common.extend(["--delay".to_owned(), "0".to_owned()]);
    common.extend(options.options.iter().cloned());

    let (before, server_before) = (cpu()?, crawl.server_cpu()?);
    let begin = Instant::now();
    let mut nodes = crawl.start(options.nodes, directory.path(), &common)?;
    let peak = watch(&mut nodes)?;
    let seconds = begin.elapsed().as_secs_f64();
    let (cpu, server_cpu) = (cpu()? - before, crawl.server_cpu()? - server_before);
    stop(web)?;

    let pages = crawl.query("SELECT sum(pages) FROM term")?;
    let of_node = "SELECT sum(pages) AS pages FROM term GROUP BY node";
    let most = crawl.query(&format!("SELECT max(pages) FROM ({of_node}) AS nodes"))?;
    let least = crawl.query(&format!("SELECT min(pages) FROM ({of_node}) AS nodes"))?;
    let exported = Command::new(crawler)
        .args(["export", "--store", &crawl.store])
        .output()?;
    let score = corpus.score(&unarchived(&exported.stdout)?);
    Ok(Measured {
        pages,
        seconds,
        cpu,
        server_cpu,
        peak,
        bytes: crawl.query("SELECT pg_database_size(current_database())")?,
        most,
        least,
        judged: format!(
            "{} of {} copies not archived, {} distinct pages lost",
            score.caught, score.planted, score.lost
        ),
    })
}

/// Kills a node of a crawl with delays, and prints the longest time from then on for which a host
/// was not asked, by the log of the web's server.
fn silence(options: &Options, crawler: &Path, postgres: &Postgres) -> Result<(), Failure> {
    let corpus = Corpus::plain(options.hosts * PAGES_OF_A_HOST, options.seed);
    let corpus = Arc::new(corpus.with_hosts(options.hosts).on_domains());
    let web = Server::spawn_thread(corpus.site());
    let directory = tempfile::tempdir()?;
    let seeds = directory.path().join("seeds.txt");
    std::fs::write(&seeds, corpus.seeds(web.port()).join("\n"))?;
    let crawl = SharedCrawl::new(crawler, postgres);
    let mut common = arguments(&corpus.hosts(), web.port(), &seeds);
    let delay = format!("{}s", DELAY.as_secs());
    let term = format!("{}s", TERM.as_secs());
    common.extend(["--delay".to_owned(), delay, "--term".to_owned(), term]);
    let mut nodes = crawl.start(options.nodes, directory.path(), &common)?;
    // The first node makes the tables; then each node takes its share.
    while crawl.query("SELECT count(*) FROM pg_class WHERE relname = 'bucket'")? == 0 {
        nodes.check()?;
        pause();
    }
    let share = u64::from(BUCKETS).div_ceil(options.nodes as u64);
    let largest = "SELECT coalesce(max(count), 0) \
        FROM (SELECT count(*) FROM bucket GROUP BY owner) AS of_owner";
    while crawl.query(largest)? > share {
        nodes.check()?;
        pause();
    }
    let asked = |since: Duration| {
        let mut first = BTreeMap::new();
        // In the order of their arrival.
        for hit in web.log().iter().filter(|hit| hit.at > since) {
            let (_, count) = first.entry(hit.host.clone()).or_insert((hit.at, 0));
            *count += 1;
        }
        first
    };
    loop {
        let asked = asked(Duration::ZERO);
        let ready = asked.values().filter(|(_, count)| *count >= BEFORE);
        if ready.count() == corpus.hosts().len() {
            break;
        }
        nodes.check()?;
        pause();
    }
    let killed = nodes.0.pop().ok_or("no node")?;
    let at = web.elapsed();
    Nodes(vec![killed]).kill()?;
    let first = loop {
        let first = asked(at);
        if first.len() == corpus.hosts().len() {
            break first;
        }
        nodes.check()?;
        pause();
    };
    nodes.kill()?;
    let silences: Vec<f64> = first
        .values()
        .map(|(first, _)| (*first - at).as_secs_f64())
        .collect();
    let longest = silences.iter().copied().fold(0.0, f64::max);
    // A node that lives asks its hosts after a delay.
    let of_dead = silences
        .iter()
        .filter(|silence| **silence > (DELAY + MARGIN).as_secs_f64());
    println!(
        "a node is killed: {} of {} hosts were its own, and the last of them is asked again after \
         {longest:.1} s (goal: a term, a delay and 2 s: {} s)",
        of_dead.count(),
        silences.len(),
        (TERM + DELAY + MARGIN).as_secs()
    );
    Ok(())
}

/// A crawl in a database of its own.
struct SharedCrawl<'a> {
    crawler: &'a Path,
    postgres: &'a Postgres,
    store: Database,
}

/// Processes of nodes. They are killed when they are dropped.
struct Nodes(Vec<Child>);

impl Drop for Nodes {
    fn drop(&mut self) {
        let _killed = self.kill();
    }
}

impl Nodes {
    /// Fails if a node has ended.
    fn check(&mut self) -> Result<(), Failure> {
        for node in &mut self.0 {
            if let Some(status) = node.try_wait()? {
                return Err(format!("a node ended with {status}").into());
            }
        }
        Ok(())
    }

    fn kill(&mut self) -> Result<(), Failure> {
        for node in &mut self.0 {
            node.kill()?;
            node.wait()?;
        }
        self.0.clear();
        Ok(())
    }
}

impl<'a> SharedCrawl<'a> {
    fn new(crawler: &'a Path, postgres: &'a Postgres) -> Self {
        Self {
            crawler,
            postgres,
            store: postgres.create_database(),
        }
    }

    /// Starts nodes with their directories in one.
    fn start(&self, count: usize, directory: &Path, common: &[String]) -> Result<Nodes, Failure> {
        let mut nodes = Nodes(Vec::new());
        for number in 1..=count {
            let name = format!("n{number}");
            let node = Command::new(self.crawler)
                .args(["node", "--store", &self.store, "--name", &name, "--out"])
                .arg(directory.join(&name))
                .args(common)
                .stdout(Stdio::null())
                .spawn()?;
            nodes.0.push(node);
        }
        Ok(nodes)
    }

    fn query(&self, sql: &str) -> Result<u64, Failure> {
        Ok(self.postgres.query(&self.store, sql).parse()?)
    }

    /// Returns the CPU seconds of the database's server: of those of its processes that have ended,
    /// and of those that run.
    fn server_cpu(&self) -> Result<f64, Failure> {
        let sql = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)";
        let server = self.query(sql)?;
        let ticks = Command::new("getconf").arg("CLK_TCK").output()?;
        let ticks: f64 = String::from_utf8(ticks.stdout)?.trim().parse()?;
        let mut sum = 0;
        for entry in std::fs::read_dir("/proc")? {
            let stat = std::fs::read_to_string(entry?.path().join("stat")).unwrap_or_default();
            // The name of the program ends with the last bracket.
            let Some((before, after)) = stat.rsplit_once(") ") else {
                continue;
            };
            let number = before.split(' ').next().unwrap_or_default();
            let fields: Vec<&str> = after.split(' ').collect();
            let time = |field: usize| fields[field].parse::<u64>();
            if number == server.to_string() {
                // Those of its children that have ended stand beside its own.
                sum += time(11)? + time(12)? + time(13)? + time(14)?;
            } else if fields[1] == server.to_string() {
                sum += time(11)? + time(12)?;
            }
        }
        Ok(sum as f64 / ticks)
    }
}

/// Waits until all nodes have ended. Returns the highest resident size of one of them.
fn watch(nodes: &mut Nodes) -> Result<u64, Failure> {
    let mut peak = 0;
    loop {
        let mut is_running = false;
        for node in &mut nodes.0 {
            peak = peak.max(peak_of(node));
            match node.try_wait()? {
                None => is_running = true,
                Some(status) if status.success() => {}
                Some(status) => return Err(format!("a node ended with {status}").into()),
            }
        }
        if !is_running {
            return Ok(peak);
        }
        pause();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has nothing else to wait for"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}

impl Measured {
    fn rate(&self) -> f64 {
        self.pages as f64 / self.seconds
    }

    fn cpu_per_thousand(&self) -> f64 {
        self.cpu * 1000.0 / self.pages as f64
    }

    fn peak_mib(&self) -> f64 {
        self.peak as f64 / f64::from(1 << 20)
    }
}
