//! The lexer: splits a query into words, phrases and operators.

use super::error::{QueryError, Reason, error_at};

/// A lexeme of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme<'q> {
    Open,
    Close,
    And,
    Or,
    Not,
    /// `+`: required. Every clause is required anyway.
    Must,
    /// Name of a field, directly before its value.
    Field(&'q str),
    Word(&'q str),
    /// The text between two quotation marks.
    Phrase(&'q str),
}

/// A lexeme with its start and end in bytes.
pub(super) type Spanned<'q> = (Lexeme<'q>, usize, usize);

/// Splits a query into lexemes.
pub(super) fn marks(query: &str) -> Result<Vec<Spanned<'_>>, QueryError> {
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(first) = query[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (mark, length) = first_mark(query, at)?;
        marks.push((mark, at, at + length));
        at += length;
    }
    Ok(marks)
}

fn first_mark(query: &str, at: usize) -> Result<(Lexeme<'_>, usize), QueryError> {
    let rest = &query[at..];
    let one = match rest.as_bytes()[0] {
        b'(' => Some(Lexeme::Open),
        b')' => Some(Lexeme::Close),
        b'-' | b'!' => Some(Lexeme::Not),
        b'+' => Some(Lexeme::Must),
        _ => None,
    };
    if let Some(mark) = one {
        return Ok((mark, 1));
    }
    if let Some(phrase) = rest.strip_prefix('"') {
        let Some(end) = phrase.find('"') else {
            return Err(error_at(Reason::OpenPhrase, query, at, query.len()));
        };
        return Ok((Lexeme::Phrase(&phrase[..end]), end + 2));
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"');
    let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
    if let Some(name) = field_name(word, &rest[word.len()..]) {
        return Ok((Lexeme::Field(name), name.len() + 1));
    }
    let mark = match word {
        "AND" | "&&" => Lexeme::And,
        "OR" | "||" => Lexeme::Or,
        "NOT" => Lexeme::Not,
        word => Lexeme::Word(word),
    };
    Ok((mark, word.len()))
}

/// The names of fields.
const FIELDS: [&str; 9] = [
    "title", "text", "url", "host", "site", "lang", "language", "after", "before",
];

/// Returns the name before a colon and a value, or the name of a field that lacks its value; not in
/// `http://…`, `std::vec`, `12:30` or `note: this`.
fn field_name<'q>(word: &'q str, behind: &str) -> Option<&'q str> {
    let (name, value) = word.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_field = || FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name));
    let is_value = match value.is_empty() {
        true => behind.starts_with('"') || is_field(),
        false => !value.starts_with([':', '/']),
    };
    (is_name && is_value).then_some(name)
}
