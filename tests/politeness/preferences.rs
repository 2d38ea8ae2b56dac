//! Preferences of owners about the use of their pages, and `--respect-preferences`.

use serde_json::{Value, json};
use testkit::{Reply, Server, Site};

use crate::support::pages::{NONE, article, page};
use crate::support::{Crawl, KEY};

const HOST: &str = "site.test";

/// The paths of pages, with the uses that their owner refuses.
const REFUSED: [(&str, &[&str]); 7] = [
    ("/", &["ai_train"]),
    ("/open/", &[]),
    ("/open/header", &["ai_input"]),
    ("/open/meta", &["ai_train"]),
    ("/open/noai", &["ai_train"]),
    ("/open/tdm/", &["ai_train"]),
    ("/open/ai.pdf", &["ai_train"]),
];

/// Returns a page of the site with this in its `head`.
fn with_head(number: u64, head: &str) -> Reply {
    let html = article(number, NONE);
    Reply::html(html.replacen("<head>", &format!("<head>{head}"), 1))
}

/// A site whose owner states preferences in all places.
fn site() -> Server {
    let robots = "User-agent: *\nContent-Signal: search=yes\nContent-Usage: / train-ai=n\n\
                  Content-Usage: /open/ train-ai=y\n";
    let tdm = r#"[{"location": "/open/tdm/", "tdm-reservation": 1}]"#;
    let (noai, tdm_meta) = (
        "<meta name=robots content=noai>",
        "<meta name=tdm-reservation content=1>",
    );
    let links = REFUSED.map(|(path, _)| path);
    Server::spawn_thread(Site::pages([
        ("/robots.txt", Reply::text(robots)),
        (
            "/.well-known/tdmrep.json",
            Reply::document("application/json", tdm),
        ),
        ("/ai.txt", Reply::text("User-Agent: *\nDisallow: *.pdf\n")),
        ("/", page(0, &links)),
        ("/open/", page(1, NONE)),
        (
            "/open/header",
            page(2, NONE).header("Content-Usage", "ai-use=n"),
        ),
        ("/open/meta", with_head(3, tdm_meta)),
        ("/open/noai", with_head(4, noai)),
        ("/open/tdm/", page(5, NONE)),
        ("/open/ai.pdf", page(6, NONE)),
    ]))
}

fn crawled(server: &Server, options: &[&str]) -> Crawl {
    let crawl = Crawl::of(server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    let summary = crawl.run_with(options).summary();
    assert_eq!(summary["finished"], "exhausted");
    crawl.is_sound();
    crawl
}

/// Returns the answers of each visit, in the order of [`REFUSED`].
fn answers(crawl: &Crawl, server: &Server) -> Vec<[Value; 3]> {
    let answers = REFUSED.map(|(path, _)| {
        let mut visit = crawl.visit(&server.url(HOST, path));
        ["ai_train", "ai_input", "search"].map(|column| visit[column].take())
    });
    answers.to_vec()
}

#[test]
fn statements_of_robots_txt_headers_and_pages_are_columns_of_the_export() {
    let server = site();
    let crawl = crawled(&server, &[]);
    let (yes, no, unknown) = (json!(true), json!(false), Value::Null);
    assert_eq!(
        answers(&crawl, &server),
        [
            [&no, &unknown, &yes],
            [&yes, &unknown, &yes],
            [&yes, &no, &yes],
            [&no, &unknown, &yes],
            [&no, &unknown, &yes],
            // Without the option, no further file is requested.
            [&yes, &unknown, &yes],
            [&yes, &unknown, &yes],
        ]
        .map(|row| row.map(Value::clone))
    );
    let log = server.log();
    assert_eq!(log.count(HOST, "/.well-known/tdmrep.json"), 0);
    assert_eq!(log.count(HOST, "/ai.txt"), 0);
    let visit = crawl.visit(&server.url(HOST, "/open/meta"));
    assert_eq!(visit["preference_source"], "tdm-reservation meta");
    let why = crawl.run_command(&["why", "crawl", &server.url(HOST, "/")]);
    let words = "its owner's preferences: train=n (robots.txt content-usage), \
                 search=y (robots.txt content-signal)";
    assert!(why.output.replace("\n", " ").contains(words), "{why:?}");
    assert_eq!(
        crawl.notes_about(&server.url(HOST, "/open/noai"))["preferences"],
        "train=n (noai), search=y (robots.txt content-signal)"
    );
}

#[test]
fn pages_whose_owner_refuses_a_respected_use_are_not_archived_and_their_links_are_followed() {
    let server = site();
    for uses in ["train", "input,search", "train,input"] {
        let crawl = crawled(&server, &["--respect-preferences", uses]);
        for (path, refused) in REFUSED {
            let visit = crawl.visit(&server.url(HOST, path));
            let of_column = |column: &&&str| uses.contains(column.trim_start_matches("ai_"));
            let expected = match refused.iter().find(of_column) {
                Some(_) => "excluded",
                None => "unique",
            };
            assert_eq!(visit["verdict"], expected, "{path} {uses}");
        }
        let visit = crawl.visit(&server.url(HOST, "/open/header"));
        if uses.contains("input") {
            let reason = "its owner refuses the use input (content-usage header)";
            assert_eq!(visit["reason"], reason);
        }
        // The seed is refused, and its links were followed.
        assert_eq!(crawl.visits().len(), REFUSED.len());
    }
}

#[test]
fn files_with_preferences_are_requested_once_and_archived() {
    let server = site();
    let crawl = crawled(&server, &["--respect-preferences", "train"]);
    let log = server.log();
    let targets = log.targets(HOST);
    let first = ["/robots.txt", "/.well-known/tdmrep.json", "/ai.txt"];
    assert_eq!(targets[..3], first);
    // A further session has the statements from its journal.
    let of_session = ["--respect-preferences", "train", "--max-depth", "9"];
    crawl.run_with(&of_session).summary();
    assert_eq!(server.log().targets(HOST).len(), targets.len());
    let find = crawl.run_command(&["search", "crawl", "nothing"]);
    assert_eq!(find.code, Some(0), "{find:?}");
}

#[test]
fn a_site_whose_robots_txt_forbids_the_files_states_nothing_in_them() {
    let server = Server::spawn_thread(Site::pages([
        (
            "/robots.txt",
            Reply::text("User-agent: *\nDisallow: /ai.txt\nDisallow: /.well-known/\n"),
        ),
        ("/ai.txt", Reply::text("User-Agent: *\nDisallow: /\n")),
        ("/", page(0, NONE)),
    ]));
    let crawl = crawled(&server, &["--respect-preferences", "train"]);
    assert_eq!(crawl.visit(&server.url(HOST, "/"))["verdict"], "unique");
    assert_eq!(server.log().targets(HOST), ["/robots.txt", "/"]);
}

/// A broken file must not cost the site.
#[test]
fn a_site_is_crawled_if_its_files_with_preferences_fail() {
    for reply in [Reply::status(500), Reply::status(404), Reply::text("[{")] {
        let server = Server::spawn_thread(Site::pages([
            ("/.well-known/tdmrep.json", reply.clone()),
            ("/ai.txt", reply),
            ("/", page(0, NONE)),
        ]));
        let crawl = crawled(&server, &["--respect-preferences", "train"]);
        assert_eq!(crawl.visit(&server.url(HOST, "/"))["verdict"], "unique");
    }
}

#[test]
fn refused_pages_are_visited_again_when_their_use_is_no_longer_respected() {
    let server = site();
    let crawl = crawled(&server, &["--respect-preferences", "train"]);
    let summary = crawl.run_with(&["--respect-preferences", "none"]).summary();
    assert_eq!(summary["finished"], "exhausted");
    for (path, _) in REFUSED {
        let visit = crawl.visit(&server.url(HOST, path));
        assert_eq!(visit["verdict"], "unique", "{path}");
    }
    crawl.is_sound();
}

#[test]
fn preferences_outlast_a_rebuild_from_the_archive() {
    let server = site();
    let crawl = crawled(&server, &["--respect-preferences", "input"]);
    let before = crawl.visits();
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let run = crawl.run_command(&["rebuild", "crawl", "--hash-key", KEY]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(crawl.visits(), before);
}

#[test]
fn texts_are_exported_without_the_pages_whose_owners_refuse_a_use() {
    let server = site();
    let crawl = crawled(&server, &["--respect-preferences", "search"]);
    let rows = |options: &[&str]| {
        let command = [&["export", "crawl", "--text"], options].concat();
        crawl.json_lines(&command)
    };
    assert_eq!(rows(&[]).len(), REFUSED.len());
    let kept = rows(&["--respect-preferences", "train"]);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept.iter().all(|row| row["ai_train"] == true), "{kept:?}");
    let chunks = rows(&["--chunks", "--respect-preferences", "train"]);
    assert!(!chunks.is_empty() && chunks.len() < rows(&["--chunks"]).len());
}

#[test]
fn preferences_that_nobody_would_read_are_refused() {
    let crawl = Crawl::bare();
    for (options, words) in [
        (
            ["--respect-preferences", "train", "--ignore-robots"].as_slice(),
            "--respect-preferences train is not valid",
        ),
        (
            &["--respect-preferences", "bots"],
            "must be train, input, search or none, got \"bots\"",
        ),
        (
            &["--respect-preferences", ""],
            "must be train, input, search or none, got \"\"",
        ),
    ] {
        let command = [&["http://a.test/"], options].concat();
        crawl.run_command(&command).assert_error(2, words);
    }
}
