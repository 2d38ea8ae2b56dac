//! Near-duplicates among files larger than memory.
//!
//! Blocking, on threads of its own, and within a budget of memory: what exceeds it goes to unnamed files in a directory
//! that the caller names, which vanish with the process. There is no clock and no terminal here: whoever wants to see
//! how far it is gives a [`Progress`].
//!
//! - [`jsonl`]: documents as JSON lines.
//! - [`dedup::run`]: which of these documents say the same — a line a duplicate, a pair or a cluster.

mod control;
pub mod dedup;
mod fault;
pub mod jsonl;

pub use control::{Control, Progress, Silent, Step};
pub use fault::BatchError;
