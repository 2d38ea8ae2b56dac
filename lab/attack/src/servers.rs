//! Broken servers beside an honest one: all of them together, and the heavy ones alone.

use std::time::Duration;

use testkit::hostile::{HostileServer, Mode};

use crate::failure::Failure;
use crate::process::Ended;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::{self, Tree, mebibytes};

const HONEST: &str = "honest.test";
const PAGES: u64 = 150;
const DELAY: &str = "50ms";
const LIMIT: Duration = Duration::from_secs(120);
const ALL_MORE: f64 = 64.0;
const ONE_MORE: f64 = 32.0;
/// Families whose modes may be heavy.
const HEAVY: [&str; 4] = ["bombs", "sitemaps", "endless", "html"];

/// A crawl of modes and the honest host.
struct Crawled {
    ended: Ended,
    pace: f64,
    requests: u64,
}

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let alone = crawl(attack, Vec::new(), PAGES)?;
    let modes = Mode::all();
    let count = modes.len() as u64;
    let beside = crawl(attack, modes, PAGES)?;
    let more = more(&beside.ended, &alone.ended);
    let lost = PAGES.saturating_sub(beside.requests);
    let row = Row::new("all broken servers together: memory")
        .tried(count)
        .lost(lost, 0, 0);
    let figure = format!(
        "{more:.0} MiB above {:.0}; code {:?}",
        mebibytes(alone.ended.peak),
        beside.ended.code
    );
    let fits = more <= ALL_MORE && beside.ended.code == Some(0);
    table.add(
        row.figure(figure)
            .goal(format!("≤ {ALL_MORE} MiB, ends by itself"))
            .is(fits),
    );
    let kept = 100.0 * beside.pace / alone.pace;
    let row = Row::new("all broken servers together: pace of an honest host").tried(count);
    let figure = format!(
        "{kept:.0} % ({:.1} of {:.1} pages/s)",
        beside.pace, alone.pace
    );
    table.add(row.figure(figure).goal("≥ 90 %").is(kept >= 90.0));
    heavy_ones(attack, table)
}

/// Crawls each heavy mode beside an honest host of a few pages.
fn heavy_ones(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let few = 10;
    let alone = crawl(attack, Vec::new(), few)?;
    let modes: Vec<Mode> = Mode::all()
        .into_iter()
        .filter(|mode| HEAVY.contains(&mode.family))
        .collect();
    let count = modes.len();
    let mut grown: Vec<(f64, String)> = Vec::new();
    // The first families are the likeliest to miss, so they come first if time is short.
    let order = |mode: &Mode| HEAVY.iter().position(|family| *family == mode.family);
    let mut modes = modes;
    modes.sort_by_key(order);
    // Two at a time, because they mostly wait for deadlines.
    for pair in modes.chunks(2) {
        if !attack.has_time() && !grown.is_empty() {
            break;
        }
        let crawled: Vec<Result<(f64, String), String>> = std::thread::scope(|scope| {
            let crawls = pair.iter().map(|mode| {
                scope.spawn(|| {
                    let crawled = crawl(attack, vec![mode.clone()], few)
                        .map_err(|failure| failure.to_string())?;
                    Ok((more(&crawled.ended, &alone.ended), mode.name.to_string()))
                })
            });
            let crawls: Vec<_> = crawls.collect();
            crawls
                .into_iter()
                .map(|crawl| {
                    crawl
                        .join()
                        .unwrap_or_else(|_panic| Err("it panicked".to_owned()))
                })
                .collect()
        });
        for one in crawled {
            grown.push(one?);
        }
    }
    grown.sort_by(|one, other| other.0.total_cmp(&one.0));
    let worst: Vec<String> = grown
        .iter()
        .take(3)
        .map(|(more, name)| format!("{name} {more:.0}"))
        .collect();
    let over = grown.iter().filter(|(more, _)| *more > ONE_MORE).count();
    let row = Row::new("a heavy server alone: memory").tried(grown.len() as u64);
    let figure = format!(
        "{over} over; MiB more: {} ({} of {count} tried)",
        worst.join(", "),
        grown.len()
    );
    table.add(
        row.figure(figure)
            .goal(format!("≤ {ONE_MORE} MiB each"))
            .is(over == 0),
    );
    Ok(())
}

fn more(ended: &Ended, alone: &Ended) -> f64 {
    mebibytes(ended.peak) - mebibytes(alone.peak)
}

fn crawl(attack: &Attack<'_>, modes: Vec<Mode>, pages: u64) -> Result<Crawled, Failure> {
    let trees = [Tree::new(HONEST, pages)];
    let honest = web::serve(&trees);
    let hostile = HostileServer::spawn(modes);
    let options = [
        "--delay",
        DELAY,
        "--delay-factor",
        "0",
        "--tries",
        "1",
        "--max-delay",
        "1s",
    ];
    let mut arguments = web::arguments(&honest, &trees, &options);
    arguments.extend(
        [
            "--timeout",
            "3s",
            "--max-pages-per-host",
            &pages.to_string(),
        ]
        .map(str::to_owned),
    );
    arguments.extend(["--ca-certificate", "ca.pem", "--max-time", "60s"].map(str::to_owned));
    for mode in hostile.modes() {
        arguments.push(hostile.url(mode));
        arguments.extend(["--resolve".to_owned(), hostile.resolve(mode)]);
    }
    let crawl = attack.crawler.crawl(arguments)?;
    std::fs::write(crawl.directory().join("ca.pem"), hostile.authority())?;
    let ended = crawl.run(&[], LIMIT)?;
    Ok(Crawled {
        ended,
        pace: web::pace(&honest, HONEST),
        requests: web::requests(&honest, HONEST),
    })
}
