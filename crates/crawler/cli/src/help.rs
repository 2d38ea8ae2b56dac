//! `--help`: the commands in groups, and the options that most people need. With `--all`, every
//! option.
//!
//! Only the help knows the groups and the selection. The parser, the manual pages and the shell
//! completions have all options, and `--all` is not one of them.

use std::ffi::{OsStr, OsString};

use clap::{Command, CommandFactory};

use crate::args::Arguments;

/// Commands by group, in the order of the help.
const GROUPS: [(&str, &str); 4] = [
    (
        "Crawl and set up",
        "crawl retry config keys node nodes control import completions man help",
    ),
    (
        "Look at a crawl",
        "status report serve mcp why search export duplicates similar changes skipped patterns \
         frames",
    ),
    (
        "Archives and files",
        "wacz unpack verify rebuild index reindex clean",
    ),
    (
        "Engine, without a crawl",
        "dedup compare fingerprint query frequencies topic extract robots canonicalize plan",
    ),
];

/// Options of a crawl that the help lists without `--all`.
const MAIN_OPTIONS: &str = "seeds out config preset scope include exclude max-pages max-depth \
                            delay user-agent contact since serve";

/// Word that lists every option, after or before `--help`.
const ALL: &str = "--all";

/// Returns the help or the version that these arguments request, if any, as clap prints them.
pub(crate) fn requested(mut words: Vec<OsString>) -> Option<clap::Error> {
    let asks_for_help = words.iter().any(|word| word == "--help" || word == "-h");
    let lists_all = asks_for_help && words.iter().any(|word| word == ALL);
    if lists_all {
        words.retain(|word| word != OsStr::new(ALL));
    }
    let answer = command(lists_all).try_get_matches_from(words).err()?;
    (!answer.use_stderr()).then_some(answer)
}

/// Returns the command whose help is printed.
fn command(lists_all: bool) -> Command {
    let full = Arguments::command();
    let (usage, groups) = (full.clone().render_usage(), groups());
    let head = format!("{{about-with-newline}}\n{}\n\n{groups}", usage.ansi());
    let mut command = match lists_all {
        true => full.help_template(format!("{head}\n\n{{all-args}}{{after-help}}")),
        false => {
            let about = full.get_long_about().cloned().unwrap_or_default();
            // Without a long form, `-h` and `--help` are the same.
            let short = full.about(about).long_about(None::<&str>);
            let head_of_crawl = "{about-with-newline}\n{usage-heading} {usage}";
            main_options(short, &head, "crawler").mut_subcommand("crawl", |crawl| {
                main_options(crawl, head_of_crawl, "crawler crawl")
            })
        }
    };
    // The head has the commands. Only building adds `help`.
    command.build();
    command.mut_subcommands(|command| command.hide(true))
}

fn is_main_option(name: &str) -> bool {
    MAIN_OPTIONS.split(' ').any(|main| main == name)
}

/// Hides all options but [`MAIN_OPTIONS`], which need no headings then.
fn main_options(command: Command, head: &str, name: &str) -> Command {
    let hint = format!("`{name} --help {ALL}` lists every option.");
    let template = format!("{head}\n\n{{all-args}}\n\n{hint}{{after-help}}");
    let selected = command.mut_args(|arg| match arg.get_long() {
        Some(long) if !is_main_option(long) => arg.hide(true),
        _ => arg.help_heading(None::<&str>),
    });
    selected.help_template(template)
}

/// Returns the commands in groups.
fn groups() -> String {
    let mut built = Arguments::command();
    built.build();
    let groups = GROUPS.map(|(heading, names)| {
        let commands = names.split(' ').enumerate().filter_map(|(place, name)| {
            let command = built.find_subcommand(name)?;
            Some(command.clone().display_order(place))
        });
        let mut group = Command::new("crawler")
            .disable_help_flag(true)
            .disable_help_subcommand(true)
            .subcommand_help_heading(heading)
            .subcommands(commands)
            .help_template("{all-args}");
        group.render_help().ansi().to_string().trim_end().to_owned()
    });
    groups.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text that these arguments print.
    fn help(arguments: &[&str]) -> String {
        let words = ["crawler"].iter().chain(arguments);
        let words = words.map(OsString::from).collect();
        requested(words).unwrap().to_string()
    }

    /// Returns true if the help has an entry for an option.
    fn lists(help: &str, long: &str) -> bool {
        let is_name_of = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric());
        help.lines()
            .filter(|line| line.starts_with("  -") || line.starts_with("      --"))
            .filter_map(|line| line.split_once(&format!("--{long}")))
            .any(|(before, rest)| {
                before.trim().len() <= 3 && !rest.starts_with('-') && is_name_of(rest)
            })
    }

    #[test]
    fn every_command_is_in_one_group_and_every_group_names_commands() {
        let mut built = Arguments::command();
        built.build();
        let visible = built
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let mut commands: Vec<&str> = visible.map(Command::get_name).collect();
        let grouped = GROUPS.iter().flat_map(|(_, names)| names.split(' '));
        let mut grouped: Vec<&str> = grouped.collect();
        commands.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(commands, grouped);
        for arguments in [&["--help"][..], &["-h"], &["help"], &["--help", "--all"]] {
            let help = help(arguments);
            for (heading, names) in GROUPS {
                let (_, group) = help.split_once(&format!("\n{heading}:\n")).unwrap();
                let group = group.split("\n\n").next().unwrap();
                let listed = group.lines().filter_map(|line| line.strip_prefix("  "));
                let listed = listed.filter_map(|line| line.split(' ').next());
                let listed: Vec<&str> = listed.filter(|name| !name.is_empty()).collect();
                assert_eq!(listed.join(" "), names, "{arguments:?}");
            }
            assert!(help.contains("\n       crawler <COMMAND>\n"), "{help}");
        }
    }

    #[test]
    fn help_lists_the_main_options_and_with_all_every_option() {
        let full = Arguments::command();
        let options: Vec<&str> = full
            .get_arguments()
            .filter_map(|arg| arg.get_long())
            .collect();
        assert!(MAIN_OPTIONS.split(' ').all(|main| options.contains(&main)));
        let (short, all) = (
            [&["--help"][..], &["-h"], &["help"]],
            [
                &["--help", "--all"][..],
                &["--all", "--help"],
                &["-h", "--all"],
            ],
        );
        for command in [None, Some("crawl")] {
            let of_command = |arguments: &[&'static str]| match (command, arguments) {
                (Some(name), ["help"]) => help(&["help", name]),
                (Some(name), arguments) => help(&[&[name], arguments].concat()),
                (None, arguments) => help(arguments),
            };
            for arguments in short {
                let help = of_command(arguments);
                for option in &options {
                    let is_main = is_main_option(option);
                    assert_eq!(lists(&help, option), is_main, "{option}: {help}");
                }
                assert!(lists(&help, "help"));
                let name = command.map_or("crawler".to_owned(), |name| format!("crawler {name}"));
                let hint = format!("\n\n`{name} --help --all` lists every option.\n");
                assert_eq!(help.matches(&hint).count(), 1, "{help}");
            }
            for arguments in all {
                let help = of_command(arguments);
                for option in &options {
                    assert!(lists(&help, option), "{option}: {help}");
                }
                assert!(help.contains("\nPoliteness:\n"), "{help}");
            }
        }
    }

    #[test]
    fn all_is_only_a_word_of_the_help() {
        let requested = |arguments: &[&str]| {
            let words = ["crawler"].iter().chain(arguments);
            requested(words.map(OsString::from).collect())
        };
        assert!(requested(&["--all"]).is_none());
        assert!(requested(&["--frobnicate", "--help"]).is_none());
        assert!(requested(&["--version"]).is_some());
        assert!(requested(&["export", "--help"]).is_some());
    }
}
