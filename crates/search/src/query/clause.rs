//! The conditions of a query, and its limits.

use tantivy::tokenizer::TokenStream;

use crate::words::tokens::{PAIR, Tokens};

/// Bytes of a query.
pub const MAX_QUERY: usize = 4_096;
/// Words, phrases and filters of a query.
pub const MAX_CLAUSES: usize = 64;
/// Words of a query, in phrases and alone.
pub const MAX_WORDS: usize = 256;
/// Parentheses and negations within each other.
pub const MAX_DEPTH: usize = 16;

/// What is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub(crate) root: Clause,
}

/// A condition that a page fulfils or not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clause {
    /// All of these.
    All(Vec<Clause>),
    /// One of these at least.
    Any(Vec<Clause>),
    /// Not this.
    Not(Box<Clause>),
    /// These words, one directly behind the other.
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

/// Where words are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchField {
    /// In the title or in the text.
    Page,
    Title,
    Text,
    Address,
}

/// Words that stand one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// What stands in the index for them, each with its place among them. At least one.
    pub(crate) terms: Vec<(usize, String)>,
    /// The last term is only how a token begins: a single character of a script without spaces,
    /// whatever follows it.
    pub(crate) open: bool,
}

impl Query {
    /// The words that a page is found by, each word and phrase once.
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
    /// The words of a text; none where it has no letter or digit.
    ///
    /// A character that is told by the pair before it need not be looked for, and at the end it
    /// must not: what follows it in a page is not known. One that stands alone at the end may be
    /// followed by anything.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut tokens = Tokens::of(text);
        let mut terms: Vec<(usize, String)> = Vec::new();
        // Where a pair ends, in bytes.
        let mut told = None;
        let mut open = false;
        while tokens.advance() {
            let token = tokens.token();
            let alone = token.text.ends_with(PAIR);
            open = alone && told != Some(token.offset_from);
            if !alone || open {
                terms.push((token.position, token.text.clone()));
            }
            told = (tokens.piece().unspaced && !alone).then_some(token.offset_to);
        }
        // What stands before the first word is nothing, so its place is 0.
        (!terms.is_empty()).then_some(Self { terms, open })
    }
}
