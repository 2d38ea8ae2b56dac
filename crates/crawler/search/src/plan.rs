//! Translates a query into tantivy queries.
//!
//! Only words contribute to the score, filters do not (BM25, the sum of title and text; Robertson
//! and Zaragoza, "The Probabilistic Relevance Framework", 2009, section 3.5 warns against weighting
//! fields further without training).

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, InvertedIndexRangeQuery, Occur, PhrasePrefixQuery,
    Query as Engine, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::exclusion::Exclusion;
use crate::fields::Fields;
use crate::lazy_union::LazyUnion;
use crate::phrase::Phrase;
use crate::query::clause::{Clause, Query, SearchField, Words};
use crate::words::tokens::PAIR;

/// Maximum number of different continuations of a character at the end of a phrase in a segment:
/// above all observed numbers, and each reserves memory.
const CONTINUATIONS: u32 = 4_096;

pub(crate) fn plan(query: &Query, fields: &Fields) -> Box<dyn Engine> {
    match any_word(&query.root, fields) {
        Some(words) => Box::new(BooleanQuery::union(words)),
        None => clause(&query.root, fields),
    }
}

/// Returns the term queries, in title and text, of a union of single words. For such a union,
/// tantivy skips pages that cannot be among the best.
fn any_word(asked: &Clause, fields: &Fields) -> Option<Vec<Box<dyn Engine>>> {
    match asked {
        Clause::Any(clauses) => {
            let words = clauses.iter().map(|asked| any_word(asked, fields));
            let words: Option<Vec<_>> = words.collect();
            Some(words?.into_iter().flatten().collect())
        }
        Clause::Words(SearchField::Page, looked_for)
            if looked_for.terms.len() == 1 && !looked_for.open =>
        {
            Some(
                [fields.title, fields.text]
                    .map(|field| words(field, looked_for))
                    .into(),
            )
        }
        _ => None,
    }
}

fn clause(asked: &Clause, fields: &Fields) -> Box<dyn Engine> {
    match asked {
        Clause::All(clauses) => {
            let mut parts: Vec<(Occur, Box<dyn Engine>)> = Vec::with_capacity(clauses.len());
            for asked in clauses {
                parts.push(match asked {
                    Clause::Not(not) => (Occur::MustNot, gathered(not, fields)),
                    other => (Occur::Must, clause(other, fields)),
                });
            }
            if parts.iter().all(|(occurs, _)| *occurs == Occur::MustNot) {
                parts.push((Occur::Must, weightless(Box::new(AllQuery))));
            }
            Box::new(BooleanQuery::new(parts))
        }
        Clause::Any(clauses) => {
            let clauses = clauses.iter().map(|asked| clause(asked, fields)).collect();
            Box::new(BooleanQuery::union(clauses))
        }
        Clause::Not(not) => Box::new(BooleanQuery::new(vec![
            (Occur::Must, weightless(Box::new(AllQuery))),
            (Occur::MustNot, gathered(not, fields)),
        ])),
        Clause::Words(part, looked_for) => {
            let one = |field| words(field, looked_for);
            match part {
                SearchField::Page => Box::new(LazyUnion {
                    operands: [one(fields.title), one(fields.text)],
                }),
                SearchField::Title => one(fields.title),
                SearchField::Text => one(fields.text),
                SearchField::Address => one(fields.address),
            }
        }
        Clause::Host(host) => whole(fields.host, host),
        Clause::Language(language) => whole(fields.language, language),
        Clause::After(date) => {
            let from = Bound::Included(Term::from_field_u64(fields.date, *date));
            weightless(Box::new(RangeQuery::new(from, Bound::Unbounded)))
        }
        Clause::Before(date) => {
            let to = Bound::Excluded(Term::from_field_u64(fields.date, *date));
            weightless(Box::new(RangeQuery::new(Bound::Unbounded, to)))
        }
    }
}

fn gathered(asked: &Clause, fields: &Fields) -> Box<dyn Engine> {
    Box::new(Exclusion {
        inner: clause(asked, fields),
    })
}

fn weightless(query: Box<dyn Engine>) -> Box<dyn Engine> {
    Box::new(ConstScoreQuery::new(query, 0.0))
}

fn whole(field: Field, value: &str) -> Box<dyn Engine> {
    let term = Term::from_field_text(field, value);
    weightless(Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
}

fn words(field: Field, looked_for: &Words) -> Box<dyn Engine> {
    let term = |word: &str| Term::from_field_text(field, word);
    let placed = looked_for.terms.iter();
    let terms = placed.map(|(at, word)| (*at, term(word)));
    match (looked_for.terms.as_slice(), looked_for.open) {
        ([(_, word)], false) => Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)),
        ([(_, word)], true) => {
            // The range of the tokens with this prefix ends at the first character after the mark
            // that ends the prefix.
            let beyond = format!("{}\u{20}", word.trim_end_matches(PAIR));
            let (from, to) = (Bound::Included(term(word)), Bound::Excluded(term(&beyond)));
            Box::new(InvertedIndexRangeQuery::new(from, to))
        }
        (_, false) => Box::new(Phrase {
            terms: terms.collect(),
        }),
        (_, true) => {
            let mut phrase = PhrasePrefixQuery::new_with_offset(terms.collect());
            phrase.set_max_expansions(CONTINUATIONS);
            Box::new(phrase)
        }
    }
}
