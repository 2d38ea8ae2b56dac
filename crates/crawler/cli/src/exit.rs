//! The end of a command that failed: its error on standard error, and its exit code.

use std::process::ExitCode;

use messages::{CommandError, Kind, printable, say, usage};

use crate::terminal::say_marked;

/// Prints the error and returns the exit code.
pub(crate) fn report(error: &CommandError) -> ExitCode {
    say_marked("error:", &format!(" {}", printable(error.message())));
    if let Some(remedy) = error.remedy() {
        say(&format!("  help: {}", printable(remedy)));
    }
    match error.kind() {
        Kind::Usage => ExitCode::from(2),
        Kind::Fault => ExitCode::from(1),
    }
}

/// Shortens clap's error of several paragraphs to two lines.
pub(crate) fn of_arguments(mistake: &clap::Error, remedy: &str) -> CommandError {
    let text = mistake.to_string();
    let lines = text.lines().map(str::trim);
    let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let message = first.join(" ");
    // Errors of Rust's parsers, which say what they found and not what they expected.
    let message = message
        .replace(
            "invalid digit found in string",
            "a whole number is expected",
        )
        .replace("invalid float literal", "a number is expected");
    usage(message.strip_prefix("error: ").unwrap_or(&message)).with_remedy(remedy)
}
