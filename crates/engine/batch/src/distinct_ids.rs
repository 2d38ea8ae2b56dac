//! The check that no two documents have one id.
//!
//! If two rows have the same id, a user who removes duplicates by id removes both. Ids are compared
//! by their digests, which are sorted outside memory.

use neardup::HashKey;

use crate::dedup::{Document, Options};
use crate::document_id::DocumentId;
use crate::error::BatchError;
use crate::scratch::Scratch;
use crate::sorter::Sorter;

/// The part of the memory that the check takes.
const PART: usize = 8;

/// A digest and a number.
type Record = [u8; 24];

/// Calls `run` with the documents. If two documents have the same id, an error follows the last
/// document. Only documents with a number are checked.
pub fn with_distinct_ids<R>(
    documents: impl Iterator<Item = (Option<u64>, Document)>,
    options: &Options,
    run: impl FnOnce(&mut dyn Iterator<Item = Result<Document, BatchError>>) -> R,
) -> R {
    let scratch = Scratch::new(&options.scratch);
    let mut sorter = Some(Sorter::<24>::new(&scratch, options.memory / PART));
    let mut documents = documents.fuse();
    let mut checked = std::iter::from_fn(|| match documents.next() {
        Some((None, document)) => Some(Ok(document)),
        Some((Some(number), document)) => {
            let pushed = sorter.as_mut()?.push(record(&document.id, number));
            Some(pushed.map(|()| document))
        }
        None => check(sorter.take()?).err().map(Err),
    });
    run(&mut checked)
}

fn record(id: &DocumentId, number: u64) -> Record {
    let mut record = [0; 24];
    let digest = HashKey::ZERO.digest(id.as_bytes()) ^ u128::from(id.is_number());
    record[..16].copy_from_slice(&digest.to_be_bytes());
    record[16..].copy_from_slice(&number.to_be_bytes());
    record
}

fn check(sorter: Sorter<'_, 24>) -> Result<(), BatchError> {
    let mut sorted = sorter.finish();
    let mut before: Option<Record> = None;
    while let Some(record) = sorted.next()? {
        if let Some(before) = before.replace(record)
            && before[..16] == record[..16]
        {
            let (first, second) = (number(&before), number(&record));
            return Err(BatchError::RepeatedId { first, second });
        }
    }
    Ok(())
}

fn number(record: &Record) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&record[16..]);
    u64::from_be_bytes(bytes)
}
