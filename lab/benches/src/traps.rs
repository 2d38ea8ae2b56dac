//! The pace of an honest host beside traps: its requests a second by the server's clock, alone and
//! beside six traps without end.
//!
//! The real binary crawls with a delay, so the possible pace is known: a page per delay and
//! response time. Runs with and without the traps alternate; best and median of each are printed,
//! with the share of the pace that is kept.
//!
//! ```text
//! cargo run --release -p benches --bin bench-traps -- [--pages 300] [--delay 20ms] [--runs 3]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Parser;
use testkit::traps::{HONEST, Trap, traps_and_honest};
use testkit::{Log, Server};

type Failure = Box<dyn Error>;

/// Measure the pace of an honest host beside six traps
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Pages of the honest host
    #[arg(long, default_value_t = 300)]
    pages: u64,
    /// The pause between two requests to a host
    #[arg(long, default_value = "20ms")]
    delay: String,
    /// Runs of each kind
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Hosts of a domain, at most
    #[arg(long, default_value_t = 1_000)]
    hosts: u64,
    /// The crawler to measure; built with cargo if not given
    #[arg(long)]
    crawler: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let crawler = match &options.crawler {
        Some(path) => path.clone(),
        None => testkit::build_crawler(&[])?,
    };
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    println!("traps   pages/s of the honest host   its pages   requests to the traps");
    for _ in 0..options.runs.max(1) {
        for (traps, paces) in [(false, &mut alone), (true, &mut beside)] {
            let log = crawl(&options, &crawler, traps)?;
            let pace = pace(&log);
            let pages = log
                .targets(HONEST)
                .iter()
                .filter(|target| target.starts_with("/guide/"))
                .count();
            let others = log
                .iter()
                .filter(|hit| hit.host != HONEST && hit.target != "/robots.txt")
                .count();
            println!(
                "{:<7} {pace:>26.2} {pages:>11} {others:>23}",
                if traps { "six" } else { "none" }
            );
            paces.push(pace);
        }
    }
    let [(best_alone, median_alone), (best_beside, median_beside)] =
        [alone, beside].map(best_and_median);
    println!(
        "kept: {:.1} % (best {best_beside:.2} of {best_alone:.2}), {:.1} % (median \
         {median_beside:.2} of {median_alone:.2})",
        100.0 * best_beside / best_alone,
        100.0 * median_beside / median_alone
    );
    Ok(())
}

fn best_and_median(mut paces: Vec<f64>) -> (f64, f64) {
    paces.sort_by(f64::total_cmp);
    (paces[paces.len() - 1], paces[paces.len() / 2])
}

/// Returns pages a second, between the first request and the last.
fn pace(log: &Log) -> f64 {
    let times: Vec<_> = log.of(HONEST).map(|hit| hit.at).collect();
    match (times.first(), times.last()) {
        (Some(first), Some(last)) => {
            (times.len() - 1) as f64 / last.saturating_sub(*first).as_secs_f64().max(0.001)
        }
        _ => 0.0,
    }
}

fn crawl(options: &Options, crawler: &Path, traps: bool) -> Result<Log, Failure> {
    let server = Server::spawn_thread(traps_and_honest(options.pages));
    let directory = tempfile::tempdir()?;
    let mut command = Command::new(crawler);
    command
        .current_dir(directory.path())
        .args(["--out", "crawl", "--quiet", "--allow-private"])
        .args(["--scope", "domain", "--contact", "bench@example.org"])
        .args(["--delay", &options.delay, "--delay-factor", "0"])
        // So the traps last as long as the honest host, and the run ends with it.
        .args(["--max-pages-per-host", &options.pages.to_string()])
        .args(["--max-hosts-per-domain", &options.hosts.to_string()])
        .arg(server.url(HONEST, "/guide/0"))
        .args(["--resolve", &server.resolve(HONEST)])
        .stdout(Stdio::null());
    if traps {
        // A page of the trap of host names has eight new names.
        for name in Trap::ALL
            .iter()
            .flat_map(|trap| trap.names(options.hosts * 9))
        {
            command.args(["--resolve", &server.resolve(&name)]);
        }
        for trap in Trap::ALL {
            command.arg(server.url(trap.host(), trap.entrance()));
        }
    }
    let ended = command.status()?;
    if !ended.success() {
        return Err(format!("the crawl ended with {ended}").into());
    }
    Ok(server.log())
}
