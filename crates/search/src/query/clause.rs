//! The conditions of a query, and its limits.

use tantivy::tokenizer::TokenStream;

use crate::words::tokens::{PAIR, Tokens};

/// Maximum length of a query in bytes.
pub const MAX_QUERY: usize = 4_096;
/// Maximum number of words, phrases and filters of a query.
pub const MAX_CLAUSES: usize = 64;
/// Maximum number of words of a query, in phrases and alone.
pub const MAX_WORDS: usize = 256;
/// Maximum depth of nested parentheses and negations.
pub const MAX_DEPTH: usize = 16;

/// A parsed query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub(crate) root: Clause,
}

/// A condition on a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clause {
    /// All of these.
    All(Vec<Clause>),
    /// At least one of these.
    Any(Vec<Clause>),
    /// Not this.
    Not(Box<Clause>),
    /// These words in a row.
    Words(SearchField, Words),
    /// Of this host, or of a host in this domain.
    Host(String),
    /// In this language.
    Language(String),
    /// Fetched at this time or later, in milliseconds since 1970.
    After(u64),
    /// Fetched before this time.
    Before(u64),
}

/// The fields in which words are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchField {
    /// In the title or in the text.
    Page,
    Title,
    Text,
    Address,
}

/// Consecutive words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// Their index terms, each with its position among them. At least one.
    pub(crate) terms: Vec<(usize, String)>,
    /// True if the last term is a prefix of a token: a single character of a script without spaces,
    /// which anything may follow.
    pub(crate) open: bool,
}

impl Query {
    /// Returns the words and phrases that match titles and texts, each once.
    pub(crate) fn words(&self) -> Vec<&Words> {
        fn gather<'q>(clause: &'q Clause, found: &mut Vec<&'q Words>) {
            match clause {
                Clause::All(clauses) | Clause::Any(clauses) => {
                    clauses.iter().for_each(|clause| gather(clause, found));
                }
                Clause::Words(
                    SearchField::Page | SearchField::Title | SearchField::Text,
                    words,
                ) if !found.contains(&words) => {
                    found.push(words);
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        gather(&self.root, &mut found);
        found
    }
}

impl Words {
    /// Returns the words of a text; `None` if it has no letter or digit. A word with parts is
    /// looked for as a whole, and the next one behind its parts.
    ///
    /// A character that ends the pair before it is implied by that pair. At the end of a run it
    /// must be left out, since the page may go on there. A character alone may be followed by
    /// anything.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut tokens = Tokens::of(text);
        let mut terms: Vec<(usize, String)> = Vec::new();
        // The end of the last pair, in bytes.
        let mut pair_end = None;
        let mut open = false;
        while tokens.advance() {
            if tokens.is_part() {
                continue;
            }
            let token = tokens.token();
            let alone = token.text.ends_with(PAIR);
            open = alone && pair_end != Some(token.offset_from);
            if !alone || open {
                terms.push((token.position, token.text.clone()));
            }
            pair_end = (tokens.piece().unspaced && !alone).then_some(token.offset_to);
        }
        // Nothing precedes the first word, so its position is 0.
        (!terms.is_empty()).then_some(Self { terms, open })
    }
}
