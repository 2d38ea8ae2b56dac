//! The conditions of a query, and its limits.

use tantivy::tokenizer::TokenStream;

use crate::words::tokens::{PAIR, Tokens};

/// Maximum length of a query in bytes.
pub const MAX_QUERY: usize = 4_096;
/// Maximum number of words, phrases and filters of a query.
pub const MAX_CLAUSES: usize = 64;
/// Maximum number of words of a query, including words in phrases.
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
    /// All of the conditions hold.
    All(Vec<Clause>),
    /// At least one of the conditions holds.
    Any(Vec<Clause>),
    /// The condition does not hold.
    Not(Box<Clause>),
    /// These words occur in a row.
    Words(SearchField, Words),
    /// The page is from this host, or from a host in this domain.
    Host(String),
    /// The page is in this language.
    Language(String),
    /// The page was fetched at this time or later, in milliseconds since 1970.
    After(u64),
    /// The page was fetched before this time.
    Before(u64),
}

/// Fields to search for words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchField {
    /// Title and text.
    Page,
    Title,
    Text,
    Address,
}

/// Consecutive words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// Index terms of the words, each with its position in the sequence; never empty.
    pub(crate) terms: Vec<(usize, String)>,
    /// True if the last term is a prefix of a token: a single character of a script without spaces,
    /// which any text may follow.
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
    /// Returns the words of a text; `None` if it contains no letter or digit. A word with parts is
    /// searched as a whole; the position of the next word follows its parts.
    ///
    /// After a pair, the single character at the end of a run is omitted: the pair contains it, and
    /// the page's run may continue there. If the text ends with a run of one character, any text
    /// may follow it.
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
