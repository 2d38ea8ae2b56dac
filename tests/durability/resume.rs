//! Resumption: an interrupted crawl continues where it stopped.

use std::collections::BTreeSet;

use testkit::{Gate, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{number_of, tree};

const HOST: &str = "tree.test";
const PAGES: u64 = 15;

/// None of them.
const NO_PAGE: u64 = PAGES;

/// A tree, one page of which is held at a gate, and a crawl of it.
struct Held {
    server: Server,
    crawl: Crawl,
    gate: Gate,
}

fn held(page: u64, options: &[&str]) -> Held {
    let gate = Gate::new();
    let at = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        let number = number_of(&request.target);
        let reply = tree(number, PAGES);
        if number == page {
            reply.hold(&at)
        } else {
            reply
        }
    }));
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(options);
    Held {
        server,
        crawl,
        gate,
    }
}

impl Held {
    fn all(&self) -> BTreeSet<String> {
        (0..PAGES)
            .map(|page| self.server.url(HOST, &format!("/{page}")))
            .collect()
    }

    /// Completes the crawl and asserts that every page is archived exactly once.
    fn goes_on(&self) {
        self.gate.open();
        let summary = self.crawl.complete();
        assert_eq!(
            (&summary["finished"], &summary["pages"]),
            (&"exhausted".into(), &PAGES.into())
        );
        self.crawl.has_exactly_once(&self.all());
    }
}

#[test]
fn an_interrupted_crawl_finishes_active_visits_and_continues_later() {
    for page in [0, 1, 6, 14] {
        let held = held(page, &[]);
        let mut running = held.crawl.start();
        held.gate.arrivals_blocking(1);
        running.interrupt();
        running.wait_for_line("finishing pages in progress");
        held.gate.open();
        let run = running.end();
        assert_eq!(run.code, Some(130), "{run:?}");
        let url = held.server.url(HOST, &format!("/{page}"));
        assert_eq!(
            held.crawl.visit(&url)["verdict"],
            "unique",
            "the page that was active at {page} is kept"
        );
        held.crawl.is_sound();
        held.goes_on();
        let log = held.server.log();
        for page in 0..PAGES {
            assert_eq!(
                log.count(HOST, &format!("/{page}")),
                1,
                "page {page} was requested twice"
            );
        }
    }
}

#[test]
fn an_interrupt_ends_the_leasing() {
    let held = held(0, &[]);
    let mut running = held.crawl.start();
    held.gate.arrivals_blocking(1);
    running.interrupt();
    running.wait_for_line("finishing pages in progress");
    held.gate.open();
    let summary = running.end().summary();
    assert_eq!(
        (&summary["finished"], &summary["pages"]),
        (&"interrupted".into(), &1.into())
    );
    assert_eq!(
        held.crawl.run_command(&["status", "crawl"]).json()["queued"],
        2
    );
}

#[test]
fn a_second_interrupt_stops_at_once_and_loses_nothing() {
    for page in [0, 2, 9] {
        let held = held(page, &[]);
        let mut running = held.crawl.start();
        held.gate.arrivals_blocking(1);
        running.interrupt();
        running.wait_for_line("finishing pages in progress");
        running.interrupt();
        // The gate is still closed: the crawl does not wait for the page.
        let run = running.end();
        assert_eq!(
            (run.code, &run.summary()["finished"]),
            (Some(130), &"interrupted".into()),
            "{run:?}"
        );
        held.crawl.is_sound();
        held.goes_on();
    }
}

#[test]
fn sigterm_is_treated_as_an_interrupt() {
    let held = held(3, &[]);
    let mut running = held.crawl.start();
    held.gate.arrivals_blocking(1);
    running.signal("TERM");
    running.wait_for_line("finishing pages in progress");
    held.gate.open();
    assert_eq!(running.end().code, Some(130));
    held.goes_on();
}

/// A closed terminal killed the crawl: unsettled pages were fetched again, and the next session
/// counted a death.
#[test]
fn sighup_is_treated_as_an_interrupt() {
    let held = held(3, &[]);
    let mut running = held.crawl.start();
    held.gate.arrivals_blocking(1);
    running.signal("HUP");
    running.wait_for_line("finishing pages in progress");
    held.gate.open();
    let run = running.end();
    assert_eq!(
        (run.code, &run.summary()["finished"]),
        (Some(130), &"interrupted".into())
    );
    held.crawl.is_sound();
    held.goes_on();
}

/// `nohup` starts programs with an ignored SIGHUP.
#[test]
fn an_ignored_sighup_stays_ignored() {
    let held = held(3, &[]);
    let running = held
        .crawl
        .start_by(&["sh"], "trap '' HUP; exec \"$0\" \"$@\"");
    held.gate.arrivals_blocking(1);
    running.signal("HUP");
    held.gate.open();
    let run = running.end();
    assert_eq!(
        (run.code, &run.summary()["finished"]),
        (Some(0), &"exhausted".into())
    );
}

/// The crawl kept writing into deleted files; it ended with "nothing is lost", or with no message
/// and code 0.
#[test]
fn a_crawl_whose_directory_is_deleted_ends_with_a_fault() {
    let lost = "if it was deleted, its pages are lost";
    for (deleted, words) in [
        ("crawl", lost),
        ("crawl/archive", lost),
        (
            "crawl/state",
            "rebuild it from the archive with `crawler rebuild crawl`",
        ),
    ] {
        let held = held(3, &[]);
        let running = held.crawl.start();
        held.gate.arrivals_blocking(1);
        // Moved first: the crawl may create a file while the directory is emptied, which failed.
        let moved = held.crawl.directory().join("moved");
        std::fs::rename(held.crawl.directory().join(deleted), &moved).unwrap();
        std::fs::remove_dir_all(&moved).unwrap();
        held.gate.open();
        let run = running.end();
        let (code, errors) = (run.code, run.errors.clone());
        assert_eq!(
            (code, &run.summary()["finished"]),
            (Some(1), &"fault".into()),
            "{run:?}"
        );
        assert!(
            errors.contains(" is missing: it was deleted or moved"),
            "{errors}"
        );
        assert!(
            errors.contains(words) && !errors.contains("nothing is lost"),
            "{errors}"
        );
    }
}

#[test]
fn a_crawl_can_be_interrupted_while_it_waits_for_a_host() {
    let gate = Gate::new();
    gate.open();
    let passing = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        tree(number_of(&request.target), PAGES).hold(&passing)
    }));
    // No test would wait for the second request.
    let crawl = Crawl::polite(&server, &[HOST], "1h").seeds(&[server.url(HOST, "/0")]);
    let mut running = crawl.start();
    gate.arrivals_blocking(1);
    running.interrupt();
    running.wait_for_line("finishing pages in progress");
    let run = running.end();
    assert_eq!((run.code, server.log().len()), (Some(130), 1), "{run:?}");
    crawl.is_sound();
}

#[test]
fn a_complete_crawl_that_is_run_again_sends_no_request() {
    let held = held(NO_PAGE, &[]);
    held.goes_on();
    let before = held.server.log().len();
    held.goes_on();
    assert_eq!(held.server.log().len(), before);
}

#[test]
fn the_summary_counts_the_whole_crawl_and_times_the_session() {
    let held = held(NO_PAGE, &["--max-pages", "10"]);
    let first = held.crawl.complete();
    let again = held.crawl.complete();
    assert_eq!((&first["pages"], &again["pages"]), (&10.into(), &10.into()));
    assert_eq!(again["pages_per_second"], 0.0);
}
