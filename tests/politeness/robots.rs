//! Obedience to robots.txt, as the server sees it.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page};

const HOST: &str = "site.test";

/// A site with this robots.txt, an open and a closed section.
fn crawl(robots: Reply) -> (Server, Crawl) {
    let pages = [
        ("/robots.txt", robots),
        (
            "/",
            page(0, &["/open/", "/closed/", "/closed/but-open.html"]),
        ),
        ("/open/", page(1, &["/closed/deep"])),
        ("/closed/", page(2, NONE)),
        ("/closed/deep", page(3, NONE)),
        ("/closed/but-open.html", page(4, NONE)),
    ];
    let server = Server::spawn_thread(Site::pages(pages));
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries", "1"]);
    (server, crawl)
}

fn asked(server: &Server) -> Vec<String> {
    let log = server.log();
    let mut targets: Vec<String> = log.targets(HOST).into_iter().map(str::to_owned).collect();
    targets.sort();
    targets
}

/// A truncated byte order mark made `User-agent: *` meaningless: everything forbidden was
/// requested.
#[test]
fn a_byte_order_mark_is_skipped_even_if_it_is_truncated() {
    let rules = b"User-agent: *\nDisallow: /closed/\n".as_slice();
    for mark in [b"\xef\xbb\xbf".as_slice(), b"\xef\xbb", b"\xef"] {
        let robots = Reply::document("text/plain", [mark, rules].concat());
        let (server, crawl) = crawl(robots);
        crawl.complete();
        assert_eq!(asked(&server), ["/", "/open/", "/robots.txt"], "{mark:x?}");
    }
}

#[test]
fn a_disallowed_section_is_never_requested() {
    for robots in [
        "User-agent: *\nDisallow: /closed/\nAllow: /closed/but-open.html\n",
        "User-agent: otherbot\nDisallow:\n\nUser-agent: Crawler\nDisallow: /closed/\nAllow: \
         /closed/but-open.html\n",
        "user-agent: crawler/0.1\ndisallow: /clo*ed/$\ndisallow: /closed/d\n",
    ] {
        let (server, crawl) = crawl(Reply::text(robots));
        let summary = crawl.complete();
        assert_eq!(
            (&summary["pages"], &summary["excluded"]),
            (&3.into(), &2.into()),
            "{robots}"
        );
        assert_eq!(
            asked(&server),
            ["/", "/closed/but-open.html", "/open/", "/robots.txt"],
            "{robots}"
        );
        let visit = crawl.visit(&server.url(HOST, "/closed/"));
        assert_eq!(visit["verdict"], "excluded");
        assert!(
            visit["reason"]
                .as_str()
                .unwrap()
                .starts_with("robots.txt: "),
            "{visit}"
        );
        assert_eq!(
            crawl.notes_about(&server.url(HOST, "/closed/"))["verdict"],
            "excluded"
        );
        crawl.is_sound();
    }
}

#[test]
fn robots_txt_is_requested_first_and_once() {
    let (server, crawl) = crawl(Reply::text(""));
    crawl.complete();
    let log = server.log();
    assert_eq!(log.targets(HOST)[0], "/robots.txt");
    assert_eq!(log.count(HOST, "/robots.txt"), 1);
}

#[test]
fn without_a_robots_txt_everything_is_allowed() {
    for status in [404, 401, 403, 410] {
        let (server, crawl) = crawl(Reply::status(status));
        assert_eq!(crawl.complete()["pages"], 5, "{status}");
        assert_eq!(asked(&server).len(), 6, "{status}");
    }
}

#[test]
fn while_robots_txt_is_unavailable_nothing_is_allowed() {
    for (robots, trouble) in [
        (Reply::status(500), "HTTP status 500"),
        (Reply::status(503), "HTTP status 503"),
        (Reply::status(429), "HTTP status 429"),
        (Reply::text("x").break_after(0), "connection"),
    ] {
        let (server, crawl) = crawl(robots);
        let summary = crawl.complete();
        assert_eq!(
            (&summary["pages"], &summary["failed"]),
            (&0.into(), &1.into())
        );
        assert_eq!(asked(&server), ["/robots.txt"]);
        let visit = crawl.visit(&server.url(HOST, "/"));
        let reason = visit["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("robots.txt is unavailable (") && reason.contains(trouble),
            "{visit}"
        );
    }
}

#[test]
fn robots_txt_may_redirect_to_another_host() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::redirect(301, "/rules.txt"),
        "/rules.txt" => Reply::text("User-agent: *\nDisallow: /closed"),
        "/" => page(0, &["/closed", "/open"]),
        _ => page(1, NONE),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    assert_eq!(crawl.complete()["pages"], 2);
    assert_eq!(server.log().count(HOST, "/closed"), 0);
}

#[test]
fn every_origin_has_its_own_rules() {
    let site = |closed: &'static str| {
        Server::spawn_thread(Site::new(move |request| match request.path() {
            "/robots.txt" => Reply::text(format!("User-agent: *\nDisallow: {closed}")),
            "/a" => page(u64::from(request.port.unwrap()), NONE),
            "/b" => page(100_000 + u64::from(request.port.unwrap()), NONE),
            _ => Reply::status(404),
        }))
    };
    let (one, two) = (site("/a"), site("/b"));
    let seeds = [
        one.url(HOST, "/a"),
        one.url(HOST, "/b"),
        two.url(HOST, "/a"),
        two.url(HOST, "/b"),
    ];
    let crawl = Crawl::of(&one, &[HOST])
        .with(&["--resolve", &two.resolve(HOST)])
        .seeds(&seeds);
    assert_eq!(crawl.complete()["pages"], 2);
    assert_eq!(
        (one.log().count(HOST, "/a"), one.log().count(HOST, "/b")),
        (0, 1)
    );
    assert_eq!(
        (two.log().count(HOST, "/a"), two.log().count(HOST, "/b")),
        (1, 0)
    );
}

#[test]
fn robots_txt_is_ignored_only_with_a_loud_warning_and_the_archive_says_so() {
    let (server, crawl) = crawl(Reply::text("User-agent: *\nDisallow: /\n"));
    let crawl = crawl.with(&["--ignore-robots"]);
    let run = crawl.run();
    assert_eq!(run.summary()["pages"], 5);
    assert!(
        run.errors
            .contains("warning: robots.txt, nofollow and noarchive are IGNORED"),
        "{run:?}"
    );
    assert_eq!(server.log().count(HOST, "/robots.txt"), 0);
    let info = String::from_utf8(crawl.records().remove(0).block).unwrap();
    assert!(info.lines().any(|line| line == "robots: ignore"), "{info}");
}

#[test]
fn the_user_agent_is_honest_and_names_the_contact() {
    let (server, crawl) = crawl(Reply::text(""));
    crawl.complete();
    for hit in &server.log() {
        assert!(
            hit.user_agent.starts_with("crawler/") && hit.user_agent.contains("tests@example.org"),
            "{hit:?}"
        );
    }
}

#[test]
fn robots_txt_groups_match_the_first_word_of_the_user_agent() {
    let (server, crawl) = crawl(Reply::text(
        "User-agent: *\nDisallow: /\n\nUser-agent: Archivist\nDisallow: /closed/\n",
    ));
    let crawl = crawl.with(&["--user-agent", "Archivist/2 (+https://example.org)"]);
    assert_eq!(crawl.complete()["pages"], 2);
    assert_eq!(
        server.log()[0].user_agent,
        "Archivist/2 (+https://example.org)"
    );
}
