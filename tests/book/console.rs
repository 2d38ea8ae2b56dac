//! Console blocks: the commands of a page, and the outputs that it shows.
//!
//! A `console` block has commands, each behind `$ `, and the output of each below it. The commands
//! of a page run in their order, in one directory. An output that is not shown is not compared, but
//! its command must succeed. A line `…` stands for any lines, and `…` within a line for any text;
//! durations, sizes, rates and dates differ from run to run and are not compared.

use std::sync::LazyLock;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use regex::Regex;

/// A command of a page, with the output that the page shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) command: String,
    pub(super) shown: Vec<String>,
}

/// Returns the `console` blocks of a page, joined.
pub(super) fn steps(text: &str) -> Vec<Step> {
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
            // A duration of one or two units, a size or a rate, with the spaces that align it.
            r"( *\b\d[\d,]*(\.\d+)? ?(ns|µs|ms|s|min|h|B|KiB|MiB|GiB|pages/s)\b(/s)?)+",
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
pub(super) fn is_output(shown: &[String], lines: &[&str]) -> bool {
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
        (
            "6 pages, 17.4 KiB in 1.1 s (5.6 pages/s)",
            "6 pages, 9 B in 12 ms (7 pages/s)",
            true,
        ),
        ("6 pages in 1.1 s", "7 pages in 1.1 s", false),
        ("6 pages in 2 min 2 s", "6 pages in 1.1 s", true),
        (
            "  2026-11-20T19:04:55Z  a",
            "  2026-11-23T09:00:00Z  a",
            true,
        ),
    ] {
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(
            is_output(&shown(as_shown), &lines),
            expected,
            "{as_shown:?} {output:?}"
        );
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
