//! Archives of other crawlers as `extract` and `dedup` read them.

use serde_json::Value;

use crate::support::foreign_warc::{DATE, gzip, page, record};
use crate::support::{Crawl, json_lines};

/// Pages in the form of wget, a browser and Common Crawl, among records that are no pages.
fn records() -> Vec<String> {
    vec![
        record(
            "warcinfo",
            "",
            "application/warc-fields",
            "software: Wget/1.21.3\r\n\r\n",
        ),
        page(
            "<http://toy.test/robots.txt>",
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain",
            "User-agent: *",
        ),
        record(
            "request",
            "<http://toy.test/one>",
            "application/http;msgtype=request",
            "GET /one HTTP/1.1\r\nHost: toy.test\r\n\r\n",
        ),
        page(
            "<http://toy.test/one>",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked",
            "1e\r\n<title>One</title><a href=two>\r\n5\r\nfirst\r\n0\r\n\r\n",
        ),
        page(
            "http://toy.test/gone",
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/html",
            "gone",
        ),
        page(
            "http://toy.test/two",
            "HTTP/2 200\r\ncontent-type: text/html",
            "<title>Two</title>second",
        ),
        record(
            "response",
            "dns:toy.test",
            "text/dns",
            "20240502100000\ntoy.test. IN A 192.0.2.1\n",
        ),
        record(
            "resource",
            "urn:pageinfo:http://toy.test/two",
            "application/json",
            "{}",
        ),
        record("conversion", "http://toy.test/three", "text/plain", "third"),
        record(
            "metadata",
            "http://toy.test/three",
            "application/json",
            "{\"Envelope\":{}}",
        ),
    ]
}

fn packings() -> [(&'static str, Vec<u8>); 4] {
    let records = records();
    let all = records.concat();
    let each = |pack: &dyn Fn(&[u8]) -> Vec<u8>| {
        records
            .iter()
            .flat_map(|record| pack(record.as_bytes()))
            .collect()
    };
    [
        ("each.warc.gz", each(&|record| gzip(record))),
        ("all.warc.gz", gzip(all.as_bytes())),
        (
            "each.warc.zst",
            each(&|record| zstd::bulk::compress(record, 3).unwrap()),
        ),
        ("plain.warc", all.into_bytes()),
    ]
}

pub(super) fn titles(lines: &[Value]) -> Vec<(&str, &str)> {
    lines
        .iter()
        .map(|line| {
            (
                line["url"].as_str().unwrap(),
                line["text"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn each_page_of_a_foreign_archive_is_extracted() {
    let crawl = Crawl::bare();
    for (name, bytes) in packings() {
        crawl.write(name, &bytes);
        for run in [
            crawl.run_command(&["extract", name]),
            crawl.run_command_with_input(&["extract", "-"], &bytes),
        ] {
            let odd = match name {
                "all.warc.gz" => {
                    "records with warnings, still read: 10 that share a packed member with others\n"
                }
                _ => "",
            };
            assert_eq!((run.code, run.errors.as_str()), (Some(0), odd), "{run:?}");
            let lines = json_lines(&run.output);
            assert_eq!(
                titles(&lines),
                [
                    ("http://toy.test/one", "first"),
                    ("http://toy.test/two", "second"),
                    ("http://toy.test/three", "third"),
                ],
                "{name}"
            );
            assert!(lines.iter().all(|line| line["date"] == DATE));
            assert_eq!(lines[0]["title"], "One");
            assert_eq!(lines[0]["links"][0]["url"], "http://toy.test/two");
        }
        let one = crawl.run_command(&[
            "extract",
            name,
            "--url",
            "http://TOY.test/two",
            "--format",
            "text",
        ]);
        assert_eq!((one.output.as_str(), one.code), ("second\n", Some(0)));
        crawl
            .run_command(&["extract", name, "--url", "http://toy.test/nowhere"])
            .assert_error(2, "does not contain the page http://toy.test/nowhere");
    }
}

#[test]
fn broken_records_are_reported_and_counted_and_the_rest_is_read() {
    let crawl = Crawl::bare();
    let mut members: Vec<Vec<u8>> = records()
        .iter()
        .map(|record| gzip(record.as_bytes()))
        .collect();
    let before: usize = members[..3].iter().map(Vec::len).sum();
    let middle = members[3].len() / 2;
    members[3][middle] ^= 0xff;
    let mut bytes = members.concat();
    bytes.truncate(bytes.len() - 5);
    crawl.write("broken.warc.gz", bytes);
    let run = crawl.run_command(&["extract", "broken.warc.gz"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    let lines = json_lines(&run.output);
    assert_eq!(
        titles(&lines),
        [
            ("http://toy.test/two", "second"),
            ("http://toy.test/three", "third")
        ]
    );
    let errors: Vec<&str> = run.errors.lines().collect();
    let first = format!("skipped: broken.warc.gz: broken.warc.gz: record 4 at offset {before}: ");
    assert!(errors[0].starts_with(&first), "{run:?}");
    assert!(errors[1].contains("the file ends within it"), "{run:?}");
    assert_eq!(errors[2], "2 pages, 2 places skipped");
    assert!(errors[3].contains("the result is incomplete"), "{run:?}");
}

#[test]
fn an_archive_without_a_page_is_reported() {
    let crawl = Crawl::bare();
    let no_pages = [&records()[..3], &records()[4..5], &records()[6..8]].concat();
    for (name, bytes) in [
        ("none.warc.gz", gzip(no_pages.concat().as_bytes())),
        ("none.warc", no_pages.concat().into_bytes()),
        ("empty.warc", Vec::new()),
    ] {
        crawl.write(name, bytes);
        let run = crawl.run_command(&["extract", name]);
        run.assert_error(2, &format!("{name} contains no page"));
        assert!(run.errors.contains("\n  help: "), "{run:?}");
    }
}

/// Four bytes were always removed behind a record, so a page of another crawler that ended in one
/// line break, or in none, lost its last bytes in a replay.
#[test]
fn the_index_of_an_uncompressed_file_excludes_record_separators() {
    let crawl = Crawl::bare();
    let pages: Vec<String> = ["one", "two", "three"]
        .iter()
        .map(|name| {
            let url = format!("http://toy.test/{name}");
            let page = page(&url, "HTTP/1.1 200 OK\r\nContent-Type: text/html", name);
            page.trim_end().to_owned()
        })
        .collect();
    for between in ["\r\n\r\n", "\r\n", "\n\n", "\n", "", "\r\n\r\n\r\n"] {
        let file: String = pages
            .iter()
            .flat_map(|page| [page.as_str(), between])
            .collect();
        crawl.write("plain.warc", &file);
        let run = crawl.run_command(&["index", "plain.warc"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let mut found: Vec<(usize, usize)> = run
            .output
            .lines()
            .map(|line| {
                let line: Value = serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap();
                let number = |name: &str| line[name].as_str().unwrap().parse().unwrap();
                (number("offset"), number("length"))
            })
            .collect();
        found.sort_unstable();
        let found: Vec<&str> = found
            .iter()
            .map(|(offset, length)| &file[*offset..offset + length])
            .collect();
        assert_eq!(found, pages, "parted by {between:?}");
    }
}

#[test]
fn archives_of_all_compressions_are_compared_by_their_pages() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("corpus")).unwrap();
    for (name, bytes) in packings() {
        crawl.write(&format!("corpus/{name}"), bytes);
    }
    let run = crawl.run_command(&["dedup", "corpus", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(
        run.errors,
        "12 documents: 9 repeat an earlier one\n\
         records with warnings, still read: 10 that share a packed member with others\n"
    );
    assert!(
        json_lines(&run.output)
            .iter()
            .all(|line| line["document"] == line["duplicate_of"])
    );
}

/// Documents of such records had an empty id: a finding did not say which they are.
#[test]
fn a_document_of_a_record_without_target_and_id_is_named_by_its_place() {
    let text = "a text that is long enough to be judged by its words, and stands here twice";
    let nameless = format!(
        "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\n\
         Content-Length: {}\r\n\r\n{text}\r\n\r\n",
        text.len()
    );
    let crawl = Crawl::bare();
    crawl.write("a.warc", nameless.repeat(2));
    let run = crawl.run_command(&["dedup", "a.warc", "--format", "json"]);
    let finding = &json_lines(&run.output)[0];
    assert_eq!(finding["duplicate_of"], "record at offset 0", "{run:?}");
    let second = format!("record at offset {}", nameless.len());
    assert_eq!(finding["document"], second, "{run:?}");
}

/// A response of more than 8 MiB had no content at all: all such records were equal to each other,
/// and `--keep` deleted all but the first. So were records that their archiver cut at one place.
#[test]
fn what_was_not_read_whole_is_equal_to_nothing_but_the_same_whole() {
    const MEBIBYTE: usize = 1 << 20;
    let crawl = Crawl::bare();
    let film = |name: &str, last: &str| {
        let body = "film ".repeat(9 * MEBIBYTE / 5) + last;
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain";
        page(&format!("http://toy.test/{name}"), head, &body)
    };
    let cut = |name: &str| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain";
        let whole = page(
            &format!("http://toy.test/{name}"),
            head,
            "the beginning of a page",
        );
        let whole = whole.replacen("WARC-Date", "WARC-Truncated: length\r\nWARC-Date", 1);
        whole.replacen("eaa1b21e9aa0", &format!("eaa1b21e9a0{name}"), 1)
    };
    let records = [
        film("1", "one"),
        film("2", "two"),
        film("3", "one"),
        cut("4"),
        cut("5"),
    ];
    let packed: Vec<u8> = records
        .iter()
        .flat_map(|record| gzip(record.as_bytes()))
        .collect();
    crawl.write("films.warc.gz", packed);
    let run = crawl.run_command(&["dedup", "films.warc.gz", "--format", "json"]);
    let pairs: Vec<(String, String)> = json_lines(&run.output)
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            (text("document"), text("duplicate_of"))
        })
        .collect();
    let same = (
        "http://toy.test/3".to_owned(),
        "http://toy.test/1".to_owned(),
    );
    assert_eq!(pairs, [same], "{run:?}");
    for part in [
        "3 documents were truncated, because they are too long",
        "2 documents are incomplete in the archive, and count as equal to no other document",
    ] {
        assert!(run.errors.contains(part), "{part}: {run:?}");
    }
}

/// Twelve forms of heads made a page vanish from every command, with code 0.
#[test]
fn odd_heads_are_read_and_unreadable_ones_are_named() {
    let crawl = Crawl::bare();
    let fields = "Content-Type: text/plain\r\n".to_owned() + &"X: y\r\n".repeat(5000);
    let many = format!("HTTP/1.1 200 OK\r\n{}", fields.trim_end());
    let heads = [
        "HTTP 200 Document follows\r\nContent-Type: text/plain",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain",
        "\r\nICY 200 O\x01K\r\nX: a\0b\rc\r\nContent-Type: text/plain",
        &many,
        "no head",
    ];
    let records: String = heads
        .iter()
        .enumerate()
        .map(|(n, head)| page(&format!("http://toy.test/{n}"), head, &format!("text {n}")))
        .collect();
    crawl.write("odd.warc", &records);
    let run = crawl.run_command(&["extract", "odd.warc"]);
    let texts = json_lines(&run.output);
    let texts: Vec<_> = texts.iter().map(|line| line["text"].as_str()).collect();
    let wanted = [
        Some("text 0"),
        Some("text 1"),
        Some("text 2"),
        Some("text 3"),
    ];
    assert_eq!(texts, wanted, "{run:?}");
    let skipped = "1 response was skipped, because its HTTP head cannot be read: \
                   http://toy.test/4";
    assert!(run.errors.contains(skipped), "{run:?}");
    crawl.run_command(&["unpack", "odd.warc", "--output", "site"]);
    for n in 0..4 {
        let path = crawl.directory().join(format!("site/toy.test/{n}.txt"));
        let path = if path.exists() {
            path
        } else {
            path.with_extension("")
        };
        assert_eq!(std::fs::read_to_string(path).unwrap(), format!("text {n}"));
    }
}

/// The answer to HEAD or POST took the page's place in `unpack` and in a package, and was a
/// document of its own in `dedup` and `extract`.
#[test]
fn only_an_answer_to_get_stands_for_the_page() {
    let crawl = Crawl::bare();
    let id = |record: String, number: u8| {
        record.replacen("eaa1b21e9aa0", &format!("eaa1b21e9a{number:02}"), 1)
    };
    let exchange = |method: &str, number: u8, head: &str, body: &str, request_first: bool| {
        let to = format!(
            "WARC-Concurrent-To: <urn:uuid:4ca75dad-9336-4923-b54e-eaa1b21e9a{:02}>\r\nWARC-Date",
            number + u8::from(!request_first)
        );
        let block = format!("{method} / HTTP/1.1\r\n\r\n");
        let media = "application/http;msgtype=request";
        let request = record("request", "http://toy.test/", media, &block);
        let answer = page("http://toy.test/", head, body);
        let date = format!("2026-11-21T22:30:{number:02}Z");
        // The second record of a pair names the first, as wget and warcprox do.
        let (first, second) = match request_first {
            true => (request, answer),
            false => (request.replacen("WARC-Date", &to, 1), answer),
        };
        let second = match request_first {
            true => second.replacen("WARC-Date", &to, 1),
            false => second,
        };
        let pair = id(first, number) + &id(second, number + 1);
        pair.replace(DATE, &date)
    };
    const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html";
    let piece = format!(
        "{}\r\nContent-Range: bytes 0-4/99",
        OK.replace("200", "206")
    );
    let records = [
        exchange("GET", 10, OK, "<p>the page", true),
        exchange("HEAD", 20, OK, "", true),
        exchange("POST", 30, OK, "<p>the form", false),
        exchange("GET", 40, &piece, "<p>th", true),
    ];
    crawl.write("proxy.warc", records.concat());
    let index = crawl.run_command(&["index", "proxy.warc"]);
    assert_eq!(index.output.lines().count(), 1, "{index:?}");
    assert!(index.output.contains(" 20261121223010 "), "{index:?}");
    let counted = "3 captures are not pages (responses to HEAD and others, partial content) and \
        are not in the index";
    assert!(index.errors.contains(counted), "{index:?}");
    let extracted = crawl.run_command(&["extract", "proxy.warc"]);
    assert_eq!(
        titles(&json_lines(&extracted.output)),
        [("http://toy.test/", "the page")]
    );
    let compared = crawl.run_command(&["dedup", "proxy.warc", "--keep", "kept.warc"]);
    assert!(
        compared.errors.starts_with("1 document: 0 repeat"),
        "{compared:?}"
    );
    for run in [&extracted, &compared] {
        let counted = "3 captures were skipped, because they are not pages";
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.errors.contains(counted), "{run:?}");
    }
    let kept = std::fs::read(crawl.directory().join("kept.warc")).unwrap();
    assert_eq!(
        kept,
        records.concat().into_bytes(),
        "what is no page is kept as it is"
    );
    let run = crawl.run_command(&["unpack", "proxy.warc", "--output", "site"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let written = std::fs::read_to_string(crawl.directory().join("site/toy.test/index.html"));
    assert!(written.unwrap().contains("the page"));
    let run = crawl.run_command(&["wacz", "proxy.warc", "--output", "proxy.wacz"]);
    assert!(run.errors.contains(counted), "{run:?}");
    let verified = crawl.run_command(&["verify", "proxy.wacz"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}
