//! `--extra-hops`: links out of the scope that are on pages in scope are visited, too.

use std::collections::BTreeSet;

use testkit::{Reply, Request, Server, Site};

use crate::support::pages::{NONE, page};
use crate::support::{Crawl, KEY};

const HOME: &str = "home.test";
const FAR: &str = "far.test";
const HOSTS: [&str; 3] = [HOME, FAR, "third.test"];

/// A home page, and a chain of pages that leads away from it: from `far.test/1` to `far.test/4`.
fn reply(request: &Request) -> Reply {
    let port = request.port.expect("the server's port is not the default");
    let far = |path: &str| format!("http://{FAR}:{port}{path}");
    match (&*request.host, request.path()) {
        (FAR, "/robots.txt") => Reply::text("User-agent: *\nDisallow: /secret\n"),
        (HOME, "/") => {
            let away = ["/1", "/secret", "/private"].map(far);
            let links = [&["/in".to_owned(), "/moved".to_owned()][..], &away].concat();
            page(1, &links)
        }
        (HOME, "/in") => page(2, &[far("/1"), far("/forum")]),
        (HOME, "/back") => page(3, &[far("/from-back")]),
        (HOME, "/moved") => Reply::redirect(302, far("/landed")),
        (FAR, "/1") => page(11, &["/2".to_owned(), format!("http://{HOME}:{port}/back")]),
        (FAR, "/2") => page(12, &["/3", "/away"]),
        (FAR, "/3") => page(13, &["/4"]),
        (FAR, "/4") => page(14, NONE),
        (FAR, "/away") => Reply::redirect(302, format!("http://third.test:{port}/away")),
        (FAR, "/landed") => page(15, &["/behind"]),
        (FAR, "/forum") => page(16, NONE),
        (FAR, "/from-back") => page(17, NONE),
        (FAR, "/behind") => page(18, NONE),
        ("third.test", "/away") => page(31, &["/on"]),
        _ => Reply::status(404),
    }
}

fn crawl() -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::new(reply));
    let seed = server.url(HOME, "/");
    let crawl = Crawl::of(&server, &HOSTS).seeds(&[seed]);
    (server, crawl)
}

/// Returns the URLs with a page, as host and path.
fn archived(server: &Server, crawl: &Crawl) -> BTreeSet<String> {
    let port = format!(":{}", server.port());
    let visits = crawl.visits().into_iter();
    let pages = visits.filter(|visit| visit["verdict"] == "unique");
    let urls = pages.filter_map(|visit| Some(visit["url"].as_str()?.to_owned()));
    let paths = urls.map(|url| url.replace("http://", "").replace(&port, ""));
    paths.collect()
}

fn set(pages: &[&str]) -> BTreeSet<String> {
    pages.iter().map(|page| (*page).to_owned()).collect()
}

/// Crawls with these options, and returns what was archived.
fn archived_with(options: &[&str]) -> BTreeSet<String> {
    let (server, crawl) = crawl();
    let crawl = crawl.with(options);
    crawl.complete();
    crawl.is_sound();
    archived(&server, &crawl)
}

const IN_SCOPE: &[&str] = &["home.test/", "home.test/in"];
const ONE_HOP: &[&str] = &[
    "home.test/",
    "home.test/in",
    "home.test/back",
    "home.test/moved",
    "far.test/1",
    "far.test/forum",
    "far.test/from-back",
];
const FURTHER_TWO_HOPS: &[&str] = &["far.test/2", "far.test/behind"];
/// The last redirects to a third host, which costs no hop.
const FURTHER_THREE_HOPS: &[&str] = &["far.test/3", "far.test/away"];

#[test]
fn links_out_of_the_scope_are_followed_as_many_hops_as_are_left() {
    let two_hops = [ONE_HOP, FURTHER_TWO_HOPS].concat();
    let three_hops = [&two_hops, FURTHER_THREE_HOPS].concat();
    for (hops, expected) in [
        ("0", IN_SCOPE),
        ("1", ONE_HOP),
        ("2", &two_hops),
        ("3", &three_hops),
    ] {
        assert_eq!(
            archived_with(&["--extra-hops", hops]),
            set(expected),
            "{hops}"
        );
    }
}

#[test]
fn the_rules_for_pages_hold_off_the_scope_too() {
    let (server, crawl) = crawl();
    let options = [
        "--extra-hops",
        "7",
        "--max-depth",
        "2",
        "--exclude",
        "/private|/forum",
    ];
    crawl.run_with(&options);
    let log = server.log();
    for path in ["/secret", "/private", "/forum", "/3"] {
        assert_eq!(log.count(FAR, path), 0, "{path}");
    }
    assert_eq!(log.count(FAR, "/2"), 1);
    let secret = crawl.visit(&server.url(FAR, "/secret"));
    assert_eq!(
        secret["verdict"], "excluded",
        "robots.txt forbids it: {secret}"
    );
    crawl.is_sound();
}

#[test]
fn each_page_says_how_far_off_the_scope_it_is() {
    let (server, crawl) = crawl();
    let crawl = crawl.with(&["--extra-hops", "2"]);
    crawl.complete();
    let why = |host: &str, path: &str| {
        let url = server.url(host, path);
        let run = crawl.run_command(&["why", "crawl", &url, "--format", "json"]);
        run.json()["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert!(why(FAR, "/1").contains("; it is one hop off the scope"));
    assert!(why(FAR, "/2").contains("; it is 2 hops off the scope"));
    assert!(
        !why(HOME, "/back").contains("off the scope"),
        "found off the scope, and in it"
    );
    let beyond = why(FAR, "/3");
    assert!(
        beyond.starts_with("its host is not the host of a seed (scope host), and no page")
            && beyond.contains("--extra-hops 2"),
        "{beyond}"
    );
    let notes = |path: &str| crawl.notes_about(&server.url(FAR, path));
    assert_eq!(notes("/1")["hops-off-scope"], "1");
    assert_eq!(notes("/2")["hops-off-scope"], "2");
    assert!(
        !crawl
            .notes_about(&server.url(HOME, "/in"))
            .contains_key("hops-off-scope")
    );
}

/// The number of hops is in the queue, so a session that ends does not forget it.
#[test]
fn hops_survive_the_end_of_a_session_and_a_rebuild_from_the_archive() {
    let whole = archived_with(&["--extra-hops", "2"]);
    let (server, crawl) = crawl();
    let crawl = crawl.with(&["--extra-hops", "2"]);
    for pages in 1..=4 {
        crawl.run_with(&["--max-pages", &pages.to_string()]);
        crawl.is_sound();
    }
    let rebuild = ["rebuild", "crawl", "--from-archive", "--hash-key", KEY];
    let run = crawl.run_command(&rebuild);
    assert_eq!(run.code, Some(0), "{run:?}");
    crawl.is_sound();
    // The last limit is in the settings of the crawl.
    let summary = crawl.run_with(&["--max-pages", "1000"]).summary();
    assert_eq!(summary["finished"], "exhausted", "{summary}");
    crawl.is_sound();
    assert_eq!(archived(&server, &crawl), whole);
    let log = server.log();
    for path in ["/1", "/2", "/forum"] {
        assert_eq!(log.count(FAR, path), 1, "{path} was requested twice");
    }
    assert_eq!(log.count(FAR, "/3"), 0);
}

#[test]
fn a_finished_crawl_with_more_hops_visits_what_is_new_and_checks_the_other_links() {
    let (server, crawl) = crawl();
    crawl.run_with(&["--extra-hops", "1"]);
    let run = crawl.run_with(&["--extra-hops", "2", "--check-links"]);
    assert!(
        run.errors.contains("--extra-hops widened the scope"),
        "{run:?}"
    );
    crawl.is_sound();
    let log = server.log();
    let requests = |path: &str| {
        let hits = log.of(FAR).filter(|hit| hit.target == path);
        hits.map(|hit| hit.method.clone()).collect::<Vec<_>>()
    };
    for path in ["/1", "/2", "/forum", "/behind"] {
        assert_eq!(requests(path), ["GET"], "{path} is a page of the crawl");
    }
    assert_eq!(requests("/3"), ["HEAD"]);
}

#[test]
fn more_hops_than_the_queue_can_count_are_refused() {
    let (_server, crawl) = crawl();
    let run = crawl.run_with(&["--extra-hops", "8"]);
    run.assert_error(2, "--extra-hops 8 is not valid");
    assert!(run.errors.contains("between 0 and 7"), "{run:?}");
}
