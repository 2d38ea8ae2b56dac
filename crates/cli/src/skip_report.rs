//! A report of documents that cannot be read.

use corpus::Skipped;

use crate::terminal::{printable, say};

/// Skipped documents that are printed one by one; the rest are counted.
const ONE_BY_ONE: u64 = 20;

/// The number of skipped documents; the first are printed.
#[derive(Default)]
pub(crate) struct SkipReport(u64);

impl SkipReport {
    /// Adds a skipped document.
    pub(crate) fn add(&mut self, skipped: &Skipped) {
        self.0 += 1;
        if self.0 <= ONE_BY_ONE {
            say(&format!("skipped: {}", printable(&skipped.to_string())));
        } else if self.0 == ONE_BY_ONE + 1 {
            say("skipped: … and more, which are only counted");
        }
    }

    /// Warns of a document that counts although its text cannot be read.
    pub(crate) fn warn(&mut self, fault: &Skipped) {
        say(&format!("warning: {}", printable(&fault.to_string())));
    }

    /// Returns the number of skipped documents.
    pub(crate) fn count(&self) -> u64 {
        self.0
    }
}
