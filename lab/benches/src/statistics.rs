//! The cost of reading a crawl's journal into its statistics: time, and memory.
//!
//! ```text
//! cargo run --release -p benches --bin bench-statistics -- write DIR 1000000 10000
//! cargo run --release -p benches --bin bench-statistics -- read DIR
//! cargo run --release -p benches --bin bench-statistics -- index DIR
//! ```
//!
//! `write` makes a journal of visits on hosts below DIR (made_journal.rs). Reading is a process of
//! its own, so that its peak memory (VmHWM, proc(5)) is that of the statistics.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod made_journal;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use journal::JournalFollower;
use nix::time::{ClockId, clock_gettime};
use statistics::{CrawlStatistics, Newest};
use tokio::time::Instant;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["write", directory, visits, hosts] => {
            let (visits, hosts) = (visits.parse()?, hosts.parse()?);
            let bytes = made_journal::write(Path::new(directory), visits, hosts)?;
            println!("{visits} visits on {hosts} hosts: {bytes} bytes");
            Ok(())
        }
        ["read", directory] => read(Path::new(directory), CrawlStatistics::new()),
        ["index", directory] => read(Path::new(directory), CrawlStatistics::with_index()),
        _ => Err("give `write DIR VISITS HOSTS`, `read DIR` or `index DIR`".into()),
    }
}

fn read(directory: &Path, mut statistics: CrawlStatistics) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut follower = JournalFollower::open(directory)?;
    let records = statistics.catch_up(&mut follower)?;
    let opened = begun.elapsed();
    let cpu = Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?).as_secs_f64();
    let peak = peak_mib()?;
    let begun = Instant::now();
    let largest = statistics.clusters().largest().len();
    let newest = statistics.newest(Newest::Pages).count();
    let view = begun.elapsed();
    println!(
        "{records} records, {} visits, {} hosts: {:.2} s, {cpu:.2} s of CPU, peak {peak:.0} MiB; \
         {largest} clusters and {newest} visits in {:.2} ms",
        statistics.counts().totals.pages + statistics.counts().totals.failed,
        statistics.counts().hosts,
        opened.as_secs_f64(),
        view.as_secs_f64() * 1e3,
    );
    Ok(())
}

fn peak_mib() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM")?;
    let kib: f64 = peak.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}
