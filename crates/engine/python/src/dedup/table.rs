//! Findings as Arrow data.
//!
//! The columns are the fields of the named tuples. Ids have the type of the table that the
//! documents came from. Ids of objects and files are numbers of 64 bits if all ids are numbers, and
//! strings otherwise.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, ListArray, RecordBatch, RecordBatchReader, StringArray, UInt32Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use batch::dedup::FindingKind;
use batch::{BatchError, DocumentId};
use corpus::{IdTypes, id_column};

use super::run::{Found, Message, Running};
use crate::errors::with_causes;
use crate::results::Degree;

/// A reader of findings in batches. It waits for the comparison without the interpreter's lock.
pub(super) struct FindingBatches {
    schema: SchemaRef,
    ids: IdTypes,
    /// Findings that were received before.
    first: VecDeque<Found>,
    running: Option<Running>,
}

impl FindingBatches {
    pub(super) fn new(
        kind: FindingKind,
        first: VecDeque<Found>,
        running: Option<Running>,
        ids: IdTypes,
    ) -> Self {
        Self {
            schema: Arc::new(schema(kind, &ids)),
            ids,
            first,
            running,
        }
    }

    /// Returns the next findings; `None` at the end.
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
            Some(Found::Cluster(_)) => vec![self.lists(found)?],
            _ => self.columns_of_two(found),
        };
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }

    fn columns_of_two(&self, found: &[Found]) -> Vec<ArrayRef> {
        let rows: Vec<(&DocumentId, &DocumentId, Degree)> = found
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
            id_column(rows.iter().map(|(one, ..)| *one), &self.ids.one),
            id_column(rows.iter().map(|(_, two, _)| *two), &self.ids.two),
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

    fn lists(&self, found: &[Found]) -> Result<ArrayRef, ArrowError> {
        let lists = || {
            found.iter().filter_map(|found| match found {
                Found::Cluster(members) => Some(members.as_slice()),
                Found::Duplicate(..) | Found::Pair(..) => None,
            })
        };
        let item = Field::new("item", self.ids.two.clone(), false);
        let offsets = OffsetBuffer::from_lengths(lists().map(<[DocumentId]>::len));
        let members = id_column(lists().flatten(), &self.ids.two);
        let lists = ListArray::try_new(Arc::new(item), offsets, members, None)?;
        Ok(Arc::new(lists))
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

fn schema(kind: FindingKind, ids: &IdTypes) -> Schema {
    let (one, two) = match kind {
        FindingKind::Duplicates => ("id", "duplicate_of"),
        FindingKind::Pairs => ("a", "b"),
        FindingKind::Clusters { .. } => {
            let item = Field::new("item", ids.two.clone(), false);
            let members = DataType::List(Arc::new(item));
            return Schema::new(vec![Field::new("members", members, false)]);
        }
    };
    Schema::new(vec![
        Field::new(one, ids.one.clone(), false),
        Field::new(two, ids.two.clone(), false),
        Field::new("distance", DataType::UInt32, false),
        Field::new("resemblance", DataType::Float64, false),
        Field::new("measure", DataType::Utf8, false),
    ])
}
