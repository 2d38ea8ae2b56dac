//! Redirects, hop by hop: each hop obeys the rules of a page.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page};

const HOSTS: [&str; 3] = ["site.test", "www.site.test", "other.test"];

fn crawl(pages: Vec<(&'static str, Reply)>) -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::pages(pages));
    let crawl = Crawl::of(&server, &HOSTS)
        .seeds(&[server.url("site.test", "/")])
        .with(&["--tries", "1"]);
    (server, crawl)
}

#[test]
fn every_hop_is_archived_and_the_page_is_recorded_under_the_queued_url() {
    let (server, crawl) = crawl(vec![
        ("/", page(0, &["/1"])),
        ("/1", Reply::redirect(301, "/2")),
        ("/2", Reply::redirect(307, "three")),
        ("/three", page(3, NONE)),
    ]);
    assert_eq!(crawl.complete()["pages"], 2);
    let [one, two, three] = ["/1", "/2", "/three"].map(|path| server.url("site.test", path));
    let visit = crawl.visit(&one);
    assert_eq!(
        (&visit["verdict"], &visit["final_url"]),
        (&"unique".into(), &three.as_str().into())
    );
    assert_eq!(
        (&visit["status"], &visit["title"]),
        (&200.into(), &"Page 3".into())
    );
    assert_eq!(crawl.archived()[1..], [one, two.clone(), three]);
    let hop = crawl.records_about(&two).remove(0);
    let head = String::from_utf8_lossy(hop.head_and_payload().unwrap().0).to_ascii_lowercase();
    assert!(
        head.starts_with("http/1.1 307") && head.contains("location: three"),
        "{head}"
    );
    crawl.is_sound();
}

#[test]
fn a_page_that_is_both_linked_and_redirected_to_is_visited_once() {
    let (server, crawl) = crawl(vec![
        ("/", page(0, &["/new", "/old"])),
        ("/old", Reply::redirect(302, "/new")),
        ("/new", page(1, &["/old"])),
    ]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["unique"]),
        (&2.into(), &2.into())
    );
    assert_eq!(server.log().count("site.test", "/new"), 1);
    crawl.is_sound();
}

#[test]
fn a_redirect_out_of_scope_is_not_followed() {
    let server = Server::spawn_thread(Site::new(|request| {
        match (request.host.as_str(), request.path()) {
            ("site.test", "/") => page(0, &["/away"]),
            ("site.test", "/away") => {
                Reply::redirect(302, format!("http://other.test:{}/", request.port.unwrap()))
            }
            ("other.test", _) => page(1, NONE),
            _ => Reply::status(404),
        }
    }));
    let crawl = Crawl::of(&server, &HOSTS).seeds(&[server.url("site.test", "/")]);
    assert_eq!(crawl.complete()["excluded"], 1);
    assert_eq!(server.log().of("other.test").count(), 0);
    let visit = crawl.visit(&server.url("site.test", "/away"));
    assert_eq!(visit["verdict"], "excluded");
    let reason = visit["reason"].as_str().unwrap();
    assert!(
        reason.contains("redirects to") && reason.contains("scope host"),
        "{reason}"
    );
}

#[test]
fn the_target_of_a_redirected_seed_stays_in_scope_when_the_crawl_is_continued() {
    let server = Server::spawn_thread(Site::new(|request| {
        match (request.host.as_str(), request.path()) {
            ("site.test", "/") => Reply::redirect(
                301,
                format!("http://www.site.test:{}/", request.port.unwrap()),
            ),
            ("www.site.test", "/") => page(0, &["/a", "/b"]),
            ("www.site.test", "/a") => page(1, &["/c"]),
            ("www.site.test", path @ ("/b" | "/c")) => page(u64::from(path.as_bytes()[1]), NONE),
            _ => Reply::status(404),
        }
    }));
    let crawl = Crawl::of(&server, &HOSTS).seeds(&[server.url("site.test", "/")]);
    assert_eq!(crawl.run_with(&["--max-pages", "2"]).summary()["pages"], 2);
    assert_eq!(crawl.run_with(&["--max-pages", "9"]).summary()["pages"], 4);
    crawl.is_sound();
}

#[test]
fn redirects_without_a_page_are_given_up_with_a_reason() {
    let (server, crawl) = crawl(vec![
        (
            "/",
            page(
                0,
                &["/self", "/ping", "/1", "/mail", "/private", "/nowhere"],
            ),
        ),
        (
            "/robots.txt",
            Reply::text("User-agent: *\nDisallow: /secret"),
        ),
        ("/self", Reply::redirect(302, "/self")),
        ("/ping", Reply::redirect(302, "/pong")),
        ("/pong", Reply::redirect(302, "/ping")),
        ("/1", Reply::redirect(302, "/2")),
        ("/2", Reply::redirect(302, "/3")),
        ("/3", Reply::redirect(302, "/4")),
        ("/4", page(4, NONE)),
        ("/mail", Reply::redirect(302, "mailto:someone@example.org")),
        ("/private", Reply::redirect(302, "/secret")),
        ("/secret", page(5, NONE)),
        ("/nowhere", Reply::redirect(302, "/missing")),
    ]);
    let crawl = crawl.with(&["--max-redirects", "2"]);
    crawl.complete();
    for (path, verdict, words) in [
        ("/self", "excluded", "circle"),
        ("/ping", "excluded", "circle"),
        ("/1", "excluded", "more than 2 redirects"),
        ("/mail", "excluded", "invalid URL"),
        ("/private", "excluded", "robots.txt"),
        ("/nowhere", "failed", "404"),
    ] {
        let visit = crawl.visit(&server.url("site.test", path));
        assert_eq!(visit["verdict"], verdict, "{visit}");
        assert!(visit["reason"].as_str().unwrap().contains(words), "{visit}");
    }
    let log = server.log();
    assert_eq!(
        (
            log.count("site.test", "/4"),
            log.count("site.test", "/secret")
        ),
        (0, 0)
    );
    crawl.is_sound();
}

#[test]
fn private_addresses_are_not_requested_unless_the_user_allows_it() {
    let server = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let literal = format!("http://127.0.0.1:{}/", server.port());
    let named = server.url("site.test", "/");
    let crawl = Crawl::bare().seeds(&[&literal, &named]).with(&[
        "--summary=json",
        "--delay=0",
        "--tries=1",
        "--ignore-robots",
        "--resolve",
        &server.resolve("site.test"),
    ]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&0.into(), &2.into())
    );
    assert!(server.log().is_empty());
    for url in [&literal, &named] {
        let visit = crawl.visit(url);
        assert!(
            visit["reason"].as_str().unwrap().contains("127.0.0.1"),
            "{visit}"
        );
    }
}
