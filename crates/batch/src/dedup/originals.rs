//! Comparison of each document with the originals before it, of which there may be more than memory
//! holds.
//!
//! While a signature index of them fits, documents are compared in one pass. A full index takes no
//! more: documents that match nothing in it, and all undecided ones after the first such document,
//! go to a file with the best match so far, and are compared in a further pass with a new signature
//! index that continues where the last one stopped.
//!
//! Invariant: a document is declared an original only after comparison with every original before
//! it, so the outcome is the same whatever the memory, but for the caps on equal bands and
//! fingerprints, which hold for each signature index.

use neardup::{Likeness, Match, PageSignature, SignatureIndex};

use super::{Document, Run};
use crate::control::{Gauge, Step};
use crate::dedup::encoding::{self, SIGNATURE_BYTES};
use crate::error::BatchError;
use crate::fields::take;
use crate::scratch::SpillBuffer;

/// The decision about a document.
pub(super) enum Decision {
    /// None yet. Each document has this first; numbers ascend from 0.
    Pending,
    /// The document is an original. Numbers ascend.
    Original,
    /// It is a duplicate of an original.
    Duplicate(Match),
}

/// A document that is not decided yet.
#[derive(Debug)]
struct PendingDocument {
    number: u32,
    id: String,
    signature: PageSignature,
    /// The best match so far.
    best: Option<Match>,
}

/// Gives the number, the id and the decision of each document to `visit`; returns the number of
/// documents.
pub(super) fn decide<E: From<BatchError>>(
    documents: impl Iterator<Item = Result<Document, E>>,
    run: Run<'_>,
    mut visit: impl FnMut(u32, &str, Decision) -> Result<(), E>,
) -> Result<u64, E> {
    let mut count = 0_u32;
    let mut reading = Gauge::new(run.control, None);
    let mut pass = Pass::new(run);
    for document in documents {
        let Document { id, signature } = document?;
        reading.advance(Step::Reading, 1)?;
        if count == u32::MAX - 1 {
            return Err(BatchError::TooMany.into());
        }
        visit(count, &id, Decision::Pending)?;
        let pending = PendingDocument {
            number: count,
            id,
            signature,
            best: None,
        };
        pass.meet(pending, &mut visit)?;
        count += 1;
    }
    while pass.carried > 0 {
        let (carried, buffer) = (pass.carried, pass.buffer);
        drop(pass.signature_index);
        pass = Pass::new(run);
        let mut gauge = Gauge::new(run.control, Some(carried));
        let mut at = 0;
        for _ in 0..carried {
            let pending = PendingDocument::read(&buffer, &mut at)?;
            pass.meet(pending, &mut visit)?;
            gauge.advance(Step::Joining, 1)?;
        }
    }
    Ok(count.into())
}

/// A pass of documents along one signature index.
struct Pass<'s> {
    signature_index: SignatureIndex,
    memory: usize,
    /// The number of originals at which the memory is measured again: counting takes a while.
    look_at: usize,
    full: bool,
    /// The documents for the next pass.
    buffer: SpillBuffer<'s>,
    carried: u64,
}

impl<'s> Pass<'s> {
    fn new(run: Run<'s>) -> Self {
        Self {
            signature_index: SignatureIndex::new(run.options.thresholds),
            memory: run.memory() / 2,
            look_at: 16,
            full: false,
            buffer: SpillBuffer::new(run.scratch, run.memory() / 8),
            carried: 0,
        }
    }

    fn meet<E: From<BatchError>>(
        &mut self,
        mut pending: PendingDocument,
        visit: &mut impl FnMut(u32, &str, Decision) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(found) = self.signature_index.find(&pending.signature)
            && pending
                .best
                .is_none_or(|best| rank(found.likeness) > rank(best.likeness))
        {
            pending.best = Some(found);
        }
        // Nothing is more similar than the same bytes.
        let is_final = |like: &Match| self.carried == 0 || like.likeness == Likeness::SamePayload;
        if let Some(like) = pending.best.filter(is_final) {
            return visit(pending.number, &pending.id, Decision::Duplicate(like));
        }
        if self.full {
            self.carried += 1;
            return Ok(pending.write(&mut self.buffer)?);
        }
        visit(pending.number, &pending.id, Decision::Original)?;
        self.signature_index
            .insert(pending.number.into(), pending.signature);
        self.look_at_memory();
        Ok(())
    }

    fn look_at_memory(&mut self) {
        let count = self.signature_index.len();
        if count < self.look_at {
            return;
        }
        let memory = self.signature_index.memory();
        let room = self.memory.saturating_sub(memory) / (memory / count).max(1);
        self.full = room == 0;
        // Lists and maps grow in steps: half of the remaining room is safe.
        self.look_at = count + (room / 2).max(1);
    }
}

/// Returns the rank of a likeness; the more similar, the higher. Of equals the earlier one is kept.
fn rank(likeness: Likeness) -> f64 {
    match likeness {
        Likeness::SamePayload => 3.0,
        Likeness::SameText => 2.0,
        Likeness::Near { resemblance, .. } => resemblance,
    }
}

impl PendingDocument {
    fn write(&self, buffer: &mut SpillBuffer<'_>) -> Result<(), BatchError> {
        let kind = match self.best.map(|best| best.likeness) {
            None => 0_u8,
            Some(Likeness::SamePayload) => 1,
            Some(Likeness::SameText) => 2,
            Some(Likeness::Near { .. }) => 3,
        };
        let likeness = Likeness::SamePayload;
        let Match { of, likeness } = self.best.unwrap_or(Match { of: 0, likeness });
        let mut bytes = Vec::with_capacity(FIXED + self.id.len());
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(of.to_le_bytes());
        bytes.push(kind);
        bytes.extend(likeness.distance().to_le_bytes());
        bytes.extend(likeness.resemblance().to_le_bytes());
        bytes.extend((self.id.len() as u64).to_le_bytes());
        bytes.extend(encoding::to_bytes(&self.signature));
        bytes.extend(self.id.as_bytes());
        buffer.append(&bytes)
    }

    fn read(buffer: &SpillBuffer<'_>, at: &mut u64) -> Result<Self, BatchError> {
        let mut bytes = [0; FIXED];
        buffer.read_at(*at, &mut bytes)?;
        let mut rest = &bytes[..];
        let number = u32::from_le_bytes(take(&mut rest));
        let of = u64::from_le_bytes(take(&mut rest));
        let [kind] = take(&mut rest);
        let distance = u32::from_le_bytes(take(&mut rest));
        let resemblance = f64::from_le_bytes(take(&mut rest));
        let likeness = match kind {
            0 => None,
            1 => Some(Likeness::SamePayload),
            2 => Some(Likeness::SameText),
            _ => Some(Likeness::Near {
                distance,
                resemblance,
            }),
        };
        let mut id = vec![0; u64::from_le_bytes(take(&mut rest)) as usize];
        let signature = encoding::from_bytes(&take(&mut rest));
        buffer.read_at(*at + FIXED as u64, &mut id)?;
        *at += (FIXED + id.len()) as u64;
        Ok(Self {
            number,
            id: String::from_utf8_lossy(&id).into_owned(),
            signature,
            best: likeness.map(|likeness| Match { of, likeness }),
        })
    }
}

/// The size of a stored document without its id.
const FIXED: usize = 4 + 8 + 1 + 4 + 8 + 8 + SIGNATURE_BYTES;
