//! A column of a table whose values are read as text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType::{self, FixedSizeBinary};
use arrow_schema::Fields;

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

    /// Returns true if its values can be ids.
    pub(crate) fn is_id(&self) -> bool {
        let is_other = matches!(
            self.data_type,
            FixedSizeBinary(_)
                | DataType::Decimal128(_, 0)
                | DataType::Float32
                | DataType::Float64
                | DataType::Boolean
        );
        is_other || self.is_text() || self.data_type.is_integer()
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
    /// Returns the place of a row's value in the array; none if it is null.
    fn place(&self, row: usize) -> Option<usize> {
        if self.nullable.iter().any(|around| around.is_null(row)) {
            return None;
        }
        let row = match &self.keys {
            Some((dictionary, _)) if dictionary.is_null(row) => return None,
            Some((_, keys)) => keys[row],
            None => row,
        };
        (!self.array.is_null(row)).then_some(row)
    }

    /// Returns the bytes of a row's string; none if it is null, or no string.
    pub(crate) fn bytes(&self, row: usize) -> Option<&[u8]> {
        let (place, array) = (self.place(row)?, &*self.array);
        Some(match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(place).as_bytes(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(place).as_bytes(),
            DataType::Utf8View => array.as_string_view().value(place).as_bytes(),
            DataType::Binary => array.as_binary::<i32>().value(place),
            DataType::LargeBinary => array.as_binary::<i64>().value(place),
            DataType::BinaryView => array.as_binary_view().value(place),
            FixedSizeBinary(_) => array.as_fixed_size_binary().value(place),
            // A dictionary without values has only nulls.
            _ => return None,
        })
    }

    /// Returns the value of a row as a text; none if it is null.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub(crate) fn text(&self, row: usize) -> Result<Option<&str>, String> {
        let text = self.bytes(row).map(std::str::from_utf8).transpose();
        text.map_err(|error| format!("has a {:?} that is not UTF-8: {error}", self.name))
    }

    /// Returns the value of a row as an id, and true if it is a whole number; none if it is null.
    pub(crate) fn id(&self, row: usize) -> Option<(String, bool)> {
        if let Some(bytes) = self.bytes(row) {
            let text = std::str::from_utf8(bytes).ok();
            let text = text.filter(|_| !matches!(self.array.data_type(), FixedSizeBinary(_)));
            return Some((
                text.map_or_else(|| hexadecimal(bytes), str::to_owned),
                false,
            ));
        }
        let (place, array) = (self.place(row)?, &*self.array);
        let number = |digits: String| Some((digits, true));
        match array.data_type() {
            DataType::Int8 => number(integer::<Int8Type>(array, place)),
            DataType::Int16 => number(integer::<Int16Type>(array, place)),
            DataType::Int32 => number(integer::<Int32Type>(array, place)),
            DataType::Int64 => number(integer::<Int64Type>(array, place)),
            DataType::UInt8 => number(integer::<UInt8Type>(array, place)),
            DataType::UInt16 => number(integer::<UInt16Type>(array, place)),
            DataType::UInt32 => number(integer::<UInt32Type>(array, place)),
            DataType::UInt64 => number(integer::<UInt64Type>(array, place)),
            DataType::Decimal128(_, 0) => number(integer::<Decimal128Type>(array, place)),
            DataType::Float32 => real(array.as_primitive::<Float32Type>().value(place).into()),
            DataType::Float64 => real(array.as_primitive::<Float64Type>().value(place)),
            DataType::Boolean => Some((array.as_boolean().value(place).to_string(), false)),
            _ => None,
        }
    }
}

fn integer<T: ArrowPrimitiveType<Native: ToString>>(array: &dyn Array, row: usize) -> String {
    array.as_primitive::<T>().value(row).to_string()
}

/// Returns a real number as an id. pandas makes real numbers of whole ones in columns with gaps,
/// and NaN of the gaps.
fn real(value: f64) -> Option<(String, bool)> {
    (!value.is_nan()).then(|| (value.to_string(), value.fract() == 0.0))
}

/// Returns bytes in hexadecimal digits; sixteen of them as a UUID.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len() + 4);
    for (number, byte) in bytes.iter().enumerate() {
        if bytes.len() == 16 && matches!(number, 4 | 6 | 8 | 10) {
            digits.push('-');
        }
        digits.extend(
            [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')),
        );
    }
    digits
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
