//! The CDXJ line of a record, if it has one.
//!
//! A line is `key timestamp {json}` with the fields of cdxj-indexer in its order: `url`, `mime`,
//! `status`, `digest`, `length`, `offset`, `filename`, all strings; missing ones are omitted. As
//! in cdxj-indexer by default, the record types with a line are `response`, `revisit`, `resource`
//! and `metadata`, the latter two unless their content is `application/warc-fields`.
//!
//! The line of a response to POST or PUT has another key, and the fields `requestBody` and `method`
//! at its end (`post`).
//!
//! A `metadata` record with the verdict on a duplicate has a line under a key that no URL has
//! ([`DUPLICATE`]): replay does not find it, but a search for pages that were not archived does.
//!
//! Records are parsed as by warcio 1.8, which cdxj-indexer is built on: lenient with status lines,
//! charsets and URLs in angle brackets. One function serves the record being written and the record
//! being read, so both give the same line.

use std::borrow::Cow;
use std::fmt::Write as _;

use web::{Timestamp, surt_key};

use super::entry::MAX_LINE;
use super::json;
use super::post::{MAX_REQUEST, PostQuery};
use super::warcio_head::WarcioHead;
use crate::digest::PayloadDigest;
use crate::warc::completed;
use crate::warc::parsed::without_brackets;

/// The key prefix of a duplicate. No URL has a key with it; it sorts before all of them.
pub const DUPLICATE: &str = "!duplicate:";

/// The line breaks after a record, in bytes: in a plain file, an index does not count them.
pub(crate) const BLANK: u64 = 4;

/// Bytes of a block that are examined: heads of HTTP messages are shorter, and requests of scripts
/// with their bodies, too.
pub(crate) const GLANCE: usize = MAX_REQUEST;

/// Maximum length of a line before `length`, `offset` and `filename`: a name has 255 bytes, and
/// each byte may take six. The body of a request takes up to twelve bytes per character, in the key
/// and in a field.
const MAX_LINE_START: usize = MAX_LINE - (128 << 10);

/// A line of the index without its file name, which is known once the record is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Key, timestamp, and the fields before `length`.
    start: String,
    /// The start of the record in its file, in bytes.
    pub offset: u64,
    /// Its packed length in bytes.
    pub length: u64,
    /// The fields after `filename`.
    end: String,
}

impl Capture {
    /// Returns the line, with its line break, of a capture in the file of this name.
    #[must_use]
    pub fn line(&self, file: &str) -> String {
        let Self {
            start,
            offset,
            length,
            end,
        } = self;
        let mut line = String::with_capacity(start.len() + file.len() + end.len() + 80);
        line.push_str(start);
        write!(
            line,
            "\"length\": \"{length}\", \"offset\": \"{offset}\", \"filename\": "
        )
        .expect("a string takes every byte");
        json::push_string(&mut line, file);
        line.push_str(end);
        line.push_str("}\n");
        line
    }

    /// Returns the capture of the response to a request with a body for this URL; `None` without a
    /// usable key.
    pub(crate) fn of_post(self, url: &str, post: &PostQuery) -> Option<Self> {
        let key = usable_key(&post.extended(&target(url)))?;
        let (_, fields) = self.start.split_once(' ')?;
        let mut end = ", \"requestBody\": ".to_owned();
        json::push_string(&mut end, &post.body);
        end.push_str(", \"method\": ");
        json::push_string(&mut end, &post.method);
        let start = format!("{key} {fields}");
        Some(Self { start, end, ..self })
    }

    /// Returns true for the response to a request with a body.
    pub(crate) fn is_of_post(&self) -> bool {
        !self.end.is_empty()
    }
}

/// A capture without its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnplacedCapture(String);

impl UnplacedCapture {
    /// Returns the capture of a record with these header fields, whose block begins with `block`:
    /// [`GLANCE`] bytes suffice. `payload` computes the digest of its payload if the header does
    /// not declare it. `None` for a record without a line, or without a usable URL or date.
    pub(crate) fn of<'a>(
        field: impl Fn(&str) -> Option<&'a str>,
        block: &[u8],
        payload: impl FnOnce() -> Option<PayloadDigest>,
    ) -> Option<Self> {
        let kind = field("WARC-Type")?;
        let content_type = || field("Content-Type");
        let consists_of_fields = || content_type() == Some("application/warc-fields");
        let is_verdict = match kind {
            "response" | "revisit" => false,
            "metadata" => consists_of_fields(),
            "resource" if !consists_of_fields() => false,
            _ => return None,
        };
        let url = target(field("WARC-Target-URI")?);
        let date = field("WARC-Date")?;
        if is_verdict {
            return of_verdict(&url, date, block);
        }
        let is_message = matches!(kind, "response" | "revisit");
        let is_http = url.starts_with("http:") || url.starts_with("https:");
        let has_head = is_message && is_http && !block.is_empty();
        let head = has_head.then(|| WarcioHead::of_message(block));
        let mime = match kind {
            "revisit" => Some(Cow::Borrowed("warc/revisit")),
            "response" => head.as_ref().and_then(|head| head.field("content-type")),
            _ => content_type().map(Cow::Borrowed),
        };
        let computed = || payload().filter(|_| kind != "revisit");
        let digest = match field("WARC-Payload-Digest").filter(|declared| !declared.is_empty()) {
            Some(declared) => Some(Cow::Borrowed(declared)),
            None => computed().map(|digest| Cow::Owned(digest.to_string())),
        };
        let mut line = begin("", &url, date)?;
        push(&mut line, "url", Some(&url));
        push(&mut line, "mime", mime.as_deref().map(essence));
        let status = head.as_ref().map(WarcioHead::status);
        push(&mut line, "status", status.as_deref());
        push(&mut line, "digest", digest.as_deref());
        (line.len() <= MAX_LINE_START).then_some(Self(line))
    }

    /// Returns the capture of this record at this position in its file, in bytes.
    pub(crate) fn at(self, offset: u64, length: u64) -> Capture {
        Capture {
            start: self.0,
            offset,
            length,
            end: String::new(),
        }
    }
}

/// Returns the line of a duplicate, made from the record of its verdict.
fn of_verdict(url: &str, date: &str, block: &[u8]) -> Option<UnplacedCapture> {
    let notes = WarcioHead::of_fields(block);
    let original = notes.field("duplicate-of")?;
    let mut line = begin(DUPLICATE, url, date)?;
    push(&mut line, "url", Some(url));
    push(&mut line, "mime", notes.field("content-type").as_deref());
    push(&mut line, "status", notes.field("http-status").as_deref());
    push(&mut line, "duplicate_of", Some(&original));
    for name in ["distance", "resemblance"] {
        push(&mut line, name, notes.field(name).as_deref());
    }
    (line.len() <= MAX_LINE_START).then_some(UnplacedCapture(line))
}

/// Returns a URL without the angle brackets of Wget 1.19, and with its spaces encoded: a line
/// separates its parts by spaces.
fn target(url: &str) -> Cow<'_, str> {
    let url = without_brackets(url);
    if url.contains(' ') {
        return Cow::Owned(url.replace(' ', "%20"));
    }
    Cow::Borrowed(url)
}

/// Returns a media type without its parameters.
fn essence(media_type: &str) -> &str {
    let end = media_type.find(|letter: char| letter == ';' || letter.is_whitespace());
    &media_type[..end.unwrap_or(media_type.len())]
}

/// Begins a line with key and timestamp; `None` if the date is invalid, or the key of the URL has
/// white space or control characters.
fn begin(before_key: &str, url: &str, date: &str) -> Option<String> {
    let key = usable_key(url)?;
    let mut line = String::with_capacity(before_key.len() + key.len() + 2 * url.len() + 192);
    line.push_str(before_key);
    line.push_str(&key);
    line.push(' ');
    push_timestamp(&mut line, date)?;
    line.push_str(" {");
    Some(line)
}

/// Returns the key of a URL, if it has no white space or control characters.
fn usable_key(url: &str) -> Option<String> {
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
    let key = surt_key(url);
    (!key.is_empty() && !key.contains(is_odd)).then_some(key)
}

/// Appends the fourteen digits of a date, to the second, in UTC.
fn push_timestamp(line: &mut String, date: &str) -> Option<()> {
    let date = completed(date);
    let has_offset = date.ends_with(|last: char| last.is_ascii_digit());
    if has_offset {
        let at: Timestamp = date.parse().ok()?;
        line.push_str(&at.digits());
        return Some(());
    }
    let mut parts = date.split(|letter: char| !letter.is_ascii_digit());
    for digits in [4, 2, 2, 2, 2, 2] {
        let part: u16 = parts.next()?.parse().ok().filter(|_| digits != 0)?;
        let before = line.len();
        write!(line, "{part:0digits$}").expect("a string takes every byte");
        if line.len() - before != digits {
            return None;
        }
    }
    Some(())
}

fn push(line: &mut String, name: &str, value: Option<&str>) {
    let Some(value) = value else {
        return;
    };
    line.push('"');
    line.push_str(name);
    line.push_str("\": ");
    json::push_string(line, value);
    line.push_str(", ");
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn line(fields: &[(&str, &str)], block: &str) -> Option<String> {
        let fields: HashMap<&str, &str> = fields.iter().copied().collect();
        let field = |name: &str| fields.get(name).copied();
        let payload = || Some(PayloadDigest::of(b""));
        let capture = UnplacedCapture::of(field, block.as_bytes(), payload)?;
        Some(capture.at(7, 9).line("a.warc.gz"))
    }

    const PAGE: [(&str, &str); 4] = [
        ("WARC-Type", "response"),
        ("WARC-Target-URI", "https://www.example.org/A?b"),
        ("WARC-Date", "2026-11-21T20:04:55.120Z"),
        ("WARC-Payload-Digest", "sha1:ABC"),
    ];

    fn with<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        [&PAGE, changes].concat()
    }

    #[test]
    fn a_page_has_the_line_of_cdxj_indexer() {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\nbody";
        assert_eq!(
            line(&PAGE, head).unwrap(),
            "org,example)/a?b 20261121200455 {\"url\": \"https://www.example.org/A?b\", \
             \"mime\": \"text/html\", \"status\": \"200\", \"digest\": \"sha1:ABC\", \
             \"length\": \"9\", \"offset\": \"7\", \"filename\": \"a.warc.gz\"}\n"
        );
    }

    #[test]
    fn missing_fields_are_not_archived() {
        for (fields, block, expected) in [
            (
                with(&[("WARC-Type", "revisit")]),
                "HTTP/1.1 304 Not Modified\r\n\r\n",
                r#""mime": "warc/revisit", "status": "304", "digest": "sha1:ABC", "#,
            ),
            (
                with(&[("WARC-Type", "revisit"), ("WARC-Payload-Digest", "")]),
                "",
                r#""mime": "warc/revisit", "#,
            ),
            (with(&[]), "", r#""digest": "sha1:ABC", "#),
            (
                with(&[]),
                "HTTP/1.1 200 OK\r\n\r\n",
                r#""status": "200", "digest": "sha1:ABC", "#,
            ),
            (
                with(&[
                    ("WARC-Type", "resource"),
                    ("Content-Type", "text/plain; charset=x"),
                ]),
                "User-agent: *",
                r#""mime": "text/plain", "digest": "sha1:ABC", "#,
            ),
            (
                with(&[
                    ("WARC-Type", "metadata"),
                    ("Content-Type", "text/xml"),
                    ("WARC-Payload-Digest", ""),
                ]),
                "",
                r#""mime": "text/xml", "digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "#,
            ),
        ] {
            let line = line(&fields, block).unwrap();
            let (_, fields) = line.split_once("A?b\", ").unwrap();
            assert_eq!(fields.split_once("\"length\"").unwrap().0, expected);
        }
    }

    #[test]
    fn a_verdict_has_a_key_that_no_url_has() {
        let fields = with(&[
            ("WARC-Type", "metadata"),
            ("Content-Type", "application/warc-fields"),
        ]);
        let notes = "verdict: near-duplicate\r\nduplicate-of: https://example.org/\r\n\
                     distance: 2\r\n\
                     resemblance: 0.9100\r\n\
                     http-status: 200\r\ncontent-type: text/html\r\n";
        assert_eq!(
            line(&fields, notes).unwrap(),
            "!duplicate:org,example)/a?b 20261121200455 \
             {\"url\": \"https://www.example.org/A?b\", \"mime\": \"text/html\", \
             \"status\": \"200\", \"duplicate_of\": \"https://example.org/\", \
             \"distance\": \"2\", \"resemblance\": \"0.9100\", \
             \"length\": \"9\", \"offset\": \"7\", \"filename\": \"a.warc.gz\"}\n"
        );
        assert_eq!(line(&fields, "verdict: excluded\r\n"), None);
    }

    #[test]
    fn records_that_no_lookup_could_find_have_no_line() {
        for change in [
            ("WARC-Type", "request"),
            ("WARC-Type", "warcinfo"),
            ("WARC-Date", "yesterday"),
            ("WARC-Date", "20261-11-21T20:04:55Z"),
            ("WARC-Target-URI", ""),
            ("WARC-Target-URI", "http://a.com:b/\u{a0}"),
        ] {
            let found = line(&with(&[change]), "HTTP/1.1 200 OK\r\n\r\n");
            let is_dash = found.as_ref().is_some_and(|line| line.starts_with("- "));
            assert!(found.is_none() || is_dash, "{change:?}: {found:?}");
        }
    }
}
