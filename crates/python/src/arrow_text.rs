//! Columns of Arrow data as texts and ids, read where they lie.
//!
//! Data come through the Arrow C stream interface (`__arrow_c_stream__`), which pyarrow, Polars,
//! pandas and DuckDB have. Nothing is copied: texts are slices of the producer's buffers, which
//! live as long as the batch. As on the command line, texts are strings or UTF-8 in binary, also
//! of a dictionary (categories), and `doc.text` is the field `text` within `doc`.
//!
//! Invariant: no producer checks that strings are UTF-8, so each is checked before it is a text.

use std::str::Utf8Error;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, FieldRef, Fields};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::invalid;
use crate::id::{Id, IdColumnName};

/// A column of a stream, maybe within structs.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The number of a column and of the fields within it; nothing for a column alone.
    path: Vec<usize>,
    pub(crate) data_type: DataType,
}

/// The values of a column in a batch.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// The structs around the column: its value is null where one of them is.
    around: Vec<ArrayRef>,
    /// The values, or those of its dictionary.
    array: ArrayRef,
    /// The dictionary array, and the number of each row's value.
    keys: Option<(ArrayRef, Vec<usize>)>,
    rows: usize,
}

impl Column {
    /// Finds a column by its name, or by the names of fields with dots between them.
    fn find(columns: &Fields, name: &str) -> Option<Self> {
        let (path, data_type) = match columns.find(name) {
            Some((number, column)) => (vec![number], column.data_type()),
            None => {
                let mut parts = name.split('.');
                let (first, column) = columns.find(parts.next()?)?;
                let (mut path, mut data_type) = (vec![first], column.data_type());
                for part in parts {
                    let DataType::Struct(inner) = data_type else {
                        return None;
                    };
                    let (number, column) = inner.find(part)?;
                    path.push(number);
                    data_type = column.data_type();
                }
                (path, data_type)
            }
        };
        Some(Self {
            name: name.to_owned(),
            path,
            data_type: data_type.clone(),
        })
    }

    /// Returns the type of its values, without that of the keys of a dictionary.
    fn value_type(&self) -> &DataType {
        match &self.data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        }
    }

    /// Checks that the column has texts.
    ///
    /// # Errors
    /// `TypeError` that names the column and its type.
    fn check_text(self) -> PyResult<Self> {
        match is_text(self.value_type()) {
            true => Ok(self),
            false => Err(PyTypeError::new_err(format!(
                "column {} must be of strings, got {}: cast it first",
                self.name, self.data_type
            ))),
        }
    }

    /// Checks that the column has ids.
    ///
    /// # Errors
    /// `TypeError` that names the column and its type.
    fn check_id(self) -> PyResult<Self> {
        match is_text(self.value_type()) || self.value_type().is_integer() {
            true => Ok(self),
            false => Err(PyTypeError::new_err(format!(
                "column {} must be of strings or whole numbers, got {}: cast it first, or number \
                 the documents with id=False",
                self.name, self.data_type
            ))),
        }
    }

    /// Returns its values in an array of the stream.
    pub(crate) fn values(&self, array: &ArrayRef) -> Values {
        let mut around = Vec::new();
        let mut array = Arc::clone(array);
        for (depth, number) in self.path.iter().enumerate() {
            let inner = Arc::clone(array.as_struct().column(*number));
            // The table itself has no nulls.
            if depth > 0 {
                around.push(array);
            }
            array = inner;
        }
        let rows = array.len();
        let (array, keys) = match array.as_any_dictionary_opt() {
            Some(dictionary) if !dictionary.values().is_empty() => {
                let keys = dictionary.normalized_keys();
                (Arc::clone(dictionary.values()), Some((array, keys)))
            }
            _ => (array, None),
        };
        Values {
            around,
            array,
            keys,
            rows,
        }
    }
}

impl Values {
    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Returns the place of a row's value in the array; none if it is null.
    fn place(&self, row: usize) -> Option<usize> {
        if self.around.iter().any(|around| around.is_null(row)) {
            return None;
        }
        let row = match &self.keys {
            Some((dictionary, _)) if dictionary.is_null(row) => return None,
            Some((_, keys)) => *keys.get(row)?,
            None => row,
        };
        self.array.is_valid(row).then_some(row)
    }

    /// Returns the text of a row; none for a null.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub(crate) fn text(&self, row: usize) -> Result<Option<&str>, Utf8Error> {
        let Some(place) = self.place(row) else {
            return Ok(None);
        };
        let array = &*self.array;
        let bytes = match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(place).as_bytes(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(place).as_bytes(),
            DataType::Utf8View => array.as_string_view().value(place).as_bytes(),
            DataType::Binary => array.as_binary::<i32>().value(place),
            DataType::LargeBinary => array.as_binary::<i64>().value(place),
            DataType::BinaryView => array.as_binary_view().value(place),
            // A dictionary without values has only nulls.
            _ => return Ok(None),
        };
        std::str::from_utf8(bytes).map(Some)
    }

    /// Returns the id of a row; none for a null.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub(crate) fn id(&self, row: usize) -> Result<Option<Id>, Utf8Error> {
        let array = &*self.array;
        let Some(place) = self.place(row).filter(|_| array.data_type().is_integer()) else {
            return Ok(self.text(row)?.map(|text| Id::Text(text.to_owned())));
        };
        let number = match array.data_type() {
            DataType::Int8 => array.as_primitive::<Int8Type>().value(place).into(),
            DataType::Int16 => array.as_primitive::<Int16Type>().value(place).into(),
            DataType::Int32 => array.as_primitive::<Int32Type>().value(place).into(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(place).into(),
            DataType::UInt8 => array.as_primitive::<UInt8Type>().value(place).into(),
            DataType::UInt16 => array.as_primitive::<UInt16Type>().value(place).into(),
            DataType::UInt32 => array.as_primitive::<UInt32Type>().value(place).into(),
            _ => array.as_primitive::<UInt64Type>().value(place).into(),
        };
        Ok(Some(Id::Number(number)))
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
    )
}

/// The columns of a stream in which texts and ids are.
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
    /// `ValueError` for a column that the table lacks, or an id column of what is no table, and
    /// `TypeError` for columns of other types.
    pub(crate) fn of(field: &FieldRef, text: &str, id: &IdColumnName) -> PyResult<Self> {
        let DataType::Struct(columns) = field.data_type() else {
            if let IdColumnName::Named(id) = id {
                return Err(invalid(format!(
                    "a column alone has no column {id}: pass a table"
                )));
            }
            let text = Column {
                name: field.name().clone(),
                path: Vec::new(),
                data_type: field.data_type().clone(),
            };
            return Ok(Self {
                text: text.check_text()?,
                id: None,
            });
        };
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
        let text = Column::find(columns, text).ok_or_else(|| missing(text))?;
        let id = match id {
            IdColumnName::Named(name) => {
                Some(Column::find(columns, name).ok_or_else(|| missing(name))?)
            }
            IdColumnName::Usual => Column::find(columns, "id"),
            IdColumnName::Numbers => None,
        };
        Ok(Self {
            text: text.check_text()?,
            id: id.map(Column::check_id).transpose()?,
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
