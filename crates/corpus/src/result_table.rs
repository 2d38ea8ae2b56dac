//! Findings as a table: Parquet, or a file of Arrow IPC.

use std::error::Error;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Float64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::draft::Draft;

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// Bytes of names that end a batch before.
const BATCH_BYTES: usize = 8 << 20;

/// Encoded bytes that end a row group of Parquet.
const ROW_GROUP_BYTES: usize = 128 << 20;

/// The format of a table of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Parquet, compressed with Zstandard.
    Parquet,
    /// The file format of Arrow IPC, which is Feather 2, without compression.
    Arrow,
}

/// The columns of a table of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultColumns {
    /// `document`, `duplicate_of`, `distance` (bits), `resemblance` (0 to 1), `measure`.
    Duplicates,
    /// `a`, `b`, `distance` (bits), `resemblance` (0 to 1), `measure`.
    Pairs,
    /// `cluster` (a number from 0), `document`.
    Clusters,
}

/// A table of findings in progress. The file gets its name when it is [finished](Self::finish);
/// without that, nothing is left of it.
///
/// ```
/// use corpus::{ResultColumns, ResultTable, TableFormat};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("found.parquet");
/// let mut table = ResultTable::create(&path, TableFormat::Parquet, ResultColumns::Duplicates)?;
/// table.write_pair("copy", "original", 2, 0.93, "resemblance")?;
/// assert!(table.finish()? > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ResultTable {
    writer: Writer,
    schema: SchemaRef,
    columns: ResultColumns,
    one: StringBuilder,
    two: StringBuilder,
    cluster: UInt64Builder,
    distance: UInt32Builder,
    resemblance: Float64Builder,
    measure: StringBuilder,
    bytes: usize,
}

enum Writer {
    Parquet(Box<ArrowWriter<Draft>>),
    Arrow(Box<FileWriter<BufWriter<Draft>>>),
}

impl ResultColumns {
    fn schema(self) -> Schema {
        let text = |name| Field::new(name, DataType::Utf8, false);
        let degree = |one, two| {
            vec![
                text(one),
                text(two),
                Field::new("distance", DataType::UInt32, false),
                Field::new("resemblance", DataType::Float64, false),
                text("measure"),
            ]
        };
        Schema::new(match self {
            Self::Duplicates => degree("document", "duplicate_of"),
            Self::Pairs => degree("a", "b"),
            Self::Clusters => vec![
                Field::new("cluster", DataType::UInt64, false),
                text("document"),
            ],
        })
    }
}

impl ResultTable {
    /// Begins a table that will be at `path`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path, format: TableFormat, columns: ResultColumns) -> io::Result<Self> {
        let draft = Draft::begin(path).map_err(|error| error.source)?;
        let schema = Arc::new(columns.schema());
        let writer = match format {
            TableFormat::Parquet => {
                let level = ZstdLevel::default();
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(level))
                    .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
                    .build();
                let writer = ArrowWriter::try_new(draft, Arc::clone(&schema), Some(properties));
                Writer::Parquet(Box::new(writer.map_err(io::Error::other)?))
            }
            TableFormat::Arrow => {
                let writer = FileWriter::try_new(BufWriter::new(draft), &schema);
                Writer::Arrow(Box::new(writer.map_err(io::Error::other)?))
            }
        };
        Ok(Self {
            writer,
            schema,
            columns,
            one: StringBuilder::new(),
            two: StringBuilder::new(),
            cluster: UInt64Builder::new(),
            distance: UInt32Builder::new(),
            resemblance: Float64Builder::new(),
            measure: StringBuilder::new(),
            bytes: 0,
        })
    }

    /// Writes a duplicate with its original, or a pair, with its distance in bits, its resemblance
    /// and the measure that decided.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_pair(
        &mut self,
        one: &str,
        two: &str,
        distance: u32,
        resemblance: f64,
        measure: &str,
    ) -> io::Result<()> {
        self.one.append_value(one);
        self.two.append_value(two);
        self.distance.append_value(distance);
        self.resemblance.append_value(resemblance);
        self.measure.append_value(measure);
        self.added(one.len() + two.len(), self.distance.len())
    }

    /// Writes a member of a cluster.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_member(&mut self, cluster: u64, document: &str) -> io::Result<()> {
        self.cluster.append_value(cluster);
        self.one.append_value(document);
        self.added(document.len(), self.cluster.len())
    }

    fn added(&mut self, bytes: usize, rows: usize) -> io::Result<()> {
        self.bytes += bytes;
        match rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            true => self.end_batch(),
            false => Ok(()),
        }
    }

    fn end_batch(&mut self) -> io::Result<()> {
        if self.one.is_empty() {
            return Ok(());
        }
        self.bytes = 0;
        let columns: Vec<ArrayRef> = match self.columns {
            ResultColumns::Clusters => {
                vec![Arc::new(self.cluster.finish()), Arc::new(self.one.finish())]
            }
            ResultColumns::Duplicates | ResultColumns::Pairs => vec![
                Arc::new(self.one.finish()),
                Arc::new(self.two.finish()),
                Arc::new(self.distance.finish()),
                Arc::new(self.resemblance.finish()),
                Arc::new(self.measure.finish()),
            ],
        };
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(io::Error::other)?;
        match &mut self.writer {
            Writer::Parquet(writer) => {
                let written = writer.write(&batch);
                written.map_err(|error| failure(writer.inner(), error))
            }
            Writer::Arrow(writer) => {
                let written = writer.write(&batch);
                written.map_err(|error| failure(writer.get_ref().get_ref(), error))
            }
        }
    }

    /// Writes the rest and gives the file its name; returns its length in bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<u64> {
        self.end_batch()?;
        let length = match self.writer {
            Writer::Parquet(mut writer) => {
                let finished = writer.finish();
                finished.map_err(|error| failure(writer.inner(), error))?;
                // It cannot be taken apart once it is finished.
                writer.inner_mut().complete()
            }
            Writer::Arrow(mut writer) => {
                let finished = writer.finish();
                finished.map_err(|error| failure(writer.get_ref().get_ref(), error))?;
                let out = writer.into_inner().map_err(io::Error::other)?;
                let mut draft = out.into_inner().map_err(|error| error.into_error())?;
                draft.complete()
            }
        };
        length.map_err(|error| error.source)
    }
}

/// Returns the error of the system, if one made a write fail; otherwise that of the library.
fn failure(draft: &Draft, error: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    let failure = draft.failure().map(|failure| failure.source);
    failure.unwrap_or_else(|| io::Error::other(error))
}
