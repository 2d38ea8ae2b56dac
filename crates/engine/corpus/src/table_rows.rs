//! Documents in tables, one per row.
//!
//! The text of a document is a column of strings, also of a dictionary, or of UTF-8 in binary; its
//! id is such a column, or a column of numbers or UUIDs. A column `id` of another type is ignored
//! unless it was requested. A row without a text, or with a text that is not UTF-8, is not a
//! document.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, RecordBatch, StringViewArray,
    StructArray,
};
use arrow_schema::{ArrowError, DataType};

use crate::document::{Content, Document};
use crate::fields::{Field, FieldNames};
use crate::table_column::{Column, Values};
use crate::tables::Table;

/// The documents of a table, one per row.
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
    /// It lacks a column with a text.
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
                    return Some(Err(format!("cannot be read after row {before}: {error}")));
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
    /// A column with a text or a requested id is missing, or has another type.
    pub(crate) fn of(table: &Table, name: &str, fields: &FieldNames) -> Result<Self, String> {
        let all = table.declared.fields();
        let names = || all.iter().map(|column| column.name().as_str());
        let find = |field: &Field| Column::find(table.schema.fields(), &field.name);
        let texts: Vec<Column> = fields.text.iter().filter_map(find).collect();
        if texts.is_empty() {
            return Err(fields.no_text(names()));
        }
        let id = find(&fields.id).filter(|id| fields.is_id_wanted || id.is_id());
        if id.is_none() && fields.is_id_wanted {
            return Err(fields.no_id(names()));
        }
        let is_text = Column::is_text;
        if let Some(other) = texts.iter().find(|column| !is_text(column)) {
            let (name, is) = (&other.name, &other.data_type);
            let wanted = "a string is required: choose another with --text-field";
            return Err(format!("has a column {name:?} of {is}, and {wanted}"));
        }
        if let Some(id) = id.as_ref().filter(|id| !id.is_id()) {
            let (name, is) = (&id.name, &id.data_type);
            let wanted = "a string or a number is required: choose another with --id-field";
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
        let rows: ArrayRef = Arc::new(StructArray::from(batch.clone()));
        let values = |column: &Option<Column>| column.as_ref().map(|column| column.values(&rows));
        BatchDocuments {
            table: self.table.clone(),
            fields: self.fields.clone(),
            texts: self
                .texts
                .iter()
                .map(|column| (column.values(&rows), column.name.clone()))
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

impl Columns {
    /// Returns a batch with other texts in the rows that have one in `texts`.
    ///
    /// # Errors
    /// The text is within a struct, or is not a plain string.
    pub(crate) fn with_texts(
        &self,
        batch: &RecordBatch,
        texts: &[Option<&str>],
    ) -> Result<RecordBatch, ArrowError> {
        let mut missing: Vec<Option<&str>> = texts.to_vec();
        let mut columns = batch.columns().to_vec();
        let rows: ArrayRef = Arc::new(StructArray::from(batch.clone()));
        // The first column that is not null has the text of a row.
        for column in &self.texts {
            if missing.iter().all(Option::is_none) {
                break;
            }
            let values = column.values(&rows);
            let mut cells = Vec::with_capacity(missing.len());
            for (row, text) in missing.iter_mut().enumerate() {
                let own = values
                    .bytes(row)
                    .map_err(|error| ArrowError::ParseError(error.to_string()))?;
                cells.push(own.map(|own| text.take().map_or(own, str::as_bytes)));
            }
            let &[number] = &column.way[..] else {
                return Err(not_replaced(&column.name, "is inside another column"));
            };
            let strings = || -> Result<Vec<Option<&str>>, ArrowError> {
                let strings = cells
                    .iter()
                    .map(|cell| cell.map(std::str::from_utf8).transpose());
                let strings = strings.collect::<Result<_, _>>();
                strings.map_err(|error| ArrowError::ParseError(error.to_string()))
            };
            columns[number] = match &column.data_type {
                DataType::Utf8View => Arc::new(StringViewArray::from(strings()?)),
                DataType::Binary => Arc::new(BinaryArray::from(cells)),
                DataType::LargeBinary => Arc::new(LargeBinaryArray::from(cells)),
                DataType::BinaryView => Arc::new(BinaryViewArray::from(cells)),
                other => return Err(not_replaced(&column.name, &format!("is {other}"))),
            };
        }
        RecordBatch::try_new(batch.schema(), columns)
    }
}

fn not_replaced(name: &str, reason: &str) -> ArrowError {
    ArrowError::NotYetImplemented(format!(
        "the texts of column {name:?} cannot be replaced: it {reason}, but a column of strings is \
         required"
    ))
}

/// The documents of one batch.
pub(crate) struct BatchDocuments {
    table: String,
    fields: FieldNames,
    /// The columns of texts, with their names.
    texts: Vec<(Values, String)>,
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
        let own_id = self.id.as_ref().and_then(|values| values.id(row));
        let id = match own_id {
            Some(id) => id,
            None if self.fields.is_id_wanted => {
                return Err(about(&format!("has no {:?}", self.fields.id.name)));
            }
            None => format!("{}:{number}", self.table).into(),
        };
        let mut text = Ok(None);
        for (values, field) in &self.texts {
            text = values
                .text(row)
                .map_err(|error| about(&format!("has a {field:?} that {error}")));
            if !matches!(text, Ok(None)) {
                break;
            }
        }
        let text = text?;
        let name = self.fields.text_name();
        let text = text.ok_or_else(|| about(&format!("has a {name:?} that is null")))?;
        let read = |values: &Option<Values>| {
            let text = values.as_ref().map(|values| values.text(row));
            text.and_then(Result::ok).flatten().map(str::to_owned)
        };
        Ok(Document {
            id,
            date: None,
            content: Content::Text {
                text: text.to_owned(),
                title: read(&self.title),
                heading: read(&self.heading),
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
