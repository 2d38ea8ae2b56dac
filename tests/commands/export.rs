//! `crawler export`: every format has the same content, a file is complete or absent, and an export
//! continues where it ended.

use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{html, prose};

const HOST: &str = "site.test";

fn page(number: u64, links: &str) -> Reply {
    Reply::html(html(
        &format!("<title>Page {number}</title>"),
        &format!("<p>{}</p>{links}", prose(number, 200)),
    ))
}

/// A page with links of all kinds, its copy, its near-duplicate, and a missing page.
fn site() -> Site {
    Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\n"),
        "/" => page(
            1,
            "<a href=\"/one\">The  first,\n\"one\"</a><a href=\"/two\" rel=\"ugc noopener \
             nofollow\">two</a>\
             <iframe src=\"/three\"></iframe><a href=\"/moved\"><img src=\"/x.png\" alt=\"A \
             picture\"></a>\
             <a href=\"http://elsewhere.test/\">else</a><a href=\"/copy\">copy</a>\
             <a href=\"/missing\">gone</a>",
        ),
        "/copy" => page(1, "<a href=\"/never\">never</a>"),
        "/moved" => Reply::redirect(301, "/new"),
        "/missing" => Reply::status(404),
        path => page(
            100 + path.len() as u64 * 7 + u64::from(path.as_bytes()[1]),
            "<a href=\"/\">home</a><a href=\"/one\">one</a>",
        ),
    })
}

fn crawled() -> (Server, Crawl) {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries=1", "--concurrency=1"]);
    crawl.complete();
    (server, crawl)
}

fn read(crawl: &Crawl, name: &str) -> Vec<u8> {
    std::fs::read(crawl.directory().join(name)).unwrap()
}

fn done(crawl: &Crawl, arguments: &[&str]) {
    let run = crawl.run_command(&[&["export", "crawl"], arguments].concat());
    assert_eq!(
        (run.code, run.output.as_str(), &*run.remarks()),
        (Some(0), "", "")
    );
}

fn links(crawl: &Crawl) -> Vec<Value> {
    crawl.json_lines(&["export", "crawl", "--links"])
}

fn parts(directory: &Path) -> Vec<PathBuf> {
    let listing = std::fs::read_dir(directory).unwrap();
    let mut parts: Vec<PathBuf> = listing.map(|item| item.unwrap().path()).collect();
    parts.sort();
    parts
}

#[test]
fn the_link_graph_has_each_link_of_each_archived_page() {
    let (server, crawl) = crawled();
    let links = links(&crawl);
    let home = server.url(HOST, "/");
    let of_home: Vec<String> = links
        .iter()
        .filter(|link| link["source"] == home)
        .map(|link| {
            let target = link["target"]
                .as_str()
                .unwrap()
                .replace(&server.url(HOST, ""), "");
            format!(
                "{target} {} {} {}",
                link["anchor"], link["rel"], link["kind"]
            )
        })
        .collect();
    let elsewhere = "http://elsewhere.test/ \"else\" null \"page\"";
    assert_eq!(
        of_home,
        [
            "/one \"The first, \\\"one\\\"\" null \"page\"",
            "/two \"two\" \"ugc noopener nofollow\" \"page\"",
            "/three null null \"frame\"",
            "/moved \"A picture\" null \"page\"",
            elsewhere,
            "/copy \"copy\" null \"page\"",
            "/missing \"gone\" null \"page\"",
        ]
    );
    // The target of a redirect is the source under its own URL.
    let has = |source: &str| {
        links
            .iter()
            .any(|link| link["source"] == server.url(HOST, source))
    };
    assert!(has("/new") && !has("/moved"), "{links:?}");
    // Unarchived pages have no links, and targets that were not followed were not visited.
    assert!(!has("/copy") && !has("/missing"), "{links:?}");
    assert!(
        crawl
            .visits()
            .iter()
            .all(|visit| visit["url"] != server.url(HOST, "/two"))
    );
}

#[test]
fn broken_links_have_their_source_and_the_reason() {
    let (server, crawl) = crawled();
    let run = crawl.run_command(&["export", "crawl", "--links", "--broken"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let broken = run.json();
    assert_eq!(broken["source"], server.url(HOST, "/"));
    assert_eq!(broken["target"], server.url(HOST, "/missing"));
    assert_eq!(broken["anchor"], "gone");
    assert_eq!(
        (&broken["status"], &broken["kind"]),
        (&404.into(), &"page".into())
    );
    assert!(
        broken["reason"].as_str().unwrap().contains("404"),
        "{broken}"
    );
    let refused = crawl.run_command(&["export", "crawl", "--broken"]);
    refused.assert_error(2, "--links");
}

#[test]
fn visits_have_their_kind_and_their_canonical_page() {
    let site = Site::new(|request| match request.path() {
        "/" => Reply::html(html(
            "<link rel=\"canonical\" href=\"/home\">",
            &format!("<p>{}</p><img src=\"/x.png\">", prose(1, 100)),
        )),
        "/x.png" => Reply::document("image/png", "png"),
        _ => Reply::status(404),
    });
    let server = Server::spawn_thread(site);
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--page-requisites", "--tries=1"]);
    crawl.complete();
    let home = crawl.visit(&server.url(HOST, "/"));
    assert_eq!(home["kind"], "page");
    assert_eq!(home["canonical"], server.url(HOST, "/home"));
    let image = crawl.visit(&server.url(HOST, "/x.png"));
    assert_eq!(
        (&image["kind"], &image["canonical"]),
        (&"requisite".into(), &Value::Null)
    );
}

#[test]
fn sources_of_links_come_in_the_order_of_the_visits() {
    let (_server, crawl) = crawled();
    let mut sources: Vec<String> = links(&crawl)
        .iter()
        .map(|link| link["source"].as_str().unwrap().to_owned())
        .collect();
    sources.dedup();
    let mut visited = crawl.visits();
    visited.retain(|visit| {
        sources
            .iter()
            .any(|source| visit["final_url"] == source.as_str())
    });
    let visited: Vec<&str> = visited
        .iter()
        .map(|visit| visit["final_url"].as_str().unwrap())
        .collect();
    assert_eq!(sources, visited);
}

#[test]
fn an_export_that_was_cut_anywhere_is_completed() {
    let (_server, crawl) = crawled();
    for options in [
        &["--format", "jsonl"][..],
        &["--format", "csv"],
        &["--format", "csv", "--raw"],
        &["--format", "csv", "--sketches"],
        &["--format", "jsonl", "--links"],
        &["--format", "csv", "--links"],
    ] {
        done(&crawl, &[options, &["--output", "whole"]].concat());
        let whole = read(&crawl, "whole");
        for tenth in 0..=10 {
            crawl.write("torn.part", &whole[..whole.len() * tenth / 10]);
            done(
                &crawl,
                &[options, &["--output", "torn", "--resume"]].concat(),
            );
            assert!(read(&crawl, "torn") == whole, "{options:?} {tenth}");
            assert!(!crawl.directory().join("torn.part").exists());
            std::fs::remove_file(crawl.directory().join("torn")).unwrap();
        }
        // A complete file is left unchanged, and a new export replaces it.
        done(
            &crawl,
            &[options, &["--output", "whole", "--resume"]].concat(),
        );
        assert!(read(&crawl, "whole") == whole, "{options:?}");
        crawl.write("whole", "something else\n");
        crawl
            .run_command(
                &[
                    &["export", "crawl", "--output", "whole", "--resume"],
                    options,
                ]
                .concat(),
            )
            .assert_error(2, "cannot append to whole: its line 1");
        done(&crawl, &[options, &["--output", "whole"]].concat());
        assert!(read(&crawl, "whole") == whole, "{options:?}");
    }
}

#[test]
fn new_visits_are_appended_to_an_export() {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries=1", "--concurrency=1"]);
    for more in [&["--max-pages", "2"][..], &["--max-pages", "4"], &[]] {
        assert_eq!(crawl.run_with(more).code, Some(0));
        done(&crawl, &["--output", "rows", "--resume"]);
        done(
            &crawl,
            &[
                "--output", "links", "--links", "--format", "csv", "--resume",
            ],
        );
        let parquet = ["--format", "parquet", "--resume", "--output"];
        done(
            &crawl,
            &[&parquet[..], &["parts"], &["--rows-per-file", "3"]].concat(),
        );
        done(
            &crawl,
            &[&parquet[..], &["link-parts/", "--links"]].concat(),
        );
        done(&crawl, &["--output", "rows-anew"]);
        done(
            &crawl,
            &["--output", "links-anew", "--links", "--format", "csv"],
        );
        assert!(read(&crawl, "rows") == read(&crawl, "rows-anew"));
        assert!(read(&crawl, "links") == read(&crawl, "links-anew"));
    }
    let before = [
        parts(&crawl.directory().join("parts")),
        parts(&crawl.directory().join("link-parts")),
    ];
    assert!(before.iter().all(|parts| parts.len() > 1), "{before:?}");
    done(
        &crawl,
        &["--format", "parquet", "--resume", "--output", "parts"],
    );
    assert_eq!(
        parts(&crawl.directory().join("parts")),
        before[0],
        "no page is new"
    );
    for part in parts(&crawl.directory().join("parts")) {
        let bytes = std::fs::read(&part).unwrap();
        assert!(
            bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            "{part:?}"
        );
    }
}

/// A title `=cmd|…` stood in the table as the page had it, and a spreadsheet that opened it ran it.
#[test]
fn a_title_that_a_spreadsheet_would_run_is_neutralised_in_csv_unless_raw_is_given() {
    const TITLE: &str = "=cmd|'/c calc'!A1";
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text(""),
        _ => Reply::html(html(
            &format!("<title>{TITLE}</title>"),
            &format!("<p>{}</p><a href=\"/two\">@SUM(A1)</a>", prose(1, 200)),
        )),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    crawl.complete();
    let fields = |arguments: &[&str], column: &str| -> Vec<String> {
        let table = crawl
            .run_command(&[&["export", "crawl"], arguments].concat())
            .output;
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let names = reader.headers().unwrap().clone();
        let column = names.iter().position(|name| name == column).unwrap();
        let records = reader.records().map(|record| record.unwrap());
        records.map(|record| record[column].to_owned()).collect()
    };
    let csv = ["--format", "csv"];
    let raw = ["--format", "csv", "--raw"];
    assert_eq!(fields(&csv, "title")[0], format!("'{TITLE}"));
    assert_eq!(fields(&raw, "title")[0], TITLE);
    assert_eq!(
        fields(&[&csv[..], &["--links"]].concat(), "anchor"),
        ["'@SUM(A1)"]
    );
    assert_eq!(
        fields(&[&raw[..], &["--links"]].concat(), "anchor"),
        ["@SUM(A1)"]
    );
    assert_eq!(crawl.visit(&server.url(HOST, "/"))["title"], TITLE);
    // Our own numbers stay numbers.
    assert_eq!(fields(&csv, "depth")[0], "0");
}

#[test]
fn incompatible_export_options_are_refused_before_anything_is_written() {
    let (_server, crawl) = crawled();
    std::fs::create_dir(crawl.directory().join("directory")).unwrap();
    for (arguments, words) in [
        (&["--resume"][..], "require an output file"),
        (&["--resume", "--output", "-"], "require an output file"),
        (
            &["--rows-per-file", "5", "--output", "x"],
            "--rows-per-file requires --format parquet",
        ),
        (
            &[
                "--rows-per-file",
                "0",
                "--format",
                "parquet",
                "--output",
                "x",
            ],
            "--rows-per-file",
        ),
        (&["--links", "--sketches"], "--sketches applies to pages"),
        (&["--raw"], "--raw requires --format csv"),
        (
            &["--format", "parquet", "--resume", "--output", "x"],
            "cannot append to a Parquet file",
        ),
        (&["--output", "directory"], "directory is a directory"),
        (&["--output", "elsewhere/"], "elsewhere/ is a directory"),
    ] {
        crawl
            .run_command(&[&["export", "crawl"], arguments].concat())
            .assert_error(2, words);
    }
    assert!(!crawl.directory().join("x").exists() && !crawl.directory().join("x.part").exists());
    done(&crawl, &["--format", "parquet", "--output", "directory"]);
    crawl
        .run_command(&[
            "export",
            "crawl",
            "--format",
            "parquet",
            "--output",
            "directory",
        ])
        .assert_error(2, "already contains parts of an export");
}

#[test]
fn on_a_full_disk_the_old_file_stays_and_the_partial_one_is_continued_later() {
    let (_server, crawl) = crawled();
    done(&crawl, &["--output", "rows", "--sketches"]);
    let whole = read(&crawl, "rows");
    assert!(whole.len() > 1024);
    crawl
        .run_command_with_file_limit(1, &["export", "crawl", "--output", "rows", "--sketches"])
        .assert_error(2, "cannot write rows");
    assert!(read(&crawl, "rows") == whole);
    assert!(read(&crawl, "rows.part") == whole[..512]);
    done(&crawl, &["--output", "rows", "--sketches", "--resume"]);
    assert!(read(&crawl, "rows") == whole);
    for arguments in [
        &["export", "crawl", "--format", "parquet", "--output", "rows"][..],
        &[
            "export", "crawl", "--format", "parquet", "--output", "parts/",
        ],
    ] {
        crawl
            .run_command_with_file_limit(1, arguments)
            .assert_error(2, "cannot write");
    }
    assert!(read(&crawl, "rows") == whole && !crawl.directory().join("rows.part").exists());
    done(
        &crawl,
        &["--format", "parquet", "--output", "parts/", "--resume"],
    );
    assert_eq!(parts(&crawl.directory().join("parts")).len(), 1);
}

#[test]
fn a_page_that_the_archive_lost_is_counted_and_the_links_of_the_others_are_exported() {
    let (server, crawl) = crawled();
    let before = links(&crawl);
    let visit = crawl.visit(&server.url(HOST, "/one"));
    let file = crawl
        .out()
        .join("archive")
        .join(visit["warc_file"].as_str().unwrap());
    let mut bytes = std::fs::read(&file).unwrap();
    let at = visit["warc_offset"].as_u64().unwrap() as usize;
    bytes[at..at + 4].fill(0);
    std::fs::write(&file, bytes).unwrap();
    let run = crawl.run_command(&["export", "crawl", "--links", "--output", "links"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(
        run.errors.contains("1 archived page cannot be read"),
        "{run:?}"
    );
    let left = String::from_utf8(read(&crawl, "links")).unwrap();
    let lost = before
        .iter()
        .filter(|link| link["source"] == server.url(HOST, "/one"))
        .count();
    assert!(lost > 0);
    assert_eq!(left.lines().count(), before.len() - lost);
}

#[test]
fn an_export_to_a_closed_pipe_is_no_error_and_a_device_is_not_replaced() {
    let (_server, crawl) = crawled();
    for format in ["jsonl", "csv", "parquet"] {
        done(&crawl, &["--format", format, "--output", "/dev/null"]);
        let script = format!(
            "'{}' export crawl --format {format} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}",
            env!("CARGO_BIN_EXE_crawler")
        );
        let run = std::process::Command::new("bash")
            .current_dir(crawl.directory())
            .args(["-c", &script])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(run.stdout).unwrap(), "0\n", "{format}");
        assert!(run.stderr.is_empty(), "{format}");
    }
    // The symbolic link stays one, and leads to the new file.
    std::os::unix::fs::symlink("target", crawl.directory().join("link")).unwrap();
    crawl.write("target", "old");
    done(&crawl, &["--output", "link"]);
    assert!(crawl.directory().join("link").is_symlink());
    assert!(read(&crawl, "target").len() > 3);
}

#[test]
fn kept_pages_have_a_sketch_and_others_have_none() {
    let (server, crawl) = crawled();
    let run = crawl.run_command(&["export", "crawl", "--sketches"]);
    for row in run.json_lines() {
        let digits = row["sketch"].as_str().map_or(0, str::len);
        let expected = if row["verdict"] == "unique" { 320 } else { 0 };
        assert_eq!(digits, expected, "{row}");
    }
    assert!(run.output.contains(&server.url(HOST, "/copy")));
    let csv = crawl
        .run_command(&["export", "crawl", "--sketches", "--format", "csv"])
        .output;
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .ends_with(",needs_scripts,rendered,ai_train,ai_input,search,preference_source,sketch")
    );
}
