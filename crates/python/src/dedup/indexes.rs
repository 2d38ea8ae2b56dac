//! The indexes of a comparison: the one that comes first, and the one that grows.

use std::path::Path;

use batch::BatchError;
use batch::dedup::{Document, Original};
use batch::signature_file::{SignatureHeader, SignatureReader};

use super::names;
use crate::id::Id;
use crate::index_file::{self, Draft};

/// The indexes of a comparison.
pub(super) struct Indexes {
    against: Option<SignatureReader>,
    save: Option<Draft>,
}

impl Indexes {
    /// Opens the index at `against` and begins the one at `save`.
    ///
    /// # Errors
    /// [`BatchError`] for an index that cannot be read, is damaged, or has other signatures, and
    /// for one that cannot be written.
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

    /// Returns the documents that come first. Their ids are strings.
    pub(super) fn reference(
        &mut self,
    ) -> impl Iterator<Item = Result<Document, BatchError>> + use<> {
        self.against.take().into_iter().flatten().map(|numbered| {
            let Document { id, signature } = numbered?.document;
            Ok(Document {
                id: names::encode(&Id::Text(id)),
                signature,
            })
        })
    }

    /// Adds an original to the index that grows.
    ///
    /// # Errors
    /// [`BatchError`] if it cannot be written.
    pub(super) fn add(&mut self, original: Original<'_>) -> Result<(), BatchError> {
        match &mut self.save {
            Some(draft) => draft.push(
                &names::decode(original.document),
                original.signature.clone(),
            ),
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
