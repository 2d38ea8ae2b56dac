//! Errors of a query, with their position.

use std::fmt;

use super::clause::{MAX_CLAUSES, MAX_DEPTH, MAX_QUERY, MAX_WORDS};

/// A syntax error of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Kind of the error.
    pub reason: Reason,
    /// Invalid part of the query.
    pub culprit: String,
    /// Position of the culprit in characters, from 1.
    pub at: usize,
}

/// The kind of a syntax error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The query is empty.
    #[error("the query is empty")]
    Empty,
    /// The query has more than [`MAX_QUERY`] bytes.
    #[error("the query exceeds {MAX_QUERY} bytes")]
    TooLong,
    /// The query has more than [`MAX_CLAUSES`] words, phrases and filters.
    #[error("more than {MAX_CLAUSES} words and filters")]
    TooManyClauses,
    /// The query has more than [`MAX_WORDS`] words.
    #[error("more than {MAX_WORDS} words")]
    TooManyWords,
    /// More than [`MAX_DEPTH`] parentheses and negations are nested.
    #[error("more than {MAX_DEPTH} nested parentheses and negations")]
    TooDeep,
    /// A quotation mark has no match.
    #[error("a phrase is not closed")]
    OpenPhrase,
    /// An opening parenthesis has no match.
    #[error("a parenthesis is not closed")]
    OpenParenthesis,
    /// A closing parenthesis has no match.
    #[error("a closing parenthesis has no opening one")]
    ClosingParenthesis,
    /// An operator or a field lacks its operand.
    #[error("nothing follows")]
    Dangling,
    /// A field lacks its value directly after the colon.
    #[error("the field has no value")]
    NoValue,
    /// The field does not exist.
    #[error("unknown field")]
    UnknownField,
    /// The word has no letter and no digit.
    #[error("this word has no letters or digits")]
    NoWord,
    /// A word ends with an asterisk.
    #[error("wildcards are not supported")]
    Wildcard,
    /// The value is not a host.
    #[error("this is not a host")]
    Host,
    /// The value is not a language.
    #[error("this is not a language")]
    Language,
    /// The value is not a date.
    #[error("this is not a date")]
    Date,
}

impl Reason {
    /// Returns advice for fixing the query.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Empty | Self::Dangling => {
                "give a word, a \"phrase\" or a filter such as host:example.org"
            }
            Self::TooLong | Self::TooManyClauses | Self::TooManyWords | Self::TooDeep => {
                "shorten the query"
            }
            Self::OpenPhrase => "close the phrase with another quotation mark",
            Self::OpenParenthesis | Self::ClosingParenthesis => {
                "parentheses come in pairs; in \"quotes\" they have no meaning"
            }
            Self::UnknownField => {
                "fields are title:, text:, url:, host:, lang:, after: and before:; \
                 a word with a colon goes in \"quotes\""
            }
            Self::NoValue => {
                "the value follows the colon without a space, as in title:harbour; \
                 a word with a colon goes in \"quotes\""
            }
            Self::NoWord => "words have letters or digits",
            Self::Wildcard => "only whole words are found: list the words, with OR in between",
            Self::Host => "give a host or a domain, as in host:example.org",
            Self::Language => "give a language code, as in lang:de",
            Self::Date => "dates are 2026, 2026-01, 2026-01-31 or 2026-01-31T12:00:00Z",
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            reason,
            culprit,
            at,
        } = self;
        match reason {
            Reason::Empty | Reason::TooLong => write!(f, "{reason}"),
            _ => write!(f, "{reason}: {culprit:?} at character {at}"),
        }
    }
}

impl std::error::Error for QueryError {}

/// Maximum characters of a culprit that messages show.
const SHOWN: usize = 60;

/// Returns an error about the bytes from `start` to `end`.
pub(super) fn error_at(reason: Reason, query: &str, start: usize, end: usize) -> QueryError {
    QueryError {
        reason,
        culprit: query[start..end].chars().take(SHOWN).collect(),
        at: query[..start].chars().count() + 1,
    }
}
