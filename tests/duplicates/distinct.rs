//! Pages that a user declares to be no duplicates.

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, html, page, prose};

const HOST: &str = "guides.test";
const GUIDES: [&str; 3] = ["/guide/1", "/guide/2", "/guide/3"];

/// A front page with three near-duplicates, and a page that waits at the gate.
fn site(gate: &Gate) -> Site {
    let gate = gate.clone();
    Site::new(move |request| match request.path() {
        "/" => page(1, &[&GUIDES[..], &["/slow"]].concat()),
        "/slow" => page(2, NONE).hold(&gate),
        path if GUIDES.contains(&path) => {
            let text = format!("<p>{}</p><p>Edition {path}.</p>", prose(7, 800));
            Reply::html(html("", &text))
        }
        _ => Reply::status(404),
    })
}

fn crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST])
        .with(&["--concurrency-per-host", "2"])
        .seeds(&[server.url(HOST, "/")])
}

/// Returns the record of each guide.
fn guides(server: &Server, crawl: &Crawl) -> Vec<Value> {
    let visits = GUIDES.map(|path| crawl.visit(&server.url(HOST, path)));
    visits.to_vec()
}

/// Returns the URL of a guide that was not archived, and its original.
fn not_archived(server: &Server, crawl: &Crawl) -> (String, String) {
    let visits = guides(server, crawl);
    let visit = visits
        .iter()
        .find(|visit| visit["verdict"] == "near-duplicate");
    let visit = visit.expect("two of the three are not archived");
    let text = |name: &str| visit[name].as_str().unwrap().to_owned();
    (text("url"), text("duplicate_of"))
}

fn requests(server: &Server, url: &str) -> usize {
    let log = server.log();
    let targets = log.targets(HOST);
    targets
        .iter()
        .filter(|target| url.ends_with(*target))
        .count()
}

#[test]
fn a_page_that_is_declared_distinct_is_archived_once_and_stays_so_after_a_kill() {
    let gate = Gate::new();
    gate.open();
    let server = Server::spawn_thread(site(&gate));
    let crawl = crawl(&server);
    assert_eq!(crawl.complete()["near_duplicates"], 2);
    let (url, original) = not_archived(&server, &crawl);

    crawl
        .run_command(&["duplicates", "crawl", "--distinct", &original])
        .assert_error(2, "is not a duplicate");
    let unknown = server.url(HOST, "/unknown");
    crawl
        .run_command(&["duplicates", "crawl", "--distinct", &unknown])
        .assert_error(2, "was not visited in this crawl");
    let declared = crawl.run_command(&["duplicates", "crawl", "--distinct", &url]);
    assert_eq!(declared.code, Some(0), "{declared:?}");
    let sentence = format!("is never again compared with {original}");
    assert!(declared.errors.contains(&sentence), "{declared:?}");
    assert_eq!(crawl.run_command(&["status", "crawl"]).json()["queued"], 1);

    drop(crawl.start().kill());
    crawl.complete();
    let again = crawl.run_command(&["duplicates", "crawl", "--distinct", &url]);
    assert!(
        again.errors.contains("has already been declared distinct"),
        "{again:?}"
    );
    crawl.complete();
    let visit = crawl.visit(&url);
    assert_eq!(visit["verdict"], "unique", "{visit}");
    let near = guides(&server, &crawl);
    let near = near
        .iter()
        .filter(|visit| visit["verdict"] == "near-duplicate");
    assert_eq!(near.count(), 1, "the third is still left out");
    crawl.is_sound();
}

#[test]
fn a_running_crawl_applies_a_line_of_control_toml_once() {
    let gate = Gate::new();
    let server = Server::spawn_thread(site(&gate));
    let crawl = crawl(&server);
    let mut running = crawl.start();
    gate.arrivals_blocking(1);
    // The crawl settles the guides while it waits for the slow page.
    while !are_settled(&server, &crawl) {
        std::thread::yield_now();
    }
    let (url, _) = not_archived(&server, &crawl);
    let refused = crawl.run_command(&["duplicates", "crawl", "--distinct", &url]);
    refused.assert_error(2, "is in use by another crawler");
    assert!(
        refused.errors.contains("write `distinct = ["),
        "{refused:?}"
    );
    crawl.write("crawl/control.toml", format!("distinct = [\"{url}\"]"));
    running.wait_for_line("is requeued");
    gate.open();
    let summary = running.end().summary();
    assert_eq!(
        (&summary["finished"], &summary["near_duplicates"]),
        (&"exhausted".into(), &1.into())
    );
    assert_eq!(crawl.visit(&url)["verdict"], "unique");
    assert_eq!(requests(&server, &url), 2);
    // The line is still there.
    crawl.complete();
    assert_eq!(requests(&server, &url), 2);
    crawl.is_sound();
}

/// Returns true if the journal has a record of each guide.
fn are_settled(server: &Server, crawl: &Crawl) -> bool {
    let exported = crawl.run_command(&["export", "crawl"]).output;
    GUIDES
        .iter()
        .all(|path| exported.contains(&server.url(HOST, path)))
        && exported.matches("near-duplicate").count() == 2
}
