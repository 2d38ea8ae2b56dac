//! A parsed line of an index.

use serde_json::{Map, Value};

use crate::warc::archive_end::ArchiveEnd;

/// Maximum length of a line that is written or read, in bytes: enough for a URL as long as a
/// record's header may have.
pub const MAX_LINE: usize = 1 << 20;

/// A line of CDXJ: key, timestamp, and an object of fields.
#[derive(Clone, Debug, PartialEq)]
pub struct CdxjLine {
    /// The sort key.
    pub key: String,
    /// Digits, fourteen as a rule.
    pub timestamp: String,
    fields: Map<String, Value>,
}

/// A violation of the form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line is longer than [`MAX_LINE`].
    #[error("it is longer than {MAX_LINE} bytes")]
    TooLong,
    /// The line is not a key, a timestamp and a JSON object in UTF-8.
    #[error("it is not a key, a timestamp and a JSON object")]
    Malformed,
    /// A field of the record's position is missing.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// The line sorts before the preceding line.
    #[error("it is not in byte order")]
    Unsorted,
}

impl CdxjLine {
    /// Parses a line, with or without its line break.
    ///
    /// # Errors
    /// [`LineError`] if the line lacks a part that is needed to find the record.
    pub fn parse(line: &[u8]) -> Result<Self, LineError> {
        if line.len() > MAX_LINE {
            return Err(LineError::TooLong);
        }
        let text = std::str::from_utf8(line).map_err(|_not_utf8| LineError::Malformed)?;
        let mut words = text.trim_end_matches(['\n', '\r']).splitn(3, ' ');
        let mut word = || words.next().ok_or(LineError::Malformed);
        let (key, timestamp, object) = (word()?, word()?, word()?);
        let is_time = !timestamp.is_empty() && timestamp.bytes().all(|byte| byte.is_ascii_digit());
        if key.is_empty() || !is_time {
            return Err(LineError::Malformed);
        }
        let fields: Map<String, Value> =
            serde_json::from_str(object).map_err(|_no_object| LineError::Malformed)?;
        let entry = Self {
            key: key.to_owned(),
            timestamp: timestamp.to_owned(),
            fields,
        };
        for name in ["offset", "length"] {
            entry.number(name).ok_or(LineError::Missing(name))?;
        }
        match entry.text("filename") {
            Some(_) => Ok(entry),
            None => Err(LineError::Missing("filename")),
        }
    }

    /// Returns a text field: `url`, `mime`, `status`, `digest`, `duplicate_of`, …
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// Returns a numeric field, written as a number or, as by cdxj-indexer, as text.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.fields.get(name)? {
            Value::String(digits) => digits.parse().ok(),
            number => number.as_u64(),
        }
    }

    /// Returns the name of the record's file. It is untrusted: do not follow it as a path
    /// unchecked.
    #[must_use]
    pub fn file(&self) -> &str {
        self.text("filename").unwrap_or_default()
    }

    /// Returns the start of the record in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.number("offset").unwrap_or_default()
    }

    /// Returns the end of the record as a position in the archive.
    pub(super) fn archive_end(&self) -> ArchiveEnd {
        ArchiveEnd {
            file: self.file().to_owned(),
            end: self.end(),
        }
    }

    /// Returns the end of the record in bytes.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset()
            .saturating_add(self.number("length").unwrap_or_default())
    }
}
