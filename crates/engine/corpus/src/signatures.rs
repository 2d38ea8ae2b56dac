//! The signatures of documents in their order, computed on all cores.

use std::panic::{AssertUnwindSafe, catch_unwind};

use batch::DocumentId;
use neardup::{BandDesign, BandedSignature, SignatureBuilder};

use crate::document::{Document, Skipped};
use crate::in_batches::in_batches;
use crate::reader::Reader;
use crate::warnings::{Warning, Warnings};

/// A document as its signature.
#[derive(Clone, Debug)]
pub struct SignedDocument {
    /// The number of the document in reading order, from 0.
    pub number: u64,
    /// The id of the document.
    pub id: DocumentId,
    /// The signature.
    pub signature: BandedSignature,
}

/// Returns the signatures of numbered documents, with keys of `bands`: one for each document that
/// is not skipped.
///
/// If the text of a document cannot be extracted because a library panics, the document is judged
/// by its bytes alone, and is among the `warnings`.
pub fn signatures<'a>(
    documents: impl Iterator<Item = Result<(u64, Document), Skipped>> + 'a,
    warnings: Warnings,
    reader: &Reader,
    signature_builder: &SignatureBuilder,
    bands: BandDesign,
) -> impl Iterator<Item = Result<SignedDocument, Skipped>> + 'a {
    let (reader, signature_builder) = (reader.clone(), signature_builder.clone());
    let len = |(_, document): &(u64, Document)| document.content.len();
    in_batches(documents, len, move |(number, document)| {
        // A hostile document may make a library panic. The rest of the corpus is still read.
        let signature = catch_unwind(AssertUnwindSafe(|| {
            reader.banded_signature(&signature_builder, bands, &document.content)
        }));
        let signature = signature.unwrap_or_else(|_panic| {
            warnings.add(Warning::Unextracted, document.id.to_string());
            signature_builder.banded_signature(document.content.digest(), None, bands)
        });
        Ok(SignedDocument {
            number,
            id: document.id,
            signature,
        })
    })
}
