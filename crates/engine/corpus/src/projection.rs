//! The columns that a reader of a table wants.

use arrow_schema::Fields;

use crate::fields::FieldNames;

/// The columns that a reader of a table wants.
#[derive(Clone, Copy)]
pub(crate) enum Projection<'a> {
    /// All columns.
    All,
    /// The columns with fields of documents.
    Documents(&'a FieldNames),
}

impl Projection<'_> {
    /// Returns the numbers of the wanted columns.
    pub(crate) fn columns(self, columns: &Fields) -> Vec<usize> {
        let is_wanted = |name: &str| match self {
            Self::All => true,
            Self::Documents(fields) => fields
                .all()
                .any(|field| field.name == name || field.parts[0] == name),
        };
        let mut numbers: Vec<usize> = (0..columns.len()).collect();
        numbers.retain(|number| is_wanted(columns[*number].name()));
        numbers
    }
}
