//! Output to a terminal: lines on standard error, and our colours.
//!
//! Terminals obey control characters, which pages can put into their titles. `web::printable`
//! contains the table of these characters, with its sources.
//!
//! Invariant: the only control characters that reach standard output and standard error are line
//! ends and tabs. Each value is made [`printable`], and all output also passes through
//! [`Escaping`]. A command that marks words with colours lets [`COLOURS`] pass.

use std::io::{self, IsTerminal, Write};

use web::{Escaping, printable};

/// Prints a line on standard error. A failure is ignored: nobody could read a report of it.
pub(crate) fn say(line: &str) {
    say_marked("", line);
}

/// Prints a line that begins with a word in red, if standard error supports colours.
pub(crate) fn say_marked(word: &str, line: &str) {
    let mut whole = Vec::with_capacity(word.len() + line.len() + 1);
    match console::colors_enabled_stderr() && !word.is_empty() {
        true => whole.extend_from_slice(format!("{RED}{word}{PLAIN}").as_bytes()),
        false => whole.extend_from_slice(word.as_bytes()),
    }
    let escaped = Escaping::new(&mut whole).write_all(line.as_bytes());
    whole.push(b'\n');
    // In one call, so that the lines of two threads do not mix.
    drop(escaped.and_then(|()| io::stderr().write_all(&whole)));
}

/// Returns true if standard error is a terminal.
pub(crate) fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// Installs a hook that prints panics escaped, because a message may quote a page.
pub(crate) fn say_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message: String = panic.to_string().chars().take(MAX_PANIC).collect();
        message.lines().for_each(|line| say(&printable(line)));
        let trace = std::backtrace::Backtrace::capture();
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            say(&trace.to_string());
        }
    }));
}

/// The sequence that makes the following text red (ECMA-48, section 8.3.117).
pub(crate) const RED: &str = "\u{1b}[31m";
/// The sequence that makes the following text green.
pub(crate) const GREEN: &str = "\u{1b}[32m";
/// The sequence that makes the following text yellow.
pub(crate) const YELLOW: &str = "\u{1b}[33m";
/// The sequence that ends a colour.
pub(crate) const PLAIN: &str = "\u{1b}[m";
/// The sequences of our colours.
pub(crate) const COLOURS: &[&str] = &[RED, GREEN, YELLOW, PLAIN];

/// Returns true if standard output is a terminal with colours, or should be treated like one
/// (`NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`; bixense.com/clicolors).
pub(crate) fn has_colours() -> bool {
    console::colors_enabled()
}

/// Maximum number of characters printed of a panic's message.
const MAX_PANIC: usize = 2_000;
