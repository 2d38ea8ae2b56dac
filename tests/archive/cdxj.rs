//! The index of the archive: written during the crawl, it equals one made from the files, also
//! after kills.

use testkit::{Gate, Server, Site};

use crate::support::Crawl;
use crate::support::cdxj::{index_of, of_files};
use crate::support::pages::{number_of, tree};

const HOST: &str = "tree.test";
const PAGES: u64 = 15;

fn tree_server() -> Server {
    Server::spawn_thread(Site::new(|request| tree(number_of(&request.target), PAGES)))
}

fn tree_crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--warc-max-size=8KiB"])
}

#[test]
fn a_crawl_leaves_the_same_sorted_index_that_its_files_give() {
    let server = tree_server();
    let crawl = tree_crawl(&server);
    crawl.complete();
    let index = index_of(&crawl);
    let lines: Vec<&[u8]> = index.lines().map(str::as_bytes).collect();
    assert!(lines.is_sorted() && lines.len() >= usize::try_from(PAGES).unwrap());
    for page in 0..PAGES {
        let url = format!("\"url\": \"{}\"", server.url(HOST, &format!("/{page}")));
        let found = index.lines().filter(|line| line.contains(&url)).count();
        assert_eq!(found, 1, "page {page}: {index}");
    }
    assert!(index == of_files(&crawl), "the index of the files differs");
    crawl.is_sound();
    assert_eq!(crawl.run_command(&["index", "crawl"]).code, Some(0));
    assert!(index == index_of(&crawl), "the rebuilt index differs");
    let run = crawl.run_command(&["cdxj", "crawl", "--output", "all.cdxj"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let all = std::fs::read_to_string(crawl.directory().join("all.cdxj")).unwrap();
    assert!(index == all, "the index written to a file differs");
}

#[test]
fn a_crawl_that_was_killed_has_the_same_index_as_one_that_was_not() {
    for page in [0, 1, 6, 14] {
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
        let crawl = tree_crawl(&server);
        let running = crawl.start();
        gate.arrivals_blocking(1);
        running.kill();
        crawl.is_sound();
        gate.open();
        crawl.complete();
        crawl.is_sound();
        assert!(
            index_of(&crawl) == of_files(&crawl),
            "killed at page {page}"
        );
    }
}

#[test]
fn verify_names_the_error_of_an_index_and_the_remedy() {
    let server = tree_server();
    let crawl = tree_crawl(&server);
    crawl.complete();
    let path = crawl.out().join("archive/index.cdxj");
    let index = index_of(&crawl);
    let (first, rest) = index.split_once('\n').unwrap();
    let strange = format!(
        "{index}zzz 20260101000000 \
         {{\"offset\": \"1\", \"length\": \"1\", \"filename\": \"no.warc.gz\"}}\n"
    );
    for (damaged, expected) in [
        (Some(rest.to_owned()), format!("missing line: {first}")),
        (Some(strange), "line without a capture: zzz".to_owned()),
        (None, "index.cdxj is missing".to_owned()),
    ] {
        match damaged {
            Some(damaged) => std::fs::write(&path, damaged).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let run = crawl.run_command(&["verify", "crawl", "--format", "table"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.output.contains(&expected), "{expected}: {}", run.output);
        assert!(
            run.output
                .contains("rebuild it from the archive with `crawler index crawl`"),
            "{}",
            run.output
        );
        assert_eq!(crawl.run_command(&["index", "crawl"]).code, Some(0));
        crawl.is_sound();
        assert!(index == index_of(&crawl));
    }
}

#[test]
fn an_index_that_was_switched_off_and_on_again_is_complete() {
    let server = tree_server();
    let crawl = tree_crawl(&server).with(&["--max-pages=5"]);
    let archive = crawl.out().join("archive");
    for (switch, is_there) in [("on", true), ("off", false), ("on", true)] {
        let run = crawl.run_with(&["--cdxj", switch]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(archive.join("index.cdxj").exists(), is_there, "{switch}");
        crawl.is_sound();
    }
    assert!(index_of(&crawl) == of_files(&crawl));
}

#[test]
fn a_file_that_is_no_archive_is_reported_and_the_others_are_indexed() {
    let server = tree_server();
    let crawl = tree_crawl(&server);
    crawl.complete();
    let good = of_files(&crawl);
    crawl.write("bad.warc.gz", "no gzip at all");
    let run = crawl.run_command(&["index", "bad.warc.gz", "crawl", "missing.warc.gz"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.output == good);
    assert!(
        run.errors.contains("bad.warc.gz") && run.errors.contains("missing.warc.gz"),
        "{run:?}"
    );
}
