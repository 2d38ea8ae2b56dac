//! `crawler clean`, and what `status` says of what is left over.

use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{number_of, tree};

const HOST: &str = "left.test";
const OLD: &str = "state.old-20261122112800";
const TABLES: &str = "state/sled.unusable";
const CUT: [&str; 2] = [
    "archive/a-00000.warc.gz.cut-1",
    "state/journal/00000000000000000000.log.cut-2",
];

/// A crawl that left something over, and had something cut off.
fn littered() -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::new(|request| tree(number_of(&request.target), 3)));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    for directory in [OLD, TABLES] {
        std::fs::create_dir(crawl.out().join(directory)).unwrap();
        std::fs::write(crawl.out().join(directory).join("db"), [0; 1000]).unwrap();
    }
    for cut in CUT {
        std::fs::write(crawl.out().join(cut), [0; 500]).unwrap();
    }
    (server, crawl)
}

/// Returns each left-over that a command lists: its path, its bytes, and true if it was removed.
fn told(crawl: &Crawl, arguments: &[&str]) -> Vec<(String, u64, bool)> {
    let ran = crawl.tell(&[&["clean", "crawl", "--format", "json"], arguments].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines = ran.output.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let path = line["path"].as_str().unwrap().to_owned();
        (
            path,
            line["bytes"].as_u64().unwrap(),
            line["removed"].as_bool().unwrap(),
        )
    });
    lines.collect()
}

fn is_there(crawl: &Crawl, path: &str) -> bool {
    crawl.out().join(path).exists()
}

#[test]
fn what_is_left_over_is_named_with_its_size_and_removed_but_for_what_was_cut_off() {
    let (_server, crawl) = littered();
    let status = crawl.tell(&["status", "crawl", "--format", "json"]).json();
    let mut named: Vec<&str> = Vec::new();
    for item in status["left_over"].as_array().unwrap() {
        named.push(item["path"].as_str().unwrap());
    }
    assert_eq!(named, [OLD, TABLES, CUT[1], CUT[0]]);

    let all = |removed: bool| {
        let items = [(OLD, 1000, removed), (TABLES, 1000, removed)];
        let kept = [(CUT[1], 500, false), (CUT[0], 500, false)];
        let all = items.into_iter().chain(kept);
        all.map(|(path, bytes, removed)| (path.to_owned(), bytes, removed))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&crawl, &["--dry-run"]), all(false));
    assert!([OLD, TABLES].iter().all(|path| is_there(&crawl, path)));
    assert_eq!(told(&crawl, &[]), all(true));
    assert!(![OLD, TABLES].iter().any(|path| is_there(&crawl, path)));
    assert!(
        CUT.iter().all(|path| is_there(&crawl, path)),
        "only where it is asked for"
    );

    let ran = crawl.tell(&["clean", "crawl", "--cut", "--format", "table"]);
    assert!(
        ran.output.contains("removed") && ran.output.contains("2 items, 1000 B"),
        "{ran:?}"
    );
    assert!(!CUT.iter().any(|path| is_there(&crawl, path)));
    let ran = crawl.tell(&["clean", "crawl", "--format", "table"]);
    assert_eq!(ran.output, "nothing is left over\n");
    crawl.is_sound();
}

#[test]
fn a_crawl_that_somebody_has_open_is_not_cleaned() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::text(""),
        target => tree(number_of(target), 3).hold(&held),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    std::fs::create_dir(crawl.out().join(OLD)).unwrap();
    for arguments in [&["clean", "crawl"][..], &["clean", "crawl", "--dry-run"]] {
        crawl.tell(arguments).complained(2, "is in use");
    }
    assert!(is_there(&crawl, OLD));
    gate.open();
    assert_eq!(running.end().summary()["pages"], 3);
    crawl
        .tell(&["clean", "elsewhere"])
        .complained(2, "does not exist");
}

/// A killed `crawler index` leaves the old index or the new one, and no file that nothing refers
/// to.
#[test]
fn an_index_that_was_cut_short_is_named_and_removed() {
    let (_server, crawl) = littered();
    let index = crate::support::cdxj::index_of(&crawl);
    std::fs::write(crawl.out().join("archive/index/000077.cdxj"), "half a r").unwrap();
    let names: Vec<String> = told(&crawl, &["--dry-run"])
        .into_iter()
        .map(|(path, ..)| path)
        .collect();
    assert!(
        names.iter().any(|name| name == "archive/index/000077.cdxj"),
        "{names:?}"
    );
    assert_eq!(crawl.tell(&["index", "crawl"]).code, Some(0));
    assert!(!is_there(&crawl, "archive/index/000077.cdxj"));
    assert!(index == crate::support::cdxj::index_of(&crawl));
}
