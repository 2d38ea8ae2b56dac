//! Pages that a server sends in place of a page: block pages, logins, soft 404s.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::pages::{NONE, article, page};
use crate::support::{Crawl, KEY};

const HOST: &str = "site.test";

/// A challenge with a link that no crawl should follow.
const CHALLENGE: &str = "<title>Just a moment...</title><a href=\"/from-challenge\">x</a>\
                         <script>window._cf_chl_opt={};a.src='/cdn-cgi/challenge-platform/h/g'\
                         </script>";

fn crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST]).seeds(&[server.url(HOST, "/")])
}

/// Returns the verdict and the reason of a visit.
fn fate(crawl: &Crawl, server: &Server, path: &str) -> (Value, String) {
    let mut visit = crawl.visit(&server.url(HOST, path));
    let reason = visit["reason"].as_str().unwrap_or_default().to_owned();
    (visit["verdict"].take(), reason)
}

/// Challenges with status 200 were archived under the URLs of pages, and the second one counted as
/// a duplicate of the first.
#[test]
fn a_page_behind_a_challenge_is_visited_again_and_the_challenge_is_not_archived() {
    let is_first = AtomicBool::new(true);
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(0, &["/a", "/b"]),
        "/a" if is_first.swap(false, Ordering::Relaxed) => Reply::html(CHALLENGE),
        "/a" => page(1, NONE),
        "/b" => page(2, NONE),
        _ => Reply::status(404),
    }));
    let crawl = crawl(&server);
    let summary = crawl.complete();
    assert_eq!(summary["retries"], 1);
    crawl.is_sound();
    assert_eq!(fate(&crawl, &server, "/a").0, "unique");
    assert_eq!(server.log().count(HOST, "/a"), 2);
    assert_eq!(server.log().count(HOST, "/from-challenge"), 0);
}

/// A firewall's page with status 403 counted as a refusal of the page, which was lost for good.
#[test]
fn a_block_page_with_status_403_is_not_a_refusal_of_the_page() {
    let is_first = AtomicBool::new(true);
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(0, &["/a", "/forbidden"]),
        "/a" if is_first.swap(false, Ordering::Relaxed) => Reply::html(CHALLENGE).with_status(403),
        "/a" => page(1, NONE),
        "/forbidden" => Reply::html("<title>Forbidden</title>").with_status(403),
        _ => Reply::status(404),
    }));
    let crawl = crawl(&server);
    crawl.complete();
    crawl.is_sound();
    assert_eq!(fate(&crawl, &server, "/a").0, "unique");
    assert_eq!(server.log().count(HOST, "/a"), 2);
    assert_eq!(fate(&crawl, &server, "/forbidden").1, "HTTP status 403");
    assert_eq!(server.log().count(HOST, "/forbidden"), 1);
}

/// A site, of which one page is always a challenge.
fn guarded() -> Server {
    Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => page(0, &["/a", "/b", "/members/"]),
        "/a" => Reply::html(CHALLENGE),
        "/b" => page(1, &["/login"]),
        "/members/" => Reply::redirect(302, "/login?to=/members/"),
        "/login" => login(),
        _ => Reply::status(404),
    }))
}

fn login() -> Reply {
    let form = "<title>Log in</title><form><input name=u><input name=p type=password></form>\
                <a href=\"/from-login\">x</a>";
    Reply::html(form)
}

#[test]
fn a_page_that_is_always_a_challenge_has_failed_and_is_not_archived() {
    let server = guarded();
    let crawl = crawl(&server).with(&["--tries", "1"]);
    crawl.complete();
    crawl.is_sound();
    let reason = "blocked: a block page or challenge of Cloudflare".to_owned();
    assert_eq!(fate(&crawl, &server, "/a"), ("failed".into(), reason));
    let url = server.url(HOST, "/a");
    let records = crawl.records_about(&url);
    let kinds: Vec<&str> = records.iter().map(|record| record.kind()).collect();
    assert!(!kinds.contains(&"response"), "{kinds:?}");
    assert_eq!(server.log().count(HOST, "/from-challenge"), 0);
}

#[test]
fn a_page_that_redirects_to_a_login_is_excluded_and_the_login_itself_is_a_page() {
    let server = guarded();
    let crawl = crawl(&server).with(&["--tries", "1"]);
    crawl.complete();
    crawl.is_sound();
    let reason = "login: it redirects to a login page".to_owned();
    let members = fate(&crawl, &server, "/members/");
    assert_eq!(members, ("excluded".into(), reason));
    assert_eq!(fate(&crawl, &server, "/login").0, "unique");
    // The login page itself has a link.
    assert_eq!(server.log().count(HOST, "/from-login"), 1);
}

#[test]
fn interstitial_pages_are_archived_and_marked_with_the_preset_for_archives() {
    let server = guarded();
    let crawl = crawl(&server).with(&["--tries", "1", "--preset", "archive"]);
    crawl.complete();
    crawl.is_sound();
    let (verdict, reason) = fate(&crawl, &server, "/a");
    assert_eq!(verdict, "failed");
    assert!(reason.starts_with("blocked: "), "{reason}");
    let records = crawl.records_about(&server.url(HOST, "/a"));
    assert!(records.iter().any(|record| record.kind() == "response"));
    assert_eq!(
        crawl.notes_about(&server.url(HOST, "/a"))["verdict"],
        "failed"
    );
    assert_eq!(server.log().count(HOST, "/from-challenge"), 0);
    let before = crawl.visits();
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let run = crawl.run_command(&["rebuild", "crawl", "--hash-key", KEY]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(crawl.visits(), before);
}

/// Returns a page for URLs that do not exist; it names the URL.
fn not_found(path: &str) -> String {
    format!(
        "<title>Page not found</title><h1>Page not found</h1><p>We are sorry: there is no page \
         here any more. Try the search, or begin at the front page. <i>{path}</i>\
         <a href=\"/from-nowhere\">x</a>"
    )
}

#[test]
fn a_page_that_a_server_sends_for_missing_urls_is_a_soft_404() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::status(404),
        "/" => page(0, &["/gone/1", "/gone/2", "/poem"]),
        "/poem" => Reply::html("<title>Not found</title><p>I looked for you, and you were gone."),
        path => Reply::html(not_found(path)),
    }));
    let crawl = crawl(&server);
    crawl.complete();
    crawl.is_sound();
    let reason = "soft-404: the server sends this page for URLs that do not exist".to_owned();
    for path in ["/gone/1", "/gone/2"] {
        assert_eq!(
            fate(&crawl, &server, path),
            ("excluded".into(), reason.clone())
        );
    }
    assert_eq!(fate(&crawl, &server, "/poem").0, "unique");
    let log = server.log();
    let probes = log.targets(HOST);
    let probes = probes
        .iter()
        .filter(|path| path.starts_with("/no-such-page-"));
    assert_eq!(probes.count(), 1, "one request per host");
    assert_eq!(log.count(HOST, "/from-nowhere"), 0);
}

#[test]
fn no_missing_url_is_requested_of_a_site_without_a_suspicious_page() {
    let server = Server::spawn_thread(Site::pages([
        ("/", page(0, &["/a"])),
        ("/a", Reply::html(article(1, NONE))),
    ]));
    crawl(&server).complete();
    assert_eq!(server.log().targets(HOST), ["/robots.txt", "/", "/a"]);
}

#[test]
fn a_short_page_with_such_a_title_is_a_page_where_missing_urls_have_status_404() {
    let poem = "<title>Not found</title><p>I looked for you, and you were gone.";
    let server = Server::spawn_thread(Site::pages([
        ("/", page(0, &["/poem"])),
        ("/poem", Reply::html(poem)),
    ]));
    let crawl = crawl(&server);
    crawl.complete();
    assert_eq!(fate(&crawl, &server, "/poem").0, "unique");
}
