//! The signatures of documents in their order, computed on all cores.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use neardup::{BandDesign, BandedSignature, SignatureBuilder};
use rayon::prelude::*;

use crate::document::{Document, Skipped};
use crate::oddities::Oddities;
use crate::reader::Reader;

/// Bytes in a batch; the last document may exceed them.
const BATCH_BYTES: usize = 16 << 20;

/// Documents in a batch, at most.
const BATCH_DOCUMENTS: usize = 512;

/// A document with its number in reading order, from 0; or something that is not a document.
pub type NumberedDocument = Result<(u64, Document), Skipped>;

/// A document as its signature.
#[derive(Clone, Debug)]
pub struct SignedDocument {
    /// The number of the document in reading order, from 0.
    pub number: u64,
    /// The id of the document.
    pub id: String,
    /// The signature.
    pub signature: BandedSignature,
}

/// An iterator that reads documents in batches, computes their signatures on all cores, and returns
/// them in order: one for each document that is not skipped.
///
/// If the text of a document cannot be extracted because a library panics, the document is judged
/// by its bytes alone, and is among the [`Oddities`].
pub struct Signatures<'a, D> {
    documents: D,
    oddities: Oddities,
    reader: &'a Reader,
    signature_builder: &'a SignatureBuilder,
    bands: BandDesign,
    signed: VecDeque<Result<SignedDocument, Skipped>>,
}

impl<'a, D: Iterator<Item = NumberedDocument>> Signatures<'a, D> {
    /// Returns the signatures of these documents, with keys of `bands`.
    pub fn of(
        documents: D,
        oddities: Oddities,
        reader: &'a Reader,
        signature_builder: &'a SignatureBuilder,
        bands: BandDesign,
    ) -> Self {
        Self {
            documents,
            oddities,
            reader,
            signature_builder,
            bands,
            signed: VecDeque::new(),
        }
    }

    fn next_batch(&mut self) -> Vec<NumberedDocument> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_DOCUMENTS {
            let Some(document) = self.documents.next() else {
                break;
            };
            bytes += document.as_ref().map_or(0, |(_, read)| read.content.len());
            batch.push(document);
        }
        batch
    }
}

impl<D: Iterator<Item = NumberedDocument>> Iterator for Signatures<'_, D> {
    type Item = Result<SignedDocument, Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.signed.is_empty() {
            let (reader, builder, bands) = (self.reader, self.signature_builder, self.bands);
            let batch = self.next_batch().into_par_iter();
            let oddities = &self.oddities;
            let signed: Vec<_> = batch
                .map(|document| {
                    let (number, document) = document?;
                    let signature = sign(reader, builder, bands, &document, oddities);
                    let id = document.id;
                    Ok(SignedDocument {
                        number,
                        id,
                        signature,
                    })
                })
                .collect();
            self.signed = signed.into();
        }
        self.signed.pop_front()
    }
}

fn sign(
    reader: &Reader,
    signature_builder: &SignatureBuilder,
    bands: BandDesign,
    document: &Document,
    oddities: &Oddities,
) -> BandedSignature {
    // A hostile document may make a library panic. The rest of the corpus is still read.
    let signature = catch_unwind(AssertUnwindSafe(|| {
        reader.banded_signature(signature_builder, bands, &document.content)
    }));
    signature.unwrap_or_else(|_panic| {
        oddities.add_unextracted(&document.id);
        signature_builder.banded_signature(document.content.digest(), None, bands)
    })
}
