//! A crawl's pages as Arrow data: a row for each visited URL, with the columns of
//! `crawler export --format parquet` (`docs/formats/export.md`).

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, FixedSizeBinaryBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMillisecondBuilder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use export::{Column, Kind, SKETCHES, Value, Visits};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use store::embedded::EmbeddedStore;

use crate::arrow_stream;
use crate::errors::{system, with_causes};

/// The rows in a batch.
const BATCH: usize = 4_096;

/// A directory that `crawler` made.
///
/// Arguments:
///     directory: The directory of the crawl (``crawler --out``).
///
/// Raises FileNotFoundError if there is no crawl.
#[pyclass(frozen, module = "neardup")]
pub(crate) struct Crawl {
    directory: PathBuf,
    state: PathBuf,
}

#[pymethods]
impl Crawl {
    #[new]
    fn new(directory: PathBuf) -> PyResult<Self> {
        let state = directory.join("state");
        if !EmbeddedStore::exists(&state) {
            return Err(PyFileNotFoundError::new_err(format!(
                "there is no crawl in {}: name the directory that crawler --out names",
                directory.display()
            )));
        }
        Ok(Self { directory, state })
    }

    /// Returns the visited URLs as a stream of Arrow data: a row each, in the order in which the
    /// visits ended, with the columns of ``crawler export --format parquet``. A running crawl may
    /// be read; its later visits are not among the rows.
    ///
    /// Raises OSError if the journal cannot be opened.
    fn pages(&self) -> PyResult<PageTable> {
        Visits::open(&self.state, true).map_err(|error| system(&error))?;
        Ok(PageTable {
            state: self.state.clone(),
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (PathBuf,)) {
        (py.get_type::<Self>(), (self.directory.clone(),))
    }

    fn __repr__(&self) -> String {
        format!("Crawl({:?})", self.directory.display().to_string())
    }
}

/// The pages of a crawl, as a stream of Arrow data that can be read many times:
/// `pyarrow.table(pages)`, `polars.DataFrame(pages)`, `pandas.DataFrame.from_arrow(pages)`.
#[pyclass(frozen, module = "neardup", name = "Pages")]
pub(crate) struct PageTable {
    state: PathBuf,
}

#[pymethods]
impl PageTable {
    /// Returns the pages as a `pyarrow.Table`.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arrow_stream::to_arrow(slf.as_any())
    }

    /// Returns the pages as a `pandas.DataFrame`.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arrow_stream::to_pandas(slf.as_any())
    }

    /// Returns the pages as a `polars.DataFrame`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arrow_stream::to_polars(slf.as_any())
    }

    /// Returns the pages as a stream of Arrow data.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let visits = Visits::open(&self.state, true).map_err(|error| system(&error))?;
        let batches = PageBatches {
            visits,
            schema: Arc::new(Schema::new(
                SKETCHES.columns.iter().map(field).collect::<Vec<_>>(),
            )),
        };
        arrow_stream::capsule(py, Box::new(batches), requested_schema)
    }
}

/// A reader of visits in batches.
struct PageBatches {
    visits: Visits,
    schema: SchemaRef,
}

impl Iterator for PageBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut columns: Vec<Values> = SKETCHES.columns.iter().map(Values::of).collect();
        let mut rows = 0;
        for visit in self.visits.by_ref().take(BATCH) {
            let visit = match visit {
                Ok(visit) => visit,
                Err(fault) => {
                    return Some(Err(ArrowError::ComputeError(with_causes(&fault))));
                }
            };
            for (column, value) in columns.iter_mut().zip(visit.fields()) {
                if let Err(error) = column.append(value) {
                    return Some(Err(error));
                }
            }
            rows += 1;
        }
        if rows == 0 {
            return None;
        }
        let columns = columns.iter_mut().map(Values::finish).collect();
        Some(RecordBatch::try_new(Arc::clone(&self.schema), columns))
    }
}

impl RecordBatchReader for PageBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn field(column: &Column) -> Field {
    let data_type = match column.kind {
        Kind::Text => DataType::Utf8,
        Kind::U16 => DataType::UInt16,
        Kind::U32 => DataType::UInt32,
        Kind::U64 | Kind::Fingerprint => DataType::UInt64,
        Kind::Real => DataType::Float64,
        Kind::Time => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        Kind::Bytes(length) => DataType::FixedSizeBinary(length.into()),
        Kind::Integers => DataType::new_list(DataType::Int64, true),
    };
    Field::new(column.name, data_type, column.nullable)
}

/// The values of a column.
enum Values {
    Text(StringBuilder),
    U16(UInt16Builder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    Real(Float64Builder),
    Time(TimestampMillisecondBuilder),
    Bytes(FixedSizeBinaryBuilder),
    Integers(ListBuilder<Int64Builder>),
}

impl Values {
    fn of(column: &Column) -> Self {
        match column.kind {
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::U16 => Self::U16(UInt16Builder::new()),
            Kind::U32 => Self::U32(UInt32Builder::new()),
            Kind::U64 | Kind::Fingerprint => Self::U64(UInt64Builder::new()),
            Kind::Real => Self::Real(Float64Builder::new()),
            Kind::Time => Self::Time(TimestampMillisecondBuilder::new().with_timezone("UTC")),
            Kind::Bytes(length) => Self::Bytes(FixedSizeBinaryBuilder::new(length.into())),
            Kind::Integers => Self::Integers(ListBuilder::new(Int64Builder::new())),
        }
    }

    /// Appends a value; one of another kind than the column's becomes null.
    fn append(&mut self, value: Option<Value<'_>>) -> Result<(), ArrowError> {
        match self {
            Self::Text(column) => column.append_option(match value {
                Some(Value::Text(text)) => Some(text),
                _ => None,
            }),
            Self::U16(column) => {
                column.append_option(number(value).and_then(|number| number.try_into().ok()));
            }
            Self::U32(column) => {
                column.append_option(number(value).and_then(|number| number.try_into().ok()));
            }
            Self::U64(column) => column.append_option(number(value)),
            Self::Real(column) => column.append_option(match value {
                Some(Value::Real(share)) => Some(share),
                _ => None,
            }),
            Self::Time(column) => column.append_option(match value {
                Some(Value::Time(at)) => i64::try_from(at.as_millis()).ok(),
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

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => ArrayBuilder::finish(column),
            Self::U16(column) => ArrayBuilder::finish(column),
            Self::U32(column) => ArrayBuilder::finish(column),
            Self::U64(column) => ArrayBuilder::finish(column),
            Self::Real(column) => ArrayBuilder::finish(column),
            Self::Time(column) => ArrayBuilder::finish(column),
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
