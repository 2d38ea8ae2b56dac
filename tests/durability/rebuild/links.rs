//! URLs that are queued after a rebuild although no page in the archive names them.

use std::fs;

use serde_json::Value;
use testkit::{Reply, Server, Site};

use super::rebuild;
use crate::support::Crawl;
use crate::support::pages::{NONE, page, versioned};

const HOST: &str = "site.test";
const OTHER: &str = "other.test";

fn crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST, OTHER])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--concurrency", "1"])
}

fn lose_state(crawl: &Crawl) {
    fs::remove_dir_all(crawl.out().join("state")).unwrap();
}

/// A crawl of five pages that have not changed since an earlier crawl, interrupted after three
/// requests: the server answers 304 to the first two, and sends the third again.
fn unchanged() -> (Server, Crawl, Crawl) {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => versioned(request, "\"1\"", page(1, &["/a", "/b"])),
        "/a" => versioned(request, "\"2\"", page(2, &["/below-a"])),
        "/b" => page(3, &["/below-b"]),
        "/below-a" => page(4, NONE),
        "/below-b" => page(5, NONE),
        _ => Reply::status(404),
    }));
    let first = crawl(&server);
    assert_eq!(first.complete()["unique"], 5);
    let second = crawl(&server).with(&["--since", first.out().to_str().unwrap()]);
    assert_eq!(second.run_with(&["--max-pages", "3"]).summary()["pages"], 3);
    let statuses: Vec<Value> = second
        .visits()
        .iter()
        .map(|visit| visit["status"].clone())
        .collect();
    assert_eq!(statuses, [304, 304, 200]);
    (server, first, second)
}

/// Such links were followed while crawling; a rebuild lost them, and the crawl ended at its seed.
#[test]
fn links_of_pages_that_are_unchanged_since_an_earlier_crawl_are_rebuilt() {
    let (_server, _first, second) = unchanged();
    let visits = second.visits();
    lose_state(&second);
    let (report, errors) = rebuild(&second);
    assert_eq!(
        (&report["queued"], &report["without_links"]),
        (&2.into(), &0.into()),
        "{errors}"
    );
    assert_eq!(second.visits(), visits);
    let summary = second.run_with(&["--max-pages", "1000"]).summary();
    assert_eq!(summary["exact_duplicates"], 5);
    second.is_sound();
}

#[test]
fn without_the_earlier_crawl_rebuild_counts_the_pages_whose_links_are_lost() {
    for gone in ["archive", ""] {
        let (_server, first, second) = unchanged();
        let visits = second.visits();
        lose_state(&second);
        fs::remove_dir_all(first.out().join(gone)).unwrap();
        let (report, errors) = rebuild(&second);
        assert_eq!(
            (&report["queued"], &report["without_links"]),
            (&0.into(), &3.into()),
            "{errors}"
        );
        assert_eq!(errors.matches("warning: ").count(), 1, "{errors}");
        assert_eq!(second.visits(), visits);
    }
}

/// The archived robots.txt was ignored, and it was not requested again if no page of its host was
/// waiting.
#[test]
fn sitemaps_that_an_archived_robots_txt_names_are_queued_again() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => {
            let at = |host: &str, path: &str| {
                format!("Sitemap: http://{host}:{}{path}\n", request.port.unwrap())
            };
            Reply::text(
                [
                    at(HOST, "/map.txt"),
                    at(OTHER, "/theirs.txt"),
                    at(HOST, "/closed.txt"),
                ]
                .concat(),
            )
        }
        "/map.txt" => Reply::text(format!("http://{HOST}:{}/hidden\n", request.port.unwrap())),
        "/theirs.txt" => Reply::text(format!("http://{HOST}:{}/secret\n", request.port.unwrap())),
        "/" => page(1, NONE),
        "/hidden" => page(2, NONE),
        "/secret" => page(3, NONE),
        _ => Reply::status(404),
    }));
    let crawl = crawl(&server).with(&["--exclude", "/closed"]);
    // This crawl visited none of them.
    assert_eq!(crawl.run_with(&["--sitemaps", "off"]).summary()["pages"], 1);
    let as_run = crawl.out().join("crawler.toml");
    let settings = fs::read_to_string(&as_run).unwrap();
    fs::write(
        &as_run,
        settings.replace("sitemaps = \"off\"", "sitemaps = \"on\""),
    )
    .unwrap();
    let url = |path: &str| server.url(HOST, path);
    assert_eq!(crawl.verdicts().into_keys().collect::<Vec<_>>(), [url("/")]);
    lose_state(&crawl);
    let (report, errors) = rebuild(&crawl);
    assert_eq!(report["queued"], 2, "{errors}");
    crawl.is_sound();

    crawl.complete();
    let mut found = crawl.visits();
    found.retain(|visit| visit["status"] == 200);
    let mut found: Vec<(&str, &Value, &Value)> = found
        .iter()
        .map(|visit| {
            (
                visit["url"].as_str().unwrap(),
                &visit["via"],
                &visit["depth"],
            )
        })
        .collect();
    found.sort_by_key(|(url, ..)| *url);
    let (robots, map, theirs) = (
        url("/robots.txt"),
        url("/map.txt"),
        server.url(OTHER, "/theirs.txt"),
    );
    assert_eq!(
        found,
        [
            (theirs.as_str(), &robots.clone().into(), &0.into()),
            (&url("/"), &Value::Null, &0.into()),
            (&url("/hidden"), &map.clone().into(), &1.into()),
            (&map, &robots.into(), &0.into()),
            (&url("/secret"), &theirs.clone().into(), &1.into()),
        ]
    );
    crawl.is_sound();
}
