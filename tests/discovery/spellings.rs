//! URLs are compared by their canonical form, and requested as pages wrote them.

use std::path::PathBuf;

use serde_json::Value;
use testkit::{Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, anchor, html, page};

const HOST: &str = "site.test";

fn crawl(server: &Server, seed: &str) -> Crawl {
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, seed)])
        .with(&["--tries", "1", "--concurrency", "1"])
}

fn site(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
    Server::spawn_thread(Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::status(404),
        _ => answer(request),
    }))
}

/// Returns the requests of the host, without robots.txt.
fn targets(server: &Server) -> Vec<String> {
    let log = server.log();
    let pages = log.pages_of(HOST).into_iter();
    pages.map(str::to_owned).collect()
}

/// Returns the visits without what depends on the hash key, which a new journal draws.
fn visits(crawl: &Crawl) -> Vec<Value> {
    let mut visits = crawl.visits();
    for visit in &mut visits {
        visit["fingerprint"] = Value::Null;
    }
    visits
}

/// Rebuilds the journal from the archive, and checks that its visits are the same.
fn is_rebuilt(crawl: &Crawl) {
    let visits_before = visits(crawl);
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let run = crawl.run_command(&["rebuild", "crawl"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(visits(crawl), visits_before);
    crawl.is_sound();
}

/// A site that redirects a URL to its own spelling of it was lost: "redirects in a circle". If the
/// URL was the seed, all pages were lost, with the exit code of success.
#[test]
fn a_redirect_to_another_spelling_of_the_url_is_followed() {
    for (start, end) in [
        ("/shop", "/shop;jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9"),
        ("/forum/", "/forum/?PHPSESSID=q5fhqh6r3ck7gqnt8u1m0bs2d4"),
        ("/list?cat=7&page=2", "/list?page=2&cat=7"),
        ("/list?page=2&cat=7", "/list?cat=7&page=2"),
        ("/news?utm_source=x", "/news"),
        ("/news", "/news?"),
        ("/news?", "/news"),
        ("/~one", "/%7Eone"),
        ("/%7Eone", "/~one"),
        ("/caf%c3%a9", "/caf%C3%A9"),
        ("/a?b&&c", "/a?b&c"),
        ("/p.aspx", "/(S(lit3py55t21z5v55vlm25s55))/p.aspx"),
    ] {
        let server = site(move |request| match request.target.as_str() {
            target if target == end => page(1, &["/behind"]),
            target if target == start => Reply::redirect(302, end),
            target if target.ends_with("behind") => page(2, NONE),
            _ => Reply::status(404),
        });
        let crawl = crawl(&server, start);
        assert_eq!(crawl.complete()["pages"], 2, "{start} to {end}");
        let asked = targets(&server);
        assert_eq!(asked[..2], [start, end]);
        let archived = crawl.archived();
        assert_eq!(
            archived[..2],
            [start, end].map(|path| server.url(HOST, path))
        );
        crawl.is_sound();
        is_rebuilt(&crawl);
    }
}

/// The pictures of image servers, whose signatures cover a URL as written, were all missing: their
/// parameters were sorted, and `s` was dropped as a session.
#[test]
fn signed_urls_are_requested_as_written_by_this_session_and_the_next() {
    let signed = [
        "/a.png?w=12&h=6&s=0f8fad5bd9cb469fa16570867728950e",
        "/b.png?w=12&h=6&session=q5fhqh6r3ck7gqnt8u1m0bs2d4",
        "/c.png?w=12&h=6&hash=0f8fad5bd9cb469fa16570867728950e",
        "/doc?v=2&id=7&token=0f8fad5bd9cb469fa16570867728950e",
    ];
    let server = site(move |request| match request.target.as_str() {
        "/" => {
            let pictures = signed[..3].iter().map(|link| format!("<img src='{link}'>"));
            let links = format!("{}{}", pictures.collect::<String>(), anchor(signed[3]));
            let icon = format!("<link rel=icon href='{}'>", signed[0]);
            Reply::html(html(&icon, &format!("<p>Start</p>{links}")))
        }
        target if target == signed[3] => {
            page(3, NONE).header("Link", format!("<{}>; rel=icon", signed[0]))
        }
        target if signed.contains(&target) => Reply::document("image/png", target.to_owned()),
        _ => Reply::status(403),
    });
    let crawl = crawl(&server, "/").with(&["--page-requisites"]);
    crawl.run_with(&["--max-pages", "1"]);
    crawl.run_with(&["--max-pages", "9"]);
    let mut asked = targets(&server);
    asked.sort();
    assert_eq!(asked, [&["/"][..], &signed].concat());
    crawl.is_sound();
    is_rebuilt(&crawl);
}

#[test]
fn two_spellings_of_a_page_are_requested_once_as_the_first_link_writes_it() {
    let server = site(|request| match request.path() {
        "/" => page(0, &["/a?z=1&b=2", "/a?b=2&z=1", "/a?b=2&z=1&utm_source=x"]),
        _ => page(1, &["/", "/?utm_source=y", "/a?b=2&&z=1"]),
    });
    let crawl = crawl(&server, "/");
    assert_eq!(crawl.complete()["pages"], 2);
    assert_eq!(targets(&server), ["/", "/a?z=1&b=2"]);
    // Visits have the canonical form, the archive the request.
    crawl.visit(&server.url(HOST, "/a?b=2&z=1"));
    assert_eq!(crawl.archived()[1], server.url(HOST, "/a?z=1&b=2"));
    is_rebuilt(&crawl);
    let run = crawl.run_command(&["unpack", "crawl", "--output", "out"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let mut sites = std::fs::read_dir(crawl.directory().join("out")).unwrap();
    let is_site = |path: &PathBuf| path.is_dir() && path.to_string_lossy().contains(HOST);
    let site = sites.find_map(|item| Some(item.unwrap().path()).filter(is_site));
    let files = std::fs::read_dir(site.unwrap())
        .unwrap()
        .map(|item| item.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|end| end == "html"));
    let texts: Vec<String> = pages
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(texts.len(), 2);
    for text in texts {
        assert!(
            !text.contains("href=\"http"),
            "every spelling leads to a file: {text}"
        );
    }
}

/// A page behind a cookie wall was given up as a circle, also with the option that is for it.
#[test]
fn a_redirect_that_sets_a_cookie_is_no_circle_if_cookies_are_kept() {
    let gate = |request: &Request| {
        let cookies = request.header("cookie").unwrap_or_default();
        let seen = cookies.contains("gate=1");
        match (request.path(), seen) {
            (_, true) => page(1, NONE),
            ("/by-way", false) => Reply::redirect(302, "/set"),
            ("/set", false) => Reply::redirect(302, "/by-way").header("Set-Cookie", "gate=1"),
            (path, false) => Reply::redirect(302, path).header("Set-Cookie", "gate=1; Path=/"),
        }
    };
    for path in ["/", "/by-way"] {
        let server = site(gate);
        let with = crawl(&server, path).with(&["--cookies", "session"]);
        assert_eq!(with.complete()["pages"], 1, "{path}");
        with.is_sound();
        let without = crawl(&server, path);
        without.run();
        let visit = without.visit(&server.url(HOST, path));
        let reason = visit["reason"].as_str().unwrap();
        assert!(reason.contains("--cookies session"), "{visit}");
    }
}

#[test]
fn a_circle_ends_at_the_first_request_that_repeats_one() {
    for (cookie, requests) in [(None, 1), (Some("same=1"), 2)] {
        let server = site(move |_request| {
            let reply = Reply::redirect(302, "/");
            match cookie {
                Some(cookie) => reply.header("Set-Cookie", cookie),
                None => reply,
            }
        });
        let crawl = crawl(&server, "/").with(&["--cookies", "session"]);
        crawl.run();
        assert_eq!(targets(&server).len(), requests, "{cookie:?}");
        let visit = crawl.visit(&server.url(HOST, "/"));
        assert_eq!(visit["reason"], "redirects in a circle");
    }
    let count = std::sync::atomic::AtomicU64::new(0);
    let server = site(move |_request| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Reply::redirect(302, "/").header("Set-Cookie", format!("n={number}"))
    });
    let crawl = crawl(&server, "/").with(&["--cookies", "session", "--max-redirects", "5"]);
    crawl.run();
    assert_eq!(targets(&server).len(), 6);
}

#[test]
fn robots_txt_and_exclusions_judge_what_is_sent() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /a?utm_\nDisallow: /b?z="),
        "/" => page(
            0,
            &[
                "/a?utm_source=x&b=2&a=1",
                "/b?z=1&a=2",
                "/c?sid=1&a=2",
                "/d?z=1&a=2",
            ],
        ),
        _ => page(1, NONE),
    }));
    let crawl = crawl(&server, "/").with(&["--exclude", "[?]sid="]);
    crawl.complete();
    assert_eq!(targets(&server), ["/", "/d?z=1&a=2"]);
    crawl.is_sound();
}

/// Sites in other encodings than UTF-8 answered with nothing found to every query.
/// `Disallow: /*sid=` is a common line: the first link to a topic had a session, and the topic was
/// never requested, although the next link was allowed. `why` said that robots.txt forbids it.
#[test]
fn a_spelling_that_is_forbidden_does_not_cost_the_page() {
    let server = Server::spawn_thread(Site::new(|request| match request.target.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /*sid=\nDisallow: /list?sort\n"),
        "/" => {
            let session = "sid=q5fhqh6r3ck7gqnt8u1m0bs2d4";
            let first = format!("/topic?t=1&{session}");
            let tagged = ["/tagged?tag=x&utm_source=y", "/tagged?tag=x"];
            // Requested in the order of the parameters, this one would evade its rule.
            let sorted = "/list?sort=1&page=2";
            page(0, &[&first, "/topic?t=1", tagged[0], tagged[1], sorted])
        }
        "/topic?t=1" => page(1, NONE),
        "/tagged?tag=x" => page(2, NONE),
        _ => Reply::status(403),
    }));
    let crawl = crawl(&server, "/").with(&["--exclude", "utm_source"]);
    assert_eq!(crawl.complete()["pages"], 3);
    assert_eq!(targets(&server), ["/", "/topic?t=1", "/tagged?tag=x"]);
    let reason = &crawl.visit(&server.url(HOST, "/list?page=2&sort=1"))["reason"];
    let requested = format!("(requested as {})", server.url(HOST, "/list?sort=1&page=2"));
    assert!(reason.as_str().unwrap().ends_with(&requested), "{reason}");
    crawl.is_sound();
}

/// A cookie wall that sends every page to one URL, and back: the pages after the first were left
/// out as redirects to a page that the crawl visits for itself.
#[test]
fn a_cookie_wall_at_one_url_lets_every_page_of_every_session_through() {
    let server = site(|request| {
        let cookies = request.header("cookie").unwrap_or_default().to_owned();
        let back = cookies
            .split("; ")
            .find_map(|one| one.strip_prefix("back="));
        match (request.path(), cookies.contains("seen=1")) {
            ("/check", _) => {
                Reply::redirect(302, back.unwrap_or("/")).header("Set-Cookie", "seen=1")
            }
            ("/", true) => page(0, &["/1", "/2", "/3"]),
            (path, true) => page(path[1..].parse().unwrap(), NONE),
            (path, false) => {
                Reply::redirect(302, "/check").header("Set-Cookie", format!("back={path}; Path=/"))
            }
        }
    });
    let crawl = crawl(&server, "/").with(&["--cookies", "session"]);
    for pages in ["2", "3", "9"] {
        crawl.run_with(&["--max-pages", pages]);
    }
    let visits = crawl.visits();
    let unique = visits.iter().filter(|visit| visit["verdict"] == "unique");
    assert_eq!(unique.count(), 4, "{visits:?}");
    crawl.is_sound();
}

#[test]
fn letters_of_a_query_are_sent_in_the_encoding_of_the_page() {
    const BODY: &[u8] = b"<title>\xf1</title>\
        <link rel=icon href='/b?q=\xe8'><p>\xef\xee\xe8\xf1\xea <a href='/a?q=\xe8\xec\xff'>x</a>\
        <a href='/\xe8?q=&#9731;'>x</a><img src='/b?q=\xe8'>\
        <form action=/c><input name=q value='\xe8 &#9731;'></form>\
        <form action=/d accept-charset=utf-8><input name=q value='\xe8'></form>";
    let server = site(|request| match request.path() {
        "/" => Reply::document("text/html; charset=windows-1251", BODY),
        _ => page(1, NONE),
    });
    let crawl = crawl(&server, "/").with(&["--forms", "--page-requisites"]);
    crawl.complete();
    let mut asked = targets(&server);
    asked.sort();
    let expected = [
        "/",
        "/%D0%B8?q=%26%239731%3B",
        "/a?q=%E8%EC%FF",
        "/b?q=%E8",
        "/c?q=%E8+%26%239731%3B",
        "/d?q=%D0%B8",
    ];
    assert_eq!(asked, expected);
    crawl.is_sound();
}

/// Bytes that are not UTF-8 were read as Latin-1 and sent as UTF-8, so another URL was requested; a
/// `Refresh` with any such byte was not followed.
#[test]
fn bytes_of_header_fields_are_sent_as_they_came() {
    let server = site(|request| match request.path() {
        "/" => page(
            0,
            &[
                "/latin",
                "/utf-8",
                "/query",
                "/refresh",
                "/caret^and|bar?^|",
            ],
        ),
        "/latin" => Reply::redirect(302, b"/fran\xe7ais"),
        "/utf-8" => Reply::redirect(302, "/\u{436}"),
        "/query" => Reply::redirect(302, b"/to?q=\xe6"),
        "/refresh" => page(1, NONE).header("Refresh", "0; url=/\u{448}"),
        _ => page(2, NONE),
    });
    let crawl = crawl(&server, "/");
    crawl.complete();
    let asked = targets(&server);
    for target in [
        "/fran%E7ais",
        "/%D0%B6",
        "/to?q=%E6",
        "/%D1%88",
        "/caret%5Eand%7Cbar?^|",
    ] {
        assert!(
            asked.iter().any(|asked| asked == target),
            "{target} in {asked:?}"
        );
    }
    crawl.is_sound();
}
