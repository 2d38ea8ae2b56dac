//! Page requisites: they are fetched with their pages, and counted separately.

use std::collections::BTreeSet;

use serde_json::json;
use testkit::gallery::{
    self, ELSEWHERE, HOST, NEVER_SHOWN, SHOWN_AT_HOME, SHOWN_FROM_ELSEWHERE, SHOWN_IN_ROOMS,
};
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, html, page, prose};

fn serve() -> Server {
    Server::spawn_thread(gallery::site())
}

fn crawl(server: &Server, options: &[&str]) -> Crawl {
    Crawl::of(server, &[HOST, ELSEWHERE])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--concurrency", "1"])
        .with(options)
}

/// Returns the requested targets of a host, except its robots.txt.
fn asked(server: &Server, host: &str) -> BTreeSet<String> {
    let log = server.log();
    let pages = log.pages_of(host).into_iter();
    pages.map(str::to_owned).collect()
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| path.replace(' ', "%20")).collect()
}

fn rooms() -> BTreeSet<String> {
    let mut rooms = set(SHOWN_IN_ROOMS);
    rooms.extend((1..=3).map(|room| format!("/rooms/{room}")));
    rooms.extend((1..=3).map(|room| format!("/img/room-{room}.png")));
    rooms
}

fn home() -> BTreeSet<String> {
    let mut home = set(SHOWN_AT_HOME);
    home.insert("/".to_owned());
    home
}

/// A browser requests these resources, as the author of the site lists them.
#[test]
fn everything_that_a_browser_requests_is_archived() {
    let server = serve();
    let crawl = crawl(&server, &["--page-requisites=any"]);
    let summary = crawl.complete();
    let all: BTreeSet<String> = home().union(&rooms()).cloned().collect();
    assert_eq!(asked(&server, HOST), all);
    assert_eq!(asked(&server, ELSEWHERE), set(SHOWN_FROM_ELSEWHERE));
    assert!(set(NEVER_SHOWN).is_disjoint(&all));

    let count = |name: &str| summary[name].clone();
    assert_eq!(
        [
            "pages",
            "unique",
            "exact_duplicates",
            "failed",
            "excluded",
            "requisites_missing"
        ]
        .map(count),
        [4, 4, 0, 0, 0, 0].map(|count| json!(count)),
        "{summary}"
    );
    // The target of the redirect was reached on the way.
    let requisites = all.len() - 4 - 1 + SHOWN_FROM_ELSEWHERE.len();
    assert_eq!(summary["requisites"], json!(requisites), "{summary}");

    for (host, paths) in [(HOST, all), (ELSEWHERE, set(SHOWN_FROM_ELSEWHERE))] {
        for path in paths {
            let url = server.url(host, &path);
            let records = crawl.records_about(&url);
            let found = records
                .iter()
                .any(|record| matches!(record.kind(), "response" | "revisit"));
            assert!(found, "a replay lacks {url}");
        }
    }
    crawl.is_sound();
}

#[test]
fn the_same_style_sheet_at_another_url_is_a_revisit_with_images_of_its_own() {
    let server = serve();
    let crawl = crawl(&server, &["--page-requisites"]);
    crawl.complete();
    let (one, other) = (
        server.url(HOST, "/a/box.css"),
        server.url(HOST, "/b/box.css"),
    );
    let visit = crawl.visit(&other);
    assert_eq!(
        (&visit["verdict"], &visit["duplicate_of"]),
        (&json!("exact-duplicate"), &json!(one)),
        "{visit}"
    );
    let records = crawl.records_about(&other);
    let revisit = records
        .iter()
        .find(|record| record.kind() == "revisit")
        .unwrap();
    assert_eq!(
        revisit.field("WARC-Refers-To-Target-URI"),
        Some(one.as_str())
    );
    let original = crawl.records_about(&one).remove(0);
    assert_eq!(revisit.field("WARC-Refers-To-Date"), Some(original.date()));
    assert_eq!(
        crawl.visit(&server.url(HOST, "/b/box.png"))["via"],
        json!(other)
    );
}

#[test]
fn a_crawl_of_one_page_archives_its_requisites() {
    for limit in [
        ["--max-pages", "1"],
        ["--max-pages-per-host", "1"],
        ["--max-depth", "0"],
    ] {
        let server = serve();
        let crawl = crawl(&server, &["--page-requisites"]).with(&limit);
        let summary = crawl.complete();
        assert_eq!(asked(&server, HOST), home(), "{limit:?}");
        assert_eq!(asked(&server, ELSEWHERE), BTreeSet::new());
        assert_eq!(summary["pages"], json!(1), "{limit:?}: {summary}");
        let finished = if limit[0] == "--max-pages" {
            "max-pages"
        } else {
            "exhausted"
        };
        assert_eq!(summary["finished"], json!(finished), "{limit:?}");
        let status = crawl
            .run_command(&["status", "crawl", "--format", "json"])
            .json();
        assert_eq!(status["requisites"], summary["requisites"]);
        assert_eq!(status["pages"], json!(1));

        // The crawl is complete, so nothing is requested.
        let before = server.log().len();
        assert_eq!(crawl.complete()["pages"], json!(1), "{limit:?}");
        assert_eq!(server.log().len(), before, "{limit:?}");
        crawl.is_sound();
    }
}

#[test]
fn concurrent_requisites_do_not_exceed_the_page_limit() {
    let server = serve();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--page-requisites", "--max-pages", "2"])
        .with(&["--concurrency-per-host", "4"]);
    let summary = crawl.complete();
    assert_eq!(summary["pages"], json!(2), "{summary}");
    assert!(asked(&server, HOST).is_superset(&home()));
    let rooms = asked(&server, HOST);
    let rooms: Vec<&String> = rooms
        .iter()
        .filter(|path| path.starts_with("/rooms/"))
        .collect();
    assert_eq!(rooms.len(), 1);
    let picture = rooms[0].replace("/rooms/", "/img/room-") + ".png";
    assert!(
        asked(&server, HOST).contains(&picture),
        "the last page has all its requisites"
    );
}

#[test]
fn requisites_are_rebuilt_from_the_archive() {
    let server = serve();
    let crawl = crawl(&server, &["--page-requisites", "--max-pages", "2"]);
    let summary = crawl.complete();
    // Another key makes other fingerprints.
    let visits = || {
        let mut visits = crawl.visits();
        for visit in &mut visits {
            visit["fingerprint"].take();
        }
        visits
    };
    let before = visits();
    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive"]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    assert_eq!(visits(), before);
    let status = crawl
        .run_command(&["status", "crawl", "--format", "json"])
        .json();
    for count in ["pages", "unique", "requisites", "requisites_missing"] {
        assert_eq!(status[count], summary[count], "{count}");
    }
}

#[test]
fn unchanged_requisites_of_a_second_crawl_are_revisits() {
    let server = serve();
    let first = crawl(&server, &["--page-requisites=any"]);
    first.complete();
    let second = crawl(
        &server,
        &[
            "--page-requisites=any",
            "--since",
            first.out().to_str().unwrap(),
        ],
    );
    let summary = second.complete();
    assert_eq!(summary["unique"], json!(0), "{summary}");
    for path in home()
        .union(&rooms())
        .filter(|path| !path.contains("/moved"))
    {
        let url = server.url(HOST, path);
        let of = |crawl: &Crawl, kind: &str| {
            let mut records = crawl.records_about(&url).into_iter();
            records.rfind(|record| record.kind() == kind)
        };
        let revisit =
            of(&second, "revisit").unwrap_or_else(|| panic!("{url} has no revisit record"));
        let Some(original) = of(&first, "response") else {
            // It repeated another one in the first crawl already.
            continue;
        };
        let profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
        assert_eq!(revisit.field("WARC-Profile"), Some(profile), "{url}");
        assert_eq!(
            revisit.field("WARC-Refers-To-Target-URI"),
            Some(url.as_str())
        );
        assert_eq!(
            revisit.field("WARC-Refers-To-Date"),
            Some(original.date()),
            "{url}"
        );
        assert_eq!(revisit.payload(), original.payload(), "{url}");
    }
    second.is_sound();
}

#[test]
fn requisites_of_excluded_pages_are_not_fetched() {
    let text = prose(1, 150);
    let one = format!("<p>{text}</p><img src=/one.png><a href=/copy>x</a>");
    let copy = format!("<p>{text}</p><img src=/other.png><a href=/copy>x</a>");
    let server = Server::spawn_thread(Site::pages([
        ("/", Reply::html(html("", &one))),
        ("/copy", Reply::html(html("", &copy))),
        ("/one.png", Reply::document("image/png", "one")),
        ("/other.png", Reply::document("image/png", "other")),
    ]));
    for (policy, more) in [("drop", &[][..]), ("keep", &["/other.png"])] {
        let from = server.log().len();
        let crawl = crawl(&server, &["--page-requisites", "--on-duplicate", policy]);
        crawl.complete();
        let log = server.log();
        let asked: Vec<&str> = log[from..].iter().map(|hit| hit.target.as_str()).collect();
        assert!(
            asked.contains(&"/copy") && asked.contains(&"/one.png"),
            "{asked:?}"
        );
        let others: Vec<&str> = asked
            .into_iter()
            .filter(|path| *path == "/other.png")
            .collect();
        assert_eq!(others, more, "{policy}");
    }
}

#[test]
fn style_sheets_that_import_each_other_without_end_are_bounded() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => Reply::html(html(
            "<link rel=stylesheet href=/sheet-1.css>",
            &format!("<p>{}</p>", prose(1, 150)),
        )),
        "/robots.txt" => Reply::status(404),
        path => {
            let number: u32 = path[7..].trim_end_matches(".css").parse().unwrap();
            Reply::document("text/css", format!("@import '/sheet-{}.css';", number + 1))
        }
    }));
    let crawl = crawl(&server, &["--page-requisites"]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["requisites"]),
        (&json!(1), &json!(8))
    );
}

#[test]
fn a_page_has_at_most_a_thousand_requisites() {
    let pictures: String = (0..1_001)
        .map(|number| format!("<img src=/{number}.png>"))
        .collect();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => {
            let text = format!("<p>{}</p>{pictures}", prose(1, 150));
            Reply::html(html("<link rel=icon href=/0.png>", &text))
        }
        "/robots.txt" => Reply::status(404),
        path => Reply::document("image/png", path.to_owned()),
    }));
    let crawl = crawl(&server, &["--page-requisites"]);
    let summary = crawl.complete();
    assert_eq!(summary["requisites"], json!(1_000), "{summary}");
    let status = crawl
        .run_command(&["status", "crawl", "--format", "json"])
        .json();
    let limit = &status["limits"]["max-requisites-per-page"];
    assert_eq!(*limit, json!({"visits": 1, "lost": 1}));
    let why = crawl.run_command(&["why", "crawl", &server.url(HOST, "/lost.png")]);
    let words = "as a requisite of a page, it may be beyond max-requisites-per-page";
    assert!(why.output.contains(words), "{why:?}");
}

#[test]
fn requisites_that_robots_txt_forbids_are_reported_as_missing() {
    let server = Server::spawn_thread(Site::pages([
        (
            "/robots.txt",
            Reply::text("User-agent: *\nDisallow: /private/\n"),
        ),
        (
            "/",
            page(1, NONE).header(
                "Link",
                "</private/style.css>; rel=stylesheet, </gone.css>; rel=stylesheet",
            ),
        ),
    ]));
    let crawl = crawl(&server, &["--page-requisites", "--tries", "1"]);
    let summary = crawl.complete();
    let count = |name: &str| summary[name].clone();
    assert_eq!(
        [
            "pages",
            "failed",
            "excluded",
            "requisites",
            "requisites_missing"
        ]
        .map(count),
        [1, 0, 0, 0, 2].map(|count| json!(count)),
        "{summary}"
    );
    assert_eq!(
        crawl.visit(&server.url(HOST, "/private/style.css"))["verdict"],
        json!("excluded")
    );
    assert_eq!(
        crawl.visit(&server.url(HOST, "/gone.css"))["verdict"],
        json!("failed")
    );
    assert!(!asked(&server, HOST).contains("/private/style.css"));
}

/// Pictures and styles behind a hotlink guard answered 403 and were missing.
#[test]
fn requisites_are_requested_with_the_page_that_needs_them_as_referer_within_its_site() {
    const HOSTS: [&str; 3] = ["www.site.test", "img.site.test", "other.test"];
    let server = Server::spawn_thread(Site::new(|request| {
        let port = request.port.unwrap();
        match request.path() {
            "/" => {
                let [own, near, other] = HOSTS.map(|host| format!("http://{host}:{port}/1.png"));
                let pictures = [own, near, other].map(|url| format!("<img src='{url}'>"));
                let body = format!("<p>Start</p>{}<a href='/2'>next</a>", pictures.concat());
                Reply::html(html("", &body))
            }
            "/2" => page(2, NONE),
            "/1.png" => Reply::document("image/png", request.host.clone()),
            _ => Reply::status(404),
        }
    }));
    let crawl = Crawl::of(&server, &HOSTS)
        .seeds(&[server.url(HOSTS[0], "/?b&a")])
        .with(&["--page-requisites=any"]);
    assert_eq!(crawl.complete()["requisites"], 3);
    let origin = server.url(HOSTS[0], "");
    let (page, origin) = (format!("{origin}/?a&b"), format!("{origin}/"));
    for (host, target, referer) in [
        (HOSTS[0], "/?b&a", None),
        (HOSTS[0], "/2", None),
        (HOSTS[0], "/1.png", Some(page)),
        (HOSTS[1], "/1.png", Some(origin)),
        (HOSTS[2], "/1.png", None),
    ] {
        let log = server.log();
        let hit = log.of(host).find(|hit| hit.target == target).unwrap();
        let head = String::from_utf8_lossy(&hit.request_head);
        let sent = head.lines().find_map(|line| line.strip_prefix("referer: "));
        assert_eq!(sent, referer.as_deref(), "{host}{target}: {head}");
    }
    crawl.is_sound();
}
