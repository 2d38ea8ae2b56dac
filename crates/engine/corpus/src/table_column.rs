//! Columns of Arrow data as texts and ids, read in place.
//!
//! Texts are strings or UTF-8 in binary, also of a dictionary (categories), and `doc.text` is the
//! field `text` within `doc`. Files and the Python package are read with this.
//!
//! Invariant: no producer checks that strings are UTF-8, nor that they lie within their buffers, so
//! each is checked before it is a text.

use std::str::Utf8Error;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, ByteViewType, Decimal128Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, GenericByteViewArray};
use arrow_schema::DataType::{self, FixedSizeBinary};
use arrow_schema::Fields;
use batch::DocumentId;

/// Maximum bytes of a string in a view itself.
const MAX_INLINE: usize = 12;

/// A cell that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCell {
    /// A text is not UTF-8.
    #[error("is not UTF-8: {0}")]
    NotUtf8(#[from] Utf8Error),
    /// Its offsets run backwards, or beyond the buffer.
    #[error("is outside its buffer: the table is damaged")]
    Outside,
}

/// A column of a table, maybe within structs, or a column alone.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name, with dots between the names of fields.
    pub name: String,
    /// The number of a column, and the numbers of fields within it; nothing for a column alone.
    pub(crate) way: Vec<usize>,
    /// Its type.
    pub data_type: DataType,
}

impl Column {
    /// Finds a column by its name, or by the names of fields with dots between them.
    #[must_use]
    pub fn find(columns: &Fields, name: &str) -> Option<Self> {
        let (way, data_type) = match columns.find(name) {
            Some((number, column)) => (vec![number], column.data_type()),
            None => {
                let mut parts = name.split('.');
                let (first, column) = columns.find(parts.next()?)?;
                let (mut way, mut data_type) = (vec![first], column.data_type());
                for part in parts {
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
            name: name.to_owned(),
            way,
            data_type: data_type.clone(),
        })
    }

    /// Returns the column of arrays that are not tables.
    #[must_use]
    pub fn alone(name: &str, data_type: &DataType) -> Self {
        Self {
            name: name.to_owned(),
            way: Vec::new(),
            data_type: data_type.clone(),
        }
    }

    /// Returns the type of its values; for a dictionary, without the type of its keys.
    #[must_use]
    pub fn value_type(&self) -> &DataType {
        match &self.data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        }
    }

    /// Returns true if its values are texts.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(
            self.value_type(),
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
        )
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

    /// Returns its values in an array of the table's rows, or in one of the column alone.
    #[must_use]
    pub fn values(&self, rows: &ArrayRef) -> Values {
        let mut around = Vec::new();
        let mut array = Arc::clone(rows);
        for (depth, number) in self.way.iter().enumerate() {
            let inner = Arc::clone(array.as_struct().column(*number));
            // The table itself has no nulls.
            if depth > 0 {
                around.push(array);
            }
            array = inner;
        }
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
            rows: rows.len(),
        }
    }
}

/// The values of a column in a batch.
#[derive(Clone, Debug)]
pub struct Values {
    /// The structs around the column: its value is null if any struct is.
    around: Vec<ArrayRef>,
    /// The values, or the values of its dictionary.
    array: ArrayRef,
    /// The dictionary array, and the number of each row's value.
    keys: Option<(ArrayRef, Vec<usize>)>,
    rows: usize,
}

impl Values {
    /// Returns the number of rows.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks for it")]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns the place of a row's value in the array; `None` if it is null.
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

    /// Returns the bytes of a row's string; `None` if it is null, or not a string.
    ///
    /// # Errors
    /// [`BadCell::Outside`].
    pub(crate) fn bytes(&self, row: usize) -> Result<Option<&[u8]>, BadCell> {
        let Some(place) = self.place(row) else {
            return Ok(None);
        };
        let array = &*self.array;
        let bytes = match array.data_type() {
            DataType::Utf8 => of_offsets(array.as_string::<i32>(), place),
            DataType::LargeUtf8 => of_offsets(array.as_string::<i64>(), place),
            DataType::Utf8View => of_view(array.as_string_view(), place),
            DataType::Binary => of_offsets(array.as_binary::<i32>(), place),
            DataType::LargeBinary => of_offsets(array.as_binary::<i64>(), place),
            DataType::BinaryView => of_view(array.as_binary_view(), place),
            FixedSizeBinary(_) => Some(array.as_fixed_size_binary().value(place)),
            // A dictionary without values has only nulls.
            _ => return Ok(None),
        };
        bytes.map(Some).ok_or(BadCell::Outside)
    }

    /// Returns the value of a row as a text; `None` if it is null.
    ///
    /// # Errors
    /// [`BadCell`].
    pub fn text(&self, row: usize) -> Result<Option<&str>, BadCell> {
        let bytes = self.bytes(row)?;
        Ok(bytes.map(std::str::from_utf8).transpose()?)
    }

    /// Returns the whole number of a row; `None` if it is null, or the column does not contain
    /// whole numbers.
    #[must_use]
    pub fn integer(&self, row: usize) -> Option<i128> {
        let (place, array) = (self.place(row)?, &*self.array);
        match array.data_type() {
            DataType::Int8 => integer::<Int8Type>(array, place),
            DataType::Int16 => integer::<Int16Type>(array, place),
            DataType::Int32 => integer::<Int32Type>(array, place),
            DataType::Int64 => integer::<Int64Type>(array, place),
            DataType::UInt8 => integer::<UInt8Type>(array, place),
            DataType::UInt16 => integer::<UInt16Type>(array, place),
            DataType::UInt32 => integer::<UInt32Type>(array, place),
            DataType::UInt64 => integer::<UInt64Type>(array, place),
            DataType::Decimal128(_, 0) => integer::<Decimal128Type>(array, place),
            _ => None,
        }
    }

    /// Returns the value of a row as an id; `None` if it is null.
    pub(crate) fn id(&self, row: usize) -> Option<DocumentId> {
        if let Ok(Some(bytes)) = self.bytes(row) {
            let text = std::str::from_utf8(bytes).ok();
            let text = text.filter(|_| !matches!(self.array.data_type(), FixedSizeBinary(_)));
            return Some(text.map_or_else(|| hexadecimal(bytes).into(), DocumentId::from));
        }
        if let Some(number) = self.integer(row) {
            return Some(DocumentId::of_digits(number.to_string()));
        }
        let (place, array) = (self.place(row)?, &*self.array);
        match array.data_type() {
            DataType::Float32 => real(array.as_primitive::<Float32Type>().value(place).into()),
            DataType::Float64 => real(array.as_primitive::<Float64Type>().value(place)),
            DataType::Boolean => Some(array.as_boolean().value(place).to_string().into()),
            _ => None,
        }
    }
}

/// Returns the bytes of a cell between two offsets; `None` if they run backwards, or beyond the
/// data.
fn of_offsets<T>(array: &GenericByteArray<T>, place: usize) -> Option<&[u8]>
where
    T: ByteArrayType<Offset: TryInto<usize>>,
{
    let offset = |at: usize| (*array.value_offsets().get(at)?).try_into().ok();
    let data = array.values();
    // The last offset, which may be negative, gives data of a foreign program their length.
    isize::try_from(data.len()).ok()?;
    data.as_slice().get(offset(place)?..offset(place + 1)?)
}

/// Returns the bytes of a cell of views; `None` if they run beyond the data.
fn of_view<T: ByteViewType>(array: &GenericByteViewArray<T>, place: usize) -> Option<&[u8]> {
    // Four numbers: length, prefix, buffer, offset. A short string is in their place instead.
    let view = *array.views().get(place)?;
    let [length, buffer, start] = [0, 64, 96].map(|shift| (view >> shift) as u32 as usize);
    if length <= MAX_INLINE {
        return Some(array.value(place).as_ref());
    }
    let data = array.data_buffers().get(buffer)?.as_slice();
    data.get(start..start.checked_add(length)?)
}

fn integer<T>(array: &dyn Array, row: usize) -> Option<i128>
where
    T: ArrowPrimitiveType<Native: Into<i128>>,
{
    Some(array.as_primitive::<T>().value(row).into())
}

/// Returns a real number as an id. pandas makes real numbers of whole ones in columns with gaps,
/// and NaN of the gaps.
fn real(value: f64) -> Option<DocumentId> {
    (!value.is_nan()).then(|| match value.fract() {
        0.0 => DocumentId::of_digits(value.to_string()),
        _ => value.to_string().into(),
    })
}

/// Returns bytes in hexadecimal digits; sixteen bytes as a UUID.
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
