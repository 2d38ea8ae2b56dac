//! Exact keys of many millions of pages, in a few bytes each.
//!
//! [`KeyTable`] says which pages share a key, [`SeenKeys`] which keys came before. Both are ordered
//! sets of 64-bit values (a page's value is its key above its id) that are cut by their leading
//! bits into 1,024 segments. A segment is a packed run (quotienting: Knuth, TAOCP 3, exercise
//! 6.4–13; Cleary, "Compact hash tables using bidirectional linear probing", IEEE Transactions on
//! Computers, 1984) and a short sorted list of what came since, merged into the run when it is a
//! sixteenth of it (log-structured merging: O'Neil et al., Acta Informatica, 1996, with one
//! component in memory). Because a merge rewrites one segment of 1,024, it takes microseconds at
//! ten million keys, needs no thread, and no second copy of a table.

mod packed;
mod seen;
mod segment;
mod set;
pub(crate) mod short_key;
pub(crate) mod table;

use thiserror::Error;

pub use seen::SeenKeys;
pub use short_key::ShortKey;
pub use table::{KeyTable, MAX_PER_KEY};

/// What should ascend does not: what was read is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("keys do not ascend")]
pub struct NotAscending;
