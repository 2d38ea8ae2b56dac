//! The documents that `--keep` writes: documents that do not repeat an earlier one.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use corpus::{
    Content, Document, InputDigest, InputOptions, KeepError, Kept, KeptDocuments, KeptSummary,
    is_standard_input,
};
use messages::{CommandError, counted, fault};

use crate::args::{DedupArgs, PartUnit};

/// The documents to keep, stored as the numbers of the documents to leave out.
pub(super) struct Survivors {
    documents: KeptDocuments,
    /// A bit per document, up to the last document that is dropped.
    dropped: Vec<u64>,
}

impl Survivors {
    /// Checks that the documents can be written to the file of `--keep`. Returns `None` without
    /// `--keep`.
    pub(super) fn of(
        args: &DedupArgs,
        input: &mut InputOptions,
    ) -> Result<Option<Self>, CommandError> {
        let Some(output) = &args.keep else {
            return Ok(None);
        };
        let documents =
            KeptDocuments::prepare(&args.paths, input, output).map_err(|error| explain(&error))?;
        Ok(Some(Self {
            documents,
            dropped: Vec::new(),
        }))
    }

    /// Leaves out the document with this number, from 0.
    pub(super) fn leave_out(&mut self, number: u64) {
        let (word, bit) = (number as usize / 64, number % 64);
        self.dropped.resize(self.dropped.len().max(word + 1), 0);
        self.dropped[word] |= 1 << bit;
    }

    /// Reads the documents again, checks that their input digest is unchanged, and writes the
    /// remaining documents. Returns `None` if the reader of the output went away.
    pub(super) fn write(
        &self,
        input_digest: &InputDigest,
    ) -> Result<Option<KeptSummary>, CommandError> {
        let survives = |number: u64| {
            let word = self.dropped.get(number as usize / 64);
            word.is_none_or(|word| word >> (number % 64) & 1 == 0)
        };
        written(self.documents.write(input_digest, survives))
    }
}

/// Repeated parts, in document order. They are in an unnamed temporary file, because they may not
/// fit in memory.
pub(super) struct RepeatedParts {
    file: BufWriter<File>,
}

impl RepeatedParts {
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile_in(directory)?);
        Ok(Self { file })
    }

    /// Adds a part of a document, both numbered from 0.
    pub(super) fn add(&mut self, document: u64, part: u32) -> io::Result<()> {
        self.file.write_all(&document.to_le_bytes())?;
        self.file.write_all(&part.to_le_bytes())
    }

    fn into_reader(self) -> io::Result<PartReader> {
        let mut file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let mut reader = PartReader {
            file: BufReader::new(file),
            head: None,
        };
        reader.head = reader.read()?;
        Ok(reader)
    }
}

/// A reader of repeated parts.
struct PartReader {
    file: BufReader<File>,
    head: Option<(u64, u32)>,
}

impl PartReader {
    fn read(&mut self) -> io::Result<Option<(u64, u32)>> {
        let mut record = [0; 12];
        match self.file.read_exact(&mut record) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let (document, part) = record.split_at(8);
        let document = u64::from_le_bytes(document.try_into().expect("it has 8 bytes"));
        let part = u32::from_le_bytes(part.try_into().expect("it has 4 bytes"));
        Ok(Some((document, part)))
    }

    /// Returns the repeated parts of document `number`. Call it for every document, by ascending
    /// number.
    fn of_document(&mut self, number: u64) -> io::Result<Vec<u32>> {
        let mut parts = Vec::new();
        while let Some((document, part)) = self.head
            && document == number
        {
            parts.push(part);
            self.head = self.read()?;
        }
        Ok(parts)
    }
}

impl Survivors {
    /// Checks that documents can be written without some of their parts.
    pub(super) fn check_rewritable(&self) -> Result<(), CommandError> {
        self.documents
            .check_rewritable()
            .map_err(|error| explain(&error))
    }

    /// Reads the documents again, checks that their input digest is unchanged, and writes them
    /// without the repeated parts. Returns `None` if the reader of the output went away. Skips a
    /// document if nothing remains of it.
    pub(super) fn write_without(
        &self,
        repeated: RepeatedParts,
        input_digest: &InputDigest,
        unit: PartUnit,
    ) -> Result<Option<KeptSummary>, CommandError> {
        let mut repeated = repeated.into_reader().map_err(|error| fault(&error))?;
        written(
            self.documents
                .write_texts(input_digest, |number, document| {
                    let parts = repeated.of_document(number)?;
                    Ok(without(document, &parts, unit))
                }),
        )
    }
}

/// Returns the outcome of writing. A reader that went away (`| head`) is not an error.
fn written(outcome: Result<KeptSummary, KeepError>) -> Result<Option<KeptSummary>, CommandError> {
    match outcome {
        Ok(summary) => Ok(Some(summary)),
        Err(KeepError::Write { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
            Ok(None)
        }
        Err(error) => Err(explain(&error)),
    }
}

/// Returns a document without these parts, which are in ascending order.
fn without(document: &Document, parts: &[u32], unit: PartUnit) -> Kept {
    let Content::Text { text, .. } = &document.content else {
        return Kept::Whole; // Not reached: `check_rewritable` has refused files.
    };
    if parts.is_empty() {
        return Kept::Whole;
    }
    let is_left = |(number, part): (u32, &'_ str)| {
        let is_repeated = parts.binary_search(&number).is_ok();
        (!is_repeated).then(|| part.to_owned())
    };
    let left: String = (0..).zip(unit.parts_of(text)).filter_map(is_left).collect();
    match left.trim().is_empty() {
        true => Kept::Dropped,
        false => Kept::WithText(left),
    }
}

/// Converts an error for the user: of the inputs and names that were given, or of writing.
fn explain(error: &KeepError) -> CommandError {
    match error {
        KeepError::Changed { .. }
        | KeepError::Choice { .. }
        | KeepError::Read { .. }
        | KeepError::Rows { .. }
        | KeepError::Unreadable { .. }
        | KeepError::Write { .. } => fault(error),
        _ => CommandError::of_usage(error),
    }
}

/// Returns the sentence about the kept documents.
pub(super) fn closing(summary: &KeptSummary, output: &Path) -> String {
    let (count, bytes) = (indicatif::HumanCount, indicatif::HumanBytes(summary.bytes));
    let mut closing = format!(
        "{} of {} kept in {} ({bytes})",
        count(summary.kept),
        counted(summary.documents, "document"),
        match is_standard_input(output) {
            true => "standard output".to_owned(),
            false => output.display().to_string(),
        },
    );
    if summary.others + summary.others_dropped > 0 {
        closing.push_str(&format!(
            "\n{} other records (redirects, failures, revisits, requests, notes) kept; {} \
             omitted (repeats), with {} of their requests and notes",
            count(summary.others),
            counted(summary.documents - summary.kept, "document"),
            count(summary.others_dropped),
        ));
    }
    closing
}
