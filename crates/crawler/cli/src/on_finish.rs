//! `--on-finish`: a command that runs after a crawl.
//!
//! The command is not a setting, because a crawl is continued with the settings in its directory: a
//! crawl that was copied from elsewhere must not run commands here.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Runs a command with `sh -c`, with `input` on standard input, and waits for its end. Its output
/// goes to standard error, because the summary of the crawl is on standard output.
///
/// # Errors
/// The shell cannot be started, or its input cannot be written.
pub(crate) fn run(command: &str, directory: &Path, input: &[u8]) -> io::Result<ExitStatus> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .env("CRAWL_DIR", std::path::absolute(directory)?)
        .stdin(Stdio::piped())
        .stdout(io::stderr())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input) {
            // Not every command reads its input.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
            _written_or_unread => {}
        }
    }
    child.wait()
}
