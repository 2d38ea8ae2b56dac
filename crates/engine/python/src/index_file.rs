//! Indexes as signature files (`batch::signature_file`), which `crawler dedup --save-index` writes
//! and `--against` reads.
//!
//! Invariant: a file has its name only if it is complete; until then it is `NAME.part`.

use std::path::Path;

use batch::BatchError;
use batch::DocumentId;
use batch::dedup::Document;
use batch::signature_file::{
    Extent, SignatureFile, SignatureHeader, SignatureReader, SignatureWriter,
};
use disk::{OutputFile, draft_of};
use neardup::{BandDesign, BandedSignature, ParametersDigest};

/// Returns the header of an index of signatures, with or without shingles.
pub(crate) fn header(
    parameters_digest: ParametersDigest,
    bands: BandDesign,
    shingles: bool,
) -> SignatureHeader {
    SignatureHeader {
        parameters_digest,
        bands,
        extent: Extent::Originals,
        shingles,
    }
}

/// Opens a file whose signatures are comparable with signatures of the header `wanted`.
///
/// # Errors
/// [`BatchError`] for a file that cannot be read, is damaged, or has other signatures.
pub(crate) fn open(path: &Path, wanted: &SignatureHeader) -> Result<SignatureReader, BatchError> {
    let file = SignatureFile::open(path)?;
    file.header().check_comparable(path, wanted)?;
    file.read()
}

/// An index that is being written. If it is dropped before it is finished, no partial file remains.
pub(crate) struct Draft {
    writer: SignatureWriter<OutputFile>,
    count: u64,
}

impl Draft {
    /// Begins an index that will have this name.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses, or another process writes the index.
    pub(crate) fn begin(path: &Path, header: &SignatureHeader) -> Result<Self, BatchError> {
        let draft = draft_of(path);
        let out = OutputFile::begin(path).map_err(|source| BatchError::Write {
            path: draft.clone(),
            source,
        })?;
        Ok(Self {
            writer: SignatureWriter::begin(out, draft, header)?,
            count: 0,
        })
    }

    /// Adds a text.
    ///
    /// # Errors
    /// [`BatchError`] for an id that is too long, and if the system refuses.
    pub(crate) fn push(
        &mut self,
        id: DocumentId,
        signature: BandedSignature,
    ) -> Result<(), BatchError> {
        self.writer.push(self.count, &Document { id, signature })?;
        self.count += 1;
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses.
    pub(crate) fn finish(self) -> Result<(), BatchError> {
        let mut out = self.writer.finish(self.count)?;
        let completed = out.complete();
        completed.map_err(|source| BatchError::Write {
            path: out.path().to_owned(),
            source,
        })
    }
}
