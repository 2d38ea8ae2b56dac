//! Positions in an archive, in the order of writing.

use super::files::{FileName, file_number};
use crate::fault::SinkFault;

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
    /// Returns the position `end` in the file of this name.
    pub(super) fn of(name: &FileName, end: u64) -> Self {
        let file = name.as_str().to_owned();
        Self { file, end }
    }

    /// Returns the name of the file.
    ///
    /// # Errors
    /// [`SinkFault::Foreign`] if it is not a name of ours.
    pub(super) fn name(&self) -> Result<FileName, SinkFault> {
        FileName::parse(&self.file).ok_or_else(|| SinkFault::Foreign {
            name: self.file.clone(),
        })
    }

    /// Returns true if this position is before `other` in the same archive.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        self.order() < other.order()
    }

    fn order(&self) -> (Option<u64>, u64) {
        (file_number(&self.file), self.end)
    }
}
