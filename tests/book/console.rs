//! The commands of the pages run, and print what the pages show.
//!
//! A `console` block has commands, each behind `$ `, and the output of each below it. The commands
//! of a page run in their order, in one directory. An output that is not shown is not compared, but
//! its command must succeed. A line `…` stands for any lines, and `…` within a line for any text;
//! durations, sizes, rates and dates differ from run to run and are not compared.

use std::sync::LazyLock;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use regex::Regex;

use super::session::Session;
use super::{pages, root};

/// A command of a page, with the output that the page shows.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    command: String,
    shown: Vec<String>,
}

/// Returns the `console` blocks of a page, joined.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_console = false;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) => {
                is_console = &*kind == "console";
            }
            Event::End(TagEnd::CodeBlock) => is_console = false,
            Event::Text(block) if is_console => add_steps(&block, &mut steps),
            _ => {}
        }
    }
    steps
}

fn add_steps(block: &str, steps: &mut Vec<Step>) {
    let mut continues = false;
    for line in block.lines() {
        let command = line
            .split_once("$ ")
            .filter(|(host, _)| host.chars().all(char::is_alphanumeric))
            .map(|(_, command)| command);
        match (steps.last_mut(), command) {
            (Some(step), None) if continues => {
                step.command.push('\n');
                step.command.push_str(line.trim_start());
            }
            (_, Some(command)) => steps.push(Step {
                command: command.to_owned(),
                shown: Vec::new(),
            }),
            (Some(step), None) => step.shown.push(line.to_owned()),
            (None, None) => panic!("a console block begins with a command, not with {line:?}"),
        }
        continues = line.ends_with('\\');
    }
}

/// Replaces what differs from run to run.
fn masked(line: &str) -> String {
    static VARYING: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        [
            // A date, and a time.
            r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?|\d{14}",
            // A duration, a size or a rate, with the spaces that align it.
            r" *\b\d[\d,]*(\.\d+)? ?(ns|µs|ms|s|min|h|B|KiB|MiB|GiB|pages/s)\b(/s)?",
            // The address of a server of the test.
            r"127\.0\.0\.1:\d+",
        ]
        .map(|pattern| Regex::new(pattern).unwrap())
    });
    let mut line = line.trim_end().to_owned();
    for pattern in &*VARYING {
        line = pattern.replace_all(&line, "#").into_owned();
    }
    line
}

/// Returns true if a line is as shown.
fn is_line(shown: &str, line: &str) -> bool {
    let (shown, line) = (masked(shown), masked(line));
    let mut parts = shown.split('…');
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Returns true if an output is as shown.
fn is_output(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, others)) if first.trim() == "…" => {
            (0..=lines.len()).any(|taken| is_output(others, &lines[taken..]))
        }
        Some((first, others)) => match lines.split_first() {
            Some((line, rest)) => is_line(first, line) && is_output(others, rest),
            None => false,
        },
    }
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
        let is_as_shown =
            step.shown.is_empty() || !is_whole || is_output(&step.shown, &lines);
        if (code == Some(0)) == fails || !is_as_shown {
            let shown = step.shown.join("\n");
            wrong.push(format!(
                "docs/{page}\n$ {command}\n{output}(exit code {code:?}), and the page shows\n{shown}\n"
            ));
        }
    }
    wrong
}

/// Returns the part of a command that can be run here, and whether it is the whole of it.
fn runnable<'a>(command: &'a str, session: &Session) -> (&'a str, bool) {
    for other in OTHERS {
        let has = |program: &str| session.run(&format!("command -v {program}")).0 == Some(0);
        if let Some((before, _)) = command.split_once(&format!("| {other} "))
            && !has(other)
        {
            return (before, false);
        }
    }
    (command, true)
}

/// Pages whose commands do not run here, with the reason.
const NOT_RUN: [(&str, &str); 1] = [(
    "guide/python.md",
    "crates/python/test.sh installs the package, and runs the page",
)];

/// Programs of others that the pages use. Where one is missing, a command is run up to its pipe.
const OTHERS: [&str; 2] = ["jq", "man"];

/// Pages whose commands run, each with the commands that make the files which it assumes.
const RUN: [(&str, &[&str]); 17] = [
    ("tutorial.md", &[]),
    (
        "guide/command-line.md",
        &[
            MONDAY,
            "echo 'max-pages = 100' > my.toml",
            "mkdir -p ~/.local/share/bash-completion/completions",
        ],
    ),
    ("guide/files.md", &[DIR, CORPUS, FILES]),
    ("guide/foreign-archives.md", &[DIR, ARCHIVES]),
    ("guide/left-out.md", &[DIR, MONDAY]),
    ("guide/limits.md", &[]),
    ("guide/links.md", &[PAGE]),
    ("guide/queries.md", &["cp -r $CRAWL crawl", CORPUS, QUERIES]),
    ("guide/report.md", &[MONDAY]),
    ("guide/search.md", &[DIR]),
    ("guide/training-sets.md", &[]),
    ("guide/traps.md", &[DIR]),
    ("formats/archive.md", &[DIR]),
    ("formats/cdxj.md", &[DIR, ARCHIVES]),
    ("formats/export.md", &[DIR]),
    ("formats/log.md", &[DIR]),
    ("formats/wacz.md", &[MONDAY]),
];

/// Makes the crawl that the pages call `DIR`.
const DIR: &str = "cp -r $CRAWL DIR";
/// Makes the crawl that the pages call `monday`.
const MONDAY: &str = "cp -r $CRAWL monday";

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
    // A crawl of the whole toy web, of which pages get copies.
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

#[test]
fn an_output_is_compared_up_to_what_varies() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (as_shown, output, expected) in [
        ("a\nb", "a\nb", true),
        ("a\nb", "a\nc", false),
        ("a", "a\nb", false),
        ("a\n…", "a\nb\nc", true),
        ("…\nc", "a\nb\nc", true),
        ("…\nc", "a\nb", false),
        ("from … to …", "from a to b", true),
        ("from … to b", "from a to c", false),
        ("6 pages, 17.4 KiB in 1.1 s (5.6 pages/s)", "6 pages, 9 B in 12 ms (7 pages/s)", true),
        ("6 pages in 1.1 s", "7 pages in 1.1 s", false),
        ("  2026-11-20T19:04:55Z  a", "  2026-11-23T09:00:00Z  a", true),
    ] {
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(is_output(&shown(as_shown), &lines), expected, "{as_shown:?} {output:?}");
    }
}

#[test]
fn a_block_is_read_as_commands_and_outputs() {
    let text = "```console\n$ a \\\n    b\nshown\n$ c  # comment\n```\n\n```text\n$ d\n```\n";
    let step = |command: &str, shown: &[&str]| Step {
        command: command.to_owned(),
        shown: shown.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(
        steps(text),
        [step("a \\\nb", &["shown"]), step("c  # comment", &[])]
    );
}
