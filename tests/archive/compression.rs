//! An archive has the same content whatever its compression: for `verify`, `search`, `rebuild`,
//! `--since`, and a crawl that continues.

use serde_json::Value;
use testkit::{Reply, Request, Server, Site};

use crate::support::cdxj::{index_of, of_files};
use crate::support::kill_points::RequestLimiter;
use crate::support::pages::{NONE, anchor, article, html, number_of, page, prose};
use crate::support::{Crawl, KEY};

const HOST: &str = "packed.test";
/// Made by `zstd --train` of 400 records.
const DICTIONARY: &[u8] = include_bytes!("../../crates/crawler/sinks/tests/warc/golden/pages.dict");

const PACKINGS: [&[&str]; 4] = [
    &["--compression=gzip"],
    &["--compression=zstd"],
    &["--compression=zstd", "--zstd-dictionary=pages.dict"],
    &["--compression=none"],
];

/// A page of this text that says when it was printed.
fn printed(date: &str) -> Reply {
    Reply::html(html(
        "<title>Printed</title>",
        &format!(
            "<p>{}</p><p>Printed on {date}. {}</p>",
            prose(77, 400),
            anchor("/")
        ),
    ))
}

/// A page with a validator, or 304 for a client that has it.
fn tagged(request: &Request, number: u64, links: &[impl AsRef<str>]) -> Reply {
    let tag = format!("\"{number}\"");
    if request.header("if-none-match") == Some(&tag) {
        let unchanged = Reply::document("", "").without_header("Content-Type");
        return unchanged.with_status(304).header("ETag", tag);
    }
    page(number, links).header("ETag", tag)
}

/// Two near-duplicates, two pages of equal bytes, one with the same text in other bytes, a
/// redirect, one that is gone, one that is forbidden; and a chain of pages.
fn site(request: &Request) -> Reply {
    match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /closed\n"),
        "/" => tagged(
            request,
            1,
            &[
                "/may", "/june", "/one", "/copy", "/retold", "/moved", "/gone", "/closed", "/100",
            ],
        ),
        "/may" => printed("a Tuesday in May"),
        "/june" => printed("a Friday in June"),
        "/one" | "/copy" => page(2, NONE),
        "/retold" => Reply::html(format!("<!-- retold -->{}", article(2, NONE))),
        "/moved" => Reply::redirect(302, "/target"),
        "/target" => page(3, NONE),
        path => match number_of(path) {
            number @ 100..=119 => tagged(request, number, &[format!("/{}", number + 1)]),
            _ => Reply::status(404),
        },
    }
}

struct Packed {
    server: Server,
    limiter: RequestLimiter,
}

impl Packed {
    fn new() -> Self {
        let limiter = RequestLimiter::default();
        limiter.open();
        let counting = limiter.clone();
        let server = Server::spawn_thread(Site::new(move |request| counting.limit(site(request))));
        Self { server, limiter }
    }

    fn url(&self, path: &str) -> String {
        self.server.url(HOST, path)
    }

    /// One page at a time, so that the same one of two like pages is always the original.
    fn crawl(&self, packing: &[&str]) -> Crawl {
        let crawl = Crawl::of(&self.server, &[HOST])
            .seeds(&[self.url("/")])
            .with(&["--tries=1", "--concurrency=1", "--warc-max-size=8KiB"])
            .with(packing);
        crawl.write("pages.dict", DICTIONARY);
        crawl
    }

    /// A crawl that ended at a limit, continued, was killed, and was completed.
    fn crawled(&self, packing: &[&str]) -> Crawl {
        let crawl = self.crawl(packing);
        assert_eq!(crawl.run_with(&["--max-pages=12"]).summary()["pages"], 12);
        crawl.agrees();
        self.limiter
            .kill_after(5, || crawl.start_with(&["--max-pages=1000"]));
        crawl.is_sound();
        self.limiter.open();
        let run = crawl.run_with(&["--max-pages=1000"]);
        let summary = run.summary();
        assert_eq!(summary["finished"], "exhausted", "{packing:?}: {run:?}");
        let counts = [
            "unique",
            "exact_duplicates",
            "near_duplicates",
            "failed",
            "excluded",
        ];
        let counts = counts.map(|name| summary[name].as_u64().unwrap());
        assert_eq!(counts, [24, 2, 1, 2, 1], "{packing:?}: {run:?}");
        crawl
    }
}

impl Crawl {
    /// Asserts that archive, index, search and journal agree, and that the index equals the index
    /// of the files.
    fn agrees(&self) {
        self.is_sound();
        assert!(
            index_of(self) == of_files(self),
            "the index of the files differs"
        );
        self.finds_each_page_once();
    }
}

/// Removes the fields that differ in each run: the location and the date of a record.
fn timeless(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        without_time(line);
    }
    lines.sort_by_key(ToString::to_string);
    lines
}

fn without_time(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let of_one_run = ["warc_file", "warc_offset", "fetched_at", "date", "member"];
            for name in of_one_run.into_iter().chain(["duration_ms"]) {
                members.remove(name);
            }
            members.values_mut().for_each(without_time);
        }
        Value::Array(items) => items.iter_mut().for_each(without_time),
        _ => {}
    }
}

/// Rounds similarity to four digits, as in an archive.
fn as_archived(lines: Vec<Value>) -> Vec<Value> {
    let mut lines = timeless(lines);
    for line in &mut lines {
        if let Some(resemblance) = line["resemblance"].as_f64() {
            line["resemblance"] = format!("{resemblance:.4}").into();
        }
    }
    lines
}

/// Returns the output of all commands on a crawl, except the locations of records.
fn story(packed: &Packed, crawl: &Crawl) -> Vec<(String, Vec<Value>)> {
    let (may, june) = (packed.url("/may"), packed.url("/june"));
    let json = ["--format", "json"];
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["export", "crawl"],
        vec!["export", "crawl", "--links"],
        [&["why", "crawl", &june][..], &json].concat(),
        [&["similar", "crawl", &may][..], &json].concat(),
        [&["duplicates", "crawl"][..], &json].concat(),
        [
            &[
                "search",
                "crawl",
                "-nosuchwordatall",
                "--limit=1000",
                "--duplicates",
            ][..],
            &json,
        ]
        .concat(),
        [&["search", "crawl", "title:printed"][..], &json].concat(),
    ];
    let files = crawl.archive_files();
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    assert!(files.len() > 3, "{files:?}");
    let mut story: Vec<(String, Vec<Value>)> = commands
        .drain(..)
        .map(|command| (command.join(" "), timeless(crawl.json_lines(&command))))
        .collect();
    let has_pages = |file: &&&str| {
        !crawl
            .run_command(&["extract", file])
            .errors
            .contains("contains no page")
    };
    let pages = files
        .iter()
        .filter(has_pages)
        .flat_map(|file| crawl.json_lines(&["extract", file, "--format=json"]));
    let pages: Vec<Value> = pages.collect();
    assert_eq!(pages.len(), 24, "the kept pages: {pages:?}");
    story.push(("extract".to_owned(), timeless(pages)));
    let dedup = crawl.run_command(&["dedup", "crawl/archive"]);
    assert_eq!(
        (dedup.output.as_str(), dedup.errors.as_str()),
        ("", "24 documents: 0 repeat an earlier one\n")
    );
    story
}

#[test]
fn an_archive_has_the_same_records_under_every_compression() {
    let packed = Packed::new();
    let mut first: Option<Vec<(String, Vec<Value>)>> = None;
    for packing in PACKINGS {
        let crawl = packed.crawled(packing);
        crawl.agrees();
        let story = story(&packed, &crawl);
        for (name, lines) in &story {
            assert!(!lines.is_empty(), "{name}");
        }
        match &first {
            None => first = Some(story),
            Some(first) => {
                for (one, other) in first.iter().zip(&story) {
                    assert_eq!(one, other, "{packing:?}");
                }
            }
        }
        // Rebuilt indexes are the same.
        let hits = |crawl: &Crawl| {
            let mut hits = crawl.hits("-nosuchwordatall", &["--limit=1000"]);
            hits.sort_by_key(ToString::to_string);
            hits
        };
        let (index, found) = (index_of(&crawl), hits(&crawl));
        assert_eq!(crawl.run_command(&["index", "crawl"]).code, Some(0));
        assert_eq!(crawl.run_command(&["reindex", "crawl"]).code, Some(0));
        assert!(index == index_of(&crawl), "{packing:?}");
        assert_eq!(found, hits(&crawl), "{packing:?}");
        crawl.agrees();
    }
}

#[test]
fn a_state_is_rebuilt_from_an_archive_of_any_compression() {
    let packed = Packed::new();
    for packing in PACKINGS {
        let crawl = packed.crawled(packing);
        let visits = crawl.visits();
        let rebuilt = crawl.run_command(&["rebuild", "crawl"]);
        assert_eq!(rebuilt.code, Some(0), "{packing:?}: {rebuilt:?}");
        assert_eq!(crawl.visits(), visits, "{packing:?}");
        crawl.agrees();
        let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive", "--hash-key", KEY]);
        assert_eq!(rebuilt.code, Some(0), "{packing:?}: {rebuilt:?}");
        assert_eq!(
            as_archived(crawl.visits()),
            as_archived(visits),
            "{packing:?}"
        );
        crawl.agrees();
        // The crawl is complete, and nothing is done twice.
        let asked = packed.server.log().len();
        assert_eq!(
            crawl.run_with(&["--max-pages=1000"]).summary()["finished"],
            "exhausted"
        );
        assert_eq!(packed.server.log().len(), asked, "{packing:?}");
        crawl.agrees();
    }
}

#[test]
fn a_crawl_with_since_reads_an_archive_of_any_compression() {
    let packed = Packed::new();
    for packing in PACKINGS {
        let first = packed.crawled(packing);
        let second = packed
            .crawl(packing)
            .with(&["--since", first.out().to_str().unwrap()]);
        let summary = second.complete();
        assert_eq!(
            (&summary["unique"], &summary["exact_duplicates"]),
            (&0.into(), &26.into()),
            "{packing:?}: {summary}"
        );
        let records = second.records();
        let of_kind = |kind: &str| {
            records
                .iter()
                .filter(|record| record.kind() == kind)
                .count()
        };
        assert!(
            of_kind("revisit") >= 24,
            "{packing:?}: {}",
            of_kind("revisit")
        );
        second.is_sound();
        assert!(index_of(&second) == of_files(&second), "{packing:?}");
        assert_eq!(
            second
                .run_command(&["search", "crawl", "-nosuchwordatall"])
                .output,
            ""
        );
        let visits = second.visits();
        let rebuilt =
            second.run_command(&["rebuild", "crawl", "--from-archive", "--hash-key", KEY]);
        assert_eq!(rebuilt.code, Some(0), "{packing:?}: {rebuilt:?}");
        assert_eq!(
            as_archived(second.visits()),
            as_archived(visits),
            "{packing:?}"
        );
        second.is_sound();
    }
}

#[test]
fn a_crawl_continues_under_any_other_compression() {
    let packed = Packed::new();
    let crawl = packed.crawl(&[]);
    // From each compression to each other one.
    for (step, which) in [0, 1, 2, 3, 0, 2, 1, 3, 2, 0, 3, 1, 0]
        .into_iter()
        .enumerate()
    {
        let packing = PACKINGS[which];
        let limit = format!("--max-pages={}", 12 + step);
        if step % 2 == 1 {
            packed.limiter.kill_after(1, || {
                crawl.start_with(&[packing, &["--max-pages=1000"]].concat())
            });
            crawl.is_sound();
            packed.limiter.open();
        }
        let run = crawl.run_with(&[packing, &[&limit]].concat());
        assert_eq!(run.code, Some(0), "{packing:?}: {run:?}");
        crawl.agrees();
    }
    let run = crawl.run_with(&["--max-pages=1000"]);
    assert_eq!(run.summary()["unique"], 24, "{run:?}");
    crawl.agrees();
    let visits = crawl.visits();
    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive", "--hash-key", KEY]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    assert_eq!(as_archived(crawl.visits()), as_archived(visits));
    crawl.agrees();
    assert_eq!(crawl.run_command(&["reindex", "crawl"]).code, Some(0));
    crawl.agrees();
}
