//! The documents below given paths, one after the other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use neardup::HashKey;

use crate::document::{Document, Refusal, Skipped};
use crate::error::CorpusError;
use crate::fields::FieldNames;
use crate::input_options::InputOptions;
use crate::open_file::{self, FileDocuments};
use crate::paths::Files;
use crate::warnings::Warnings;

/// The documents of some paths, in the order of the paths; in a directory, in the order of the
/// names.
pub struct Documents {
    files: Files,
    options: InputOptions,
    fields: FieldNames,
    open: Option<(PathBuf, FileDocuments)>,
    warnings: Warnings,
    input_digest: InputDigest,
}

/// The documents that were read so far: their number, and a digest of their ids and contents.
/// Clones share it.
///
/// Files that are read a second time are compared with it, so that a change between the two
/// readings is an error.
#[derive(Clone, Debug, Default)]
pub struct InputDigest(Arc<Mutex<(u64, u128)>>);

impl InputDigest {
    /// Returns the number of documents, and the digest.
    #[must_use]
    pub fn total(&self) -> (u64, u128) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a document: the new digest covers the last digest, the id and the content.
    pub(crate) fn add(&self, document: &Document) {
        let mut input_digest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, digest) = *input_digest;
        let id = HashKey::ZERO.digest(document.id.as_bytes());
        let mut bytes = [0; 48];
        for (number, part) in [digest, id, document.content.digest()]
            .into_iter()
            .enumerate()
        {
            bytes[16 * number..][..16].copy_from_slice(&part.to_le_bytes());
        }
        *input_digest = (count + 1, HashKey::ZERO.digest(&bytes));
    }
}

impl Documents {
    /// Returns the documents below these paths. `-` is standard input. A path that does not exist
    /// and has `*`, `?` or `[` is a pattern of file names.
    ///
    /// # Errors
    /// A path does not exist or cannot be read, or nothing matches a pattern. An unreadable file in
    /// a directory is skipped later.
    pub fn below(paths: &[PathBuf], options: &InputOptions) -> Result<Self, CorpusError> {
        let files = Files::below(paths)?;
        Ok(Self {
            warnings: files.warnings(),
            files,
            options: options.clone(),
            fields: FieldNames::of(options),
            open: None,
            input_digest: InputDigest::default(),
        })
    }

    /// Returns the warnings of the documents, complete once they are read.
    pub fn warnings(&self) -> Warnings {
        self.warnings.clone()
    }

    /// Returns the input digest of the documents, complete once they are read.
    pub fn input_digest(&self) -> InputDigest {
        self.input_digest.clone()
    }

    fn open(&self, path: &Path) -> Result<FileDocuments, Refusal> {
        let name = path.display().to_string();
        let open = open_file::open(path, &self.options)?;
        Ok(open.documents(&name, &self.fields, &self.warnings)?)
    }
}

impl Iterator for Documents {
    type Item = Result<Document, Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((path, documents)) = &mut self.open {
                match documents.next() {
                    Some(Ok(document)) => {
                        self.input_digest.add(&document);
                        return Some(Ok(document));
                    }
                    Some(Err(reason)) => return Some(Err(Skipped::at(path, reason))),
                    None => self.open = None,
                }
            }
            let path = match self.files.next()? {
                Ok(path) => path,
                Err(skipped) => return Some(Err(skipped)),
            };
            match self.open(&path) {
                Ok(documents) => self.open = Some((path, documents)),
                Err(refusal) => return Some(Err(refusal.of(&path))),
            }
        }
    }
}

/// Returns the single document of a path.
///
/// # Errors
/// The path cannot be read, or does not contain exactly one document.
pub fn only_document(path: &Path, options: &InputOptions) -> Result<Document, CorpusError> {
    let mut documents = Documents::below(&[path.to_owned()], options)?;
    let first = documents.next();
    let path = path.to_owned();
    match (first, documents.next()) {
        (Some(document), None) => document.map_err(CorpusError::Skipped),
        (None, _) => Err(CorpusError::NoDocument { path }),
        (Some(_), Some(_)) => Err(CorpusError::SeveralDocuments { path }),
    }
}
