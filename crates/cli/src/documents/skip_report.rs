//! What is said of documents that cannot be read.

use super::Skipped;
use crate::terminal::{printable, say};

/// Complaints that are told one by one; the rest are counted.
const ONE_BY_ONE: u64 = 20;

/// How many documents were skipped, the first of which were told.
#[derive(Default)]
pub(crate) struct Told(u64);

impl Told {
    /// One more was skipped.
    pub(crate) fn tell(&mut self, trouble: &Skipped) {
        self.0 += 1;
        if self.0 <= ONE_BY_ONE {
            say(&format!("skipped: {}", printable(&trouble.to_string())));
        } else if self.0 == ONE_BY_ONE + 1 {
            say("skipped: … and more, which are only counted");
        }
    }

    /// How many.
    pub(crate) fn count(&self) -> u64 {
        self.0
    }
}
