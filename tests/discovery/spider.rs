//! `--spider`: pages are checked by HEAD, and received only for their links.

use testkit::{Hit, Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page};

const HOST: &str = "site.test";

/// A site with files, a broken link, and pages that answer HEAD differently from GET.
fn reply(request: &Request) -> Reply {
    match (&*request.method, request.path()) {
        (_, "/robots.txt") => Reply::text("User-agent: *\nDisallow: /closed\n"),
        (_, "/") => page(
            1,
            &[
                "/paper.pdf",
                "/moved",
                "/no-head",
                "/odd",
                "/closed",
                "/gone",
            ],
        ),
        (_, "/paper.pdf") => Reply::document("application/pdf", "x".repeat(1 << 20)),
        (_, "/moved") => Reply::redirect(301, "/below"),
        (_, "/below") => page(2, &["/picture.png"]),
        (_, "/picture.png") => Reply::document("image/png", "picture"),
        ("HEAD", "/no-head") => Reply::status(405),
        (_, "/no-head") => Reply::document("application/zip", "y".repeat(1 << 20)),
        ("HEAD", "/odd") => Reply::status(404),
        (_, "/odd") => page(3, NONE),
        _ => Reply::status(404),
    }
}

fn crawl() -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::new(reply));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    (server, crawl)
}

/// Returns the methods and paths of all requests for pages, sorted.
fn requests(server: &Server) -> Vec<String> {
    let log = server.log();
    let pages = log.of(HOST).filter(|hit| hit.target != "/robots.txt");
    let text = |hit: &Hit| format!("{} {}", hit.target, hit.method);
    let mut requests: Vec<String> = pages.map(text).collect();
    requests.sort();
    requests
}

/// Returns verdict, status and number of bytes of a visit.
fn result(server: &Server, crawl: &Crawl, path: &str) -> (String, u64, u64) {
    let visit = crawl.visit(&server.url(HOST, path));
    let verdict = visit["verdict"].as_str().expect("it has a verdict");
    let number = |name: &str| visit[name].as_u64().expect("it is a number");
    (verdict.to_owned(), number("status"), number("bytes"))
}

#[test]
fn files_are_checked_by_head_and_pages_are_received_for_their_links() {
    let (server, crawl) = crawl();
    let crawl = crawl.with(&["--spider"]);
    assert_eq!(crawl.complete()["finished"], "exhausted");
    crawl.is_sound();
    let expected = [
        "/ GET",
        "/ HEAD",
        "/below GET",
        "/below HEAD",
        "/gone GET",
        "/gone HEAD",
        "/moved HEAD",
        "/no-head GET",
        "/no-head HEAD",
        "/odd GET",
        "/odd HEAD",
        "/paper.pdf HEAD",
        "/picture.png HEAD",
    ];
    assert_eq!(requests(&server), expected);
    for path in ["/", "/moved", "/odd"] {
        let (verdict, status, _) = result(&server, &crawl, path);
        assert_eq!((&*verdict, status), ("unique", 200), "{path}");
    }
    for path in ["/paper.pdf", "/picture.png", "/no-head"] {
        let checked = ("excluded".to_owned(), 200, 0);
        assert_eq!(result(&server, &crawl, path), checked, "{path}");
    }
    let why = crawl.run_command(&["why", "crawl", &server.url(HOST, "/paper.pdf")]);
    assert!(why.output.contains("--spider only checks it"), "{why:?}");

    let broken = crawl.run_command(&["export", "crawl", "--links", "--broken"]);
    assert_eq!(broken.output.lines().count(), 1, "{broken:?}");
    let gone = server.url(HOST, "/gone");
    assert!(broken.output.contains(&gone), "{broken:?}");
}

#[test]
fn pages_whose_links_are_not_followed_are_checked_by_head_alone() {
    let (server, crawl) = crawl();
    let crawl = crawl.with(&["--spider", "--max-depth", "0"]);
    assert_eq!(crawl.complete()["finished"], "exhausted");
    crawl.is_sound();
    assert_eq!(requests(&server), ["/ HEAD"]);
    assert_eq!(
        result(&server, &crawl, "/"),
        ("excluded".to_owned(), 200, 0)
    );
}

#[test]
fn a_crawl_that_is_continued_without_it_archives_what_was_checked() {
    let (server, crawl) = crawl();
    crawl.run_with(&["--spider"]).summary();
    let run = crawl.run_with(&["--spider=false"]);
    assert_eq!(run.summary()["finished"], "exhausted");
    crawl.is_sound();
    for (path, bytes) in [
        ("/paper.pdf", 1 << 20),
        ("/no-head", 1 << 20),
        ("/picture.png", 7),
    ] {
        let archived = ("unique".to_owned(), 200, bytes);
        assert_eq!(result(&server, &crawl, path), archived, "{path}");
    }
    assert_eq!(
        server.log().count(HOST, "/below"),
        2,
        "HEAD and GET, and not again"
    );
}

/// The page that had been checked by HEAD alone was not read for its links.
#[test]
fn a_raised_depth_reads_the_pages_that_were_the_last_ones_before() {
    let (server, crawl) = crawl();
    crawl.run_with(&["--spider", "--max-depth", "0"]).summary();
    let run = crawl.run_with(&["--spider", "--max-depth", "1"]);
    assert_eq!(run.summary()["finished"], "exhausted");
    crawl.is_sound();
    let of_files = requests(&server).into_iter();
    let of_files: Vec<String> = of_files.filter(|request| request.contains('.')).collect();
    assert_eq!(of_files, ["/paper.pdf HEAD"]);
    assert_eq!(result(&server, &crawl, "/").0, "unique");
}

#[test]
fn it_excludes_rendering() {
    let crawl = Crawl::bare();
    let run = crawl.run_command(&["http://a.test/", "--spider", "--render=all"]);
    run.assert_error(2, "--spider and --render exclude each other");
}
