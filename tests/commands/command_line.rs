//! The command line itself: suggestions, verbosity, the settings in force, manual and completions.

use std::collections::BTreeMap;

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use crate::support::pages::{NONE, html, page, prose};
use crate::support::{Crawl, command_names, json_lines};

const HOST: &str = "site.test";

/// Asserts that arguments are refused with these words, and with these words of help.
fn refused(arguments: &[&str], words: &str, help: &str) {
    let crawl = Crawl::bare();
    crawl.write("seeds.txt", "http://good.test/\n");
    crawl.write("unit.toml", "max-pages = 3\ndelay = 5\n");
    crawl.write("key.toml", "max_pages = 3\n");
    crawl.write("scrapy.toml", "DOWNLOAD_DELAY = 3\n");
    let run = crawl.run_command(arguments);
    run.assert_error(2, words);
    assert!(run.errors.contains(help), "{help:?} in {run:?}");
    assert!(
        !crawl.out().exists(),
        "a directory was made by {arguments:?}"
    );
}

#[test]
fn a_likely_mistake_is_answered_with_what_is_right() {
    for (arguments, words, help) in [
        (
            &["seeds.txt"][..],
            "\"seeds.txt\" is a file",
            "did you mean --seeds seeds.txt?",
        ),
        (
            &["exprot", "crawl"],
            "neither a command nor a URL",
            "`crawler export`",
        ),
        (
            &["exprot", "crawl", "--format", "csv"],
            "--format",
            "`crawler export`",
        ),
        (
            &["resume"],
            "neither a command nor a URL",
            "`crawler --out DIR`",
        ),
        (&["frobnicate"], "frobnicate", "`crawler --help`"),
        (
            &["--depth", "3", "http://a.test/"],
            "--depth",
            "--max-depth",
        ),
        (&["-r", "http://a.test/"], "-r", "it is the default"),
        (&["-np", "http://a.test/"], "", "--scope prefix"),
        (&["--dealy", "3s"], "--dealy", "did you mean --delay?"),
        (&["--frobnicate"], "--frobnicate", "`crawler --help --all`"),
        (
            &["dedup", "--frobnicate", "seeds.txt"],
            "--frobnicate",
            "`crawler dedup --help`",
        ),
        (&["--all"], "--all", ""),
        (
            &["export", "crawl", "--fromat", "csv"],
            "--fromat",
            "did you mean --format?",
        ),
        (&["--config", "unit.toml"], "line 2", ""),
        (&["--config", "unit.toml"], "5 must be written \"5s\"", ""),
        (
            &["--config", "key.toml"],
            "line 1",
            "did you mean max-pages?",
        ),
        (&["--config", "scrapy.toml"], "DOWNLOAD_DELAY", "--delay"),
    ] {
        refused(arguments, words, help);
    }
}

#[test]
fn the_directory_of_a_crawl_is_not_taken_for_a_seed() {
    let (_server, crawl) = two_pages();
    crawl.complete();
    let run = crawl.run_command(&["crawl", "crawl"]);
    run.assert_error(2, "is the directory of a crawl");
    assert!(run.errors.contains("`crawler --out crawl`"), "{run:?}");
}

/// A page, and one that only it links to.
fn two_pages() -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => Reply::html(html(
            "",
            &format!("<p>{}</p><a href=\"/b\">b</a>", prose(1, 80)),
        )),
        "/b" => Reply::html(html("", &format!("<p>{}</p>", prose(2, 80)))),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    (server, crawl)
}

#[test]
fn a_visit_is_logged_with_type_length_duration_and_referrer() {
    let (server, crawl) = two_pages();
    crawl.complete();
    let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
    let lines = json_lines(&log).into_iter();
    let visited = lines.filter(|line| line["message"] == "visited");
    let visited: BTreeMap<String, Value> = visited
        .map(|line| (line["url"].as_str().unwrap().to_owned(), line))
        .collect();
    let second = &visited[&server.url(HOST, "/b")];
    assert_eq!(second["via"], server.url(HOST, "/"));
    assert_eq!(second["content_type"], "text/html");
    assert!(second["bytes"].as_u64().unwrap() > 100, "{second}");
    assert!(second["duration_ms"].is_u64(), "{second}");
    let first = &visited[&server.url(HOST, "/")];
    assert!(first.get("via").is_none(), "{first}");
}

#[test]
fn verbosity_changes_the_terminal_and_not_the_log() {
    let visits = |crawl: &Crawl| {
        let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
        log.matches("\"visited\"").count()
    };
    for (flags, shows_visits, is_silent) in [
        (&[][..], false, false),
        (&["-v"], true, false),
        (&["-vv"], true, false),
        (&["-q"], false, true),
        (&["-v", "-q"], false, true),
        (&["-q", "-v"], true, false),
    ] {
        let (_server, crawl) = two_pages();
        let run = crawl.run_with(flags);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(
            run.errors.contains("visited"),
            shows_visits,
            "{flags:?}: {run:?}"
        );
        assert_eq!(run.errors.is_empty(), is_silent, "{flags:?}: {run:?}");
        assert_eq!(visits(&crawl), 2, "{flags:?}");
        assert_eq!(run.summary()["pages"], 2);
    }
}

#[test]
fn the_most_quiet_crawl_prints_no_summary() {
    let server = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let crawl = Crawl::bare()
        .with(&["--allow-private", "--delay=0", "--delay-factor=0", "-qq"])
        .with(&["--resolve", &server.resolve(HOST)])
        .seeds(&[server.url(HOST, "/")]);
    let run = crawl.run();
    let printed = (run.code, run.output.as_str(), run.errors.as_str());
    assert_eq!(printed, (Some(0), "", ""));
}

#[test]
fn the_summary_counts_statuses_and_types_in_both_forms() {
    let (server, crawl) = two_pages();
    let crawl = crawl.with(&["--tries=1", &server.url(HOST, "/missing")]);
    let summary = crawl.complete();
    assert_eq!(summary["statuses"], serde_json::json!({"200": 2, "404": 1}));
    assert_eq!(summary["types"]["text/html"], 2);
    for name in [
        "queued",
        "kept_duplicates",
        "not_modified",
        "links_nofollow",
        "retries",
    ] {
        assert!(summary[name].is_u64(), "{name} in {summary}");
    }
    let text = crawl.run_with(&[
        "--summary",
        "text",
        "--fresh=false",
        &server.url(HOST, "/more"),
    ]);
    assert!(
        text.output
            .contains("  failed              2  404 Not Found (1), in earlier runs (1)\n"),
        "{text:?}"
    );
}

/// This was an error about a missing index.
#[test]
fn searching_a_young_crawl_says_that_nothing_is_committed_yet() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(1, NONE).hold(&held),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    let mut running = crawl.start();
    running.wait_for_line("crawling into");
    let run = crawl.run_command(&["search", "crawl", "word"]);
    assert_eq!((run.code, run.output.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.errors.starts_with("nothing committed yet"), "{run:?}");
    gate.open();
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn the_settings_in_force_have_their_origins() {
    let (_server, crawl) = two_pages();
    let my = "preset = \"archive\"\ntries = 7\ndelay = \"2s\"\n";
    crawl.write("my.toml", my);
    let lines = crawl.json_lines(&["config", "my.toml", "--delay", "3s", "--format", "json"]);
    let settings: BTreeMap<String, Value> = lines
        .into_iter()
        .map(|line| (line["key"].as_str().unwrap().to_owned(), line))
        .collect();
    for (key, value, from) in [
        ("delay", Value::from("3s"), "flag"),
        ("tries", 7.into(), "my.toml"),
        ("on-duplicate", "keep".into(), "preset archive"),
        ("scope", "host".into(), "default"),
        ("max-pages", Value::Null, "default"),
    ] {
        let setting = &settings[key];
        assert_eq!(
            (&setting["value"], &setting["from"]),
            (&value, &from.into()),
            "{key}"
        );
    }

    // The table is a settings file that gives the same settings.
    let table = crawl.run_command(&["config", "my.toml", "--format", "table"]);
    crawl.write("again.toml", &table.output);
    let again = crawl.run_command(&["config", "again.toml", "--format", "table"]);
    let values = |text: &str| {
        let lines = text
            .lines()
            .map(|line| line.split("  # ").next().unwrap_or_default());
        lines
            .map(|line| line.trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&again.output), values(&table.output));

    crawl.complete();
    let of_crawl = crawl.run_command(&["config", "crawl", "--format", "table"]);
    assert!(
        of_crawl.output.contains("# crawl/crawler.toml"),
        "{of_crawl:?}"
    );
    let nothing = crawl.run_command(&["config", "."]);
    nothing.assert_error(2, ". does not contain a crawl");
    let two = crawl.run_command(&["config", "my.toml", "again.toml"]);
    two.assert_error(2, "a crawl has only one settings file");
}

#[test]
fn a_setting_is_explained() {
    let crawl = Crawl::bare();
    let run = crawl.run_command(&["config", "--explain", "delay", "--format", "table"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for words in [
        "--delay TIME, -w TIME",
        "Minimum pause",
        "default  \"1s\"",
        "from  default",
    ] {
        assert!(run.output.contains(words), "{words:?} in {run:?}");
    }
    let unknown = crawl.run_command(&["config", "--explain", "dealy"]);
    unknown.assert_error(2, "there is no setting \"dealy\"");
    assert!(
        unknown.errors.contains("did you mean delay?"),
        "{unknown:?}"
    );
}

/// The help had 540 lines, and its options were hard to find.
#[test]
fn help_is_short_and_all_of_it_is_one_word_away() {
    let crawl = Crawl::bare();
    let help = |words: &[&str]| {
        let run = crawl.run_command(words);
        assert_eq!((run.code, run.errors.as_str()), (Some(0), ""), "{run:?}");
        run.output
    };
    for command in [&[][..], &["crawl"]] {
        let short = help(&[command, &["--help"]].concat());
        let all = help(&[command, &["--help", "--all"]].concat());
        assert_eq!(short, help(&[command, &["-h"]].concat()));
        assert!(short.lines().count() < 130, "{short}");
        assert!(short.contains("--max-depth") && !short.contains("--hash-key"));
        assert!(short.contains("--help --all` lists every option"));
        assert!(all.contains("--max-depth") && all.contains("--hash-key"));
    }
    let short = help(&["--help"]);
    assert_eq!(
        command_names(&short),
        command_names(&help(&["--help", "--all"]))
    );
}

#[test]
fn there_is_a_manual_page_for_each_command_and_it_names_each_option() {
    let crawl = Crawl::bare();
    let page = crawl.run_command(&["man"]);
    assert!(page.output.starts_with(".ie"), "{page:?}");
    assert!(page.output.contains("\\-\\-max\\-depth"), "{page:?}");
    let run = crawl.run_command(&["man", "--output", "man1"]);
    assert_eq!((run.code, run.errors.as_str()), (Some(0), ""), "{run:?}");
    let help = crawl.run_command(&["--help"]).output;
    let names = command_names(&help);
    assert!(names.contains(&"export") && names.len() > 20, "{names:?}");
    for name in names {
        let file = crawl.directory().join(format!("man1/crawler-{name}.1"));
        assert!(file.is_file(), "{}", file.display());
    }
}

#[test]
fn every_shell_has_completions() {
    let crawl = Crawl::bare();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = crawl.run_command(&["completions", shell]);
        assert_eq!((run.code, run.errors.as_str()), (Some(0), ""), "{run:?}");
        assert!(
            run.output.contains("max-depth") && run.output.contains("export"),
            "{shell}"
        );
    }
    crawl
        .run_command(&["completions", "tcsh"])
        .assert_error(2, "tcsh");
}
