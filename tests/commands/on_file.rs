//! `--on-file`: a command for each file of the archive.

use std::collections::BTreeMap;
use std::fs;

use testkit::{Gate, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{tree, tree_site};

const HOST: &str = "tree.test";

/// A command that appends the path of a file to `list`, and copies the file.
const COPY: &str = "sh -c 'echo \"$1\" >> list && mkdir -p taken && cp \"$1\" taken/' sh";

fn crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--warc-max-size", "2KiB", "--concurrency", "1"])
}

fn tree_crawl(pages: u64) -> (Server, Crawl) {
    let server = Server::spawn_thread(tree_site(pages));
    let crawl = crawl(&server);
    (server, crawl)
}

/// Returns the bytes of the files in a directory, by name.
fn files(directory: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        if sinks::warc::name_of(&path).is_some() {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read(path).unwrap());
        }
    }
    files
}

fn archive(crawl: &Crawl) -> BTreeMap<String, Vec<u8>> {
    files(&crawl.out().join("archive"))
}

fn handed_over(crawl: &Crawl) -> Vec<String> {
    let list = fs::read_to_string(crawl.directory().join("list")).unwrap_or_default();
    let names = list.lines().map(|line| line.rsplit('/').next().unwrap());
    names.map(str::to_owned).collect()
}

#[test]
fn each_file_is_handed_over_once_and_complete() {
    let (_server, crawl) = tree_crawl(9);
    let run = crawl.run_with(&["--on-file", COPY]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let archive = archive(&crawl);
    assert!(archive.len() > 2, "{:?}", archive.keys());
    assert_eq!(
        handed_over(&crawl),
        archive.keys().cloned().collect::<Vec<_>>()
    );
    assert!(files(&crawl.directory().join("taken")) == archive);
    let list = fs::read_to_string(crawl.out().join("handed-over")).unwrap();
    let mut expected = "crawler-handed-over 1\n".to_owned();
    for (name, bytes) in &archive {
        expected.push_str(&format!("{} {name}\n", bytes.len()));
    }
    assert_eq!(list, expected);
    crawl.is_sound();
    // Nothing is new.
    crawl.run_with(&["--on-file", COPY]);
    assert_eq!(handed_over(&crawl).len(), archive.len());
}

#[test]
fn the_path_takes_the_place_of_the_braces_and_no_shell_reads_it() {
    let (_server, crawl) = tree_crawl(2);
    let run = crawl.run_with(&["--on-file", "cp {} '$HOME;taken.warc.gz'"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let taken = fs::read(crawl.directory().join("$HOME;taken.warc.gz")).unwrap();
    assert!(archive(&crawl).values().any(|bytes| *bytes == taken));
}

#[test]
fn a_command_that_fails_is_a_warning_and_its_file_is_handed_over_again() {
    let (_server, crawl) = tree_crawl(2);
    for (command, words) in [
        ("false", "--on-file failed with code 1 for "),
        ("sh -c 'kill -9 $$'", "--on-file was ended by a signal"),
        ("no-such-command-at-all", "--on-file could not be run: "),
    ] {
        let run = crawl.run_with(&["--on-file", command]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.errors.contains(words), "{run:?}");
        assert!(
            run.errors
                .contains("continue the crawl to hand it over again"),
            "{run:?}"
        );
        let name = archive(&crawl).into_keys().next().unwrap();
        assert!(run.errors.contains(&name), "{run:?}");
    }
    let before = archive(&crawl);
    crawl.run_with(&["--on-file", COPY]);
    assert!(files(&crawl.directory().join("taken")) == before);
}

#[test]
fn after_a_kill_each_file_is_handed_over_at_least_once() {
    let gate = Gate::new();
    let at = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        let number: u64 = request.target.trim_start_matches('/').parse().unwrap_or(99);
        match number {
            6 => tree(number, 9).hold(&at),
            _ => tree(number, 9),
        }
    }));
    let crawl = crawl(&server).with(&["--on-file", COPY]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    running.kill();
    gate.open();
    crawl.complete();
    let archive = archive(&crawl);
    let mut names = handed_over(&crawl);
    names.sort();
    names.dedup();
    assert_eq!(names, archive.keys().cloned().collect::<Vec<_>>());
    assert!(files(&crawl.directory().join("taken")) == archive);
    crawl.is_sound();
}

#[test]
fn no_crawl_keeps_the_command_and_a_wrong_one_is_refused_first() {
    let (_server, crawl) = tree_crawl(2);
    for command in ["", "cp 'open"] {
        let run = crawl.run_with(&["--on-file", command]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.errors.contains("open quotation mark"), "{run:?}");
    }
    crawl.run_with(&["--on-file", "true"]);
    let kept = fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    assert!(!kept.contains("on-file"), "{kept}");
    fs::write(crawl.out().join("handed-over"), "something else\n").unwrap();
    crawl
        .run_with(&["--on-file", "true"])
        .assert_error(2, "handed-over: its first line is of another version");
}
