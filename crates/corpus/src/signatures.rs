//! The signatures of documents in their order, computed on all cores.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use neardup::{BandDesign, BandedSignature, PageSignature, SignatureBuilder};
use rayon::prelude::*;

use crate::document::Document;
use crate::reader::Reader;
use crate::sources::Skipped;

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
    /// The signature; that of the bytes alone if [`fault`](Self::fault) is set.
    pub signature: BandedSignature,
    /// The reason for which the text could not be read, which is a fault of ours.
    pub fault: Option<Skipped>,
}

/// An iterator that reads documents in batches, computes their signatures on all cores, and returns
/// them in order.
pub struct Signatures<'a, D> {
    documents: D,
    reader: &'a Reader,
    signature_builder: &'a SignatureBuilder,
    bands: BandDesign,
    signed: VecDeque<Result<SignedDocument, Skipped>>,
}

impl<'a, D: Iterator<Item = NumberedDocument>> Signatures<'a, D> {
    /// Returns the signatures of these documents, with keys of `bands`.
    pub fn of(
        documents: D,
        reader: &'a Reader,
        signature_builder: &'a SignatureBuilder,
        bands: BandDesign,
    ) -> Self {
        Self {
            documents,
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
            let signed: Vec<_> = batch
                .map(|document| {
                    let (number, document) = document?;
                    Ok(sign(reader, builder, bands, number, document))
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
    number: u64,
    document: Document,
) -> SignedDocument {
    // A hostile document may make a library panic. The document still counts, by its bytes, so that
    // it is not lost; the rest of the corpus is still read.
    let signature = catch_unwind(AssertUnwindSafe(|| {
        reader.banded_signature(signature_builder, bands, &document.content)
    }));
    let fault = signature.is_err().then(|| Skipped {
        culprit: document.id.clone(),
        reason: "reading its text panicked, which is a fault of ours: please report it".to_owned(),
    });
    let of_bytes = || PageSignature {
        payload: document.content.digest(),
        text: None,
    };
    SignedDocument {
        number,
        signature: signature.unwrap_or_else(|_panic| of_bytes().into()),
        id: document.id,
        fault,
    }
}
