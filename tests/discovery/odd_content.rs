//! Content that is not what its header says, read as browsers and archivists read it. Each page
//! links to another one, whose request shows that the page was read.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::foreign_warc::gzip;
use crate::support::pages::{NONE, article, page};

const HOST: &str = "site.test";

fn zlib(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn utf_16(text: &str) -> Vec<u8> {
    let marked = format!("\u{feff}{text}");
    marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Crawls a site whose page `/N` is the N-th of these bodies, and links to `/behind/N`.
struct Pages {
    server: Server,
    crawl: Crawl,
    count: usize,
}

impl Pages {
    /// `answer` gets the number of a page and its HTML.
    fn crawled(count: usize, answer: impl Fn(usize, String) -> Reply) -> Self {
        let links: Vec<String> = (0..count).map(|number| format!("/{number}")).collect();
        let mut pages = vec![("/".to_owned(), page(1_000, &links))];
        for (number, path) in links.iter().enumerate() {
            let behind = format!("/behind/{number}");
            let html = article(number as u64, &[&behind]);
            pages.push((path.clone(), answer(number, html)));
            pages.push((behind, page(2_000 + number as u64, NONE)));
        }
        let server = Server::spawn_thread(Site::pages(pages));
        let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
        crawl.complete();
        crawl.is_sound();
        Self {
            server,
            crawl,
            count,
        }
    }

    /// Returns true for each page if the page behind it was requested.
    fn were_read(&self) -> Vec<bool> {
        let log = self.server.log();
        let behind = |number: usize| log.count(HOST, &format!("/behind/{number}")) > 0;
        (0..self.count).map(behind).collect()
    }

    fn visit(&self, number: usize) -> serde_json::Value {
        self.crawl
            .visit(&self.server.url(HOST, &format!("/{number}")))
    }

    fn warnings(&self, number: usize) -> String {
        let url = self.server.url(HOST, &format!("/{number}"));
        let notes = self.crawl.notes_about(&url);
        notes.get("warnings").cloned().unwrap_or_default()
    }
}

/// A page that was not in the coding of its header was kept without its text and its links, and
/// nothing reported it.
#[test]
fn a_page_that_is_not_in_its_content_coding_is_read_as_it_is() {
    type Pack = fn(String) -> Vec<u8>;
    let plain: Pack = String::into_bytes;
    let packed: Pack = |html| gzip(html);
    let cases: [(&str, Pack); 14] = [
        ("gzip", plain),
        ("x-gzip", plain),
        ("deflate", plain),
        ("br", plain),
        ("zstd", plain),
        ("gzip, br", plain),
        ("none", plain),
        ("UTF-8", plain),
        ("gzip, gzip", packed),
        ("deflate", packed),
        ("br", packed),
        ("utf-8, gzip", packed),
        ("gzip;q=1", packed),
        ("gzip", |html| zlib(html)),
    ];
    let pages = Pages::crawled(cases.len(), |number, html| {
        let (coding, body) = cases[number];
        Reply::html(body(html)).header("Content-Encoding", coding)
    });
    assert_eq!(pages.were_read(), [true; 14]);
    for (number, (coding, _)) in cases.iter().enumerate() {
        assert_eq!(pages.visit(number)["title"], format!("Page {number}"));
        let is_odd = *coding != "gzip;q=1";
        assert_eq!(
            pages.warnings(number) == "content-coding",
            is_odd,
            "{coding}"
        );
    }
}

/// A page whose `Content-Type` was a list, or no type at all, was kept without text and links.
#[test]
fn the_last_valid_content_type_counts_and_what_is_no_type_is_sniffed() {
    let cases: [(&[&str], bool); 10] = [
        (&["text/html, text/html"], true),
        (&["text/html, charset=utf-8"], true),
        (&["text/html charset=utf-8"], true),
        (&["html"], true),
        (&["\"text/html\""], true),
        (&["text/plain", "text/html"], true),
        (&["text/html", "nonsense"], true),
        (&["text/html, text/plain"], false),
        (&["text/plain"], false),
        (&["image/png, application/x-thing"], false),
    ];
    let pages = Pages::crawled(cases.len(), |number, html| {
        let reply = Reply::html(html).without_header("content-type");
        let fields = cases[number].0.iter();
        fields.fold(reply, |reply, field| reply.header("Content-Type", field))
    });
    assert_eq!(pages.were_read(), cases.map(|(_, is_page)| is_page));
    assert_eq!(pages.warnings(0), "content-type");
    assert_eq!(pages.visit(5)["content_type"], "text/html");
}

/// Elements that close themselves took the rest of a page, and XHTML under another type of XML was
/// not read.
#[test]
fn xhtml_is_read_as_xml_under_any_type() {
    let cases = [
        ("application/xhtml+xml", "<script src='/x.js'/>", ""),
        ("application/xhtml+xml; charset=utf-8", "<title/>", ""),
        (
            "application/xhtml+xml",
            "<title>t</title>",
            "<textarea/><iframe/><a name='x'/>",
        ),
        ("application/xml", "<style/>", "<div/>"),
        ("text/xml", "<title/>", ""),
        ("application/vnd.wap.xhtml+xml", "<title/>", ""),
        ("nonsense", "<title/>", ""),
    ];
    let pages = Pages::crawled(cases.len() + 1, |number, _| {
        let link = format!("<a href='/behind/{number}'>x</a>");
        let Some((media, head, body)) = cases.get(number) else {
            let svg = format!(
                "<svg xmlns='http://www.w3.org/2000/svg' \
                 xmlns:xlink='http://www.w3.org/1999/xlink'>\
                 <a xlink:href='/behind/{number}'><text>x</text></a></svg>"
            );
            return Reply::document("image/svg+xml", svg);
        };
        let xhtml = format!(
            "<?xml version=\"1.0\"?>\n<html xmlns=\"http://www.w3.org/1999/xhtml\"><head>{head}\
             </head><body>{body}<p>{link} words</p></body></html>"
        );
        Reply::document(media, xhtml)
    });
    assert_eq!(pages.were_read(), [true; 8]);
}

/// Crawls a site with this robots.txt; returns the targets that were requested.
fn asked_with(robots: Reply) -> Vec<String> {
    let pages = [
        ("/robots.txt", robots),
        ("/", page(0, &["/open", "/private"])),
        ("/open", page(1, NONE)),
        ("/private", page(2, NONE)),
    ];
    let server = Server::spawn_thread(Site::pages(pages));
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries", "1"]);
    crawl.run();
    let log = server.log();
    let mut asked: Vec<String> = log.targets(HOST).into_iter().map(str::to_owned).collect();
    asked.sort();
    asked
}

/// Rules in a coding that the header does not name, or in UTF-16, were not seen, and pages that
/// they forbid were fetched.
#[test]
fn the_rules_of_an_odd_robots_txt_are_obeyed() {
    let rules = "User-agent: *\nDisallow: /private\n";
    for robots in [
        Reply::text(rules).header("Content-Encoding", "gzip"),
        Reply::text(rules).header("Content-Encoding", "br"),
        Reply::text(rules).header("Content-Encoding", "utf-8"),
        Reply::text(gzip(rules)),
        Reply::text(gzip(rules)).header("Content-Encoding", "deflate"),
        Reply::document("text/plain", utf_16(rules)),
        Reply::text(utf_16(rules)).header("Content-Encoding", "gzip"),
    ] {
        assert_eq!(
            asked_with(robots.clone()),
            ["/", "/open", "/robots.txt"],
            "{robots:?}"
        );
    }
}

/// A robots.txt that could not be decoded counted as an empty one; one whose gzip breaks off
/// allowed what its missing part forbids.
#[test]
fn a_robots_txt_that_cannot_be_decoded_is_no_permission() {
    let broken = [b"\x1f\x8b\x08\0\0\0\0\0\0\x03".as_slice(), &[0xff; 40]].concat();
    let noise = (0..200_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8);
    let noise = noise.collect();
    let mut without_end = gzip("User-agent: *\nDisallow: /private\n");
    without_end.truncate(without_end.len() - 8);
    for body in [broken, noise, without_end] {
        let robots = Reply::text(body).header("Content-Encoding", "gzip");
        assert_eq!(asked_with(robots), ["/robots.txt"]);
    }
}

/// Sites name their sitemaps by a path, and write other lines in lists of URLs: both were ignored,
/// and the pages that only the sitemap lists were lost.
#[test]
fn sitemaps_are_read_however_a_site_names_and_writes_them() {
    let urls = "http://HOST/one\nhttp://HOST/two\n";
    let xml = "<urlset><url><loc>http://HOST/one</loc></url><url><loc>/two</loc></url></urlset>";
    for (line, media, map) in [
        ("/map", "application/xml", xml.to_owned()),
        ("map", "application/octet-stream", xml.to_owned()),
        ("//HOST/map", "text/plain", urls.to_owned()),
        (
            "<http://HOST/map>",
            "text/plain",
            format!("# pages\n{urls}"),
        ),
        (
            "http://HOST/map http://HOST/other",
            "text/plain",
            format!("Pages\n\n{urls}"),
        ),
        (
            "/map",
            "text/plain",
            format!("{urls}(the end)\nof\nthe\nlist\n"),
        ),
        (
            "/map",
            "application/octet-stream",
            format!("ftp://HOST/x\n{urls}"),
        ),
        ("/map", "text/xml", urls.to_owned()),
        ("/map", "text/html", urls.to_owned()),
    ] {
        let site = Site::new(move |request| {
            let host = request.header("host").unwrap_or_default();
            let with_host = |text: &str| text.replace("HOST", host);
            match request.path() {
                "/robots.txt" => Reply::text(with_host(&format!("Sitemap: {line}\n"))),
                "/map" => Reply::document(media, with_host(&map)),
                path => page(path.len() as u64, NONE),
            }
        });
        let server = Server::spawn_thread(site);
        let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
        crawl.complete();
        let log = server.log();
        let asked = ["/one", "/two"].map(|path| log.count(HOST, path));
        assert_eq!(asked, [1, 1], "{line} {media}");
        crawl.is_sound();
    }
}
