//! Ids as names of documents: a name says whether the id is a number or a string.

use crate::id::Id;

/// Returns an id as the name of a document, from which [`decode`] makes it again.
pub(super) fn encode(id: &Id) -> String {
    match id {
        Id::Number(number) => format!("n{number}"),
        Id::Text(text) => format!("t{text}"),
    }
}

/// Returns the id of a name that [`encode`] made.
pub(super) fn decode(name: &str) -> Id {
    let number = name
        .strip_prefix('n')
        .and_then(|digits| digits.parse().ok());
    match number {
        Some(number) => Id::Number(number),
        None => Id::Text(name.get(1..).unwrap_or_default().to_owned()),
    }
}
