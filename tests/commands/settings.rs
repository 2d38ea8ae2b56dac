//! The sources of settings and seeds.

use testkit::Server;

use crate::support::pages::tree_site;
use crate::support::{Crawl, json_lines};

const HOST: &str = "tree.test";

fn tree(pages: u64) -> (Server, Crawl) {
    let server = Server::spawn_thread(tree_site(pages));
    let crawl = Crawl::of(&server, &[HOST]);
    (server, crawl)
}

#[test]
fn flags_win_over_the_file_and_the_file_over_the_defaults() {
    let (server, crawl) = tree(9);
    crawl.write("my.toml", "max-pages = 2\nmax-depth = 1\n");
    let crawl = crawl
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--config", "my.toml"]);
    assert_eq!(crawl.complete()["pages"], 2);
    let more = crawl.run_with(&["--max-pages", "100"]).summary();
    assert_eq!(
        (&more["finished"], &more["pages"]),
        (&"exhausted".into(), &3.into())
    );
}

#[test]
fn a_crawl_is_continued_by_its_directory() {
    let (server, crawl) = tree(9);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    assert_eq!(crawl.run_with(&["--max-pages", "4"]).summary()["pages"], 4);
    let run = crawl.run_command(&["--out", "crawl", "--max-pages", "100", "--summary", "json"]);
    assert_eq!(run.summary()["pages"], 9, "{run:?}");
    crawl.is_sound();
}

#[test]
fn crawl_is_the_same_as_no_command() {
    let (server, crawl) = tree(2);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let run = crawl.run_command(&["crawl", "--out", "crawl", "--summary", "json"]);
    assert_eq!(
        (run.code, &run.summary()["pages"]),
        (Some(0), &2.into()),
        "{run:?}"
    );
}

#[test]
fn seeds_are_read_from_standard_input() {
    let (server, crawl) = tree(3);
    let crawl = crawl.with(&["--seeds", "-"]);
    let run = crawl.run_with_input(format!("# seeds\n\n{}\n", server.url(HOST, "/0")));
    assert_eq!(run.summary()["pages"], 3, "{run:?}");
}

#[test]
fn seeds_are_read_from_the_command_line() {
    let (server, crawl) = tree(3);
    let crawl = crawl
        .seeds(&[server.url(HOST, "/1")])
        .with(&[server.url(HOST, "/0")]);
    assert_eq!(crawl.complete()["pages"], 3);
}

#[test]
fn an_invalid_seed_is_reported_with_its_line_and_skipped() {
    let (server, crawl) = tree(1);
    let lines = [
        "# good and bad",
        "http://",
        &server.url(HOST, "/0"),
        "",
        "mailto:someone@example.org",
    ];
    let crawl = crawl.seeds(&lines);
    let run = crawl.run();
    assert_eq!(
        (run.code, &run.summary()["pages"]),
        (Some(0), &1.into()),
        "{run:?}"
    );
    assert!(run.errors.contains("seeds.txt, line 2: "), "{run:?}");
    assert!(run.errors.contains("seeds.txt, line 5: "), "{run:?}");
}

#[test]
fn new_seeds_join_a_crawl_that_was_complete() {
    let (server, crawl) = tree(2);
    let crawl = crawl.seeds(&[server.url(HOST, "/1")]);
    assert_eq!(crawl.complete()["pages"], 1);
    assert_eq!(
        crawl.run_with(&[server.url(HOST, "/0")]).summary()["pages"],
        2
    );
    crawl.is_sound();
}

#[test]
fn the_settings_and_a_json_log_are_kept_beside_the_crawl() {
    let (server, crawl) = tree(2);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let settings: toml::Table =
        toml::from_str(&std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap())
            .unwrap();
    assert_eq!(
        settings["url"].as_array().unwrap()[0].as_str(),
        Some(server.url(HOST, "/0").as_str())
    );
    assert_eq!(settings["contact"].as_str(), Some("tests@example.org"));
    let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
    assert_eq!(
        json_lines(&log)
            .iter()
            .filter(|entry| entry["message"] == "visited")
            .count(),
        2
    );
}

#[test]
fn quiet_prints_nothing() {
    let (server, crawl) = tree(2);
    let crawl = crawl
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--quiet", "--ignore-robots"]);
    let run = crawl.run();
    assert_eq!((run.code, run.errors.as_str()), (Some(0), ""));
}

#[test]
fn the_text_summary_lists_the_results_and_the_next_commands() {
    let server = Server::spawn_thread(tree_site(5));
    let crawl = Crawl::bare().seeds(&[server.url(HOST, "/0")]).with(&[
        "--allow-private",
        "--delay=0",
        "--delay-factor=0",
        "--max-pages=3",
        "--resolve",
        &server.resolve(HOST),
    ]);
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.output.starts_with("Stopped at --max-pages 3; "),
        "{run:?}"
    );
    let next = "Continue with a higher limit: crawler --out crawl --max-pages N\n";
    assert!(run.output.ends_with(next), "{run:?}");
    assert!(
        run.output.contains("\n  3 pages from 1 host in "),
        "{run:?}"
    );
    assert!(
        run.output
            .contains("\n  archived            3  in crawl/archive\n"),
        "{run:?}"
    );
    assert!(run.errors.contains("no --contact"), "{run:?}");
}

#[test]
fn the_place_of_the_keys_may_change_between_sessions() {
    let (server, crawl) = tree(4);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    let written = || std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    for (pages, place) in [("1", "disk"), ("2", "memory"), ("3", "disk")] {
        crawl
            .run_with(&["--max-pages", pages, "--signature-index", place])
            .summary();
        assert!(written().contains(&format!("signature-index = \"{place}\"")));
    }
    crawl.is_sound();
}
