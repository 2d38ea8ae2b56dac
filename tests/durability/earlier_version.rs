//! Crawls that an earlier version made: they open, verify, export, rebuild and continue.
//!
//! `golden/crawls-of-616778c.tar.gz` holds two crawls made by commit 616778c, the last one before
//! the project's types and files were renamed, with the exports that commit printed:
//!
//! - `default`: the toy web, ended by `--max-pages 40`, with exact and near duplicates left out.
//! - `kept`: one article with print views that call it canonical, `--per-cluster 2`; its archive
//!   says the rank in the cluster and what matched in prose only (`legacy_reason.rs` reads it).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use testkit::{Fate, Proxy, Server, ToyWeb};

use crate::support::{Crawl, KEY};

const CRAWLS: &[u8] = include_bytes!("../golden/crawls-of-616778c.tar.gz");

/// Unpacks the crawl of this name into its own directory.
fn unpacked(name: &str) -> Crawl {
    let crawl = Crawl::bare();
    let mut crawls = tar::Archive::new(GzDecoder::new(CRAWLS));
    for entry in crawls.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if let Ok(path) = path.strip_prefix(name) {
            entry.unpack(crawl.directory().join(path)).unwrap();
        }
    }
    crawl
}

/// Asserts that the exports equal, byte for byte, what the earlier version printed; the columns
/// that were appended since stand behind its last one.
fn exports_as_before(crawl: &Crawl) {
    for (command, file) in [
        (
            &["export", "crawl", "--format", "jsonl"][..],
            "visits.jsonl",
        ),
        (
            &["export", "crawl", "--links", "--format", "jsonl"],
            "links.jsonl",
        ),
        (
            &["duplicates", "crawl", "--format", "json"],
            "duplicates.jsonl",
        ),
        (&["skipped", "crawl", "--format", "json"], "skipped.jsonl"),
    ] {
        let expected = fs::read_to_string(crawl.directory().join(file)).unwrap();
        // Reasons are for people: one link was "1 links".
        let expected = expected.replace(" 1 links ", " 1 link ");
        let run = crawl.run_command(command);
        let printed = match file {
            "visits.jsonl" => run.output.lines().map(without_new_columns).collect(),
            _ => run.output.clone(),
        };
        assert_eq!((run.code, &printed), (Some(0), &expected), "{command:?}");
    }
}

/// Returns a line of visits without the columns that the earlier version did not have.
fn without_new_columns(line: &str) -> String {
    let (earlier, new) = line
        .split_once(",\"kind\":\"page\",\"canonical\":")
        .unwrap();
    // A journal of format 7 knows nothing of the other new columns.
    let unknown = "\"duration_ms\":null,\"words\":null,\"redirects\":0,\"digest\":null,\
                   \"relevance\":null,\"truncated\":null,\"language_confidence\":null}";
    assert!(new.ends_with(unknown), "{line}");
    format!("{earlier}}}\n")
}

/// The lines of the CDXJ index.
fn index(directory: &Path) -> Vec<u8> {
    fs::read(directory.join("archive/index.cdxj")).unwrap()
}

/// Returns visit records without what a journal of format 7 lacks, and without the language, which
/// the earlier version did not find in every text. Fields whose precision differs between archive
/// and journal are rounded.
fn rounded(mut rows: Vec<Value>) -> Vec<Value> {
    for row in &mut rows {
        if let Some(resemblance) = row["resemblance"].as_f64() {
            row["resemblance"] = format!("{resemblance:.4}").into();
        }
        for detail in [
            "duration_ms",
            "words",
            "redirects",
            "digest",
            "language",
            "language_confidence",
        ] {
            row[detail].take();
        }
    }
    rows
}

#[test]
fn a_crawl_of_an_earlier_version_verifies_and_exports_the_same_bytes() {
    for name in ["default", "kept"] {
        let crawl = unpacked(name);
        crawl.is_sound();
        exports_as_before(&crawl);
    }
}

/// Its words have no parts: verify compared it, and took it for a damaged one.
#[test]
fn the_search_index_of_an_earlier_version_is_no_damage_and_reindex_makes_it_again() {
    let crawl = unpacked("default");
    let old = crawl.run_command(&["verify", "crawl", "--format", "table"]);
    assert!(old.output.contains("`crawler reindex`"), "{old:?}");
    let search = crawl.run_command(&["search", "crawl", "harbour"]);
    assert_eq!(search.code, Some(1), "{search:?}");
    assert!(search.errors.contains("has another format"), "{search:?}");
    assert!(
        search.errors.contains("`crawler reindex crawl`"),
        "{search:?}"
    );
    assert_eq!(crawl.run_command(&["reindex", "crawl"]).code, Some(0));
    crawl.is_sound();
    let new = crawl.run_command(&["verify", "crawl", "--format", "table"]);
    assert!(!new.output.contains("`crawler reindex`"), "{new:?}");
    let search = crawl.run_command(&["search", "crawl", "harbour"]);
    assert_eq!(search.code, Some(0), "{search:?}");
}

#[test]
fn the_index_of_an_earlier_version_is_rebuilt_byte_for_byte() {
    let crawl = unpacked("default");
    let before = index(&crawl.out());
    assert_eq!(crawl.run_command(&["index", "crawl"]).code, Some(0));
    assert_eq!(index(&crawl.out()), before);
}

#[test]
fn the_state_of_an_earlier_version_is_rebuilt_from_its_journal_and_from_its_archive() {
    for name in ["default", "kept"] {
        for from in [&[][..], &["--from-archive", "--hash-key", KEY]] {
            let crawl = unpacked(name);
            let expected = crawl.rows();
            let run = crawl.run_command(&[&["rebuild", "crawl"], from].concat());
            assert_eq!(run.code, Some(0), "{run:?}");
            assert_eq!(rounded(crawl.rows()), rounded(expected), "{name} {from:?}");
            crawl.is_sound();
        }
    }
}

#[test]
fn a_crawl_of_an_earlier_version_continues_to_its_end() {
    let toy = ToyWeb::new();
    let server = Server::spawn_thread(toy.site());
    let proxy = Proxy::before(server.address(), None);
    let crawl = unpacked("default");
    let before = crawl.rows();
    let run = crawl.run_command(&[
        "crawl",
        "--out=crawl",
        "--summary=json",
        "--max-pages=100000",
        &format!("--proxy=http://{}", proxy.address()),
    ]);
    assert_eq!(run.summary()["finished"], "exhausted", "{run:?}");
    crawl.is_sound();
    let after = crawl.rows();
    assert_eq!(after[..before.len()], before[..]);
    let of = |column: &str| -> BTreeSet<&str> {
        after
            .iter()
            .filter_map(|row| row[column].as_str())
            .collect()
    };
    assert_eq!(of("url").len(), after.len(), "no page is visited twice");
    for truth in toy
        .truth()
        .iter()
        .filter(|truth| truth.fate == Fate::Unique)
    {
        let url = format!("http://{}", truth.page);
        let url = url.as_str();
        assert!(
            of("url").contains(url) || of("final_url").contains(url),
            "{url} is not visited"
        );
    }
}
