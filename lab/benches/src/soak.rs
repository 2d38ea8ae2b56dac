//! A long crawl of many hosts: pages per second, memory and open files by the minute. A crawl must
//! not get slower, nor larger without end.
//!
//! The real binary crawls a web that another process serves on loopback, politeness off, everything
//! else on, until its time is up. A tenth of the pages are copies, whose links are probed. The web
//! has more pages than the crawl can fetch in that time; if it has not, the end says so.
//!
//! ```text
//! cargo run --release -p benches --bin soak -- [--minutes 10] [--hosts 500] [--pages 900000]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Parser;
use testkit::{Corpus, Server, Settings, Site};
use tokio::time::Instant;

type Failure = Box<dyn Error>;

/// Time between two samples of a soak of four minutes or more, and of a shorter one.
const STEP: Duration = Duration::from_secs(60);
const SHORT_STEP: Duration = Duration::from_secs(15);

/// Crawl a generated web for minutes and print the rate and the memory of each
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Minutes to crawl
    #[arg(long, default_value_t = 10)]
    minutes: u32,
    /// Host names
    #[arg(long, default_value_t = 500)]
    hosts: usize,
    /// Pages in all
    #[arg(long, default_value_t = 900_000)]
    pages: usize,
    /// Seed of the generated web
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The crawler to measure; built with cargo if not given
    #[arg(long)]
    crawler: Option<PathBuf>,
    /// Options for the crawler, after --
    #[arg(last = true)]
    options: Vec<String>,
    /// Serve instead of measuring (the soak starts itself like this)
    #[arg(long, hide = true)]
    serve: bool,
}

/// The web in a process of its own. Each line on its input is answered with the number of requests
/// so far.
struct Web {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    port: u16,
}

/// The state of the crawl at one time.
#[derive(Clone, Copy)]
struct Sample {
    seconds: f64,
    requests: u64,
    anonymous: u64,
    open_files: usize,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let corpus = Corpus::plain(options.pages, options.seed).with_hosts(options.hosts);
    if options.serve {
        return serve(&Arc::new(corpus));
    }
    let crawler = match &options.crawler {
        Some(path) => path.clone(),
        None => testkit::build_crawler(&[])?,
    };
    println!(
        "{} pages on {} hosts, {} minutes",
        corpus.len(),
        options.hosts,
        options.minutes
    );
    let mut web = Web::start(&options)?;
    let directory = tempfile::tempdir()?;
    let mut crawl = start_crawl(&options, &corpus, &crawler, web.port, directory.path())?;
    let samples = watch(&options, &mut web, &mut crawl)?;
    let mut summary = String::new();
    let output = crawl.stdout.take().ok_or("no standard output")?;
    BufReader::new(output).read_to_string(&mut summary)?;
    let status = crawl.wait()?;
    web.stop()?;
    if !status.success() {
        return Err(format!("the crawler ended with {status}").into());
    }
    let summary: serde_json::Value = serde_json::from_str(&summary)?;
    println!(
        "{} pages, ended by {}",
        summary["pages"], summary["finished"]
    );
    report_quarters(&samples);
    Ok(())
}

fn serve(corpus: &Arc<Corpus>) -> Result<(), Failure> {
    let requests = Arc::new(AtomicU64::new(0));
    let (counted, site) = (Arc::clone(&requests), corpus.site());
    let site = Site::new(move |request| {
        counted.fetch_add(1, Ordering::Relaxed);
        site.answer(request)
    });
    let settings = Settings {
        keep_log: false,
        ..Settings::default()
    };
    let server = Server::spawn_thread_with(site, settings)?;
    println!("{}", server.port());
    // Until the parent process closes our standard input.
    for line in std::io::stdin().lines() {
        line?;
        println!("{}", requests.load(Ordering::Relaxed));
    }
    Ok(())
}

fn start_crawl(
    options: &Options,
    corpus: &Corpus,
    crawler: &Path,
    port: u16,
    directory: &Path,
) -> Result<Child, Failure> {
    let seeds = directory.join("seeds.txt");
    std::fs::write(&seeds, corpus.seeds(port).join("\n"))?;
    let mut command = Command::new(crawler);
    command
        .args(["--scope", "any", "--delay", "0", "--delay-factor", "0"])
        .args([
            "--allow-private",
            "--quiet",
            "--summary",
            "json",
            "--max-time",
        ])
        .arg(format!("{}m", options.minutes))
        .arg("--seeds")
        .arg(&seeds)
        .arg("--out")
        .arg(directory.join("crawl"))
        .args(&options.options)
        .stdout(Stdio::piped());
    for host in corpus.hosts() {
        command.args(["--resolve", &format!("{host}:{port}:127.0.0.1")]);
    }
    Ok(command.spawn()?)
}

/// Samples the crawl until it ends, and prints each sample.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has nothing else to wait for"
)]
fn watch(options: &Options, web: &mut Web, crawl: &mut Child) -> Result<Vec<Sample>, Failure> {
    let step = if options.minutes < 4 {
        SHORT_STEP
    } else {
        STEP
    };
    let begun = Instant::now();
    let mut samples = vec![Sample::of(crawl.id(), begun, web)?];
    println!("minute   pages/s   anon MiB   open files");
    while crawl.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(100));
        let due = step * u32::try_from(samples.len())?;
        if begun.elapsed() < due || samples.len() as u128 > steps(options, step) {
            continue;
        }
        let sample = Sample::of(crawl.id(), begun, web)?;
        let before = samples[samples.len() - 1];
        println!(
            "{:>6.2}   {:>7.0}   {:>8.0}   {:>10}",
            sample.seconds / 60.0,
            sample.rate_since(before),
            sample.anonymous as f64 / f64::from(1 << 20),
            sample.open_files
        );
        samples.push(sample);
    }
    Ok(samples)
}

/// Returns the number of samples before the crawl stops leasing.
fn steps(options: &Options, step: Duration) -> u128 {
    (STEP * options.minutes).as_millis() / step.as_millis()
}

fn report_quarters(samples: &[Sample]) {
    let quarter = (samples.len() - 1) / 4;
    if quarter == 0 {
        println!("too short to compare quarters");
        return;
    }
    let last = samples.len() - 1;
    let first_rate = samples[quarter].rate_since(samples[0]);
    let last_rate = samples[last].rate_since(samples[last - quarter]);
    println!(
        "first quarter {first_rate:.0} pages/s, last quarter {last_rate:.0}: {:.0} %",
        100.0 * last_rate / first_rate
    );
}

impl Web {
    fn start(options: &Options) -> Result<Self, Failure> {
        let figures = [options.pages, options.hosts].map(|figure| figure.to_string());
        let [pages, hosts] = &figures;
        let seed = options.seed.to_string();
        let mut process = Command::new(std::env::current_exe()?)
            .args([
                "--serve", "--pages", pages, "--hosts", hosts, "--seed", &seed,
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take().ok_or("the web has no input")?;
        let output = process.stdout.take().ok_or("the web has no output")?;
        let mut web = Self {
            process,
            input,
            output: BufReader::new(output),
            port: 0,
        };
        web.port = web.number()?.try_into()?;
        Ok(web)
    }

    fn requests(&mut self) -> Result<u64, Failure> {
        self.input.write_all(b"\n")?;
        self.number()
    }

    fn number(&mut self) -> Result<u64, Failure> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }

    fn stop(mut self) -> Result<(), Failure> {
        drop(self.input);
        self.process.wait()?;
        Ok(())
    }
}

impl Sample {
    fn of(process: u32, begun: Instant, web: &mut Web) -> Result<Self, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"));
        let status = status.unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let kibibytes = line
            .and_then(|line| line.trim().strip_suffix(" kB"))
            .and_then(|number| number.trim().parse::<u64>().ok());
        let files = std::fs::read_dir(format!("/proc/{process}/fd"));
        Ok(Self {
            seconds: begun.elapsed().as_secs_f64(),
            requests: web.requests()?,
            anonymous: kibibytes.unwrap_or(0) * 1024,
            open_files: files.map_or(0, Iterator::count),
        })
    }

    fn rate_since(self, before: Self) -> f64 {
        (self.requests - before.requests) as f64 / (self.seconds - before.seconds).max(0.001)
    }
}
