//! The memory of a crawl: the pages that wait, the pages that were visited, and the signatures of
//! all pages that were kept.
//!
//! Two of the project's four seams live here. [`Frontier`] hands out pages and takes back their
//! outcomes; [`NearDupIndex`] decides, in one verb, whether a page repeats an earlier one. Each has
//! two implementations, and the tests in `contract.rs` hold both to every sentence of the traits'
//! documentation:
//!
//! - [`memory`]: naive, for tests and as the oracle of the other;
//! - [`embedded`]: one directory, with a journal that is the truth and sled tables derived from it.

mod budget;
#[cfg(test)]
mod contract;
pub mod embedded;
mod fault;
mod frontier;
mod known;
pub mod memory;
mod near_dup;
mod patterns;
mod rules;
mod skipped;
mod visit_record;

pub use embedded::journal::record::Robots;
pub use fault::{Holder, StoreFault};
pub use frontier::{
    ArchivePlace, ArchiveSpan, DiscoveredUrl, Durable, Frontier, FrontierRules, HOSTS_RULE, Lease,
    LeftOut, STRIKES_ASIDE, Settlement, Standing, Supply,
};
pub use near_dup::{EarlierCapture, NearDupIndex, Original, Page, RetainedDuplicate, Verdict};
pub use patterns::{Example, PatternName, PatternReport, PatternState, Patterns};
pub use rules::{DuplicateScope, LikenessRules, UnknownScope};
pub use skipped::{PAGE_REASON, ROBOTS_REASON, SkippedBy, UnknownKind};
pub use visit_record::{Fate, Totals, VisitRecord};
