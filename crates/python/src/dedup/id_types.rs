//! The types of the ids of findings in Arrow data.

use arrow_schema::DataType;
use batch::dedup::FindingKind;

use crate::id::Id;

/// The ids of all documents, as far as their type depends on them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdRange {
    has_texts: bool,
    least: i128,
    most: i128,
}

/// The types of the ids of findings.
#[derive(Clone, Debug)]
pub(super) struct IdTypes {
    /// Those of documents.
    documents: DataType,
    /// Those of documents and of the index that comes before them.
    pub(super) all: DataType,
}

impl IdRange {
    pub(super) fn add(&mut self, id: &Id) {
        match id {
            Id::Text(_) => self.has_texts = true,
            Id::Number(number) => {
                self.least = self.least.min(*number);
                self.most = self.most.max(*number);
            }
        }
    }

    /// Returns the types of ids, which the table that the documents came from may declare. Those of
    /// an index are strings.
    pub(super) fn types(self, declared: Option<DataType>, has_index: bool) -> IdTypes {
        let is_signed = self.most <= i64::MAX.into();
        let documents = match declared {
            Some(declared) => declared,
            None if self.has_texts => DataType::Utf8,
            None if is_signed => DataType::Int64,
            None if self.least >= 0 => DataType::UInt64,
            None => DataType::Utf8,
        };
        let all = match has_index {
            true => DataType::Utf8,
            false => documents.clone(),
        };
        IdTypes { documents, all }
    }
}

impl IdTypes {
    /// Returns the type of the first of two ids: that of a document, unless pairs of the index are
    /// found as well.
    pub(super) fn of_first(&self, kind: FindingKind) -> &DataType {
        match kind {
            FindingKind::Duplicates => &self.documents,
            FindingKind::Pairs | FindingKind::Clusters { .. } => &self.all,
        }
    }
}
