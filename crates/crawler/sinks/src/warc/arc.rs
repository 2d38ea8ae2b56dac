//! The header of an ARC record, as the fields of a WARC record: archives of 1996 to 2009 are ARC.
//!
//! A record is a line, a block of the length at the end of the line, and a line break; some writers
//! put the break before the line (Burner and Kahle, "Arc File Format", 1996,
//! <https://archive.org/web/researcher/ArcFileFormat.php>):
//!
//! ```text
//! version 1: URL IP-address Archive-date Content-type Archive-length
//! version 2: URL IP-address Archive-date Content-type Result-code Checksum Location Offset
//!            Filename Archive-length
//! ```
//!
//! The first record, `filedesc://NAME`, describes the file: a `warcinfo`. A response with an HTTP
//! head is a `response`, any other content (`dns:`, HTTP/0.9) a `resource`.
//!
//! Invariant: URL and media type may have spaces, as in files of Heritrix 1, so a line is divided
//! from its address and its date outwards.

use std::net::IpAddr;

use super::date::completed;
use super::parsed::{Fields, in_utf8_or_latin1};

/// Longest header line that is recognised, in bytes: URLs of four times the usual limit.
pub(super) const MAX_LINE: usize = 8 << 10;

/// Bytes of a block that are examined to recognise a response with an HTTP head.
pub(super) const GLANCE: usize = 16;

/// The words of version 2 between the date and the length.
const VERSION_2: usize = 6;

/// The header line of a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ArcHeader {
    target: String,
    address: String,
    date: String,
    media_type: String,
    /// The length of the block; `None` if it is not a number.
    pub(super) length: Option<u64>,
}

impl ArcHeader {
    /// Parses a line; `None` if it is not the header of a record.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        if line.len() > MAX_LINE || !has_scheme(line) {
            return None;
        }
        let line = in_utf8_or_latin1(line.trim_ascii_end());
        let words: Vec<&str> = line.split(' ').collect();
        let (length, words) = words.split_last()?;
        let is_dated = |place: &usize| is_date(words[*place]) && is_address(words[place - 1]);
        let date = (2..words.len()).rev().find(is_dated).or_else(|| {
            let has_other_address = words.len() == 4 && is_date(words[2]);
            has_other_address.then_some(2)
        })?;
        let between = &words[date + 1..];
        let is_version_2 = between.len() == VERSION_2 && is_number(between[4]);
        Some(Self {
            target: words[..date - 1].join(" "),
            address: words[date - 1].to_owned(),
            date: date_of(words[date]),
            media_type: match is_version_2 {
                true => between[0].to_owned(),
                false => between.join(" "),
            },
            length: length.parse().ok(),
        })
    }

    /// Returns the fields of the record, whose block begins with `beginning`.
    pub(super) fn into_fields(self, beginning: &[u8]) -> Fields {
        let name = self.target.strip_prefix("filedesc:");
        let is_response = is_of_web_server(&self.target) && is_http(beginning);
        let kind = match (name, is_response) {
            (Some(_), _) => "warcinfo",
            (None, true) => "response",
            (None, false) => "resource",
        };
        let mut fields = Fields::default();
        fields.push("WARC-Type", kind);
        match name {
            Some(name) => fields.push("WARC-Filename", name.trim_start_matches('/')),
            None => fields.push("WARC-Target-URI", &self.target),
        }
        fields.push("WARC-Date", &self.date);
        if self.address.parse::<IpAddr>().is_ok() {
            fields.push("WARC-IP-Address", &self.address);
        }
        match (is_response, &*self.media_type) {
            (true, _) => fields.push("Content-Type", "application/http; msgtype=response"),
            (false, "" | "-" | "no-type" | "unknown") => {}
            (false, media_type) => fields.push("Content-Type", media_type),
        }
        fields
    }
}

/// Returns true if `bytes` begin with a complete header line of a record.
pub(super) fn begins(bytes: &[u8]) -> bool {
    header_line(bytes).is_some_and(|line| ArcHeader::parse(line).is_some())
}

/// Returns the first line of `bytes` with its line break, if that may be the header of a record.
pub(super) fn header_line(bytes: &[u8]) -> Option<&[u8]> {
    if !has_scheme(bytes) {
        return None;
    }
    let bytes = &bytes[..bytes.len().min(MAX_LINE)];
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some(&bytes[..=end])
}

/// Returns true if a URL with its scheme begins here.
fn has_scheme(bytes: &[u8]) -> bool {
    let is_in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let end = bytes.iter().position(|byte| !is_in_scheme(byte));
    let is_scheme = |end: usize| end > 0 && bytes[0].is_ascii_alphabetic() && bytes[end] == b':';
    end.is_some_and(is_scheme)
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for the digits of a date, from the day to a fraction of a second.
fn is_date(word: &str) -> bool {
    is_number(word) && (8..=18).contains(&word.len())
}

fn is_address(word: &str) -> bool {
    word == "-" || word.parse::<IpAddr>().is_ok()
}

/// Returns a date of ARC as `WARC-Date`, to the second at most.
fn date_of(digits: &str) -> String {
    let part = |from: usize, to: usize| digits.get(from..to);
    let day = format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..8]);
    match (part(0, 14), part(8, 12), part(8, 10)) {
        (Some(second), ..) => completed(second).into_owned(),
        (None, Some(time), _) => format!("{day}T{}:{}Z", &time[..2], &time[2..]),
        (None, None, Some(hour)) => format!("{day}T{hour}:00Z"),
        (None, None, None) => day,
    }
}

fn is_of_web_server(target: &str) -> bool {
    let scheme = target.split(':').next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Returns true if a block begins with a status line.
fn is_http(block: &[u8]) -> bool {
    let block = block.trim_ascii_start();
    let protocol = block.split(|byte| matches!(byte, b'/' | b' ')).next();
    let protocol = protocol.filter(|protocol| protocol.len() < block.len());
    protocol
        .is_some_and(|name| name.eq_ignore_ascii_case(b"HTTP") || name.eq_ignore_ascii_case(b"ICY"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: [&str; 4], length: Option<u64>) {
        let header = ArcHeader::parse(line.as_bytes()).unwrap();
        let [target, address, date, media_type] = expected.map(str::to_owned);
        let expected = ArcHeader {
            target,
            address,
            date,
            media_type,
            length,
        };
        assert_eq!(header, expected, "{line}");
        assert!(begins(format!("{line}\nblock").as_bytes()));
    }

    #[test]
    fn a_line_is_divided_from_its_address_and_its_date_outwards() {
        check(
            "http://a.test/ 192.0.2.1 20040102030405 text/html 17",
            [
                "http://a.test/",
                "192.0.2.1",
                "2004-01-02T03:04:05Z",
                "text/html",
            ],
            Some(17),
        );
        check(
            "http://a.test/?t=a  b 1 ::1 20040102030405 text/html; charset=x -1\r",
            [
                "http://a.test/?t=a  b 1",
                "::1",
                "2004-01-02T03:04:05Z",
                "text/html; charset=x",
            ],
            None,
        );
        check(
            "dns:a.test www 200401020304 text/dns 5",
            ["dns:a.test", "www", "2004-01-02T03:04Z", "text/dns"],
            Some(5),
        );
        check(
            "http://a.test/ - 20040102 7",
            ["http://a.test/", "-", "2004-01-02", ""],
            Some(7),
        );
        check(
            "http://a.test/ 192.0.2.1 200401020304050607 text/html 200 abc - 1365 a.arc.gz 17",
            [
                "http://a.test/",
                "192.0.2.1",
                "2004-01-02T03:04:05Z",
                "text/html",
            ],
            Some(17),
        );
    }

    #[test]
    fn other_lines_are_no_header() {
        for line in [
            "",
            "http://a.test/",
            "URL IP-address Archive-date Content-type Archive-length",
            "com,a)/ 20040102030405 http://a.test/ text/html 200 ABC - 5 a.warc.gz",
            "<a href=x> 192.0.2.1 20040102030405 text/html 17",
            "see: 192.0.2.1 yesterday text/html 17",
            "WARC/1.0",
        ] {
            assert_eq!(ArcHeader::parse(line.as_bytes()), None, "{line}");
        }
        assert!(!begins(
            b"http://a.test/ 192.0.2.1 20040102030405 text/html 17"
        ));
        let long = format!("http://{} - 20040102 7\n", "a".repeat(MAX_LINE));
        assert!(!begins(long.as_bytes()));
    }

    #[test]
    fn content_without_an_http_head_is_a_resource() {
        for (target, block, kind) in [
            ("http://a.test/", "HTTP/1.1 200 OK\r\n", "response"),
            ("http://a.test/", "HTTP 200 OK\n", "response"),
            ("HTTPS://a.test/", "\r\nicy 200", "response"),
            ("http://a.test/", "<html>", "resource"),
            ("http://a.test/", "", "resource"),
            ("http://a.test/", "HTTP", "resource"),
            ("dns:a.test", "20040102030405\n", "resource"),
            ("filedesc://a.arc", "1 0 A\n", "warcinfo"),
        ] {
            let line = format!("{target} 192.0.2.1 20040102030405 text/x 5");
            let header = ArcHeader::parse(line.as_bytes()).unwrap();
            let fields = header.into_fields(block.as_bytes());
            assert_eq!(fields.get("WARC-Type"), Some(kind), "{target} {block:?}");
        }
    }
}
