//! Suggestions for arguments that the parser refuses.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};
use settings::Settings;
use settings::suggestions::{self, FOREIGN, FOREIGN_COMMANDS, FOREIGN_OF_COMMANDS};

use crate::args::Arguments;

fn built() -> clap::Command {
    let mut command = Arguments::command();
    command.build();
    command
}

/// Returns the remedy for these arguments; none if they are accepted.
fn remedy(arguments: &[&str]) -> Option<String> {
    let all = std::iter::once(&"crawler").chain(arguments);
    let mistake = Arguments::try_parse_from(all).err()?;
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    suggestions::for_arguments(&mistake, &arguments, &built())
}

#[test]
fn every_foreign_option_is_answered_with_its_row() {
    for row in FOREIGN {
        for name in row.names {
            for arguments in [&[*name, "x"][..], &["crawl", *name, "x"]] {
                assert_eq!(
                    remedy(arguments).as_deref(),
                    Some(row.advice),
                    "{arguments:?}"
                );
            }
        }
    }
}

#[test]
fn every_suggested_option_and_command_exists() {
    let command = built();
    let exists = |option: &str| {
        let export = command.find_subcommand("export").unwrap();
        let ours = command.get_arguments().chain(export.get_arguments());
        ours.filter_map(|argument| argument.get_long())
            .any(|long| long == option)
    };
    let advice = FOREIGN.iter().map(|row| row.advice);
    for advice in advice {
        let words = advice.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        for option in words.filter_map(|word| word.strip_prefix("--")) {
            assert!(exists(option), "--{option} in {advice:?}");
        }
        if let Some((_, rest)) = advice.split_once("`crawler ") {
            let name = rest.split(' ').next().unwrap_or_default();
            let is_option = name.starts_with("--");
            assert!(
                is_option || command.find_subcommand(name).is_some(),
                "{advice}"
            );
        }
    }
    for (word, ours) in FOREIGN_COMMANDS {
        assert!(
            command.find_subcommand(word).is_none(),
            "{word} is a command"
        );
        if ours.contains(' ') {
            continue;
        }
        let option = ours.strip_prefix("--");
        let is_ours = option.map_or_else(|| command.find_subcommand(ours).is_some(), exists);
        assert!(is_ours, "{ours}");
    }
}

#[test]
fn options_of_other_programs_are_answered_by_the_command_that_has_them() {
    let command = built();
    for (name, row) in FOREIGN_OF_COMMANDS {
        let ours = command.find_subcommand(name).unwrap();
        let exists = |option: &str| {
            ours.get_arguments()
                .any(|ours| ours.get_long() == Some(option))
        };
        let words = row
            .advice
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        for option in words.filter_map(|word| word.strip_prefix("--")) {
            assert!(exists(option), "{name} has no --{option}");
        }
        for option in row.names {
            let advice = remedy(&[name, "crawl", option, "3"]);
            assert_eq!(advice.as_deref(), Some(row.advice), "{name} {option}");
        }
    }
}

#[test]
fn no_option_is_suggested_as_a_value() {
    for arguments in [
        &["export", "crawl", "--frobnicate"][..],
        &["dedup", "a.txt", "--frobnicate"],
        &["https://a.test/", "--frobnicate"],
    ] {
        assert_eq!(remedy(arguments), None, "{arguments:?}");
    }
}

#[test]
fn no_name_has_two_rows() {
    let mut names: Vec<&str> = FOREIGN.iter().flat_map(|row| row.names).copied().collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn values_and_clusters_of_other_crawlers_are_understood() {
    for (arguments, words) in [
        (&["--depth=5", "https://a.test/"][..], "--max-depth"),
        (&["-depth", "5"], "--max-depth"),
        (&["-r6", "https://a.test/"], "--max-depth"),
        (&["-np", "https://a.test/"], "--scope prefix"),
        (&["-timeout", "5"], "--timeout"),
        (&["-delay", "5"], "--delay"),
        (&["-nc"], "--out"),
        (&["-s", "DOWNLOAD_DELAY=2"], "--delay"),
        (&["-s", "COLOUR=2"], "every setting is an option"),
        (&["--set", "delay=2s"], "of its own: --delay 2s"),
        (&["--set=max_pages=9"], "of its own: --max-pages 9"),
        (&["--set", "fresh=true"], "of its own: --fresh"),
        (&["--set", "max-pagse=9"], "of its own: --max-pages 9"),
        (&["--set", "user-agent=a b"], "--user-agent 'a b'"),
        (&["--set", "DEPTH_LIMIT=3"], "--max-depth"),
        (&["--mirror", "https://a.test/"], "archives a whole site"),
        (&["--dealy", "5s"], "--delay"),
        (&["exprot", "crawl", "--format", "csv"], "`crawler export`"),
        (&["help", "exprot"], "`crawler export`"),
        (&["export", "crawl", "-f", "csv"], "--format"),
        (&["status", "crawl", "-f", "json"], "--format"),
    ] {
        let remedy = remedy(arguments).unwrap_or_default();
        assert!(remedy.contains(words), "{arguments:?}: {remedy}");
    }
}

#[test]
fn misspelt_commands_and_keys_are_recognised() {
    for (word, meant) in [
        ("exprot", Some("`crawler export`")),
        ("serach", Some("`crawler search`")),
        ("grep", Some("`crawler search`")),
        ("resume", Some("`crawler --out DIR`")),
        ("stop", Some("Ctrl-C")),
        ("version", Some("`crawler --version`")),
        ("frobnicate", None),
    ] {
        let found = suggestions::for_command(word, &built());
        assert_eq!(found.is_some(), meant.is_some(), "{word}: {found:?}");
        assert!(
            found
                .unwrap_or_default()
                .contains(meant.unwrap_or_default())
        );
    }
    for (key, meant) in [
        ("max-pagse", Some("max-pages")),
        ("max_pages", Some("max-pages")),
        ("DOWNLOAD_DELAY", Some("--delay")),
        ("depth", Some("--max-depth")),
        ("colour", None),
    ] {
        let found = suggestions::for_key(key, &Settings::keys());
        assert_eq!(found.is_some(), meant.is_some(), "{key}: {found:?}");
        assert!(
            found
                .unwrap_or_default()
                .contains(meant.unwrap_or_default())
        );
    }
}
