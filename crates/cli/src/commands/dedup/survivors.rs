//! The documents that `--keep` writes: those that repeat no earlier one.

use std::path::Path;

use corpus::{InputOptions, KeepError, KeptDocuments, KeptSummary, Tally};

use crate::args::DedupArgs;
use crate::cli_error::{CliError, fault};

/// The documents to keep, by the numbers of those to leave out.
pub(super) struct Survivors {
    documents: KeptDocuments,
    /// A bit for each document, up to the last one that is left out.
    left_out: Vec<u64>,
}

impl Survivors {
    /// Checks that the documents can be written to the file of `--keep`; none without it.
    pub(super) fn of(args: &DedupArgs, input: &mut InputOptions) -> Result<Option<Self>, CliError> {
        let Some(output) = &args.keep else {
            return Ok(None);
        };
        let documents = KeptDocuments::prepare(&args.paths, input, output).map_err(explain)?;
        Ok(Some(Self {
            documents,
            left_out: Vec::new(),
        }))
    }

    /// Leaves out the document with this number, from 0.
    pub(super) fn leave_out(&mut self, number: u64) {
        let (word, bit) = (number as usize / 64, number % 64);
        self.left_out.resize(self.left_out.len().max(word + 1), 0);
        self.left_out[word] |= 1 << bit;
    }

    /// Reads the documents again, which had this tally before, and writes the others.
    pub(super) fn write(&self, tally: &Tally) -> Result<KeptSummary, CliError> {
        let survives = |number: u64| {
            let word = self.left_out.get(number as usize / 64);
            word.is_none_or(|word| word >> (number % 64) & 1 == 0)
        };
        self.documents.write(tally, survives).map_err(explain)
    }
}

/// Returns an error as the user reads it: of the inputs and names that were given, or of writing.
fn explain(error: KeepError) -> CliError {
    match error {
        KeepError::Changed { .. }
        | KeepError::Read { .. }
        | KeepError::Rows { .. }
        | KeepError::Write { .. } => fault(&error),
        _ => CliError::of_usage(&error),
    }
}

/// Returns the sentence about the kept documents.
pub(super) fn closing(summary: &KeptSummary, output: &Path) -> String {
    format!(
        "{} of {} documents kept in {} ({})",
        indicatif::HumanCount(summary.kept),
        indicatif::HumanCount(summary.documents),
        output.display(),
        indicatif::HumanBytes(summary.bytes)
    )
}
