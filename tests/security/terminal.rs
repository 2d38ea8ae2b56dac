//! The terminal: text of a site never controls it.

use testkit::{Reply, Server, Site};

use crate::support::pages::{article, html, prose};
use crate::support::{CommandOutput, Crawl};

const HOST: &str = "evil.test";

/// Control sequences that set the window's title, clear the screen, ring, go back, and reverse the
/// text direction.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J\u{9d}0;owned\u{9c}\
    \r\u{8}\u{b}\u{c}\u{e}\u{7f}\u{85}\u{202e}gpj\u{2066}\u{2028}";

/// The part of it that HTTP allows in a field.
const HOSTILE_FIELD: &str = "\u{9b}2J\u{85}\u{202e}gpj\u{2028}";

fn hostile_page(number: u64, links: &str) -> String {
    let head = format!(
        "<title>{HOSTILE} {number}</title><meta name=\"description\" content=\"{HOSTILE}\">"
    );
    let body = format!(
        "<h1>{HOSTILE}</h1><p>{} {HOSTILE}</p>{links}",
        prose(number, 200)
    );
    html(&head, &body)
}

fn site() -> Site {
    Site::new(|request| {
        let reply = match request.path() {
            "/robots.txt" => Reply::text(format!(
                "User-agent: *\nDisallow: /closed{HOSTILE}\nDisallow: /closed\n# {HOSTILE}\n"
            )),
            "/" => {
                let links: String = [
                    &format!("/a{HOSTILE}"),
                    "/again",
                    "/nearly",
                    "/moved",
                    "/astray",
                    "/cut",
                    "/garbled",
                    "/closed",
                    "/closed/%1b%5b2J",
                    &format!("/missing?{HOSTILE}"),
                    "/%1b%9b%e2%80%ae",
                    "/text",
                ]
                .map(|link| format!("<a href=\"{link}\">{HOSTILE}</a>"))
                .concat();
                Reply::html(hostile_page(1, &links))
            }
            "/again" => Reply::html(hostile_page(1, "")),
            "/nearly" => Reply::html(hostile_page(1, "<p>And no more.</p>")),
            "/moved" => Reply::redirect(301, format!("/to{HOSTILE_FIELD}")),
            "/astray" => Reply::redirect(301, format!("http://elsewhere.test/{HOSTILE_FIELD}")),
            "/cut" => Reply::raw(format!("HTTP/1.1 200 {HOSTILE}\r\nX: {HOSTILE}\r\n\r\n")),
            "/garbled" => {
                Reply::html(article(7, &[] as &[&str])).header("Content-Encoding", HOSTILE_FIELD)
            }
            "/text" => Reply::document(
                format!("text/{HOSTILE_FIELD}; charset={HOSTILE_FIELD}"),
                HOSTILE,
            ),
            path if path.starts_with("/missing") => Reply::status(404),
            path => Reply::html(hostile_page(path.len() as u64, "")),
        };
        reply
            .header("ETag", format!("\"{HOSTILE_FIELD}\""))
            .header("Server", HOSTILE_FIELD)
    })
}

fn commands(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_harmless(what: &str, text: &str) {
    let place = text.find(commands);
    assert_eq!(
        place,
        None,
        "{what}: {:?}",
        place.map(|at| &text[at.saturating_sub(60)..])
    );
}

fn check(what: &[&str], run: &CommandOutput) {
    is_harmless(&format!("{what:?}"), &run.output);
    is_harmless(&format!("{what:?}"), &run.errors);
}

#[test]
fn no_command_lets_a_control_character_through() {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[
            server.url(HOST, "/"),
            format!("not a URL {HOSTILE}"),
            format!("http://{HOST}:99999/{HOSTILE}"),
        ])
        .with(&["--tries", "1"]);
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    check(&["crawl"], &run);
    let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
    is_harmless("crawl.log", &log);
    assert!(
        log.lines()
            .all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
    );

    // The sequence is in the crawl, so the commands below have something to filter.
    let titles = crawl.visits();
    let hostile = titles.iter().filter(|visit| {
        visit["title"]
            .as_str()
            .is_some_and(|title| title.contains(commands))
    });
    assert!(hostile.count() > 0, "{titles:?}");

    crawl.write("page.html", hostile_page(9, "<a href=\"/x\">x</a>"));
    crawl.write("text.txt", format!("{} {HOSTILE}", prose(1, 200)));
    crawl.write(
        "robots.txt",
        format!("User-agent: *\nDisallow: /{HOSTILE}\n"),
    );
    let line = |id: &str| {
        serde_json::json!({"id": format!("{id}{HOSTILE}"), "text": prose(1, 200)}).to_string()
    };
    crawl.write(
        "documents.jsonl",
        format!("{}\n{}\nno JSON {HOSTILE}\n", line("a"), line("b")),
    );
    crawl.write("wrong.toml", format!("delay = \"{HOSTILE}\"\n"));
    std::fs::create_dir(crawl.directory().join("names")).unwrap();
    crawl.write(
        &format!("names/{}", HOSTILE.replace('\0', "")),
        prose(1, 200),
    );

    let home = server.url(HOST, "/");
    let hostile_url = format!("{home}{HOSTILE}");
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["--out", "crawl"],
        vec!["--out", HOSTILE, "--seeds", HOSTILE],
        vec!["--out", "other", "--config", "wrong.toml", &home],
        vec![
            "--out",
            "other",
            "--include",
            HOSTILE,
            "--include",
            "(",
            &home,
        ],
        vec!["--out", "other", "--user-agent", HOSTILE, &home],
        vec!["--out", "other", "--against", HOSTILE, &home],
        vec!["--out", "other", "--delay", HOSTILE, &home],
        vec!["--out", "other", "--resolve", HOSTILE, &home],
        vec![HOSTILE],
        vec!["export", "crawl", "--format", HOSTILE],
        vec!["export", "crawl", "--format", "jsonl"],
        vec!["export", "crawl", "--format", "csv"],
        vec!["report", "crawl"],
        vec!["report", "crawl", "--output", "-"],
        vec!["report", "crawl", "--output", HOSTILE],
        vec!["report", "crawl", "--format", "json"],
        vec!["export", HOSTILE],
        vec!["extract", "page.html", "--format", "text"],
        vec!["extract", "page.html", "--format", "json"],
        vec!["extract", "text.txt", "--url", HOSTILE],
        vec!["fingerprint", "page.html", "names", "documents.jsonl"],
        vec!["fingerprint", HOSTILE],
        vec!["robots", "robots.txt", "--agent", HOSTILE, &hostile_url],
        vec!["robots", "robots.txt", "--agent", "a", HOSTILE],
        vec!["canonicalize", &hostile_url],
        vec!["canonicalize", "--surt", &hostile_url],
        vec!["canonicalize", HOSTILE],
    ];
    let visits = crawl.visits();
    let visited: Vec<String> = visits
        .iter()
        .map(|visit| visit["url"].as_str().unwrap().to_owned())
        .collect();
    let closed = server.url(HOST, "/nowhere");
    let asked = visited
        .iter()
        .map(String::as_str)
        .chain([hostile_url.as_str(), &closed, HOSTILE]);
    let formats = ["table", "json"];
    for format in formats {
        for what in [
            &["status", "crawl"][..],
            &["verify", "crawl"],
            &["rebuild", "crawl"],
            &["rebuild", "crawl", "--from-archive"],
            &["duplicates", "crawl"],
            &["duplicates", "crawl", "--clusters"],
            &["similar", "crawl", &home],
            &["similar", "crawl", "page.html"],
            &["similar", "crawl", HOSTILE],
            &["compare", "page.html", "text.txt"],
            &["compare", "page.html", HOSTILE],
            &["dedup", "documents.jsonl", "names", "text.txt"],
            &["dedup", "documents.jsonl", "names", "text.txt", "--pairs"],
            &[
                "dedup",
                "documents.jsonl",
                "names",
                "text.txt",
                "--clusters",
            ],
        ] {
            commands.push([what, &["--format", format]].concat());
        }
        commands.extend(
            asked
                .clone()
                .map(|url| vec!["why", "crawl", url, "--format", format]),
        );
    }
    for command in &commands {
        check(command, &crawl.run_command(command));
    }
    crawl.is_sound();
}
