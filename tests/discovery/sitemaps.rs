//! Sitemaps and feeds: pages that only they list are crawled, and nothing is requested too often.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use testkit::{Gate, Reply, Server, Site};

use crate::support::pages::{NONE, page};
use crate::support::{Crawl, KEY};

const HOST: &str = "site.test";
const OTHER: &str = "other.test";
const THIRD: &str = "third.test";

fn xml(body: impl Into<String>) -> Reply {
    Reply::document("application/xml", body.into())
}

fn urlset(entries: &[(&str, Option<&str>)]) -> String {
    let entries: String = entries
        .iter()
        .map(|(loc, lastmod)| {
            let lastmod =
                lastmod.map_or(String::new(), |date| format!("<lastmod>{date}</lastmod>"));
            format!("<url><loc>{loc}</loc>{lastmod}</url>")
        })
        .collect();
    format!("<?xml version=\"1.0\"?>\n<urlset>{entries}</urlset>")
}

fn undated(locs: &[&str]) -> String {
    let entries: Vec<_> = locs.iter().map(|loc| (*loc, None)).collect();
    urlset(&entries)
}

fn index(locs: &[&str]) -> String {
    let entries: String = locs
        .iter()
        .map(|loc| format!("<sitemap><loc>{loc}</loc></sitemap>"))
        .collect();
    format!("<?xml version=\"1.0\"?>\n<sitemapindex>{entries}</sitemapindex>")
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(body).unwrap();
    packed.finish().unwrap()
}

/// A robots.txt that names these, on whatever port the server has.
fn naming(sitemaps: &'static [&'static str]) -> impl Fn(u16) -> Reply + Send + Sync {
    move |port| {
        let lines: String = sitemaps
            .iter()
            .map(|sitemap| {
                format!(
                    "Sitemap: http://{}\n",
                    sitemap.replacen('/', &format!(":{port}/"), 1)
                )
            })
            .collect();
        Reply::text(format!("User-agent: *\nDisallow: /closed\n{lines}"))
    }
}

/// Pages without links, each with a text of its own.
fn leaf(path: &str) -> Reply {
    let number = path.bytes().fold(7_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    page(number, NONE)
}

/// A site whose robots.txt names `sitemaps` and where `answer` says what else there is; other pages
/// are leaves.
fn site(
    sitemaps: &'static [&'static str],
    answer: impl Fn(&str, &str) -> Option<Reply> + Send + Sync + 'static,
) -> (Server, Crawl) {
    let robots = naming(sitemaps);
    let server = Server::spawn_thread(Site::new(move |request| {
        let path = request.path();
        if path == "/robots.txt" && request.host == HOST {
            return robots(request.port.unwrap());
        }
        if path == "/robots.txt" || path.starts_with("/none") {
            return Reply::status(404);
        }
        answer(&request.host, path).unwrap_or_else(|| leaf(path))
    }));
    let crawl = Crawl::of(&server, &[HOST, OTHER, THIRD]).seeds(&[server.url(HOST, "/")]);
    (server, crawl)
}

/// Returns the requests in alphabetical order: a URL that was requested twice is there twice.
fn asked_at(server: &Server, host: &str) -> Vec<String> {
    let log = server.log();
    let mut targets: Vec<String> = log.targets(host).into_iter().map(str::to_owned).collect();
    targets.sort();
    targets
}

fn asked(server: &Server) -> Vec<String> {
    asked_at(server, HOST)
}

/// An index of packed sitemaps cost 1 GiB of memory and 562 MB of state in ten seconds, because
/// each of its sitemaps was read before any page of the host.
#[test]
fn a_further_sitemap_is_read_after_the_pages_of_the_earlier_ones() {
    const SITEMAPS: [&str; 7] = ["/m1", "/m2", "/m3", "/m4", "/m5", "/m6", "/m7"];
    let (server, crawl) = site(&["site.test/index.xml"], |_, path| match path {
        "/index.xml" => Some(xml(index(&SITEMAPS))),
        _ if path.starts_with("/m") => {
            let pages: Vec<String> = (0..5).map(|page| format!("/of{path}-{page}")).collect();
            let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
            Some(xml(undated(&pages)))
        }
        _ => None,
    });
    let summary = crawl.with(&["--concurrency-per-host", "1"]).complete();
    assert_eq!(summary["pages"], 1 + 1 + 7 + 7 * 5, "no page is lost");
    let log = server.log();
    let asked = log.targets(HOST);
    let place = |path: &str| asked.iter().position(|target| *target == path).unwrap();
    for pair in SITEMAPS.windows(2) {
        let last = format!("/of{}-4", pair[0]);
        assert!(place(&last) < place(pair[1]), "{asked:?}");
    }
}

/// Google's extensions for pictures and films name parts of the listed page, not pages.
#[test]
fn pictures_and_films_of_a_sitemap_are_requisites() {
    const SITEMAP: &str = "<urlset><url><loc>/listed</loc>\
        <image:image><image:loc>/i.jpg</image:loc></image:image>\
        <video:video><video:thumbnail_loc>/t.jpg</video:thumbnail_loc>\
        <video:content_loc>/v.mp4</video:content_loc><video:player_loc>/player</video:player_loc>\
        </video:video></url></urlset>";
    const PARTS: [&str; 3] = ["/i.jpg", "/t.jpg", "/v.mp4"];
    for (options, requisites) in [(&[][..], 0), (&["--page-requisites"], PARTS.len())] {
        let (server, crawl) = site(&["site.test/map.xml"], |_, path| match path {
            "/map.xml" => Some(xml(SITEMAP)),
            "/favicon.ico" => Some(Reply::status(404)),
            _ if PARTS.contains(&path) => Some(Reply::document("image/jpeg", path.to_owned())),
            _ => None,
        });
        let summary = crawl.with(options).complete();
        assert_eq!(
            summary["pages"], 3,
            "the seed, the sitemap and a page: {summary}"
        );
        let asked = asked(&server);
        let parts = asked
            .iter()
            .filter(|target| PARTS.contains(&target.as_str()));
        assert_eq!(parts.count(), requisites, "{asked:?}");
        assert!(!asked.contains(&"/player".to_owned()), "{asked:?}");
    }
}

#[test]
fn pages_that_only_a_compressed_sitemap_in_an_index_lists_are_crawled() {
    let (server, crawl) = site(&["site.test/index.xml"], |_, path| match path {
        "/index.xml" => Some(xml(index(&["/maps/one.xml.gz", "/maps/two.xml"]))),
        "/maps/one.xml.gz" => Some(Reply::document(
            "application/gzip",
            gzip(undated(&["/a", "/b"]).as_bytes()),
        )),
        // Like servers that do not support sitemaps.
        "/maps/two.xml" => Some(Reply::html(undated(&["/c", "/closed/d"]))),
        _ => None,
    });
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["excluded"], &summary["failed"]),
        (&7.into(), &1.into(), &0.into())
    );
    assert_eq!(
        asked(&server),
        [
            "/",
            "/a",
            "/b",
            "/c",
            "/index.xml",
            "/maps/one.xml.gz",
            "/maps/two.xml",
            "/robots.txt"
        ]
    );
    let url = |path: &str| server.url(HOST, path);
    for (path, via, depth) in [
        ("/index.xml", "/robots.txt", 0),
        ("/maps/one.xml.gz", "/index.xml", 0),
        ("/a", "/maps/one.xml.gz", 1),
        ("/c", "/maps/two.xml", 1),
        ("/closed/d", "/maps/two.xml", 1),
    ] {
        let visit = crawl.visit(&url(path));
        assert_eq!(
            (&visit["via"], &visit["depth"]),
            (&url(via).into(), &depth.into()),
            "{path}"
        );
    }
    let why = crawl.run_command(&["why", "crawl", &url("/a")]);
    assert!(why.output.contains("/maps/one.xml.gz"), "{why:?}");
    crawl.has_exactly_once(
        &[
            "/",
            "/a",
            "/b",
            "/c",
            "/index.xml",
            "/maps/one.xml.gz",
            "/maps/two.xml",
        ]
        .map(url)
        .into(),
    );
}

#[test]
fn a_text_sitemap_is_read_and_other_text_with_urls_is_not() {
    let server = Server::spawn_thread(Site::new(|request| {
        let url = |path: &str| format!("http://{HOST}:{}{path}", request.port.unwrap());
        match request.path() {
            "/robots.txt" => Reply::text(format!("Sitemap: {}\n", url("/urls.txt"))),
            "/urls.txt" => Reply::text(format!("{}\r\n{}\r\n", url("/a"), url("/b"))),
            "/notes.txt" => Reply::text(format!(
                "We have moved from\n{}\nto\n{}\n",
                url("/no"),
                url("/neither")
            )),
            path => leaf(path),
        }
    }));
    let seeds = ["/", "/notes.txt"].map(|path| server.url(HOST, path));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&seeds);
    crawl.complete();
    assert_eq!(
        asked(&server),
        ["/", "/a", "/b", "/notes.txt", "/robots.txt", "/urls.txt"]
    );
}

#[test]
fn entries_with_dates_out_of_the_range_are_not_queued() {
    let entries = || {
        urlset(&[
            ("/2022", Some("2022")),
            ("/may", Some("2023-05")),
            ("/june-1", Some("2023-06-01")),
            ("/june-30", Some("2023-06-30T23:59:59Z")),
            ("/july", Some("2023-07-01T00:00:00+00:00")),
            ("/year", Some("2023")),
            ("/undated", None),
            ("/odd", Some("last week")),
        ])
    };
    let all = [
        "2022", "july", "june-1", "june-30", "may", "odd", "undated", "year",
    ];
    for (options, left) in [
        (&[] as &[&str], &[] as &[&str]),
        (&["--sitemap-from", "2023-06"], &["2022", "may"]),
        (&["--sitemap-to", "2023-06"], &["july"]),
        (
            &["--sitemap-from=2023-06", "--sitemap-to=2023-06"],
            &["2022", "july", "may"],
        ),
        (
            &["--sitemap-from=2023-06-30T23:59:59Z"],
            &["2022", "june-1", "may"],
        ),
    ] {
        let (server, crawl) = site(&["site.test/map.xml"], move |_, path| {
            (path == "/map.xml").then(|| xml(entries()))
        });
        let crawl = crawl.with(options);
        crawl.complete();
        let expected: BTreeSet<String> = all
            .iter()
            .filter(|path| !left.contains(path))
            .map(|path| format!("/{path}"))
            .collect();
        let mut found: BTreeSet<String> = asked(&server).into_iter().collect();
        for beside in ["/", "/map.xml", "/robots.txt"] {
            assert!(found.remove(beside), "{options:?}");
        }
        assert_eq!(found, expected, "{options:?}");
    }
}

#[test]
fn a_sitemap_that_is_older_than_the_range_is_not_requested() {
    let (server, crawl) = site(&["site.test/index.xml"], |_, path| match path {
        "/index.xml" => Some(xml(
            "<sitemapindex><sitemap><loc>/old.xml</loc><lastmod>2020-01-01</lastmod></sitemap>\
             <sitemap><loc>/new.xml</loc><lastmod>2024-01-01</lastmod></sitemap></sitemapindex>",
        )),
        "/old.xml" => Some(xml(undated(&["/o"]))),
        "/new.xml" => Some(xml(urlset(&[("/n", Some("2022-01-01"))]))),
        _ => None,
    });
    // After the range: what is in it may be older.
    crawl
        .with(&["--sitemap-from=2021", "--sitemap-to=2023"])
        .complete();
    assert_eq!(
        asked(&server),
        ["/", "/index.xml", "/n", "/new.xml", "/robots.txt"]
    );
}

#[test]
fn an_impossible_range_or_date_is_refused() {
    for (options, culprit) in [
        (["--sitemap-from=2024", "--sitemap-to=2023"], "--sitemap-to"),
        (["--sitemap-from=2023", "--sitemap-to=soon"], "soon"),
        (["--sitemaps=maybe", "--feeds=on"], "maybe"),
    ] {
        let run = Crawl::bare()
            .with(&["http://site.test/"])
            .run_with(&options);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.errors.contains(culprit), "{run:?}");
    }
}

#[test]
fn sitemaps_are_not_read_if_they_are_off_or_the_depth_is_0() {
    for options in [&["--sitemaps", "off"], &["--max-depth", "0"]] {
        let (server, crawl) = site(&["site.test/map.xml"], |_, path| {
            (path == "/map.xml").then(|| xml(undated(&["/a"])))
        });
        crawl.with(options).complete();
        assert_eq!(asked(&server), ["/", "/robots.txt"], "{options:?}");
    }
    // A page may link to a sitemap: if sitemaps are off, it is a file like any other.
    for (switch, more) in [("off", &[] as &[&str]), ("on", &["/a"])] {
        let (server, crawl) = site(&[], |_, path| match path {
            "/" => Some(page(1, &["/map.xml"])),
            "/map.xml" => Some(xml(undated(&["/a"]))),
            _ => None,
        });
        crawl.with(&["--sitemaps", switch]).complete();
        assert_eq!(
            asked(&server),
            [&["/"], more, &["/map.xml", "/robots.txt"]].concat()
        );
    }
}

#[test]
fn the_usual_path_is_guessed_only_on_request_and_if_robots_txt_names_no_sitemap() {
    let answer = |_: &str, path: &str| (path == "/sitemap.xml").then(|| xml(undated(&["/a"])));
    let (server, crawl) = site(&[], answer);
    crawl.complete();
    assert_eq!(asked(&server), ["/", "/robots.txt"]);

    let (server, crawl) = site(&[], answer);
    crawl.with(&["--sitemaps", "guess"]).complete();
    assert_eq!(asked(&server), ["/", "/a", "/robots.txt", "/sitemap.xml"]);

    let (server, crawl) = site(&["site.test/map.xml"], answer);
    crawl.with(&["--sitemaps", "guess"]).complete();
    assert_eq!(asked(&server), ["/", "/map.xml", "/robots.txt"]);
}

#[test]
fn a_sitemap_outside_the_prefix_is_read_for_entries_inside_it() {
    let (server, _) = site(&["site.test/map.xml"], |_, path| match path {
        "/map.xml" => Some(Reply::redirect(301, "/real/map.xml")),
        "/real/map.xml" => Some(xml(index(&["/real/part.xml"]))),
        "/real/part.xml" => Some(xml(undated(&["/docs/a", "/blog/b"]))),
        _ => None,
    });
    let crawl = Crawl::of(&server, &[HOST])
        .with(&["--scope", "prefix"])
        .seeds(&[server.url(HOST, "/docs/")]);
    crawl.complete();
    assert_eq!(
        asked(&server),
        [
            "/docs/",
            "/docs/a",
            "/map.xml",
            "/real/map.xml",
            "/real/part.xml",
            "/robots.txt"
        ]
    );
    crawl.is_sound();

    let excluded = Crawl::of(&server, &[HOST])
        .with(&["--scope", "prefix", "--exclude", "map"])
        .seeds(&[server.url(HOST, "/docs/")]);
    assert_eq!(excluded.complete()["pages"], 1);
}

#[test]
fn a_sitemap_may_lie_on_another_host_that_gets_no_other_request() {
    let server = Server::spawn_thread(Site::new(|request| {
        let port = request.port.unwrap();
        match (&*request.host, request.path()) {
            (HOST, "/robots.txt") => Reply::text(format!(
                "Sitemap: http://{OTHER}:{port}/site.xml\nSitemap: \
                 http://{OTHER}:{port}/closed.xml\n"
            )),
            (OTHER, "/robots.txt") => Reply::text(format!(
                "Sitemap: http://{THIRD}:{port}/third.xml\nUser-agent: *\nDisallow: /closed\n"
            )),
            (OTHER, "/site.xml") => {
                xml(undated(&[&format!("http://{HOST}:{port}/a"), "/on-other"]))
            }
            (_, path) => leaf(path),
        }
    }));
    let crawl = Crawl::of(&server, &[HOST, OTHER, THIRD]).seeds(&[server.url(HOST, "/")]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["excluded"]),
        (&3.into(), &1.into())
    );
    assert_eq!(asked(&server), ["/", "/a", "/robots.txt"]);
    assert_eq!(asked_at(&server, OTHER), ["/robots.txt", "/site.xml"]);
    assert_eq!(asked_at(&server, THIRD), [""; 0]);
    crawl.is_sound();
}

#[test]
fn a_sitemap_that_moves_to_another_host_does_not_widen_the_scope() {
    let server = Server::spawn_thread(Site::new(|request| {
        let port = request.port.unwrap();
        match (&*request.host, request.path()) {
            (HOST, "/robots.txt") => {
                Reply::text(format!("Sitemap: http://{HOST}:{port}/map.xml\n"))
            }
            (HOST, "/map.xml") => Reply::redirect(302, format!("http://{OTHER}:{port}/map.xml")),
            (HOST, "/") => page(1, &[format!("http://{OTHER}:{port}/x")]),
            (_, path) => leaf(path),
        }
    }));
    let crawl = Crawl::of(&server, &[HOST, OTHER]).seeds(&[server.url(HOST, "/")]);
    assert_eq!(crawl.complete()["excluded"], 1);
    assert_eq!(asked_at(&server, OTHER), [""; 0]);
}

#[test]
fn entries_before_the_error_of_a_broken_sitemap_are_queued() {
    let whole = undated(&["/a", "/b", "/c"]);
    let cut = whole.find("<loc>/c").unwrap() + "<loc>/".len();
    let (server, crawl) = site(
        &[
            "site.test/cut.xml",
            "site.test/short.xml",
            "site.test/cut.xml.gz",
            "site.test/none.xml",
        ],
        move |_, path| match path {
            "/cut.xml" => Some(xml(&whole[..cut])),
            "/short.xml" => Some(xml(undated(&["/d", "/e"])).close_after(60)),
            "/cut.xml.gz" => {
                // Decompressed up to the error.
                let mut stored = GzEncoder::new(Vec::new(), Compression::none());
                stored.write_all(undated(&["/f", "/g"]).as_bytes()).unwrap();
                let packed = stored.finish().unwrap();
                Some(Reply::document(
                    "application/gzip",
                    packed[..packed.len() - 40].to_vec(),
                ))
            }
            _ => None,
        },
    );
    let crawl = crawl.with(&["--tries", "1"]);
    crawl.complete();
    let asked = asked(&server);
    for (path, times) in [
        ("/a", 1),
        ("/b", 1),
        ("/", 1),
        ("/f", 1),
        ("/g", 0),
        ("/none.xml", 1),
    ] {
        assert_eq!(
            asked.iter().filter(|target| *target == path).count(),
            times,
            "{path} in {asked:?}"
        );
    }
    assert!(!asked.iter().any(|target| target == "/c"), "{asked:?}");
    crawl.is_sound();
}

#[test]
fn sitemap_bombs_are_bounded_and_the_crawl_continues() {
    // More than any sitemap may have, and it begins like one.
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed
        .write_all(undated(&["/a"]).trim_end_matches("</urlset>").as_bytes())
        .unwrap();
    let blank = vec![b' '; 1 << 20];
    for _ in 0..128 {
        packed.write_all(&blank).unwrap();
    }
    let bomb = packed.finish().unwrap();
    let laughs: String = (1..=9)
        .map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10)))
        .collect();
    let laughs = format!(
        "<!DOCTYPE urlset [<!ENTITY l0 \"/lol\">{laughs}<!ENTITY x SYSTEM \"http://{OTHER}/x\">]>\
         <urlset><url><loc>/&l9;</loc></url><url><loc>&x;</loc></url>\
         <url><loc>/b</loc></url></urlset>"
    );
    let (server, crawl) = site(
        &[
            "site.test/bomb.xml.gz",
            "site.test/laughs.xml",
            "site.test/deep.xml",
            "site.test/c.xml",
        ],
        move |_, path| match path {
            "/bomb.xml.gz" => Some(Reply::document("application/gzip", bomb.clone())),
            "/laughs.xml" => Some(xml(&*laughs)),
            "/deep.xml" => Some(xml(format!("<urlset>{}", "<url>".repeat(200_000)))),
            "/c.xml" => Some(xml(undated(&["/c"]))),
            _ => None,
        },
    );
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted");
    assert_eq!(
        asked(&server),
        [
            "/",
            "/a",
            "/b",
            "/bomb.xml.gz",
            "/c",
            "/c.xml",
            "/deep.xml",
            "/laughs.xml",
            "/robots.txt"
        ]
    );
    assert_eq!(asked_at(&server, OTHER), [""; 0]);
    crawl.is_sound();
}

#[test]
fn nested_sitemap_indexes_are_bounded() {
    // Each index names the next, and itself.
    let (server, crawl) = site(&["site.test/index/0"], |_, path| {
        let level: u32 = path.strip_prefix("/index/")?.parse().ok()?;
        Some(xml(index(&[
            &format!("/index/{}", level + 1),
            path,
            "/index/0",
        ])))
    });
    crawl.complete();
    assert_eq!(
        asked(&server),
        [
            "/",
            "/index/0",
            "/index/1",
            "/index/2",
            "/index/3",
            "/robots.txt"
        ]
    );
}

#[test]
fn the_sitemaps_of_a_host_are_bounded() {
    let (server, crawl) = site(&["site.test/index"], |_, path| {
        let locs: Vec<String> = (0..1_100).map(|number| format!("/maps/{number}")).collect();
        let locs: Vec<&str> = locs.iter().map(String::as_str).collect();
        match path {
            "/index" => Some(xml(index(&locs))),
            _ if path.starts_with("/maps/") => Some(xml(undated(&["/a"]))),
            _ => None,
        }
    });
    // All of them have one shape, and the same content: a rule of its own stops that sooner.
    crawl.with(&["--traps=off"]).complete();
    // The index itself counts.
    let maps = asked(&server)
        .iter()
        .filter(|target| target.starts_with("/maps/"))
        .count();
    assert_eq!(maps, 999);
}

#[test]
fn over_restarts_and_kills_each_sitemap_is_read_and_its_pages_are_visited_once() {
    for held in ["/", "/index.xml", "/part.xml", "/a"] {
        for kill in [false, true] {
            let gate = Gate::new();
            let at = gate.clone();
            let (server, crawl) = site(&["site.test/index.xml"], move |_, path| {
                let reply = match path {
                    "/index.xml" => xml(index(&["/part.xml"])),
                    "/part.xml" => xml(undated(&["/a", "/b"])),
                    _ => leaf(path),
                };
                Some(if path == held { reply.hold(&at) } else { reply })
            });
            // What was in flight when it was killed is asked for again; what had ended is not.
            let all = ["/", "/a", "/b", "/index.xml", "/part.xml"];
            let ended = match (kill, held) {
                (false, _) => &all[..],
                (true, "/part.xml") => &["/index.xml"],
                (true, "/a") => &["/index.xml", "/part.xml"],
                _ => &[],
            };
            let mut running = crawl.start();
            gate.arrivals_blocking(1);
            if kill {
                // The next request may leave before the journal has the end of the last visit.
                for path in ended {
                    let why = ["why", "crawl", &server.url(HOST, path)];
                    while !crawl.run_command(&why).json()["page"].is_object() {}
                }
                running.kill();
            } else {
                running.interrupt();
                running.wait_for_line("finishing pages in progress");
                gate.open();
                assert_eq!(running.end().code, Some(130));
            }
            gate.open();
            assert_eq!(crawl.complete()["finished"], "exhausted");
            crawl.has_exactly_once(&all.map(|path| server.url(HOST, path)).into());
            assert_eq!(crawl.complete()["finished"], "exhausted");
            let log = server.log();
            for path in ended {
                assert_eq!(
                    log.count(HOST, path),
                    1,
                    "{path}, held at {held}, killed: {kill}"
                );
            }
        }
    }
}

#[test]
fn a_rebuilt_journal_has_the_entries_of_sitemaps() {
    let (server, crawl) = site(&["site.test/index.xml"], |_, path| match path {
        "/index.xml" => Some(xml(index(&["/part.xml"]))),
        "/part.xml" => Some(xml(undated(&["/a", "/b", "/c"]))),
        _ => None,
    });
    // The seed, the index, its part, and one page.
    assert_eq!(crawl.run_with(&["--max-pages", "4"]).summary()["pages"], 4);
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let run = crawl.run_command(&["rebuild", "crawl", "--hash-key", KEY]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = crawl.run_with(&["--max-pages", "100"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let all = ["/", "/a", "/b", "/c", "/index.xml", "/part.xml"];
    crawl.has_exactly_once(&all.map(|path| server.url(HOST, path)).into());
    assert_eq!(server.log().count(HOST, "/index.xml"), 1);
}

/// Returns a feed of each kind that lists `/a` and, if the format allows it, continues at `/next`.
fn feeds() -> Vec<(&'static str, &'static str, String, bool)> {
    let item = "<item><title>t</title><link>/a</link></item>";
    vec![
        (
            "RSS 0.91",
            "application/rss+xml",
            format!("<?xml version='1.0'?><rss version='0.91'><channel>{item}</channel></rss>"),
            false,
        ),
        (
            "RSS 1.0",
            "application/rdf+xml",
            format!(
                "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\
                 <channel/>{item}</rdf:RDF>"
            ),
            false,
        ),
        (
            "RSS 2.0",
            "text/xml",
            format!(
                "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel>\
                 <atom:link rel='next' href='/next'/>{item}</channel></rss>"
            ),
            true,
        ),
        (
            "Atom",
            "application/atom+xml",
            "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='next' href='/next'/>\
             <entry><link href='/a'/></entry></feed>"
                .to_owned(),
            true,
        ),
        (
            "JSON Feed",
            "application/feed+json",
            "{\"version\":\"https://jsonfeed.org/version/1.1\",\"next_url\":\"/next\",\
             \"items\":[{\"url\":\"/a\"}]}"
                .to_owned(),
            true,
        ),
    ]
}

#[test]
fn entries_and_next_pages_of_feeds_are_followed() {
    for (kind, content_type, body, goes_on) in feeds() {
        for switch in ["on", "off"] {
            let (media, feed) = (content_type, body.clone());
            let (server, crawl) = site(&[], move |_, path| match path {
                "/" => Some(page(1, &["/feed"])),
                "/feed" => Some(Reply::document(media, feed.clone())),
                _ => None,
            });
            let crawl = crawl.with(&["--feeds", switch]);
            crawl.complete();
            let mut expected = vec!["/", "/feed", "/robots.txt"];
            if switch == "on" {
                expected.push("/a");
                expected.extend(goes_on.then_some("/next"));
                let visit = crawl.visit(&server.url(HOST, "/a"));
                assert_eq!(
                    (&visit["via"], &visit["depth"]),
                    (&server.url(HOST, "/feed").into(), &2.into())
                );
            }
            expected.sort_unstable();
            assert_eq!(asked(&server), expected, "{kind} {switch}");
        }
    }
}

#[test]
fn entries_of_listings_obey_max_depth() {
    for (depth, expected) in [
        (1, &["/", "/feed", "/robots.txt"][..]),
        (2, &["/", "/a", "/feed", "/robots.txt"]),
    ] {
        let (server, crawl) = site(&[], |_, path| match path {
            "/" => Some(page(1, &["/feed"])),
            "/feed" => Some(xml(
                "<rss><channel><item><link>/a</link></item></channel></rss>",
            )),
            "/a" => Some(page(2, &["/deeper"])),
            _ => None,
        });
        crawl.with(&["--max-depth", &depth.to_string()]).complete();
        assert_eq!(asked(&server), expected);
    }
}
