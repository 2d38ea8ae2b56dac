//! Archives of other crawlers as `extract` and `dedup` read them.

use serde_json::Value;

use crate::support::foreign_warc::{DATE, gzip, page, record};
use crate::support::{CommandOutput, Crawl};

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
        ("each.warc.gz", each(&gzip)),
        ("all.warc.gz", gzip(all.as_bytes())),
        (
            "each.warc.zst",
            each(&|record| zstd::bulk::compress(record, 3).unwrap()),
        ),
        ("plain.warc", all.into_bytes()),
    ]
}

fn lines(run: &CommandOutput) -> Vec<Value> {
    let lines = run.output.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn titles(lines: &[Value]) -> Vec<(&str, &str)> {
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
                    "odd records, read all the same: 10 that share a packed member with others\n"
                }
                _ => "",
            };
            assert_eq!((run.code, run.errors.as_str()), (Some(0), odd), "{run:?}");
            let lines = lines(&run);
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
            .assert_error(2, "holds no page http://toy.test/nowhere");
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
    assert_eq!(run.code, Some(0), "{run:?}");
    let lines = lines(&run);
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
        run.assert_error(2, &format!("{name} holds no page"));
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
         odd records, read all the same: 10 that share a packed member with others\n"
    );
    assert!(
        lines(&run)
            .iter()
            .all(|line| line["document"] == line["duplicate_of"])
    );
}

#[test]
fn arc_files_are_refused_with_an_explanation() {
    let crawl = Crawl::bare();
    crawl.write(
        "old.arc",
        "filedesc://old.arc 0.0.0.0 20080430204825 text/plain 76\n",
    );
    crawl
        .run_command(&["extract", "old.arc"])
        .assert_error(2, "ARC files");
    let run = crawl.run_command(&["dedup", "old.arc"]);
    assert!(
        run.errors.contains("skipped: old.arc: ARC files"),
        "{run:?}"
    );
}
