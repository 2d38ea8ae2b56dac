//! Verdicts on pages that repeat an earlier page.

use serde_json::{Value, json};
use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, anchor, article, html, page, prose};

const HOSTS: [&str; 2] = ["original.test", "mirror.test"];

/// An article with the day on which it was printed, and by how many it was read. No number, because
/// both of two pages that differ in one are kept.
fn dated(number: u64, date: &str, reads: &str, links: &[&str]) -> Reply {
    let links: Vec<String> = links.iter().map(|link| anchor(link)).collect();
    let links = links.join(" ");
    let text = prose(number, 1_500);
    Reply::html(html(
        "",
        &format!("<p>{text}</p><p>{links}</p><p>Printed on {date}, read {reads}.</p>"),
    ))
}

/// A site of three pages, and a mirror of it whose front page links to pages that only the mirror
/// has.
fn mirrored() -> Server {
    let links = ["/same", "/dated", "http://mirror.test:{port}/"];
    Server::spawn_thread(Site::new(move |request| {
        let port = request.port.unwrap().to_string();
        let front = article(1, &links.map(|link| link.replace("{port}", &port)));
        match (request.host.as_str(), request.path()) {
            (_, "/") => Reply::html(front),
            ("original.test", "/same") => page(
                2,
                &["http://mirror.test:{port}/same".replace("{port}", &port)],
            ),
            ("mirror.test", "/same") => page(
                2,
                &["http://mirror.test:{port}/same".replace("{port}", &port)],
            ),
            ("original.test", "/dated") => dated(
                3,
                "a Tuesday in May",
                "now and then",
                &[&format!("http://mirror.test:{port}/dated")],
            ),
            ("mirror.test", "/dated") => {
                dated(3, "a Friday in June", "very often", &["/only-here"])
            }
            ("mirror.test", "/seed" | "/only-here") => page(4 + request.path().len() as u64, NONE),
            _ => Reply::status(404),
        }
    }))
}

/// A crawl of the site and its mirror, with its server.
fn crawl(on_duplicate: &str) -> (Server, Crawl) {
    let server = mirrored();
    // The mirror's own seed makes it part of the crawl, and is no evidence for its copies.
    let seeds = [
        server.url("original.test", "/"),
        server.url("mirror.test", "/seed"),
    ];
    let crawl = Crawl::of(&server, &HOSTS)
        .seeds(&seeds)
        .with(&["--on-duplicate", on_duplicate]);
    (server, crawl)
}

fn counts(summary: &Value) -> Value {
    let of = |name: &str| summary[name].clone();
    json!([
        of("pages"),
        of("unique"),
        of("exact_duplicates"),
        of("near_duplicates"),
        of("failed"),
        of("excluded")
    ])
}

#[test]
fn a_mirror_is_archived_once_and_pages_that_only_it_has_are_archived() {
    let (server, crawl) = crawl("drop");
    assert_eq!(counts(&crawl.complete()), json!([8, 5, 2, 1, 0, 0]));
    let kept = ["/", "/same", "/dated"].map(|path| server.url("original.test", path));
    let of_the_mirror = ["/seed", "/only-here"].map(|path| server.url("mirror.test", path));
    let mut archived = crawl.archived();
    archived.sort();
    let mut expected = [&kept[..], &of_the_mirror[..]].concat();
    expected.sort();
    assert_eq!(archived, expected);
    let copies = [
        ("/", "exact-duplicate"),
        ("/same", "exact-duplicate"),
        ("/dated", "near-duplicate"),
    ];
    for (path, verdict) in copies {
        let visit = crawl.visit(&server.url("mirror.test", path));
        assert_eq!(visit["verdict"], verdict);
        assert_eq!(visit["duplicate_of"], server.url("original.test", path));
    }
    crawl.is_sound();
}

#[test]
fn near_duplicates_are_recorded_with_distance_and_resemblance() {
    let (server, crawl) = crawl("drop");
    crawl.complete();
    let visit = crawl.visit(&server.url("mirror.test", "/dated"));
    let resemblance = visit["resemblance"].as_f64().unwrap();
    assert!((0.9..=1.0).contains(&resemblance), "{visit}");
    assert!(visit["distance"].as_u64().unwrap() <= 7, "{visit}");
    let (copy, original) = (
        visit["fingerprint"].as_str().unwrap(),
        crawl.visit(&server.url("original.test", "/dated")),
    );
    let bits = |hex: &str| u64::from_str_radix(hex, 16).unwrap();
    let apart = (bits(copy) ^ bits(original["fingerprint"].as_str().unwrap())).count_ones();
    assert_eq!(visit["distance"], apart);
}

#[test]
fn without_links_of_duplicates_pages_that_only_a_mirror_has_are_listed_as_skipped() {
    let (server, crawl) = crawl("drop");
    let crawl = crawl.with(&["--duplicate-links", "none"]);
    assert_eq!(counts(&crawl.complete()), json!([7, 4, 2, 1, 0, 1]));
    let url = server.url("mirror.test", "/only-here");
    assert_eq!(server.log().count("mirror.test", "/only-here"), 0);
    let visit = crawl.visit(&url);
    assert_eq!(visit["verdict"], "excluded");
    assert_eq!(
        visit["reason"],
        "links of duplicates: mirror.test/{duplicates}: not followed (--duplicate-links none)"
    );
    let listed = crawl.run_command(&[
        "skipped",
        "crawl",
        "--why",
        "duplicate-links",
        "--format",
        "json",
    ]);
    assert_eq!(listed.json()["url"], url);
    crawl.is_sound();
}

#[test]
fn kept_duplicates_are_archived_and_marked_and_their_links_are_probed() {
    let (server, crawl) = crawl("keep");
    assert_eq!(counts(&crawl.complete()), json!([8, 5, 2, 1, 0, 0]));
    let url = server.url("mirror.test", "/dated");
    assert_eq!(
        crawl
            .archived()
            .iter()
            .filter(|archived| **archived == url)
            .count(),
        1
    );
    assert_eq!(crawl.notes_about(&url)["verdict"], "near-duplicate");
    assert_eq!(server.log().count("mirror.test", "/only-here"), 1);
    crawl.is_sound();
}

#[test]
fn followed_duplicates_are_archived_and_their_links_are_followed() {
    let (server, crawl) = crawl("follow");
    assert_eq!(counts(&crawl.complete()), json!([8, 5, 2, 1, 0, 0]));
    assert_eq!(
        crawl.visit(&server.url("mirror.test", "/only-here"))["verdict"],
        "unique"
    );
    crawl.is_sound();
}

#[test]
fn the_same_bytes_again_become_a_revisit_that_names_the_original() {
    let (server, crawl) = crawl("drop");
    crawl.complete();
    let (original, copy) = (
        server.url("original.test", "/same"),
        server.url("mirror.test", "/same"),
    );
    let first = crawl.records_about(&original).remove(0);
    let records = crawl.records_about(&copy);
    let kinds: Vec<&str> = records.iter().map(|record| record.kind()).collect();
    assert_eq!(kinds, ["revisit", "request", "metadata"]);
    let revisit = &records[0];
    let profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
    assert_eq!(revisit.field("WARC-Profile"), Some(profile));
    assert_eq!(
        revisit.field("WARC-Refers-To-Target-URI"),
        Some(original.as_str())
    );
    assert_eq!(revisit.field("WARC-Refers-To-Date"), Some(first.date()));
    assert_eq!(revisit.payload(), first.payload());
}

#[test]
fn the_archive_notes_why_a_page_was_not_archived() {
    let (server, crawl) = crawl("drop");
    crawl.complete();
    let url = server.url("mirror.test", "/dated");
    let kinds: Vec<String> = crawl
        .records_about(&url)
        .iter()
        .map(|record| record.kind().to_owned())
        .collect();
    assert_eq!(kinds, ["metadata"]);
    let (notes, visit) = (crawl.notes_about(&url), crawl.visit(&url));
    assert_eq!(notes["verdict"], "near-duplicate");
    assert_eq!(notes["duplicate-of"], server.url("original.test", "/dated"));
    assert_eq!(notes["distance"], visit["distance"].to_string());
    assert_eq!(notes["fingerprint"], visit["fingerprint"].as_str().unwrap());
    assert!(notes["resemblance"].parse::<f64>().unwrap() > 0.9);
    assert_eq!(notes["via"], server.url("original.test", "/dated"));
}

#[test]
fn pages_with_different_content_in_the_same_frame_are_all_kept() {
    let frame = format!("<nav>{}</nav>", prose(99, 800));
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(1, &["/a", "/b", "/c"]),
        "/robots.txt" => Reply::status(404),
        other => {
            let own = prose(other.len() as u64 + u64::from(other.as_bytes()[1]), 60);
            Reply::html(format!(
                "<html><body>{frame}<main><p>{own}</p></main></body></html>"
            ))
        }
    }));
    let crawl = Crawl::of(&server, &["frame.test"]).seeds(&[server.url("frame.test", "/")]);
    assert_eq!(counts(&crawl.complete()), json!([4, 4, 0, 0, 0, 0]));
}

#[test]
fn the_threshold_decides_what_is_near() {
    // About 95 % of the shingles are common.
    let text = |end: u64| format!("<p>{} {}</p>", prose(1, 1_000), prose(end, 25));
    for (resemblance, verdict) in [("1", "unique"), ("0.8", "near-duplicate")] {
        let site = Site::pages([
            (
                "/",
                Reply::html(html("", &format!("{}<a href=\"/b\">b</a>", text(2)))),
            ),
            ("/b", Reply::html(html("", &text(3)))),
        ]);
        let server = Server::spawn_thread(site);
        let crawl = Crawl::of(&server, &["near.test"])
            .seeds(&[server.url("near.test", "/")])
            .with(&["--resemblance", resemblance, "--distance", "7"]);
        crawl.complete();
        let visit = crawl.visit(&server.url("near.test", "/b"));
        assert_eq!(visit["verdict"], verdict, "at {resemblance}: {visit}");
    }
}

#[test]
fn the_scope_of_comparison_may_be_the_host() {
    for (scope, expected) in [
        ("crawl", json!([8, 5, 2, 1, 0, 0])),
        ("domain", json!([8, 8, 0, 0, 0, 0])),
        ("host", json!([8, 8, 0, 0, 0, 0])),
    ] {
        let (_server, crawl) = crawl("drop");
        let crawl = crawl.with(&["--duplicate-scope", scope]);
        assert_eq!(counts(&crawl.complete()), expected, "{scope}");
        crawl.is_sound();
    }
}

#[test]
fn hosts_of_one_domain_are_compared_within_the_domain() {
    let hosts = ["www.site.test", "m.site.test", "other.test"];
    for (scope, unique) in [("crawl", 1), ("domain", 2), ("host", 3)] {
        let server = Server::spawn_thread(Site::new(|request| match request.path() {
            "/" => page(1, NONE),
            _ => Reply::status(404),
        }));
        let seeds = hosts.map(|host| server.url(host, "/"));
        let crawl = Crawl::of(&server, &hosts)
            .seeds(&seeds)
            .with(&["--duplicate-scope", scope]);
        assert_eq!(crawl.complete()["unique"], unique, "{scope}");
    }
}

#[test]
fn crawls_with_one_key_have_the_same_fingerprints_and_a_crawl_keeps_its_key() {
    const HOST: &str = "key.test";
    let server = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let seed = server.url(HOST, "/");
    let crawled = |options: &[&str]| {
        let crawl = Crawl::keyless(&server, &[HOST])
            .seeds(&[&seed])
            .with(&["--delay=0"]);
        let run = crawl.run_with(options);
        assert_eq!(run.code, Some(0), "{run:?}");
        let fingerprint = crawl.visit(&seed)["fingerprint"].clone();
        (crawl, fingerprint)
    };
    let key = "00000000000000aa";
    let (first, one) = crawled(&["--hash-key", key]);
    let (_second, two) = crawled(&["--hash-key", key]);
    let (_third, three) = crawled(&["--hash-key", "00000000000000ab"]);
    let (_fourth, drawn) = crawled(&[]);
    assert_eq!(one, two);
    assert!(one != three && one != drawn && three != drawn);

    assert_eq!(first.run_with(&["--hash-key", key]).code, Some(0));
    assert_eq!(first.run().code, Some(0));
    let other = first.run_with(&["--hash-key", "00000000000000ac", "--quiet"]);
    other.assert_error(
        2,
        "begun with another --hash-key: continue without the option, or choose another --out",
    );
    let settings = std::fs::read_to_string(first.out().join("crawler.toml")).unwrap();
    let archived = first.records();
    let texts = archived
        .iter()
        .map(|record| String::from_utf8_lossy(&record.block).into_owned());
    assert!(
        texts.chain([settings]).all(|text| !text.contains(key)),
        "the key is not disclosed"
    );
}

#[test]
fn learned_tf_idf_frequencies_outlast_a_session() {
    let (server, crawl) = crawl("drop");
    let crawl = crawl.with(&["--features", "word:1+tf-idf", "--stop-words", "en"]);
    crawl.complete();
    let kept = std::fs::read_to_string(crawl.out().join("state/frequencies.txt")).unwrap();
    let pages: Vec<Value> = crawl
        .visits()
        .into_iter()
        .filter(|visit| visit["status"] == 200)
        .collect();
    assert!(
        kept.starts_with(&format!("documents\t{}\t", pages.len())),
        "{kept}"
    );
    assert_eq!(
        crawl.visit(&server.url("mirror.test", "/dated"))["verdict"],
        "near-duplicate"
    );
    let url = server.url("original.test", "/dated");
    assert_eq!(crawl.run_command(&["similar", "crawl", &url]).code, Some(0));
    crawl.complete();
    let again = std::fs::read_to_string(crawl.out().join("state/frequencies.txt")).unwrap();
    assert_eq!(again, kept);
    let other = ["--out", "crawl", "--stop-words", "de"];
    crawl.run_command(&other).assert_error(2, "stop words");
}

/// Links of duplicates waited until the whole crawl had nothing else: beside a site of a million
/// pages, those of all other sites waited for weeks.
#[test]
fn links_of_a_duplicate_wait_for_no_other_site() {
    let (large, asked) = (Gate::new(), Gate::new());
    let (held, reached) = (large.clone(), asked.clone());
    let server = Server::spawn_thread(Site::new(move |request| {
        match (request.host.as_str(), request.path()) {
            ("large.test", "/") => page(1, NONE).hold(&held),
            ("small.test", "/") => page(2, &["/a", "/b"]),
            ("small.test", "/a") => page(3, NONE),
            ("small.test", "/b") => page(3, &["/behind"]),
            ("small.test", "/behind") => page(4, NONE).hold(&reached),
            _ => Reply::status(404),
        }
    }));
    let hosts = ["large.test", "small.test"];
    let crawl = Crawl::of(&server, &hosts).seeds(&hosts.map(|host| server.url(host, "/")));
    let running = crawl.start();
    asked.arrivals_blocking(1);
    asked.open();
    large.open();
    assert_eq!(running.end().code, Some(0));
    crawl.is_sound();
}

/// The rule of the paper of Manku, Jain and Das Sarma, for comparison: `dedup` had it, a crawl not.
#[test]
fn with_verify_off_fingerprints_within_the_distance_decide_alone() {
    let paths: Vec<String> = (0..30).map(|number| format!("/{number}")).collect();
    let mut pages = vec![("/".to_owned(), page(77, &paths))];
    for (number, path) in (0..).zip(&paths) {
        // Ever more words are others, and the subjects and the numbers differ.
        let text = format!(
            "{} {}",
            prose(1, 300),
            prose(100 + number, number as usize * 4)
        );
        let html = format!("<title>Number {number}</title><main><p>{text}</p></main>");
        pages.push((path.clone(), Reply::html(html)));
    }
    let server = Server::spawn_thread(Site::pages(pages));
    let crawl = Crawl::of(&server, &["paper.test"])
        .seeds(&[server.url("paper.test", "/")])
        .with(&["--concurrency", "1", "--verify", "off", "--distance", "5"]);
    crawl.complete();
    let (mut kept, mut repeats): (Vec<u64>, u32) = (Vec::new(), 0);
    for visit in crawl.visits().iter().filter(|visit| visit["status"] == 200) {
        let fingerprint = u64::from_str_radix(visit["fingerprint"].as_str().unwrap(), 16).unwrap();
        let is_near = kept.iter().any(|one| (one ^ fingerprint).count_ones() <= 5);
        let expected = if is_near { "near-duplicate" } else { "unique" };
        assert_eq!(visit["verdict"], expected, "{visit}");
        repeats += u32::from(is_near);
        if !is_near {
            kept.push(fingerprint);
        }
    }
    assert!(
        repeats >= 3 && kept.len() >= 4,
        "{repeats} and {}",
        kept.len()
    );
    crawl.is_sound();
    let both = [
        "--verify",
        "off",
        "--resemblance",
        "0.9",
        "--out",
        "other",
        "http://a.test/",
    ];
    crawl.run_command(&both).assert_error(2, "resemblance");
}
