//! Errors of commands: a line that names the cause, and a line with the remedy.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use disk::DiskErrorKind;

use crate::{disk_error, listener};

/// The kinds of errors; each has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Wrong options, files or values.
    Usage,
    /// A fault of the crawler or the machine.
    Fault,
}

/// An error that ends a command.
#[derive(Debug)]
pub struct CommandError {
    kind: Kind,
    message: String,
    remedy: Option<String>,
    is_disk_full: bool,
}

/// Returns a usage error, for wrong options, files or values.
pub fn usage(message: impl fmt::Display) -> CommandError {
    CommandError {
        kind: Kind::Usage,
        message: message.to_string(),
        remedy: None,
        is_disk_full: false,
    }
}

/// Returns a fault of the crawler or the machine.
pub fn fault(error: &(dyn Error + 'static)) -> CommandError {
    CommandError {
        kind: Kind::Fault,
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

impl CommandError {
    /// Returns a usage error with its causes.
    pub fn of_usage(error: &dyn Error) -> Self {
        usage(chain(error))
    }

    /// Returns the message without its remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// Returns the kind of the error.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns true if a full disk is the cause: with more disk space, a retry may succeed.
    pub const fn is_disk_full(&self) -> bool {
        self.is_disk_full
    }

    /// Adds the remedy.
    pub fn with_remedy(mut self, remedy: impl fmt::Display) -> Self {
        self.remedy = Some(remedy.to_string());
        self
    }

    /// Returns the error as one line, for a web page.
    pub fn in_one_line(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{} ({remedy})", self.message),
            None => self.message.clone(),
        }
    }

    /// Says the error as a warning.
    pub fn warn(&self) {
        listener::warn(&self.message);
    }
}

/// Returns the error about a file of the crawl in `out`: a usage error if the user chose a wrong
/// path, a fault if the machine fails.
pub fn cannot(action: &str, path: &Path, error: &io::Error, out: &Path) -> CommandError {
    let message = format!("cannot {action} {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotFound
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory => usage(message),
        kind => fault(&io::Error::new(kind, message))
            .with_remedy(disk_error::remedy_for(DiskErrorKind::of(error), out)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_machine_is_a_fault_with_a_remedy() {
        let out = Path::new("monday");
        let shown = |number| {
            let error = io::Error::from_raw_os_error(number);
            format!(
                "{:?}",
                cannot("write", Path::new("monday/crawl.log"), &error, out)
            )
        };
        // ENOSPC, EROFS, EIO, EACCES
        for (number, kind, words) in [
            (28, "kind: Fault", "free some space"),
            (30, "kind: Fault", "for writing"),
            (5, "kind: Fault", "repair the disk"),
            (13, "kind: Usage", "monday/crawl.log"),
        ] {
            let error = shown(number);
            assert!(
                error.contains(kind) && error.contains(words),
                "{number}: {error}"
            );
            assert!(error.contains("cannot write monday/crawl.log"), "{error}");
        }
    }
}
