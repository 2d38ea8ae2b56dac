//! Repetition of parts: lines or paragraphs that occurred before, in any document.
//!
//! Corpora repeat notices and menus inside documents that are otherwise distinct, so curators
//! remove each later copy of a paragraph (Wenzek et al., "CCNet", LREC 2020, section 3.1). Parts
//! are compared by digests, which are sorted outside memory: first by digest, which brings copies
//! together, then by document.
//!
//! Invariant: regardless of the memory budget, the first part with a digest, in the order of the
//! documents, is not a repetition, and every later one is.

use std::path::PathBuf;

use crate::control::{Control, Gauge, Step};
use crate::document_id::DocumentId;
use crate::document_names::DocumentNames;
use crate::error::BatchError;
use crate::fields::take;
use crate::scratch::Scratch;
use crate::sorter::Sorter;

/// A document as its parts.
#[derive(Clone, Debug)]
pub struct PartedDocument {
    /// The name of the document in findings.
    pub id: DocumentId,
    /// The digest of each part, such as [`HashKey::digest`](neardup::HashKey::digest) of its words;
    /// `None` for parts that do not count, like blank lines.
    pub parts: Vec<Option<u128>>,
}

/// A part that occurred before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedPart<'a> {
    /// The number of the document, from 0, without the reference.
    pub number: u64,
    /// The id of the document.
    pub document: &'a DocumentId,
    /// The number of the part in its document, from 0.
    pub part: u32,
    /// The id of the first document with the part.
    pub duplicate_of: &'a DocumentId,
    /// The number of the part in that document, from 0.
    pub part_of: u32,
}

/// The options of a run.
#[derive(Clone, Debug)]
pub struct PartOptions {
    /// The approximate memory budget in bytes; at least [`MIN_MEMORY`](crate::MIN_MEMORY) are
    /// used.
    pub memory: usize,
    /// The directory for data that exceed the memory, in files without names.
    pub scratch: PathBuf,
}

/// The summary of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSummary {
    /// The number of documents, without the reference.
    pub documents: u64,
    /// The number of parts that count, without the reference.
    pub parts: u64,
    /// The number of parts that occurred before.
    pub repeated: u64,
}

/// The size of an occurrence by its digest: digest, document, part.
const BY_DIGEST: usize = 16 + 4 + 4;

/// The size of a repetition by its document: document, part, first document, its part.
const BY_DOCUMENT: usize = 4 * 4;

/// Passes each part of `documents` that occurred before, in `reference` or in `documents`, to
/// `found`, in the order of the documents and of their parts.
///
/// # Errors
/// The errors of the documents and of `found` as they are, and [`BatchError`].
pub fn repeated_parts<E: From<BatchError>>(
    reference: impl IntoIterator<Item = Result<PartedDocument, E>>,
    documents: impl IntoIterator<Item = Result<PartedDocument, E>>,
    options: &PartOptions,
    control: Control<'_>,
    mut found: impl FnMut(RepeatedPart<'_>) -> Result<(), E>,
) -> Result<PartSummary, E> {
    let scratch = Scratch::new(&options.scratch);
    let memory = options.memory.max(crate::MIN_MEMORY);
    let mut occurrences = Occurrences {
        names: DocumentNames::new(&scratch, memory / 4),
        sorter: Sorter::new(&scratch, memory / 2),
        documents: 0,
        parts: 0,
    };
    let mut gauge = Gauge::new(control, None);
    for document in reference {
        occurrences.add(&document?)?;
        gauge.advance(Step::Reading, 1)?;
    }
    let (first, parts_before) = (occurrences.documents, occurrences.parts);
    for document in documents {
        occurrences.add(&document?)?;
        gauge.advance(Step::Reading, 1)?;
    }
    let mut summary = PartSummary {
        documents: (occurrences.documents - first).into(),
        parts: occurrences.parts - parts_before,
        repeated: 0,
    };
    let names = occurrences.names;
    let mut sorted = occurrences.sorter.finish();
    let mut repetitions = Sorter::<BY_DOCUMENT>::new(&scratch, memory / 4);
    let mut gauge = Gauge::new(control, Some(occurrences.parts));
    let mut earliest: Option<(u128, [u8; 8])> = None;
    while let Some(record) = sorted.next()? {
        gauge.advance(Step::Sorting, 1)?;
        let mut rest = &record[..];
        let digest = u128::from_be_bytes(take(&mut rest));
        let place: [u8; 8] = take(&mut rest);
        match earliest {
            Some((same, earliest)) if same == digest => {
                let mut repetition = [0; BY_DOCUMENT];
                repetition[..8].copy_from_slice(&place);
                repetition[8..].copy_from_slice(&earliest);
                repetitions.push(repetition)?;
            }
            _ => earliest = Some((digest, place)),
        }
    }
    let mut repetitions = repetitions.finish();
    let mut gauge = Gauge::new(control, None);
    while let Some(record) = repetitions.next()? {
        gauge.advance(Step::Reporting, 1)?;
        let mut rest = &record[..];
        let mut number = || u32::from_be_bytes(take(&mut rest));
        let (document, part, earliest, part_of) = (number(), number(), number(), number());
        let Some(number) = document.checked_sub(first) else {
            continue;
        };
        summary.repeated += 1;
        found(RepeatedPart {
            number: number.into(),
            document: &names.get(document)?,
            part,
            duplicate_of: &names.get(earliest)?,
            part_of,
        })?;
    }
    Ok(summary)
}

/// The occurrences of all parts so far.
struct Occurrences<'s> {
    names: DocumentNames<'s>,
    sorter: Sorter<'s, BY_DIGEST>,
    documents: u32,
    parts: u64,
}

impl Occurrences<'_> {
    fn add(&mut self, document: &PartedDocument) -> Result<(), BatchError> {
        self.names.push(&document.id)?;
        for (part, digest) in (0_u32..).zip(&document.parts) {
            let Some(digest) = digest else { continue };
            let mut record = [0; BY_DIGEST];
            record[..16].copy_from_slice(&digest.to_be_bytes());
            record[16..20].copy_from_slice(&self.documents.to_be_bytes());
            record[20..].copy_from_slice(&part.to_be_bytes());
            self.sorter.push(record)?;
            self.parts += 1;
        }
        self.documents = self.documents.checked_add(1).ok_or(BatchError::TooMany)?;
        Ok(())
    }
}
