//! The reference of the commands is the output of `--help`, and that of the settings is
//! `config/default.toml`.
//!
//! `UPDATE_REFERENCE=1 cargo test -p crawler --test crawler -- book::reference` writes both anew.

use std::fmt::Write;

use super::root;
use crate::support::{Crawl, command_names};

const COMMANDS: &str = "\
# Commands

The output of `crawler --help --all`, and of `--help --all` of each command. A test compares this
page with the program, and makes it anew with `UPDATE_REFERENCE=1`.
";

const SETTINGS: &str = "\
# Settings

Every setting of a crawl with its default, as in `config/default.toml`. Each is a long option, too
([commands](commands.md)); `crawler config --explain KEY` explains one. A test compares this page
with the file, and makes it anew with `UPDATE_REFERENCE=1`.

```toml
";

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
    let help = crawl.run_command(&["--help", "--all"]).output;
    let mut made = COMMANDS.to_owned() + &section("crawler", &help);
    for name in command_names(&help) {
        let help = crawl.run_command(&[name, "--help", "--all"]).output;
        made += &section(&format!("crawler {name}"), &help);
    }

    compare("docs/reference/commands.md", &made);
}

#[test]
fn the_reference_has_the_settings_with_their_defaults() {
    let settings = std::fs::read_to_string(root().join("config/default.toml")).unwrap();
    let made = format!("{SETTINGS}{}\n```\n", settings.trim_end());
    compare("docs/reference/settings.md", &made);
}

/// Compares a page with what it must be, or writes it with `UPDATE_REFERENCE`.
fn compare(name: &str, made: &str) {
    let page = root().join(name);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&page, made).unwrap();
    }
    let kept = std::fs::read_to_string(&page).unwrap();
    let differing = kept.lines().zip(made.lines()).find(|(a, b)| a != b);
    assert!(
        kept == made,
        "{name} is out of date, beginning at {differing:?}: \
         UPDATE_REFERENCE=1 cargo test -p crawler --test crawler -- book::reference"
    );
}
