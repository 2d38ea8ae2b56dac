//! A fault of our own machinery stops the crawl and loses nothing.

use std::collections::BTreeSet;
use std::process::Command;

use testkit::{Reply, Server, Site};

use crate::support::pages::article;
use crate::support::{Crawl, Ran};

const HOST: &str = "heavy.test";
const PAGES: u64 = 12;

/// Bytes that no compression makes smaller, as letters that no parser stumbles over.
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

/// A chain of pages, each of which takes so much room in the archive.
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

/// One line that says what happened, and one that says what to do.
fn stopped(ran: &Ran) {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let lines: Vec<&str> = ran
        .errors
        .lines()
        .filter(|line| !line.contains("interrupt when you like"))
        .collect();
    assert!(
        lines
            .first()
            .is_some_and(|line| line.starts_with("error: ")),
        "{ran:?}"
    );
    assert!(lines.len() <= 2 && !ran.errors.contains("panic"), "{ran:?}");
}

#[test]
fn a_broken_sink_stops_the_crawl_and_loses_no_url() {
    // Four pages fit into the archive; the tables have room enough.
    let (server, crawl) = heavy(1_300_000);
    let ran = crawl.run_cramped(4 * 2_048);
    stopped(&ran);
    assert!(
        ran.errors.contains("no room to write") && ran.errors.contains(".warc.gz"),
        "{ran:?}"
    );
    let summary = ran.summary();
    assert_eq!(summary["finished"], "fault");
    let pages = summary["pages"].as_u64().unwrap();
    assert!((1..PAGES).contains(&pages), "{summary}");
    crawl.is_sound();

    assert_eq!(crawl.complete()["pages"], PAGES);
    crawl.has_exactly_once(&all(&server));
}

#[test]
fn a_page_that_was_admitted_and_not_archived_is_no_duplicate_of_itself() {
    // The first page is judged, and then there is no room for it.
    let (server, crawl) = chain(|number| if number == 0 { 6_000_000 } else { 100 });
    let ran = crawl.run_cramped(4 * 2_048);
    stopped(&ran);
    assert_eq!(ran.summary()["pages"], 0, "{ran:?}");

    let summary = crawl.complete();
    assert_eq!(
        (&summary["unique"], &summary["exact_duplicates"]),
        (&PAGES.into(), &0.into())
    );
    crawl.has_exactly_once(&all(&server));
}

#[test]
fn a_disk_that_is_full_at_the_start_is_told_in_a_line() {
    let (server, crawl) = heavy(100);
    let ran = crawl.run_cramped(0);
    stopped(&ran);
    assert!(
        server.log().is_empty(),
        "nothing is asked for that cannot be kept"
    );
    assert_eq!(crawl.complete()["pages"], PAGES);
    crawl.has_exactly_once(&all(&server));
}

#[test]
fn a_disk_that_fills_up_at_any_moment_stops_the_crawl_and_loses_nothing() {
    for blocks in [2, 3, 8, 64, 300, 1_000, 1_030, 1_500, 2_048] {
        let (server, crawl) = heavy(150_000);
        stopped(&crawl.run_cramped(blocks));
        let summary = crawl.complete();
        assert_eq!(summary["pages"], PAGES, "after {blocks} blocks");
        crawl.has_exactly_once(&all(&server));
    }
}

#[test]
fn a_disk_with_room_for_the_journal_and_none_for_the_tables_is_told_in_a_line() {
    // The engine below the tables logged eighteen lines about it, or waited for ever for a write
    // that had failed.
    for _again in 0..5 {
        let (server, crawl) = heavy(100);
        stopped(&crawl.run_cramped(1));
        assert!(server.log().is_empty());
        assert_eq!(crawl.complete()["pages"], PAGES);
    }
}

#[test]
fn a_complaint_that_nobody_can_read_is_no_panic() {
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
    // The user finds what was lost, and goes on.
    std::fs::write(&file, whole).unwrap();
    assert_eq!(
        crawl.run_with(&["--max-pages", "100"]).summary()["pages"],
        PAGES
    );
    crawl.is_sound();
}

#[test]
fn a_journal_that_is_damaged_is_not_gone_on_with() {
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
fn a_journal_whose_last_write_was_torn_goes_on_without_it() {
    let (server, crawl) = heavy(100);
    assert_eq!(crawl.run_with(&["--max-pages", "5"]).code, Some(0));
    let journal = std::fs::read_dir(crawl.out().join("state/journal"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let bytes = std::fs::read(&journal).unwrap();
    // The last record tells of the fifth page: it is fetched again, and its place in the archive is
    // taken by what comes.
    std::fs::write(&journal, &bytes[..bytes.len() - 3]).unwrap();
    assert_eq!(
        crawl.run_with(&["--max-pages", "100"]).summary()["pages"],
        PAGES
    );
    crawl.has_exactly_once(&all(&server));
}
