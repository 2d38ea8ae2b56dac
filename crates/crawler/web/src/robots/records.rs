//! The lines of a robots.txt and the groups that they form.
//!
//! Lines end with CR, LF, both, or NUL; leading byte order marks are skipped, even if the last one
//! is cut; and `#` begins a comment (RFC 9309 section 2.2). As in google/robotstxt and robotxt,
//! common misspellings of keys are accepted, and a colon may be missing before white space.
//!
//! The encoding is UTF-8. Windows' Notepad, however, saves UTF-16, which is recognised by the byte
//! order mark or the positions of the NULs.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::letter_case::starts_with_ignore_case;
use crate::preferences::preference::PreferenceSource;

/// Maximum size of a robots.txt in bytes (RFC 9309 section 2.5: at least 500 KiB).
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;

/// Bytes to examine for UTF-16 without a byte order mark.
const UTF_16_HEAD: usize = 512;
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Minimum number of NULs in UTF-16. Fewer may end lines of other encodings.
const MIN_NULS: usize = 2;

/// A meaningful line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record<'b> {
    /// The product token that a `User-agent` line names.
    Agent(&'b [u8]),
    /// `Allow` or `Disallow`; the path may be empty.
    Rule {
        allow: bool,
        path: &'b [u8],
    },
    CrawlDelay(&'b [u8]),
    Sitemap(&'b [u8]),
    /// `Content-Usage` or `Content-Signal`: a path and a statement.
    Usage {
        source: PreferenceSource,
        value: &'b [u8],
    },
}

/// Returns a robots.txt in UTF-8. Bytes that are not UTF-16 remain unchanged.
#[must_use]
pub fn robots_text(body: &[u8]) -> Cow<'_, [u8]> {
    let Some(encoding) = utf_16(body) else {
        return Cow::Borrowed(body);
    };
    let text = encoding.decode_with_bom_removal(body).0.into_owned();
    let mut text = text.into_bytes();
    if body.len() > MAX_ROBOTS_BYTES {
        // The last line may be cut.
        text.truncate(text.iter().rposition(is_line_end).unwrap_or(0));
    }
    Cow::Owned(text)
}

fn utf_16(body: &[u8]) -> Option<&'static Encoding> {
    match body {
        [0xff, 0xfe, ..] => return Some(UTF_16LE),
        [0xfe, 0xff, ..] => return Some(UTF_16BE),
        _ => {}
    }
    // In ASCII, each unit contains a NUL, as its second byte if the unit is little-endian. Few
    // other letters contain one in the other byte (U+4E00).
    let (units, _odd) = body[..body.len().min(UTF_16_HEAD)].as_chunks::<2>();
    let nuls = |side: usize| units.iter().filter(|unit| unit[side] == 0).count();
    let (first, second) = (nuls(0), nuls(1));
    let least = units.len().div_ceil(4).max(MIN_NULS);
    match () {
        () if second >= least && first <= second / 8 => Some(UTF_16LE),
        () if first >= least && second <= first / 8 => Some(UTF_16BE),
        () => None,
    }
}

/// Returns the whole lines within [`MAX_ROBOTS_BYTES`]; only these are parsed.
#[must_use]
pub fn whole_lines(body: &[u8]) -> &[u8] {
    let Some(window) = body.get(..=MAX_ROBOTS_BYTES) else {
        return body;
    };
    let end = window.iter().rposition(is_line_end);
    &body[..end.unwrap_or(0)]
}

/// Returns the name at the start of a `User-Agent` value: `Foo` of `Foo/2.1
/// (+https://foo.example)`.
///
/// Digits are accepted in addition to section 2.2.1: `MJ12bot` is a name.
#[must_use]
pub fn product_token(value: &[u8]) -> &[u8] {
    let value = value.trim_ascii();
    if value.starts_with(b"*") {
        return b"*";
    }
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let end = value.iter().position(|byte| !is_token(byte));
    &value[..end.unwrap_or(value.len())]
}

/// Returns the records of a file with their line numbers; meaningless lines are skipped.
pub(super) fn records(body: &[u8]) -> impl Iterator<Item = (u32, Record<'_>)> {
    (1..)
        .zip(lines(after_byte_order_marks(body)))
        .filter_map(|(number, line)| Some((number, record(line)?)))
}

/// Skips any number of byte order marks, and the beginning of a cut one, like google/robotstxt. A
/// cut or repeated mark must not invalidate the first line, which is usually `User-agent: *`.
fn after_byte_order_marks(mut body: &[u8]) -> &[u8] {
    while let Some(rest) = body.strip_prefix(MARK) {
        body = rest;
    }
    let matching = body
        .iter()
        .zip(MARK)
        .take_while(|(byte, mark)| byte == mark);
    &body[matching.count()..]
}

fn lines(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.iter().position(is_line_end).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        let ending = if after.starts_with(b"\r\n") { 2 } else { 1 };
        rest = after.get(ending..).unwrap_or_default();
        Some(line)
    })
}

const fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0)
}

/// A function that reads a value as a record.
type ReadValue = for<'b> fn(&'b [u8]) -> Record<'b>;

/// Spellings of keys, and their records. No spelling begins with a spelling of another key.
const KEYS: &[(&[&str], ReadValue)] = &[
    (&["user-agent", "user agent", "useragent"], |name| {
        Record::Agent(product_token(name))
    }),
    (&["allow", "alow", "allaw"], |path| Record::Rule {
        allow: true,
        path,
    }),
    (
        &[
            "disallow",
            "dissallow",
            "dissalow",
            "disalow",
            "diasllow",
            "disallaw",
        ],
        |path| Record::Rule { allow: false, path },
    ),
    (&["crawl-delay", "crawl delay", "crawldelay"], |seconds| {
        Record::CrawlDelay(seconds)
    }),
    (&["sitemap", "site-map", "site map"], |url| {
        Record::Sitemap(url)
    }),
    (&["content-usage"], |value| Record::Usage {
        source: PreferenceSource::RobotsUsage,
        value,
    }),
    (&["content-signal"], |value| Record::Usage {
        source: PreferenceSource::RobotsSignal,
        value,
    }),
];

fn record(line: &[u8]) -> Option<Record<'_>> {
    let line = line.trim_ascii_start();
    KEYS.iter().find_map(|(spellings, read)| {
        let mut spellings = spellings.iter();
        let spelling = spellings.find(|spelling| starts_with_ignore_case(line, spelling))?;
        Some(read(value(&line[spelling.len()..])?))
    })
}

/// Returns the text after a key, without its comment.
fn value(after_key: &[u8]) -> Option<&[u8]> {
    let value = match after_key.trim_ascii_start().strip_prefix(b":") {
        Some(value) => value,
        None if after_key.first().is_some_and(u8::is_ascii_whitespace) => after_key,
        None => return None,
    };
    let comment = value.iter().position(|&byte| byte == b'#');
    Some(value[..comment.unwrap_or(value.len())].trim_ascii())
}
