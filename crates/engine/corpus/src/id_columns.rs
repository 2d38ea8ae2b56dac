//! Ids as columns of tables.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, PrimitiveArray, StringArray};
use arrow_schema::DataType;
use batch::DocumentId;
use batch::dedup::FindingKind;

/// The ranges of the ids of a comparison, which determine the types of their columns. Clones share
/// them.
#[derive(Clone, Debug, Default)]
pub struct IdRanges(Arc<Mutex<Ranges>>);

#[derive(Clone, Copy, Debug, Default)]
struct Ranges {
    documents: Range,
    reference: Range,
}

/// The range of ids.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    is_any: bool,
    has_texts: bool,
    least: i128,
    most: i128,
}

/// The types of the ids of findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTypes {
    /// The type of the first id. It fits the ids of the documents, and of the reference too if
    /// pairs within the reference are found.
    pub one: DataType,
    /// The type of the second id, and of the members of clusters.
    pub two: DataType,
}

impl IdRanges {
    /// Adds the id of a document.
    pub fn add(&self, id: &DocumentId) {
        self.lock().documents.add(id);
    }

    /// Adds the id of a document of the reference.
    pub fn add_reference(&self, id: &DocumentId) {
        self.lock().reference.add(id);
    }

    /// Returns the types that all ids so far fit in; the table that the documents came from may
    /// declare theirs.
    #[must_use]
    pub fn types(&self, kind: FindingKind, declared: Option<DataType>) -> IdTypes {
        let Ranges {
            documents,
            reference,
        } = *self.lock();
        let of_documents = declared.unwrap_or_else(|| documents.data_type());
        let two = match reference.is_any {
            true => documents.and(reference).data_type(),
            false => of_documents.clone(),
        };
        let one = match kind {
            FindingKind::Duplicates => of_documents,
            FindingKind::Pairs | FindingKind::Clusters { .. } => two.clone(),
        };
        IdTypes { one, two }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Ranges> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Range {
    fn add(&mut self, id: &DocumentId) {
        self.is_any = true;
        match id.number() {
            None => self.has_texts = true,
            Some(number) => {
                self.least = self.least.min(number);
                self.most = self.most.max(number);
            }
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            is_any: self.is_any || other.is_any,
            has_texts: self.has_texts || other.has_texts,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn data_type(self) -> DataType {
        match self {
            _ if self.has_texts || !self.is_any => DataType::Utf8,
            _ if self.most <= i64::MAX.into() => DataType::Int64,
            _ if self.least >= 0 => DataType::UInt64,
            _ => DataType::Utf8,
        }
    }
}

/// Returns ids as a column of `data_type`, which must be able to hold each id.
#[must_use]
pub fn id_column<'a>(ids: impl Iterator<Item = &'a DocumentId>, data_type: &DataType) -> ArrayRef {
    match data_type {
        DataType::Int8 => numbers::<Int8Type>(ids),
        DataType::Int16 => numbers::<Int16Type>(ids),
        DataType::Int32 => numbers::<Int32Type>(ids),
        DataType::Int64 => numbers::<Int64Type>(ids),
        DataType::UInt8 => numbers::<UInt8Type>(ids),
        DataType::UInt16 => numbers::<UInt16Type>(ids),
        DataType::UInt32 => numbers::<UInt32Type>(ids),
        DataType::UInt64 => numbers::<UInt64Type>(ids),
        // `from_iter_values` panics unless the iterator knows its length.
        _ => Arc::new(ids.map(|id| Some(&**id)).collect::<StringArray>()),
    }
}

/// Returns a column of numbers. An id that is not a number would be null, which the schema refuses.
fn numbers<'a, T>(ids: impl Iterator<Item = &'a DocumentId>) -> ArrayRef
where
    T: ArrowPrimitiveType<Native: TryFrom<i128>>,
{
    let numbers = ids.map(|id| T::Native::try_from(id.number()?).ok());
    Arc::new(numbers.collect::<PrimitiveArray<T>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(
        documents: &[DocumentId],
        reference: &[DocumentId],
        kind: FindingKind,
    ) -> (DataType, DataType) {
        let ranges = IdRanges::default();
        reference.iter().for_each(|id| ranges.add_reference(id));
        documents.iter().for_each(|id| ranges.add(id));
        let IdTypes { one, two } = ranges.types(kind, None);
        (one, two)
    }

    #[test]
    fn a_column_is_of_numbers_if_all_ids_are_and_fit() {
        let of = |ids: &[DocumentId]| types(ids, &[], FindingKind::Duplicates).0;
        assert_eq!(of(&[7_i64.into(), (-7_i64).into()]), DataType::Int64);
        assert_eq!(of(&[7_i64.into(), u64::MAX.into()]), DataType::UInt64);
        assert_eq!(of(&[u64::MAX.into(), (-7_i64).into()]), DataType::Utf8);
        assert_eq!(of(&[7_i64.into(), "7".into()]), DataType::Utf8);
        assert_eq!(of(&[]), DataType::Utf8);
    }

    #[test]
    fn only_columns_that_may_name_the_reference_have_its_type() {
        let (numbers, paths) = ([DocumentId::from(7_i64)], [DocumentId::from("a.txt")]);
        let of = |kind| types(&numbers, &paths, kind);
        assert_eq!(
            of(FindingKind::Duplicates),
            (DataType::Int64, DataType::Utf8)
        );
        assert_eq!(of(FindingKind::Pairs), (DataType::Utf8, DataType::Utf8));
    }
}
