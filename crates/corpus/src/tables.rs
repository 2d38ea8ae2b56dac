//! Documents in tables: Parquet, and Arrow IPC in the file format (Feather 2) and the streaming
//! format.
//!
//! A row is a document. Its text is a column of strings, also of a dictionary, or of UTF-8 in
//! binary; its id is such a column or one of whole numbers. Only these columns are read.
//!
//! Invariant: a batch of a Parquet file has about [`BATCH_BYTES`] or one row, whatever the length of
//! a row group. Record batches of Arrow are read whole, as they are written.
//!
//! Sources: <https://parquet.apache.org/docs/file-format/>,
//! <https://arrow.apache.org/docs/format/Columnar.html>.

use std::borrow::Cow;
use std::io::{BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;

use crate::document::{Content, Document};
use crate::fields::{Field, FieldNames};
use crate::positioned_file::PositionedFile;

/// Bytes of a batch of a Parquet file.
const BATCH_BYTES: i64 = 16 << 20;

/// Rows of a batch of a Parquet file, at most.
const BATCH_ROWS: i64 = 1024;

/// A table that is open for reading.
pub(crate) struct Table {
    /// The names of all columns.
    names: Vec<String>,
    /// The columns of the batches.
    pub(crate) schema: SchemaRef,
    /// The rows, in batches. An error is the last item.
    pub(crate) batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
}

/// The columns that a reader of a table wants.
#[derive(Clone, Copy)]
pub(crate) enum Projection<'a> {
    /// All of them.
    All,
    /// Those with fields of documents.
    Documents(&'a FieldNames),
}

impl Projection<'_> {
    /// Returns the numbers of the wanted columns.
    fn columns(self, columns: &Fields) -> Vec<usize> {
        let is_wanted = |name: &str| match self {
            Self::All => true,
            Self::Documents(fields) => fields
                .all()
                .any(|field| field.name == name || field.parts[0] == name),
        };
        let mut numbers: Vec<usize> = (0..columns.len()).collect();
        numbers.retain(|number| is_wanted(columns[*number].name()));
        numbers
    }
}

impl Table {
    /// Opens a Parquet file.
    ///
    /// # Errors
    /// It is damaged, or has features that are not supported.
    pub(crate) fn parquet(
        file: PositionedFile,
        wanted: Projection<'_>,
    ) -> Result<Self, ArrowError> {
        guarded(move || {
            let options = ArrowReaderOptions::new();
            let metadata = ArrowReaderMetadata::load(&file, options)?;
            let options = ArrowReaderOptions::new().with_schema(as_views(metadata.schema()));
            let metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?;
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            let groups = reader.metadata().row_groups();
            let mean = |group: &RowGroupMetaData| group.total_byte_size() / group.num_rows().max(1);
            let mean_row = groups.iter().map(mean).max().unwrap_or(0).max(1);
            let rows = (BATCH_BYTES / mean_row).clamp(1, BATCH_ROWS);
            let names = names(reader.schema());
            let roots = wanted.columns(reader.schema().fields());
            let columns = ProjectionMask::roots(reader.parquet_schema(), roots);
            let rows = usize::try_from(rows).unwrap_or(1);
            let batches = reader
                .with_batch_size(rows)
                .with_projection(columns)
                .build()?;
            Ok(Self::of(names, batches.schema(), batches))
        })
    }

    /// Opens a file in the file format of Arrow IPC.
    ///
    /// # Errors
    /// It is damaged, or has features that are not supported.
    pub(crate) fn arrow_file(
        file: PositionedFile,
        wanted: Projection<'_>,
    ) -> Result<Self, ArrowError> {
        guarded(move || {
            let open = |file, columns| FileReader::try_new(BufReader::new(file), columns);
            let all = open(file.clone(), None)?;
            let columns = wanted.columns(all.schema().fields());
            let batches = open(file, Some(columns))?;
            let schema = RecordBatchReader::schema(&batches);
            Ok(Self::of(names(&all.schema()), schema, batches))
        })
    }

    /// Opens a stream of Arrow IPC.
    ///
    /// # Errors
    /// It is damaged, or has features that are not supported.
    pub(crate) fn arrow_stream(
        input: impl Read + Send + 'static,
        wanted: Projection<'_>,
    ) -> Result<Self, ArrowError> {
        guarded(move || {
            let batches = StreamReader::try_new(input, None)?;
            let names = names(&batches.schema());
            let columns = wanted.columns(batches.schema().fields());
            let schema = Arc::new(batches.schema().project(&columns)?);
            let batches = batches.map(move |batch| batch?.project(&columns));
            Ok(Self::of(names, schema, batches))
        })
    }

    fn of(
        names: Vec<String>,
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    ) -> Self {
        let mut batches = Some(batches);
        // A damaged table may make a library panic. Nothing more is read of it then.
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
            names,
            schema,
            batches: Box::new(batches),
        }
    }
}

fn names(schema: &Schema) -> Vec<String> {
    let columns = schema.fields().iter();
    columns.map(|column| column.name().clone()).collect()
}

/// Returns a schema in which strings are views. A value of a dictionary that many rows share is in
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

/// The documents of a table, a row each.
pub(crate) struct TableDocuments {
    columns: Columns,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    batch: Option<BatchDocuments>,
    /// The number of rows in earlier batches.
    before: u64,
}

impl TableDocuments {
    /// Returns the documents in `table`, which is called `name`.
    ///
    /// # Errors
    /// It has no column with a text.
    pub(crate) fn of(table: Table, name: &str, fields: &FieldNames) -> Result<Self, String> {
        Ok(Self {
            columns: Columns::of(&table, name, fields)?,
            batches: table.batches,
            batch: None,
            before: 0,
        })
    }
}

impl Iterator for TableDocuments {
    type Item = Result<Document, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = &mut self.batch {
                if let Some(document) = batch.next() {
                    return Some(document);
                }
                self.before += batch.rows() as u64;
                self.batch = None;
            }
            match self.batches.next()? {
                Ok(batch) => self.batch = Some(self.columns.documents(&batch, self.before)),
                Err(error) => {
                    let before = self.before;
                    return Some(Err(format!("cannot be read behind row {before}: {error}")));
                }
            }
        }
    }
}

/// The columns of a table that make documents.
#[derive(Clone)]
pub(crate) struct Columns {
    /// The name of the table, for rows without an id.
    table: String,
    fields: FieldNames,
    /// The columns with the text, the first that is not null precedes.
    texts: Vec<Column>,
    id: Option<Column>,
    title: Option<Column>,
    heading: Option<Column>,
}

impl Columns {
    /// Finds the columns of documents.
    ///
    /// # Errors
    /// There is no column with a text, or one of another type.
    pub(crate) fn of(table: &Table, name: &str, fields: &FieldNames) -> Result<Self, String> {
        let names = || table.names.iter().map(String::as_str);
        let find = |field: &Field| Column::find(table.schema.fields(), field);
        let texts: Vec<Column> = fields.text.iter().filter_map(find).collect();
        if texts.is_empty() {
            return Err(fields.no_text(names()));
        }
        let id = find(&fields.id);
        if id.is_none() && fields.is_id_wanted {
            return Err(fields.no_id(names()));
        }
        let is_text = |column: &Column| is_text(&column.data_type);
        if let Some(other) = texts.iter().find(|column| !is_text(column)) {
            let (name, is) = (&other.name, &other.data_type);
            let wanted = "a string is wanted: --text-field names another";
            return Err(format!("has a column {name:?} of {is}, and {wanted}"));
        }
        if let Some(id) = id
            .as_ref()
            .filter(|id| !is_text(id) && !id.data_type.is_integer())
        {
            let (name, is) = (&id.name, &id.data_type);
            let wanted = "a string or a whole number is wanted: --id-field names another";
            return Err(format!("has a column {name:?} of {is}, and {wanted}"));
        }
        Ok(Self {
            table: name.to_owned(),
            fields: fields.clone(),
            texts,
            id,
            title: find(&fields.title).filter(is_text),
            heading: find(&fields.heading).filter(is_text),
        })
    }

    /// Returns the documents of a batch with `before` rows before it.
    pub(crate) fn documents(&self, batch: &RecordBatch, before: u64) -> BatchDocuments {
        let values = |column: &Option<Column>| column.as_ref().map(|column| column.values(batch));
        BatchDocuments {
            table: self.table.clone(),
            fields: self.fields.clone(),
            texts: self
                .texts
                .iter()
                .map(|column| column.values(batch))
                .collect(),
            id: values(&self.id),
            title: values(&self.title),
            heading: values(&self.heading),
            before,
            row: 0,
            rows: batch.num_rows(),
        }
    }
}

/// The documents of one batch.
pub(crate) struct BatchDocuments {
    table: String,
    fields: FieldNames,
    texts: Vec<Values>,
    id: Option<Values>,
    title: Option<Values>,
    heading: Option<Values>,
    before: u64,
    row: usize,
    rows: usize,
}

impl BatchDocuments {
    fn rows(&self) -> usize {
        self.rows
    }

    fn read(&self, row: usize) -> Result<Document, String> {
        let number = self.before + row as u64 + 1;
        let about = |reason: &str| format!("row {number} {reason}");
        let read = |values: &Option<Values>| {
            let text = values.as_ref().map(|values| values.text(row));
            let text = text.transpose().map_err(|reason| about(&reason))?;
            Ok::<_, String>(text.flatten().map(Cow::into_owned))
        };
        let id = match read(&self.id)? {
            Some(id) => id,
            None if self.fields.is_id_wanted => {
                return Err(about(&format!("has no {:?}", self.fields.id.name)));
            }
            None => format!("{}:{number}", self.table),
        };
        let texts = self.texts.iter().map(|values| values.text(row));
        let text = texts.filter_map(Result::transpose).next().transpose();
        let text = text.map_err(|reason| about(&reason))?;
        let name = self.fields.text_name();
        let text = text.ok_or_else(|| about(&format!("has no {name:?}")))?;
        Ok(Document {
            id,
            date: None,
            content: Content::Text {
                text: text.into_owned(),
                title: read(&self.title)?,
                heading: read(&self.heading)?,
            },
        })
    }
}

impl Iterator for BatchDocuments {
    type Item = Result<Document, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.row;
        (row < self.rows).then(|| {
            self.row += 1;
            self.read(row)
        })
    }
}

/// A column, maybe within structs.
#[derive(Clone)]
struct Column {
    name: String,
    /// The number of a column, and the numbers of fields within it.
    way: Vec<usize>,
    data_type: DataType,
}

impl Column {
    fn find(columns: &Fields, field: &Field) -> Option<Self> {
        let exact = columns.find(&field.name);
        let (way, data_type) = match exact {
            Some((number, column)) => (vec![number], column.data_type()),
            None => {
                let (first, column) = columns.find(&field.parts[0])?;
                let (mut way, mut data_type) = (vec![first], column.data_type());
                for part in &field.parts[1..] {
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
            name: field.name.clone(),
            way,
            data_type: data_type.clone(),
        })
    }

    /// Returns its values in a batch.
    fn values(&self, batch: &RecordBatch) -> Values {
        let mut nullable = vec![Arc::clone(batch.column(self.way[0]))];
        for number in &self.way[1..] {
            let parent = &nullable[nullable.len() - 1];
            let inner = Arc::clone(parent.as_struct().column(*number));
            nullable.push(inner);
        }
        let array = nullable.pop().expect("a way has a column");
        let (array, keys) = match array.as_any_dictionary_opt() {
            Some(dictionary) if !dictionary.values().is_empty() => {
                let keys = dictionary.normalized_keys();
                (Arc::clone(dictionary.values()), Some((array, keys)))
            }
            _ => (array, None),
        };
        Values {
            name: self.name.clone(),
            nullable,
            array,
            keys,
        }
    }
}

/// The values of a column in a batch.
struct Values {
    name: String,
    /// The structs around the column: its value is null where one of them is.
    nullable: Vec<Arc<dyn Array>>,
    /// The values, or those of its dictionary.
    array: Arc<dyn Array>,
    /// The dictionary array, and the number of each row's value.
    keys: Option<(Arc<dyn Array>, Vec<usize>)>,
}

impl Values {
    /// Returns the value of a row as a text; none if it is null.
    fn text(&self, row: usize) -> Result<Option<Cow<'_, str>>, String> {
        if self.nullable.iter().any(|around| around.is_null(row)) {
            return Ok(None);
        }
        let row = match &self.keys {
            Some((dictionary, _)) if dictionary.is_null(row) => return Ok(None),
            Some((_, keys)) => keys[row],
            None => row,
        };
        let array = &*self.array;
        if array.is_null(row) {
            return Ok(None);
        }
        let binary = |bytes| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => Err(format!("has a {:?} that is not UTF-8: {error}", self.name)),
        };
        let text = match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(row).into(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
            DataType::Utf8View => array.as_string_view().value(row).into(),
            DataType::Binary => binary(array.as_binary::<i32>().value(row))?,
            DataType::LargeBinary => binary(array.as_binary::<i64>().value(row))?,
            DataType::BinaryView => binary(array.as_binary_view().value(row))?,
            DataType::Int8 => integer::<Int8Type>(array, row),
            DataType::Int16 => integer::<Int16Type>(array, row),
            DataType::Int32 => integer::<Int32Type>(array, row),
            DataType::Int64 => integer::<Int64Type>(array, row),
            DataType::UInt8 => integer::<UInt8Type>(array, row),
            DataType::UInt16 => integer::<UInt16Type>(array, row),
            DataType::UInt32 => integer::<UInt32Type>(array, row),
            DataType::UInt64 => integer::<UInt64Type>(array, row),
            // A dictionary without values has only nulls.
            _ => return Ok(None),
        };
        Ok(Some(text))
    }
}

fn integer<T: ArrowPrimitiveType<Native: ToString>>(array: &dyn Array, row: usize) -> Cow<'_, str> {
    array.as_primitive::<T>().value(row).to_string().into()
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}
