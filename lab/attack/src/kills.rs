//! Kills at random moments, each followed by the next session: every page is archived once, and
//! slow hosts rest.

use std::time::Duration;

use testkit::Random;

use crate::archive;
use crate::failure::Failure;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::{self, Tree};

const HOSTS: usize = 4;
const PAGES: u64 = 150;
const DELAY: Duration = Duration::from_millis(40);
const SLOW: &str = "slow.test";
/// The response time of the slow host, and the multiple of it that is due as a pause.
const LATENCY: Duration = Duration::from_millis(150);
const FACTOR: u32 = 5;
const SLOW_PAGES: u64 = 60;
const MIN_KILLS: u64 = 5;

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    quick_hosts(attack, table)?;
    slow_host(attack, table)
}

/// Kills a crawl of quick hosts, so that kills fall into every step of a visit.
fn quick_hosts(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let mut random = Random::of(attack.seed, 1);
    let (mut kills, mut lost, mut twice, mut soon, mut crawls) = (0, 0, 0, 0, 0);
    let mut unsound = Vec::new();
    while attack.began.elapsed() < attack.budget.mul_f64(0.5) || crawls == 0 {
        let trees: Vec<Tree> = (0..HOSTS)
            .map(|host| Tree::new(&format!("h{host}.test"), PAGES))
            .collect();
        let server = web::serve(&trees);
        let delay = format!("{}ms", DELAY.as_millis());
        let options = [
            "--delay",
            &delay,
            "--delay-factor",
            "0",
            "--warc-max-size",
            "64KiB",
        ];
        let crawl = attack
            .crawler
            .crawl(web::arguments(&server, &trees, &options))?;
        loop {
            let mut running = crawl.start(&[])?;
            let moment = Duration::from_micros(random.below(1_500_000) as u64);
            if running.ends_within(moment)? {
                break;
            }
            running.kill()?;
            kills += 1;
        }
        let pages: Vec<String> = trees.iter().flat_map(|tree| tree.urls(&server)).collect();
        let found = archive::lost_and_twice(&crawl.out(), &pages)?;
        (lost, twice, crawls) = (lost + found.0, twice + found.1, crawls + 1);
        soon += trees
            .iter()
            .map(|tree| web::too_soon(&server, &tree.host, DELAY))
            .sum::<u64>();
        let verified = crawl
            .command(&["verify", "crawl"])?
            .end(Duration::from_secs(60))?;
        if verified.code != Some(0) {
            unsound.push(format!(
                "{} {}",
                verified.output.trim(),
                verified.first_errors()
            ));
        }
    }
    let figure = match unsound.first() {
        Some(first) => format!("verify: {first}"),
        None => format!("{soon} requests too soon, in {crawls} crawls"),
    };
    let row = Row::new("kill -9 at random moments")
        .tried(kills)
        .lost(lost, twice, 0);
    table.add(
        row.figure(figure)
            .goal("0 too soon, verify agrees")
            .is(soon == 0 && unsound.is_empty()),
    );
    Ok(())
}

/// Kills a crawl of a slow host, which is due a multiple of its response time as a pause.
fn slow_host(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let mut random = Random::of(attack.seed, 2);
    let trees = [Tree {
        latency: LATENCY,
        ..Tree::new(SLOW, SLOW_PAGES)
    }];
    let server = web::serve(&trees);
    let options = ["--delay", "10ms", "--delay-factor", "5"];
    let crawl = attack
        .crawler
        .crawl(web::arguments(&server, &trees, &options))?;
    let mut kills = 0;
    let mut ended = false;
    while (attack.has_time() || kills < MIN_KILLS) && !ended {
        let mut running = crawl.start(&[])?;
        ended = running.ends_within(Duration::from_micros(
            900_000 + random.below(1_500_000) as u64,
        ))?;
        if !ended {
            running.kill()?;
            kills += 1;
        }
    }
    let soon = web::too_soon(&server, SLOW, LATENCY * FACTOR);
    let asked = server.log().of(SLOW).count();
    let row = Row::new("kill -9 beside a slow host").tried(kills);
    let due = (LATENCY * FACTOR).as_secs_f64();
    let figure = format!("{soon} of {asked} requests came before the {due} s that were due");
    table.add(row.figure(figure).goal("0 too soon").is(soon == 0));
    Ok(())
}
