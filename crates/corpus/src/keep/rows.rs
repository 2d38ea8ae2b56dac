//! Chosen rows of tables, with all columns.
//!
//! A Parquet file keeps its schema, its metadata and the codec of each column; its row groups are
//! made anew, with at most [`ROW_GROUP_BYTES`]. Arrow files and streams keep their schema and are
//! written without compression, as their readers map them into memory.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::SchemaDescriptor;

use super::{KeepError, Kept, KeptDocuments, Pass};
use crate::draft::Draft;
use crate::open_file::{self, OpenFile};
use crate::packed_draft::PackedDraft;
use crate::table_rows::Columns;
use crate::tables::{Projection, Table};

/// Encoded bytes that end a row group.
const ROW_GROUP_BYTES: usize = 128 << 20;

/// The schema of the tables before, and the first of them.
pub(super) type FirstSchema = Option<(PathBuf, SchemaRef)>;

/// Checks that a table has the columns of those before it. A damaged one is skipped.
pub(super) fn check(open: OpenFile, path: &Path, first: &mut FirstSchema) -> Result<(), KeepError> {
    let Ok((table, _)) = table(open) else {
        return Ok(());
    };
    match first {
        None => *first = Some((path.to_owned(), table.schema)),
        Some((known_as, known)) if known.fields() != table.schema.fields() => {
            return Err(KeepError::Columns {
                first: known_as.clone(),
                other: path.to_owned(),
            });
        }
        Some(_) => {}
    }
    Ok(())
}

/// Writes the rows of the chosen documents; returns the bytes written.
pub(super) fn write(kept: &KeptDocuments, pass: &mut Pass<'_>) -> Result<u64, KeepError> {
    let mut out: Option<RowWriter> = None;
    for path in kept.files()? {
        let Ok(open) = open_file::open(&path, &kept.options) else {
            continue;
        };
        let Ok((table, form)) = table(open) else {
            continue;
        };
        let name = path.display().to_string();
        let Ok(columns) = Columns::of(&table, &name, &kept.fields()) else {
            continue;
        };
        let out = match &mut out {
            Some(out) => out,
            none => none.insert(RowWriter::begin(kept, &path, form, &table.schema)?),
        };
        let mut before = 0;
        for batch in table.batches {
            let Ok(batch) = batch else {
                break; // The first reading ended here, too.
            };
            let documents = columns.documents(&batch, before);
            let kept_rows: Vec<Kept> = documents
                .map(|document| document.map_or(Kept::LeftOut, |document| pass.choose(&document)))
                .collect();
            before += batch.num_rows() as u64;
            let texts: Vec<Option<&str>> = kept_rows.iter().map(Kept::text).collect();
            let rows = columns.with_texts(&batch, &texts).and_then(|batch| {
                let chosen = kept_rows.iter().map(|kept| Some(*kept != Kept::LeftOut));
                filter_record_batch(&batch, &chosen.collect::<BooleanArray>())
            });
            let written = rows.and_then(|rows| match rows.num_rows() {
                0 => Ok(()),
                _ => out.write(&rows),
            });
            written.map_err(|source| out.error(source, &path))?;
        }
    }
    pass.check()?;
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

fn table(open: OpenFile) -> Result<(Table, Form), ArrowError> {
    Ok(match open {
        OpenFile::Parquet(file) => {
            let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
            let table = Table::parquet(file, Projection::All)?;
            (table, Form::Parquet(Arc::new(metadata)))
        }
        OpenFile::ArrowFile(file) => (Table::arrow_file(file, Projection::All)?, Form::ArrowFile),
        OpenFile::ArrowStream(input) => {
            let table = Table::arrow_stream(input, Projection::All)?;
            (table, Form::ArrowStream)
        }
        _ => return Err(ArrowError::ParseError("it is no table".to_owned())),
    })
}

/// A table in progress.
struct RowWriter {
    writer: Writer,
    output: PathBuf,
}

enum Writer {
    Parquet(Box<ArrowWriter<Draft>>),
    ArrowFile(Box<FileWriter<BufWriter<Draft>>>),
    ArrowStream(Box<StreamWriter<PackedDraft>>),
}

impl RowWriter {
    fn begin(
        kept: &KeptDocuments,
        path: &Path,
        form: Form,
        schema: &Schema,
    ) -> Result<Self, KeepError> {
        let output = &kept.output;
        let rows = |source| KeepError::Rows {
            path: path.to_owned(),
            source,
        };
        let writer = match form {
            Form::Parquet(metadata) => {
                let draft = Draft::begin(output)?;
                let options = options(schema, &metadata).map_err(|error| rows(error.into()))?;
                let schema = Arc::new(schema.clone());
                let writer = ArrowWriter::try_new_with_options(draft, schema, options);
                Writer::Parquet(Box::new(writer.map_err(|error| rows(error.into()))?))
            }
            Form::ArrowFile => {
                let draft = BufWriter::new(Draft::begin(output)?);
                Writer::ArrowFile(Box::new(FileWriter::try_new(draft, schema).map_err(rows)?))
            }
            Form::ArrowStream => {
                let draft = PackedDraft::begin(output)?;
                Writer::ArrowStream(Box::new(
                    StreamWriter::try_new(draft, schema).map_err(rows)?,
                ))
            }
        };
        let output = output.clone();
        Ok(Self { writer, output })
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        match &mut self.writer {
            Writer::Parquet(writer) => Ok(writer.write(rows)?),
            Writer::ArrowFile(writer) => writer.write(rows),
            Writer::ArrowStream(writer) => writer.write(rows),
        }
    }

    /// Returns the error of the system, if one made a write fail; otherwise that of the library,
    /// with the table that the rows are from.
    fn error(&self, source: ArrowError, path: &Path) -> KeepError {
        let draft = match &self.writer {
            Writer::Parquet(writer) => writer.inner(),
            Writer::ArrowFile(writer) => writer.get_ref().get_ref(),
            Writer::ArrowStream(writer) => writer.get_ref().draft(),
        };
        match draft.failure() {
            Some(failure) => failure.into(),
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
            // It cannot be taken apart once it is finished.
            Writer::Parquet(mut writer) => writer.inner_mut().complete(),
            Writer::ArrowFile(writer) => {
                let out = writer.into_inner().map_err(rows)?;
                let draft = out.into_inner().map_err(|error| error.into_error());
                let mut draft = draft.map_err(|error| rows(error.into()))?;
                draft.complete()
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
) -> Result<ArrowWriterOptions, ParquetError> {
    let file = metadata.file_metadata();
    let descriptor = file.schema_descr();
    let converted = ArrowSchemaConverter::new().convert(schema)?;
    let keeps_schema = has_levels_of(&converted, descriptor);
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
    Ok(match keeps_schema {
        true => options.with_parquet_schema(descriptor.clone()),
        false => options,
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
