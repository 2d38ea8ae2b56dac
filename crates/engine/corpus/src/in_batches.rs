//! Documents in their order, each computed on one of all cores.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use batch::DocumentId;
use rayon::prelude::*;

use crate::document::{Document, Skipped};

/// Bytes in a batch; the last document may exceed them.
const BATCH_BYTES: usize = 16 << 20;

/// Maximum number of documents in a batch.
const BATCH_DOCUMENTS: usize = 512;

/// Returns the results of `compute` in the order of the documents. Documents that were skipped
/// before stay in their place.
///
/// A batch is computed while the caller takes the results of the previous batch and the next batch
/// is read, so at most three are in memory; `len` measures a document in bytes. If the iterator is
/// dropped, the batch in progress is still computed to its end.
pub(crate) fn in_batches<D: Send + 'static, T: Send + 'static>(
    documents: impl Iterator<Item = Result<D, Skipped>>,
    len: impl Fn(&D) -> usize,
    compute: impl Fn(D) -> Result<T, Skipped> + Send + Sync + 'static,
) -> impl Iterator<Item = Result<T, Skipped>> {
    let compute = Arc::new(compute);
    let mut documents = documents.fuse();
    let mut in_flight = None;
    let mut computed = VecDeque::new();
    std::iter::from_fn(move || {
        if computed.is_empty() {
            let batch = match in_flight.take() {
                Some(batch) => batch,
                None => BatchInFlight::begin(read(&mut documents, &len), &compute),
            };
            // Reading stays on this thread, because the reader of an archive cannot change its own.
            let next = read(&mut documents, &len);
            computed = batch.finish();
            in_flight = Some(BatchInFlight::begin(next, &compute));
        }
        computed.pop_front()
    })
}

/// A batch that other threads compute.
struct BatchInFlight<T>(Receiver<thread::Result<VecDeque<Result<T, Skipped>>>>);

impl<T: Send + 'static> BatchInFlight<T> {
    fn begin<D: Send + 'static>(
        batch: Vec<Result<D, Skipped>>,
        compute: &Arc<impl Fn(D) -> Result<T, Skipped> + Send + Sync + 'static>,
    ) -> Self {
        let (sender, receiver) = sync_channel(1);
        let compute = Arc::clone(compute);
        rayon::spawn(move || {
            let documents = batch.into_par_iter();
            let compute_all = || {
                documents
                    .map(|document| compute(document?))
                    .collect::<Vec<_>>()
            };
            let computed = catch_unwind(AssertUnwindSafe(compute_all));
            // Without a receiver nobody wants the results.
            drop(sender.send(computed.map(VecDeque::from)));
        });
        Self(receiver)
    }

    /// Waits for the results. A panic of `compute` is resumed in the caller.
    fn finish(self) -> VecDeque<Result<T, Skipped>> {
        let computed = self.0.recv().expect("the results are always sent");
        computed.unwrap_or_else(|panic| resume_unwind(panic))
    }
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

/// Returns the result of `compute` for each document, with its id, in the order of the documents. A
/// document that makes a library panic is skipped with the reason.
pub fn computed<T: Send + 'static>(
    documents: impl Iterator<Item = Result<Document, Skipped>>,
    compute: impl Fn(&Document) -> T + Send + Sync + 'static,
) -> impl Iterator<Item = Result<(DocumentId, T), Skipped>> {
    let len = |document: &Document| document.content.len();
    in_batches(documents, len, move |document| {
        match catch_unwind(AssertUnwindSafe(|| compute(&document))) {
            Ok(computed) => Ok((document.id, computed)),
            Err(_panic) => Err(Skipped::loss(
                document.id,
                "reading it panicked, which is a bug in the crawler: please report it",
            )),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_documents_over_many_batches() {
        let skipped = |number: usize| Skipped::loss(number, "every tenth");
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

    #[test]
    fn a_panic_reaches_the_caller_and_an_iterator_may_be_dropped_early() {
        let numbers = || (0..3_000).map(Ok);
        let mut few = in_batches(numbers(), |_| 1, Ok::<i32, Skipped>);
        assert_eq!(few.next().map(Result::unwrap), Some(0));
        drop(few);
        let fails = |number| match number {
            2_000 => panic!("two thousand"),
            number => Ok(number),
        };
        let all = || in_batches(numbers(), |_| 1, fails).count();
        assert!(catch_unwind(all).is_err());
    }
}
