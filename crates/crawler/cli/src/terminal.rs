//! Output to a terminal: lines on standard error, and escaped text from the web.
//!
//! Terminals obey control characters, which pages can put into their titles. `web::printable`
//! contains the table of these characters, with its sources.
//!
//! Invariant: the only control characters that reach standard output and standard error are line
//! ends and tabs. Each value is made [`printable`], and all output also passes through
//! [`Escaping`]. A command that marks words with colours lets four fixed sequences pass: [`RED`],
//! [`GREEN`], [`YELLOW`] and [`PLAIN`].

use std::io::{self, IsTerminal, Write};

use web::{is_command, printable};

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

/// Returns true if standard output is a terminal with colours, or should be treated like one
/// (`NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`; bixense.com/clicolors).
pub(crate) fn has_colours() -> bool {
    console::colors_enabled()
}

/// Maximum number of characters printed of a panic's message.
const MAX_PANIC: usize = 2_000;

/// A writer of UTF-8 that escapes all characters that command a terminal, except line ends and
/// tabs. It escapes like JSON (`\u001b`), so that JSON stays JSON with the same value.
pub(crate) struct Escaping<W> {
    inner: W,
    /// The first bytes, at most two, of a character that continues in the next call.
    begun: Vec<u8>,
    /// True if our colours pass. A write must not cut them.
    has_colours: bool,
}

impl<W: Write> Escaping<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self {
            inner,
            begun: Vec::with_capacity(2),
            has_colours: false,
        }
    }

    /// Creates a writer that lets our colours pass.
    pub(crate) fn with_colours(inner: W) -> Self {
        Self {
            has_colours: true,
            ..Self::new(inner)
        }
    }

    /// Returns the bytes after one of our colours; `None` if they do not begin with a colour.
    fn after_colour<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let mut colours = [RED, GREEN, YELLOW, PLAIN]
            .iter()
            .filter(|_| self.has_colours);
        colours.find_map(|colour| bytes.strip_prefix(colour.as_bytes()))
    }

    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while let Some(place) = bytes.iter().position(|byte| may_command(*byte)) {
            self.inner.write_all(&bytes[..place])?;
            bytes = &bytes[place..];
            if let Some(rest) = self.after_colour(bytes) {
                self.inner.write_all(&bytes[..bytes.len() - rest.len()])?;
                bytes = rest;
                continue;
            }
            let length = length_of(bytes[0]);
            let Some(character) = bytes.get(..length) else {
                self.begun.extend_from_slice(bytes);
                return Ok(());
            };
            let text = std::str::from_utf8(character).unwrap_or_default();
            match text.chars().next() {
                Some(character) if is_command(character) => {
                    write!(self.inner, "\\u{:04x}", u32::from(character))?;
                    bytes = &bytes[length..];
                }
                // The first byte of another character, or an invalid byte, is harmless.
                _ => {
                    self.inner.write_all(&bytes[..1])?;
                    bytes = &bytes[1..];
                }
            }
        }
        self.inner.write_all(bytes)
    }
}

/// Returns true if a character that [`is_command`] may begin with this byte, except line ends and
/// tabs.
fn may_command(byte: u8) -> bool {
    byte < b' ' && byte != b'\n' && byte != b'\t' || matches!(byte, 0x7f | 0xc2 | 0xe2)
}

/// Returns the length in UTF-8 of a character that [`may_command`], by its first byte.
fn length_of(first: u8) -> usize {
    match first {
        0xe2 => 3,
        0xc2 => 2,
        _ => 1,
    }
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begun.is_empty() {
            self.pass(bytes)?;
        } else {
            let mut whole = std::mem::take(&mut self.begun);
            whole.extend_from_slice(bytes);
            self.pass(&whole)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut out = Vec::new();
        let mut escaping = Escaping::new(&mut out);
        for piece in pieces {
            escaping.write_all(piece).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn characters_that_a_terminal_obeys_are_escaped() {
        for (text, in_a_line, in_a_text) in [
            (
                "plain é 漢字 \u{a0}€",
                "plain é 漢字 \u{a0}€",
                "plain é 漢字 \u{a0}€",
            ),
            (
                "\u{1b}]0;title\u{7}",
                "\\u{1b}]0;title\\u{7}",
                "\\u001b]0;title\\u0007",
            ),
            (
                "\u{9b}2J\u{7f}\0",
                "\\u{9b}2J\\u{7f}\\u{0}",
                "\\u009b2J\\u007f\\u0000",
            ),
            ("a\r\u{8}b", "a\\r\\u{8}b", "a\\u000d\\u0008b"),
            ("a\n\tb", "a\\n\\tb", "a\n\tb"),
            (
                "\u{202e}gpj\u{2066}",
                "\\u{202e}gpj\\u{2066}",
                "\\u202egpj\\u2066",
            ),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}", "\\u2028\\u2029"),
        ] {
            assert_eq!(printable(text), in_a_line);
            assert_eq!(escaped([text.as_bytes()]), in_a_text);
        }
    }

    #[test]
    fn only_our_colours_pass_and_only_where_they_are_wanted() {
        let text = format!("{RED}a{PLAIN}\u{1b}[31;5mb\u{1b}[34m{GREEN}");
        let mut out = Vec::new();
        Escaping::with_colours(&mut out)
            .write_all(text.as_bytes())
            .unwrap();
        let expected = format!("{RED}a{PLAIN}\\u001b[31;5mb\\u001b[34m{GREEN}");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert!(!escaped([text.as_bytes()]).contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn text_in_any_pieces_is_escaped_once_and_json_keeps_its_value(
            text in any::<String>(),
            more in "[\\x00-\\x20\\x7f-\\xa0\\u{2020}-\\u{2070}]{0,20}",
            size in 1..5_usize,
        ) {
            let json = serde_json::to_string(&format!("{text}{more}")).unwrap();
            let whole = escaped([json.as_bytes()]);
            prop_assert_eq!(&escaped(json.as_bytes().chunks(size)), &whole);
            prop_assert!(!whole.chars().any(is_command));
            let read = serde_json::from_str::<String>(&whole).unwrap();
            prop_assert_eq!(read, format!("{text}{more}"));
        }
    }
}
