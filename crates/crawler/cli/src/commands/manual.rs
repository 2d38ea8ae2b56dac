//! `crawler man` and `crawler completions`: generated from the options, so they are always correct.

use std::io;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use messages::CommandError;
use settings::input::unwritable;

use crate::args::{Arguments, CompletionsArgs, ManArgs};
use crate::output;

/// Writes the manual page of the program to standard output, or all manual pages to a directory.
pub(crate) fn man(args: &ManArgs) -> Result<(), CommandError> {
    match &args.output {
        Some(directory) => write_all(directory).map_err(unwritable(directory)),
        None => {
            let page = Man::new(built());
            output::file_to_stdout(|out| page.render(out))
        }
    }
}

/// Returns the command with everything that clap adds when it parses.
fn built() -> Command {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    command
}

/// Writes `crawler.1`, and `crawler-NAME.1` for each command.
fn write_all(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(Arguments::command(), directory)
}

/// Values of settings whose types are in other crates: clap does not know these values.
const VALUES: [(&str, &[&str]); 11] = [
    ("compression", &["gzip", "zstd", "none"]),
    ("digest", &["sha1", "sha256"]),
    ("duplicate-links", &["probe", "follow", "none"]),
    ("duplicate-scope", &["crawl", "domain", "host"]),
    ("group-by", &["host", "address", "domain"]),
    ("index", &["unique", "kept"]),
    ("on-duplicate", &["drop", "keep", "follow"]),
    ("page-requisites", &["off", "scope", "any"]),
    ("preset", &["archive", "focused"]),
    ("scope", &["host", "domain", "prefix", "any"]),
    ("sitemaps", &["on", "off", "guess"]),
];

/// Prints a shell completion script for commands and options.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut completed(), "crawler", &mut script);
    if args.shell == Shell::Fish {
        script = fish(&String::from_utf8_lossy(&script)).into_bytes();
    }
    output::file_to_stdout(|out| out.write_all(&script))
}

/// The two places in `clap_complete`'s script for fish that must change, and their replacements.
///
/// Its function finds the command in the words before the cursor. After an option whose value is
/// being typed, the function fails, and nothing is completed. So an empty word is appended to these
/// words. It stands in for the option's value or for the missing command.
const FISH: [(&str, &str); 2] = [
    (
        "(__fish_crawler_global_optspecs) -- $cmd 2>/dev/null",
        "(__fish_crawler_global_optspecs) -- $cmd '' 2>/dev/null",
    ),
    ("if set -q argv[1]", "if test -n \"$argv[1]\""),
];

/// Returns fish's script with the changes of [`FISH`], and with the values of positional arguments,
/// which `clap_complete` omits.
fn fish(script: &str) -> String {
    let mut script = FISH.iter().fold(script.to_owned(), |script, (from, to)| {
        script.replace(from, to)
    });
    for command in completed().get_subcommands() {
        for arg in command.get_positionals() {
            let values = arg.get_possible_values();
            let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
            if !values.is_empty() {
                script.push_str(&format!(
                    "complete -c crawler -n \"__fish_crawler_using_subcommand {}\" -f -a \"{}\"\n",
                    command.get_name(),
                    values.join(" ")
                ));
            }
        }
    }
    script
}

/// Returns the command for shell completion: with the values of settings, and without seeds,
/// because zsh would complete a command name as a seed.
fn completed() -> Command {
    let full = Arguments::command();
    let options = full.get_arguments().filter(|arg| !arg.is_positional());
    Command::new("crawler")
        .args(options.cloned().map(with_values))
        .subcommands(
            full.get_subcommands()
                .map(|command| command.clone().mut_args(with_values)),
        )
}

fn with_values(arg: Arg) -> Arg {
    let values = VALUES
        .iter()
        .find(|(name, _)| arg.get_long() == Some(*name));
    // Other commands have options with these names, whose values clap knows.
    match values {
        Some((_, values)) if arg.get_possible_values().is_empty() => {
            arg.value_parser(PossibleValuesParser::new(*values))
        }
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_that_shells_complete_are_values_of_the_settings() {
        for (name, values) in VALUES {
            for value in values {
                let option = format!("--{name}={value}");
                let parsed = Arguments::command().try_get_matches_from(["crawler", &option]);
                assert!(parsed.is_ok(), "{option}");
            }
        }
    }

    #[test]
    fn the_script_of_fish_has_what_is_replaced_in_it() {
        let mut script = Vec::new();
        clap_complete::generate(Shell::Fish, &mut completed(), "crawler", &mut script);
        let script = String::from_utf8(script).unwrap();
        for (from, _) in FISH {
            assert_eq!(script.matches(from).count(), 1, "{from}");
        }
        assert!(fish(&script).contains("subcommand completions\" -f -a \"bash elvish fish"));
    }
}
