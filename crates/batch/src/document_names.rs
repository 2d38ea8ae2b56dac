//! Names of documents outside memory, in temporary files of one run.

use crate::error::BatchError;
use crate::fields::take;
use crate::scratch::{Scratch, SpillBuffer};

/// The names of documents, by their numbers.
#[derive(Debug)]
pub(crate) struct DocumentNames<'s> {
    text: SpillBuffer<'s>,
    /// The end of each name, eight bytes each.
    ends: SpillBuffer<'s>,
}

impl<'s> DocumentNames<'s> {
    /// Creates an empty list; about `memory` bytes of it stay in memory.
    pub(crate) fn new(scratch: &'s Scratch, memory: usize) -> Self {
        Self {
            text: SpillBuffer::new(scratch, memory / 2),
            ends: SpillBuffer::new(scratch, memory / 2),
        }
    }

    /// Adds the next name.
    pub(crate) fn push(&mut self, name: &str) -> Result<(), BatchError> {
        self.text.append(name.as_bytes())?;
        self.ends.append(&self.text.len().to_le_bytes())
    }

    /// Returns the name with this number, which must have been added.
    pub(crate) fn get(&self, number: u32) -> Result<String, BatchError> {
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
        let mut name = vec![0; (end - start) as usize];
        self.text.read_at(start, &mut name)?;
        Ok(String::from_utf8_lossy(&name).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_are_found_by_their_numbers(
            names in prop::collection::vec(".{0,20}", 1..30),
            memory in 0_usize..600,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let scratch = Scratch::new(directory.path());
            let mut kept = DocumentNames::new(&scratch, memory);
            for name in &names {
                kept.push(name).unwrap();
            }
            for (number, name) in (0..).zip(&names) {
                prop_assert_eq!(&kept.get(number).unwrap(), name);
            }
        }
    }
}
