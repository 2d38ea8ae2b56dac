//! Exact keys of many millions of pages, in a few bytes each.
//!
//! [`KeyTable`] finds pages that share a key; [`SeenKeys`] recognises keys that were seen before.
//! Both are ordered sets of 64-bit values (a page's value is its key above its id), cut by their
//! leading bits into 1,024 segments. A segment is a packed run (quotienting: Knuth, TAOCP 3,
//! exercise 6.4–13; Cleary, "Compact hash tables using bidirectional linear probing", IEEE
//! Transactions on Computers, 1984) and a short sorted list of later changes, which is merged into
//! the run when it reaches a sixteenth of its size (log-structured merging: O'Neil et al., Acta
//! Informatica, 1996, with one component in memory). A merge rewrites one of 1,024 segments. It
//! takes microseconds at ten million keys, and needs neither a thread nor a second copy of a table.

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

/// Keys that should ascend but do not: the stored data have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("keys do not ascend")]
pub struct NotAscending;
