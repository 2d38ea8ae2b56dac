//! `/replay` of the dashboard: archived pages as a browser shows them, from the archive alone.

use std::collections::BTreeSet;

use testkit::gallery::{self, ELSEWHERE, HOST};
use testkit::{Gate, Reply, Request, Server, Site};

use super::unpack::{css_links, kept, links};
use crate::support::browser::{Answer, Browser};
use crate::support::foreign_warc::gzip;
use crate::support::pages::{NONE, html, page, prose};
use crate::support::{Crawl, Running};

const SITE: &str = "site.test";

/// A replay of a crawl, and the beginning of the addresses of its captures.
struct Replay {
    browser: Browser,
    captures: String,
    _serving: Running,
}

impl Replay {
    /// Serves a crawl, and looks at a URL as a user does.
    fn of(crawl: &Crawl, url: &str) -> Self {
        let mut serving = crawl.start_command(&["serve", "crawl"]);
        let browser = Browser::at(&mut serving);
        Self::at(browser, serving, url)
    }

    fn at(browser: Browser, serving: Running, url: &str) -> Self {
        let view = browser.get(&format!("/replay?url={url}"));
        let frames = view.frames();
        let captures = frames.last().unwrap().strip_suffix(url);
        Self {
            captures: captures.unwrap_or_else(|| panic!("{frames:?}")).to_owned(),
            browser,
            _serving: serving,
        }
    }

    /// Returns the capture of a URL, after checking that it cannot leave its frame.
    fn get(&self, url: &str) -> Answer {
        let answer = self.browser.get(&format!("{}{url}", self.captures));
        for field in [
            "content-security-policy: default-src 'none'; ",
            "form-action 'none'; sandbox\r\n",
            "referrer-policy: no-referrer\r\n",
            "x-content-type-options: nosniff\r\n",
        ] {
            assert!(answer.head.contains(field), "{field}: {}", answer.head);
        }
        answer
    }
}

/// Crawls a site from `/`, with what its pages need.
fn crawl_of(server: &Server, more: &[&str]) -> Crawl {
    let crawl = Crawl::of(server, &[SITE]).seeds(&[server.url(SITE, "/")]);
    crawl
        .with(&["--page-requisites=any", "--tries=1"])
        .with(more)
}

/// Returns the URLs in a capture, and the target of a redirect.
fn urls_in(answer: &Answer) -> Vec<String> {
    let mut fields = answer.head.lines();
    if let Some(target) = fields.find_map(|field| field.strip_prefix("location: ")) {
        return vec![target.to_owned()];
    }
    if answer.head.contains("content-type: text/css") {
        return css_links(&answer.body);
    }
    match answer.head.contains("content-type: text/html") {
        true => links(&answer.body),
        false => Vec::new(),
    }
}

#[test]
fn everything_that_a_page_needs_is_replayed_without_its_server() {
    let server = Server::spawn_thread(gallery::site());
    let home = server.url(HOST, "/");
    let crawl = Crawl::of(&server, &[HOST, ELSEWHERE])
        .seeds(&[&home])
        .with(&["--concurrency=1", "--page-requisites=any"]);
    crawl.complete();
    drop(server);
    let replay = Replay::of(&crawl, &home);
    let mut reached = BTreeSet::new();
    let mut open = vec![home];
    while let Some(url) = open.pop() {
        let answer = replay.get(&url);
        assert!(!answer.body.contains("<script"), "{url}: {}", answer.body);
        for link in urls_in(&answer) {
            let target = link.strip_prefix(&*replay.captures);
            let target = target.unwrap_or_else(|| panic!("{link} in {url}"));
            let target = target.split('#').next().unwrap().to_owned();
            if reached.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    let replayed = |url: &&String| replay.get(url).status == 200;
    let replayed: BTreeSet<String> = reached.iter().filter(replayed).cloned().collect();
    let is_script = |url: &String| url.ends_with("/app.js");
    let is_named_by_a_drawing = |url: &String| url.ends_with("/plan-part.png");
    let mut missing = kept(&crawl);
    missing.retain(|url| !replayed.contains(url) && !is_script(url) && !is_named_by_a_drawing(url));
    assert_eq!(missing, BTreeSet::new());
    assert!(replayed.len() > 30, "{replayed:?}");
}

/// A site of which each page needs a step of its own.
fn odd_site() -> Site {
    Site::new(|request: &Request| match &*request.target {
        "/" => Reply::html(html(
            "<base href=\"/deep/\"><link rel=stylesheet href=\"../style?v=1&amp;w\">",
            &format!(
                "<p onclick=x()>{}</p><a href=\"page?q=a%20b&amp;token=c\">p</a> <a \
                 href=/moved#top>m</a><a href=/same>s</a><a href=/manual.pdf>d</a><noscript><img \
                 src=/one.png></noscript>",
                prose(1, 150)
            ),
        )),
        "/deep/page?q=a%20b&token=c" => {
            let text = format!("<title>caf\u{e9}</title><p>{}</p>", prose(2, 150));
            let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
            Reply::document("text/html; charset=iso-8859-1", latin)
        }
        "/moved" => Reply::redirect(302, "/target?a=b"),
        "/target?a=b" | "/same" => page(3, NONE),
        "/style?v=1&w" => {
            let css = "body{background:url(one.png)}";
            Reply::document("text/css", gzip(css)).header("Content-Encoding", "gzip")
        }
        "/one.png" => Reply::document("image/png", &b"\x89PNG one"[..]),
        "/manual.pdf" => Reply::document("application/pdf", "%PDF-1.4"),
        _ => Reply::status(404),
    })
}

#[test]
fn content_is_decoded_and_its_links_stay_in_the_archive() {
    let server = Server::spawn_thread(odd_site());
    let url = |path: &str| server.url(SITE, path);
    let crawl = crawl_of(&server, &["--concurrency=1"]);
    crawl.complete();
    let replay = Replay::of(&crawl, &url("/"));
    let link = |path: &str| format!("{}{}", replay.captures, url(path));
    let home = replay.get(&url("/"));
    for part in [
        format!("<a href=\"{}\">p", link("/deep/page?q=a%20b&amp;token=c")),
        format!("<a href=\"{}\">m", link("/moved#top")),
        format!("href=\"{}\"", link("/style?v=1&amp;w")),
        format!("<img src=\"{}\">", link("/one.png")),
    ] {
        assert!(home.body.contains(&part), "{part} in {}", home.body);
    }
    for part in ["onclick", "noscript", "<base href"] {
        assert!(!home.body.contains(part), "{part} in {}", home.body);
    }
    let page = replay.get(&url("/deep/page?q=a%20b&token=c"));
    assert!(page.body.contains("<title>café</title>"), "{page:?}");
    let sheet = replay.get(&url("/style?v=1&w"));
    assert_eq!(
        sheet.body,
        format!("body{{background:url(\"{}\")}}", link("/one.png"))
    );
    let moved = replay.get(&url("/moved"));
    let location = format!("location: {}\r\n", link("/target?a=b"));
    assert!(moved.head.contains(&location), "{moved:?}");
    let manual = replay.get(&url("/manual.pdf"));
    assert!(
        manual.head.contains("content-disposition: attachment"),
        "{manual:?}"
    );
    let view = replay
        .browser
        .get(&format!("/replay?url={}", url("/manual.pdf")));
    assert!(view.body.contains("download>Download</a>"), "{view:?}");
    // The same bytes are archived once, and both URLs show them.
    let same = replay.get(&url("/same"));
    assert_eq!(same.body, replay.get(&url("/target?a=b")).body);
    let absent = replay.get("http://elsewhere.test/a?b");
    assert_eq!(absent.status, 404);
    assert!(
        absent.text().contains("no capture of this URL"),
        "{absent:?}"
    );
}

#[test]
fn a_window_gets_the_view_and_a_film_is_read_in_parts() {
    let server = Server::spawn_thread(odd_site());
    let crawl = crawl_of(&server, &[]);
    crawl.complete();
    let replay = Replay::of(&crawl, &server.url(SITE, "/"));
    let with = |path: &str, field: &str| {
        let target = format!("{}{}", replay.captures, server.url(SITE, path));
        replay.browser.get_with(&target, &[field])
    };
    let window = with("/", "Sec-Fetch-Dest: document");
    assert_eq!(window.status, 303);
    assert!(
        window
            .head
            .contains("location: /replay?url=http%3A%2F%2Fsite.test"),
        "{window:?}"
    );
    let part = with("/one.png", "Range: bytes=1-3");
    assert_eq!((part.status, &*part.body), (206, "PNG"), "{part:?}");
    assert!(part.head.contains("content-range: bytes 1-3/8"), "{part:?}");
    assert_eq!(with("/one.png", "Range: bytes=8-").status, 416);
}

/// Pages whose texts differ in one word.
fn twins() -> Site {
    Site::new(|request: &Request| {
        let twin = |word: &str| {
            html(
                "<title>Twin</title>",
                &format!("<p>{word} {}</p>", prose(5, 400)),
            )
        };
        match request.path() {
            "/" => page(1, &["/one", "/two"]),
            "/one" => Reply::html(twin("one")),
            "/two" => Reply::html(twin("two")),
            _ => Reply::status(404),
        }
    })
}

#[test]
fn a_duplicate_is_shown_next_to_its_original() {
    let server = Server::spawn_thread(twins());
    let (one, two) = (server.url(SITE, "/one"), server.url(SITE, "/two"));
    let dropped = crawl_of(&server, &["--concurrency=1"]);
    dropped.complete();
    assert_eq!(dropped.visit(&two)["verdict"], "near-duplicate");
    let replay = Replay::of(&dropped, &one);
    let view = replay.browser.get(&format!("/replay?url={two}"));
    let shown: Vec<String> = view.frames();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].ends_with(&one), "{shown:?}");
    let text = view.text();
    assert!(
        text.contains("It was not archived, as a duplicate: "),
        "{text}"
    );
    assert!(text.contains("Words that differ"), "{text}");
    let absent = replay.get(&two);
    assert_eq!(absent.status, 404);
    assert_eq!(links(&absent.body), [format!("{}{one}", replay.captures)]);

    let kept = crawl_of(&server, &["--concurrency=1", "--on-duplicate=keep"]);
    kept.complete();
    let replay = Replay::of(&kept, &one);
    let shown = replay.browser.get(&format!("/replay?url={two}")).frames();
    let shown: Vec<&str> = shown
        .iter()
        .map(|frame| &frame[replay.captures.len()..])
        .collect();
    assert_eq!(shown, [&one, &two]);
    assert!(replay.get(&two).body.contains("<p>two "));
}

#[test]
fn a_page_is_replayed_while_the_crawl_still_runs() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(1, &["/held"]),
        "/held" => page(2, NONE).hold(&held),
        _ => Reply::status(404),
    }));
    let crawl = crawl_of(&server, &["--concurrency=1"]);
    let mut running = crawl.start_with(&["--serve"]);
    let browser = Browser::at(&mut running);
    gate.arrivals_blocking(1);
    let url = server.url(SITE, "/");
    browser.wait_for(&format!("/replay?url={url}"), "unique");
    let replay = Replay::at(browser, running, &url);
    assert!(replay.get(&url).body.contains(prose(1, 150).trim()));
    assert_eq!(replay.get(&server.url(SITE, "/held")).status, 404);
    gate.open();
}

/// An archive with several captures of a page shows the one that was nearest.
#[test]
fn a_page_that_was_not_modified_has_the_content_of_its_earlier_capture() {
    let server = Server::spawn_thread(Site::new(|request: &Request| {
        match (request.path(), request.header("if-none-match")) {
            ("/", Some(_)) => Reply::document("", "")
                .without_header("Content-Type")
                .with_status(304)
                .header("ETag", "\"1\""),
            ("/", None) => page(1, NONE).header("ETag", "\"1\""),
            _ => Reply::status(404),
        }
    }));
    let url = server.url(SITE, "/");
    let old = crawl_of(&server, &[]);
    old.complete();
    let earlier = old.out();
    let new = crawl_of(&server, &["--since", earlier.to_str().unwrap()]);
    new.complete();
    let replay = Replay::of(&old, &url);
    assert!(replay.get(&url).body.contains(prose(1, 150).trim()));
    // Its content is in the archive of the earlier crawl only, which is not served here.
    let mut serving = new.start_command(&["serve", "crawl"]);
    let view = Browser::at(&mut serving).get(&format!("/replay?url={url}"));
    assert_eq!(view.frames(), [] as [String; 0]);
}
