//! `crawler wacz`: the unchanged archive of a crawl in one file, with an index of its pages.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::os::unix::fs::PermissionsExt;

use data_encoding::BASE64;
use flate2::read::{GzDecoder, MultiGzDecoder};
use ring::signature::{ECDSA_P384_SHA256_ASN1, UnparsedPublicKey};
use serde_json::Value;
use testkit::gallery::{self, ELSEWHERE, HOST};
use testkit::{Gate, Reply, Request, Server, Site};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::support::foreign_warc;
use crate::support::pages::{NONE, page, prose};
use crate::support::request_quota;
use crate::support::{CommandOutput, Crawl, json_lines};

fn crawled() -> (Server, Crawl) {
    let server = Server::spawn_thread(gallery::site());
    let crawl = Crawl::of(&server, &[HOST, ELSEWHERE])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--concurrency=1", "--page-requisites=any"]);
    crawl.complete();
    (server, crawl)
}

fn pack(crawl: &Crawl, more: &[&str]) -> Vec<u8> {
    let run = crawl.run_command(&[&["wacz", "crawl", "--output", "packed.wacz"], more].concat());
    assert_eq!(
        (run.code, run.output.as_str(), &*run.remarks()),
        (Some(0), "", "")
    );
    assert!(!crawl.directory().join("packed.wacz.part").exists());
    fs::read(crawl.directory().join("packed.wacz")).unwrap()
}

fn verify(crawl: &Crawl) -> CommandOutput {
    crawl.run_command(&["verify", "packed.wacz", "--format=json"])
}

fn is_valid(crawl: &Crawl) -> Value {
    let run = verify(crawl);
    assert_eq!(run.code, Some(0), "{run:?}");
    run.json()
}

fn file(wacz: &[u8], name: &str) -> Vec<u8> {
    let mut zip = ZipArchive::new(Cursor::new(wacz)).unwrap();
    let mut bytes = Vec::new();
    zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns the list of pages in a package.
fn pages(wacz: &[u8]) -> Vec<Value> {
    json_lines(&String::from_utf8(file(wacz, "pages/pages.jsonl")).unwrap())
}

#[test]
fn a_package_has_the_unchanged_archive_and_an_index_of_its_records() {
    let (server, crawl) = crawled();
    let wacz = pack(
        &crawl,
        &["--title", "A gallery", "--description=Of \"rooms\""],
    );
    let mut zip = ZipArchive::new(Cursor::new(&wacz)).unwrap();
    let warc = crawl.archive_files().remove(0);
    let name = warc.file_name().unwrap().to_str().unwrap().to_owned();
    let packed = fs::read(&warc).unwrap();
    assert!(file(&wacz, &format!("archive/{name}")) == packed);
    let names: Vec<String> = zip
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .collect();
    assert_eq!(
        names,
        [
            &format!("archive/{name}"),
            "indexes/index.cdx.gz",
            "indexes/index.idx",
            "pages/pages.jsonl",
            "datapackage.json",
            "datapackage-digest.json"
        ]
    );
    for number in 0..2 {
        let stored = zip.by_index(number).unwrap();
        assert_eq!(stored.compression(), CompressionMethod::Stored, "{number}");
    }

    let mut index = String::new();
    MultiGzDecoder::new(&*file(&wacz, "indexes/index.cdx.gz"))
        .read_to_string(&mut index)
        .unwrap();
    let mut lines = BTreeSet::new();
    for line in index.lines() {
        assert!(!line.starts_with('!'), "{line}");
        let fields: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let number = |name: &str| fields[name].as_str().unwrap().parse::<usize>().unwrap();
        let place = number("offset")..number("offset") + number("length");
        let mut record = Vec::new();
        GzDecoder::new(&packed[place])
            .take(2_000)
            .read_to_end(&mut record)
            .unwrap();
        let record = String::from_utf8_lossy(&record);
        let url = fields["url"].as_str().unwrap();
        assert!(
            record.starts_with("WARC/1.1\r\n") && record.contains(url),
            "{line}"
        );
        lines.insert(url.to_owned());
    }
    for record in crawl.records() {
        if matches!(record.kind(), "response" | "revisit") {
            assert!(
                lines.contains(record.target().unwrap()),
                "{:?}",
                record.target()
            );
        }
    }

    let pages = pages(&wacz);
    assert_eq!(pages[0]["format"], "json-pages-1.0");
    let urls: BTreeSet<&str> = pages[1..]
        .iter()
        .map(|page| page["url"].as_str().unwrap())
        .collect();
    let expected: BTreeSet<String> = gallery::PAGES
        .iter()
        .map(|path| server.url(HOST, path))
        .collect();
    assert_eq!(urls, expected.iter().map(String::as_str).collect());
    for page in &pages[1..] {
        let visit = crawl.visit(page["url"].as_str().unwrap());
        assert_eq!(
            (&page["ts"], &page["title"]),
            (&visit["fetched_at"], &visit["title"])
        );
    }

    let package: Value = serde_json::from_slice(&file(&wacz, "datapackage.json")).unwrap();
    assert_eq!(package["wacz_version"], "1.1.1");
    assert_eq!(
        (&package["title"], &package["description"]),
        (&"A gallery".into(), &"Of \"rooms\"".into())
    );
    assert_eq!(package["mainPageUrl"], server.url(HOST, "/"));
    let report = is_valid(&crawl);
    assert_eq!(report["index_lines"], index.lines().count());
    assert_eq!(report["pages"], gallery::PAGES.len());
    crawl.is_sound();
}

#[test]
fn the_same_crawl_is_packed_to_the_same_bytes_and_a_stream_is_valid_too() {
    let (_server, crawl) = crawled();
    let wacz = pack(&crawl, &[]);
    assert!(pack(&crawl, &[]) == wacz);
    fs::remove_file(crawl.out().join("archive/index.cdxj")).unwrap();
    assert!(pack(&crawl, &[]) == wacz, "with a rebuilt index");
    let script = format!(
        "'{}' wacz crawl --output - > packed.wacz",
        env!("CARGO_BIN_EXE_crawler")
    );
    let run = std::process::Command::new("sh")
        .current_dir(crawl.directory())
        .args(["-c", &script])
        .status()
        .unwrap();
    assert!(run.success());
    is_valid(&crawl);
    let stream = fs::read(crawl.directory().join("packed.wacz")).unwrap();
    assert!(file(&stream, "datapackage.json") == file(&wacz, "datapackage.json"));
}

#[test]
fn the_text_of_pages_is_packed_on_request() {
    let site = Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\n"),
        "/" => page(1, &["/2"]),
        _ => page(2, NONE),
    });
    let server = Server::spawn_thread(site);
    let crawl = Crawl::of(&server, &["site.test"]).seeds(&[server.url("site.test", "/")]);
    crawl.complete();
    let pages = pages(&pack(&crawl, &["--text"]));
    let words = prose(2, 150);
    assert!(
        pages[2]["text"].as_str().unwrap().contains(words.trim()),
        "{pages:?}"
    );
    assert_eq!(pages.len(), 3);
    is_valid(&crawl);
}

#[test]
fn a_running_crawl_is_refused_and_a_killed_one_is_packed_up_to_its_commit_point() {
    let (quota, server) = request_quota::RequestQuota::server();
    let crawl =
        Crawl::of(&server, &[request_quota::HOST]).seeds(&[server.url(request_quota::HOST, "/0")]);
    let gate: Gate = quota.set(20);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    crawl
        .run_command(&["wacz", "crawl", "--output", "packed.wacz"])
        .assert_error(2, "is in use");
    running.kill();
    assert!(!crawl.directory().join("packed.wacz").exists());

    let open = crawl.archive_files().remove(0);
    assert!(open.to_string_lossy().ends_with(".open"));
    let length = fs::metadata(&open).unwrap().len();
    let mut torn = fs::OpenOptions::new().append(true).open(&open).unwrap();
    torn.write_all(b"\x1f\x8b\x08 and no more").unwrap();
    let wacz = pack(&crawl, &[]);
    let name = open.file_stem().unwrap().to_str().unwrap();
    let packed = file(&wacz, &format!("archive/{name}"));
    assert!(packed.len() as u64 <= length && fs::read(&open).unwrap().starts_with(&packed));
    let report = is_valid(&crawl);
    let kept = crawl.visits().len();
    assert_eq!(report["pages"], kept);
    quota.set(usize::MAX);
    crawl.complete();
    pack(&crawl, &[]);
    assert!(is_valid(&crawl)["pages"].as_u64().unwrap() > kept as u64);
    crawl.is_sound();
}

#[test]
fn unreadable_input_and_unwritable_output_are_reported() {
    let (_server, crawl) = crawled();
    crawl
        .run_command(&["wacz", "nowhere", "--output", "packed.wacz"])
        .assert_error(2, "nowhere does not exist");
    crawl
        .run_command(&["wacz", "crawl", "--output", "crawl"])
        .assert_error(2, "crawl is a directory");
    pack(&crawl, &[]);
    crawl.write("packed.wacz", "old");
    crawl
        .run_command_with_file_limit(8, &["wacz", "crawl", "--output", "packed.wacz"])
        .assert_error(2, "cannot write packed.wacz");
    assert_eq!(
        fs::read(crawl.directory().join("packed.wacz")).unwrap(),
        b"old"
    );
    assert!(!crawl.directory().join("packed.wacz.part").exists());
}

#[test]
fn a_package_with_paths_outside_is_refused_and_nothing_is_written() {
    let (_server, crawl) = crawled();
    let mut wacz = pack(&crawl, &[]);
    let (from, to) = (b"pages/pages.jsonl", b"../../outside.txt");
    let places: Vec<usize> = (0..wacz.len() - from.len())
        .filter(|&place| wacz[place..].starts_with(from))
        .collect();
    for place in places {
        wacz[place..place + to.len()].copy_from_slice(to);
    }
    crawl.write("packed.wacz", &wacz);
    let listed = |crawl: &Crawl| {
        let mut names: Vec<_> = [crawl.directory(), crawl.directory().parent().unwrap()]
            .iter()
            .flat_map(|directory| fs::read_dir(directory).unwrap())
            .map(|item| item.unwrap().file_name())
            .filter(|name| {
                name.to_string_lossy().contains("outside")
                    || name.to_string_lossy().contains("pages")
            })
            .collect();
        names.sort();
        names
    };
    let before = listed(&crawl);
    let run = verify(&crawl);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(
        run.output
            .contains("../../outside.txt: its name points outside"),
        "{run:?}"
    );
    assert_eq!(listed(&crawl), before);
    crawl.write("packed.wacz", &wacz[..wacz.len() / 2]);
    verify(&crawl).assert_error(1, "packed.wacz cannot be checked");
}

/// Returns a package of packages, as Browsertrix gives out a collection: it lists its packages, and
/// has neither an archive nor an index of its own.
fn collection(packages: &[(&str, &[u8])]) -> Vec<u8> {
    let digest = |bytes: &[u8]| {
        let digest = sinks::DigestAlgorithm::Sha256.of(bytes);
        let digits = digest.as_bytes().iter().map(|byte| format!("{byte:02x}"));
        digits.collect::<String>()
    };
    let resource = |(name, bytes): &(&str, &[u8])| {
        let hash = format!("sha256:{}", digest(bytes));
        serde_json::json!({"name": name, "path": name, "hash": hash, "bytes": bytes.len()})
    };
    let resources: Vec<Value> = packages.iter().map(resource).collect();
    let about = serde_json::json!({"profile": "multi-wacz-package", "resources": resources});
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file("datapackage.json", options).unwrap();
    zip.write_all(about.to_string().as_bytes()).unwrap();
    for (name, bytes) in packages {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A collection was called faulty for what only its packages have: an archive, an index, pages.
#[test]
fn a_collection_is_verified_package_by_package() {
    let (_server, crawl) = crawled();
    let package = pack(&crawl, &[]);
    let one = is_valid(&crawl);
    let packages = [("one.wacz", &*package), ("two.wacz", &*package)];
    crawl.write("packed.wacz", collection(&packages));
    let both = is_valid(&crawl);
    for count in ["archive_files", "archive_bytes", "index_lines", "pages"] {
        let of_one = one[count].as_u64().unwrap();
        assert_eq!(both[count], 2 * of_one, "{count}: {both}");
    }
    let mut damaged = package.clone();
    let place = damaged.len() / 3;
    damaged[place] ^= 1;
    let packages = [("one.wacz", &*package), ("two.wacz", &*damaged)];
    crawl.write("packed.wacz", collection(&packages));
    let run = verify(&crawl);
    assert_eq!(run.code, Some(1), "{run:?}");
    let findings = run.json()["findings"].clone();
    let findings = findings.as_array().unwrap();
    let is_of_two = |finding: &Value| finding.as_str().unwrap().starts_with("two.wacz: ");
    assert!(
        !findings.is_empty() && findings.iter().all(is_of_two),
        "{run:?}"
    );
    let inner = collection(&packages[..1]);
    crawl.write("packed.wacz", collection(&[("inner.wacz", &inner)]));
    let run = verify(&crawl);
    assert!(
        run.output.contains("inner.wacz: it is a nested package"),
        "{run:?}"
    );
}

#[test]
fn the_pages_of_a_package_are_read_in_place() {
    let (_server, crawl) = crawled();
    pack(&crawl, &[]);
    let warc = crawl.archive_files().remove(0);
    let extract = |path: &str| crawl.run_command(&["extract", path]);
    let (of_wacz, of_warc) = (extract("packed.wacz"), extract(warc.to_str().unwrap()));
    assert_eq!(of_wacz.code, Some(0), "{of_wacz:?}");
    assert!(of_wacz.output == of_warc.output && !of_wacz.output.is_empty());
    // Facts that both files contain.
    let run = crawl.run_command(&[
        "dedup",
        "packed.wacz",
        warc.to_str().unwrap(),
        "--format=json",
    ]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.output.contains("http://gallery.test"), "{run:?}");
    crawl.write("none.wacz", "nothing");
    extract("none.wacz").assert_error(2, "none.wacz: it is not a readable ZIP file");
}

/// The pages 1, 2 and 3, each with a validator, except that page 3 is new on each request.
fn validated_site() -> Server {
    let requests = std::sync::atomic::AtomicU64::new(100);
    Server::spawn_thread(Site::new(move |request: &Request| {
        let versioned = |tag: &str, page: Reply| match request.header("if-none-match") {
            Some(known) if known == tag => Reply::document("", "")
                .without_header("Content-Type")
                .with_status(304),
            _ => page.header("ETag", tag),
        };
        match request.path() {
            "/" => versioned("\"1\"", page(1, &["/2", "/3"])),
            "/2" => versioned("\"2\"", page(2, NONE)),
            "/3" => page(
                requests.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
                NONE,
            ),
            _ => Reply::status(404),
        }
    }))
}

/// Returns the lines of the index of a package: their fields, and the records that they lead to.
fn captures(wacz: &[u8]) -> Vec<(Value, String)> {
    let mut index = String::new();
    MultiGzDecoder::new(&*file(wacz, "indexes/index.cdx.gz"))
        .read_to_string(&mut index)
        .unwrap();
    let capture = |line: &str| {
        let (place, fields) = line.split_once(" {").unwrap();
        let mut fields: Value = serde_json::from_str(&format!("{{{fields}")).unwrap();
        fields["timestamp"] = place.split_once(' ').unwrap().1.into();
        let packed = file(
            wacz,
            &format!("archive/{}", fields["filename"].as_str().unwrap()),
        );
        let offset: usize = fields["offset"].as_str().unwrap().parse().unwrap();
        let mut record = Vec::new();
        GzDecoder::new(&packed[offset..])
            .read_to_end(&mut record)
            .unwrap();
        (fields, String::from_utf8_lossy(&record).into_owned())
    };
    let mut sorted: Vec<&str> = index.lines().collect();
    sorted.sort_unstable();
    assert_eq!(sorted, index.lines().collect::<Vec<_>>());
    index.lines().map(capture).collect()
}

fn field<'r>(record: &'r str, name: &str) -> Option<&'r str> {
    let mut lines = record.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn a_package_of_a_crawl_and_its_recrawl_has_the_content_of_each_revisit() {
    let server = validated_site();
    let crawl = || {
        Crawl::of(&server, &["site.test"])
            .seeds(&[server.url("site.test", "/")])
            .with(&["--concurrency=1"])
    };
    let old = crawl();
    old.complete();
    let earlier = old.out();
    let earlier = earlier.to_str().unwrap();
    let new = crawl().with(&["--since", earlier]);
    new.complete();

    let alone = new.run_command(&["wacz", "crawl", "--output", "alone.wacz"]);
    assert_eq!(alone.code, Some(0), "{alone:?}");
    let example = server.url("site.test", "/");
    assert_eq!(
        alone.remarks(),
        format!(
            "warning: 2 revisits have no content in the inputs, such as {example}: \
             also give the earlier crawl (--since)\n"
        )
    );

    let run = new.run_command(&["wacz", earlier, "crawl", "--output", "packed.wacz"]);
    assert_eq!((run.code, &*run.remarks()), (Some(0), ""), "{run:?}");
    is_valid(&new);
    let wacz = fs::read(new.directory().join("packed.wacz")).unwrap();
    let captures = captures(&wacz);
    let mut revisits = 0;
    for (fields, record) in &captures {
        if fields["mime"] != "warc/revisit" {
            continue;
        }
        revisits += 1;
        let url = field(record, "WARC-Refers-To-Target-URI").unwrap();
        let date = field(record, "WARC-Refers-To-Date").unwrap();
        let digits: String = date.chars().filter(char::is_ascii_digit).take(14).collect();
        let (_, original) = captures
            .iter()
            .find(|(fields, _)| fields["url"] == url && fields["timestamp"] == digits.as_str())
            .unwrap();
        let number = if url.ends_with("/2") { 2 } else { 1 };
        assert!(
            original.contains("WARC-Type: response")
                && original.contains(prose(number, 150).trim()),
            "{original}"
        );
    }
    assert_eq!(revisits, 2);
    let pages = pages(&wacz);
    assert_eq!(pages.len(), 1 + 4, "{pages:?}");
    let package: Value = serde_json::from_slice(&file(&wacz, "datapackage.json")).unwrap();
    assert_eq!(package["mainPageUrl"], example);
}

/// Two pages of another crawler, each record by itself.
fn foreign(first: &str, second: &str) -> Vec<u8> {
    let page = |path: &str, title: &str| {
        let page = foreign_warc::page(
            &format!("http://toy.test/{path}"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/html",
            &format!("<title>{title}</title>{}", prose(7, 40)),
        );
        foreign_warc::gzip(page.as_bytes())
    };
    [page("one", first), page("two", second)].concat()
}

#[test]
fn files_of_other_crawlers_with_one_name_are_packed_with_two_and_their_titles_are_listed() {
    let crawl = Crawl::bare();
    crawl.write("wget.warc.gz", foreign("One", "Two"));
    fs::create_dir(crawl.directory().join("later")).unwrap();
    crawl.write("later/WGET.warc.gz", foreign("Three", "Four"));
    let arguments = [
        "wacz",
        "wget.warc.gz",
        "later/WGET.warc.gz",
        "--output=packed.wacz",
        "--text",
    ];
    let run = crawl.run_command(&arguments);
    assert_eq!((run.code, &*run.remarks()), (Some(0), ""), "{run:?}");
    let report = is_valid(&crawl);
    assert_eq!(
        (&report["index_lines"], &report["pages"]),
        (&4.into(), &4.into())
    );
    let wacz = fs::read(crawl.directory().join("packed.wacz")).unwrap();
    assert_eq!(file(&wacz, "archive/wget.warc.gz"), foreign("One", "Two"));
    assert_eq!(
        file(&wacz, "archive/2-WGET.warc.gz"),
        foreign("Three", "Four")
    );
    for (fields, record) in captures(&wacz) {
        let titles = match fields["filename"].as_str().unwrap() {
            "wget.warc.gz" => ["One", "Two"],
            "2-WGET.warc.gz" => ["Three", "Four"],
            other => panic!("{other}"),
        };
        assert!(
            titles.iter().any(|title| record.contains(title)),
            "{record}"
        );
    }
    let pages = pages(&wacz);
    let titles: Vec<&str> = pages[1..]
        .iter()
        .map(|page| page["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["One", "Two", "Three", "Four"]);
    assert!(
        pages[1]["text"]
            .as_str()
            .unwrap()
            .contains(prose(7, 40).trim())
    );
    let package: Value = serde_json::from_slice(&file(&wacz, "datapackage.json")).unwrap();
    assert_eq!(package["mainPageUrl"], "http://toy.test/one");
    assert_eq!(package["created"], foreign_warc::DATE);
}

#[test]
fn inputs_that_cannot_be_packed_are_refused_by_name() {
    let crawl = Crawl::bare();
    crawl.write("wget.warc.gz", foreign("One", "Two"));
    crawl.write("junk.warc.gz", "no archive");
    crawl.write("page.html", "<p>no archive");
    fs::create_dir(crawl.directory().join("empty")).unwrap();
    for (inputs, message) in [
        (vec!["junk.warc.gz"], "junk.warc.gz contains no WARC record"),
        (
            vec!["page.html"],
            "page.html is neither a crawl nor a WARC file",
        ),
        (vec!["empty"], "empty does not contain a crawl"),
        (vec!["nowhere.warc.gz"], "nowhere.warc.gz does not exist"),
        (
            vec!["wget.warc.gz", "./wget.warc.gz"],
            "./wget.warc.gz is given twice",
        ),
    ] {
        let arguments = [vec!["wacz", "--output=packed.wacz"], inputs].concat();
        crawl.run_command(&arguments).assert_error(2, message);
        assert!(!crawl.directory().join("packed.wacz").exists());
    }
    crawl
        .run_command(&["wacz", "wget.warc.gz", "--output", "wget.warc.gz"])
        .assert_error(2, "wget.warc.gz would overwrite the input wget.warc.gz");
}

#[test]
fn a_damaged_file_is_packed_with_what_can_be_read_of_it() {
    let crawl = Crawl::bare();
    let mut bytes = foreign("One", "Two");
    let length = bytes.len();
    bytes[length / 4] ^= 0xff;
    crawl.write("wget.warc.gz", &bytes);
    let run = crawl.run_command(&["wacz", "wget.warc.gz", "--output", "packed.wacz"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.errors.contains("1 place was unreadable"), "{run:?}");
    let wacz = fs::read(crawl.directory().join("packed.wacz")).unwrap();
    let found = captures(&wacz);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0["url"], "http://toy.test/two");
}

/// Only the last of several foreign files was packed, since their names have no numbers.
#[test]
fn all_files_of_a_rebuilt_foreign_archive_are_packed() {
    let crawl = Crawl::bare();
    fs::create_dir_all(crawl.out().join("archive")).unwrap();
    crawl.write("crawl/archive/a.warc.gz", foreign("One", "Two"));
    crawl.write("crawl/archive/b.warc.gz", {
        let page = foreign_warc::page(
            "http://toy.test/three",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html",
            &format!("<title>Three</title>{}", prose(9, 40)),
        );
        foreign_warc::gzip(page.as_bytes())
    });
    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive"]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    let wacz = pack(&crawl, &[]);
    let report = is_valid(&crawl);
    assert_eq!(report["index_lines"], 3, "{report}");
    let files: BTreeSet<String> = captures(&wacz)
        .iter()
        .map(|(fields, _)| fields["filename"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        files,
        BTreeSet::from(["a.warc.gz".to_owned(), "b.warc.gz".to_owned()])
    );
}

/// A private key on P-384, made by `openssl genpkey`.
const SIGNING_KEY: &str = "-----BEGIN PRIVATE KEY-----
MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDA3BrDYqtvCpQGRdd9M
mFydCXmvoRvvDJdSF5X2sHY9jw8oMXsgug4yLCpvZaUWx4ihZANiAAT1VA5EoIlL
j5f8RAAWnFnuwEnYt2m7Xd/QhWpARw49pRI8N75VFThYk0hEC/H7bApx+OJkENlf
wX16zv5YJFcomGRBH2K1XqRxf5Y29ETvmueianmfWbbcItYrpsYDl5A=
-----END PRIVATE KEY-----
";

/// Writes a key file that only its owner can read.
fn write_key(crawl: &Crawl, name: &str, text: &str) {
    let path = crawl.write(name, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Returns `signedData` of a package, and its digest.
fn signed_data(wacz: &[u8]) -> (Value, Value) {
    let digest: Value = serde_json::from_slice(&file(wacz, "datapackage-digest.json")).unwrap();
    (digest["signedData"].clone(), digest["hash"].clone())
}

/// Returns an integer of ASN.1 (DER) in big-endian bytes.
fn der_integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let mut value = bytes[zeros..].to_vec();
    if value.first().is_none_or(|first| *first >= 0x80) {
        value.insert(0, 0);
    }
    [vec![2, u8::try_from(value.len()).unwrap()], value].concat()
}

#[test]
fn a_signed_package_is_verified_by_another_library_and_by_verify() {
    let (_server, crawl) = crawled();
    write_key(&crawl, "key.pem", SIGNING_KEY);
    let wacz = pack(&crawl, &["--sign", "key.pem"]);
    let (signed, hash) = signed_data(&wacz);
    assert_eq!(signed["hash"], hash);
    let package: Value = serde_json::from_slice(&file(&wacz, "datapackage.json")).unwrap();
    assert_eq!(signed["created"], package["created"]);
    assert_eq!(signed["software"], package["software"]);

    let bytes = |name: &str| {
        BASE64
            .decode(signed[name].as_str().unwrap().as_bytes())
            .unwrap()
    };
    let (signature, public) = (bytes("signature"), bytes("publicKey"));
    assert_eq!(signature.len(), 96, "two numbers (IEEE P1363)");
    let numbers = [der_integer(&signature[..48]), der_integer(&signature[48..])].concat();
    let der = [vec![0x30, u8::try_from(numbers.len()).unwrap()], numbers].concat();
    // The point is the last part of `SubjectPublicKeyInfo` (RFC 5480 section 2).
    let key = UnparsedPublicKey::new(&ECDSA_P384_SHA256_ASN1, &public[public.len() - 97..]);
    key.verify(hash.as_str().unwrap().as_bytes(), &der).unwrap();

    is_valid(&crawl);
    assert!(
        pack(&crawl, &["--sign", "key.pem"]) == wacz,
        "the same bytes"
    );
    assert_eq!(signed_data(&pack(&crawl, &[])).0, Value::Null);
}

#[test]
fn a_changed_signature_is_found_and_other_keys_are_refused() {
    let (_server, crawl) = crawled();
    write_key(&crawl, "key.pem", SIGNING_KEY);
    let wacz = pack(&crawl, &["--sign", "key.pem"]);
    let (signed, _) = signed_data(&wacz);
    let text = |name: &str| signed[name].as_str().unwrap().to_owned();
    let other = BASE64.encode(&[1; 96]);
    for (name, new, words) in [
        ("signature", other.as_str(), "is not by its public key"),
        ("signature", "AAAA", "has an unreadable signature"),
        ("created", "2020-01-01T00:00:00Z", "another creation time"),
        ("hash", "sha256:00", "signs another digest"),
    ] {
        let digest = String::from_utf8(file(&wacz, "datapackage-digest.json")).unwrap();
        let mut digest: Value = serde_json::from_str(&digest).unwrap();
        digest["signedData"][name] = new.into();
        let changed = with_file(
            &wacz,
            "datapackage-digest.json",
            digest.to_string().as_bytes(),
        );
        crawl.write("packed.wacz", changed);
        let run = verify(&crawl);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(
            run.output.contains(words),
            "{name} was {}: {run:?}",
            text(name)
        );
    }
    let pack_with =
        |key: &str| crawl.run_command(&["wacz", "crawl", "--output", "other.wacz", "--sign", key]);
    crawl.run_command(&["keys", "new", "ed25519.pem"]);
    pack_with("ed25519.pem").assert_error(2, "a private key on the curve P-384");
    let path = crawl.write("open.pem", SIGNING_KEY);
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    pack_with("open.pem").assert_error(2, "other users of this machine can access");
    assert!(!crawl.directory().join("other.wacz").exists());
}

/// Returns a package with another content of one file.
fn with_file(wacz: &[u8], name: &str, content: &[u8]) -> Vec<u8> {
    let mut zip = ZipArchive::new(Cursor::new(wacz)).unwrap();
    let mut changed = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..zip.len() {
        let found = zip.by_index_raw(number).unwrap();
        if found.name_raw() == name.as_bytes() {
            changed
                .start_file(name, SimpleFileOptions::default())
                .unwrap();
            changed.write_all(content).unwrap();
        } else {
            changed.raw_copy_file(found).unwrap();
        }
    }
    changed.finish().unwrap().into_inner()
}
