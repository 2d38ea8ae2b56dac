//! Columns of Arrow data as foreign programs pass them to the Python package: nobody has checked
//! where their strings lie, nor whether they are UTF-8.

use std::sync::Arc;

use arrow_array::types::{
    BinaryType, BinaryViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, GenericByteArray, GenericByteViewArray, Int8Array,
    StructArray, UInt64Array,
};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::Field;
use corpus::Column;

/// The most rows of a column.
const MAX_ROWS: u8 = 16;
/// The longest text stored inline in a view. Short input is padded with zeros.
const IN_VIEW: usize = 12;

/// Reads any bytes as a column of strings with any offsets: a text lies within the data, or its
/// row is an error; and so it is in a struct and in a dictionary.
pub fn arrow(bytes: &[u8]) {
    let [kind, rows, nulls, rest @ ..] = bytes else {
        return;
    };
    let rows = usize::from(rows % MAX_ROWS);
    let is_valid = |row: usize| nulls >> (row % 8) & 1 == 0;
    let valid = NullBuffer::from_iter((0..rows).map(is_valid));
    let Some(column) = column(kind % 7, rows, valid, rest) else {
        return;
    };
    check(&Column::alone("text", column.data_type()), &column, rest);
    let fields = vec![(
        Arc::new(Field::new("text", column.data_type().clone(), true)),
        Arc::clone(&column),
    )];
    let table: ArrayRef = Arc::new(StructArray::from(fields));
    let found = Column::find(table_fields(&table), "text").expect("the table has the column");
    check(&found, &table, rest);
    if rows > 0 {
        let keys = Int8Array::from_iter((0..rows).map(|row| is_valid(row).then_some(row as i8)));
        if let Ok(dictionary) = DictionaryArray::try_new(keys, column) {
            let column = Column::alone("text", dictionary.data_type());
            check(&column, &(Arc::new(dictionary) as ArrayRef), rest);
        }
    }
}

fn table_fields(table: &ArrayRef) -> &arrow_schema::Fields {
    match table.data_type() {
        arrow_schema::DataType::Struct(fields) => fields,
        other => unreachable!("{other} is no table"),
    }
}

/// Reads each row as a text and as an id.
fn check(column: &Column, rows: &ArrayRef, data: &[u8]) {
    let values = column.values(rows);
    assert_eq!(values.len(), rows.len());
    for row in 0..values.len() {
        let integer = values.integer(row);
        let Ok(Some(text)) = values.text(row) else {
            continue;
        };
        assert!(integer.is_none(), "a text is no number");
        let most = data.len().max(IN_VIEW);
        assert!(text.len() <= most, "a text lies within the data");
        assert!(text.chars().count() <= text.len());
    }
}

/// Returns a column of these rows, of which nothing is checked.
fn column(kind: u8, rows: usize, valid: NullBuffer, rest: &[u8]) -> Option<ArrayRef> {
    Some(match kind {
        0 => Arc::new(strings::<Utf8Type>(rows, valid, rest)?),
        1 => Arc::new(strings::<LargeUtf8Type>(rows, valid, rest)?),
        2 => Arc::new(strings::<BinaryType>(rows, valid, rest)?),
        3 => Arc::new(strings::<LargeBinaryType>(rows, valid, rest)?),
        4 => Arc::new(views::<StringViewType>(rows, valid, rest)?),
        5 => Arc::new(views::<BinaryViewType>(rows, valid, rest)?),
        _ => {
            let numbers = rest.as_chunks::<8>().0.iter().take(rows);
            let numbers = numbers.map(|bytes| u64::from_le_bytes(*bytes));
            Arc::new(UInt64Array::from_iter_values(numbers))
        }
    })
}

/// Returns numbers from -32768 to 32767, which are about as large as the data are long.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = i64> {
    let pairs = bytes.as_chunks::<2>().0.iter();
    pairs.map(|pair| i16::from_le_bytes(*pair).into())
}

fn strings<T: ByteArrayType>(
    rows: usize,
    valid: NullBuffer,
    rest: &[u8],
) -> Option<GenericByteArray<T>> {
    let (offsets, data) = rest.split_at_checked(2 * (rows + 1))?;
    let number = |offset: i64| T::Offset::from_usize(offset.unsigned_abs() as usize);
    let negated = |offset: i64| match offset < 0 {
        true => Some(T::Offset::default() - number(offset)?),
        false => number(offset),
    };
    let offsets: Option<Vec<T::Offset>> = numbers(offsets).map(negated).collect();
    let offsets = ScalarBuffer::from(offsets?);
    #[expect(unsafe_code, reason = "foreign programs check nothing either")]
    // SAFETY: none: what reads the array has to check each row.
    Some(unsafe {
        let offsets = OffsetBuffer::new_unchecked(offsets);
        GenericByteArray::new_unchecked(offsets, Buffer::from(data), Some(valid))
    })
}

fn views<T: ByteViewType + ?Sized>(
    rows: usize,
    valid: NullBuffer,
    rest: &[u8],
) -> Option<GenericByteViewArray<T>> {
    let (views, data) = rest.split_at_checked(8 * rows)?;
    let views = views.as_chunks::<8>().0.iter().map(|parts| {
        let part = |at: usize| i32::from(i16::from_le_bytes([parts[at], parts[at + 1]])) as u32;
        // A length that is negative is very large; a short string stands behind it.
        u128::from(part(0))
            | u128::from(part(2)) << 32
            | u128::from(part(4)) << 64
            | u128::from(part(6)) << 96
    });
    let views = ScalarBuffer::from(views.collect::<Vec<u128>>());
    #[expect(unsafe_code, reason = "foreign programs check nothing either")]
    // SAFETY: none: what reads the array has to check each row.
    Some(unsafe {
        GenericByteViewArray::new_unchecked(views, vec![Buffer::from(data)], Some(valid))
    })
}
