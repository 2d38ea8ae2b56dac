//! An attack on the release binary: kills, full disks, damage, broken and greedy servers, clocks,
//! floods.
//!
//! Each section is a file and adds rows to one table. A row has the number of attempts, the pages
//! that were lost, archived twice or damaged without a report, and a figure beside its goal. The
//! exit code is 1 if a row misses.
//!
//! If the machine allows it, the program restarts itself in its own namespaces for users,
//! networks and mounts. They have only a loopback device, so no request can leave, and disks of any
//! size can be mounted.
//!
//! ```text
//! just attack [--only kills,fills] [--quick] [--minutes 10] [--crawler PATH] [--report FILE]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(
    clippy::disallowed_methods,
    reason = "an attack waits, and measures time by the machine's clock"
)]

mod archive;
mod bodies;
mod bombs;
mod clocks;
mod damages;
mod failure;
mod fills;
mod floods;
mod kills;
mod listings;
mod namespace;
mod process;
mod section;
mod servers;
mod table;
mod web;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;

use crate::failure::Failure;
use crate::process::Crawler;
use crate::section::Attack;
use crate::table::{Row, Table};

/// Attack the crawler, and print what it lost
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Sections to run, separated by commas; all of them if not given
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Minutes for all sections together; each gets a share
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// A tenth of the time
    #[arg(long)]
    quick: bool,
    /// Seed of the random choices; a run with the same seed repeats them
    #[arg(long, default_value_t = 20_261_122, overrides_with = "seed")]
    seed: u64,
    /// The crawler to attack; built with cargo if not given
    #[arg(long, overrides_with = "crawler")]
    crawler: Option<PathBuf>,
    /// Also write the table to this Markdown file
    #[arg(long)]
    report: Option<PathBuf>,
}

type Section = fn(&Attack<'_>, &mut Table) -> Result<(), Failure>;

/// The sections, and the share of the time that each has, in hundredths.
const SECTIONS: [(&str, f64, Section); 9] = [
    ("kills", 16.0, kills::attack),
    ("fills", 7.0, fills::attack),
    ("damages", 22.0, damages::attack),
    ("servers", 24.0, servers::attack),
    ("bodies", 11.0, bodies::attack),
    ("listings", 7.0, listings::attack),
    ("bombs", 3.0, bombs::attack),
    ("clocks", 4.0, clocks::attack),
    ("floods", 6.0, floods::attack),
];

fn main() -> Result<ExitCode, Failure> {
    let options = Options::parse();
    for name in &options.only {
        if !SECTIONS.iter().any(|(section, ..)| section == name) {
            let names: Vec<&str> = SECTIONS.iter().map(|(section, ..)| *section).collect();
            return Err(format!(
                "there is no section {name:?}; there are {}",
                names.join(", ")
            )
            .into());
        }
    }
    // Before the network is gone, because cargo may have to download something.
    let binary = match &options.crawler {
        Some(path) => path.canonicalize()?,
        None => testkit::build_crawler(&[])?,
    };
    let isolation = namespace::enter(&binary)?;
    let total =
        Duration::from_secs_f64(options.minutes * 60.0 / if options.quick { 10.0 } else { 1.0 });
    // A concurrent build must not replace the binary.
    let place = tempfile::tempdir()?;
    let kept = place.path().join("crawler");
    std::fs::copy(&binary, &kept)?;
    let crawler = Crawler::new(kept);
    let mut table = Table::new(&isolation, options.seed);
    let began = Instant::now();
    for (name, share, section) in SECTIONS {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        println!("== {name}");
        let attack = Attack {
            crawler: &crawler,
            seed: options.seed,
            budget: total.mul_f64(share / 100.0),
            began: Instant::now(),
            may_mount: isolation.may_mount,
        };
        if let Err(failure) = section(&attack, &mut table) {
            // The attack itself failed, which must not look like a crawler that withstood it.
            table.add(
                Row::new(name)
                    .figure(failure.to_string())
                    .goal("a section that runs")
                    .is(false),
            );
        }
    }
    let text = table.text(began.elapsed());
    println!("\n{text}");
    if let Some(report) = &options.report {
        std::fs::write(report, table.markdown(began.elapsed()))?;
    }
    Ok(if table.all_hold() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
