//! Documents in their order, each computed on one of all cores.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use crate::document::{Content, Document, Skipped};

/// Bytes in a batch; the last document may exceed them.
const BATCH_BYTES: usize = 16 << 20;

/// Documents in a batch, at most.
const BATCH_DOCUMENTS: usize = 512;

/// Returns what `compute` makes of each document, in order. What was skipped before stays in its
/// place.
///
/// One batch is read while the one before it is computed, so at most two are in memory; `len`
/// measures a document in bytes.
pub(crate) fn in_batches<D: Send, T: Send>(
    documents: impl Iterator<Item = Result<D, Skipped>>,
    len: impl Fn(&D) -> usize,
    compute: impl Fn(D) -> Result<T, Skipped> + Sync,
) -> impl Iterator<Item = Result<T, Skipped>> {
    let mut documents = documents.fuse();
    let mut ahead = None;
    let mut computed = VecDeque::new();
    std::iter::from_fn(move || {
        if computed.is_empty() {
            let batch = ahead.take().unwrap_or_else(|| read(&mut documents, &len));
            let mut results = Vec::new();
            // Reading stays on this thread, because the reader of an archive cannot change its own.
            ahead = rayon::in_place_scope(|scope| {
                scope.spawn(|_scope| {
                    let documents = batch.into_par_iter();
                    results = documents.map(|document| compute(document?)).collect();
                });
                Some(read(&mut documents, &len))
            });
            computed = results.into();
        }
        computed.pop_front()
    })
}

/// Reads the next batch. It is empty after the last document.
fn read<D>(
    documents: &mut impl Iterator<Item = Result<D, Skipped>>,
    len: impl Fn(&D) -> usize,
) -> Vec<Result<D, Skipped>> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while bytes < BATCH_BYTES
        && batch.len() < BATCH_DOCUMENTS
        && let Some(document) = documents.next()
    {
        bytes += document.as_ref().map_or(0, &len);
        batch.push(document);
    }
    batch
}

/// Returns what `compute` makes of the content of each document, with its id, in order. A document
/// that makes a library panic is skipped with the reason.
pub fn computed<T: Send>(
    documents: impl Iterator<Item = Result<Document, Skipped>>,
    compute: impl Fn(&Content) -> T + Sync,
) -> impl Iterator<Item = Result<(String, T), Skipped>> {
    let len = |document: &Document| document.content.len();
    in_batches(documents, len, move |document| {
        match catch_unwind(AssertUnwindSafe(|| compute(&document.content))) {
            Ok(computed) => Ok((document.id, computed)),
            Err(_panic) => Err(Skipped {
                culprit: document.id,
                reason: "reading it panicked, which is a fault of ours: please report it"
                    .to_owned(),
            }),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_documents_over_many_batches() {
        let skipped = |number: usize| Skipped {
            culprit: number.to_string(),
            reason: "every tenth".to_owned(),
        };
        let documents = (0..3_000).map(|number| match number % 10 {
            0 => Err(skipped(number)),
            _ => Ok(number),
        });
        let doubled = in_batches(documents, |_| 100_000, |number| Ok(2 * number));
        let expected = (0..3_000).map(|number| match number % 10 {
            0 => Err(skipped(number)),
            _ => Ok(2 * number),
        });
        assert!(doubled.eq(expected));
    }
}
