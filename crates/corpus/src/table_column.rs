//! A column of a table whose values are read as text.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Fields};

use crate::fields::Field;

/// A column, maybe within structs.
#[derive(Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The number of a column, and the numbers of fields within it.
    pub(crate) way: Vec<usize>,
    pub(crate) data_type: DataType,
}

impl Column {
    /// Finds the column of a field.
    pub(crate) fn find(columns: &Fields, field: &Field) -> Option<Self> {
        let exact = columns.find(&field.name);
        let (way, data_type) = match exact {
            Some((number, column)) => (vec![number], column.data_type()),
            None => {
                let (first, column) = columns.find(&field.parts[0])?;
                let (mut way, mut data_type) = (vec![first], column.data_type());
                for part in &field.parts[1..] {
                    let DataType::Struct(inner) = data_type else {
                        return None;
                    };
                    let (number, column) = inner.find(part)?;
                    way.push(number);
                    data_type = column.data_type();
                }
                (way, data_type)
            }
        };
        Some(Self {
            name: field.name.clone(),
            way,
            data_type: data_type.clone(),
        })
    }

    /// Returns true if its values are texts.
    pub(crate) fn is_text(&self) -> bool {
        is_text(&self.data_type)
    }

    /// Returns its values in a batch.
    pub(crate) fn values(&self, batch: &RecordBatch) -> Values {
        let mut nullable = vec![Arc::clone(batch.column(self.way[0]))];
        for number in &self.way[1..] {
            let parent = &nullable[nullable.len() - 1];
            let inner = Arc::clone(parent.as_struct().column(*number));
            nullable.push(inner);
        }
        let array = nullable.pop().expect("a way has a column");
        let (array, keys) = match array.as_any_dictionary_opt() {
            Some(dictionary) if !dictionary.values().is_empty() => {
                let keys = dictionary.normalized_keys();
                (Arc::clone(dictionary.values()), Some((array, keys)))
            }
            _ => (array, None),
        };
        Values {
            name: self.name.clone(),
            nullable,
            array,
            keys,
        }
    }
}

/// The values of a column in a batch.
pub(crate) struct Values {
    name: String,
    /// The structs around the column: its value is null where one of them is.
    nullable: Vec<Arc<dyn Array>>,
    /// The values, or those of its dictionary.
    array: Arc<dyn Array>,
    /// The dictionary array, and the number of each row's value.
    keys: Option<(Arc<dyn Array>, Vec<usize>)>,
}

impl Values {
    /// Returns the value of a row as a text; none if it is null.
    pub(crate) fn text(&self, row: usize) -> Result<Option<Cow<'_, str>>, String> {
        if self.nullable.iter().any(|around| around.is_null(row)) {
            return Ok(None);
        }
        let row = match &self.keys {
            Some((dictionary, _)) if dictionary.is_null(row) => return Ok(None),
            Some((_, keys)) => keys[row],
            None => row,
        };
        let array = &*self.array;
        if array.is_null(row) {
            return Ok(None);
        }
        let binary = |bytes| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => Err(format!("has a {:?} that is not UTF-8: {error}", self.name)),
        };
        let text = match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(row).into(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
            DataType::Utf8View => array.as_string_view().value(row).into(),
            DataType::Binary => binary(array.as_binary::<i32>().value(row))?,
            DataType::LargeBinary => binary(array.as_binary::<i64>().value(row))?,
            DataType::BinaryView => binary(array.as_binary_view().value(row))?,
            DataType::Int8 => integer::<Int8Type>(array, row),
            DataType::Int16 => integer::<Int16Type>(array, row),
            DataType::Int32 => integer::<Int32Type>(array, row),
            DataType::Int64 => integer::<Int64Type>(array, row),
            DataType::UInt8 => integer::<UInt8Type>(array, row),
            DataType::UInt16 => integer::<UInt16Type>(array, row),
            DataType::UInt32 => integer::<UInt32Type>(array, row),
            DataType::UInt64 => integer::<UInt64Type>(array, row),
            // A dictionary without values has only nulls.
            _ => return Ok(None),
        };
        Ok(Some(text))
    }
}

fn integer<T: ArrowPrimitiveType<Native: ToString>>(array: &dyn Array, row: usize) -> Cow<'_, str> {
    array.as_primitive::<T>().value(row).to_string().into()
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}
