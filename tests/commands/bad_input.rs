//! User errors: each is answered with one clear line, and perhaps one line of help.

use testkit::{Gate, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page};

/// Asserts that a crawl with these arguments is refused with code 2 and these words.
fn refused(arguments: &[&str], words: &str) {
    let crawl = Crawl::bare();
    crawl.write("good.txt", "http://good.test/\n");
    crawl.write("empty.txt", "");
    crawl.write("comments.txt", "# nothing but\n\n# comments\n");
    crawl.write("bad.txt", "http://\nmailto:someone@example.org\n");
    crawl.write("unknown.toml", "# a file\nmax-pages = 3\nmax-pagse = 4\n");
    crawl.write("wrong.toml", "delay = \"soon\"\n");
    crawl.write("not.toml", "max-pages 3\n");
    crawl.run_command(arguments).assert_error(2, words);
    assert!(
        !crawl.out().exists(),
        "a directory was made by {arguments:?}"
    );
}

#[test]
fn invalid_seeds_are_refused() {
    for (arguments, words) in [
        (&["--seeds", "missing.txt"][..], "missing.txt"),
        (&["--seeds", "."], "."),
        (&["--seeds", "empty.txt"], "empty.txt has no seeds"),
        (&["--seeds", "comments.txt"], "comments.txt has no seeds"),
        (&["--seeds", "bad.txt"], "bad.txt, line 1"),
        (&["http://"], "http://"),
        (
            &["mailto:someone@example.org"],
            "mailto:someone@example.org",
        ),
        (&["frobnicate"], "frobnicate"),
        (&[], "no seeds"),
    ] {
        refused(arguments, words);
    }
}

#[test]
fn unknown_options_are_refused() {
    for (arguments, words) in [
        (&["--seeds", "good.txt", "--sedes", "x"][..], "--sedes"),
        (&["--seeds"], "--seeds"),
        (&["export"], "no crawl given"),
        (&["export", "crawl", "--format", "parchment"], "parchment"),
    ] {
        refused(arguments, words);
    }
}

#[test]
fn impossible_option_values_are_refused() {
    for (option, value) in [
        ("--delay", "soon"),
        ("--delay", "-1"),
        ("--delay-factor", "-1"),
        ("--max-delay", "x"),
        ("--max-pages", "many"),
        ("--max-pages", "-1"),
        ("--max-depth", "1.5"),
        ("--duplicate-scope", "village"),
        ("--per-cluster", "0"),
        ("--per-cluster", "-1"),
        ("--max-time", "later"),
        ("--max-size", "much"),
        ("--concurrency", "0"),
        ("--concurrency-per-host", "0"),
        ("--rate", "0/s"),
        ("--scope", "galaxy"),
        ("--on-duplicate", "burn"),
        ("--distance", "8"),
        ("--resemblance", "1.5"),
        ("--resemblance", "NaN"),
        ("--features", "word:0"),
        ("--main-content", "perhaps"),
        ("--max-body", "-5"),
        ("--timeout", "0"),
        ("--tries", "0"),
        ("--user-agent", "(007)"),
        ("--user-agent", "bot\nx"),
        ("--include", "("),
        ("--exclude", "[z-a]"),
        ("--resolve", "nowhere"),
        ("--resolve", "host.test:80:there"),
        ("--ca-certificate", "missing.pem"),
        ("--ca-certificate", "good.txt"),
        ("--insecure-host", "https://host.test"),
        ("--insecure-host", "host.test:443"),
        ("--proxy", "nowhere"),
        ("--proxy", "ftp://proxy.test"),
        ("--summary", "poem"),
        ("--config", "missing.toml"),
    ] {
        let culprit = option.trim_start_matches('-');
        let argument = format!("{option}={value}");
        let arguments = ["--seeds", "good.txt", &argument];
        let words = if option == "--ca-certificate" || option == "--config" {
            value
        } else {
            culprit
        };
        refused(&arguments, words);
    }
}

#[test]
fn an_invalid_configuration_file_is_refused_with_the_line() {
    for (file, place, culprit) in [
        ("unknown.toml", "line 3", "max-pagse"),
        ("wrong.toml", "line 1", "soon"),
        ("not.toml", "line 1", "not.toml"),
    ] {
        refused(&["--seeds", "good.txt", "--config", file], place);
        refused(&["--seeds", "good.txt", "--config", file], culprit);
    }
}

#[test]
fn a_value_of_the_wrong_type_in_a_configuration_file_is_answered_with_the_right_form() {
    for (line, remedy) in [
        (
            "max-pages = \"10\"",
            "a whole number without quotes: max-pages = 10",
        ),
        (
            "delay-factor = \"2\"",
            "a number without quotes: delay-factor = 0.5",
        ),
        ("forms = \"yes\"", "forms = true"),
        (
            "seeds = [\"http://good.test/\"]",
            "URLs go into url = [\"…\"]",
        ),
        ("url = \"http://good.test/\"", "write a list: url = [\"…\"]"),
    ] {
        let crawl = Crawl::bare();
        crawl.write("typed.toml", format!("# a file\n{line}\n"));
        let run = crawl.run_command(&["--config", "typed.toml"]);
        run.assert_error(2, "typed.toml: at line 2");
        assert!(run.errors.contains(remedy), "{remedy:?} in {run:?}");
    }
}

#[test]
fn a_likely_mistake_is_answered_with_its_remedy() {
    let crawl = Crawl::bare();
    crawl.write("a.toml", "");
    std::fs::create_dir(crawl.out()).unwrap();
    for (arguments, words) in [
        (&["why", "crawl"][..], "no URL given, only a directory"),
        (&["why", "crawl"], "add it: crawl URL"),
        (&["search", "crawl"], "add it: crawl QUERY"),
        (&["verify", "x.wacz"], "x.wacz does not exist"),
        (&["verify", "x.wacz"], "check the name of the file"),
        (
            &["http://good.test/", "--out", "a.toml"],
            "a.toml is a file",
        ),
        (&["export", "crawl", "-f", "csv"], "did you mean --format?"),
        (
            &["dedup", "a.toml", "--threshold", "0.8"],
            "did you mean --resemblance?",
        ),
        (&["--login"], "--load-cookies"),
        (&["--crawl-javascript"], "--render shells"),
        (&["help", "exprot"], "`crawler export`"),
        (&["stop", "crawl"], "Ctrl-C"),
        (&["version"], "`crawler --version`"),
        (
            &["--max-pages", "ten", "http://good.test/"],
            "a whole number is expected",
        ),
    ] {
        let run = crawl.run_command(arguments);
        run.assert_error(2, "");
        assert!(run.errors.contains(words), "{words:?} in {run:?}");
    }
}

#[test]
fn an_unwritable_directory_is_refused() {
    // Not even the superuser can create these.
    let crawl = Crawl::bare();
    let file = crawl.write("a-file", "in the way");
    for out in ["a-file/crawl", "/proc/crawl", file.to_str().unwrap()] {
        let run = crawl.run_command(&["http://good.test/", "--out", out]);
        run.assert_error(2, out);
    }
}

#[test]
fn a_directory_with_other_files_is_refused_and_left_unchanged() {
    let crawl = Crawl::bare().with(&["http://good.test/"]);
    std::fs::create_dir(crawl.out()).unwrap();
    crawl.write("crawl/thesis.tex", "years of work");
    crawl
        .run()
        .assert_error(2, "crawl is not empty, and does not contain a crawl");
    let left: Vec<_> = std::fs::read_dir(crawl.out())
        .unwrap()
        .map(|item| item.unwrap().file_name())
        .collect();
    assert_eq!(left, ["thesis.tex"]);
}

#[test]
fn fresh_refuses_an_existing_crawl() {
    let server = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let crawl = Crawl::of(&server, &["site.test"])
        .seeds(&[server.url("site.test", "/")])
        .with(&["--fresh"]);
    crawl.complete();
    let before = server.log().len();
    crawl.run().assert_error(2, "--fresh");
    assert_eq!(server.log().len(), before);
    crawl.is_sound();
}

#[test]
fn a_crawl_keeps_its_features() {
    let server = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let crawl = Crawl::of(&server, &["site.test"]).seeds(&[server.url("site.test", "/")]);
    crawl.complete();
    crawl
        .run_with(&["--features", "word:3"])
        .assert_error(2, "--features");
}

#[test]
fn an_archive_without_a_state_is_not_overwritten() {
    let server = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let crawl = Crawl::of(&server, &["site.test"]).seeds(&[server.url("site.test", "/")]);
    crawl.complete();
    let before = std::fs::read(&crawl.archive_files()[0]).unwrap();
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    for _again in 0..2 {
        crawl.run().assert_error(
            2,
            "crawl/archive contains an archive, but its state is missing",
        );
    }
    assert_eq!(std::fs::read(&crawl.archive_files()[0]).unwrap(), before);
}

#[test]
fn a_second_process_in_the_same_directory_is_refused_with_the_id_of_the_first() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |_| page(1, NONE).hold(&held)));
    let crawl = Crawl::of(&server, &["site.test"])
        .seeds(&[server.url("site.test", "/")])
        .with(&["--ignore-robots"]);
    let first = crawl.start();
    gate.arrivals_blocking(1);
    let second = crawl.run();
    let line = second
        .errors
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap_or_default();
    assert!(line.contains(&first.id().to_string()), "{second:?}");
    second.assert_error(2, "lock");
    gate.open();
    assert_eq!(first.end().summary()["pages"], 1);
    crawl.is_sound();
}

#[test]
fn commands_on_a_crawl_refuse_a_directory_without_one() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("empty")).unwrap();
    for directory in ["missing", "empty"] {
        for command in ["export", "status", "verify"] {
            crawl
                .run_command(&[command, directory])
                .assert_error(2, directory);
        }
        crawl
            .run_command(&["why", directory, "http://good.test/"])
            .assert_error(2, directory);
    }
}

/// `crawler dedup settings.toml` compared the file with nothing: "1 documents, 1 unique".
#[test]
fn settings_as_the_only_document_are_refused_and_other_toml_is_a_text() {
    let crawl = Crawl::bare();
    crawl.write("settings.toml", "delay = \"2s\"\nmax-pages = 10\n");
    crawl.write("other.toml", "delay = \"2s\"\nmax-pages = 20\n");
    crawl.write("Cargo.toml", "[package]\nname = \"a\"\n");
    let refused = crawl.run_command(&["dedup", "settings.toml"]);
    refused.assert_error(
        2,
        "settings.toml contains settings of a crawl, not documents",
    );
    assert!(
        refused.errors.contains("`crawler --config settings.toml`"),
        "{refused:?}"
    );
    for documents in [
        &["Cargo.toml"][..],
        &["settings.toml", "other.toml"],
        &["."],
    ] {
        let run = crawl.run_command(&[&["dedup"], documents].concat());
        assert_eq!(run.code, Some(0), "{documents:?}: {run:?}");
    }
}
