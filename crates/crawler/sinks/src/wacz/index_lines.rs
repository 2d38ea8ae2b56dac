//! The lines of an index that is packed: the first invalid one ends the reading.

use std::io::BufRead;
use std::path::Path;

use super::fault::WaczFault;
use crate::cdxj::entry::CdxjLine;
use crate::cdxj::lines::CdxjReader;

/// Reads the next line of the index at `path`; `None` at its end.
///
/// # Errors
/// [`WaczFault::Read`], and [`WaczFault::Index`] if this or an earlier line is invalid or out of
/// order.
pub(super) fn next_line<R: BufRead>(
    lines: &mut CdxjReader<R>,
    path: &Path,
) -> Result<Option<CdxjLine>, WaczFault> {
    let entry = lines.next_entry().map_err(|source| WaczFault::Read {
        path: path.to_owned(),
        source,
    })?;
    match lines.skipped().first {
        Some((line, reason)) => Err(WaczFault::Index {
            path: path.to_owned(),
            line,
            reason,
        }),
        None => Ok(entry),
    }
}
