//! Reads any index, in bounded memory.

use std::io::{self, BufRead, Read as _};

use super::capture::DUPLICATE;
use super::entry::{CdxjLine, LineError, MAX_LINE};

/// A sequential reader of the lines of an index. Invalid lines are skipped and counted; a line out
/// of order is counted, but still returned.
pub struct CdxjReader<R> {
    input: R,
    line: Vec<u8>,
    /// The line that was returned before, to check the order.
    before: Vec<u8>,
    is_given: bool,
    skipped: SkippedLines,
}

/// The counts of invalid lines of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// All lines that were read.
    pub lines: u64,
    /// Lines that are too long.
    pub too_long: u64,
    /// Lines that are not a key, a timestamp and a JSON object.
    pub malformed: u64,
    /// Lines without the position of the record.
    pub placeless: u64,
    /// Lines out of order, which are returned.
    pub unsorted: u64,
    /// The number of the first invalid line, from 1, and its error.
    pub first: Option<(u64, LineError)>,
}

impl SkippedLines {
    /// Returns the number of skipped lines.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.too_long + self.malformed + self.placeless
    }

    fn add(&mut self, warning: LineError) {
        let count = match warning {
            LineError::TooLong => &mut self.too_long,
            LineError::Malformed => &mut self.malformed,
            LineError::Missing(_) => &mut self.placeless,
            LineError::Unsorted => &mut self.unsorted,
        };
        *count += 1;
        self.first.get_or_insert((self.lines, warning));
    }
}

impl<R: BufRead> CdxjReader<R> {
    /// Reads `input` from its current position.
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            before: Vec::new(),
            is_given: false,
            skipped: SkippedLines::default(),
        }
    }

    /// Returns the counts so far.
    pub fn skipped(&self) -> SkippedLines {
        self.skipped
    }

    /// Returns the last returned line, without its line break.
    pub fn line(&self) -> &[u8] {
        self.line.strip_suffix(b"\n").unwrap_or(&self.line)
    }

    /// Returns the next line; `None` at the end.
    ///
    /// # Errors
    /// I/O errors of the input.
    pub fn next_entry(&mut self) -> io::Result<Option<CdxjLine>> {
        loop {
            if !self.read_line()? {
                return Ok(None);
            }
            if is_header(&self.line) {
                continue;
            }
            match CdxjLine::parse(&self.line) {
                Ok(entry) => {
                    if self.line < self.before {
                        self.skipped.add(LineError::Unsorted);
                    }
                    self.is_given = true;
                    return Ok(Some(entry));
                }
                Err(warning) => self.skipped.add(warning),
            }
        }
    }

    /// Reads a line, up to the cap; returns false at the end.
    pub(super) fn read_line(&mut self) -> io::Result<bool> {
        if std::mem::take(&mut self.is_given) {
            std::mem::swap(&mut self.line, &mut self.before);
        }
        self.line.clear();
        let limit = MAX_LINE as u64 + 1;
        self.input
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut self.line)?;
        if self.line.is_empty() {
            return Ok(false);
        }
        self.skipped.lines += 1;
        let mut is_whole = self.line.ends_with(b"\n");
        while !is_whole && self.line.len() > MAX_LINE {
            let chunk = self.input.fill_buf()?;
            let end = chunk.iter().position(|&byte| byte == b'\n');
            is_whole = end.is_some() || chunk.is_empty();
            let length = end.map_or(chunk.len(), |end| end + 1);
            self.input.consume(length);
        }
        Ok(true)
    }
}

/// Returns true for the header lines of some indexes: ` CDX …`, `!meta …`.
fn is_header(line: &[u8]) -> bool {
    line.starts_with(b" CDX") || line.starts_with(b"!") && !line.starts_with(DUPLICATE.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: &str =
        r#"{"url": "http://a.com/", "length": "5", "offset": 7, "filename": "a.warc.gz"}"#;

    fn read(text: &[u8]) -> (Vec<String>, SkippedLines) {
        let mut lines = CdxjReader::new(text);
        let mut keys = Vec::new();
        while let Some(entry) = lines.next_entry().unwrap() {
            keys.push(entry.key);
        }
        (keys, lines.skipped())
    }

    #[test]
    fn invalid_lines_are_skipped_and_counted() {
        let long = "x".repeat(MAX_LINE);
        let text = format!(
            " CDX N b a\n!meta 0 {{}}\n!duplicate:com,a)/ 2026 {PLACE}\n\
             com,a)/ 2026 {PLACE}\nno line\ncom,a)/ soon {PLACE}\n\
             com,b)/ 2026 {{\"offset\": \"7\", \"filename\": \"a\"}}\n\
             com,c)/ 2026 {{\"offset\": }}\n{long} 2026 {PLACE}\n\
             com,a)/ 2025 {PLACE}\r\n\ncom,z)/ 2026 {PLACE}"
        );
        let (keys, skipped) = read(text.as_bytes());
        assert_eq!(
            keys,
            ["!duplicate:com,a)/", "com,a)/", "com,a)/", "com,z)/"]
        );
        let expected = SkippedLines {
            lines: 12,
            too_long: 1,
            malformed: 4,
            placeless: 1,
            unsorted: 1,
            first: Some((5, LineError::Malformed)),
        };
        assert_eq!(skipped, expected);
        assert_eq!(skipped.count(), 6);
    }

    #[test]
    fn a_line_at_the_cap_is_read_and_one_past_it_is_not() {
        let rest = format!(" 2026 {PLACE}\n");
        for (length, expected) in [(MAX_LINE, 1), (MAX_LINE + 1, 0)] {
            let text = format!(
                "{}{rest}com,z)/ 2026 {PLACE}\n",
                "a".repeat(length - rest.len())
            );
            assert_eq!(read(text.as_bytes()).0.len(), expected + 1);
        }
    }

    #[test]
    fn offsets_are_numbers_or_digits_in_text() {
        let entry = CdxjLine::parse(format!("com,a)/ 20260101000000 {PLACE}").as_bytes()).unwrap();
        assert_eq!(
            (entry.offset(), entry.end(), entry.file()),
            (7, 12, "a.warc.gz")
        );
        assert_eq!(entry.text("url"), Some("http://a.com/"));
        for value in ["-1", "1.5", "\"x\"", "null", "[]", "18446744073709551616"] {
            let line =
                format!("a 2026 {{\"length\": 1, \"offset\": {value}, \"filename\": \"a\"}}");
            assert_eq!(
                CdxjLine::parse(line.as_bytes()),
                Err(LineError::Missing("offset")),
                "{value}"
            );
        }
    }
}
