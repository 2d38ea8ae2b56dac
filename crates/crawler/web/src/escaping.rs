//! A writer that makes text from the web safe for a terminal, also if it is written to a file that
//! a terminal shows later.

use std::io::{self, Write};

use crate::printable::is_command;

/// A writer of UTF-8 that escapes all characters that command a terminal, except line ends and
/// tabs. It escapes like JSON (`\u001b`), so that JSON stays JSON with the same value.
#[derive(Debug)]
pub struct Escaping<W> {
    inner: W,
    /// The first bytes, at most two, of a character that continues in the next call.
    begun: Vec<u8>,
    /// Sequences that pass. A write must not cut them.
    passing: &'static [&'static str],
}

impl<W: Write> Escaping<W> {
    /// Creates a writer that escapes everything.
    pub fn new(inner: W) -> Self {
        Self::but_for(&[], inner)
    }

    /// Creates a writer that lets these sequences pass, such as colours. Each must be written in
    /// one call.
    pub fn but_for(passing: &'static [&'static str], inner: W) -> Self {
        Self {
            inner,
            begun: Vec::with_capacity(2),
            passing,
        }
    }

    /// Returns the bytes after a sequence that passes; `None` if they do not begin with one.
    fn after_passing<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let mut passing = self.passing.iter();
        passing.find_map(|sequence| bytes.strip_prefix(sequence.as_bytes()))
    }

    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while let Some(place) = bytes.iter().position(|byte| may_command(*byte)) {
            self.inner.write_all(&bytes[..place])?;
            bytes = &bytes[place..];
            if let Some(rest) = self.after_passing(bytes) {
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
    use crate::printable::printable;

    const RED: &str = "\u{1b}[31m";
    const GREEN: &str = "\u{1b}[32m";
    const PLAIN: &str = "\u{1b}[m";

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
    fn only_given_sequences_pass() {
        let text = format!("{RED}a{PLAIN}\u{1b}[31;5mb\u{1b}[34m{GREEN}");
        let mut out = Vec::new();
        Escaping::but_for(&[RED, PLAIN, GREEN], &mut out)
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
