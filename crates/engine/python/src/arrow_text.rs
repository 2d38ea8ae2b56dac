//! The columns of texts and ids in a stream of Arrow data.
//!
//! Data come through the Arrow C stream interface (`__arrow_c_stream__`), which pyarrow, Polars,
//! pandas and DuckDB support. Nothing is copied: texts are slices of the producer's buffers, which
//! live as long as the batch. They are read like the columns of files (`corpus::Column`).

use arrow_schema::{DataType, FieldRef};
use corpus::Column;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::invalid;
use crate::id::IdColumnName;

/// The columns of a stream that contain texts and ids.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) text: Column,
    pub(crate) id: Option<Column>,
}

impl Layout {
    /// Returns the layout of arrays of this field. An id column that is not named explicitly is
    /// `id`, if there is one.
    ///
    /// # Errors
    /// `ValueError` for a column that the table lacks, or an id column without a table, and
    /// `TypeError` for columns of other types.
    pub(crate) fn of(field: &FieldRef, text: &str, id: &IdColumnName) -> PyResult<Self> {
        let DataType::Struct(columns) = field.data_type() else {
            if let IdColumnName::Named(id) = id {
                return Err(invalid(format!(
                    "a single column has no column {id}: pass a table"
                )));
            }
            let text = Column::alone(field.name(), field.data_type());
            return Ok(Self {
                text: with_texts(text)?,
                id: None,
            });
        };
        let missing = |name: &str| {
            let names: Vec<&str> = columns
                .iter()
                .map(|column| column.name().as_str())
                .collect();
            invalid(format!(
                "no column {name}: the table has {}",
                names.join(", ")
            ))
        };
        let text = Column::find(columns, text).ok_or_else(|| missing(text))?;
        let id = match id {
            IdColumnName::Named(name) => {
                Some(Column::find(columns, name).ok_or_else(|| missing(name))?)
            }
            IdColumnName::Usual => Column::find(columns, "id"),
            IdColumnName::Numbers => None,
        };
        Ok(Self {
            text: with_texts(text)?,
            id: id.map(with_ids).transpose()?,
        })
    }

    /// Returns the type of the ids.
    pub(crate) fn id_type(&self) -> Option<DataType> {
        let id = self.id.as_ref()?;
        Some(match id.value_type().is_integer() {
            true => id.value_type().clone(),
            false => DataType::Utf8,
        })
    }
}

/// Checks that a column has texts.
///
/// # Errors
/// `TypeError` that names the column and its type.
fn with_texts(column: Column) -> PyResult<Column> {
    match column.is_text() {
        true => Ok(column),
        false => Err(PyTypeError::new_err(format!(
            "column {} must be of strings, got {}: cast it first",
            column.name, column.data_type
        ))),
    }
}

/// Checks that a column has ids that keep their type.
///
/// # Errors
/// `TypeError` that names the column and its type.
fn with_ids(column: Column) -> PyResult<Column> {
    match column.is_text() || column.value_type().is_integer() {
        true => Ok(column),
        false => Err(PyTypeError::new_err(format!(
            "column {} must be of strings or whole numbers, got {}: cast it first, or number the \
             documents with id=False",
            column.name, column.data_type
        ))),
    }
}
