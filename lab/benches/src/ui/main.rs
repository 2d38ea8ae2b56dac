//! The reach of the dashboard and of the report over a journal of a million visits: opening, views,
//! report, differences, and a viewer beside a running crawl.
//!
//! The release binary is measured from outside, so that its memory is its own (VmHWM, proc(5)) and
//! its processor time that of the whole process. The viewer does as the dashboard's script does: it
//! listens to `/events`, and fetches the page after each of them.
//!
//! ```text
//! cargo run --release -p benches --bin bench-ui -- [--directory DIR] [--only views] \
//!     [--visits 1000000] [--hosts 10000] [--rounds 100] [--seconds 20]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../made_journal.rs"]
mod made_journal;
#[path = "../prose.rs"]
mod prose;
mod running_crawl;
mod served;

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use differences::Difference;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

use crate::running_crawl::RunningCrawl;
use crate::served::Served;

type Failure = Box<dyn Error>;

/// Measure the dashboard and the report
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Directory of the generated crawl, which is kept and used again [default: a temporary one]
    #[arg(long)]
    directory: Option<PathBuf>,
    /// Visits of the generated journal
    #[arg(long, default_value_t = 1_000_000)]
    visits: u64,
    /// Hosts of the generated journal
    #[arg(long, default_value_t = 10_000)]
    hosts: u64,
    /// Requests of each view
    #[arg(long, default_value_t = 100)]
    rounds: usize,
    /// Seconds that a viewer looks at a running crawl
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// The crawler to measure; built with cargo if not given
    #[arg(long)]
    crawler: Option<PathBuf>,
    /// Only this part (repeatable)
    #[arg(long)]
    only: Vec<Part>,
}

/// A part of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Views,
    Report,
    Differences,
    Viewer,
}

/// A measurement and the most that it may be.
struct Goal {
    measured: f64,
    most: f64,
    unit: &'static str,
}

impl Goal {
    /// Returns true if the figure that is shown is no more than the goal.
    fn is_reached(&self) -> bool {
        (self.measured * 100.0).round() <= self.most * 100.0
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let has = |part: Part| options.only.is_empty() || options.only.contains(&part);
    let crawler = match &options.crawler {
        Some(path) => path.clone(),
        None => testkit::build_crawler(&[])?,
    };
    let temporary = tempfile::tempdir()?;
    let directory = match &options.directory {
        Some(directory) => directory.clone(),
        None => temporary.path().join("crawl"),
    };
    println!("| question | goal | measured | |\n|---|--:|--:|---|");
    if has(Part::Views) || has(Part::Report) {
        make(&directory, &options)?;
    }
    if has(Part::Views) {
        views(&crawler, &directory, &options)?;
    }
    if has(Part::Report) {
        report(&crawler, &directory, temporary.path())?;
    }
    if has(Part::Differences) {
        differences()?;
    }
    if has(Part::Viewer) {
        viewer(&crawler, &options)?;
    }
    Ok(())
}

/// Prints a line of the table.
fn line(question: &str, goals: &[Goal], beside: &str) {
    let goal = |goal: &Goal| format!("{} {}", goal.most, goal.unit);
    let measured = |goal: &Goal| format!("{:.2} {}", goal.measured, goal.unit);
    let join = |texts: Vec<String>| texts.join(", ");
    let word = match goals {
        [] => "",
        goals if goals.iter().all(Goal::is_reached) => "reached",
        _ => "**missed**",
    };
    let mut shown = join(goals.iter().map(measured).collect());
    if !beside.is_empty() {
        shown = format!(
            "{shown}{}{beside}",
            if goals.is_empty() { "" } else { "; " }
        );
    }
    let goals = match goals {
        [] => "–".to_owned(),
        goals => join(goals.iter().map(goal).collect()),
    };
    println!("| {question} | {goals} | {shown} | {word} |");
}

const fn seconds(measured: f64, most: f64) -> Goal {
    let unit = "s";
    Goal {
        measured,
        most,
        unit,
    }
}

const fn milliseconds(measured: f64, most: f64) -> Goal {
    let unit = "ms";
    Goal {
        measured,
        most,
        unit,
    }
}

fn mebibytes(bytes: u64, most: f64) -> Goal {
    Goal {
        measured: bytes as f64 / f64::from(1 << 20),
        most,
        unit: "MiB",
    }
}

/// Makes the generated crawl, if it is not there.
fn make(directory: &Path, options: &Options) -> Result<(), Failure> {
    let state = directory.join("state");
    if state.join("journal").is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(directory.join("archive"))?;
    made_journal::write(&state, options.visits, options.hosts)?;
    Ok(())
}

/// Measures the first view, which reads the journal, and then every view.
fn views(crawler: &Path, directory: &Path, options: &Options) -> Result<(), Failure> {
    let begun = Instant::now();
    let served = Served::start(crawler, directory)?;
    let empty = served.peak()?;
    let first = served.get("/")?;
    let opened = begun.elapsed().as_secs_f64();
    if first.status != 200 {
        return Err(format!("the first view has status {}", first.status).into());
    }
    line(
        &format!("the first view of {} visits", options.visits),
        &[seconds(opened, 5.0), mebibytes(served.peak()?, 64.0)],
        &format!(
            "{:.2} s of processor time; {:.0} MiB before it",
            served.cpu()?.as_secs_f64(),
            empty as f64 / f64::from(1 << 20)
        ),
    );
    let duplicates = served.get("/duplicates")?.body;
    let cluster = duplicates.split("href=\"/cluster?").nth(1);
    let cluster = cluster.and_then(|rest| rest.split('"').next());
    let cluster = cluster.ok_or("no cluster is listed")?.replace("&#38;", "&");
    let page = |number: u64| -> Result<String, Failure> {
        Ok(made_journal::url(number % options.visits, options.hosts)?.to_string())
    };
    let fixed = [
        "/",
        "/in-flight",
        "/hosts",
        "/hosts?from=5000",
        "/hosts?q=77",
        "/duplicates",
        "/problems",
        "/skipped",
        "/search",
        "/controls",
        "/metrics",
    ];
    for target in fixed {
        view(&served, options.rounds, target, |_| Ok(target.to_owned()))?;
    }
    let members = format!("/cluster?{cluster}");
    view(&served, options.rounds, "/cluster?url=…", |_| {
        Ok(members.clone())
    })?;
    // Pages all over the crawl: kept ones, and duplicates.
    for (name, kind) in [("/page?url=… (kept)", 1), ("/page?url=… (duplicate)", 7)] {
        view(&served, options.rounds, name, |round| {
            let url = page(round * 9_970 + kind)?;
            Ok(format!("/page?url={url}"))
        })?;
    }
    line(
        "memory after all views",
        &[mebibytes(served.peak()?, 64.0)],
        "",
    );
    Ok(())
}

/// Measures one view.
fn view(
    served: &Served,
    rounds: usize,
    name: &str,
    target: impl Fn(u64) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let mut times = Vec::with_capacity(rounds);
    let mut longest = 0;
    for round in 0..rounds.max(1) {
        let answer = served.get(&target(round as u64)?)?;
        if answer.status != 200 {
            return Err(format!("{name} has status {}", answer.status).into());
        }
        longest = longest.max(answer.body.len());
        times.push(answer.took.as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[(times.len() * part).div_ceil(100).max(1) - 1];
    line(
        &format!("`{name}`, p99"),
        &[milliseconds(at(99), 100.0)],
        &format!("p50 {:.2} ms, {} KiB", at(50), longest.div_ceil(1 << 10)),
    );
    Ok(())
}

/// Measures the report.
fn report(crawler: &Path, directory: &Path, temporary: &Path) -> Result<(), Failure> {
    let output = temporary.join("report.html");
    let before = children_cpu()?;
    let begun = Instant::now();
    let mut command = Command::new(crawler);
    command.arg("report").arg(directory);
    let status = command.arg("--output").arg(&output).status()?;
    let took = begun.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("the report ended with {status}").into());
    }
    let length = std::fs::metadata(&output)?.len();
    line(
        "the report of the same journal",
        &[seconds(took, 8.0), mebibytes(length, 1.0)],
        &format!("{:.2} s of processor time", children_cpu()? - before),
    );
    Ok(())
}

/// Measures differences of two texts, by the processor time of this thread: the best of five.
fn differences() -> Result<(), Failure> {
    let text = |stream, has_enough: &dyn Fn(u64, usize) -> bool| {
        let mut text = String::new();
        for at in 0.. {
            if has_enough(at, text.len()) {
                break;
            }
            text += &prose::zipf(stream, at);
        }
        text
    };
    let words = |at: u64, _: usize| at == 5_000;
    let mebibyte = |_: u64, bytes: usize| bytes >= 1 << 20;
    let page = text(1, &words);
    let changed = |at| prose::zipf(if at % 5 == 0 { 2 } else { 1 }, at);
    let other: String = (0..5_000).map(changed).collect();
    let (one, two) = (text(1, &mebibyte), text(2, &mebibyte));
    for (question, goal, one, two) in [
        (
            "difference of two pages of 5,000 words, every 5th another",
            10.0,
            &page,
            &other,
        ),
        (
            "difference of two texts of 1 MiB without a common line",
            500.0,
            &one,
            &two,
        ),
    ] {
        let mut best = Duration::MAX;
        for _ in 0..5 {
            let before = Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?);
            black_box(Difference::of(one, two));
            let after = Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?);
            best = best.min(after - before);
        }
        let measured = milliseconds(best.as_secs_f64() * 1e3, goal);
        line(question, &[measured], "");
    }
    Ok(())
}

/// Measures the dashboard beside a running crawl: without a viewer, and with one.
fn viewer(crawler: &Path, options: &Options) -> Result<(), Failure> {
    let crawl = RunningCrawl::start(crawler, 2 * options.seconds + 30)?;
    let served = Served::start(crawler, &crawl.directory())?;
    served.get("/")?;
    let long = Duration::from_secs(options.seconds);
    let share = |spent: Duration| spent.as_secs_f64() / long.as_secs_f64() * 100.0;
    let before = served.cpu()?;
    wait(long);
    let idle = share(served.cpu()? - before);
    let percent = |measured, most| Goal {
        measured,
        most,
        unit: "%",
    };
    line(
        "nobody looks, beside a running crawl",
        &[percent(idle, 0.0)],
        "of one core",
    );
    let visited = served.count("Pages")?;
    let before = served.cpu()?;
    let looks = served.watch(long)?;
    let watched = share(served.cpu()? - before);
    let pages = (served.count("Pages")? - visited) as f64 / long.as_secs_f64();
    line(
        "one viewer of the overview, beside the same crawl",
        &[percent(watched, 2.0)],
        &format!("of one core; {looks} refreshes, {pages:.0} pages a second"),
    );
    let mut times = Vec::new();
    for _ in 0..options.rounds.max(1) {
        times.push(served.get("/in-flight")?.took.as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let p99 = times[(times.len() * 99).div_ceil(100) - 1];
    line(
        "`/in-flight` of the same crawl, p99",
        &[milliseconds(p99, 100.0)],
        &format!("{} pages in flight", served.count("In flight")?),
    );
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time is what the benchmark measures"
)]
fn wait(long: Duration) {
    std::thread::sleep(long);
}

/// Returns the processor seconds of all children that have ended.
fn children_cpu() -> Result<f64, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
