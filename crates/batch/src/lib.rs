//! Near-duplicates among files larger than memory.
//!
//! Blocking, on threads of its own, and within a budget of memory: what exceeds it goes to unnamed
//! files in a directory that the caller names, which vanish with the process. There is no clock and
//! no terminal here: whoever wants to see how far it is gives a [`Progress`].
//!
//! - [`jsonl`]: documents as JSON lines.
//! - [`dedup::run`]: which of these documents say the same — a line a duplicate, a pair or a
//!   cluster.
//! - [`query()`]: which fingerprints of a large file lie near one of many queries.
//! - [`self_join()`]: all pairs of near fingerprints in a file.
//! - [`FingerprintFile`]: what those two read.

mod control;
pub mod dedup;
mod entries;
mod error;
mod fingerprint_file;
pub mod jsonl;
mod pigeonhole;
mod query;
mod scratch;
mod self_join;
mod sorter;
mod workers;

pub use control::{Control, Progress, Silent, Step};
pub use error::BatchError;
pub use fingerprint_file::{Block, FingerprintFile, FingerprintReader, FingerprintWriter, Recipe};
pub use neardup::Pair;
pub use query::{Queries, QueryMatch, query};
pub use self_join::{JoinOptions, JoinSummary, self_join};

/// Less memory than this is not used: 64 KiB.
pub const LEAST_MEMORY: usize = 64 << 10;
