//! The archive against what the server sent.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::foreign_warc::gzip;
use crate::support::pages::{NONE, article, page, prose};

const HOST: &str = "site.test";

/// Pages of every kind, all linked from the first.
fn every_make() -> Vec<(&'static str, Reply)> {
    let any_byte: Vec<u8> = (0..200_000_u32)
        .map(|number| (number.wrapping_mul(number) >> 7) as u8)
        .collect();
    vec![
        ("/length", page(1, NONE)),
        ("/chunked", page(2, NONE).chunked(7)),
        ("/until-close", page(3, NONE).until_close()),
        (
            "/gzip",
            Reply::html(gzip(article(4, NONE))).header("Content-Encoding", "gzip"),
        ),
        (
            "/gzip-chunked",
            Reply::html(gzip(article(5, NONE)))
                .header("Content-Encoding", "gzip")
                .chunked(100),
        ),
        (
            "/lying",
            Reply::html(article(6, NONE)).header("Content-Encoding", "gzip"),
        ),
        (
            "/bytes",
            Reply::document("application/octet-stream", any_byte),
        ),
        ("/long", Reply::text(prose(7, 100_000))),
        (
            "/latin",
            Reply::document(
                "text/html; charset=iso-8859-1",
                b"<p>caf\xe9 cr\xe8me".as_slice(),
            ),
        ),
        (
            "/crlf",
            Reply::text("\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n"),
        ),
        (
            "/folded",
            page(8, NONE)
                .header("X-Spaces", "a  b\tc")
                .header("Set-Cookie", "a=1")
                .header("Set-Cookie", "b=2"),
        ),
        ("/accepted", Reply::text("not empty").with_status(202)),
        ("/empty", Reply::text("")),
        ("/missing", Reply::status(404)),
        ("/forbidden", Reply::status(403)),
        ("/moved", Reply::redirect(301, "/target")),
        ("/target", page(9, NONE)),
    ]
}

fn server() -> Server {
    let mut pages = every_make();
    let links: Vec<&str> = pages
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| *path != "/target")
        .collect();
    pages.push(("/", page(0, &links)));
    Server::spawn_thread(Site::pages(pages))
}

fn crawled() -> (Server, Crawl) {
    let server = server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries", "1"]);
    crawl.complete();
    (server, crawl)
}

#[test]
fn the_archive_equals_what_the_server_sent_byte_for_byte() {
    let (server, crawl) = crawled();
    let records = crawl.records();
    let mut compared = 0;
    for hit in server.log().pages() {
        let url = server.url(HOST, &hit.target);
        let about = |kind: &str| {
            let mut found = records
                .iter()
                .filter(|record| record.kind() == kind && record.target() == Some(&url));
            let record = found.next().unwrap_or_else(|| panic!("no {kind} of {url}"));
            assert!(found.next().is_none(), "a second {kind} of {url}");
            record
        };
        let (head, payload) = about("response").head_and_payload().unwrap();
        assert!(
            payload == hit.body,
            "{url}: {} bytes of {}",
            payload.len(),
            hit.body.len()
        );
        let status_line = head.split(|byte| *byte == b'\n').next().unwrap();
        assert!(
            status_line.starts_with(format!("HTTP/1.1 {}", hit.status).as_bytes()),
            "{url}"
        );
        assert_eq!(about("request").block, hit.request_head, "{url}");
        compared += 1;
    }
    assert_eq!(compared, every_make().len() + 1);
}

#[test]
fn an_independent_reader_reads_the_same_records() {
    let (server, crawl) = crawled();
    let (log, ours) = (server.log(), crawl.records());
    let theirs = crawl.read_by_another();
    assert_eq!(theirs.len(), ours.len());
    assert_eq!(theirs[0].kind, "warcinfo");
    for (foreign, own) in theirs.iter().zip(&ours) {
        assert_eq!(
            (foreign.kind.as_str(), &foreign.block),
            (own.kind(), &own.block)
        );
        if foreign.kind == "response" {
            let place = foreign
                .block
                .windows(4)
                .position(|four| four == b"\r\n\r\n")
                .unwrap();
            let target = foreign.target.strip_prefix(&server.url(HOST, "")).unwrap();
            assert_eq!(
                foreign.block[place + 4..],
                log.body(HOST, target).unwrap(),
                "{target}"
            );
        }
    }
}

#[test]
fn every_header_field_is_kept_with_its_value() {
    let (server, crawl) = crawled();
    let records = crawl.records_about(&server.url(HOST, "/folded"));
    let head =
        String::from_utf8_lossy(records[0].head_and_payload().unwrap().0).to_ascii_lowercase();
    for field in [
        "x-spaces: a  b\tc\r\n",
        "set-cookie: a=1\r\n",
        "set-cookie: b=2\r\n",
        "content-type: text/html; charset=utf-8\r\n",
    ] {
        assert!(head.contains(field), "{field:?} in {head}");
    }
}

#[test]
fn visit_records_name_the_location_of_the_page_in_the_archive() {
    let (_server, crawl) = crawled();
    let records = crawl.records();
    let file = crawl.archive_files().remove(0);
    for visit in crawl.visits() {
        assert_eq!(
            visit["warc_file"].as_str(),
            file.file_name().unwrap().to_str()
        );
        let record = records
            .iter()
            .find(|record| visit["warc_offset"] == record.offset)
            .unwrap();
        assert_eq!(record.kind(), "response", "{visit}");
        assert_eq!(record.target(), visit["final_url"].as_str());
    }
}

#[test]
fn the_archive_says_who_made_it_and_how() {
    let (_server, crawl) = crawled();
    let info = String::from_utf8(crawl.records().remove(0).block).unwrap();
    for field in [
        "software: crawler/",
        "robots: obey",
        "operator: tests@example.org",
        "setting: tries = 1",
    ] {
        assert!(
            info.lines().any(|line| line.starts_with(field)),
            "{field:?} in {info}"
        );
    }
}

#[test]
fn a_full_file_is_followed_by_another() {
    let server = server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries=1", "--warc-max-size=1KiB"]);
    crawl.complete();
    assert!(crawl.archive_files().len() > 2);
    assert_eq!(
        crawl
            .records()
            .iter()
            .filter(|record| record.kind() == "warcinfo")
            .count(),
        crawl.archive_files().len()
    );
    crawl.is_sound();
}

#[test]
fn a_failed_page_is_archived_with_its_answer() {
    let (server, crawl) = crawled();
    for (path, status) in [("/missing", 404), ("/forbidden", 403)] {
        let visit = crawl.visit(&server.url(HOST, path));
        assert_eq!(
            (&visit["verdict"], &visit["status"]),
            (&"failed".into(), &status.into())
        );
        assert_eq!(visit["reason"], format!("HTTP status {status}"));
        assert_eq!(
            crawl.notes_about(&server.url(HOST, path))["verdict"],
            "failed"
        );
    }
}

#[test]
fn records_have_the_type_that_their_bytes_show() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice();
    let feed = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel/></rss>";
    let types = [
        ("/page", page(1, NONE), Some("text/html")),
        (
            "/packed",
            Reply::html(gzip(article(2, NONE))).header("Content-Encoding", "gzip"),
            Some("text/html"),
        ),
        (
            "/misnamed",
            Reply::html(gzip(article(3, NONE))).header("Content-Encoding", "br"),
            None,
        ),
        ("/lying", Reply::html(png), Some("image/png")),
        (
            "/nameless",
            Reply::document("application/octet-stream", b"%PDF-1.7\n".as_slice()),
            Some("application/pdf"),
        ),
        (
            "/feed",
            Reply::document("text/xml", feed),
            Some("application/rss+xml"),
        ),
        ("/text", Reply::html("words without a tag"), None),
        ("/empty", Reply::html(""), None),
    ];
    let site = Site::pages(types.clone().map(|(path, reply, _)| (path, reply)));
    let server = Server::spawn_thread(site);
    let seeds = types.clone().map(|(path, ..)| server.url(HOST, path));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&seeds);
    crawl.complete();
    for (path, _, expected) in types {
        let records = crawl.records_about(&server.url(HOST, path));
        for record in records {
            let found = record.field("WARC-Identified-Payload-Type");
            let expected = expected.filter(|_| record.kind() == "response");
            assert_eq!(found, expected, "{} {path}", record.kind());
        }
    }
    crawl.is_sound();
}
