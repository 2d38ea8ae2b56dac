//! Suggestions for unknown names: misspelt commands, options and settings, and the names that other
//! crawlers use.
//!
//! A name is first looked up in the tables of `foreign_names`, and then compared with our names.

mod foreign_names;

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use messages::word_of_shell;

pub use self::foreign_names::{FOREIGN, FOREIGN_COMMANDS, FOREIGN_OF_COMMANDS};

/// Returns the remedy for arguments that `command` refused, if any.
pub fn for_arguments(
    mistake: &clap::Error,
    arguments: &[OsString],
    command: &Command,
) -> Option<String> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    // `crawler help exprot`: the second word is the command.
    let named = words.iter().find(|word| **word != "help");
    let first = named.copied().unwrap_or_default();
    let is_known = command.find_subcommand(first).is_some();
    let may_be_command = !is_known && !first.starts_with('-') && !first.contains(['.', ':', '/']);
    if may_be_command && let Some(advice) = for_command(first, command) {
        return Some(advice);
    }
    let text = |kind| match mistake.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if let Some(name) = words.iter().find_map(|word| with_one_hyphen(word, command)) {
        return Some(format!("did you mean {name}?"));
    }
    let is_crawl = !is_known || first == "crawl";
    if is_crawl {
        let culprit = match mistake.kind() {
            ErrorKind::UnknownArgument => text(ContextKind::InvalidArg),
            // `-np` is -n with the value p.
            _ => None,
        };
        // `-s DOWNLOAD_DELAY=2`, `--set delay=2s`: the setting says more than the option.
        let assigning = culprit.filter(|option| ASSIGNING.contains(option));
        let assigned = assigning.and_then(|option| {
            let mut words = words.iter();
            words.find_map(|word| assigned_setting(option, word, command))
        });
        if assigned.is_some() {
            return assigned;
        }
        if let Some(advice) = words.iter().find_map(|word| for_option(word, culprit)) {
            return Some(advice.to_owned());
        }
    }
    let typed = text(ContextKind::InvalidArg).unwrap_or_default();
    if let Some(advice) = for_option_of(first, typed, command) {
        return Some(advice);
    }
    let similar = text(ContextKind::SuggestedArg);
    if let Some(name) = similar.filter(|name| is_near(typed, name)) {
        return Some(format!("did you mean {name}?"));
    }
    if let Some(value) = text(ContextKind::SuggestedValue) {
        return Some(format!("did you mean {value}?"));
    }
    match mistake.get(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => {
            let mut tips = tips.iter().map(ToString::to_string);
            // None of our options is meant as a value.
            tips.find(|tip| !tip.contains("as a value"))
        }
        _ => None,
    }
}

/// Options of other crawlers that assign a value to a setting: `-s NAME=VALUE`.
const ASSIGNING: [&str; 2] = ["-s", "--set"];

/// Returns the advice for a word that assigns a value to a setting of ours or of another crawler:
/// `NAME=VALUE` or `--set=NAME=VALUE`.
fn assigned_setting(assigning: &str, word: &str, command: &Command) -> Option<String> {
    let word = word.strip_prefix(assigning).unwrap_or(word);
    let (key, value) = word.trim_start_matches('=').split_once('=')?;
    let key = key.to_lowercase().replace('_', "-");
    let options = || command.get_arguments();
    let is_ours = |name: &str| options().any(|option| option.get_long() == Some(name));
    let name = match for_setting(&key) {
        _ if is_ours(&key) => key,
        Some(advice) => return Some(advice.to_owned()),
        None => nearest(&key, options().filter_map(|option| option.get_long()))?,
    };
    let option = options().find(|option| option.get_long() == Some(&name))?;
    let value = match option.get_action().takes_values() {
        true => format!(" {}", word_of_shell(value)),
        false => String::new(),
    };
    Some(format!(
        "every setting is an option of its own: --{name}{value}"
    ))
}

/// Returns the advice for another program's option that was given to the command `name`.
fn for_option_of(name: &str, typed: &str, command: &Command) -> Option<String> {
    let mut rows = FOREIGN_OF_COMMANDS.iter().filter(|(of, _)| *of == name);
    if let Some((_, row)) = rows.find(|(_, row)| row.names.contains(&typed)) {
        return Some(row.advice.to_owned());
    }
    let mut options = command.find_subcommand(name)?.get_arguments();
    let has_format = options.any(|option| option.get_long() == Some("format"));
    (typed == "-f" && has_format).then(|| "did you mean --format?".to_owned())
}

/// Returns the crawl option that a word names with one hyphen, as in Katana.
fn with_one_hyphen(word: &str, command: &Command) -> Option<String> {
    let name = word.strip_prefix('-').filter(|name| name.len() > 2)?;
    let mut options = command
        .get_arguments()
        .filter_map(|option| option.get_long());
    options
        .any(|long| long == name)
        .then(|| format!("--{name}"))
}

/// Returns the advice for a word of the command line that is another crawler's option. `culprit` is
/// the option that the parser names. Without it, only options that the parser mistakes for
/// something else are recognised.
fn for_option(word: &str, culprit: Option<&str>) -> Option<&'static str> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let culprit = match culprit {
        Some(culprit) if word.starts_with(culprit) => culprit,
        Some(_) => return None,
        None => {
            let is_taken = !name.starts_with("--") && name.len() > 2;
            return foreign(name).filter(|_| is_taken);
        }
    };
    let long = format!("-{name}");
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let of_short = || {
        let rest = name.strip_prefix(culprit)?;
        foreign(culprit).filter(|_| rest.is_empty() || is_number(rest))
    };
    foreign(name).or_else(|| foreign(&long)).or_else(of_short)
}

/// Returns the advice for a name in the table.
fn foreign(name: &str) -> Option<&'static str> {
    let row = FOREIGN.iter().find(|row| row.names.contains(&name))?;
    Some(row.advice)
}

/// Returns the advice for a key of another crawler's configuration.
fn for_setting(key: &str) -> Option<&'static str> {
    foreign(&format!("--{}", key.to_lowercase().replace('_', "-")))
}

/// Returns the remedy for a configuration key that is not in `keys`.
pub fn for_key(key: &str, keys: &[String]) -> Option<String> {
    let hyphened = key.to_lowercase().replace('_', "-");
    let similar = nearest(&hyphened, keys.iter().map(String::as_str));
    let meant = similar.map(|key| format!("did you mean {key}?"));
    meant.or_else(|| for_setting(key).map(str::to_owned))
}

/// Returns the remedy for a word that is not a subcommand of `command`.
pub fn for_command(word: &str, command: &Command) -> Option<String> {
    let known = FOREIGN_COMMANDS.iter().find(|(name, _)| *name == word);
    if let Some((_, ours)) = known {
        return Some(match *ours {
            "--out" => "`crawler --out DIR` continues the crawl in DIR".to_owned(),
            advice if advice.contains(' ') => advice.to_owned(),
            command => format!("did you mean `crawler {command}`?"),
        });
    }
    let names = command.get_subcommands().map(Command::get_name);
    nearest(word, names).map(|name| format!("did you mean `crawler {name}`?"))
}

/// Returns the name that differs in the fewest letters, if at most a third of its letters differ.
fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let distances = names.map(|name| (strsim::damerau_levenshtein(word, name), name));
    let (_, name) = distances.min()?;
    is_near(word, name).then(|| name.to_owned())
}

/// Returns true if at most a third of the name's letters are wrong. Leading hyphens are ignored.
fn is_near(word: &str, name: &str) -> bool {
    let [word, name] = [word, name].map(|word| word.trim_start_matches('-'));
    strsim::damerau_levenshtein(word, name) * 3 <= name.len().max(3)
}
