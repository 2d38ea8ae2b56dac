//! Dynamic sites: the contents that a default crawl loses, and the repeats that it keeps.
//!
//! A blog, a shop and a wiki of testkit are served on loopback and crawled by the binary, with the
//! shipped defaults but for politeness and the search index. The truth is by construction: each
//! page knows its content. A content is lost if no page with it was archived, and an archived page
//! repeats another one if both have one content.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::Server;
use testkit::known_sites::{self, KnownSite};

use crate::report::Report;

/// Two keys: estimates, and so verdicts near a threshold, depend on the key.
const KEYS: [&str; 2] = ["0123456789abcdef", "00000000000000a7"];
/// The most views that are named for a site.
const MAX_VIEWS: usize = 5;

/// A site that is measured, with the most that it may cost, in per cent.
struct Measured {
    name: &'static str,
    make: fn(u64) -> KnownSite,
    /// The number of posts, products or articles.
    size: u64,
    /// The share of the kept pages that repeat another one.
    max_repeats: usize,
    /// The share of the URLs that are fetched.
    max_fetched: usize,
}

const SITES: [Measured; 4] = [
    Measured {
        name: "blog",
        make: known_sites::blog,
        size: 2_500,
        max_repeats: 20,
        max_fetched: 45,
    },
    Measured {
        name: "shop",
        make: known_sites::shop,
        size: 2_500,
        max_repeats: 15,
        max_fetched: 55,
    },
    // Most of the pages of a wiki are contents of their own, so all may be fetched.
    Measured {
        name: "wiki",
        make: |articles| known_sites::wiki(articles, 0),
        size: 1_200,
        max_repeats: 15,
        max_fetched: 100,
    },
    Measured {
        name: "wiki with old revisions",
        make: |articles| known_sites::wiki(articles, 3),
        size: 800,
        max_repeats: 15,
        max_fetched: 100,
    },
];

/// Counts of pages of a crawled site.
struct Outcome {
    fetched: usize,
    kept: usize,
    lost: usize,
    repeats: usize,
    /// The views of the repeats.
    repeats_by_view: BTreeMap<String, usize>,
}

/// Crawls each site with each key; returns the report, and true if every goal is reached.
pub(crate) fn measure() -> Result<(Report, bool), String> {
    let crawler = crawler()?;
    let mut rows = Vec::new();
    let mut views = Vec::new();
    let mut all_reached = true;
    for site in &SITES {
        let known = (site.make)(site.size);
        let mut by_view = BTreeMap::<String, usize>::new();
        for key in KEYS {
            let outcome = crawl(&crawler, &known, key)?;
            let missed = outcome.missed(site, known.len());
            all_reached &= missed.is_empty();
            rows.push(outcome.row(site, &known, key, &missed));
            for (view, count) in outcome.repeats_by_view {
                *by_view.entry(view).or_default() += count;
            }
        }
        let mut most: Vec<(String, usize)> = by_view.into_iter().collect();
        most.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let named = most.iter().take(MAX_VIEWS);
        let named: Vec<String> = named
            .map(|(view, count)| format!("`{view}` {count}"))
            .collect();
        if !named.is_empty() {
            views.push(format!("{}: {}", site.name, named.join(", ")));
        }
    }
    Ok((report(&rows, views), all_reached))
}

fn report(rows: &[Vec<String>], views: Vec<String>) -> Report {
    let mut report = Report::default();
    report.heading(
        2,
        "Dynamic sites: what a default crawl loses, and what it keeps twice",
    );
    report.paragraph(
        "Made by `just dynamic-sites`: generated sites, each of whose pages knows its content \
         (`crates/testing/testkit/src/known_sites/`). A blog has printed pages and a mobile host, \
         a shop products under two addresses and lists in five orders, a wiki sources, forms, old \
         revisions and comparisons; a saying, a tip or a counter changes on every page. Lost are \
         contents of which no page was kept; a kept page is a repeat if another one has its \
         content.",
    );
    let head = [
        "site",
        "hash key",
        "URLs",
        "contents",
        "lost",
        "kept",
        "kept repeats",
        "fetched",
        "goals",
        "",
    ];
    report.table(&head.map(str::to_owned), rows);
    if !views.is_empty() {
        report.paragraph("Addresses of kept repeats, without numbers and titles, of both crawls:");
        report.list(views);
    }
    report
}

impl Outcome {
    /// Returns the goals that are missed.
    fn missed(&self, site: &Measured, urls: usize) -> Vec<&'static str> {
        let goals = [
            ("lost", self.lost == 0),
            (
                "repeats",
                100 * self.repeats <= site.max_repeats * self.kept,
            ),
            ("fetched", 100 * self.fetched <= site.max_fetched * urls),
        ];
        let missed = goals.into_iter().filter(|(_, is_reached)| !is_reached);
        missed.map(|(name, _)| name).collect()
    }

    fn row(
        &self,
        site: &Measured,
        known: &KnownSite,
        key: &str,
        missed: &[&'static str],
    ) -> Vec<String> {
        let per_cent =
            |part: usize, all: usize| format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64);
        let goals = match site.max_fetched {
            100 => format!("lost 0, repeats ≤ {} %", site.max_repeats),
            most => format!(
                "lost 0, repeats ≤ {} %, fetched ≤ {most} %",
                site.max_repeats
            ),
        };
        vec![
            site.name.to_owned(),
            format!("`{key}`"),
            known.len().to_string(),
            known.texts().to_string(),
            self.lost.to_string(),
            self.kept.to_string(),
            format!("{} ({})", self.repeats, per_cent(self.repeats, self.kept)),
            format!("{} ({})", self.fetched, per_cent(self.fetched, known.len())),
            goals,
            match missed {
                [] => "reached".to_owned(),
                missed => format!("**missed: {}**", missed.join(", ")),
            },
        ]
    }
}

/// Returns the crawler, which is built into the directory of this program.
fn crawler() -> Result<PathBuf, String> {
    let beside = std::env::current_exe().map_err(|why| why.to_string())?;
    let crawler = beside.with_file_name(format!("crawler{}", std::env::consts::EXE_SUFFIX));
    match crawler.is_file() {
        true => Ok(crawler),
        false => Err(format!(
            "{} is missing: cargo build --release -p crawler --bin crawler builds it",
            crawler.display()
        )),
    }
}

/// Crawls a site with the shipped defaults, but without politeness and search index.
fn crawl(crawler: &Path, known: &KnownSite, key: &str) -> Result<Outcome, String> {
    let server = Server::spawn_thread(known.site());
    let directory = tempfile::tempdir().map_err(|why| why.to_string())?;
    let (out, seeds) = (
        directory.path().join("crawl"),
        directory.path().join("seeds"),
    );
    let urls: Vec<String> = known
        .seeds()
        .iter()
        .filter_map(|seed| seed.split_once('/'))
        .map(|(host, path)| server.url(host, &format!("/{path}")))
        .collect();
    fs::write(&seeds, urls.join("\n")).map_err(|why| why.to_string())?;
    let mut command = Command::new(crawler);
    command.args(["--allow-private", "--contact", "evaluation@example.org"]);
    command.args(["--delay", "0", "--delay-factor", "0", "--no-index"]);
    command.args(["--quiet", "--hash-key", key]);
    for host in known.hosts() {
        command.args(["--resolve", &server.resolve(host)]);
    }
    run(command.arg("--seeds").arg(&seeds).arg("--out").arg(&out))?;
    let export = run(Command::new(crawler).arg("export").arg(&out))?;
    let index = fs::read_to_string(out.join("archive/index.cdxj"));
    let archived = archived(&index.map_err(|why| why.to_string())?, &server)?;
    outcome(known, &server, &export, &archived)
}

/// Runs a command to its end; returns its standard output.
fn run(command: &mut Command) -> Result<String, String> {
    let ended = command.stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|why| format!("the crawler cannot be run: {why}"))?;
    match ended.status.success() {
        true => String::from_utf8(ended.stdout).map_err(|why| why.to_string()),
        false => Err(format!("the crawler failed: {}", ended.status)),
    }
}

/// Returns the addresses that the archive can show, by its index. The rows of an export do not
/// tell: left-out pages have a place in the archive, too, that of a note, and a page that a later
/// one contains is a near-duplicate and archived.
fn archived(index: &str, server: &Server) -> Result<BTreeSet<String>, String> {
    let mut archived = BTreeSet::new();
    for line in index.lines().filter(|line| !line.starts_with('!')) {
        let fields = line.find('{').map(|at| &line[at..]);
        let fields: serde_json::Value =
            serde_json::from_str(fields.unwrap_or_default()).map_err(|why| why.to_string())?;
        if fields["mime"] != "warc/revisit" {
            archived.extend(address(&fields["url"], server));
        }
    }
    Ok(archived)
}

/// Returns the address of a URL, which has no port.
fn address(url: &serde_json::Value, server: &Server) -> Option<String> {
    let address = url.as_str()?.strip_prefix("http://")?;
    Some(address.replacen(&format!(":{}", server.port()), "", 1))
}

fn outcome(
    known: &KnownSite,
    server: &Server,
    export: &str,
    archived: &BTreeSet<String>,
) -> Result<Outcome, String> {
    let mut kept = BTreeSet::new();
    for line in export.lines() {
        let row: serde_json::Value = serde_json::from_str(line).map_err(|why| why.to_string())?;
        if row["verdict"] == "unique" || row["verdict"] == "changed" {
            kept.extend(address(&row["url"], server));
        }
    }
    let log = server.log();
    let asked: BTreeSet<String> = log
        .iter()
        .map(|hit| format!("{}{}", hit.host, hit.target))
        .collect();
    let repeats = known.repeats(kept.iter().map(String::as_str));
    let mut repeats_by_view = BTreeMap::new();
    for address in &repeats {
        *repeats_by_view
            .entry(KnownSite::view_of(address))
            .or_default() += 1;
    }
    Ok(Outcome {
        fetched: known
            .addresses()
            .filter(|address| asked.contains(*address))
            .count(),
        kept: kept.len(),
        lost: known.lost(archived.iter().map(String::as_str)).len(),
        repeats: repeats.len(),
        repeats_by_view,
    })
}
