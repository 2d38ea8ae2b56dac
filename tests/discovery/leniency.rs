//! Sloppy servers: what browsers read is read, what came is kept, and the archive says what was
//! odd.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, article, page};

const HOST: &str = "site.test";

fn crawl(site: impl Fn(&testkit::Request) -> Reply + Send + Sync + 'static) -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::new(site));
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries", "1"]);
    (server, crawl)
}

/// Returns the number behind the letter of `/p7` or `/q7`.
fn number(target: &str, letter: &str) -> Option<usize> {
    target.strip_prefix(letter)?.parse().ok()
}

/// Crawls pages `/p0`, `/p1`, … that are answered in these ways, with the body of a page that links
/// to `/q0`, `/q1`, …; asserts that each is followed, and that the archive names what is odd.
#[track_caller]
fn all_are_followed(answers: &'static [(&'static str, &'static str)]) -> (Server, Crawl) {
    let (server, crawl) = crawl(move |request| {
        let target = request.target.as_str();
        if target == "/" {
            let links: Vec<String> = (0..answers.len()).map(|of| format!("/p{of}")).collect();
            return page(0, &links);
        }
        if let Some(of) = number(target, "/q") {
            return page(500 + of as u64, NONE);
        }
        let Some(of) = number(target, "/p") else {
            return Reply::status(404);
        };
        let body = article(1 + of as u64, &[format!("/q{of}")]);
        let length = body.len().to_string();
        let answer = answers[of].0.replace("LENGTH", &length);
        let size = format!("{:x}", body.len());
        Reply::raw(
            answer
                .replace("SIZE", &size)
                .replace("BODY", &body)
                .into_bytes(),
        )
    });
    let summary = crawl.complete();
    assert_eq!(summary["unique"], 1 + 2 * answers.len(), "{summary}");
    for (of, (answer, warnings)) in answers.iter().enumerate() {
        let notes = crawl.notes_about(&server.url(HOST, &format!("/p{of}")));
        let noted = notes.get("warnings").map_or("", String::as_str);
        assert_eq!(noted, *warnings, "{answer:?}");
    }
    crawl.is_sound();
    (server, crawl)
}

/// One malformed line lost a page, and a server that sends it with each page was lost as a whole:
/// "the response is not valid HTTP".
#[test]
fn pages_behind_odd_heads_are_read_and_the_archive_says_what_was_odd() {
    all_are_followed(&[
        ("HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\nBODY", ""),
        ("HTTP/1.1 200 OK\nContent-Type: text/html\n\nBODY", ""),
        (
            "HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html\r\n\r\nBODY",
            "",
        ),
        (
            "HTTP/1.1 200OK\r\nContent-Type: text/html\r\n\r\nBODY",
            "status-line",
        ),
        (
            "ICY 200 OK\r\nContent-Type: text/html\r\n\r\nBODY",
            "status-line",
        ),
        (
            "HTTP/1.1 0200 OK\r\nContent-Type: text/html\r\n\r\nBODY",
            "status-line",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type : text/html\r\n\r\nBODY",
            "header-line",
        ),
        (
            "HTTP/1.1 200 OK\r\nPHP Warning: x in Unknown on line 0\r\n\
             Content-Type: text/html\r\n\r\nBODY",
            "header-line",
        ),
        (
            "HTTP/1.1 200 OK\r\n<!DOCTYPE html>\r\nX-T(ms): 1\r\n\
             Content-Type: text/html\r\nContent-Length: many\r\n\r\nBODY",
            "content-length header-line",
        ),
        (
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=\x01\r\nContent-Type: text/html\r\n\
             Content-Length: LENGTH\r\n\r\nBODY",
            "control-character",
        ),
        (
            "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\
             Transfer-Encoding: chunked\r\n\r\nSIZE\r\nBODY\r\n0\r\n\r\n",
            "transfer-encoding",
        ),
    ]);
}

/// A length that is too large lost the page, and everything behind it.
#[test]
fn a_page_that_breaks_off_is_kept_after_its_last_try_and_its_links_are_followed() {
    let (server, crawl) = all_are_followed(&[
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9LENGTH\r\n\r\nBODY",
            "short-body",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\
             Transfer-Encoding: chunked\r\n\r\nSIZE\r\nBODY\r\n",
            "broken-chunks",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\
             Transfer-Encoding: chunked\r\n\r\nSIZE\r\nBODY\r\nzz\r\nmore",
            "broken-chunks",
        ),
    ]);
    for of in 0..3 {
        let url = server.url(HOST, &format!("/p{of}"));
        let records = crawl.records_about(&url);
        let kept = records.iter().find(|record| record.kind() == "response");
        assert_eq!(kept.unwrap().truncated(), Some("disconnect"));
    }
}

/// The rest of the file may forbid what its beginning allows.
#[test]
fn an_incomplete_robots_txt_is_no_permission() {
    for cut in [
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\nAllow: /\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n17\r\nUser-agent: *\nAllow: /\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let (server, crawl) = crawl(move |request| match request.path() {
            "/robots.txt" => Reply::raw(cut),
            _ => page(0, NONE),
        });
        crawl.run();
        assert_eq!(server.log().count(HOST, "/"), 0, "{cut:?}");
    }
}

/// A sloppy robots.txt is read like a sloppy page: its rules count.
#[test]
fn rules_behind_an_odd_head_are_obeyed() {
    let rules = "User-agent: *\nDisallow: /private\n";
    for head in [
        "HTTP/1.1 200OK\r\n",
        "HTTP/1.1 200 OK\r\nPHP Warning: x\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n",
        "ICY 200 OK\r\n",
    ] {
        let (server, crawl) = crawl(move |request| match request.path() {
            "/robots.txt" => Reply::raw(format!("{head}\r\n{rules}").into_bytes()),
            "/" => page(0, &["/private", "/open"]),
            _ => page(1, NONE),
        });
        crawl.run();
        let asked = |path| server.log().count(HOST, path);
        assert_eq!((asked("/private"), asked("/open")), (0, 1), "{head:?}");
    }
}

/// "HTTP status 302", and the links of the page were not read.
#[test]
fn a_redirect_without_a_target_is_the_document() {
    let statuses = [300, 301, 302, 303, 307, 308];
    let (server, crawl) = crawl(move |request| {
        let of = |letter| number(&request.target, letter).map(|of| of as u64);
        match (of("/p"), of("/q")) {
            (Some(status), _) => page(status, &[format!("/q{status}")]).with_status(status as u16),
            (_, Some(status)) => page(1_000 + status, NONE),
            _ if request.path() == "/" => page(0, &statuses.map(|status| format!("/p{status}"))),
            _ => Reply::status(404),
        }
    });
    assert_eq!(crawl.complete()["unique"], 1 + 2 * statuses.len());
    let visit = crawl.visit(&server.url(HOST, "/p300"));
    assert_eq!(
        (&visit["verdict"], &visit["status"]),
        (&"unique".into(), &300.into())
    );
    crawl.is_sound();
}

/// As in browsers: an empty target, and one that cannot be a URL.
#[test]
fn a_redirect_whose_target_is_no_url_is_the_document() {
    let locations = ["", "  ", "http://", "http://[::1", "//"];
    let (server, crawl) = crawl(move |request| {
        let of = |letter| number(&request.target, letter);
        match (of("/p"), of("/q")) {
            (Some(of), _) => {
                let moved = page(1 + of as u64, &[format!("/q{of}")]).with_status(302);
                moved.header("Location", locations[of])
            }
            (_, Some(of)) => page(100 + of as u64, NONE),
            _ if request.path() == "/" => page(0, &["/p0", "/p1", "/p2", "/p3", "/p4"]),
            _ => Reply::status(404),
        }
    });
    assert_eq!(crawl.complete()["unique"], 11);
    assert_eq!(crawl.visit(&server.url(HOST, "/p2"))["status"], 302);
}

#[test]
fn a_304_that_nobody_asked_for_is_no_document() {
    let (server, crawl) = crawl(|request| match request.path() {
        "/" => page(0, &["/same"]),
        "/same" => Reply::raw("HTTP/1.1 304 Not Modified\r\n\r\n"),
        _ => Reply::status(404),
    });
    crawl.run();
    let visit = crawl.visit(&server.url(HOST, "/same"));
    assert_eq!(visit["reason"], "HTTP status 304");
}

/// "HTTP status 401": nothing said that the server asks for what `--http-user` does not do.
#[test]
fn a_refused_login_names_what_the_server_asks_for() {
    for (field, expected) in [
        (
            Some("Digest realm=\"a, b\", qop=\"auth,auth-int\""),
            " (asks for Digest)",
        ),
        (
            Some("Negotiate"),
            " (asks for Negotiate, which is not supported)",
        ),
        (Some("NTLM, Basic realm=\"x\""), " (asks for NTLM, Basic)"),
        (None, ""),
    ] {
        let (server, crawl) = crawl(move |request| {
            let refusal = Reply::status(401);
            match (request.path(), field) {
                ("/robots.txt", _) => Reply::status(404),
                (_, Some(field)) => refusal.header("WWW-Authenticate", field),
                (_, None) => refusal,
            }
        });
        crawl.run();
        let visit = crawl.visit(&server.url(HOST, "/"));
        assert_eq!(visit["reason"], format!("HTTP status 401{expected}"));
    }
}

/// Each such end was a failed visit: the page waited, the host backed off, and one page in eight
/// was lost.
#[test]
fn a_server_that_ends_kept_connections_loses_no_page() {
    let (server, crawl) = crawl(|request| match (request.number, request.path()) {
        (2, _) => Reply::hang_up(),
        (_, "/robots.txt") => Reply::status(404),
        (_, "/") => {
            let links: Vec<String> = (1..=12).map(|of| format!("/p{of}")).collect();
            page(0, &links)
        }
        (_, path) => page(number(path, "/p").unwrap_or(99) as u64, NONE),
    });
    let summary = crawl.complete();
    assert_eq!(
        (&summary["unique"], &summary["failed"]),
        (&13.into(), &0.into())
    );
    assert!(server.log().of(HOST).count() <= 2 * 14);
}
