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
        let command = line.strip_prefix("$ ");
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

/// Runs the commands of a page.
fn check(page: &str, session: &Session) {
    let text = std::fs::read_to_string(root().join("docs").join(page)).unwrap();
    let steps = steps(&text);
    assert!(!steps.is_empty(), "{page} has no command");
    let mut wrong = Vec::new();
    for step in steps {
        let (code, output) = session.run(&step.command);
        let fails = step.shown.iter().any(|line| line.starts_with("error: "));
        let lines: Vec<&str> = output.lines().collect();
        let is_as_shown = step.shown.is_empty() || is_output(&step.shown, &lines);
        if (code == Some(0)) == fails || !is_as_shown {
            let (command, shown) = (step.command, step.shown.join("\n"));
            wrong.push(format!(
                "$ {command}\n{output}(exit code {code:?}), and the page shows\n{shown}\n"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "docs/{page}:\n{}",
        wrong.join("\n")
    );
}

/// Pages whose commands do not run here, with the reason.
const NOT_RUN: [(&str, &str); 0] = [];

/// Pages whose commands a test below runs.
const RUN: [&str; 1] = ["tutorial.md"];

#[test]
fn every_page_with_commands_is_run() {
    for page in pages() {
        let name = page.strip_prefix(root().join("docs")).unwrap();
        let name = name.display().to_string();
        let has_commands = !steps(&std::fs::read_to_string(&page).unwrap()).is_empty();
        let is_run = RUN.contains(&name.as_str());
        let is_excepted = NOT_RUN.iter().any(|(page, _)| *page == name);
        assert_eq!(has_commands, is_run || is_excepted, "docs/{name}");
        assert!(!(is_run && is_excepted), "docs/{name}");
    }
}

#[test]
fn the_tutorial_runs_as_shown() {
    check("tutorial.md", &Session::open());
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
