//! Documents in their order, each computed on one of all cores.
//!
//! At most one batch of documents is in memory. A document that makes a library panic is skipped
//! with the reason, and the rest is read.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use crate::documents::{Content, Document, Skipped};

/// The bytes of a batch; the last document may exceed them.
const BATCH_BYTES: usize = 16 << 20;
/// The most documents of a batch.
const BATCH_DOCUMENTS: usize = 512;

/// Gives the id of each of `documents` and what `compute` returns for it to `take`, in order.
///
/// # Errors
/// The first error of `take` ends it.
pub(crate) fn each<T: Send, E>(
    documents: impl Iterator<Item = Result<Document, Skipped>>,
    compute: impl Fn(&Content) -> T + Sync,
    mut take: impl FnMut(Result<(String, T), Skipped>) -> Result<(), E>,
) -> Result<(), E> {
    let mut documents = documents.fuse();
    loop {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_DOCUMENTS {
            let Some(document) = documents.next() else {
                break;
            };
            bytes += document.as_ref().map_or(0, |read| read.content.len());
            batch.push(document);
        }
        if batch.is_empty() {
            return Ok(());
        }
        let computed = batch.into_par_iter().map(|document| {
            let document = document?;
            match catch_unwind(AssertUnwindSafe(|| compute(&document.content))) {
                Ok(computed) => Ok((document.id, computed)),
                Err(_panic) => Err(Skipped {
                    culprit: document.id,
                    reason: "reading it panicked, which is a fault of ours: please report it"
                        .to_owned(),
                }),
            }
        });
        let computed: Vec<_> = computed.collect();
        computed.into_iter().try_for_each(&mut take)?;
    }
}
