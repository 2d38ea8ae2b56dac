//! Documents as JSON lines: `{"id": "…", "text": "…"}`, one per line, the usual form of corpora.
//!
//! `title` and `heading`, if they are strings, determine the title terms of the document.
//! `compared_text` has precedence over `text`: with these members a page that was extracted
//! elsewhere is judged as in the crawl. [`InputOptions`](crate::InputOptions) name other members.
//!
//! An id may be of any type; other members and blank lines are ignored. A bad line
//! is reported with its number and skipped; a line longer than [`MAX_LINE`] is skipped without
//! being held in memory.

use std::io::{self, BufRead, Read};

use batch::DocumentId;

use crate::fields::FieldNames;
use crate::json_object::{self, JsonObject};

/// The longest line that is read, in bytes: 256 MiB.
pub const MAX_LINE: usize = 256 << 20;

/// A document of a JSON Lines file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonDocument {
    /// The number of its line, from 1.
    pub line: u64,
    /// The id of the document, if it has one.
    pub id: Option<DocumentId>,
    /// The text to judge.
    pub text: String,
    /// The title, if any.
    pub title: Option<String>,
    /// The first heading, if any.
    pub heading: Option<String>,
}

/// The reason why a line is not a document, or why no more lines can be read.
#[derive(Debug, thiserror::Error)]
pub enum BadLine {
    /// The line is not a document.
    #[error("line {line} {reason}")]
    NotADocument {
        /// The number of the line, from 1.
        line: u64,
        /// The defect.
        reason: String,
    },
    /// The line is longer than [`MAX_LINE`].
    #[error("line {line} exceeds {MAX_LINE} bytes")]
    TooLong {
        /// The number of the line, from 1.
        line: u64,
    },
    /// The input cannot be read; this is the last item.
    #[error("cannot read line {line}")]
    Io {
        /// The number of the line, from 1.
        line: u64,
        /// The error of the system.
        source: io::Error,
    },
}

/// A sequential reader of the documents of a file.
///
/// ```
/// use corpus::JsonLines;
///
/// let input = "{\"id\": 1, \"text\": \"one\"}\nnonsense\n";
/// let mut documents = JsonLines::new(input.as_bytes());
/// let first = documents.next().expect("there is a line").expect("it is a document");
/// assert_eq!((first.id.as_deref(), first.text.as_str()), (Some("1"), "one"));
/// assert!(documents.next().is_some_and(|line| line.is_err()));
/// ```
#[derive(Debug)]
pub struct JsonLines<R> {
    input: R,
    fields: FieldNames,
    longest: usize,
    line: u64,
    ended: bool,
}

impl<R: BufRead> JsonLines<R> {
    /// Creates a reader that begins at the current position of `input`.
    pub fn new(input: R) -> Self {
        Self::with_fields(input, FieldNames::default())
    }

    /// Creates a reader of documents in these fields.
    pub(crate) fn with_fields(input: R, fields: FieldNames) -> Self {
        Self {
            input,
            fields,
            longest: MAX_LINE,
            line: 0,
            ended: false,
        }
    }

    /// Returns the next document, or the reason why a line is not a document, and the bytes of the
    /// line without its end.
    pub(crate) fn next_with_bytes(&mut self) -> Option<(Result<JsonDocument, BadLine>, Vec<u8>)> {
        while !self.ended {
            self.line += 1;
            match self.next_line() {
                Ok(Some(bytes)) if bytes.trim_ascii().is_empty() => {}
                Ok(Some(bytes)) => return Some((self.read(&bytes), bytes)),
                Ok(None) => self.ended = true,
                Err(source) => {
                    self.ended = true;
                    let line = self.line;
                    return Some((Err(BadLine::Io { line, source }), Vec::new()));
                }
            }
        }
        None
    }

    /// Returns a line without its end, or the beginning of a line that is too long; `None` at the
    /// end.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        // One byte more than a line may have, and its end.
        let mut input = (&mut self.input).take(self.longest as u64 + 2);
        if input.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if bytes.len() > self.longest {
            self.input.skip_until(b'\n')?;
        }
        Ok(Some(bytes))
    }

    fn read(&self, bytes: &[u8]) -> Result<JsonDocument, BadLine> {
        let line = self.line;
        if bytes.len() > self.longest {
            return Err(BadLine::TooLong { line });
        }
        let bytes = match line {
            1 => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            _ => bytes,
        };
        let JsonObject {
            id,
            text,
            title,
            heading,
        } = json_object::read(bytes, &self.fields)
            .map_err(|reason| BadLine::NotADocument { line, reason })?;
        Ok(JsonDocument {
            line,
            id,
            text,
            title,
            heading,
        })
    }
}

impl<R: BufRead> Iterator for JsonLines<R> {
    type Item = Result<JsonDocument, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_with_bytes().map(|(document, _)| document)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(input: &[u8], longest: usize) -> Vec<Result<(String, String), String>> {
        let mut lines = JsonLines::new(input);
        lines.longest = longest;
        lines
            .map(|item| {
                item.map(|document| (document.id.unwrap_or_default().to_string(), document.text))
                    .map_err(|error| error.to_string())
            })
            .collect()
    }

    fn document(id: &str, text: &str) -> Result<(String, String), String> {
        Ok((id.to_owned(), text.to_owned()))
    }

    #[test]
    fn documents_have_names_or_numbers_and_blank_lines_are_skipped() {
        let input = b"{\"id\":\"a\",\"text\":\"one\"}\n\n  \r\n\
            {\"text\":\"two\\n\",\"more\":[1],\"id\":-7}\r\n{\"id\":\"\",\"text\":\"\"}";
        assert_eq!(
            read(input, 100),
            [
                document("a", "one"),
                document("-7", "two\n"),
                document("", "")
            ]
        );
        assert_eq!(
            read(b"\xef\xbb\xbf{\"text\":\"one\"}", 100),
            [document("", "one")]
        );
        assert_eq!(read(b"", 100), []);
    }

    #[test]
    fn titles_and_headings_are_read_and_the_compared_text_precedes_the_text() {
        let check = |line: &str, text: &str, title: Option<&str>, heading: Option<&str>| {
            let document = JsonLines::new(line.as_bytes()).next().unwrap().unwrap();
            assert_eq!(
                (
                    document.text.as_str(),
                    document.title.as_deref(),
                    document.heading.as_deref()
                ),
                (text, title, heading),
                "{line}"
            );
        };
        check(
            r#"{"id": 1, "text": "all", "compared_text": "part", "title": "T", "heading": "H"}"#,
            "part",
            Some("T"),
            Some("H"),
        );
        check(
            r#"{"id": 1, "compared_text": "part", "title": null}"#,
            "part",
            None,
            None,
        );
        check(
            r#"{"id": 1, "text": "all", "title": 7, "heading": ["x"]}"#,
            "all",
            None,
            None,
        );
    }

    #[test]
    fn a_bad_line_is_reported_with_its_number_and_the_next_one_is_read() {
        let input = b"{\"id\":\"a\"}\nnonsense\n\
            \xff\xfe\n{\"id\":1.5,\"text\":5}\n{\"id\":\"b\",\"text\":\"two\"}";
        let lines = read(input, 100);
        for (line, culprit) in [
            (
                0,
                "has no \"text\"; it has \"id\": choose one with --text-field",
            ),
            (1, "expected"),
            (2, "line 3"),
            (3, "not a string"),
        ] {
            let message = lines[line].as_ref().unwrap_err();
            assert!(message.contains(culprit), "{message}");
            assert!(
                message.starts_with(&format!("line {} ", line + 1)),
                "{message}"
            );
        }
        assert_eq!(lines[4], document("b", "two"));
    }

    #[test]
    fn a_line_of_the_greatest_length_is_read_and_a_longer_one_is_skipped() {
        let line = "{\"id\":\"a\",\"text\":\"one\"}";
        for end in ["", "\n", "\nnext"] {
            let input = format!("{line}{end}");
            assert_eq!(read(input.as_bytes(), line.len())[0], document("a", "one"));
            let short = read(input.as_bytes(), line.len() - 1);
            assert_eq!(short[0], Err(format!("line 1 exceeds {MAX_LINE} bytes")));
        }
        let input = format!("{line}   \n{line}");
        assert_eq!(read(input.as_bytes(), line.len())[1], document("a", "one"));
    }

    proptest! {
        #[test]
        fn any_bytes_give_at_most_one_item_a_line(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let lines = bytes.split(|&byte| byte == b'\n').count();
            prop_assert!(read(&bytes, 50).len() <= lines);
        }

        #[test]
        fn what_serde_writes_is_read_again(
            documents in prop::collection::vec(("\\PC{0,20}", "(?s).{0,40}"), 0..10),
        ) {
            let lines: Vec<String> = documents
                .iter()
                .map(|(id, text)| serde_json::json!({"id": id, "text": text}).to_string())
                .collect();
            let expected: Vec<_> = documents.iter().map(|(id, text)| document(id, text)).collect();
            prop_assert_eq!(read(lines.join("\n").as_bytes(), 1_000), expected);
        }
    }
}
