//! The `crawler` binary: arguments become settings, settings become a context, and the context
//! crawls.

mod args;
mod block_diff;
mod commands;
mod exit;
mod help;
mod listener;
mod log;
mod log_file;
mod on_finish;
mod output;
mod progress;
mod seed_news;
mod signals;
mod summary;
mod terminal;
mod word_diff;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use messages::CommandError;
use settings::{machine, suggestions};

use crate::args::{Arguments, Command};
use crate::listener::StandardError;

fn main() -> ExitCode {
    if let Some(code) = pdf::run_child() {
        return code;
    }
    messages::install(Box::new(StandardError));
    machine::keep_memory_small();
    machine::raise_file_limit();
    terminal::say_panics();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(mistake) => match help::requested(std::env::args_os().collect()) {
            // `--help` and `--version` are not mistakes.
            Some(answer) => answer.exit(),
            None => return exit::report(&refuse(&mistake)),
        },
    };
    let done = match arguments.command {
        None => commands::crawl::run(&arguments.crawl),
        Some(command) => run(command),
    };
    done.unwrap_or_else(|error| exit::report(&error))
}

/// Returns the error for arguments that the parser refused.
fn refuse(mistake: &clap::Error) -> CommandError {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let mut command = Arguments::command();
    command.build();
    let suggestion = suggestions::for_arguments(mistake, &words, &command);
    let remedy = suggestion.unwrap_or_else(|| help_of(&words, &command));
    exit::of_arguments(mistake, &remedy)
}

/// Returns the remedy that names the help of the command in these words.
fn help_of(words: &[OsString], command: &clap::Command) -> String {
    let mut words = words.iter();
    match words.find_map(|word| command.find_subcommand(word)) {
        Some(named) => format!("`crawler {} --help` explains its options", named.get_name()),
        None => "`crawler --help --all` explains every option".to_owned(),
    }
}

fn run(command: Command) -> Result<ExitCode, CommandError> {
    if !matches!(
        command,
        Command::Crawl(_) | Command::Node(_) | Command::Serve(_)
    ) {
        signals::remove_drafts_at_end();
    }
    let done = match command {
        Command::Crawl(args) => return commands::crawl::run(&args),
        Command::Verify(args) => return commands::verify::run(&args),
        Command::Wacz(args) => return commands::wacz::run(&args),
        Command::Unpack(args) => return commands::unpack::run(&args),
        Command::Rebuild(args) => return commands::rebuild::run(&args),
        Command::Index(args) => return commands::index::run(&args),
        Command::Robots(args) => return commands::robots::run(&args),
        Command::Node(args) => return commands::node::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Control(args) => commands::control::run(&args),
        Command::Nodes(args) => commands::nodes::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Why(args) => commands::why::run(&args),
        Command::Changes(args) => commands::changes::run(&args),
        Command::Duplicates(args) => commands::duplicates::run(&args),
        Command::Search(args) => commands::search::run(&args),
        Command::Clean(args) => commands::clean::run(&args),
        Command::Reindex(args) => commands::reindex::run(&args),
        Command::Skipped(args) => commands::skipped::run(&args),
        Command::Similar(args) => commands::similar::run(&args),
        Command::Frames(args) => commands::frames::run(&args),
        Command::Patterns(args) => commands::patterns::run(&args),
        Command::Retry(args) => commands::retry::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Mcp(args) => commands::mcp::run(args),
        Command::Status(args) => commands::status::run(&args),
        Command::Extract(args) => commands::extract::run(&args),
        Command::Fingerprint(args) => commands::fingerprint::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Dedup(args) => commands::dedup::run(&args),
        Command::Query(args) => commands::query::run(&args),
        Command::Frequencies(args) => commands::frequencies::run(&args),
        Command::Topic(args) => commands::topic::run(&args),
        Command::Plan(args) => commands::plan::run(&args),
        Command::Canonicalize(args) => commands::canonicalize::run(&args),
        Command::Keys(command) => commands::keys::run(&command),
        Command::Config(args) => commands::config::run(&args),
        Command::Completions(args) => commands::manual::completions(&args),
        Command::Man(args) => commands::manual::man(&args),
    };
    done.map(|()| ExitCode::SUCCESS)
}
