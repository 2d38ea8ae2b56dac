//! A disk with less free space than the user demands: no visit begins, and the crawl waits.
//!
//! No disk has as much room as these tests demand. `crates/crawler/crawl/tests/disk_space.rs`,
//! where disks are small, tests crawls that fill the disk, and crawls that get room again.

use testkit::Server;

use crate::support::Crawl;
use crate::support::pages::tree_site;

const HOST: &str = "tree.test";
const PAGES: u64 = 6;

fn crawl() -> (Server, Crawl) {
    let server = Server::spawn_thread(tree_site(PAGES));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    (server, crawl)
}

#[test]
fn without_a_wait_for_space_a_full_disk_ends_the_crawl_with_the_missing_bytes() {
    let (server, crawl) = crawl();
    let run = crawl.run_with(&["--min-free", "10000PiB", "--wait-for-space", "0s"]);
    assert_eq!(
        (run.code, &run.summary()["finished"]),
        (Some(1), &"fault".into()),
        "{run:?}"
    );
    let lines = run
        .errors
        .lines()
        .filter(|line| !line.contains("interrupt at any time"));
    let lines: Vec<&str> = lines.collect();
    assert!(
        lines[0].starts_with("error: the disk is full: ")
            && lines[0].contains("are needed where crawl/state is"),
        "{run:?}"
    );
    assert!(
        lines[1].starts_with("  help: nothing is lost: free some space") && lines.len() == 2,
        "{run:?}"
    );
    assert!(
        server.log().is_empty(),
        "no page is requested that cannot be stored"
    );

    let summary = crawl.run_with(&["--min-free", "0B"]).summary();
    assert_eq!(
        (&summary["finished"], &summary["pages"]),
        (&"exhausted".into(), &PAGES.into())
    );
    crawl.is_sound();
    assert!(!crawl.out().join("state/reserve").exists());
}

/// Handlers were registered by a task of its own: an interrupt that came between the greeting and
/// that task killed the crawl, which printed no summary.
#[test]
fn an_interrupt_right_after_the_greeting_ends_with_a_summary() {
    let (_server, crawl) = crawl();
    for _ in 0..3 {
        let mut running = crawl.start_with(&["--min-free", "10000PiB"]);
        running.wait_for_line("interrupt at any time");
        running.interrupt();
        let run = running.end();
        assert_eq!(run.summary()["finished"], "interrupted", "{run:?}");
    }
}

#[test]
fn a_crawl_that_waits_for_room_reports_it_and_can_be_interrupted() {
    let (server, crawl) = crawl();
    let mut running = crawl.start_with(&["--min-free", "10000PiB"]);
    running.wait_for_line(
        "No new page is started; free some space, and the crawl continues \
        automatically",
    );
    running.interrupt();
    let run = running.end();
    assert_eq!(
        (run.code, &run.summary()["finished"]),
        (Some(130), &"interrupted".into()),
        "{run:?}"
    );
    assert!(server.log().is_empty());
    let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
    assert!(log.contains("the disk is full: "), "{log}");
    assert_eq!(
        crawl.run_with(&["--min-free", "1MiB"]).summary()["pages"],
        PAGES
    );
}

/// A shell script that crawls on a disk of 32 MiB, fills the disk before the second session, and
/// makes room when `go` says so. The result is copied to where the test can see it.
const ON_A_SMALL_DISK: &str = r#"
    mkdir crawl && mount -t tmpfs -o size=32m tmpfs crawl || exit 77
    mkfifo go
    "$0" "$@" --max-pages 3 --min-free 0B > /dev/null 2>&1 || exit 3
    head -c 64M /dev/zero > crawl/crawl.log.fill
    (read _ < go; rm crawl/crawl.log.fill) > /dev/null 2>&1 &
    "$0" "$@" --max-pages 6 --min-free 0B
    code=$?
    kill $! 2> /dev/null
    cp -r crawl kept
    exit $code
"#;

/// The crawl ended with "cannot find room for the tables", or quarantined its search index as
/// damaged.
#[test]
fn a_crawl_that_starts_on_a_full_disk_waits_for_room_and_continues() {
    let (server, crawl) = crawl();
    let namespace = ["unshare", "-rm", "sh"];
    let may_mount = std::process::Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .status();
    if !may_mount.is_ok_and(|status| status.success()) {
        println!("NOT TESTED: this machine lets nobody mount a small disk in a namespace");
        return;
    }
    let mut running = crawl.start_by(&namespace, ON_A_SMALL_DISK);
    running.wait_for_line(
        "the disk of crawl is full: free some space, and the crawl starts automatically",
    );
    assert_eq!(server.log().pages().count(), 3);
    std::fs::write(crawl.directory().join("go"), "go\n").unwrap();
    let run = running.end();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.summary()["pages"], PAGES, "{run:?}");
    assert!(!run.errors.contains("damaged"), "{run:?}");
    let aside = std::fs::read_dir(crawl.directory().join("kept")).unwrap();
    let names = aside.map(|item| item.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.contains("unusable")));
    assert_eq!(crawl.run_command(&["verify", "kept"]).code, Some(0));
}
