//! The head of an HTTP message, or a block of fields, parsed as by warcio.
//!
//! In warcio the text before the first space is the protocol and the next word the status; a line
//! is UTF-8, else ISO 8859-1; a line that begins with white space continues the field before; the
//! first of equal fields counts.

use std::borrow::Cow;

use crate::warc::parsed::in_utf8_or_latin1 as text;

/// The lines of a head.
pub(super) struct WarcioHead<'a> {
    status: &'a [u8],
    fields: &'a [u8],
}

impl<'a> WarcioHead<'a> {
    /// Returns the head of an HTTP message.
    pub(super) fn of_message(message: &'a [u8]) -> Self {
        let (status, fields) = next_line(message);
        let fields: &[u8] = match text(status).trim_end().is_empty() {
            true => b"",
            false => fields,
        };
        Self { status, fields }
    }

    /// Returns the fields of a block of the type `application/warc-fields`.
    pub(super) fn of_fields(block: &'a [u8]) -> Self {
        Self {
            status: b"",
            fields: block,
        }
    }

    /// Returns the second word of the status line: three digits, if the server is sane.
    pub(super) fn status(&self) -> Cow<'a, str> {
        part_of(text(self.status), |line| {
            let (_, behind) = line.trim_end().split_once(' ').unwrap_or_default();
            behind.trim().split(' ').next().unwrap_or_default()
        })
    }

    /// Returns the value of the first field of this name, which is in lower case.
    pub(super) fn field(&self, name: &str) -> Option<Cow<'a, str>> {
        let mut rest = self.fields;
        while !rest.is_empty() {
            let (line, behind) = next_line(rest);
            rest = behind;
            let line = part_of(text(line), str::trim_end);
            if line.is_empty() {
                return None;
            }
            let Some(colon) = line.find(':') else {
                continue;
            };
            let found = line[..colon].trim_end_matches([' ', '\t']);
            if !found.eq_ignore_ascii_case(name) {
                continue;
            }
            let mut value = part_of(line, |line| line[colon + 1..].trim_start());
            while rest.starts_with(b" ") || rest.starts_with(b"\t") {
                let (more, behind) = next_line(rest);
                let more = part_of(text(more), str::trim_end);
                if more.is_empty() {
                    break;
                }
                rest = behind;
                value.to_mut().push_str(&more);
            }
            return Some(value);
        }
        None
    }
}

fn next_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, b""),
    }
}

/// Returns the part of a line that `part` chooses.
fn part_of<'a>(line: Cow<'a, str>, part: impl Fn(&str) -> &str) -> Cow<'a, str> {
    match line {
        Cow::Borrowed(line) => Cow::Borrowed(part(line)),
        Cow::Owned(line) => Cow::Owned(part(&line).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_warcio_reads_it() {
        // Each expected pair is the output of warcio 1.8 for the message: `get_statuscode()`,
        // `get_header("content-type")`.
        for (message, status, media_type) in [
            (
                "HTTP/1.1 200 OK\r\nContent-Type: a/b; c\r\n\r\n",
                "200",
                Some("a/b; c"),
            ),
            (
                "HTTP/1.1  404\nCONTENT-TYPE \t:a/b\ncontent-type: c/d\n\n",
                "404",
                Some("a/b"),
            ),
            ("HTTP/1.1\r\n\r\nContent-Type: body/only", "", None),
            (
                "ICY 200 OK\r\nx: y\r\ncontent-type:\r\n\r\n",
                "200",
                Some(""),
            ),
            ("\r\nContent-Type: a/b\r\n\r\n", "", None),
            (
                "HTTP/1.0 200\r\nno colon\r\nContent-Type: a/b\r\n  ;c=d\r\n\te\r\n\r\n",
                "200",
                Some("a/b  ;c=d\te"),
            ),
            ("<html>", "", None),
            ("a b c", "b", None),
        ] {
            let head = WarcioHead::of_message(message.as_bytes());
            assert_eq!(head.status(), status, "{message:?}");
            assert_eq!(
                head.field("content-type").as_deref(),
                media_type,
                "{message:?}"
            );
        }
        let latin = WarcioHead::of_message(b"HTTP/1.1 200 OK\r\nContent-Type: t\xe9xt\r\n\r\n");
        assert_eq!(latin.field("content-type").as_deref(), Some("t\u{e9}xt"));
    }
}
