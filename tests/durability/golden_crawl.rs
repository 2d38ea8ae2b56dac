//! Crawls that are kept in the repository: they open, verify, export, rebuild and continue.
//!
//! `golden/crawls.tar.gz` holds two crawls, with the exports that were printed when they were made.
//! A change of a format makes them anew, and says so in its commit:
//! `UPDATE_GOLDEN=1 cargo test -p crawler --test crawler -- golden_crawl`.
//!
//! - `default`: the toy web, ended by `--max-pages 40`, with exact and near duplicates left out.
//! - `kept`: one article with print views that call it canonical, `--per-cluster 2`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use testkit::{Fate, Proxy, Reply, Server, Site, ToyWeb};

use crate::support::pages::{BEHIND_COPIES, prose};
use crate::support::{Crawl, KEY};

const HOST: &str = "site.test";

/// The name of the archive, in `golden`.
const CRAWLS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../tests/golden/crawls.tar.gz"
);

/// The exports of a crawl, and the files that they are in.
const EXPORTS: [(&[&str], &str); 4] = [
    (&["export", "crawl", "--format", "jsonl"], "visits.jsonl"),
    (
        &["export", "crawl", "--links", "--format", "jsonl"],
        "links.jsonl",
    ),
    (
        &["duplicates", "crawl", "--format", "json"],
        "duplicates.jsonl",
    ),
    (&["skipped", "crawl", "--format", "json"], "skipped.jsonl"),
];

/// Unpacks the crawl of this name into its own directory.
fn unpacked(name: &str) -> Crawl {
    let crawl = Crawl::bare();
    let mut crawls = tar::Archive::new(GzDecoder::new(golden()));
    for entry in crawls.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if let Ok(path) = path.strip_prefix(name) {
            entry.unpack(crawl.directory().join(path)).unwrap();
        }
    }
    crawl
}

/// Returns the bytes of the archive, which is made anew with `UPDATE_GOLDEN`.
fn golden() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(CRAWLS, made()).unwrap();
        }
        fs::read(CRAWLS).unwrap()
    });
    &BYTES
}

/// Makes the crawls, with the exports that this version prints.
fn made() -> Vec<u8> {
    let toy = ToyWeb::new();
    let of_toy = ["--max-pages=40", "--exclude", BEHIND_COPIES];
    let default = crawled(toy.site(), &toy.hosts(), &toy.seeds(80), &of_toy);
    let (hosts, seeds) = ([HOST.to_owned()], [format!("http://{HOST}/article")]);
    let kept = crawled(print_views(), &hosts, &seeds, &["--per-cluster=2"]);
    let packer = GzEncoder::new(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(packer);
    for (name, crawl) in [("default", default), ("kept", kept)] {
        for (command, file) in EXPORTS {
            crawl.write(file, crawl.run_command(command).output);
        }
        archive.append_dir_all(name, crawl.directory()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

/// Crawls a site through a proxy, so that its URLs have no port of this run.
fn crawled(site: Site, hosts: &[String], seeds: &[String], more: &[&str]) -> Crawl {
    let server = Server::spawn_thread(site);
    let proxy = Proxy::before(server.address(), None);
    let crawl = Crawl::bare()
        .seeds(seeds)
        .with(&["--contact=tests@example.org", "--summary=json"])
        .with(&["--delay=0", "--delay-factor=0", "--hash-key", KEY])
        .with(&[format!("--proxy=http://{}", proxy.address())])
        .with(more);
    let rules = hosts
        .iter()
        .map(|host| format!("--resolve={host}:80:93.184.216.34"));
    let crawl = crawl.with(&rules.collect::<Vec<_>>());
    crawl.complete();
    crawl
}

/// An article of 240 words, its copy with another last word, and print views with a notice before
/// it; all call the article their canonical page.
fn print_views() -> Site {
    Site::new(|request| {
        let texts = match request.path() {
            "/article" => vec![prose(1, 240)],
            "/copy" => vec![prose(1, 240), "behind".to_owned()],
            "/print" => vec![prose(3, 70), prose(1, 240)],
            "/print2" => vec![prose(5, 70), prose(1, 240)],
            "/other" => vec![prose(9, 240)],
            _ => return Reply::status(404),
        };
        let links =
            ["/print", "/copy", "/print2", "/other"].map(|path| format!("<a href={path}>p</a>"));
        Reply::html(format!(
            "<link rel=canonical href=http://{HOST}/article><p>{}</p><p>{}</p>",
            texts.join("</p><p>"),
            links.concat()
        ))
    })
}

/// Asserts that the exports equal, byte for byte, those that were printed when it was made.
fn exports_as_before(crawl: &Crawl) {
    for (command, file) in EXPORTS {
        let expected = fs::read_to_string(crawl.directory().join(file)).unwrap();
        let run = crawl.run_command(command);
        assert_eq!((run.code, &run.output), (Some(0), &expected), "{command:?}");
    }
}

/// The lines of the CDXJ index.
fn index(directory: &Path) -> Vec<u8> {
    fs::read(directory.join("archive/index.cdxj")).unwrap()
}

/// Returns visit records without fields that archive and journal have in different precision.
fn rounded(mut visits: Vec<Value>) -> Vec<Value> {
    for visit in &mut visits {
        if let Some(resemblance) = visit["resemblance"].as_f64() {
            visit["resemblance"] = format!("{resemblance:.4}").into();
        }
        visit["duration_ms"].take();
    }
    visits
}

#[test]
fn a_golden_crawl_verifies_and_exports_the_same_bytes() {
    for name in ["default", "kept"] {
        let crawl = unpacked(name);
        crawl.is_sound();
        exports_as_before(&crawl);
    }
}

#[test]
fn a_journal_of_another_format_is_made_again_from_the_archive() {
    let crawl = unpacked("default");
    let expected = crawl.visits();
    let journal = crawl.out().join("state/journal/00000000000000000000.log");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[8] = 12;
    fs::write(journal, bytes).unwrap();
    let remedy = "`crawler rebuild crawl --from-archive`";
    for command in [
        &["status", "crawl"][..],
        &["verify", "crawl"],
        &["--out=crawl"],
    ] {
        let refused = crawl.run_command(command);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.errors.contains(remedy), "{refused:?}");
    }
    let rebuild = ["rebuild", "crawl", "--from-archive", "--hash-key", KEY];
    assert_eq!(crawl.run_command(&rebuild).code, Some(0));
    assert_eq!(rounded(crawl.visits()), rounded(expected));
}

/// An index of another format was compared by verify, and taken for a damaged one.
#[test]
fn a_search_index_of_another_format_is_no_damage_and_reindex_makes_it_again() {
    let crawl = unpacked("default");
    let meta = crawl.out().join("search/meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    let other = text.replace("crawl-search 2 ", "crawl-search 1 ");
    assert_ne!(other, text);
    fs::write(meta, other).unwrap();
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
fn the_index_of_a_golden_crawl_is_rebuilt_byte_for_byte() {
    let crawl = unpacked("default");
    let before = index(&crawl.out());
    assert_eq!(crawl.run_command(&["index", "crawl"]).code, Some(0));
    assert_eq!(index(&crawl.out()), before);
}

#[test]
fn the_state_of_a_golden_crawl_is_rebuilt_from_its_journal_and_from_its_archive() {
    for name in ["default", "kept"] {
        for from in [&[][..], &["--from-archive", "--hash-key", KEY]] {
            let crawl = unpacked(name);
            let expected = crawl.visits();
            let run = crawl.run_command(&[&["rebuild", "crawl"], from].concat());
            assert_eq!(run.code, Some(0), "{run:?}");
            assert_eq!(
                rounded(crawl.visits()),
                rounded(expected),
                "{name} {from:?}"
            );
            crawl.is_sound();
        }
    }
}

#[test]
fn a_golden_crawl_continues_to_its_end() {
    let toy = ToyWeb::new();
    let server = Server::spawn_thread(toy.site());
    let proxy = Proxy::before(server.address(), None);
    let crawl = unpacked("default");
    let before = crawl.visits();
    let run = crawl.run_command(&[
        "crawl",
        "--out=crawl",
        "--summary=json",
        "--max-pages=100000",
        &format!("--proxy=http://{}", proxy.address()),
    ]);
    assert_eq!(run.summary()["finished"], "exhausted", "{run:?}");
    crawl.is_sound();
    let after = crawl.visits();
    assert_eq!(after[..before.len()], before[..]);
    let of = |column: &str| -> BTreeSet<&str> {
        after
            .iter()
            .filter_map(|visit| visit[column].as_str())
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
