//! Indexes as signature files (`batch::signature_file`), which `crawler dedup --save-index` writes
//! and `--against` reads.
//!
//! Invariant: a file has its name only if it is complete; until then it is `NAME.part`.

use std::fs::File;
use std::path::{Path, PathBuf};

use batch::BatchError;
use batch::DocumentId;
use batch::dedup::Document;
use batch::signature_file::{
    Extent, SignatureFile, SignatureHeader, SignatureReader, SignatureWriter,
};
use neardup::{BandDesign, BandedSignature, Recipe};

/// Returns the header of an index of signatures, with or without shingles.
pub(crate) fn header(recipe: Recipe, bands: BandDesign, shingles: bool) -> SignatureHeader {
    SignatureHeader {
        recipe,
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
    path: PathBuf,
    draft: PathBuf,
    /// `None` once it is finished.
    writer: Option<SignatureWriter>,
    count: u64,
}

impl Draft {
    /// Begins an index that will have this name.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses.
    pub(crate) fn begin(path: &Path, header: &SignatureHeader) -> Result<Self, BatchError> {
        let mut draft = path.as_os_str().to_owned();
        draft.push(".part");
        let draft = PathBuf::from(draft);
        if draft.is_symlink() {
            // The file behind the link is not ours to write.
            let removed = std::fs::remove_file(&draft);
            removed.map_err(|source| BatchError::Write {
                path: draft.clone(),
                source,
            })?;
        }
        Ok(Self {
            path: path.to_owned(),
            writer: Some(SignatureWriter::create(&draft, header)?),
            draft,
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
        if let Some(writer) = &mut self.writer {
            writer.push(self.count, &Document { id, signature })?;
            self.count += 1;
        }
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses.
    pub(crate) fn finish(mut self) -> Result<(), BatchError> {
        if let Some(writer) = self.writer.take() {
            let named = writer.finish(self.count).and_then(|file| self.name(&file));
            if named.is_err() {
                self.remove();
            }
            return named;
        }
        Ok(())
    }

    /// Gives the complete file its name, once it is on the disk.
    fn name(&self, file: &File) -> Result<(), BatchError> {
        let synced = file.sync_all();
        let named = synced.and_then(|()| std::fs::rename(&self.draft, &self.path));
        named.map_err(|source| BatchError::Write {
            path: self.path.clone(),
            source,
        })
    }

    fn remove(&self) {
        // A missing draft need not be removed; any other error is the system's, and appears when
        // the file is written again.
        drop(std::fs::remove_file(&self.draft));
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            self.remove();
        }
    }
}
