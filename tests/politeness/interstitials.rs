//! Pages that a server sends in place of a page: block pages, logins, soft 404s.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

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

/// A text of few words, with the number of the request.
fn notice(text: &str, number: u32) -> Reply {
    Reply::html(format!("<p>{text} <i>{number}</i>"))
}

/// The text of a firewall that no marker names was archived as a page, and all later pages were
/// lost as its duplicates.
#[test]
fn a_block_page_without_a_marker_is_known_by_another_page_that_has_its_text_now() {
    const PAGES: [&str; 24] = [
        "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9", "/10", "/11", "/12", "/13", "/14",
        "/15", "/16", "/17", "/18", "/19", "/20", "/21", "/22", "/23", "/24",
    ];
    let pages = AtomicU32::new(0);
    let server = Server::spawn_thread(Site::new(move |request| {
        let path = request.path();
        if path == "/robots.txt" {
            return Reply::status(404);
        }
        match (pages.fetch_add(1, Ordering::Relaxed), path[1..].parse()) {
            (number @ 21..23, _) => notice("Our guard has closed the door to you.", number),
            (_, Ok(number)) => page(number, NONE),
            (_, Err(_)) => page(0, &PAGES),
        }
    }));
    let crawl = crawl(&server).with(&["--concurrency", "1"]);
    let summary = crawl.complete();
    crawl.is_sound();
    assert_eq!(summary["retries"], 1);
    for path in PAGES {
        assert_eq!(fate(&crawl, &server, path).0, "unique", "{path}");
    }
    // The page that was blocked, and one that had another text before.
    let twice = PAGES.map(|path| server.log().count(HOST, path) == 2);
    assert_eq!(twice.iter().filter(|twice| **twice).count(), 2);
}

/// Returns one of six pages, each of which links to the next. The last one has these links.
fn usual_page(path: &str, links: &[&str]) -> Option<Reply> {
    match path {
        "/robots.txt" => Some(Reply::status(404)),
        "/" => Some(page(0, &["/1"])),
        "/1" => Some(page(1, &["/2"])),
        "/2" => Some(page(2, &["/3"])),
        "/3" => Some(page(3, &["/4"])),
        "/4" => Some(page(4, &["/5"])),
        "/5" => Some(page(5, links)),
        _ => path[1..].parse().ok().map(|number| page(number, NONE)),
    }
}

#[test]
fn a_short_text_that_a_site_has_under_many_urls_is_a_page() {
    const STUBS: [&str; 6] = ["/s/1", "/s/2", "/s/3", "/s/4", "/s/5", "/s/6"];
    let server = Server::spawn_thread(Site::new(|request| {
        let stub = || match STUBS.contains(&request.path()) {
            true => notice("Nobody has written this page yet.", 7),
            false => Reply::status(404),
        };
        usual_page(request.path(), &STUBS).unwrap_or_else(stub)
    }));
    let crawl = crawl(&server).with(&["--concurrency", "1"]);
    crawl.complete();
    crawl.is_sound();
    let mut verdicts = STUBS.map(|path| fate(&crawl, &server, path).0.to_string());
    verdicts.sort();
    let [first @ .., last] = &verdicts;
    assert_eq!(last, "\"unique\"");
    assert!(first.iter().all(|verdict| verdict == "\"exact-duplicate\""));
    // robots.txt, the pages, and two requests that decide about the text.
    assert_eq!(server.log().targets(HOST).len(), 1 + 6 + STUBS.len() + 2);
}

#[test]
fn a_short_text_without_links_that_a_server_sends_for_all_other_urls_is_a_soft_404() {
    const ENDED: [&str; 3] = ["/offers/1", "/offers/2", "/offers/3"];
    let server = Server::spawn_thread(Site::new(|request| {
        let other = || notice("This offer of ours has ended.", 7);
        usual_page(request.path(), &ENDED).unwrap_or_else(other)
    }));
    let crawl = crawl(&server).with(&["--concurrency", "1"]);
    crawl.complete();
    crawl.is_sound();
    let reason = "soft-404: the server sends this page for URLs that do not exist";
    let fates = ENDED.map(|path| fate(&crawl, &server, path));
    let excluded = fates
        .iter()
        .filter(|(verdict, why)| verdict == "excluded" && why == reason);
    // The first one is not suspicious yet.
    assert_eq!(excluded.count(), 2, "{fates:?}");
}

#[test]
fn a_text_that_three_domains_send_for_all_urls_is_a_block_page() {
    const HOSTS: [&str; 3] = ["one.test", "two.test", "three.test"];
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::status(404),
        _ => notice("This site is closed by order of its keeper.", 7),
    }));
    let seeds = HOSTS.map(|host| server.url(host, "/"));
    let crawl = Crawl::of(&server, &HOSTS)
        .seeds(&seeds)
        .with(&["--tries", "1"]);
    let run = crawl.run();
    assert!(run.code.is_some_and(|code| code < 2), "{run:?}");
    crawl.is_sound();
    let verdicts = seeds.map(|seed| crawl.visit(&seed)["verdict"].take());
    let blocked = verdicts.iter().filter(|verdict| *verdict == "failed");
    assert_eq!(blocked.count(), 1, "{verdicts:?}");
}
