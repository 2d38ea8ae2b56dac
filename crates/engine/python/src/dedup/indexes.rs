//! The indexes of a comparison: an index whose documents come first, and an index that grows.

use std::path::Path;

use batch::BatchError;
use batch::dedup::{Document, Original};
use batch::signature_file::{SignatureHeader, SignatureReader};
use corpus::IdRanges;

use crate::index_file::{self, Draft};

/// The indexes of a comparison.
pub(super) struct Indexes {
    against: Option<SignatureReader>,
    save: Option<Draft>,
}

impl Indexes {
    /// Opens the index at `against` and begins an index at `save`.
    ///
    /// # Errors
    /// [`BatchError`] for an index that cannot be read, is damaged, or has other signatures, and
    /// for an index that cannot be written.
    pub(super) fn open(
        against: Option<&Path>,
        save: Option<&Path>,
        header: &SignatureHeader,
    ) -> Result<Self, BatchError> {
        let against = against.map(|path| index_file::open(path, header));
        let save = save.map(|path| Draft::begin(path, header));
        Ok(Self {
            against: against.transpose()?,
            save: save.transpose()?,
        })
    }

    /// Returns the documents of the first index, and adds their ids to `ids`.
    pub(super) fn reference(
        &mut self,
        ids: IdRanges,
    ) -> impl Iterator<Item = Result<Document, BatchError>> + use<> {
        self.against
            .take()
            .into_iter()
            .flatten()
            .map(move |numbered| {
                let document = numbered?.document;
                ids.add_reference(&document.id);
                Ok(document)
            })
    }

    /// Adds an original to the index that grows.
    ///
    /// # Errors
    /// [`BatchError`] if it cannot be written.
    pub(super) fn add(&mut self, original: Original<'_>) -> Result<(), BatchError> {
        match &mut self.save {
            Some(draft) => draft.push(original.document.clone(), original.signature.clone()),
            None => Ok(()),
        }
    }

    /// Completes the index that grows.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses.
    pub(super) fn finish(self) -> Result<(), BatchError> {
        self.save.map_or(Ok(()), Draft::finish)
    }
}
