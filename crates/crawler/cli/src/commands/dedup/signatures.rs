//! Signatures of documents: computed, written to files, and read from them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use batch::dedup::Document;
use batch::signature_file::{
    Continued, Extent, Numbered, SignatureFile, SignatureHeader, SignatureWriter,
};
use batch::{BatchError, Shard};
use corpus::{Documents, SignedDocument, Skipped, Warnings};
use messages::{CommandError, say, usage};
use settings::input::{unreadable, unwritable};

use super::DedupRun;
use super::findings::DedupError;

/// An iterator over documents in reading order, each with its number.
pub(super) type NumberedSignatures<'s> =
    Box<dyn Iterator<Item = Result<(u64, Document), DedupError>> + 's>;

/// The documents of a corpus that belong to a shard, numbered as in the whole corpus.
struct ShardDocuments {
    documents: Documents,
    warnings: Warnings,
    shard: Option<Shard>,
    /// Number of documents read, including all shards.
    read: u64,
}

impl Iterator for ShardDocuments {
    type Item = Result<(u64, corpus::Document), Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let document = match self.documents.next()? {
                Ok(document) => document,
                Err(skipped) => return Some(Err(skipped)),
            };
            let number = self.read;
            self.read += 1;
            if self.shard.is_none_or(|shard| shard.has(number)) {
                return Some(Ok((number, document)));
            }
        }
    }
}

impl DedupRun<'_> {
    /// Returns the signatures of the documents below `paths`. Unreadable documents are reported and
    /// left out.
    pub(super) fn signed(&self, paths: &[PathBuf]) -> Result<NumberedSignatures<'_>, CommandError> {
        let documents = self.documents(paths, None)?;
        let warnings = documents.warnings.clone();
        Ok(Box::new(self.sign(documents, warnings)))
    }

    /// Returns the signatures of the corpus.
    pub(super) fn signed_corpus(&self) -> Result<NumberedSignatures<'_>, CommandError> {
        let documents = self.corpus(None)?;
        let warnings = documents.warnings.clone();
        Ok(Box::new(self.sign(documents, warnings)))
    }

    /// Returns the documents of the corpus, or of a shard, and keeps their input digest.
    fn corpus(&self, shard: Option<Shard>) -> Result<ShardDocuments, CommandError> {
        let documents = self.documents(&self.args.paths, shard)?;
        *self.input_digest.borrow_mut() = Some(documents.documents.input_digest());
        Ok(documents)
    }

    fn documents(
        &self,
        paths: &[PathBuf],
        shard: Option<Shard>,
    ) -> Result<ShardDocuments, CommandError> {
        let documents = self.open(paths)?;
        Ok(ShardDocuments {
            warnings: documents.warnings(),
            documents,
            shard,
            read: 0,
        })
    }

    /// Returns the documents below `paths`, before they are read.
    pub(super) fn open(&self, paths: &[PathBuf]) -> Result<Documents, CommandError> {
        let documents =
            Documents::below(paths, &self.input).map_err(|error| CommandError::of_usage(&error))?;
        self.warnings.borrow_mut().push(documents.warnings());
        Ok(documents)
    }

    fn sign<'s>(
        &'s self,
        documents: impl Iterator<Item = Result<(u64, corpus::Document), Skipped>> + 's,
        warnings: Warnings,
    ) -> impl Iterator<Item = Result<(u64, Document), DedupError>> + 's {
        let (builder, bands) = (&self.signature_builder, self.options.bands);
        let signed = corpus::signatures(documents, warnings, &self.reader, builder, bands);
        signed.filter_map(|signed| match signed {
            Ok(SignedDocument {
                number,
                id,
                signature,
            }) => Some(Ok((number, Document { id, signature }))),
            Err(skipped) => {
                self.skipped.borrow_mut().add(&skipped);
                None
            }
        })
    }

    /// Returns the documents of the reference: indexes from earlier runs, and other corpora.
    pub(super) fn reference(
        &self,
    ) -> Result<impl Iterator<Item = Result<Document, DedupError>> + '_, CommandError> {
        let mut parts: Vec<NumberedSignatures<'_>> = Vec::new();
        for path in &self.args.against {
            parts.push(match is_signature_file(path)? {
                false => self.signed(std::slice::from_ref(path))?,
                true => {
                    let file = self.open_reference(path)?;
                    let reader = file.read().map_err(|error| self.explain(error.into()))?;
                    Box::new(reader.map(|numbered| {
                        let Numbered { number, document } = numbered?;
                        Ok((number, document))
                    }))
                }
            });
        }
        let documents = parts.into_iter().flatten();
        Ok(documents.map(|numbered| Ok(numbered?.1)))
    }

    /// Opens a signature file of documents of this run.
    pub(super) fn open_signatures(&self, path: &Path) -> Result<SignatureFile, CommandError> {
        self.open_checked(path, SignatureHeader::check_equal)
    }

    /// Opens an index that comes before the documents of this run.
    fn open_reference(&self, path: &Path) -> Result<SignatureFile, CommandError> {
        let file = self.open_checked(path, SignatureHeader::check_comparable)?;
        let wanted = self.header(Extent::Originals);
        if wanted.shingles && !file.header().shingles && !self.args.work.quiet {
            say(&format!(
                "{} does not contain shingles: its documents are compared by sketches",
                path.display()
            ));
        }
        Ok(file)
    }

    fn open_checked(
        &self,
        path: &Path,
        check: fn(&SignatureHeader, &Path, &SignatureHeader) -> Result<(), BatchError>,
    ) -> Result<SignatureFile, CommandError> {
        let opened = SignatureFile::open(path).and_then(|file| {
            check(file.header(), path, &self.header(Extent::All))?;
            Ok(file)
        });
        opened.map_err(|error| self.explain(error.into()))
    }

    /// Writes the signatures of all documents, or of the shard, to `path`. Appends to the
    /// signatures of an interrupted run. Returns the number of documents in the file.
    pub(super) fn write_signatures(&self, path: &Path) -> Result<u64, CommandError> {
        let extent = self.args.shard.map_or(Extent::All, Extent::Shard);
        let mut documents = self.corpus(self.args.shard)?;
        let header = self.header(extent);
        let (mut written, writer) = match path.exists() {
            false => (0, Some(SignatureWriter::create(path, &header))),
            true => {
                let continued = SignatureWriter::resume(path, &header)
                    .map_err(|error| self.explain(error.into()))?;
                let known = SignatureFile::open(path).and_then(|file| file.read());
                let known = known.map_err(|error| self.explain(error.into()))?;
                let known = known.map(|numbered| {
                    let Numbered { number, document } = numbered?;
                    Ok((number, document))
                });
                let known = self.check_known(path, known, &mut documents)?;
                match continued {
                    Continued::Finished => (known, None),
                    Continued::Unfinished { writer } => (known, Some(Ok(writer))),
                }
            }
        };
        let Some(writer) = writer else {
            return match documents.next() {
                None => Ok(written),
                Some(_) => Err(other_documents(path, "the corpus has more documents")),
            };
        };
        let warnings = documents.warnings.clone();
        let mut writer = writer.map_err(|error| self.explain(error.into()))?;
        for signed in self.sign(&mut documents, warnings) {
            let (number, document) = signed.map_err(|error| self.explain(error))?;
            let pushed = writer.push(number, &document);
            pushed.map_err(|error| self.explain(error.into()))?;
            written += 1;
            self.progress.wrote_signatures(written);
        }
        let file = writer
            .finish(documents.read)
            .map_err(|error| self.explain(error.into()))?;
        file.sync_all().map_err(unwritable(path))?;
        Ok(written)
    }

    /// Checks that the corpus has exactly the documents that were merged.
    pub(super) fn check_corpus(
        &self,
        merged: impl Iterator<Item = Result<Document, BatchError>>,
    ) -> Result<(), CommandError> {
        let known = (0..)
            .zip(merged)
            .map(|(number, document)| Ok((number, document?)));
        let mut documents = self.corpus(None)?;
        let path = &self.args.merge[0];
        self.check_known(path, known, &mut documents)?;
        match documents.next() {
            None => Ok(()),
            Some(_) => Err(other_documents(path, "the corpus has more documents")),
        }
    }

    /// Checks that the documents in the file at `path` are the first ones of the corpus; returns
    /// their number.
    fn check_known(
        &self,
        path: &Path,
        known: impl Iterator<Item = Result<(u64, Document), BatchError>>,
        documents: &mut ShardDocuments,
    ) -> Result<u64, CommandError> {
        let mut checked = 0;
        for numbered in known {
            let (number, document) = match numbered {
                Ok(numbered) => numbered,
                Err(BatchError::Unfinished { .. }) => break,
                Err(error) => return Err(self.explain(error.into())),
            };
            let (number_found, found) = loop {
                match documents.next() {
                    Some(Ok(found)) => break found,
                    Some(Err(skipped)) => self.skipped.borrow_mut().add(&skipped),
                    None => return Err(other_documents(path, "the corpus has fewer documents")),
                }
            };
            let payload = document.signature.signature.payload;
            let is_same = number_found == number
                && *found.id == *document.id
                && found.content.digest() == payload;
            if !is_same {
                let difference = format!("document {} has changed", found.id);
                return Err(other_documents(path, &difference));
            }
            checked += 1;
        }
        Ok(checked)
    }
}

fn other_documents(path: &Path, difference: &str) -> CommandError {
    usage(format!(
        "{} contains signatures of another corpus: {difference}",
        path.display()
    ))
    .with_remedy("choose another file for --signatures, or delete this one to start over")
}

fn is_signature_file(path: &Path) -> Result<bool, CommandError> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut beginning = Vec::new();
    let file = File::open(path).map_err(unreadable(path))?;
    let read = file.take(8).read_to_end(&mut beginning);
    read.map_err(unreadable(path))?;
    Ok(SignatureFile::begins_one(&beginning))
}
