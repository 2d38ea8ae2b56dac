//! Lines for the user's eyes, on standard error, and text from the web as a terminal may have it.

use std::io::{self, IsTerminal, Write};

/// A line for the user's eyes, on standard error. If nobody can read it (a closed or full standard error), nobody can be told that either.
pub(crate) fn say(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

/// Whether standard error is a terminal.
pub(crate) fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// Text from the web as a terminal may have it: control characters, which could move its cursor or change its colours, are escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}
