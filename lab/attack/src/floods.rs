//! Floods of HTTP/2 frames: the processor time that each takes until the deadline, beside an honest
//! host.

use std::time::Duration;

use testkit::hostile::{HostileServer, Mode};

use crate::failure::Failure;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::{self, Tree};

const HONEST: &str = "honest.test";
const PAGES: u64 = 20;
const TIMEOUT: Duration = Duration::from_secs(3);

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let mut cores = Vec::new();
    let (mut late, mut lost) = (Vec::new(), 0);
    let modes = Mode::floods();
    let count = modes.len();
    for mode in modes {
        if !attack.has_time() && !cores.is_empty() {
            break;
        }
        let name = mode.name.to_string();
        let trees = [Tree::new(HONEST, PAGES)];
        let honest = web::serve(&trees);
        let hostile = HostileServer::spawn(vec![mode]);
        let timeout = format!("{}s", TIMEOUT.as_secs());
        let options = [
            "--delay",
            "50ms",
            "--delay-factor",
            "0",
            "--tries",
            "1",
            "--timeout",
            &timeout,
        ];
        let mut arguments = web::arguments(&honest, &trees, &options);
        arguments.extend(["--ca-certificate", "ca.pem", "--sitemaps", "off"].map(str::to_owned));
        for mode in hostile.modes() {
            arguments.push(hostile.url(mode));
            arguments.extend(["--resolve".to_owned(), hostile.resolve(mode)]);
        }
        let crawl = attack.crawler.crawl(arguments)?;
        std::fs::write(crawl.directory().join("ca.pem"), hostile.authority())?;
        let ended = crawl.run(&[], TIMEOUT * 4)?;
        lost += PAGES - web::requests(&honest, HONEST).min(PAGES);
        // robots.txt has a deadline, and without it no page of its host is requested.
        if ended.overran || ended.took > TIMEOUT * 2 {
            late.push(name.clone());
        }
        cores.push((
            ended.processor.as_secs_f64() / ended.took.as_secs_f64(),
            name,
        ));
    }
    cores.sort_by(|one, other| other.0.total_cmp(&one.0));
    let figures: Vec<String> = cores
        .iter()
        .map(|(cores, name)| format!("{} {cores:.2}", name.trim_start_matches("h2-flood-")))
        .collect();
    let row = Row::new("floods of HTTP/2 frames")
        .tried(cores.len() as u64)
        .lost(lost, 0, 0);
    let figure = format!(
        "cores: {} ({} of {count} tried)",
        figures.join(", "),
        cores.len()
    );
    let figure = if late.is_empty() {
        figure
    } else {
        format!("{figure}; late: {}", late.join(", "))
    };
    table.add(
        row.figure(figure)
            .goal("end at the deadline, others go on")
            .is(late.is_empty()),
    );
    Ok(())
}
