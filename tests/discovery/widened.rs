//! Crawls that are continued with settings that let in more: what they let in is visited, and
//! nothing is fetched twice.

use serde_json::Value;
use testkit::{Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, anchor, html, page, prose};

const HOST: &str = "site.test";
const OTHER: &str = "www.site.test";

/// A start page with a link for each rule, pages in a row behind it, and the same text twice.
fn reply(request: &Request) -> Reply {
    let authority = |host: &str| format!("http://{host}:{}", request.port.unwrap());
    match (request.host.as_str(), request.path()) {
        (_, "/robots.txt") => Reply::text("User-agent: *\nDisallow: /private\n"),
        (HOST, "/0") => {
            let other = format!("{}/other", authority(OTHER));
            let links = ["/1", "/private/1", "/moved", "/x/1", "/a", "/b", &other];
            let links: String = links.map(anchor).concat();
            let rest = "<img src=/p.png><a rel=nofollow href=/shy>shy</a>";
            Reply::html(html("", &format!("<p>{}</p>{links}{rest}", prose(7, 150))))
        }
        (HOST, "/1") => page(1, &["/2"]),
        (HOST, "/2") => page(2, &["/3"]),
        (HOST, "/moved") => Reply::redirect(302, "/far"),
        (HOST, "/a" | "/b") => page(5, &["/1"]),
        (HOST, "/p.png") => Reply::document("image/png", "png"),
        (HOST, "/gone") | (_, "/favicon.ico") => Reply::status(404),
        (_, path) => page(path.bytes().map(u64::from).sum::<u64>() + 10, NONE),
    }
}

fn crawl() -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::new(reply));
    let seed = server.url(HOST, "/0");
    let crawl = Crawl::of(&server, &[HOST, OTHER]).seeds(&[seed]);
    (server, crawl)
}

/// Returns how often each of these paths was requested.
fn asked<const N: usize>(server: &Server, paths: [&str; N]) -> [usize; N] {
    paths.map(|path| server.log().count(HOST, path))
}

fn exhausted(crawl: &Crawl, options: &[&str]) -> Value {
    let summary = crawl.run_with(options).summary();
    assert_eq!(summary["finished"], "exhausted", "{summary}");
    summary
}

/// `--max-depth` 1 and then 3 was "Complete" after 0.0 s, and asked nothing.
#[test]
fn a_raised_depth_visits_what_the_lower_one_left() {
    let (server, crawl) = crawl();
    exhausted(&crawl, &["--max-depth", "1"]);
    assert_eq!(asked(&server, ["/1", "/2", "/3"]), [1, 0, 0]);
    let run = crawl.run_with(&["--max-depth", "2"]);
    assert!(
        run.errors.contains("--max-depth widened the scope"),
        "{run:?}"
    );
    assert_eq!(asked(&server, ["/0", "/1", "/2", "/3"]), [1, 1, 1, 0]);
    exhausted(&crawl, &["--max-depth", "9"]);
    let every = ["/0", "/1", "/2", "/3", "/a", "/b", "/moved"];
    assert_eq!(asked(&server, every), [1; 7]);
    // The same, a lower and a higher depth: nothing is left to ask for.
    let before = server.log().len();
    for depth in ["9", "1", "9"] {
        exhausted(&crawl, &["--max-depth", depth]);
    }
    assert_eq!(server.log().len(), before);
    crawl.is_sound();
}

/// People drop an expression by editing the file that keeps the settings of the crawl.
#[test]
fn a_dropped_exclusion_visits_links_and_the_targets_of_redirects() {
    let (server, crawl) = crawl();
    exhausted(&crawl, &["--exclude", "/x/", "--exclude", "/far"]);
    assert_eq!(asked(&server, ["/x/1", "/moved", "/far"]), [0, 1, 0]);
    let settings = crawl.out().join("crawler.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let lines = text.lines();
    let without: Vec<&str> = lines.filter(|line| !line.starts_with("exclude")).collect();
    assert_ne!(without.join("\n"), text.trim_end());
    std::fs::write(&settings, without.join("\n")).unwrap();
    exhausted(&crawl, &[]);
    // The redirect is asked for once more, because its target was excluded.
    let paths = ["/0", "/x/1", "/moved", "/far"];
    assert_eq!(asked(&server, paths), [1, 1, 2, 1]);
    crawl.is_sound();
}

#[test]
fn requisites_and_what_robots_and_nofollow_kept_out_are_visited_once_they_are_wanted() {
    let (server, crawl) = crawl();
    exhausted(&crawl, &[]);
    assert_eq!(asked(&server, ["/p.png", "/shy", "/private/1"]), [0, 0, 0]);
    let summary = exhausted(&crawl, &["--page-requisites"]);
    assert_eq!(summary["requisites"], 1, "{summary}");
    exhausted(&crawl, &["--page-requisites", "--ignore-robots"]);
    let paths = ["/0", "/1", "/p.png", "/shy", "/private/1", "/a", "/b"];
    assert_eq!(asked(&server, paths), [1; 7]);
    crawl.is_sound();
}

#[test]
fn a_wider_scope_visits_the_links_to_other_hosts() {
    let (server, crawl) = crawl();
    exhausted(&crawl, &[]);
    assert_eq!(server.log().count(OTHER, "/other"), 0);
    exhausted(&crawl, &["--scope", "any"]);
    assert_eq!(server.log().count(OTHER, "/other"), 1);
    assert_eq!(asked(&server, ["/0", "/1", "/a", "/b"]), [1; 4]);
    crawl.is_sound();
}

/// The words of the summary followed the settings of today: duplicates that an earlier session
/// excluded were "marked" after `--preset archive`.
#[test]
fn the_archive_preset_on_a_finished_crawl_fetches_requisites_and_leaves_duplicates_as_they_are() {
    let (server, crawl) = crawl();
    let summary = exhausted(&crawl, &[]);
    assert_eq!(summary["exact_duplicates"], 1, "{summary}");
    let run = crawl.run_with(&["--preset", "archive", "--summary", "text"]);
    assert!(
        run.output
            .contains("  duplicates          1  not archived (1 exact)\n"),
        "{run:?}"
    );
    assert_eq!(asked(&server, ["/0", "/a", "/b", "/p.png"]), [1; 4]);
    crawl.is_sound();
}

/// The redirect was queued again, and its target was taken for another page of the crawl, because
/// the first visit had claimed it.
#[test]
fn a_redirect_to_a_page_of_an_unwanted_type_is_followed_again_once_the_type_is_wanted() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
        "/0" => page(1, &["/report"]),
        "/report" => Reply::redirect(302, "/report.pdf"),
        "/report.pdf" => Reply::document("application/pdf", "%PDF-1.7"),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    exhausted(&crawl, &["--types", "text/html"]);
    assert_eq!(asked(&server, ["/report", "/report.pdf"]), [1, 1]);
    exhausted(&crawl, &["--types", "text/html,application/pdf"]);
    let paths = ["/0", "/report", "/report.pdf"];
    assert_eq!(asked(&server, paths), [1, 2, 2]);
    let visit = crawl.visit(&server.url(HOST, "/report"));
    assert_eq!(visit["verdict"], "unique", "{visit}");
    crawl.is_sound();
}

/// A new seed was visited, and the links to its site that the scope had kept out were lost.
#[test]
fn a_new_seed_visits_the_links_to_its_site_that_were_excluded() {
    let (server, crawl) = crawl();
    exhausted(&crawl, &[]);
    assert_eq!(server.log().count(OTHER, "/other"), 0);
    let seed = server.url(OTHER, "/seed");
    let run = crawl.run_with(&[&seed]);
    assert_eq!(run.summary()["finished"], "exhausted", "{run:?}");
    assert!(run.errors.contains("seeds widened the scope"), "{run:?}");
    for path in ["/seed", "/other"] {
        assert_eq!(server.log().count(OTHER, path), 1, "{path}");
    }
    assert_eq!(asked(&server, ["/0", "/1", "/a", "/b"]), [1; 4]);
    // The same seeds let in nothing more.
    let run = crawl.run_with(&[&seed]);
    assert!(!run.errors.contains("widened the scope"), "{run:?}");
    crawl.is_sound();
}

/// The reason of an excluded page said that `--cookies session` may help, and it did not.
#[test]
fn more_redirects_and_cookies_follow_the_redirects_that_were_given_up() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
        "/0" => page(1, &["/r1", "/wall"]),
        "/r1" => Reply::redirect(302, "/r2"),
        "/r2" => Reply::redirect(302, "/r3"),
        "/r3" => Reply::redirect(302, "/end"),
        "/end" => page(2, NONE),
        "/wall" if request.header("cookie").is_some() => page(3, NONE),
        "/wall" => Reply::redirect(302, "/wall").header("Set-Cookie", "id=1; Path=/"),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    exhausted(&crawl, &["--max-redirects", "1"]);
    let paths = ["/r1", "/r2", "/r3", "/end", "/wall"];
    assert_eq!(asked(&server, paths), [1, 1, 0, 0, 1]);
    exhausted(&crawl, &["--max-redirects", "5"]);
    assert_eq!(asked(&server, paths), [2, 2, 1, 1, 1]);
    exhausted(&crawl, &["--cookies", "session"]);
    assert_eq!(asked(&server, paths), [2, 2, 1, 1, 3]);
    for path in ["/r1", "/wall"] {
        let visit = crawl.visit(&server.url(HOST, path));
        assert_eq!(visit["verdict"], "unique", "{visit}");
    }
    crawl.is_sound();
}

/// A pass that an interrupt or a kill cut short is made again by the next session.
#[test]
fn a_session_that_died_before_it_caught_up_is_repeated_by_the_next_one() {
    let (server, crawl) = crawl();
    exhausted(&crawl, &["--max-depth", "1"]);
    let caught_up = crawl.out().join("state").join("settings.toml");
    let before = std::fs::read(&caught_up).unwrap();
    exhausted(&crawl, &["--max-depth", "3"]);
    let asked_for = server.log().len();
    // As if the process had died between its last discovery and the end of the pass.
    std::fs::write(&caught_up, before).unwrap();
    let run = crawl.run_with(&["--max-depth", "3"]);
    assert!(run.errors.contains("queued: 0"), "{run:?}");
    assert_eq!(server.log().len(), asked_for);
    crawl.is_sound();
}
