//! A line of an index, read.

use serde_json::{Map, Value};

/// Longest line that is written or read, in bytes: URLs of as many KiB as a record's header may
/// have fit.
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

/// Why a line is not an [`CdxjLine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It is longer than any capture needs.
    #[error("it is longer than {MAX_LINE} bytes")]
    TooLong,
    /// It is not a key, a timestamp and a JSON object in UTF-8.
    #[error("it is not a key, a timestamp and a JSON object")]
    Malformed,
    /// It does not tell where the record is.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// It stands behind a line that should stand behind it.
    #[error("it is not in its place in the order of bytes")]
    Unsorted,
}

impl CdxjLine {
    /// Reads a line, with its line break or without.
    ///
    /// # Errors
    /// [`LineError`], where it has not all that it takes to find a record.
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
        entry
            .text("filename")
            .ok_or(LineError::Missing("filename"))?;
        Ok(entry)
    }

    /// A field that is text: `url`, `mime`, `status`, `digest`, `duplicate_of`, …
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// A field that is a number, whether it is written as one or, as cdxj-indexer does, as text.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.fields.get(name)? {
            Value::String(digits) => digits.parse().ok(),
            number => number.as_u64(),
        }
    }

    /// The name of the file that has the record: data, and no path to be followed unchecked.
    #[must_use]
    pub fn file(&self) -> &str {
        self.text("filename").unwrap_or_default()
    }

    /// Where the record begins, in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.number("offset").unwrap_or_default()
    }

    /// Where the record ends, in bytes.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset()
            .saturating_add(self.number("length").unwrap_or_default())
    }
}
