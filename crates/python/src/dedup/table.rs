//! Findings as Arrow data.
//!
//! The columns are the fields of the named tuples. Ids are of 64-bit numbers if all documents have
//! numbers as ids, and strings otherwise.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, RecordBatchReader, StringArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use batch::BatchError;
use batch::dedup::FindingKind;

use super::run::{Found, Message, Running};
use crate::errors::with_causes;
use crate::id::Id;
use crate::results::Degree;

/// A reader of findings in batches. It waits for the comparison without the interpreter's lock.
pub(super) struct FindingBatches {
    schema: SchemaRef,
    has_text_ids: bool,
    /// Findings that were received before.
    first: VecDeque<Found>,
    running: Option<Running>,
}

impl FindingBatches {
    pub(super) fn new(
        kind: FindingKind,
        first: VecDeque<Found>,
        running: Option<Running>,
        has_text_ids: bool,
    ) -> Self {
        Self {
            schema: Arc::new(schema(kind, has_text_ids)),
            has_text_ids,
            first,
            running,
        }
    }

    /// Returns the next findings; none at the end.
    fn next_findings(&mut self) -> Result<Option<Vec<Found>>, BatchError> {
        if !self.first.is_empty() {
            return Ok(Some(self.first.drain(..).collect()));
        }
        let Some(running) = &self.running else {
            return Ok(None);
        };
        match running.wait() {
            Some(Message::Found(found)) => Ok(Some(found)),
            Some(Message::Ended(Ok(_))) => {
                self.running = None;
                Ok(None)
            }
            Some(Message::Ended(Err(error))) => Err(error),
            None => Err(BatchError::Cancelled),
        }
    }

    fn batch(&self, found: &[Found]) -> Result<RecordBatch, ArrowError> {
        let columns = match found.first() {
            Some(Found::Cluster(_)) => {
                let members = found.iter().filter_map(|found| match found {
                    Found::Cluster(members) => Some(members.as_slice()),
                    Found::Duplicate(..) | Found::Pair(..) => None,
                });
                vec![self.lists(members)]
            }
            _ => self.columns_of_two(found),
        };
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }

    fn columns_of_two(&self, found: &[Found]) -> Vec<ArrayRef> {
        let rows: Vec<(&Id, &Id, Degree)> = found
            .iter()
            .filter_map(|found| match found {
                Found::Duplicate(one, two, degree) | Found::Pair(one, two, degree) => {
                    Some((one, two, *degree))
                }
                Found::Cluster(_) => None,
            })
            .collect();
        let degrees = || rows.iter().map(|(_, _, degree)| degree);
        vec![
            self.ids(rows.iter().map(|(one, ..)| *one)),
            self.ids(rows.iter().map(|(_, two, _)| *two)),
            Arc::new(UInt32Array::from_iter_values(
                degrees().map(|degree| degree.distance),
            )),
            Arc::new(Float64Array::from_iter_values(
                degrees().map(|degree| degree.resemblance),
            )),
            Arc::new(StringArray::from_iter_values(
                degrees().map(|degree| degree.measure),
            )),
        ]
    }

    fn ids<'a>(&self, ids: impl Iterator<Item = &'a Id>) -> ArrayRef {
        if self.has_text_ids {
            let mut column = StringBuilder::new();
            ids.for_each(|id| append_text(&mut column, id));
            return Arc::new(column.finish());
        }
        let mut column = Int64Builder::new();
        ids.for_each(|id| column.append_value(number(id)));
        Arc::new(column.finish())
    }

    fn lists<'a>(&self, lists: impl Iterator<Item = &'a [Id]>) -> ArrayRef {
        let item = Field::new("item", id_type(self.has_text_ids), false);
        if self.has_text_ids {
            let mut column = ListBuilder::new(StringBuilder::new()).with_field(item);
            for ids in lists {
                ids.iter().for_each(|id| append_text(column.values(), id));
                column.append(true);
            }
            return Arc::new(column.finish());
        }
        let mut column = ListBuilder::new(Int64Builder::new()).with_field(item);
        for ids in lists {
            ids.iter()
                .for_each(|id| column.values().append_value(number(id)));
            column.append(true);
        }
        Arc::new(column.finish())
    }
}

impl Iterator for FindingBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_findings() {
                Ok(None) => return None,
                // The last batch may be empty.
                Ok(Some(found)) if found.is_empty() => {}
                Ok(Some(found)) => return Some(self.batch(&found)),
                Err(error) => {
                    self.running = None;
                    return Some(Err(ArrowError::ComputeError(with_causes(&error))));
                }
            }
        }
    }
}

impl RecordBatchReader for FindingBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn schema(kind: FindingKind, has_text_ids: bool) -> Schema {
    let ids = id_type(has_text_ids);
    let (one, two) = match kind {
        FindingKind::Duplicates => ("id", "duplicate_of"),
        FindingKind::Pairs => ("a", "b"),
        FindingKind::Clusters { .. } => {
            let item = Field::new("item", ids, false);
            let members = DataType::List(Arc::new(item));
            return Schema::new(vec![Field::new("members", members, false)]);
        }
    };
    Schema::new(vec![
        Field::new(one, ids.clone(), false),
        Field::new(two, ids, false),
        Field::new("distance", DataType::UInt32, false),
        Field::new("resemblance", DataType::Float64, false),
        Field::new("measure", DataType::Utf8, false),
    ])
}

fn id_type(has_text_ids: bool) -> DataType {
    match has_text_ids {
        true => DataType::Utf8,
        false => DataType::Int64,
    }
}

fn append_text(column: &mut StringBuilder, id: &Id) {
    match id {
        Id::Text(text) => column.append_value(text),
        Id::Number(number) => column.append_value(number.to_string()),
    }
}

/// Returns the number of an id where all ids are numbers.
fn number(id: &Id) -> i64 {
    match id {
        Id::Number(number) => *number,
        Id::Text(_) => -1,
    }
}
