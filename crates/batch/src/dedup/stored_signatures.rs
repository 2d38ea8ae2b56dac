//! Signatures outside memory, in temporary files of one run.

use neardup::{BandDesign, BandedSignature};

use crate::error::BatchError;
use crate::fields::take;
use crate::scratch::{Scratch, SpillBuffer};
use crate::signature_bytes::{MAX_SIGNATURE_BYTES, decode, encode};

/// Signatures with their band keys, by their numbers.
#[derive(Debug)]
pub(super) struct StoredSignatures<'s> {
    records: SpillBuffer<'s>,
    bands: usize,
}

impl<'s> StoredSignatures<'s> {
    /// Creates an empty list of signatures with bands of `design`; about `memory` bytes of it stay
    /// in memory.
    pub(super) fn new(scratch: &'s Scratch, memory: usize, design: BandDesign) -> Self {
        Self {
            records: SpillBuffer::new(scratch, memory),
            bands: design.bands(),
        }
    }

    /// Adds the next signature.
    pub(super) fn push(&mut self, banded: &BandedSignature) -> Result<(), BatchError> {
        let has_bands = !banded.bands.is_empty();
        if has_bands && banded.bands.len() != self.bands {
            return Err(BatchError::OtherBands {
                expected: self.bands,
                got: banded.bands.len(),
            });
        }
        let mut record = Vec::with_capacity(self.record_bytes());
        encode(&banded.signature, &mut record);
        // Absent parts at the end are zero.
        record.resize(MAX_SIGNATURE_BYTES, 0);
        record.push(has_bands.into());
        record.extend(banded.bands.iter().flat_map(|key| key.to_le_bytes()));
        record.resize(self.record_bytes(), 0);
        self.records.append(&record)
    }

    /// Returns the signature with this number, which must have been added.
    pub(super) fn get(&self, number: u32) -> Result<BandedSignature, BatchError> {
        let mut record = vec![0; self.record_bytes()];
        self.records
            .read_at(u64::from(number) * record.len() as u64, &mut record)?;
        let (signature, mut rest) = record.split_at(MAX_SIGNATURE_BYTES);
        let signature = decode(&mut &signature[..]).expect("it is as it was written");
        let bands = match take(&mut rest) {
            [0] => Box::default(),
            _ => rest
                .as_chunks()
                .0
                .iter()
                .map(|key| u32::from_le_bytes(*key))
                .collect(),
        };
        Ok(BandedSignature { signature, bands })
    }

    fn record_bytes(&self) -> usize {
        MAX_SIGNATURE_BYTES + 1 + 4 * self.bands
    }
}
