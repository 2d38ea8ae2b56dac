//! Positions in an archive, in the order in which it was written.

use std::cmp::Ordering;

use super::files::file_number;

/// A position in an archive: the end of its settled part, or of the durable part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEnd {
    /// The last file, as [`Archived::file`](crate::Archived::file) names it.
    pub file: String,
    /// The length of that part of it, in bytes: the [`Archived::end`](crate::Archived::end) of a
    /// visit.
    pub end: u64,
}

impl ArchiveEnd {
    /// Returns true if this position is before `other` in the same archive.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        match file_number(&self.file).cmp(&file_number(&other.file)) {
            Ordering::Less => true,
            Ordering::Equal => self.end < other.end,
            Ordering::Greater => false,
        }
    }
}
