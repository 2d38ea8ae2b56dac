//! Signatures outside memory, in temporary files of one run.
//!
//! Signatures are records of one size; the shingles of all documents are in a separate file, and a
//! record contains their place.

use std::borrow::Cow;
use std::cell::OnceCell;

use neardup::{BandedSignature, ShortShingles};

use super::{Options, Verification};
use crate::error::BatchError;
use crate::fields::take;
use crate::scratch::{Scratch, SpillBuffer};
use crate::signature_bytes::{MAX_SIGNATURE_BYTES, decode, encode};

/// Signatures with their band keys and shingles, by their numbers.
#[derive(Debug)]
pub(super) struct StoredSignatures<'s> {
    records: SpillBuffer<'s>,
    /// None if sketches decide.
    shingles: Option<SpillBuffer<'s>>,
    bands: usize,
}

/// The place of a document's shingles.
#[derive(Clone, Copy, Debug)]
struct ShinglesPlace {
    start: u64,
    /// The number of shingles, of four bytes each.
    count: u32,
}

/// A text while it is compared with others.
pub(super) struct Candidate<'s> {
    pub(super) banded: BandedSignature,
    stored: &'s StoredSignatures<'s>,
    place: Option<ShinglesPlace>,
    kept: OnceCell<ShortShingles>,
}

/// Maximum bytes of a candidate's shingles that stay in memory while it is compared.
const KEPT_BYTES: usize = 16 << 10;

/// The size of a stored place: the start, and the number of shingles or [`NO_SHINGLES`].
const PLACE_BYTES: usize = 8 + 4;

/// The number of shingles of a document that was given without shingles.
const NO_SHINGLES: u32 = u32::MAX;

impl<'s> StoredSignatures<'s> {
    /// Creates an empty list of signatures with the bands of `options`, and with shingles if these
    /// decide. About `memory` bytes of signatures and half as many of shingles stay in memory.
    pub(super) fn new(scratch: &'s Scratch, memory: usize, options: &Options) -> Self {
        let with_shingles = options.verification == Verification::Shingles;
        Self {
            records: SpillBuffer::new(scratch, memory),
            shingles: with_shingles.then(|| SpillBuffer::new(scratch, memory / 2)),
            bands: options.bands.bands(),
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
        let place = self.push_shingles(banded.shingles.as_ref())?;
        let mut record = Vec::with_capacity(self.record_bytes());
        record.extend(place.map_or(0, |place| place.start).to_le_bytes());
        record.extend(place.map_or(NO_SHINGLES, |place| place.count).to_le_bytes());
        record.push(has_bands.into());
        record.extend(banded.bands.iter().flat_map(|key| key.to_le_bytes()));
        record.resize(self.record_bytes() - MAX_SIGNATURE_BYTES, 0);
        encode(&banded.signature, &mut record);
        // Absent parts at the end are zero.
        record.resize(self.record_bytes(), 0);
        self.records.append(&record)
    }

    fn push_shingles(
        &mut self,
        shingles: Option<&ShortShingles>,
    ) -> Result<Option<ShinglesPlace>, BatchError> {
        let Some((buffer, shingles)) = self.shingles.as_mut().zip(shingles) else {
            return Ok(None);
        };
        let start = buffer.len();
        buffer.append(&shingles.to_bytes())?;
        let count = shingles.len() as u32;
        Ok(Some(ShinglesPlace { start, count }))
    }

    /// Returns the signature with this number, which must have been added, without its shingles.
    pub(super) fn get(&self, number: u32) -> Result<BandedSignature, BatchError> {
        Ok(self.candidate(number)?.banded)
    }

    /// Returns the signature with this number as a candidate, which reads its shingles when they
    /// are needed.
    pub(super) fn candidate(&self, number: u32) -> Result<Candidate<'_>, BatchError> {
        let mut record = vec![0; self.record_bytes()];
        self.records
            .read_at(u64::from(number) * record.len() as u64, &mut record)?;
        let (mut fields, mut signature) = record.split_at(record.len() - MAX_SIGNATURE_BYTES);
        let start = u64::from_le_bytes(take(&mut fields));
        let count = u32::from_le_bytes(take(&mut fields));
        let bands = match take(&mut fields) {
            [0] => Box::default(),
            _ => fields
                .as_chunks()
                .0
                .iter()
                .map(|key| u32::from_le_bytes(*key))
                .collect(),
        };
        let banded = BandedSignature {
            signature: decode(&mut signature).expect("it is as it was written"),
            bands,
            shingles: None,
        };
        let place = (count != NO_SHINGLES).then_some(ShinglesPlace { start, count });
        Ok(Candidate {
            banded,
            stored: self,
            place,
            kept: OnceCell::new(),
        })
    }

    /// Reads the shingles at a place.
    fn read(&self, place: ShinglesPlace) -> Result<ShortShingles, BatchError> {
        let mut bytes = vec![0; 4 * place.count as usize];
        if let Some(shingles) = &self.shingles {
            shingles.read_at(place.start, &mut bytes)?;
        }
        Ok(ShortShingles::from_bytes(&bytes).expect("they are as they were written"))
    }

    fn record_bytes(&self) -> usize {
        PLACE_BYTES + 1 + 4 * self.bands + MAX_SIGNATURE_BYTES
    }
}

impl Candidate<'_> {
    /// Returns the signature with its shingles.
    pub(super) fn with_shingles(self) -> Result<BandedSignature, BatchError> {
        let shingles = self.shingles()?.map(Cow::into_owned);
        Ok(BandedSignature {
            shingles,
            ..self.banded
        })
    }

    /// Returns the shingles, which are read when they are first needed; `None` if the document was
    /// given without them.
    pub(super) fn shingles(&self) -> Result<Option<Cow<'_, ShortShingles>>, BatchError> {
        if let Some(kept) = self.kept.get() {
            return Ok(Some(Cow::Borrowed(kept)));
        }
        let Some(place) = self.place else {
            return Ok(None);
        };
        let shingles = self.stored.read(place)?;
        Ok(Some(match 4 * shingles.len() <= KEPT_BYTES {
            true => Cow::Borrowed(self.kept.get_or_init(|| shingles)),
            false => Cow::Owned(shingles),
        }))
    }
}
