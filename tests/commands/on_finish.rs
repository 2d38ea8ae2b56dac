//! `--on-finish`: a command after the crawl.

use serde_json::Value;
use testkit::Server;

use crate::support::Crawl;
use crate::support::pages::tree_site;

const HOST: &str = "tree.test";

fn tree(pages: u64) -> (Server, Crawl) {
    let server = Server::spawn_thread(tree_site(pages));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    (server, crawl)
}

#[test]
fn the_command_has_the_summary_and_the_crawl_that_is_closed() {
    let (_server, crawl) = tree(3);
    let binary = env!("CARGO_BIN_EXE_crawler");
    let command = format!("cat > summary.json; {binary} verify \"$CRAWL_DIR\" && echo sound");
    let run = crawl.run_with(&["--on-finish", &command]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary: Value =
        serde_json::from_slice(&std::fs::read(crawl.directory().join("summary.json")).unwrap())
            .unwrap();
    assert_eq!(summary, run.summary());
    assert_eq!(
        (&summary["finished"], &summary["pages"]),
        (&"exhausted".into(), &3.into())
    );
    assert!(run.errors.contains("sound\n"), "{run:?}");
    assert!(
        run.errors.contains("--on-finish ended with code 0"),
        "{run:?}"
    );
    // Standard output has the summary alone.
    assert_eq!(run.output.lines().count(), 1);
}

#[test]
fn a_command_that_fails_is_a_warning_and_the_code_stays_that_of_the_crawl() {
    let (_server, crawl) = tree(2);
    for (command, words) in [
        ("exit 7", "--on-finish failed with code 7"),
        ("kill -9 $$", "--on-finish was ended by a signal"),
        ("no-such-command-at-all", "--on-finish failed with code 127"),
    ] {
        let run = crawl.run_with(&["--on-finish", command]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.errors.contains(words), "{run:?}");
    }
}

#[test]
fn it_runs_after_a_limit_and_no_crawl_keeps_it() {
    let (_server, crawl) = tree(9);
    let run = crawl.run_with(&["--max-pages", "2", "--on-finish", "cat > one.json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let one = std::fs::read_to_string(crawl.directory().join("one.json")).unwrap();
    assert!(one.contains("\"finished\":\"max-pages\""), "{one}");
    let kept = std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    assert!(
        !kept.contains("on-finish") && !kept.contains("one.json"),
        "{kept}"
    );
    crawl.write("my.toml", "on-finish = \"true\"\n");
    crawl
        .run_with(&["--config", "my.toml"])
        .assert_error(2, "there is no setting \"on-finish\"");
}
