//! Errors of commands: a line that names the cause, and a line with the remedy.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use crate::disk_error;
use crate::terminal::{printable, say};

/// An error that ends a command.
#[derive(Debug)]
pub(crate) struct CliError {
    code: u8,
    message: String,
    remedy: Option<String>,
    is_disk_full: bool,
}

/// Returns a usage error, for wrong options, files or values. Exit code 2.
pub(crate) fn usage(message: impl fmt::Display) -> CliError {
    CliError {
        code: 2,
        message: message.to_string(),
        remedy: None,
        is_disk_full: false,
    }
}

/// Returns a fault of the crawler or the machine. Exit code 1.
pub(crate) fn fault(error: &(dyn Error + 'static)) -> CliError {
    CliError {
        code: 1,
        message: chain(error),
        remedy: None,
        is_disk_full: disk_error::is_full(error),
    }
}

/// Joins an error and its causes, outermost first.
fn chain(error: &dyn Error) -> String {
    let mut links = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(deeper) = cause {
        links.push(deeper.to_string());
        cause = deeper.source();
    }
    links.join(": ")
}

impl CliError {
    /// Returns a usage error with its causes.
    pub(crate) fn of_usage(error: &dyn Error) -> Self {
        usage(chain(error))
    }

    /// Returns the message without its remedy.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Shortens clap's error of several paragraphs to two lines.
    pub(crate) fn of_arguments(mistake: &clap::Error, remedy: Option<&str>) -> Self {
        let text = mistake.to_string();
        let lines = text.lines().map(str::trim);
        let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        let message = first.join(" ");
        let error = usage(message.strip_prefix("error: ").unwrap_or(&message));
        error.with_remedy(remedy.unwrap_or("`crawler --help` explains every option and command"))
    }

    /// Returns true if a full disk is the cause: with more disk space, a retry may succeed.
    pub(crate) const fn is_disk_full(&self) -> bool {
        self.is_disk_full
    }

    /// Adds the remedy.
    pub(crate) fn with_remedy(mut self, remedy: impl fmt::Display) -> Self {
        self.remedy = Some(remedy.to_string());
        self
    }

    /// Returns the error as one line, for a web page.
    pub(crate) fn in_one_line(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{} ({remedy})", self.message),
            None => self.message.clone(),
        }
    }

    /// Prints the error as a warning.
    pub(crate) fn warn(&self) {
        say(&format!("warning: {}", printable(&self.message)));
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        say(&format!("error: {}", printable(&self.message)));
        if let Some(remedy) = &self.remedy {
            say(&format!("  help: {}", printable(remedy)));
        }
        ExitCode::from(self.code)
    }
}
