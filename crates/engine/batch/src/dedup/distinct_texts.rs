//! All documents, with equal ones counted as one text.
//!
//! Documents are read once. If the payload or text of a document is known, the document is only
//! noted; otherwise its signature goes to a buffer. Known digests are held in maps while memory
//! allows; beyond that equal documents are found afterwards by sorting (payload, document) and
//! (text, document) (Broder et al. 1997, section 4).
//!
//! Invariant: texts are numbered in the order of their first documents, and a text's signature is
//! the signature of its first document.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use neardup::clusters::Groups;
use neardup::{BandedSignature, MatchKind, PageSignature};

use super::{Document, Run};
use crate::control::{Gauge, Step};
use crate::dedup::stored_signatures::{Candidate, StoredSignatures};
use crate::document_id::DocumentId;
use crate::document_names::DocumentNames;
use crate::error::BatchError;
use crate::fields::take;
use crate::sorter::{Sorted, Sorter};

/// The distinct texts of all documents.
#[derive(Debug)]
pub(super) struct DistinctTexts<'s> {
    pub(super) names: DocumentNames<'s>,
    /// The groups of equal documents, one per text.
    pub(super) groups: Groups,
    /// The first document with the same payload, for each document.
    payloads: Vec<u32>,
    signatures: StoredSignatures<'s>,
    /// The number of each text's signature in the buffer.
    places: Vec<u32>,
    reference: u32,
}

/// The approximate number of bytes that a document takes in the maps.
const KNOWN_BYTES: usize = 128;

impl<'s> DistinctTexts<'s> {
    /// Reads all documents, beginning with the reference.
    pub(super) fn read<E: From<BatchError>>(
        reference: impl Iterator<Item = Result<Document, E>>,
        documents: impl Iterator<Item = Result<Document, E>>,
        run: Run<'s>,
    ) -> Result<Self, E> {
        let (memory, scratch) = (run.memory(), run.scratch);
        let mut reader = Reader {
            names: DocumentNames::new(scratch, memory / 8),
            signatures: StoredSignatures::new(scratch, memory / 4, run.options),
            buffered: Vec::new(),
            payloads: Vec::new(),
            firsts: Vec::new(),
            known_payloads: FirstByDigest::default(),
            known_texts: FirstByDigest::default(),
            room: memory / 8 / KNOWN_BYTES,
            late_payloads: Sorter::new(scratch, memory / 8),
            reference: 0,
        };
        let mut gauge = Gauge::new(run.control, None);
        for document in reference {
            reader.take(&document?)?;
            gauge.advance(Step::Reading, 1)?;
        }
        reader.reference = reader.firsts.len() as u32;
        for document in documents {
            reader.take(&document?)?;
            gauge.advance(Step::Reading, 1)?;
        }
        if reader.room == 0 {
            reader.find_equal(run)?;
        }
        Ok(reader.finish())
    }

    /// Returns the number of documents at the beginning that belong to the reference.
    pub(super) fn reference(&self) -> u32 {
        self.reference
    }

    /// Returns the number of documents, with the reference.
    pub(super) fn documents(&self) -> u64 {
        self.payloads.len() as u64
    }

    /// Returns the number of different texts.
    pub(super) fn len(&self) -> u32 {
        self.groups.len() as u32
    }

    /// Returns the signature of a text, without its shingles.
    pub(super) fn signature(&self, text: u32) -> Result<BandedSignature, BatchError> {
        self.signatures.get(self.places[text as usize])
    }

    /// Returns a text as a candidate.
    pub(super) fn candidate(&self, text: u32) -> Result<Candidate<'_>, BatchError> {
        self.signatures.candidate(self.places[text as usize])
    }

    /// Returns the id of a text's first document.
    pub(super) fn id(&self, text: u32) -> Result<DocumentId, BatchError> {
        let first = self.groups.get(text).first();
        first.map_or_else(|| Ok(DocumentId::default()), |first| self.names.get(*first))
    }

    /// Returns the match kind of two documents of one text.
    pub(super) fn match_kind_of_equals(&self, one: u32, other: u32) -> MatchKind {
        if self.payloads[one as usize] == self.payloads[other as usize] {
            MatchKind::SamePayload
        } else {
            MatchKind::SameText
        }
    }
}

/// A map from a digest to the first document that has it.
type FirstByDigest = HashMap<u128, u32, BuildHasherDefault<DigestHasher>>;

struct Reader<'s> {
    names: DocumentNames<'s>,
    signatures: StoredSignatures<'s>,
    /// The documents whose signatures are in the buffer, ascending.
    buffered: Vec<u32>,
    payloads: Vec<u32>,
    /// The first known equal document, for each document.
    firsts: Vec<u32>,
    known_payloads: FirstByDigest,
    known_texts: FirstByDigest,
    /// The number of documents that the maps may still take. At 0 the maps may be incomplete.
    room: usize,
    /// The payloads of documents with a known text that came too late for the maps.
    late_payloads: Sorter<'s, 20>,
    reference: u32,
}

impl<'s> Reader<'s> {
    fn take(&mut self, document: &Document) -> Result<(), BatchError> {
        let number = u32::try_from(self.firsts.len())
            .ok()
            .filter(|number| *number < u32::MAX - 1)
            .ok_or(BatchError::TooMany)?;
        self.names.push(&document.id)?;
        let PageSignature { payload, text } = &document.signature.signature;
        let digest = text.as_deref().map(|text| text.digest);
        let same_payload = self.known_payloads.get(payload).copied();
        let same_text = || {
            digest
                .and_then(|digest| self.known_texts.get(&digest))
                .copied()
        };
        let equal = same_payload
            .map(|first| self.firsts[first as usize])
            .or_else(same_text);
        self.payloads.push(same_payload.unwrap_or(number));
        self.firsts.push(equal.unwrap_or(number));
        if same_payload.is_none() && self.room > 0 {
            // While there is room, every payload and every text is recorded.
            self.known_payloads.insert(*payload, number);
            if let (Some(digest), None) = (digest, equal) {
                self.known_texts.insert(digest, number);
            }
            self.room -= 1;
        }
        if equal.is_none() {
            self.buffered.push(number);
            self.signatures.push(&document.signature)?;
        } else if same_payload.is_none() && self.room == 0 {
            self.late_payloads.push(keyed(*payload, number))?;
        }
        Ok(())
    }

    /// Finds equal documents in the buffer, which the maps could not find.
    fn find_equal(&mut self, run: Run<'s>) -> Result<(), BatchError> {
        let mut payloads = std::mem::replace(&mut self.late_payloads, Sorter::new(run.scratch, 0));
        let mut gauge = Gauge::new(run.control, Some(2 * self.buffered.len() as u64));
        for (place, &document) in (0..).zip(&self.buffered) {
            let payload = self.signatures.get(place)?.signature.payload;
            payloads.push(keyed(payload, document))?;
            gauge.advance(Step::Sorting, 1)?;
        }
        each_repetition(payloads.finish(), |document, first| {
            self.payloads[document as usize] = first;
        })?;

        let mut texts = Sorter::<20>::new(run.scratch, run.memory() / 4);
        for (place, &document) in (0..).zip(&self.buffered) {
            gauge.advance(Step::Sorting, 1)?;
            if self.payloads[document as usize] != document {
                continue;
            }
            if let Some(text) = self.signatures.get(place)?.signature.text {
                texts.push(keyed(text.digest, document))?;
            }
        }
        each_repetition(texts.finish(), |document, first| {
            self.firsts[document as usize] = self.firsts[first as usize];
        })?;
        for document in 0..self.firsts.len() {
            self.firsts[document] = self.firsts[self.payloads[document] as usize];
        }
        Ok(())
    }

    fn finish(self) -> DistinctTexts<'s> {
        let firsts = &self.firsts;
        let groups =
            Groups::around(firsts).expect("the first of equal documents has no equal before");
        let places = (0..)
            .zip(&self.buffered)
            .filter(|(_, document)| firsts[**document as usize] == **document)
            .map(|(place, _)| place)
            .collect();
        DistinctTexts {
            names: self.names,
            groups,
            payloads: self.payloads,
            signatures: self.signatures,
            places,
            reference: self.reference,
        }
    }
}

/// Calls `visit` with each document that has the digest of an earlier one, and the first document
/// with this digest.
fn each_repetition(
    mut sorted: Sorted<20>,
    mut visit: impl FnMut(u32, u32),
) -> Result<(), BatchError> {
    let mut first: Option<(u128, u32)> = None;
    while let Some(record) = sorted.next()? {
        let (digest, document) = unkeyed(record);
        match first {
            Some((same, first)) if same == digest => visit(document, first),
            _ => first = Some((digest, document)),
        }
    }
    Ok(())
}

fn keyed(digest: u128, document: u32) -> [u8; 20] {
    let mut record = [0; 20];
    record[..16].copy_from_slice(&digest.to_be_bytes());
    record[16..].copy_from_slice(&document.to_be_bytes());
    record
}

fn unkeyed(record: [u8; 20]) -> (u128, u32) {
    let mut rest = &record[..];
    let digest = u128::from_be_bytes(take(&mut rest));
    (digest, u32::from_be_bytes(take(&mut rest)))
}

/// A hasher for digests, which are hashes already.
#[derive(Default)]
pub(super) struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, digest: u64) {
        self.0 = digest;
    }

    fn write_u128(&mut self, digest: u128) {
        self.0 = digest as u64;
    }
}
