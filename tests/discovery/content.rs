//! Content types, codings and charsets, and the directives of a page.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, article, html, page, prose};

const HOST: &str = "site.test";

fn crawl(pages: Vec<(&'static str, Reply)>, options: &[&str]) -> (Server, Crawl) {
    let mut pages = pages;
    if !pages.iter().any(|(path, _)| *path == "/") {
        let links: Vec<&str> = pages.iter().map(|(path, _)| *path).collect();
        pages.push(("/", page(0, &links)));
    }
    let server = Server::spawn_thread(Site::pages(pages));
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries", "1"])
        .with(options);
    crawl.complete();
    (server, crawl)
}

/// The same bytes in each content coding that has an encoder at hand.
fn coded(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
    for encoder in [&mut gzip as &mut dyn Write, &mut zlib, &mut raw] {
        encoder.write_all(text.as_bytes()).unwrap();
    }
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    // "deflate" means zlib, and many servers mean the raw kind (RFC 9110 section 8.4.1.2).
    let deflate = [
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
    ];
    [("gzip", gzip.finish().unwrap()), ("zstd", zstd)]
        .into_iter()
        .chain(deflate)
        .collect()
}

#[test]
fn compressed_pages_are_archived_as_received_and_read_decoded() {
    const PATHS: [&str; 4] = ["/0", "/1", "/2", "/3"];
    let pages = PATHS.into_iter().zip(1..).map(|(path, number)| {
        let (coding, bytes) =
            coded(&article(number, NONE)).swap_remove(usize::try_from(number - 1).unwrap());
        (path, Reply::html(bytes).header("Content-Encoding", coding))
    });
    let (server, crawl) = crawl(pages.collect(), &[]);
    for (path, number) in PATHS.into_iter().zip(1..) {
        let url = server.url(HOST, path);
        let visit = crawl.visit(&url);
        assert_eq!(
            (&visit["verdict"], &visit["title"]),
            (&"unique".into(), &format!("Page {number}").into()),
            "{visit}"
        );
        let sent = server.log().body(HOST, path).unwrap();
        assert_eq!(
            crawl.records_about(&url)[0].head_and_payload().unwrap().1,
            sent
        );
        assert_eq!(visit["bytes"], sent.len());
    }
}

#[test]
fn a_compressed_copy_is_the_same_page() {
    let text = article(1, NONE);
    let mut pages = vec![("/plain", Reply::html(text.clone()))];
    for (path, (coding, bytes)) in ["/a", "/b", "/c", "/d"].into_iter().zip(coded(&text)) {
        pages.push((path, Reply::html(bytes).header("Content-Encoding", coding)));
    }
    let (_server, crawl) = crawl(pages, &["--on-duplicate", "keep"]);
    let verdicts: Vec<String> = crawl.verdicts().into_values().collect();
    assert_eq!(
        verdicts
            .iter()
            .filter(|verdict| *verdict == "exact-duplicate")
            .count(),
        4,
        "{verdicts:?}"
    );
    assert_eq!(crawl.archived().len(), 6);
    let reasons: Vec<_> = crawl
        .visits()
        .into_iter()
        .map(|visit| visit["reason"].clone())
        .filter(|reason| !reason.is_null())
        .collect();
    assert_eq!(reasons, ["the same text"; 4]);
}

#[test]
fn the_charset_comes_from_the_byte_order_mark_the_header_or_the_page() {
    let text = "<p>Žluťoučký kůň úpěl ďábelské ódy, řekl český básník</p>";
    let utf8 = |head: &str| html(&format!("<title>{}</title>{head}", "Žluť"), text).into_bytes();
    let (server, crawl) = crawl(
        vec![
            (
                "/header",
                Reply::document(
                    "text/html; charset=iso-8859-2",
                    b"<title>\xaelu\xbb</title>".as_slice(),
                ),
            ),
            (
                "/meta",
                Reply::document("text/html", utf8("<meta charset=utf-8>")),
            ),
            (
                "/mark",
                Reply::document(
                    "text/html; charset=iso-8859-2",
                    [b"\xef\xbb\xbf".as_slice(), &utf8("<p>other</p>")].concat(),
                ),
            ),
        ],
        &[],
    );
    for (path, charset) in [
        ("/header", "ISO-8859-2"),
        ("/meta", "UTF-8"),
        ("/mark", "UTF-8"),
    ] {
        let visit = crawl.visit(&server.url(HOST, path));
        assert_eq!(
            (&visit["charset"], &visit["title"]),
            (&charset.into(), &"Žluť".into()),
            "{visit}"
        );
    }
}

#[test]
fn links_with_a_skipped_rel_are_not_followed() {
    for (options, skipped) in [
        (&[][..], &["/nofollow", "/both"][..]),
        (
            &["--skip-rel", "nofollow,ugc,sponsored"],
            &["/nofollow", "/ugc", "/sponsored", "/both"],
        ),
        (&["--skip-rel", "ugc"], &["/ugc", "/both"]),
        (&["--skip-rel", "none"], &[]),
        (&["--skip-rel", ""], &[]),
        (&["--skip-rel", "nofollow", "--ignore-robots"], &[]),
    ] {
        let links = "<a rel=nofollow href=/nofollow>1</a><a rel=ugc href=/ugc>2</a>\
             <a rel=sponsored href=/sponsored>3</a>\
             <a rel='ugc nofollow' href=/both>4</a><a href=/vouched>5</a><a rel=nofollow \
             href=/vouched>5</a>";
        let start = html("", &format!("<p>{}</p>{links}", prose(9, 100)));
        let (server, _crawl) = crawl(vec![("/", Reply::html(start))], options);
        let log = server.log();
        for path in ["/nofollow", "/ugc", "/sponsored", "/both", "/vouched"] {
            let asked = log.count(HOST, path) == 1;
            assert_eq!(asked, !skipped.contains(&path), "{path} with {options:?}");
        }
    }
}

#[test]
fn robots_directives_of_pages_are_obeyed() {
    let asking = |number: u64, directive: &str, link: &str| {
        let head = format!("<meta name=\"robots\" content=\"{directive}\">");
        Reply::html(html(
            &head,
            &format!("<p>{}</p><a href=\"{link}\">on</a>", prose(number, 100)),
        ))
    };
    let rel = format!(
        "<p>{}</p><a rel=nofollow href=\"/behind-rel\">no</a><a href=\"/on\">on</a>",
        prose(9, 100)
    );
    let (server, crawl) = crawl(
        vec![
            (
                "/",
                page(
                    0,
                    &[
                        "/noindex",
                        "/nofollow",
                        "/noarchive",
                        "/none",
                        "/tag",
                        "/tag-of-others",
                        "/archive-tag",
                        "/rel",
                    ],
                ),
            ),
            ("/noindex", asking(1, "noindex", "/behind-noindex")),
            ("/nofollow", asking(2, "NoFollow", "/behind-nofollow")),
            ("/noarchive", asking(3, "noarchive", "/behind-noarchive")),
            ("/none", asking(4, "none", "/behind-none")),
            (
                "/tag",
                page(5, &["/behind-tag"]).header("X-Robots-Tag", "nofollow"),
            ),
            (
                "/tag-of-others",
                page(6, &["/behind-tag-of-others"]).header("X-Robots-Tag", "otherbot: none"),
            ),
            (
                "/archive-tag",
                page(7, NONE).header("X-Robots-Tag", "crawler: noarchive"),
            ),
            ("/rel", Reply::html(html("", &rel))),
            ("/on", page(10, NONE)),
        ],
        &[],
    );
    let log = server.log();
    let asked = |path: &str| log.count(HOST, path) == 1;
    for path in [
        "/behind-noindex",
        "/behind-noarchive",
        "/behind-tag-of-others",
        "/on",
    ] {
        assert!(asked(path), "{path}");
    }
    for path in [
        "/behind-nofollow",
        "/behind-none",
        "/behind-tag",
        "/behind-rel",
    ] {
        assert!(!asked(path), "{path}");
    }
    for path in ["/noarchive", "/archive-tag"] {
        let (url, visit) = (server.url(HOST, path), crawl.visit(&server.url(HOST, path)));
        assert_eq!(visit["verdict"], "excluded", "{visit}");
        assert!(
            visit["reason"].as_str().unwrap().contains("noarchive"),
            "{visit}"
        );
        assert!(!crawl.archived().contains(&url), "{path}");
    }
    assert_eq!(
        crawl.visit(&server.url(HOST, "/noindex"))["verdict"],
        "unique"
    );
}

#[test]
fn files_are_archived_and_compared_by_their_bytes_alone() {
    let text = prose(1, 500);
    let png = b"\x89PNG\r\n\x1a\n and so on".as_slice();
    let (server, crawl) = crawl(
        vec![
            ("/a.txt", Reply::text(format!("{text}1"))),
            ("/nearly-a.txt", Reply::text(format!("{text}2"))),
            ("/image.png", Reply::document("image/png", png)),
            ("/same.png", Reply::document("image/png", png)),
        ],
        &[],
    );
    for path in ["/a.txt", "/nearly-a.txt"] {
        let visit = crawl.visit(&server.url(HOST, path));
        assert_eq!(
            (&visit["verdict"], &visit["content_type"]),
            (&"unique".into(), &"text/plain".into())
        );
    }
    let images = ["/image.png", "/same.png"]
        .map(|path| crawl.visit(&server.url(HOST, path))["verdict"].clone());
    assert!(
        images.contains(&"unique".into()) && images.contains(&"exact-duplicate".into()),
        "{images:?}"
    );
    assert_eq!(
        crawl
            .records()
            .iter()
            .filter(|record| record.kind() == "revisit")
            .count(),
        1
    );
}

#[test]
fn a_body_that_is_too_long_is_truncated_and_the_record_says_so() {
    let text = prose(1, 5_000);
    let (server, crawl) = crawl(
        vec![("/long", Reply::text(text.clone()))],
        &["--max-body", "10KiB"],
    );
    let record = crawl.records_about(&server.url(HOST, "/long")).remove(0);
    assert_eq!(record.truncated(), Some("length"));
    assert_eq!(
        record.head_and_payload().unwrap().1,
        &text.as_bytes()[..10 << 10]
    );
    crawl.is_sound();
}

/// What came of others is kept: see `leniency`.
#[test]
fn an_answer_without_a_body_or_without_a_head_is_a_failure_and_not_a_page() {
    let (server, crawl) = crawl(
        vec![
            ("/reset", page(1, NONE).break_after(0)),
            ("/closed", page(2, NONE).close_after(0)),
            ("/nonsense", Reply::raw("what is HTTP?\r\n\r\n")),
        ],
        &[],
    );
    for path in ["/reset", "/closed", "/nonsense"] {
        let visit = crawl.visit(&server.url(HOST, path));
        assert_eq!(visit["verdict"], "failed", "{visit}");
        assert!(!visit["reason"].as_str().unwrap().is_empty());
        assert!(!crawl.archived().contains(&server.url(HOST, path)));
    }
    crawl.is_sound();
}

#[test]
fn an_unreachable_host_is_a_failure_and_the_crawl_continues() {
    let server = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let gone = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let (port, seeds) = (
        gone.port(),
        [gone.url("gone.test", "/"), server.url(HOST, "/")],
    );
    drop(gone);
    let crawl = Crawl::of(&server, &[HOST]).seeds(&seeds).with(&[
        "--tries",
        "1",
        "--ignore-robots",
        "--resolve",
        &format!("gone.test:{port}:127.0.0.1"),
    ]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&1.into(), &1.into())
    );
    assert!(
        crawl.visit(&seeds[0])["reason"]
            .as_str()
            .unwrap()
            .contains("connect")
    );
}
