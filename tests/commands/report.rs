//! `crawler report`: its page and its JSON, against the export and the other commands.

use std::collections::BTreeMap;
use std::fs;

use scraper::{Html, Selector};
use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::damage::{boundaries, flip_bit, used};
use crate::support::pages::{NONE, anchor, article, html, page, prose};
use crate::support::{CommandOutput, Crawl};

const HOST: &str = "site.test";
const OTHER: &str = "other.test";

/// Pages of every fate on two hosts.
fn site() -> Site {
    let near = |end: &str| {
        let text = format!("<p>{}</p><p>{end}</p>", prose(7, 400));
        Reply::html(html("<title>Near</title>", &text))
    };
    Site::new(
        move |request| match (request.host.as_str(), request.path()) {
            (HOST, "/robots.txt") => Reply::text("User-agent: *\nDisallow: /closed"),
            (HOST, "/") => {
                let links = [
                    "/copy",
                    "/copy-of-it",
                    "/copy-again",
                    "/near",
                    "/nearer",
                    "/closed",
                    "/missing",
                    "/gone",
                    "/broken",
                    "/excluded",
                    "http://other.test:PORT/",
                ];
                let links: String = links.map(anchor).join(" ");
                let port = request.port.unwrap_or(80).to_string();
                let main = format!("<p>{}</p><p>{links}</p>", prose(1, 150));
                Reply::html(html("<title>Home</title>", &main.replace("PORT", &port)))
            }
            (HOST, "/copy" | "/copy-of-it" | "/copy-again") => page(2, NONE),
            (HOST, "/near") => near("One end."),
            (HOST, "/nearer") => near("Another end."),
            (HOST, "/gone") => Reply::status(410),
            (HOST, "/broken") => Reply::status(500),
            (OTHER, "/") => page(4, &["/missing", "/two"]),
            (OTHER, "/two") => Reply::html(article(3, NONE)).header("Content-Language", "en"),
            _ => Reply::status(404),
        },
    )
}

fn crawled() -> (Server, Crawl) {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &[HOST, OTHER])
        .seeds(&[server.url(HOST, "/"), server.url(OTHER, "/")])
        .with(&["--tries=1", "--concurrency=1", "--concurrency-per-host=1"])
        .with(&["--exclude=/excluded"]);
    crawl.complete();
    (server, crawl)
}

fn report(crawl: &Crawl, arguments: &[&str]) -> CommandOutput {
    let run = crawl.run_command(&[&["report", "crawl"][..], arguments].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    run
}

fn json(crawl: &Crawl) -> Value {
    report(crawl, &["--format=json"]).json()
}

fn page_of(crawl: &Crawl) -> String {
    let run = report(crawl, &[]);
    assert_eq!(run.output, "");
    assert!(run.errors.contains("wrote crawl/report.html"), "{run:?}");
    fs::read_to_string(crawl.out().join("report.html")).unwrap()
}

/// Returns the cells of each row of the table with this caption, or in this section.
fn table(page: &Html, selector: &str) -> Vec<Vec<String>> {
    let rows = Selector::parse(&format!("{selector} tbody tr")).unwrap();
    let cells = Selector::parse("th, td.n, td:not(.m)").unwrap();
    let cells_of = |row: scraper::ElementRef<'_>| {
        row.select(&cells)
            .map(|cell| cell.text().collect::<String>())
            .collect()
    };
    page.select(&rows).map(cells_of).collect()
}

/// Counts the visits of an export by a column.
fn counted(visits: &[Value], column: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for visit in visits {
        let name = match &visit[column] {
            Value::Null => continue,
            Value::String(name) => name.clone(),
            other => other.to_string(),
        };
        *counts.entry(name).or_insert(0) += 1;
    }
    counts
}

fn tally(counts: &Value) -> BTreeMap<String, u64> {
    assert_eq!(counts["other"], 0);
    let counts = counts["counts"].as_array().unwrap().iter();
    let counts = counts.map(|item| {
        let name = item["name"].as_str().unwrap().to_owned();
        (name, item["count"].as_u64().unwrap())
    });
    counts.collect()
}

#[test]
fn the_figures_are_those_of_the_export() {
    let (server, crawl) = crawled();
    let (report, visits) = (json(&crawl), crawl.visits());
    let verdicts = counted(&visits, "verdict");
    for (name, verdict) in [
        ("unique", "unique"),
        ("exact_duplicates", "exact-duplicate"),
        ("near_duplicates", "near-duplicate"),
        ("failed", "failed"),
        ("excluded", "excluded"),
    ] {
        assert_eq!(
            report["summary"][name], verdicts[verdict],
            "{name}: {verdicts:?}"
        );
    }
    assert_eq!(tally(&report["status_codes"]), counted(&visits, "status"));
    assert_eq!(tally(&report["types"]), counted(&visits, "content_type"));
    let bytes: u64 = visits
        .iter()
        .map(|visit| visit["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(report["summary"]["bytes"], bytes);
    let near = visits
        .iter()
        .find(|visit| visit["verdict"] == "near-duplicate")
        .unwrap();
    let distance = near["distance"].as_u64().unwrap() as usize;
    assert_eq!(report["verdicts"]["distances"][distance], 1);

    let cluster = &report["clusters"]["listed"][0];
    assert_eq!(report["clusters"]["total"], 2);
    // The other one has one duplicate.
    assert_eq!(report["clusters"]["larger"], 1);
    assert_eq!(report["clusters"]["listed"].as_array().unwrap().len(), 1);
    let originals = counted(&visits, "duplicate_of");
    assert_eq!(
        cluster["duplicates"],
        originals[cluster["original"].as_str().unwrap()]
    );
    assert_eq!(cluster["examples"].as_array().unwrap().len(), 2);

    let broken = report["broken_links"]["listed"].as_array().unwrap();
    let found: Vec<_> = broken
        .iter()
        .map(|link| (&link["url"], &link["via"]))
        .collect();
    let url = |host, path| Value::from(server.url(host, path));
    let (home, other) = (url(HOST, "/"), url(OTHER, "/"));
    let mut expected = [
        (&url(HOST, "/gone"), &home),
        (&url(HOST, "/missing"), &home),
        (&url(OTHER, "/missing"), &other),
    ];
    expected.sort_by_key(|(broken, via)| (via.to_string(), broken.to_string()));
    assert_eq!(found, expected);
    assert_eq!(report["broken_links"]["total"], 3);
    assert_eq!(report["failures"]["total"], 4);
    let others = report["failures"]["newest"].as_array().unwrap();
    assert_eq!(others.len(), 1, "{others:?}");
    assert_eq!(others[0]["url"], url(HOST, "/broken"));
    assert_eq!(others[0]["via"], home);
    let kinds = tally(&report["failures"]["kinds"]);
    assert_eq!(kinds["HTTP status 404"], 2, "{kinds:?}");

    assert_eq!(report["skipped"]["kinds"][0]["kind"], "robots");
    assert_eq!(report["summary"]["queued"], 0);
    assert_eq!(report["politeness"]["too_soon"], 0);
    assert!(
        report["politeness"]["compared"].as_u64() > Some(3),
        "{}",
        report["politeness"]
    );
    let hosts = report["hosts"]["listed"].as_array().unwrap();
    let pages: u64 = hosts
        .iter()
        .map(|host| host["pages"].as_u64().unwrap())
        .sum();
    assert_eq!(report["summary"]["pages"], pages);
    assert_eq!(report["title"], "site.test and other.test");
    let points = report["timeline"]["points"].as_array().unwrap();
    let pages: u64 = points
        .iter()
        .map(|point| point["pages"].as_u64().unwrap())
        .sum();
    assert_eq!(report["summary"]["pages"], pages);
}

/// The report showed the delay of all hosts for every host.
#[test]
fn a_host_with_a_delay_of_its_own_is_listed_with_it() {
    let (_server, crawl) = crawled();
    let settings = crawl.out().join("crawler.toml");
    let as_run = fs::read_to_string(&settings).unwrap();
    fs::write(
        &settings,
        as_run + "[host.\"other.test\"]\ndelay = \"7s\"\n",
    )
    .unwrap();
    let report = json(&crawl);
    let listed = report["hosts"]["listed"].as_array().unwrap();
    let other = listed
        .iter()
        .find(|line| line["host"] == "other.test")
        .unwrap();
    assert_eq!(other["delay"], 7.0);
    assert!(
        listed.iter().any(|line| line["delay"].as_f64() < Some(7.0)),
        "{listed:?}"
    );
}

#[test]
fn the_page_shows_the_figures_of_the_json() {
    let (_server, crawl) = crawled();
    let (report, text) = (json(&crawl), page_of(&crawl));
    let page = Html::parse_document(&text);
    let fates = table(&page, "#summary");
    let names = [
        ("unique", "unique"),
        ("changed", "changed"),
        ("exact duplicates", "exact_duplicates"),
        ("near-duplicates", "near_duplicates"),
        ("failed", "failed"),
        ("excluded", "excluded"),
    ];
    let names = names
        .into_iter()
        .filter(|(_, name)| report["summary"][name] != 0);
    assert_eq!(fates.len(), names.clone().count());
    for (row, (shown, name)) in fates.iter().zip(names) {
        assert_eq!(
            (&*row[0], &row[1]),
            (shown, &report["summary"][name].to_string())
        );
    }
    let hosts = table(&page, "#hosts");
    for (row, host) in hosts
        .iter()
        .zip(report["hosts"]["listed"].as_array().unwrap())
    {
        assert!(
            row[0].starts_with(host["host"].as_str().unwrap()),
            "{row:?}"
        );
        assert_eq!(row[1], host["pages"].to_string());
    }
    assert_eq!(hosts.len(), 2);
    let broken = table(&page, "#broken-links");
    for (row, link) in broken
        .iter()
        .zip(report["broken_links"]["listed"].as_array().unwrap())
    {
        assert_eq!(
            (&*row[0], &*row[1]),
            (link["url"].as_str().unwrap(), link["via"].as_str().unwrap())
        );
    }
    assert_eq!(broken.len(), 3);
    let settings: BTreeMap<String, String> = table(&page, "#settings")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    assert_eq!(settings["tries"], "1");
    assert!(!settings.contains_key("out"), "a path of this machine");
    assert!(
        !text.contains(crate::support::KEY),
        "the hash key is a secret"
    );
}

#[test]
fn a_report_has_no_script_and_leads_nowhere() {
    let (_server, crawl) = crawled();
    let page = page_of(&crawl);
    for forbidden in ["<script", "src=", "href=\"h", "href=\"/", "url(", "@import"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_same_journal_gives_the_same_bytes_wherever_it_is() {
    let (_server, crawl) = crawled();
    let first = page_of(&crawl);
    assert_eq!(page_of(&crawl), first);
    assert_eq!(report(&crawl, &["-o", "-"]).output, first);
    report(&crawl, &["--output", "elsewhere.html"]);
    let moved = crawl.directory().join("moved");
    fs::rename(crawl.out(), &moved).unwrap();
    let run = crawl.run_command(&["report", "moved", "-o", "-"]);
    assert_eq!(run.output, first);
    let elsewhere = fs::read_to_string(crawl.directory().join("elsewhere.html"));
    assert_eq!(elsewhere.unwrap(), first);
}

#[test]
fn json_is_written_to_a_file_as_to_standard_output() {
    let (_server, crawl) = crawled();
    let run = report(&crawl, &["--format", "json", "-o", "report.json"]);
    assert_eq!(run.output, "");
    let written = fs::read_to_string(crawl.directory().join("report.json")).unwrap();
    assert_eq!(written, report(&crawl, &["--format", "json"]).output);
    assert_eq!(written.lines().count(), 1);
}

#[test]
fn a_full_disk_or_an_unwritable_directory_leaves_nothing() {
    let (_server, crawl) = crawled();
    crawl.write("crawl/report.html", "old");
    crawl
        .run_command_with_file_limit(8, &["report", "crawl"])
        .assert_error(2, "cannot write crawl/report.html");
    assert_eq!(fs::read(crawl.out().join("report.html")).unwrap(), b"old");
    assert!(!crawl.out().join("report.html.part").exists());
    for (output, message) in [
        ("no/such/report.html", "cannot write no/such/report.html"),
        ("/dev/full", "cannot write /dev/full"),
        ("crawl", "cannot write crawl"),
    ] {
        crawl
            .run_command(&["report", "crawl", "-o", output])
            .assert_error(2, message);
    }
    assert!(!crawl.directory().join("no").exists());
    crawl
        .run_command(&["report", "nowhere"])
        .assert_error(2, "nowhere does not exist");
}

#[test]
fn of_a_damaged_journal_the_readable_part_is_shown_and_the_damage_named() {
    let (_server, crawl) = crawled();
    let whole = json(&crawl)["summary"]["pages"].as_u64().unwrap();
    let journal = crawl.journal();
    let bytes = fs::read(&journal).unwrap();
    let ends = boundaries(&bytes[..used(&bytes)]);
    flip_bit(&journal, ends[ends.len() / 2] + 20, 3);
    let run = crawl.run_command(&["report", "crawl"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.errors.contains("is damaged at byte"), "{run:?}");
    assert!(run.errors.contains("crawler rebuild crawl"), "{run:?}");
    let page = fs::read_to_string(crawl.out().join("report.html")).unwrap();
    assert!(page.contains("This report is incomplete"));
    assert!(page.contains("is damaged at byte"));
    let run = crawl.run_command(&["report", "crawl", "--format", "json"]);
    let report = run.json();
    assert_eq!(run.code, Some(1));
    assert_eq!(report["notices"].as_array().unwrap().len(), 1);
    let pages = report["summary"]["pages"].as_u64().unwrap();
    assert!(pages < whole, "{pages} of {whole}");
}

#[test]
fn a_crawl_without_a_page_has_empty_sections() {
    let server = Server::spawn_thread(Site::new(|_| Reply::status(404)));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    crawl.run_with(&["--tries=1"]);
    let text = page_of(&crawl);
    for state in [
        "No duplicates were found.",
        "No duplicates found.",
        "No pattern was closed.",
    ] {
        assert!(text.contains(state), "{state}");
    }
    assert!(
        text.contains("a seed"),
        "a broken seed has no page with a link to it"
    );
}

#[test]
fn text_of_a_site_is_shown_and_never_obeyed() {
    const HOSTILE: &str = "\u{202e}gpj'\"><script>alert(1)</script>&amp;";
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text(format!("User-agent: *\nDisallow: /closed # {HOSTILE}\n")),
        "/" => {
            let long = "a".repeat(5_000);
            let links = [
                format!("/closed?{HOSTILE}"),
                format!("/missing/{HOSTILE}"),
                format!("/missing/{long}"),
                "/typed".to_owned(),
                "/moved".to_owned(),
            ];
            let links: String = links
                .iter()
                .map(|link| format!("<a href='{link}'>x</a>"))
                .collect();
            let head = format!("<title>{HOSTILE}</title>");
            Reply::html(html(
                &head,
                &format!("<p>{} {HOSTILE}</p>{links}", prose(1, 200)),
            ))
        }
        "/typed" => Reply::document("text/<script>alert(1)</script>", article(2, NONE)),
        "/moved" => Reply::redirect(302, "http://elsewhere.test/<script>"),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    let crawl = crawl.with(&["--tries=1", "--exclude=<b>x</b>"]);
    crawl.complete();
    let text = page_of(&crawl);
    let page = Html::parse_document(&text);
    for forbidden in ["script", "img", "main b bdi", "bdi *", "[onload]"] {
        let found = Selector::parse(forbidden).unwrap();
        assert_eq!(page.select(&found).count(), 0, "{forbidden}");
    }
    assert!(!text.contains(|character: char| web::is_command(character) && character != '\n'));
    assert!(text.len() < 200_000, "{}", text.len());
    assert!(text.contains("exclude") && text.contains("&#60;b&#62;x"));
    crawl.visits();
}
