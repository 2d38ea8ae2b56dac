//! Tables in files: Parquet, and Arrow IPC in the file format (Feather 2) and the streaming format.
//!
//! A reader of documents ([`table_rows`](crate::table_rows)) reads only their columns; a copy of
//! rows reads all columns. Strings are read as bytes ([`physical`],
//! [`arrow_messages`](crate::arrow_messages)): a cell that is not UTF-8 costs only its row.
//!
//! Invariant: a batch of a Parquet file has about [`BATCH_BYTES`] or one row, regardless of the
//! length of a row group. Record batches of Arrow are read whole, as they are written.
//!
//! Sources: <https://parquet.apache.org/docs/file-format/>,
//! <https://arrow.apache.org/docs/format/Columnar.html>.

use std::io::{BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;

use crate::arrow_messages::Batches;
use crate::physical;
use crate::positioned_file::PositionedFile;
use crate::projection::Projection;

/// Bytes of a batch of a Parquet file.
const BATCH_BYTES: i64 = 16 << 20;

/// Maximum number of rows in a batch of a Parquet file.
const BATCH_ROWS: i64 = 1024;

/// A table that is open for reading.
pub(crate) struct Table {
    /// The columns of the batches.
    pub(crate) schema: SchemaRef,
    /// All columns as the file declares them.
    pub(crate) declared: SchemaRef,
    /// The rows, in batches. An error is the last item.
    pub(crate) batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
}

impl Table {
    /// Opens a Parquet file. Its strings are bytes, unless they are wanted as it declares them.
    ///
    /// # Errors
    /// It is damaged, or has features that are not supported.
    pub(crate) fn parquet(
        file: PositionedFile,
        wanted: Projection<'_>,
        as_declared: bool,
    ) -> Result<Self, ArrowError> {
        guarded(move || {
            let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
            let declared = Arc::clone(metadata.schema());
            let metadata = match as_declared {
                true => metadata,
                false => {
                    let metadata = physical::without_meaning(metadata.metadata())?;
                    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
                    ArrowReaderMetadata::try_new(Arc::new(metadata), options)?
                }
            };
            let options = ArrowReaderOptions::new().with_schema(as_views(metadata.schema()));
            let metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?;
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            let groups = reader.metadata().row_groups();
            let mean = |group: &RowGroupMetaData| group.total_byte_size() / group.num_rows().max(1);
            let mean_row = groups.iter().map(mean).max().unwrap_or(0).max(1);
            let rows = (BATCH_BYTES / mean_row).clamp(1, BATCH_ROWS);
            let roots = wanted.columns(reader.schema().fields());
            let columns = ProjectionMask::roots(reader.parquet_schema(), roots);
            let rows = usize::try_from(rows).unwrap_or(1);
            let batches = reader
                .with_batch_size(rows)
                .with_projection(columns)
                .build()?;
            Ok(Self::of(declared, batches.schema(), batches))
        })
    }

    /// Opens a file in the file format of Arrow IPC. Its strings are bytes.
    ///
    /// # Errors
    /// It is damaged, or has features that are not supported.
    pub(crate) fn arrow_file(
        file: PositionedFile,
        wanted: Projection<'_>,
    ) -> Result<Self, ArrowError> {
        guarded(move || {
            let mut batches = Batches::of_file(BufReader::new(file), wanted)?;
            let (declared, schema) = (batches.declared.clone(), batches.schema.clone());
            let next = std::iter::from_fn(move || batches.next_of_file().transpose());
            Ok(Self::of(declared, schema, next))
        })
    }

    /// Opens a stream of Arrow IPC. Its strings are bytes.
    ///
    /// # Errors
    /// It is damaged, or has features that are not supported.
    pub(crate) fn arrow_stream(
        input: impl Read + Send + 'static,
        wanted: Projection<'_>,
    ) -> Result<Self, ArrowError> {
        guarded(move || {
            let mut batches = Batches::of_stream(input, wanted)?;
            let (declared, schema) = (batches.declared.clone(), batches.schema.clone());
            let next = std::iter::from_fn(move || batches.next_of_stream().transpose());
            Ok(Self::of(declared, schema, next))
        })
    }

    fn of(
        declared: SchemaRef,
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    ) -> Self {
        let mut batches = Some(batches);
        // A damaged table may make a library panic. Reading ends then.
        let batches = std::iter::from_fn(move || {
            let mut reading = batches.take()?;
            let next = guarded(|| Ok((reading.next().transpose()?, reading)));
            match next {
                Ok((Some(batch), reading)) => {
                    batches = Some(reading);
                    Some(Ok(batch))
                }
                Ok((None, _)) => None,
                Err(error) => Some(Err(error)),
            }
        });
        Self {
            schema,
            declared,
            batches: Box::new(batches),
        }
    }
}

/// Returns a schema with strings as views. A value of a dictionary that many rows share is in
/// memory once, and no batch is too long for the offsets of a string array.
fn as_views(schema: &Schema) -> SchemaRef {
    let as_view = |column: &FieldRef| match column.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => {
            Arc::new(column.as_ref().clone().with_data_type(DataType::Utf8View))
        }
        DataType::Binary | DataType::LargeBinary => {
            Arc::new(column.as_ref().clone().with_data_type(DataType::BinaryView))
        }
        _ => Arc::clone(column),
    };
    let columns: Fields = schema.fields().iter().map(as_view).collect();
    Arc::new(Schema::new_with_metadata(
        columns,
        schema.metadata().clone(),
    ))
}

fn guarded<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_panic| {
        let reason = "it is damaged, and reading it panicked";
        Err(ArrowError::ParseError(reason.to_owned()))
    })
}
