//! `compare --diff` and `duplicates --diff`: the words in which two texts differ.

use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::cdxj::{index_of, of_files};
use crate::support::pages::{NONE, anchor, article, html, prose};
use crate::support::{Crawl, KEY};

const HOST: &str = "tides.test";

#[test]
fn the_words_in_which_two_files_differ_are_marked() {
    let crawl = Crawl::bare();
    let (head, tail) = (prose(1, 60), prose(2, 60));
    crawl.write(
        "a.html",
        format!("<p>{head}</p><p>The OLD fox, gone.</p><p>{tail}</p>"),
    );
    crawl.write("b.txt", format!("{head}\nthe new fox\n{tail}!"));
    let compare = ["compare", "a.html", "b.txt", "--diff"];
    let table = crawl.run_command(&[&compare[..], &["--format", "table"]].concat());
    for line in [
        "\nwords: 2 only in a, 1 only in b, of 124 and 123\n",
        "\n@@ -1 +1 @@\n",
        "\nthe [-OLD-]{+new+} fox [-gone.-]\n",
    ] {
        assert!(table.output.contains(line), "{line:?} in {}", table.output);
    }
    assert!(!table.output.contains('\u{1b}'), "no colours in a pipe");

    let diff = &crawl.run_command(&compare).json()["diff"];
    let runs = diff["runs"].as_array().unwrap();
    let kinds: Vec<_> = runs
        .iter()
        .map(|run| run["run"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["same", "only-a", "only-b", "same", "only-a", "same"]
    );
    let joined = |side| -> String { runs.iter().filter_map(|run| run[side].as_str()).collect() };
    assert_eq!(joined("b"), format!("{head}\nthe new fox\n{tail}!"));
    assert_eq!(joined("a").split_whitespace().count(), 124);
    assert_eq!(runs[1]["a"], "OLD");
    assert_eq!(
        (&diff["words_only_a"], &diff["words_only_b"]),
        (&2.into(), &1.into())
    );

    let same = crawl.run_command(&["compare", "b.txt", "b.txt", "--diff", "--format", "table"]);
    assert!(!same.output.contains("@@"), "{}", same.output);
}

#[test]
fn colours_are_for_terminals_and_a_text_has_none_of_its_own() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", "one \u{1b}[2Jtwo\u{1b}[31m three");
    crawl.write("b.txt", "one \u{202e}2 three");
    let run = |variable: &str| {
        let script = format!("{variable} exec \"$0\" compare a.txt b.txt --diff --format table");
        crawl.start_by(&["sh"], &script).end().output
    };
    let coloured = run("CLICOLOR_FORCE=1");
    let marked = "one [-\\u{1b}[2Jtwo\\u{1b}[31m-]";
    let red = marked
        .replace("[-", "\u{1b}[31m[-")
        .replace("-]", "-]\u{1b}[m");
    assert!(coloured.contains(&red), "{coloured}");
    let plain = run("");
    assert!(
        plain.contains(&format!("{marked}{{+\\u{{202e}}2+}} three")),
        "{plain}"
    );
    assert!(!plain.contains(['\u{1b}', '\u{202e}']), "{plain}");
}

/// A page, nearly the same page, the same bytes, the same words in other bytes, and nearly the same
/// page that forbids archiving it.
fn site() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let page = |title: &str, more: &str| {
            let head = format!("<title>{title}</title>");
            Reply::html(html(
                &head,
                &format!("<h1>Tides</h1><p>{} {more}</p>", prose(3, 400)),
            ))
        };
        match request.path() {
            "/" => Reply::html(html(
                "",
                &["/a", "/near", "/bytes", "/words", "/other"]
                    .map(anchor)
                    .concat(),
            )),
            "/a" | "/bytes" => page("Tides", "of spring"),
            "/near" => page("Tides", "of autumn"),
            "/words" => page("Tides", "OF SPRING!"),
            "/secret" => page("Tides", "of tomorrow").header("X-Robots-Tag", "noarchive"),
            "/other" => Reply::html(article(9, NONE)),
            _ => Reply::status(404),
        }
    }))
}

fn crawl(server: &Server) -> Crawl {
    let options = ["--delay=0", "--delay-factor=0", "--concurrency=1"];
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&options)
}

#[test]
fn a_duplicate_is_shown_beside_its_original_with_the_figures_of_the_verdict() {
    let server = site();
    let crawl = crawl(&server).with(&["--on-duplicate", "keep"]);
    crawl.complete();
    let show = |path: &str, format: &str| {
        let url = server.url(HOST, path);
        crawl.run_command(&["duplicates", "crawl", "--diff", &url, "--format", format])
    };
    let near = show("/near", "json").json();
    assert_eq!(near["original"]["url"], server.url(HOST, "/a"));
    assert_eq!(
        (&near["page"]["heading"], &near["page"]["title"]),
        (&"Tides".into(), &"Tides".into())
    );
    assert_eq!(near["verdict"], "near-duplicate");
    let figures = &near["figures"];
    let why = crawl
        .run_command(&["why", "crawl", &server.url(HOST, "/near")])
        .json();
    assert_eq!(figures["fingerprint_b"], why["page"]["fingerprint"]);
    let bits = figures["differing_bits"].as_array().unwrap().len();
    assert_eq!(why["page"]["distance"], bits);
    assert_eq!(
        (&figures["title_terms_differ"], &figures["min_resemblance"]),
        (&false.into(), &0.8.into())
    );
    assert!(
        !figures["equal_bands"].as_array().unwrap().is_empty(),
        "{figures}"
    );
    assert_eq!(
        (&near["diff"]["words_only_a"], &near["diff"]["words_only_b"]),
        (&1.into(), &1.into())
    );

    let [block] = near["blocks"].as_array().unwrap().as_slice() else {
        panic!("one paragraph differs: {near}");
    };
    assert_eq!(block["weight"], "counts");
    let ends_with = |text: &str, end: &str| block[text].as_str().unwrap().ends_with(end);
    assert!(
        ends_with("a", "of spring") && ends_with("b", "of autumn"),
        "{block}"
    );
    assert_eq!(why["blocks"], near["blocks"]);
    let url = server.url(HOST, "/near");
    let why = crawl.run_command(&["why", "crawl", &url, "--format", "table"]);
    assert!(
        why.output
            .contains("\nblocks that differ: 1, 1 with weight\n"),
        "{why:?}"
    );

    let table = show("/near", "table").output;
    assert!(table.contains(" [-spring-]{+autumn+}\n"), "{table}");
    assert!(
        table.contains("\nblocks that differ: 1, 1 with weight\n"),
        "{table}"
    );
    for path in ["/bytes", "/words"] {
        let same = show(path, "json").json();
        assert_eq!(same["verdict"], "exact-duplicate", "{same}");
        assert_eq!(same["diff"]["words_only_a"], 0, "{same}");
        assert_eq!(
            same["blocks"].as_array().map(Vec::len),
            Some(usize::from(path == "/words"))
        );
    }
    show("/other", "table").assert_error(2, "is not a duplicate");
    show("/never", "table").assert_error(2, "was not visited");
}

#[test]
fn without_its_text_a_not_archived_page_has_the_figures_of_its_visit() {
    let server = site();
    let crawl = crawl(&server);
    crawl.complete();
    let url = server.url(HOST, "/near");
    let near = crawl
        .run_command(&["duplicates", "crawl", "--diff", &url])
        .json();
    assert!(near["diff"].is_null(), "{near}");
    assert!(
        near["page"]["no_text"]
            .as_str()
            .unwrap()
            .contains("--duplicate-text on"),
        "{near}"
    );
    assert!(near["figures"]["differing_bits"].is_array(), "{near}");
    assert!(near["figures"]["equal_bands"].is_null(), "{near}");
}

#[test]
fn not_archived_pages_keep_their_text_on_request_and_every_reader_of_the_archive_still_agrees() {
    let server = site();
    let crawl = crawl(&server).with(&["--duplicate-text", "on"]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["near_duplicates"], &summary["exact_duplicates"]),
        (&1.into(), &2.into())
    );
    let records = crawl.records();
    let conversions = records
        .iter()
        .filter(|record| record.kind() == "conversion");
    let kept: Vec<_> = conversions
        .map(|record| record.target().unwrap().to_owned())
        .collect();
    // The archive has the bytes of `/bytes`, and `/secret` forbids archiving it.
    assert_eq!(kept, ["/near", "/words"].map(|path| server.url(HOST, path)));

    let show = || {
        let url = server.url(HOST, "/near");
        crawl
            .run_command(&["duplicates", "crawl", "--diff", &url])
            .json()
    };
    let near = show();
    assert_eq!(near["diff"]["words_only_b"], 1, "{near}");
    assert_eq!(
        (
            &near["page"]["heading"],
            &near["figures"]["title_terms_differ"]
        ),
        (&"Tides".into(), &false.into())
    );
    assert!(
        !near["figures"]["equal_bands"]
            .as_array()
            .unwrap()
            .is_empty(),
        "{near}"
    );
    let bytes = server.url(HOST, "/bytes");
    let same = crawl
        .run_command(&["duplicates", "crawl", "--diff", &bytes])
        .json();
    assert_eq!(
        same["diff"]["runs"].as_array().map(Vec::len),
        Some(1),
        "{same}"
    );

    crawl.is_sound();
    for command in [
        &["index", "crawl"][..],
        &["wacz", "crawl", "--output", "packed.wacz"],
        &["verify", "packed.wacz"],
    ] {
        let run = crawl.run_command(command);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let index = index_of(&crawl);
    let of_near: Vec<&str> = index
        .lines()
        .filter(|line| line.contains("/near\""))
        .collect();
    assert!(
        matches!(of_near[..], [line] if line.starts_with("!duplicate:")),
        "{index}"
    );
    assert!(index == of_files(&crawl), "the index of the files differs");

    // The archive has four digits of a resemblance.
    let visits = || -> Vec<Value> {
        let mut visits = crawl.visits();
        for visit in &mut visits {
            if let Some(resemblance) = visit["resemblance"].as_f64() {
                visit["resemblance"] = format!("{resemblance:.4}").into();
            }
        }
        visits
    };
    let before = visits();
    let rebuild = ["rebuild", "crawl", "--from-archive", "--hash-key", KEY];
    let rebuilt = crawl.run_command(&rebuild);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    assert_eq!(visits(), before);
    assert_eq!(show(), near);
    crawl.is_sound();
}
