//! Positions in an archive, in the order in which it was written.

use std::cmp::Ordering;

use super::files::file_number;

/// Where an archive ends: the settled part of it, or the part that is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEnd {
    /// The last file, as [`Archived::file`] names it.
    pub file: String,
    /// The length of that part of it, in bytes: the [`Archived::end`] of a visit.
    pub end: u64,
}

impl ArchiveEnd {
    /// Returns whether this end comes before `other` in the same archive.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        match file_number(&self.file).cmp(&file_number(&other.file)) {
            Ordering::Less => true,
            Ordering::Equal => self.end < other.end,
            Ordering::Greater => false,
        }
    }
}
