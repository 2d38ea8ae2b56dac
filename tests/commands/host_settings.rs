//! `[host."NAME"]`: settings of single hosts.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use testkit::{Server, Site};

use crate::support::Crawl;
use crate::support::pages::tree_site;

const OWN: &str = "own.test";
const OTHER: &str = "www.other.test";

/// Returns a crawl of two hosts, with this settings file.
fn crawl(server: &Server, file: &str) -> Crawl {
    let crawl = Crawl::of(server, &[OWN, OTHER])
        .seeds(&[server.url(OWN, "/0"), server.url(OTHER, "/0")])
        .with(&["--config", "hosts.toml"]);
    crawl.write("hosts.toml", file);
    crawl
}

/// Returns the times between the arrivals of requests to a host.
fn gaps(server: &Server, host: &str) -> Vec<Duration> {
    let log = server.log();
    let times: Vec<Duration> = log.of(host).map(|hit| hit.at).collect();
    times.windows(2).map(|two| two[1] - two[0]).collect()
}

#[test]
fn a_host_has_its_own_delay_and_number_of_pages_and_the_others_have_the_common_ones() {
    let server = Server::spawn_thread(tree_site(5));
    let file = "[host.\"own.test\"]\ndelay = \"120ms\"\n\n[host.\"*.other.test\"]\nmax-pages = 2\n";
    let crawl = crawl(&server, file);
    let summary = crawl.complete();
    assert_eq!(summary["pages"], 7, "{summary}");
    let of_own = gaps(&server, OWN);
    assert_eq!(of_own.len(), 5, "five pages and robots.txt");
    assert!(
        of_own.iter().all(|gap| *gap >= Duration::from_millis(120)),
        "{of_own:?}"
    );
    // `verify` knows that the delay of one host is longer, and `status` shows it.
    crawl.is_sound();
    let hosts = crawl.run_command(&["status", "crawl", "--hosts", "--format", "json"]);
    let line = hosts
        .output
        .lines()
        .find(|line| line.contains(OWN))
        .unwrap();
    assert!(line.contains("\"delay\":0.12"), "{line}");
    // The crawl keeps the tables, so that it can be continued without the file.
    let kept = std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    assert!(
        kept.contains("[host.\"own.test\"]\ndelay = \"120ms\"\n"),
        "{kept}"
    );
    assert!(
        kept.contains("[host.\"*.other.test\"]\nmax-pages = 2\n"),
        "{kept}"
    );
}

#[test]
fn a_host_that_allows_it_is_asked_for_several_pages_at_a_time() {
    let server = Server::spawn_thread(Site::new(|request| {
        let number = crate::support::pages::number_of(&request.target);
        crate::support::pages::tree(number, 3).delay(Duration::from_millis(200))
    }));
    let crawl = crawl(&server, "[host.\"own.test\"]\nconcurrency = 2\n")
        .with(&["--concurrency-per-host", "1"]);
    assert_eq!(crawl.complete()["pages"], 6);
    let log = server.log();
    assert_eq!((log.max_parallel(OWN), log.max_parallel(OTHER)), (2, 1));
}

#[test]
fn header_fields_of_a_host_are_sent_to_it_alone_and_kept_nowhere() {
    let server = Server::spawn_thread(tree_site(2));
    let file = "[host.\"own.test\"]\nheaders = [\"X-Key: hidden-one\", \"@more.txt\"]\n";
    let crawl = crawl(&server, file);
    crawl.write("more.txt", "# a comment\nX-More: hidden-two\n");
    crawl.complete();
    let wire = |host: &str| {
        let log = server.log();
        let hits = log
            .of(host)
            .map(|hit| String::from_utf8_lossy(&hit.request_head).into_owned());
        hits.collect::<String>().to_lowercase()
    };
    assert!(wire(OWN).contains("x-key: hidden-one\r\n"), "{}", wire(OWN));
    assert!(wire(OWN).contains("x-more: hidden-two\r\n"));
    assert!(!wire(OTHER).contains("hidden"));
    let shown = crawl.run_command(&["config", "hosts.toml", "--explain", "host"]);
    assert!(!shown.output.contains("hidden"), "{shown:?}");
    for name in ["crawler.toml", "crawl.log"] {
        let text = std::fs::read_to_string(crawl.out().join(name)).unwrap();
        assert!(!text.contains("hidden"), "{name}: {text}");
    }
    let archive = std::fs::read_dir(crawl.out().join("archive")).unwrap();
    let paths = archive.map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.extension().is_some_and(|end| end == "gz")) {
        let mut text = String::new();
        let mut unpacked = MultiGzDecoder::new(File::open(path).unwrap());
        unpacked.read_to_string(&mut text).unwrap();
        assert!(text.contains("x-key: [not kept]\r\n"), "{text}");
        assert!(!text.contains("hidden"), "{text}");
    }
    // The copy in the crawl has no fields, so a run without the file is warned.
    let run = crawl.run_command(&["--out", "crawl", "--allow-private"]);
    assert!(run.errors.contains("was run with --config"), "{run:?}");
}

#[test]
fn mistakes_in_a_table_are_refused_with_their_line() {
    let server = Server::spawn_thread(tree_site(1));
    for (file, words) in [
        (
            "tries = 2\n[host.\"own.test\"]\ndealy = \"1s\"\n",
            "at line 3: there is no setting \"dealy\" in [host.\"own.test\"]",
        ),
        (
            "[host.\"own.test\"]\ndelay = 5\n",
            "at line 2, column 9: 5 must be written \"5s\"",
        ),
        ("[host.\"own.test\"]\nconcurrency = 0\n", "at line 2"),
        (
            "[host.\"own.test\"]\nmain-selector = \"p:has(a)\"\n",
            "at line 2",
        ),
        (
            "[host.\"own.test\"]\nheaders = \"Cookie: hidden\"\n",
            "cookie cannot be set this way",
        ),
        (
            "[host.\"http://own.test/\"]\ndelay = \"1s\"\n",
            "is not a host",
        ),
    ] {
        let run = crawl(&server, file).run();
        run.assert_error(2, words);
        assert!(!run.errors.contains("hidden"), "{run:?}");
    }
    assert_eq!(server.log().len(), 0);
}

#[test]
fn config_shows_the_tables_and_explains_them() {
    let crawl = Crawl::bare();
    crawl.write(
        "hosts.toml",
        "[host.\"own.test\"]\ndelay = \"2s\"\nheaders = \"X-Key: hidden\"\n",
    );
    let table = crawl.run_command(&["config", "hosts.toml", "--format", "table"]);
    let shown = "host = { \"own.test\" = { delay = \"2s\" } }";
    assert!(table.output.contains(shown), "{table:?}");
    let explained = crawl.run_command(&["config", "hosts.toml", "--explain", "host"]);
    assert_eq!(explained.code, Some(0), "{explained:?}");
    assert!(
        explained.output.contains("most specific table"),
        "{explained:?}"
    );
    assert!(explained.output.contains("hosts.toml"), "{explained:?}");
}
