//! The documents that `--keep` writes: documents that do not repeat an earlier one.

use std::io;
use std::path::Path;

use corpus::{
    InputDigest, InputOptions, KeepError, KeptDocuments, KeptSummary, PartUnit, RepeatedParts,
    is_standard_input,
};
use messages::{CommandError, counted, fault};

use crate::args::DedupArgs;

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
        let documents = KeptDocuments::prepare(&args.paths, input, output)?;
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

    /// Checks that documents can be written without some of their parts.
    pub(super) fn check_rewritable(&self) -> Result<(), CommandError> {
        Ok(self.documents.check_rewritable()?)
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
        let repeated = repeated.into_reader().map_err(|error| fault(&error))?;
        written(self.documents.write_without(repeated, input_digest, unit))
    }
}

/// Returns the outcome of writing. A reader that went away (`| head`) is not an error.
fn written(outcome: Result<KeptSummary, KeepError>) -> Result<Option<KeptSummary>, CommandError> {
    match outcome {
        Ok(summary) => Ok(Some(summary)),
        Err(KeepError::Write { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
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
