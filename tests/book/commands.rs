//! The commands of the pages run in their order, in one directory, and print what the pages show.

use super::console::{is_output, steps};
use super::session::Session;
use super::{pages, root};

/// Pages whose commands do not run here, with the reason.
const NOT_RUN: [(&str, &str); 5] = [
    (
        "guide/api.md",
        "its commands ask a server; tests/commands/api.rs asks the same",
    ),
    (
        "guide/dashboard.md",
        "its commands serve until they are interrupted; tests/commands/serve.rs runs them",
    ),
    (
        "guide/javascript.md",
        "its crawl needs a browser; tests/rendering.rs runs one",
    ),
    (
        "guide/nodes.md",
        "its commands need a database of one's own; tests/durability/nodes.rs runs nodes",
    ),
    (
        "guide/python.md",
        "crates/engine/python/test.sh installs the package, and runs the page",
    ),
];

/// Programs of others that the pages use. Where one is missing, a command is run up to it.
const OTHERS: [&str; 2] = ["jq", "man"];

/// Pages whose commands run, each with the commands that make the files which it assumes.
const RUN: [(&str, &[&str]); 30] = [
    ("tutorial.md", &[]),
    ("tutorial-audit.md", &[]),
    ("tutorial-corpus.md", &[]),
    ("explanation/near-duplicates.md", &[]),
    ("guide/agents.md", &[MONDAY]),
    ("guide/batch.md", &[DIR]),
    (
        "guide/command-line.md",
        &[
            MONDAY,
            "echo 'max-pages = 100' > my.toml",
            "mkdir -p ~/.local/share/bash-completion/completions",
        ],
    ),
    ("guide/fields.md", &["cp -r $CRAWL crawl"]),
    ("guide/files.md", &[DIR, CORPUS, FILES]),
    ("guide/focus.md", &[TIDES]),
    ("guide/foreign-archives.md", &[DIR, ARCHIVES]),
    ("guide/not-archived.md", &[DIR, MONDAY, PAIR, WEEKLY]),
    ("guide/interstitials.md", &["cp -r $CRAWL crawl"]),
    ("guide/limits.md", &[]),
    ("guide/links.md", &[PAGE]),
    ("guide/preferences.md", &[]),
    ("guide/queries.md", &["cp -r $CRAWL crawl", CORPUS, QUERIES]),
    ("guide/report.md", &[MONDAY]),
    ("guide/search.md", &[DIR]),
    ("guide/settings-of-parts.md", &[PARTS]),
    ("guide/signed-requests.md", &[]),
    ("guide/training-sets.md", &[]),
    (
        "guide/traps.md",
        &["crawler -qq http://library.test/ --out DIR --contact me@example.org"],
    ),
    ("guide/unpack.md", &[DIR, MONDAY, TUESDAY, ARCHIVES]),
    ("formats/archive.md", &[DIR]),
    ("formats/cdxj.md", &[DIR, ARCHIVES]),
    ("formats/export.md", &[DIR]),
    (
        "formats/link-checks.md",
        &["crawler -qq http://original.test/ --out DIR --contact me@example.org --check-links"],
    ),
    ("formats/log.md", &[DIR]),
    ("formats/wacz.md", &[DIR, MONDAY, TUESDAY, ARCHIVES]),
];

/// Makes the crawl that the pages call `DIR`.
const DIR: &str = "cp -r $CRAWL DIR";
/// Makes the crawl that the pages call `monday`.
const MONDAY: &str = "cp -r $CRAWL monday";
/// Makes the first crawl of a weekly series.
const WEEKLY: &str = "mkdir weekly; cp -r $CRAWL weekly/2020-01-06";
/// Makes the crawl that the pages call `tuesday`.
const TUESDAY: &str = "cp -r $CRAWL tuesday";

/// Makes archives of others.
const ARCHIVES: &str = "
    crawler export DIR --text --format wet --output CC-MAIN-20240416.warc.wet.gz
    cp DIR/archive/*.warc.gz wget.warc.gz
    cp wget.warc.gz pages.warc.gz
    cp wget.warc.gz a.warc.gz
    cp wget.warc.gz b.warc.gz";

/// Makes documents, of which the last repeats the beginning of the first.
const CORPUS: &str = r#"
    for n in 1 2 3 4; do
        printf '{"id":"%s","text":"%s"}\n' $n "$(seq -s ' ' $((n * 1000)) $((n * 1000 + 99)))"
    done > corpus.jsonl
    cp corpus.jsonl monday.jsonl
    printf '{"id":"%s","text":"%s"}\n' 7 "$(seq -s ' ' 1000 1097)" > tuesday.jsonl
    cat tuesday.jsonl >> corpus.jsonl
    printf '{"id":"8","text":"a text of its own"}\n' >> tuesday.jsonl"#;

/// Makes the files of the guide to files.
const FILES: &str = r#"
    mkdir corpus pages
    gzip -c corpus.jsonl > corpus/part.jsonl.gz
    crawler export DIR --text --format parquet --output corpus.parquet
    cp seeds.txt pages/a.txt
    cp seeds.txt pages/b.txt
    printf '{"content":"some words","url":"http://a.test/"}\n' > crawl.jsonl"#;

/// Makes the files of the guide to queries.
const QUERIES: &str = r#"
    mkdir corpus
    seq -s ' ' 1000 1099 > corpus/a.txt
    seq -s ' ' 2000 2199 > corpus/b.txt
    seq -s ' ' 3000 3199 > corpus/c.txt
    seq -s ' ' 1000 1299 > a.txt
    sed 's/1[0-9]50/another/g' a.txt > b.txt
    seq -s ' ' 1000 1098 > draft.txt
    printf '{"id":"n7","text":"%s"}\n' "$(cat draft.txt)" > new.jsonl"#;

/// Makes a settings file with tables, and one with a key in the wrong table.
const PARTS: &str = r#"
    printf '[prefix."http://original.test/topics/"]\nmax-depth = 0\nmain-selector = "main"\n
        [seed."http://library.test/"]\nscope = "prefix"\n' > parts.toml
    printf '[prefix."http://original.test/"]\ndelay = "5s"\n' > wrong.toml"#;

/// Makes two pages that differ in a word.
const PAIR: &str = "
    echo '<p>a quiet harbour</p>' > a.html
    echo '<p>a busy harbour</p>' > b.html";

/// Makes three examples of a topic, and two pages to judge.
const TIDES: &str = r#"
    mkdir examples
    echo 'The tidal barrage closes the estuary. Turbines in the barrage turn with the tide, and
        the power station gives power for four hours, twice a day.' > examples/barrage.txt
    echo 'Tidal lagoons keep the estuary open. The turbines of a lagoon turn with each tide and
        give power to the towns along the coast, and to the ships.' > examples/lagoon.txt
    echo 'A turbine below the water turns in the tidal stream of a strait. No barrage is needed,
        and turbines give power with each tide, in and out.' > examples/stream.txt
    echo 'The power of the tides: a tidal power station needs a large range between low tide and
        high tide. Its turbines stand in a barrage across the mouth of a river, where the water
        that came in with the tide is kept and let out when the sea has fallen.' > severn.txt
    echo 'The power of bread: flour, water, yeast and salt are all that a baker needs. Knead the
        dough, let it rest in a cool place, and bake it until the crust is brown and the loaf
        sounds hollow. Good bread needs time more than anything else.' > bread.txt"#;

/// Makes a page with two links.
const PAGE: &str = r#"
    printf '<a href=/a>a</a><link rel=stylesheet href=/style.css>' > page.html"#;

#[test]
fn every_page_with_commands_is_run() {
    for page in pages() {
        let name = page.strip_prefix(root().join("docs")).unwrap();
        let name = name.display().to_string();
        let has_commands = !steps(&std::fs::read_to_string(&page).unwrap()).is_empty();
        let is_run = RUN.iter().any(|(page, _)| *page == name);
        let is_excepted = NOT_RUN.iter().any(|(page, _)| *page == name);
        assert_eq!(has_commands, is_run || is_excepted, "docs/{name}");
        assert!(!(is_run && is_excepted), "docs/{name}");
    }
}

#[test]
fn the_commands_of_the_pages_run_as_shown() {
    // A crawl, of which the pages get copies.
    let first = Session::open(None);
    let made = first.run("crawler -qq --seeds seeds.txt --out made");
    assert_eq!(made, (Some(0), String::new()));
    let crawl = first.work().join("made");

    let wrong: Vec<String> = std::thread::scope(|scope| {
        let checks: Vec<_> = RUN
            .iter()
            .map(|(page, before)| {
                let session = Session::open(Some(&crawl));
                scope.spawn(move || check(page, before, &session))
            })
            .collect();
        let found = checks.into_iter().flat_map(|check| check.join().unwrap());
        found.collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs the commands of a page; returns those that do not run as shown.
fn check(page: &str, before: &[&str], session: &Session) -> Vec<String> {
    for command in before {
        let (code, output) = session.run(&format!("set -e\n{command}"));
        assert_eq!(code, Some(0), "{page}: {command}: {output}");
    }
    let text = std::fs::read_to_string(root().join("docs").join(page)).unwrap();
    let mut wrong = Vec::new();
    for step in steps(&text) {
        let (command, is_whole) = runnable(&step.command, session);
        let (code, output) = session.run(command);
        let fails = step.shown.iter().any(|line| line.starts_with("error: "));
        let lines: Vec<&str> = output.lines().collect();
        let is_as_shown = step.shown.is_empty() || !is_whole || is_output(&step.shown, &lines);
        if (code == Some(0)) == fails || !is_as_shown {
            let shown = step.shown.join("\n");
            wrong.push(format!(
                "docs/{page}\n$ {command}\n{output}(exit code {code:?}), \
                 and the page shows\n{shown}\n"
            ));
        }
    }
    wrong
}

/// Returns the part of a command before the first program that is missing here, and true if that is
/// the whole of it.
fn runnable<'a>(command: &'a str, session: &Session) -> (&'a str, bool) {
    for other in OTHERS {
        let is_missing = || session.run(&format!("command -v {other}")).0 != Some(0);
        let before = match command.split_once(&format!("| {other} ")) {
            Some((before, _)) => before,
            None if command.starts_with(&format!("{other} ")) => ":",
            None => continue,
        };
        if is_missing() {
            return (before, false);
        }
    }
    (command, true)
}
