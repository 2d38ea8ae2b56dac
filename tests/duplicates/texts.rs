//! Pages that are decided by their texts: views, frames, and the file that keeps what is learned.

use serde_json::Value;
use testkit::known_sites::{self, KnownSite};
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{html, prose};

const POSTS: u64 = 40;

struct Blog {
    known: KnownSite,
    server: Server,
    crawl: Crawl,
}

/// A crawl of a blog whose printed views are seeds, so that they come before their pages.
fn blog() -> Blog {
    let known = known_sites::blog(POSTS);
    let server = Server::spawn_thread(known.site());
    let printed = (0..POSTS).map(|post| server.url("journal.test", &format!("/print/{post}")));
    let mut seeds: Vec<String> = printed.collect();
    seeds.push(server.url("journal.test", "/"));
    let crawl = Crawl::of(&server, &known.hosts())
        .with(&["--no-index"])
        .seeds(&seeds);
    Blog {
        known,
        server,
        crawl,
    }
}

impl Blog {
    /// Returns the visits of the printed views.
    fn printed(&self) -> Vec<Value> {
        let visits = self.crawl.visits().into_iter();
        visits
            .filter(|visit| visit["url"].as_str().unwrap().contains("/print/"))
            .collect()
    }

    fn lost(&self) -> Vec<String> {
        let visits = self.crawl.visits().into_iter();
        let unique = visits.filter(|visit| visit["verdict"] == "unique");
        let port = format!(":{}", self.server.port());
        let addresses: Vec<String> = unique
            .map(|visit| visit["url"].as_str().unwrap()["http://".len()..].replacen(&port, "", 1))
            .collect();
        let on_host = |address: &&str| address.starts_with("journal.test/");
        let lost = self.known.lost(addresses.iter().map(String::as_str));
        lost.into_iter()
            .filter(on_host)
            .map(str::to_owned)
            .collect()
    }
}

#[test]
fn a_printed_view_that_came_before_its_page_is_archived_and_exported_as_its_near_duplicate() {
    let blog = blog();
    blog.crawl.complete();
    let printed = blog.printed();
    assert_eq!(printed.len() as u64, POSTS);
    let mut views = 0;
    for visit in &printed {
        // It was kept when it came, whatever the export says of it now.
        assert!(visit["warc_file"].is_string(), "{visit}");
        let Some(page) = visit["duplicate_of"].as_str() else {
            continue;
        };
        views += 1;
        assert_eq!(visit["verdict"], "near-duplicate", "{visit}");
        let reason = visit["reason"].as_str().unwrap();
        assert!(reason.contains(page), "{visit}");
        let view = visit["url"].as_str().unwrap();
        assert_eq!(page, view.replace("/print/", "/post/"));
    }
    // The first ones are compared before the frame of their pages is known.
    assert!(views * 2 >= printed.len(), "{views} of {POSTS} are views");
    assert_eq!(blog.lost(), Vec::<String>::new());
    blog.crawl.is_sound();
}

/// The views of the first session are found by their pages in the second, which reads the log.
#[test]
fn a_session_knows_the_kept_pages_of_the_session_before_it() {
    let blog = blog();
    let first = blog.crawl.run_with(&["--max-pages", "45"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let archived = blog.printed().len();
    assert!(archived >= 30, "{archived} of the first 45 pages are views");
    let second = blog.crawl.run_with(&["--max-pages", "1000"]);
    assert_eq!(second.code, Some(0), "{second:?}");
    let printed = blog.printed();
    let views = printed.iter();
    let views = views
        .filter(|visit| visit["verdict"] == "near-duplicate")
        .count();
    assert!(views * 2 >= printed.len(), "{views} of {POSTS} are views");
    assert_eq!(blog.lost(), Vec::<String>::new());
    blog.crawl.is_sound();
}

#[test]
fn a_crawl_goes_on_without_its_kept_pages_if_their_files_are_damaged_and_loses_nothing() {
    let blog = blog();
    let first = blog.crawl.run_with(&["--max-pages", "45"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    for name in ["frames", "kept-pages"] {
        let file = blog.crawl.out().join("state").join(name);
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.drain(..7);
        std::fs::write(&file, bytes).unwrap();
    }
    let listed = blog.crawl.run_command(&["frames", "crawl"]);
    listed.assert_error(2, "cannot read the boilerplate of crawl");

    let second = blog.crawl.run_with(&["--max-pages", "1000"]);
    assert_eq!(second.code, Some(0), "{second:?}");
    for warning in [
        "the boilerplate of hosts is learned again",
        "only by their signatures",
    ] {
        assert!(second.errors.contains(warning), "{second:?}");
    }
    let pages = blog.crawl.visits().len();
    assert!(pages > 45, "the second session visited none: {pages}");
    assert_eq!(blog.lost(), Vec::<String>::new());
    blog.crawl.is_sound();
}

#[test]
fn the_frame_of_a_host_is_listed_with_the_pages_that_have_each_block() {
    let blog = blog();
    blog.crawl.complete();
    let hosts = blog.crawl.run_command(&["frames", "crawl"]).json();
    assert_eq!(hosts["host"], "journal.test");
    let pages = hosts["pages"].as_u64().unwrap();

    let lines = blog.crawl.json_lines(&["frames", "crawl", "journal.test"]);
    let line = |words: &str| {
        let of_words = |line: &&Value| line["block"].as_str().unwrap().contains(words);
        lines.iter().find(of_words)
    };
    let terms = line("may be copied by everybody").unwrap();
    assert_eq!(terms["role"], "frame");
    assert!((1..=pages).contains(&terms["pages"].as_u64().unwrap()));
    assert!(line("Our letter").is_some(), "{lines:?}");
    assert!(line("A reader").is_none(), "{lines:?}");

    let other = blog.crawl.run_command(&["frames", "crawl", "other.test"]);
    other.assert_error(2, "learned any boilerplate of other.test");
}

#[test]
fn a_crawl_that_compares_signatures_alone_says_that_it_learns_no_frame() {
    let blog = blog();
    let run = blog.crawl.run_with(&["--resemblance", "0.8"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let frames = blog.crawl.run_command(&["frames", "crawl"]);
    frames.assert_error(2, "has not learned any boilerplate");
}

/// The index of signatures knows the first of two pages that differ in a number, and not the
/// second, which was kept for its text. So its copies to the byte were archived again each time.
#[test]
fn a_copy_of_a_page_that_was_kept_for_its_text_is_an_exact_duplicate() {
    const HOST: &str = "sizes.test";
    let server = Server::spawn_thread(Site::new(|request| {
        let size = match request.path() {
            "/" => {
                let links: String = ["/a", "/b", "/copy"]
                    .map(|path| format!("<a href=\"{path}\">{path}</a> "))
                    .concat();
                return Reply::html(html("<title>Front</title>", &links));
            }
            "/a" => 780,
            "/b" | "/copy" => 260,
            _ => return Reply::status(404),
        };
        let text = format!(
            "<h1>Memory</h1><p>{}</p><p>The system needs {size} MB of memory.</p>",
            prose(11, 300)
        );
        Reply::html(html("<title>Memory</title>", &text))
    }));
    let crawl = Crawl::of(&server, &[HOST])
        .with(&["--concurrency-per-host", "1"])
        .seeds(&[server.url(HOST, "/")]);
    crawl.complete();
    let visits = ["/a", "/b", "/copy"].map(|path| crawl.visit(&server.url(HOST, path)));
    assert_eq!(visits[0]["verdict"], "unique");
    assert_eq!(visits[1]["verdict"], "unique");
    let reason = visits[1]["reason"].as_str().unwrap();
    assert!(reason.contains("a number differs"), "{reason}");
    assert_eq!(visits[2]["verdict"], "exact-duplicate");
    assert_eq!(visits[2]["duplicate_of"], visits[1]["url"]);
    crawl.is_sound();
}
