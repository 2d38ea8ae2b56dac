//! Ids of documents outside memory, in temporary files of one run.

use crate::document_id::DocumentId;
use crate::error::BatchError;
use crate::fields::take;
use crate::scratch::{Scratch, SpillBuffer};

/// The ids of documents, by their numbers.
#[derive(Debug)]
pub(crate) struct DocumentNames<'s> {
    text: SpillBuffer<'s>,
    /// The end of each id, eight bytes each; the highest bit is set for a number.
    ends: SpillBuffer<'s>,
}

/// The bit of an end that tells numbers from strings.
const IS_NUMBER: u64 = 1 << 63;

impl<'s> DocumentNames<'s> {
    /// Creates an empty list; about `memory` bytes of it stay in memory.
    pub(crate) fn new(scratch: &'s Scratch, memory: usize) -> Self {
        Self {
            text: SpillBuffer::new(scratch, memory / 2),
            ends: SpillBuffer::new(scratch, memory / 2),
        }
    }

    /// Adds the next id.
    pub(crate) fn push(&mut self, id: &DocumentId) -> Result<(), BatchError> {
        self.text.append(id.as_bytes())?;
        let kind = if id.is_number() { IS_NUMBER } else { 0 };
        self.ends.append(&(self.text.len() | kind).to_le_bytes())
    }

    /// Returns the id of the document with this number, which must have been added.
    pub(crate) fn get(&self, number: u32) -> Result<DocumentId, BatchError> {
        let at = u64::from(number) * 8;
        let mut ends = [0; 16];
        if number == 0 {
            self.ends.read_at(0, &mut ends[8..])?;
        } else {
            self.ends.read_at(at - 8, &mut ends)?;
        }
        let mut rest = &ends[..];
        let (start, end) = (
            u64::from_le_bytes(take(&mut rest)),
            u64::from_le_bytes(take(&mut rest)),
        );
        let start = start & !IS_NUMBER;
        let mut id = vec![0; ((end & !IS_NUMBER) - start) as usize];
        self.text.read_at(start, &mut id)?;
        let id = String::from_utf8_lossy(&id).into_owned();
        Ok(match end & IS_NUMBER {
            0 => id.into(),
            _ => DocumentId::of_digits(id),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_id() -> impl Strategy<Value = DocumentId> {
        prop_oneof![
            ".{0,20}".prop_map(DocumentId::from),
            any::<i64>().prop_map(DocumentId::from)
        ]
    }

    proptest! {
        #[test]
        fn ids_are_found_by_their_numbers(
            ids in prop::collection::vec(any_id(), 1..30),
            memory in 0_usize..600,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let scratch = Scratch::new(directory.path());
            let mut kept = DocumentNames::new(&scratch, memory);
            for id in &ids {
                kept.push(id).unwrap();
            }
            for (number, id) in (0..).zip(&ids) {
                prop_assert_eq!(&kept.get(number).unwrap(), id);
            }
        }
    }
}
