//! Findings as a table: Parquet, or a file of Arrow IPC.

use std::error::Error;
use std::io::{self, BufWriter};
use std::mem;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Float64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use batch::DocumentId;
use batch::dedup::FindingKind;
use disk::OutputFile;
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::draft;
use crate::id_columns::{IdRanges, IdTypes, id_column};

/// Maximum number of rows in a batch.
const BATCH_ROWS: usize = 8192;

/// Bytes of names that end a batch early.
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

/// A table of findings in progress. The file gets its name when it is [finished](Self::finish);
/// otherwise, no partial file remains.
///
/// The columns are `document` and `duplicate_of`, or `a` and `b`, with `distance` (bits),
/// `resemblance` (0 to 1) and `measure`; for clusters `cluster` (a number from 0) and `document`.
/// All ids of the comparison fit in the type of their column, so the ranges must be complete before
/// the first finding is written.
///
/// ```
/// use batch::dedup::FindingKind;
/// use corpus::{IdRanges, ResultTable, TableFormat};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("found.parquet");
/// let (copy, original) = (9_i64.into(), 7_i64.into());
/// let ids = IdRanges::default();
/// ids.add(&original);
/// ids.add(&copy);
/// let mut table = ResultTable::create(&path, TableFormat::Parquet, FindingKind::Duplicates, ids)?;
/// table.write_pair(&copy, &original, 2, 0.93, "resemblance")?;
/// assert!(table.finish()? > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ResultTable {
    format: TableFormat,
    kind: FindingKind,
    ids: IdRanges,
    /// None once the first batch is written.
    draft: Option<OutputFile>,
    /// None until the first batch is written.
    begun: Option<Begun>,
    one: Vec<DocumentId>,
    two: Vec<DocumentId>,
    cluster: UInt64Builder,
    distance: UInt32Builder,
    resemblance: Float64Builder,
    measure: StringBuilder,
    bytes: usize,
}

/// A file with its schema.
struct Begun {
    writer: Writer,
    schema: SchemaRef,
    ids: IdTypes,
}

enum Writer {
    Parquet(Box<ArrowWriter<OutputFile>>),
    Arrow(Box<FileWriter<BufWriter<OutputFile>>>),
}

fn schema(kind: FindingKind, ids: &IdTypes) -> Schema {
    let id = |name, data_type: &DataType| Field::new(name, data_type.clone(), false);
    let degree = |one, two| {
        vec![
            id(one, &ids.one),
            id(two, &ids.two),
            Field::new("distance", DataType::UInt32, false),
            Field::new("resemblance", DataType::Float64, false),
            Field::new("measure", DataType::Utf8, false),
        ]
    };
    Schema::new(match kind {
        FindingKind::Duplicates => degree("document", "duplicate_of"),
        FindingKind::Pairs => degree("a", "b"),
        FindingKind::Clusters { .. } => vec![
            Field::new("cluster", DataType::UInt64, false),
            id("document", &ids.two),
        ],
    })
}

impl ResultTable {
    /// Begins a table that will be at `path`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(
        path: &Path,
        format: TableFormat,
        kind: FindingKind,
        ids: IdRanges,
    ) -> io::Result<Self> {
        Ok(Self {
            format,
            kind,
            ids,
            draft: Some(draft::begin(path).map_err(|error| error.source)?),
            begun: None,
            one: Vec::new(),
            two: Vec::new(),
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
        one: &DocumentId,
        two: &DocumentId,
        distance: u32,
        resemblance: f64,
        measure: &str,
    ) -> io::Result<()> {
        self.one.push(one.clone());
        self.two.push(two.clone());
        self.distance.append_value(distance);
        self.resemblance.append_value(resemblance);
        self.measure.append_value(measure);
        self.added(one.len() + two.len(), self.distance.len())
    }

    /// Writes a member of a cluster.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_member(&mut self, cluster: u64, document: &DocumentId) -> io::Result<()> {
        self.cluster.append_value(cluster);
        self.one.push(document.clone());
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
        self.bytes = 0;
        if let Some(draft) = self.draft.take() {
            let ids = self.ids.types(self.kind, None);
            self.begun = Some(Begun::with(draft, self.format, self.kind, ids)?);
        }
        let (one, two) = (mem::take(&mut self.one), mem::take(&mut self.two));
        let Some(begun) = self.begun.as_mut().filter(|_| !one.is_empty()) else {
            return Ok(());
        };
        let columns: Vec<ArrayRef> = match self.kind {
            FindingKind::Clusters { .. } => vec![
                Arc::new(self.cluster.finish()),
                id_column(one.iter(), &begun.ids.two),
            ],
            FindingKind::Duplicates | FindingKind::Pairs => vec![
                id_column(one.iter(), &begun.ids.one),
                id_column(two.iter(), &begun.ids.two),
                Arc::new(self.distance.finish()),
                Arc::new(self.resemblance.finish()),
                Arc::new(self.measure.finish()),
            ],
        };
        begun.write(columns)
    }

    /// Writes the rest and gives the file its name; returns its length in bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<u64> {
        self.end_batch()?;
        self.begun.map_or(Ok(0), |begun| begun.writer.finish())
    }
}

impl Begun {
    fn with(
        draft: OutputFile,
        format: TableFormat,
        kind: FindingKind,
        ids: IdTypes,
    ) -> io::Result<Self> {
        let schema = Arc::new(schema(kind, &ids));
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
            ids,
        })
    }

    fn write(&mut self, columns: Vec<ArrayRef>) -> io::Result<()> {
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
}

impl Writer {
    fn finish(self) -> io::Result<u64> {
        let length = match self {
            Self::Parquet(mut writer) => {
                let finished = writer.finish();
                finished.map_err(|error| failure(writer.inner(), error))?;
                // The writer cannot be taken apart once it is finished.
                draft::complete(writer.inner_mut())
            }
            Self::Arrow(mut writer) => {
                let finished = writer.finish();
                finished.map_err(|error| failure(writer.get_ref().get_ref(), error))?;
                let out = writer.into_inner().map_err(io::Error::other)?;
                let mut draft = out.into_inner().map_err(|error| error.into_error())?;
                draft::complete(&mut draft)
            }
        };
        length.map_err(|error| error.source)
    }
}

/// Returns the error of the system, if one made a write fail; otherwise the error of the library.
fn failure(draft: &OutputFile, error: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    draft.failure().unwrap_or_else(|| io::Error::other(error))
}
