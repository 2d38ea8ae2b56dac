//! Columns of a table of the crate `export` as Arrow data.

use arrow_array::ArrayRef;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Date32Builder, FixedSizeBinaryBuilder, Float64Builder,
    Int64Builder, ListBuilder, StringBuilder, TimestampMillisecondBuilder, UInt16Builder,
    UInt32Builder, UInt64Builder,
};
use arrow_schema::{ArrowError, DataType, Field, TimeUnit};
use export::{Column, Kind, Value};

/// Returns the field of a column.
pub(super) fn field(column: &Column) -> Field {
    let data_type = match column.kind {
        Kind::Text => DataType::Utf8,
        Kind::U16 => DataType::UInt16,
        Kind::U32 => DataType::UInt32,
        Kind::U64 | Kind::Fingerprint => DataType::UInt64,
        Kind::Bool => DataType::Boolean,
        Kind::Real => DataType::Float64,
        Kind::Time => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        Kind::Date => DataType::Date32,
        Kind::Bytes(length) => DataType::FixedSizeBinary(length.into()),
        Kind::Integers => DataType::new_list(DataType::Int64, true),
    };
    Field::new(column.name, data_type, column.nullable)
}

/// The values of a column.
pub(super) enum Values {
    Text(StringBuilder),
    U16(UInt16Builder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    Bool(BooleanBuilder),
    Real(Float64Builder),
    Time(TimestampMillisecondBuilder),
    Date(Date32Builder),
    Bytes(FixedSizeBinaryBuilder),
    Integers(ListBuilder<Int64Builder>),
}

impl Values {
    pub(super) fn of(column: &Column) -> Self {
        match column.kind {
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::U16 => Self::U16(UInt16Builder::new()),
            Kind::U32 => Self::U32(UInt32Builder::new()),
            Kind::U64 | Kind::Fingerprint => Self::U64(UInt64Builder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Real => Self::Real(Float64Builder::new()),
            Kind::Time => Self::Time(TimestampMillisecondBuilder::new().with_timezone("UTC")),
            Kind::Date => Self::Date(Date32Builder::new()),
            Kind::Bytes(length) => Self::Bytes(FixedSizeBinaryBuilder::new(length.into())),
            Kind::Integers => Self::Integers(ListBuilder::new(Int64Builder::new())),
        }
    }

    /// Appends a value; a value of another kind than the column becomes null.
    pub(super) fn append(&mut self, value: Option<Value<'_>>) -> Result<(), ArrowError> {
        match self {
            Self::Text(column) => match value {
                Some(Value::Text(text)) => column.append_value(text),
                Some(Value::Reason(reason)) => column.append_value(reason.to_string()),
                _ => column.append_null(),
            },
            Self::U16(column) => {
                column.append_option(number(value).and_then(|number| number.try_into().ok()));
            }
            Self::U32(column) => {
                column.append_option(number(value).and_then(|number| number.try_into().ok()));
            }
            Self::U64(column) => column.append_option(number(value)),
            Self::Bool(column) => column.append_option(match value {
                Some(Value::Bool(value)) => Some(value),
                _ => None,
            }),
            Self::Real(column) => column.append_option(match value {
                Some(Value::Real(share)) => Some(share),
                _ => None,
            }),
            Self::Time(column) => column.append_option(match value {
                Some(Value::Time(at)) => i64::try_from(at.as_millis()).ok(),
                _ => None,
            }),
            Self::Date(column) => column.append_option(match value {
                Some(Value::Date(date)) => Some(date.days_since_1970()),
                _ => None,
            }),
            Self::Bytes(column) => match value {
                Some(Value::Bytes(bytes)) => column.append_value(bytes)?,
                _ => column.append_null(),
            },
            Self::Integers(column) => column.append_option(match value {
                Some(Value::Integers(numbers)) => Some(numbers.iter().copied().map(Some)),
                _ => None,
            }),
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => ArrayBuilder::finish(column),
            Self::U16(column) => ArrayBuilder::finish(column),
            Self::U32(column) => ArrayBuilder::finish(column),
            Self::U64(column) => ArrayBuilder::finish(column),
            Self::Bool(column) => ArrayBuilder::finish(column),
            Self::Real(column) => ArrayBuilder::finish(column),
            Self::Time(column) => ArrayBuilder::finish(column),
            Self::Date(column) => ArrayBuilder::finish(column),
            Self::Bytes(column) => ArrayBuilder::finish(column),
            Self::Integers(column) => ArrayBuilder::finish(column),
        }
    }
}

fn number(value: Option<Value<'_>>) -> Option<u64> {
    match value {
        Some(Value::Number(number)) => Some(number),
        Some(Value::Fingerprint(fingerprint)) => Some(fingerprint.as_u64()),
        _ => None,
    }
}
