//! Parquet (<https://parquet.apache.org/docs/file-format/>), written one row group at a time,
//! compressed with Zstandard, with statistics.
//!
//! Records are collected by column until a row group is full, by records or by bytes, and are then
//! encoded, so memory is bounded by one row group. Unsigned numbers have the logical type
//! INTEGER(n,false): readers that know it (DuckDB, pandas, Polars, Spark) show a fingerprint above
//! 2⁶³ as the number that it is.

use std::io::Write;
use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::export_info::ExportInfo;
use crate::fault::ExportFault;
use crate::table::{Column, Kind, Table, Value};

/// Maximum number of records in a row group.
pub const ROW_GROUP_ROWS: usize = 131_072;
/// Bytes of values that end a row group; the record that reaches this is its last.
pub const ROW_GROUP_BYTES: usize = 32 << 20;
/// The names of the groups within a list (Parquet's `LogicalTypes.md`, "Lists").
const LIST: [&str; 2] = ["list", "element"];

/// Writes a Parquet file.
pub(crate) struct Columnar<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Buffer>,
    rows: usize,
    bytes: usize,
}

/// Returns the schema of a table in Parquet's message type language.
pub(crate) fn schema(table: Table) -> String {
    let name = table.schema.split('/').next().unwrap_or_default();
    let mut text = format!("message {} {{\n", name.replace('-', "_"));
    for column in table.columns {
        let repetition = match column.nullable {
            true => "OPTIONAL",
            false => "REQUIRED",
        };
        let name = column.name;
        let typed = match column.kind {
            Kind::Text => format!("BYTE_ARRAY {name} (STRING)"),
            Kind::U16 => format!("INT32 {name} (INTEGER(16,false))"),
            Kind::U32 => format!("INT32 {name} (INTEGER(32,false))"),
            Kind::U64 | Kind::Fingerprint => format!("INT64 {name} (INTEGER(64,false))"),
            Kind::Real => format!("DOUBLE {name}"),
            Kind::Bool => format!("BOOLEAN {name}"),
            Kind::Time => format!("INT64 {name} (TIMESTAMP(MILLIS,true))"),
            Kind::Date => format!("INT32 {name} (DATE)"),
            Kind::Bytes(length) => format!("FIXED_LEN_BYTE_ARRAY ({length}) {name}"),
            Kind::Integers => {
                text.push_str(&format!(
                    "  {repetition} GROUP {name} (LIST) {{ REPEATED GROUP {} {{ REQUIRED INT64 {}; \
                     }} }}\n",
                    LIST[0], LIST[1]
                ));
                continue;
            }
        };
        text.push_str(&format!("  {repetition} {typed};\n"));
    }
    text + "}\n"
}

fn properties(table: Table, about: &ExportInfo) -> Result<WriterProperties, ExportFault> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_created_by(format!("crawler version {}", about.version))
        .set_max_row_group_row_count(None)
        .set_key_value_metadata(Some(about.notes(table)));
    for column in table.columns {
        let path = match column.kind {
            Kind::Integers => {
                ColumnPath::from([column.name, LIST[0], LIST[1]].map(str::to_owned).to_vec())
            }
            _ => ColumnPath::from(column.name),
        };
        if is_various(column) {
            properties = properties.set_column_dictionary_enabled(path.clone(), false);
        }
        // Minimum and maximum of sketches and texts have no meaning.
        if matches!(column.kind, Kind::Bytes(_) | Kind::Integers) || column.name == "text" {
            properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    Ok(properties.build())
}

/// Returns true if the values of a column rarely repeat, so that a dictionary would be built and
/// discarded.
fn is_various(column: &Column) -> bool {
    matches!(
        column.kind,
        Kind::Fingerprint | Kind::Bytes(_) | Kind::Integers | Kind::Time | Kind::U64
    ) || matches!(
        column.name,
        "url" | "final_url" | "text" | "digest" | "cluster"
    )
}

impl<W: Write + Send> Columnar<W> {
    pub(crate) fn begin(table: Table, about: &ExportInfo, out: W) -> Result<Self, ExportFault> {
        let schema = Arc::new(parse_message_type(&schema(table))?);
        let properties = Arc::new(properties(table, about)?);
        Ok(Self {
            file: SerializedFileWriter::new(out, schema, properties)?,
            columns: table.columns.iter().map(Buffer::of).collect(),
            rows: 0,
            bytes: 0,
        })
    }

    pub(crate) fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        for (column, value) in self.columns.iter_mut().zip(fields) {
            self.bytes += column.add(*value);
        }
        self.rows += 1;
        if self.rows >= ROW_GROUP_ROWS || self.bytes >= ROW_GROUP_BYTES {
            self.end_row_group()?;
        }
        Ok(())
    }

    /// Appends a key-value pair to the footer.
    pub(crate) fn note(&mut self, name: &str, value: String) {
        self.file
            .append_key_value_metadata(KeyValue::new(name.to_owned(), value));
    }

    /// Writes the last row group and the footer.
    pub(crate) fn finish(mut self) -> Result<W, ExportFault> {
        self.end_row_group()?;
        let mut out = self.file.into_inner()?;
        out.flush()?;
        Ok(out)
    }

    fn end_row_group(&mut self) -> Result<(), ExportFault> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let writer = group.next_column()?;
            column.drain(writer.expect("the schema was made from these columns"))?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

/// The values of a column in a row group.
struct Buffer {
    values: Values,
    /// Definition levels, one for each record, or for each element of a list and for each list
    /// without elements; only in a nullable column and in lists.
    levels: Option<Vec<i16>>,
    /// Repetition levels, as many; only in lists.
    repetitions: Option<Vec<i16>>,
    nullable: bool,
}

enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Bool(Vec<bool>),
    Double(Vec<f64>),
    /// All texts, and the end of each.
    Text(Vec<u8>, Vec<usize>),
    /// All values, each of this length.
    Fixed(Vec<u8>, usize),
    /// The elements of all lists.
    Lists(Vec<i64>),
}

impl Buffer {
    fn of(column: &Column) -> Self {
        Self {
            values: match column.kind {
                Kind::Text => Values::Text(Vec::new(), Vec::new()),
                Kind::U16 | Kind::U32 | Kind::Date => Values::Int32(Vec::new()),
                Kind::U64 | Kind::Fingerprint | Kind::Time => Values::Int64(Vec::new()),
                Kind::Bool => Values::Bool(Vec::new()),
                Kind::Real => Values::Double(Vec::new()),
                Kind::Bytes(length) => Values::Fixed(Vec::new(), length.into()),
                Kind::Integers => Values::Lists(Vec::new()),
            },
            levels: (column.nullable || column.kind == Kind::Integers).then(Vec::new),
            repetitions: (column.kind == Kind::Integers).then(Vec::new),
            nullable: column.nullable,
        }
    }

    /// Adds a value and returns its size in bytes. A value of another kind becomes null, or a zero
    /// value in a column that is not nullable; tables are constants, and their tests show that this
    /// does not happen.
    fn add(&mut self, value: Option<Value<'_>>) -> usize {
        if let (Values::Lists(values), Some(levels), Some(repetitions)) =
            (&mut self.values, &mut self.levels, &mut self.repetitions)
        {
            let list = match value {
                Some(Value::Integers(list)) => Some(list),
                _ => None,
            };
            // The levels: null, if the column may have it; an empty list; an element.
            let elements = list.unwrap_or_default();
            let empty = i16::from(self.nullable && list.is_some());
            levels.extend(elements.iter().map(|_| i16::from(self.nullable) + 1));
            repetitions.extend((0..elements.len()).map(|at| i16::from(at > 0)));
            if elements.is_empty() {
                levels.push(empty);
                repetitions.push(0);
            }
            values.extend_from_slice(elements);
            return size_of_val(elements) + size_of::<usize>();
        }
        let added = value.and_then(|value| self.values.push(value));
        if let Some(levels) = &mut self.levels {
            levels.push(added.is_some().into());
        } else if added.is_none() {
            self.values.push_nothing();
        }
        added.unwrap_or_default()
    }

    fn drain(&mut self, mut writer: SerializedColumnWriter<'_>) -> Result<(), ExportFault> {
        let levels = self.levels.as_deref();
        let repetitions = self.repetitions.as_deref();
        match &mut self.values {
            Values::Int32(values) => put::<Int32Type>(&mut writer, values, levels, None)?,
            Values::Int64(values) => put::<Int64Type>(&mut writer, values, levels, None)?,
            Values::Lists(values) => put::<Int64Type>(&mut writer, values, levels, repetitions)?,
            Values::Bool(values) => put::<BoolType>(&mut writer, values, levels, None)?,
            Values::Double(values) => put::<DoubleType>(&mut writer, values, levels, None)?,
            Values::Text(text, ends) => {
                let text = Bytes::from(mem::take(text));
                let mut start = 0;
                let mut values: Vec<ByteArray> = Vec::with_capacity(ends.len());
                for end in ends.drain(..) {
                    values.push(text.slice(start..end).into());
                    start = end;
                }
                put::<ByteArrayType>(&mut writer, &mut values, levels, None)?;
            }
            Values::Fixed(bytes, length) => {
                let bytes = Bytes::from(mem::take(bytes));
                let starts = (0..bytes.len()).step_by(*length);
                let mut values: Vec<FixedLenByteArray> = starts
                    .map(|start| ByteArray::from(bytes.slice(start..start + *length)).into())
                    .collect();
                put::<FixedLenByteArrayType>(&mut writer, &mut values, levels, None)?;
            }
        }
        for levels in [&mut self.levels, &mut self.repetitions]
            .into_iter()
            .flatten()
        {
            levels.clear();
        }
        writer.close().map_err(ExportFault::from)
    }
}

fn put<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) -> Result<(), ExportFault> {
    writer
        .typed::<T>()
        .write_batch(values, levels, repetitions)?;
    values.clear();
    Ok(())
}

impl Values {
    /// Adds a value and returns its size in bytes; `None` if it is of another kind.
    fn push(&mut self, value: Value<'_>) -> Option<usize> {
        match (self, value) {
            // Unsigned numbers are stored by their bits.
            (Self::Int32(values), Value::Number(number)) => {
                values.push(u32::try_from(number).ok()?.cast_signed());
                Some(4)
            }
            (Self::Int32(values), Value::Date(date)) => {
                values.push(date.days_since_1970());
                Some(4)
            }
            (Self::Int64(values), value) => {
                values.push(match value {
                    Value::Number(number) => number.cast_signed(),
                    Value::Fingerprint(fingerprint) => fingerprint.as_u64().cast_signed(),
                    Value::Time(at) => i64::try_from(at.as_millis()).unwrap_or(i64::MAX),
                    _ => return None,
                });
                Some(8)
            }
            (Self::Bool(values), Value::Bool(value)) => {
                values.push(value);
                Some(1)
            }
            (Self::Double(values), Value::Real(share)) => {
                values.push(share);
                Some(8)
            }
            (Self::Text(bytes, ends), Value::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                Some(text.len() + size_of::<usize>())
            }
            (values @ Self::Text(..), Value::Reason(reason)) => {
                values.push(Value::Text(&reason.to_string()))
            }
            (Self::Fixed(bytes, length), Value::Bytes(value)) if value.len() == *length => {
                bytes.extend_from_slice(value);
                Some(value.len())
            }
            _ => None,
        }
    }

    fn push_nothing(&mut self) {
        match self {
            Self::Int32(values) => values.push(0),
            Self::Int64(values) => values.push(0),
            // A list has levels of its own.
            Self::Lists(_) => {}
            Self::Bool(values) => values.push(false),
            Self::Double(values) => values.push(0.0),
            Self::Text(bytes, ends) => ends.push(bytes.len()),
            Self::Fixed(bytes, length) => bytes.resize(bytes.len() + *length, 0),
        }
    }
}
