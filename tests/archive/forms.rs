//! The table of docs/guide/foreign-archives.md: what each command does with each form of archive.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::support::foreign_warc::{gzip, page, record};
use crate::support::{CommandOutput, Crawl, root};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html";

/// Three pages, none of which repeats another.
fn pages() -> Vec<String> {
    let one = |number| {
        let (url, body) = (format!("http://toy.test/{number}"), body(number));
        page(&url, HEAD, &body).replace("eaa1b21e9aa0", &format!("eaa1b21e9aa{number}"))
    };
    (1..4).map(one).collect()
}

fn body(number: usize) -> String {
    format!("<title>Page {number}</title><p>{}", "words ".repeat(number))
}

fn arcs() -> Vec<String> {
    let one = |number| {
        let block = format!("{HEAD}\r\n\r\n{}", body(number));
        let length = block.len();
        format!("http://toy.test/{number} 192.0.2.1 20040102030405 text/html {length}\n{block}\n")
    };
    let version = "filedesc://a.arc 0.0.0.0 20040102030405 text/plain 2\n1\n\n".to_owned();
    std::iter::once(version).chain((1..4).map(one)).collect()
}

fn texts() -> Vec<String> {
    let one = |number| {
        let url = format!("http://toy.test/{number}");
        record("conversion", &url, "text/plain", &"words ".repeat(number))
    };
    (1..4).map(one).collect()
}

/// Packs each record by itself.
fn packed(records: &[String]) -> Vec<u8> {
    records
        .iter()
        .flat_map(|record| gzip(record.as_bytes()))
        .collect()
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn package() -> Vec<u8> {
    zipped(&[
        ("archive/a.warc.gz", &packed(&pages())),
        ("datapackage.json", b"{}"),
    ])
}

/// The forms: their names in the guide, a name of a file, and its bytes.
fn forms() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let in_zstd = |record: &String| zstd::bulk::compress(record.as_bytes(), 3).unwrap();
    let mut half = packed(&pages());
    half.truncate(half.len() - 60);
    vec![
        ("`.warc`", "a.warc", pages().concat().into_bytes()),
        ("`.warc.gz`", "a.warc.gz", packed(&pages())),
        (
            "`.warc.zst`",
            "a.warc.zst",
            pages().iter().flat_map(in_zstd).collect(),
        ),
        (
            "`.warc.gz` in one piece",
            "a.warc.gz",
            gzip(pages().concat().as_bytes()),
        ),
        (
            "`.warc.gz` that breaks off in its last record",
            "a.warc.gz",
            half,
        ),
        (
            "WARC under another name (`.WARC.GZ`, none)",
            "A.WARC.GZ",
            packed(&pages()),
        ),
        ("`.arc`", "a.arc", arcs().concat().into_bytes()),
        ("`.arc.gz`, in any case", "A.ARC.gz", packed(&arcs())),
        ("WET (`.warc.wet.gz`)", "a.warc.wet.gz", packed(&texts())),
        ("`.wacz`", "a.wacz", package()),
        (
            "`.wacz` of packages (a collection)",
            "a.wacz",
            zipped(&[("one.wacz", &package())]),
        ),
        (
            "`.wacz` without an archive",
            "a.wacz",
            zipped(&[("datapackage.json", b"{}")]),
        ),
        ("an empty `.warc` or `.warc.gz`", "a.warc.gz", gzip(b"")),
        (
            "no archive, named `.warc.gz`",
            "a.warc.gz",
            b"<p>nothing".to_vec(),
        ),
    ]
}

/// Returns what a command did: the number of pages, and the exit code unless it is 0.
fn outcome(run: &CommandOutput, pages: Option<usize>) -> String {
    match (pages, run.code) {
        (None | Some(0), Some(2)) => {
            assert!(run.errors.contains("error: "), "{run:?}");
            "refused".to_owned()
        }
        (pages, Some(0)) => pages.unwrap_or(0).to_string(),
        (pages, code) => format!("{}, code {}", pages.unwrap_or(0), code.unwrap_or(-1)),
    }
}

/// Returns the number before `word` in what a command said.
fn counted(run: &CommandOutput, word: &str) -> Option<usize> {
    let mut lines = run.errors.lines();
    lines.find_map(|line| line.split_once(word)?.0.split(' ').next()?.parse().ok())
}

fn in_json(run: &CommandOutput, name: &str) -> Option<usize> {
    let line: serde_json::Value = serde_json::from_str(run.output.lines().next()?).ok()?;
    line[name].as_u64().map(|count| count as usize)
}

fn pages_of(package: &Path) -> Option<usize> {
    let mut zip = ZipArchive::new(fs::File::open(package).ok()?).ok()?;
    let mut pages = String::new();
    zip.by_name("pages/pages.jsonl")
        .ok()?
        .read_to_string(&mut pages)
        .ok()?;
    Some(pages.lines().count() - 1)
}

/// Runs all commands on the file `name`; `through` is another name for it, if it is read once.
fn row(crawl: &Crawl, name: &str, through: Option<&str>) -> Vec<String> {
    let bytes = fs::read(crawl.directory().join(name)).unwrap();
    let run = |arguments: &[&str]| match through {
        None => crawl.run_command(arguments),
        Some(_) => crawl.run_command_with_input(arguments, &bytes),
    };
    let path = through.unwrap_or(name);
    let dedup = run(&["dedup", path]);
    let keep = run(&["dedup", path, "--keep", "kept"]);
    let extract = run(&["extract", path]);
    let index = run(&["index", path]);
    let unpack = run(&["unpack", path, "--output", "site", "--format", "json"]);
    let wacz = run(&["wacz", path, "--output", "packed.wacz"]);
    let mut cells = vec![
        outcome(&dedup, counted(&dedup, " documents:")),
        outcome(&keep, counted(&keep, " documents kept")),
        outcome(&extract, Some(extract.output.lines().count())),
        outcome(&index, Some(index.output.lines().count())),
        outcome(&unpack, in_json(&unpack, "files")),
        outcome(&wacz, pages_of(&crawl.directory().join("packed.wacz"))),
    ];
    if through.is_none() {
        fs::create_dir_all(crawl.directory().join("old/archive")).unwrap();
        fs::write(crawl.directory().join("old/archive").join(name), &bytes).unwrap();
        let rebuild = run(&["rebuild", "old", "--from-archive", "--format", "json"]);
        cells.push(outcome(&rebuild, in_json(&rebuild, "pages")));
    } else {
        cells.push("–".to_owned());
    }
    cells
}

/// `.WARC.GZ`, ARC, WET, WACZ and empty archives made an empty crawl, or were refused by one
/// command and misread by another, with exit code 0.
#[test]
fn the_table_of_forms_and_commands_is_what_the_commands_do() {
    let guide = fs::read_to_string(root().join("docs/guide/foreign-archives.md")).unwrap();
    let mut missing = Vec::new();
    let mut check = |form: &str, cells: &[String]| {
        let row = format!("| {form} | {} |", cells.join(" | "));
        if !guide.contains(&row) {
            missing.push(row);
        }
    };
    let rows = std::thread::scope(|scope| {
        let one = |(form, name, bytes)| {
            scope.spawn(move || {
                let crawl = Crawl::bare();
                crawl.write(name, bytes);
                (form, row(&crawl, name, None))
            })
        };
        let all: Vec<_> = forms().into_iter().map(one).collect();
        all.into_iter()
            .map(|row| row.join().unwrap())
            .collect::<Vec<_>>()
    });
    for (form, cells) in rows {
        check(form, &cells);
    }
    let crawl = Crawl::bare();
    crawl.write("blob", packed(&pages()));
    symlink("blob", crawl.directory().join("a.warc.gz")).unwrap();
    check("a link to a `.warc.gz`", &row(&crawl, "a.warc.gz", None));
    for (form, through) in [
        ("a pipe (`/dev/stdin`, `<(…)`)", "/dev/stdin"),
        ("`-` (standard input)", "-"),
    ] {
        let crawl = Crawl::bare();
        crawl.write("a.warc.gz", packed(&pages()));
        check(form, &row(&crawl, "a.warc.gz", Some(through)));
    }
    let missing = missing.join("\n");
    assert!(
        missing.is_empty(),
        "not in docs/guide/foreign-archives.md:\n{missing}"
    );
}
