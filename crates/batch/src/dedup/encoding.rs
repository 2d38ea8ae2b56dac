//! Encoding of signatures and names outside memory.
//!
//! These formats are for temporary files of one run only, so they may change at any time.

use neardup::{
    BAG_BYTES, BagSketch, BandDesign, BandedSignature, Fingerprint, MAX_SUBJECT_BYTES,
    PageSignature, SKETCH_BYTES, Sketch, Subject, TextSignature,
};

use crate::error::BatchError;
use crate::fields::take;
use crate::scratch::{Scratch, SpillBuffer};

/// The size of every encoded signature, whatever its parts.
const SIGNATURE_BYTES: usize =
    16 + 1 + 16 + 4 + 1 + 16 + 8 + 1 + SKETCH_BYTES + 1 + BAG_BYTES + 1 + MAX_SUBJECT_BYTES;

/// Encodes a signature. Absent parts are zero.
fn to_bytes(signature: &PageSignature) -> [u8; SIGNATURE_BYTES] {
    let mut bytes = Vec::with_capacity(SIGNATURE_BYTES);
    bytes.extend(signature.payload.to_le_bytes());
    bytes.push(u8::from(signature.text.is_some()));
    if let Some(text) = signature.text.as_deref() {
        // All fields are named, so that a new one is not forgotten here.
        let TextSignature {
            digest,
            words,
            main_content,
            fingerprint,
            sketch,
            bag,
            subject,
        } = text;
        bytes.extend(digest.to_le_bytes());
        bytes.extend(words.to_le_bytes());
        bytes.push(u8::from(main_content.is_some()));
        bytes.extend(main_content.unwrap_or(0).to_le_bytes());
        bytes.extend(fingerprint.as_u64().to_le_bytes());
        bytes.push(u8::from(sketch.is_some()));
        bytes.extend(sketch.as_ref().map_or([0; SKETCH_BYTES], Sketch::to_bytes));
        bytes.push(u8::from(bag.is_some()));
        bytes.extend(bag.as_ref().map_or([0; BAG_BYTES], BagSketch::to_bytes));
        let subject = subject.as_ref().map_or_else(Vec::new, Subject::to_bytes);
        bytes.push(subject.len() as u8);
        bytes.extend(subject);
    }
    let mut written = [0; SIGNATURE_BYTES];
    written[..bytes.len()].copy_from_slice(&bytes);
    written
}

/// Decodes a signature.
fn from_bytes(bytes: &[u8; SIGNATURE_BYTES]) -> PageSignature {
    let mut rest = &bytes[..];
    let payload = u128::from_le_bytes(take(&mut rest));
    let has_text = take(&mut rest) == [1];
    let text = has_text.then(|| {
        let digest = u128::from_le_bytes(take(&mut rest));
        let words = u32::from_le_bytes(take(&mut rest));
        let has_main_content = take(&mut rest) == [1];
        let main_content = u128::from_le_bytes(take(&mut rest));
        let fingerprint = Fingerprint::new(u64::from_le_bytes(take(&mut rest)));
        let has_sketch = take(&mut rest) == [1];
        let sketch = take(&mut rest);
        let has_bag = take(&mut rest) == [1];
        let bag = take(&mut rest);
        let [length] = take(&mut rest);
        let subject = rest
            .get(..usize::from(length))
            .and_then(Subject::from_bytes);
        Box::new(TextSignature {
            digest,
            words,
            main_content: has_main_content.then_some(main_content),
            fingerprint,
            sketch: has_sketch.then(|| Sketch::from_bytes(&sketch)),
            bag: has_bag.then(|| BagSketch::from_bytes(&bag)),
            subject,
        })
    });
    PageSignature { payload, text }
}

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
        record.extend(to_bytes(&banded.signature));
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
        let mut rest = &record[..];
        let signature = from_bytes(&take(&mut rest));
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
        SIGNATURE_BYTES + 1 + 4 * self.bands
    }
}

/// The names of documents, by their numbers.
#[derive(Debug)]
pub(super) struct DocumentNames<'s> {
    text: SpillBuffer<'s>,
    /// The end of each name, eight bytes each.
    ends: SpillBuffer<'s>,
}

impl<'s> DocumentNames<'s> {
    /// Creates an empty list; about `memory` bytes of it stay in memory.
    pub(super) fn new(scratch: &'s Scratch, memory: usize) -> Self {
        Self {
            text: SpillBuffer::new(scratch, memory / 2),
            ends: SpillBuffer::new(scratch, memory / 2),
        }
    }

    /// Adds the next name.
    pub(super) fn push(&mut self, name: &str) -> Result<(), BatchError> {
        self.text.append(name.as_bytes())?;
        self.ends.append(&self.text.len().to_le_bytes())
    }

    /// Returns the name with this number, which must have been added.
    pub(super) fn get(&self, number: u32) -> Result<String, BatchError> {
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
    use neardup::{Features, HashKey, PageText, SignatureBuilder};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_signature_is_read_as_it_was_written(
            payload: u128,
            words in prop::collection::vec("[a-z]{1,9}", 0..40),
            has_main_content: bool,
            title: Option<String>,
        ) {
            let text = words.join(" ");
            let half = text.get(..text.len() / 2).unwrap_or_default();
            let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
            let whole = PageText {
                main_content: has_main_content.then_some(half),
                title: title.as_deref(),
                heading: words.first().map(String::as_str),
                ..PageText::of(&text)
            };
            for page in [None, Some(whole)] {
                let signature = signature_builder.signature(payload, page);
                prop_assert_eq!(from_bytes(&to_bytes(&signature)), signature);
            }
        }

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
