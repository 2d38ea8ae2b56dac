//! Columns of Arrow data as texts and ids, read where they lie.
//!
//! Data come through the Arrow C stream interface (`__arrow_c_stream__`), which pyarrow, Polars,
//! pandas and DuckDB have. Nothing is copied: texts are slices of the producer's buffers, which
//! live as long as the batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray, StructArray};
use arrow_schema::{DataType, FieldRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::invalid;

/// A column of strings in one of Arrow's three layouts.
#[derive(Clone, Debug)]
pub(crate) enum TextColumn {
    Short(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

impl TextColumn {
    /// Returns an array as texts.
    ///
    /// # Errors
    /// `TypeError` that names the column for an array of another type.
    pub(crate) fn of(array: &ArrayRef, name: &str) -> PyResult<Self> {
        match array.data_type() {
            DataType::Utf8 => Ok(Self::Short(array.as_string::<i32>().clone())),
            DataType::LargeUtf8 => Ok(Self::Large(array.as_string::<i64>().clone())),
            DataType::Utf8View => Ok(Self::View(array.as_string_view().clone())),
            other => Err(PyTypeError::new_err(format!(
                "column {name} must be of strings, got {other}: cast it first"
            ))),
        }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Short(array) => array.len(),
            Self::Large(array) => array.len(),
            Self::View(array) => array.len(),
        }
    }

    /// Returns the text of a row; none for a null.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Short(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

/// A column of ids: strings or whole numbers.
#[derive(Clone, Debug)]
pub(crate) enum IdColumn {
    Text(TextColumn),
    Number(ArrayRef),
}

/// An id in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowId<'a> {
    Text(&'a str),
    Number(i64),
}

impl IdColumn {
    /// Returns an array as ids.
    ///
    /// # Errors
    /// `TypeError` that names the column for an array of another type.
    pub(crate) fn of(array: &ArrayRef, name: &str) -> PyResult<Self> {
        if array.data_type().is_integer() {
            return Ok(Self::Number(array.clone()));
        }
        TextColumn::of(array, name)
            .map(Self::Text)
            .map_err(|_other| {
                PyTypeError::new_err(format!(
                    "column {name} must be of strings or whole numbers, got {}: cast it first",
                    array.data_type()
                ))
            })
    }

    /// Returns the id of a row; none for a null, and for a number of 2⁶³ or more.
    pub(crate) fn get(&self, row: usize) -> Option<RowId<'_>> {
        let array = match self {
            Self::Text(column) => return column.get(row).map(RowId::Text),
            Self::Number(array) => array,
        };
        if array.is_null(row) {
            return None;
        }
        let number = match array.data_type() {
            DataType::Int8 => array.as_primitive::<Int8Type>().value(row).into(),
            DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
            DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row),
            DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
            DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
            DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
            DataType::UInt64 => {
                let number = array.as_primitive::<UInt64Type>().value(row);
                return i64::try_from(number).ok().map(RowId::Number);
            }
            _ => return None,
        };
        Some(RowId::Number(number))
    }
}

/// The columns of a stream in which texts and ids are.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// A column alone.
    Texts { name: String },
    /// A table.
    Table {
        text: (usize, String),
        id: Option<(usize, String)>,
    },
}

impl Layout {
    /// Returns the layout of arrays of this field. An id column that is not named explicitly is
    /// `id`, if there is one.
    ///
    /// # Errors
    /// `ValueError` for a column that the table lacks, or an id column of what is no table.
    pub(crate) fn of(field: &FieldRef, text: &str, id: Option<&str>) -> PyResult<Self> {
        let DataType::Struct(columns) = field.data_type() else {
            if let Some(id) = id {
                return Err(invalid(format!(
                    "a column alone has no column {id}: pass a table"
                )));
            }
            return Ok(Self::Texts {
                name: field.name().clone(),
            });
        };
        let find = |name: &str| columns.iter().position(|column| column.name() == name);
        let missing = |name: &str| {
            let names: Vec<&str> = columns
                .iter()
                .map(|column| column.name().as_str())
                .collect();
            invalid(format!(
                "there is no column {name}: the table has {}",
                names.join(", ")
            ))
        };
        let text = (find(text).ok_or_else(|| missing(text))?, text.to_owned());
        let id = match id {
            Some(name) => Some((find(name).ok_or_else(|| missing(name))?, name.to_owned())),
            None => find("id").map(|column| (column, "id".to_owned())),
        };
        Ok(Self::Table { text, id })
    }

    /// Returns the texts and ids of an array.
    ///
    /// # Errors
    /// `TypeError` for columns of other types.
    pub(crate) fn columns(&self, array: &ArrayRef) -> PyResult<(TextColumn, Option<IdColumn>)> {
        let (text, id) = match self {
            Self::Texts { name } => return Ok((TextColumn::of(array, name)?, None)),
            Self::Table { text, id } => (text, id),
        };
        let table: &StructArray = array.as_struct();
        let id = id
            .as_ref()
            .map(|(column, name)| IdColumn::of(table.column(*column), name));
        let texts = TextColumn::of(table.column(text.0), &text.1)?;
        Ok((texts, id.transpose()?))
    }
}
