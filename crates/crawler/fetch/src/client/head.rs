//! The head of an HTTP/1 response: read as browsers, curl and wget read it, written as RFC 9112
//! has it.
//!
//! Pure. A head that cannot be mended is left to the engine, which refuses it. ADR 25 has the table
//! of warnings, with the reactions of other programs and of this one. Invariant: a well-formed head
//! is returned without warnings, and mending a mended head changes nothing.

use std::borrow::Cow;

use web::Warning;

use crate::client::framing::{self, Field};

/// Bytes of a head that is mended. A longer one is left to the engine, which refuses it.
const MAX_HEAD: usize = 256 << 10;
/// Odd bytes before a status line, such as a byte order mark, that are skipped as in Chromium.
const MAX_ODD: usize = 4;

/// Meaning of the bytes that a server sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// More bytes are needed to decide.
    Incomplete,
    /// No head that can be mended.
    Foreign,
    /// An interim response (status 100 to 199, except 101) of this length.
    Interim(usize),
    Response(Mended),
}

/// The beginning of what a server sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Came {
    /// Only blank lines.
    #[default]
    Nothing,
    /// A response, judging by its bytes so far.
    Response,
    /// Bytes that do not begin a response.
    Other,
}

/// A head, mended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mended {
    /// The bytes of the head as received, with blank lines and odd bytes before it.
    pub(crate) length: usize,
    pub(crate) head: Vec<u8>,
    /// True if the body comes in chunks.
    pub(crate) is_chunked: bool,
    pub(crate) warnings: Vec<Warning>,
}

/// The bytes that have been searched for the end of a head.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    /// The beginning of the last line.
    line: usize,
    /// No line ends between there and here.
    bytes: usize,
}

/// A status line of HTTP/1.0 or HTTP/1.1.
struct StatusLine<'a> {
    minor_version: u8,
    code: u16,
    reason: Cow<'a, [u8]>,
}

/// Reads the next head in `came`; `has_ended` if nothing follows.
pub(crate) fn next(came: &[u8], searched: &mut Searched, has_ended: bool) -> Next {
    let blank = blank_lines(came);
    let Some(begin) = status_line(came, blank).filter(|_| came.len() <= MAX_HEAD) else {
        return Next::Foreign;
    };
    let Some(end) = searched.end_of_head(came, begin) else {
        return Next::Incomplete;
    };
    let mut lines = came[begin..end].split(|byte| *byte == b'\n');
    let mut warnings = Vec::new();
    if begin > blank {
        warnings.push(Warning::StatusLine);
    }
    let status_line = lines.next().map(without_line_end).unwrap_or_default();
    let Some(mut status) = StatusLine::read(status_line, &mut warnings) else {
        return Next::Foreign;
    };
    if (100..200).contains(&status.code) && status.code != 101 {
        return Next::Interim(end);
    }
    let mut fields = fields(lines.map(without_line_end), &mut warnings);
    let content = framing::Content {
        begins_with: &came[end..],
        has_ended,
    };
    let framed = framing::settle(&mut fields, status.minor_version, &content, &mut warnings);
    let Some(minor_version) = framed else {
        return Next::Incomplete;
    };
    status.minor_version = minor_version;
    warnings.sort_unstable();
    warnings.dedup();
    Next::Response(Mended {
        length: end,
        head: written(&status, &fields),
        is_chunked: framing::is_chunked(&fields),
        warnings,
    })
}

/// Returns the beginning of what came.
pub(crate) fn beginning(came: &[u8]) -> Came {
    let blank = blank_lines(came);
    match status_line(came, blank) {
        Some(begin) if begin < came.len() => Came::Response,
        Some(begin) if begin == blank => Came::Nothing,
        _ => Came::Other,
    }
}

impl Searched {
    /// Returns the end of the first empty line after `begin`.
    fn end_of_head(&mut self, came: &[u8], begin: usize) -> Option<usize> {
        self.line = self.line.max(begin);
        self.bytes = self.bytes.max(begin);
        while let Some(length) = came[self.bytes..].iter().position(|byte| *byte == b'\n') {
            let end = self.bytes + length + 1;
            let line = &came[self.line..end - 1];
            if line.iter().all(|byte| *byte == b'\r') {
                return Some(end);
            }
            (self.line, self.bytes) = (end, end);
        }
        self.bytes = came.len();
        None
    }
}

/// Returns the length of the blank lines before a message, which RFC 9112 section 2.2 ignores.
fn blank_lines(came: &[u8]) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    came.iter().take_while(is_blank).count()
}

/// Returns the place after `blank` where a status line begins, or may begin once more bytes come.
/// Only a status line shows that a server speaks HTTP: version 0.9 is not read (curl and Firefox
/// neither).
fn status_line(came: &[u8], blank: usize) -> Option<usize> {
    let may_begin = |begin: usize, name: &[u8; 4]| {
        let length = name.len().min(came.len() - begin);
        came[begin..begin + length].eq_ignore_ascii_case(&name[..length])
    };
    if may_begin(blank, b"ICY ") {
        return Some(blank);
    }
    let last = came.len().min(blank + MAX_ODD);
    (blank..=last).find(|begin| may_begin(*begin, b"HTTP"))
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| *byte != b'\r');
    &line[..end.map_or(0, |last| last + 1)]
}

impl<'a> StatusLine<'a> {
    /// Reads a status line as Chromium and Firefox do: any version, white space or none before the
    /// code, and 200 for no code.
    fn read(line: &'a [u8], warnings: &mut Vec<Warning>) -> Option<Self> {
        if !is_status_line(line) {
            warnings.push(Warning::StatusLine);
        }
        let (minor_version, rest) = version(line)?;
        let rest = rest.trim_ascii();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, reason) = rest.split_at(digits);
        let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
        let code = match &digits[zeros..] {
            [] if digits.is_empty() => 200,
            [hundreds, tens, ones] => [hundreds, tens, ones]
                .into_iter()
                .fold(0, |code, digit| code * 10 + u16::from(digit - b'0')),
            _ => return None,
        };
        Some(Self {
            minor_version,
            code,
            reason: without_controls(reason.trim_ascii()),
        })
    }
}

/// Returns true for `HTTP/1.1 200 OK` and `HTTP/1.1 200`.
fn is_status_line(line: &[u8]) -> bool {
    let is_version = line.starts_with(b"HTTP/1.0 ") || line.starts_with(b"HTTP/1.1 ");
    let rest = line.get(9..).unwrap_or_default();
    let code = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let reason = &rest[code..];
    is_version && code == 3 && (reason.is_empty() || reason[0] == b' ') && !has_controls(reason)
}

/// Returns the minor version of HTTP/1 for reading such a response, and the rest of the line.
fn version(line: &[u8]) -> Option<(u8, &[u8])> {
    if line.get(..3)?.eq_ignore_ascii_case(b"ICY") {
        return Some((0, &line[3..]));
    }
    let rest = line.get(4..)?;
    let Some(rest) = rest.strip_prefix(b"/") else {
        return Some((0, rest));
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (major, rest) = rest.split_at(digits);
    // One digit (RFC 9112 section 2.3): `HTTP/1.1200` has the code behind it, `HTTP/1.10 200` more
    // digits.
    let (minor, rest) = match rest {
        [b'.', minor, rest @ ..] if minor.is_ascii_digit() => (*minor, without_more_digits(rest)),
        _ => (b'0', rest),
    };
    let is_first_version = matches!(major, [] | b"0") || (major == b"1" && minor == b'0');
    Some((u8::from(!is_first_version), rest))
}

/// Removes digits before white space and another number.
fn without_more_digits(rest: &[u8]) -> &[u8] {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &rest[digits..] {
        [b' ' | b'\t', next @ ..]
            if next
                .trim_ascii_start()
                .first()
                .is_some_and(u8::is_ascii_digit) =>
        {
            &rest[digits..]
        }
        _ => rest,
    }
}

/// Reads the lines after the status line. A line that is not a field is skipped.
fn fields<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    warnings: &mut Vec<Warning>,
) -> Vec<Field<'a>> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    let mut is_skipping = true;
    for line in lines.filter(|line| !line.is_empty()) {
        if matches!(line[0], b' ' | b'\t') {
            // RFC 9112 section 5.2: a fold is read as a space; section 2.2: not before any field.
            match fields.last_mut().filter(|_| !is_skipping) {
                Some(folded) => unfold(folded, line),
                None => warnings.push(Warning::HeaderLine),
            }
            continue;
        }
        let field = field(line, warnings);
        is_skipping = field.is_none();
        fields.extend(field);
    }
    for field in &mut fields {
        if has_controls(&field.value) {
            warnings.push(Warning::ControlCharacter);
            field.value = without_controls(&field.value).into_owned().into();
        }
    }
    fields
}

/// Reads `name: value`, also with spaces before the colon (RFC 9112 section 5.1 has proxies remove
/// them); `None` for anything else.
fn field<'a>(line: &'a [u8], warnings: &mut Vec<Warning>) -> Option<Field<'a>> {
    let colon = line.iter().position(|byte| *byte == b':');
    let written = &line[..colon.unwrap_or_default()];
    let name = written.trim_ascii_end();
    if name.len() < written.len() || name.is_empty() || !name.iter().all(is_token) {
        warnings.push(Warning::HeaderLine);
    }
    if name.is_empty() || !name.iter().all(is_token) {
        return None;
    }
    let value = line[written.len() + 1..].trim_ascii();
    if name.eq_ignore_ascii_case(b"set-cookie") && has_controls(value) {
        // RFC 6265bis section 5.6: such a cookie is ignored, not changed.
        warnings.push(Warning::ControlCharacter);
        return None;
    }
    Some(Field {
        name,
        value: value.into(),
    })
}

fn unfold(field: &mut Field<'_>, line: &[u8]) {
    let more = line.trim_ascii();
    let value = field.value.to_mut();
    if !value.is_empty() && !more.is_empty() {
        value.push(b' ');
    }
    value.extend_from_slice(more);
}

/// Returns true for the characters of a field's name (RFC 9110 section 5.6.2).
fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

fn is_control(byte: u8) -> bool {
    (byte < b' ' && byte != b'\t') || byte == 0x7f
}

fn has_controls(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| is_control(*byte))
}

/// Replaces each control character by a space (RFC 9110 section 5.5).
fn without_controls(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !has_controls(bytes) {
        return bytes.into();
    }
    let replaced = bytes.iter().map(|byte| match byte {
        control if is_control(*control) => b' ',
        other => *other,
    });
    let replaced: Vec<u8> = replaced.collect();
    replaced.trim_ascii().to_vec().into()
}

fn written(status: &StatusLine<'_>, fields: &[Field<'_>]) -> Vec<u8> {
    let line = format!("HTTP/1.{} {} ", status.minor_version, status.code);
    let mut head = line.into_bytes();
    head.extend_from_slice(&status.reason);
    head.extend_from_slice(b"\r\n");
    for Field { name, value } in fields {
        for part in [name, &b": "[..], value, b"\r\n"] {
            head.extend_from_slice(part);
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}

#[cfg(test)]
mod tests;
