//! Portraits of documents in their order, drawn on all cores.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use neardup::{Painter, Portrait};
use rayon::prelude::*;

use super::{Document, Documents, Reader, Skipped};

/// A batch ends with the document that fills it, in bytes.
const BATCH_BYTES: usize = 16 << 20;

/// Documents in a batch, at most.
const BATCH_DOCUMENTS: usize = 512;

/// Reads documents in batches and draws them on all cores; hands them out in their order.
pub(crate) struct Portraits<'a> {
    documents: Documents,
    reader: &'a Reader,
    painter: &'a Painter,
    drawn: VecDeque<Result<(String, Portrait), Skipped>>,
}

impl<'a> Portraits<'a> {
    /// The portraits of these documents.
    pub(crate) fn of(documents: Documents, reader: &'a Reader, painter: &'a Painter) -> Self {
        Self {
            documents,
            reader,
            painter,
            drawn: VecDeque::new(),
        }
    }

    fn next_batch(&mut self) -> Vec<Result<Document, Skipped>> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_DOCUMENTS {
            let Some(document) = self.documents.next() else {
                break;
            };
            bytes += document.as_ref().map_or(0, |document| document.content.len());
            batch.push(document);
        }
        batch
    }
}

impl Iterator for Portraits<'_> {
    type Item = Result<(String, Portrait), Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.drawn.is_empty() {
            let (reader, painter) = (self.reader, self.painter);
            let batch = self.next_batch().into_par_iter();
            let drawn: Vec<_> = batch.map(|document| draw(reader, painter, document?)).collect();
            self.drawn = drawn.into();
        }
        self.drawn.pop_front()
    }
}

fn draw(reader: &Reader, painter: &Painter, document: Document) -> Result<(String, Portrait), Skipped> {
    // A document can be so hostile to a library that it panics: that is the document's trouble, not the corpus's.
    let portrait = catch_unwind(AssertUnwindSafe(|| reader.portrait(painter, &document.content)));
    match portrait {
        Ok(portrait) => Ok((document.id, portrait)),
        Err(_panic) => Err(Skipped {
            culprit: document.id,
            reason: "reading it panicked, which is a fault of ours: please report it".to_owned(),
        }),
    }
}
