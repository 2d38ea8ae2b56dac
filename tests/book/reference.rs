//! The reference of the commands is the output of `--help`.
//!
//! `UPDATE_REFERENCE=1 cargo test -p crawler --test crawler -- reference` writes it anew.

use std::fmt::Write;

use super::root;
use crate::support::Crawl;

const PAGE: &str = "docs/reference/commands.md";

const INTRODUCTION: &str = "\
# Commands

The output of `crawler --help`, and of `--help` of each command. A test compares this page with the
program, and makes it anew with `UPDATE_REFERENCE=1`.
";

/// Returns the names of the commands, in the order of `--help`.
fn names(help: &str) -> Vec<&str> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .collect()
}

fn section(title: &str, help: &str) -> String {
    let mut section = format!("\n## {title}\n\n```text\n");
    for line in help.trim_end().lines() {
        writeln!(section, "{}", line.trim_end()).unwrap();
    }
    section + "```\n"
}

#[test]
fn the_reference_is_what_the_commands_say_of_themselves() {
    let crawl = Crawl::bare();
    let help = crawl.run_command(&["--help"]).output;
    let mut made = INTRODUCTION.to_owned() + &section("crawler", &help);
    for name in names(&help) {
        let help = crawl.run_command(&[name, "--help"]).output;
        made += &section(&format!("crawler {name}"), &help);
    }

    let page = root().join(PAGE);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&page, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&page).unwrap();
    let differing = kept.lines().zip(made.lines()).find(|(a, b)| a != b);
    assert!(
        kept == made,
        "{PAGE} is not the output of --help, beginning at {differing:?}: \
         UPDATE_REFERENCE=1 cargo test -p crawler --test crawler -- reference"
    );
}
