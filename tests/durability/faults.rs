//! A fault of our own machinery stops the crawl and loses nothing.

use std::collections::BTreeSet;
use std::process::Command;

use testkit::{Reply, Server, Site};

use crate::support::pages::article;
use crate::support::{CommandOutput, Crawl};

const HOST: &str = "heavy.test";
const PAGES: u64 = 12;

/// Incompressible bytes, as letters that every parser accepts.
fn ballast(number: u64, length: usize) -> String {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
    let mut state = number + 1;
    let mut letters = String::with_capacity(length);
    for _ in 0..length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        letters.push(char::from(
            LETTERS[usize::try_from(state >> 40 & 63).unwrap()],
        ));
    }
    letters
}

/// A chain of pages, each of this size in the archive.
fn heavy(bytes: usize) -> (Server, Crawl) {
    chain(|_number| bytes)
}

/// A chain of pages that take this much room in the archive, by their numbers.
fn chain(bytes: impl Fn(u64) -> usize) -> (Server, Crawl) {
    let pages = (0..PAGES).map(|number| {
        let next = if number + 1 < PAGES {
            vec![format!("/{}", number + 1)]
        } else {
            Vec::new()
        };
        let content = format!(
            "{}<script>{}</script>",
            article(number, &next),
            ballast(number, bytes(number))
        );
        (format!("/{number}"), Reply::html(content))
    });
    let server = Server::spawn_thread(Site::pages(pages));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    (server, crawl)
}

fn all(server: &Server) -> BTreeSet<String> {
    (0..PAGES)
        .map(|page| server.url(HOST, &format!("/{page}")))
        .collect()
}

/// Asserts one line with the error, and one with the remedy.
fn stopped(run: &CommandOutput) {
    assert_eq!(run.code, Some(1), "{run:?}");
    let lines: Vec<&str> = run
        .errors
        .lines()
        .filter(|line| !line.contains("interrupt at any time"))
        .collect();
    assert!(
        lines
            .first()
            .is_some_and(|line| line.starts_with("error: ")),
        "{run:?}"
    );
    assert!(lines.len() <= 2 && !run.errors.contains("panic"), "{run:?}");
}

#[test]
fn a_failing_sink_stops_the_crawl_and_loses_no_url() {
    // Four pages fit into the archive; the tables have room enough.
    let (server, crawl) = heavy(1_300_000);
    let run = crawl.run_with_file_limit(4 * 2_048);
    stopped(&run);
    assert!(
        run.errors.contains("no space to write") && run.errors.contains(".warc.gz"),
        "{run:?}"
    );
    let summary = run.summary();
    assert_eq!(summary["finished"], "fault");
    let pages = summary["pages"].as_u64().unwrap();
    assert!((1..PAGES).contains(&pages), "{summary}");
    crawl.is_sound();

    assert_eq!(crawl.complete()["pages"], PAGES);
    crawl.has_exactly_once(&all(&server));
}

#[test]
fn a_page_that_was_admitted_but_not_archived_is_no_duplicate_of_itself() {
    // The first page is judged, and then there is no room for it.
    let (server, crawl) = chain(|number| if number == 0 { 6_000_000 } else { 100 });
    let run = crawl.run_with_file_limit(4 * 2_048);
    stopped(&run);
    assert_eq!(run.summary()["pages"], 0, "{run:?}");

    let summary = crawl.complete();
    assert_eq!(
        (&summary["unique"], &summary["exact_duplicates"]),
        (&PAGES.into(), &0.into())
    );
    crawl.has_exactly_once(&all(&server));
}

#[test]
fn a_disk_that_is_full_at_the_start_is_reported_in_one_line() {
    let (server, crawl) = heavy(100);
    let run = crawl.run_with_file_limit(0);
    stopped(&run);
    assert!(
        server.log().is_empty(),
        "no page is requested that cannot be stored"
    );
    assert_eq!(crawl.complete()["pages"], PAGES);
    crawl.has_exactly_once(&all(&server));
}

#[test]
fn a_disk_that_fills_up_at_any_moment_stops_the_crawl_and_loses_nothing() {
    for blocks in [2, 3, 8, 64, 300, 1_000, 1_030, 1_500, 2_048] {
        let (server, crawl) = heavy(150_000);
        stopped(&crawl.run_with_file_limit(blocks));
        let summary = crawl.complete();
        assert_eq!(summary["pages"], PAGES, "after {blocks} blocks");
        crawl.has_exactly_once(&all(&server));
    }
}

#[test]
fn a_disk_with_room_for_the_journal_but_not_for_the_tables_is_reported_in_one_line() {
    // sled logged eighteen lines about it, or waited forever for a write that had failed.
    for _again in 0..5 {
        let (server, crawl) = heavy(100);
        stopped(&crawl.run_with_file_limit(1));
        assert!(server.log().is_empty());
        assert_eq!(crawl.complete()["pages"], PAGES);
    }
}

#[test]
fn an_error_message_to_a_closed_pipe_is_no_panic() {
    let (_server, crawl) = heavy(100);
    for (arguments, code) in [
        ("--seeds seeds.txt --out crawl --max-pages 0", 0),
        ("--seeds missing.txt", 2),
    ] {
        let script = format!(
            "{} {arguments} >/dev/null 2>/dev/full",
            env!("CARGO_BIN_EXE_crawler")
        );
        let status = Command::new("sh")
            .current_dir(crawl.directory())
            .args(["-c", &script])
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code), "{arguments}");
    }
}

#[test]
fn an_archive_that_has_lost_settled_pages_is_not_written_to() {
    let (_server, crawl) = heavy(100);
    assert_eq!(crawl.run_with(&["--max-pages", "5"]).code, Some(0));
    let file = crawl.archive_files().remove(0);
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    stopped(&crawl.run());
    assert_eq!(std::fs::read(&file).unwrap().len(), whole.len() / 2);
    std::fs::remove_file(&file).unwrap();
    stopped(&crawl.run());
    // The user finds the lost file, and continues.
    std::fs::write(&file, whole).unwrap();
    assert_eq!(
        crawl.run_with(&["--max-pages", "100"]).summary()["pages"],
        PAGES
    );
    crawl.is_sound();
}

#[test]
fn a_crawl_with_a_damaged_journal_does_not_continue() {
    let (server, crawl) = heavy(100);
    assert_eq!(crawl.run_with(&["--max-pages", "5"]).code, Some(0));
    let before = server.log().len();
    let journal = std::fs::read_dir(crawl.out().join("state/journal"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = std::fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    std::fs::write(&journal, bytes).unwrap();
    stopped(&crawl.run());
    assert_eq!(server.log().len(), before);
}

#[test]
fn a_journal_whose_last_write_was_torn_continues_without_it() {
    let (server, crawl) = heavy(100);
    assert_eq!(crawl.run_with(&["--max-pages", "5"]).code, Some(0));
    let journal = std::fs::read_dir(crawl.out().join("state/journal"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let bytes = std::fs::read(&journal).unwrap();
    // The last record is about the fifth page: it is fetched again, and its bytes in the archive
    // are overwritten.
    std::fs::write(&journal, &bytes[..bytes.len() - 3]).unwrap();
    assert_eq!(
        crawl.run_with(&["--max-pages", "100"]).summary()["pages"],
        PAGES
    );
    crawl.has_exactly_once(&all(&server));
}
