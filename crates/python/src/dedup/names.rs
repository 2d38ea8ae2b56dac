//! Ids as names of documents: a name says whether the id is a number or a string.

use std::sync::Arc;

use batch::dedup::{DocumentTexts, NamedDocument, TextVerdict};

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

/// The texts of files, whose paths are the ids in names.
#[derive(Debug)]
pub(super) struct NamedTexts(pub(super) Arc<dyn DocumentTexts>);

impl DocumentTexts for NamedTexts {
    fn compare(
        &self,
        document: NamedDocument<'_>,
        earlier: NamedDocument<'_>,
    ) -> Option<TextVerdict> {
        self.0.compare(with_path(document), with_path(earlier))
    }
}

fn with_path(document: NamedDocument<'_>) -> NamedDocument<'_> {
    NamedDocument {
        id: document.id.get(1..).unwrap_or_default(),
        ..document
    }
}
