//! Changes between two crawls: other bytes under a URL are archived as a new version, and `changes`
//! lists the changed words.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use scraper::{Html, Selector};
use serde_json::Value;
use testkit::{Reply, Request, Server};

use crate::support::Crawl;
use crate::support::pages::{NONE, anchor, html, page, prose, serve_by_day};

const HOST: &str = "manual.test";
const CORRECTION: &str = "security correction: do NOT use this in production";

/// A chapter of a manual with the correction or without it; long enough that one paragraph is a
/// small part of it.
fn chapter(number: u64, is_corrected: bool) -> Reply {
    let correction = if is_corrected {
        format!("<p>{CORRECTION}</p>")
    } else {
        String::new()
    };
    Reply::html(html(
        &format!("<title>Chapter {number}</title>"),
        &format!(
            "<p>{}</p>{correction}<p>{}</p>",
            prose(number, 700),
            prose(900 + number, 700)
        ),
    ))
}

/// A manual on the day of its first edition, and later. Chapters 1 to 4 are corrected, 5 to 8 stay;
/// `/8` answers 304; `/old` moves to `/moved`, `/gone` goes, `/new` comes, and of `/markup` only
/// the markup changes.
fn manual(day: u64, request: &Request) -> Reply {
    let number = |path: &str| path[1..].parse::<u64>().ok();
    match request.path() {
        "/" => {
            let mut links: Vec<String> = (1..=8)
                .map(|chapter| anchor(&format!("/{chapter}")))
                .collect();
            links.extend(["/old", "/moved", "/gone", "/new", "/markup", "/picture"].map(anchor));
            Reply::html(html(
                "",
                &format!("<p>{}</p><p>{}</p>", prose(77, 300), links.join(" ")),
            ))
        }
        "/8" if request.header("if-none-match") == Some("\"8\"") => Reply::document("", "")
            .without_header("Content-Type")
            .with_status(304)
            .header("ETag", "\"8\""),
        "/8" => chapter(8, false).header("ETag", "\"8\""),
        "/old" if day == 0 => page(20, NONE),
        "/moved" if day > 0 => page(20, NONE),
        "/gone" if day == 0 => page(21, NONE),
        "/new" if day > 0 => page(22, NONE),
        "/markup" => Reply::html(html(
            &format!("<meta name=\"generated\" content=\"day {day}\">"),
            &format!("<p>{}</p>", prose(23, 200)),
        )),
        "/picture" => Reply::document("image/png", format!("\u{89}PNG {day}")),
        path => match number(path) {
            Some(number @ 1..=8) => chapter(number, day > 0 && number <= 4),
            _ => Reply::status(404),
        },
    }
}

fn crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries", "1", "--concurrency", "1"])
}

fn path(crawl: &Crawl) -> String {
    crawl.out().to_str().unwrap().to_owned()
}

/// Runs `changes`; returns its line for each path, and its counts.
fn changes(
    server: &Server,
    old: &Crawl,
    new: &Crawl,
    more: &[&str],
) -> (BTreeMap<String, Value>, String) {
    let (old, new_path) = (path(old), path(new));
    let arguments = [&["changes", &old, &new_path, "--format", "json"], more].concat();
    let run = new.run_command(&arguments);
    let home = server.url(HOST, "/");
    let by_path = run.json_lines().into_iter().map(|line| {
        let url = line["url"].as_str().unwrap();
        (format!("/{}", url.strip_prefix(&home).unwrap()), line)
    });
    (by_path.collect(), run.errors)
}

/// Four corrected pages of a manual were dropped as near-duplicates of their earlier versions: none
/// was kept.
#[test]
fn a_correction_in_four_pages_is_archived_and_listed_as_a_change() {
    for option in ["--since", "--against"] {
        let (server, day) = serve_by_day(manual);
        let first = crawl(&server);
        first.complete();
        day.store(1, Ordering::SeqCst);
        let second = crawl(&server).with(&[option, &path(&first)]);
        let summary = second.complete();
        let verdicts = second.verdicts();
        for chapter in 1..=8 {
            let url = server.url(HOST, &format!("/{chapter}"));
            let expected = if chapter <= 4 {
                "changed"
            } else {
                "exact-duplicate"
            };
            assert_eq!(verdicts[&url], expected, "{option}: {url}");
            let is_archived = second.archived().contains(&url);
            assert_eq!(
                is_archived,
                chapter <= 4,
                "{option}: {url} is archived again"
            );
        }
        assert_eq!(
            (&summary["changed"], &summary["unique"]),
            (&6.into(), &1.into()),
            "{option}: {summary}"
        );
        let visit = second.visit(&server.url(HOST, "/1"));
        assert_eq!(visit["duplicate_of"], server.url(HOST, "/1"), "{visit}");
        let resemblance = visit["resemblance"].as_f64().unwrap();
        assert!((0.95..1.0).contains(&resemblance), "{visit}");
        let why = second
            .run_command(&["why", "crawl", &server.url(HOST, "/1")])
            .json();
        assert_eq!(why["verdict"], "changed");
        assert_eq!(
            why["original"]["warc_file"],
            first.visit(&server.url(HOST, "/1"))["warc_file"]
        );
        let found = second.run_command(&[
            "search",
            "crawl",
            "\"security correction\"",
            "--format",
            "json",
        ]);
        assert_eq!(found.output.lines().count(), 4, "{found:?}");
        let repeated = second.run_command(&["duplicates", "crawl"]);
        assert!(!repeated.output.contains("changed"), "{repeated:?}");

        let (changed, counts) = changes(&server, &first, &second, &[]);
        for chapter in 1..=4 {
            let line = &changed[&format!("/{chapter}")];
            assert_eq!(line["change"], "changed", "{line}");
            assert_eq!(line["added"], serde_json::json!([CORRECTION]), "{line}");
            assert_eq!(line["removed"], serde_json::json!([]), "{line}");
            assert!(
                (0.95..1.0).contains(&line["resemblance"].as_f64().unwrap()),
                "{line}"
            );
        }
        for (path, change) in [
            ("/", "unchanged"),
            ("/5", "unchanged"),
            ("/8", "unchanged"),
            ("/new", "new"),
            ("/gone", "gone"),
            ("/moved", "moved"),
            ("/markup", "changed"),
            ("/picture", "changed"),
        ] {
            assert_eq!(
                changed[path]["change"], change,
                "{option}: {}",
                changed[path]
            );
        }
        assert!(
            !changed.contains_key("/old"),
            "it is listed under its new URL"
        );
        assert_eq!(changed["/moved"]["from"], server.url(HOST, "/old"));
        assert_eq!(changed["/gone"]["reason"], "HTTP status 404");
        assert_eq!(changed["/markup"]["resemblance"], 1.0);
        assert!(
            counts.contains("1 new, 6 changed, 1 moved, 1 gone, 5 unchanged, 0 unknown"),
            "{counts}"
        );

        // A rebuild from the archive alone gives the same.
        let before = second.visits();
        let rebuilt = second.run_command(&["rebuild", "crawl", "--from-archive"]);
        assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
        assert_eq!(second.visits(), before);
        first.is_sound();
        second.is_sound();

        // A third crawl has nothing to archive, though the second left most to the first.
        let third = crawl(&server).with(&[option, &path(&second)]);
        let summary = third.complete();
        assert_eq!(
            (&summary["changed"], &summary["unique"]),
            (&0.into(), &0.into()),
            "{summary}"
        );
        let (changed, counts) = changes(&server, &second, &third, &[]);
        assert!(
            changed.values().all(|line| line["change"] == "unchanged"),
            "{changed:?}"
        );
        assert!(
            counts.contains("0 new, 0 changed, 0 moved, 0 gone, 13 unchanged"),
            "{counts}"
        );
    }
}

#[test]
fn independent_crawls_are_compared_by_their_archives() {
    let (server, day) = serve_by_day(manual);
    // Each crawl draws its own key.
    let keyless = || {
        Crawl::keyless(&server, &[HOST])
            .seeds(&[server.url(HOST, "/")])
            .with(&[
                "--delay=0",
                "--delay-factor=0",
                "--tries=1",
                "--concurrency=1",
            ])
    };
    let first = keyless();
    first.complete();
    day.store(1, Ordering::SeqCst);
    let second = keyless();
    second.complete();
    let (changed, counts) = changes(
        &server,
        &first,
        &second,
        &["--only", "changed,moved", "--diff"],
    );
    assert_eq!(changed.len(), 7, "{changed:?}");
    assert_eq!(changed["/moved"]["from"], server.url(HOST, "/old"));
    let diff = &changed["/2"]["diff"];
    let kinds: Vec<_> = diff["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["run"])
        .collect();
    assert_eq!(kinds, ["same", "only-b", "same"], "{diff}");
    assert_eq!(diff["runs"][1]["b"], CORRECTION);
    assert_eq!(
        (&diff["words_only_a"], &diff["words_only_b"]),
        (&0.into(), &8.into())
    );
    assert!(
        counts.contains("1 new, 6 changed, 1 moved, 1 gone, 5 unchanged, 0 unknown"),
        "{counts}"
    );

    let arguments = [
        "changes",
        &path(&first),
        &path(&second),
        "--format",
        "table",
    ];
    let table = second.run_command(&arguments).output;
    let line = format!("changed    0.99  {}", server.url(HOST, "/2"));
    assert!(table.contains(&line), "{table}");
    assert!(
        table.contains(&format!("           + {CORRECTION}\n")),
        "{table}"
    );
    assert!(!table.contains("unchanged"), "{table}");
    let differences = second
        .run_command(&[&arguments[..], &["--diff"]].concat())
        .output;
    assert!(
        differences.contains(&format!("\n{{+{CORRECTION}+}}\n")),
        "{differences}"
    );
    assert!(!differences.contains('\u{1b}'), "no colours in a pipe");
}

/// Near-duplicates that were archived and marked had no signature in the journal: each crawl
/// archived them again.
#[test]
fn near_duplicates_that_the_archive_preset_keeps_are_versions_too() {
    let (server, day) = serve_by_day(|day, request| {
        // A page that names no icon would need the icon of its host.
        let icon = "<link rel=icon href='data:,'>";
        let text =
            |more: &str| Reply::html(html(icon, &format!("<p>{} {more}</p>", prose(3, 500))));
        match (request.path(), day) {
            ("/", _) => {
                let links = ["/a", "/b"].map(anchor).concat();
                Reply::html(html(icon, &format!("<p>{}</p>{links}", prose(1, 150))))
            }
            ("/a", _) => text("first"),
            ("/b", 2..) => text(CORRECTION),
            ("/b", _) => text("second"),
            _ => Reply::status(404),
        }
    });
    let archive = |more: &[&str]| crawl(&server).with(&["--preset", "archive"]).with(more);
    let not_archived = crawl(&server);
    not_archived.complete();
    assert_eq!(not_archived.archived().len(), 2, "left out by default");
    let first = archive(&[]);
    let summary = first.complete();
    assert_eq!(
        (&summary["unique"], &summary["near_duplicates"]),
        (&2.into(), &1.into())
    );
    assert_eq!(first.archived().len(), 3, "kept by this preset");
    day.store(1, Ordering::SeqCst);
    let second = archive(&["--since", &path(&first)]);
    assert_eq!(second.complete()["exact_duplicates"], 3);
    assert!(second.archived().is_empty(), "{:?}", second.archived());
    day.store(2, Ordering::SeqCst);
    let third = archive(&["--since", &path(&second)]);
    assert_eq!(third.complete()["changed"], 1);
    let (changed, _) = changes(&server, &second, &third, &[]);
    assert_eq!(
        changed["/b"]["added"],
        serde_json::json!([CORRECTION]),
        "{changed:?}"
    );
    assert_eq!(
        changed["/b"]["removed"],
        serde_json::json!(["second"]),
        "{changed:?}"
    );
    third.is_sound();

    // The bytes of an unarchived page are known, but not its text.
    let again = crawl(&server);
    again.complete();
    let (changed, _) = changes(&server, &not_archived, &again, &[]);
    assert_eq!(changed["/a"]["change"], "unchanged", "{changed:?}");
    assert_eq!(changed["/b"]["change"], "changed", "{changed:?}");
    let reason = changed["/b"]["reason"].as_str().unwrap();
    assert!(reason.contains("its text is not archived"), "{reason}");
}

#[test]
fn crawls_that_cannot_be_compared_are_refused_with_the_reason() {
    let (server, _day) = serve_by_day(manual);
    let first = crawl(&server);
    first.complete();
    let out = path(&first);
    first
        .run_command(&["changes", &out, &out])
        .assert_error(2, "is named twice");
    first
        .run_command(&["changes", "nowhere", &out])
        .assert_error(2, "nowhere does not exist");
    first
        .run_command(&["changes", &out, "."])
        .assert_error(2, ". does not contain a crawl");
    first
        .run_command(&["changes", &out])
        .assert_error(2, "<NEW>");
}

/// Returns the texts of the elements that a selector finds.
fn texts(page: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).expect(selector);
    let found = page.select(&selector);
    let texts = found.map(|element| element.text().collect::<String>());
    texts.map(|text| text.trim().to_owned()).collect()
}

#[test]
fn a_page_compares_all_crawls_of_a_series_in_the_order_of_time() {
    let (server, day) = serve_by_day(manual);
    let first = crawl(&server);
    first.complete();
    day.store(1, Ordering::SeqCst);
    let second = crawl(&server).with(&["--since", &path(&first)]);
    second.complete();
    let third = crawl(&server).with(&["--since", &path(&second)]);
    third.complete();
    // In the wrong order, as `monday/ tuesday/ …` are in the order of the alphabet.
    let [one, two, three] = [&third, &first, &second].map(path);
    let run = third.run_command(&["changes", &one, &two, &three, "--html", "week.html"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.errors
            .contains("wrote week.html: the changes of 3 crawls"),
        "{run:?}"
    );
    let page = std::fs::read_to_string(third.directory().join("week.html"));
    let page = Html::parse_document(&page.expect("the page was written"));
    assert_eq!(texts(&page, "h1"), [HOST]);
    let rows = texts(&page, "#crawls tbody tr");
    let directories = texts(&page, "#crawls tbody small");
    assert_eq!(directories, [path(&third), path(&second), path(&first)]);
    let cells = |row: usize| texts(&page, &format!("#crawls tbody tr:nth-child({row}) td"));
    assert_eq!(cells(1), ["13", "0", "0", "0", "0", "13", "2"], "{rows:?}");
    assert_eq!(cells(2), ["13", "1", "6", "1", "1", "5", "2"], "{rows:?}");
    assert_eq!(cells(3).len(), 3, "{rows:?}");
    assert_eq!(texts(&page, "#new-1 .url"), [server.url(HOST, "/new")]);
    let moved = texts(&page, "#moved-1 .url");
    let old = format!("from {}", server.url(HOST, "/old"));
    assert_eq!(moved, [server.url(HOST, "/moved"), old]);
    assert_eq!(texts(&page, "#gone-1 .reason"), ["HTTP status 404"]);
    assert_eq!(texts(&page, "#changed-1 .url").len(), 6);
    assert!(
        texts(&page, "ins").is_empty(),
        "only the newest crawl has words"
    );

    let run = second.run_command(&["changes", &two, &three, "--html", "-"]);
    let page = Html::parse_document(&run.output);
    assert_eq!(texts(&page, "#changed-1 ins"), [CORRECTION; 4]);
    let summaries = texts(&page, "#changed-1 details summary");
    assert_eq!(summaries, ["8 words added, 0 removed"; 4]);
}

#[test]
fn wrong_crawls_of_a_page_are_refused_by_name() {
    let server = serve_by_day(manual).0;
    let crawl = crawl(&server);
    crawl.complete();
    crawl.write("week.html", "");
    for (arguments, words) in [
        (&["crawl", "week.html", "--html", "-"][..], "week.html"),
        (&["crawl", "crawl", "--html", "-"], "is named twice"),
        (&["crawl", "crawl", "crawl"], "more than two crawls"),
        (&["crawl", "crawl", "--html", "-", "--diff"], "--diff"),
    ] {
        let arguments = [&["changes"], arguments].concat();
        crawl.run_command(&arguments).assert_error(2, words);
    }
    let many = [&["changes"][..], &["crawl"; 51], &["--html", "-"]].concat();
    crawl
        .run_command(&many)
        .assert_error(2, "at most 50 crawls, got 51 crawls");
}
