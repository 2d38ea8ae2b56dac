//! A disk with less room than the user wants left: nothing is begun, and the crawl waits.
//!
//! The mark is one that no disk reaches. What becomes of a crawl that meets a full disk on its way, and of one that finds room again,
//! is tested in `crates/crawl/tests/room.rs`, where disks are small.

use testkit::Server;

use crate::pages::tree_site;
use crate::support::Crawl;

const HOST: &str = "tree.test";
const PAGES: u64 = 6;

fn crawl() -> (Server, Crawl) {
    let server = Server::spawn_thread(tree_site(PAGES));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    (server, crawl)
}

#[test]
fn a_crawl_that_is_not_to_wait_for_room_says_what_is_missing_and_ends() {
    let (server, crawl) = crawl();
    let ran = crawl.run_with(&["--min-free", "10000PiB", "--wait-for-room", "0s"]);
    assert_eq!(
        (ran.code, &ran.summary()["finished"]),
        (Some(1), &"fault".into()),
        "{ran:?}"
    );
    let told = ran
        .errors
        .lines()
        .filter(|line| !line.contains("interrupt when you like"));
    let told: Vec<&str> = told.collect();
    assert!(
        told[0].starts_with("error: the disk is full: ")
            && told[0].contains("are needed where crawl/state is"),
        "{ran:?}"
    );
    assert!(
        told[1].starts_with("  help: nothing is lost: make room") && told.len() == 2,
        "{ran:?}"
    );
    assert!(
        server.log().is_empty(),
        "nothing is asked for that cannot be kept"
    );

    let summary = crawl.run_with(&["--min-free", "0B"]).summary();
    assert_eq!(
        (&summary["finished"], &summary["pages"]),
        (&"exhausted".into(), &PAGES.into())
    );
    crawl.is_sound();
    assert!(!crawl.out().join("state/reserve").exists());
}

#[test]
fn a_crawl_that_waits_for_room_says_so_and_is_interrupted_as_usual() {
    let (server, crawl) = crawl();
    let mut running = crawl.start_with(&["--min-free", "10000PiB"]);
    running.hear("Nothing new is begun; make room, and the crawl goes on by itself");
    running.interrupt();
    let ran = running.end();
    assert_eq!(
        (ran.code, &ran.summary()["finished"]),
        (Some(130), &"interrupted".into()),
        "{ran:?}"
    );
    assert!(server.log().is_empty());
    let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
    assert!(log.contains("the disk is full: "), "{log}");
    assert_eq!(crawl.run_with(&["--min-free", "1MiB"]).summary()["pages"], PAGES);
}
