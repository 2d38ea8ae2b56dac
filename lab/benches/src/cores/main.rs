//! The rate of a crawl by the number of cores, and its gaps.
//!
//! The real binary crawls a generated web on loopback, politeness off. It is pinned to the first
//! cores, and the web, which another process serves with a thread per address, to others. Of each
//! run it prints the rate, the CPU time by thread name, context switches, peak memory and retries;
//! then each gap: more than a second without the end of a visit, by the dates of
//! `crawl.log`, with what else the log says until the visit after it, and the share of samples in
//! which a thread of the crawler waited for the disk.
//!
//! ```text
//! cargo run --release -p benches --bin bench-cores -- [--cores 2,4,8,12] [--server-cores 4] \
//!     [--hosts 256] [--pages 30720] [--shape plain|real] [--index] [--runs 4]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../crawled.rs"]
mod crawled;
mod gaps;
mod processors;
mod threads;

use std::error::Error;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use testkit::{Corpus, Server, Settings};
use tokio::time::Instant;

use crate::crawled::{arguments, cpu, peak_of, read_port, start, stop};
use crate::gaps::Gap;
use crate::threads::Threads;

type Failure = Box<dyn Error>;

/// Time between two samples of the crawler's threads.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);

/// Crawl a generated web on more and more cores and print the rate
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Cores of the crawler, run after run
    #[arg(long, value_delimiter = ',', default_value = "2,4,8,12")]
    cores: Vec<usize>,
    /// Cores of the web, the last ones [default: all that the crawler leaves]
    #[arg(long)]
    server_cores: Option<usize>,
    /// Host names
    #[arg(long, default_value_t = 256)]
    hosts: usize,
    /// Pages in all
    #[arg(long, default_value_t = 30_720)]
    pages: usize,
    /// Pages of 26 KiB with 24 KB of text, or of 170 KiB with 9 KB of text
    #[arg(long, default_value = "plain")]
    shape: Shape,
    /// Write the search index
    #[arg(long)]
    index: bool,
    /// Crawls for each number of cores
    #[arg(long, default_value_t = 4)]
    runs: usize,
    /// The crawler to measure; built with cargo if not given
    #[arg(long)]
    crawler: Option<PathBuf>,
    /// Options for the crawler, after --
    #[arg(last = true)]
    options: Vec<String>,
    /// Serve from this number of threads instead of measuring (the benchmark starts itself so)
    #[arg(long, hide = true)]
    serve: Option<u8>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shape {
    Plain,
    Real,
}

/// A crawl that ended.
struct Run {
    pages: f64,
    seconds: f64,
    cpu: f64,
    retries: u64,
    peak: u64,
    threads: Threads,
    gaps: Vec<Gap>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let corpus = match options.shape {
        Shape::Plain => Corpus::plain(options.pages, 1),
        Shape::Real => Corpus::real_shaped(options.pages, 1),
    };
    let corpus = Arc::new(corpus.with_hosts(options.hosts));
    if let Some(threads) = options.serve {
        return serve(&corpus, threads);
    }
    let crawler = match &options.crawler {
        Some(path) => path.clone(),
        None => testkit::build_crawler(&[])?,
    };
    let processors = processors::allowed()?;
    println!(
        "{} pages ({:?}) on {} hosts, {} processors",
        corpus.len(),
        options.shape,
        options.hosts,
        processors.len()
    );
    let mut first = None;
    for &cores in &options.cores {
        if cores > processors.len() {
            println!("{cores} cores: this machine has {}", processors.len());
            continue;
        }
        let (own, rest) = processors.split_at(cores);
        let served_by = match options.server_cores {
            Some(wanted) => &processors[processors.len().saturating_sub(wanted.max(1))..],
            None if rest.is_empty() => &processors,
            None => rest,
        };
        if served_by.iter().any(|processor| own.contains(processor)) {
            println!("the crawler and the web share processors");
        }
        for _ in 0..options.runs.max(1) {
            let run = measure(&options, &corpus, &crawler, own, served_by)?;
            let base = *first.get_or_insert(run.rate());
            run.print(cores, base);
        }
    }
    Ok(())
}

/// Serves the corpus at as many loopback addresses as there are threads, all on one port.
fn serve(corpus: &Arc<Corpus>, threads: u8) -> Result<(), Failure> {
    let mut port = 0;
    let mut servers = Vec::new();
    for thread in 1..=threads {
        let settings = Settings {
            keep_log: false,
            address: SocketAddr::from((address(thread), port)),
        };
        let server = Server::spawn_thread_with(corpus.site(), settings)?;
        port = server.port();
        servers.push(server);
    }
    println!("{port}");
    // Waits until the parent process closes our standard input.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

const fn address(thread: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, thread)
}

fn start_web(options: &Options, threads: u8) -> Result<Child, Failure> {
    let shape = match options.shape {
        Shape::Plain => "plain",
        Shape::Real => "real",
    };
    let figures = [options.pages, options.hosts].map(|figure| figure.to_string());
    let [pages, hosts] = &figures;
    let threads = threads.to_string();
    start(&[
        "--serve", &threads, "--shape", shape, "--pages", pages, "--hosts", hosts,
    ])
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has nothing else to wait for"
)]
fn measure(
    options: &Options,
    corpus: &Corpus,
    crawler: &Path,
    own: &[usize],
    served_by: &[usize],
) -> Result<Run, Failure> {
    let servers = u8::try_from(served_by.len().min(200))?;
    let mut web = processors::pinned(served_by, || start_web(options, servers))?;
    let port = read_port(&mut web)?;
    let directory = tempfile::tempdir()?;
    let seeds = directory.path().join("seeds.txt");
    std::fs::write(&seeds, corpus.seeds(port).join("\n"))?;
    let out = directory.path().join("crawl");
    let mut command = Command::new(crawler);
    for (host, thread) in corpus.hosts().iter().zip((1..=servers).cycle()) {
        command.args(["--resolve", &format!("{host}:{port}:{}", address(thread))]);
    }
    command
        .args(arguments(&[], port, &seeds))
        .args(["--delay", "0", "--out"])
        .arg(&out)
        .args((!options.index).then_some("--no-index"))
        .args(&options.options)
        .stdout(Stdio::piped());
    let before = cpu()?;
    let mut child = processors::pinned(own, || Ok(command.spawn()?))?;
    let (begun, mut peak) = (Instant::now(), 0);
    let mut threads = Threads::default();
    while child.try_wait()?.is_none() {
        peak = peak.max(peak_of(&child));
        threads.sample(child.id(), begun.elapsed());
        std::thread::sleep(SAMPLE_EVERY);
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("the crawler ended with {}", output.status).into());
    }
    let cpu = cpu()? - before;
    stop(web)?;
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let number = |name: &str| summary[name].as_f64().ok_or(format!("no {name}"));
    let log = std::fs::read_to_string(out.join("crawl.log"))?;
    Ok(Run {
        pages: number("pages")?,
        seconds: number("seconds")?,
        cpu,
        retries: summary["retries"].as_u64().unwrap_or(0),
        peak,
        gaps: gaps::of(&log, &threads)?,
        threads,
    })
}

impl Run {
    fn rate(&self) -> f64 {
        self.pages / self.seconds
    }

    fn print(&self, cores: usize, base: f64) {
        let per_thousand = 1000.0 / self.pages;
        println!(
            "{cores} cores: {:.0} pages/s (x{:.2}), {:.2} s, {:.3} CPU s per 1,000 pages, \
             {:.0} MiB, {} retries",
            self.rate(),
            self.rate() / base,
            self.seconds,
            self.cpu * per_thousand,
            self.peak as f64 / f64::from(1 << 20),
            self.retries
        );
        let (waited, preempted) = self.threads.switches();
        println!(
            "  context switches per page: {:.2} voluntary, {:.2} involuntary",
            waited as f64 / self.pages,
            preempted as f64 / self.pages
        );
        for (name, seconds) in self.threads.by_name() {
            println!(
                "  {name:<16} {:.3} CPU s per 1,000 pages",
                seconds * per_thousand
            );
        }
        for gap in &self.gaps {
            println!("  {gap}");
        }
    }
}
