//! Where in a query something stands.

use super::error::{QueryError, Reason};

/// So much of a culprit is shown.
const SHOWN: usize = 60;

/// An error about the bytes from `start` to `end`.
pub(super) fn error_at(reason: Reason, query: &str, start: usize, end: usize) -> QueryError {
    QueryError {
        reason,
        culprit: query[start..end].chars().take(SHOWN).collect(),
        at: query[..start].chars().count() + 1,
    }
}
