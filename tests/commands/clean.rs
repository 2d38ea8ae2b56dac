//! `crawler clean`, and the leftovers that `status` lists.

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

/// A crawl with leftover files and with cut visits.
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

/// Returns each leftover that a command lists: its path, its bytes, and true if it was removed.
fn leftovers(crawl: &Crawl, arguments: &[&str]) -> Vec<(String, u64, bool)> {
    let lines = crawl.json_lines(&[&["clean", "crawl", "--format", "json"], arguments].concat());
    let lines = lines.iter().map(|line| {
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
fn leftovers_are_listed_with_their_size_and_removed_except_cut_visits() {
    let (_server, crawl) = littered();
    let status = crawl
        .run_command(&["status", "crawl", "--format", "json"])
        .json();
    let mut named: Vec<&str> = Vec::new();
    for item in status["leftovers"].as_array().unwrap() {
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
    assert_eq!(leftovers(&crawl, &["--dry-run"]), all(false));
    assert!([OLD, TABLES].iter().all(|path| is_there(&crawl, path)));
    assert_eq!(leftovers(&crawl, &[]), all(true));
    assert!(![OLD, TABLES].iter().any(|path| is_there(&crawl, path)));
    assert!(
        CUT.iter().all(|path| is_there(&crawl, path)),
        "only on request"
    );

    let run = crawl.run_command(&["clean", "crawl", "--cut", "--format", "table"]);
    assert!(
        run.output.contains("removed") && run.output.contains("2 items, 1000 B"),
        "{run:?}"
    );
    assert!(!CUT.iter().any(|path| is_there(&crawl, path)));
    let run = crawl.run_command(&["clean", "crawl", "--format", "table"]);
    assert_eq!(run.output, "no leftover files\n");
    crawl.is_sound();
}

#[test]
fn a_crawl_that_is_open_is_not_cleaned() {
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
        crawl.run_command(arguments).assert_error(2, "is in use");
    }
    assert!(is_there(&crawl, OLD));
    gate.open();
    assert_eq!(running.end().summary()["pages"], 3);
    crawl
        .run_command(&["clean", "elsewhere"])
        .assert_error(2, "does not exist");
}

/// A killed `crawler index` leaves the old index or the new one, and no unreferenced file.
#[test]
fn a_truncated_index_is_listed_and_removed() {
    let (_server, crawl) = littered();
    let index = crate::support::cdxj::index_of(&crawl);
    std::fs::write(crawl.out().join("archive/index/000077.cdxj"), "half a r").unwrap();
    let names: Vec<String> = leftovers(&crawl, &["--dry-run"])
        .into_iter()
        .map(|(path, ..)| path)
        .collect();
    assert!(
        names.iter().any(|name| name == "archive/index/000077.cdxj"),
        "{names:?}"
    );
    assert_eq!(crawl.run_command(&["index", "crawl"]).code, Some(0));
    assert!(!is_there(&crawl, "archive/index/000077.cdxj"));
    assert!(index == crate::support::cdxj::index_of(&crawl));
}
