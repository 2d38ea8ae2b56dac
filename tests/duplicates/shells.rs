//! Applications whose pages are the same bytes, which scripts fill.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, anchor, html, page, prose};

const HOST: &str = "app.test";
const ROUTES: u64 = 302;

/// A page without text, which a script fills.
fn shell(head: &str, body: &str) -> Reply {
    Reply::html(format!(
        "<!DOCTYPE html><html><head><title>Shop</title>{head}<script src=/app.js></script></head>\
         <body><div id=root></div><noscript>Enable JavaScript to run this app.</noscript>{body}\
         </body></html>"
    ))
}

/// A list of links with a text of its own.
fn list(links: impl Iterator<Item = String>) -> Reply {
    let links: Vec<String> = links.map(|link| anchor(&link)).collect();
    let text = prose(1, 150);
    Reply::html(html("", &format!("<p>{text}</p>{}", links.join(" "))))
}

fn route(number: u64) -> String {
    match number {
        0 => "/".to_owned(),
        number => format!("/product/{number}"),
    }
}

/// An application whose server answers each route with the same bytes; a sitemap names them.
fn application() -> Server {
    Server::spawn_thread(Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::text(format!(
            "Sitemap: http://{HOST}:{}/sitemap.xml\n",
            request.port.unwrap()
        )),
        "/sitemap.xml" => {
            let port = request.port.unwrap();
            let entry = |number| {
                format!(
                    "<url><loc>http://{HOST}:{port}{}</loc></url>",
                    route(number)
                )
            };
            let entries: String = (0..ROUTES).map(entry).collect();
            Reply::document("application/xml", format!("<urlset>{entries}</urlset>"))
        }
        _ => shell("", ""),
    }))
}

fn crawl(server: &Server, seed: &str) -> Crawl {
    Crawl::of(server, &[HOST]).seeds(&[server.url(HOST, seed)])
}

fn patterns_closed(crawl: &Crawl) -> Vec<Value> {
    let mut reports = crawl.json_lines(&["patterns", "crawl"]);
    reports.retain(|report| report["state"] == "closed");
    reports
}

/// A crawl of 302 such pages kept 2 and called it complete: it counted 300 as repeats, closed their
/// URL pattern, and no word said that scripts were needed.
#[test]
fn no_route_of_an_application_is_lost_or_called_a_repeat_and_the_summary_names_the_scripts() {
    let server = application();
    let crawl = crawl(&server, "/");
    let run = crawl.run_with(&["--summary", "text"]);
    let text = run.output.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.starts_with("Complete 303 pages from 1 host"),
        "{run:?}"
    );
    let needs = "need scripts 302 next to no text without scripts, which --render shells runs; 301 \
                 have the same bytes as other pages";
    assert!(text.contains(needs), "{run:?}");
    assert!(text.contains("archived 303 in"), "{run:?}");
    assert!(!text.contains("duplicates"), "{run:?}");

    let summary = crawl.complete();
    // The sitemap is a page, too.
    assert_eq!(summary["pages"], ROUTES + 1, "{summary}");
    assert_eq!(summary["unique"], ROUTES + 1, "{summary}");
    assert_eq!(summary["needs_scripts"], ROUTES, "{summary}");
    assert_eq!(summary["repeated_shells"], ROUTES - 1, "{summary}");
    assert_eq!(patterns_closed(&crawl), [Value::Null; 0]);
    let status = crawl.run_command(&["status", "crawl", "--format", "json"]);
    assert_eq!(status.json()["needs_scripts"], ROUTES, "{status:?}");

    // Each route is archived; the bytes are archived once.
    let mut targets = BTreeSet::new();
    let mut responses = 0;
    for record in crawl.records() {
        let is_page = matches!(record.kind(), "response" | "revisit");
        let target = record.target().unwrap_or_default().to_owned();
        if is_page && !target.ends_with(".txt") && !target.ends_with(".xml") {
            responses += u64::from(record.kind() == "response");
            targets.insert(target);
        }
    }
    assert_eq!((targets.len() as u64, responses), (ROUTES, 1));
    crawl.is_sound();
}

#[test]
fn a_route_is_explained_exported_reported_and_survives_a_rebuild() {
    let server = application();
    let crawl = crawl(&server, "/");
    crawl.complete();
    let url = server.url(HOST, &route(7));
    let check = |crawl: &Crawl| {
        let visit = crawl.visit(&url);
        assert_eq!(visit["verdict"], "unique", "{visit}");
        assert_eq!(visit["needs_scripts"], true, "{visit}");
        assert_eq!(visit["duplicate_of"], Value::Null, "{visit}");
        let sitemap = crawl.visit(&server.url(HOST, "/sitemap.xml"));
        assert_eq!(sitemap["needs_scripts"], false, "{sitemap}");
        let why = crawl.run_command(&["why", "crawl", &url]).json();
        let reason = why["reason"].as_str().unwrap();
        assert!(
            reason.contains("proves nothing under another path"),
            "{why}"
        );
        assert!(reason.contains("next to no text"), "{why}");
        let first = crawl
            .run_command(&["why", "crawl", &server.url(HOST, "/")])
            .json();
        assert!(
            first["reason"]
                .as_str()
                .unwrap()
                .contains("next to no text"),
            "{first}"
        );
    };
    check(&crawl);
    assert_eq!(crawl.notes_about(&url)["needs-scripts"], "yes");
    let csv = crawl.run_command(&["export", "crawl", "--format", "csv"]);
    let rows = csv
        .output
        .lines()
        .filter(|line| line.ends_with(",true,,,,,"));
    assert_eq!(rows.count() as u64, ROUTES, "{csv:?}");
    let report = crawl.run_command(&["report", "crawl", "-o", "-"]);
    assert!(
        report
            .output
            .contains("Pages that need scripts</dt><dd>302"),
        "{report:?}"
    );

    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive"]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    check(&crawl);
    let status = crawl.run_command(&["status", "crawl", "--format", "json"]);
    assert_eq!(status.json()["repeated_shells"], ROUTES - 1, "{status:?}");
    crawl.is_sound();
}

/// Under one path, the same bytes are a repeat: a trap of session identifiers ends as before.
#[test]
fn a_session_identifier_makes_no_other_route() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => list((0..400).map(|session| format!("/login?next={session}"))),
        _ => shell("", ""),
    }));
    let crawl = crawl(&server, "/").with(&["--concurrency", "1"]);
    let summary = crawl.complete();
    assert_eq!(summary["unique"], 2, "{summary}");
    let pages = summary["pages"].as_u64().unwrap();
    assert!((100..150).contains(&pages), "{summary}");
    let closed = patterns_closed(&crawl);
    assert_eq!(closed[0]["pattern"], "app.test/{name}?next", "{closed:?}");
    let repeats = crawl.json_lines(&["duplicates", "crawl"]);
    assert_eq!(repeats.len() as u64, pages - 2, "{repeats:?}");
    crawl.is_sound();
}

/// The relative links of a shell are other URLs under each path, without end.
#[test]
fn a_shell_whose_relative_links_go_ever_deeper_ends() {
    let links = "<a href=one/>One</a><a href=two/>Two</a><a href=three/>Three</a>";
    let server = Server::spawn_thread(Site::new(move |_| shell("", links)));
    let crawl = crawl(&server, "/");
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted", "{summary}");
    let pages = summary["pages"].as_u64().unwrap();
    assert!(pages < 1_000, "{summary}");
    crawl.is_sound();
}

/// An analytics script makes no application: short pages with a text of their own are judged as
/// pages without the script.
#[test]
fn short_pages_with_a_script_are_judged_by_their_own_text() {
    let pictures = |script: &'static str| {
        let server = Server::spawn_thread(Site::new(move |request| {
            let text = |number: u64| {
                let caption = prose(number, 20);
                let body = format!("{script}<img src=/{number}.jpg><p>{caption}</p>");
                Reply::html(html("", &body))
            };
            match request.path().trim_start_matches('/') {
                "" => list((1..120).map(|number| format!("/picture/{number}"))),
                // Pictures 90 to 119 repeat others in other bytes.
                path => match path.rsplit('/').next().unwrap().parse().unwrap_or(0) {
                    number @ 90.. => {
                        let caption = prose(number - 60, 20);
                        Reply::html(html("", &format!("{script}<b>{caption}</b>")))
                    }
                    number => text(number),
                },
            }
        }));
        let crawl = crawl(&server, "/").with(&["--concurrency", "1"]);
        let summary = crawl.complete();
        let counts = ["pages", "unique", "exact_duplicates", "near_duplicates"];
        let flagged = summary["needs_scripts"].as_u64().unwrap();
        (counts.map(|name| summary[name].as_u64().unwrap()), flagged)
    };
    let (plain, none) = pictures("");
    let (scripted, flagged) = pictures("<script src=/count.js></script>");
    assert_eq!(plain, [120, 90, 30, 0]);
    assert_eq!(scripted, plain);
    assert_eq!((none, flagged), (0, 119));
}

/// A static site has no such page, and its copies are repeats under any path.
#[test]
fn copies_of_a_static_page_stay_repeats() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => list((0..450).map(|number| format!("/copy/{number}"))),
        _ => page(2, NONE),
    }));
    let crawl = crawl(&server, "/").with(&["--concurrency", "1"]);
    let summary = crawl.complete();
    assert_eq!(summary["unique"], 2, "{summary}");
    assert_eq!(summary["needs_scripts"], 0, "{summary}");
    assert_eq!(patterns_closed(&crawl)[0]["pattern"], "app.test/copy/{n}");
}

/// A server that puts a nonce or a build time into its shell sends other bytes and the same words
/// for each route.
#[test]
fn no_route_of_an_application_is_lost_if_its_shells_differ_in_a_nonce() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => list((1..20).map(route)),
        "/robots.txt" => Reply::status(404),
        path => shell(&format!("<meta name=nonce content='{path}'>"), ""),
    }));
    let crawl = crawl(&server, "/");
    let summary = crawl.complete();
    assert_eq!(summary["unique"], 20, "{summary}");
    assert_eq!(summary["needs_scripts"], 19, "{summary}");
    crawl.is_sound();
}
