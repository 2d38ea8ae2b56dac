//! A report of documents that cannot be read.

use corpus::Skipped;
use messages::{CommandError, counted, printable, say, usage};

/// Maximum number of skipped documents that are printed; the rest are counted.
const ONE_BY_ONE: u64 = 20;

/// Number of skipped documents. The first ones are printed.
#[derive(Default)]
pub struct SkipReport {
    count: u64,
    /// Skipped files that may have been documents.
    losses: u64,
    first: Option<Skipped>,
}

impl SkipReport {
    /// Adds a skipped document.
    pub fn add(&mut self, skipped: &Skipped) {
        self.count += 1;
        self.losses += u64::from(skipped.is_loss);
        self.first.get_or_insert_with(|| skipped.clone());
        if self.count <= ONE_BY_ONE {
            say(&format!("skipped: {}", printable(&skipped.to_string())));
        } else if self.count == ONE_BY_ONE + 1 {
            say("skipped: … further skips are only counted");
        }
    }

    /// Returns the number of skipped documents.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns an error if the result of a command lacks a part of the input. Files other than
    /// documents, such as pictures, do not count.
    ///
    /// # Errors
    /// A part of the input was lost.
    pub fn check_complete(&self) -> Result<(), CommandError> {
        match self.losses {
            0 => Ok(()),
            lost => Err(usage(format!(
                "the result is incomplete: {} of the input could not be read",
                counted(lost, "part")
            ))),
        }
    }

    /// Returns the error for a command that found no document, with the first reason.
    pub fn no_document(&self, wanted: &str) -> CommandError {
        let error = match &self.first {
            Some(skipped) => usage(format!("no document {wanted}: {skipped}")),
            None => usage(format!("no document {wanted}")),
        };
        error.with_remedy(
            "supported formats: text, HTML, JSON lines ({\"id\": …, \"text\": …} per line), \
             Parquet, Arrow, WARC, ARC and WACZ",
        )
    }
}
