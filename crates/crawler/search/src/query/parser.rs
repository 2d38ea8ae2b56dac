//! The parser: recursive descent from lexemes to conditions.
//!
//! ```text
//! any  = all { OR all }
//! all  = one { [AND] one }
//! one  = ( "-" | NOT | "+" ) one | "(" any ")" | [ field ":" ] ( word | phrase )
//! ```
//!
//! Invariant: for any text, parsing ends with a query or an error, in time linear in its length.

use web::{CanonicalForm, PageUrl, Timestamp};

use super::clause::{
    Clause, MAX_CLAUSES, MAX_DEPTH, MAX_QUERY, MAX_WORDS, Query, SearchField, Words,
};
use super::error::{QueryError, Reason, error_at};
use super::lexer::{Lexeme, Spanned, marks};

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// [`QueryError`] with the culprit and its position if the text is not a query.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        if text.len() > MAX_QUERY {
            return Err(error_at(Reason::TooLong, text, 0, text.len()));
        }
        let marks = marks(text)?;
        if marks.is_empty() {
            return Err(error_at(Reason::Empty, text, 0, 0));
        }
        let mut parser = Parser {
            text,
            marks,
            at: 0,
            clauses: 0,
            words: 0,
        };
        let root = parser.any(0)?;
        match parser.peek() {
            None => Ok(Self { root }),
            Some(mark) => Err(parser.error(Reason::ClosingParenthesis, mark)),
        }
    }
}

struct Parser<'q> {
    text: &'q str,
    /// Lexemes of the query; never empty.
    marks: Vec<Spanned<'q>>,
    at: usize,
    clauses: usize,
    words: usize,
}

impl<'q> Parser<'q> {
    fn peek(&self) -> Option<Spanned<'q>> {
        self.marks.get(self.at).copied()
    }

    fn next(&mut self) -> Option<Spanned<'q>> {
        let mark = self.peek();
        self.at += usize::from(mark.is_some());
        mark
    }

    fn error(&self, reason: Reason, (_, start, end): Spanned<'_>) -> QueryError {
        error_at(reason, self.text, start, end)
    }

    /// Returns the error for the last lexeme, which lacks its operand.
    fn dangling(&self) -> QueryError {
        self.error(Reason::Dangling, self.marks[self.at.saturating_sub(1)])
    }

    fn any(&mut self, depth: usize) -> Result<Clause, QueryError> {
        let mut clauses = vec![self.all(depth)?];
        while let Some((Lexeme::Or, ..)) = self.peek() {
            self.at += 1;
            clauses.push(self.all(depth)?);
        }
        Ok(only(clauses, Clause::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Clause, QueryError> {
        let mut clauses = vec![self.one(depth)?];
        loop {
            match self.peek() {
                None | Some((Lexeme::Or | Lexeme::Close, ..)) => {
                    return Ok(only(clauses, Clause::All));
                }
                Some((Lexeme::And, ..)) => self.at += 1,
                Some(_) => {}
            }
            clauses.push(self.one(depth)?);
        }
    }

    fn one(&mut self, depth: usize) -> Result<Clause, QueryError> {
        let Some(mark) = self.peek() else {
            return Err(self.dangling());
        };
        if depth > MAX_DEPTH {
            return Err(self.error(Reason::TooDeep, mark));
        }
        self.at += 1;
        match mark.0 {
            Lexeme::Not => Ok(Clause::Not(Box::new(self.one(depth + 1)?))),
            Lexeme::Must => self.one(depth + 1),
            Lexeme::Open => {
                let inner = self.any(depth + 1)?;
                match self.next() {
                    Some((Lexeme::Close, ..)) => Ok(inner),
                    _ => Err(self.error(Reason::OpenParenthesis, mark)),
                }
            }
            Lexeme::Field(name) => self.field(name, mark),
            Lexeme::Word(word) => self.words(SearchField::Page, word, mark, false),
            Lexeme::Phrase(phrase) => self.words(SearchField::Page, phrase, mark, true),
            Lexeme::And | Lexeme::Or => Err(self.error(Reason::Dangling, mark)),
            Lexeme::Close if depth == 0 => Err(self.error(Reason::ClosingParenthesis, mark)),
            Lexeme::Close => {
                self.at -= 1;
                Err(self.dangling())
            }
        }
    }

    fn field(&mut self, name: &str, named: Spanned<'_>) -> Result<Clause, QueryError> {
        let follows = |(_, start, _): &Spanned<'_>| *start == named.2;
        let (value, quoted, end) = match self.next().filter(follows) {
            Some((Lexeme::Word(word), _, end)) => (word, false, end),
            Some((Lexeme::Phrase(phrase), _, end)) => (phrase, true, end),
            Some((Lexeme::Close, ..)) | None => return Err(self.error(Reason::NoValue, named)),
            // `title:AND`, `title:lang:x`: take the word literally.
            Some((_, start, end)) => (&self.text[start..end], false, end),
        };
        let place = (named.0, named.1, end);
        let filter = |found: Option<Clause>, reason| match found {
            Some(clause) => Ok(clause),
            None => Err(self.error(reason, place)),
        };
        let clause = match name.to_ascii_lowercase().as_str() {
            "title" => return self.words(SearchField::Title, value, place, quoted),
            "text" => return self.words(SearchField::Text, value, place, quoted),
            "url" => {
                let words = crate::fields::address_words(value);
                return self.words(SearchField::Address, &words, place, true);
            }
            "host" | "site" => filter(host(value).map(Clause::Host), Reason::Host)?,
            "lang" | "language" => filter(language(value).map(Clause::Language), Reason::Language)?,
            "after" => filter(date(value).map(Clause::After), Reason::Date)?,
            "before" => filter(date(value).map(Clause::Before), Reason::Date)?,
            _ => return Err(self.error(Reason::UnknownField, place)),
        };
        self.count_clause(0, place)?;
        Ok(clause)
    }

    fn words(
        &mut self,
        part: SearchField,
        text: &str,
        place: Spanned<'_>,
        quoted: bool,
    ) -> Result<Clause, QueryError> {
        if !quoted && text.len() > 1 && text.ends_with('*') {
            return Err(self.error(Reason::Wildcard, place));
        }
        let Some(words) = Words::of(text) else {
            return Err(self.error(Reason::NoWord, place));
        };
        self.count_clause(words.terms.len(), place)?;
        Ok(Clause::Words(part, words))
    }

    /// Counts a clause of this many words.
    fn count_clause(&mut self, words: usize, place: Spanned<'_>) -> Result<(), QueryError> {
        self.clauses += 1;
        self.words += words;
        if self.clauses > MAX_CLAUSES {
            return Err(self.error(Reason::TooManyClauses, place));
        }
        if self.words > MAX_WORDS {
            return Err(self.error(Reason::TooManyWords, place));
        }
        Ok(())
    }
}

fn only(mut clauses: Vec<Clause>, several: fn(Vec<Clause>) -> Clause) -> Clause {
    match clauses.len() {
        1 => clauses.remove(0),
        _ => several(clauses),
    }
}

/// Returns a host or domain in canonical form: lower case, Punycode.
fn host(value: &str) -> Option<String> {
    if value.contains(['/', '@', '?', '#']) {
        return None;
    }
    let url = PageUrl::parse(&format!("http://{value}/"), &CanonicalForm::default()).ok()?;
    let host = url.as_url().host_str()?;
    let port = url.as_url().port();
    (port.is_none() && !host.is_empty()).then(|| host.to_owned())
}

/// Returns the primary subtag: two or three letters, or up to eight.
fn language(value: &str) -> Option<String> {
    let primary = value.split(['-', '_']).next()?;
    let is_tag =
        (2..=8).contains(&primary.len()) && primary.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_tag.then(|| primary.to_ascii_lowercase())
}

/// Returns the start of a year, a month or a day, or a time, in milliseconds since 1970.
fn date(value: &str) -> Option<u64> {
    let rest = match value.len() {
        4 => "-01-01T00:00:00Z",
        7 => "-01T00:00:00Z",
        10 => "T00:00:00Z",
        _ => "",
    };
    let time = format!("{value}{rest}").parse::<Timestamp>();
    time.ok().map(Timestamp::as_millis)
}
