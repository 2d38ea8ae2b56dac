//! A crawl that was interrupted goes on where it was.

use std::collections::BTreeSet;

use testkit::{Gate, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{number_of, tree};

const HOST: &str = "tree.test";
const PAGES: u64 = 15;

/// Not one of them.
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

    /// Goes on to the end, which leaves every page archived exactly once.
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
fn an_interrupted_crawl_finishes_what_is_under_way_and_goes_on_later() {
    for page in [0, 1, 6, 14] {
        let held = held(page, &[]);
        let mut running = held.crawl.start();
        held.gate.arrivals_blocking(1);
        running.interrupt();
        running.hear("finishing what is under way");
        held.gate.open();
        let ran = running.end();
        assert_eq!(ran.code, Some(130), "{ran:?}");
        let url = held.server.url(HOST, &format!("/{page}"));
        assert_eq!(
            held.crawl.row(&url)["verdict"],
            "unique",
            "what was under way at {page} is kept"
        );
        held.crawl.is_sound();
        held.goes_on();
        let log = held.server.log();
        for page in 0..PAGES {
            assert_eq!(
                log.count(HOST, &format!("/{page}")),
                1,
                "page {page} was asked for twice"
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
    running.hear("finishing what is under way");
    held.gate.open();
    let summary = running.end().summary();
    assert_eq!(
        (&summary["finished"], &summary["pages"]),
        (&"interrupted".into(), &1.into())
    );
    assert_eq!(held.crawl.tell(&["status", "crawl"]).json()["queued"], 2);
}

#[test]
fn a_second_interrupt_stops_at_once_and_loses_nothing() {
    for page in [0, 2, 9] {
        let held = held(page, &[]);
        let mut running = held.crawl.start();
        held.gate.arrivals_blocking(1);
        running.interrupt();
        running.hear("finishing what is under way");
        running.interrupt();
        // The gate is still closed: it does not wait for the page.
        let ran = running.end();
        assert_eq!(
            (ran.code, &ran.summary()["finished"]),
            (Some(130), &"interrupted".into()),
            "{ran:?}"
        );
        held.crawl.is_sound();
        held.goes_on();
    }
}

#[test]
fn termination_is_as_good_as_an_interrupt() {
    let held = held(3, &[]);
    let mut running = held.crawl.start();
    held.gate.arrivals_blocking(1);
    running.signal("TERM");
    running.hear("finishing what is under way");
    held.gate.open();
    assert_eq!(running.end().code, Some(130));
    held.goes_on();
}

/// A terminal that was closed killed the crawl under way: what was fetched and not settled was
/// fetched again, and the next session took it for a death.
#[test]
fn a_terminal_that_hangs_up_is_as_good_as_an_interrupt() {
    let held = held(3, &[]);
    let mut running = held.crawl.start();
    held.gate.arrivals_blocking(1);
    running.signal("HUP");
    running.hear("finishing what is under way");
    held.gate.open();
    let ran = running.end();
    assert_eq!(
        (ran.code, &ran.summary()["finished"]),
        (Some(130), &"interrupted".into())
    );
    held.crawl.is_sound();
    held.goes_on();
}

/// `nohup` starts programs so.
#[test]
fn a_hangup_that_was_ignored_stays_ignored() {
    let held = held(3, &[]);
    let running = held
        .crawl
        .start_by(&["sh"], "trap '' HUP; exec \"$0\" \"$@\"");
    held.gate.arrivals_blocking(1);
    running.signal("HUP");
    held.gate.open();
    let ran = running.end();
    assert_eq!(
        (ran.code, &ran.summary()["finished"]),
        (Some(0), &"exhausted".into())
    );
}

/// It wrote on into files without names; what it said at the end was "nothing is lost", and of some
/// ends nothing, with code 0.
#[test]
fn a_crawl_whose_directory_is_deleted_says_that_it_is_gone() {
    let lost = "if it was deleted, its pages are lost";
    for (deleted, words) in [
        ("crawl", lost),
        ("crawl/archive", lost),
        (
            "crawl/state",
            "`crawler rebuild crawl` makes it again from the archive",
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
        let ran = running.end();
        let (code, told) = (ran.code, ran.errors.clone());
        assert_eq!(
            (code, &ran.summary()["finished"]),
            (Some(1), &"fault".into()),
            "{ran:?}"
        );
        assert!(
            told.contains(" is gone: somebody deleted or moved it"),
            "{told}"
        );
        assert!(
            told.contains(words) && !told.contains("nothing is lost"),
            "{told}"
        );
    }
}

#[test]
fn a_polite_crawl_is_interrupted_while_it_waits() {
    let gate = Gate::new();
    gate.open();
    let passing = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        tree(number_of(&request.target), PAGES).hold(&passing)
    }));
    // Nobody would wait for the second request.
    let crawl = Crawl::polite(&server, &[HOST], "1h").seeds(&[server.url(HOST, "/0")]);
    let mut running = crawl.start();
    gate.arrivals_blocking(1);
    running.interrupt();
    running.hear("finishing what is under way");
    let ran = running.end();
    assert_eq!((ran.code, server.log().len()), (Some(130), 1), "{ran:?}");
    crawl.is_sound();
}

#[test]
fn a_complete_crawl_that_is_run_again_asks_for_nothing() {
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
