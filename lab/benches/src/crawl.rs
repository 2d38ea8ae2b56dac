//! The cost of a crawl of generated pages: pages a second, CPU seconds per 1,000 pages, peak
//! memory, and the share of the planted near-duplicates that are found.
//!
//! The real binary crawls a web that another process serves on loopback, politeness off, everything
//! else on. The CPU time is the crawler's own (getrusage of the finished child), the memory the
//! highest resident size that Linux saw (VmHWM). `gzip -1` of the same pages is timed after the
//! crawls, because CPU seconds depend on the machine.
//!
//! ```text
//! cargo run --release -p benches --bin bench-crawl -- [--shape plain|real] \
//!     [--pages 20000] [--hosts 64] [--runs 3] [--nodes 4]
//! ```
//!
//! With `--nodes`, the same web is crawled again by nodes that share a crawl on PostgreSQL. Then
//! each host is a registrable domain of its own, because hosts of one domain stay on one node.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod crawled;
mod filter;
mod gzip;
mod nodes;

use std::error::Error;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use testkit::{Corpus, Server, Settings};

use crate::crawled::{arguments, cpu, peak_of, read_port, start, stop};

type Failure = Box<dyn Error>;

/// Crawl a generated web on loopback and print the cost
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Pages of 26 KiB with 24 KB of text, or of 170 KiB with 9 KB of text
    #[arg(long, default_value = "plain")]
    shape: Shape,
    /// Pages in all
    #[arg(long, default_value_t = 20_000)]
    pages: usize,
    /// Host names that they are spread over
    #[arg(long, default_value_t = 64)]
    hosts: usize,
    /// Crawls, one after the other; the median counts
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Nodes that crawl the same web on PostgreSQL, after one process without; 0 for none
    #[arg(long, default_value_t = 0)]
    nodes: usize,
    /// Seed of the generated web
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The crawler to measure; built with cargo if not given
    #[arg(long)]
    crawler: Option<PathBuf>,
    /// Options for the crawler, after --
    #[arg(last = true)]
    options: Vec<String>,
    /// Serve instead of measuring (the benchmark starts itself like this)
    #[arg(long, hide = true)]
    serve: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shape {
    Plain,
    Real,
}

/// The measurements of one crawl.
struct Measured {
    pages: u64,
    seconds: f64,
    cpu: f64,
    peak: u64,
    archive: u64,
    caught: String,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let corpus = Arc::new(corpus(&options));
    if options.serve {
        return serve(&corpus);
    }
    let crawler = match &options.crawler {
        Some(path) => path.clone(),
        None => testkit::build_crawler(&[])?,
    };
    println!(
        "{} pages ({:?}) on {} hosts, {} planted copies",
        corpus.len(),
        options.shape,
        options.hosts,
        corpus.planted().len()
    );
    println!("pages/s   CPU s per 1,000   peak MiB   archive MiB   judged");
    let mut runs = Vec::new();
    for _ in 0..options.runs.max(1) {
        let run = measure(&options, &corpus, &crawler)?;
        println!("{}", run.line());
        runs.push(run);
    }
    let (cpu, peak) = (
        median(&runs, Measured::cpu_per_thousand),
        median(&runs, Measured::peak_mib),
    );
    println!(
        "median: {:.0} pages/s, {cpu:.3} CPU s per 1,000 pages, {peak:.0} MiB",
        median(&runs, Measured::rate)
    );
    let gzip = gzip::cpu_per_thousand(&corpus)?;
    println!(
        "gzip -1 of the same pages: {gzip:.3} CPU s per 1,000 pages; the crawl takes {:.2} times \
         as much",
        cpu / gzip
    );
    if options.nodes > 0 {
        return nodes::measure(&options, &corpus, &crawler, cpu, peak);
    }
    let filter = filter::cpu_per_thousand(&corpus)?;
    println!(
        "of it the filter (signature and signature_index, measured alone): {filter:.3} CPU s per \
         1,000 pages, {:.1} %",
        100.0 * filter / cpu
    );
    Ok(())
}

fn corpus(options: &Options) -> Corpus {
    let corpus = match options.shape {
        Shape::Plain => Corpus::plain(options.pages, options.seed),
        Shape::Real => Corpus::real_shaped(options.pages, options.seed),
    };
    let corpus = corpus.with_hosts(options.hosts);
    match options.nodes {
        0 => corpus,
        _ => corpus.on_domains(),
    }
}

fn median<T>(runs: &[T], figure: fn(&T) -> f64) -> f64 {
    let mut figures: Vec<f64> = runs.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn serve(corpus: &Arc<Corpus>) -> Result<(), Failure> {
    let settings = Settings {
        keep_log: false,
        ..Settings::default()
    };
    let server = Server::spawn_thread_with(corpus.site(), settings)?;
    println!("{}", server.port());
    // Waits until the parent process closes our standard input.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn measure(options: &Options, corpus: &Corpus, crawler: &Path) -> Result<Measured, Failure> {
    let mut web = start_web(options)?;
    let port = read_port(&mut web)?;
    let directory = tempfile::tempdir()?;
    let seeds = directory.path().join("seeds.txt");
    std::fs::write(&seeds, corpus.seeds(port).join("\n"))?;
    let out = directory.path().join("crawl");
    let mut command = Command::new(crawler);
    command
        .args(arguments(&corpus.hosts(), port, &seeds))
        .args(["--delay", "0", "--out"])
        .arg(&out)
        .args(&options.options)
        .stdout(Stdio::piped());

    let before = cpu()?;
    let mut child = command.spawn()?;
    let peak = watch(&mut child)?;
    let status = child.wait()?;
    let cpu = cpu()? - before;
    let mut summary = String::new();
    child
        .stdout
        .take()
        .ok_or("no standard output")?
        .read_to_string(&mut summary)?;
    if !status.success() {
        return Err(format!("the crawler ended with {status}").into());
    }
    stop(web)?;

    let summary: serde_json::Value = serde_json::from_str(&summary)?;
    let exported = Command::new(crawler).arg("export").arg(&out).output()?;
    let unarchived = unarchived(&exported.stdout)?;
    let score = corpus.score(&unarchived);
    Ok(Measured {
        pages: summary["pages"].as_u64().ok_or("no pages in the summary")?,
        seconds: summary["seconds"]
            .as_f64()
            .ok_or("no seconds in the summary")?,
        cpu,
        peak,
        archive: size_of(&out.join("archive"))?,
        caught: format!(
            "{} of {} copies not archived, {} distinct pages lost",
            score.caught, score.planted, score.lost
        ),
    })
}

fn start_web(options: &Options) -> Result<Child, Failure> {
    let shape = match options.shape {
        Shape::Plain => "plain",
        Shape::Real => "real",
    };
    let figures = [options.pages, options.hosts, options.nodes].map(|figure| figure.to_string());
    let [pages, hosts, nodes] = &figures;
    let seed = options.seed.to_string();
    start(&[
        "--serve", "--shape", shape, "--pages", pages, "--hosts", hosts, "--nodes", nodes,
        "--seed", &seed,
    ])
}

/// Returns the highest resident size, in bytes, that the kernel saw until the child ended.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has nothing else to wait for"
)]
fn watch(child: &mut Child) -> Result<u64, Failure> {
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(peak_of(child));
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(peak)
}

fn unarchived(export: &[u8]) -> Result<Vec<String>, Failure> {
    let mut urls = Vec::new();
    for line in export.lines() {
        let visit: serde_json::Value = serde_json::from_str(&line?)?;
        if visit["verdict"]
            .as_str()
            .is_some_and(|verdict| verdict.ends_with("-duplicate"))
        {
            urls.push(visit["url"].as_str().unwrap_or_default().to_owned());
        }
    }
    Ok(urls)
}

fn size_of(directory: &Path) -> Result<u64, Failure> {
    let mut bytes = 0;
    for item in std::fs::read_dir(directory)? {
        bytes += item?.metadata()?.len();
    }
    Ok(bytes)
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

    fn line(&self) -> String {
        format!(
            "{:>7.0}   {:>15.3}   {:>8.0}   {:>11.0}   {}",
            self.rate(),
            self.cpu_per_thousand(),
            self.peak_mib(),
            self.archive as f64 / f64::from(1 << 20),
            self.caught
        )
    }
}
