//! `crawler unpack`: archived pages as files whose links a browser can follow without a server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use scraper::{Html, Selector};
use serde_json::Value;
use testkit::gallery::{self, ELSEWHERE, HOST};
use testkit::{Fate, Reply, Request, Server, Site, ToyWeb};

use crate::support::pages::{BEHIND_COPIES, NONE, html, page, prose};
use crate::support::{Crawl, foreign_warc};

/// Attributes that are one URL.
const ATTRIBUTES: [&str; 6] = ["href", "src", "poster", "data", "background", "xlink:href"];

fn unpack(crawl: &Crawl, more: &[&str]) -> Value {
    let run = crawl.run_command(&[&["unpack", "crawl", "--output", "out"], more].concat());
    assert_eq!((run.code, &*run.remarks()), (Some(0), ""), "{run:?}");
    assert!(!crawl.directory().join("out.part").exists());
    run.json()
}

/// Returns the files below a directory, by their paths in it.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for item in fs::read_dir(next).unwrap() {
            let path = item.unwrap().path();
            assert!(!path.is_symlink(), "{}", path.display());
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
                found.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Returns the URLs in a page: those of attributes, of `srcset`, and of CSS.
pub(super) fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    let document = Html::parse_document(page);
    for element in document.select(&Selector::parse("*").unwrap()) {
        let value = |name| element.value().attr(name);
        links.extend(
            ATTRIBUTES
                .iter()
                .filter_map(|name| value(name))
                .map(str::to_owned),
        );
        for candidate in value("srcset").unwrap_or_default().split(", ") {
            links.extend(candidate.split_whitespace().next().map(str::to_owned));
        }
    }
    for styled in document.select(&Selector::parse("[style]").unwrap()) {
        let urls = web::css_urls(styled.attr("style").unwrap(), true).into_iter();
        links.extend(urls.map(|found| found.url));
    }
    for style in document.select(&Selector::parse("style").unwrap()) {
        links.extend(css_links(&style.text().collect::<String>()));
    }
    links
}

pub(super) fn css_links(css: &str) -> Vec<String> {
    let urls = web::css_urls(css, false).into_iter();
    urls.map(|found| found.url).collect()
}

/// Returns the URLs of the pages and files in the archive of a crawl, without redirects.
pub(super) fn kept(crawl: &Crawl) -> BTreeSet<String> {
    let records = crawl.records().into_iter();
    let kept = records.filter(|record| {
        let is_answer = record.kind() == "response";
        is_answer && record.http().is_some_and(|answer| answer.status == 200)
    });
    kept.map(|record| record.target().unwrap().to_owned())
        .collect()
}

/// Returns the file that a relative link in the file `from` leads to; `None` for other links.
fn target(from: &str, link: &str) -> Option<String> {
    let path = link.split('#').next().unwrap();
    let has_scheme = path.split('/').next().unwrap().contains(':');
    if path.is_empty() || has_scheme {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        rest = more;
        bytes.push(match first {
            b'%' => {
                let digits = std::str::from_utf8(&rest[..2]).unwrap();
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).unwrap()
            }
            byte => byte,
        });
    }
    let link = PathBuf::from(String::from_utf8(bytes).unwrap());
    let mut parts: Vec<String> = from.split('/').map(str::to_owned).collect();
    parts.pop();
    for part in link.components() {
        match part {
            Component::ParentDir => {
                assert!(parts.pop().is_some(), "{from}: {link:?} leads outside");
            }
            Component::Normal(part) => parts.push(part.to_str().unwrap().to_owned()),
            other => panic!("{from}: {link:?} has {other:?}"),
        }
    }
    Some(parts.join("/"))
}

/// Checks that every relative link leads to a file, and every other one to a page that the tree
/// does not have; returns all links of each file.
fn lead_somewhere(
    files: &BTreeMap<String, Vec<u8>>,
    archived: &BTreeSet<String>,
) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for (name, bytes) in files {
        let found = match name.rsplit_once('.').unwrap_or_default().1 {
            "html" => links(std::str::from_utf8(bytes).unwrap()),
            "css" => css_links(std::str::from_utf8(bytes).unwrap()),
            _ => continue,
        };
        for link in &found {
            match target(name, link) {
                Some(file) => assert!(files.contains_key(&file), "{name}: {link} leads to {file}"),
                None => {
                    let url = link.split('#').next().unwrap();
                    assert!(!archived.contains(url), "{name}: {link} is archived");
                }
            }
        }
        all.insert(name.clone(), found);
    }
    all
}

fn crawled_toy_web() -> (ToyWeb, Server, Crawl) {
    let toy = ToyWeb::new();
    let server = Server::spawn_thread(toy.site());
    let hosts = toy.hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let crawl = Crawl::of(&server, &hosts)
        .seeds(&toy.seeds(server.port()))
        .with(&["--exclude", BEHIND_COPIES]);
    crawl.complete();
    (toy, server, crawl)
}

#[test]
fn every_link_of_the_toy_web_leads_to_a_file_or_to_the_web() {
    let (toy, server, crawl) = crawled_toy_web();
    let summary = unpack(&crawl, &[]);
    let files = files(&crawl.directory().join("out"));
    assert_eq!(summary["files"], files.len());
    assert_eq!(
        summary["bytes"],
        files.values().map(Vec::len).sum::<usize>()
    );
    let archived = kept(&crawl);
    let links = lead_somewhere(&files, &archived);
    let relative = links.iter().flat_map(|(name, links)| {
        links
            .iter()
            .filter(move |link| target(name, link).is_some())
    });
    assert_eq!(summary["links_to_files"], relative.count());
    let start = summary["start"].as_str().unwrap();
    assert!(
        files.contains_key(start.strip_prefix("out/").unwrap()),
        "{start}"
    );

    // Links to copies lead to their originals.
    let copies = toy
        .truth()
        .iter()
        .filter(|truth| matches!(truth.fate, Fate::NearCopy(_) | Fate::ExactCopy(_)));
    let copies: BTreeSet<String> = copies
        .map(|truth| toy.url(&truth.page, server.port()))
        .collect();
    let outward: BTreeSet<&String> = links.values().flatten().collect();
    assert!(copies.len() > 5, "{copies:?}");
    for copy in &copies {
        assert!(!outward.contains(copy), "{copy}");
    }
    // Pages in any charset are UTF-8.
    for charset_page in toy.charset_pages() {
        let url = toy.url(charset_page.page, server.port());
        let title = crawl.visit(&url)["title"].as_str().unwrap().to_owned();
        let found = files.iter().any(|(name, bytes)| {
            name.ends_with(".html") && String::from_utf8_lossy(bytes).contains(&title)
        });
        assert!(found, "{url}: {title}");
    }
}

#[test]
fn a_page_has_its_pictures_styles_and_fonts_beside_it() {
    let server = Server::spawn_thread(gallery::site());
    let crawl = Crawl::of(&server, &[HOST, ELSEWHERE])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--concurrency=1", "--page-requisites=any"]);
    crawl.complete();
    unpack(&crawl, &[]);
    let files = files(&crawl.directory().join("out"));
    let archived = kept(&crawl);
    let links = lead_somewhere(&files, &archived);
    let home = format!("{HOST}+{}/index.html", server.port());
    let reached: BTreeSet<String> = links
        .iter()
        .flat_map(|(name, links)| links.iter().filter_map(|link| target(name, link)))
        .collect();
    assert!(links[&home].len() > 20, "{:?}", links[&home]);
    for path in [
        "icon.png",
        "style/main.css",
        "img/one-2x.png",
        "img/paper.png",
    ] {
        let file = format!("{HOST}+{}/{path}", server.port());
        assert!(reached.contains(&file), "{file}: {reached:?}");
    }
    for (url, file) in [("/img/one.png", "img/one.png"), ("/app.js", "app.js")] {
        let sent = server.log().body(HOST, url).unwrap();
        let file = format!("{HOST}+{}/{file}", server.port());
        assert!(files[&file] == *sent, "{file} is as it was sent");
    }
}

/// Paths that would be other files, or none, if they were used as they are.
const HOSTILE: [&str; 14] = [
    "/..%2F..%2F..%2Fetc%2Fpasswd",
    "/%5C%5Chost%5Cshare",
    "/C:%5Cwindows",
    "/a%00b",
    "/CON",
    "/lpt1.txt",
    "/both",
    "/both/below",
    "/Twin",
    "/twin",
    "/twin?x=1&y=../..",
    "/dot./space%20/x",
    "/caf%C3%A9/%E9",
    "/a//b/./c",
];

fn hostile_site() -> Server {
    Server::spawn_thread(Site::new(|request: &Request| {
        let long = format!("/{}", "x".repeat(300));
        let mut known = HOSTILE.map(str::to_owned).to_vec();
        known.push(long);
        if request.path() == "/" {
            let mut links = known;
            links.push("http://elsewhere.test/%2e%2e/".to_owned());
            return page(1, &links);
        }
        let target = request.target.replace("/./", "/");
        let place = known
            .iter()
            .position(|path| path.replace("/./", "/") == target);
        match place {
            Some(place) if target == "/both" => {
                Reply::document("application/octet-stream", vec![0, place as u8, 255])
            }
            Some(place) => page(100 + place as u64, NONE),
            None => Reply::status(404),
        }
    }))
}

#[test]
fn hostile_urls_have_files_of_their_own_inside() {
    let server = hostile_site();
    let crawl = Crawl::of(&server, &["site.test"])
        .seeds(&[server.url("site.test", "/")])
        .with(&["--concurrency=1"]);
    crawl.complete();
    let before: BTreeSet<PathBuf> = listed(crawl.directory());
    let summary = unpack(&crawl, &[]);
    let mut after = listed(crawl.directory());
    after.remove(&crawl.directory().join("out"));
    assert_eq!(after, before, "nothing is written beside");
    let files = files(&crawl.directory().join("out"));
    let archived = kept(&crawl);
    assert_eq!(summary["files"], archived.len());
    assert_eq!(files.len(), HOSTILE.len() + 2, "{:?}", files.keys());
    let links = lead_somewhere(&files, &archived);
    let index = format!("site.test+{}/index.html", server.port());
    let inside = links[&index].iter().filter_map(|link| target(&index, link));
    let inside: BTreeSet<String> = inside.collect();
    assert_eq!(inside.len(), HOSTILE.len() + 1, "{inside:?}");
    let folded: BTreeSet<String> = files.keys().map(|name| name.to_lowercase()).collect();
    assert_eq!(folded.len(), files.len(), "{:?}", files.keys());
    for name in files.keys() {
        let (host, path) = name.split_once('/').unwrap();
        assert_eq!(host, format!("site.test+{}", server.port()));
        for part in path.split('/') {
            let stem = part.split('.').next().unwrap().to_uppercase();
            assert!(
                part.len() <= 255 && !["CON", "LPT1"].contains(&&*stem),
                "{name}"
            );
        }
    }
}

fn listed(directory: &Path) -> BTreeSet<PathBuf> {
    let parent = directory.parent().unwrap().join("etc");
    assert!(!parent.exists());
    fs::read_dir(directory)
        .unwrap()
        .map(|item| item.unwrap().path())
        .collect()
}

#[test]
fn content_is_decoded_and_links_go_through_bases_and_redirects() {
    let site = Site::new(|request: &Request| match request.path() {
        "/" => Reply::html(html(
            "<base href=\"/deep/\"><link rel=stylesheet href=\"../style?v=1\" integrity=sha256-x>\
             <meta http-equiv=refresh content=\"900; url=page\">",
            &format!(
                "<p>{}</p><a href=page#part>p</a> <a href=/moved#top>m</a> \
                 <a href=/none>n</a><img srcset=\"/one.png 1x, /two.png 2x\">",
                prose(1, 150)
            ),
        )),
        "/deep/page" => {
            let text = format!("<title>caf\u{e9}</title><p>{}</p>", prose(2, 150));
            let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
            Reply::document("text/html; charset=iso-8859-1", latin)
        }
        "/moved" => Reply::redirect(302, "/target"),
        "/target" => page(3, NONE),
        "/style" => {
            let css = "@import 'more.css';body{background:url(one.png)}";
            Reply::document("text/css", foreign_warc::gzip(css.as_bytes()))
                .header("Content-Encoding", "gzip")
        }
        "/more.css" => Reply::document("text/css", "p{color:red}"),
        "/one.png" => Reply::document("image/png", &b"\x89PNG one"[..]),
        _ => Reply::status(404),
    });
    let server = Server::spawn_thread(site);
    let crawl = Crawl::of(&server, &["site.test"])
        .seeds(&[server.url("site.test", "/")])
        .with(&["--page-requisites=any", "--tries=1"]);
    crawl.complete();
    let summary = unpack(&crawl, &[]);
    let all = files(&crawl.directory().join("out"));
    let host = format!("site.test+{}", server.port());
    let text = |name: &str| String::from_utf8(all[&format!("{host}/{name}")].clone()).unwrap();
    let index = text("index.html");
    for part in [
        "href=\"style@v=1.css\"",
        "content=\"900; url='deep/page.html'\"",
        "<a href=\"deep/page.html#part\">",
        "<a href=\"target.html#top\">",
        &format!("<a href=\"{}\">", server.url("site.test", "/none")),
        &format!(
            "srcset=\"one.png 1x, {} 2x\"",
            server.url("site.test", "/two.png")
        ),
    ] {
        assert!(index.contains(part), "{part} in {index}");
    }
    assert!(
        !index.contains("integrity") && !index.contains("/deep/\""),
        "{index}"
    );
    assert_eq!(
        text("style@v=1.css"),
        "@import \"more.css\";body{background:url(\"one.png\")}"
    );
    assert!(text("deep/page.html").starts_with("\u{feff}<title>café</title>"));
    assert_eq!(all[&format!("{host}/one.png")], b"\x89PNG one");
    assert_eq!(summary["redirected"], 1);
}

#[test]
fn a_recrawl_and_the_crawl_before_it_are_unpacked_together() {
    let day = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let today = std::sync::Arc::clone(&day);
    let server = Server::spawn_thread(Site::new(move |request: &Request| {
        let day = today.load(std::sync::atomic::Ordering::SeqCst);
        match request.path() {
            "/" if request.header("if-none-match") == Some("\"1\"") => Reply::document("", "")
                .without_header("Content-Type")
                .with_status(304)
                .header("ETag", "\"1\""),
            "/" => page(1, &["/2", "/3"]).header("ETag", "\"1\""),
            "/2" => page(20 + day, NONE),
            "/3" if day == 0 => page(3, NONE),
            _ => Reply::status(404),
        }
    }));
    let crawl = || {
        Crawl::of(&server, &["site.test"])
            .seeds(&[server.url("site.test", "/")])
            .with(&["--tries=1"])
    };
    let old = crawl();
    old.complete();
    day.store(1, std::sync::atomic::Ordering::SeqCst);
    let earlier = old.out();
    let earlier = earlier.to_str().unwrap();
    let new = crawl().with(&["--since", earlier]);
    new.complete();

    let alone = new.run_command(&["unpack", "crawl", "-o", "alone"]);
    assert_eq!(alone.code, Some(0), "{alone:?}");
    assert!(
        alone
            .errors
            .contains("also give the earlier crawl (--since)"),
        "{alone:?}"
    );
    assert_eq!(
        (&alone.json()["files"], &alone.json()["without_content"]),
        (&1.into(), &1.into())
    );

    let run = new.run_command(&["unpack", earlier, "crawl", "-o", "out"]);
    assert_eq!((run.code, &*run.remarks()), (Some(0), ""), "{run:?}");
    let files = files(&new.directory().join("out"));
    assert_eq!(files.len(), 3);
    let page = |name: &str| {
        let name = format!("site.test+{}/{name}", server.port());
        String::from_utf8(files[&name].clone()).unwrap()
    };
    assert!(page("index.html").contains("<a href=\"2.html\">"));
    assert!(
        page("2.html").contains(prose(21, 150).trim()),
        "the newest version"
    );
    assert!(
        page("3.html").contains(prose(3, 150).trim()),
        "it is gone since"
    );
}

#[test]
fn a_file_of_a_crawl_is_unpacked_with_its_duplicates() {
    let (_toy, _server, crawl) = crawled_toy_web();
    let whole = unpack(&crawl, &[]);
    let file = crawl.archive_files().remove(0);
    let run = crawl.run_command(&["unpack", file.to_str().unwrap(), "-o", "alone"]);
    assert_eq!((run.code, &*run.remarks()), (Some(0), ""), "{run:?}");
    for name in ["files", "links_to_files", "links_to_web", "redirected"] {
        assert_eq!(run.json()[name], whole[name], "{name}");
    }
    assert!(whole["redirected"].as_u64().unwrap() > 5, "{whole}");
}

#[test]
fn files_of_other_crawlers_are_unpacked() {
    let crawl = Crawl::bare();
    let records = [
        foreign_warc::page(
            "http://toy.test/",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked",
            "1b\r\n<a href=note.txt>a note</a>\r\n0\r\n\r\n",
        ),
        foreign_warc::record(
            "resource",
            "http://toy.test/note.txt",
            "text/plain",
            "a note",
        ),
        foreign_warc::record(
            "metadata",
            "http://toy.test/other",
            "application/json",
            "{}",
        ),
        foreign_warc::record("resource", "urn:pageinfo:x", "application/json", "{}"),
    ];
    let bytes: Vec<u8> = records
        .iter()
        .flat_map(|record| foreign_warc::gzip(record.as_bytes()))
        .collect();
    crawl.write("wget.warc.gz", bytes);
    let run = crawl.run_command(&["unpack", "wget.warc.gz", "-o", "out", "--format=table"]);
    assert_eq!((run.code, &*run.remarks()), (Some(0), ""), "{run:?}");
    let opened = "open out/toy.test/index.html in a browser";
    assert!(run.errors.contains("wrote out: 2 files, ") && run.errors.contains(opened));
    let files = files(&crawl.directory().join("out"));
    assert_eq!(
        files["toy.test/index.html"],
        b"<a href=\"note.txt\">a note</a>"
    );
    assert_eq!(files["toy.test/note.txt"], b"a note");
}

#[test]
fn a_directory_that_is_in_the_way_is_refused_or_kept() {
    let crawl = Crawl::bare();
    let page = foreign_warc::page(
        "http://toy.test/",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html",
        "<p>one",
    );
    crawl.write("wget.warc.gz", foreign_warc::gzip(page.as_bytes()));
    let run = |output: &str, more: &[&str]| {
        crawl.run_command(&[&["unpack", "wget.warc.gz", "-o", output], more].concat())
    };
    fs::create_dir(crawl.directory().join("empty")).unwrap();
    assert_eq!(run("empty/", &[]).code, Some(0));
    run("empty", &[]).assert_error(2, "empty exists and is not empty");
    let forced = run("empty", &["--force"]);
    assert_eq!(forced.code, Some(0), "{forced:?}");
    assert!(
        forced.errors.starts_with("the earlier empty is empty.old-"),
        "{forced:?}"
    );
    assert_eq!(
        listed(crawl.directory())
            .iter()
            .filter(|path| path.join("toy.test/index.html").exists())
            .count(),
        2
    );
    crawl.write("file", "old");
    run("file", &["--force"]).assert_error(2, "file exists and is not a directory");
    std::os::unix::fs::symlink("empty", crawl.directory().join("link")).unwrap();
    run("link", &["--force"]).assert_error(2, "link exists and is not a directory");
    fs::create_dir(crawl.directory().join("busy.part")).unwrap();
    run("busy", &[]).assert_error(2, "busy.part exists");
    fs::create_dir(crawl.directory().join("held")).unwrap();
    crawl.write("held/a.warc.gz", foreign_warc::gzip(page.as_bytes()));
    crawl
        .run_command(&["unpack", "held/a.warc.gz", "-o", "held", "--force"])
        .assert_error(2, "held would overwrite the input held/a.warc.gz");
    run("busy/..", &[]).assert_error(2, "busy/.. is not a new directory");
    crawl
        .run_command(&["unpack", "nowhere", "-o", "out"])
        .assert_error(2, "nowhere does not exist");
    assert!(!crawl.directory().join("out.part").exists());
}

#[test]
fn a_full_disk_leaves_nothing_and_the_message_says_how_much_was_written() {
    let crawl = Crawl::bare();
    let record = |path: &str, length: usize| {
        let page = foreign_warc::page(
            &format!("http://toy.test/{path}"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain",
            &"x".repeat(length),
        );
        foreign_warc::gzip(page.as_bytes())
    };
    crawl.write(
        "wget.warc.gz",
        [record("small", 10), record("large", 1 << 20)].concat(),
    );
    let run = crawl.run_command_with_file_limit(64, &["unpack", "wget.warc.gz", "--output", "out"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(
        run.errors
            .contains("cannot write out.part/toy.test/large, after "),
        "{run:?}"
    );
    assert!(run.errors.contains(" files with "), "{run:?}");
    for name in ["out", "out.part", "out.runs"] {
        assert!(!crawl.directory().join(name).exists(), "{name}");
    }
}
