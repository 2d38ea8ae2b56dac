//! The signatures of documents in their order, computed on all cores.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use neardup::{BandDesign, BandedSignature, SignatureBuilder};
use rayon::prelude::*;

use crate::document::{Document, Skipped};
use crate::documents::Documents;
use crate::oddities::Oddities;
use crate::reader::Reader;

/// Bytes in a batch; the last document may exceed them.
const BATCH_BYTES: usize = 16 << 20;

/// Documents in a batch, at most.
const BATCH_DOCUMENTS: usize = 512;

/// An iterator that reads documents in batches, computes their signatures on all cores, and returns
/// them in order: one for each document that is not skipped.
///
/// If the text of a document cannot be extracted because a library panics, the document is judged
/// by its bytes alone, and is among the [`Oddities`].
pub struct Signatures<'a> {
    documents: Documents,
    reader: &'a Reader,
    signature_builder: &'a SignatureBuilder,
    bands: BandDesign,
    drawn: VecDeque<Result<(String, BandedSignature), Skipped>>,
}

impl<'a> Signatures<'a> {
    /// Returns the signatures of these documents, with keys of `bands`.
    pub fn of(
        documents: Documents,
        reader: &'a Reader,
        signature_builder: &'a SignatureBuilder,
        bands: BandDesign,
    ) -> Self {
        Self {
            documents,
            reader,
            signature_builder,
            bands,
            drawn: VecDeque::new(),
        }
    }

    fn next_batch(&mut self) -> Vec<Result<Document, Skipped>> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_DOCUMENTS {
            let Some(document) = self.documents.next() else {
                break;
            };
            bytes += document.as_ref().map_or(0, |read| read.content.len());
            batch.push(document);
        }
        batch
    }
}

impl Iterator for Signatures<'_> {
    type Item = Result<(String, BandedSignature), Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.drawn.is_empty() {
            let (reader, builder, bands) = (self.reader, self.signature_builder, self.bands);
            let oddities = self.documents.oddities();
            let batch = self.next_batch().into_par_iter();
            let drawn: Vec<_> = batch
                .map(|document| Ok(draw(reader, builder, bands, document?, &oddities)))
                .collect();
            self.drawn = drawn.into();
        }
        self.drawn.pop_front()
    }
}

fn draw(
    reader: &Reader,
    signature_builder: &SignatureBuilder,
    bands: BandDesign,
    document: Document,
    oddities: &Oddities,
) -> (String, BandedSignature) {
    // A hostile document may make a library panic. The rest of the corpus is still read.
    let signature = catch_unwind(AssertUnwindSafe(|| {
        reader.banded_signature(signature_builder, bands, &document.content)
    }));
    let signature = signature.unwrap_or_else(|_panic| {
        oddities.add_unextracted(&document.id);
        signature_builder.banded_signature(document.content.digest(), None, bands)
    });
    (document.id, signature)
}
