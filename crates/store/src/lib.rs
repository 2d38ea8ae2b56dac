//! The memory of a crawl: the URLs to visit, the finished visits, and the signatures of the pages.
//!
//! Two of the project's four seams are here. [`Frontier`] leases URLs and takes back the outcomes
//! of their visits; [`NearDupIndex`] decides, in one atomic method, whether a page repeats an
//! earlier one. Each has two implementations here, and the crate `contract` tests all of them
//! against every sentence of the traits' documentation:
//!
//! - [`memory`]: naive, for tests and as the oracle for the other;
//! - [`embedded`]: one directory, with a journal as the source of truth and sled tables derived
//!   from it.

mod budget;
mod discovered_url;
mod dry_spell;
mod duplicate_rule;
pub mod embedded;
mod fault;
#[cfg(test)]
mod fixtures;
mod frontier;
mod harvest;
mod host_memory;
mod known;
mod limit;
pub mod memory;
mod near_dup;
mod patterns;
mod reason;
mod rules;
mod skipped;
mod skipped_by;
mod totals;
mod unread_format;
mod visit_details;
mod visit_record;

pub use budget::DomainCounts;
pub use discovered_url::DiscoveredUrl;
pub use duplicate_rule::{
    CONTAINED_IN, DuplicateRule, OF_CANONICAL, SAME_BYTES, SAME_CONTENT, SAME_TEXT,
};
pub use fault::{Holder, StoreFault};
pub use frontier::{
    ArchivePlace, ArchiveSpan, Durable, FinishedVisit, Frontier, FrontierRules, HOSTS_RULE,
    HostLimits, Lease, LeaseFilter, LeftOut, QueueEntry, STRIKES_ASIDE, Settlement, Standing,
    Supply,
};
pub use harvest::{Harvest, UrlHarvest};
pub use host_memory::{HostMemory, Robots};
pub use limit::{Cut, CutSum, Limit};
pub use near_dup::{EarlierCapture, NearDupIndex, Original, Page, RetainedDuplicate, Verdict};
pub use patterns::{Example, PatternName, PatternReport, PatternState, Patterns};
pub use reason::Reason;
pub use rules::{DuplicateScope, LikenessRules, UnknownScope};
pub use skipped::ExcludedBy;
pub use skipped_by::{SkippedBy, UnknownKind};
pub use topic::Relevance;
pub use totals::Totals;
pub use unread_format::UnreadFormat;
pub use visit_details::VisitDetails;
pub use visit_record::{Fate, VisitRecord};
