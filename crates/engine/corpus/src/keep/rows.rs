//! Chosen rows of tables, with all columns.
//!
//! A Parquet file keeps its schema, its metadata and the codec of each column; its row groups are
//! rebuilt, with at most [`ROW_GROUP_BYTES`], and cells of strings and intervals are copied byte by
//! byte. Arrow files and streams keep their schema and are written without compression, as their
//! readers map them into memory. Their strings are copied as bytes, too: the layout is the same.
//!
//! Tables are compatible if they have columns of the same names and types, in any order. A column
//! that may have nulls in one table may have nulls in the output.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use disk::OutputFile;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::SchemaDescriptor;

use super::{KeepError, Kept, KeptDocuments, Pass};
use crate::draft::{self, DraftError};
use crate::open_file::{self, OpenFile};
use crate::packed_draft::PackedDraft;
use crate::physical;
use crate::projection::Projection;
use crate::table_rows::Columns;
use crate::tables::Table;

/// Encoded bytes that end a row group.
const ROW_GROUP_BYTES: usize = 128 << 20;

/// The columns of all tables of an output.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    /// The first table and its columns. A column may have nulls if it may in any of the tables.
    first: Option<(PathBuf, Vec<FieldRef>)>,
    /// True if the schema of a Parquet file has an older form that is not written any more. Its
    /// strings are then read as strings.
    as_declared: bool,
}

impl Tables {
    /// Adds a table, which must have the columns of the earlier tables. A damaged table is skipped.
    pub(super) fn add(&mut self, open: OpenFile, path: &Path) -> Result<(), KeepError> {
        let Ok((table, form)) = table(open, false) else {
            return Ok(());
        };
        if let Form::Parquet(metadata) = &form
            && !keeps_schema(&table.schema, metadata)
        {
            self.as_declared = true;
            let declared = table.declared.fields();
            if let Some(column) = declared
                .iter()
                .find(|column| has_intervals(column.data_type()))
            {
                let reason = format!(
                    "a table with intervals ({:?}) in an older form, which cannot be copied",
                    column.name()
                );
                return Err(KeepError::unsupported(path, &reason));
            }
        }
        let columns = table.declared.fields();
        let Some((known_as, known)) = &mut self.first else {
            self.first = Some((path.to_owned(), columns.to_vec()));
            return Ok(());
        };
        if let Some(difference) = difference(known, columns, matches!(form, Form::Parquet(_))) {
            return Err(KeepError::Columns {
                first: known_as.clone(),
                other: path.to_owned(),
                difference,
            });
        }
        for column in known {
            let other = columns.find(column.name());
            if other.is_some_and(|(_, other)| other.is_nullable()) {
                *column = Arc::new(column.as_ref().clone().with_nullable(true));
            }
        }
        Ok(())
    }

    /// Returns true if a column may have nulls in one of the tables.
    fn is_nullable(&self, name: &str) -> bool {
        let columns = self.first.iter().flat_map(|(_, columns)| columns);
        let mut named = columns.filter(|column| column.name() == name);
        named.any(|column| column.is_nullable())
    }

    /// Returns a schema whose columns may have nulls if they may in one of the tables.
    fn with_nulls(&self, schema: &Schema) -> Schema {
        let with_nulls = |column: &FieldRef| {
            let is_nullable = column.is_nullable() || self.is_nullable(column.name());
            column.as_ref().clone().with_nullable(is_nullable)
        };
        let columns: Vec<Field> = schema.fields().iter().map(with_nulls).collect();
        Schema::new_with_metadata(columns, schema.metadata().clone())
    }
}

/// Describes the first column that differs from the columns of the first table; `None` if all
/// agree.
fn difference(first: &[FieldRef], other: &Fields, is_parquet: bool) -> Option<String> {
    let stored = |data_type: &DataType| match is_parquet {
        true => stored_type(data_type),
        false => data_type.clone(),
    };
    for column in first {
        let name = column.name();
        let Some((_, same)) = other.find(name) else {
            return Some(format!("{name:?} is only in the first"));
        };
        let (one, two) = (column.data_type(), same.data_type());
        if !stored(one).equals_datatype(&stored(two)) {
            return Some(format!("{name:?} is {one} and {two}"));
        }
    }
    let is_new = |column: &&FieldRef| first.iter().all(|known| known.name() != column.name());
    let new = other.iter().find(is_new)?;
    Some(format!("{:?} is only in the second", new.name()))
}

/// Returns the type of a column as Parquet stores it: a dictionary is an encoding, and the width of
/// offsets exists in memory only.
fn stored_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => stored_type(values),
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        other => other.clone(),
    }
}

fn has_intervals(data_type: &DataType) -> bool {
    match data_type {
        DataType::Interval(_) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_intervals(field.data_type())),
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            has_intervals(item.data_type())
        }
        _ => false,
    }
}

/// Writes the rows of the chosen documents; returns the bytes written.
pub(super) fn write(kept: &KeptDocuments, pass: &mut Pass<'_>) -> Result<u64, KeepError> {
    let mut out: Option<RowWriter> = None;
    let mut unreadable = None;
    for path in kept.files()? {
        let Ok(open) = open_file::open(&path, &kept.options) else {
            continue;
        };
        let Ok((table, form)) = table(open, kept.tables.as_declared) else {
            continue;
        };
        let name = path.display().to_string();
        let Ok(columns) = Columns::of(&table, &name, &kept.fields()) else {
            continue;
        };
        let out = match &mut out {
            Some(out) => out,
            none => none.insert(RowWriter::begin(kept, &path, form, &table)?),
        };
        let mut before = 0;
        for batch in table.batches {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => {
                    // Maybe the first reading ended here, too; otherwise this is the cause.
                    unreadable.get_or_insert_with(|| (path.clone(), error));
                    break;
                }
            };
            let documents = columns.documents(&batch, before);
            let kept_rows: Vec<Kept> = documents
                .map(|document| document.map_or(Kept::Dropped, |document| pass.choose(&document)))
                .collect();
            before += batch.num_rows() as u64;
            let texts: Vec<Option<&str>> = kept_rows.iter().map(Kept::text).collect();
            let rows = columns.with_texts(&batch, &texts).and_then(|batch| {
                let chosen = kept_rows.iter().map(|kept| Some(*kept != Kept::Dropped));
                filter_record_batch(&batch, &chosen.collect::<BooleanArray>())
            });
            let written = rows.and_then(|rows| match rows.num_rows() {
                0 => Ok(()),
                _ => out.write(&rows),
            });
            written.map_err(|source| out.error(source, &path))?;
        }
    }
    pass.check().map_err(|error| match unreadable {
        Some((path, source)) => KeepError::Unreadable { path, source },
        None => error,
    })?;
    match out {
        Some(out) => out.complete(),
        None => Ok(PackedDraft::begin(&kept.output)?.complete()?),
    }
}

/// The form of an output.
enum Form {
    /// Parquet, as this file is.
    Parquet(Arc<ParquetMetaData>),
    ArrowFile,
    ArrowStream,
}

fn table(open: OpenFile, as_declared: bool) -> Result<(Table, Form), ArrowError> {
    Ok(match open {
        OpenFile::Parquet(file) => {
            let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
            let table = Table::parquet(file, Projection::All, as_declared)?;
            (table, Form::Parquet(Arc::new(metadata)))
        }
        OpenFile::ArrowFile(file) => (Table::arrow_file(file, Projection::All)?, Form::ArrowFile),
        OpenFile::ArrowStream(input) => {
            let table = Table::arrow_stream(input, Projection::All)?;
            (table, Form::ArrowStream)
        }
        _ => return Err(ArrowError::ParseError("it is not a table".to_owned())),
    })
}

/// A table in progress.
struct RowWriter {
    writer: Writer,
    schema: SchemaRef,
    output: PathBuf,
}

enum Writer {
    Parquet(Box<ArrowWriter<OutputFile>>),
    ArrowFile(Box<FileWriter<BufWriter<OutputFile>>>),
    ArrowStream(Box<StreamWriter<PackedDraft>>),
}

impl RowWriter {
    fn begin(
        kept: &KeptDocuments,
        path: &Path,
        form: Form,
        table: &Table,
    ) -> Result<Self, KeepError> {
        let output = &kept.output;
        let schema = Arc::new(kept.tables.with_nulls(&table.schema));
        let declared = kept.tables.with_nulls(&table.declared);
        let rows = |source| KeepError::Rows {
            path: path.to_owned(),
            source,
        };
        let writer = match form {
            Form::Parquet(metadata) => {
                let draft = draft::begin(output)?;
                let options = options(&schema, &metadata, &kept.tables);
                let options = options.map_err(|error| rows(error.into()))?;
                let schema = Arc::clone(&schema);
                let writer = ArrowWriter::try_new_with_options(draft, schema, options);
                Writer::Parquet(Box::new(writer.map_err(|error| rows(error.into()))?))
            }
            Form::ArrowFile => {
                let draft = BufWriter::new(draft::begin(output)?);
                Writer::ArrowFile(Box::new(
                    FileWriter::try_new(draft, &declared).map_err(rows)?,
                ))
            }
            Form::ArrowStream => {
                let draft = PackedDraft::begin(output)?;
                Writer::ArrowStream(Box::new(
                    StreamWriter::try_new(draft, &declared).map_err(rows)?,
                ))
            }
        };
        let output = output.clone();
        Ok(Self {
            writer,
            schema,
            output,
        })
    }

    /// Writes rows, whose columns may have another order.
    fn write(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        let columns = self.schema.fields().iter().map(|column| {
            let (number, _) = rows.schema_ref().fields().find(column.name())?;
            Some(Arc::clone(rows.column(number)))
        });
        let columns = match columns.collect::<Option<Vec<ArrayRef>>>() {
            Some(columns) if !has_namesakes(&self.schema) => columns,
            _ => rows.columns().to_vec(),
        };
        let rows = &RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        match &mut self.writer {
            Writer::Parquet(writer) => Ok(writer.write(rows)?),
            Writer::ArrowFile(writer) => writer.write(rows),
            Writer::ArrowStream(writer) => writer.write(rows),
        }
    }

    /// Returns the error of the system, if one made a write fail; otherwise the error of the
    /// library, with the table that the rows are from.
    fn error(&self, source: ArrowError, path: &Path) -> KeepError {
        let draft = match &self.writer {
            Writer::Parquet(writer) => writer.inner(),
            Writer::ArrowFile(writer) => writer.get_ref().get_ref(),
            Writer::ArrowStream(writer) => writer.get_ref().draft(),
        };
        match draft.failure() {
            Some(failure) => DraftError::of(draft, failure).into(),
            None => KeepError::Rows {
                path: path.to_owned(),
                source,
            },
        }
    }

    fn complete(mut self) -> Result<u64, KeepError> {
        let finished = match &mut self.writer {
            Writer::Parquet(writer) => writer.finish().map(drop).map_err(ArrowError::from),
            Writer::ArrowFile(writer) => writer.finish(),
            Writer::ArrowStream(writer) => writer.finish(),
        };
        finished.map_err(|error| self.error(error, &self.output))?;
        let rows = |source| KeepError::Rows {
            path: self.output.clone(),
            source,
        };
        let length = match self.writer {
            // The writer cannot be taken apart once it is finished.
            Writer::Parquet(mut writer) => draft::complete(writer.inner_mut()),
            Writer::ArrowFile(writer) => {
                let out = writer.into_inner().map_err(rows)?;
                let draft = out.into_inner().map_err(|error| error.into_error());
                let mut draft = draft.map_err(|error| rows(error.into()))?;
                draft::complete(&mut draft)
            }
            Writer::ArrowStream(writer) => writer.into_inner().map_err(rows)?.complete(),
        };
        Ok(length?)
    }
}

/// Returns options for a Parquet file with the schema, the codecs and the metadata of another.
fn options(
    schema: &Schema,
    metadata: &ParquetMetaData,
    tables: &Tables,
) -> Result<ArrowWriterOptions, ParquetError> {
    let file = metadata.file_metadata();
    let descriptor = physical::with_nulls(file.schema_descr(), |name| tables.is_nullable(name))?;
    let mut properties = WriterProperties::builder()
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_key_value_metadata(file.key_value_metadata().cloned());
    if let Some(group) = metadata.row_groups().first() {
        for column in group.columns() {
            let (path, codec) = (column.column_path().clone(), column.compression());
            properties = properties.set_column_compression(path, codec);
        }
    }
    let options = ArrowWriterOptions::new()
        .with_properties(properties.build())
        // The schema of Arrow, if there was one, is in the metadata.
        .with_skip_arrow_metadata(true);
    let converted = ArrowSchemaConverter::new().convert(schema)?;
    Ok(
        match has_levels_of(&converted, &descriptor) && !tables.as_declared {
            true => options.with_parquet_schema(descriptor),
            false => options,
        },
    )
}

/// Returns true if rows of this schema can be written with the schema of their file.
fn keeps_schema(schema: &Schema, metadata: &ParquetMetaData) -> bool {
    let converted = ArrowSchemaConverter::new().convert(schema);
    converted.is_ok_and(|ours| has_levels_of(&ours, metadata.file_metadata().schema_descr()))
}

/// Returns true if two columns have one name, so that only their order tells them apart.
fn has_namesakes(schema: &Schema) -> bool {
    let columns = schema.fields();
    (1..columns.len()).any(|number| {
        let earlier = columns[..number].iter();
        earlier
            .map(|column| column.name())
            .any(|name| name == columns[number].name())
    })
}

/// Returns true if rows that are written for one schema fit the other. Lists of two levels and
/// timestamps of 96 bits, which older programs wrote, are written in their present form.
fn has_levels_of(ours: &SchemaDescriptor, other: &SchemaDescriptor) -> bool {
    ours.num_columns() == other.num_columns()
        && ours.columns().iter().zip(other.columns()).all(|(a, b)| {
            a.physical_type() == b.physical_type()
                && a.max_def_level() == b.max_def_level()
                && a.max_rep_level() == b.max_rep_level()
        })
}
